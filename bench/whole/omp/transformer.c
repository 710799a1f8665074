/* transformer.c - attention with several heads, then a gated network; each thread has its part of the rows. */
#include "attention.h"

static void norm(const float *x, const float *w, float *y, int64_t rows, int64_t d)
{
    for (int64_t i = 0; i < rows; i++, x += d, y += d) {
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (int64_t j = 0; j < d; j++) squares += x[j] * x[j];
        const float factor = 1 / sqrtf(squares / (float)d + 1e-6f);
        for (int64_t j = 0; j < d; j++) y[j] = x[j] * factor * w[j];
    }
}

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0], *norm1 = p[1], *norm2 = p[6];
    float *y = p[10];
    const int64_t s = n[0], d = n[1], wide = n[2], heads = n[3], head = d / heads;
    float *memory = malloc(sizeof *memory * (size_t)(s * (6 * d + 2 * wide)));
    float *a = memory, *q = a + s * d, *k = q + s * d, *v = k + s * d, *o = v + s * d, *after = o + s * d,
          *g = after + s * d, *up = g + s * wide;
#pragma omp parallel
    {
        int64_t low, high;
        my_part(s, BLOCK, &low, &high);
        const int64_t rows = high - low, at = low * d;
        float *scores = malloc(sizeof *scores * (size_t)(BLOCK * s));
        norm(x + at, norm1, a + at, rows, d);
        product(rows, d, d, 1, a + at, d, p[2], d, 0, q + at, d);
        product(rows, d, d, 1, a + at, d, p[3], d, 0, k + at, d);
        product(rows, d, d, 1, a + at, d, p[4], d, 0, v + at, d);
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int64_t t = heads * (s / BLOCK) - 1; t >= 0; t--) {
            const int64_t h = t % heads * head;
            attend(t / heads * BLOCK, head, q + h, k + h, v + h, o + h, d, scores);
        }
        memcpy(after + at, x + at, sizeof *after * (size_t)(rows * d));
        product(rows, d, d, 1, o + at, d, p[5], d, 1, after + at, d);
        norm(after + at, norm2, a + at, rows, d);
        product(rows, wide, d, 1, a + at, d, p[7], wide, 0, g + low * wide, wide);
        product(rows, wide, d, 1, a + at, d, p[8], wide, 0, up + low * wide, wide);
        for (int64_t i = low * wide; i < high * wide; i++) g[i] = g[i] / (1 + expf(-g[i])) * up[i];
        memcpy(y + at, after + at, sizeof *y * (size_t)(rows * d));
        product(rows, d, wide, 1, g + low * wide, wide, p[9], d, 1, y + at, d);
        free(scores);
    }
    free(memory);
}
