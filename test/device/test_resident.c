/* test_resident.c - a scheduler in a process of its own, perhaps of another instruction set, serves the orchestrator of
 * this one. PTO_RESIDENT names it.  What it must be equal to is the serial engine. */
#include "host.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define I64(n) PTO_ARRAY(PTO_I64, n)

static PTORuntime *create(PTOConfig c)
{
    PTOStatus status;
    c.engine = PTO_ENGINE_PROCESS; /* whose place host.c has taken */
    PTORuntime *rt = pto_runtime_create(&c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static int k_add(const PTOArg *a)
{
    uint64_t *x = a[0].ptr, *y = a[1].ptr; /* unsigned: they wrap around */
    return *y = 3 * *y + *x + 1, 0;
}
static int k_fill(const PTOArg *a) { return *(int64_t *)a[0].ptr = a[1].value.i64, 0; }
static int k_fail(const PTOArg *a) { return (void)a, 7; }
static int k_slow(const PTOArg *a)
{
    usleep(2000);
    return ++*(int64_t *)a[0].ptr, 0;
}
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = k_add};
static const PTOKernel fill = {.name = "fill", .worker = PTO_WORKER_CUBE, .fn = k_fill};
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_AI_CPU, .fn = k_fail};
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = k_slow};

enum { PLACES = 16 };
struct work {
    int64_t x[PLACES], tasks;
    uint64_t awaited;
};

/* Chains, fans and renamed outputs over a few places, and now and then an await. */
static void mixed(PTORuntime *rt, void *arg)
{
    struct work *w = arg;
    uint64_t random = 88172645463325252u;
    for (int64_t i = 0; i < w->tasks; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const int from = (int)(random % PLACES), to = (int)(random / PLACES % PLACES);
        void *P = NULL;
        if (i % 5 == 0) {
            SUBMIT(rt, &fill, PTO_OUTPUT(&P, 0, I64(1)), PTO_SCALAR(i));
            SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(1)), PTO_INOUT(w->x, to, I64(1)));
            pto_release(rt, P);
        } else if (from != to && SUBMIT(rt, &add, PTO_INPUT(w->x, from, I64(1)), PTO_INOUT(w->x, to, I64(1))) < 0) {
            return;
        }
        if (i % 1000 == 999 && pto_await(rt, w->x, to * 8, 8) == PTO_OK)
            w->awaited = 31 * w->awaited + (uint64_t)w->x[to];
    }
}

static void compare(PTOConfig c, int64_t tasks)
{
    PTOStatus status;
    struct work here = {.tasks = tasks}, there = {.tasks = tasks};
    PTORuntime *rt = create(c);
    EXPECT_EQ(pto_runtime_run(rt, mixed, &there), PTO_OK);
    const int64_t submitted = pto_get_run_stats(rt)->tasks;
    EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_VECTOR] +
                  pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_CUBE],
              submitted);
    pto_runtime_destroy(rt);
    c.engine = PTO_ENGINE_SERIAL;
    rt = pto_runtime_create(&c, &status);
    EXPECT_EQ(pto_runtime_run(rt, mixed, &here), PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, submitted);
    pto_runtime_destroy(rt);
    EXPECT(memcmp(&here, &there, sizeof here) == 0);
}

TEST(one_task_and_none)
{
    compare((PTOConfig){0}, 0);
    compare((PTOConfig){0}, 1);
}

TEST(many_tasks_through_every_kind_of_dependence)
{
    compare((PTOConfig){.workers = {2, 2}}, 20000);
}

TEST(the_smallest_rings_push_back_and_lose_nothing)
{
    compare(
        (PTOConfig){.task_window = 2, .deplist_entries = 4, .tensormap_entries = 8, .heap_bytes = 256, .heap_rings = 2},
        3000);
    compare(
        (PTOConfig){
            .task_window = 16, .deplist_entries = 16, .tensormap_entries = 16, .heap_bytes = 1024, .workers = {1, 3}},
        5000);
}

TEST(a_second_run_and_a_second_runtime)
{
    struct work w = {.tasks = 500};
    PTORuntime *rt = create((PTOConfig){0});
    EXPECT_EQ(pto_runtime_run(rt, mixed, &w), PTO_OK);
    EXPECT_EQ(pto_runtime_run(rt, mixed, &w), PTO_OK);
    pto_runtime_destroy(rt);
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0); /* the scheduler has left */
    compare((PTOConfig){0}, 500);
}

static void fails(PTORuntime *rt, void *arg)
{
    struct work *w = arg;
    SUBMIT(rt, &failing, PTO_INOUT(w->x, 0, I64(1)));
    for (int i = 0; i < 100; i++) SUBMIT(rt, &slow, PTO_INOUT(w->x, 0, I64(1))); /* none of these may start */
}

TEST(a_kernel_that_fails_ends_the_run_and_nothing_behind_it_starts)
{
    struct work w = {0};
    PTORuntime *rt = create((PTOConfig){0});
    EXPECT_EQ(pto_runtime_run(rt, fails, &w), PTO_ERR_KERNEL);
    EXPECT(strstr(pto_last_error(rt), "kernel 'failing' failed: it returned 7 (task 0)"));
    EXPECT_EQ(w.x[0], 0);
    w.tasks = 500;
    EXPECT_EQ(pto_runtime_run(rt, mixed, &w), PTO_OK); /* the next run is whole */
    pto_runtime_destroy(rt);
}

static void *kill_soon(void *arg)
{
    usleep(30000);
    kill(resident_child, SIGKILL);
    return arg;
}

static void endless(PTORuntime *rt, void *arg)
{
    struct work *w = arg;
    while (SUBMIT(rt, &slow, PTO_INOUT(w->x, 0, I64(1))) >= 0) {}
}

TEST(a_scheduler_that_dies_is_an_error_and_no_hang)
{
    struct work w = {0};
    pthread_t killer;
    PTORuntime *rt = create((PTOConfig){.task_window = 8});
    EXPECT_EQ(pthread_create(&killer, NULL, kill_soon, NULL), 0);
    EXPECT_EQ(pto_runtime_run(rt, endless, &w), PTO_ERR_LOST);
    pthread_join(killer, NULL);
    EXPECT(strstr(pto_last_error(rt), "the resident scheduler died: signal 9"));
    EXPECT_EQ(pto_runtime_run(rt, endless, &w), PTO_ERR_LOST); /* for good */
    pto_runtime_destroy(rt);
    compare((PTOConfig){0}, 100);
}

TEST(another_layout_is_refused)
{
    PTOStatus status;
    setenv("PTO_RESIDENT_OTHER_LAYOUT", "1", 1);
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_PROCESS}, &status);
    unsetenv("PTO_RESIDENT_OTHER_LAYOUT");
    EXPECT(rt == NULL);
    EXPECT_EQ(status, PTO_ERR_LOST);
}

TEST(no_scheduler_is_an_error)
{
    PTOStatus status;
    char *command = strdup(getenv("PTO_RESIDENT"));
    setenv("PTO_RESIDENT", "/no/such/scheduler", 1);
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_PROCESS}, &status);
    setenv("PTO_RESIDENT", command, 1);
    free(command);
    EXPECT(rt == NULL);
    EXPECT_EQ(status, PTO_ERR_LOST);
}
