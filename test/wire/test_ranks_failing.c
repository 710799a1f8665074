/* test_ranks_failing.c - failures, refusals and disagreements are those of all ranks.  Refusals before a run are in
 * test_ranks_refused.c. */
#include "matrix.h"

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* What the program of a run does wrong. */
enum mistake { NONE, FAILS, UNREGISTERED, NEGATIVE_BYTES, TOO_MANY, DISAGREES, DISAGREES_LATE, ENDS_EARLY, ENDS_LATER };

static int fails_late(const PTOArg *a) { return a[1].value.i64 == 17 ? 5 : 0; }
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = fails_late};

/* As many parameters as a call can name, and each but the first is read and written. */
static int64_t submit_too_many(PTORuntime *rt, double *matrix)
{
    const struct rectangle row = {0, {1, SIDE}, {SIDE, 1}};
    const PTOPart part = {.rank = 2, .shape = (int64_t[]){1, 1}, .stride = (int64_t[]){SIDE, 1}};
    void *made = NULL;
    PTOTaskParam params[PTO_TASK_PARAMS] = {view_to(PTO_PARAM_OUTPUT, NULL, &row, &made)};
    for (int i = 1; i < PTO_TASK_PARAMS; i++) params[i] = view_to(PTO_PARAM_INOUT_PART, matrix, &row, &part);
    return pto_submit_task(rt, &failing, params, PTO_TASK_PARAMS);
}

static void each_row(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    static double unknown[4];
    const int64_t number = p->shared->number;
    for (int64_t n = 0; n < 200; n++) {
        const struct rectangle a = {n % SIDE * SIDE, {1, SIDE}, {SIDE, 1}},
                               b = {(n * 7 + 1) % SIDE * SIDE, {1, SIDE}, {SIDE, 1}};
        const int64_t scalar = number == DISAGREES && n == 123 && p->rank == 1 ? -1 : n;
        PTOTaskParam params[] = {view(PTO_PARAM_INPUT, p->matrix, &a), view_to(PTO_PARAM_OUTPUT, NULL, &b, &p->matrix),
                                 PTO_SCALAR(scalar)};
        PTOTaskParam fails[] = {view(PTO_PARAM_INOUT, p->matrix, &a), PTO_SCALAR(n)};
        PTOTaskParam wrong[] = {PTO_INOUT(unknown, 0, sizeof unknown), PTO_SCALAR(n)};
        PTOTaskParam negative[] = {PTO_INOUT(p->matrix, 0, -8), PTO_SCALAR(n)};
        if (number == FAILS && pto_submit_task(rt, &failing, fails, 2) < 0) return;
        if (number == UNREGISTERED && n == 20 && pto_submit_task(rt, &failing, wrong, 2) < 0) return;
        if (number == TOO_MANY && n == 20 && submit_too_many(rt, p->matrix) < 0) return;
        if (number == NEGATIVE_BYTES && n == 20 && pto_submit_task(rt, &failing, negative, 2) < 0) return;
        if (pto_submit_task(rt, &overwrites, params, 3) < 0) return;
    }
}

static int does_nothing(const PTOArg *a) { return a[0].ptr ? 0 : 1; }
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = does_nothing};
enum { MANY = 4 * COMPARED_STEPS, WRONG_AT = COMPARED_STEPS + 77, EARLY = 77 };

/* No await: only the comparisons on the way find what differs. */
static void many_rows(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    const bool is_wrong = p->shared->number == DISAGREES_LATE && p->rank == 1,
               is_early = p->shared->number == ENDS_EARLY, is_later = p->shared->number == ENDS_LATER;
    int64_t count = is_early ? 2 * EARLY : MANY;
    if (p->rank == 1 && is_early) count = EARLY;
    if (p->rank == 1 && is_later) count = WRONG_AT;
    for (int64_t n = 0; n < count; n++) {
        const struct rectangle a = {n % SIDE * SIDE, {1, SIDE}, {SIDE, 1}};
        const PTOTaskParam params[] = {view(PTO_PARAM_INOUT, p->matrix, &a),
                                       PTO_SCALAR(is_wrong && n == WRONG_AT ? -1 : n)};
        if (pto_submit_task(rt, &nothing, params, 2) < 0) return;
        p->shared->ids[p->rank] = n;
    }
}

static int run_failing(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    const bool is_long = shared->number >= DISAGREES_LATE;
    PTORuntime *rt = create(w, shared->seed ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL, is_long ? 512 : 8);
    if (!rt) return 1;
    distribute(rt, matrix, SIDE, 1, SIDE, 3, 1);
    shared->status[rank] = pto_runtime_run(rt, is_long ? many_rows : each_row, &p);
    snprintf(shared->text[rank], sizeof shared->text[rank], "%s", pto_last_error(rt));
    /* the runtime can be used again */
    shared->number = NONE;
    distribute(rt, matrix, SIDE, 1, SIDE, 3, 1);
    const PTOStatus again = w->ranks && shared->grid ? PTO_OK : pto_runtime_run(rt, each_row, &p);
    if (again != PTO_OK) fprintf(stderr, "again: %s\n", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return again != PTO_OK;
}

static void expect_failure(struct shared *s, enum mistake number, int lost_of, int want, const char *text)
{
    for (uint64_t engine = 0; engine < 2; engine++) {
        *s = (struct shared){.seed = engine, .number = number, .grid = lost_of};
        const struct medium_config medium = {.ranks = 3, .slots = 5, .seed = 3, .latest = 4, .lost_of = lost_of};
        EXPECT_EQ(ranks_run(&medium, run_failing, s), 0);
        for (int k = 0; k < 3; k++) {
            if (s->status[k] != want || !strstr(s->text[k], text))
                fprintf(stderr, "rank %d: %d, %s\n", k, s->status[k], s->text[k]);
            EXPECT_EQ(s->status[k], want);
            EXPECT(strstr(s->text[k], text) != NULL);
        }
    }
}

TEST(a_kernel_that_fails_ends_the_run_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, FAILS, 0, PTO_ERR_KERNEL, "kernel 'failing' failed: it returned 5");
    int elsewhere = 0; /* row 17 % 16 lives on rank 1 */
    for (int k = 0; k < 3; k++) elsewhere += strstr(s->text[k], "(on rank 1, ") != NULL;
    EXPECT_EQ(elsewhere, 2);
}

static int adds_one(const PTOArg *a)
{
    double *x = a[0].ptr;
    for (int64_t i = 0; i < a[0].shape[1]; i++) x[i * a[0].stride[1]] += 1;
    return (int)a[1].value.i64;
}
static const PTOKernel adding = {.name = "adding", .worker = PTO_WORKER_VECTOR, .fn = adds_one};

static void fold_rows(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    for (int64_t n = 0; n < 200; n++) {
        const struct rectangle a = {n % 3 * SIDE, {1, SIDE}, {SIDE, 1}};
        const PTOTaskParam params[] = {view_of(PTO_PARAM_ACC_BY, p->matrix, &a, PTO_BY_SUM),
                                       PTO_SCALAR((int64_t)(n == 142 ? 3 : 0))};
        if (pto_submit_task(rt, &adding, params, 2) < 0) return;
        if (n % 20 == 19 && pto_await(rt, p->matrix, 0, sizeof(double)) < 0) return;
    }
}

static int run_folding(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    PTORuntime *rt = create(w, shared->seed ? PTO_ENGINE_THREADS : PTO_ENGINE_SERIAL, 64);
    if (!rt) return 1;
    distribute(rt, matrix, SIDE, 1, SIDE, 3, 1);
    shared->status[rank] = pto_runtime_run(rt, fold_rows, &p);
    snprintf(shared->text[rank], sizeof shared->text[rank], "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return 0;
}

TEST(folds_do_not_change_the_number_of_a_task_that_fails)
{
    struct shared *s = ranks_share(sizeof *s);
    for (uint64_t engine = 0; engine < 2; engine++) {
        *s = (struct shared){.seed = engine};
        const struct medium_config medium = {.ranks = 3, .slots = 5, .seed = 3, .latest = 4};
        EXPECT_EQ(ranks_run(&medium, run_folding, s), 0);
        for (int k = 0; k < 3; k++) {
            if (!strstr(s->text[k], "(task 142)")) fprintf(stderr, "rank %d: %s\n", k, s->text[k]);
            EXPECT_EQ(s->status[k], PTO_ERR_KERNEL);
            EXPECT(strstr(s->text[k], "(task 142)") != NULL);
        }
    }
}

/* Each rank but the first hears of others when it has failed itself, or while it fails. */
static struct {
    const struct wire_ops *ops;
    PTORuntime *rt;
    bool fails_meanwhile;
    _Atomic bool has_begun, has_heard; /* the former: its kernel, which needs no lock of the transfers any more */
} deaf;

static bool listen_late(struct wire *w, struct wire_failure *failure)
{
    if (!deaf.fails_meanwhile) return pto_runtime_status(deaf.rt) != PTO_OK && deaf.ops->listen(w, failure);
    if (!deaf.has_begun || !deaf.ops->listen(w, failure)) return false;
    deaf.has_heard = true;
    while (pto_runtime_status(deaf.rt) == PTO_OK) ptoi_yield();
    return true;
}

/* row, its number */
static int fails_at_once(const PTOArg *a)
{
    deaf.has_begun = true;
    while (deaf.fails_meanwhile && a[1].value.i64 > 0 && !deaf.has_heard) ptoi_yield();
    return (int)(10 + a[1].value.i64);
}
static const PTOKernel failing_at_once = {.name = "at once", .worker = PTO_WORKER_VECTOR, .fn = fails_at_once};

static void three_rows(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    for (int64_t n = 0; n < 3; n++) {
        const struct rectangle a = {n * SIDE, {1, SIDE}, {SIDE, 1}};
        PTOTaskParam params[] = {view(PTO_PARAM_INOUT, p->matrix, &a), PTO_SCALAR(n)};
        if (pto_submit_task(rt, &failing_at_once, params, 2) < 0) return;
    }
}

static int run_at_once(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    struct wire_ops ops = *w->ops;
    deaf.ops = w->ops;
    deaf.fails_meanwhile = shared->number == 1;
    ops.listen = listen_late;
    w->ops = &ops;
    deaf.rt = create(w, PTO_ENGINE_THREADS, 8);
    if (!deaf.rt) return 1;
    for (int k = 0; k < 3; k++) {
        deaf.has_begun = deaf.has_heard = false;
        distribute(deaf.rt, matrix, SIDE, 1, SIDE, 3, 1);
        shared->status[rank] = pto_runtime_run(deaf.rt, three_rows, &p);
        snprintf(shared->text[rank], sizeof shared->text[rank], "%s", pto_last_error(deaf.rt));
    }
    pto_runtime_destroy(deaf.rt);
    w->ops = deaf.ops;
    return 0;
}

/* Every rank fails by itself, and all report the failure of the oldest task. */
static void expect_the_oldest_failure(int64_t number)
{
    struct shared *s = ranks_share(sizeof *s);
    s->number = number;
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = 3, .slots = 5, .latest = 4}, run_at_once, s), 0);
    for (int k = 0; k < 3; k++) {
        if (!strstr(s->text[k], "it returned 10 (task 0)")) fprintf(stderr, "rank %d: %s\n", k, s->text[k]);
        EXPECT_EQ(s->status[k], PTO_ERR_KERNEL);
        EXPECT(strstr(s->text[k], "kernel 'at once' failed: it returned 10 (task 0)") != NULL);
        EXPECT_EQ(strstr(s->text[k], "(on rank 0, ") != NULL, k != 0);
    }
}

TEST(the_oldest_failure_is_reported)
{
    expect_the_oldest_failure(0);
}
TEST(a_failure_that_is_heard_while_a_rank_fails_is_not_lost)
{
    expect_the_oldest_failure(1);
}

TEST(ranks_that_disagree_are_found_at_their_step)
{
    expect_failure(ranks_share(sizeof(struct shared)), DISAGREES, 0, PTO_ERR_STATE,
                   "ranks 0 and 1 disagree at step 123 of the program: scalar 2 is 123 and -1; what it does");
}

TEST(ranks_that_disagree_are_found_while_they_run)
{
    struct shared *s = ranks_share(sizeof *s);
    char text[128];
    snprintf(text, sizeof text, "ranks 0 and 1 disagree at step %d of the program: scalar 1 is %d and -1;", WRONG_AT,
             WRONG_AT);
    expect_failure(s, DISAGREES_LATE, 0, PTO_ERR_STATE, text);
    /* at that comparison; or before, where other work on the machine has stopped the ranks for 2 s */
    for (int k = 0; k < 3; k++) EXPECT(s->ids[k] >= WRONG_AT && s->ids[k] < 3 * COMPARED_STEPS);
}

TEST(a_rank_whose_program_ends_early_is_found)
{
    expect_failure(ranks_share(sizeof(struct shared)), ENDS_EARLY, 0, PTO_ERR_STATE,
                   "ranks 0 and 1 disagree at step 77 of the program: the program asks for a task and the end of the "
                   "program;");
}

/* The other ranks hear of it one comparison later, when their oldest steps are no longer kept. */
TEST(a_rank_whose_program_ends_after_a_comparison_is_found)
{
    char text[128];
    snprintf(
        text, sizeof text,
        "ranks 0 and 1 disagree at step %d of the program: the program asks for a task and the end of the program;",
        WRONG_AT);
    expect_failure(ranks_share(sizeof(struct shared)), ENDS_LATER, 0, PTO_ERR_STATE, text);
}

TEST(more_parameters_than_a_task_may_have_are_refused)
{
    expect_failure(ranks_share(sizeof(struct shared)), TOO_MANY, 0, PTO_ERR_ARGUMENT, "64 parameters");
}

/* A mistake that all ranks make is reported by each of them as its own. */
static void expect_refusal(enum mistake number, const char *text)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, number, 0, PTO_ERR_ARGUMENT, text);
    for (int k = 0; k < 3; k++) EXPECT(!strstr(s->text[k], "(on rank "));
}

TEST(memory_that_is_not_registered_is_refused)
{
    expect_refusal(UNREGISTERED, "pto_buffer has not registered");
}

TEST(a_parameter_that_the_submit_refuses_is_refused_on_all_ranks)
{
    expect_refusal(NEGATIVE_BYTES, "-8 bytes");
}

TEST(a_message_that_is_lost_ends_the_run_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    expect_failure(s, NONE, 10, PTO_ERR_LOST, "a piece, u64[1, 16], was not sent to rank ");
    for (int k = 0; k < 3; k++) EXPECT(strstr(s->text[k], ": the message was lost (transfer ") != NULL);
}

/* ---- the end of a run -------------------------------------------------------------------------------------------- */

static struct {
    const struct wire_ops *ops;
    PTORuntime *rt;
    int cancels;
} late;

/* A signal comes when this rank has heard that all have ended well. */
static enum wire_answer reduce_and_cancel(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least,
                                          uint64_t *most)
{
    const enum wire_answer answer = late.ops->reduce(w, is_last, mine, least, most);
    if (is_last && answer == WIRE_DONE && w->rank == 1) {
        late.cancels++;
        pto_cancel(late.rt);
    }
    return answer;
}

static int run_cancelled_late(struct wire *w, int rank, void *arg)
{
    static double matrix[CELLS];
    struct shared *shared = arg;
    struct program p = {.shared = shared, .matrix = matrix, .rank = rank};
    struct wire_ops ops = *w->ops;
    late.ops = w->ops;
    ops.reduce = reduce_and_cancel;
    w->ops = &ops;
    late.rt = create(w, PTO_ENGINE_THREADS, 8);
    distribute(late.rt, matrix, SIDE, 1, SIDE, 3, 1);
    shared->number = NONE;
    for (int k = 0; k < 2; k++) shared->status[rank] += pto_runtime_run(late.rt, each_row, &p) != PTO_OK;
    pto_runtime_destroy(late.rt);
    w->ops = late.ops;
    return late.cancels != (rank == 1 ? 2 : 0);
}

TEST(a_run_has_one_status_on_all_ranks)
{
    struct shared *s = ranks_share(sizeof *s);
    EXPECT_EQ(ranks_run(&(struct medium_config){.ranks = 3, .slots = 5, .latest = 4}, run_cancelled_late, s), 0);
    for (int k = 0; k < 3; k++) EXPECT_EQ(s->status[k], 0);
}
