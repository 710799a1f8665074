/* whole.h - what the OpenMP programs of bench/whole share.  whole() is the computation; problems.py passes its arrays
 * and extents.  Products are those of the BLAS that NumPy uses, one thread for each call. */
#ifndef BENCH_WHOLE_H
#define BENCH_WHOLE_H
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void whole(void *const *p, const int64_t *n);

/* c = beta * c + alpha * a * b, row by row */
static inline void product(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                           int64_t ldb, float beta, float *c, int64_t ldc)
{
    if (m > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a, (int)lda, b, (int)ldb,
                    beta, c, (int)ldc);
}

/* The softmax of a row; to may be from. */
static inline void softmax_of_row(const float *from, float *to, int64_t count)
{
    float most = from[0], total = 0;
#pragma omp simd reduction(max : most)
    for (int64_t j = 0; j < count; j++) most = from[j] > most ? from[j] : most;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < count; j++) {
        to[j] = expf(from[j] - most);
        total += to[j];
    }
    for (int64_t j = 0; j < count; j++) to[j] *= 1 / total;
}

/* The part of 0 .. count that is this thread's: whole groups. */
static inline void my_part(int64_t count, int64_t group, int64_t *low, int64_t *high)
{
    const int64_t groups = (count + group - 1) / group, threads = omp_get_num_threads(), t = omp_get_thread_num();
    *low = groups * t / threads * group;
    *high = groups * (t + 1) / threads * group;
    if (*high > count) *high = count;
}
#endif
