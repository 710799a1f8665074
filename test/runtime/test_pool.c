/* test_pool.c - memory of runtimes: kept from one to the next, found by its size, given back when asked. */
#include <pto/pto_runtime.h>
#include "submit.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/mman.h>

static PTORuntime *create(int64_t heap, bool prealloc, PTOEngine engine)
{
    const PTOConfig c = {.engine = engine, .heap_bytes = heap, .heap_rings = 1, .prealloc = prealloc};
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&c, &status);
    EXPECT_EQ(status, PTO_OK);
    return rt;
}

static PTOPoolStats now(void)
{
    PTOPoolStats s;
    pto_pool_stats(&s);
    return s;
}

static int fill(const PTOArg *args)
{
    for (int64_t i = 0; i < args[0].shape[0]; i++) ((char *)args[0].ptr)[i] = 1;
    return 0;
}

static const PTOKernel FILL = {.name = "fill", .fn = fill, .worker = PTO_WORKER_VECTOR};
static char *made;

static void program(PTORuntime *rt, void *arg)
{
    (void)arg;
    void *a = NULL;
    SUBMIT(rt, &FILL, PTO_OUTPUT(&a, 0, 1 << 20));
    made = a;
}

static int pages_of(char *at, int count)
{
    unsigned char in[256];
    int n = 0;
    if (mincore((void *)((uintptr_t)at & ~(uintptr_t)4095), (size_t)count * 4096, in) != 0) return -1;
    for (int i = 0; i < count; i++) n += in[i] & 1;
    return n;
}

TEST(a_runtime_finds_the_memory_of_the_one_before)
{
    pto_runtime_trim(NULL);
    const PTOPoolStats before = now();
    for (int i = 0; i < 5; i++) {
        PTORuntime *rt = create(1 << 21, false, PTO_ENGINE_THREADS);
        EXPECT_EQ(pto_runtime_run(rt, program, NULL), PTO_OK);
        pto_runtime_destroy(rt);
    }
    const PTOPoolStats after = now();
    EXPECT_EQ(after.grow_count - before.grow_count, 2); /* its heap and its rings, once */
    EXPECT_EQ(after.reuse_hits - before.reuse_hits, 8);
    EXPECT_EQ(after.used_bytes, before.used_bytes);
    EXPECT(after.used_bytes_max >= 1 << 21);
    EXPECT(after.total_bytes >= before.total_bytes + (1 << 21));
    pto_runtime_trim(NULL);
    EXPECT_EQ(now().total_bytes, before.total_bytes);
}

TEST(no_run_obtains_memory)
{
    PTORuntime *rt = create(1 << 21, false, PTO_ENGINE_THREADS);
    const PTOPoolStats before = now();
    for (int i = 0; i < 20; i++) EXPECT_EQ(pto_runtime_run(rt, program, NULL), PTO_OK);
    EXPECT_EQ(now().grow_count, before.grow_count);
    EXPECT_EQ(now().total_bytes, before.total_bytes);
    pto_runtime_destroy(rt);
}

TEST(a_kept_block_of_another_size_is_not_taken)
{
    pto_runtime_trim(NULL);
    pto_runtime_destroy(create(1 << 21, false, PTO_ENGINE_SERIAL));
    const PTOPoolStats before = now();
    PTORuntime *rt = create(1 << 22, false, PTO_ENGINE_SERIAL);
    EXPECT(now().grow_count > before.grow_count);
    pto_runtime_destroy(rt);
    pto_runtime_trim(NULL);
}

TEST(trim_gives_the_pages_of_the_heap_back_and_the_next_run_works)
{
    const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 2; e++) {
        PTORuntime *rt = create(1 << 21, false, engines[e]);
        EXPECT_EQ(pto_runtime_run(rt, program, NULL), PTO_OK);
        EXPECT_EQ(pages_of(made, 256), 256);
        EXPECT_EQ(pto_runtime_trim(rt), PTO_OK);
        EXPECT_EQ(pages_of(made, 256), 0);
        EXPECT_EQ(pto_runtime_run(rt, program, NULL), PTO_OK);
        EXPECT_EQ(made[12345], 1);
        pto_runtime_destroy(rt);
    }
}

static void trims(PTORuntime *rt, void *arg) { *(PTOStatus *)arg = pto_runtime_trim(rt); }

TEST(trim_inside_a_run_is_refused)
{
    PTOStatus status = PTO_OK;
    PTORuntime *rt = create(1 << 21, false, PTO_ENGINE_THREADS);
    EXPECT(pto_runtime_run(rt, trims, &status) != PTO_OK);
    EXPECT_EQ(status, PTO_ERR_STATE);
    pto_runtime_destroy(rt);
}

static void look(PTORuntime *rt, void *arg)
{
    void *a = pto_alloc(rt, PTO_SCOPE_CURRENT, 1 << 20);
    *(int *)arg = pages_of(a, 256);
}

TEST(prealloc_obtains_the_heap_before_the_run)
{
    int with = -1, without = -1;
    pto_runtime_trim(NULL);
    PTORuntime *rt = create(1 << 21, true, PTO_ENGINE_THREADS);
    EXPECT_EQ(pto_runtime_run(rt, look, &with), PTO_OK);
    pto_runtime_destroy(rt);
    pto_runtime_trim(NULL);
    rt = create(1 << 21, false, PTO_ENGINE_THREADS);
    EXPECT_EQ(pto_runtime_run(rt, look, &without), PTO_OK);
    pto_runtime_destroy(rt);
    EXPECT_EQ(with, 256);
    EXPECT_EQ(without, 0);
}

TEST(the_pool_is_printed_in_words)
{
    pto_runtime_trim(NULL);
    const PTOPoolStats before = now();
    PTORuntime *rt = create(1 << 20, false, PTO_ENGINE_SERIAL);
    pto_runtime_destroy(rt);
    rt = create(1 << 20, false, PTO_ENGINE_SERIAL);
    const PTOPoolStats s = now();
    /* the second found what the first left */
    EXPECT_EQ(s.reuse_hits - before.reuse_hits, s.grow_count - before.grow_count);
    char *text = NULL, expected[400];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    pto_pool_print(out);
    fclose(out);
    snprintf(expected, sizeof expected,
             "Pool: %lld hits, %lld misses (hit rate %.1f%%), %lld bytes in use (at most %lld), %lld kept\n",
             (long long)s.reuse_hits, (long long)s.grow_count,
             100.0 * (double)s.reuse_hits / (double)(s.reuse_hits + s.grow_count), (long long)s.used_bytes,
             (long long)s.used_bytes_max, (long long)(s.total_bytes - s.used_bytes));
    EXPECT_STR(text, expected);
    free(text);
    pto_runtime_destroy(rt);
}
