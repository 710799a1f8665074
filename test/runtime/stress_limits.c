/* stress_limits.c - the promises about memory, deadlocks and failures, many times over.
 * PTO_SCALE=N multiplies the default counts; PTO_SCALE=100 is what a release is checked with (10^7 tasks, 10^6 inner
 * outputs, 1,000 deadlocks, 10^4 failures).  PTO_SLOW_MS: how long the slow kernels of the no-false-report test sleep
 * (default 20). */
#include "graph_fuzz.h"
#include "pages.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

static long scale(void)
{
    const char *text = getenv("PTO_SCALE");
    return text ? atol(text) : 1;
}

static long resident_kib(void) { return pages_now().resident * (sysconf(_SC_PAGESIZE) / 1024); }

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int k_touch(const PTOArg *a) /* out or inout: the first cell */
{
    (*(int64_t *)a[0].ptr)++;
    return 0;
}
static int k_use(const PTOArg *a) /* in, inout */
{
    *(int64_t *)a[1].ptr += *(const int64_t *)a[0].ptr > 0;
    return 0;
}
static int k_slow(const PTOArg *a)
{
    usleep((useconds_t)a[1].value.i64);
    return 0;
}
static _Atomic int64_t last_end_us;
static int k_stamp(const PTOArg *a)
{
    (void)a;
    atomic_store(&last_end_us, now_us());
    return 0;
}
static int k_fail_at(const PTOArg *a) { return a[1].value.i64 == 0 ? 1 + (int)a[2].value.i64 : 0; }

static const PTOKernel touch = {.name = "touch", .worker = PTO_WORKER_CUBE, .fn = k_touch};
static const PTOKernel use = {.name = "use", .worker = PTO_WORKER_VECTOR, .fn = k_use};
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = k_slow};
static const PTOKernel stamp = {.name = "stamp", .worker = PTO_WORKER_VECTOR, .fn = k_stamp};
static const PTOKernel fail_at = {.name = "fail_at", .worker = PTO_WORKER_CUBE, .fn = k_fail_at};

struct job {
    int64_t cell[64];
    int64_t count, seed, at_us;
    long kib_early, kib_end;
    PTORuntime *rt;
};

static PTORuntime *create(PTOConfig c)
{
    c.always_defer |= c.engine == PTO_ENGINE_THREADS;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

/* ---- one scope, any number of tasks ---- */
static void one_scope(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    pto_scope_begin(rt);
    for (int64_t i = 0; i < j->count; i++) {
        if (i == 10000) j->kib_early = resident_kib();
        void *P = NULL;
        if (i % 2) {
            SUBMIT(rt, &touch, PTO_INOUT(j->cell, i % 64, 8));
        } else {
            SUBMIT(rt, &touch, PTO_OUTPUT(&P, 0, 1 + i % 60000));
            pto_release(rt, P);
        }
    }
    pto_scope_end(rt);
    j->kib_end = resident_kib();
}

TEST(p8_resident_memory_after_very_many_tasks_is_that_of_few)
{
    struct job j = {.count = 100000 * scale()};
    PTORuntime *rt = create((PTOConfig){.task_window = 16, .heap_bytes = 1 << 20});
    EXPECT_EQ(pto_runtime_run(rt, one_scope, &j), PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, j.count);
    int64_t sum = 0;
    for (int k = 0; k < 64; k++) sum += j.cell[k];
    EXPECT_EQ(sum, j.count / 2);
    if (j.kib_end > j.kib_early + 1024)
        fprintf(stderr, "resident: %ld KiB early, %ld KiB at the end\n", j.kib_early, j.kib_end);
#if !defined(__SANITIZE_THREAD__) &&                                                                                   \
    !defined(__SANITIZE_ADDRESS__) /* those keep books of their own for every byte ever touched */
    EXPECT(j.kib_end <= j.kib_early + 1024);
#endif
    pto_runtime_destroy(rt);
}

/* ---- a long lifetime beside very many short ones ---- */
static void outer_and_inner(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    void *outer = NULL;
    SUBMIT(rt, &touch, PTO_OUTPUT(&outer, 0, 64 << 10));
    for (int64_t i = 0; i < j->count; i++) {
        void *inner = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &touch, PTO_OUTPUT(&inner, 0, 64 << 10));
        SUBMIT(rt, &use, PTO_INPUT(outer, 0, 8), PTO_INOUT(j->cell, 0, 8), PTO_INPUT(inner, 0, 64 << 10));
        pto_scope_end(rt);
    }
}

TEST(h28_a_long_lived_tensor_does_not_hold_back_the_inner_ones)
{
    struct job j = {.count = 10000 * scale()};
    PTORuntime *rt = create((PTOConfig){.heap_bytes = 4 << 20});
    EXPECT_EQ(pto_runtime_run(rt, outer_and_inner, &j), PTO_OK);
    EXPECT_EQ(j.cell[0], j.count);
    pto_runtime_destroy(rt);
}

/* ---- deadlocks: all proved, soon after the last completion ---- */
static const PTOSite hoard_site = {"hoard.pto", 3, 5, "scope \"hoard\""}, big_site = {"hoard.pto", 4, 9, "big"};

static void hoard(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    uint64_t s = (uint64_t)j->seed;
    pto_at(rt, &hoard_site);
    pto_scope_begin(rt);
    for (int i = 0; i < 100000; i++) {
        void *big = NULL;
        pto_at(rt, &big_site);
        if (SUBMIT(rt, &stamp, PTO_OUTPUT(&big, 0, 64 + fuzz_below(&s, 900))) < 0) break;
    }
    j->at_us = now_us();
}

TEST(p7_every_constructed_deadlock_is_proved_and_named)
{
    int64_t worst = 0;
    for (long n = 0; n < 10 * scale(); n++) {
        uint64_t s = (uint64_t)n;
        PTOConfig c = fuzz_config(&s);
        PTORuntime *rt = create(c);
        struct job j = {.seed = n};
        EXPECT_EQ(pto_runtime_run(rt, hoard, &j), PTO_ERR_DEADLOCK);
        EXPECT(strstr(pto_last_error(rt), "scope \"hoard\" (hoard.pto:3)") && strstr(pto_last_error(rt), "'big'"));
        int64_t took = j.at_us - atomic_load(&last_end_us);
        if (took > worst) worst = took;
        pto_runtime_destroy(rt);
    }
    print_message("deadlock proved at most %lld us after the last completion\n", (long long)worst);
}

static void all_full_and_slow(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 4; i++) {
        void *P = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &slow, PTO_OUTPUT(&P, 0, 1024), PTO_SCALAR(j->count));
        SUBMIT(rt, &use, PTO_INPUT(P, 0, 8), PTO_INOUT(j->cell, 0, 8), PTO_INPUT(P, 1, 8));
        pto_scope_end(rt);
    }
}

TEST(h47_slow_kernels_with_every_ring_full_are_never_reported)
{
    const char *text = getenv("PTO_SLOW_MS");
    for (long n = 0; n < 3 + scale() - 1; n++) {
        PTORuntime *rt = create((PTOConfig){
            .task_window = 2, .heap_bytes = 1024, .heap_rings = 1, .deplist_entries = 2, .tensormap_entries = 2});
        struct job j = {.count = 1000 * (text ? atol(text) : 20)};
        EXPECT_EQ(pto_runtime_run(rt, all_full_and_slow, &j), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

/* ---- failures and cancels at random points ---- */
static void fails_somewhere(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    uint64_t s = (uint64_t)j->seed;
    for (int64_t i = 0; i < 60; i++) {
        void *P = NULL;
        pto_scope_begin(rt);
        if (SUBMIT(rt, &fail_at, PTO_OUTPUT(&P, 0, 64 + fuzz_below(&s, 500)), PTO_SCALAR(i - j->count),
                   PTO_SCALAR((int64_t)6)) < 0)
            return;
        SUBMIT(rt, &use, PTO_INPUT(P, 0, 8), PTO_INOUT(j->cell, i % 3, 8));
        if (fuzz_below(&s, 4) == 0) pto_release(rt, P);
        if (fuzz_below(&s, 8) == 0) pto_await(rt, j->cell, 0, 8);
        pto_scope_end(rt);
    }
}

static void *cancel_soon(void *arg)
{
    struct job *j = arg;
    uint64_t s = (uint64_t)j->seed;
    usleep((useconds_t)fuzz_below(&s, 300));
    pto_cancel(j->rt);
    return NULL;
}

TEST(failures_and_cancels_leave_a_runtime_that_works)
{
    static uint64_t a[CELLS], b[CELLS];
    struct fuzz_program p = {.seed = 5, .tasks = 60, .matrix = {a, b}};
    PTORuntime *oracle = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    fuzz_reset(&p);
    EXPECT_EQ(pto_runtime_run(oracle, fuzz_orchestrate, &p), PTO_OK);
    const uint64_t want = fuzz_digest(&p);
    pto_runtime_destroy(oracle);

    uint64_t s = 11;
    PTORuntime *rt = NULL;
    for (long n = 0; n < 100 * scale(); n++) {
        if (n % 50 == 0) {
            pto_runtime_destroy(rt);
            rt = create(fuzz_config(&s));
        }
        struct job j = {.seed = n, .rt = rt, .count = n % 2 ? fuzz_below(&s, 60) : 1000};
        pthread_t thread;
        if (n % 2 == 0) assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &j), 0);
        PTOStatus status = pto_runtime_run(rt, fails_somewhere, &j);
        if (n % 2 == 0) pthread_join(thread, NULL);
        EXPECT(n % 2 ? status == PTO_ERR_KERNEL : status == PTO_OK || status == PTO_ERR_CANCELLED);
        fuzz_reset(&p);
        EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_OK);
        EXPECT_EQ(fuzz_digest(&p), want);
    }
    pto_runtime_destroy(rt);
}
