/* test_runtime.c - the promises of a run, on all engines whose workers are real: order and write-back, with any number
 * of tasks and parameters, in rings of any size. */
#include "cells.h"
#include "engines.h"
#include "shared/sanitizer.h"
#include <sys/resource.h>

TEST(h04_h06_an_output_is_written_back_and_inout_works_in_place)
{
    PTOConfig c = {.task_window = 4, .heap_bytes = 64, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        struct shared *s = renew((struct shared){.n = 500});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        for (int i = 0; i < 8; i++) EXPECT_EQ(s->x[i], 499 * 500 / 2);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 1000);
        pto_runtime_destroy(rt);
    }
}

static void chain(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) SUBMIT(rt, &twice, PTO_INOUT(s->x, 0, I64(1)));
}

TEST(counters_wrap_without_losing_order)
{
    static const int64_t starts[] = {((int64_t)1 << 31) - 8, ((int64_t)1 << 32) - 8, INT64_MAX - 7};
    for (int k = 0; k < 3; k++) {
        PTOConfig c = {.task_window = 4, .first_task_id = starts[k], .first_byte = starts[k] / 64 * 64};
        EACH_ENGINE(c)
        {
            struct shared *s = renew((struct shared){.n = 40});
            PTORuntime *rt = create(&c);
            EXPECT_EQ(pto_runtime_run(rt, chain, s), PTO_OK);
            EXPECT_EQ(s->x[0], ((int64_t)1 << 40) - 1);
            pto_runtime_destroy(rt);
        }
    }
}

static int k_many(const PTOArg *a) /* 63 inputs and one output: their sum */
{
    int64_t sum = 0;
    for (int i = 0; i < 63; i++) sum += *(int64_t *)a[i].ptr;
    *(int64_t *)a[63].ptr = sum;
    return 0;
}
static const PTOKernel many = {.name = "many", .worker = PTO_WORKER_CUBE, .fn = k_many};

/* ---- P3, P4: no limit on parameters up to 64, on fan-in, on a scope ---- */
static void wide(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    int64_t *cells = s->cells;
    for (int64_t i = 0; i < 63; i++) {
        void *cell = &cells[i];
        SUBMIT(rt, &set, PTO_OUTPUT(&cell, 0, I64(1)), PTO_SCALAR(i + 1));
    }
    PTOTaskParam p[64];
    for (int i = 0; i < 63; i++) p[i] = (PTOTaskParam)PTO_INPUT(&cells[i], 0, PTO_ARRAY(PTO_I64, 1));
    void *out = s->x;
    p[63] = (PTOTaskParam)PTO_OUTPUT(&out, 0, PTO_ARRAY(PTO_I64, 1));
    static const int64_t one[1] = {1};
    for (int i = 0; i < 64; i++) p[i].shape = one;
    assert_true(pto_submit_task(rt, &many, p, 64) >= 0);
    assert_int_equal(pto_await(rt, s->x, 0, 8), PTO_OK);
    s->got = s->x[0];
}

TEST(h10_sixty_four_parameters_and_any_fan_in_with_pools_of_two)
{
    PTOConfig c = {.task_window = 2, .deplist_entries = 2, .tensormap_entries = 2};
    EACH_ENGINE(c)
    {
        struct shared *s = renew((struct shared){0});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, wide, s), PTO_OK);
        EXPECT_EQ(s->got, 63 * 64 / 2);
        pto_runtime_destroy(rt);
    }
}

static void one_scope(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_scope_begin(rt);
    for (int64_t i = 0; i < s->n; i++) {
        void *P = NULL;
        SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(512)), PTO_SCALAR(i));
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(8)), PTO_INOUT(s->x, 0, I64(8)));
        pto_release(rt, P);
    }
    pto_scope_end(rt);
}

TEST(p4_p8_a_scope_may_have_any_number_of_tasks_in_constant_memory)
{
    /* ThreadSanitizer keeps some five bytes for each byte of the heap that a kernel has touched; 50,000 tasks that lost
     * 64 bytes each would take more. */
    enum { HEAP_KIB = 256, MOST_KIB = 1024 + (PTOI_HAS_TSAN ? 5 * HEAP_KIB : 0) };
    PTOConfig c = {.task_window = 16, .heap_bytes = HEAP_KIB << 10};
    EACH_ENGINE(c)
    {
        struct rusage before, after;
        struct shared *s = renew((struct shared){.n = 2000});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, one_scope, s), PTO_OK);
        getrusage(RUSAGE_SELF, &before);
        *s = (struct shared){.n = 50000};
        EXPECT_EQ(pto_runtime_run(rt, one_scope, s), PTO_OK);
        getrusage(RUSAGE_SELF, &after);
        EXPECT_EQ(s->x[7], (int64_t)50000 * 49999 / 2);
        EXPECT(after.ru_maxrss - before.ru_maxrss < MOST_KIB);
        pto_runtime_destroy(rt);
    }
}

static void empty_outputs(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL, *Q = NULL;
    s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(0)), PTO_SCALAR((int64_t)1));
    assert_null(P);
    SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(0)), PTO_INOUT(s->x, 0, I64(1)));
    SUBMIT(rt, &set, PTO_OUTPUT(&Q, 0, I64(1)), PTO_SCALAR((int64_t)7));
    SUBMIT(rt, &add, PTO_INPUT(Q, 0, I64(1)), PTO_INOUT(s->x, 0, I64(1)));
    assert_non_null(Q);
}

TEST(h43_a_zero_size_output_is_null_and_its_task_is_not_submitted)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, empty_outputs, s), PTO_OK);
        EXPECT_EQ(s->got, PTO_NO_TASK);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 3);
        EXPECT_EQ(pto_get_run_stats(rt)->allocations, 1);
        pto_runtime_destroy(rt);
    }
}

/* ---- the seed's BGEMM by hand ---- */
static void bgemm(PTORuntime *rt, void *arg)
{
    int64_t *m = arg; /* A: 64 cells, B: 64, C: 64 */
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 4; k++) {
                    pto_scope_begin(rt);
                    void *P = NULL;
                    SUBMIT(rt, &nothing, PTO_INPUT(m, b * 16 + i * 4 + k, 8), PTO_INPUT(m + 64, b * 16 + k * 4 + j, 8),
                           PTO_OUTPUT(&P, 0, 8));
                    SUBMIT(rt, &nothing, PTO_INPUT(P, 0, 8), PTO_INOUT(m + 128, b * 16 + i * 4 + j, 8));
                    pto_scope_end(rt);
                }
}

TEST(the_seeds_bgemm_has_512_tasks_and_448_dependences)
{
    static int64_t m[192];
    PTOConfig c = {.count_dependences = true};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, bgemm, m), PTO_OK);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 512);
        EXPECT_EQ(pto_get_run_stats(rt)->dependences, 448);
        pto_runtime_destroy(rt);
    }
}
