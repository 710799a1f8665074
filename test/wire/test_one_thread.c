/* test_one_thread.c - the engine serial on several ranks: what depends on a message that is under way waits in the
 * window, and the program goes on. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>
#include <time.h>

enum { RANKS = 2, ROWS = 4, SIDE = 4, WINDOW = 8, MANY = 64 };
/* Of the case FOR_ROOM: steps, each of which takes two tasks of rank 1's window, and how far that is ahead at least. */
enum { COUNT = 200, ROOM = 64, AHEAD = 22 };
enum { BUSY = 40, SUBMITS = 24 };

enum which { WHILE_LATE, AT_END, FOR_ROOM, WHILE_BUSY, WHILE_SUBMITTING };

struct shared {
    enum which which;
    bool is_sent;  /* kernels of rank 1 may end */
    bool is_busy;  /* rank 0 has long kernels to execute */
    bool submits;  /* rank 0 submits tasks that wait for a message */
    int asked;     /* by the program's thread of rank 0, between those kernels or submits */
    int submitted; /* steps, by rank 1 */
    int order[2];  /* of what rank 0 executes: kernels 0 and 1 */
    int executed;
    int status[RANKS];
    double got[RANKS];
};

static struct shared *here;
static _Thread_local bool is_program; /* this thread runs the program */

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

static int wait_until_sent(const PTOArg *a)
{
    while (!__atomic_load_n(&here->is_sent, __ATOMIC_RELAXED)) nap();
    ((double *)a[0].ptr)[0] += 1;
    return 0;
}

/* A step of rank 0 waits for the program of rank 1, though not for ever. */
static int step_behind(const PTOArg *a)
{
    const int step = (int)((double *)a[0].ptr)[0], ahead = step + AHEAD < COUNT ? step + AHEAD : COUNT;
    for (int k = 0; __atomic_load_n(&here->submitted, __ATOMIC_RELAXED) < ahead; k++) {
        if (k == 100000) return 1;
        nap();
    }
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

static int wait_while_busy(const PTOArg *a)
{
    while (__atomic_load_n(&here->is_busy, __ATOMIC_RELAXED)) nap();
    return grow(a);
}

static int be_busy(const PTOArg *a)
{
    nap();
    here->executed++;
    if (here->executed == BUSY) __atomic_store_n(&here->is_busy, false, __ATOMIC_RELAXED);
    return grow(a);
}

static const PTOKernel waits = {.name = "waits", .worker = PTO_WORKER_VECTOR, .fn = wait_until_sent},
                       adds = {.name = "adds", .worker = PTO_WORKER_VECTOR, .fn = add},
                       grows = {.name = "grows", .worker = PTO_WORKER_VECTOR, .fn = grow},
                       steps = {.name = "steps", .worker = PTO_WORKER_VECTOR, .fn = step_behind},
                       late = {.name = "late", .worker = PTO_WORKER_VECTOR, .fn = wait_while_busy},
                       busy = {.name = "busy", .worker = PTO_WORKER_VECTOR, .fn = be_busy},
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

/* Rank 1 needs what each step of rank 0 makes, and soon waits for room.  A few steps that have ended are enough for it:
 * the next ones wait for what it submits then. */
static void fill(PTORuntime *rt, double *matrix)
{
    PTOTaskParam step[] = {row_of(PTO_PARAM_INOUT, matrix, 0)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, 0), row_of(PTO_PARAM_INOUT, matrix, 3)};
    for (int k = 0; k < COUNT; k++) {
        pto_submit_task(rt, &steps, step, 1);
        pto_submit_task(rt, &adds, needs, 2);
        if (rt->dist->me == 1) __atomic_store_n(&here->submitted, k + 1, __ATOMIC_RELAXED);
    }
}

/* Rank 0 comes to its end; then row 2 lets it begin BUSY long kernels, and after the last one rank 1 sends row 3. */
static void stay_busy(PTORuntime *rt, double *matrix)
{
    PTOTaskParam first[] = {row_of(PTO_PARAM_INOUT, matrix, 2)}, second[] = {row_of(PTO_PARAM_INOUT, matrix, 3)};
    PTOTaskParam long_one[] = {row_of(PTO_PARAM_INPUT, matrix, 2), row_of(PTO_PARAM_INOUT, matrix, 1)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, 3), row_of(PTO_PARAM_INOUT, matrix, 0)};
    pto_submit_task(rt, &waits, first, 1);
    for (int k = 0; k < BUSY; k++) pto_submit_task(rt, &busy, long_one, 2);
    pto_submit_task(rt, &late, second, 1);
    pto_submit_task(rt, &adds, needs, 2);
    if (rt->dist->me == 0) __atomic_store_n(&here->is_sent, true, __ATOMIC_RELAXED);
}

/* Rank 0 submits tasks that wait for row 2, which rank 1 sends afterwards. */
static void submit_many(PTORuntime *rt, double *matrix)
{
    PTOTaskParam far[] = {row_of(PTO_PARAM_INOUT, matrix, 2)};
    PTOTaskParam needs[] = {row_of(PTO_PARAM_INPUT, matrix, 2), row_of(PTO_PARAM_INOUT, matrix, 0)};
    pto_submit_task(rt, &waits, far, 1);
    if (rt->dist->me == 0) here->submits = true;
    for (int k = 0; k < SUBMITS; k++) pto_submit_task(rt, &adds, needs, 2);
    if (rt->dist->me != 0) return;
    here->submits = false;
    __atomic_store_n(&here->is_sent, true, __ATOMIC_RELAXED);
}

static void program(PTORuntime *rt, void *arg)
{
    static void (*const programs[])(PTORuntime * rt, double *matrix) = {go_on, end, fill, stay_busy, submit_many};
    is_program = true;
    programs[here->which](rt, arg);
}

/* The wire of rank 0, which counts. */
static const struct wire_ops *ops_beneath;

static int count_asks(struct wire *w, struct wire_ended *ended, int max)
{
    const bool is_between = here->executed > 0 && here->executed < BUSY;
    if (is_program) here->asked += here->which == WHILE_SUBMITTING ? here->submits : is_between;
    return ops_beneath->progress(w, ended, max);
}

static void count_asks_of(struct wire *w)
{
    static struct wire_ops ops;
    ops_beneath = w->ops;
    ops = *w->ops;
    ops.progress = count_asks;
    w->ops = &ops;
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double matrix[ROWS * SIDE];
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2};
    const struct distribution home = {
        .rank = 2, .unit = 8, .shape = {ROWS, SIDE}, .cell = {ROWS / RANKS, SIDE}, .grid = {RANKS, 1}};
    here = arg;
    if (rank == 0) count_asks_of(w);
    const PTOConfig config = {.engine = PTO_ENGINE_SERIAL, .task_window = here->which >= FOR_ROOM ? ROOM : WINDOW};
    PTORuntime *rt = ptoi_create_ranked(&config, &ranks, NULL);
    if (!rt || ptoi_dist_distribute(rt->dist, matrix, &home) != PTO_OK) return 1;
    here->status[rank] = pto_runtime_run(rt, program, matrix);
    here->got[rank] = matrix[rank == 0 ? 0 : 3 * SIDE];
    pto_runtime_destroy(rt);
    return 0;
}

static const struct shared *run(enum which which, double got)
{
    struct shared *s = ranks_share(sizeof *s);
    s->which = which;
    s->is_busy = true;
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = RANKS, .slots = 4, .seed = 1}, run_rank, s), 0);
    for (int k = 0; k < RANKS; k++) EXPECT_EQ(s->status[k], PTO_OK);
    EXPECT_EQ(s->got[0], got);
    return s;
}

TEST(the_program_goes_on_while_a_message_is_late)
{
    const struct shared *s = run(WHILE_LATE, 1);
    EXPECT_EQ(s->order[0], 0);
    EXPECT_EQ(s->order[1], 1);
}

TEST(a_rank_at_its_end_goes_on_with_what_others_wait_for)
{
    EXPECT_EQ(run(AT_END, 1)->got[1], 1 + MANY);
}

TEST(a_rank_that_waits_for_room_submits_while_messages_are_under_way)
{
    EXPECT_EQ(run(FOR_ROOM, COUNT)->got[1], COUNT * (COUNT + 1) / 2);
}

TEST(a_rank_asks_for_messages_between_long_kernels)
{
    EXPECT(run(WHILE_BUSY, 1)->asked >= BUSY / 2);
}

/* A message that comes meanwhile waits for one submit. */
TEST(a_rank_asks_for_messages_after_each_submit_while_few_are_under_way)
{
    EXPECT(run(WHILE_SUBMITTING, SUBMITS)->asked >= SUBMITS / 2);
}
