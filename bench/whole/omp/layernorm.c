/* layernorm.c - (x - mean) / sqrt(variance + 1e-5) * w + b of each row. */
#include "whole.h"

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0], *w = p[1], *b = p[2];
    float *y = p[3];
    const int64_t columns = n[1];
#pragma omp parallel for
    for (int64_t i = 0; i < n[0]; i++) {
        const float *from = x + i * columns;
        float *to = y + i * columns, sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < columns; j++) sum += from[j];
        const float mean = sum / (float)columns;
#pragma omp simd reduction(+ : squares)
        for (int64_t j = 0; j < columns; j++) squares += (from[j] - mean) * (from[j] - mean);
        const float factor = 1 / sqrtf(squares / (float)columns + 1e-5f);
        for (int64_t j = 0; j < columns; j++) to[j] = (from[j] - mean) * factor * w[j] + b[j];
    }
}
