/* test_inline.c - a task that is executed inline keeps every promise of one that goes through the window: the same
 * results, errors and lifetimes of buffers. */
#define PTO_INLINE_SUBMITS 1 /* with a sanitizer, too */
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

static PTORuntime *create(PTOConfig c)
{
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    return rt;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static int copy(const PTOArg *a)
{
    memcpy(a[1].ptr, a[0].ptr, 64);
    return 0;
}
static int fail_with_3(const PTOArg *a)
{
    (void)a;
    return 3;
}
static const PTOKernel copy_kernel = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = copy};
static const PTOKernel failing_kernel = {.name = "failing", .worker = PTO_WORKER_CUBE, .fn = fail_with_3};
static const PTOKernel no_function = {.name = "none", .worker = PTO_WORKER_CUBE};

static char outside[4096];
static void *const nothing = NULL;

static void *fresh(PTORuntime *rt)
{
    void *p = NULL;
    SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT(&p, 0, 64));
    return p;
}

/* One wrong submit each; what it returns is compared, and what the run says of it. */
static int64_t wrong(PTORuntime *rt, int which)
{
    static const int64_t shape[] = {4, 4}, negative[] = {4, -1}, huge[] = {INT64_MAX / 2, 4}, strides[] = {8, 1},
                         backwards[] = {-4, 1};
    void *p = NULL, *q = fresh(rt);
    PTOTaskParam view = PTO_INPUT(outside, 0, 0);
    view.type = PTO_F32;
    view.rank = 2;
    view.shape = shape;
    view.stride = strides;
    PTOTaskParam made = {.kind = PTO_PARAM_OUTPUT, .ref = &p, .name = "&p", .type = PTO_F32, .rank = 2, .shape = shape};
    switch (which) {
    case 0: return SUBMIT(rt, &no_function, PTO_INPUT(outside, 0, 64));
    case 1: return SUBMIT(rt, &copy_kernel, PTO_INPUT(nothing, 0, 64), PTO_OUTPUT(&p, 0, 64));
    case 2: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, -1), PTO_OUTPUT(&p, 0, 64));
    case 3: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, INT64_MAX, 64), PTO_OUTPUT(&p, 0, 64));
    case 4: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, -1, 64), PTO_OUTPUT(&p, 0, 64));
    case 5: return SUBMIT(rt, &copy_kernel, PTO_INPUT(q, 1, 64), PTO_OUTPUT(&p, 0, 64));
    case 6: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT(&p, 1, 64));
    case 7: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT(NULL, 0, 64));
    case 8: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT(&p, 0, 1 << 20));
    case 9: return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT_IN(77, &p, 0, 64));
    case 10: view.shape = negative; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 11: view.shape = huge; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 12: view.stride = backwards; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 13: view.type = PTO_TYPE_COUNT; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 14: view.rank = PTO_MAX_RANK + 1; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 15: view.shape = NULL; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 16: made.stride = strides; return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), made);
    case 17: made.shape = huge; return SUBMIT(rt, &copy_kernel, PTO_INPUT(outside, 0, 64), made);
    case 18: view.kind = 99; return SUBMIT(rt, &copy_kernel, view, PTO_OUTPUT(&p, 0, 64));
    case 19: pto_release(rt, q); return SUBMIT(rt, &copy_kernel, PTO_INPUT(q, 0, 64), PTO_OUTPUT(&p, 0, 64));
    case 20: pto_submit_task(rt, &failing_kernel, (PTOTaskParam[]){PTO_SCALAR((int64_t)5), view}, 2); return 0;
    case 21: return pto_submit_task(rt, &copy_kernel, NULL, 2);
    default: return INT64_MIN;
    }
}

struct attempt {
    int which;
    int64_t returned;
};

static void attempt(PTORuntime *rt, void *arg)
{
    struct attempt *a = arg;
    static const PTOSite site = {"a.pto", 7, 3, "here"};
    pto_at(rt, &site);
    a->returned = wrong(rt, a->which);
}

TEST(every_wrong_submit_is_refused_in_the_same_words)
{
    enum { CASES = 22 };
    struct attempt a = {.which = CASES};
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096});
    PTORuntime *deferred = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096, .always_defer = true});
    EXPECT_EQ(pto_runtime_run(rt, attempt, &a), PTO_OK);
    EXPECT(a.returned == INT64_MIN); /* CASES is their number */
    EXPECT_EQ(pto_runtime_run(deferred, attempt, &a), PTO_OK);
    for (int i = 0; i < CASES; i++) {
        struct attempt now = {.which = i}, later = {.which = i};
        const PTOStatus status = pto_runtime_run(rt, attempt, &now);
        EXPECT(status < 0);
        EXPECT_EQ(status, pto_runtime_run(deferred, attempt, &later));
        EXPECT_EQ(now.returned, later.returned);
        EXPECT_STR(pto_last_error(rt), pto_last_error(deferred));
        EXPECT_EQ(strncmp(pto_last_error(rt), "a.pto:7:3: error", 16), 0);
    }
    pto_runtime_destroy(rt);
    pto_runtime_destroy(deferred);
}

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

static int increment(const PTOArg *a)
{
    ((int64_t *)a[1].ptr)[0] = ((const int64_t *)a[0].ptr)[0] + 1;
    return 0;
}
static const PTOKernel increment_kernel = {.name = "increment", .worker = PTO_WORKER_VECTOR, .fn = increment};

/* 100,000 outputs in a heap for four; `kept` outlives them. */
static void long_chain(PTORuntime *rt, void *arg)
{
    static int64_t zero;
    void *kept = NULL, *last = NULL;
    SUBMIT(rt, &increment_kernel, PTO_INPUT(&zero, 0, 8), PTO_OUTPUT(&kept, 0, 8));
    for (int i = 0; i < 100000; i++) {
        pto_scope_begin(rt);
        void *next = NULL;
        SUBMIT(rt, &increment_kernel, PTO_INPUT(last ? last : kept, 0, 8),
               PTO_OUTPUT_IN(PTO_SCOPE_CURRENT, &next, 0, 8));
        pto_release(rt, next);
        pto_scope_end(rt);
        SUBMIT(rt, &increment_kernel, PTO_INPUT(kept, 0, 8), PTO_INOUT(kept, 0, 8));
    }
    EXPECT_EQ(pto_await(rt, kept, 0, 8), PTO_OK);
    *(int64_t *)arg = *(int64_t *)kept;
}

TEST(released_outputs_come_back)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 64, .heap_rings = 4});
    int64_t got = 0;
    EXPECT_EQ(pto_runtime_run(rt, long_chain, &got), PTO_OK);
    EXPECT_EQ(got, 100001);
    EXPECT(pto_get_flow_stats(rt)->heap_hwm <= 256);
    pto_runtime_destroy(rt);
}

static void empty_outputs(PTORuntime *rt, void *arg)
{
    void *p = NULL;
    *(int64_t *)arg = SUBMIT(rt, &failing_kernel, PTO_INPUT(outside, 0, 64), PTO_OUTPUT(&p, 0, 0));
    EXPECT(p == NULL);
}

TEST(a_call_that_writes_nothing_is_not_made)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t id = 0;
    EXPECT_EQ(pto_runtime_run(rt, empty_outputs, &id), PTO_OK);
    EXPECT(id == PTO_NO_TASK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, 0);
    pto_runtime_destroy(rt);
}

/* ---- one processor ----------------------------------------------------------------------------------------------- */

static pthread_t kernel_thread;
static int note_thread(const PTOArg *a)
{
    (void)a;
    kernel_thread = pthread_self();
    return 0;
}
static const PTOKernel thread_kernel = {.name = "thread", .worker = PTO_WORKER_CUBE, .fn = note_thread};

static void submit_one(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &thread_kernel, PTO_INOUT(outside, 0, 64));
}

static bool runs_here(PTOConfig c)
{
    PTORuntime *rt = create(c);
    EXPECT_EQ(pto_runtime_run(rt, submit_one, NULL), PTO_OK);
    pto_runtime_destroy(rt);
    return pthread_equal(kernel_thread, pthread_self());
}

TEST(on_one_processor_the_engine_threads_runs_tasks_itself)
{
    cpu_set_t before, one;
    EXPECT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const bool alone = runs_here((PTOConfig){0});
    const bool deferred = runs_here((PTOConfig){.always_defer = true});
    const bool watched = runs_here((PTOConfig){.watchdog_seconds = 60});
    EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT(alone);
    EXPECT(!deferred);
    EXPECT(!watched); /* somebody has to look while the kernel hangs */
}

/* ---- fine tasks beside workers ----------------------------------------------------------------------------------- */

static int add_one(const PTOArg *a)
{
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static int add_one_slowly(const PTOArg *a)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return add_one(a);
}
static int fail_at_9000(const PTOArg *a) { return ++*(int64_t *)a[0].ptr == 9000 ? 5 : 0; }
static const PTOKernel fine_kernel = {.name = "fine", .worker = PTO_WORKER_CUBE, .fn = add_one};
static const PTOKernel coarse_kernel = {.name = "coarse", .worker = PTO_WORKER_CUBE, .fn = add_one_slowly};
static const PTOKernel late_kernel = {.name = "late", .worker = PTO_WORKER_CUBE, .fn = fail_at_9000};

struct sums {
    int64_t fine, coarse, both, last_number;
    int threads_seen;
    bool ascends;
};

static void note_number(struct sums *s, int64_t number)
{
    s->ascends &= number == s->last_number + 1;
    s->last_number = number;
}

/* Phases of fine tasks only, between phases where both kinds meet in one counter; buffers live across. */
static void phases(PTORuntime *rt, void *arg)
{
    struct sums *s = arg;
    void *kept = NULL;
    note_number(s, SUBMIT(rt, &increment_kernel, PTO_INPUT(&s->fine, 0, 8), PTO_OUTPUT(&kept, 0, 8)));
    for (int phase = 0; phase < 20; phase++) {
        for (int i = 0; i < 1000; i++) note_number(s, SUBMIT(rt, &fine_kernel, PTO_INOUT(&s->fine, 0, 8)));
        for (int i = 0; i < 20; i++) {
            note_number(s, SUBMIT(rt, &coarse_kernel, PTO_INOUT(&s->coarse, 0, 8)));
            note_number(s, SUBMIT(rt, &coarse_kernel, PTO_INOUT(&s->both, 0, 8)));
            note_number(s, SUBMIT(rt, &fine_kernel, PTO_INOUT(&s->both, 0, 8)));
            note_number(s, SUBMIT(rt, &increment_kernel, PTO_INPUT(kept, 0, 8), PTO_INOUT(kept, 0, 8)));
        }
        EXPECT_EQ(pto_await(rt, &s->both, 0, 8), PTO_OK);
        EXPECT_EQ(s->both, 40 * (phase + 1));
    }
    EXPECT_EQ(pto_await(rt, kept, 0, 8), PTO_OK);
    EXPECT_EQ(*(int64_t *)kept, 401);
}

TEST(fine_and_coarse_tasks_alternate_and_keep_their_order_and_their_numbers)
{
    PTORuntime *rt = create((PTOConfig){.workers = {2, 1, 0, 0}, .task_window = 16, .heap_bytes = 4096});
    for (int round = 0; round < 3; round++) {
        struct sums s = {.ascends = true};
        s.last_number = round * (1 + 20 * 1080) - 1;
        EXPECT_EQ(pto_runtime_run(rt, phases, &s), PTO_OK);
        EXPECT_EQ(s.fine, 20000);
        EXPECT_EQ(s.coarse, 400);
        EXPECT_EQ(s.both, 800);
        EXPECT(s.ascends);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 1 + 20 * 1080);
        EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_CUBE], 20 * 1060);
        EXPECT(pto_get_run_stats(rt)->worker_busy_ns[PTO_WORKER_CUBE] >= 400 * 20000);
    }
    pto_runtime_destroy(rt);
}

static int leave_thread(const PTOArg *a)
{
    *(pthread_t *)a[0].ptr = pthread_self();
    return 0;
}
static const PTOKernel leaving_kernel = {.name = "leaving", .worker = PTO_WORKER_CUBE, .fn = leave_thread};

static void many_here(PTORuntime *rt, void *arg)
{
    pthread_t ran_on = pthread_self();
    for (int i = 0; i < 10000; i++) {
        SUBMIT(rt, &leaving_kernel, PTO_INOUT(&ran_on, 0, sizeof ran_on));
        EXPECT_EQ(pto_await(rt, &ran_on, 0, sizeof ran_on), PTO_OK);
        *(int *)arg += pthread_equal(ran_on, pthread_self()) != 0;
    }
}

TEST(a_kernel_measured_as_short_is_executed_inline)
{
    int here = 0;
    PTORuntime *rt = create((PTOConfig){.workers = {1, 0, 0, 0}});
    EXPECT_EQ(pto_runtime_run(rt, many_here, &here), PTO_OK);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* there no kernel is short */
    EXPECT(here > 0);
#endif
    pto_runtime_destroy(rt);
    here = 0;
    rt = create((PTOConfig){.workers = {1, 0, 0, 0}, .always_defer = true});
    EXPECT_EQ(pto_runtime_run(rt, many_here, &here), PTO_OK);
    EXPECT_EQ(here, 0);
    pto_runtime_destroy(rt);
}

enum { NEAR_CELLS = 8, NEAR_TASKS = 40000 };
static int step_in_300_ns(const PTOArg *a)
{
    struct timespec since, now;
    clock_gettime(CLOCK_MONOTONIC, &since);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - since.tv_sec) * 1000000000 + now.tv_nsec - since.tv_nsec < 300);
    *(uint64_t *)a[0].ptr = *(uint64_t *)a[0].ptr * 5 + *(const uint64_t *)a[1].ptr;
    return 0;
}
static const PTOKernel near_kernel = {.name = "near", .worker = PTO_WORKER_VECTOR, .fn = step_in_300_ns};

static void near_the_limit(PTORuntime *rt, void *arg)
{
    uint64_t *cell = arg;
    for (int i = 0; i < NEAR_TASKS; i++)
        SUBMIT(rt, &near_kernel, PTO_INOUT(&cell[i % NEAR_CELLS], 0, 8),
               PTO_INPUT(&cell[(i + 1 + i / 8 % 7) % NEAR_CELLS], 0, 8));
}

/* The latency that is measured decides where they are executed, which may change at any time. */
TEST(tasks_near_the_limit_keep_their_order)
{
    static uint64_t cell[NEAR_CELLS] = {1, 2, 3, 4, 5, 6, 7, 8}, expected[NEAR_CELLS] = {1, 2, 3, 4, 5, 6, 7, 8};
    PTORuntime *rt = create((PTOConfig){.workers = {0, 2, 0, 0}});
    for (int i = 0; i < NEAR_TASKS; i++)
        expected[i % NEAR_CELLS] = expected[i % NEAR_CELLS] * 5 + expected[(i + 1 + i / 8 % 7) % NEAR_CELLS];
    EXPECT_EQ(pto_runtime_run(rt, near_the_limit, cell), PTO_OK);
    for (int i = 0; i < NEAR_CELLS; i++) EXPECT_EQ(cell[i], expected[i]);
    pto_runtime_destroy(rt);
}

static void run_into_the_failure(PTORuntime *rt, void *arg)
{
    static const PTOSite site = {"b.pto", 2, 5, "late"};
    pto_at(rt, &site);
    for (int i = 0; i < 20000; i++)
        if (SUBMIT(rt, &late_kernel, PTO_INOUT(arg, 0, 8)) < 0) break;
}

TEST(a_fine_task_that_fails_is_named_by_its_number)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 0, 0, 0}});
    int64_t counter = 0;
    EXPECT_EQ(pto_runtime_run(rt, run_into_the_failure, &counter), PTO_ERR_KERNEL);
    EXPECT(strstr(pto_last_error(rt), "kernel 'late' failed: it returned 5 (task 8999)") != NULL);
    EXPECT(strstr(pto_last_error(rt), "b.pto:2:5") != NULL);
    counter = 10000;
    EXPECT_EQ(pto_runtime_run(rt, run_into_the_failure, &counter), PTO_OK); /* the next run begins anew */
    pto_runtime_destroy(rt);
}

static void hoard(PTORuntime *rt, void *arg)
{
    for (int i = 0; i < 5000; i++) SUBMIT(rt, &fine_kernel, PTO_INOUT(arg, 0, 8));
    for (int i = 0; i < 100; i++) {
        void *p = NULL;
        if (SUBMIT(rt, &increment_kernel, PTO_INPUT(arg, 0, 8), PTO_OUTPUT(&p, 0, 8)) < 0) return;
    }
}

TEST(a_full_heap_is_a_deadlock_while_fine_tasks_run)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1, 0, 0}, .heap_bytes = 1024, .heap_rings = 1});
    for (int round = 0; round < 4; round++) {
        int64_t counter = 0;
        EXPECT_EQ(pto_runtime_run(rt, hoard, &counter), PTO_ERR_DEADLOCK);
        EXPECT_EQ(counter, 5000);
    }
    pto_runtime_destroy(rt);
}

static void hang_at_last(PTORuntime *rt, void *arg)
{
    for (int i = 0; i < 1000; i++) SUBMIT(rt, &fine_kernel, PTO_INOUT(arg, 0, 8), PTO_TIMEOUT(1000));
    for (int i = 0; i < 1000; i++) SUBMIT(rt, &fine_kernel, PTO_INOUT(arg, 0, 8));
    SUBMIT(rt, &fine_kernel, PTO_INOUT(arg, 0, 8), PTO_TIMEOUT(1000));
}

TEST(a_fine_task_with_a_limit_goes_to_a_worker)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 0, 0, 0}});
    int64_t counter = 0;
    EXPECT_EQ(pto_runtime_run(rt, hang_at_last, &counter), PTO_OK);
    EXPECT_EQ(counter, 2001);
    pto_runtime_destroy(rt);
}

/* ---- busy time --------------------------------------------------------------------------------------------------- */

static int sleep_2_ms(const PTOArg *a)
{
    (void)a;
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    return 0;
}
static const PTOKernel sleeping_kernel = {.name = "sleeping", .worker = PTO_WORKER_VECTOR, .fn = sleep_2_ms};

static void mix(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        SUBMIT(rt, &thread_kernel, PTO_INOUT(outside, 0, 64));
        if (i % 100 == 0) SUBMIT(rt, &sleeping_kernel, PTO_INOUT(outside, 0, 64));
    }
}

TEST(long_kernels_among_short_ones_are_all_measured)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    EXPECT_EQ(pto_runtime_run(rt, mix, NULL), PTO_OK);
    EXPECT(pto_get_run_stats(rt)->worker_busy_ns[PTO_WORKER_VECTOR] >= 10 * 2000000);
    EXPECT(pto_get_run_stats(rt)->worker_busy_ns[PTO_WORKER_CUBE] > 0);
    EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_CUBE], 1000);
    pto_runtime_destroy(rt);
}
