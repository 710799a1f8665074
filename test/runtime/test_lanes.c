/* test_lanes.c - what waits in the lane of a worker: short work in numbers, behind long work almost nothing. */
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
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

/* 1: the others do not come, for 20 s. */
static int wait_for_all_but_one(const PTOArg *a)
{
    (void)a;
    return !pause_until(SHORT_TASKS - 1);
}
static int wait_for_two(const PTOArg *a)
{
    (void)a;
    return !pause_until(2);
}

static const PTOKernel quick = {.name = "quick", .worker = PTO_WORKER_VECTOR, .fn = count_call};
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = wait_for_all_but_one};
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

/* A long task holds up one other at most, however many are known to be short. */
TEST(one_task_waits_behind_a_long_one)
{
#ifdef PTO_TINY
    skip(); /* there the dice say which kernel is short */
#endif
    PTOConfig c = {.workers = {[PTO_WORKER_VECTOR] = 2}, .always_defer = true};
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
