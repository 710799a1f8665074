/* cholesky.c - potrf trsm syrk gemm_nt_sub of std/la.pto: the four tasks of a tiled Cholesky factorisation.
 * Idea       Lower factors.  The functions without `tile` in their names are for tiles of PTO_LA_TILE: programs declare
 *            them with a constant extent, which reaches no function at run time.
 * Invariant  Of a diagonal tile only the lower triangle is read and written; what stands above stays as it was.
 *            info is 0 or the order, counted from 1 inside its tile, of the first minor that was not positive
 *            definite.  The first failure is kept, because every later one follows from it, and the tile that failed
 *            keeps its values: the tasks after it run on and their results mean nothing.
 * Tests      test/runtime/test_kernels_la.c
 */
#include "blas.h"
#include "kernels.h"

int pto_la_potrf_tile_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride, int64_t T)
{
    (void)info_stride; // one element
    int64_t order;
    int status = ptoi_blas_potrf_f64(T, a, a_stride[0], a_stride[1], &order);
    if (status == PTO_KERNEL_OK && *info == 0) *info = (int32_t)order;
    return status;
}

int pto_la_trsm_tile_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride, int64_t T)
{
    return ptoi_blas_trsm_f64(T, T, l, l_stride[0], l_stride[1], b, b_stride[0], b_stride[1]);
}

int pto_la_syrk_tile_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride, int64_t T)
{
    return ptoi_blas_syrk_f64(T, T, a, a_stride[0], a_stride[1], c, c_stride[0], c_stride[1]);
}

int pto_la_gemm_nt_sub_tile_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,
                                double *c, const int64_t *c_stride, int64_t T)
{
    return ptoi_blas_gemm_f64(T, T, T, -1, a, a_stride[0], a_stride[1], b, b_stride[1], b_stride[0], 1, c, c_stride[0],
                              c_stride[1]);
}

int pto_la_potrf_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride)
{
    return pto_la_potrf_tile_f64(a, a_stride, info, info_stride, PTO_LA_TILE);
}

int pto_la_trsm_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride)
{
    return pto_la_trsm_tile_f64(l, l_stride, b, b_stride, PTO_LA_TILE);
}

int pto_la_syrk_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride)
{
    return pto_la_syrk_tile_f64(a, a_stride, c, c_stride, PTO_LA_TILE);
}

int pto_la_gemm_nt_sub_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,
                           double *c, const int64_t *c_stride)
{
    return pto_la_gemm_nt_sub_tile_f64(a, a_stride, b, b_stride, c, c_stride, PTO_LA_TILE);
}
