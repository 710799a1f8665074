/* test_guard.c - code that ends its thread instead of returning: its task or its run fails, and the worker goes on. */
#include "misuse_unit.h"
#include <pthread.h>

static int k_exits(const PTOArg *a)
{
    if (a[1].value.i64 != 0) pthread_exit(NULL);
    return k_increment(a);
}
static const PTOKernel exits = {.name = "exits", .worker = PTO_WORKER_VECTOR, .fn = k_exits};

static void kernel_that_exits(PTORuntime *rt, void *arg)
{
    int64_t *cells = arg;
    for (int i = 0; i < 100; i++) SUBMIT(rt, &exits, PTO_INOUT(cells, 0, 8), PTO_SCALAR((int64_t)0));
    pto_at(rt, &here);
    SUBMIT(rt, &exits, PTO_INOUT(cells, 0, 8), PTO_SCALAR((int64_t)1));
    SUBMIT(rt, &increment, PTO_INOUT(cells, 0, 8));
}

TEST(pthread_exit_in_a_kernel_fails_its_task_and_the_worker_goes_on)
{
    int64_t *cells = pto_shared_alloc(64);
    for (int e = 0; e < ENGINES; e++)
        for (int defers = 0; defers < 2; defers++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e], .workers = {0, 1, 0, 0}, .always_defer = defers});
            for (int again = 0; again < 3; again++) {
                cells[0] = 0;
                EXPECT_EQ(pto_runtime_run(rt, kernel_that_exits, cells), PTO_ERR_MISUSE);
                EXPECT_EQ(cells[0], 100);
                EXPECT(contains(pto_last_error(rt), "m.pto:7:3: error: kernel 'exits' ended its thread (task "));
            }
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
    pto_shared_free(cells, 64);
}

static void ends_its_thread(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    pthread_exit(NULL);
}

TEST(pthread_exit_in_the_orchestration_ends_the_run)
{
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        EXPECT_EQ(pto_runtime_run(rt, ends_its_thread, NULL), PTO_ERR_MISUSE);
        EXPECT_STR(pto_last_error(rt), "the orchestration ended its thread");
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
}
