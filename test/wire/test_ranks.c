/* test_ranks.c - what a program may do on several ranks, and what is counted and reported.
 * Random programs are in stress_ranks.c. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, CELLS = SIDE * SIDE, KEPT = 32 << 20 };

/* What a test and its ranks share. */
struct shared {
    uint64_t seed;
    int32_t cell, grid;
    int64_t number; /* of the test */
    double wanted[CELLS], matrix[CELLS];
    int64_t messages;
    int status[MOST_RANKS];
    char text[MOST_RANKS][512];
    int64_t ids[MOST_RANKS];
};

typedef void orchestration(PTORuntime *rt, void *arg);

struct program {
    struct shared *shared;
    orchestration *run;
    double *matrix;
    int rank;
};

static PTORuntime *create_keeping(struct wire *w, PTOEngine engine, int64_t window, int64_t copy_bytes)
{
    const struct dist_config ranks = {.wire = w, .copy_bytes = copy_bytes, .sends = 2};
    PTOStatus status;
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = engine, .task_window = window, .workers = {1, 1, 1, 1}},
                                        &ranks, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    return rt;
}

static PTORuntime *create(struct wire *w, PTOEngine engine, int64_t window)
{
    return create_keeping(w, engine, window, KEPT);
}

static void distribute(PTORuntime *rt, const void *matrix, int64_t side, int64_t cell_rows, int64_t cell_cols,
                       int64_t rows, int64_t cols)
{
    const struct distribution d = {
        .rank = 2, .unit = 8, .shape = {side, side}, .cell = {cell_rows, cell_cols}, .grid = {rows, cols}};
    if (ptoi_dist_distribute(rt->dist, matrix, &d) != PTO_OK) _exit(3);
}

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

static double sum_of(const PTOArg *a)
{
    double sum = 0;
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) sum += ((double *)a->ptr)[i * a->stride[0] + j * a->stride[1]];
    return sum;
}

static void fill(const PTOArg *a, int64_t step, double value)
{
    for (int64_t i = 0; i < a->shape[0]; i += step)
        for (int64_t j = 0; j < a->shape[1]; j++)
            ((double *)a->ptr)[i * a->stride[0] + j * a->stride[1]] = value + (double)(i * 3 + j);
}

/* Bits that depend on the order of tasks; small, so that sums are exact. */
static double digest(double x, int64_t seed) { return (double)(((int64_t)x * 31 + seed) & 0xfff); }

/* in view, out view, scalar */
static int overwrite(const PTOArg *a)
{
    fill(&a[1], 1, digest(sum_of(&a[0]), a[2].value.i64));
    return 0;
}
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
static const PTOKernel overwrites = {.name = "overwrites", .worker = PTO_WORKER_VECTOR, .fn = overwrite};
static const PTOKernel writes_part = {.name = "writes_part", .worker = PTO_WORKER_ACCELERATOR, .fn = write_part};
static const PTOKernel accumulates = {.name = "accumulates", .worker = PTO_WORKER_CUBE, .fn = accumulate};

struct rectangle {
    int64_t at, shape[2], stride[2];
};
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

static PTOTaskParam view(PTOParamKind kind, void *base, const struct rectangle *r)
{
    return (PTOTaskParam){.kind = (uint8_t)kind,
                          .type = PTO_F64,
                          .rank = 2,
                          .buffer = base,
                          .at = r->at,
                          .shape = r->shape,
                          .stride = r->stride};
}

static PTOTaskParam view_of(PTOParamKind kind, void *base, const struct rectangle *r, int flags)
{
    PTOTaskParam p = view(kind, base, r);
    p.flags = (uint8_t)flags;
    return p;
}

/* An output, or a view of which a part is written. */
static PTOTaskParam view_to(PTOParamKind kind, void *base, const struct rectangle *r, const void *ref)
{
    PTOTaskParam p = view(kind, base, r);
    p.ref = (void *)(uintptr_t)ref;
    return p;
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

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static int fails_late(const PTOArg *a) { return a[1].value.i64 == 17 ? 5 : 0; }
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = fails_late};

/* As many parameters as a call can name, and each but the first is read and written. */
static int64_t submit_too_many(PTORuntime *rt, double *matrix)
{
    const struct rectangle row = {0, {1, SIDE}, {SIDE, 1}};
    const PTOPart part = {.rank = 2, .shape = (int64_t[]){1, 1}, .stride = (int64_t[]){SIDE, 1}};
    void *made = NULL;
    PTOTaskParam params[PTO_TASK_PARAMS] = {view_to(PTO_PARAM_OUTPUT, NULL, &row, &made)};
    for (int i = 1; i < PTO_TASK_PARAMS; i++) params[i] = view_to(PTO_PARAM_INOUT_PART, matrix, &row, &part);
    return pto_submit_task(rt, &failing, params, PTO_TASK_PARAMS);
}

static void each_row(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    static double unknown[4];
    const int64_t number = p->shared->number;
    for (int64_t n = 0; n < 200; n++) {
        const struct rectangle a = {n % SIDE * SIDE, {1, SIDE}, {SIDE, 1}},
                               b = {(n * 7 + 1) % SIDE * SIDE, {1, SIDE}, {SIDE, 1}};
        const int64_t scalar = number == 1 && n == 123 && p->rank == 1 ? -1 : n;
        PTOTaskParam params[] = {view(PTO_PARAM_INPUT, p->matrix, &a), view_to(PTO_PARAM_OUTPUT, NULL, &b, &p->matrix),
                                 PTO_SCALAR(scalar)};
        PTOTaskParam fails[] = {view(PTO_PARAM_INOUT, p->matrix, &a), PTO_SCALAR(n)};
        PTOTaskParam wrong[] = {PTO_INOUT(unknown, 0, sizeof unknown), PTO_SCALAR(n)};
        PTOTaskParam negative[] = {PTO_INOUT(p->matrix, 0, -8), PTO_SCALAR(n)};
        if (number == 0 && pto_submit_task(rt, &failing, fails, 2) < 0) return;
        if (number == 2 && n == 20 && pto_submit_task(rt, &failing, wrong, 2) < 0) return;
        if (number == 7 && n == 20 && submit_too_many(rt, p->matrix) < 0) return;
        if (number == 5 && n == 20 && pto_submit_task(rt, &failing, negative, 2) < 0) return;
        if (pto_submit_task(rt, &overwrites, params, 3) < 0) return;
    }
}

static int does_nothing(const PTOArg *a) { return a[0].ptr ? 0 : 1; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = does_nothing};
enum { MANY = 4 * COMPARED_TASKS, WRONG_AT = COMPARED_TASKS + 77, EARLY = 77 };

/* No await: only the comparisons on the way find what differs. */
static void many_rows(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    const bool is_wrong = p->shared->number == 4 && p->rank == 1;
    const int64_t count = p->shared->number == 4 ? MANY : p->rank == 1 ? EARLY : 2 * EARLY;
    for (int64_t n = 0; n < count; n++) {
        const struct rectangle a = {n % SIDE * SIDE, {1, SIDE}, {SIDE, 1}};
        const PTOTaskParam params[] = {view(PTO_PARAM_INOUT, p->matrix, &a),
                                       PTO_SCALAR(is_wrong && n == WRONG_AT ? -1 : n)};
        if (pto_submit_task(rt, &nothing, params, 2) < 0) return;
        p->shared->ids[p->rank] = n;
    }
}

static int run_failing(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    const bool is_long = shared->number == 4 || shared->number == 6;
    PTORuntime *rt = create(w, shared->seed ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL, is_long ? 512 : 8);
    if (!rt) return 1;
    distribute(rt, matrix, SIDE, 1, SIDE, 3, 1);
    shared->status[rank] = pto_runtime_run(rt, is_long ? many_rows : each_row, &p);
    snprintf(shared->text[rank], sizeof shared->text[rank], "%s", pto_last_error(rt));
    /* the runtime can be used again */
    shared->number = 3;
    distribute(rt, matrix, SIDE, 1, SIDE, 3, 1);
    const PTOStatus again = w->ranks && shared->grid ? PTO_OK : pto_runtime_run(rt, each_row, &p);
    if (again != PTO_OK) fprintf(stderr, "again: %s\n", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return again != PTO_OK;
}

static void expect_failure(struct shared *s, int64_t number, int lost_of, int want, const char *text)
{
    for (uint64_t engine = 0; engine < 2; engine++) {
        *s = (struct shared){.seed = engine, .number = number, .grid = lost_of};
        const struct medium_config medium = {.ranks = 3, .slots = 5, .seed = 3, .latest = 4, .lost_of = lost_of};
        EXPECT_EQ(ranks_run(&medium, run_failing, s), 0);
        for (int k = 0; k < 3; k++) {
            if (s->status[k] != want || !strstr(s->text[k], text))
                fprintf(stderr, "rank %d: %d, %s\n", k, s->status[k], s->text[k]);
            EXPECT_EQ(s->status[k], want);
            EXPECT(strstr(s->text[k], text) != NULL);
        }
    }
}

TEST(a_kernel_that_fails_ends_the_run_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, 0, 0, PTO_ERR_KERNEL, "kernel 'failing' failed: it returned 5");
    int elsewhere = 0; /* row 17 % 16 lives on rank 1 */
    for (int k = 0; k < 3; k++) elsewhere += strstr(s->text[k], "(on rank 1, ") != NULL;
    EXPECT_EQ(elsewhere, 2);
}

/* Each rank but the first hears of others when it has failed itself, or while it fails. */
static struct {
    const struct wire_ops *ops;
    PTORuntime *rt;
    bool fails_meanwhile;
    _Atomic bool has_begun, has_heard; /* the former: its kernel, which needs no lock of the transfers any more */
} deaf;

static bool listen_late(struct wire *w, struct wire_failure *failure)
{
    if (!deaf.fails_meanwhile) return pto_runtime_status(deaf.rt) != PTO_OK && deaf.ops->listen(w, failure);
    if (!deaf.has_begun || !deaf.ops->listen(w, failure)) return false;
    deaf.has_heard = true;
    while (pto_runtime_status(deaf.rt) == PTO_OK) ptoi_yield();
    return true;
}

/* row, its number */
static int fails_at_once(const PTOArg *a)
{
    deaf.has_begun = true;
    while (deaf.fails_meanwhile && a[1].value.i64 > 0 && !deaf.has_heard) ptoi_yield();
    return (int)(10 + a[1].value.i64);
}
static const PTOKernel failing_at_once = {.name = "at once", .worker = PTO_WORKER_VECTOR, .fn = fails_at_once};

static void three_rows(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    for (int64_t n = 0; n < 3; n++) {
        const struct rectangle a = {n * SIDE, {1, SIDE}, {SIDE, 1}};
        PTOTaskParam params[] = {view(PTO_PARAM_INOUT, p->matrix, &a), PTO_SCALAR(n)};
        if (pto_submit_task(rt, &failing_at_once, params, 2) < 0) return;
    }
}

static int run_at_once(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    struct wire_ops ops = *w->ops;
    deaf.ops = w->ops;
    deaf.fails_meanwhile = shared->number == 1;
    ops.listen = listen_late;
    w->ops = &ops;
    deaf.rt = create(w, PTO_ENGINE_THREADS, 8);
    if (!deaf.rt) return 1;
    for (int k = 0; k < 3; k++) {
        deaf.has_begun = deaf.has_heard = false;
        distribute(deaf.rt, matrix, SIDE, 1, SIDE, 3, 1);
        shared->status[rank] = pto_runtime_run(deaf.rt, three_rows, &p);
        snprintf(shared->text[rank], sizeof shared->text[rank], "%s", pto_last_error(deaf.rt));
    }
    pto_runtime_destroy(deaf.rt);
    w->ops = deaf.ops;
    return 0;
}

/* Every rank fails by itself, and all report the failure of the oldest task. */
static void expect_the_oldest_failure(int64_t number)
{
    struct shared *s = ranks_share(sizeof *s);
    s->number = number;
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = 3, .slots = 5, .latest = 4}, run_at_once, s), 0);
    for (int k = 0; k < 3; k++) {
        if (!strstr(s->text[k], "it returned 10 (task 0)")) fprintf(stderr, "rank %d: %s\n", k, s->text[k]);
        EXPECT_EQ(s->status[k], PTO_ERR_KERNEL);
        EXPECT(strstr(s->text[k], "kernel 'at once' failed: it returned 10 (task 0)") != NULL);
        EXPECT_EQ(strstr(s->text[k], "(on rank 0, ") != NULL, k != 0);
    }
}

TEST(the_oldest_failure_is_reported)
{
    expect_the_oldest_failure(0);
}
TEST(a_failure_that_is_heard_while_a_rank_fails_is_not_lost)
{
    expect_the_oldest_failure(1);
}

TEST(ranks_that_disagree_are_found_at_their_step)
{
    expect_failure(ranks_share(sizeof(struct shared)), 1, 0, PTO_ERR_STATE,
                   "ranks 0 and 1 disagree at step 123 of the program: scalar 2 is 123 and -1; what it does");
}

TEST(ranks_that_disagree_are_found_while_they_run)
{
    struct shared *s = ranks_share(sizeof *s);
    char text[128];
    snprintf(text, sizeof text, "ranks 0 and 1 disagree at step %d of the program: scalar 1 is %d and -1;", WRONG_AT,
             WRONG_AT);
    expect_failure(s, 4, 0, PTO_ERR_STATE, text);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->ids[k], 3 * COMPARED_TASKS - 1);
}

TEST(a_rank_whose_program_ends_early_is_found)
{
    expect_failure(ranks_share(sizeof(struct shared)), 6, 0, PTO_ERR_STATE,
                   "ranks 0 and 1 disagree at step 77 of the program: the program asks for a task and the end of the "
                   "program;");
}

TEST(more_parameters_than_a_task_may_have_are_refused)
{
    expect_failure(ranks_share(sizeof(struct shared)), 7, 0, PTO_ERR_ARGUMENT, "64 parameters");
}

/* A mistake that all ranks make is reported by each of them as its own. */
static void expect_refusal(int64_t number, const char *text)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, number, 0, PTO_ERR_ARGUMENT, text);
    for (int k = 0; k < 3; k++) EXPECT(!strstr(s->text[k], "(on rank "));
}

TEST(memory_that_is_not_registered_is_refused)
{
    expect_refusal(2, "pto_buffer has not registered");
}

TEST(a_parameter_that_the_submit_refuses_is_refused_on_all_ranks)
{
    expect_refusal(5, "-8 bytes");
}

TEST(a_message_that_is_lost_ends_the_run_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, 3, 10, PTO_ERR_LOST, "a piece, u64[1, 16], was not sent to rank ");
    for (int k = 0; k < 3; k++) EXPECT(strstr(s->text[k], ": the message was lost (transfer ") != NULL);
}

/* ---- the end of a run -------------------------------------------------------------------------------------------- */

static struct {
    const struct wire_ops *ops;
    PTORuntime *rt;
    int cancels;
} late;

/* A signal comes when this rank has heard that all have ended well. */
static enum wire_answer reduce_and_cancel(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least,
                                          uint64_t *most)
{
    const enum wire_answer answer = late.ops->reduce(w, is_last, mine, least, most);
    if (is_last && answer == WIRE_DONE && w->rank == 1) {
        late.cancels++;
        pto_cancel(late.rt);
    }
    return answer;
}

static int run_cancelled_late(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    struct wire_ops ops = *w->ops;
    late.ops = w->ops;
    ops.reduce = reduce_and_cancel;
    w->ops = &ops;
    late.rt = create(w, PTO_ENGINE_THREADS, 8);
    distribute(late.rt, matrix, SIDE, 1, SIDE, 3, 1);
    shared->number = 3;
    for (int k = 0; k < 2; k++) shared->status[rank] += pto_runtime_run(late.rt, each_row, &p) != PTO_OK;
    pto_runtime_destroy(late.rt);
    w->ops = late.ops;
    return late.cancels != (rank == 1 ? 2 : 0);
}

TEST(a_run_has_one_status_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = 3, .slots = 5, .latest = 4}, run_cancelled_late, s), 0);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->status[k], 0);
}
