/* watch.c - see watch.h. */
#include "watch.h"
#include "api/runtime.h"
#include "debug/backtrace.h"
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
    sem_t wake; /* never destroyed: a handler in another thread may still post */
    bool has_wake;
    _Atomic int taken;        /* the first signal; 0: none */
    _Atomic int64_t taken_ns; /* when it came; 0: none has */
    _Atomic int senders;      /* that have sent one: bits of enum sender */
    _Atomic bool is_over;     /* the run */
    _Atomic bool is_reported; /* its error was printed */
    /* what the thread ran to which the first signal came; NULL: no kernel */
    _Atomic(const PTOKernel *) kernel;
    _Atomic(const PTOSite *) site;
    PTORuntime *rt;
    struct watch_config config;
    struct progress progress;
    /* SIGUSR1 came; only while it is false does a handler write `seen` */
    _Atomic bool is_asked;
    _Atomic bool is_passed_on; /* it came to another thread than the orchestrator's, which alone can answer */
    struct progress_seen seen;
    uint64_t first_task; /* its number */
    pthread_t orchestrator;
    int32_t orchestrator_thread; /* as debug/backtrace.h numbers threads */
    pthread_t thread;
    struct sigaction before[SIGNALS];
    bool active;
} signals;

enum {
    KERNEL_GRACE_MS = 5000, /* a run that has failed waits so long for its kernels: a thread cannot be stopped */
    OVERDUE_MS = 1000,      /* after the end of its @timeout a kernel has so long to return */
    LOOK_MS = 100
};

static void on_question(int number)
{
    (void)number;
    const int why = errno;
    if (!pthread_equal(pthread_self(), signals.orchestrator)) {
        signals.is_passed_on = true;
        sem_post(&signals.wake);
    } else if (!signals.is_asked) {
        signals.seen = ptoi_progress_see(signals.rt, signals.first_task, signals.orchestrator_thread);
        signals.is_asked = true;
        sem_post(&signals.wake);
    }
    errno = why;
}

/* From a handler, or from the thread: the run does not end by itself. */
static _Noreturn void end_process(int code)
{
    if (!signals.is_over && signals.rt->core.engine->abandon) signals.rt->core.engine->abandon(&signals.rt->core);
    _exit(code);
}

/* One request to end may come as two signals: a process group is sent one, and a parent in the group (ptoc run,
 * timeout, a launcher) passes its own on.  So a signal ends the process only where it comes from a sender that has sent
 * one before, and later than `timeout` needs for both of its own, or too late to have been passed on. */
static bool is_again(const siginfo_t *info, int64_t ns_later)
{
    enum sender { PARENT = 1, ANOTHER = 2 };
    const int64_t same_ns = 100 * 1000000ll, passed_on_ns = 1000 * 1000000ll;
    const int sender = info->si_code <= 0 && info->si_pid == getppid() ? PARENT : ANOTHER;
    const bool is_known = atomic_fetch_or(&signals.senders, sender) & sender;
    return ns_later >= (is_known ? same_ns : passed_on_ns);
}

/* The handler from before takes this signal from now on. */
static void give_back(int number)
{
    for (int i = 0; i < SIGNALS; i++)
        if (watched[i] == number) sigaction(number, &signals.before[i], NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int64_t first = 0;
    const int64_t now = ptoi_clock_ns();
    const bool is_first = atomic_compare_exchange_strong(&signals.taken_ns, &first, now);
    const bool again = is_again(info, now - first);
    if (!is_first && !again) return;
    if (is_first) signals.taken = number;
    if (signals.is_over) {
        give_back(number);
        raise(number);
        return;
    }
    if (!is_first) end_process(128 + number);
    if (signals.rt->dist) store_relaxed(&signals.rt->dist->transfers.signal, number); /* relaxed: a number */
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

/* The kernels that workers run, each in a line.  process: see ptoi_running_describe. */
static void describe_kernels(int32_t process, char *text, size_t size)
{
    int count = 0;
    const PTOSite *site;
    struct core *core = &signals.rt->core;
    const struct running_line *lines = core->engine->lines ? core->engine->lines(core, &count) : NULL;
    text[0] = '\0';
    if (lines) ptoi_running_describe(core->window, lines, count, process, text, size, &site);
}

/* The same; if there is none, the one that the thread of the signal ran then. */
static void write_stuck_kernels(void)
{
    char text[3000], calls[PTOI_BACKTRACE_BYTES] = "";
    const PTOSite *site = NULL;
    const PTOKernel *kernel = signals.kernel;
    ptoi_backtrace_listen();
    describe_kernels(signals.rt->core.engine->is_split ? 0 : getpid(), text, sizeof text);
    if (!text[0] && kernel) ptoi_backtrace_of(getpid(), signals.orchestrator_thread, calls);
    ptoi_backtrace_unlisten();
    if (!text[0]) site = signals.site;
    if (!text[0] && kernel && site)
        snprintf(text, sizeof text, "\n  kernel '%.100s' (%.200s:%d:%d)", kernel->name, site->file, site->line,
                 pto_site_column(site));
    else if (!text[0] && kernel)
        snprintf(text, sizeof text, "\n  kernel '%.100s'", kernel->name);
    write_error(text[0] ? "error: cancelled, but 5 s later these kernels have not returned:"
                        : "error: cancelled, but a kernel has not returned after 5 s");
    write_error(text);
    write_error(calls);
    write_error("\n");
}

/* The run has failed: false if it ends within the grace. */
static bool is_stuck_for(int64_t ms)
{
    for (int64_t waited = 0; waited < ms; waited += LOOK_MS) {
        if (signals.is_over) return false;
        wait_for_wake(LOOK_MS);
    }
    return !signals.is_over;
}

static bool is_stuck(void) { return is_stuck_for(KERNEL_GRACE_MS); }

static int signal_of_job(void)
{
    const struct dist *ranks = signals.rt ? signals.rt->dist : NULL;
    if (signals.taken) return signals.taken;
    return ranks ? load_relaxed(&ranks->transfers.signal) : 0; /* relaxed: a number */
}

static void report_once(PTOStatus status)
{
    if (!atomic_exchange(&signals.is_reported, true)) ptoi_print_run_error(signals.rt, status);
}

/* A rank has failed, and this one or another does not end: the first names the error, and then each what it runs.  A
 * launcher ends all ranks when the first of them has ended, so the others come here if the first cannot. */
static void look_at_ranks(void)
{
    /* longer than a busy machine needs to bring all messages through the launcher; and the error comes first */
    enum { LATER_MS = 1500, SECOND_MS = 500 };
    const bool is_first = signals.config.is_first;
    char kernels[3000];
    const PTOStatus status = pto_runtime_status(signals.rt);
    if (signals.config.grace_ms == 0 || status >= 0 || !is_stuck_for(signals.config.grace_ms)) return;
    if (is_first) report_once(status);
    if (!is_first && !is_stuck_for(SECOND_MS)) return;
    describe_kernels(0, kernels, sizeof kernels);
    if (kernels[0]) {
        char rank[32];
        snprintf(rank, sizeof rank, "rank %d", signals.rt->dist->me);
        write_error("error: a rank has failed, and these kernels of ");
        write_error(rank);
        write_error(" have not returned:");
        write_error(kernels);
        write_error("\n");
    }
    if (!is_stuck_for(is_first ? LATER_MS : 2 * LATER_MS)) return;
    if (is_first || !signals.taken) { /* else the launcher ends this rank, because the first has ended */
        report_once(status);
        write_error(is_first ? "error: a rank does not end, so the job ends without results\n"
                             : "error: rank 0 does not end either, so the job ends without results\n");
    }
    end_process(signal_of_job() ? 128 + signal_of_job() : HOST_RUN);
}

/* A kernel has been over its limit for a while: the run has failed.  The thread that would notice it may be the one
 * that runs the kernel. */
static bool is_overdue(void)
{
    struct core *const core = &signals.rt->core;
    struct overdue late;
    const int64_t for_ns = OVERDUE_MS * 1000000ll;
    int count = 0;
    if (core->engine->is_split) return false; /* its orchestrator looks while it waits, and stops the kernel */
    const struct running_line *lines = core->engine->lines ? core->engine->lines(core, &count) : NULL;
    if (!ptoi_running_late(core->window, lines, count, for_ns, &late) &&
        !ptoi_timed_overdue(&core->orch.inlined.timed, ptoi_clock_ns(), for_ns, &late))
        return false;
    if (ptoi_fail_earlier(core->run_status, PTO_ERR_TIMEOUT, late.site, PTO_TIMEOUT_TEXT, late.kernel->name,
                          (long long)late.limit_ms, (long long)late.number))
        core->engine->poke(core);
    return true;
}

/* Where a kernel does not return, the message is printed while it still runs. */
static void look_at_kernels(void)
{
    const bool is_late = is_overdue();
    if (signals.config.grace_ms > 0) return; /* look_at_ranks sees the failure */
    const PTOStatus status = pto_runtime_status(signals.rt);
    if (status != PTO_ERR_WATCHDOG && !is_late) return;
    report_once(status);
    if (!is_stuck()) return;
    write_error("error: the kernel has not returned 5 s later, so the program ends without results\n");
    end_process(signals.taken ? 128 + signals.taken : HOST_RUN);
}

static void *watch_run(void *arg)
{
    (void)arg;
    while (!signals.is_over) {
        if (!wait_for_wake(LOOK_MS)) look_at_kernels();
        if (atomic_exchange(&signals.is_passed_on, false)) pthread_kill(signals.orchestrator, SIGUSR1);
        if (signals.is_asked) {
            const struct progress_seen seen = signals.seen;
            signals.is_asked = signals.is_passed_on = false;
            ptoi_progress_roles(signals.rt, &seen);
        }
        if (signals.config.has_progress) ptoi_progress_look(&signals.progress);
        if (!signals.taken) look_at_ranks();
        if (!signals.taken) continue;
        pto_cancel(signals.rt); /* the other ranks end with its number too */
        if (is_stuck()) {
            write_stuck_kernels();
            end_process(128 + signals.taken);
        }
    }
    return NULL;
}

void ptoi_watch_begin(PTORuntime *rt, const struct watch_config *config)
{
    signals.rt = rt;
    signals.config = *config;
    signals.orchestrator = pthread_self();
    signals.orchestrator_thread = ptoi_backtrace_thread();
    signals.is_asked = false;
    signals.first_task = rt->now.number;
    ptoi_progress_begin(&signals.progress, rt);
    signals.is_over = signals.is_reported = false;
    signals.kernel = NULL;
    signals.site = NULL;
    if (!signals.has_wake) signals.has_wake = sem_init(&signals.wake, 0, 0) == 0;
    signals.active = signals.has_wake && pthread_create(&signals.thread, NULL, watch_run, NULL) == 0;
    for (int i = 0; signals.active && i < SIGNALS; i++) {
        struct sigaction action = {.sa_flags = SA_RESTART};
        if (watched[i] == SIGUSR1) {
            action.sa_handler = on_question;
        } else {
            action.sa_sigaction = on_signal;
            action.sa_flags |= SA_SIGINFO;
        }
        sigaction(watched[i], NULL, &signals.before[i]);
        if (signals.before[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
    }
}

/* Of a run that was cancelled the handler stays: the request may be passed on only now. */
void ptoi_watch_end(void)
{
    if (!signals.active) return;
    for (int i = 0; i < SIGNALS && !signals.taken; i++)
        if (watched[i] != SIGUSR1) give_back(watched[i]);
    signals.is_over = true;
    sem_post(&signals.wake);
    pthread_join(signals.thread, NULL);
    for (int i = 0; i < SIGNALS; i++) /* the thread has sent it for the last time */
        if (watched[i] == SIGUSR1) sigaction(watched[i], &signals.before[i], NULL);
    if (signals.config.has_progress) ptoi_progress_end(&signals.progress);
    signals.active = false;
}

int ptoi_watch_signal(void) { return signal_of_job(); }

void ptoi_watch_raise(void)
{
    give_back(signal_of_job());
    raise(signal_of_job());
}

bool ptoi_watch_reports(void) { return !atomic_exchange(&signals.is_reported, true); }
