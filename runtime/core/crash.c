/* crash.c - see crash.h.  Everything that a handler calls is safe in a handler: no allocation, no lock, no stdio. */
#include "crash.h"
#include "system.h"
#include <signal.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

static const struct {
    int signal;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
enum { CRASHES = sizeof crashes / sizeof crashes[0] };

/* W the thread that runs the kernel, R its own handler. */
static _Thread_local const PTOKernel *volatile marked;
static _Thread_local const PTOSite *volatile marked_site;
static _Thread_local volatile uint64_t marked_number;
static _Thread_local const PTOShortWay *volatile orchestrates;

static ptoi_lock lock = PTOI_LOCK_OPEN; /* guards watchers and before; nothing is taken under it */
static int watchers;
static struct sigaction before[CRASHES];
static struct crash_note *note;
static _Atomic int reported; /* the first thread that crashes swaps it to 1 */

void ptoi_crash_mark(const PTOKernel *kernel, const PTOSite *site, uint64_t number)
{
    marked_number = number;
    marked_site = site;
    marked = kernel;
}

void ptoi_crash_unmark(void) { marked = NULL; }

bool ptoi_crash_marked(const PTOKernel **kernel, const PTOSite **site, uint64_t *number)
{
    *kernel = marked;
    *site = marked_site;
    *number = marked_number;
    return *kernel != NULL;
}

const PTOShortWay *ptoi_crash_orchestrates(const PTOShortWay *now)
{
    const PTOShortWay *before = orchestrates;
    orchestrates = now;
    return before;
}

/* ---- the report ------------------------------------------------------------------------------------------------------------- */

struct text {
    size_t size;
    char bytes[1024];
};

static void put(struct text *t, const char *s)
{
    while (*s && t->size < sizeof t->bytes) t->bytes[t->size++] = *s++;
}

static void put_number(struct text *t, uint64_t n)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    put(t, digits + at);
}

static void report(const PTOKernel *kernel, const PTOSite *site, uint64_t number, int signal)
{
    struct text t = {0};
    if (site) {
        put(&t, site->file);
        put(&t, ":");
        put_number(&t, (uint64_t)site->line);
        if (site->column > 0) put(&t, ":"), put_number(&t, (uint64_t)site->column);
        put(&t, ": ");
    }
    put(&t, "error: kernel '");
    put(&t, kernel->name);
    put(&t, "' crashed: ");
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].signal == signal) put(&t, crashes[i].name);
    put(&t, " (task ");
    put_number(&t, number);
    put(&t, ")\n");
    ssize_t written = write(STDERR_FILENO, t.bytes, t.size);
    (void)written; /* there is nobody left to tell */
}

static void restore(int i) { sigaction(crashes[i].signal, &before[i], NULL); }

static void on_crash(int signal)
{
    const PTOShortWay *now = orchestrates;
    if (now && now->running) ptoi_crash_mark(now->running, now->site, now->number - 1);
    if (marked && swap_acq_rel(&reported, 1, CRASH) == 0) {
        if (note)
            store_relaxed(&note->task, marked_number + 1); /* relaxed: read after our death */
        else
            report(marked, marked_site, marked_number, signal);
    }
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].signal == signal) restore(i);
    raise(signal); /* blocked until we return, then as if we had never been there */
}

/* ---- installing -------------------------------------------------------------------------------------------------------------- */

void ptoi_crash_report_to(struct crash_note *to) { note = to; }

void ptoi_crash_watch(void)
{
    if (HAS_SANITIZER) return;
    ptoi_lock_take(&lock);
    if (watchers++ == 0) {
        struct sigaction ours = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        for (int i = 0; i < CRASHES; i++) sigaction(crashes[i].signal, &ours, &before[i]);
    }
    ptoi_lock_leave(&lock);
}

void ptoi_crash_unwatch(void)
{
    if (HAS_SANITIZER) return;
    ptoi_lock_take(&lock);
    if (--watchers == 0)
        for (int i = 0; i < CRASHES; i++) {
            struct sigaction now;
            sigaction(crashes[i].signal, NULL, &now);
            if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_crash) restore(i); /* else somebody else's came since */
        }
    ptoi_lock_leave(&lock);
}

void ptoi_crash_use_stack(void *stack)
{
    static _Thread_local bool is_ours;
    stack_t now;
    if (HAS_SANITIZER || sigaltstack(NULL, &now) != 0) return;
    if (stack ? !(now.ss_flags & SS_DISABLE) : !is_ours) return;
    stack_t next = {.ss_sp = stack, .ss_size = PTO_CRASH_STACK_BYTES, .ss_flags = stack ? 0 : SS_DISABLE};
    is_ours = sigaltstack(&next, NULL) == 0 && stack;
}
