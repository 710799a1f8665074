/* test_misuse.c - calls that the rules forbid during a run: each is PTO_ERR_MISUSE and a sentence, ends the run that
 * it disturbs, and leaves the runtime good for the next one. */
#include "every_call.h"
#include "misuse_unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- a second thread ---- */

struct intruder {
    PTORuntime *rt;
    int call;
    int64_t cell, result;
    char message[400];
};

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
