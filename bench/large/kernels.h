/* kernels.h - what the programs of large.h run: the kernels of kernels/, with the tile as an argument.
 *
 * Idea       compiled once: where a compiler sees a kernel and its caller together it may make other instructions for
 *            each of them.
 * Units      t: rows and columns of a tile; *_row: elements from one row to the next. */
#ifndef BENCH_LARGE_KERNELS_H
#define BENCH_LARGE_KERNELS_H
#include <stdbool.h>
#include <stdint.h>

enum { HEAD = 64 }; /* columns of a block of queries, keys and values */

int kernel_gemm(int64_t t, const double *a, int64_t a_row, const double *b, int64_t b_row, double *c, int64_t c_row);
int kernel_potrf(int64_t t, double *a, int64_t a_row);
int kernel_trsm(int64_t t, const double *l, int64_t l_row, double *b, int64_t b_row);
int kernel_syrk(int64_t t, const double *a, int64_t a_row, double *c, int64_t c_row);
int kernel_gemm_sub(int64_t t, const double *a, int64_t a_row, const double *b, int64_t b_row, double *c,
                    int64_t c_row);

/* A block of queries: greatest score so far, sum of weights, weighted values.  See kernels/nn/flash.c. */
void kernel_start(int64_t t, float *top, float *sum, float *o);
int kernel_scores(int64_t t, const float *q, const float *k, float *s);
void kernel_softmax(int64_t t, float *s, float *top, float *sum, float *fade, bool diagonal);
int kernel_values(int64_t t, const float *p, const float *v, const float *fade, float *o);
void kernel_finish(int64_t t, const float *o, const float *sum, float *y);

#endif
