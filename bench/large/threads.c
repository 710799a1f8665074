/* threads.c - the computations with schedules written by hand for them: what a runtime is compared with.
 *
 * Idea       no tasks.  gemm: each thread has its rows of tiles of C, far from those of others, and keeps a tile until
 *            it is done. cholesky: threads own rows of tiles and update them step by step; a tile that is complete has
 *            its flag set, and whoever needs it waits for that.  attention: threads take blocks of queries, longest
 *            first. Each thread has a processor of its own: a system may leave a new thread where it was made for
 *            longer than such a run takes. */
#include "large.h"
#include "shared/processors.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct matrices *x;
static int64_t tile;
static _Atomic int64_t next;                               /* block to take */
static _Atomic bool is_done[CHOLESKY_N * CHOLESKY_N / 64]; /* cholesky, tiles of 8 at least */

/* Tiles side by side in memory would be taken from each other by what the processors fetch ahead. */
static void *gemm_thread(void *arg)
{
    const int64_t n = GEMM_N, tiles = n / tile, me = (int64_t)(intptr_t)arg;
    for (int64_t i = tiles * me / large_threads; i < tiles * (me + 1) / large_threads; i++)
        for (int64_t j = 0; j < tiles; j++)
            for (int64_t k = 0; k < tiles; k++)
                kernel_gemm(tile, &x->a[i * tile * n + k * tile], n, &x->b[k * tile * n + j * tile], n,
                            &x->c[i * tile * n + j * tile], n);
    return NULL;
}

static double *tile_of(int64_t i, int64_t j) { return &x->m[i * tile * CHOLESKY_N + j * tile]; }
static _Atomic bool *flag_of(int64_t i, int64_t j) { return &is_done[i * (CHOLESKY_N / tile) + j]; }
static void wait_for(int64_t i, int64_t j)
{
    enum { SPINS = 1000 };
    for (int spins = 0; !atomic_load_explicit(flag_of(i, j), memory_order_acquire); spins++)
        if (spins > SPINS) sched_yield(); /* the owner may have no processor */
}
static void set_done(int64_t i, int64_t j) { atomic_store_explicit(flag_of(i, j), true, memory_order_release); }

/* Step k: its column is finished, then what stands right of it is updated, first the next column, so that the next
 * diagonal tile, on which all threads wait, is there early. */
static void *cholesky_thread(void *arg)
{
    const int64_t n = CHOLESKY_N, tiles = n / tile, me = (int64_t)(intptr_t)arg;
    if (me == 0) kernel_potrf(tile, tile_of(0, 0), n), set_done(0, 0);
    for (int64_t k = 0; k < tiles; k++) {
        wait_for(k, k);
        for (int64_t i = k + 1; i < tiles; i++)
            if (i % large_threads == me) kernel_trsm(tile, tile_of(k, k), n, tile_of(i, k), n), set_done(i, k);
        for (int64_t j = k + 1; j < tiles; j++) {
            wait_for(j, k);
            for (int64_t i = j; i < tiles; i++) {
                if (i % large_threads != me) continue; /* so (i, k) is ours */
                if (i == j)
                    kernel_syrk(tile, tile_of(i, k), n, tile_of(i, i), n);
                else
                    kernel_gemm_sub(tile, tile_of(i, k), n, tile_of(j, k), n, tile_of(i, j), n);
                if (i == k + 1) kernel_potrf(tile, tile_of(i, i), n), set_done(i, i);
            }
        }
    }
    return NULL;
}

static void *attention_thread(void *arg)
{
    static _Thread_local float top[LARGEST_TILE], sum[LARGEST_TILE], fade[LARGEST_TILE], o[LARGEST_TILE * HEAD],
        s[LARGEST_TILE * LARGEST_TILE];
    const int64_t tiles = SEQUENCE / tile, rows = tile * HEAD;
    (void)arg;
    for (int64_t taken; (taken = atomic_fetch_add(&next, 1)) < tiles;) {
        const int64_t i = tiles - 1 - taken;
        kernel_start(tile, top, sum, o);
        for (int64_t j = 0; j <= i; j++) {
            kernel_scores(tile, x->q + i * rows, x->k + j * rows, s);
            kernel_softmax(tile, s, top, sum, fade, i == j);
            kernel_values(tile, s, x->v + j * rows, fade, o);
        }
        kernel_finish(tile, o, sum, x->y + i * rows);
    }
    return NULL;
}

/* Each begins by going where it belongs. */
static cpu_set_t place[64];
static void *(*body_of_run)(void *);
static void *begin(void *arg)
{
    ptoi_processor_keep(&place[(intptr_t)arg]);
    return body_of_run(arg);
}

/* This thread is one of them. */
static void run(struct matrices *matrices, int64_t tile_size, void *(*body)(void *))
{
    enum { MOST = 64 };
    pthread_t thread[MOST];
    x = matrices;
    tile = tile_size;
    atomic_store(&next, 0);
    memset((void *)is_done, 0, sizeof is_done);
    if (large_threads > MOST) large_threads = MOST;
    body_of_run = body;
    for (int t = 1; t < large_threads; t++)
        if (pthread_create(&thread[t], NULL, begin, (void *)(intptr_t)t)) exit(3);
    begin(NULL);
    for (int t = 1; t < large_threads; t++) pthread_join(thread[t], NULL);
}

static void gemm(struct matrices *matrices, int64_t tile_size) { run(matrices, tile_size, gemm_thread); }
static void cholesky(struct matrices *matrices, int64_t tile_size) { run(matrices, tile_size, cholesky_thread); }
static bool attention(struct matrices *matrices, int64_t tile_size)
{
    run(matrices, tile_size, attention_thread);
    return true;
}

int main(int argc, char **argv)
{
    /* before this thread has one */
    for (size_t t = 0; t < sizeof place / sizeof *place; t++) place[t] = ptoi_processor((int)t);
    return large_main(argc, argv);
}
