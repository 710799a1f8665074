/* test_placement.c - tasks that write only new buffers run on the rank where these are read. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"

enum { SIDE = 16, TILE = 4, TILES = SIDE / TILE, CELLS = SIDE * SIDE, PIECE = TILE * TILE };

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
static const PTOKernel makes = {.name = "make", .worker = PTO_WORKER_VECTOR, .fn = make};
static const PTOKernel adds = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};

static int64_t tile(int64_t i, int64_t j) { return i * TILE * SIDE + j * TILE; }

static void *made_of(PTORuntime *rt, void *from, int64_t at, bool is_tile, int64_t number)
{
    void *made = NULL;
    PTOTaskParam params[] = {is_tile ? (PTOTaskParam)PTO_INPUT(from, at, PTO_STRIDED(PTO_F64, (TILE, TILE), (SIDE, 1)))
                                     : (PTOTaskParam)PTO_INPUT(from, 0, PTO_ARRAY(PTO_F64, TILE, TILE)),
                             PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F64, TILE, TILE)), PTO_SCALAR(number),
                             PTO_NAME("made")};
    const int64_t id = pto_submit_task(rt, &makes, params, 4);
    if (id < 0 || pto_task_get_output(rt, id, 0) != made) _exit(4);
    return made;
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
        pto_scope_begin(rt);
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
                              .heap_bytes = 1 << 16,
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

TEST(results_do_not_depend_on_what_was_held_back)
{
    for (int number = 1; number <= 4; number++)
        for (int ranks = 2; ranks <= 3; ranks++)
            for (int is_serial = 0; is_serial < 2; is_serial++) run(number, ranks, is_serial);
}
