/* matmul.c - matmul of std/nn.pto, under the name that network code uses for gemm.
 * Tests      test/runtime/test_kernels_nn.c
 */
#include "kernels.h"

int pto_nn_matmul_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride, float *c,
                      const int64_t *c_stride, int64_t M, int64_t N, int64_t K)
{
    return pto_tile_gemm_f32(a, a_stride, b, b_stride, c, c_stride, M, N, K);
}
