/* spmv.c - spmv of std/sparse.pto: some rows of a sparse matrix times a vector.
 * Idea       CSR.  ptr counts from the start of the whole matrix, while idx and val are the slice that starts at
 *            ptr[0]: entry e of the matrix is idx[e - ptr[0]], so a program cuts rows out without touching the numbers.
 * Invariant  Nothing in the data is trusted: a ptr that falls or runs past Z, or a column outside x, is
 *            PTO_KERNEL_BAD_INDEX.  A row is summed in double and in order.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#include "kernels.h"

int pto_sparse_spmv_f32(const int64_t *ptr, const int64_t *ptr_stride, const int32_t *idx, const int64_t *idx_stride,
                        const float *val, const int64_t *val_stride, const float *x, const int64_t *x_stride, float *y,
                        const int64_t *y_stride, int64_t R, int64_t Z, int64_t C)
{
    if (R <= 0) return PTO_KERNEL_OK;
    const int64_t base = ptr[0];
    int64_t begin = 0;
    for (int64_t i = 0; i < R; i++) {
        int64_t end;
        if (__builtin_sub_overflow(ptr[(i + 1) * ptr_stride[0]], base, &end) || end < begin || end > Z)
            return PTO_KERNEL_BAD_INDEX;
        double sum = 0;
        for (int64_t e = begin; e < end; e++) {
            int64_t column = idx[e * idx_stride[0]];
            if (column < 0 || column >= C) return PTO_KERNEL_BAD_INDEX;
            sum += (double)val[e * val_stride[0]] * x[column * x_stride[0]];
        }
        y[i * y_stride[0]] = (float)sum;
        begin = end;
    }
    return PTO_KERNEL_OK;
}
