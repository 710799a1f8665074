/* test_joined.c - a runtime that is destroyed waits for the end of each thread that it has begun.
 * Method     the linker puts the two functions below before those of libc, so that threads are counted. */
#include "api/runtime.h"
#include "local_wire.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <pto/pto_runtime.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int begun, joined;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg)
{
    const int failed = __real_pthread_create(thread, attributes, fn, arg);
    begun += failed == 0;
    return failed;
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    joined++;
    return __real_pthread_join(thread, result);
}

static int k_count(const PTOArg *a) { return ++*(int64_t *)a[0].ptr, 0; }
static const PTOKernel count = {.name = "count", .worker = PTO_WORKER_VECTOR, .fn = k_count};

static void one(PTORuntime *rt, void *arg) { SUBMIT(rt, &count, PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, 1))); }

TEST(no_thread_outlives_its_runtime)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (int e = 0; e < 3; e++)
        for (int watches = 0; watches < 2; watches++) {
            int64_t cell = 0;
            begun = joined = 0;
            PTORuntime *rt =
                pto_runtime_create(&(PTOConfig){.engine = engines[e], .watchdog_seconds = watches * 60.0}, NULL);
            assert_non_null(rt);
            EXPECT_EQ(pto_runtime_run(rt, one, &cell), PTO_OK);
            pto_runtime_destroy(rt);
            EXPECT(begun >= watches + (engines[e] == PTO_ENGINE_THREADS) && joined == begun);
        }
}

TEST(no_thread_of_the_wire_outlives_its_runtime)
{
    struct medium *m = medium_open(&(struct medium_config){.ranks = 1, .slots = 2});
    const struct dist_config ranks = {.wire = medium_wire(m, 0), .copy_bytes = 1 << 20, .sends = 1};
    begun = joined = 0;
    PTORuntime *rt = ptoi_create_ranked(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, &ranks, NULL);
    assert_non_null(rt);
    pto_runtime_destroy(rt);
    EXPECT(begun > 0 && joined == begun);
    free(ranks.wire);
    medium_close(m);
}
