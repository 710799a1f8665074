/* test_causes.c - where the time of a run goes: rows whose causes sum up to the time of the run, and the long wait is
 * in the cause, at the place, that it belongs to. */
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include "report/causes.h"
#include "report/critical.h"
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int k_sleep(const PTOArg *a) { return usleep((useconds_t)a[0].value.i64), 0; }
static int64_t cost_scalar(const PTOArg *a) { return a[0].value.i64; }
static const PTOKernel cube = {.name = "cube", .worker = PTO_WORKER_CUBE, .fn = k_sleep, .cost = cost_scalar};
static const PTOKernel vector = {.name = "vector", .worker = PTO_WORKER_VECTOR, .fn = k_sleep, .cost = cost_scalar};

static char *memory; /* made once: engine process shares what is there before a runtime */

static void waits_for_a_value(PTORuntime *rt, void *arg)
{
    SUBMIT(rt, &cube, PTO_SCALAR((int64_t)60000), PTO_INOUT(arg, 0, 64));
    pto_await(rt, arg, 0, 64);
    SUBMIT(rt, &vector, PTO_SCALAR((int64_t)2000), PTO_INOUT(arg, 1, 64));
}

static void fills_the_window(PTORuntime *rt, void *arg)
{
    for (int n = 0; n < 30; n++) SUBMIT(rt, &cube, PTO_SCALAR((int64_t)2000), PTO_INOUT(arg, 0, 64));
}

/* The longest chain is b of each pair: 100 + 300. */
static void pairs(PTORuntime *rt, void *arg)
{
    for (int n = 0; n < 4; n++) {
        SUBMIT(rt, &cube, PTO_SCALAR((int64_t)100), PTO_INOUT(arg, n, 64));
        SUBMIT(rt, &vector, PTO_SCALAR((int64_t)300), PTO_INOUT(arg, n, 64));
    }
}

static PTORuntime *run(PTOConfig c, void (*fn)(PTORuntime *, void *))
{
    if (!memory) memory = pto_shared_alloc(1 << 12);
    c.workers[PTO_WORKER_CUBE] = c.workers[PTO_WORKER_VECTOR] = 1;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    assert_int_equal(pto_runtime_run(rt, fn, memory), PTO_OK);
    return rt;
}

static int64_t sum_of(const struct cause_row *row)
{
    int64_t sum = 0;
    for (int c = 0; c < ptoi_causes_of(row); c++) {
        assert_true(row->time[c] >= 0);
        sum += row->time[c];
    }
    return sum;
}

/* Every row sums up to the time of the run; the caller looks at the first two. */
static struct cause_row *rows_of(PTORuntime *rt)
{
    int count;
    struct cause_row *row = ptoi_causes_rows(rt, &count);
    assert_non_null(row);
    for (int i = 0; i < count; i++) assert_int_equal(sum_of(&row[i]), row[i].total);
    assert_int_equal(row[0].total, pto_get_run_stats(rt)->ns);
    return row;
}

TEST(an_await_has_its_time_on_each_engine)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 2; e++)
        for (int records = 0; records < 2; records++) {
            PTORuntime *rt = run(
                (PTOConfig){
                    .engine = engines[e], .time_causes = true, .always_defer = true, .record_tasks = 64 * records},
                waits_for_a_value);
            struct cause_row *row = rows_of(rt);
            assert_true(row[0].time[CAUSE_AWAIT] + row[0].time[CAUSE_HELP] >= 50000000);
            assert_true(row[1].time[WORKER_KERNEL] + row[0].time[CAUSE_HELP] >= 50000000);
            assert_true(row[0].time[CAUSE_AWAIT] == 0 || row[0].time[CAUSE_PROGRAM] < row[0].time[CAUSE_AWAIT]);
            free(row);
            pto_runtime_destroy(rt);
        }
}

static void (*begin_of_engine)(struct core *core);
static void begin_late(struct core *core)
{
    usleep(60000);
    begin_of_engine(core);
}

/* A run that begins late waits no longer for its value, and its kernels take no longer: nothing is stretched. */
TEST(the_time_before_a_run_belongs_to_no_wait)
{
    PTORuntime *rt = run((PTOConfig){.time_causes = true, .always_defer = true}, fills_the_window);
    const struct engine *const usual = rt->core.engine;
    struct engine late = *usual;
    begin_of_engine = usual->begin;
    late.begin = begin_late;
    rt->core.engine = &late;
    assert_int_equal(pto_runtime_run(rt, waits_for_a_value, memory), PTO_OK);
    rt->core.engine = usual;
    struct cause_row *row = rows_of(rt);
    const int64_t waited = pto_get_flow_stats(rt)->await_ns;
    assert_true(row[0].total >= 120000000);
    assert_true(row[0].time[CAUSE_AWAIT] + row[0].time[CAUSE_HELP] <= waited + 20000000);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(a_full_window_has_its_time)
{
    PTORuntime *rt = run((PTOConfig){.time_causes = true, .task_window = 4, .always_defer = true}, fills_the_window);
    struct cause_row *row = rows_of(rt);
    assert_true(row[0].time[CAUSE_WINDOW] > row[0].total / 2);
    assert_true(row[0].time[CAUSE_WINDOW] <= pto_get_flow_stats(rt)->task_ring_stall_ns + 10000000);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(kernels_of_one_thread_are_the_orchestrators)
{
    PTORuntime *rt = run((PTOConfig){.engine = PTO_ENGINE_SERIAL, .time_causes = true}, waits_for_a_value);
    struct cause_row *row = rows_of(rt);
    assert_true(row[0].time[CAUSE_INLINE] >= 60000000);
    assert_true(row[0].time[CAUSE_AWAIT] == 0);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(nothing_is_metered_unless_it_is_asked_for)
{
    int count;
    PTORuntime *rt = run((PTOConfig){0}, pairs);
    assert_null(ptoi_causes_rows(rt, &count));
    pto_runtime_destroy(rt);
}

TEST(a_second_run_starts_at_zero)
{
    PTORuntime *rt = run((PTOConfig){.time_causes = true}, waits_for_a_value);
    assert_int_equal(pto_runtime_run(rt, pairs, memory), PTO_OK);
    struct cause_row *row = rows_of(rt);
    assert_true(row[0].time[CAUSE_AWAIT] == 0);
    assert_int_equal(rt->core.orch.flow.meter.waits, 0);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(simulated_time_has_causes_too)
{
    int count;
    PTORuntime *rt = run((PTOConfig){.engine = PTO_ENGINE_TIMING,
                                     .record_tasks = 64,
                                     .skip_kernels = true,
                                     .submit_cycles = 10,
                                     .dispatch_cycles = 5},
                         pairs);
    struct cause_row *row = ptoi_causes_rows(rt, &count);
    assert_int_equal(count, 3);
    assert_int_equal(row[0].total, pto_get_run_stats(rt)->cycles);
    assert_int_equal(sum_of(&row[0]), row[0].total);
    assert_int_equal(row[0].time[CAUSE_SUBMIT], 80);
    assert_int_equal(row[1].time[WORKER_KERNEL], 400);
    assert_int_equal(row[1].time[WORKER_DISPATCH], 20);
    assert_int_equal(row[2].time[WORKER_KERNEL], 1200);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(the_critical_path_is_the_longest_chain)
{
    PTORuntime *rt = run((PTOConfig){.engine = PTO_ENGINE_TIMING, .record_tasks = 64, .skip_kernels = true}, pairs);
    struct critical c;
    assert_int_equal(ptoi_settle_record(rt), PTO_OK);
    assert_true(ptoi_critical_find(rt->core.recorder, &c));
    assert_int_equal(c.path, pto_get_run_stats(rt)->critical_path);
    assert_int_equal(c.path, 400);
    assert_int_equal(c.work, 1600);
    assert_int_equal(c.tasks, 2);
    assert_int_equal(c.task[1], c.task[0] + 1);
    ptoi_critical_free(&c);
    pto_runtime_destroy(rt);
}

/* The shortest of many waits makes room, and a place is counted once. */
TEST(the_longest_waits_are_kept)
{
    static PTOSite site[METERED_WAITS + 8];
    struct meter m = {0};
    for (int i = 0; i < METERED_WAITS + 8; i++) {
        ptoi_meter_waited(&m, CAUSE_AWAIT, &site[i], NULL, i + 1);
        ptoi_meter_waited(&m, CAUSE_AWAIT, &site[i], NULL, i + 1);
    }
    int64_t least = INT64_MAX;
    for (int i = 0; i < m.waits; i++) least = m.wait[i].time < least ? m.wait[i].time : least;
    assert_int_equal(m.waits, METERED_WAITS);
    assert_true(least > 2);
}

TEST(waits_at_one_place_for_one_tensor_are_added_up)
{
    static const PTOSite site;
    static const char x[] = "x", y[] = "y";
    struct meter m = {0};
    ptoi_meter_waited(&m, CAUSE_AWAIT, &site, x, 5);
    ptoi_meter_waited(&m, CAUSE_AWAIT, &site, y, 1);
    ptoi_meter_waited(&m, CAUSE_AWAIT, &site, x, 7);
    assert_int_equal(m.waits, 2);
    assert_ptr_equal(m.wait[0].tensor, x);
    assert_int_equal(m.wait[0].time, 12);
    assert_int_equal(m.wait[0].count, 2);
    assert_int_equal(m.wait[1].count, 1);
}
