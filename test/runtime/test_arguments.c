/* test_arguments.c - the ring of arguments holds what every unfinished task needs, however many parameters the tasks
 * have and of whatever rank: a full ring makes the orchestrator wait and never overwrites an argument. */
#include "unit.h"
#include <pto/pto_runtime.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 600, CELLS_OF_TASK = PTO_MAX_PARAMS };

static atomic_int submitted; /* W orchestrator, R the first kernel */
static int enough;

/* Holds back all that follows until the orchestrator has submitted `enough` tasks, or waits itself. */
static int k_gate(const PTOArg *a)
{
    (void)a;
    for (int looks = 0; looks < 100 && atomic_load(&submitted) < enough; looks++) usleep(500);
    return 0;
}

/* a[0]: the gate; then inputs, of which each has one element; last the result, the inputs as digits to the base 31. */
static int k_digits(const PTOArg *a)
{
    const int count = (int)a[1].value.i64;
    uint64_t digits = 0;
    for (int i = 2; i < count - 1; i++) {
        digits = digits * 31 + (uint64_t) * (const int64_t *)a[i].ptr;
        for (int d = 0; d < a[i].rank; d++)
            if (a[i].shape[d] != 1 || a[i].stride[d] != d + 1) digits++;
    }
    *(uint64_t *)a[count - 1].ptr = digits;
    return 0;
}

static const PTOKernel gate = {.name = "gate", .worker = PTO_WORKER_VECTOR, .fn = k_gate};
static const PTOKernel digits = {.name = "digits", .worker = PTO_WORKER_VECTOR, .fn = k_digits};

struct work {
    int64_t *cell; /* CELLS_OF_TASK for each task; the last of them receives the result */
    int64_t *key;  /* the gate's */
    int params, rank;
};

static void orchestrate(PTORuntime *rt, void *arg)
{
    const struct work *w = arg;
    const int64_t shape[PTO_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, stride[PTO_MAX_RANK] = {1, 2, 3, 4, 5, 6, 7, 8};
    PTOTaskParam first[] = {PTO_INOUT(w->key, 0, sizeof *w->key)};
    (pto_submit_task)(rt, &gate, first, 1);
    for (int n = 0; n < TASKS; n++) {
        PTOTaskParam p[PTO_MAX_PARAMS] = {PTO_INPUT(w->key, 0, sizeof *w->key), PTO_SCALAR((int64_t)w->params)};
        for (int i = 2; i < w->params; i++) {
            p[i] = (PTOTaskParam)PTO_INPUT(w->cell, (int64_t)n * CELLS_OF_TASK + i, 0);
            p[i].kind = i == w->params - 1 ? PTO_PARAM_INOUT : PTO_PARAM_INPUT;
            p[i].type = PTO_I64;
            p[i].rank = (uint8_t)w->rank;
            p[i].shape = shape;
            p[i].stride = stride;
        }
        EXPECT(pto_submit_task(rt, &digits, p, w->params) >= 0);
        atomic_store(&submitted, n + 1);
    }
}

static void expect_right_results(int window, int params, int rank)
{
    struct work w = {.cell = malloc(sizeof(int64_t) * TASKS * CELLS_OF_TASK),
                     .key = malloc(sizeof(int64_t)),
                     .params = params,
                     .rank = rank};
    for (int n = 0; n < TASKS * CELLS_OF_TASK; n++) w.cell[n] = n % 29 + 1;
    PTOConfig c = {.engine = PTO_ENGINE_THREADS, .task_window = window, .always_defer = true, .workers = {1, 1, 1, 1}};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    atomic_store(&submitted, 0);
    enough = window - 8;
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &w), PTO_OK);
    pto_runtime_destroy(rt);
    for (int n = 0; n < TASKS; n++) {
        uint64_t want = 0;
        for (int i = 2; i < params - 1; i++) want = want * 31 + (uint64_t)((n * CELLS_OF_TASK + i) % 29 + 1);
        EXPECT_EQ((uint64_t)w.cell[n * CELLS_OF_TASK + params - 1], want);
    }
    free(w.cell);
    free(w.key);
}

TEST(many_parameters_of_rank_4_fill_the_ring_before_256_slots_are_full)
{
    expect_right_results(256, 30, 4);
}

TEST(the_largest_tasks_fill_the_ring_of_a_small_window)
{
    expect_right_results(16, PTO_MAX_PARAMS, PTO_MAX_RANK);
}

TEST(one_largest_task_fits_the_smallest_window)
{
    expect_right_results(2, PTO_MAX_PARAMS, PTO_MAX_RANK);
}
