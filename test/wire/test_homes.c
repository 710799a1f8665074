/* test_homes.c - where cells live and tasks run: what the program says, and what is chosen where it says nothing. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>

enum { SIDE = 16, TILE = 4, TILES = SIDE / TILE, CELLS = SIDE * SIDE };

struct shared {
    int number; /* of the test */
    struct distribution home[MOST_RANKS];
    int64_t tasks[MOST_RANKS], messages[MOST_RANKS];
    int status[MOST_RANKS];
    char text[MOST_RANKS][256];
};

struct program {
    struct shared *shared;
    double *matrix;
    int rank;
};

static int64_t executed;
static int count_task(const PTOArg *a)
{
    (void)a;
    executed++;
    return 0;
}
static const PTOKernel counts = {.name = "counts", .worker = PTO_WORKER_VECTOR, .fn = count_task};

static void look_at_home(PTORuntime *rt, struct program *p, const void *base)
{
    if (rt->dist) p->shared->home[p->rank] = ptoi_dist_tensor(rt->dist, base)->home;
}

static void use_tiles(PTORuntime *rt, double *m, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < SIDE; i += rows)
        for (int64_t j = 0; j < SIDE; j += cols) {
            PTOTaskParam params[] = {PTO_INOUT(m, i * SIDE + j, PTO_STRIDED(PTO_F64, (rows, cols), (SIDE, 1)))};
            if (pto_submit_task(rt, &counts, params, 1) < 0) return;
        }
}

static const PTODist rows_of_four = {
    .type = PTO_F64, .rank = 2, .shape = {SIDE, SIDE}, .cell = {TILE, SIDE}, .grid = {3, 1}};

static void orchestrate(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    double *m = p->matrix;
    PTODist d = rows_of_four;
    const int64_t more = p->rank == 1; /* what rank 1 has that the others have not */
    pto_buffer(rt, m, (int64_t)sizeof(double) * (CELLS - (p->shared->number == 12 ? more * SIDE : 0)));
    switch (p->shared->number) {
    case 0: use_tiles(rt, m, TILE, TILE); break;
    case 1: use_tiles(rt, m, SIDE, SIDE); break;
    case 2:
        pto_dist(rt, m + 1, &d);
        pto_dist(rt, m, &d);
        d.grid[0] = 1;
        pto_dist(rt, m, &d);
        use_tiles(rt, m, TILE, TILE);
        break;
    case 3:
        use_tiles(rt, m, TILE, TILE);
        pto_dist(rt, m, &d);
        break;
    case 4: { /* a buffer of the heap: bands */
        double *made = pto_alloc(rt, PTO_SCOPE_CURRENT, sizeof(double) * CELLS);
        d.cell[0] = d.cell[1] = 0;
        pto_dist(rt, made, &d);
        use_tiles(rt, made, TILE, TILE);
        look_at_home(rt, p, made);
        return;
    }
    case 5:
        d.grid[1] = 0;
        pto_dist(rt, m, &d);
        break;
    case 6:
        pto_dist(rt, m, &d);
        for (int64_t n = 0; n < 30; n++) {
            PTOTaskParam to_rank[] = {PTO_AT(n - 7), PTO_SCALAR(n)};
            PTOTaskParam to_home[] = {PTO_AT_HOME(m, 2 * TILE * SIDE + n, PTO_F64), PTO_SCALAR(n)};
            PTOTaskParam nowhere[] = {PTO_AT_HOME(NULL, n, PTO_F64), PTO_INOUT(m, 0, PTO_ARRAY(PTO_F64, 1))};
            PTOTaskParam *const params[] = {to_rank, to_home, nowhere};
            for (int k = 0; k < 3; k++)
                if (pto_submit_task(rt, &counts, params[k], 2) < 0) return;
        }
        break;
    case 7:
        pto_bands(rt, m, PTO_F64, 2, (int64_t[]){SIDE, SIDE});
        use_tiles(rt, m, TILE, TILE);
        break;
    case 8: pto_bands(rt, m, PTO_F64, PTO_MAX_RANK + 1, (int64_t[]){SIDE, SIDE}); break;
    case 9: pto_bands(rt, m, PTO_F64, 2, NULL); break;
    case 10: /* a tile that is all of it */
        pto_dist(rt, m, &(PTODist){PTO_F64, 2, {SIDE, SIDE}, {SIDE, SIDE}, {0}, true});
        use_tiles(rt, m, TILE, TILE);
        break;
    case 11: pto_bands(rt, m, PTO_F64, 2, (int64_t[]){SIDE + more, SIDE}); break;
    case 12: pto_submit_task(rt, &counts, (PTOTaskParam[]){PTO_INOUT(m, 0, PTO_ARRAY(PTO_F64, SIDE))}, 1); break;
    }
    look_at_home(rt, p, m);
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct program p = {.shared = arg, .matrix = matrix, .rank = rank};
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, &ranks, NULL);
    if (!rt) return 1;
    executed = 0;
    p.shared->status[rank] = pto_runtime_run(rt, orchestrate, &p);
    p.shared->tasks[rank] = executed;
    p.shared->messages[rank] = rt->dist->transfers.messages;
    snprintf(p.shared->text[rank], sizeof p.shared->text[rank], "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return 0;
}

static struct shared *run(int number, int ranks)
{
    static struct shared *s;
    if (!s) s = ranks_share(sizeof *s);
    *s = (struct shared){.number = number};
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = ranks, .slots = 4}, run_rank, s), 0);
    return s;
}

static void expect_home(const struct shared *s, int ranks, int64_t rows, int64_t cols, int64_t grid_rows,
                        int64_t grid_cols)
{
    for (int k = 0; k < ranks; k++) {
        EXPECT_EQ(s->status[k], PTO_OK);
        EXPECT_EQ(s->home[k].rank, 2);
        EXPECT_EQ(s->home[k].shape[0], SIDE);
        EXPECT_EQ(s->home[k].shape[1], SIDE);
        EXPECT_EQ(s->home[k].cell[0], rows);
        EXPECT_EQ(s->home[k].cell[1], cols);
        EXPECT_EQ(s->home[k].grid[0], grid_rows);
        EXPECT_EQ(s->home[k].grid[1], grid_cols);
    }
}

TEST(cells_are_as_large_as_the_first_piece_and_the_grid_is_as_square_as_possible)
{
    const struct shared *s = run(0, 6);
    expect_home(s, 6, TILE, TILE, 2, 3);
    EXPECT_EQ(s->tasks[0], 4); /* columns 0 and 3 of rows 0 and 2 */
    EXPECT_EQ(s->tasks[5], 2);
    expect_home(run(0, 4), 4, TILE, TILE, 2, 2);
    expect_home(run(0, 3), 3, TILE, TILE, 1, 3);
    expect_home(run(1, 3), 3, (SIDE + 2) / 3, SIDE, 3, 1); /* a task names all of it: bands */
}

TEST(the_program_says_where_cells_live_before_the_first_use)
{
    const struct shared *s = run(2, 3); /* the second time, and what is no first byte, is ignored */
    expect_home(s, 3, TILE, SIDE, 3, 1);
    EXPECT_EQ(s->tasks[0], 2 * TILES);
    EXPECT_EQ(s->tasks[1], TILES);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->messages[k], 0);
    expect_home(run(3, 3), 3, TILE, TILE, 1, 3);
    expect_home(run(4, 3), 3, (SIDE + 2) / 3, SIDE, 3, 1);
    expect_home(run(7, 3), 3, (SIDE + 2) / 3, SIDE, 3, 1);
    s = run(10, 3); /* one rank has it */
    expect_home(s, 3, SIDE, SIDE, 1, 1);
    EXPECT_EQ(s->tasks[0], TILES * TILES);
}

/* Whose cells, and all that is asked of them, are alike. */
TEST(arrays_of_other_sizes_are_a_disagreement)
{
    const struct shared *s = run(11, 3);
    for (int k = 0; k < 3; k++) {
        EXPECT_EQ(s->status[k], PTO_ERR_STATE);
        EXPECT(strstr(s->text[k], "ranks 0 and 1 disagree at step 0 of the program: the extent of dimension 0 is 16 "
                                  "and 17; what it does"));
    }
    s = run(12, 3);
    for (int k = 0; k < 3; k++) {
        EXPECT_EQ(s->status[k], PTO_ERR_STATE);
        EXPECT(strstr(s->text[k], "disagree at step 0 of the program"));
    }
}

TEST(a_distribution_that_is_none_is_refused_on_one_rank_too)
{
    const struct shared *s = run(5, 3);
    static double matrix[CELLS];
    struct program p = {.shared = (struct shared *)(uintptr_t)s, .matrix = matrix};
    for (int k = 0; k < 3; k++) {
        EXPECT_EQ(s->status[k], PTO_ERR_ARGUMENT);
        EXPECT(strstr(s->text[k], "error[E15]: the number 0 for dimension 1 of a distribution must be at least 1") !=
               NULL);
    }
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &p), PTO_ERR_ARGUMENT);
    for (p.shared->number = 8; p.shared->number <= 9; p.shared->number++) {
        EXPECT_EQ(pto_runtime_run(rt, orchestrate, &p), PTO_ERR_ARGUMENT);
        EXPECT(strstr(pto_last_error(rt), "no distribution of 1 to"));
    }
    p.shared->number = 6;
    executed = 0;
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &p), PTO_OK);
    EXPECT_EQ(executed, 90);
    EXPECT_EQ(pto_ranks(rt), 1);
    pto_runtime_destroy(rt);
}

TEST(a_task_runs_where_the_program_says)
{
    const struct shared *s = run(6, 3);
    EXPECT_EQ(s->tasks[0], 10 + 30); /* the first byte of the matrix */
    EXPECT_EQ(s->tasks[1], 10);
    EXPECT_EQ(s->tasks[2], 10 + 30); /* the third band */
}
