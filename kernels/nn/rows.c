/* rows.c - softmax_rows and rmsnorm of std/nn.pto: each row becomes a function of its own sum.
 * Idea       Sums are in double and in index order: long rows lose nothing, and strides do not show in the bits.
 * Invariant  softmax subtracts the greatest element first, so exp never overflows; a row with nothing finite to compare
 *            with (all -inf, or an inf) is not a number, as in NumPy.
 * Tests      test/runtime/test_kernels_nn.c
 */
#include "kernels.h"
#include <math.h>

static void softmax(const float *x, int64_t dx, float *y, int64_t dy, int64_t count)
{
    float top = -INFINITY;
    double sum = 0;
    for (int64_t j = 0; j < count; j++)
        if (x[j * dx] > top) top = x[j * dx];
    for (int64_t j = 0; j < count; j++) {
        float e = expf(x[j * dx] - top);
        y[j * dy] = e;
        sum += e;
    }
    for (int64_t j = 0; j < count; j++) y[j * dy] = (float)(y[j * dy] / sum);
}

int pto_nn_softmax_rows_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M,
                            int64_t N)
{
    if (N <= 0) return PTO_KERNEL_OK;
    for (int64_t i = 0; i < M; i++) softmax(x + i * x_stride[0], x_stride[1], y + i * y_stride[0], y_stride[1], N);
    return PTO_KERNEL_OK;
}

int pto_nn_rmsnorm_f32(const float *x, const int64_t *x_stride, const float *w, const int64_t *w_stride, float *y,
                       const int64_t *y_stride, int64_t M, int64_t N)
{
    const double epsilon = 1e-6;
    if (N <= 0) return PTO_KERNEL_OK;
    for (int64_t i = 0; i < M; i++) {
        const float *rx = x + i * x_stride[0];
        float *ry = y + i * y_stride[0];
        double sum = 0;
        for (int64_t j = 0; j < N; j++) {
            double v = rx[j * x_stride[1]];
            sum += v * v;
        }
        double factor = 1 / sqrt(sum / (double)N + epsilon);
        for (int64_t j = 0; j < N; j++)
            ry[j * y_stride[1]] = (float)(rx[j * x_stride[1]] * factor * w[j * w_stride[0]]);
    }
    return PTO_KERNEL_OK;
}
