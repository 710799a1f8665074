/* matrix.h - a matrix on several ranks, and the parts of it that the tasks of a test name. */
#ifndef TEST_MATRIX_H
#define TEST_MATRIX_H
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

static inline PTORuntime *create_keeping(struct wire *w, PTOEngine engine, int64_t window, int64_t copy_bytes)
{
    const struct dist_config ranks = {.wire = w, .copy_bytes = copy_bytes, .sends = 2};
    PTOStatus status;
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = engine, .task_window = window, .workers = {1, 1, 1, 1}},
                                        &ranks, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    return rt;
}

static inline PTORuntime *create(struct wire *w, PTOEngine engine, int64_t window)
{
    return create_keeping(w, engine, window, KEPT);
}

static inline void distribute(PTORuntime *rt, const void *matrix, int64_t side, int64_t cell_rows, int64_t cell_cols,
                              int64_t rows, int64_t cols)
{
    const struct distribution d = {
        .rank = 2, .unit = 8, .shape = {side, side}, .cell = {cell_rows, cell_cols}, .grid = {rows, cols}};
    if (ptoi_dist_distribute(rt->dist, matrix, &d) != PTO_OK) _exit(3);
}

struct rectangle {
    int64_t at, shape[2], stride[2];
};

static inline PTOTaskParam view(PTOParamKind kind, void *base, const struct rectangle *r)
{
    return (PTOTaskParam){.kind = (uint8_t)kind,
                          .type = PTO_F64,
                          .rank = 2,
                          .buffer = base,
                          .at = r->at,
                          .shape = r->shape,
                          .stride = r->stride};
}

static inline PTOTaskParam view_of(PTOParamKind kind, void *base, const struct rectangle *r, int flags)
{
    PTOTaskParam p = view(kind, base, r);
    p.flags = (uint8_t)flags;
    return p;
}

/* An output, or a view of which a part is written. */
static inline PTOTaskParam view_to(PTOParamKind kind, void *base, const struct rectangle *r, const void *ref)
{
    PTOTaskParam p = view(kind, base, r);
    p.ref = (void *)(uintptr_t)ref;
    return p;
}

/* ---- what a task computes ---------------------------------------------------------------------------------------- */

static inline double sum_of(const PTOArg *a)
{
    double sum = 0;
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) sum += ((double *)a->ptr)[i * a->stride[0] + j * a->stride[1]];
    return sum;
}

static inline void fill(const PTOArg *a, int64_t step, double value)
{
    for (int64_t i = 0; i < a->shape[0]; i += step)
        for (int64_t j = 0; j < a->shape[1]; j++)
            ((double *)a->ptr)[i * a->stride[0] + j * a->stride[1]] = value + (double)(i * 3 + j);
}

/* Bits that depend on the order of tasks; small, so that sums are exact. */
static inline double digest(double x, int64_t seed) { return (double)(((int64_t)x * 31 + seed) & 0xfff); }

/* in view, out view, scalar */
static inline int overwrite(const PTOArg *a)
{
    fill(&a[1], 1, digest(sum_of(&a[0]), a[2].value.i64));
    return 0;
}
static const PTOKernel overwrites = {.name = "overwrites", .worker = PTO_WORKER_VECTOR, .fn = overwrite};

#endif
