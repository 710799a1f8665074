/* omp.c - the computations as OpenMP tasks: the first element of a tile stands for the tile.  LARGE_THREADS and
 * OMP_NUM_THREADS agree. */
#include "large.h"

#define TILE(m, n, i, j) (&(m)[(i)*tile * (n) + (j)*tile])

static void gemm(struct matrices *x, int64_t tile)
{
    const int64_t n = GEMM_N, tiles = n / tile;
#pragma omp parallel
#pragma omp single
    for (int64_t i = 0; i < tiles; i++)
        for (int64_t j = 0; j < tiles; j++)
            for (int64_t k = 0; k < tiles; k++) {
                const double *a = TILE(x->a, n, i, k), *b = TILE(x->b, n, k, j);
                double *c = TILE(x->c, n, i, j);
#pragma omp task firstprivate(a, b, c) depend(in : *a, *b) depend(inout : *c)
                kernel_gemm(tile, a, n, b, n, c, n);
            }
}

static void cholesky(struct matrices *x, int64_t tile)
{
    const int64_t n = CHOLESKY_N, tiles = n / tile;
#pragma omp parallel
#pragma omp single
    for (int64_t k = 0; k < tiles; k++) {
        double *d = TILE(x->m, n, k, k);
#pragma omp task firstprivate(d) depend(inout : *d) priority(tiles + 2)
        kernel_potrf(tile, d, n);
        for (int64_t i = k + 1; i < tiles; i++) {
            double *b = TILE(x->m, n, i, k);
#pragma omp task firstprivate(d, b) depend(in : *d) depend(inout : *b) priority(tiles + 1)
            kernel_trsm(tile, d, n, b, n);
        }
        for (int64_t j = k + 1; j < tiles; j++) { /* the next column first: see large.pto */
            const double *b = TILE(x->m, n, j, k);
            double *d = TILE(x->m, n, j, j);
#pragma omp task firstprivate(b, d) depend(in : *b) depend(inout : *d) priority(tiles + k + 1 - j)
            kernel_syrk(tile, b, n, d, n);
            for (int64_t i = j + 1; i < tiles; i++) {
                const double *a = TILE(x->m, n, i, k);
                double *c = TILE(x->m, n, i, j);
#pragma omp task firstprivate(a, b, c) depend(in : *a, *b) depend(inout : *c) priority(tiles + k + 1 - j)
                kernel_gemm_sub(tile, a, n, b, n, c, n);
            }
        }
    }
}

/* Scratch of one block of queries: a task cannot make an output here, so every block keeps its own. */
struct block {
    float *top, *sum, *fade, *o, *s;
};

static bool attention(struct matrices *x, int64_t tile)
{
    const int64_t tiles = SEQUENCE / tile, bytes = 3 * tile + tile * HEAD + tile * tile;
    float *memory = new_array((size_t)(tiles * bytes), sizeof(float));
#pragma omp parallel
#pragma omp single
    for (int64_t i = tiles - 1; i >= 0; i--) { /* the longest first */
        float *m = memory + i * bytes;
        const struct block w = {m, m + tile, m + 2 * tile, m + 3 * tile, m + 3 * tile + tile * HEAD};
        float *o = w.o, *s = w.s;
        (void)o, (void)s; /* named in pragmas */
#pragma omp task firstprivate(w) depend(out : *o)
        kernel_start(tile, w.top, w.sum, w.o);
        for (int64_t j = 0; j <= i; j++) {
            const float *q = x->q + i * tile * HEAD, *k = x->k + j * tile * HEAD, *v = x->v + j * tile * HEAD;
#pragma omp task firstprivate(w, q, k) depend(out : *s)
            kernel_scores(tile, q, k, w.s);
#pragma omp task firstprivate(w, i, j) depend(inout : *s, *o)
            kernel_softmax(tile, w.s, w.top, w.sum, w.fade, i == j);
#pragma omp task firstprivate(w, v) depend(in : *s) depend(inout : *o)
            kernel_values(tile, w.s, v, w.fade, w.o);
        }
        float *y = x->y + i * tile * HEAD;
#pragma omp task firstprivate(w, y) depend(in : *o)
        kernel_finish(tile, w.o, w.sum, y);
    }
    free(memory);
    return true;
}

int main(int argc, char **argv) { return large_main(argc, argv); }
