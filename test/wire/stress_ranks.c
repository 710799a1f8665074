/* stress_ranks.c - random programs on several ranks leave the bytes that program order leaves on one.
 * PTO_RANKED=N programs (default 30), PTO_SEED=S the first seed; a failure prints the seed that repeats it.
 * What only homes have at the beginning is garbage elsewhere, so a byte that was not sent shows. */
#include "api/runtime.h"
#include "shared/sanitizer.h"
#include "graph_fuzz.h"
#include "local_wire.h"
#include "unit.h"

struct case_of {
    uint64_t seed;
    int ranks, tasks;
    uint64_t awaited;
    uint64_t wanted_awaited, wanted[2][CELLS];
    uint64_t matrix[2][CELLS]; /* from the homes */
    int homes[2][CELLS];       /* how many ranks said that they are one */
    int64_t messages;
};

static struct distribution any_distribution(uint64_t *s)
{
    struct distribution d = {.rank = 2, .unit = 8, .shape = {SIDE, SIDE}};
    for (int k = 0; k < 2; k++) {
        d.cell[k] = 1 + fuzz_below(s, SIDE);
        d.grid[k] = 1 + fuzz_below(s, 4);
    }
    return d;
}

static void prepare(const struct case_of *c, struct fuzz_program *p, PTORuntime *rt, int rank, uint64_t *s)
{
    fuzz_reset(p);
    for (int m = 0; m < 2; m++) {
        const struct distribution d = any_distribution(s);
        if (m == 1 && c->seed % 3 == 0) {
            pto_buffer(rt, p->matrix[m], CELLS * 8);
            continue;
        }
        if (ptoi_dist_distribute(rt->dist, p->matrix[m], &d) != PTO_OK) _exit(2);
        for (int64_t i = 0; i < CELLS; i++)
            if (ptoi_home_of(&d, c->ranks, (int64_t[]){i / SIDE, i % SIDE}) != rank) p->matrix[m][i] = 0xdeadbeef;
    }
}

static bool is_home(PTORuntime *rt, int rank, const uint64_t *matrix, int64_t i)
{
    const struct tensor *t = ptoi_dist_tensor(rt->dist, matrix);
    int64_t element[PTO_MAX_RANK];
    ptoi_home_element(&t->home, i * 8, element);
    return ptoi_home_of(&t->home, rt->dist->ranks, element) == rank;
}

static int run_rank(struct wire *wire, int rank, void *arg)
{
    static const int64_t limits[] = {0, 64, 1024, 32 << 20};
    static uint64_t a[CELLS], b[CELLS];
    struct case_of *c = arg;
    uint64_t s = c->seed * 104729;
    PTOConfig config = fuzz_config(&s);
    PTOStatus status;
    config.engine = fuzz_below(&s, 4) ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL;
    const struct dist_config ranks = {
        .wire = wire, .copy_bytes = limits[fuzz_below(&s, 4)], .sends = fuzz_below(&s, 2) ? 1 : 16};
    PTORuntime *rt = ptoi_create_ranked(&config, &ranks, &status);
    if (!rt) {
        fprintf(stderr, "seed %llu: create: %s\n", (unsigned long long)c->seed, pto_last_error(NULL));
        return 1;
    }
    struct fuzz_program p = {.seed = c->seed, .tasks = c->tasks, .matrix = {a, b}};
    prepare(c, &p, rt, rank, &s);
    status = pto_runtime_run(rt, fuzz_orchestrate, &p);
    if (status != PTO_OK)
        fprintf(stderr, "seed %llu, rank %d: %s\n", (unsigned long long)c->seed, rank, pto_last_error(rt));
    for (int m = 0; m < 2 && status == PTO_OK; m++)
        for (int64_t i = 0; i < CELLS; i++)
            if (is_home(rt, rank, p.matrix[m], i)) {
                c->matrix[m][i] = p.matrix[m][i];
                __atomic_add_fetch(&c->homes[m][i], 1, __ATOMIC_RELAXED);
            }
    __atomic_add_fetch(&c->messages, rt->dist->transfers.messages, __ATOMIC_RELAXED);
    const bool is_same = p.awaited == c->wanted_awaited;
    if (status == PTO_OK && !is_same) fprintf(stderr, "seed %llu, rank %d: await\n", (unsigned long long)c->seed, rank);
    pto_runtime_destroy(rt);
    return status == PTO_OK && is_same ? 0 : 1;
}

static void run_alone(struct case_of *c)
{
    struct fuzz_program p = {.seed = c->seed, .tasks = c->tasks, .matrix = {c->wanted[0], c->wanted[1]}};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    fuzz_reset(&p);
    EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_OK);
    c->wanted_awaited = p.awaited;
    pto_runtime_destroy(rt);
}

static long from_environment(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

TEST(ranks_leave_what_one_process_leaves)
{
    const long count = from_environment("PTO_RANKED", PTOI_HAS_SANITIZER ? 18 : 30),
               first = from_environment("PTO_SEED", 1);
    struct case_of *c = ranks_share(sizeof *c);
    int64_t messages = 0;
    for (long seed = first; seed < first + count; seed++) {
        static const int ranks[] = {2, 3, 4, 1, 7, 8};
        uint64_t s = (uint64_t)seed * 7919;
        memset(c, 0, sizeof *c);
        c->seed = (uint64_t)seed;
        c->ranks = ranks[seed % 6];
        c->tasks = 5 + (int)fuzz_below(&s, 100);
        run_alone(c);
        const struct medium_config medium = {
            .ranks = c->ranks, .slots = 18, .seed = (uint64_t)seed, .latest = (int)fuzz_below(&s, 30)};
        EXPECT_EQ(ranks_run(&medium, run_rank, c), 0);
        for (int m = 0; m < 2; m++)
            for (int i = 0; i < CELLS; i++) {
                if (c->homes[m][i] != 1 || c->matrix[m][i] != c->wanted[m][i])
                    fprintf(stderr, "seed %ld, %d ranks: matrix %d, element %d, %d homes\n", seed, c->ranks, m, i,
                            c->homes[m][i]);
                EXPECT_EQ(c->homes[m][i], 1);
                EXPECT_EQ(c->matrix[m][i], c->wanted[m][i]);
            }
        messages += c->messages;
    }
    EXPECT(count < 20 || messages > count);
}
