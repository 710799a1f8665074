/* test_misuse.c - calls that the rules forbid: each is PTO_ERR_MISUSE and a sentence, ends the run that it disturbs,
 * and leaves the runtime good for the next one. */
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <pto/pto_program.h>
#include <pto/pto_runtime.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where kernels run. */
/* The thread sanitizer does not follow threads of a child that was forked by a process with threads: under it
 * test_process alone tests the engine process. */
#ifdef __SANITIZE_THREAD__
#define HAS_CHILDREN 0
static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
#else
#define HAS_CHILDREN 1
static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS, PTO_ENGINE_TIMING};
#endif
enum { ENGINES = sizeof engines / sizeof engines[0] };

static PTORuntime *create(PTOConfig c)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static bool contains(const char *text, const char *part)
{
    if (strstr(text, part)) return true;
    fprintf(stderr, "'%s' is not in '%s'\n", part, text);
    return false;
}

static int k_increment(const PTOArg *a)
{
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static const PTOKernel increment = {.name = "increment", .worker = PTO_WORKER_VECTOR, .fn = k_increment};

static void one_task(PTORuntime *rt, void *arg) { SUBMIT(rt, &increment, PTO_INOUT(arg, 0, 8)); }

static int k_one(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = 1;
    return 0;
}
static const PTOKernel one = {.name = "one", .worker = PTO_WORKER_VECTOR, .fn = k_one};

static void one_and_one(PTORuntime *rt, void *arg)
{
    int64_t *p = NULL;
    SUBMIT(rt, &one, PTO_OUTPUT(&p, 0, 8));
    SUBMIT(rt, &increment, PTO_INOUT(p, 0, 8));
    if (p && pto_await(rt, p, 0, 8) == PTO_OK) *(int64_t *)arg = *p;
}

/* The runtime is as good as new. */
static bool works(PTORuntime *rt)
{
    int64_t two = 0;
    return pto_runtime_run(rt, one_and_one, &two) == PTO_OK && two == 2;
}

/* ---- a second thread ---- */

struct intruder {
    PTORuntime *rt;
    int call;
    int64_t cell, result;
    char message[400];
};
enum {
    SUBMIT_CALL,
    SCOPE_BEGIN,
    SCOPE_END,
    SCOPE_CURRENT,
    SCOPE_DEPTH,
    GET_OUTPUT,
    ALLOC,
    RELEASE,
    AWAIT,
    AWAIT_USERS,
    RUN,
    RUN_ENTRY,
    CALLS
};
static const char *const call_names[CALLS] = {"pto_submit_task",   "pto_scope_begin", "pto_scope_end",
                                              "pto_scope_current", "pto_scope_depth", "pto_task_get_output",
                                              "pto_alloc",         "pto_release",     "pto_await",
                                              "pto_await_users",   "pto_runtime_run", "pto_run_entry"};

static int64_t make_call(PTORuntime *rt, int call, void *cell)
{
    switch (call) {
    case SUBMIT_CALL: return SUBMIT(rt, &increment, PTO_INOUT(cell, 0, 8));
    case SCOPE_BEGIN: return pto_scope_begin(rt) == PTO_SCOPE_CURRENT ? PTO_ERR_MISUSE : 0;
    case SCOPE_END: return pto_scope_end(rt), PTO_ERR_MISUSE;
    case SCOPE_CURRENT: return pto_scope_current(rt) == PTO_SCOPE_CURRENT ? PTO_ERR_MISUSE : 0;
    case SCOPE_DEPTH: return pto_scope_depth(rt) == 0 ? PTO_ERR_MISUSE : 0;
    case GET_OUTPUT: return pto_task_get_output(rt, 0, 0) ? 0 : PTO_ERR_MISUSE;
    case ALLOC: return pto_alloc(rt, PTO_SCOPE_CURRENT, 64) ? 0 : PTO_ERR_MISUSE;
    case RELEASE: return pto_release(rt, cell), PTO_ERR_MISUSE;
    case AWAIT: return pto_await(rt, cell, 0, 8);
    case AWAIT_USERS: return pto_await_users(rt, cell, 0, 8);
    case RUN: return pto_runtime_run(rt, one_task, cell);
    default: return pto_run_entry(rt, one_task, cell);
    }
}

static void *intrude(void *arg)
{
    struct intruder *i = arg;
    i->result = make_call(i->rt, i->call, &i->cell);
    snprintf(i->message, sizeof i->message, "%s", pto_last_error(NULL));
    return NULL;
}

static void with_an_intruder(PTORuntime *rt, void *arg)
{
    struct intruder *i = arg;
    pthread_t thread;
    i->rt = rt;
    pto_scope_begin(rt);
    if (pthread_create(&thread, NULL, intrude, i) == 0) pthread_join(thread, NULL);
    pto_scope_end(rt);
}

TEST(a_second_thread_that_submits_or_waits_ends_the_run)
{
    for (int e = 0; e < ENGINES; e++)
        for (int call = 0; call < CALLS; call++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
            struct intruder i = {.call = call};
            EXPECT_EQ(pto_runtime_run(rt, with_an_intruder, &i), PTO_ERR_MISUSE);
            EXPECT_EQ(i.result, PTO_ERR_MISUSE);
            EXPECT(contains(i.message, call_names[call]) && contains(i.message, "by a second thread"));
            EXPECT(contains(pto_last_error(rt), i.message));
            EXPECT_EQ(i.cell, 0);
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
}

/* Long enough that some of its submits go by the fast path, which does not look. */
static void *submit_on_and_on(void *arg)
{
    struct intruder *i = arg;
    for (int n = 0; n < 100000 && i->result >= 0; n++) i->result = SUBMIT(i->rt, &increment, PTO_INOUT(&i->cell, 0, 8));
    return NULL;
}

static void a_thread_beside_fast_submits(PTORuntime *rt, void *arg)
{
    struct intruder *i = arg;
    pthread_t thread;
    int64_t mine = 0;
    i->rt = rt;
    for (int n = 0; n < 1000; n++) SUBMIT(rt, &increment, PTO_INOUT(&mine, 0, 8));
    if (pthread_create(&thread, NULL, submit_on_and_on, i) == 0) pthread_join(thread, NULL);
}

TEST(a_second_thread_is_found_when_its_submits_leave_the_fast_path)
{
    static const PTOEngine fast[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS};
    for (int e = 0; e < 2; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = fast[e]});
        struct intruder i = {0};
        EXPECT_EQ(pto_runtime_run(rt, a_thread_beside_fast_submits, &i), PTO_ERR_MISUSE);
        EXPECT_EQ(i.result, PTO_ERR_MISUSE);
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}

/* ---- calls inside a kernel ---- */

static PTORuntime *used_in_kernel;
static int64_t *shared; /* of the worker process too: the call, and what it came to */

static int k_calls(const PTOArg *a)
{
    (void)a;
    shared[1] = make_call(used_in_kernel, (int)shared[0], shared + 2);
    return 0;
}
static const PTOKernel calls = {.name = "calls", .worker = PTO_WORKER_VECTOR, .fn = k_calls};
static const PTOSite here = {"m.pto", 7, 3, "calls"};

static void kernel_that_calls(PTORuntime *rt, void *arg)
{
    used_in_kernel = rt;
    SUBMIT(rt, &increment, PTO_INOUT(shared + 3, 0, 8));
    pto_at(rt, &here);
    SUBMIT(rt, &calls, PTO_INOUT(arg, 0, 8));
}

TEST(a_kernel_that_submits_or_waits_ends_the_run_and_is_named)
{
    shared = pto_shared_alloc(8 * sizeof *shared);
    for (int e = 0; e < ENGINES; e++)
        for (int call = 0; call < CALLS; call++) {
            if (engines[e] == PTO_ENGINE_PROCESS) continue; /* the next test */
            char want[200];
            PTORuntime *rt = create((PTOConfig){.engine = engines[e], .workers = {0, 1, 0, 0}});
            shared[0] = call;
            shared[1] = 0;
            EXPECT_EQ(pto_runtime_run(rt, kernel_that_calls, shared + 4), PTO_ERR_MISUSE);
            EXPECT_EQ(shared[1], PTO_ERR_MISUSE);
            snprintf(want, sizeof want, "m.pto:7:3: error: kernel 'calls' calls %s (task 1)", call_names[call]);
            EXPECT(contains(pto_last_error(rt), want));
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
    pto_shared_free(shared, 8 * sizeof *shared);
}

#if HAS_CHILDREN
/* In the worker process a kernel knows its runtime only by its arguments. */
static int k_calls_by_argument(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = make_call((PTORuntime *)(intptr_t)a[1].value.i64, (int)a[2].value.i64, a[0].ptr);
    return 0;
}
static const PTOKernel by_argument = {.name = "by_argument", .worker = PTO_WORKER_VECTOR, .fn = k_calls_by_argument};

static void kernel_in_a_process(PTORuntime *rt, void *arg)
{
    pto_at(rt, &here);
    SUBMIT(rt, &by_argument, PTO_INOUT(shared, 0, 8), PTO_SCALAR((int64_t)(intptr_t)rt), PTO_SCALAR(*(int64_t *)arg));
}

TEST(a_kernel_in_the_worker_process_that_submits_ends_the_run_and_is_named)
{
    shared = pto_shared_alloc(8 * sizeof *shared);
    for (int64_t call = 0; call < CALLS; call++) {
        PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_PROCESS, .workers = {0, 1, 0, 0}});
        shared[0] = 0;
        const PTOStatus status = pto_runtime_run(rt, kernel_in_a_process, &call);
        EXPECT_EQ(status, PTO_ERR_MISUSE);
        EXPECT_EQ(shared[0], PTO_ERR_MISUSE);
        EXPECT(contains(pto_last_error(rt), call < RUN ? "m.pto:7:3: error: kernel 'by_argument' calls "
                                                       : "kernel 'by_argument' calls pto_run"));
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
    pto_shared_free(shared, 8 * sizeof *shared);
}
#endif

/* The kernel is short, and is mostly called on the fast path. */
static int k_submits_late(const PTOArg *a)
{
    int64_t *n = a[0].ptr;
    if (++*n > 1000) SUBMIT(used_in_kernel, &increment, PTO_INOUT(n, 0, 8));
    return 0;
}
static const PTOKernel submits_late = {.name = "submits_late", .worker = PTO_WORKER_VECTOR, .fn = k_submits_late};

static void fast_kernel_that_submits(PTORuntime *rt, void *arg)
{
    used_in_kernel = rt;
    for (int i = 0; i < 1000; i++) SUBMIT(rt, &increment, PTO_INOUT(arg, 0, 8));
    pto_await_users(rt, arg, 0, 8);
    *(int64_t *)arg = 0;
    for (int i = 0; i < 2000; i++) SUBMIT(rt, &submits_late, PTO_INOUT(arg, 0, 8));
}

TEST(a_kernel_that_submits_on_the_fast_path_is_found_when_it_is_measured)
{
    static const PTOEngine fast[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS};
    for (int e = 0; e < 2; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = fast[e]});
        int64_t n = 0;
        EXPECT_EQ(pto_runtime_run(rt, fast_kernel_that_submits, &n), PTO_ERR_MISUSE);
        EXPECT(contains(pto_last_error(rt), "kernel 'submits_late' calls pto_submit_task"));
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}

/* ---- a run of another runtime inside a kernel is no misuse ---- */

static int k_runs_another(const PTOArg *a)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    const PTOStatus status = rt ? pto_runtime_run(rt, one_task, a[0].ptr) : PTO_ERR_NOMEM;
    pto_runtime_destroy(rt);
    return status;
}
static const PTOKernel runs_another = {.name = "runs_another", .worker = PTO_WORKER_VECTOR, .fn = k_runs_another};

static void kernel_with_a_runtime(PTORuntime *rt, void *arg) { SUBMIT(rt, &runs_another, PTO_INOUT(arg, 0, 8)); }

TEST(a_kernel_may_run_a_runtime_of_its_own)
{
    for (int e = 0; e < ENGINES; e++) {
        int64_t n = 0; /* before the fork: a child has it, too */
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        EXPECT_EQ(pto_runtime_run(rt, kernel_with_a_runtime, &n), PTO_OK);
        EXPECT_EQ(n, engines[e] != PTO_ENGINE_PROCESS);
        pto_runtime_destroy(rt);
    }
}

/* ---- a forked child ---- */

enum { RUN_IN_CHILD, DESTROY_IN_CHILD, CANCEL_IN_CHILD, CHILD_CALLS };

static int in_child(PTORuntime *rt, int call)
{
    int64_t n = 0;
    if (call == RUN_IN_CHILD && pto_runtime_run(rt, one_task, &n) != PTO_ERR_MISUSE) return 2;
    if (call == DESTROY_IN_CHILD) pto_runtime_destroy(rt);
    if (call == CANCEL_IN_CHILD) pto_cancel(rt);
    return strstr(pto_last_error(NULL), "in a forked child") && strstr(pto_last_error(rt), "in a forked child") ? 0 : 3;
}

TEST(a_runtime_is_not_used_in_a_forked_child)
{
    for (int e = 0; e < ENGINES; e++)
        for (int call = 0; call < CHILD_CALLS; call++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
            int status;
            fflush(NULL);
            const pid_t child = fork();
            if (child == 0) _exit(in_child(rt, call));
            EXPECT_EQ(waitpid(child, &status, 0), child);
            EXPECT(WIFEXITED(status));
            EXPECT_EQ(WEXITSTATUS(status), 0);
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
}

static void forks_during_a_run(PTORuntime *rt, void *arg)
{
    int64_t n = 0;
    int status;
    for (int i = 0; i < 100; i++) SUBMIT(rt, &increment, PTO_INOUT(&n, 0, 8)); /* the fast path is open */
    pto_await(rt, &n, 0, 8);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(SUBMIT(rt, &increment, PTO_INOUT(&n, 0, 8)) == PTO_ERR_MISUSE && pto_scope_begin(rt) == PTO_SCOPE_CURRENT
                  ? 0
                  : 2);
    waitpid(child, &status, 0);
    *(int *)arg = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

TEST(a_child_that_is_forked_during_a_run_submits_nothing)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        int exit_code = 4;
        EXPECT_EQ(pto_runtime_run(rt, forks_during_a_run, &exit_code), PTO_OK);
        EXPECT_EQ(exit_code, 0);
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}

#if HAS_CHILDREN
static void *one_run(void *arg)
{
    int64_t n = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {0, 1, 0, 0}}, NULL);
    *(int *)arg = rt && pto_runtime_run(rt, one_task, &n) == PTO_OK && n == 1 ? 0 : 5;
    pto_runtime_destroy(rt);
    return NULL;
}

TEST(a_forked_child_may_create_a_runtime_of_its_own)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_THREADS});
    int status, code = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        one_run(&code);
        _exit(code);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pto_runtime_destroy(rt);
}
#endif

/* ---- destroy ---- */

static void *destroy_it(void *arg)
{
    pto_runtime_destroy(arg);
    return NULL;
}

static void is_destroyed_meanwhile(PTORuntime *rt, void *by_itself)
{
    pthread_t thread;
    if (by_itself)
        pto_runtime_destroy(rt);
    else if (pthread_create(&thread, NULL, destroy_it, rt) == 0)
        pthread_join(thread, NULL);
}

TEST(destroy_during_a_run_ends_the_run_and_destroys_nothing)
{
    for (int e = 0; e < ENGINES; e++)
        for (int by_itself = 0; by_itself < 2; by_itself++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
            EXPECT_EQ(pto_runtime_run(rt, is_destroyed_meanwhile, by_itself ? rt : NULL), PTO_ERR_MISUSE);
            EXPECT(contains(pto_last_error(rt), "pto_runtime_destroy during a run"));
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
            EXPECT_STR(pto_last_error(NULL), "");
        }
}

TEST(a_second_destroy_destroys_nothing_even_when_there_is_a_new_runtime)
{
    PTORuntime *old[4], *new[4];
    for (int e = 0; e < ENGINES; e++) {
        old[e] = create((PTOConfig){.engine = engines[e]});
        pto_runtime_destroy(old[e]);
        pto_runtime_destroy(old[e]);
        EXPECT_STR(pto_last_error(NULL), "pto_runtime_destroy of a runtime that was destroyed");
        EXPECT_STR(pto_last_error(old[e]), "pto_runtime_destroy of a runtime that was destroyed");
        new[e] = create((PTOConfig){.engine = engines[e]});
        pto_runtime_destroy(old[e]);
        EXPECT(works(new[e]));
    }
    for (int e = 0; e < ENGINES; e++) pto_runtime_destroy(new[e]);
    EXPECT_EQ(pto_runtime_run(old[0], one_task, NULL), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_trim(old[1]), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_trace(old[2], "t.json"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_submit_slow_(old[3], &increment, NULL, 0, 0), PTO_ERR_MISUSE);
    EXPECT_STR(pto_last_error(NULL), "pto_submit_task of a runtime that was destroyed");
}

TEST(questions_about_a_runtime_that_was_destroyed_read_nothing_of_it)
{
    int64_t n = 0;
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e], .record_tasks = 8});
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
        EXPECT(!pto_get_flow_stats(rt));
        EXPECT_STR(pto_last_error(NULL), "pto_get_flow_stats of a runtime that was destroyed");
        EXPECT(!pto_get_run_stats(rt));
        EXPECT_STR(pto_last_error(NULL), "pto_get_run_stats of a runtime that was destroyed");
        EXPECT_EQ(pto_get_current_stall(rt), PTO_STALL_NONE);
        pto_reset_flow_stats(rt);
        EXPECT_STR(pto_last_error(NULL), "pto_reset_flow_stats of a runtime that was destroyed");
        pto_write_flow_stats(rt, stderr);
        pto_write_pinned(rt, stderr);
        EXPECT_STR(pto_last_error(NULL), "pto_write_pinned of a runtime that was destroyed");
        pto_buffer(rt, &n, 8);
        EXPECT_STR(pto_last_error(NULL), "pto_buffer of a runtime that was destroyed");
        pto_task_complete(rt, 0);
        EXPECT_STR(pto_last_error(NULL), "pto_task_complete of a runtime that was destroyed");
    }
}

/* ---- no runtime ---- */

TEST(every_call_without_a_runtime_is_defined_and_says_why_there_is_none)
{
    int64_t n = 0;
    const PTOConfig impossible = {.task_window = 3};
    static const PTOSite site = {"a.pto", 1, 1, "a"};
    PTOStatus status;
    EXPECT(!pto_runtime_create(&impossible, &status));
    for (int call = 0; call < CALLS; call++) {
        EXPECT_EQ(make_call(NULL, call, &n), PTO_ERR_MISUSE);
        EXPECT(contains(pto_last_error(NULL), call_names[call]));
        EXPECT(contains(pto_last_error(NULL), "without a runtime: pto_runtime_create failed: task window 3"));
    }
    EXPECT_EQ(pto_runtime_write_trace(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_report(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_graph(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_schedule(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_execute(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL), PTO_ERR_MISUSE);
    EXPECT_EQ((pto_submit_task)(NULL, &increment, NULL, 0), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_trim(NULL), PTO_OK); /* what is kept for no runtime */
    pto_at(NULL, &site);
    pto_buffer(NULL, &n, 8);
    pto_input(NULL, &n, 8);
    pto_cancel(NULL);
    pto_task_complete(NULL, 0);
    EXPECT(contains(pto_last_error(NULL), "pto_task_complete without a runtime"));
    EXPECT(!pto_get_flow_stats(NULL) && !pto_get_run_stats(NULL));
    EXPECT_EQ(pto_get_current_stall(NULL), PTO_STALL_NONE);
    pto_reset_flow_stats(NULL);
    pto_print_flow_stats(NULL);
    pto_write_flow_stats(NULL, stderr);
    pto_write_pinned(NULL, stderr);
    EXPECT(contains(pto_last_error(NULL), "pto_write_pinned without a runtime"));
    pto_runtime_destroy(NULL);
    EXPECT_STR(pto_last_error(NULL), "");
    EXPECT(!pto_alloc_zeroed(NULL, PTO_SCOPE_CURRENT, 8) && !pto_frame(NULL, 8, 8) && !pto_where(NULL, NULL));
    pto_runtime_destroy(create((PTOConfig){.engine = PTO_ENGINE_SERIAL}));
    EXPECT_EQ(pto_runtime_run(NULL, one_task, NULL), PTO_ERR_MISUSE);
    EXPECT_STR(pto_last_error(NULL), "pto_runtime_run without a runtime: it is NULL");
}

/* ---- kernels that do not return ---- */

static int k_exits(const PTOArg *a)
{
    if (a[1].value.i64 != 0) pthread_exit(NULL);
    return k_increment(a);
}
static const PTOKernel exits = {.name = "exits", .worker = PTO_WORKER_VECTOR, .fn = k_exits};

static void kernel_that_exits(PTORuntime *rt, void *arg)
{
    int64_t *cells = arg;
    for (int i = 0; i < 100; i++) SUBMIT(rt, &exits, PTO_INOUT(cells, 0, 8), PTO_SCALAR((int64_t)0));
    pto_at(rt, &here);
    SUBMIT(rt, &exits, PTO_INOUT(cells, 0, 8), PTO_SCALAR((int64_t)1));
    SUBMIT(rt, &increment, PTO_INOUT(cells, 0, 8));
}

TEST(pthread_exit_in_a_kernel_fails_its_task_and_the_worker_goes_on)
{
    int64_t *cells = pto_shared_alloc(64);
    for (int e = 0; e < ENGINES; e++)
        for (int defers = 0; defers < 2; defers++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e], .workers = {0, 1, 0, 0}, .always_defer = defers});
            for (int again = 0; again < 3; again++) {
                cells[0] = 0;
                EXPECT_EQ(pto_runtime_run(rt, kernel_that_exits, cells), PTO_ERR_MISUSE);
                EXPECT_EQ(cells[0], 100);
                EXPECT(contains(pto_last_error(rt), "m.pto:7:3: error: kernel 'exits' ended its thread (task "));
            }
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
    pto_shared_free(cells, 64);
}

static void ends_its_thread(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    pthread_exit(NULL);
}

TEST(pthread_exit_in_the_orchestration_ends_the_run)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        EXPECT_EQ(pto_runtime_run(rt, ends_its_thread, NULL), PTO_ERR_MISUSE);
        EXPECT_STR(pto_last_error(rt), "the orchestration ended its thread");
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}

/* ---- tasks that something outside carries out ---- */

static _Atomic int64_t started = -1;
static void start_outside(void *context, int64_t id, const PTOKernel *kernel, const PTOArg *args, int32_t count)
{
    (void)context, (void)kernel, (void)args, (void)count;
    atomic_store(&started, id);
}

static void completed_wrongly(PTORuntime *rt, void *arg)
{
    int64_t n = 0;
    const int64_t wrong = *(int64_t *)arg;
    atomic_store(&started, -1);
    SUBMIT(rt, &increment, PTO_INOUT(&n, 0, 8));
    while (atomic_load(&started) < 0) usleep(100);
    if (wrong == 0) pto_task_complete(rt, 0);
    pto_task_complete(rt, wrong);
    if (wrong != 0) pto_task_complete(rt, 0);
}

TEST(pto_task_complete_of_a_task_that_has_ended_or_never_started)
{
    static const int64_t wrong[] = {0, 1, 1024, 5000, -1, INT64_MIN, INT64_MAX};
    PTOConfig c = {.engine = PTO_ENGINE_THREADS, .external_start = start_outside};
    c.external[PTO_WORKER_VECTOR] = true;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        PTORuntime *rt = create(c);
        char want[100];
        EXPECT_EQ(pto_runtime_run(rt, completed_wrongly, (void *)(uintptr_t)&wrong[i]), PTO_ERR_MISUSE);
        snprintf(want, sizeof want, "pto_task_complete of task %lld, which was not started outside, or has ended",
                 (long long)wrong[i]);
        EXPECT_STR(pto_last_error(rt), want);
        EXPECT_STR(pto_last_error(NULL), want);
        pto_runtime_destroy(rt);
    }
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        pto_task_complete(rt, 0);
        EXPECT(contains(pto_last_error(NULL), "pto_task_complete of task 0, which was not started outside"));
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}

/* ---- small stacks ---- */

static int64_t recurse(PTORuntime *rt, int64_t depth)
{
    volatile char frame[200];
    frame[0] = 0;
    pto_enter(rt, "recurse");
    const int64_t reached = depth == 0 ? frame[0] : recurse(rt, depth - 1) + 1;
    pto_leave(rt);
    return reached;
}

static void recurses(PTORuntime *rt, void *arg) { *(int64_t *)arg = recurse(rt, *(int64_t *)arg); }

struct deep {
    PTOEngine engine;
    int64_t depth;
    PTOStatus status;
    char message[400];
};

static void *run_deep(void *arg)
{
    struct deep *d = arg;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = d->engine, .recursion_limit = 1 << 20}, NULL);
    if (!rt) return NULL;
    d->status = pto_run_entry(rt, recurses, &d->depth);
    snprintf(d->message, sizeof d->message, "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return NULL;
}

static void run_on_stack(struct deep *d, size_t stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, stack), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_deep, d), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

TEST(deep_recursion_on_a_small_stack_is_an_error)
{
    if (PTOI_HAS_SANITIZER) return; /* they take more of a stack than this */
    static const size_t stacks[] = {64 << 10, 256 << 10, 1 << 20, 64 << 20};
    for (int e = 0; e < ENGINES; e++)
        for (size_t s = 0; s < sizeof stacks / sizeof stacks[0]; s++) {
            struct deep deep = {.engine = engines[e], .depth = 1 << 20}, shallow = {.engine = engines[e], .depth = 20};
            run_on_stack(&deep, stacks[s]);
            EXPECT_EQ(deep.status, PTO_ERR_RECURSION);
            EXPECT(contains(deep.message, "call of 'recurse': no stack left after "));
            EXPECT(contains(deep.message, "(pthread_attr_setstacksize)"));
            run_on_stack(&shallow, stacks[s]);
            EXPECT_EQ(shallow.status, PTO_OK);
            EXPECT_EQ(shallow.depth, 20);
        }
}

TEST(a_large_stack_of_a_thread_is_used)
{
    if (PTOI_HAS_SANITIZER) return;
    struct deep d = {.engine = PTO_ENGINE_SERIAL, .depth = 100000}; /* more than 8 MiB hold */
    run_on_stack(&d, 256 << 20);
    EXPECT_EQ(d.status, PTO_OK);
    EXPECT_EQ(d.depth, 100000);
}
