/* test_one_thread.c - the engine serial on several ranks: what depends on a message that is under way waits in the
 * window, and the program goes on. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>
#include <time.h>

enum { RANKS = 2, ROWS = 4, SIDE = 4, WINDOW = 8, MANY = 64 };

struct shared {
    bool is_at_end; /* case at_end: else while_late */
    bool is_sent;   /* kernels of rank 1 may end */
    int order[2];   /* of what rank 0 executes: kernels 0 and 1 */
    int executed;
    int status[RANKS];
    double got[RANKS];
};

static struct shared *here;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

static int wait_until_sent(const PTOArg *a)
{
    while (!__atomic_load_n(&here->is_sent, __ATOMIC_RELAXED)) nap();
    ((double *)a[0].ptr)[0] += 1;
    return 0;
}

static int add(const PTOArg *a)
{
    here->order[here->executed++ % 2] = 1;
    ((double *)a[1].ptr)[0] += ((double *)a[0].ptr)[0];
    return 0;
}

static int grow(const PTOArg *a)
{
    ((double *)a[0].ptr)[0] += 1;
    return 0;
}

/* The other rank waits for this one. */
static int let_go(const PTOArg *a)
{
    here->order[here->executed++ % 2] = 0;
    __atomic_store_n(&here->is_sent, true, __ATOMIC_RELAXED);
    return grow(a);
}

static const PTOKernel waits = {.name = "waits", .worker = PTO_WORKER_VECTOR, .fn = wait_until_sent},
                       adds = {.name = "adds", .worker = PTO_WORKER_VECTOR, .fn = add},
                       grows = {.name = "grows", .worker = PTO_WORKER_VECTOR, .fn = grow},
                       lets_go = {.name = "lets_go", .worker = PTO_WORKER_VECTOR, .fn = let_go};

static PTOTaskParam row_of(PTOParamKind kind, double *matrix, int64_t row)
{
    static const int64_t shape[2] = {1, SIDE}, stride[2] = {SIDE, 1};
    return (PTOTaskParam){
        .kind = kind, .type = PTO_F64, .rank = 2, .buffer = matrix, .at = row * SIDE, .shape = shape, .stride = stride};
}

/* Rows 0 and 1 live on rank 0.  Rank 1 makes row 2, and not before rank 0 has executed `lets_go`, which stands behind
 * the task that needs row 2. */
static void go_on(PTORuntime *rt, double *matrix)
{
    PTOTaskParam far[] = {row_of(PTO_PARAM_INOUT, matrix, 2)}, free[] = {row_of(PTO_PARAM_INOUT, matrix, 1)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, 2), row_of(PTO_PARAM_INOUT, matrix, 0)};
    pto_submit_task(rt, &waits, far, 1);
    pto_submit_task(rt, &adds, needs, 2);
    pto_submit_task(rt, &lets_go, free, 1);
}

/* Rank 0 comes to its end while its task waits for row 2; rank 1 needs what that makes, and has more to do behind that
 * than its window holds. */
static void end(PTORuntime *rt, double *matrix)
{
    PTOTaskParam far[] = {row_of(PTO_PARAM_INOUT, matrix, 2)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, 2), row_of(PTO_PARAM_INOUT, matrix, 0)};
    PTOTaskParam back[] = {row_of(PTO_PARAM_INPUT, matrix, 0), row_of(PTO_PARAM_INOUT, matrix, 3)};
    PTOTaskParam more[] = {row_of(PTO_PARAM_INOUT, matrix, 3)};
    pto_submit_task(rt, &waits, far, 1);
    pto_submit_task(rt, &adds, needs, 2);
    pto_submit_task(rt, &adds, back, 2);
    for (int k = 0; k < MANY; k++) pto_submit_task(rt, &grows, more, 1);
    if (rt->dist->me == 0) __atomic_store_n(&here->is_sent, true, __ATOMIC_RELAXED);
}

static void program(PTORuntime *rt, void *arg)
{
    if (here->is_at_end)
        end(rt, arg);
    else
        go_on(rt, arg);
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double matrix[ROWS * SIDE];
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const struct distribution home = {
        .rank = 2, .unit = 8, .shape = {ROWS, SIDE}, .cell = {ROWS / RANKS, SIDE}, .grid = {RANKS, 1}};
    here = arg;
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .task_window = WINDOW}, &ranks, NULL);
    if (!rt || ptoi_dist_distribute(rt->dist, matrix, &home) != PTO_OK) return 1;
    here->status[rank] = pto_runtime_run(rt, program, matrix);
    here->got[rank] = matrix[rank == 0 ? 0 : 3 * SIDE];
    pto_runtime_destroy(rt);
    return 0;
}

static const struct shared *run(bool is_at_end)
{
    struct shared *s = ranks_share(sizeof *s);
    s->is_at_end = is_at_end;
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = RANKS, .slots = 4, .seed = 1}, run_rank, s), 0);
    for (int k = 0; k < RANKS; k++) EXPECT_EQ(s->status[k], PTO_OK);
    EXPECT_EQ(s->got[0], 1);
    return s;
}

TEST(the_program_goes_on_while_a_message_is_late)
{
    const struct shared *s = run(false);
    EXPECT_EQ(s->order[0], 0);
    EXPECT_EQ(s->order[1], 1);
}

TEST(a_rank_at_its_end_goes_on_with_what_others_wait_for)
{
    EXPECT_EQ(run(true)->got[1], 1 + MANY);
}
