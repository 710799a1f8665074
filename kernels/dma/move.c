/* move.c - copy gather_rows scatter_rows of std/dma.pto.
 * Idea       A gather or scatter is a list of row copies.
 * Invariant  Every index is looked at before anything is written, so a task that fails with PTO_KERNEL_BAD_INDEX wrote
 *            nothing.  Rows are scattered in order: where an index comes twice, the last row stays.
 * Tests      test/runtime/test_kernels_dma.c
 */
#ifndef T
#include "kernels.h"
#include <string.h>

/* Are all `count` indices rows of a matrix that has `rows`? */
static bool all_inside(const int64_t *index, int64_t step, int64_t count, int64_t rows)
{
    for (int64_t i = 0; i < count; i++)
        if (index[i * step] < 0 || index[i * step] >= rows) return false;
    return true;
}

#define EACH_TYPE_FILE "dma/move.c"
#include "each_type.h"
#else

static void NAME(copy_row)(const T *src, int64_t src_step, T *dst, int64_t dst_step, int64_t count)
{
    if (src_step == 1 && dst_step == 1)
        memcpy(dst, src, (size_t)count * sizeof(T));
    else
        for (int64_t j = 0; j < count; j++) dst[j * dst_step] = src[j * src_step];
}

int NAME(pto_dma_copy)(const T *src, const int64_t *src_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N)
{
    return NAME(pto_tile_copy)(src, src_stride, dst, dst_stride, M, N);
}

int NAME(pto_dma_gather_rows)(const T *src, const int64_t *src_stride, const int64_t *index,
                              const int64_t *index_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N,
                              int64_t R)
{
    if (!all_inside(index, index_stride[0], R, M)) return PTO_KERNEL_BAD_INDEX;
    if (N <= 0) return PTO_KERNEL_OK;
    for (int64_t i = 0; i < R; i++)
        NAME(copy_row)
        (src + index[i * index_stride[0]] * src_stride[0], src_stride[1], dst + i * dst_stride[0], dst_stride[1], N);
    return PTO_KERNEL_OK;
}

int NAME(pto_dma_scatter_rows)(const T *src, const int64_t *src_stride, const int64_t *index,
                               const int64_t *index_stride, T *dst, const int64_t *dst_stride, int64_t M, int64_t N,
                               int64_t R)
{
    if (!all_inside(index, index_stride[0], R, M)) return PTO_KERNEL_BAD_INDEX;
    if (N <= 0) return PTO_KERNEL_OK;
    for (int64_t i = 0; i < R; i++)
        NAME(copy_row)
        (src + i * src_stride[0], src_stride[1], dst + index[i * index_stride[0]] * dst_stride[0], dst_stride[1], N);
    return PTO_KERNEL_OK;
}
#endif
