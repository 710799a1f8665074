/* test_failure.c - a run that ends early, by a kernel that fails or by a cancel: its message, and the run after it. */
#include "cells.h"
#include "engines.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int k_fail(const PTOArg *a) { return (int)a[1].value.i64; }
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = k_fail};

static const PTOSite fail_site = {"f.pto", 7, 3, "failing"};

static void fails_in_the_middle(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < 100; i++) {
        void *P = NULL;
        pto_at(rt, &fail_site);
        s->got = SUBMIT(rt, &failing, PTO_OUTPUT(&P, 0, I64(4)), PTO_SCALAR(i == s->n ? (int64_t)3 : (int64_t)0));
        if (s->got < 0) return;
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(4)), PTO_INOUT(s->x, 0, I64(4)));
        pto_release(rt, P);
    }
}

TEST(h52_a_failing_kernel_ends_the_run_with_its_place_and_the_next_run_works)
{
    PTOConfig c = {.task_window = 8, .heap_bytes = 1024};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        for (int64_t n = 0; n < 100; n += 7) {
            struct shared *s = renew((struct shared){.n = n});
            EXPECT_EQ(pto_runtime_run(rt, fails_in_the_middle, s), PTO_ERR_KERNEL);
            EXPECT(strstr(pto_last_error(rt), "f.pto:7:3: error: kernel 'failing' failed: it returned 3"));
            *s = (struct shared){.n = 10};
            EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
            EXPECT_EQ(s->x[0], 45);
        }
        pto_runtime_destroy(rt);
    }
}

static int k_refuse(const PTOArg *a) { return (void)a, 9; }

static void fails_with_scalars(PTORuntime *rt, void *arg)
{
    static const PTOKernel refusing = {.name = "refusing", .worker = PTO_WORKER_VECTOR, .fn = k_refuse};
    PTOTaskParam untyped = PTO_SCALAR(2.5);
    untyped.type = 0;
    SUBMIT(rt, &refusing, PTO_INPUT(arg, 0, 8), PTO_SCALAR(2.5), PTO_SCALAR(-0.1f), PTO_SCALAR((bool)true),
           PTO_SCALAR(-7), PTO_SCALAR(1e300), untyped);
}

TEST(scalars_of_a_failed_task_are_printed_by_their_types)
{
    for (int always_defer = 0; always_defer < 2; always_defer++) {
        int64_t array = 0;
        PTORuntime *rt = pto_runtime_create(
            &(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096, .always_defer = always_defer}, NULL);
        EXPECT_EQ(pto_runtime_run(rt, fails_with_scalars, &array), PTO_ERR_KERNEL);
        const char *const list = "of (byte[8], 2.5, -0.1, true, -7, 1e+300, 0x4004000000000000 (4612811918334230528))";
        if (!strstr(pto_last_error(rt), list)) print_message("%s\n", pto_last_error(rt));
        EXPECT(strstr(pto_last_error(rt), list));
        pto_runtime_destroy(rt);
    }
}

static _Atomic bool run_has_ended;

static void *cancel_soon(void *arg) /* and again, should the run not have begun */
{
    while (!run_has_ended) {
        usleep(2000);
        pto_cancel(arg);
    }
    return NULL;
}

static void endless(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    while (SUBMIT(rt, &twice, PTO_INOUT(s->x, 0, I64(1))) >= 0) {}
}

TEST(a_run_can_be_cancelled_from_another_thread)
{
    PTOConfig c = {.task_window = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        pthread_t thread;
        run_has_ended = false;
        pthread_create(&thread, NULL, cancel_soon, rt);
        EXPECT_EQ(pto_runtime_run(rt, endless, s), PTO_ERR_CANCELLED);
        run_has_ended = true;
        pthread_join(thread, NULL);
        *s = (struct shared){.n = 10};
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static int k_cancel(const PTOArg *a)
{
    share->got = pto_runtime_status(share->rt);
    pto_cancel(share->rt);
    share->n = pto_runtime_status(share->rt);
    share->cells[0] = strcmp(pto_last_error(share->rt), "the run was cancelled") == 0;
    return (void)a, 0;
}
static const PTOKernel cancelling = {.name = "cancelling", .worker = PTO_WORKER_VECTOR, .fn = k_cancel};

static void cancelled_by_a_kernel(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &cancelling, PTO_INOUT(s->x, 0, I64(1)));
    SUBMIT(rt, &set, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)9));
}

TEST(a_kernel_cancels_its_run_and_sees_the_status)
{
    PTOConfig c = {.task_window = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.rt = rt});
        EXPECT_EQ(pto_runtime_run(rt, cancelled_by_a_kernel, s), PTO_ERR_CANCELLED);
        EXPECT_STR(pto_last_error(rt), "the run was cancelled");
        EXPECT_EQ(s->x[0], 0);
        EXPECT(s->got == PTO_OK && s->n == PTO_ERR_CANCELLED && s->cells[0] == 1);
        pto_runtime_destroy(rt);
    }
}
