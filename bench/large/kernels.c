/* kernels.c - see kernels.h. */
#include "kernels.h"
#include "blas.h"
#include <math.h>
#include <string.h>

int kernel_gemm(int64_t t, const double *a, int64_t a_row, const double *b, int64_t b_row, double *c, int64_t c_row)
{
    return ptoi_blas_gemm_f64(t, t, t, 1, a, a_row, 1, b, b_row, 1, 1, c, c_row, 1);
}
int kernel_potrf(int64_t t, double *a, int64_t a_row)
{
    int64_t order;
    const int status = ptoi_blas_potrf_f64(t, a, a_row, 1, &order);
    return status ? status : order != 0;
}
int kernel_trsm(int64_t t, const double *l, int64_t l_row, double *b, int64_t b_row)
{
    return ptoi_blas_trsm_f64(t, t, l, l_row, 1, b, b_row, 1);
}
int kernel_syrk(int64_t t, const double *a, int64_t a_row, double *c, int64_t c_row)
{
    return ptoi_blas_syrk_f64(t, t, a, a_row, 1, c, c_row, 1);
}
int kernel_gemm_sub(int64_t t, const double *a, int64_t a_row, const double *b, int64_t b_row, double *c, int64_t c_row)
{
    return ptoi_blas_gemm_f64(t, t, t, -1, a, a_row, 1, b, 1, b_row, 1, c, c_row, 1);
}

void kernel_start(int64_t t, float *top, float *sum, float *o)
{
    for (int64_t i = 0; i < t; i++) top[i] = -1e30f, sum[i] = 0;
    memset(o, 0, (size_t)(t * HEAD) * sizeof *o);
}
int kernel_scores(int64_t t, const float *q, const float *k, float *s)
{
    return ptoi_blas_gemm_f32(t, t, HEAD, 1 / sqrtf(HEAD), q, HEAD, 1, k, 1, HEAD, 0, s, t, 1);
}
void kernel_softmax(int64_t t, float *s, float *top, float *sum, float *fade, bool diagonal)
{
    for (int64_t i = 0; i < t; i++) {
        float *row = s + i * t, most = top[i], total = 0;
        const int64_t seen = diagonal ? i + 1 : t;
        for (int64_t j = 0; j < seen; j++) most = row[j] > most ? row[j] : most;
        for (int64_t j = 0; j < seen; j++) total += row[j] = expf(row[j] - most);
        for (int64_t j = seen; j < t; j++) row[j] = 0;
        fade[i] = expf(top[i] - most);
        top[i] = most;
        sum[i] = sum[i] * fade[i] + total;
    }
}
int kernel_values(int64_t t, const float *p, const float *v, const float *fade, float *o)
{
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < HEAD; j++) o[i * HEAD + j] *= fade[i];
    return ptoi_blas_gemm_f32(t, HEAD, t, 1, p, t, 1, v, HEAD, 1, 1, o, HEAD, 1);
}
void kernel_finish(int64_t t, const float *o, const float *sum, float *y)
{
    for (int64_t i = 0; i < t; i++)
        for (int64_t j = 0; j < HEAD; j++) y[i * HEAD + j] = o[i * HEAD + j] / sum[i];
}
