/* test_kernels_sparse.c - the kernels of std/sparse.pto: any rows of a matrix, and data that cannot be trusted. */
#include "kernels_unit.h"

#include "ref/ref.h"

enum { MOST = 40 * 60 };
static const int64_t unit[1] = {1};

TEST(rows_of_whole_numbers_are_exact)
{
    static int64_t ptr[2 * 60];
    static int32_t idx[2 * MOST];
    static float val[3 * MOST], x[3 * 60], y[2 * 60], want[2 * 60];
    for (int round = 0; round < 200; round++) {
        int64_t rows = random_below(40), columns = 1 + random_below(50), entries = 0;
        const int64_t sp[1] = {1 + random_below(2)}, si[1] = {1 + random_below(2)}, sv[1] = {random_below(4)};
        const int64_t sx[1] = {random_below(3)}, sy[1] = {1 + random_below(2)};
        int64_t first = round % 2 ? random_below(1000) : round % 3 ? 0 : INT64_MAX - MOST;
        ptr[0] = first;
        for (int64_t i = 0; i < rows; i++) {
            int64_t count = random_below(4) == 0 ? 0 : random_below(60);
            for (int64_t e = 0; e < count; e++, entries++) {
                idx[entries * si[0]] = (int32_t)random_below(columns);
                val[entries * sv[0]] = (float)(random_below(9) - 4);
            }
            ptr[(i + 1) * sp[0]] = first + entries;
        }
        for (int64_t i = 0; i < columns; i++) x[i * sx[0]] = (float)(random_below(9) - 4);
        memset(y, 0x55, sizeof y);
        memset(want, 0x55, sizeof want);
        int64_t room = entries + random_below(2); // Z may be more than the rows use
        EXPECT_EQ(pto_sparse_spmv_f32(ptr, sp, idx, si, val, sv, x, sx, y, sy, rows, room, columns), 0);
        ref_sparse_spmv_f32(ptr, sp, idx, si, val, sv, x, sx, want, sy, rows, room, columns);
        EXPECT(memcmp(y, want, sizeof y) == 0);
    }
}

static int run(const int64_t *ptr, int32_t column)
{
    const int32_t idx[4] = {0, column, 2, 2}; // one more than Z says, and it looks right
    const float val[4] = {1, 2, 3, 4}, x[4] = {1, 1, 1, 1};
    float y[2] = {0, 0};
    return pto_sparse_spmv_f32(ptr, unit, idx, unit, val, unit, x, unit, y, unit, 2, 3, 4);
}

TEST(bad_indices_are_found_and_never_followed)
{
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, 3), PTO_KERNEL_OK);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, 4), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, -1), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, INT32_MAX), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 4}, 1), PTO_KERNEL_BAD_INDEX);         // past Z
    EXPECT_EQ(run((int64_t[]){0, 2, 1}, 1), PTO_KERNEL_BAD_INDEX);         // falls
    EXPECT_EQ(run((int64_t[]){5, 4, 6}, 1), PTO_KERNEL_BAD_INDEX);         // falls below its own start
    EXPECT_EQ(run((int64_t[]){INT64_MIN, 1, 3}, 1), PTO_KERNEL_BAD_INDEX); // differences that overflow
    EXPECT_EQ(run((int64_t[]){INT64_MAX, INT64_MIN, 3}, 1), PTO_KERNEL_BAD_INDEX);
}

TEST(no_rows_and_no_entries_are_fine)
{
    const int64_t ptr[3] = {7, 7, 7};
    float y[2] = {9, 9};
    EXPECT_EQ(pto_sparse_spmv_f32(ptr, unit, NULL, unit, NULL, unit, NULL, unit, NULL, unit, 0, 0, 0), 0);
    EXPECT_EQ(pto_sparse_spmv_f32(ptr, unit, NULL, unit, NULL, unit, NULL, unit, y, unit, 2, 0, 0), 0);
    EXPECT(y[0] == 0 && y[1] == 0);
}

/* ---- every pair of an index type and an element type, against dense matrices ------------------------------------- */

enum { N = 24, WIDE = 70, ENTRIES = N * N };
struct dense {
    int64_t rows, columns;
    double at[N][N];
};

static struct dense random_dense(int64_t rows, int64_t columns)
{
    struct dense d = {.rows = rows, .columns = columns};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) d.at[i][j] = random_below(3) == 0 ? (double)(random_below(9) - 4) : 0;
    return d;
}

#define EACH(MATRIX)                                                                                                   \
    MATRIX(int32_t, float, i32_f32, i32)                                                                               \
    MATRIX(int32_t, double, i32_f64, i32)                                                                              \
    MATRIX(int64_t, float, i64_f32, i64)                                                                               \
    MATRIX(int64_t, double, i64_f64, i64)

/* The matrix in CSR form, whose numbers begin at `first`; `spare` entries more than the rows have. */
#define PUT(I, T, suffix, index)                                                                                       \
    struct csr_##suffix {                                                                                              \
        I ptr[N + 1], idx[ENTRIES];                                                                                    \
        T val[ENTRIES];                                                                                                \
        int64_t nnz;                                                                                                   \
    };                                                                                                                 \
    static void put_##suffix(struct csr_##suffix *m, const struct dense *d, I first)                                   \
    {                                                                                                                  \
        m->nnz = 0;                                                                                                    \
        m->ptr[0] = first;                                                                                             \
        for (int64_t i = 0; i < d->rows; i++) {                                                                        \
            for (int64_t j = d->columns - 1; j >= 0; j--)                                                              \
                if (d->at[i][j] != 0) {                                                                                \
                    m->idx[m->nnz] = (I)j;                                                                             \
                    m->val[m->nnz++] = (T)d->at[i][j];                                                                 \
                }                                                                                                      \
            m->ptr[i + 1] = (I)(first + m->nnz);                                                                       \
        }                                                                                                              \
    }
EACH(PUT)

#define PRODUCTS(I, T, suffix, index)                                                                                  \
    static void check_products_##suffix(const struct dense *d, int64_t columns)                                        \
    {                                                                                                                  \
        static struct csr_##suffix m;                                                                                  \
        static T x[N * WIDE], y[N * WIDE], v[N], s[ENTRIES], a[N * N], b[N * N];                                       \
        const int64_t by_row[2] = {columns, 1}, by_column[2] = {1, N};                                                 \
        put_##suffix(&m, d, (I)random_below(100));                                                                     \
        for (int64_t i = 0; i < N * WIDE; i++) x[i] = (T)(random_below(9) - 4);                                        \
        for (int64_t i = 0; i < N * N; i++) a[i] = (T)(random_below(5) - 2), b[i] = (T)(random_below(5) - 2);          \
        EXPECT_EQ(pto_sparse_spmm_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, x, by_row, y, by_row, d->rows,       \
                                           m.nnz, d->columns, columns),                                                \
                  0);                                                                                                  \
        EXPECT_EQ(pto_sparse_spmv_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, x, unit, v, unit, d->rows, m.nnz,    \
                                           d->columns),                                                                \
                  0);                                                                                                  \
        for (int64_t i = 0; i < d->rows; i++) {                                                                        \
            double sum = 0;                                                                                            \
            for (int64_t k = 0; k < d->columns; k++) sum += d->at[i][k] * (double)x[k];                                \
            EXPECT(v[i] == (T)sum);                                                                                    \
            for (int64_t j = 0; j < columns; j++) {                                                                    \
                sum = 0;                                                                                               \
                for (int64_t k = 0; k < d->columns; k++) sum += d->at[i][k] * (double)x[k * columns + j];              \
                EXPECT(y[i * columns + j] == (T)sum);                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        s[m.nnz] = 7;                                                                                                  \
        EXPECT_EQ(pto_sparse_sddmm_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, a, by_column, b, by_column, s,      \
                                            unit, d->rows, m.nnz + 1, d->columns, 5),                                  \
                  0);                                                                                                  \
        EXPECT(s[m.nnz] == 0);                                                                                         \
        for (int64_t i = 0, e = 0; i < d->rows; i++)                                                                   \
            for (; e < m.ptr[i + 1] - m.ptr[0]; e++) {                                                                 \
                double sum = 0;                                                                                        \
                for (int64_t k = 0; k < 5; k++) sum += (double)a[i + k * N] * (double)b[k + (int64_t)m.idx[e] * N];    \
                EXPECT(s[e] == (T)(sum * (double)m.val[e]));                                                           \
            }                                                                                                          \
    }
EACH(PRODUCTS)

#define WHOLE(I, T, suffix, index)                                                                                     \
    static void check_whole_##suffix(const struct dense *d, const struct dense *other)                                 \
    {                                                                                                                  \
        static struct csr_##suffix m, o, t;                                                                            \
        static T sums[N], diagonal[N];                                                                                 \
        put_##suffix(&m, d, (I)random_below(100));                                                                     \
        put_##suffix(&o, other, (I)random_below(100));                                                                 \
        EXPECT_EQ(pto_sparse_row_sums_##suffix(m.ptr, unit, m.val, unit, sums, unit, d->rows, m.nnz), 0);              \
        EXPECT_EQ(                                                                                                     \
            pto_sparse_diagonal_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, diagonal, unit, 1, d->rows, m.nnz),    \
            0);                                                                                                        \
        EXPECT_EQ(pto_sparse_transpose_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, t.ptr, unit, t.idx, unit,       \
                                                t.val, unit, d->rows, m.nnz, d->columns),                              \
                  0);                                                                                                  \
        for (int64_t i = 0; i < d->rows; i++) {                                                                        \
            double sum = 0;                                                                                            \
            for (int64_t j = 0; j < d->columns; j++) sum += d->at[i][j];                                               \
            EXPECT(sums[i] == (T)sum);                                                                                 \
            EXPECT(diagonal[i] == (T)(i + 1 < d->columns ? d->at[i][i + 1] : 0));                                      \
        }                                                                                                              \
        EXPECT_EQ(t.ptr[d->columns], m.nnz);                                                                           \
        for (int64_t j = 0, e = 0; j < d->columns; j++)                                                                \
            for (int64_t i = 0; i < d->rows; i++)                                                                      \
                if (d->at[i][j] != 0) {                                                                                \
                    EXPECT(e >= t.ptr[j] && e < t.ptr[j + 1] && t.idx[e] == i && t.val[e] == (T)d->at[i][j]);          \
                    e++;                                                                                               \
                }                                                                                                      \
        EXPECT_EQ(pto_sparse_spgemm_count_##index(m.ptr, unit, m.idx, unit, o.ptr, unit, o.idx, unit, t.ptr, unit,     \
                                                  other->columns, d->rows, m.nnz, d->columns, o.nnz),                  \
                  0);                                                                                                  \
        const int64_t nnz = t.ptr[d->rows];                                                                            \
        EXPECT_EQ(pto_sparse_spgemm_fill_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, o.ptr, unit, o.idx, unit,     \
                                                  o.val, unit, t.ptr, unit, t.idx, unit, t.val, unit, other->columns,  \
                                                  d->rows, m.nnz, d->columns, o.nnz, nnz),                             \
                  0);                                                                                                  \
        for (int64_t i = 0; i < d->rows; i++) {                                                                        \
            int64_t e = t.ptr[i];                                                                                      \
            for (int64_t j = 0; j < other->columns; j++) {                                                             \
                double sum = 0;                                                                                        \
                bool any = false;                                                                                      \
                for (int64_t k = 0; k < d->columns; k++) {                                                             \
                    sum += d->at[i][k] * other->at[k][j];                                                              \
                    any = any || (d->at[i][k] != 0 && other->at[k][j] != 0);                                           \
                }                                                                                                      \
                if (!any) continue;                                                                                    \
                EXPECT(t.idx[e] == j && t.val[e] == (T)sum);                                                           \
                e++;                                                                                                   \
            }                                                                                                          \
            EXPECT_EQ(e, t.ptr[i + 1]);                                                                                \
        }                                                                                                              \
        if (nnz == 0) return;                                                                                          \
        EXPECT_EQ(pto_sparse_spgemm_fill_##suffix(m.ptr, unit, m.idx, unit, m.val, unit, o.ptr, unit, o.idx, unit,     \
                                                  o.val, unit, t.ptr, unit, t.idx, unit, t.val, unit, other->columns,  \
                                                  d->rows, m.nnz, d->columns, o.nnz, nnz - 1),                         \
                  PTO_KERNEL_BAD_INDEX);                                                                               \
        o.idx[o.nnz - 1] = (I)other->columns;                                                                          \
        o.idx[0] = -1;                                                                                                 \
        EXPECT_EQ(pto_sparse_transpose_##suffix(o.ptr, unit, o.idx, unit, o.val, unit, t.ptr, unit, t.idx, unit,       \
                                                t.val, unit, other->rows, o.nnz, other->columns),                      \
                  PTO_KERNEL_BAD_INDEX);                                                                               \
        EXPECT_EQ(pto_sparse_spmm_##suffix(o.ptr, unit, o.idx, unit, o.val, unit, sums, (int64_t[]){0, 0}, t.val,      \
                                           (int64_t[]){1, 1}, other->rows, o.nnz, other->columns, 1),                  \
                  PTO_KERNEL_BAD_INDEX);                                                                               \
    }
EACH(WHOLE)

#define RUN_PRODUCTS(I, T, suffix, index) check_products_##suffix(&d, columns);
#define RUN_WHOLE(I, T, suffix, index)    check_whole_##suffix(&d, &other);

TEST(products_with_dense_matrices_agree_for_every_pair_of_types)
{
    for (int round = 0; round < 60; round++) {
        const struct dense d = random_dense(random_below(N), 1 + random_below(N - 1));
        const int64_t columns = round % 4 == 0 ? 63 + random_below(7) : random_below(5);
        EACH(RUN_PRODUCTS)
    }
}

TEST(sums_diagonals_transposes_and_sparse_products_agree_for_every_pair_of_types)
{
    for (int round = 0; round < 60; round++) {
        const struct dense d = random_dense(random_below(N), 1 + random_below(N - 1)),
                           other = random_dense(d.columns, 1 + random_below(N - 1));
        EACH(RUN_WHOLE)
    }
}
