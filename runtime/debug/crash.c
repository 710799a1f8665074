/* crash.c - see crash.h.  All functions that a handler calls are async-signal-safe: no allocation, no lock, no
 * stdio. */
#include "crash.h"
#include "shared/place.h"
#include "shared/process_lock.h"
#include "shared/sanitizer.h"
#include "shared/system.h"
#include "shared/task.h"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
    int signal;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
enum { CRASHES = sizeof crashes / sizeof crashes[0] };

_Thread_local struct crash_mark ptoi_crash_mark_;
static _Thread_local const PTOFastPath *volatile orchestrates;

const int ptoi_crash_inline = 1;

/* On several ranks; W the thread that creates a runtime there, or destroys it. */
static char rank_text[96]; /* at the end of the message; empty: there is one rank */

static int watchers; /* it and `before` are guarded by PROCESS_LOCK_CRASH_HANDLERS */
static struct sigaction before[CRASHES];
static struct crash_note *note;
static _Atomic int reported; /* the first thread that crashes swaps it to 1 */

bool ptoi_crash_marked(const PTOKernel **kernel, const PTOSite **site, uint64_t *number)
{
    *kernel = ptoi_crash_mark_.kernel;
    *site = ptoi_crash_mark_.site;
    *number = ptoi_crash_mark_.number;
    return *kernel != NULL;
}

bool ptoi_crash_running(const PTOKernel **kernel, const PTOSite **site, uint64_t *number)
{
    const PTOFastPath *now = orchestrates;
    if (!now || !now->running) return ptoi_crash_marked(kernel, site, number);
    *kernel = now->running;
    *site = now->site;
    *number = now->number - 1;
    return true;
}

bool ptoi_crash_is_here(void)
{
    const PTOFastPath *now = orchestrates;
    return now && (now->running || now->closed == &ptoi_crash_inline);
}

const PTOFastPath *ptoi_crash_orchestrates(const PTOFastPath *now)
{
    const PTOFastPath *before = orchestrates;
    orchestrates = now;
    return before;
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void put(struct crash_text *t, const char *s)
{
    while (*s && t->size + 1 < sizeof t->bytes) t->bytes[t->size++] = *s++;
    t->bytes[t->size] = '\0';
}

static void put_in_base(struct crash_text *t, uint64_t n, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = "0123456789abcdef"[n % base];
    while (n /= base);
    put(t, digits + at);
}

static void put_number(struct crash_text *t, int64_t n)
{
    if (n < 0) put(t, "-");
    put_in_base(t, n < 0 ? -(uint64_t)n : (uint64_t)n, 10);
}

static void put_address(struct crash_text *t, uint64_t address)
{
    put(t, "0x");
    put_in_base(t, address, 16);
}

/* Writes v with up to 6 decimals, and a very large or very small one as its bits.  printf is not safe in a signal
 * handler. */
static void put_real(struct crash_text *t, double v)
{
    const double size = v < 0 ? -v : v;
    if (!(size < 1e12 && (v == 0 || size >= 1e-3))) {
        int64_t bits;
        memcpy(&bits, &v, sizeof bits);
        put(t, "f64 of the bits ");
        put_address(t, (uint64_t)bits);
        return;
    }
    uint64_t whole = (uint64_t)size, millionths = (uint64_t)((size - (double)whole) * 1e6 + 0.5);
    if (millionths == 1000000) whole++, millionths = 0;
    if (v < 0) put(t, "-");
    put_in_base(t, whole, 10);
    if (millionths == 0) return;
    char digits[] = "000000";
    for (int i = 5; i >= 0; i--, millionths /= 10) digits[i] = (char)('0' + millionths % 10);
    for (int i = 5; digits[i] == '0'; i--) digits[i] = '\0';
    put(t, ".");
    put(t, digits);
}

static void put_scalar(struct crash_text *t, const PTOArg *a)
{
    switch (a->type) {
    case PTO_F32: put_real(t, (double)a->value.f32); return;
    case PTO_F64: put_real(t, a->value.f64); return;
    case PTO_BOOL: put(t, a->value.b ? "true" : "false"); return;
    case PTO_I64: put_number(t, a->value.i64); return;
    default: put_address(t, (uint64_t)a->value.i64), put(t, " ("), put_number(t, a->value.i64), put(t, ")");
    }
}

/* The first byte of a view, and how many there are from it to behind the last. */
static uint64_t span_of(const PTOArg *a, uint64_t *begin)
{
    const uint64_t unit = (uint64_t)pto_type_bytes((PTOType)a->type);
    uint64_t elements = 1;
    *begin = (uint64_t)(uintptr_t)a->ptr;
    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] <= 0) return 0;
        const uint64_t steps = (uint64_t)(a->shape[d] - 1);
        elements += steps * (a->stride[d] < 0 ? -(uint64_t)a->stride[d] : (uint64_t)a->stride[d]);
        if (a->stride[d] < 0) *begin += steps * (uint64_t)a->stride[d] * unit;
    }
    return elements * unit;
}

/* "argument 2 'b'" */
static void put_name(struct crash_text *t, const PTOKernel *kernel, int index)
{
    const char *name = kernel->formals;
    put(t, "argument ");
    put_number(t, index + 1);
    for (int i = 0; name && i < index; i++) {
        while (*name && *name != ',') name++;
        if (*name) name += 2;
    }
    if (!name || !*name) return;
    put(t, " '");
    for (char letter[2] = {0}; *name && *name != ','; name++) {
        letter[0] = *name;
        put(t, letter);
    }
    put(t, "'");
}

static void put_list(struct crash_text *t, const int64_t *number, int count)
{
    put(t, "[");
    for (int d = 0; d < count; d++) {
        if (d) put(t, ", ");
        put_number(t, number[d]);
    }
    put(t, "]");
}

static void put_argument(struct crash_text *t, const PTOArg *a)
{
    uint64_t begin;
    const uint64_t bytes = span_of(a, &begin);
    put(t, pto_type_name((PTOType)a->type));
    put_list(t, a->shape, a->rank);
    if (!ptoi_arg_is_contiguous(a)) put(t, " with strides "), put_list(t, a->stride, a->rank);
    put(t, " at ");
    put_address(t, begin);
    put(t, " to ");
    put_address(t, begin + bytes);
}

/* Which tensor the address lies in, or next to. */
static void put_neighbour(struct crash_text *t, const PTOKernel *kernel, const PTOArg *args, int count,
                          uint64_t address)
{
    const uint64_t near = 64 * 1024;
    uint64_t least = near;
    int nearest = -1;
    bool is_behind = false;
    for (int i = 0; i < count; i++) {
        uint64_t begin;
        const uint64_t bytes = args[i].kind == PTO_PARAM_SCALAR ? 0 : span_of(&args[i], &begin);
        if (bytes == 0) continue;
        const bool behind = address >= begin + bytes;
        const uint64_t away = behind ? address - (begin + bytes) + 1 : address < begin ? begin - address : 0;
        if (away < least) least = away, nearest = i, is_behind = behind;
    }
    put(t, "\n  the address ");
    put_address(t, address);
    if (nearest < 0) {
        put(t, " lies near no argument");
        return;
    }
    put(t, " lies ");
    if (least > 0) {
        put_number(t, (int64_t)(is_behind ? least - 1 : least));
        put(t, is_behind ? " bytes past the end of " : " bytes before ");
    } else {
        put(t, "in ");
    }
    put_name(t, kernel, nearest);
}

void ptoi_crash_describe(struct crash_text *t, const PTOKernel *kernel, const PTOArg *args, int count,
                         const struct crash_address *at, const char *calls)
{
    put(t, calls);
    if (at->is_known && count > 0) put_neighbour(t, kernel, args, count, at->value);
    for (int i = 0; i < count; i++) {
        put(t, "\n  ");
        put_name(t, kernel, i);
        put(t, ": ");
        if (args[i].kind == PTO_PARAM_SCALAR)
            put_scalar(t, &args[i]);
        else
            put_argument(t, &args[i]);
    }
    if (!args)
        put(t, "\n  help: a run in which every task is deferred (--defer, PTOConfig.always_defer) shows the arguments, "
               "and so does a program built with -O0");
    put(t,
        "\n  help: a checked run (--checked, PTOConfig.checked) names the kernel that writes outside of its arguments");
}

/* The line of the source, and the indices of its loops if the thread is there still. */
static void put_place(struct crash_text *t, const PTOSite *site, bool is_here)
{
    char line[PTOI_EXCERPT_BYTES], with[PTOI_INDICES_BYTES];
    if (ptoi_place_excerpt(site, line) > 0) put(t, "\n"), put(t, line);
    if (is_here && ptoi_place_with(site, ptoi_place_indices(site), with) > 0) put(t, "\n  "), put(t, with);
}

/* The functions that are open, the innermost first, with the loop indices of their callers. */
static void put_calls(struct crash_text *t)
{
    enum { SHOWN = 8 };
    char with[PTOI_INDICES_BYTES];
    const struct open_functions *const open = ptoi_place_open();
    for (int i = open ? open->count - 1 : 0, shown = 0; i > 0 && shown < SHOWN; i--, shown++) {
        const PTOSite *const at = open->list[i].called_at;
        put(t, "\n  in '");
        put(t, open->list[i].name);
        put(t, "', called at ");
        put(t, at ? at->file : "?");
        put(t, ":");
        put_number(t, at ? at->line : 0);
        if (ptoi_place_with(at, open->list[i - 1].indices, with) > 0) put(t, " "), put(t, with);
    }
}

/* Was this task deferred, from a loop whose indices it does not know? */
static bool lacks_indices(const PTOSite *site, bool is_here)
{
    return !is_here && site && (site->column & PTO_SITE_HAS_LINE) && ((const PTOSiteLine *)site)->indices[0];
}

/* Of the crash that is reported: the copy that asks for arguments has it too. */
static struct crash_address crashed_at;

static void close_fast_path(void) { ((PTOFastPath *)(uintptr_t)orchestrates)->closed = &ptoi_crash_inline; }

void ptoi_crash_recovered(const PTOKernel *kernel, const PTOArg *args, int count)
{
    static struct crash_text t;
    if (!ptoi_backtrace_resumes()) return;
    ptoi_crash_describe(&t, kernel, args, count, &crashed_at, "");
    t.bytes[t.size < PTOI_BACKTRACE_MORE ? t.size : PTOI_BACKTRACE_MORE - 1] = '\0';
    ptoi_backtrace_send(t.bytes);
}

/* is_here: the thread orchestrates, and is at the submit of this task. */
static void report(int signal, const struct crash_address *at, const void *context, bool is_here)
{
    static char calls[PTOI_BACKTRACE_BYTES], found[PTOI_BACKTRACE_MORE]; /* one thread reports */
    struct crash_text t;
    const PTOSite *site = ptoi_crash_mark_.site;
    t.size = 0;
    if (site) {
        put(&t, site->file);
        put(&t, ":");
        put_number(&t, site->line);
        if (pto_site_column(site) > 0) put(&t, ":"), put_number(&t, pto_site_column(site));
        put(&t, ": ");
    }
    put(&t, "error: kernel '");
    put(&t, ptoi_crash_mark_.kernel->name);
    put(&t, "' crashed: ");
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].signal == signal) put(&t, crashes[i].name);
    put(&t, " (task ");
    put_number(&t, (int64_t)ptoi_crash_mark_.number);
    put(&t, ")");
    put(&t, rank_text);
    put_place(&t, site, is_here);
    crashed_at = *at;
    if (is_here && !ptoi_crash_mark_.args)
        ptoi_backtrace_submit(context, close_fast_path, calls, found);
    else
        ptoi_backtrace_here(context, calls);
    if (ptoi_backtrace_resumes()) return;
    if (!is_here) {
        ptoi_crash_describe(&t, ptoi_crash_mark_.kernel, ptoi_crash_mark_.args, ptoi_crash_mark_.count, at, calls);
    } else {
        put(&t, calls);
        put_calls(&t);
        if (found[0])
            put(&t, found);
        else
            ptoi_crash_describe(&t, ptoi_crash_mark_.kernel, ptoi_crash_mark_.args, ptoi_crash_mark_.count, at, "");
    }
    if (lacks_indices(site, is_here))
        put(&t, "\n  help: the engine serial (--engine, PTOConfig.engine) shows the indices of the loops");
    put(&t, "\n");
    ssize_t written = write(STDERR_FILENO, t.bytes, t.size);
    (void)written; /* nothing can be done about a failure to write */
}

/* malloc ends a program whose memory is corrupted; the kernel that did it has long returned. */
static void report_abort(void)
{
    static const char text[] =
        "error: the program was aborted outside of a kernel\n  help: if malloc says above that memory is corrupted, a "
        "checked run (--checked, PTOConfig.checked) names the kernel that writes outside of its arguments\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* nothing can be done about a failure to write */
}

static void restore(int i) { sigaction(crashes[i].signal, &before[i], NULL); }

static void on_crash(int signal, siginfo_t *info, void *context)
{
    const PTOFastPath *now = orchestrates;
    struct crash_address at = {.is_known = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0 &&
                                           info->si_code != SI_KERNEL};
    if (at.is_known) at.value = (uint64_t)(uintptr_t)info->si_addr;
    const bool is_here = ptoi_crash_is_here();
    if (now && now->running) ptoi_crash_mark(now->running, now->site, now->number - 1, NULL, 0);
    if (ptoi_crash_mark_.kernel && swap_relaxed(&reported, 1) == 0) {
        if (note) {
            note->address = at;
            note->kernel = ptoi_crash_mark_.kernel;
            ptoi_backtrace_here(context, note->calls);
            store_relaxed(&note->task, ptoi_crash_mark_.number + 1); /* relaxed: read after our death */
        } else {
            report(signal, &at, context, is_here);
        }
    } else if (!ptoi_crash_mark_.kernel && now && signal == SIGABRT && !note && swap_relaxed(&reported, 1) == 0) {
        report_abort();
    }
    if (ptoi_backtrace_resumes()) return;
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].signal == signal) restore(i);
    raise(signal); /* blocked until we return, then as if we had never been there */
}

/* ---- installing -------------------------------------------------------------------------------------------------- */

void ptoi_crash_on_rank(int32_t rank)
{
    char host[64];
    rank_text[0] = '\0';
    if (rank == PTOI_NO_RANK) return;
    ptoi_host_name(host, sizeof host);
    snprintf(rank_text, sizeof rank_text, " (on rank %d, %s)", rank, host);
}

void ptoi_crash_report_to(struct crash_note *to)
{
    note = to;
    watchers = 0; /* those were of runs of the parent, whose handlers are not here */
}

void ptoi_crash_watch(void)
{
    if (PTOI_HAS_SANITIZER) return;
    ptoi_backtrace_prepare();
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    if (watchers++ == 0) {
        struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
        sigemptyset(&ours.sa_mask);
        for (int i = 0; i < CRASHES; i++) sigaction(crashes[i].signal, &ours, &before[i]);
    }
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
}

void ptoi_crash_unwatch(void)
{
    if (PTOI_HAS_SANITIZER) return;
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    if (--watchers == 0)
        for (int i = 0; i < CRASHES; i++) {
            struct sigaction now;
            sigaction(crashes[i].signal, NULL, &now);
            /* else a later handler replaced it */
            if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_crash) restore(i);
        }
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
}

void ptoi_crash_use_stack(void *stack)
{
    static _Thread_local bool is_ours;
    stack_t now;
    if (PTOI_HAS_SANITIZER || sigaltstack(NULL, &now) != 0) return;
    if (stack ? !(now.ss_flags & SS_DISABLE) : !is_ours) return;
    stack_t next = {.ss_sp = stack, .ss_size = PTO_CRASH_STACK_BYTES, .ss_flags = stack ? 0 : SS_DISABLE};
    is_ours = sigaltstack(&next, NULL) == 0 && stack;
}
