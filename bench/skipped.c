/* skipped.c - what a rank pays for a task that another rank executes.
 *
 * Method     this process is rank 1 of 2, and every tile lives on rank 0, so it sends, receives and executes nothing.
 *            Rank 0 is played by a wire that agrees with all that it is asked.  Tasks have one, two or three tiles of
 *            matrices that are one cell, or three of matrices whose cells are tiles, or are two with a buffer between
 *            them; the rows `loop` are loops of them that are offered in strips.  Without arguments: the best of many
 *            short rounds.  Counted (bench/instructions.py): TASKS 1 NAME ... */
#include "api/runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_COUNTED
#include "counted.h"
#endif

enum { SIDE = 512, TILE = 8, TILES = SIDE / TILE, MOST = 3 };
static float matrix[2 * MOST][SIDE * SIDE]; /* the cells of the first ones are large */

/* ---- rank 0 ------------------------------------------------------------------------------------------------------ */

static bool move(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    (void)w, (void)peer, (void)tag, (void)view, (void)count, (void)ticket;
    abort();
}

static int progress(struct wire *w, struct wire_ended *ended, int max)
{
    (void)w, (void)ended, (void)max;
    return 0;
}

static enum wire_answer reduce(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    (void)w, (void)is_last;
    memcpy(least, mine, WIRE_REDUCED * sizeof *mine);
    memcpy(most, mine, WIRE_REDUCED * sizeof *mine);
    return WIRE_DONE;
}

static bool listen(struct wire *w, struct wire_failure *failure)
{
    (void)w, (void)failure;
    return false;
}

static bool give_status(struct wire *w, int32_t to, const struct wire_status *status)
{
    (void)w, (void)to, (void)status;
    return true;
}

static bool hear_status(struct wire *w, struct wire_status *status)
{
    (void)w, (void)status;
    return false;
}

static void nothing(struct wire *w) { (void)w; }

static const struct wire_ops ops = {.begin = nothing,
                                    .send = move,
                                    .receive = move,
                                    .progress = progress,
                                    .cancel = nothing,
                                    .renew = nothing,
                                    .reduce = reduce,
                                    .listen = listen,
                                    .give_status = give_status,
                                    .hear_status = hear_status};

/* ---- the program ------------------------------------------------------------------------------------------------- */

static int never(const PTOArg *args)
{
    (void)args;
    abort();
}

static const PTOSiteLine sites[] = {{.site = {.text = "first"}}, {.site = {.text = "second"}}};

/* The tile of number n, in row-major order. */
static inline int64_t tile(int64_t n) { return n / TILES % TILES * TILE * SIDE + n % TILES * TILE; }
#define AT(kind, which, at)     kind(matrix[which], at, PTO_STRIDED(PTO_F32, (TILE, TILE), (SIDE, 1)))
#define TILE_OF(kind, which, n) AT(kind, which, tile(n))
enum { DOWN = TILE * SIDE, RIGHT = TILE }; /* from a tile to the next one */

/* A row of the table: its tasks. */
typedef void tasks_fn(PTORuntime *rt, const PTOKernel *kernel, int64_t count);

static void submit(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    if (pto_submit_task(rt, kernel, params, count) < 0) exit(1);
}

static void one(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n++) submit(rt, kernel, (PTOTaskParam[]){TILE_OF(PTO_INOUT, 0, n)}, 1);
}

static void two(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        submit(rt, kernel, (PTOTaskParam[]){TILE_OF(PTO_INPUT, 1, 7 * n), TILE_OF(PTO_INOUT, 0, n)}, 2);
}

/* first: the matrix that is written. */
static inline void three_of(PTORuntime *rt, const PTOKernel *kernel, int64_t count, int first)
{
    for (int64_t n = 0; n < count; n++)
        submit(rt, kernel,
               (PTOTaskParam[]){TILE_OF(PTO_INPUT, first + 1, 7 * n), TILE_OF(PTO_INPUT, first + 2, 3 * n),
                                TILE_OF(PTO_INOUT, first, n)},
               3);
}
static void three(PTORuntime *rt, const PTOKernel *kernel, int64_t count) { three_of(rt, kernel, count, 0); }
static void cells(PTORuntime *rt, const PTOKernel *kernel, int64_t count) { three_of(rt, kernel, count, MOST); }

static const PTOKernel makes = {.name = "makes", .worker = PTO_WORKER_VECTOR, .fn = never};

/* Two tasks: one makes a buffer of two tiles, the other adds it to a third. */
static void between_at(PTORuntime *rt, const PTOKernel *kernel, int64_t left, int64_t right, int64_t to)
{
    void *made = NULL;
    pto_scope_begin(rt);
    submit(rt, &makes,
           (PTOTaskParam[]){AT(PTO_INPUT, 1, left), AT(PTO_INPUT, 2, right),
                            PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F32, TILE, TILE))},
           3);
    submit(rt, kernel, (PTOTaskParam[]){PTO_INPUT_OF(made, 0, PTO_ARRAY(PTO_F32, TILE, TILE)), AT(PTO_INOUT, 0, to)},
           2);
    pto_scope_end(rt);
}

static void between(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n++) between_at(rt, kernel, tile(7 * n), tile(3 * n), tile(n));
}

/* ---- the same in loops of TILES iterations, along a row of tiles ------------------------------------------------- */

/* params and steps: of tile k. */
#define LOOP(params, steps, count)                                                                                     \
    for (int64_t k = 0; k < TILES;) {                                                                                  \
        if (pto_takes_strips(rt) && k + 1 < TILES)                                                                     \
            k = pto_submit_strips(rt, k, TILES, 1, (PTOStripCall[]){{kernel, &sites[0], params, steps, count}}, 1);    \
        for (const int64_t end = pto_next_offer(rt, k, TILES, 1); k < end; k++) {                                      \
            pto_at(rt, &sites[0]);                                                                                     \
            submit(rt, kernel, params, count);                                                                         \
        }                                                                                                              \
    }
#define LIST(...)  ((PTOTaskParam[]){__VA_ARGS__})
#define STEPS(...) ((int64_t[]){__VA_ARGS__})

static void loop_one(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n += TILES) LOOP(LIST(TILE_OF(PTO_INOUT, 0, n + k)), STEPS(RIGHT), 1);
}

static void loop_two(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n += TILES)
        LOOP(LIST(TILE_OF(PTO_INPUT, 1, n + k), TILE_OF(PTO_INOUT, 0, n + k)), STEPS(RIGHT, RIGHT), 2);
}

static inline void loop_three_of(PTORuntime *rt, const PTOKernel *kernel, int64_t count, int first)
{
    for (int64_t n = 0; n < count; n += TILES)
        LOOP(LIST(TILE_OF(PTO_INPUT, first + 1, n), TILE_OF(PTO_INPUT, first + 2, k * TILES),
                  TILE_OF(PTO_INOUT, first, n + k)),
             STEPS(0, DOWN, RIGHT), 3);
}
static void loop_three(PTORuntime *rt, const PTOKernel *kernel, int64_t count) { loop_three_of(rt, kernel, count, 0); }
static void loop_cells(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    loop_three_of(rt, kernel, count, MOST);
}

static void loop_between(PTORuntime *rt, const PTOKernel *kernel, int64_t count)
{
    for (int64_t n = 0; n < count; n += TILES)
        for (int64_t k = 0; k < TILES;) {
            if (pto_takes_strips(rt) && k + 1 < TILES) {
                void *made = NULL;
                k = pto_submit_strips(
                    rt, k, TILES, 1,
                    (PTOStripCall[]){
                        {&makes, &sites[0],
                         LIST(TILE_OF(PTO_INPUT, 1, n), TILE_OF(PTO_INPUT, 2, k * TILES),
                              PTO_STRIP_PRIVATE(&made, 0, PTO_ARRAY(PTO_F32, TILE, TILE))),
                         STEPS(0, DOWN, 0), 3},
                        {kernel, &sites[1],
                         LIST(PTO_STRIP_INPUT(&made, 0, PTO_ARRAY(PTO_F32, TILE, TILE)), TILE_OF(PTO_INOUT, 0, n + k)),
                         STEPS(0, RIGHT), 2}},
                    2);
            }
            for (const int64_t end = pto_next_offer(rt, k, TILES, 1); k < end; k++)
                between_at(rt, kernel, tile(n), tile(k * TILES), tile(n + k));
        }
}

/* A kernel for each row, so each has what is known of its tasks. */
#define ROW(name_, tasks_)                                                                                             \
    {                                                                                                                  \
        {.name = name_, .worker = PTO_WORKER_VECTOR, .fn = never}, tasks_                                              \
    }
static const struct row {
    PTOKernel kernel;
    tasks_fn *tasks;
} rows[] = {ROW("one", one),
            ROW("two", two),
            ROW("three", three),
            ROW("cells", cells),
            ROW("between", between),
            ROW("loop-one", loop_one),
            ROW("loop-two", loop_two),
            ROW("loop-three", loop_three),
            ROW("loop-cells", loop_cells),
            ROW("loop-between", loop_between)};
enum { ROWS = sizeof rows / sizeof *rows };

struct words {
    int count;
    char **argv;
};

#ifdef BENCH_COUNTED
static void orchestrate(PTORuntime *rt, void *arg)
{
    const struct words *a = arg;
    const int64_t tasks = atoll(a->argv[1]);
    for (int i = 3; i < a->count; i++)
        for (const struct row *r = rows; r < rows + ROWS; r++) {
            char text[64];
            if (strcmp(a->argv[i], r->kernel.name) != 0) continue;
            r->tasks(rt, &r->kernel, tasks);
            counted_begin();
            r->tasks(rt, &r->kernel, tasks);
            snprintf(text, sizeof text, "%s %lld", r->kernel.name, (long long)tasks);
            counted_end(text);
        }
}
#else
static void orchestrate(PTORuntime *rt, void *arg)
{
    enum { ROUNDS = 200, TASKS = 4096 };
    (void)arg;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        double best = 1e18;
        r->tasks(rt, &r->kernel, TASKS);
        for (int round = 0; round < ROUNDS; round++) {
            struct timespec from, to;
            clock_gettime(CLOCK_MONOTONIC, &from);
            r->tasks(rt, &r->kernel, TASKS);
            clock_gettime(CLOCK_MONOTONIC, &to);
            const double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / TASKS;
            if (ns < best) best = ns;
        }
        printf("%-12s %6.1f ns\n", r->kernel.name, best);
    }
}
#endif

int main(int argc, char **argv)
{
    struct wire wire = {.rank = 1, .ranks = 2, .ops = &ops};
    const struct dist_config ranks = {.wire = &wire, .copy_bytes = 1 << 20, .sends = 2};
    struct distribution home = {.rank = 2, .unit = 4, .shape = {SIDE, SIDE}, .cell = {SIDE, SIDE}, .grid = {1, 1}};
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, &ranks, NULL);
    for (int i = 0; i < 2 * MOST; i++) {
        if (i == MOST) home.cell[0] = home.cell[1] = TILE;
        if (!rt || ptoi_dist_distribute(rt->dist, matrix[i], &home) != PTO_OK) return 1;
    }
    const PTOStatus status = pto_runtime_run(rt, orchestrate, &(struct words){argc, argv});
    if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}
