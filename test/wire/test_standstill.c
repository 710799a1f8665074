/* test_standstill.c - a kernel that does not return, a rank that does not answer, and ranks that wait for each other,
 * with a watchdog on some rank: every rank has the same failure, which says of each rank what it does.  Without one
 * only what is proved to stand still for ever fails. */
#include "api/runtime.h"
#include "local_wire.h"
#include "unit.h"
#include <string.h>
#include <time.h>

enum { RANKS = 3, SIDE = 4, LOOKS = 4 };

enum fault {
    NO_FAULT,
    KERNEL_HANGS,    /* on rank 1 */
    RECEIVE_IS_LOST, /* of rank 2 */
    RANK_IS_DEAF,    /* rank 1: it hears no question, and sends nothing */
    TWO_ARE_DEAF,    /* ranks 0 and 1 */
    RANK_GOES_AWAY,  /* rank 1, when it has answered once, until rank 0 has ended its run */
    LONG_WORK,       /* on rank 1, while rank 2 waits for longer than its watchdog */
    MESSAGE_IS_ODD,  /* that of rank 2, the wire says, though the ranks agree */
    SLOW_KERNEL,     /* on rank 1: the others wait for longer than a standstill takes */
    SLOW_PROGRAM,    /* likewise, between two submits */
    BEGINS_LATE      /* likewise, before its run */
};

struct shared {
    enum fault fault;
    PTOEngine engine;
    double seconds[RANKS]; /* of each watchdog */
    int slower;            /* so many times, than the test wants where all have a processor */
    enum collects collects;
    bool is_late;                 /* rank 1 */
    bool has_ended;               /* the run of rank 0 */
    int64_t looked[RANKS][LOOKS]; /* when, the newest; from the begin of the run on */
    int64_t longest[RANKS];       /* nanoseconds in which a rank looked so many times: a message waits for some looks */
    int looks[RANKS];
    int status[RANKS];
    char text[RANKS][4096];
};

static struct {
    const struct wire_ops *ops;
    const struct wire *wire;
    PTORuntime *rt;
    enum fault fault;
    struct shared *shared;
    int64_t began;
    int answers;
} here;

static bool is_deaf(const struct wire *w)
{
    if (here.fault == TWO_ARE_DEAF) return w->rank <= 1;
    return w->rank == 1 && (here.fault == RANK_IS_DEAF || (here.fault == RANK_GOES_AWAY && here.answers > 0));
}

/* Rank 1 gets its answers late, where the test wants that, so the others come to know first. */
static bool hear_late(struct wire *w, struct wire_status *status)
{
    enum { LATE_NS = 500000000 };
    static struct wire_status kept[RANKS];
    static int count;
    const bool is_time = ptoi_clock_ns() - here.began > LATE_NS;
    if (is_time && count > 0) {
        *status = kept[--count];
        return true;
    }
    while (here.ops->hear_status(w, status)) {
        if (status->kind == WIRE_QUESTION || is_time) return true;
        if (count < RANKS) kept[count++] = *status;
    }
    return false;
}

static void note_look(struct shared *s, int rank)
{
    int64_t *oldest = &s->looked[rank][s->looks[rank]++ % LOOKS];
    const int64_t now = ptoi_clock_ns();
    if (now - *oldest > s->longest[rank]) s->longest[rank] = now - *oldest;
    *oldest = now;
}

static bool hear_nothing(struct wire *w, struct wire_status *status)
{
    note_look(here.shared, w->rank);
    if (here.shared->is_late && w->rank == 1) return hear_late(w, status);
    return !is_deaf(w) && here.ops->hear_status(w, status);
}

static bool answer_once(struct wire *w, int32_t to, const struct wire_status *status)
{
    const bool has_left = here.ops->give_status(w, to, status);
    here.answers += has_left && status->kind == WIRE_ANSWER;
    return has_left;
}

static bool send_nothing(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    return is_deaf(w) || here.ops->send(w, peer, tag, view, count, ticket);
}

static bool receive_nothing(struct wire *w, int32_t peer, uint64_t tag, const PTOArg *view, int32_t count, void *ticket)
{
    return (here.fault == RECEIVE_IS_LOST && w->rank == 2) || here.ops->receive(w, peer, tag, view, count, ticket);
}

static int end_oddly(struct wire *w, struct wire_ended *ended, int max)
{
    const int n = here.ops->progress(w, ended, max);
    for (int k = 0; k < n && here.fault == MESSAGE_IS_ODD && w->rank == 2; k++) ended[k].how = WIRE_OTHER_SIZE;
    return n;
}

static void nap(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }
static void nap_on(enum fault fault, const struct wire *w)
{
    if (here.fault == fault && w->rank == 1) nap(STILL_NS / 1000000 * 3 / 2);
}

/* It returns when the run has failed, so the test comes to its end. */
static int hang(const PTOArg *a)
{
    (void)a;
    while (here.fault == KERNEL_HANGS && pto_runtime_status(here.rt) == PTO_OK) nap(1);
    while (here.fault == RANK_GOES_AWAY && !__atomic_load_n(&here.shared->has_ended, __ATOMIC_RELAXED)) nap(1);
    nap_on(SLOW_KERNEL, here.wire);
    if (here.fault == LONG_WORK) nap(60 * here.shared->slower);
    return 0;
}

static int copy(const PTOArg *a)
{
    memcpy(a[1].ptr, a[0].ptr, SIDE * sizeof(double));
    return 0;
}

static const PTOKernel stuck = {.name = "stuck", .worker = PTO_WORKER_VECTOR, .fn = hang};
static const PTOKernel copies = {.name = "copies", .worker = PTO_WORKER_VECTOR, .fn = copy};

/* Row k lives on rank k.  Rank 1 works on its row, and rank 2 needs it. */
static void one_after_another(PTORuntime *rt, void *arg)
{
    enum { TASKS = 40 };
    static const int64_t row[2] = {1, SIDE}, stride[2] = {SIDE, 1};
    void *matrix = arg;
    PTOTaskParam works[] = {{.kind = PTO_PARAM_INOUT,
                             .type = PTO_F64,
                             .rank = 2,
                             .buffer = matrix,
                             .at = SIDE,
                             .shape = row,
                             .stride = stride}};
    PTOTaskParam needs[] = {{.kind = PTO_PARAM_INPUT,
                             .type = PTO_F64,
                             .rank = 2,
                             .buffer = matrix,
                             .at = SIDE,
                             .shape = row,
                             .stride = stride},
                            {.kind = PTO_PARAM_OUTPUT,
                             .type = PTO_F64,
                             .rank = 2,
                             .ref = &matrix,
                             .at = 2 * SIDE,
                             .shape = row,
                             .stride = stride}};
    for (int k = 0; k < (here.fault == LONG_WORK ? TASKS : 1); k++)
        if (pto_submit_task(rt, &stuck, works, 1) < 0) return;
    nap_on(SLOW_PROGRAM, here.wire);
    pto_submit_task(rt, &copies, needs, 2);
}

static int run_rank(struct wire *w, int rank, void *arg)
{
    static double matrix[SIDE * SIDE];
    struct shared *s = arg;
    struct wire_ops ops = *w->ops;
    const struct dist_config ranks = {.wire = w, .copy_bytes = 1 << 20, .sends = 2, .collects = s->collects};
    const struct distribution rows = {
        .rank = 2, .unit = 8, .shape = {SIDE, SIDE}, .cell = {1, SIDE}, .grid = {RANKS, 1}};
    PTOStatus status;
    here.ops = w->ops;
    here.wire = w;
    here.fault = s->fault;
    here.shared = s;
    here.began = ptoi_clock_ns();
    ops.hear_status = hear_nothing;
    ops.give_status = answer_once;
    ops.send = send_nothing;
    ops.receive = receive_nothing;
    ops.progress = end_oddly;
    w->ops = &ops;
    here.rt = ptoi_create_ranked(
        &(PTOConfig){
            .engine = s->engine, .task_window = 64, .workers = {1, 1, 1, 1}, .watchdog_seconds = s->seconds[rank]},
        &ranks, &status);
    if (!here.rt || ptoi_dist_distribute(here.rt->dist, matrix, &rows) != PTO_OK) return 1;
    nap_on(BEGINS_LATE, w);
    s->status[rank] = pto_runtime_run(here.rt, one_after_another, matrix);
    snprintf(s->text[rank], sizeof s->text[rank], "%s", pto_last_error(here.rt));
    if (rank == 0) __atomic_store_n(&s->has_ended, true, __ATOMIC_RELAXED);
    pto_runtime_destroy(here.rt);
    w->ops = here.ops;
    return 0;
}

/* A rank that had no processor for nearly the patience of the others is rightly said not to answer. */
static bool was_starved(const struct shared *s, double seconds)
{
    const double patience = seconds / 2 > 1 ? seconds / 2 : 1;
    for (int k = 0; k < RANKS; k++)
        if ((double)s->longest[k] > 0.8e9 * patience) return true;
    return false;
}

/* The watchdogs have so many seconds, 0: none.  A run in which a rank was starved shows nothing: it is repeated, at
 * last with more patience. */
static struct shared *run_with(enum fault fault, PTOEngine engine, double first, double second, double third)
{
    static const int slower[] = {1, 1, 8, 16};
    struct shared *s = ranks_share(sizeof *s);
    for (int k = 0; k < 4; k++) {
        *s = (struct shared){.fault = fault,
                             .engine = engine,
                             .slower = slower[k],
                             .seconds = {first * slower[k], second * slower[k], third * slower[k]}};
        s->is_late = fault == KERNEL_HANGS && first > 0 && first == second;
        if (fault == RANK_GOES_AWAY || fault == BEGINS_LATE) s->collects = COLLECTS_EVERYWHERE; /* of a host program */
        const int64_t begin = ptoi_clock_ns();
        for (int n = 0; n < RANKS * LOOKS; n++) s->looked[n / LOOKS][n % LOOKS] = begin;
        EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = RANKS, .slots = 5, .seed = 7, .latest = 3}, run_rank, s),
                  0);
        if (first + second + third == 0 || !was_starved(s, first > 0    ? s->seconds[0]
                                                           : second > 0 ? s->seconds[1]
                                                                        : s->seconds[2]))
            break;
    }
    return s;
}

static void expect_all(const struct shared *s, const char *text)
{
    for (int k = 0; k < RANKS; k++) {
        if (s->status[k] != PTO_ERR_WATCHDOG || !strstr(s->text[k], text))
            fprintf(stderr, "rank %d: %d, '%s' is expected\n%s\n", k, s->status[k], text, s->text[k]);
        EXPECT_EQ(s->status[k], PTO_ERR_WATCHDOG);
        EXPECT(strstr(s->text[k], text) != NULL);
    }
}

static const char *const waiting = "\n  rank 2: waits for a message from rank 1, for task 1",
                         *const at_end = "\n  rank 0: the program has come to its end, and waits for all ranks";

TEST(a_kernel_that_hangs_is_found_by_its_own_rank)
{
    const struct shared *s = run_with(KERNEL_HANGS, PTO_ENGINE_THREADS, 0, 0.3, 0);
    expect_all(s, "no task finished for ");
    expect_all(s, "\n  rank 1: kernel 'stuck' (task 0");
    expect_all(s, waiting);
    expect_all(s, at_end);
    EXPECT(strstr(s->text[0], "ran (on rank 1, ") != NULL);
}

/* The others see it at the same time, and leave it to that rank. */
TEST(a_kernel_that_hangs_is_found_by_its_own_rank_where_all_have_a_watchdog)
{
    const struct shared *s = run_with(KERNEL_HANGS, PTO_ENGINE_THREADS, 0.3, 0.3, 0.3);
    expect_all(s, "no task finished for ");
    expect_all(s, "\n  rank 1: kernel 'stuck' (task 0");
    expect_all(s, waiting);
}

TEST(a_kernel_that_hangs_is_found_by_a_rank_that_waits_for_it)
{
    const struct shared *s = run_with(KERNEL_HANGS, PTO_ENGINE_THREADS, 0, 0, 0.3);
    expect_all(s, "nothing has happened on any rank for ");
    expect_all(s, "\n  rank 1: kernel 'stuck' (task 0");
    expect_all(s, waiting);
    expect_all(s, at_end);
    char seconds[64];
    snprintf(seconds, sizeof seconds, "on any rank for %g s (on rank 2, ", s->seconds[2]);
    EXPECT(strstr(s->text[0], seconds) != NULL);
}

TEST(a_kernel_that_hangs_is_found_by_a_rank_at_the_end_of_its_program)
{
    const struct shared *s = run_with(KERNEL_HANGS, PTO_ENGINE_SERIAL, 0.3, 0, 0);
    expect_all(s, "nothing has happened on any rank for ");
    expect_all(s, "\n  rank 2: waits for a message from rank 1");
    expect_all(s, "\n  rank 1: the program has come to task 0");
    expect_all(s, at_end);
}

TEST(the_serial_engine_names_its_kernel_where_it_has_a_watchdog)
{
    const struct shared *s = run_with(KERNEL_HANGS, PTO_ENGINE_SERIAL, 0.3, 3600, 0);
    expect_all(s, "nothing has happened on any rank for ");
    expect_all(s, "\n  rank 1: kernel 'stuck' (task 0");
}

TEST(ranks_that_wait_for_each_other_are_found)
{
    const struct shared *s = run_with(RECEIVE_IS_LOST, PTO_ENGINE_THREADS, 0.3, 0.3, 0.3);
    expect_all(s, "nothing has happened on any rank for ");
    expect_all(s, waiting);
    expect_all(s, "\n  rank 1: waits until rank 2 takes a message, for task 1");
    expect_all(s, at_end);
}

TEST(a_rank_that_does_not_answer_is_named)
{
    for (int engine = 0; engine < 2; engine++) {
        const struct shared *s = run_with(RANK_IS_DEAF, engine ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS, 0.3, 0, 0.3);
        expect_all(s, " s, and rank 1 does not answer");
        expect_all(s, "\n  rank 1: it does not answer");
        expect_all(s, "\n  rank 2: waits for a message from rank 1");
    }
}

TEST(of_several_ranks_that_do_not_answer_the_first_is_named)
{
    const struct shared *s = run_with(TWO_ARE_DEAF, PTO_ENGINE_THREADS, 0, 0, 0.3);
    expect_all(s, " s, and rank 0 does not answer");
    expect_all(s, "\n  rank 0: it does not answer");
    expect_all(s, "\n  rank 1: it does not answer");
}

/* The run of a host program returns on the rank that found it, though all ranks do not come to its end. */
TEST(a_rank_that_goes_away_does_not_hold_the_host_program)
{
    const struct shared *s = run_with(RANK_GOES_AWAY, PTO_ENGINE_THREADS, 0.3, 0, 0);
    for (int k = 0; k < RANKS; k += 2) {
        EXPECT_EQ(s->status[k], PTO_ERR_WATCHDOG);
        EXPECT(strstr(s->text[k], " s, and rank 1 does not answer") != NULL);
    }
}

TEST(a_rank_that_waits_for_work_does_not_fail)
{
    for (int engine = 0; engine < 2; engine++) {
        const struct shared *s = run_with(LONG_WORK, engine ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS, 1.5, 1.5, 1.5);
        for (int k = 0; k < RANKS; k++) {
            if (s->status[k] != PTO_OK) fprintf(stderr, "rank %d: %s\n", k, s->text[k]);
            EXPECT_EQ(s->status[k], PTO_OK);
        }
    }
}

/* ---- without a watchdog ------------------------------------------------------------------------------------------ */

TEST(ranks_that_agree_and_cannot_go_on_are_found)
{
    for (int engine = 0; engine < 2; engine++) {
        const struct shared *s = run_with(MESSAGE_IS_ODD, engine ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS, 0, 0, 0);
        for (int k = 0; k < RANKS; k++) {
            EXPECT_EQ(s->status[k], PTO_ERR_DEADLOCK);
            EXPECT(strstr(s->text[k], "nothing has happened on any rank for 2 s, and none of them can go on") != NULL);
            EXPECT(strstr(s->text[k], "\n  rank 2: has a message of another size from rank 1, for task 1") != NULL);
            EXPECT(strstr(s->text[k], at_end) != NULL);
        }
    }
}

static void expect_end(enum fault fault)
{
    for (int engine = 0; engine < 2; engine++) {
        const struct shared *s = run_with(fault, engine ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS, 0, 0, 0);
        for (int k = 0; k < RANKS; k++) {
            if (s->status[k] != PTO_OK) fprintf(stderr, "rank %d: %s\n", k, s->text[k]);
            EXPECT_EQ(s->status[k], PTO_OK);
        }
    }
}

TEST(a_long_kernel_is_waited_for)
{
    expect_end(SLOW_KERNEL);
}
TEST(a_slow_program_is_waited_for)
{
    expect_end(SLOW_PROGRAM);
}
TEST(a_rank_that_begins_late_is_waited_for)
{
    expect_end(BEGINS_LATE);
}
