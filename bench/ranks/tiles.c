/* tiles.c - see tiles.h; run.py compiles it once for all */
#include "tiles.h"
#include <cblas.h>
#include <string.h>

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

/* Small numbers that no pattern of tiles repeats.  run.py has the same in NumPy. */
static double element(int64_t which, int64_t i, int64_t j)
{
    if (which == POSITIVE) return i == j ? 2 : 1.0 / (double)(1 + (i < j ? j - i : i - j));
    return (double)((which == LEFT ? i * 37 + j * 11 : i * 13 + j * 29) % 64) / 64 - 0.5;
}

int bench_fill(double *a, const int64_t *a_stride, int64_t which, int64_t row, int64_t column, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) a[i * a_stride[0] + j * a_stride[1]] = element(which, row + i, column + j);
    return 0;
}

int bench_negate(double *a, const int64_t *a_stride, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) a[i * a_stride[0] + j] = -a[i * a_stride[0] + j];
    return 0;
}

int bench_copy(const double *a, const int64_t *a_stride, double *b, const int64_t *b_stride, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++) memcpy(b + i * b_stride[0], a + i * a_stride[0], (size_t)N * sizeof *a);
    return 0;
}

int bench_multiply(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double *c,
                   const int64_t *c_stride, int64_t M, int64_t N, int64_t K)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M, (int)N, (int)K, 1, a, (int)a_stride[0], b,
                (int)b_stride[0], 1, c, (int)c_stride[0]);
    return 0;
}

/* LAPACK counts columns first: to it this lower triangle is an upper one. */
int bench_potrf(double *a, const int64_t *a_stride, int64_t N)
{
    const int size = (int)N, pitch = (int)a_stride[0];
    int failed = 0;
    dpotrf_("U", &size, a, &pitch, &failed);
    return failed;
}

int bench_trsm(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride, int64_t N)
{
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)N, (int)N, 1, l, (int)l_stride[0],
                b, (int)b_stride[0]);
    return 0;
}

int bench_syrk(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride, int64_t N)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)N, (int)N, -1, a, (int)a_stride[0], 1, c,
                (int)c_stride[0]);
    return 0;
}

int bench_subtract(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double *c,
                   const int64_t *c_stride, int64_t N)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)N, (int)N, (int)N, -1, a, (int)a_stride[0], b,
                (int)b_stride[0], 1, c, (int)c_stride[0]);
    return 0;
}
