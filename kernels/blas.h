/* blas.h - the seam between the kernels and a serial BLAS and LAPACK.
 * Idea       The kernels speak of matrices with any two strides.  blas.c hands them to OpenBLAS when the build found it
 *            (PTO_HAVE_BLAS), packing what its leading dimensions cannot say, and to the plain C of plain.c otherwise.
 * Invariant  One thread per call, any number of callers at once.  The bits of a result depend on the shapes, strides
 *            and values alone: not on the thread, not on the address.
 * Tests      test/runtime/test_kernels_tile.c, test_kernels_la.c, both ways
 */
#ifndef PTO_KERNELS_BLAS_H
#define PTO_KERNELS_BLAS_H
#include <stdbool.h>
#include <stdint.h>

/* So many k of a panel of contraction.c stay in the nearest cache. */
enum { PTOI_PANEL_DEPTH = 256 };

/* Is a product of this size one for BLAS?  Below it the block of contraction.c is as fast. */
bool ptoi_is_for_blas(int64_t rows, int64_t columns, int64_t depth);

/* All return a PTO_KERNEL_ code.  `x_row` and `x_col` are the strides of matrix x in elements. */

/* c := alpha a b + beta c, with a[m, k], b[k, n], c[m, n].  With beta = 0 the old c is not read. */
int ptoi_blas_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_row, int64_t a_col,
                       const float *b, int64_t b_row, int64_t b_col, float beta, float *c, int64_t c_row,
                       int64_t c_col);
int ptoi_blas_gemm_f64(int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t a_row, int64_t a_col,
                       const double *b, int64_t b_row, int64_t b_col, double beta, double *c, int64_t c_row,
                       int64_t c_col);

/* b := b inverse(transpose(l)), with l[n, n] lower triangular (the rest is not read) and b[m, n]. */
int ptoi_blas_trsm_f64(int64_t m, int64_t n, const double *l, int64_t l_row, int64_t l_col, double *b, int64_t b_row,
                       int64_t b_col);

/* The lower triangle of c[n, n] := c - a transpose(a), with a[n, k].  The strict upper triangle is not touched. */
int ptoi_blas_syrk_f64(int64_t n, int64_t k, const double *a, int64_t a_row, int64_t a_col, double *c, int64_t c_row,
                       int64_t c_col);

/* The lower triangle of a[n, n] := its Cholesky factor; the strict upper triangle is neither read nor written.  *order
 * is 0, or the order of the first leading minor that is not positive definite, and then a is as it was. */
int ptoi_blas_potrf_f64(int64_t n, double *a, int64_t a_row, int64_t a_col, int64_t *order);

/* ---- plain.c: the same in plain C, for dense row-major operands except gemm, which takes any strides ------------- */
void ptoi_plain_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t a_row, int64_t a_col,
                         const float *b, int64_t b_row, int64_t b_col, float beta, float *c, int64_t c_row,
                         int64_t c_col);
void ptoi_plain_gemm_f64(int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t a_row, int64_t a_col,
                         const double *b, int64_t b_row, int64_t b_col, double beta, double *c, int64_t c_row,
                         int64_t c_col);
/* b[m, n] := b inverse(u), with u[n, n] upper triangular (the rest is not read). */
void ptoi_plain_trsm_upper_f64(int64_t m, int64_t n, const double *u, double *b);
/* The upper triangle of u[n, n] := the factor with transpose(u) u; returns the failing order or 0. */
int64_t ptoi_plain_potrf_upper_f64(int64_t n, double *u);
#endif
