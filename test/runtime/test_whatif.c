/* test_whatif.c - a recorded run with other rings: what is predicted is what the engine timing then measures. */
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include "report/advice.h"
#include <stdlib.h>
#include <string.h>

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static int64_t cost_scalar(const PTOArg *a) { return a[0].value.i64; }
static const PTOKernel cube = {.name = "cube", .worker = PTO_WORKER_CUBE, .fn = k_nothing, .cost = cost_scalar};
static const PTOKernel vector = {.name = "vector", .worker = PTO_WORKER_VECTOR, .fn = k_nothing, .cost = cost_scalar};

static char memory[1 << 16];

/* 8 chains, one after the other: a small window holds but one of them. */
static void chains(PTORuntime *rt, void *arg)
{
    for (int chain = 0; chain < 8; chain++)
        for (int n = 0; n < 50; n++) SUBMIT(rt, &cube, PTO_SCALAR((int64_t)100), PTO_INOUT(arg, chain, 64));
}

/* Nothing depends on anything: any window keeps all workers busy. */
static void independent(PTORuntime *rt, void *arg)
{
    for (int n = 0; n < 400; n++) SUBMIT(rt, &cube, PTO_SCALAR((int64_t)(100 + n % 7)), PTO_INOUT(arg, n, 64));
}

/* Each result lives for one more task, 16 of them have room. */
static void large_results(PTORuntime *rt, void *arg)
{
    for (int n = 0; n < 200; n++) {
        void *P = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &cube, PTO_SCALAR((int64_t)10), PTO_OUTPUT(&P, 0, 1024));
        SUBMIT(rt, &vector, PTO_SCALAR((int64_t)1000), PTO_INPUT(P, 0, 1024), PTO_INOUT(arg, n, 64));
        pto_scope_end(rt);
    }
}

/* Dependences at random, priorities, accumulators, values that the program waits for. */
static void mixed(PTORuntime *rt, void *arg)
{
    uint64_t s = 7;
    for (int n = 0; n < 500; n++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        const int64_t at = (int64_t)(s >> 40) % 40, other = (int64_t)(s >> 50) % 40,
                      cost = 20 + (int64_t)(s >> 33) % 90;
        if (s >> 60 == 0) pto_await(rt, arg, at * 64, 64);
        if (s >> 61 == 1)
            SUBMIT(rt, &vector, PTO_SCALAR(cost), PTO_ACC(arg, at, 64));
        else if (s >> 61 == 2)
            SUBMIT(rt, &cube, PTO_SCALAR(cost), PTO_INPUT(arg, other, 64), PTO_INOUT(arg, at, 64), PTO_PRIORITY(n % 3));
        else
            SUBMIT(rt, s >> 61 & 1 ? &vector : &cube, PTO_SCALAR(cost), PTO_INPUT(arg, at, 64),
                   PTO_INOUT(arg, other, 64));
    }
}

static PTORuntime *run(PTOConfig c, void (*fn)(PTORuntime *, void *))
{
    c.engine = PTO_ENGINE_TIMING;
    c.record_tasks = 4096;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    assert_int_equal(pto_runtime_run(rt, fn, memory), PTO_OK);
    ptoi_record_settle(rt->core.recorder);
    return rt;
}

static int64_t cycles(PTOConfig c, void (*fn)(PTORuntime *, void *))
{
    PTORuntime *rt = run(c, fn);
    const int64_t result = pto_get_run_stats(rt)->cycles;
    pto_runtime_destroy(rt);
    return result;
}

static void expect_near(int64_t predicted, int64_t measured)
{
    if (100 * llabs(predicted - measured) > 4 * measured)
        fail_msg("predicted %lld, measured %lld", (long long)predicted, (long long)measured);
}

static const struct {
    void (*fn)(PTORuntime *, void *);
    PTOConfig c;
} cases[] = {
    {chains, {.workers = {4, 1, 1, 1}, .task_window = 16}},
    {independent, {.workers = {4, 1, 1, 1}, .task_window = 16, .submit_cycles = 3, .dispatch_cycles = 2}},
    {large_results, {.workers = {1, 32, 1, 1}, .heap_bytes = 4096, .heap_rings = 4}},
    {mixed, {.workers = {2, 2, 1, 1}, .task_window = 8, .submit_cycles = 5}},
    {mixed, {.workers = {3, 2, 1, 1}, .tensormap_entries = 12}},
    {mixed, {.workers = {3, 3, 1, 1}, .deplist_entries = 6, .dispatch_cycles = 9}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* The linker sends qsort_r here: of two neighbours the first is less and the second greater, whatever library sorts. */
void __real_qsort_r(void *at, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *arg);
void __wrap_qsort_r(void *at, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *arg)
{
    __real_qsort_r(at, count, size, compare, arg);
    for (size_t i = 0; i + 1 < count; i++) {
        const char *const one = (const char *)at + i * size;
        EXPECT(compare(one, one + size, arg) < 0 && compare(one + size, one, arg) > 0);
    }
}

TEST(the_same_rings_take_the_same_time)
{
    for (int n = 0; n < CASES; n++) {
        PTORuntime *rt = run(cases[n].c, cases[n].fn);
        struct whatif_limits l = ptoi_advice_limits(rt);
        expect_near(ptoi_whatif_time(rt->core.recorder, &l), pto_get_run_stats(rt)->cycles);
        pto_runtime_destroy(rt);
    }
}

TEST(other_rings_take_the_time_that_was_predicted)
{
    for (int n = 0; n < CASES; n++) {
        PTORuntime *rt = run(cases[n].c, cases[n].fn);
        struct whatif_limits l = ptoi_advice_limits(rt);
        PTOConfig other = cases[n].c;
        other.task_window = 128;
        other.heap_bytes = 16384;
        other.tensormap_entries = 100;
        other.deplist_entries = 100;
        l.ring[WHATIF_WINDOW] = 128;
        l.ring[WHATIF_HEAP] = 16384 * 4;
        l.ring[WHATIF_MAP] = l.ring[WHATIF_DEPS] = 100;
        expect_near(ptoi_whatif_time(rt->core.recorder, &l), cycles(other, cases[n].fn));
        pto_runtime_destroy(rt);
    }
}

TEST(fewer_processors_than_workers_take_longer)
{
    PTORuntime *rt = run((PTOConfig){.workers = {4, 1, 1, 1}}, independent);
    struct whatif_limits l = ptoi_advice_limits(rt);
    const int64_t all = ptoi_whatif_time(rt->core.recorder, &l);
    l.processors = 2;
    const int64_t two = ptoi_whatif_time(rt->core.recorder, &l);
    expect_near(two, 2 * all);
    l.processors = 1;
    expect_near(ptoi_whatif_time(rt->core.recorder, &l), 4 * all);
    pto_runtime_destroy(rt);
}

static int advise(PTOConfig c, void (*fn)(PTORuntime *, void *), struct whatif_advice *advice)
{
    static const bool all[WHATIF_RINGS] = {true, true, true, true};
    PTORuntime *rt = run(c, fn);
    const struct whatif_limits l = ptoi_advice_limits(rt);
    const int count = ptoi_whatif_advise(rt->core.recorder, &l, all, advice);
    pto_runtime_destroy(rt);
    return count;
}

TEST(a_larger_ring_is_advised_only_where_it_is_faster_and_is_then_as_fast_as_was_said)
{
    struct whatif_advice a[WHATIF_RINGS];
    PTOConfig c = {.workers = {4, 1, 1, 1}, .task_window = 16};
    assert_int_equal(advise(c, chains, a), 1);
    EXPECT_EQ(a[0].ring, WHATIF_WINDOW);
    expect_near(a[0].today, cycles(c, chains));
    c.task_window = (int64_t)a[0].size;
    expect_near(a[0].time, cycles(c, chains));
    EXPECT(a[0].time < a[0].today / 2);
    EXPECT_EQ(advise(c, chains, a), 0); /* following it once is enough */

    EXPECT_EQ(advise((PTOConfig){.workers = {4, 1, 1, 1}, .task_window = 16}, independent, a),
              0); /* full, and no loss */

    c = (PTOConfig){.workers = {1, 32, 1, 1}, .heap_bytes = 4096, .heap_rings = 4};
    assert_int_equal(advise(c, large_results, a), 1);
    EXPECT_EQ(a[0].ring, WHATIF_HEAP);
    c.heap_bytes = (int64_t)a[0].size / 4;
    expect_near(a[0].time, cycles(c, large_results));
    EXPECT(20 * a[0].time <= 19 * a[0].today);
}

static char *text_of(PTOConfig c, void (*fn)(PTORuntime *, void *), int64_t record_tasks)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    c.engine = PTO_ENGINE_TIMING;
    c.record_tasks = record_tasks;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    assert_int_equal(pto_runtime_run(rt, fn, memory), PTO_OK);
    pto_write_flow_stats(rt, out);
    fclose(out);
    pto_runtime_destroy(rt);
    return text;
}

TEST(statistics_advise_with_the_figure_and_not_without_a_record)
{
    PTOConfig c = {.workers = {4, 1, 1, 1}, .task_window = 16};
    char *text = text_of(c, chains, 4096);
    EXPECT(strstr(text, "PTOConfig.task_window 512 (now 16): 10000 cycles instead of ") != NULL);
    free(text);
    c.names = PTO_NAMES_OPTIONS;
    text = text_of(c, chains, 4096);
    EXPECT(strstr(text, "--window 512 (now 16): ") != NULL);
    free(text);
    text = text_of(c, chains, 0);
    EXPECT(strstr(text, "--window") == NULL && strstr(text, "Recommendations") == NULL);
    free(text);
    text = text_of(c, chains, 100); /* not all of it was recorded */
    EXPECT(strstr(text, "--window") == NULL);
    free(text);
    text = text_of(c, independent, 4096);
    EXPECT(strstr(text, "--window") == NULL);
    EXPECT(strstr(text, "none: no larger ring would make this run 5 % faster") != NULL);
    free(text);
}
