/* conv.c - a convolution of images with a border: strips of rows are unfolded into matrices, for a product. */
#include "whole.h"

enum { ROWS = 8 };

void whole(void *const *p, const int64_t *n)
{
    const float *x = p[0], *w = p[1];
    float *y = p[2];
    const int64_t images = n[0], outs = n[1], ins = n[2], r = n[3], s = n[4], height = n[5], width = n[6];
    const int64_t strips = (height + ROWS - 1) / ROWS, pitch = width + s - 1, deep = ins * r * s;
#pragma omp parallel
    {
        float *u = malloc(sizeof *u * (size_t)(deep * ROWS * width));
#pragma omp for
        for (int64_t t = 0; t < images * strips; t++) {
            const int64_t b = t / strips, i = t % strips * ROWS, rows = height - i < ROWS ? height - i : ROWS;
            const float *from = x + b * ins * (height + r - 1) * pitch + i * pitch;
            float *to = u;
            for (int64_t c = 0; c < ins; c++, from += (height + r - 1) * pitch)
                for (int64_t d = 0; d < r; d++)
                    for (int64_t e = 0; e < s; e++)
                        for (int64_t k = 0; k < rows; k++, to += width)
                            memcpy(to, from + (k + d) * pitch + e, sizeof *u * (size_t)width);
            product(outs, rows * width, deep, 1, w, deep, u, rows * width, 0, y + (b * outs * height + i) * width,
                    height * width);
        }
        free(u);
    }
}
