/* watch.c - see watch.h. */
#include "watch.h"
#include "api/runtime.h"
#include "debug/crash.h"
#include "engine/running.h"
#include "fail.h"
#include "progress.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void ptoi_print_run_error(PTORuntime *rt, PTOStatus status)
{
    const char *text = pto_last_error(rt);
    if (!text || !*text) text = pto_status_text(status);
    size_t first_line = strcspn(text, "\n");
    const char *error = strncmp(text, "error", 5) == 0 ? text : strstr(text, ": error");
    bool named = error && (size_t)(error - text) < first_line;
    fprintf(stderr, "%s%s%s", named ? "" : "error: ", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

enum { SIGNALS = 3 };
static const int watched[SIGNALS] = {SIGINT, SIGTERM, SIGUSR1};

/* One run at a time: handlers have no other way to find this. */
static struct {
    sem_t wake;
    _Atomic int taken;        /* the first signal; 0: none */
    _Atomic bool is_over;     /* the run */
    _Atomic bool is_reported; /* its error was printed */
    /* what the thread ran to which the first signal came; NULL: no kernel */
    _Atomic(const PTOKernel *) kernel;
    _Atomic(const PTOSite *) site;
    PTORuntime *rt;
    bool has_watchdog, has_progress;
    struct progress progress;
    /* SIGUSR1 came: where the orchestrator was, if the signal came to its thread */
    _Atomic bool is_asked;
    _Atomic(const PTOSite *) asked_site;
    pthread_t orchestrator;
    pthread_t thread;
    struct sigaction before[SIGNALS];
    bool active;
} signals;

enum {
    KERNEL_GRACE_MS = 5000, /* a run that has failed waits so long for its kernels: a thread cannot be stopped */
    LOOK_MS = 100
};

static void on_question(int number)
{
    (void)number;
    const int why = errno;
    if (pthread_equal(pthread_self(), signals.orchestrator)) signals.asked_site = signals.rt->now.site;
    signals.is_asked = true;
    sem_post(&signals.wake);
    errno = why;
}

static void on_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&signals.taken, &none, number)) _exit(128 + number);
    const PTOKernel *kernel;
    const PTOSite *site;
    uint64_t task;
    if (ptoi_crash_running(&kernel, &site, &task)) {
        signals.site = site;
        signals.kernel = kernel;
    }
    sem_post(&signals.wake);
}

/* false: nothing woke this thread for so long.  sem_timedwait knows no other clock; a step of it only moves the end. */
static bool wait_for_wake(int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int waited;
    while ((waited = sem_timedwait(&signals.wake, &until)) != 0 && errno == EINTR) {}
    return waited == 0;
}

static void write_error(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* The kernels that workers run, each in a line; if there is none, the one that the thread of the signal ran then. */
static void write_stuck_kernels(void)
{
    char text[3000] = "";
    int count = 0;
    const PTOSite *site;
    const PTOKernel *kernel = signals.kernel;
    struct core *core = &signals.rt->core;
    const struct running_line *lines = core->engine->lines ? core->engine->lines(core, &count) : NULL;
    if (lines) ptoi_running_describe(core->window, lines, count, text, sizeof text, &site);
    if (!text[0]) site = signals.site;
    if (!text[0] && kernel && site)
        snprintf(text, sizeof text, "\n  kernel '%.100s' (%.200s:%d:%d)", kernel->name, site->file, site->line,
                 site->column);
    else if (!text[0] && kernel)
        snprintf(text, sizeof text, "\n  kernel '%.100s'", kernel->name);
    write_error(text[0] ? "error: cancelled, but 5 s later these kernels have not returned:"
                        : "error: cancelled, but a kernel has not returned after 5 s");
    write_error(text);
    write_error("\n");
}

/* The run has failed: false if it ends within the grace. */
static bool is_stuck(void)
{
    for (int64_t waited = 0; waited < KERNEL_GRACE_MS; waited += LOOK_MS) {
        if (signals.is_over) return false;
        wait_for_wake(LOOK_MS);
    }
    return true;
}

static void *watch_run(void *arg)
{
    (void)arg;
    while (!signals.is_over) {
        if (!signals.has_watchdog && !signals.has_progress)
            while (sem_wait(&signals.wake) != 0) {}
        else if (!wait_for_wake(LOOK_MS) && signals.has_watchdog &&
                 pto_runtime_status(signals.rt) == PTO_ERR_WATCHDOG) {
            if (!atomic_exchange(&signals.is_reported, true)) ptoi_print_run_error(signals.rt, PTO_ERR_WATCHDOG);
            if (is_stuck()) {
                write_error("error: the kernel has not returned 5 s later, so the program ends without results\n");
                _exit(signals.taken ? 128 + signals.taken : HOST_RUN);
            }
        }
        if (atomic_exchange(&signals.is_asked, false)) ptoi_progress_roles(signals.rt, signals.asked_site);
        if (signals.has_progress) ptoi_progress_look(&signals.progress);
        if (!signals.taken) continue;
        pto_cancel(signals.rt);
        if (is_stuck()) {
            write_stuck_kernels();
            _exit(128 + signals.taken);
        }
    }
    return NULL;
}

void ptoi_watch_begin(PTORuntime *rt, bool has_watchdog, bool has_progress)
{
    signals.rt = rt;
    signals.has_progress = has_progress;
    signals.orchestrator = pthread_self();
    signals.is_asked = false;
    signals.asked_site = NULL;
    ptoi_progress_begin(&signals.progress, rt);
    signals.has_watchdog = has_watchdog;
    signals.is_over = signals.is_reported = false;
    signals.kernel = NULL;
    signals.site = NULL;
    signals.active = sem_init(&signals.wake, 0, 0) == 0 && pthread_create(&signals.thread, NULL, watch_run, NULL) == 0;
    for (int i = 0; signals.active && i < SIGNALS; i++) {
        struct sigaction action = {.sa_handler = watched[i] == SIGUSR1 ? on_question : on_signal,
                                   .sa_flags = SA_RESTART};
        sigaction(watched[i], NULL, &signals.before[i]);
        if (signals.before[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
    }
}

void ptoi_watch_end(void)
{
    if (!signals.active) return;
    for (int i = 0; i < SIGNALS; i++) sigaction(watched[i], &signals.before[i], NULL);
    signals.is_over = true;
    sem_post(&signals.wake);
    pthread_join(signals.thread, NULL);
    sem_destroy(&signals.wake);
    if (signals.has_progress) ptoi_progress_end(&signals.progress);
    signals.active = false;
}

int ptoi_watch_signal(void) { return signals.taken; }

bool ptoi_watch_reports(void) { return !atomic_exchange(&signals.is_reported, true); }
