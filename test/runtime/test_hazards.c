/* test_hazards.c - defects of the design's first sketch that need a whole runtime to show; the table of all of them,
 * with the test of each, is docs/hazards.md. */
#include "submit.h"
#include "unit.h"
#include "shared/window.h"
#include <pto/pto_runtime.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
#define EACH_ENGINE(c) for (size_t e_ = 0; e_ < 3 && ((c).engine = engines[e_], 1); e_++)

static int k_set(const PTOArg *a) { return *(int64_t *)a[0].ptr = a[1].value.i64, 0; }
/* wraps: some sums do */
static int k_add(const PTOArg *a) { return *(uint64_t *)a[1].ptr += *(const uint64_t *)a[0].ptr, 0; }
static int k_mix(const PTOArg *a) { return *(uint64_t *)a[0].ptr = 3 * *(uint64_t *)a[0].ptr + 1, 0; }
static int k_two(const PTOArg *a) { return *(int64_t *)a[0].ptr = 1, *(int64_t *)a[1].ptr = 2, 0; }
static int k_slow_set(const PTOArg *a) { return usleep(2000), *(int64_t *)a[0].ptr = a[1].value.i64, 0; }
static const PTOKernel set = {.name = "set", .worker = PTO_WORKER_VECTOR, .fn = k_set};
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_CUBE, .fn = k_add};
static const PTOKernel mix = {.name = "mix", .worker = PTO_WORKER_CUBE, .fn = k_mix};
static const PTOKernel two = {.name = "two", .worker = PTO_WORKER_VECTOR, .fn = k_two};
static int k_slow_add(const PTOArg *a) { return usleep(100), *(int64_t *)a[1].ptr += *(int64_t *)a[0].ptr, 0; }
static const PTOKernel slow_add = {.name = "slow_add", .worker = PTO_WORKER_AI_CPU, .fn = k_slow_add};
static const PTOKernel slow_set = {.name = "slow_set", .worker = PTO_WORKER_AI_CPU, .fn = k_slow_set};

#define ONE PTO_ARRAY(PTO_I64, 1)

struct job {
    int64_t x[64], n;
};

static void run(PTOConfig c, void (*fn)(PTORuntime *, void *), struct job *j, PTORunStats *stats)
{
    c.always_defer = c.engine == PTO_ENGINE_THREADS; /* hazards are in the window: test_inline.c has those beside it */
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    PTOStatus status = pto_runtime_run(rt, fn, j);
    if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
    assert_int_equal(status, PTO_OK);
    if (stats) *stats = *pto_get_run_stats(rt);
    pto_runtime_destroy(rt);
}

TEST(h05_a_parameter_has_separate_members_for_a_buffer_and_for_a_variable)
{
    EXPECT(offsetof(PTOTaskParam, buffer) != offsetof(PTOTaskParam, ref));
    void *P = &P;
    const PTOTaskParam in = PTO_INPUT(P, 0, 8), out = PTO_OUTPUT(&P, 0, 8);
    EXPECT(in.buffer == P && in.ref == NULL && out.ref == &P && out.buffer == NULL);
}

/* Window 2: the slot that a task takes was its own producer's producer's; 3 x + 1 is wrong when any step is lost or
 * doubled. */
static void chain(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int64_t i = 0; i < j->n; i++) SUBMIT(rt, &mix, PTO_INOUT(j->x, 0, ONE));
}

TEST(h11_h23_h40_slots_are_reused_lap_after_lap_without_losing_an_edge)
{
    uint64_t want = 0;
    for (int i = 0; i < 3000; i++) want = 3 * want + 1;
    for (int64_t window = 2; window <= 16; window *= 2) {
        PTOConfig c = {.task_window = window};
        EACH_ENGINE(c)
        {
            struct job j = {.n = 3000};
            run(c, chain, &j, NULL);
            EXPECT_EQ((uint64_t)j.x[0], want);
        }
    }
}

/* Serial: every producer has completed before its consumer is submitted.  Threads with a slow producer: none has. */
static void late_consumers(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *P = NULL;
    SUBMIT(rt, &slow_set, PTO_OUTPUT(&P, 0, ONE), PTO_SCALAR((int64_t)5));
    for (int i = 0; i < 20; i++) {
        SUBMIT(rt, &add, PTO_INPUT(P, 0, ONE), PTO_INOUT(j->x, i, 8));
        if (i == 10) pto_await(rt, P, 0, 8);
    }
}

TEST(h15_a_consumer_of_a_completed_producer_is_not_counted_and_runs)
{
    PTOConfig c = {.task_window = 8, .deplist_entries = 2};
    EACH_ENGINE(c)
    {
        struct job j = {0};
        run(c, late_consumers, &j, NULL);
        for (int i = 0; i < 20; i++) EXPECT_EQ(j.x[i], 5);
    }
}

/* The orchestration writes memory that tasks have been given to read. */
static void own_writes(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    int64_t *P = pto_alloc(rt, PTO_SCOPE_CURRENT, 8);
    for (int64_t i = 0; i < 50; i++) {
        assert_int_equal(pto_await_users(rt, P, 0, 8), PTO_OK);
        *P = i;
        SUBMIT(rt, &slow_add, PTO_INPUT(P, 0, ONE), PTO_INOUT(j->x, i, 8));
    }
}

TEST(an_awaited_buffer_without_users_may_be_written)
{
    for (int64_t window = 2; window <= 64; window *= 32) {
        PTOConfig c = {.task_window = window};
        EACH_ENGINE(c)
        {
            struct job j = {0};
            run(c, own_writes, &j, NULL);
            for (int i = 0; i < 50; i++) EXPECT_EQ(j.x[i], i);
        }
    }
}

static void no_scope(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *P = NULL, *Q = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, ONE), PTO_SCALAR((int64_t)7));
    pto_await(rt, P, 0, 8); /* completed, and no consumer was submitted yet */
    SUBMIT(rt, &set, PTO_OUTPUT(&Q, 0, ONE), PTO_SCALAR((int64_t)9));
    SUBMIT(rt, &add, PTO_INPUT(P, 0, ONE), PTO_INOUT(j->x, 0, ONE));
    assert_ptr_not_equal(P, Q);
}

TEST(h24_without_an_open_scope_a_buffer_lives_to_the_end_of_the_run)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        struct job j = {0};
        run(c, no_scope, &j, NULL);
        EXPECT_EQ(j.x[0], 7);
    }
}

/* More tasks in one scope than the window has slots: ids wrap inside the scope. */
static void scope_over_the_wrap(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int lap = 0; lap < 50; lap++) {
        pto_scope_begin(rt);
        for (int i = 0; i < 13; i++) {
            void *P = NULL;
            SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, ONE), PTO_SCALAR((int64_t)1));
            SUBMIT(rt, &add, PTO_INPUT(P, 0, ONE), PTO_INOUT(j->x, 0, ONE));
        }
        pto_scope_end(rt);
    }
}

TEST(h26_a_scope_releases_what_it_owns_after_any_number_of_laps)
{
    PTOConfig c = {.task_window = 4, .heap_bytes = 13 * 64, .heap_rings = 1}; /* exactly what one scope owns */
    EACH_ENGINE(c)
    {
        struct job j = {0};
        run(c, scope_over_the_wrap, &j, NULL);
        EXPECT_EQ(j.x[0], 50 * 13);
    }
}

/* The seed's counting needs a window of 4,096 and 33,554,432 bytes for this graph; owner scopes need one tile. */
static void bgemm_4_8_8_8(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int b = 0; b < 4; b++) {
        pto_scope_begin(rt);
        for (int ij = 0; ij < 64; ij++) {
            pto_scope_begin(rt);
            for (int k = 0; k < 8; k++) {
                void *P = NULL;
                SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, 2048)), PTO_SCALAR((int64_t)1));
                SUBMIT(rt, &add, PTO_INPUT(P, 0, PTO_ARRAY(PTO_I64, 2048)), PTO_INOUT(j->x, ij, 8));
                pto_release(rt, P);
            }
            pto_scope_end(rt);
        }
        pto_scope_end(rt);
    }
}

TEST(h27_only_its_owner_keeps_a_buffer_and_4096_tasks_run_in_one_tile)
{
    PTOConfig c = {.task_window = 2, .heap_bytes = 16384, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        struct job j = {0};
        PTORunStats stats;
        run(c, bgemm_4_8_8_8, &j, &stats);
        EXPECT_EQ(stats.tasks, 4096);
        for (int i = 0; i < 64; i++) EXPECT_EQ(j.x[i], 32);
    }
}

static void release_one_of_two(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *kept = NULL;
    for (int64_t i = 0; i < j->n; i++) {
        void *gone = NULL;
        if (kept) pto_release(rt, kept);
        kept = NULL;
        SUBMIT(rt, &two, PTO_OUTPUT(&kept, 0, ONE), PTO_OUTPUT(&gone, 0, PTO_ARRAY(PTO_I64, 100)));
        pto_release(rt, gone);
        void *scratch = NULL; /* fits only where `gone` was */
        SUBMIT(rt, &set, PTO_OUTPUT(&scratch, 0, PTO_ARRAY(PTO_I64, 100)), PTO_SCALAR(i));
        SUBMIT(rt, &add, PTO_INPUT(kept, 0, ONE), PTO_INOUT(j->x, 0, ONE));
        pto_release(rt, scratch);
    }
}

TEST(h33_each_output_of_a_task_has_a_lifetime_of_its_own)
{
    PTOConfig c = {.heap_bytes = 4 * 832, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        struct job j = {.n = 200};
        run(c, release_one_of_two, &j, NULL);
        EXPECT_EQ(j.x[0], 200);
    }
}

/* Fan-in of 2 and 3 through pools of 2, 3 and 5 entries: the pool wraps thousands of times. */
static void diamonds(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int64_t i = 0; i < j->n; i++) {
        for (int k = 1; k <= 3; k++) SUBMIT(rt, &add, PTO_INPUT(j->x, 0, ONE), PTO_INOUT(j->x, k, 8));
        SUBMIT(rt, &add, PTO_INPUT(j->x, 1, 8), PTO_INOUT(j->x, 0, ONE), PTO_INPUT(j->x, 2, 8), PTO_INPUT(j->x, 3, 8));
    }
}

TEST(h38_h39_the_dependency_pool_wraps_without_overwriting_live_entries)
{
    uint64_t x0 = 1, x1 = 0;
    for (int i = 0; i < 1000; i++) x1 += x0, x0 += x1;
    for (int64_t pool = 2; pool <= 5; pool++) {
        PTOConfig c = {.deplist_entries = pool, .task_window = 16};
        EACH_ENGINE(c)
        {
            struct job j = {.x = {1}, .n = 1000};
            run(c, diamonds, &j, NULL);
            EXPECT_EQ((uint64_t)j.x[0], x0);
            EXPECT_EQ((uint64_t)j.x[3], x1);
        }
    }
}

/* A whole window of tasks becomes ready at once. */
static void all_at_once(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *gate = NULL;
    SUBMIT(rt, &slow_set, PTO_OUTPUT(&gate, 0, ONE), PTO_SCALAR((int64_t)1));
    for (int i = 0; i < 63; i++) SUBMIT(rt, &add, PTO_INPUT(gate, 0, ONE), PTO_INOUT(j->x, i, 8));
}

TEST(h44_the_ready_queue_holds_a_whole_window)
{
    PTOConfig c = {.task_window = 64};
    EACH_ENGINE(c)
    {
        struct job j = {0};
        run(c, all_at_once, &j, NULL);
        for (int i = 0; i < 63; i++) EXPECT_EQ(j.x[i], 1);
    }
}

TEST(h46_sizes_are_computed_from_the_structs)
{
    EXPECT_EQ(sizeof(struct task_slot), 64);
    EXPECT_EQ(sizeof(struct arg_head), 16);
    const struct window_sizes small = {.tasks = 2, .deps = 2, .heap_bytes = 64},
                              larger = {.tasks = 1024, .deps = 8192, .heap_bytes = 1 << 28};
    EXPECT(ptoi_window_bytes(&small) > 0);
    EXPECT(ptoi_window_bytes(&larger) - ptoi_window_bytes(&small) >= 1022 * 64 + 8190 * 8);
    const struct window_sizes overflow = {.tasks = (uint64_t)1 << 60, .deps = 2, .heap_bytes = 64};
    EXPECT_EQ(ptoi_window_bytes(&overflow), 0);
}

/* The youngest consumed tasks have no outputs: what the older ones freed must be seen all the same. */
static void freed_before_the_tail(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 50; i++) {
        void *P = NULL;
        SUBMIT(rt, &slow_set, PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, 512)), PTO_SCALAR((int64_t)1));
        pto_release(rt, P);
        for (int k = 0; k < 6; k++) SUBMIT(rt, &mix, PTO_INOUT(j->x, k, 8));
    }
}

TEST(h36_memory_is_freed_whatever_the_last_task_had)
{
    PTOConfig c = {.task_window = 8, .heap_bytes = 4096, .heap_rings = 1}; /* one buffer at a time */
    EACH_ENGINE(c)
    {
        struct job j = {0};
        run(c, freed_before_the_tail, &j, NULL);
        EXPECT(j.x[5] != 0);
    }
}

/* Producers that end while their consumer is being submitted, consumers with many producers: each task runs exactly
 * once. */
static int k_count(const PTOArg *a) { return ++*(int64_t *)a[0].ptr, 0; }
static const PTOKernel count_any[PTO_WORKER_TYPES] = {
    {.name = "count", .worker = PTO_WORKER_CUBE, .fn = k_count},
    {.name = "count", .worker = PTO_WORKER_VECTOR, .fn = k_count},
    {.name = "count", .worker = PTO_WORKER_AI_CPU, .fn = k_count},
    {.name = "count", .worker = PTO_WORKER_ACCELERATOR, .fn = k_count},
};

static void everybody_once(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int64_t i = 0; i < j->n; i++)
        SUBMIT(rt, &count_any[i % PTO_WORKER_TYPES], PTO_INOUT(j->x, i % 64, 8), PTO_INPUT(j->x, (i * 7 + 1) % 64, 8),
               PTO_INPUT(j->x, (i * 13 + 2) % 64, 8), PTO_INPUT(j->x, (i * 29 + 3) % 64, 8));
}

TEST(h17_h19_h20_h21_h22_every_task_runs_exactly_once_after_all_its_producers)
{
    for (int64_t window = 2; window <= 64; window *= 2) {
        PTOConfig c = {.task_window = window, .workers = {2, 1, 2, 1}};
        EACH_ENGINE(c)
        {
            struct job j = {.n = 6400};
            run(c, everybody_once, &j, NULL);
            for (int i = 0; i < 64; i++) EXPECT_EQ(j.x[i], 100);
        }
    }
}
