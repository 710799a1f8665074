/* nn.c - what the kernels of std/nn.pto compute.
 * Tests      test/runtime/test_kernels_nn.c compares with it
 */
#include "ref/ref.h"
#include <math.h>

int ref_nn_fill_f32(float *x, const int64_t *x_stride, float v, int64_t N)
{
    for (int64_t i = 0; i < N; i++) AT1(x, i) = v;
    return 0;
}

int ref_nn_fill2_f32(float *x, const int64_t *x_stride, float v, int64_t M, int64_t N)
{
    return ref_tile_fill_f32(x, x_stride, v, M, N);
}

int ref_nn_add_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride, float *c,
                   const int64_t *c_stride, int64_t M, int64_t N)
{
    return ref_tile_add_f32(a, a_stride, b, b_stride, c, c_stride, M, N);
}

int ref_nn_relu_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M, int64_t N)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) AT2(y, i, j) = AT2(x, i, j) < 0 ? 0 : AT2(x, i, j);
    return 0;
}

int ref_nn_matmul_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride, float *c,
                      const int64_t *c_stride, int64_t M, int64_t N, int64_t K)
{
    return ref_tile_gemm_f32(a, a_stride, b, b_stride, c, c_stride, M, N, K);
}

int ref_nn_qk_f32(const float *q, const int64_t *q_stride, const float *k, const int64_t *k_stride, float *s,
                  const int64_t *s_stride, int64_t D)
{
    for (int64_t i = 0; i < PTO_NN_BLOCK; i++)
        for (int64_t j = 0; j < PTO_NN_BLOCK; j++) {
            double sum = 0;
            for (int64_t d = 0; d < D; d++) sum += (double)AT2(q, i, d) * AT2(k, j, d);
            AT2(s, i, j) = (float)(D > 0 ? sum / sqrt((double)D) : 0);
        }
    return 0;
}

int ref_nn_online_softmax_f32(const float *s, const int64_t *s_stride, float *m, const int64_t *m_stride, float *l,
                              const int64_t *l_stride, float *p, const int64_t *p_stride, float *r,
                              const int64_t *r_stride, bool diagonal)
{
    for (int64_t i = 0; i < PTO_NN_BLOCK; i++) {
        double old = AT1(m, i), top = old, sum = 0;
        for (int64_t j = 0; j < PTO_NN_BLOCK; j++)
            if (!diagonal || j <= i) top = fmax(top, AT2(s, i, j));
        for (int64_t j = 0; j < PTO_NN_BLOCK; j++) {
            double e = diagonal && j > i ? 0 : exp(AT2(s, i, j) - top);
            AT2(p, i, j) = (float)e;
            sum += e;
        }
        AT1(m, i) = (float)top;
        AT1(r, i) = (float)exp(old - top);
        AT1(l, i) = (float)(AT1(l, i) * exp(old - top) + sum);
    }
    return 0;
}

int ref_nn_rescale_pv_f32(const float *p, const int64_t *p_stride, const float *v, const int64_t *v_stride,
                          const float *r, const int64_t *r_stride, float *o, const int64_t *o_stride, int64_t D)
{
    for (int64_t i = 0; i < PTO_NN_BLOCK; i++)
        for (int64_t d = 0; d < D; d++) {
            double sum = (double)AT2(o, i, d) * AT1(r, i);
            for (int64_t j = 0; j < PTO_NN_BLOCK; j++) sum += (double)AT2(p, i, j) * AT2(v, j, d);
            AT2(o, i, d) = (float)sum;
        }
    return 0;
}

int ref_nn_finish_f32(const float *o, const int64_t *o_stride, const float *l, const int64_t *l_stride, float *y,
                      const int64_t *y_stride, int64_t D)
{
    for (int64_t i = 0; i < PTO_NN_BLOCK; i++)
        for (int64_t d = 0; d < D; d++) AT2(y, i, d) = AT2(o, i, d) / AT1(l, i);
    return 0;
}
