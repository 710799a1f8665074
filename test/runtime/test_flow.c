/* test_flow.c - the statistics of flow control are of the active run, or of the last one. */
#include "engines.h"
#include "submit.h"
#include <unistd.h>

static int k_slow(const PTOArg *a) { return (void)a, usleep(1000), 0; }
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = k_slow};

#define I64(n) PTO_ARRAY(PTO_I64, n)

/* More tasks than the window holds, on more memory than the heap holds. */
static void fills_all(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        void *P = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &slow, PTO_OUTPUT(&P, 0, I64(256)));
        SUBMIT(rt, &slow, PTO_INOUT(P, 0, I64(256)));
        pto_scope_end(rt);
    }
}

static void needs_little(PTORuntime *rt, void *arg)
{
    void *P = NULL;
    (void)arg;
    SUBMIT(rt, &slow, PTO_OUTPUT(&P, 0, I64(8)));
}

TEST(statistics_of_flow_control_begin_with_the_run)
{
    PTOConfig c = {
        .task_window = 8, .heap_bytes = 4096, .heap_rings = 1, .workers = {1, 1, 1, 1}, .always_defer = true};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, fills_all, NULL), PTO_OK);
        const PTOFlowControlStats *s = pto_get_flow_stats(rt);
        EXPECT(s->heap_hwm >= 2048);
        if (c.engine != PTO_ENGINE_SERIAL) EXPECT(s->task_ring_hwm > 1 && s->heap_ring_stalls > 0);
        EXPECT_EQ(pto_runtime_run(rt, needs_little, NULL), PTO_OK);
        s = pto_get_flow_stats(rt);
        EXPECT_EQ(s->heap_hwm, 64);
        EXPECT_EQ(s->task_ring_hwm, 1);
        EXPECT(s->ready_queue_hwm <= 1);
        EXPECT(s->heap_ring_stalls == 0 && s->heap_ring_stall_ns == 0 && s->task_ring_stalls == 0);
        EXPECT_EQ(pto_runtime_run(rt, fills_all, NULL), PTO_OK);
        EXPECT(pto_get_flow_stats(rt)->ready_queue_hwm > 0);
        pto_reset_flow_stats(rt); /* or with the call that says so */
        EXPECT_EQ(pto_get_flow_stats(rt)->ready_queue_hwm, 0);
        pto_runtime_destroy(rt);
    }
}
