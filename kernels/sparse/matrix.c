/* matrix.c - the kernels of std/sparse.pto on one CSR matrix, and the product of two.
 * Idea       see rows.h.  A transpose counts the entries of each column, then puts each entry where its column goes on.
 *            A product of two matrices is made in two phases, because its number of entries is known after the first:
 *            count finds how many columns each row has, fill writes them, in order.
 * Owner      the memory that a product needs for one row, malloc'd for the kernel.
 * Invariant  nothing in the data is trusted: a number that leads outside is PTO_KERNEL_BAD_INDEX.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#ifndef I
#include "kernels.h"
#include "rows.h"
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return p < q ? -1 : p > q;
}

#define EACH_INDEX_FILE "matrix.c"
#include "each_index.h"
#else

int NAME(pto_sparse_row_sums)(const I *ptr, const int64_t *ptr_stride, const T *val, const int64_t *val_stride, T *y,
                              const int64_t *y_stride, int64_t R, int64_t Z)
{
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        double sum = 0;
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]])) return PTO_KERNEL_BAD_INDEX;
        for (int64_t e = row.begin; e < row.end; e++) sum += (double)val[e * val_stride[0]];
        y[i * y_stride[0]] = (T)sum;
    }
    return PTO_KERNEL_OK;
}

int NAME(pto_sparse_diagonal)(const I *ptr, const int64_t *ptr_stride, const I *idx, const int64_t *idx_stride,
                              const T *val, const int64_t *val_stride, T *y, const int64_t *y_stride, int64_t first,
                              int64_t R, int64_t Z)
{
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        double sum = 0;
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]])) return PTO_KERNEL_BAD_INDEX;
        for (int64_t e = row.begin; e < row.end; e++)
            if ((uint64_t)idx[e * idx_stride[0]] - (uint64_t)first == (uint64_t)i)
                sum += (double)val[e * val_stride[0]];
        y[i * y_stride[0]] = (T)sum;
    }
    return PTO_KERNEL_OK;
}

int NAME(pto_sparse_transpose)(const I *ptr, const int64_t *ptr_stride, const I *idx, const int64_t *idx_stride,
                               const T *val, const int64_t *val_stride, I *to_ptr, const int64_t *to_ptr_stride,
                               I *to_idx, const int64_t *to_idx_stride, T *to_val, const int64_t *to_val_stride,
                               int64_t R, int64_t Z, int64_t C)
{
    struct rows row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t c = 0; c <= C; c++) to_ptr[c * to_ptr_stride[0]] = 0;
    for (int64_t i = 0; i < R; i++) {
        if (!row_next(&row, ptr[(i + 1) * ptr_stride[0]]) || row.end != (I)row.end) return PTO_KERNEL_BAD_INDEX;
        for (int64_t e = row.begin; e < row.end; e++) {
            const int64_t column = idx[e * idx_stride[0]];
            if (column < 0 || column >= C) return PTO_KERNEL_BAD_INDEX;
            to_ptr[(column + 1) * to_ptr_stride[0]]++;
        }
    }
    for (int64_t c = 0; c < C; c++) to_ptr[(c + 1) * to_ptr_stride[0]] += to_ptr[c * to_ptr_stride[0]];
    row = rows_of(R > 0 ? ptr[0] : 0, Z);
    for (int64_t i = 0; i < R; i++) {
        row_next(&row, ptr[(i + 1) * ptr_stride[0]]);
        for (int64_t e = row.begin; e < row.end; e++) {
            const int64_t at = to_ptr[idx[e * idx_stride[0]] * to_ptr_stride[0]]++;
            to_idx[at * to_idx_stride[0]] = (I)i;
            to_val[at * to_val_stride[0]] = val[e * val_stride[0]];
        }
    }
    /* each number is that of the next column now */
    for (int64_t c = C; c > 0; c--) to_ptr[c * to_ptr_stride[0]] = to_ptr[(c - 1) * to_ptr_stride[0]];
    to_ptr[0] = 0;
    for (int64_t at = row.end; at < Z; at++) { /* no row has these */
        to_idx[at * to_idx_stride[0]] = 0;
        to_val[at * to_val_stride[0]] = 0;
    }
    return PTO_KERNEL_OK;
}

/* ---- the product of two matrices --------------------------------------------------------------------------------- */

/* The columns of a row of a * b, each once, in no order; seen[column] is the number of the row that had it last, and
 * sum (NULL: not wanted) gets what the entry is.  The number of columns; -1: an index leads outside. */
static int64_t NAME(multiply_row)(const struct rows *row, int64_t number, const I *a_idx, const int64_t *a_idx_stride,
                                  const T *a_val, const int64_t *a_val_stride, const I *b_ptr,
                                  const int64_t *b_ptr_stride, const I *b_idx, const int64_t *b_idx_stride,
                                  const T *b_val, const int64_t *b_val_stride, int64_t K, int64_t Y, int64_t columns,
                                  int64_t *seen, int64_t *list, double *sum)
{
    int64_t count = 0;
    for (int64_t e = row->begin; e < row->end; e++) {
        const int64_t k = a_idx[e * a_idx_stride[0]];
        struct rows of_b;
        if (k < 0 || k >= K) return -1;
        of_b = rows_of(b_ptr[0], Y);
        if (!row_next(&of_b, b_ptr[k * b_ptr_stride[0]]) || !row_next(&of_b, b_ptr[(k + 1) * b_ptr_stride[0]]))
            return -1;
        for (int64_t f = of_b.begin; f < of_b.end; f++) {
            const int64_t column = b_idx[f * b_idx_stride[0]];
            if (column < 0 || column >= columns) return -1;
            if (seen[column] != number) {
                seen[column] = number;
                list[count++] = column;
                if (sum) sum[column] = 0;
            }
            if (sum) sum[column] += (double)a_val[e * a_val_stride[0]] * b_val[f * b_val_stride[0]];
        }
    }
    return count;
}

#ifdef INDEX_NAME
int INDEX_NAME(pto_sparse_spgemm_count)(const I *a_ptr, const int64_t *a_ptr_stride, const I *a_idx,
                                        const int64_t *a_idx_stride, const I *b_ptr, const int64_t *b_ptr_stride,
                                        const I *b_idx, const int64_t *b_idx_stride, I *ptr, const int64_t *ptr_stride,
                                        int64_t columns, int64_t R, int64_t Z, int64_t K, int64_t Y)
{
    const size_t room = columns > 0 ? (size_t)columns : 1;
    int64_t *const seen = calloc(room, 2 * sizeof *seen), *const list = seen + room;
    struct rows row = rows_of(R > 0 ? a_ptr[0] : 0, Z);
    int status = seen ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
    ptr[0] = 0;
    for (int64_t i = 0; i < R && status == PTO_KERNEL_OK; i++) {
        I *const end = &ptr[(i + 1) * ptr_stride[0]];
        int64_t count = -1;
        if (row_next(&row, a_ptr[(i + 1) * a_ptr_stride[0]]))
            count = NAME(multiply_row)(&row, i + 1, a_idx, a_idx_stride, NULL, NULL, b_ptr, b_ptr_stride, b_idx,
                                       b_idx_stride, NULL, NULL, K, Y, columns, seen, list, NULL);
        if (count < 0 || __builtin_add_overflow(ptr[i * ptr_stride[0]], count, end)) status = PTO_KERNEL_BAD_INDEX;
    }
    free(seen);
    return status;
}
#endif

int NAME(pto_sparse_spgemm_fill)(const I *a_ptr, const int64_t *a_ptr_stride, const I *a_idx,
                                 const int64_t *a_idx_stride, const T *a_val, const int64_t *a_val_stride,
                                 const I *b_ptr, const int64_t *b_ptr_stride, const I *b_idx,
                                 const int64_t *b_idx_stride, const T *b_val, const int64_t *b_val_stride, const I *ptr,
                                 const int64_t *ptr_stride, I *idx, const int64_t *idx_stride, T *val,
                                 const int64_t *val_stride, int64_t columns, int64_t R, int64_t Z, int64_t K, int64_t Y,
                                 int64_t N)
{
    const size_t room = columns > 0 ? (size_t)columns : 1;
    int64_t *const seen = calloc(room, 2 * sizeof *seen + sizeof(double)), *const list = seen + room;
    double *const sum = (double *)(list + room);
    struct rows row = rows_of(R > 0 ? a_ptr[0] : 0, Z), made = rows_of(R > 0 ? ptr[0] : 0, N);
    int status = seen ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
    for (int64_t i = 0; i < R && status == PTO_KERNEL_OK; i++) {
        int64_t count = -1;
        if (row_next(&row, a_ptr[(i + 1) * a_ptr_stride[0]]))
            count = NAME(multiply_row)(&row, i + 1, a_idx, a_idx_stride, a_val, a_val_stride, b_ptr, b_ptr_stride,
                                       b_idx, b_idx_stride, b_val, b_val_stride, K, Y, columns, seen, list, sum);
        if (count < 0 || !row_next(&made, ptr[(i + 1) * ptr_stride[0]]) || count != made.end - made.begin) {
            status = PTO_KERNEL_BAD_INDEX;
            break;
        }
        qsort(list, (size_t)count, sizeof *list, by_number);
        for (int64_t j = 0; j < count; j++) {
            idx[(made.begin + j) * idx_stride[0]] = (I)list[j];
            val[(made.begin + j) * val_stride[0]] = (T)sum[list[j]];
        }
    }
    for (int64_t at = made.end; at < N && status == PTO_KERNEL_OK; at++) { /* no row has these */
        idx[at * idx_stride[0]] = 0;
        val[at * val_stride[0]] = 0;
    }
    free(seen);
    return status;
}
#endif
