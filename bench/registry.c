/* registry.c - what counts, views and memory of the registry cost, and what a warm loop obtains from the system.
 *
 * Method     each line is the best of many short rounds; the linker counts malloc, calloc, aligned_alloc and mmap
 *            (--wrap).  registry.py compares the lines with their goals. */
#include "registry/count.h"
#include <math.h>
#include <pthread.h>
#include <pto/pto_registry.h>
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic long obtained;
static void note(void) { obtained++; }
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size) { return note(), __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return note(), __real_calloc(count, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) { return note(), __real_aligned_alloc(alignment, size); }
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return note(), __real_mmap(at, size, protection, flags, fd, offset);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { ROUNDS = 200, REPEATS = 4000 }; /* a round is shorter than a slice of the processor */

/* The best of ROUNDS, per repetition; *more: what the last round obtained. */
static double measure(void (*fn)(void *), void *arg, int repeats, long *more)
{
    double best = 1e18;
    for (int r = 0; r < ROUNDS; r++) {
        const long before = obtained;
        const double begin = now_ns();
        for (int i = 0; i < repeats; i++) fn(arg);
        const double ns = (now_ns() - begin) / repeats;
        if (ns < best) best = ns;
        *more = obtained - before;
    }
    return best;
}

static void report(const char *name, void (*fn)(void *), void *arg, int repeats)
{
    long more;
    const double ns = measure(fn, arg, repeats, &more);
    printf("%-34s %10.1f ns  %ld obtained\n", name, ns, more);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* Pairs of retain and release, inlined, as a compiler inlines those of std::shared_ptr (peers/shared_ptr.cpp).  The
 * holder does something in between: it writes a word. */
enum { PAIRS = 20000 };
static _Thread_local volatile int written;

static _Atomic int64_t bare = 1;
static void bare_pairs(void *arg)
{
    (void)arg;
    for (int i = 0; i < PAIRS; i++) {
        atomic_fetch_add_explicit(&bare, 1, memory_order_relaxed);
        written = i;
        if (atomic_fetch_sub_explicit(&bare, 1, memory_order_release) == 1) abort();
    }
}
/* What any count that is not shared takes: a word that is read and written, twice, or two words once each. */
static _Thread_local _Atomic int64_t own[2];
static void add_to_own(int which, int64_t change)
{
    const int64_t before = atomic_load_explicit(&own[which], memory_order_relaxed);
    atomic_store_explicit(&own[which], before + change, memory_order_relaxed);
}
static void one_word_pairs(void *arg)
{
    (void)arg;
    for (int i = 0; i < PAIRS; i++) {
        add_to_own(0, 1);
        written = i;
        add_to_own(0, -1);
    }
}
static void two_words_pairs(void *arg)
{
    (void)arg;
    for (int i = 0; i < PAIRS; i++) {
        add_to_own(0, 1);
        written = i;
        add_to_own(1, 1);
    }
}
static void count_pairs(void *arg)
{
    for (int i = 0; i < PAIRS; i++) {
        ptoi_count_retain(arg);
        written = i;
        if (ptoi_count_release(arg) <= 0) abort();
    }
}
static void tensor_pair(void *arg) { pto_tensor_release(pto_tensor_retain(arg)); }

struct pairs {
    void (*fn)(void *);
    void *arg;
    atomic_int *ready; /* threads that are to begin at the same time count themselves in it; NULL: there is one */
    double begin, end;
};

static void *time_pairs(void *arg)
{
    struct pairs *p = arg;
    if (p->ready) (*p->ready)++;
    while (p->ready && *p->ready < 2) {}
    p->begin = now_ns();
    p->fn(p->arg);
    p->end = now_ns();
    return NULL;
}

static void report_pairs(const char *name, void (*fn)(void *), void *arg)
{
    double best = 1e18;
    for (int r = 0; r < 100; r++) {
        struct pairs mine = {.fn = fn, .arg = arg};
        time_pairs(&mine);
        best = fmin(best, mine.end - mine.begin);
    }
    printf("%-34s %10.2f ns\n", name, best / PAIRS);
}

/* The best of the rounds in which both threads ran for nine tenths of the time. */
static void report_pairs_of_two(const char *name, void (*fn)(void *), void *arg)
{
    double best = 1e18;
    for (int r = 0; r < 400; r++) {
        atomic_int ready = 0;
        struct pairs mine = {.fn = fn, .arg = arg, .ready = &ready}, theirs = mine;
        pthread_t t;
        pthread_create(&t, NULL, time_pairs, &theirs);
        time_pairs(&mine);
        pthread_join(t, NULL);
        const double longer = fmax(mine.end - mine.begin, theirs.end - theirs.begin);
        if (fmin(mine.end, theirs.end) - fmax(mine.begin, theirs.begin) >= 0.9 * longer) best = fmin(best, longer);
    }
    printf("%-34s %10.2f ns\n", name, best < 1e18 ? best / PAIRS : -1);
}

static void closes(void)
{
    double best = 1e18;
    for (int r = 0; r < 50; r++) {
        struct count c;
        ptoi_count_open(&c);
        if (!ptoi_count_spread(&c)) return;
        const double begin = now_ns();
        ptoi_count_close(&c);
        const double ns = now_ns() - begin;
        if (ns < best) best = ns;
        ptoi_count_free(&c);
    }
    printf("%-34s %10.1f ns\n", "close of the spread form", best);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

static const int64_t shape[8] = {2, 3, 4, 2, 2, 2, 2, 2}; /* 768 elements */
static void slice(void *t) { pto_tensor_release(pto_tensor_slice(t, 0, 0, 2, 1)); }
static void index_(void *t) { pto_tensor_release(pto_tensor_index(t, 0, 1)); }
static void transpose(void *t) { pto_tensor_release(pto_tensor_transpose(t, NULL)); }
static void reshape(void *t) { pto_tensor_release(pto_tensor_reshape(t, 8, shape)); }
static void share(void *t) { pto_tensor_release(pto_tensor_share(t)); }
static void detach(void *t) { pto_tensor_release(pto_tensor_detach(t)); }
static void new_(void *t)
{
    (void)t;
    pto_tensor_release(pto_tensor_new(NULL, PTO_F32, 2, (const int64_t[]){64, 64}));
}
static void map(void *t)
{
    if (!pto_tensor_map(t, PTO_READ)) abort();
    pto_tensor_unmap(t);
}

/* ---- a million rows ---------------------------------------------------------------------------------------------- */

enum { ROWS = 1000000 };
static PTOSparse *make_matrix(void)
{
    const int64_t ends = ROWS + 1, count = ROWS;
    PTOTensor *t[3] = {pto_tensor_new(NULL, PTO_I64, 1, &ends), pto_tensor_new(NULL, PTO_I64, 1, &count),
                       pto_tensor_new(NULL, PTO_F32, 1, &count)};
    int64_t *ptr = pto_tensor_map(t[0], PTO_WRITE), *idx = pto_tensor_map(t[1], PTO_WRITE);
    for (int64_t i = 0; i <= ROWS; i++) ptr[i] = i;
    for (int64_t i = 0; i < ROWS; i++) idx[i] = i % 100;
    pto_tensor_unmap(t[0]);
    pto_tensor_unmap(t[1]);
    PTOSparse *a = pto_sparse_make(PTO_CSR, ROWS, 100, t, PTO_CHECK_ALL);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
    return a;
}
static void rows(void *a) { pto_sparse_release(pto_sparse_rows(a, 1000, ROWS / 2)); }

static int64_t picked[ROWS / 10];
static void pick(void *a) { pto_sparse_release(pto_sparse_pick(a, picked, ROWS / 10)); }

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void make_views(PTOTensor *t, int count)
{
    for (int i = 0; i < count; i++) slice(t);
}

static void report_many_views(PTOTensor *t)
{
    make_views(t, 1000);
    const long before = resident_kib();
    make_views(t, 10000000);
    printf("%-34s %10ld KiB\n", "memory after 10^7 views", resident_kib() - before);
}

static int32_t next_shape(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int32_t)(*state >> 33) % 10;
}

static int touch(const PTOArg *args)
{
    *(float *)args[0].ptr = 1;
    return 0;
}
static const PTOKernel toucher = {.name = "touch", .fn = touch, .worker = PTO_WORKER_VECTOR};

struct result {
    void *data;
    int64_t extent;
};
static void write_result(PTORuntime *rt, void *arg)
{
    struct result *r = arg;
    pto_buffer(rt, r->data, r->extent * (int64_t)sizeof(float));
    PTO_SUBMIT(rt, &toucher, PTO_INOUT(r->data, 0, PTO_ARRAY(PTO_F32, r->extent)));
}

/* Runs whose results have one of ten shapes, of which eight live at a time: rounds of 1000, which are alike. */
static void report_pool(void)
{
    enum { RUNS = 100000, ROUND = 1000, ALIVE = 8 };
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 1 << 20}, NULL);
    PTOTensor *alive[ALIVE] = {NULL};
    PTOPoolStats warm, end;
    uint64_t state = 0;
    for (int i = 0; i < RUNS; i++) {
        if (i % ROUND == 0) state = 1;
        struct result r = {.extent = (int64_t)16 << next_shape(&state) * 3 / 2};
        PTOTensor **at = &alive[i % ALIVE];
        if (i == 2 * ROUND) pto_pool_stats(&warm);
        pto_tensor_release(*at);
        *at = pto_tensor_new(NULL, PTO_F32, 1, &r.extent);
        r.data = pto_tensor_map(*at, PTO_WRITE);
        if (!r.data || pto_runtime_run(rt, write_result, &r) != PTO_OK) abort();
        pto_tensor_unmap(*at);
    }
    pto_pool_stats(&end);
    const int64_t hits = end.reuse_hits - warm.reuse_hits, misses = end.grow_count - warm.grow_count;
    printf("%-34s %10.4f %%\n", "pool, 10^5 runs: hit rate", 100.0 * (double)hits / (double)(hits + misses));
    printf("%-34s %10.1f KiB\n", "pool, 10^5 runs: more obtained",
           (double)(end.total_bytes - warm.total_bytes) / 1024.0);
    for (int i = 0; i < ALIVE; i++) pto_tensor_release(alive[i]);
    pto_runtime_destroy(rt);
    pto_runtime_trim(NULL);
    pto_pool_stats(&end);
    printf("%-34s %10.1f KiB\n", "pool, kept after a trim", (double)(end.total_bytes - end.used_bytes) / 1024.0);
}

int main(void)
{
    struct count c;
    ptoi_count_open(&c);
    report_pool(); /* while nothing else lives */
    report_pairs("bare atomic pair", bare_pairs, NULL);
    report_pairs_of_two("bare atomic pair, two threads", bare_pairs, NULL);
    report_pairs("floor: a word of the thread", one_word_pairs, NULL);
    report_pairs("floor: two words of the thread", two_words_pairs, NULL);
    report_pairs("word form", count_pairs, &c);
    report_pairs_of_two("word form, two threads", count_pairs, &c);
    ptoi_count_spread(&c);
    report_pairs("spread form", count_pairs, &c);
    report_pairs_of_two("spread form, two threads", count_pairs, &c);
    closes();
    PTOTensor *t = pto_tensor_new(NULL, PTO_F32, 3, (const int64_t[]){8, 12, 8});
    PTOTensor *eight = pto_tensor_reshape(t, 8, shape);
    report("tensor: retain + release", tensor_pair, t, REPEATS);
    report("slice", slice, t, REPEATS);
    report("slice, rank 8", slice, eight, REPEATS);
    report("index", index_, t, REPEATS);
    report("index, rank 8", index_, eight, REPEATS);
    report("transpose", transpose, t, REPEATS);
    report("transpose, rank 8", transpose, eight, REPEATS);
    report("reshape to rank 8", reshape, t, REPEATS);
    report("share", share, t, REPEATS);
    report("share, rank 8", share, eight, REPEATS);
    report("detach", detach, t, REPEATS);
    report("detach, rank 8", detach, eight, REPEATS);
    report("new, 16 KiB", new_, t, REPEATS);
    report("map + unmap", map, t, REPEATS);
    report_many_views(t);
    PTOSparse *a = make_matrix();
    for (int64_t i = 0; i < ROWS / 10; i++) picked[i] = i * 7919 % ROWS;
    report("rows of a CSR matrix, 10^6 rows", rows, a, REPEATS / 10);
    long more;
    printf("%-34s %10.1f ns\n", "pick of 10^5 rows, for each", measure(pick, a, 5, &more) / (ROWS / 10));
    pto_sparse_release(a);
    pto_tensor_release(eight);
    pto_tensor_release(t);
    return 0;
}
