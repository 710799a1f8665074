/* test_ranks.c - what a program may do on several ranks, and what is counted and reported.
 * Random programs are in stress_ranks.c. */
#include "matrix.h"

static void keep_homes(PTORuntime *rt, struct program *p)
{
    const struct tensor *t = ptoi_dist_tensor(rt->dist, p->matrix);
    for (int64_t i = 0; i < CELLS; i++)
        if (ptoi_home_of(&t->home, rt->dist->ranks, (int64_t[]){i / SIDE, i % SIDE}) == p->rank)
            p->shared->matrix[i] = p->matrix[i];
    __atomic_add_fetch(&p->shared->messages, rt->dist->transfers.messages, __ATOMIC_RELAXED);
}

/* ---- random programs of what stress_ranks.c does not have -------------------------------------------------------- */

static uint64_t next_random(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 31);
}
static int64_t below(uint64_t *s, int64_t n) { return (int64_t)(next_random(s) % (uint64_t)n); }

/* a view of which every second row is written, scalar */
static int write_part(const PTOArg *a)
{
    fill(&a[0], 2, digest(sum_of(&a[0]), a[1].value.i64));
    return 0;
}
/* in view, accumulator, scalar */
static int accumulate(const PTOArg *a)
{
    const double value = digest(sum_of(&a[0]), a[2].value.i64);
    for (int64_t i = 0; i < a[1].shape[0]; i++)
        for (int64_t j = 0; j < a[1].shape[1]; j++)
            ((double *)a[1].ptr)[i * a[1].stride[0] + j * a[1].stride[1]] += value + (double)j;
    return 0;
}
static const PTOKernel writes_part = {.name = "writes_part", .worker = PTO_WORKER_ACCELERATOR, .fn = write_part};
static const PTOKernel accumulates = {.name = "accumulates", .worker = PTO_WORKER_CUBE, .fn = accumulate};

static struct rectangle any_rectangle(uint64_t *s)
{
    const int64_t i = below(s, SIDE), j = below(s, SIDE);
    struct rectangle r = {i * SIDE + j, {1 + below(s, SIDE - i), 1 + below(s, SIDE - j)}, {SIDE, 1}};
    if (below(s, 3) == 0) {
        r.shape[0] = (r.shape[0] + 1) / 2;
        r.stride[0] = 2 * SIDE;
    }
    return r;
}

static void random_program(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    uint64_t s = p->shared->seed;
    double *m = p->matrix;
    void *made = NULL, *zeroed = pto_alloc_zeroed(rt, PTO_SCOPE_CURRENT, CELLS * 8);
    int64_t id = 0;
    for (int n = 0; n < 60 && id >= 0; n++) {
        const struct rectangle a = any_rectangle(&s), b = any_rectangle(&s);
        const int64_t choice = below(&s, 7), scalar = below(&s, 1000);
        if (choice < 2) {
            PTOTaskParam params[] = {view(PTO_PARAM_INPUT, m, &a), view_to(PTO_PARAM_OUTPUT, NULL, &b, &m),
                                     PTO_SCALAR(scalar), PTO_PRIORITY(scalar % 3)};
            id = pto_submit_task(rt, &overwrites, params, 4);
        } else if (choice == 2) {
            const struct rectangle r = {a.at, {a.shape[0], a.shape[1]}, {a.stride[0], 1}};
            const PTOPart part = {.at = r.at,
                                  .rank = 2,
                                  .shape = (int64_t[]){(r.shape[0] + 1) / 2, r.shape[1]},
                                  .stride = (int64_t[]){2 * r.stride[0], 1}};
            PTOTaskParam params[] = {view_to(PTO_PARAM_INOUT_PART, m, &r, &part), PTO_SCALAR(scalar)};
            id = pto_submit_task(rt, &writes_part, params, 2);
        } else if (choice == 3) {
            struct rectangle row = {below(&s, 2) * SIDE, {1, SIDE}, {SIDE, 1}};
            PTOTaskParam params[] = {view(PTO_PARAM_INPUT, m, &a), view_of(PTO_PARAM_ACC_BY, m, &row, PTO_BY_SUM),
                                     PTO_SCALAR(scalar)};
            id = pto_submit_task(rt, &accumulates, params, 3);
        } else if (choice == 4) { /* a buffer that one task writes, and another reads */
            const struct rectangle whole = {0, {4, 5}, {5, 1}};
            made = NULL;
            PTOTaskParam makes[] = {view(PTO_PARAM_INPUT, m, &a), view_to(PTO_PARAM_OUTPUT, NULL, &whole, &made),
                                    PTO_SCALAR(scalar)};
            id = pto_submit_task(rt, &overwrites, makes, 3);
            if (id < 0) return;
            if (pto_task_get_output(rt, id, 0) != made) _exit(4);
            PTOTaskParam reads[] = {view_of(PTO_PARAM_INPUT, made, &whole, PTO_SINGLE_WRITER),
                                    view_to(PTO_PARAM_OUTPUT, NULL, &b, &m), PTO_SCALAR(scalar)};
            id = pto_submit_task(rt, &overwrites, reads, 3);
            pto_release(rt, made);
        } else if (choice == 5) { /* zeros */
            PTOTaskParam params[] = {view(PTO_PARAM_INPUT, zeroed, &a), view(PTO_PARAM_INOUT, m, &b),
                                     PTO_SCALAR(scalar)};
            id = pto_submit_task(rt, &overwrites, params, 3);
            PTOTaskParam back[] = {view(PTO_PARAM_INPUT, m, &b), view_to(PTO_PARAM_OUTPUT, NULL, &a, &zeroed),
                                   PTO_SCALAR(scalar)};
            if (id >= 0 && scalar % 2) id = pto_submit_task(rt, &overwrites, back, 3);
        } else { /* the program writes some bytes itself */
            const int64_t from = below(&s, CELLS - 20), count = 1 + below(&s, 20);
            if (pto_await_users(rt, m, from * 8, count * 8) != PTO_OK) return;
            for (int64_t i = from; i < from + count; i++) m[i] = digest(m[i], scalar);
        }
    }
    p->shared->ids[p->rank] = id;
}

static int run_random(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    PTORuntime *rt = create(w, shared->seed % 4 ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL, shared->seed % 3 ? 64 : 2);
    if (!rt) return 1;
    distribute(rt, matrix, SIDE, shared->cell, shared->cell + 2, shared->grid, 2);
    const PTOStatus status = pto_runtime_run(rt, random_program, &p);
    if (status != PTO_OK) fprintf(stderr, "rank %d: %s\n", rank, pto_last_error(rt));
    if (status == PTO_OK) keep_homes(rt, &p);
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

TEST(parts_overwrites_accumulators_and_the_programs_own_writes)
{
    struct shared *s = ranks_share(sizeof *s);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        *s = (struct shared){.seed = seed, .cell = 1 + (int32_t)(seed % 7), .grid = 1 + (int32_t)(seed % 3)};
        struct program alone = {.shared = s, .matrix = s->wanted};
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
        EXPECT_EQ(pto_runtime_run(rt, random_program, &alone), PTO_OK);
        pto_runtime_destroy(rt);
        const struct medium_config medium = {.ranks = 2 + (int)(seed % 3), .slots = 4, .seed = seed, .latest = 5};
        if (ranks_run(&medium, run_random, s) != 0) fprintf(stderr, "seed %llu\n", (unsigned long long)seed), fail();
        for (int k = 0; k < medium.ranks; k++) EXPECT_EQ(s->ids[k], s->ids[0]); /* the same numbers of tasks */
        for (int i = 0; i < CELLS; i++) {
            if (s->matrix[i] != s->wanted[i])
                fprintf(stderr, "seed %llu, element %d: %g, not %g\n", (unsigned long long)seed, i, s->matrix[i],
                        s->wanted[i]);
            EXPECT(s->matrix[i] == s->wanted[i]);
        }
    }
}

/* ---- messages are counted ---------------------------------------------------------------------------------------- */

enum { TILES = 8, TILE = 2 };

static int add_product(const PTOArg *a)
{
    fill(&a[2], 1, sum_of(&a[0]) + sum_of(&a[1]));
    return 0;
}
static const PTOKernel product = {.name = "product", .worker = PTO_WORKER_CUBE, .fn = add_product};

static struct rectangle tile(int64_t i, int64_t j)
{
    return (struct rectangle){i * TILE * SIDE + j * TILE, {TILE, TILE}, {SIDE, 1}};
}

static void multiply(PTORuntime *rt, void *arg)
{
    double(*m)[CELLS] = arg;
    for (int64_t i = 0; i < TILES; i++)
        for (int64_t j = 0; j < TILES; j++)
            for (int64_t k = 0; k < TILES; k++) {
                const struct rectangle a = tile(i, k), b = tile(k, j), c = tile(i, j);
                PTOTaskParam params[] = {view(PTO_PARAM_INPUT, m[0], &a), view(PTO_PARAM_INPUT, m[1], &b),
                                         view(PTO_PARAM_INOUT, m[2], &c)};
                if (pto_submit_task(rt, &product, params, 3) < 0) return;
            }
}

/* Every tile from itself and its neighbours. */
static void sweep(PTORuntime *rt, void *arg)
{
    static const int64_t near[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    double(*m)[CELLS] = arg;
    for (int64_t i = 0; i < TILES; i++)
        for (int64_t j = 0; j < TILES; j++)
            for (int n = 0; n < 4; n++) {
                const int64_t y = i + near[n][0], x = j + near[n][1];
                if (y < 0 || x < 0 || y == TILES || x == TILES) continue;
                const struct rectangle a = tile(i, j), b = tile(y, x);
                PTOTaskParam params[] = {view(PTO_PARAM_INPUT, m[0], &a), view(PTO_PARAM_INPUT, m[0], &b),
                                         view(PTO_PARAM_INOUT, m[2], &a)};
                if (pto_submit_task(rt, &product, params, 3) < 0) return;
            }
}

static int count_messages(struct wire *w, int rank, void *arg)
{
    static double m[3][CELLS];
    struct shared *shared = arg;
    PTORuntime *rt = create_keeping(w, PTO_ENGINE_THREADS, 16, shared->number == 2 ? 0 : KEPT);
    const bool is_sweep = shared->number == 1;
    const int64_t cols = is_sweep ? SIDE / 2 : TILE;
    (void)rank;
    if (!rt) return 1;
    for (int k = 0; k < 3; k++) distribute(rt, m[k], SIDE, is_sweep ? SIDE : TILE, cols, shared->grid, 2);
    const PTOStatus status = pto_runtime_run(rt, is_sweep ? sweep : multiply, m);
    __atomic_add_fetch(&shared->messages, rt->dist->transfers.messages, __ATOMIC_RELAXED);
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

static int64_t messages_of(struct shared *s, int64_t number, int32_t grid, int ranks)
{
    *s = (struct shared){.number = number, .grid = grid};
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = ranks, .slots = 3, .latest = 3}, count_messages, s), 0);
    return s->messages;
}

TEST(messages_are_those_of_the_distribution)
{
    struct shared *s = ranks_share(sizeof *s);
    EXPECT_EQ(messages_of(s, 0, 1, 2), TILES * TILES);     /* nt^2 (P + Q - 2), 1 x 2 */
    EXPECT_EQ(messages_of(s, 0, 2, 4), TILES * TILES * 2); /* 2 x 2 */
    EXPECT_EQ(messages_of(s, 1, 1, 2), 2 * TILES);         /* the border between two halves, in both directions */
    EXPECT_EQ(messages_of(s, 0, 1, 1), 0);
    EXPECT_EQ(messages_of(s, 2, 1, 2), TILES * TILES * TILES / 2); /* no copy is kept for a second use */
}
