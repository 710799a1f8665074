/* walk.h - in which order a kernel visits the elements of a matrix.
 * Idea       The inner loop runs along the dimension in which the written matrix is dense, so a transposed view costs
 *            no more than a plain one.  The order never shows in a result: it is for element-wise kernels only.
 * Tests      test/runtime/test_kernels_tile.c
 */
#ifndef PTO_KERNELS_WALK_H
#define PTO_KERNELS_WALK_H
#include <stdbool.h>
#include <stdint.h>

struct walk {
    int64_t outer, inner; /* trip counts; both 0 when there is nothing to visit, so no pointer is ever moved */
    int outer_dim, inner_dim;
};

static inline struct walk walk_matrix(const int64_t *written_stride, int64_t rows, int64_t columns)
{
    if (rows <= 0 || columns <= 0) return (struct walk){0, 0, 0, 1};
    if (columns > 1 && rows > 1 && written_stride[0] < written_stride[1]) return (struct walk){columns, rows, 1, 0};
    return (struct walk){rows, columns, 0, 1};
}
#endif
