/* test_lanes.c - what waits in the lane of a worker: short work in numbers, behind long work almost nothing; and who
 * serves it. */
#include "api/runtime.h"
#include "engine/threads_parts.h"
#include "submit/flow.h"
#include "shared/processors.h"
#include "submit.h"
#include "unit.h"
#include "shared/system.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

enum { SHORT_TASKS = 200, KNOWN = 200 };

static _Atomic int ran;

static int count_call(const PTOArg *a)
{
    (void)a;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static bool pause_until(int least)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int ms = 0;
    do {
        nanosleep(&pause, NULL); /* at least once: a task that is long is long every time */
    } while (atomic_load(&ran) < least && ++ms < 20000);
    return atomic_load(&ran) >= least;
}

static int awaited; /* before the run */

/* 1: the others do not come, for 20 s. */
static int wait_for_awaited(const PTOArg *a)
{
    (void)a;
    return !pause_until(awaited);
}
static int wait_for_two(const PTOArg *a)
{
    (void)a;
    return !pause_until(2);
}

static const PTOKernel quick = {.name = "quick", .worker = PTO_WORKER_VECTOR, .fn = count_call};
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = wait_for_awaited};
static const PTOKernel longest = {.name = "longest", .worker = PTO_WORKER_VECTOR, .fn = wait_for_two};

static char cells[KNOWN + SHORT_TASKS + 1][64];

static void submit_quick(PTORuntime *rt, void *arg)
{
    const int *count = arg;
    for (int i = 0; i < *count; i++) SUBMIT(rt, &quick, PTO_INOUT(cells[i], 0, 64));
}

static void submit_slow_first(PTORuntime *rt, void *arg)
{
    int count = SHORT_TASKS;
    (void)arg;
    SUBMIT(rt, &slow, PTO_INOUT(cells[KNOWN + SHORT_TASKS], 0, 64));
    submit_quick(rt, &count);
}

/* A long task among many short ones, and so many of them at least run beside it. */
static void run_beside_a_long_one(int workers, int count)
{
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = workers}, .always_defer = true};
    awaited = count;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    int known = KNOWN;
    EXPECT_EQ(pto_runtime_run(rt, submit_quick, &known), PTO_OK); /* now everybody knows that they are short */
    for (int round = 0; round < 20; round++) {
        atomic_store(&ran, 0);
        const PTOStatus status = pto_runtime_run(rt, submit_slow_first, NULL);
        if (status != PTO_OK) fail_msg("%s, after %d short tasks", pto_last_error(rt), atomic_load(&ran));
        EXPECT_EQ(atomic_load(&ran), SHORT_TASKS);
    }
    pto_runtime_destroy(rt);
}

TEST(nothing_waits_behind_a_long_task)
{
#ifdef PTO_TINY
    skip(); /* there the dice say which kernel is short */
#endif
    run_beside_a_long_one(2, SHORT_TASKS);
}

TEST(one_task_waits_behind_a_long_one_where_workers_are_many)
{
#ifdef PTO_TINY
    skip();
#endif
    run_beside_a_long_one(6, SHORT_TASKS - 1);
}

static void submit_three(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &longest, PTO_INOUT(cells[0], 0, 64));
    SUBMIT(rt, &quick, PTO_INOUT(cells[1], 0, 64));
    SUBMIT(rt, &quick, PTO_INOUT(cells[2], 0, 64));
}

/* The last of few long tasks waits for whoever is free first, not behind the one that takes longest. */
TEST(the_last_long_task_takes_the_first_free_worker)
{
#ifdef PTO_TINY
    skip();
#endif
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = 2}, .always_defer = true};
    for (int round = 0; round < 20; round++) {
        PTORuntime *rt = pto_runtime_create(&c, NULL); /* a new one knows no kernel */
        assert_non_null(rt);
        atomic_store(&ran, 0);
        const PTOStatus status = pto_runtime_run(rt, submit_three, NULL);
        if (status != PTO_OK) fail_msg("%s, after %d tasks", pto_last_error(rt), atomic_load(&ran));
        pto_runtime_destroy(rt);
    }
}

/* ---- the helping orchestrator ---- */

static pthread_t orchestrating;
static _Atomic int by_orchestrator;

static int count_threads(const PTOArg *a)
{
    (void)a;
    if (pthread_equal(pthread_self(), orchestrating)) atomic_fetch_add(&by_orchestrator, 1);
    atomic_fetch_add(&ran, 1);
    return 0;
}
static const PTOKernel counted = {.name = "counted", .worker = PTO_WORKER_VECTOR, .fn = count_threads};

enum { ROUNDS = 60, WIDE = 200 };

static void submit_rounds(PTORuntime *rt, void *arg)
{
    const PTOKernel *kernel = arg;
    orchestrating = pthread_self();
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < WIDE; i++) SUBMIT(rt, kernel, PTO_INOUT(cells[i], 0, 64));
}

/* Every task runs once, whoever runs it.  When the orchestrator waits, the worker may not have finished what is in its
 * lane: that it never has in a hundred runs does not happen. */
TEST(a_waiting_orchestrator_serves_a_lane_where_workers_are_as_many_as_processors)
{
    enum { LEAST_RUNS = 10, MOST_RUNS = 100 };
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = ptoi_processors()}, .always_defer = true, .task_window = 256};
    if (ptoi_processors() < 2) skip();
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    atomic_store(&by_orchestrator, 0);
    for (int run = 0; run < MOST_RUNS && (run < LEAST_RUNS || atomic_load(&by_orchestrator) == 0); run++) {
        atomic_store(&ran, 0);
        EXPECT_EQ(pto_runtime_run(rt, submit_rounds, (void *)&counted), PTO_OK);
        EXPECT_EQ(atomic_load(&ran), ROUNDS * WIDE);
        EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_VECTOR], ROUNDS * WIDE);
    }
    pto_runtime_destroy(rt);
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ /* there no kernel is short */
    EXPECT(atomic_load(&by_orchestrator) > 0);
#endif
}

TEST(where_workers_are_fewer_than_processors_the_orchestrator_serves_no_lane)
{
    const int processors = ptoi_processors();
    for (int workers = processors - 1; processors > 1 && workers <= processors; workers++) {
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.workers = {[PTO_WORKER_VECTOR] = workers}}, NULL);
        assert_non_null(rt);
        const struct threads *e = rt->core.state;
        assert_ptr_equal(e->helper_lane, workers < processors ? NULL : &e->lane[workers - 1]);
        pto_runtime_destroy(rt);
    }
}

static _Atomic int now_running, most_running;

static int watch_others(const PTOArg *a)
{
    (void)a;
    const int now = atomic_fetch_add(&now_running, 1) + 1;
    int most = atomic_load(&most_running);
    while (now > most && !atomic_compare_exchange_weak(&most_running, &most, now)) {}
    atomic_fetch_sub(&now_running, 1);
    return 0;
}
static const PTOKernel watching = {.name = "watching", .worker = PTO_WORKER_VECTOR, .fn = watch_others};

TEST(a_helping_orchestrator_is_no_additional_worker)
{
    const int workers = ptoi_processors();
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = workers}, .always_defer = true, .task_window = 256};
    if (workers < 2) skip();
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    for (int run = 0; run < 10; run++) EXPECT_EQ(pto_runtime_run(rt, submit_rounds, (void *)&watching), PTO_OK);
    EXPECT(atomic_load(&most_running) <= workers);
    pto_runtime_destroy(rt);
}

/* A failure of a task of the helper ends the run like any other, and the next run works. */
static int fail_seldom(const PTOArg *a)
{
    (void)a;
    return atomic_fetch_add(&ran, 1) == 5000 ? 3 : 0;
}
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = fail_seldom};

TEST(a_task_that_fails_on_a_helping_orchestrator_ends_the_run)
{
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = ptoi_processors()}, .always_defer = true, .task_window = 64};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    for (int run = 0; run < 10; run++) {
        atomic_store(&ran, 0);
        EXPECT_EQ(pto_runtime_run(rt, submit_rounds, (void *)&failing), PTO_ERR_KERNEL);
        atomic_store(&ran, 6000);
        EXPECT_EQ(pto_runtime_run(rt, submit_rounds, (void *)&failing), PTO_OK);
    }
    pto_runtime_destroy(rt);
}

/* ---- the waiting orchestrator sleeps ---- */

enum { LONG_TASKS = 1000, LONG_NS = 12000, SHORT_NS = 4000 };

static int spin(int64_t ns)
{
    const int64_t until = ptoi_clock_ns() + ns;
    while (ptoi_clock_ns() < until) {}
    return 0;
}
static int spin_long(const PTOArg *a) { return (void)a, spin(LONG_NS); }
static int spin_shortly(const PTOArg *a) { return (void)a, spin(SHORT_NS); }
static const PTOKernel spinning = {.name = "spinning", .worker = PTO_WORKER_VECTOR, .fn = spin_long};
static const PTOKernel turning = {.name = "turning", .worker = PTO_WORKER_VECTOR, .fn = spin_shortly};

static int64_t switches(void)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

static void submit_long(PTORuntime *rt, void *arg)
{
    int64_t *since = arg;
    for (int i = 0; i < LONG_TASKS; i++) SUBMIT(rt, i % 3 ? &spinning : &turning, PTO_INOUT(cells[i % WIDE], 0, 64));
    *since = switches();
}

/* With nothing left to submit it has no business with each task that ends: where all processors work, it would stop a
 * worker every time. */
TEST(an_orchestrator_that_has_submitted_all_is_not_woken_for_each_task)
{
#ifdef PTO_TINY
    skip(); /* there it sleeps and is woken as often as can be */
#endif
    enum { RUNS = 10 };
    int64_t since = 0, count = 0;
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = ptoi_processors()}, .always_defer = true};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    for (int run = 0; run < RUNS; run++) {
        EXPECT_EQ(pto_runtime_run(rt, submit_long, &since), PTO_OK);
        count += switches() - since;
    }
    if (count >= LONG_TASKS / 4)
        fail_msg("switched %lld times in %d runs of %d tasks", (long long)count, RUNS, LONG_TASKS);
    pto_runtime_destroy(rt);
}

/* ---- chains that are sent to a lane before their producers have ended ---- */

enum { CHAIN = 300, FAILS_AT = 100, LINK_NS = 2000 };
static int fails_at; /* before the run; CHAIN: nowhere */

static int spin_and_fail(const PTOArg *a)
{
    (void)a;
    spin(LINK_NS);
    return atomic_fetch_add(&ran, 1) == fails_at ? 3 : 0;
}
static const PTOKernel linked = {.name = "linked", .worker = PTO_WORKER_VECTOR, .fn = spin_and_fail};

static void submit_chain(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < CHAIN; i++) SUBMIT(rt, &linked, PTO_INOUT(cells[0], 0, 64));
}

TEST(what_follows_a_failed_task_in_its_lane_does_not_run)
{
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = 2}, .always_defer = true};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    for (int round = 0; round < 20; round++) {
        atomic_store(&ran, 0);
        fails_at = CHAIN;
        /* now it is known how long they take, and the last failure is forgotten */
        EXPECT_EQ(pto_runtime_run(rt, submit_chain, NULL), PTO_OK);
        EXPECT_EQ(atomic_load(&ran), CHAIN);
        atomic_store(&ran, 0);
        fails_at = FAILS_AT;
        EXPECT_EQ(pto_runtime_run(rt, submit_chain, NULL), PTO_ERR_KERNEL);
        EXPECT_EQ(atomic_load(&ran), FAILS_AT + 1);
    }
    pto_runtime_destroy(rt);
}

/* ---- where workers run ---- */

static _Atomic int unbound;

static int look_where(const PTOArg *a)
{
    cpu_set_t set;
    (void)a;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) atomic_fetch_add(&unbound, 1);
    return 0;
}
static const PTOKernel looking = {.name = "looking", .worker = PTO_WORKER_CUBE, .fn = look_where};

static void submit_looking(PTORuntime *rt, void *arg)
{
    (void)arg;
    /* never run by the helper */
    for (int i = 0; i < WIDE; i++) SUBMIT(rt, &looking, PTO_TIMEOUT(60000), PTO_INOUT(cells[i], 0, 64));
}

TEST(bound_workers_keep_to_one_processor_and_others_do_not)
{
    if (ptoi_processors() < 2) skip();
    for (int bound = 0; bound < 2; bound++) {
        PTOConfig c = {
            .workers = {[PTO_WORKER_CUBE] = ptoi_processors() + 1}, .always_defer = true, .bind_workers = bound};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        atomic_store(&unbound, 0);
        EXPECT_EQ(pto_runtime_run(rt, submit_looking, NULL), PTO_OK);
        EXPECT_EQ(atomic_load(&unbound), bound ? 0 : WIDE);
        pto_runtime_destroy(rt);
    }
    EXPECT(ptoi_processors() > 1); /* this thread is as free as before */
}
