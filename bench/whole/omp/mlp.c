/* mlp.c - one epoch of training two layers, mean squared error; each thread has its part of the hidden units. */
#include "whole.h"

enum { BATCH = 32 };

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0], *t = p[1];
    float *w1 = p[2], *b1 = p[3], *w2 = p[4], *b2 = p[5];
    const int64_t count = n[0], ins = n[1], hidden = n[2], outs = n[3];
    const float rate = 0.1f;
    float *h = malloc(sizeof *h * (size_t)(BATCH * hidden)), *dh = malloc(sizeof *dh * (size_t)(BATCH * hidden));
    float *d = malloc(sizeof *d * (size_t)(BATCH * outs));
#pragma omp parallel
    {
        int64_t low, high;
        my_part(hidden, 16, &low, &high);
        const int64_t part = high - low;
        for (int64_t k = 0; k < count; k += BATCH) {
            const float *a = x + k * ins, *want = t + k * outs;
            product(BATCH, part, ins, 1, a, ins, w1 + low, hidden, 0, h + low, hidden);
            for (int64_t i = 0; i < BATCH; i++)
                for (int64_t j = low; j < high; j++) {
                    const float y = h[i * hidden + j] + b1[j];
                    h[i * hidden + j] = y > 0 ? y : 0;
                }
#pragma omp barrier
#pragma omp single
            {
                product(BATCH, outs, hidden, 1, h, hidden, w2, outs, 0, d, outs);
                for (int64_t i = 0; i < BATCH; i++)
                    for (int64_t j = 0; j < outs; j++) {
                        const float e = d[i * outs + j] + b2[j] - want[i * outs + j];
                        d[i * outs + j] = 2 * e / (float)(BATCH * outs);
                    }
                for (int64_t i = 0; i < BATCH; i++)
                    for (int64_t j = 0; j < outs; j++) b2[j] -= rate * d[i * outs + j];
            }
            if (part > 0) {
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, (int)part, (int)outs, 1, d, (int)outs,
                            w2 + low * outs, (int)outs, 0, dh + low, (int)hidden);
                cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)part, (int)outs, BATCH, -rate, h + low,
                            (int)hidden, d, (int)outs, 1, w2 + low * outs, (int)outs);
                for (int64_t i = 0; i < BATCH; i++)
                    for (int64_t j = low; j < high; j++) {
                        const float g = h[i * hidden + j] > 0 ? dh[i * hidden + j] : 0;
                        dh[i * hidden + j] = g;
                        b1[j] -= rate * g;
                    }
                cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)ins, (int)part, BATCH, -rate, a, (int)ins,
                            dh + low, (int)hidden, 1, w1 + low, (int)hidden);
            }
#pragma omp barrier
        }
    }
    free(h);
    free(dh);
    free(d);
}
