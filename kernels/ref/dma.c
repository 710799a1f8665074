/* dma.c - what the kernels of std/dma.pto compute, for indices that are rows.
 * Tests      test/runtime/test_kernels_dma.c compares with it
 */
#ifndef T
#include "ref/ref.h"

#define EACH_TYPE_FILE "ref/dma.c"
#include "each_type.h"
#else

int NAME(ref_dma_copy)(const T *src, const int64_t *src_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N)
{
    return NAME(ref_tile_copy)(src, src_stride, dst, dst_stride, M, N);
}

int NAME(ref_dma_gather_rows)(const T *src, const int64_t *src_stride, const int64_t *index,
                              const int64_t *index_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N,
                              int64_t R)
{
    (void)M;
    for (int64_t i = 0; i < R; i++)
        for (int64_t j = 0; j < N; j++) AT2(dst, i, j) = AT2(src, AT1(index, i), j);
    return 0;
}

int NAME(ref_dma_scatter_rows)(const T *src, const int64_t *src_stride, const int64_t *index,
                               const int64_t *index_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N,
                               int64_t R)
{
    (void)M;
    for (int64_t i = 0; i < R; i++)
        for (int64_t j = 0; j < N; j++) AT2(dst, AT1(index, i), j) = AT2(src, i, j);
    return 0;
}
#endif
