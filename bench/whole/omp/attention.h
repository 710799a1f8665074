/* attention.h - causal attention of one head: a block of queries against all keys up to it. */
#ifndef BENCH_WHOLE_ATTENTION_H
#define BENCH_WHOLE_ATTENTION_H
#include "whole.h"

enum { BLOCK = 64 };

/* Rows i .. i + BLOCK of y; s has room for BLOCK rows of scores. */
static inline void attend(int64_t i, int64_t d, const float *q, const float *k, const float *v, float *y, int64_t pitch,
                          float *s)
{
    const int64_t keys = i + BLOCK;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BLOCK, (int)keys, (int)d, 1 / sqrtf((float)d), q + i * pitch,
                (int)pitch, k, (int)pitch, 0, s, (int)keys);
    for (int64_t r = 0; r < BLOCK; r++) {
        float *row = s + r * keys;
        const int64_t seen = i + r + 1;
        softmax_of_row(row, row, seen);
        for (int64_t j = seen; j < keys; j++) row[j] = 0;
    }
    product(BLOCK, d, keys, 1, s, keys, v, pitch, 0, y + i * pitch, pitch);
}
#endif
