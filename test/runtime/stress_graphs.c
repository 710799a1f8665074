/* stress_graphs.c - random programs on the threads engine leave the bytes that the serial engine leaves.
 * PTO_GRAPHS=N programs (default 300), PTO_SEED=S the first seed; a failure prints the seed that repeats it. */
#include "graph_fuzz.h"
#include "unit.h"

static uint64_t run(struct fuzz_program *p, const PTOConfig *config)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(config, &status);
    if (!rt) {
        fprintf(stderr, "seed %llu: create: %s\n", (unsigned long long)p->seed, pto_last_error(NULL));
        fail();
    }
    fuzz_reset(p);
    status = pto_runtime_run(rt, fuzz_orchestrate, p);
    if (status != PTO_OK) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)p->seed, pto_last_error(rt));
    EXPECT_EQ(status, PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, p->submitted);
    uint64_t digest = fuzz_digest(p);
    pto_runtime_destroy(rt);
    return digest;
}

static long from_environment(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

TEST(every_schedule_gives_what_program_order_gives)
{
    static uint64_t a[CELLS], b[CELLS];
    const long count = from_environment("PTO_GRAPHS", 300), first = from_environment("PTO_SEED", 1);
    for (long seed = first; seed < first + count; seed++) {
        uint64_t s = (uint64_t)seed * 7919;
        struct fuzz_program p = {.seed = (uint64_t)seed, .tasks = 5 + (int)fuzz_below(&s, 200), .matrix = {a, b}};
        PTOConfig c = fuzz_config(&s), oracle = {.engine = PTO_ENGINE_SERIAL};
        uint64_t want = run(&p, &oracle), got = run(&p, &c);
        if (want != got) fprintf(stderr, "seed %ld: the result differs from program order\n", seed);
        EXPECT_EQ(got, want);
        c.engine = PTO_ENGINE_SERIAL;
        EXPECT_EQ(run(&p, &c), want);
    }
}
