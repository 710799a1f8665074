/* test_timing.c - the discrete-event engine: same cycles every time, bounded below by the critical path and by the
 * work. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static int64_t cost_100(const PTOArg *a) { return (void)a, 100; }
static int64_t cost_50(const PTOArg *a) { return (void)a, 50; }
static int64_t cost_scalar(const PTOArg *a) { return a[0].value.i64; }
static const PTOKernel gemm = {.name = "gemm", .worker = PTO_WORKER_CUBE, .fn = k_nothing, .cost = cost_100};
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = k_nothing, .cost = cost_50};
static const PTOKernel costly = {.name = "costly", .worker = PTO_WORKER_VECTOR, .fn = k_nothing, .cost = cost_scalar};

static void bgemm(PTORuntime *rt, void *arg)
{
    char *A = arg, *B = A + 4096, *C = A + 8192;
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 4; k++) {
                    void *P = NULL;
                    pto_scope_begin(rt);
                    SUBMIT(rt, &gemm, PTO_INPUT(A, b * 16 + i * 4 + k, 64), PTO_INPUT(B, b * 16 + k * 4 + j, 64),
                           PTO_OUTPUT(&P, 0, 64));
                    SUBMIT(rt, &add, PTO_INPUT(P, 0, 64), PTO_INOUT(C, b * 16 + i * 4 + j, 64));
                    pto_scope_end(rt);
                }
}

static PTORunStats run(PTOConfig c, void (*fn)(PTORuntime *, void *), void *arg)
{
    c.engine = PTO_ENGINE_TIMING;
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    assert_int_equal(pto_runtime_run(rt, fn, arg), PTO_OK);
    PTORunStats s = *pto_get_run_stats(rt);
    assert_int_equal(pto_runtime_run(rt, fn, arg), PTO_OK); /* P2: again, the same */
    assert_int_equal(pto_get_run_stats(rt)->cycles, s.cycles);
    pto_runtime_destroy(rt);
    return s;
}

static char memory[3 * 4096];

/* 256 gemms of 100 cycles on 4 cubes are 6,400 cycles of work; the last wave of gemms is followed by adds.  The serial
 * sum that the seed reported is 38,400. */
TEST(h53_the_seeds_bgemm_takes_what_four_cubes_need_and_not_the_serial_sum)
{
    PTORunStats s = run((PTOConfig){.workers = {4, 4}}, bgemm, memory);
    EXPECT_EQ(s.worker_busy_cycles[PTO_WORKER_CUBE], 25600);
    EXPECT_EQ(s.worker_busy_cycles[PTO_WORKER_VECTOR], 12800);
    EXPECT_EQ(s.critical_path, 100 + 4 * 50);
    EXPECT(s.cycles >= 6400 + 50);
    EXPECT(s.cycles <= 6400 + 4 * 50); /* the four gemms of the last wave feed one C tile: their adds are a chain */
}

TEST(unlimited_workers_and_no_overheads_reach_the_critical_path)
{
    PTORunStats s = run((PTOConfig){.workers = {256, 256}}, bgemm, memory);
    EXPECT_EQ(s.cycles, s.critical_path);
}

TEST(p2_the_window_changes_the_time_but_never_below_the_bounds)
{
    for (int64_t window = 2; window <= 1024; window *= 2) {
        PTORunStats s = run((PTOConfig){.workers = {4, 4}, .task_window = window}, bgemm, memory);
        EXPECT(s.cycles >= s.critical_path);
        EXPECT(s.cycles >= s.worker_busy_cycles[PTO_WORKER_CUBE] / 4);
        EXPECT(s.cycles <= 38400);
    }
}

static void independent(PTORuntime *rt, void *arg)
{
    for (int64_t i = 0; i < 10; i++) SUBMIT(rt, &costly, PTO_SCALAR((int64_t)1000), PTO_INOUT(arg, i, 64));
}

TEST(submit_and_dispatch_costs_are_counted)
{
    EXPECT_EQ(run((PTOConfig){.workers = {1, 10}}, independent, memory).cycles, 1000);
    EXPECT_EQ(run((PTOConfig){.workers = {1, 1}}, independent, memory).cycles, 10000);
    EXPECT_EQ(run((PTOConfig){.workers = {1, 10}, .submit_cycles = 7}, independent, memory).cycles, 10 * 7 + 1000);
    EXPECT_EQ(run((PTOConfig){.workers = {1, 10}, .dispatch_cycles = 30}, independent, memory).cycles, 1030);
    EXPECT_EQ(run((PTOConfig){.workers = {1, 1}, .dispatch_cycles = 30}, independent, memory).cycles, 10300);
    EXPECT_EQ(run((PTOConfig){.workers = {1, 10}, .skip_kernels = true}, independent, memory).cycles, 1000);
}

TEST(trace_and_graph_are_written)
{
    PTOConfig c = {.engine = PTO_ENGINE_TIMING, .workers = {4, 4}, .record_tasks = 1024};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    EXPECT(rt != NULL);
    EXPECT_EQ(pto_runtime_run(rt, bgemm, memory), PTO_OK);
    char path[] = "/tmp/pto_trace_XXXXXX";
    int fd = mkstemp(path);
    EXPECT(fd >= 0);
    EXPECT_EQ(pto_runtime_write_trace(rt, path), PTO_OK);
    close(fd); /* of the file that was replaced */
    FILE *f = fopen(path, "r");
    char line[4096];
    int tasks = 0, flows = 0;
    while (fgets(line, sizeof line, f)) {
        tasks += strstr(line, "\"ph\":\"X\"") && strstr(line, "\"task\":");
        flows += strstr(line, "\"ph\":\"s\"") != NULL;
    }
    EXPECT_EQ(tasks, 512);
    EXPECT_EQ(flows, 448);
    fclose(f);
    EXPECT_EQ(pto_runtime_write_graph(rt, path), PTO_OK);
    f = fopen(path, "r");
    int raw = 0, waw = 0;
    while (fgets(line, sizeof line, f)) {
        raw += strstr(line, "label=\"RAW\"") != NULL;
        waw += strstr(line, "label=\"WAR+WAW\"") || strstr(line, "label=\"WAW\"") || strstr(line, "label=\"RAW+WAW\"");
    }
    EXPECT_EQ(raw, 256);
    EXPECT_EQ(waw, 192);
    fclose(f);
    remove(path);
    pto_runtime_destroy(rt);
}
