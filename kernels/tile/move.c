/* move.c - copy and transpose of std/tile.pto.
 * Idea       A transpose is a copy into a view with its strides exchanged.  Where the two sides are dense along
 *            different dimensions the copy goes by small blocks, so that both stay in cache.
 * Tests      test/runtime/test_kernels_tile.c
 */
#ifndef T
#include "kernels.h"
#include <string.h>

enum { BLOCK = 32 };

/* In which order a copy visits the elements: the inner loop runs along the dimension in which the written matrix is
 * dense, so a transposed view costs no more than a plain one. */
struct walk {
    int64_t outer, inner; /* trip counts; both 0 when there is nothing to visit, so no pointer is ever moved */
    int outer_dim, inner_dim;
};

static struct walk walk_matrix(const int64_t *written_stride, int64_t rows, int64_t columns)
{
    if (rows <= 0 || columns <= 0) return (struct walk){0, 0, 0, 1};
    if (columns > 1 && rows > 1 && written_stride[0] < written_stride[1]) return (struct walk){columns, rows, 1, 0};
    return (struct walk){rows, columns, 0, 1};
}

#define EACH_TYPE_FILE "tile/move.c"
#include "each_type.h"
#else

static void NAME(copy_matrix)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t rows,
                              int64_t columns)
{
    struct walk w = walk_matrix(b_stride, rows, columns);
    int64_t ao = a_stride[w.outer_dim], bo = b_stride[w.outer_dim];
    int64_t ai = a_stride[w.inner_dim], bi = b_stride[w.inner_dim];
    if (ai == 1 && bi == 1) {
        for (int64_t i = 0; i < w.outer; i++) memcpy(b + i * bo, a + i * ao, (size_t)w.inner * sizeof(T));
        return;
    }
    for (int64_t i0 = 0; i0 < w.outer; i0 += BLOCK) {
        int64_t i1 = w.outer - i0 < BLOCK ? w.outer : i0 + BLOCK;
        for (int64_t j0 = 0; j0 < w.inner; j0 += BLOCK) {
            int64_t j1 = w.inner - j0 < BLOCK ? w.inner : j0 + BLOCK;
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++) b[i * bo + j * bi] = a[i * ao + j * ai];
        }
    }
}

int NAME(pto_tile_copy)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M, int64_t N)
{
    NAME(copy_matrix)(a, a_stride, b, b_stride, M, N);
    return PTO_KERNEL_OK;
}

int NAME(pto_tile_transpose)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M, int64_t N)
{
    const int64_t turned[2] = {b_stride[1], b_stride[0]};
    NAME(copy_matrix)(a, a_stride, b, turned, M, N);
    return PTO_KERNEL_OK;
}
#endif
