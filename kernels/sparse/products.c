/* products.c - products of some rows of a CSR matrix with dense matrices: spmm and sddmm of std/sparse.pto.
 * Idea       see rows.h.  Sums are in double and in order; spmm takes a block of columns at a time, whose sums stay in
 *            the first cache while the row is walked.
 * Invariant  nothing in the data is trusted: a ptr that falls or runs past Z, or a column outside of the operand, is
 *            PTO_KERNEL_BAD_INDEX.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#ifndef I
#include "kernels.h"
#include "rows.h"
#define EACH_INDEX_FILE "products.c"
#include "each_index.h"
#else

int NAME(pto_sparse_spmm)(const I *ptr, const int64_t *ptr_stride, const I *idx, const int64_t *idx_stride,
                          const T *val, const int64_t *val_stride, const T *x, const int64_t *x_stride, T *y,
                          const int64_t *y_stride, int64_t R, int64_t Z, int64_t C, int64_t N)
{
    enum { BLOCK = 64 };
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]])) return PTO_KERNEL_BAD_INDEX;
        for (int64_t first = 0; first < N; first += BLOCK) {
            const int64_t width = N - first < BLOCK ? N - first : BLOCK;
            double sum[BLOCK] = {0};
            for (int64_t e = row.begin; e < row.end; e++) {
                const int64_t column = idx[e * idx_stride[0]];
                if (column < 0 || column >= C) return PTO_KERNEL_BAD_INDEX;
                const double by = (double)val[e * val_stride[0]];
                const T *const from = x + column * x_stride[0] + first * x_stride[1];
                for (int64_t j = 0; j < width; j++) sum[j] += by * from[j * x_stride[1]];
            }
            T *const to = y + i * y_stride[0] + first * y_stride[1];
            for (int64_t j = 0; j < width; j++) to[j * y_stride[1]] = (T)sum[j];
        }
    }
    return PTO_KERNEL_OK;
}

int NAME(pto_sparse_sddmm)(const I *ptr, const int64_t *ptr_stride, const I *idx, const int64_t *idx_stride,
                           const T *val, const int64_t *val_stride, const T *a, const int64_t *a_stride, const T *b,
                           const int64_t *b_stride, T *y, const int64_t *y_stride, int64_t R, int64_t Z, int64_t C,
                           int64_t K)
{
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]])) return PTO_KERNEL_BAD_INDEX;
        for (int64_t e = row.begin; e < row.end; e++) {
            const int64_t column = idx[e * idx_stride[0]];
            double sum = 0;
            if (column < 0 || column >= C) return PTO_KERNEL_BAD_INDEX;
            for (int64_t k = 0; k < K; k++)
                sum += (double)a[i * a_stride[0] + k * a_stride[1]] * b[k * b_stride[0] + column * b_stride[1]];
            y[e * y_stride[0]] = (T)((double)val[e * val_stride[0]] * sum);
        }
    }
    for (int64_t e = row.end; e < Z; e++) y[e * y_stride[0]] = 0; /* no row has these */
    return PTO_KERNEL_OK;
}
#endif
