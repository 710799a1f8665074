/* lstm.c - two layers over sequences; each thread has its part of the batch.  The inputs of all steps: one product. */
#include "whole.h"

static void layer(const float *x, int64_t x_pitch, int64_t batch, int64_t steps, int64_t ins, int64_t h, const float *w,
                  const float *u, const float *bias, float *g, float *state, float *y)
{
    float *c = state, *gate = state + batch * h;
    for (int64_t k = 0; k < 4; k++)
        product(batch * steps, h, ins, 1, x, x_pitch, w + k * ins * h, h, 0, g + k * batch * steps * h, h);
    memset(c, 0, sizeof *c * (size_t)(batch * h));
    for (int64_t t = 0; t < steps; t++)
        for (int64_t k = 0; k <= 4; k++)
            if (k < 4) {
                if (t > 0)
                    product(batch, h, h, 1, y + (t - 1) * h, steps * h, u + k * h * h, h, 0, gate + k * batch * h, h);
                else
                    memset(gate + k * batch * h, 0, sizeof *gate * (size_t)(batch * h));
            } else
                for (int64_t b = 0; b < batch; b++) {
                    const float *from = g + (b * steps + t) * h, *z = gate + b * h;
                    const int64_t next = batch * steps * h, one = batch * h;
                    float *to = y + (b * steps + t) * h, *old = c + b * h;
                    for (int64_t j = 0; j < h; j++) {
                        const float in = 1 / (1 + expf(-(from[j] + z[j] + bias[j])));
                        const float keep = 1 / (1 + expf(-(from[next + j] + z[one + j] + bias[h + j])));
                        const float out = 1 / (1 + expf(-(from[2 * next + j] + z[2 * one + j] + bias[2 * h + j])));
                        const float add = tanhf(from[3 * next + j] + z[3 * one + j] + bias[3 * h + j]);
                        old[j] = keep * old[j] + in * add;
                        to[j] = out * tanhf(old[j]);
                    }
                }
}

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0];
    float *y = p[7];
    const int64_t batch = n[0], steps = n[1], ins = n[2], h = n[3];
#pragma omp parallel
    {
        int64_t low, high;
        my_part(batch, 1, &low, &high);
        const int64_t part = high - low;
        float *g = malloc(sizeof *g * (size_t)(part * steps * h * 5 + part * h * 5)), *below = g + part * steps * h * 4;
        float *state = below + part * steps * h;
        layer(x + low * steps * ins, ins, part, steps, ins, h, p[1], p[2], p[3], g, state, below);
        layer(below, h, part, steps, h, h, p[4], p[5], p[6], g, state, y + low * steps * h);
        free(g);
    }
}
