/* skipped.c - what a rank pays for a task that another rank executes.
 *
 * Method     this process is rank 1 of 2, and every tile lives on rank 0, so it sends, receives and executes nothing.
 *            Rank 0 is played by a wire that agrees with all that it is asked.  Tasks have one, two or three tiles of
 *            matrices that are one cell, or three of matrices whose cells are tiles.  Without arguments: the best of
 *            many short rounds.  Counted (bench/instructions.py): TASKS 1 NAME ... */
#include "api/runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_COUNTED
#include "counted.h"
#endif

enum { SIDE = 512, TILE = 8, TILES = SIDE / TILE, MOST = 3, ROWS = 5 };
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

/* A kernel for each number of tiles; two with a buffer between them. */
static const PTOKernel kernels[ROWS] = {{.name = "one", .worker = PTO_WORKER_VECTOR, .fn = never},
                                        {.name = "two", .worker = PTO_WORKER_VECTOR, .fn = never},
                                        {.name = "three", .worker = PTO_WORKER_VECTOR, .fn = never},
                                        {.name = "between", .worker = PTO_WORKER_VECTOR, .fn = never},
                                        {.name = "cells", .worker = PTO_WORKER_VECTOR, .fn = never}};
static const PTOKernel makes = {.name = "makes", .worker = PTO_WORKER_VECTOR, .fn = never};

static inline int64_t tile(int64_t n) { return n / TILES % TILES * TILE * SIDE + n % TILES * TILE; }

#define TILE_OF(kind, which, n) kind(matrix[which], tile(n), PTO_STRIDED(PTO_F32, (TILE, TILE), (SIDE, 1)))

/* Two tasks: one makes a buffer of two tiles, the other adds it to a third. */
static int64_t submit_two(PTORuntime *rt, int64_t n)
{
    void *made = NULL;
    pto_scope_begin(rt);
    if (pto_submit_task(rt, &makes,
                        ((PTOTaskParam[]){TILE_OF(PTO_INPUT, 1, 7 * n), TILE_OF(PTO_INPUT, 2, 3 * n),
                                          PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_F32, TILE, TILE))}),
                        3) < 0)
        exit(1);
    const int64_t number = pto_submit_task(
        rt, &kernels[3],
        ((PTOTaskParam[]){PTO_INPUT_OF(made, 0, PTO_ARRAY(PTO_F32, TILE, TILE)), TILE_OF(PTO_INOUT, 0, n)}), 2);
    pto_scope_end(rt);
    return number;
}

static void submit(PTORuntime *rt, int tiles, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        int64_t number;
        if (tiles == 1)
            number = pto_submit_task(rt, &kernels[0], (PTOTaskParam[]){TILE_OF(PTO_INOUT, 0, n)}, 1);
        else if (tiles == 2)
            number = pto_submit_task(rt, &kernels[1],
                                     ((PTOTaskParam[]){TILE_OF(PTO_INPUT, 1, 7 * n), TILE_OF(PTO_INOUT, 0, n)}), 2);
        else if (tiles == 4)
            number = submit_two(rt, n);
        else if (tiles == 5)
            number = pto_submit_task(rt, &kernels[4],
                                     ((PTOTaskParam[]){TILE_OF(PTO_INPUT, 4, 7 * n), TILE_OF(PTO_INPUT, 5, 3 * n),
                                                       TILE_OF(PTO_INOUT, 3, n)}),
                                     3);
        else
            number = pto_submit_task(rt, &kernels[2],
                                     ((PTOTaskParam[]){TILE_OF(PTO_INPUT, 1, 7 * n), TILE_OF(PTO_INPUT, 2, 3 * n),
                                                       TILE_OF(PTO_INOUT, 0, n)}),
                                     3);
        if (number < 0) exit(1);
    }
}

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
        for (int t = 1; t <= ROWS; t++) {
            char text[64];
            if (strcmp(a->argv[i], kernels[t - 1].name) != 0) continue;
            submit(rt, t, tasks);
            counted_begin();
            submit(rt, t, tasks);
            snprintf(text, sizeof text, "%s %lld", kernels[t - 1].name, (long long)tasks);
            counted_end(text);
        }
}
#else
static void orchestrate(PTORuntime *rt, void *arg)
{
    enum { ROUNDS = 200, TASKS = 4000 };
    (void)arg;
    for (int t = 1; t <= ROWS; t++) {
        double best = 1e18;
        submit(rt, t, TASKS);
        for (int round = 0; round < ROUNDS; round++) {
            struct timespec from, to;
            clock_gettime(CLOCK_MONOTONIC, &from);
            submit(rt, t, TASKS);
            clock_gettime(CLOCK_MONOTONIC, &to);
            const double ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / TASKS;
            if (ns < best) best = ns;
        }
        printf("%-7s %6.1f ns\n", kernels[t - 1].name, best);
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
