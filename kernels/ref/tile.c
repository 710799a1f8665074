/* tile.c - what the kernels of std/tile.pto compute.
 * Tests      test/runtime/test_kernels_tile.c compares with it
 */
#ifndef T
#include "ref/ref.h"

#define EACH(statement)                                                                                                \
    for (int64_t i = 0; i < M; i++)                                                                                    \
        for (int64_t j = 0; j < N; j++) statement;                                                                     \
    return 0

#define EACH_TYPE_FILE "ref/tile.c"
#include "each_type.h"
#else

/* The sum over l of a(i, l) b(l, j), b read by columns when b_stride is exchanged. */
static T NAME(dot)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, int64_t i, int64_t j,
                   int64_t K, T start)
{
    long double sum = start;
    for (int64_t l = 0; l < K; l++) sum += (long double)AT2(a, i, l) * AT2(b, l, j);
    return (T)sum;
}

int NAME(ref_tile_gemm)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,
                        const int64_t *p_stride, int64_t M, int64_t N, int64_t K)
{
    EACH(AT2(p, i, j) = NAME(dot)(a, a_stride, b, b_stride, i, j, K, 0));
}

int NAME(ref_tile_gemm_acc)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,
                            const int64_t *c_stride, int64_t M, int64_t N, int64_t K)
{
    EACH(AT2(c, i, j) = NAME(dot)(a, a_stride, b, b_stride, i, j, K, AT2(c, i, j)));
}

int NAME(ref_tile_gemm_nt)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,
                           const int64_t *p_stride, int64_t M, int64_t N, int64_t K)
{
    const int64_t turned[2] = {b_stride[1], b_stride[0]};
    EACH(AT2(p, i, j) = NAME(dot)(a, a_stride, b, turned, i, j, K, 0));
}
int NAME(ref_tile_copy)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M, int64_t N)
{
    EACH(AT2(b, i, j) = AT2(a, i, j));
}

int NAME(ref_tile_transpose)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M, int64_t N)
{
    EACH(AT2(b, j, i) = AT2(a, i, j));
}
#endif
