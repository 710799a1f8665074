/* chol.c - Cholesky of one matrix, lower triangle, in place: tiles as tasks. */
#include "whole.h"

enum { TILE = 128 };
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

void whole(void *const *p, const int64_t *n)
{
    double *a = p[0];
    const int64_t size = n[0];
    const int pitch = (int)size;
#define AT(i, j) (a + (i)*size + (j))
#pragma omp parallel
#pragma omp single
    for (int64_t k = 0; k < size; k += TILE) {
        double *d = AT(k, k);
        const int tile = (int)(size - k < TILE ? size - k : TILE);
#pragma omp task firstprivate(d, tile) depend(inout : *d) priority(2)
        {
            int info;
            dpotrf_("U", &tile, d, &pitch, &info); // columns first: its upper triangle is our lower one
        }
        for (int64_t i = k + TILE; i < size; i += TILE) {
            double *b = AT(i, k);
            const int rows = (int)(size - i < TILE ? size - i : TILE);
#pragma omp task firstprivate(d, b, rows, tile) depend(in : *d) depend(inout : *b) priority(1)
            cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, tile, 1, d, pitch, b,
                        pitch);
        }
        for (int64_t j = k + TILE; j < size; j += TILE)
            for (int64_t i = j; i < size; i += TILE) {
                const double *b = AT(j, k), *c = AT(i, k);
                double *to = AT(i, j);
                const int rows = (int)(size - i < TILE ? size - i : TILE),
                          columns = (int)(size - j < TILE ? size - j : TILE);
#pragma omp task firstprivate(b, c, to, rows, columns, i, j, tile) depend(in : *b, *c) depend(inout : *to)
                if (i == j)
                    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, tile, -1, c, pitch, 1, to, pitch);
                else
                    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, tile, -1, c, pitch, b, pitch, 1,
                                to, pitch);
            }
    }
}
