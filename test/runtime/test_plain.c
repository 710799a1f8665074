/* test_plain.c - a deferred task that is submitted in one pass (submit/plain.c) is the task that the other way makes.
 * Method     each program runs twice: in a run that is metered no task is plain.  A gate holds the worker up until all
 *            is submitted, so that the number of edges is that of the program. */
#define PTO_INLINE_SUBMITS 1 /* with a sanitizer, too */
#include "submit.h"
#include "unit.h"
#include "shared/atomics.h"
#include <pto/pto_program.h>
#include <string.h>
#include <time.h>

enum { SIDE = 16, TASKS = 300, SLOTS = 12, ROUNDS = 40 };

static double matrix[SIDE][SIDE], input[SIDE][SIDE];
static double pool[2 + 2 * SIDE][SIDE]; /* two rows, and two arrays that are registered */
static uint64_t seen[TASKS];            /* by task: what its kernel was given */
static _Atomic int is_open, is_held;    /* the gate; the worker waits at it */
static uint64_t state;                  /* of the random numbers */

static uint64_t mix(uint64_t h, uint64_t n)
{
    h = (h ^ n) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static int64_t below(int64_t n)
{
    state = mix(state + 1, 77);
    return (int64_t)(state >> 8) % n;
}

static int wait_at_gate(const PTOArg *a)
{
    (void)a;
    store_release(&is_held, 1, GATE);
    while (!load_acquire(&is_open, GATE)) pto_relax();
    return 0;
}
static const PTOKernel gate = {.name = "gate", .worker = PTO_WORKER_VECTOR, .fn = wait_at_gate};

/* Reads and writes whatever it is given, whose number is the last; the order of tasks shows in all results. */
static int touch(const PTOArg *a)
{
    uint64_t h = 1;
    for (;; a++) {
        h = mix(mix(mix(h, a->kind), a->type), a->rank);
        if (a->kind == PTO_PARAM_SCALAR) break;
        for (int d = 0; d < a->rank; d++) h = mix(mix(h, (uint64_t)a->shape[d]), (uint64_t)a->stride[d]);
        const int64_t step = a->rank == 2 ? a->stride[1] : 1, rows = a->rank == 2 ? a->shape[0] : 1,
                      row = a->rank == 2 ? a->stride[0] : 0,
                      n = a->rank == 2          ? a->shape[1]
                          : a->type == PTO_BYTE ? a->shape[0] / 8
                                                : a->shape[0];
        const int64_t column = a->rank == 2 ? step : a->type == PTO_BYTE ? 1 : a->stride[0];
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < n; j++) {
                double *const x = (double *)a->ptr + i * row + j * column;
                if (a->kind == PTO_PARAM_INPUT || a->kind == PTO_PARAM_INOUT) h = mix(h, (uint64_t)(int64_t)*x);
                if (a->kind == PTO_PARAM_ACC)
                    *x += 1;
                else if (a->kind != PTO_PARAM_INPUT)
                    *x = (double)(h >> 40);
            }
    }
    if (a->value.i64 >= 0) seen[a->value.i64] = h;
    return 0;
}
static const PTOKernel touching = {.name = "touching", .worker = PTO_WORKER_VECTOR, .fn = touch};

/* ---- random programs --------------------------------------------------------------------------------------------- */

/* Extents of a parameter live until its submit. */
struct extents {
    int64_t shape[2], stride[2];
};

/* Some part of a square of that many columns. */
static PTOTaskParam any_part(void *base, int64_t side, struct extents *e, int kind)
{
    PTOTaskParam p = {.kind = (uint8_t)kind, .type = PTO_F64, .buffer = base, .shape = e->shape, .stride = e->stride};
    const int64_t i = below(side), j = below(side), rows = 1 + below(side - i), columns = 1 + below(side - j);
    p.at = i * side + j;
    switch (below(6)) {
    case 0: /* a flat range */
        p.type = PTO_BYTE;
        p.shape = p.stride = NULL;
        p.bytes = 8 * side;
        p.at = i;
        break;
    case 1: /* a piece of a row, */
        p.rank = 1;
        e->shape[0] = columns;
        p.stride = NULL;
        break;
    case 2: /* and of a column */
        p.rank = 1;
        e->shape[0] = rows;
        e->stride[0] = side;
        break;
    case 3: /* whole rows */
        p.rank = 2;
        e->shape[0] = rows, e->shape[1] = side;
        p.at = i * side;
        p.stride = NULL;
        break;
    default: /* a tile */
        p.rank = 2;
        e->shape[0] = rows, e->shape[1] = columns;
        e->stride[0] = side, e->stride[1] = 1;
    }
    return p;
}

static int any_kind(void) { return below(8) == 0 ? PTO_PARAM_ACC : PTO_PARAM_INPUT + (int)below(3); }

static void submit_any(PTORuntime *rt, void **slot, int64_t number)
{
    PTOTaskParam p[11];
    struct extents e[8];
    int n = 0, tensors = 1 + (int)below(below(10) == 0 ? 8 : 3);
    if (below(4) == 0) p[n++] = (PTOTaskParam)PTO_PRIORITY(below(3) - 1);
    if (below(8) == 0) p[n++] = (PTOTaskParam)PTO_NAME("x");
    bool makes = false;
    for (int i = 0; i < tensors; i++) {
        void **const s = &slot[below(SLOTS)];
        const int kind = any_kind();
        if (below(3) == 0) {
            p[n++] = any_part(matrix, SIDE, &e[i], kind);
        } else if (below(4) == 0) {
            const bool writes = below(30) == 0 && number > TASKS / 2; /* which waits for all */
            p[n++] = any_part(input, SIDE, &e[i], writes ? PTO_PARAM_INOUT : PTO_PARAM_INPUT);
        } else if (!*s) {
            if (makes) continue;
            makes = true;
            p[n++] = (PTOTaskParam)PTO_OUTPUT(s, 0, 128);
        } else {
            p[n++] = any_part(*s, 4, &e[i], kind);
        }
        if (p[n - 1].kind == PTO_PARAM_OUTPUT && p[n - 1].buffer) { /* its base is in a variable */
            static void *base[8];
            base[i] = p[n - 1].buffer;
            p[n - 1].ref = &base[i];
        }
    }
    p[n++] = (PTOTaskParam)PTO_SCALAR(number);
    EXPECT((pto_submit_task)(rt, &touching, p, n) >= 0);
}

/* The same of submits that are inlined, of which the C compiler knows all but the addresses. */
static void submit_inlined(PTORuntime *rt, void **slot, int64_t number)
{
    void **const s = &slot[below(SLOTS)], *base = matrix;
    const int64_t row = below(4) * 4 * SIDE, tile = row + below(4) * 4, column = below(SIDE);
#define TILE PTO_STRIDED(PTO_F64, (4, 4), (SIDE, 1))
#define LAST PTO_SCALAR(number)
    switch (below(7)) {
    case 0:
        SUBMIT(rt, &touching, PTO_INPUT(base, row, PTO_ARRAY(PTO_F64, SIDE)), PTO_INOUT(base, tile, TILE), LAST);
        break;
    case 1: SUBMIT(rt, &touching, PTO_OUTPUT(&base, column, PTO_STRIDED(PTO_F64, (SIDE), (SIDE))), LAST); break;
    case 2: SUBMIT(rt, &touching, PTO_NAME("x"), PTO_INPUT(input, row, TILE), PTO_ACC(base, tile, TILE), LAST); break;
    case 3: SUBMIT(rt, &touching, PTO_PRIORITY(below(3)), PTO_INOUT(base, row / SIDE, 8 * SIDE), LAST); break;
    case 4: SUBMIT(rt, &touching, PTO_INPUT(base, row, PTO_ARRAY(PTO_F64, 4, SIDE)), LAST); break;
    case 5:
        if (*s) pto_release(rt, *s);
        *s = NULL;
        SUBMIT(rt, &touching, PTO_INPUT(base, tile, TILE), PTO_OUTPUT(s, 0, PTO_ARRAY(PTO_F64, 4, 4)), LAST);
        break;
    default:
        if (!*s) SUBMIT(rt, &touching, PTO_OUTPUT(s, 0, 128), LAST);
        SUBMIT(rt, &touching, PTO_INOUT(*s, 8, PTO_ARRAY(PTO_F64, 8)), PTO_INPUT(*s, 0, 32), LAST);
    }
#undef TILE
#undef LAST
}

/* A tile of one of the arrays of `pool`, in a tiling of that array; rarely none. */
static PTOTaskParam any_tile(struct extents *e, bool may_join)
{
    const int which = (int)below(2);
    const int64_t rows = which ? 2 : 4, columns = below(25) == 0 ? 3 : 4;
    PTOTaskParam p = {.type = PTO_F64, .rank = 2, .shape = e->shape, .stride = e->stride};
    *e = (struct extents){{rows, columns}, {SIDE, 1}};
    p.kind = below(40) == 0 ? PTO_PARAM_ACC : below(3) == 0 ? PTO_PARAM_INOUT : PTO_PARAM_INPUT;
    p.buffer = pool[2 + which * SIDE];
    p.at = rows * SIDE * below(SIDE / rows) + 4 * below(SIDE / 4);
    if (may_join && below(60) == 0) { /* with the two rows before it, which are another buffer until then */
        p.buffer = pool[0];
        e->shape[0] = 4;
        p.at = 0;
    }
    return p;
}

/* Accesses that are in tables and views that are known, and tasks that are seen not to be plain when some of their
 * tiles are taken. */
static void submit_tiles(PTORuntime *rt, void **slot, int64_t number)
{
    static const PTOKernel again = {.name = "again", .worker = PTO_WORKER_VECTOR, .fn = touch};
    static const int64_t cube[] = {2, 1, 1};
    PTOTaskParam p[8];
    struct extents e[6];
    int n = 0;
    for (const int tensors = 1 + (int)below(4); n < tensors; n++) {
        p[n] = any_tile(&e[n], number > TASKS * 2 / 3);
        if (n > 0 && p[n].kind < p[n - 1].kind) p[n].kind = p[n - 1].kind; /* of a tile, reads come before writes */
    }
    if (below(6) == 0) {
        p[n] = any_part(matrix, SIDE, &e[n], below(2) ? PTO_PARAM_INPUT : PTO_PARAM_INOUT);
        n++;
    }
    if (below(8) == 0) /* too many dimensions */
        p[n++] = (PTOTaskParam){.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 3, .buffer = matrix, .shape = cube};
    if (!*slot && below(10) == 0) p[n++] = (PTOTaskParam)PTO_OUTPUT(slot, 0, 128);
    p[n++] = (PTOTaskParam)PTO_SCALAR(number);
    EXPECT((pto_submit_task)(rt, below(2) ? &touching : &again, p, n) >= 0);
}

static void (*submit_next)(PTORuntime *rt, void **slot, int64_t number);
static bool has_gate;
static int64_t edges; /* of the first half, while nothing has completed */

static void any_program(PTORuntime *rt, void *arg)
{
    void *slot[SLOTS] = {0};
    (void)arg;
    store_release(&is_open, !has_gate, GATE);
    store_release(&is_held, 0, GATE);
    edges = 0;
    pto_input(rt, input, sizeof input);
    pto_buffer(rt, matrix, sizeof matrix);
    for (int k = 0; k < 2; k++) pto_buffer(rt, pool[2 + k * SIDE], sizeof matrix);
    SUBMIT(rt, &gate, PTO_SCALAR((int64_t)0));
    while (has_gate && !load_acquire(&is_held, GATE)) pto_relax(); /* a task with a priority would come first */
    for (int64_t i = 0; i < TASKS; i++) {
        if (has_gate && i == TASKS / 2) {
            edges = pto_get_run_stats(rt)->edges;
            store_release(&is_open, 1, GATE);
        }
        submit_next(rt, slot, i);
        void **const s = &slot[below(SLOTS)];
        if (*s && below(5) == 0) {
            pto_release(rt, *s);
            *s = NULL;
        }
    }
}

struct results {
    uint64_t seen[TASKS];
    double matrix[SIDE][SIDE], input[SIDE][SIDE];
    int64_t tasks, allocations, edges;
};

static void run_program(PTORuntime *rt, uint64_t seed, struct results *to)
{
    state = seed;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) matrix[i][j] = i, input[i][j] = j;
    memset(pool, 0, sizeof pool);
    EXPECT_EQ(pto_run_entry(rt, any_program, NULL), PTO_OK);
    memcpy(to->seen, seen, sizeof seen);
    memcpy(to->matrix, matrix, sizeof matrix);
    memcpy(to->input, input, sizeof input);
    const PTORunStats *s = pto_get_run_stats(rt);
    to->tasks = s->tasks;
    to->allocations = s->allocations;
    to->edges = edges;
}

static PTORuntime *create(PTOConfig c, bool is_metered)
{
    c.always_defer = true;
    c.time_causes = is_metered;
    c.workers[PTO_WORKER_VECTOR] = 1;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    return rt;
}

static void expect_same(PTOConfig c, uint64_t first_seed)
{
    static struct results one_pass, other;
    PTORuntime *const plain = create(c, false), *const metered = create(c, true);
    for (uint64_t seed = first_seed; seed < first_seed + ROUNDS; seed++) {
        run_program(plain, seed, &one_pass);
        run_program(metered, seed, &other);
        EXPECT(memcmp(&one_pass, &other, sizeof other) == 0);
        EXPECT(!has_gate || one_pass.edges > TASKS / 2);
    }
    pto_runtime_destroy(plain);
    pto_runtime_destroy(metered);
}

TEST(the_same_arguments_results_and_edges)
{
    has_gate = true;
    submit_next = submit_any;
    expect_same((PTOConfig){.engine = PTO_ENGINE_THREADS}, 1);
}

TEST(the_same_of_submits_that_are_inlined)
{
    has_gate = true;
    submit_next = submit_inlined;
    expect_same((PTOConfig){.engine = PTO_ENGINE_THREADS}, 500);
}

TEST(the_same_of_tiles)
{
    has_gate = true;
    submit_next = submit_tiles;
    expect_same((PTOConfig){.engine = PTO_ENGINE_THREADS}, 4000);
    has_gate = false;
    expect_same((PTOConfig){.engine = PTO_ENGINE_SERIAL, .task_window = 16, .tensormap_entries = 16}, 5000);
}

TEST(the_same_results_where_rings_are_full)
{
    has_gate = false;
    submit_next = submit_any;
    expect_same((PTOConfig){.engine = PTO_ENGINE_THREADS, .task_window = 2, .deplist_entries = 2}, 1000);
    expect_same(
        (PTOConfig){.engine = PTO_ENGINE_THREADS, .task_window = 64, .deplist_entries = 4, .tensormap_entries = 8},
        2000);
    expect_same((PTOConfig){.engine = PTO_ENGINE_SERIAL, .task_window = 16, .heap_bytes = 1024, .heap_rings = 2}, 3000);
}

/* ---- what is remembered of a buffer ------------------------------------------------------------------------------ */

#define ROWS(n) PTO_ARRAY(PTO_F64, n, SIDE)

/* Of the tile that a task writes, the table is closed by the look-up of its next parameter, which joins two arrays. */
static void write_and_join(PTORuntime *rt, void *arg)
{
    double *const array = pool[2], *const next = pool[6];
    (void)arg;
    store_release(&is_open, 0, GATE);
    store_release(&is_held, 0, GATE);
    pto_buffer(rt, array, sizeof(double[4][SIDE]));
    pto_buffer(rt, next, sizeof(double[4][SIDE]));
    for (int i = 0; i < 2; i++) SUBMIT(rt, &touching, PTO_INOUT(array, 0, ROWS(2)), PTO_SCALAR((int64_t)-1));
    EXPECT_EQ(pto_await(rt, array, 0, sizeof(double[4][SIDE])), PTO_OK);
    for (int i = 0; i < 40; i++) SUBMIT(rt, &touching, PTO_SCALAR((int64_t)-1)); /* the map sees that both have ended */
    SUBMIT(rt, &gate, PTO_SCALAR((int64_t)0));
    while (!load_acquire(&is_held, GATE)) pto_relax();
    const int64_t before = pto_get_run_stats(rt)->edges;
    SUBMIT(rt, &touching, PTO_INOUT(array, 2 * SIDE, ROWS(2)), PTO_INPUT(pool[0], 0, ROWS(8)), PTO_SCALAR((int64_t)-1));
    SUBMIT(rt, &touching, PTO_INPUT(array, 2 * SIDE, ROWS(2)), PTO_SCALAR((int64_t)-1));
    EXPECT_EQ(pto_get_run_stats(rt)->edges - before, 1);
    store_release(&is_open, 1, GATE);
}

TEST(a_tile_is_written_in_a_table_that_the_same_task_closes)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_THREADS}, false);
    EXPECT_EQ(pto_runtime_run(rt, write_and_join, NULL), PTO_OK);
    pto_runtime_destroy(rt);
}

static _Atomic int is_read;

static int read_late(const PTOArg *a)
{
    (void)a;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    store_release(&is_read, 1, GATE);
    return 0;
}
static const PTOKernel late = {.name = "late", .worker = PTO_WORKER_VECTOR, .fn = read_late};

/* Some rows of a registered array are only read, until a task writes them. */
static void write_what_is_only_read(PTORuntime *rt, void *arg)
{
    double *const array = pool[2];
    (void)arg;
    store_release(&is_read, 0, GATE);
    pto_buffer(rt, array, sizeof matrix);
    pto_input(rt, array + 4 * SIDE, sizeof(double[4][SIDE]));
    for (int i = 0; i < 3; i++) SUBMIT(rt, &touching, PTO_INOUT(array, 0, ROWS(4)), PTO_SCALAR((int64_t)-1));
    SUBMIT(rt, &late, PTO_INPUT(array, 4 * SIDE, ROWS(4)));
    SUBMIT(rt, &touching, PTO_INOUT(array, 4 * SIDE, ROWS(4)), PTO_SCALAR((int64_t)-1));
    EXPECT(load_acquire(&is_read, GATE) == 1);
}

TEST(rows_that_are_only_read_are_written_when_all_have_read_them)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_THREADS}, false);
    EXPECT_EQ(pto_run_entry(rt, write_what_is_only_read, NULL), PTO_OK);
    pto_runtime_destroy(rt);
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* Between plain tasks stand some with up to 63 tensors, which a plain task's look at the rings did not count. */
static void submit_sizes(PTORuntime *rt, void *arg)
{
    static PTOTaskParam p[64];
    static struct extents e[64];
    (void)arg;
    pto_buffer(rt, matrix, sizeof matrix);
    for (int i = 0; i < 4000; i++) {
        const int tensors = 1 + (int)below(below(4) == 0 ? 63 : 8);
        for (int k = 0; k < tensors; k++) p[k] = any_part(matrix, SIDE, &e[k], PTO_PARAM_INPUT);
        p[tensors] = (PTOTaskParam)PTO_SCALAR((int64_t)-1);
        EXPECT((pto_submit_task)(rt, &touching, p, tensors + 1) >= 0);
    }
}

TEST(there_is_room_for_plain_tasks_among_larger_ones)
{
    static const int64_t window[] = {2, 16, 64, 1024};
    for (int i = 0; i < 4; i++) {
        PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_THREADS, .task_window = window[i]}, false);
        EXPECT_EQ(pto_run_entry(rt, submit_sizes, NULL), PTO_OK); /* a build with CHECK compares each answer */
        pto_runtime_destroy(rt);
    }
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void *out;
static const int64_t small[] = {4, 4}, large[] = {5, 4}, negative[] = {-1, 4}, empty[] = {0, 4}, broad[] = {8, 2},
                     columns[] = {1, 4}, overlapping[] = {2, 1}, huge[] = {INT64_MAX, INT64_MAX},
                     least[] = {INT64_MIN, INT64_MIN};

static const struct {
    const char *what;
    PTOTaskParam p;
} mistakes[] = {
    {"beyond its buffer", {.kind = PTO_PARAM_INOUT, .type = PTO_F64, .rank = 2, .shape = large}},
    {"behind its buffer", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = small, .at = 1}},
    {"before its buffer", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = small, .at = -1}},
    {"strides beyond it", {.kind = PTO_PARAM_ACC, .type = PTO_F64, .rank = 2, .shape = small, .stride = broad}},
    {"a flat range beyond it", {.kind = PTO_PARAM_INPUT, .bytes = 128, .at = 1}},
    {"a flat range of no bytes", {.kind = PTO_PARAM_INPUT, .bytes = 0, .at = 1}},
    {"a negative range", {.kind = PTO_PARAM_INPUT, .bytes = -8}},
    {"a negative extent", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = negative}},
    {"an empty view", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = empty}},
    {"an extent that is huge", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 1, .shape = huge, .stride = huge}},
    {"extents that are huge", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = huge}},
    {"strides that are huge", {.kind = PTO_PARAM_INOUT, .type = PTO_F64, .rank = 2, .shape = small, .stride = huge}},
    {"strides that are least", {.kind = PTO_PARAM_INOUT, .type = PTO_F64, .rank = 2, .shape = small, .stride = least}},
    {"extents that are least", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2, .shape = least, .stride = least}},
    {"an offset that is huge", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 1, .shape = small, .at = INT64_MAX}},
    {"a huge range", {.kind = PTO_PARAM_INPUT, .bytes = INT64_MAX, .at = INT64_MAX}},
    {"no shape", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .rank = 2}},
    {"no type", {.kind = PTO_PARAM_INPUT, .type = PTO_TYPE_COUNT, .rank = 2, .shape = small}},
    {"a type without a shape", {.kind = PTO_PARAM_INPUT, .type = PTO_F64, .bytes = 8}},
    {"no variable", {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small}},
    {"a new output with an offset",
     {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small, .ref = &out, .at = 4}},
    {"a new output with gaps",
     {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small, .stride = broad, .ref = &out}},
    {"a new output by columns",
     {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small, .stride = columns, .ref = &out}},
    {"a new output whose rows overlap",
     {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small, .stride = overlapping, .ref = &out}},
    {"a new output of a scope that is closed",
     {.kind = PTO_PARAM_OUTPUT, .type = PTO_F64, .rank = 2, .shape = small, .ref = &out, .scope = 12345, .name = "&x"}},
    {"too large an output", {.kind = PTO_PARAM_OUTPUT, .bytes = 1 << 29, .ref = &out, .name = "&x"}},
    {"no kind", {.kind = 0}},
    {"a kind of later", {.kind = PTO_PARAM_ACC_BY + 1}},
    {"a time limit of nothing", {.kind = PTO_PARAM_TIMEOUT}},
};

enum { MISTAKES = sizeof mistakes / sizeof mistakes[0], DANGLING = MISTAKES, NO_KERNEL, NO_BASE, WAYS };

static int nothing(const PTOArg *a)
{
    (void)a;
    return 0;
}
static const PTOKernel idle = {.name = "idle", .worker = PTO_WORKER_VECTOR, .fn = nothing};

static void make_mistake(PTORuntime *rt, void *arg)
{
    const int which = *(int *)arg;
    void *x = NULL;
    out = NULL;
    SUBMIT(rt, &idle, PTO_OUTPUT(&x, 0, PTO_ARRAY(PTO_F64, 4, 4)));
    PTOTaskParam p[2] = {PTO_INOUT(x, 0, 128), PTO_INPUT(x, 0, 128)};
    if (which < MISTAKES) {
        p[1] = mistakes[which].p;
        if (p[1].kind != PTO_PARAM_OUTPUT) p[1].buffer = x;
    }
    if (which == DANGLING) pto_release(rt, x);
    if (which == NO_BASE) p[1].buffer = NULL;
    (pto_submit_task)(rt, which == NO_KERNEL ? NULL : &idle, p, 2);
}

TEST(mistakes_have_the_same_message)
{
    PTORuntime *const plain = create((PTOConfig){.engine = PTO_ENGINE_SERIAL}, false),
                      *const metered = create((PTOConfig){.engine = PTO_ENGINE_SERIAL}, true);
    for (int i = 0; i < WAYS; i++) {
        const PTOStatus one_pass = pto_runtime_run(plain, make_mistake, &i),
                        other = pto_runtime_run(metered, make_mistake, &i);
        EXPECT_EQ(one_pass, other);
        assert_string_equal(pto_last_error(plain), pto_last_error(metered));
    }
    pto_runtime_destroy(plain);
    pto_runtime_destroy(metered);
}
