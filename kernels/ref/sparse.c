/* sparse.c - what the kernel of std/sparse.pto computes, for data that is well-formed.
 * Tests      test/runtime/test_kernels_sparse.c compares with it
 */
#include "ref/ref.h"

int ref_sparse_spmv_f32(const int64_t *ptr, const int64_t *ptr_stride, const int32_t *idx, const int64_t *idx_stride,
                        const float *val, const int64_t *val_stride, const float *x, const int64_t *x_stride, float *y,
                        const int64_t *y_stride, int64_t R, int64_t Z, int64_t C)
{
    (void)Z;
    for (int64_t i = 0; i < R; i++) {
        double sum = 0;
        for (int64_t column = 0; column < C; column++) // column by column, unlike the kernel
            for (int64_t e = AT1(ptr, i); e < AT1(ptr, i + 1); e++)
                if (AT1(idx, e - ptr[0]) == column) sum += (double)AT1(val, e - ptr[0]) * AT1(x, column);
        AT1(y, i) = (float)sum;
    }
    return 0;
}
