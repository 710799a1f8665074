/* test_nomem.c - the n-th allocation of creating a runtime fails, for n = 1, 2, ... until it succeeds: a status and a
 * message each time, nothing leaked, and nothing is allocated at all while a run goes on.
 * Method     SQLite's: the linker sends malloc, calloc, aligned_alloc, mmap and pthread_create here (--wrap). */
#include "unit.h"
#include <pthread.h>
#include "host/options.h"
#include "submit.h"
#include <pto/pto_runtime.h>
#include <pto/pto_scratch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long countdown;   /* 0: never fail */
static bool was_refused; /* since that was set */
static _Atomic long allocations;
static _Atomic long mapped_bytes; /* of whole pages, mapped minus unmapped */

static long pages(size_t bytes) { return (long)((bytes + 4095) / 4096 * 4096); }

static int is_refused(void)
{
    allocations++;
    if (countdown == 0 || --countdown > 0) return 0;
    was_refused = true;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
void *__wrap_malloc(size_t size) { return is_refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : __real_calloc(count, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : __real_aligned_alloc(alignment, size);
}
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (is_refused()) return MAP_FAILED;
    mapped_bytes += pages(size);
    return __real_mmap(at, size, protection, flags, fd, offset);
}
int __wrap_munmap(void *at, size_t size)
{
    mapped_bytes -= pages(size);
    return __real_munmap(at, size);
}
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    return is_refused() ? 11 : __real_pthread_create(thread, attr, fn, arg);
}

static int k_one(const PTOArg *a) { return *(int64_t *)a[0].ptr = 1, 0; }
static const PTOKernel one = {.name = "one", .worker = PTO_WORKER_VECTOR, .fn = k_one};

static void orchestrate(PTORuntime *rt, void *arg)
{
    for (int i = 0; i < 1000; i++) {
        void *P = NULL;
        pto_scope_begin(rt);
        const PTOTaskParam p[] = {PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, 1))};
        pto_submit_task(rt, &one, p, 1);
        const PTOTaskParam q[] = {PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, 1)), PTO_INPUT(P, 0, PTO_ARRAY(PTO_I64, 1))};
        pto_submit_task(rt, &one, q, 2);
        pto_scope_end(rt);
    }
}

/* Every dependence of the run is kept, which takes memory while it goes on. */
static bool keeps_history(const PTOConfig *c)
{
    return c->record_tasks > 0 || c->engine == PTO_ENGINE_TIMING || c->engine == PTO_ENGINE_GRAPH;
}

static void try_every_allocation(PTOConfig c)
{
    int64_t *const cell = pto_shared_alloc(sizeof *cell); /* for the process engine: before the runtime is */
    assert_non_null(cell);
    pto_runtime_destroy(pto_runtime_create(&c, NULL)); /* the first chunk of a slab stays mapped */
    long n = 1;
    for (;; n++) {
        pto_runtime_trim(NULL); /* what the last one left */
        const long mapped = mapped_bytes;
        PTOStatus status = PTO_OK;
        countdown = n;
        was_refused = false;
        PTORuntime *rt = pto_runtime_create(&c, &status);
        countdown = 0;
        if (rt && was_refused) { /* it does without: the exchange of the process engine */
            pto_runtime_destroy(rt);
            continue;
        }
        if (rt) {
            const long before = allocations;
            EXPECT_EQ(pto_runtime_run(rt, orchestrate, cell), PTO_OK);
            if (!keeps_history(&c)) EXPECT_EQ(allocations, before); /* P8 */
            pto_runtime_destroy(rt);
            pto_runtime_trim(NULL);
            EXPECT_EQ(mapped_bytes, mapped);
            break;
        }
        pto_runtime_trim(NULL);
        EXPECT_EQ(status, PTO_ERR_NOMEM);
        EXPECT(strlen(pto_last_error(NULL)) > 10);
        EXPECT_EQ(mapped_bytes, mapped);
        assert_true(n < 1000);
    }
    EXPECT(n > 15); /* there is something to refuse */
    EXPECT_EQ(*cell, 1);
    pto_shared_free(cell, sizeof *cell);
}

TEST(every_allocation_of_threads_may_fail)
{
    try_every_allocation((PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {1, 1}});
}
TEST(every_allocation_of_process_may_fail)
{
    try_every_allocation((PTOConfig){.engine = PTO_ENGINE_PROCESS, .workers = {1, 1}});
}
TEST(every_allocation_of_serial_may_fail)
{
    try_every_allocation((PTOConfig){.engine = PTO_ENGINE_SERIAL});
}
TEST(every_allocation_of_timing_may_fail)
{
    try_every_allocation((PTOConfig){.engine = PTO_ENGINE_TIMING});
}
TEST(every_allocation_of_a_recording_run_may_fail)
{
    try_every_allocation((PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {1, 1}, .record_tasks = 4096});
}

/* ---- scratch memory of a kernel ---- */

static int k_scratch(const PTOArg *a)
{
    PTOScratch t[] = {PTO_SCRATCH("t", char, 1, a[1].value.i64)};
    if (!pto_scratch_tensors(t, 1)) return 1;
    *(char *)t[0].memory = 1;
    return 0;
}
static const PTOKernel with_scratch = {.name = "with_scratch", .worker = PTO_WORKER_VECTOR, .fn = k_scratch};

static void submit_scratch(PTORuntime *rt, void *arg)
{
    for (int64_t bytes = 1000; bytes <= 10000000; bytes *= 100) { /* it grows */
        countdown = bytes == 10000000 ? *(int *)arg : 0;
        SUBMIT(rt, &with_scratch, PTO_INOUT(arg, 0, sizeof(int)), PTO_SCALAR(bytes));
    }
}

TEST(scratch_memory_may_fail)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    int fails[] = {1, 0};
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(pto_runtime_run(rt, submit_scratch, &fails[i]), i == 0 ? PTO_ERR_KERNEL : PTO_OK);
        countdown = 0;
        if (i == 0) EXPECT(strstr(pto_last_error(rt), "there is no memory for its scratch tensors, 100") != NULL);
    }
    pto_runtime_destroy(rt);
}

/* ---- allocations of the options ---- */

TEST(every_allocation_of_the_options_may_fail)
{
    char *argv[] = {(char *)"program", (char *)"--quiet"};
    long n = 1;
    for (;; n++) {
        struct host_options o;
        struct host_error error = {0};
        countdown = n;
        was_refused = false;
        const int code = ptoi_options_parse(&o, 2, argv, &error);
        countdown = 0;
        ptoi_options_free(&o);
        if (!was_refused) break;
        EXPECT_EQ(code, HOST_INTERNAL);
        EXPECT_STR(error.text, "out of memory");
    }
    EXPECT_EQ(n, 7); /* one for each option that may be given several times */
}

/* ---- allocations of a run: those of the history, of the critical path, of the edges ---- */

static void many_edges(PTORuntime *rt, void *arg)
{
    char *x = arg;
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 200; i++) {
            const PTOTaskParam p[] = {PTO_ACC(x, i, 8), PTO_INPUT(x, 1000 + round, 8)};
            pto_submit_task(rt, &one, p, 2);
        }
        const PTOTaskParam q[] = {PTO_INOUT(x, 0, 8 * 1000)};
        pto_submit_task(rt, &one, q, 1);
    }
}

static void try_every_allocation_of_a_run(PTOConfig c)
{
    enum { ALL = 8 * 200 + 7 * 200 + 7 }; /* edges: into each write, from each write, and from write to write */
    int64_t *const cells = pto_shared_alloc(2000 * (int64_t)sizeof *cells);
    assert_non_null(cells);
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    int refused = 0;
    PTOStatus status;
    for (long n = 1; n < 2000; n++) {
        countdown = n;
        status = pto_runtime_run(rt, many_edges, cells);
        const PTORunStats *s = pto_get_run_stats(rt); /* which may have to find them first */
        const bool is_over = countdown > 0;
        countdown = 0;
        if (is_over) break;
        refused++;
        if (status == PTO_OK) { /* edges were lost, and the record or the statistics say so */
            EXPECT(s->dependences == ALL || !s->counts_dependences);
            continue;
        }
        EXPECT_EQ(status, PTO_ERR_NOMEM);
        EXPECT(strlen(pto_last_error(rt)) > 10);
    }
    EXPECT_EQ(status, PTO_OK);
    EXPECT(refused > 8);
    EXPECT(pto_get_run_stats(rt)->counts_dependences);
    EXPECT_EQ(pto_get_run_stats(rt)->dependences, ALL);
    pto_runtime_destroy(rt);
    pto_shared_free(cells, 2000 * (int64_t)sizeof *cells);
}

TEST(every_allocation_in_a_run_of_graph_may_fail)
{
    try_every_allocation_of_a_run((PTOConfig){.engine = PTO_ENGINE_GRAPH, .record_tasks = 100});
}
TEST(every_allocation_in_a_run_of_timing_may_fail)
{
    try_every_allocation_of_a_run((PTOConfig){.engine = PTO_ENGINE_TIMING, .skip_kernels = true});
}
TEST(every_allocation_in_a_recorded_run_may_fail)
{
    try_every_allocation_of_a_run((PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {1, 1}, .record_tasks = 4096});
}
