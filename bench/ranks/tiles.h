/* tiles.h - the work of the rows product and cholesky: ours and StarPU-MPI link with the same functions over one BLAS,
 * and ScaLAPACK begins with the same matrices.
 * The parameters are those of an extern kernel: each matrix is followed by its strides, extents come last. */
#ifndef BENCH_TILES_H
#define BENCH_TILES_H
#include <stdint.h>

enum { LEFT, RIGHT, POSITIVE }; /* the factors of the product; a positive definite matrix */

/* The part of a matrix whose first element is (row, column), any strides. */
int bench_fill(double *a, const int64_t *a_stride, int64_t which, int64_t row, int64_t column, int64_t M, int64_t N);

/* Rows are dense in all that follow. */
int bench_negate(double *a, const int64_t *a_stride, int64_t M, int64_t N);
int bench_copy(const double *a, const int64_t *a_stride, double *b, const int64_t *b_stride, int64_t M, int64_t N);
int bench_multiply(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double *c,
                   const int64_t *c_stride, int64_t M, int64_t N, int64_t K);

/* The tasks of a Cholesky factorisation: only lower triangles of diagonal tiles are read and written. */
int bench_potrf(double *a, const int64_t *a_stride, int64_t N);
int bench_trsm(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride, int64_t N);
int bench_syrk(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride, int64_t N);
int bench_subtract(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double *c,
                   const int64_t *c_stride, int64_t N);

#endif
