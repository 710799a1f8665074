/* test_read_only.c - what an entry only reads is not looked up; a task that writes there nevertheless breaks
 * nothing. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <string.h>
#include <time.h>

enum { READERS = 24 };

static int64_t x[8], seen[READERS], y[8];

/* Slow, so that whoever does not wait comes first. */
static void pause_a_little(void)
{
    const struct timespec pause = {.tv_nsec = 300000};
    nanosleep(&pause, NULL);
}
static int copy_slowly(const PTOArg *a)
{
    pause_a_little();
    memcpy(a[1].ptr, a[0].ptr, sizeof(int64_t));
    return 0;
}
static int set_slowly(const PTOArg *a)
{
    pause_a_little();
    memcpy(a[0].ptr, &a[1].value.i64, sizeof(int64_t));
    return 0;
}
static int set_at_once(const PTOArg *a)
{
    memcpy(a[0].ptr, &a[1].value.i64, sizeof(int64_t));
    return 0;
}
static const PTOKernel copying = {.name = "copying", .worker = PTO_WORKER_VECTOR, .fn = copy_slowly};
static const PTOKernel setting_slowly = {.name = "setting slowly", .worker = PTO_WORKER_VECTOR, .fn = set_slowly};
static const PTOKernel setting = {.name = "setting", .worker = PTO_WORKER_VECTOR, .fn = set_at_once};

static void read_all(PTORuntime *rt)
{
    for (int i = 0; i < READERS; i++)
        SUBMIT(rt, &copying, PTO_INPUT(x, 0, sizeof *x), PTO_INOUT(&seen[i], 0, sizeof *seen));
}

static PTORuntime *create(PTOEngine engine)
{
    PTOConfig c = {.engine = engine, .workers = {[PTO_WORKER_VECTOR] = 4}, .always_defer = true};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    return rt;
}

static void expect_seen(int64_t value)
{
    for (int i = 0; i < READERS; i++) EXPECT_EQ(seen[i], value);
}

/* ---- one array as two arguments ---- */

static void read_then_write_then_read(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_input(rt, x, sizeof x);
    pto_buffer(rt, seen, sizeof seen);
    read_all(rt);
    /* the same memory, as something that is written */
    SUBMIT(rt, &setting, PTO_INOUT(x, 0, sizeof *x), PTO_SCALAR((int64_t)2));
    SUBMIT(rt, &copying, PTO_INPUT(x, 0, sizeof *x), PTO_INOUT(y, 0, sizeof *y));
    SUBMIT(rt, &setting_slowly, PTO_INOUT(x, 0, sizeof *x), PTO_SCALAR((int64_t)3));
    SUBMIT(rt, &copying, PTO_INPUT(x, 0, sizeof *x), PTO_INOUT(&y[1], 0, sizeof *y));
}

TEST(a_write_to_an_input_waits_for_its_readers_and_is_followed_by_later_ones)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    for (int round = 0; round < 5; round++) {
        memset(seen, 0, sizeof seen);
        x[0] = 1;
        EXPECT_EQ(pto_run_entry(rt, read_then_write_then_read, NULL), PTO_OK);
        expect_seen(1);
        EXPECT_EQ(y[0], 2);
        EXPECT_EQ(y[1], 3);
        EXPECT_EQ(x[0], 3);
    }
    pto_runtime_destroy(rt);
}

/* A task that reads an input and writes half of it, and then one that writes the other half. */
static int sum_slowly(const PTOArg *a)
{
    const int64_t *from = a[0].ptr;
    pause_a_little();
    *(int64_t *)a[1].ptr = from[0] + from[1];
    return 0;
}
static const PTOKernel summing = {.name = "summing", .worker = PTO_WORKER_VECTOR, .fn = sum_slowly};

static void read_and_write_half(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_input(rt, x, 2 * sizeof *x);
    SUBMIT(rt, &summing, PTO_INPUT(x, 0, 2 * sizeof *x), PTO_INOUT(&x[1], 0, sizeof *x));
    SUBMIT(rt, &setting, PTO_INOUT(x, 0, sizeof *x), PTO_SCALAR((int64_t)100));
}

TEST(a_task_that_writes_into_its_input_is_a_reader_that_is_known)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    for (int round = 0; round < 20; round++) {
        x[0] = 1, x[1] = 2;
        EXPECT_EQ(pto_run_entry(rt, read_and_write_half, NULL), PTO_OK);
        EXPECT_EQ(x[1], 3);
        EXPECT_EQ(x[0], 100);
    }
    pto_runtime_destroy(rt);
}

/* ---- what was in flight before ---- */

static void inner(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_input(rt, x, sizeof x);
    read_all(rt);
}

static void write_then_call(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &setting_slowly, PTO_INOUT(x, 0, sizeof *x), PTO_SCALAR((int64_t)7));
    pto_run_entry(rt, inner, NULL);
    SUBMIT(rt, &setting, PTO_INOUT(x, 0, sizeof *x), PTO_SCALAR((int64_t)8));
}

TEST(an_entry_inside_of_a_run_reads_what_the_run_has_written)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    for (int round = 0; round < 5; round++) {
        x[0] = 1;
        EXPECT_EQ(pto_runtime_run(rt, write_then_call, NULL), PTO_OK);
        expect_seen(7);
        x[0] = 1;
        EXPECT_EQ(pto_run_entry(rt, write_then_call, NULL), PTO_OK);
        expect_seen(7);
        EXPECT_EQ(x[0], 8);
    }
    pto_runtime_destroy(rt);
}

/* ---- what it is for ---- */

static void read_only(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) pto_input(rt, x, sizeof x); /* too many are as good as one */
    read_all(rt);
}

TEST(readers_of_inputs_need_no_entries_of_the_map)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    pto_reset_flow_stats(rt);
    EXPECT_EQ(pto_run_entry(rt, read_only, NULL), PTO_OK);
    EXPECT(pto_get_flow_stats(rt)->tensormap_pool_hwm <= READERS); /* what each writes */
    pto_runtime_destroy(rt);
}
