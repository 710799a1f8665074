/* test_looks.c - one thread looks for messages where a rank has nothing else to do: Note [idle workers ask] in
 * dist/transfer.h. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>
#include <time.h>

enum { RANKS = 2, ROWS = 8, SIDE = 4, NAPS = 6 };

struct shared {
    bool has_asked; /* rank 0, so its kernels and the one of rank 1 end */
    int running;    /* kernels of rank 0 */
    int status[RANKS];
    double got[RANKS];
    int64_t nap[NAPS];
};

static struct shared *here;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

static int wait_until_asked(const PTOArg *a)
{
    __atomic_add_fetch(&here->running, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&here->has_asked, __ATOMIC_RELAXED)) nap();
    ((double *)a[0].ptr)[0] += 1;
    return 0;
}

static int add(const PTOArg *a)
{
    ((double *)a[1].ptr)[0] += ((double *)a[0].ptr)[0];
    return 0;
}

static const PTOKernel waits[PTO_WORKER_TYPES] = {{.name = "waits", .worker = 0, .fn = wait_until_asked},
                                                  {.name = "waits", .worker = 1, .fn = wait_until_asked},
                                                  {.name = "waits", .worker = 2, .fn = wait_until_asked},
                                                  {.name = "waits", .worker = 3, .fn = wait_until_asked}};
static const PTOKernel adds = {.name = "adds", .worker = PTO_WORKER_VECTOR, .fn = add};

/* Two threads that would look, in place of the workers, which all run kernels; a receive is in flight. */
static void ask(const struct outside *o)
{
    int one, other;
    int64_t *nap_of = here->nap;
    *nap_of++ = o->rest(o->context, &one);
    *nap_of++ = o->rest(o->context, &other);
    *nap_of++ = o->rest(o->context, &one);
    o->leave(o->context, &other); /* which has nothing to leave */
    *nap_of++ = o->rest(o->context, &other);
    o->leave(o->context, &one);
    *nap_of++ = o->rest(o->context, &other);
    *nap_of++ = o->rest(o->context, &one);
    o->leave(o->context, &other);
}

static PTOTaskParam row_of(PTOParamKind kind, double *matrix, int64_t row)
{
    static const int64_t shape[2] = {1, SIDE}, stride[2] = {SIDE, 1};
    return (PTOTaskParam){
        .kind = kind, .type = PTO_F64, .rank = 2, .buffer = matrix, .at = row * SIDE, .shape = shape, .stride = stride};
}

/* The upper half of the rows lives on rank 0. */
static void program(PTORuntime *rt, void *arg)
{
    double *matrix = arg;
    const struct outside *o = &rt->core.outside;
    for (int k = 0; k < PTO_WORKER_TYPES; k++) {
        PTOTaskParam own[] = {row_of(PTO_PARAM_INOUT, matrix, k)};
        if (pto_submit_task(rt, &waits[k], own, 1) < 0) return;
    }
    PTOTaskParam far[] = {row_of(PTO_PARAM_INOUT, matrix, ROWS / 2)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, ROWS / 2), row_of(PTO_PARAM_INOUT, matrix, 0)};
    if (pto_submit_task(rt, &waits[0], far, 1) < 0 || pto_submit_task(rt, &adds, needs, 2) < 0) return;
    if (rt->dist->me != 0) return;
    while (__atomic_load_n(&here->running, __ATOMIC_RELAXED) <= PTO_WORKER_TYPES ||
           load_relaxed(&rt->dist->transfers.in_flight) == 0)
        nap();
    ask(o);
    __atomic_store_n(&here->has_asked, true, __ATOMIC_RELAXED);
    while (load_relaxed(&rt->dist->transfers.in_flight) > 0) o->progress(o->context);
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double matrix[ROWS * SIDE];
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const struct distribution home = {
        .rank = 2, .unit = 8, .shape = {ROWS, SIDE}, .cell = {ROWS / 2, SIDE}, .grid = {RANKS, 1}};
    PTOStatus status;
    here = arg;
    PTORuntime *rt =
        ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {1, 1, 1, 1}}, &ranks, &status);
    if (!rt || ptoi_dist_distribute(rt->dist, matrix, &home) != PTO_OK) return 1;
    here->status[rank] = pto_runtime_run(rt, program, matrix);
    here->got[rank] = matrix[0];
    pto_runtime_destroy(rt);
    return 0;
}

TEST(one_thread_looks_where_all_have_nothing_to_do)
{
    struct shared *s = ranks_share(sizeof *s);
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = RANKS, .slots = 4, .seed = 1}, run_rank, s), 0);
    for (int k = 0; k < RANKS; k++) EXPECT_EQ(s->status[k], PTO_OK);
    EXPECT_EQ(s->got[0], 2);
    EXPECT(s->nap[0] > 0 && s->nap[0] < PTO_FOR_EVER); /* one of them has naps, */
    EXPECT_EQ(s->nap[1], PTO_FOR_EVER);                /* so the other one need not look; */
    EXPECT(s->nap[2] > s->nap[0]);                     /* they grow while nothing ends */
    EXPECT_EQ(s->nap[3], PTO_FOR_EVER);
    EXPECT_EQ(s->nap[4], s->nap[0]); /* and where the first has left, it is the part of the other */
    EXPECT_EQ(s->nap[5], PTO_FOR_EVER);
}
