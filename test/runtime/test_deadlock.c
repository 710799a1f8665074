/* test_deadlock.c - waiting: what can never be had is proved and reported with its place, what is only slow is waited
 * for, asleep. */
#include "cells.h"
#include "engines.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int k_slow(const PTOArg *a)
{
    usleep((useconds_t)a[1].value.i64);
    return 0;
}
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = k_slow};

static const PTOSite scope_site = {"hoard.pto", 3, 5, "scope \"hoard\""}, tensor_site = {"hoard.pto", 4, 9, "big"};

static void hoard(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &scope_site);
    pto_scope_begin(rt);
    for (int64_t i = 0; i < s->n; i++) {
        void *big = NULL;
        pto_at(rt, &tensor_site);
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&big, 0, I64(64)), PTO_SCALAR(i));
        if (s->got < 0) return;
    }
    pto_scope_end(rt);
}

TEST(p7_live_data_larger_than_the_heap_is_a_proved_deadlock_with_a_report)
{
    PTOConfig c = {.task_window = 8, .heap_bytes = 2048, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 5});
        EXPECT_EQ(pto_runtime_run(rt, hoard, s), PTO_ERR_DEADLOCK);
        EXPECT_EQ((uint64_t)s->got, (uint64_t)PTO_ERR_DEADLOCK);
        const char *text = pto_last_error(rt);
        EXPECT(strstr(text, "hoard.pto:4:9"));
        EXPECT(strstr(text, "scope \"hoard\" (hoard.pto:3)"));
        EXPECT(strstr(text, "the largest 'big' with 512 bytes"));
        EXPECT(strstr(text, "set PTOConfig.heap_bytes to 4096 or more"));
        *s = (struct shared){.n = 4}; /* and the next run is right */
        EXPECT_EQ(pto_runtime_run(rt, hoard, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void nested(PTORuntime *rt, void *arg)
{
    const int64_t count = *(int64_t *)arg;
    for (int depth = 0; depth < 3; depth++) {
        pto_scope_begin(rt);
        for (int64_t i = 0; i < count; i++) {
            void *t = NULL;
            if (SUBMIT(rt, &set, PTO_OUTPUT(&t, 0, I64(1)), PTO_SCALAR(i)) < 0) return;
        }
    }
}

TEST(the_bytes_of_a_deadlock_add_up_and_scopes_without_a_place_have_their_depth)
{
    for (int checked = 0; checked < 2; checked++) {
        PTOConfig c = {.heap_bytes = checked ? 2048 : 1024, .heap_rings = 1, .checked = checked};
        EACH_ENGINE(c)
        {
            PTORuntime *rt = create(&c);
            int64_t count = 8;
            EXPECT_EQ(pto_runtime_run(rt, nested, &count), PTO_ERR_DEADLOCK);
            const char *text = pto_last_error(rt), *takes = "; each buffer takes a multiple of 64";
            EXPECT(strstr(text, checked ? "  128 bytes are needed" : "  64 bytes are needed"));
            EXPECT(strstr(text, checked ? ", 2048 are held by open scopes" : ", 1024 are held by open scopes"));
            EXPECT(strstr(text, "largest free piece has 0") && strstr(text, takes));
            EXPECT_EQ(strstr(text, ", with the guard of a checked run\n") != NULL, checked);
            for (int depth = 1; depth <= 2; depth++) {
                char scope[80];
                snprintf(scope, sizeof scope, "  held by a scope at depth %d: %d bytes in 8 buffers", depth,
                         (int)c.heap_bytes / 2);
                EXPECT(strstr(text, scope));
            }
            EXPECT(!strstr(text, "the run itself"));
            pto_runtime_destroy(rt);
        }
    }
}

static void too_large(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &tensor_site);
    for (int i = 0; i < 2; i++) { /* one after the other: fits */
        pto_scope_begin(rt);
        void *P = NULL;
        SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64((1 << 20) / 8)), PTO_SCALAR((int64_t)i));
        pto_scope_end(rt);
    }
    if (s->n) {
        void *P = NULL;
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64((2 << 20) / 8)), PTO_SCALAR((int64_t)0));
    }
}

TEST(h37_a_request_larger_than_a_heap_ring_is_refused_with_its_site)
{
    PTOConfig c = {.heap_bytes = 3 << 19, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 0});
        EXPECT_EQ(pto_runtime_run(rt, too_large, s), PTO_OK);
        s->n = 1;
        EXPECT_EQ(pto_runtime_run(rt, too_large, s), PTO_ERR_TOO_LARGE);
        EXPECT(strstr(pto_last_error(rt), "hoard.pto:4:9: error: P needs 2097152 bytes"));
        pto_runtime_destroy(rt);
    }
}

static void allocates_too_much(PTORuntime *rt, void *arg) { (void)pto_alloc(rt, PTO_SCOPE_CURRENT, *(int64_t *)arg); }

TEST(no_heap_is_advised_that_no_machine_has)
{
    int64_t bytes[] = {INT64_MAX, INT64_MAX - 63, (int64_t)1 << 50, 8192};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096}, NULL);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(pto_runtime_run(rt, allocates_too_much, &bytes[i]), PTO_ERR_TOO_LARGE);
        EXPECT_EQ(strstr(pto_last_error(rt), "heap_bytes") != NULL, i == 3);
        EXPECT_EQ(strstr(pto_last_error(rt), "and on this machine at most ") != NULL, i < 3);
    }
    pto_runtime_destroy(rt);
}

static void full_and_slow(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 12; i++) {
        pto_scope_begin(rt);
        void *P = NULL;
        SUBMIT(rt, &slow, PTO_OUTPUT(&P, 0, I64(128)), PTO_SCALAR((int64_t)30000));
        SUBMIT(rt, &nothing, PTO_INPUT(P, 0, I64(128)), PTO_INOUT(s->x, 0, I64(1)));
        pto_scope_end(rt);
    }
}

TEST(h47_a_slow_kernel_is_never_a_deadlock)
{
    PTOConfig c = {.task_window = 2, .heap_bytes = 1024, .heap_rings = 1, .deplist_entries = 2, .tensormap_entries = 2};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, full_and_slow, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void one_long_kernel(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &slow, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)1000000));
}

/* Not a time limit: the processor time of a second in which nothing is to be done is compared with that second. */
TEST(waiting_for_one_long_kernel_uses_no_processor_time)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS};
    PTORuntime *rt = create(&c);
    struct shared *s = renew((struct shared){0});
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(pto_runtime_run(rt, one_long_kernel, s), PTO_OK);
    getrusage(RUSAGE_SELF, &after);
    int64_t us =
        (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
        after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec;
    EXPECT(us < 100000);
    pto_runtime_destroy(rt);
}
