/* spmv.c - spmv of std/sparse.pto: some rows of a CSR matrix times a vector.
 * Idea       see rows.h.  A row is summed in double and in order.
 * Invariant  nothing in the data is trusted: a ptr that falls or runs past Z, or a column outside of x, is
 *            PTO_KERNEL_BAD_INDEX.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#ifndef I
#include "kernels.h"
#include "rows.h"
#define P               I
#define EACH_INDEX_FILE "spmv.c"
#include "each_index.h"

/* Row numbers of i64 with columns of i32. */
#undef P
#define P          int64_t
#define I          int32_t
#define T          float
#define NAME(stem) stem##_f32
#include "spmv.c"
#else

int NAME(pto_sparse_spmv)(const P *ptr, const int64_t *ptr_stride, const I *idx, const int64_t *idx_stride,
                          const T *val, const int64_t *val_stride, const T *x, const int64_t *x_stride, T *y,
                          const int64_t *y_stride, int64_t R, int64_t Z, int64_t C)
{
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]])) return PTO_KERNEL_BAD_INDEX;
        double sum = 0;
        for (int64_t e = row.begin; e < row.end; e++) {
            const int64_t column = idx[e * idx_stride[0]];
            if (column < 0 || column >= C) return PTO_KERNEL_BAD_INDEX;
            sum += (double)val[e * val_stride[0]] * x[column * x_stride[0]];
        }
        y[i * y_stride[0]] = (T)sum;
    }
    return PTO_KERNEL_OK;
}
#endif
