/* la.c - what the kernels of std/la.pto compute.
 * Tests      test/runtime/test_kernels_la.c compares with it
 */
#include "ref/ref.h"
#include <math.h>

enum { N = PTO_LA_TILE };

/* The lower factor of a in l; the failing order or 0. */
static int32_t factor(const double *a, const int64_t *a_stride, double l[N][N])
{
    for (int64_t j = 0; j < N; j++) {
        long double sum = AT2(a, j, j);
        for (int64_t k = 0; k < j; k++) sum -= (long double)l[j][k] * l[j][k];
        if (!(sum > 0)) return (int32_t)(j + 1);
        l[j][j] = (double)sqrtl(sum);
        for (int64_t i = j + 1; i < N; i++) {
            sum = AT2(a, i, j);
            for (int64_t k = 0; k < j; k++) sum -= (long double)l[i][k] * l[j][k];
            l[i][j] = (double)(sum / l[j][j]);
        }
    }
    return 0;
}

int ref_la_potrf_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride)
{
    double l[N][N];
    int32_t order = factor(a, a_stride, l);
    if (order == 0)
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j <= i; j++) AT2(a, i, j) = l[i][j];
    else if (AT1(info, 0) == 0)
        AT1(info, 0) = order;
    return 0;
}

int ref_la_trsm_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            long double sum = AT2(b, i, j);
            for (int64_t k = 0; k < j; k++) sum -= (long double)AT2(b, i, k) * AT2(l, j, k);
            AT2(b, i, j) = (double)(sum / AT2(l, j, j));
        }
    return 0;
}

/* c(i, j) less the product of row i of a and row j of b. */
static double sub_dot(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double c,
                      int64_t i, int64_t j)
{
    long double sum = c;
    for (int64_t k = 0; k < N; k++) sum -= (long double)AT2(a, i, k) * AT2(b, j, k);
    return (double)sum;
}

int ref_la_syrk_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j <= i; j++) AT2(c, i, j) = sub_dot(a, a_stride, a, a_stride, AT2(c, i, j), i, j);
    return 0;
}

int ref_la_gemm_nt_sub_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,
                           double *c, const int64_t *c_stride)
{
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) AT2(c, i, j) = sub_dot(a, a_stride, b, b_stride, AT2(c, i, j), i, j);
    return 0;
}
