/* elementwise.c - fill fill2 add relu of std/nn.pto.
 * Idea       One function of one number for each activation, walked over the matrix.
 * Invariant  What is not a number stays so, also through relu.
 * Tests      test/runtime/test_kernels_nn.c
 */
#include "kernels.h"
#include "walk.h"

int pto_nn_fill_f32(float *x, const int64_t *x_stride, float v, int64_t N)
{
    for (int64_t i = 0; i < N; i++) x[i * x_stride[0]] = v;
    return PTO_KERNEL_OK;
}

int pto_nn_fill2_f32(float *x, const int64_t *x_stride, float v, int64_t M, int64_t N)
{
    return pto_tile_fill_f32(x, x_stride, v, M, N);
}

int pto_nn_add_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride, float *c,
                   const int64_t *c_stride, int64_t M, int64_t N)
{
    return pto_tile_add_f32(a, a_stride, b, b_stride, c, c_stride, M, N);
}

/* Inlined where `f` is known, so the loop holds the function and not a call through a pointer. */
static inline __attribute__((always_inline)) int map(float (*f)(float), const float *x, const int64_t *x_stride,
                                                     float *y, const int64_t *y_stride, int64_t M, int64_t N)
{
    struct walk w = walk_matrix(y_stride, M, N);
    int64_t dx = x_stride[w.inner_dim], dy = y_stride[w.inner_dim];
    for (int64_t i = 0; i < w.outer; i++) {
        const float *rx = x + i * x_stride[w.outer_dim];
        float *restrict ry = y + i * y_stride[w.outer_dim];
        for (int64_t j = 0; j < w.inner; j++) ry[j * dy] = f(rx[j * dx]);
    }
    return PTO_KERNEL_OK;
}

static inline float relu(float x) { return x < 0 ? 0 : x; }

int pto_nn_relu_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M, int64_t N)
{
    return map(relu, x, x_stride, y, y_stride, M, N);
}
