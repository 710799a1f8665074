/* steps.c - see steps.h; run.py compiles it once for all */
#include "steps.h"

int bench_advance(float *x, const int64_t *x_stride)
{
    (void)x_stride;
    x[0] += 1;
    return 0;
}

int bench_smooth(const float *above, const int64_t *above_stride, const float *here, const int64_t *here_stride,
                 const float *below, const int64_t *below_stride, float *to, const int64_t *to_stride)
{
    (void)above_stride, (void)here_stride, (void)below_stride, (void)to_stride; /* rows are dense everywhere */
    for (int64_t i = 0; i < ROWS; i++) {
        const float *up = i == 0 ? above : here + (i - 1) * WIDTH,
                    *down = i == ROWS - 1 ? below : here + (i + 1) * WIDTH;
        to[i * WIDTH] = here[i * WIDTH];
        to[i * WIDTH + WIDTH - 1] = here[i * WIDTH + WIDTH - 1];
        for (int64_t j = 1; j < WIDTH - 1; j++)
            to[i * WIDTH + j] = 0.25f * (up[j] + down[j] + here[i * WIDTH + j - 1] + here[i * WIDTH + j + 1]);
    }
    return 0;
}

int bench_step(const double *left, const int64_t *left_stride, const double *here, const int64_t *here_stride,
               const double *right, const int64_t *right_stride, double *to, const int64_t *to_stride,
               int64_t iterations)
{
    (void)left_stride, (void)here_stride, (void)right_stride, (void)to_stride;
    double busy = here[0];
    for (int64_t k = 0; k < iterations; k++) busy = busy * 0.5 + 1; /* ends at 2, which no compiler knows */
    for (int j = 0; j < CELL; j++) to[j] = (left[j] + here[j] + right[j]) / 3 + (busy - busy);
    return 0;
}

float bench_first_row(int64_t row, int64_t column) { return (float)((row * 37 + column * 11) % 64) / 64; }

double bench_first_cell(int64_t point, int64_t element) { return (double)((point * 37 + element * 11) % 64); }
