/* softmax.c - softmax of each row. */
#include "whole.h"

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0];
    float *y = p[1];
    const int64_t columns = n[1];
#pragma omp parallel for
    for (int64_t i = 0; i < n[0]; i++) {
        const float *from = x + i * columns;
        float *to = y + i * columns, most = from[0], total = 0;
#pragma omp simd reduction(max : most)
        for (int64_t j = 0; j < columns; j++) most = from[j] > most ? from[j] : most;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < columns; j++) {
            to[j] = expf(from[j] - most);
            total += to[j];
        }
        for (int64_t j = 0; j < columns; j++) to[j] *= 1 / total;
    }
}
