/* steps.h - the work of the rows chain, halo and grain: ours, by hand and StarPU-MPI link with the same functions.
 * The parameters are those of an extern kernel: each array is followed by its strides. */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H
#include <stdint.h>

enum {
    ROWS = 256,   /* of a band of `halo` */
    WIDTH = 2048, /* elements of a row */
    CELL = 8,     /* elements of a cell of `grain`, a cache line */
    POINTS = 8    /* cells of `grain`, half of them a rank */
};

int bench_advance(float *x, const int64_t *x_stride);

/* A sweep over a band.  The row above the first band, and below the last, is the band's own border. */
int bench_smooth(const float *above, const int64_t *above_stride, const float *here, const int64_t *here_stride,
                 const float *below, const int64_t *below_stride, float *to, const int64_t *to_stride);

/* The mean of three cells, after so many steps of arithmetic that depend on each other. */
int bench_step(const double *left, const int64_t *left_stride, const double *here, const int64_t *here_stride,
               const double *right, const int64_t *right_stride, double *to, const int64_t *to_stride,
               int64_t iterations);

/* What the arrays are before the first sweep. */
float bench_first_row(int64_t row, int64_t column);
double bench_first_cell(int64_t point, int64_t element);

#endif
