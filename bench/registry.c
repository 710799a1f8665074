/* registry.c - what counts, views and slices of the registry cost, and what a warm loop obtains from the system.
 *
 * Method     each line is the best of many short rounds; the linker counts malloc, calloc, aligned_alloc and mmap
 * (--wrap). */
#include "registry/count.h"
#include <pthread.h>
#include <pto/pto_registry.h>
#include <pto/pto_sparse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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

static _Atomic int64_t bare = 1;
static void bare_pair(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&bare, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&bare, 1, memory_order_release);
}
static void count_pair(void *arg)
{
    ptoi_count_retain(arg);
    if (ptoi_count_release(arg) <= 0) abort();
}
static void tensor_pair(void *arg) { pto_tensor_release(pto_tensor_retain(arg)); }

static void *pairs(void *arg)
{
    void *const *job = arg;
    void (*fn)(void *) = *(void (**)(void *))job[0];
    for (int i = 0; i < REPEATS; i++) fn(job[1]);
    return NULL;
}

static void two_threads(const char *name, void (*fn)(void *), void *arg)
{
    double best = 1e18;
    void *job[2] = {&fn, arg};
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t t;
        const double begin = now_ns();
        pthread_create(&t, NULL, pairs, job);
        pairs(job);
        pthread_join(t, NULL);
        const double ns = (now_ns() - begin) / REPEATS;
        if (ns < best) best = ns;
    }
    printf("%-34s %10.1f ns\n", name, best);
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

int main(void)
{
    struct count c;
    ptoi_count_open(&c);
    report("bare atomic pair", bare_pair, NULL, REPEATS);
    report("retain + release, word form", count_pair, &c, REPEATS);
    two_threads("the same, two threads", count_pair, &c);
    ptoi_count_spread(&c);
    report("retain + release, spread form", count_pair, &c, REPEATS);
    two_threads("the same, two threads", count_pair, &c);
    closes();
    PTOTensor *t = pto_tensor_new(NULL, PTO_F32, 3, (const int64_t[]){8, 12, 8});
    PTOTensor *eight = pto_tensor_reshape(t, 8, shape);
    report("tensor: retain + release", tensor_pair, t, REPEATS);
    report("slice", slice, t, REPEATS);
    report("slice, rank 8", slice, eight, REPEATS);
    report("index", index_, t, REPEATS);
    report("transpose", transpose, t, REPEATS);
    report("reshape to rank 8", reshape, t, REPEATS);
    report("share", share, t, REPEATS);
    report("detach", detach, t, REPEATS);
    report("new, 16 KiB", new_, t, REPEATS);
    report("map + unmap", map, t, REPEATS);
    PTOSparse *a = make_matrix();
    for (int64_t i = 0; i < ROWS / 10; i++) picked[i] = i * 7919 % ROWS;
    report("rows of a CSR matrix, 10^6 rows", rows, a, REPEATS / 10);
    long more;
    printf("%-34s %10.1f ns a row\n", "pick of 10^5 rows", measure(pick, a, 5, &more) / (ROWS / 10));
    pto_sparse_release(a);
    pto_tensor_release(eight);
    pto_tensor_release(t);
    return 0;
}
