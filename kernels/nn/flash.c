/* flash.c - one block of attention with online softmax: qk, online_softmax, rescale_pv, finish of std/nn.pto.
 * Idea       For a block of PTO_NN_BLOCK query rows the blocks of keys come one after another.  m is the greatest score
 *            of a row so far, l the sum of exp(score - m), o the sum of exp(score - m) * value; when a block raises m,
 *            what l and o hold is scaled by r = exp(old m - new m).  At the end the attention is o / l.
 * Invariant  The scores are q k^T / sqrt(D).  The caller starts with m = -1e30 or less (-inf is fine), l = 0, o = 0.
 *            With `diagonal` the keys after the row's own position are hidden: their p is exactly 0.
 * Tests      test/runtime/test_kernels_nn.c
 */
#include "blas.h"
#include "kernels.h"
#include <math.h>

enum { B = PTO_NN_BLOCK };

int pto_nn_qk_f32(const float *q, const int64_t *q_stride, const float *k, const int64_t *k_stride, float *s,
                  const int64_t *s_stride, int64_t D)
{
    float scale = D > 0 ? (float)(1 / sqrt((double)D)) : 1;
    return ptoi_blas_gemm_f32(B, B, D, scale, q, q_stride[0], q_stride[1], k, k_stride[1], k_stride[0], 0, s,
                              s_stride[0], s_stride[1]);
}

int pto_nn_online_softmax_f32(const float *s, const int64_t *s_stride, float *m, const int64_t *m_stride, float *l,
                              const int64_t *l_stride, float *p, const int64_t *p_stride, float *r,
                              const int64_t *r_stride, bool diagonal)
{
    for (int64_t i = 0; i < B; i++) {
        const float *rs = s + i * s_stride[0];
        float *rp = p + i * p_stride[0];
        int64_t seen = diagonal ? i + 1 : B;
        float old = m[i * m_stride[0]], top = old;
        for (int64_t j = 0; j < seen; j++)
            if (rs[j * s_stride[1]] > top) top = rs[j * s_stride[1]];
        // Nothing but -inf so far: exp(-inf - -inf) is no number, while the weights that are meant are 0.
        float base = top == -INFINITY ? 0 : top;
        double sum = 0;
        for (int64_t j = 0; j < seen; j++) {
            float e = expf(rs[j * s_stride[1]] - base);
            rp[j * p_stride[1]] = e;
            sum += e;
        }
        for (int64_t j = seen; j < B; j++) rp[j * p_stride[1]] = 0;
        float fade = expf(old - base);
        m[i * m_stride[0]] = top;
        r[i * r_stride[0]] = fade;
        l[i * l_stride[0]] = (float)(l[i * l_stride[0]] * (double)fade + sum);
    }
    return PTO_KERNEL_OK;
}

int pto_nn_rescale_pv_f32(const float *p, const int64_t *p_stride, const float *v, const int64_t *v_stride,
                          const float *r, const int64_t *r_stride, float *o, const int64_t *o_stride, int64_t D)
{
    for (int64_t i = 0; i < B; i++)
        for (int64_t j = 0; j < D; j++) o[i * o_stride[0] + j * o_stride[1]] *= r[i * r_stride[0]];
    return ptoi_blas_gemm_f32(B, D, B, 1, p, p_stride[0], p_stride[1], v, v_stride[0], v_stride[1], 1, o, o_stride[0],
                              o_stride[1]);
}

int pto_nn_finish_f32(const float *o, const int64_t *o_stride, const float *l, const int64_t *l_stride, float *y,
                      const int64_t *y_stride, int64_t D)
{
    for (int64_t i = 0; i < B; i++)
        for (int64_t j = 0; j < D; j++)
            y[i * y_stride[0] + j * y_stride[1]] = o[i * o_stride[0] + j * o_stride[1]] / l[i * l_stride[0]];
    return PTO_KERNEL_OK;
}
