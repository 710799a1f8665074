/* gemm.c - gemm gemm_acc gemm_nt of std/tile.pto.
 * Idea       All three are one product on strided matrices; a transposed operand is one with its strides exchanged.
 * Tests      test/runtime/test_kernels_tile.c
 */
#ifndef T
#include "blas.h"
#include "kernels.h"

#define EACH_TYPE_FILE "tile/gemm.c"
#include "each_type.h"
#else

int NAME(pto_tile_gemm)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,
                        const int64_t *p_stride, int64_t M, int64_t N, int64_t K)
{
    return NAME(ptoi_blas_gemm)(M, N, K, 1, a, a_stride[0], a_stride[1], b, b_stride[0], b_stride[1], 0, p, p_stride[0],
                                p_stride[1]);
}

int NAME(pto_tile_gemm_acc)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,
                            const int64_t *c_stride, int64_t M, int64_t N, int64_t K)
{
    return NAME(ptoi_blas_gemm)(M, N, K, 1, a, a_stride[0], a_stride[1], b, b_stride[0], b_stride[1], 1, c, c_stride[0],
                                c_stride[1]);
}

int NAME(pto_tile_gemm_nt)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,
                           const int64_t *p_stride, int64_t M, int64_t N, int64_t K)
{
    return NAME(ptoi_blas_gemm)(M, N, K, 1, a, a_stride[0], a_stride[1], b, b_stride[1], b_stride[0], 0, p, p_stride[0],
                                p_stride[1]);
}
#endif
