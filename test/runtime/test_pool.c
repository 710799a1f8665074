/* test_pool.c - memory of runtimes and tensors: kept from one to the next, found by its class, given back when asked.
 */
#include "memory/pool.h"
#include "memory/size_class.h"
#include "memory/span.h"
#include "shared/sanitizer.h"
#include <pto/pto_registry.h>
#include <pto/pto_runtime.h>
#include "submit.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

TEST(a_class_is_at_most_an_eighth_larger)
{
    int before = -1;
    for (uint64_t bytes = 1; bytes < (uint64_t)1 << 40; bytes += 1 + bytes / 57) {
        const uint64_t class = ptoi_size_class_bytes(bytes);
        const int index = ptoi_size_class_index(class);
        EXPECT(class >= bytes && (class - bytes) * 8 <= (bytes > 512 ? bytes : 512));
        EXPECT(class % 64 == 0 && (class <= 32 << 10 || class % 4096 == 0));
        EXPECT(ptoi_size_class_bytes(class) == class && index >= before && index < SIZE_CLASSES);
        before = index;
    }
    EXPECT(ptoi_size_class_index(SIZE_CLASS_MAX) < SIZE_CLASSES);
}

TEST(every_block_is_the_caller_s_alone)
{
    enum { MANY = 3000 };
    static struct {
        unsigned char *at;
        uint64_t bytes;
    } block[MANY];
    uint64_t state = 12345;
    for (int round = 0; round < 20000; round++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int i = (int)(state >> 33) % MANY;
        if (block[i].at) {
            for (uint64_t b = 0; b < block[i].bytes; b += block[i].bytes / 3 + 1) EXPECT(block[i].at[b] == (i & 0xff));
            ptoi_pool_return(NULL, block[i].at, block[i].bytes);
            block[i].at = NULL;
        } else {
            block[i].bytes = 1 + (state >> 11) % ((uint64_t)1 << (state >> 59) % 17);
            block[i].at = ptoi_pool_obtain(NULL, block[i].bytes);
            EXPECT(block[i].at && (uintptr_t)block[i].at % 64 == 0);
            memset(block[i].at, i & 0xff, block[i].bytes);
        }
    }
    for (int i = 0; i < MANY; i++)
        if (block[i].at) ptoi_pool_return(NULL, block[i].at, block[i].bytes);
}

/* G6: mixed shapes again and again obtain nothing after the second round. */
TEST(a_loop_of_mixed_shapes_obtains_nothing_after_its_second_round)
{
    pto_runtime_trim(NULL);
    const PTOPoolStats begin = now();
    int64_t grown = 0;
    for (int round = 0; round < 200; round++) {
        PTOTensor *t[40];
        for (int i = 0; i < 40; i++) {
            const int64_t shape[2] = {1 + i * 37 % 41, (int64_t)1 << i % 17};
            t[i] = pto_tensor_new(NULL, PTO_F32, 2, shape);
            EXPECT(t[i] != NULL);
        }
        for (int i = 0; i < 40; i++) pto_tensor_release(t[i * 7 % 40]);
        if (round == 1) grown = now().grow_count;
    }
    EXPECT_EQ(now().grow_count, grown);
    EXPECT_EQ(now().used_bytes, begin.used_bytes);
    pto_runtime_trim(NULL);
    EXPECT_EQ(now().total_bytes, begin.total_bytes); /* all that is not in use */
}

TEST(above_64_mib_the_best_fit_serves)
{
    enum { MIB = 1 << 20 };
    pto_runtime_trim(NULL);
    const PTOPoolStats begin = now();
    void *large = ptoi_pool_obtain(NULL, (uint64_t)100 * MIB);
    ptoi_pool_return(NULL, large, (uint64_t)100 * MIB);
    void *less = ptoi_pool_obtain(NULL, (uint64_t)70 * MIB);
    EXPECT(less == large);
    EXPECT_EQ(now().grow_count, begin.grow_count + 1);
    EXPECT(now().used_bytes - begin.used_bytes >= (int64_t)100 * MIB); /* all of the block is in use */
    ptoi_pool_return(NULL, less, (uint64_t)70 * MIB);
    EXPECT(ptoi_pool_obtain(NULL, (uint64_t)100 * MIB) == large); /* it is as large as it was */
    ptoi_pool_return(NULL, large, (uint64_t)100 * MIB);
    void *small = ptoi_pool_obtain(NULL, (uint64_t)40 * MIB); /* not for less than half, and not below 64 MiB */
    EXPECT(small != large);
    ptoi_pool_return(NULL, small, (uint64_t)40 * MIB);
    EXPECT_EQ(now().used_bytes, begin.used_bytes);
    pto_runtime_trim(NULL);
}

TEST(the_limit_is_kept)
{
    enum { MIB = 1 << 20 };
    pto_runtime_trim(NULL);
    const int64_t total = now().total_bytes;
    pto_pool_limit(3 * MIB);
    void *a = ptoi_pool_obtain(NULL, 2 * MIB), *b = ptoi_pool_obtain(NULL, 2 * MIB);
    ptoi_pool_return(NULL, a, 2 * MIB);
    ptoi_pool_return(NULL, b, 2 * MIB);
    EXPECT_EQ(now().total_bytes, total + 2 * MIB);
    pto_pool_limit(0);
    EXPECT_EQ(now().total_bytes, total);
    a = ptoi_pool_obtain(NULL, 100);
    ptoi_pool_return(NULL, a, 100);
    EXPECT_EQ(now().total_bytes, total);
    pto_pool_limit((int64_t)1 << 30);
}

TEST(a_shared_pool_is_seen_by_a_child_and_outlives_its_destruction)
{
    EXPECT(pto_pool_shared(0) == NULL);
    PTOPool *pool = pto_pool_shared(1 << 20);
    PTOTensor *t = pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){1000});
    int64_t *at = pto_tensor_map(t, PTO_READ_WRITE);
    const pid_t child = fork();
    if (child == 0) {
        at[7] = 42;
        _exit(0);
    }
    EXPECT_EQ(waitpid(child, NULL, 0), child);
    EXPECT_EQ(at[7], 42);
    pto_tensor_unmap(t);
    PTOTensor *copy = pto_tensor_copy(t); /* from the same pool */
    EXPECT(pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){1 << 20}) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_NOMEM);
    pto_tensor_release(copy);
    copy = pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){1000}); /* its block again */
    EXPECT(copy != NULL);
    pto_tensor_release(t);
    pto_pool_destroy(pool);
    at = pto_tensor_map(copy, PTO_WRITE);
    at[999] = 1;
    pto_tensor_unmap(copy);
    pto_tensor_release(copy);
    pto_pool_destroy(NULL);
}

static PTOPoolClass class_of(int64_t bytes)
{
    PTOPoolClass all[500], none = {0};
    const int32_t count = pto_pool_classes(all, 500);
    EXPECT(count > 0 && count <= 500);
    for (int i = 1; i < count; i++) EXPECT(all[i].bytes > all[i - 1].bytes);
    for (int i = 0; i < count; i++)
        if (all[i].bytes >= bytes) return all[i];
    return none;
}

TEST(the_pool_counts_by_class)
{
    const int64_t sizes[] = {100, 5000, 3 << 20};
    for (int i = 0; i < 3; i++) {
        const uint64_t bytes = (uint64_t)sizes[i];
        void *first = ptoi_pool_obtain(NULL, bytes);
        const PTOPoolClass before = class_of(sizes[i]);
        EXPECT(before.bytes >= sizes[i] && before.bytes <= sizes[i] + sizes[i] / 8 + 64);
        void *second = ptoi_pool_obtain(NULL, bytes);
        ptoi_pool_return(NULL, second, bytes);
        second = ptoi_pool_obtain(NULL, bytes - 1);
        const PTOPoolClass after = class_of(sizes[i]);
        EXPECT_EQ(after.hits + after.misses, before.hits + before.misses + 2);
        EXPECT(after.hits > before.hits);
        EXPECT_EQ(after.used, before.used + 1);
        ptoi_pool_return(NULL, first, bytes);
        ptoi_pool_return(NULL, second, bytes - 1);
        EXPECT_EQ(class_of(sizes[i]).used, before.used - 1);
    }
}

TEST(runs_of_mixed_shapes_find_their_memory)
{
    enum { RUNS = 100000, ALIVE = 8 };
    PTOTensor *alive[ALIVE] = {NULL};
    pto_runtime_trim(NULL);
    PTOPoolStats warm = now();
    uint64_t state = 1;
    for (int i = 0; i < RUNS; i++) {
        if (i == 2000) warm = now();
        state = state * 6364136223846793005u + 1442695040888963407u;
        PTOTensor **at = &alive[i % ALIVE];
        pto_tensor_release(*at);
        /* ten shapes from 64 bytes to 1.3 MiB; each has been there ALIVE times after the warm rounds */
        *at = pto_tensor_new(NULL, PTO_F32, 1, (const int64_t[]){(int64_t)16 << (state >> 33) % 10 * 3 / 2});
        EXPECT(*at != NULL);
    }
    const PTOPoolStats after = now();
    const int64_t hits = after.reuse_hits - warm.reuse_hits, misses = after.grow_count - warm.grow_count;
    EXPECT(hits > 999 * misses);
    EXPECT(after.total_bytes <= warm.total_bytes + (8 << 20));
    for (int i = 0; i < ALIVE; i++) pto_tensor_release(alive[i]);
    pto_runtime_trim(NULL);
}

/* The last test of the file: the process has had a checked runtime from then on. */
TEST(freed_blocks_of_a_checked_process_are_filled_and_rest)
{
    const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .heap_bytes = 1 << 16, .heap_rings = 1, .checked = true};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    const int64_t used = now().used_bytes;
    unsigned char *const a = ptoi_pool_obtain(NULL, 1000);
    memset(a, 1, 1000);
    ptoi_pool_return(NULL, a, 1000);
    EXPECT(a[0] == 0xE5 && a[999] == 0xE5);
    for (int i = 0; i < 63; i++) {
        void *const other = ptoi_pool_obtain(NULL, 1000);
        EXPECT(other != a);
        ptoi_pool_return(NULL, other, 1000);
    }
    void *large = ptoi_pool_obtain(NULL, 80 << 20);
    ptoi_pool_return(NULL, large, 80 << 20); /* more than may rest */
    PTOPool *pool = pto_pool_shared(1 << 16);
    PTOTensor *t = pto_tensor_new(pool, PTO_I64, 1, (const int64_t[]){10});
    pto_tensor_release(t);
    pto_pool_destroy(pool); /* nothing of it rests on */
    pto_runtime_trim(NULL);
    EXPECT_EQ(now().used_bytes, used);
    pto_runtime_destroy(rt);
}

static long pages_of_the_process(void)
{
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    assert_non_null(in);
    EXPECT_EQ(fscanf(in, "%ld", &pages), 1);
    fclose(in);
    return pages;
}

TEST(a_span_that_goes_back_leaves_no_addresses)
{
    enum { SPANS = 8 };
    if (PTOI_HAS_SANITIZER) return; /* it maps memory of its own */
    struct span *all[SPANS];
    const long before = pages_of_the_process();
    for (int i = 0; i < SPANS; i++) {
        all[i] = ptoi_span_obtain();
        assert_non_null(all[i]);
        EXPECT_EQ((uintptr_t)all[i] % SPAN_BYTES, 0);
    }
    for (int i = 0; i < SPANS; i++) ptoi_span_return(all[i]);
    EXPECT_EQ(pages_of_the_process(), before);
}
