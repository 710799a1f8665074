/* test_placement.c - tasks that write only new buffers run on the rank where these are read. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"

enum { SIDE = 16, TILE = 4, TILES = SIDE / TILE, CELLS = SIDE * SIDE, PIECE = TILE * TILE, HEAP = 1 << 16 };

struct shared {
    int number; /* of the test */
    bool is_serial;
    double matrix[CELLS];
    int64_t tasks[MOST_RANKS], messages[MOST_RANKS];
};

struct program {
    struct shared *shared;
    double *a, *c;
};

static _Atomic int64_t executed;

/* in tile, out tile of a buffer, scalar */
static int make(const PTOArg *a)
{
    for (int64_t i = 0; i < TILE; i++)
        for (int64_t j = 0; j < TILE; j++)
            ((double *)a[1].ptr)[i * TILE + j] = ((double *)a[0].ptr)[i * a[0].stride[0] + j] + (double)a[2].value.i64;
    executed++;
    return 0;
}
/* in tile of a buffer, inout tile */
static int add(const PTOArg *a)
{
    for (int64_t i = 0; i < TILE; i++)
        for (int64_t j = 0; j < TILE; j++)
            ((double *)a[1].ptr)[i * a[1].stride[0] + j] += ((double *)a[0].ptr)[i * TILE + j];
    executed++;
    return 0;
}
/* in tile, out f64[n] of which only the first is written */
static int copy_one(const PTOArg *a)
{
    *(double *)a[1].ptr = *(const double *)a[0].ptr;
    executed++;
    return 0;
}
static const PTOKernel copies_one = {.name = "copy_one", .worker = PTO_WORKER_VECTOR, .fn = copy_one};
static const PTOKernel makes = {.name = "make", .worker = PTO_WORKER_VECTOR, .fn = make};
static const PTOKernel adds = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};

static int64_t tile(int64_t i, int64_t j) { return i * TILE * SIDE + j * TILE; }

static void *made_in(PTORuntime *rt, PTOScope scope, void *from, int64_t at, bool is_tile, int64_t number)
{
    void *made = NULL;
    PTOTaskParam params[] = {is_tile ? (PTOTaskParam)PTO_INPUT(from, at, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1)))
                                     : (PTOTaskParam)PTO_INPUT(from, 0, PTO_ARRAY(PTO_F64, TILE, TILE)),
                             PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, TILE, TILE)), PTO_SCALAR(number),
                             PTO_NAME("made")};
    params[1].scope = scope;
    const int64_t id = pto_submit_task(rt, &makes, params, 4);
    if (id < 0 || pto_task_get_output(rt, id, 0) != made) _exit(4);
    return made;
}

static void *made_of(PTORuntime *rt, void *from, int64_t at, bool is_tile, int64_t number)
{
    return made_in(rt, PTO_SCOPE_CURRENT, from, at, is_tile, number);
}

/* A ring of the heap, which has 4. */
static void *row_of(PTORuntime *rt, void *from, int64_t at)
{
    void *row = NULL;
    PTOTaskParam params[] = {PTO_INPUT(from, at, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1))),
                             PTO_OUTPUT(&row, 0, PTO_ARRAY(PTO_F64, HEAP / 8))};
    if (pto_submit_task(rt, &copies_one, params, 2) < 0) _exit(8);
    return row;
}

static void add_to(PTORuntime *rt, void *made, void *to, int64_t at)
{
    PTOTaskParam params[] = {PTO_INPUT(made, 0, PTO_ARRAY(PTO_F64, TILE, TILE)),
                             PTO_INOUT(to, at, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1)))};
    if (pto_submit_task(rt, &adds, params, 2) < 0) _exit(5);
}

/* Tile (i, j) of the result is made of tile (j, i), which has another home where i + j is odd. */
static void orchestrate(PTORuntime *rt, void *arg)
{
    const struct program *p = arg;
    for (int64_t n = 0; n < TILES * TILES; n++) {
        const int64_t i = n / TILES, j = n % TILES;
        const PTOScope scope = pto_scope_begin(rt);
        void *x = made_of(rt, p->a, tile(j, i), true, n);
        switch (p->shared->number) {
        case 0: add_to(rt, x, p->c, tile(i, j)); break;
        case 1: /* two buffers wait for the same task, and more than are held back follow */
            for (int k = 0; k < HELD_TASKS + 3; k++) made_of(rt, p->a, tile(j, i), true, k);
            add_to(rt, made_of(rt, x, 0, false, 3), p->c, tile(i, j));
            break;
        case 2: /* it is released before anything reads it */
            pto_release(rt, x);
            add_to(rt, made_of(rt, p->a, tile(j, i), true, 1), p->c, tile(i, j));
            break;
        case 3: /* the program waits for it */
            if (pto_await(rt, x, 0, sizeof(double)) != PTO_OK) _exit(6);
            add_to(rt, x, p->c, tile(i, j));
            break;
        case 4: /* its home is asked for */
            add_to(rt, x, p->c, tile(i, j));
            PTOTaskParam there[] = {PTO_AT_HOME(made_of(rt, p->a, tile(i, i), true, 1), 0, PTO_F64),
                                    PTO_INOUT(p->c, tile(i, j), PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1)))};
            PTOTaskParam add_itself[] = {PTO_INPUT(x, 0, PTO_ARRAY(PTO_F64, TILE, TILE)), there[1], there[0]};
            if (pto_submit_task(rt, &adds, add_itself, 3) < 0) _exit(7);
            break;
        case 5: /* a chain, whose first buffer is released and whose second belongs to a scope that has ended */
            pto_scope_begin(rt);
            void *y = made_of(rt, x, 0, false, 1);
            pto_release(rt, x);
            void *z = made_in(rt, scope, y, 0, false, 2);
            pto_scope_end(rt);
            add_to(rt, z, p->c, tile(i, j));
            break;
        case 6: /* released buffers would fill the heap if they waited */
            for (int k = 0; k < HELD_TASKS - 2; k++) pto_release(rt, row_of(rt, p->a, tile(j, i)));
            add_to(rt, x, p->c, tile(i, j));
            break;
        }
        pto_scope_end(rt);
    }
}

static void fill(struct program *p)
{
    for (int64_t k = 0; k < CELLS; k++) p->a[k] = (double)(k % 37), p->c[k] = (double)(k % 11);
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double a[CELLS], c[CELLS];
    struct program p = {.shared = arg, .a = a, .c = c};
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const PTOConfig config = {.engine = p.shared->is_serial ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS,
                              .task_window = p.shared->is_serial ? 0 : 2,
                              .heap_bytes = HEAP,
                              .workers = {1, 1, 1, 1}};
    PTORuntime *rt = ptoi_create_ranked(&config, &ranks, NULL);
    const struct distribution d = {
        .rank = 2, .unit = 8, .shape = {SIDE, SIDE}, .cell = {TILE, TILE}, .grid = {1, w->ranks}};
    fill(&p);
    executed = 0;
    if (!rt || ptoi_dist_distribute(rt->dist, a, &d) != PTO_OK || ptoi_dist_distribute(rt->dist, c, &d) != PTO_OK)
        return 1;
    const PTOStatus status = pto_runtime_run(rt, orchestrate, &p);
    if (status != PTO_OK) fprintf(stderr, "rank %d: %s\n", rank, pto_last_error(rt));
    for (int64_t k = 0; k < CELLS; k++)
        if (ptoi_home_of(&d, w->ranks, (int64_t[]){k / SIDE, k % SIDE}) == rank) p.shared->matrix[k] = c[k];
    p.shared->tasks[rank] = executed;
    p.shared->messages[rank] = rt->dist->transfers.messages;
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

/* The results are those of one rank.  Returns how many messages there were. */
static int64_t run(int number, int ranks, bool is_serial)
{
    static double a[CELLS], c[CELLS];
    static struct shared *s;
    if (!s) s = ranks_share(sizeof *s);
    *s = (struct shared){.number = number, .is_serial = is_serial};
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = ranks, .slots = 4, .seed = 3, .latest = 3}, run_rank, s), 0);
    struct program alone = {.shared = s, .a = a, .c = c};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    fill(&alone);
    executed = 0;
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &alone), PTO_OK);
    pto_runtime_destroy(rt);
    int64_t tasks = 0, messages = 0;
    for (int k = 0; k < CELLS; k++) EXPECT(s->matrix[k] == c[k]);
    for (int k = 0; k < ranks; k++) tasks += s->tasks[k], messages += s->messages[k];
    EXPECT_EQ(tasks, executed);
    return messages;
}

TEST(a_new_buffer_is_made_where_it_is_read)
{
    /* A tile goes to the home of the other tile, and no buffer travels. */
    for (int is_serial = 0; is_serial < 2; is_serial++) EXPECT_EQ(run(0, 2, is_serial), TILES * TILES / 2);
}

TEST(a_chain_of_new_buffers_is_made_where_the_last_is_read)
{
    for (int is_serial = 0; is_serial < 2; is_serial++) EXPECT_EQ(run(5, 2, is_serial), TILES * TILES / 2);
}

TEST(results_do_not_depend_on_what_was_held_back)
{
    for (int number = 1; number <= 6; number++)
        for (int ranks = 2; ranks <= 3; ranks++)
            for (int is_serial = 0; is_serial < 2; is_serial++) run(number, ranks, is_serial);
}

/* ---- a release that is held back --------------------------------------------------------------------------------- */

static void misuse(PTORuntime *rt, void *arg)
{
    const struct program *p = arg;
    pto_buffer(rt, p->a, CELLS * 8);
    pto_buffer(rt, p->c, CELLS * 8);
    pto_scope_begin(rt);
    void *x = NULL;
    PTOTaskParam params[] = {PTO_INPUT(p->a, 0, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1))),
                             PTO_OUTPUT(&x, 0, PTO_ARRAY(PTO_F64, TILE, TILE)), PTO_SCALAR(INT64_C(1))};
    const int64_t id = pto_submit_task(rt, &makes, params, 3);
    pto_release(rt, x);
    EXPECT(pto_task_get_output(rt, id, 0) == NULL);
    PTOTaskParam add[] = {PTO_INPUT(x, 0, PTO_ARRAY(PTO_F64, TILE, TILE)),
                          PTO_INOUT(p->c, 0, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1)))};
    switch (p->shared->number) {
    case 0: pto_release(rt, x); break;
    case 1: pto_submit_task(rt, &adds, add, 2); break;
    case 2:;
        void *y = NULL;
        PTOTaskParam again[] = {add[0], PTO_OUTPUT(&y, 0, PTO_ARRAY(PTO_F64, TILE, TILE)), PTO_SCALAR(INT64_C(1))};
        pto_submit_task(rt, &makes, again, 3);
        break;
    case 3: pto_await(rt, x, 0, 8); break;
    }
}

/* In one process, which plans two ranks, and on one rank. */
TEST(a_buffer_that_is_released_while_its_task_is_held_back_is_gone)
{
    static double a[CELLS], c[CELLS];
    for (int number = 0; number < 4; number++) {
        struct shared shared = {.number = number};
        struct program p = {.shared = &shared, .a = a, .c = c};
        const PTOConfig config = {.engine = PTO_ENGINE_TIMING};
        const struct dist_config ranks = {.ranks = 2, .copy_bytes = 1 << 20, .sends = 2};
        PTORuntime *const alone = pto_runtime_create(&config, NULL);
        PTORuntime *const two = ptoi_create_ranked(&config, &ranks, NULL);
        EXPECT(alone && two);
        const PTOStatus status = pto_runtime_run(alone, misuse, &p);
        EXPECT(status != PTO_OK);
        EXPECT_EQ(pto_runtime_run(two, misuse, &p), status);
        EXPECT_STR(pto_last_error(two), pto_last_error(alone));
        pto_runtime_destroy(alone);
        pto_runtime_destroy(two);
    }
}
