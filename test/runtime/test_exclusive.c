/* test_exclusive.c - in which order tasks start that update the same accumulators. */
#include "submit.h"
#include "unit.h"

enum { MOST = 16 };

/* In the order of their starts: the numbers of the tasks. */
static int64_t started[MOST];
static int count;

static int64_t cost_of(const PTOArg *args) { return args[0].value.i64; }
static int note(const PTOArg *args)
{
    if (count < MOST) started[count++] = args[1].value.i64;
    return 0;
}
static int update(const PTOArg *args)
{
    *(float *)args[2].ptr += 1;
    return 0;
}
static const PTOKernel updating = {.name = "updating", .worker = PTO_WORKER_VECTOR, .fn = update};
static const PTOKernel task = {.name = "task", .worker = PTO_WORKER_VECTOR, .fn = note, .cost = cost_of};

#define UPDATE(x) PTO_ACC(x, 0, PTO_ARRAY(PTO_F32, 1))
#define COST(n)   PTO_SCALAR((int64_t)(n))
#define NUMBER(n) PTO_SCALAR((int64_t)(n))
#define TASK(...) SUBMIT(rt, &task, __VA_ARGS__)

static void check(void (*fn)(PTORuntime *, void *), const char *want)
{
    static float cells[2 * 64]; /* two accumulators, a cache line or more apart */
    char got[2 * MOST + 1] = "";
    count = 0;
    const PTOConfig c = {.engine = PTO_ENGINE_TIMING, .workers = {[PTO_WORKER_VECTOR] = 4}};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    EXPECT(rt);
    EXPECT_EQ(pto_runtime_run(rt, fn, cells), PTO_OK);
    pto_runtime_destroy(rt);
    for (int i = 0; i < count; i++) got[i] = (char)('0' + started[i]);
    EXPECT_STR(got, want);
}

/* The first holds it; then the most urgent goes, and of equals the oldest. */
static void with_priorities(PTORuntime *rt, void *arg)
{
    float *x = arg;
    static const int priority[] = {0, 0, 2, 0, 7, 2};
    for (int i = 0; i < 6; i++) TASK(PTO_PRIORITY(priority[i]), COST(10), NUMBER(i), UPDATE(x));
}
TEST(the_most_urgent_is_next_and_of_equals_the_oldest)
{
    check(with_priorities, "042513");
}

/* 2 needs both, and waits for 1 when 0 has ended; 3 needs the first only, and need not wait for 2. */
static void with_two(PTORuntime *rt, void *arg)
{
    float *x = arg, *y = x + 64;
    TASK(COST(10), NUMBER(0), UPDATE(x));
    TASK(COST(50), NUMBER(1), UPDATE(y));
    TASK(COST(10), NUMBER(2), UPDATE(x), UPDATE(y));
    TASK(COST(10), NUMBER(3), UPDATE(x));
    TASK(COST(10), NUMBER(4), UPDATE(y));
}
TEST(a_task_that_waits_for_another_accumulator_lets_the_next_one_go)
{
    check(with_two, "01324");
}

/* Whatever becomes of them: none is forgotten. */
static void with_failure(PTORuntime *rt, void *arg)
{
    float *x = arg, *y = x + 64;
    for (int i = 0; i < 200; i++)
        if (i % 3 == 0)
            SUBMIT(rt, &updating, COST(0), NUMBER(i), UPDATE(x), UPDATE(y));
        else
            SUBMIT(rt, &updating, COST(0), NUMBER(i), UPDATE(i % 3 == 1 ? x : y));
    pto_cancel(rt);
}
TEST(a_cancelled_run_ends_while_tasks_wait_for_accumulators)
{
    static float cells[2 * 64];
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.always_defer = true, .workers = {[PTO_WORKER_VECTOR] = 2}}, NULL);
    for (int i = 0; i < 20; i++) EXPECT_EQ(pto_runtime_run(rt, with_failure, cells), PTO_ERR_CANCELLED);
    pto_runtime_destroy(rt);
}
