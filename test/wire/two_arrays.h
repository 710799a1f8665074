/* two_arrays.h - a program of tasks over two arrays, whose cells are dealt to ranks: its result is that of one rank.
 *
 * Owner      a test, which defines struct shared, in memory that its ranks share. */
#ifndef TWO_ARRAYS_H
#define TWO_ARRAYS_H
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"

enum { MOST_NUMBERS = 1024 };

struct shared;
struct program {
    struct shared *shared;
    double *a, *c;
    int rank; /* -1: it runs alone */
};

struct two_arrays {
    int ranks;
    int64_t numbers, cell; /* of an array, and in a cell: number k lives on rank k / cell % ranks */
    int64_t records;       /* PTOConfig.record_tasks of the ranks */
    void (*orchestrate)(PTORuntime *rt, void *program);
    void (*look)(PTORuntime *rt, const struct program *p); /* at a rank after its run; NULL: no need */
    struct shared *shared;
    double *result; /* in it: of array c */
};

/* in tile, inout tile, scalar */
static inline int add_half(const PTOArg *a)
{
    for (int64_t i = 0; i < a[1].shape[0]; i++)
        ((double *)a[1].ptr)[i] += 0.5 * ((double *)a[0].ptr)[i] + (double)a[2].value.i64;
    return 0;
}
static const PTOKernel adds = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add_half};

/* in tile, out tile */
static inline int copy_thrice(const PTOArg *a)
{
    if (a[0].shape[0] != a[1].shape[0] || a[0].stride[0] != 1) return 1;
    for (int64_t i = 0; i < a[1].shape[0]; i++) ((double *)a[1].ptr)[i] = 3 * ((double *)a[0].ptr)[i];
    return 0;
}
static const PTOKernel copies = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = copy_thrice};

static inline struct program fill_arrays(const struct two_arrays *t, int rank, double *a, double *c)
{
    for (int64_t k = 0; k < t->numbers; k++) a[k] = (double)(k % 37), c[k] = (double)(k % 11);
    return (struct program){.shared = t->shared, .a = a, .c = c, .rank = rank};
}

static inline int run_arrays_on_rank(struct wire *w, int rank, void *arg)
{
    static double a[MOST_NUMBERS], c[MOST_NUMBERS];
    const struct two_arrays *const t = arg;
    struct program p = fill_arrays(t, rank, a, c);
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const PTOConfig config = {.engine = PTO_ENGINE_SERIAL, .record_tasks = t->records};
    PTORuntime *rt = ptoi_create_ranked(&config, &ranks, NULL);
    const struct distribution d = {.rank = 1, .unit = 8, .shape = {t->numbers}, .cell = {t->cell}, .grid = {t->ranks}};
    if (!rt || ptoi_dist_distribute(rt->dist, a, &d) != PTO_OK || ptoi_dist_distribute(rt->dist, c, &d) != PTO_OK)
        return 1;
    const PTOStatus status = pto_runtime_run(rt, t->orchestrate, &p);
    if (status != PTO_OK) fprintf(stderr, "rank %d: %s\n", rank, pto_last_error(rt));
    if (t->look) t->look(rt, &p);
    for (int64_t k = 0; k < t->numbers; k++)
        if (k / t->cell % t->ranks == rank) t->result[k] = c[k];
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

static inline void run_arrays(struct two_arrays t)
{
    static double a[MOST_NUMBERS], c[MOST_NUMBERS];
    assert_in_range(t.numbers, 1, MOST_NUMBERS);
    const struct medium_config medium = {.ranks = t.ranks, .slots = 4, .seed = 5, .latest = 3};
    EXPECT_EQ(ranks_run(&medium, run_arrays_on_rank, &t), 0);
    struct program alone = fill_arrays(&t, -1, a, c);
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    EXPECT_EQ(pto_runtime_run(rt, t.orchestrate, &alone), PTO_OK);
    pto_runtime_destroy(rt);
    for (int64_t k = 0; k < t.numbers; k++) EXPECT(t.result[k] == c[k]);
}

#endif
