/* la.c - what the kernels of std/la.pto compute.
 * Tests      test/runtime/test_kernels_la.c compares with it
 */
#include "ref/ref.h"
#include <math.h>

/* What the factor of a tile needs at most in the tests. */
enum { MOST = 160 };

/* The lower factor of a in l; the failing order or 0. */
static int32_t factor(const double *a, const int64_t *a_stride, double l[MOST][MOST], int64_t T)
{
    for (int64_t j = 0; j < T; j++) {
        long double sum = AT2(a, j, j);
        for (int64_t k = 0; k < j; k++) sum -= (long double)l[j][k] * l[j][k];
        if (!(sum > 0)) return (int32_t)(j + 1);
        l[j][j] = (double)sqrtl(sum);
        for (int64_t i = j + 1; i < T; i++) {
            sum = AT2(a, i, j);
            for (int64_t k = 0; k < j; k++) sum -= (long double)l[i][k] * l[j][k];
            l[i][j] = (double)(sum / l[j][j]);
        }
    }
    return 0;
}

/* More than MOST rows fail. */
int ref_la_potrf_tile_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride, int64_t T)
{
    double l[MOST][MOST];
    if (T > MOST) return 1;
    int32_t order = factor(a, a_stride, l, T);
    if (order == 0)
        for (int64_t i = 0; i < T; i++)
            for (int64_t j = 0; j <= i; j++) AT2(a, i, j) = l[i][j];
    else if (AT1(info, 0) == 0)
        AT1(info, 0) = order;
    return 0;
}

int ref_la_trsm_tile_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride, int64_t T)
{
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) {
            long double sum = AT2(b, i, j);
            for (int64_t k = 0; k < j; k++) sum -= (long double)AT2(b, i, k) * AT2(l, j, k);
            AT2(b, i, j) = (double)(sum / AT2(l, j, j));
        }
    return 0;
}

/* c(i, j) less the product of row i of a and row j of b. */
static double sub_dot(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride, double c,
                      int64_t i, int64_t j, int64_t T)
{
    long double sum = c;
    for (int64_t k = 0; k < T; k++) sum -= (long double)AT2(a, i, k) * AT2(b, j, k);
    return (double)sum;
}

int ref_la_syrk_tile_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride, int64_t T)
{
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j <= i; j++) AT2(c, i, j) = sub_dot(a, a_stride, a, a_stride, AT2(c, i, j), i, j, T);
    return 0;
}

int ref_la_gemm_nt_sub_tile_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,
                                double *c, const int64_t *c_stride, int64_t T)
{
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++) AT2(c, i, j) = sub_dot(a, a_stride, b, b_stride, AT2(c, i, j), i, j, T);
    return 0;
}
