/* treesum.c - the sum of a vector: pieces in f64, then the pieces. */
#include "whole.h"

enum { PIECE = 4096 };

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0];
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int64_t i = 0; i < n[0]; i += PIECE) {
        const int64_t end = i + PIECE < n[0] ? i + PIECE : n[0];
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = i; k < end; k++) sum += (double)x[k];
        all += sum;
    }
    *(float *)p[1] = (float)all;
}
