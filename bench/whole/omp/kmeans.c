/* kmeans.c - rounds of k-means on the pixels of a picture, until no label changes. */
#include "whole.h"

enum { BLOCK = 256, MOST = 64 };

static int64_t classify(const uint8_t *pixel, int64_t n, const float *colour, int64_t k, int32_t *label,
                        int64_t (*sum)[4])
{
    float c[3][BLOCK], least[BLOCK];
    int32_t best[BLOCK];
    int64_t changed = 0;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) c[d][i] = pixel[3 * i + d];
    for (int64_t i = 0; i < n; i++) least[i] = INFINITY, best[i] = 0;
    for (int32_t j = 0; j < k; j++) {
        const float *o = colour + 3 * j;
        for (int64_t i = 0; i < n; i++) {
            const float r = c[0][i] - o[0], g = c[1][i] - o[1], b = c[2][i] - o[2], far = r * r + g * g + b * b;
            best[i] = far < least[i] ? j : best[i];
            least[i] = far < least[i] ? far : least[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        changed += best[i] != label[i];
        label[i] = best[i];
        for (int d = 0; d < 3; d++) sum[best[i]][d] += pixel[3 * i + d];
        sum[best[i]][3]++;
    }
    return changed;
}

void whole(void *const *p, const int64_t *n)
{
    const uint8_t *pixel = p[0];
    float *colour = p[1];
    int32_t *label = p[2];
    const int64_t count = n[0], k = n[1];
    int64_t changed = 1;
    for (int64_t round = 0; round < n[2] && changed > 0; round++) {
        int64_t sum[MOST][4] = {{0}};
        changed = 0;
#pragma omp parallel reduction(+ : changed)
        {
            int64_t own[MOST][4] = {{0}};
#pragma omp for
            for (int64_t i = 0; i < count; i += BLOCK)
                changed += classify(pixel + 3 * i, count - i < BLOCK ? count - i : BLOCK, colour, k, label + i, own);
#pragma omp critical
            for (int64_t j = 0; j < k; j++)
                for (int d = 0; d < 4; d++) sum[j][d] += own[j][d];
        }
        for (int64_t j = 0; j < k; j++)
            for (int d = 0; d < 3 && sum[j][3] > 0; d++)
                colour[3 * j + d] = (float)((double)sum[j][d] / (double)sum[j][3]);
    }
}
