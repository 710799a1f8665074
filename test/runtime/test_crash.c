/* test_crash.c - a kernel that crashes: one line that names it, then the process ends by that signal; on the process
 * engine the run fails with the same facts and the host lives.
 * Method     the crash happens in a forked process, whose standard error is a pipe. */
#define PTO_INLINE_SUBMITS 1 /* with a sanitizer, too */
#include "shared/sanitizer.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <pto/pto_runtime.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int use_stack(volatile char *above, int depth)
{
    volatile char here[4096];
    here[0] = above ? above[0] : 0;
    return depth > 1 << 24 ? here[0] : use_stack(here, depth + 1) + here[0];
}

static volatile uintptr_t nowhere = 8; /* volatile: a compiler that saw the address would say what is wrong with it */

enum { CORRUPT_END = 1001, CORRUPT_FREED };

/* Writes over what malloc keeps behind its blocks, which it finds, or in a freed block, which it follows: in either
 * case with its lock held where the process has several threads. */
static int crash_in_malloc(bool is_freed)
{
    enum { BLOCKS = 8, WORDS = 5000 };
    static uintptr_t *volatile block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) block[i] = malloc(WORDS * sizeof **block);
    if (is_freed) {
        free(block[1]), free(block[3]); /* kept in a list */
        for (int i = 1; i < 4; i += 2) block[i][0] = block[i][1] = 24;
    } else {
        uintptr_t *last = block[BLOCKS - 1];
        last[malloc_usable_size(last) / sizeof *last] = UINTPTR_MAX;
    }
    for (int i = 1; i < BLOCKS; i++) block[0] = malloc((size_t)i * WORDS * sizeof **block);
    return 0;
}

static int k_crash(const PTOArg *a)
{
    switch (a[1].value.i64) {
    case CORRUPT_END: return crash_in_malloc(false);
    case CORRUPT_FREED: return crash_in_malloc(true);
    case SIGABRT: abort();
    case SIGSEGV: return *(volatile int *)nowhere;
    case 1000: return use_stack(NULL, 0);
    default: raise((int)a[1].value.i64);
    }
    return 0;
}
static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel crash = {.name = "boom", .worker = PTO_WORKER_VECTOR, .fn = k_crash};
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};
static const PTOSite here = {"c.pto", 12, 5, "boom"}, there = {"c.pto", 3, 1, "nothing"};

static int64_t cell;

static void crashes(PTORuntime *rt, void *arg)
{
    PTOTaskParam p[] = {PTO_INOUT(&cell, 0, PTO_ARRAY(PTO_I64, 1)), PTO_SCALAR(*(int64_t *)arg)};
    pto_at(rt, &there);
    for (int i = 0; i < 4; i++) pto_submit_task(rt, &nothing, p, 1);
    PTOTaskParam harmless[] = {PTO_INOUT(&cell, 0, PTO_ARRAY(PTO_I64, 1)), PTO_SCALAR((int64_t)0)};
    pto_submit_task(rt, &crash, harmless, 2); /* now it is known to be short: the next one is called without asking */
    pto_at(rt, &here);
    pto_submit_task(rt, &crash, p, 2);
    pto_at(rt, &there);
    for (int i = 0; i < 5; i++) pto_submit_task(rt, &nothing, p, 1);
}

/* Runs body in a process of its own; what it wrote to standard error; how it ended. */
static int in_process(void (*body)(void *), void *arg, char *text, size_t size)
{
    int ends[2], status;
    size_t n = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0}, stack = {1 << 20, 1 << 20};
        setrlimit(RLIMIT_CORE, &none);
        setrlimit(RLIMIT_STACK, &stack);
        dup2(ends[1], 2);
        for (int s = 1; s < 16; s++) /* cmocka's */
            if (s == SIGSEGV || s == SIGABRT || s == SIGFPE || s == SIGBUS || s == SIGILL) signal(s, SIG_DFL);
        body(arg);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; n + 1 < size && (got = read(ends[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

struct attempt {
    PTOEngine engine;
    int64_t how;
    bool defers; /* every task goes through the window: its arguments are known */
};

static void run_it(void *arg)
{
    struct attempt *a = arg;
    PTOConfig c = {.engine = a->engine, .always_defer = a->defers};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (rt) pto_runtime_run(rt, crashes, &a->how);
}

static const char help[] =
    "\n  help: a checked run (--checked, PTOConfig.checked) names the kernel that writes outside of its arguments\n";

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct {
    int64_t how;
    int signal;
    const char *name;
} ways[] = {{SIGSEGV, SIGSEGV, "SIGSEGV"}, {SIGABRT, SIGABRT, "SIGABRT"}, {SIGFPE, SIGFPE, "SIGFPE"},
            {SIGBUS, SIGBUS, "SIGBUS"},    {SIGILL, SIGILL, "SIGILL"},    {1000, SIGSEGV, "SIGSEGV"}};
enum { WAYS = sizeof ways / sizeof ways[0] };

TEST(a_crash_is_reported_once_and_ends_the_process_by_its_signal)
{
    if (PTOI_HAS_SANITIZER) return; /* the sanitizer itself reports */
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (int e = 0; e < 6; e++)
        for (int w = 0; w < WAYS; w++) {
            char text[4096], want[400];
            struct attempt a = {engines[e % 3], ways[w].how, e >= 3};
            int status = in_process(run_it, &a, text, sizeof text);
            EXPECT(WIFSIGNALED(status));
            EXPECT_EQ(WTERMSIG(status), ways[w].signal);
            snprintf(want, sizeof want, "c.pto:12:5: error: kernel 'boom' crashed: %s (task 5)\n", ways[w].name);
            EXPECT(strncmp(text, want, strlen(want)) == 0);
            EXPECT((strstr(text, "\n  in k_crash at ") || strstr(text, "\n  in use_stack at ")) == !PTOI_HAS_SANITIZER);
            const bool is_access = ways[w].how == SIGSEGV || ways[w].how == 1000;
            if (!a.defers) {
                EXPECT(ends_with(text, help));
                EXPECT((strstr(text, "--defer") != NULL) != (strstr(text, "argument 1") != NULL));
                continue;
            }
            EXPECT_EQ(strstr(text, "\n  the address ") != NULL, is_access);
            snprintf(want, sizeof want, "\n  argument 1: i64[1] at %p to %p\n  argument 2: %lld%s", (void *)&cell,
                     (void *)(&cell + 1), (long long)ways[w].how, help);
            EXPECT(ends_with(text, want));
        }
}

static void run_without_addr2line(void *arg)
{
    setenv("PATH", "/nowhere", 1);
    run_it(arg);
}

TEST(without_addr2line_the_dynamic_symbols_name_the_calls)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    struct attempt a = {PTO_ENGINE_SERIAL, SIGABRT, true};
    int status = in_process(run_without_addr2line, &a, text, sizeof text);
    EXPECT(WIFSIGNALED(status));
    EXPECT(strstr(text, "\n  in gsignal\n") || strstr(text, "\n  in raise\n"));
}

/* The report takes no lock of malloc: neither in the process, nor in the copy that looks for the lines. */
TEST(a_crash_inside_malloc_is_reported_with_its_calls)
{
    if (PTOI_HAS_SANITIZER) return;
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL};
    static const struct {
        int64_t how;
        int signal;
        const char *name;
    } causes[] = {{CORRUPT_END, SIGABRT, "SIGABRT"}, {CORRUPT_FREED, SIGSEGV, "SIGSEGV"}};
    for (int e = 0; e < 4; e++)
        for (int c = 0; c < 2; c++) {
            char text[4096], want[100];
            struct attempt a = {engines[e % 2], causes[c].how, e >= 2};
            int status = in_process(run_it, &a, text, sizeof text);
            EXPECT(WIFSIGNALED(status));
            EXPECT_EQ(WTERMSIG(status), causes[c].signal);
            snprintf(want, sizeof want, "c.pto:12:5: error: kernel 'boom' crashed: %s (task 5)\n", causes[c].name);
            EXPECT(strstr(text, want));
            EXPECT(strstr(text, "\n  in crash_in_malloc at "));
            EXPECT(ends_with(text, help));
        }
}

TEST(on_the_process_engine_a_crash_is_an_error_and_the_host_lives)
{
    for (int w = 0; w < WAYS; w++) {
        PTOConfig c = {.engine = PTO_ENGINE_PROCESS, .workers = {0, 2}};
        struct attempt a = {PTO_ENGINE_PROCESS, ways[w].how, true};
        if (PTOI_HAS_SANITIZER && a.how == 1000) continue; /* needs the handler's stack */
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_runtime_run(rt, crashes, &a.how), PTO_ERR_LOST);
        const char *text = pto_last_error(rt);
        EXPECT(strncmp(text, "c.pto:12:5: error: ", 19) == 0);
        EXPECT(strstr(text, "the worker process died"));
        EXPECT(strstr(text, "kernel 'boom'"));
        EXPECT(strstr(text, "(task 5"));
        if (!PTOI_HAS_SANITIZER) { /* the handler said which of the kernels that ran it was */
            char want[200];
            snprintf(want, sizeof want,
                     "c.pto:12:5: error: kernel 'boom' crashed (task 5): the worker process died: signal %d (%s)\n",
                     ways[w].signal, strsignal(ways[w].signal));
            EXPECT(strncmp(text, want, strlen(want)) == 0);
            snprintf(want, sizeof want,
                     "\n  argument 1: i64[1] at %p to %p\n  argument 2: %lld\n  help: ", (void *)&cell,
                     (void *)(&cell + 1), (long long)ways[w].how);
            EXPECT(strstr(text, want));
        }
        pto_runtime_destroy(rt);
    }
}

/* ---- somebody else's handlers ---- */
static void hosts_handler(int signal)
{
    (void)signal;
    static const char text[] = "the host was notified\n";
    ssize_t written = write(2, text, sizeof text - 1);
    _exit(written > 0 ? 7 : 8);
}

static void run_with_handler(void *arg)
{
    signal(SIGSEGV, hosts_handler);
    run_it(arg);
}

TEST(the_hosts_own_handler_runs_after_the_report)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    struct attempt a = {PTO_ENGINE_SERIAL, SIGSEGV, false};
    int status = in_process(run_with_handler, &a, text, sizeof text);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    EXPECT(strncmp(text, "c.pto:12:5: error: kernel 'boom' crashed: SIGSEGV (task 5)\n", 59) == 0);
    EXPECT(ends_with(text, "the host was notified\n"));
}

static void crash_outside(void *arg)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    (void)arg;
    if (rt) raise(SIGSEGV);
}

static void crash_in_orchestration(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    raise(SIGSEGV);
}

static void crash_while_running(void *arg)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    (void)arg;
    if (rt) pto_runtime_run(rt, crash_in_orchestration, NULL);
}

TEST(a_crash_outside_a_kernel_is_not_ours)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    int status = in_process(crash_outside, NULL, text, sizeof text);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT_STR(text, "");
    status = in_process(crash_while_running, NULL, text, sizeof text);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    EXPECT_STR(text, "");
}

static void abort_in_orchestration(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    abort();
}

static void abort_while_running(void *arg)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    (void)arg;
    if (rt) pto_runtime_run(rt, abort_in_orchestration, NULL);
}

TEST(an_abort_of_the_orchestration_names_the_checked_run)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    int status = in_process(abort_while_running, NULL, text, sizeof text);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    EXPECT(strstr(text, "error: the program was aborted outside of a kernel\n  help: ") == text);
    EXPECT(strstr(text, "--checked"));
}

static void raise_a_status(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_raise(rt, PTO_ERR_ASSERT, "%d is too large", 7);
}

static void raise_outside(void *arg)
{
    const int how = *(const int *)arg;
    PTORuntime *rt = how == 0 ? NULL : pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    if (how == 2) pto_run_entry(rt, raise_a_status, NULL); /* which is over */
    raise_a_status(rt, NULL);
}

TEST(pto_raise_outside_of_a_run_aborts_with_its_message)
{
    for (int how = 0; how < 3; how++) {
        char text[4096];
        int status = in_process(raise_outside, &how, text, sizeof text);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        EXPECT(strstr(text, "pto_raise outside a run of pto_run_entry: PTO_ERR_ASSERT: 7 is too large\n") == text);
    }
}

static void harmless(PTORuntime *rt, void *arg)
{
    PTOTaskParam p[] = {PTO_INOUT(&cell, 0, PTO_ARRAY(PTO_I64, 1))};
    (void)arg;
    pto_submit_task(rt, &nothing, p, 1);
}

TEST(after_a_run_the_handlers_and_the_stack_are_as_they_were)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 3; e++) {
        struct sigaction before, after;
        stack_t stack_before, stack_after;
        PTOConfig c = {.engine = engines[e]};
        sigaction(SIGSEGV, NULL, &before);
        sigaltstack(NULL, &stack_before);
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_runtime_run(rt, harmless, NULL), PTO_OK);
        sigaction(SIGSEGV, NULL, &after);
        sigaltstack(NULL, &stack_after);
        EXPECT(before.sa_handler == after.sa_handler && before.sa_flags == after.sa_flags);
        EXPECT(stack_before.ss_flags == stack_after.ss_flags && stack_before.ss_sp == stack_after.ss_sp);
        pto_runtime_destroy(rt);
    }
}

/* ---- which argument the address lies next to ---- */

static char *pages; /* one that is there, with one around it that is not */
enum { PAGE = 4096 };

static int k_step_outside(const PTOArg *a)
{
    volatile char *bytes = a[0].ptr;
    return bytes[a[1].value.i64] & 0;
}
static const PTOKernel step_outside = {
    .name = "step_outside", .worker = PTO_WORKER_VECTOR, .fn = k_step_outside, .formals = "table, index"};

static void steps_outside(PTORuntime *rt, void *arg)
{
    const int64_t *how = arg;
    PTOTaskParam harmless[] = {PTO_INOUT(pages + PAGE, 0, PTO_ARRAY(PTO_F32, 4, 256)), PTO_SCALAR((int64_t)0)};
    PTOTaskParam p[] = {PTO_INOUT(pages + PAGE, 0, PTO_ARRAY(PTO_F32, 4, 256)), PTO_SCALAR(*how)};
    for (int i = 0; i < 100; i++) pto_submit_task(rt, &step_outside, harmless, 2);
    pto_submit_task(rt, &step_outside, p, 2);
}

static void step(void *arg)
{
    struct attempt *a = arg;
    PTOConfig c = {.engine = a->engine, .workers = {0, 1}, .always_defer = true};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (rt && pto_runtime_run(rt, steps_outside, &a->how) == PTO_ERR_LOST) fputs(pto_last_error(rt), stderr);
}

TEST(the_argument_next_to_the_address_of_a_crash_is_named)
{
    if (PTOI_HAS_SANITIZER) return;
    static const struct {
        int64_t at;
        const char *text;
    } cases[] = {{PAGE, " lies 0 bytes past the end of argument 1 'table'\n"},
                 {PAGE + 17, " lies 17 bytes past the end of argument 1 'table'\n"},
                 {-1, " lies 1 bytes before argument 1 'table'\n"},
                 {-PAGE, " lies 4096 bytes before argument 1 'table'\n"},
                 {-((int64_t)1 << 38), " lies near no argument\n"}};
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS};
    pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    for (int e = 0; e < 4; e++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            char text[4096], want[400];
            struct attempt a = {engines[e], cases[i].at, true};
            in_process(step, &a, text, sizeof text);
            snprintf(want, sizeof want,
                     "\n  the address %p%s  argument 1 'table': f32[4, 256] at %p to %p\n  argument 2 'index': %lld\n",
                     (void *)(pages + PAGE + cases[i].at), cases[i].text, (void *)(pages + PAGE),
                     (void *)(pages + 2 * PAGE), (long long)cases[i].at);
            EXPECT(strstr(text, want));
        }
    munmap(pages, 3 * PAGE);
}

/* ---- the arguments of the fast path ------------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__linux__)
static volatile int64_t quotient;
static __attribute__((noinline)) void divide(int64_t by) { quotient = 1000 / by; }

/* A kernel of its own, as the large ones of programs are; how it crashes stands in its last argument. */
static __attribute__((noinline)) int k_apart(const PTOArg *a)
{
    volatile char *bytes = a[0].ptr;
    switch (a[4].value.i64) {
    case 0: return 0;
    case SIGFPE: divide(a[1].value.i64 - 89); return 0;
    case SIGABRT: abort();
    default: return bytes[a[4].value.i64] & 0;
    }
}
static const PTOKernel apart = {
    .name = "apart", .worker = PTO_WORKER_VECTOR, .fn = k_apart, .formals = "table, left, scale, made, how"};

static void crashes_apart(PTORuntime *rt, void *arg)
{
    for (int64_t i = 0; i < 12; i++) {
        void *made = NULL;
        pto_at(rt, &here);
        pto_submit_task(rt, &apart,
                        (PTOTaskParam[]){PTO_INOUT(pages + PAGE, 8 * i, PTO_STRIDED(PTO_F32, (2, 3), (4, 1))),
                                         PTO_SCALAR(100 - i), PTO_SCALAR(0.5f * (float)i),
                                         PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, 4)),
                                         PTO_SCALAR(i == 11 ? *(int64_t *)arg : (int64_t)0)},
                        5);
    }
}

static void run_apart(void *arg)
{
    struct attempt *a = arg;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = a->engine}, NULL);
    if (rt) pto_runtime_run(rt, crashes_apart, &a->how);
}

TEST(the_arguments_of_a_kernel_that_the_fast_path_called_are_found)
{
    if (PTOI_HAS_SANITIZER) return;
    static const int64_t how[] = {PAGE, -PAGE, SIGFPE, SIGABRT};
    pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    for (size_t i = 0; i < sizeof how / sizeof how[0]; i++) {
        char text[4096], want[400];
        struct attempt a = {PTO_ENGINE_SERIAL, how[i], false};
        EXPECT(WIFSIGNALED(in_process(run_apart, &a, text, sizeof text)));
        EXPECT(strncmp(text, "c.pto:12:5: error: kernel 'apart' crashed: ", 43) == 0);
        EXPECT(strstr(text, " (task 11)\n"));
        snprintf(want, sizeof want,
                 "\n  argument 1 'table': f32[2, 3] with strides [4, 1] at %p to %p\n  argument 2 'left': 89\n"
                 "  argument 3 'scale': 5.5\n  argument 4 'made': f64[4] at 0x",
                 (void *)(pages + PAGE + 4 * 8 * 11), (void *)(pages + PAGE + 4 * 8 * 11 + 28));
        EXPECT(strstr(text, want));
        snprintf(want, sizeof want, "\n  argument 5 'how': %lld%s", (long long)how[i], help);
        EXPECT(ends_with(text, want));
        EXPECT(!strstr(text, "--defer"));
    }
    munmap(pages, 3 * PAGE);
}

/* What the copy that finds them could do: nothing is written by it but its answer. */
static int k_counts(const PTOArg *a)
{
    ++*(int64_t *)a[0].ptr;
    return a[1].value.i64 ? *(volatile int *)nowhere & 0 : 0;
}
static int (*volatile counts_fn)(const PTOArg *) = k_counts;

static void counts_and_crashes(PTORuntime *rt, void *arg)
{
    static PTOKernel counts = {.name = "counts", .worker = PTO_WORKER_VECTOR};
    counts.fn = counts_fn;
    for (int64_t i = 0; i < 40; i++) {
        pto_submit_task(rt, &counts,
                        (PTOTaskParam[]){PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, 1)), PTO_SCALAR((int64_t)(i == 29))}, 2);
        ++((int64_t *)arg)[1];
    }
    ++((int64_t *)arg)[2];
}

static void run_counts(void *arg)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    if (rt) pto_runtime_run(rt, counts_and_crashes, arg);
}

TEST(after_a_crash_the_copy_that_finds_the_arguments_runs_nothing_else)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    int64_t *shared = pto_shared_alloc(PAGE); /* the copy would be seen to write here */
    EXPECT_EQ(WTERMSIG(in_process(run_counts, shared, text, sizeof text)), SIGSEGV);
    EXPECT(strstr(text, "kernel 'counts' crashed: SIGSEGV (task 29)"));
    EXPECT(strstr(text, "\n  argument 2: 1\n"));
    EXPECT_EQ(shared[0], 30);
    EXPECT_EQ(shared[1], 29);
    EXPECT_EQ(shared[2], 0);
    pto_shared_free(shared, PAGE);
}
#endif

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

static int k_abort(const PTOArg *a) { return (void)a, abort(), 0; }
static const PTOKernel aborts = {.name = "aborts", .worker = PTO_WORKER_VECTOR, .fn = k_abort};

static void abort_with_scalars(PTORuntime *rt, void *arg)
{
    (void)arg;
    PTOTaskParam p[] = {PTO_SCALAR(1.5f),      PTO_SCALAR(-0.25),      PTO_SCALAR(1234567.890625),
                        PTO_SCALAR(0.9999999), PTO_SCALAR(-0.00125),   PTO_SCALAR(0.000125),
                        PTO_SCALAR(1e300),     PTO_SCALAR((bool)true), PTO_SCALAR((bool)false),
                        PTO_SCALAR(INT64_MIN)};
    p[9].type = 0; /* in a list that was made by hand */
    pto_submit_task(rt, &aborts, p, 10);
}

static void run_scalars(void *arg)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .always_defer = true}, NULL);
    if (rt) pto_runtime_run(rt, abort_with_scalars, arg);
}

TEST(the_scalars_of_a_crash_are_printed_by_their_types)
{
    if (PTOI_HAS_SANITIZER) return;
    char text[4096];
    EXPECT_EQ(WTERMSIG(in_process(run_scalars, NULL, text, sizeof text)), SIGABRT);
    const char *const list = strstr(text, "\n  argument 1: ");
    assert_non_null(list);
    EXPECT(ends_with(list, help));
    text[strlen(text) - strlen(help)] = '\0';
    EXPECT_STR(list, "\n  argument 1: 1.5\n  argument 2: -0.25\n  argument 3: 1234567.890625\n  argument 4: 1"
                     "\n  argument 5: -0.00125\n  argument 6: f64 of the bits 0x3f20624dd2f1a9fc"
                     "\n  argument 7: f64 of the bits 0x7e37e43c8800759c\n  argument 8: true\n  argument 9: false"
                     "\n  argument 10: 0x8000000000000000 (-9223372036854775808)");
}
