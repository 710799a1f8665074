/* test_accumulate.c - accumulators whose parts combine: when they are folded, what a run reports, what is refused. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>

static int add(const PTOArg *args)
{
    *(float *)args[0].ptr += args[1].value.f32;
    return 0;
}
static int copy(const PTOArg *args)
{
    memcpy(args[1].ptr, args[0].ptr, sizeof(float));
    return 0;
}
static int fails(const PTOArg *args)
{
    *(float *)args[0].ptr = 1e9f;
    return 7;
}
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};
static const PTOKernel copy_kernel = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = copy};
static const PTOKernel failing = {.name = "fails", .worker = PTO_WORKER_VECTOR, .fn = fails};

struct test {
    float *x; /* shared: several floats */
    int tasks;
    int64_t result;
    int case_;
};

#define CELL(kind, p, i) kind(p, i, PTO_ARRAY(PTO_F32, 1))

static void submit_adds(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    for (int i = 0; i < t->tasks; i++)
        SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_F32, 1)), PTO_SCALAR(1.0f));
}

static PTORunStats run(PTOConfig c, void (*fn)(PTORuntime *, void *), struct test *t, PTOStatus want)
{
    t->x = pto_shared_alloc(4096);
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    EXPECT(rt);
    const PTOStatus status = pto_run_entry(rt, fn, t);
    if (status != want) fprintf(stderr, "%s\n", pto_last_error(rt));
    EXPECT_EQ(status, want);
    const PTORunStats s = *pto_get_run_stats(rt);
    pto_runtime_destroy(rt);
    return s;
}

static void free_test(struct test *t) { pto_shared_free(t->x, 4096); }

TEST(folds_are_counted_apart)
{
    struct test t = {.tasks = 200};
    for (int defer = 0; defer < 2; defer++) {
        const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .always_defer = defer};
        const PTORunStats s = run(c, submit_adds, &t, PTO_OK);
        EXPECT(t.x[0] == 200);
        EXPECT_EQ(s.tasks, 200);
        EXPECT_EQ(s.folds, defer ? 4 : 200); /* of 62 parts; or of one, where the task is executed inline */
        EXPECT_EQ(s.at_submit, defer ? 0 : 200);
        free_test(&t);
    }
}

/* On simulated workers each task costs 1 and a fold 1 + 62 / 32, so 62 of them are 62 times as fast. */
TEST(tasks_are_free_of_each_other)
{
    struct test t = {.tasks = 62};
    const PTOConfig c = {.engine = PTO_ENGINE_TIMING, .workers = {[PTO_WORKER_VECTOR] = 62}};
    EXPECT(run(c, submit_adds, &t, PTO_OK).cycles <= 4);
    free_test(&t);
}

static void read_between(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    for (int i = 1; i <= 3; i++) {
        SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_F32, 1)), PTO_SCALAR(1.0f));
        SUBMIT(rt, &copy_kernel, CELL(PTO_INPUT, t->x, 0), CELL(PTO_INOUT, t->x, i));
    }
    t->result = pto_await(rt, t->x, 0, 4);
}

TEST(readers_see_what_was_added)
{
    struct test t = {0};
    const PTOConfig c = {.engine = PTO_ENGINE_THREADS, .always_defer = true, .task_window = 2};
    EXPECT_EQ(run(c, read_between, &t, PTO_OK).folds, 3);
    EXPECT(t.x[0] == 3 && t.x[1] == 1 && t.x[2] == 2 && t.x[3] == 3);
    EXPECT_EQ(t.result, PTO_OK);
    free_test(&t);
}

static int sum_of_inputs(const PTOArg *args)
{
    float sum = 0;
    for (int i = 1; i < PTO_MAX_PARAMS; i++) sum += *(float *)args[i].ptr;
    *(float *)args[0].ptr = sum;
    return 0;
}
static const PTOKernel sum_kernel = {.name = "sum", .worker = PTO_WORKER_VECTOR, .fn = sum_of_inputs};

static void read_by_a_longest_list(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    PTOTaskParam params[PTO_TASK_PARAMS] = {CELL(PTO_INOUT, t->x, 1)};
    const PTOTaskParam cell = CELL(PTO_INPUT, t->x, 0);
    for (int i = 1; i < PTO_MAX_PARAMS; i++) params[i] = cell;
    params[PTO_MAX_PARAMS + 0] = (PTOTaskParam)PTO_PRIORITY(1);
    params[PTO_MAX_PARAMS + 1] = (PTOTaskParam)PTO_NAME("longest");
    params[PTO_MAX_PARAMS + 2] = (PTOTaskParam)PTO_TIMEOUT(60000);
    params[PTO_MAX_PARAMS + 3] = (PTOTaskParam)PTO_AT(0);
    submit_adds(rt, t);
    t->result = pto_submit_task(rt, &sum_kernel, params, PTO_TASK_PARAMS);
}

TEST(the_longest_list_of_parameters_folds_what_it_reads)
{
    struct test t = {.tasks = 3};
    const PTOConfig c = {.engine = PTO_ENGINE_THREADS, .always_defer = true};
    EXPECT_EQ(run(c, read_by_a_longest_list, &t, PTO_OK).folds, 1);
    EXPECT(t.x[1] == 3 * (PTO_MAX_PARAMS - 1));
    free_test(&t);
}

static void in_scopes(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    pto_scope_begin(rt);
    float *held = pto_alloc(rt, PTO_SCOPE_CURRENT, 4);
    pto_await_users(rt, held, 0, 4);
    *(float *)pto_where(rt, held) = 0;
    for (int i = 0; i < 5; i++) { /* the parts wait while the scopes of the tasks end */
        pto_scope_begin(rt);
        SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, held, 0, PTO_ARRAY(PTO_F32, 1)), PTO_SCALAR(1.0f));
        pto_scope_end(rt);
    }
    if (t->case_ == 0) SUBMIT(rt, &copy_kernel, CELL(PTO_INPUT, held, 0), CELL(PTO_INOUT, t->x, 0));
    if (t->case_ == 1) pto_release(rt, held);
    pto_scope_end(rt);
}

TEST(parts_belong_to_the_owner_of_the_accumulator)
{
    for (int i = 0; i < 3; i++) {
        struct test t = {.case_ = i};
        const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .always_defer = true, .heap_bytes = 1024, .heap_rings = 1};
        EXPECT_EQ(run(c, in_scopes, &t, PTO_OK).folds, 1);
        EXPECT(t.x[0] == (i == 0 ? 5 : 0));
        free_test(&t);
    }
}

TEST(a_heap_of_one_part_is_enough)
{
    struct test t = {.tasks = 100};
    const PTOConfig c = {
        .engine = PTO_ENGINE_THREADS, .always_defer = true, .heap_bytes = 64, .heap_rings = 1, .task_window = 64};
    EXPECT_EQ(run(c, submit_adds, &t, PTO_OK).folds, 100);
    EXPECT(t.x[0] == 100);
    free_test(&t);
}

static void fail_one(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    submit_adds(rt, t);
    SUBMIT(rt, &failing, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_F32, 1)));
    submit_adds(rt, t);
    t->result = pto_await(rt, t->x, 0, 4);
}

TEST(the_part_of_a_failed_task_is_not_folded)
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 4; e++)
        for (int defer = 0; defer < 2; defer++) {
            struct test t = {.tasks = 30};
            const PTOConfig c = {.engine = engines[e], .always_defer = defer};
            run(c, fail_one, &t, PTO_ERR_KERNEL);
            EXPECT(t.x[0] <= 60); /* undefined, but nothing that no task has computed */
            free_test(&t);
        }
}

static int crashes(const PTOArg *args)
{
    *(float *)args[0].ptr = 0;
    abort();
}
static const PTOKernel crashing = {.name = "fails", .worker = PTO_WORKER_VECTOR, .fn = crashes};

enum { FAILING_NUMBER = 142 };
static void fail_by_number(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    for (int i = 0; i < FAILING_NUMBER; i++) /* two regions, so that folds stand between their tasks on every engine */
        SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x + i % 2, 0, PTO_ARRAY(PTO_F32, 1)), PTO_SCALAR(1.0f));
    t->result = SUBMIT(rt, t->case_ ? &crashing : &failing, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_F32, 1)));
    submit_adds(rt, t);
}

static void expect_number(const PTOConfig *c, bool crashes)
{
    struct test t = {.x = pto_shared_alloc(4096), .tasks = 70, .case_ = crashes};
    PTORuntime *rt = pto_runtime_create(c, NULL);
    EXPECT(rt);
    EXPECT_EQ(pto_run_entry(rt, fail_by_number, &t), crashes ? PTO_ERR_LOST : PTO_ERR_KERNEL);
    if (!strstr(pto_last_error(rt), "(task 142)")) fprintf(stderr, "engine %d: %s\n", c->engine, pto_last_error(rt));
    EXPECT(strstr(pto_last_error(rt), "kernel 'fails' ") && strstr(pto_last_error(rt), "(task 142)"));
    pto_runtime_destroy(rt);
    free_test(&t);
}

TEST(a_task_has_the_same_number_on_all_engines_with_folds_before_it)
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 4; e++)
        for (int way = 0; way < 4; way++)
            expect_number(
                &(PTOConfig){
                    .engine = engines[e], .always_defer = way == 1, .checked = way == 2, .record_tasks = way == 3},
                false);
    expect_number(&(PTOConfig){.engine = PTO_ENGINE_PROCESS}, true);
}

static void cancel(PTORuntime *rt, void *arg)
{
    submit_adds(rt, arg);
    pto_cancel(rt);
    submit_adds(rt, arg);
}

TEST(cancelled_runs_end)
{
    struct test t = {.tasks = 20};
    const PTOConfig c = {.engine = PTO_ENGINE_THREADS, .always_defer = true, .heap_bytes = 256, .heap_rings = 1};
    run(c, cancel, &t, PTO_ERR_CANCELLED);
    free_test(&t);
}

static void wrong(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    switch (t->case_) {
    case 0: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_XOR, t->x, 0, PTO_ARRAY(PTO_F32, 1))); break;
    case 1: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_BOOL, 1))); break;
    case 2: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, 4)); break;
    case 3: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_COUNT, t->x, 0, PTO_ARRAY(PTO_F32, 1))); break;
    case 4: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, NULL, 0, PTO_ARRAY(PTO_F32, 1))); break;
    default: t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, pto_alloc(rt, 0, 4), 0, PTO_ARRAY(PTO_F32, 2)));
    }
}

TEST(what_is_refused)
{
    static const PTOStatus want[] = {PTO_ERR_ARGUMENT, PTO_ERR_ARGUMENT,  PTO_ERR_ARGUMENT,
                                     PTO_ERR_ARGUMENT, PTO_ERR_UNWRITTEN, PTO_ERR_BOUNDS};
    for (int i = 0; i < 6; i++)
        for (int defer = 0; defer < 2; defer++) {
            struct test t = {.case_ = i};
            const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .always_defer = defer};
            run(c, wrong, &t, want[i]);
            free_test(&t);
        }
}

static void empty(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    t->result = SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, 0, PTO_ARRAY(PTO_F32, 0)), PTO_SCALAR(1.0f));
}

TEST(empty_accumulators_are_no_task)
{
    struct test t = {0};
    EXPECT_EQ(run((PTOConfig){.engine = PTO_ENGINE_SERIAL, .always_defer = true}, empty, &t, PTO_OK).folds, 0);
    EXPECT_EQ(t.result, PTO_NO_TASK);
    free_test(&t);
}

static void many_regions(PTORuntime *rt, void *arg)
{
    struct test *t = arg;
    for (int round = 0; round < t->tasks; round++)
        for (int i = 0; i < t->case_; i++)
            SUBMIT(rt, &add_kernel, PTO_ACC_BY(PTO_BY_SUM, t->x, i, PTO_ARRAY(PTO_F32, 1)), PTO_SCALAR(1.0f));
}

TEST(more_regions_than_groups)
{
    struct test t = {.tasks = 3, .case_ = 300};
    run((PTOConfig){.engine = PTO_ENGINE_THREADS, .always_defer = true}, many_regions, &t, PTO_OK);
    for (int i = 0; i < t.case_; i++) EXPECT(t.x[i] == 3);
    free_test(&t);
}

TEST(as_many_regions_as_groups_have_whole_folds)
{
    struct test t = {.tasks = 2 * 62, .case_ = 256};
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS};
    for (int e = 0; e < 2; e++) {
        const PTOConfig c = {.engine = engines[e], .always_defer = true, .heap_bytes = 16 << 20};
        EXPECT_EQ(run(c, many_regions, &t, PTO_OK).folds, 2 * 256);
        for (int i = 0; i < t.case_; i++) EXPECT(t.x[i] == 2 * 62);
        free_test(&t);
    }
}

TEST(nothing_runs_on_the_engine_graph)
{
    struct test t = {.tasks = 70};
    const PTORunStats s = run((PTOConfig){.engine = PTO_ENGINE_GRAPH}, submit_adds, &t, PTO_OK);
    EXPECT_EQ(s.tasks, 70);
    EXPECT_EQ(s.folds, 2);
    EXPECT(t.x[0] == 0);
    free_test(&t);
}
