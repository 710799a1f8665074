/* test_sparse.c - sparse matrices: made and checked, sliced without a copy, converted, and taken apart again; every
 * result against a dense matrix. */
#include "tensors.h"
#include <pto/pto_runtime.h>
#include <pto/pto_sparse.h>
#include <pthread.h>

enum { ROWS = 6, COLUMNS = 8 };

static uint64_t state = 42;
static int64_t below(int64_t n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

static PTOTensor *array_of(PTOType type, int64_t count, const int64_t *values)
{
    PTOTensor *t = pto_tensor_new(NULL, type, 1, &count);
    EXPECT(t != NULL);
    void *at = pto_tensor_map(t, PTO_WRITE);
    for (int64_t i = 0; i < count; i++)
        if (type == PTO_I32)
            ((int32_t *)at)[i] = (int32_t)values[i];
        else if (type == PTO_F32)
            ((float *)at)[i] = (float)values[i];
        else
            ((int64_t *)at)[i] = values[i];
    pto_tensor_unmap(t);
    return t;
}

static int64_t number(PTOTensor *t, int64_t i)
{
    PTOTensor *e = pto_tensor_index(t, 0, i);
    const PTODescription d = describe(e);
    const void *at = pto_tensor_map(e, PTO_READ);
    const int64_t value = d.type == PTO_I32   ? *(const int32_t *)at
                          : d.type == PTO_F32 ? (int64_t) * (const float *)at
                                              : *(const int64_t *)at;
    pto_tensor_unmap(e);
    pto_tensor_release(e);
    return value;
}

/* The matrix as a dense one of `rows` x `columns`, elements that stand twice added up. */
static void expand(PTOSparse *a, int64_t *dense)
{
    PTOSparse *c = pto_sparse_convert(a, PTO_COO);
    PTOSparseDescription d;
    EXPECT(c != NULL);
    EXPECT_EQ(pto_sparse_describe(c, &d), PTO_OK);
    memset(dense, 0, (size_t)(d.rows * d.columns) * sizeof *dense);
    for (int64_t i = 0; i < d.nnz; i++)
        dense[number(pto_sparse_array(c, 0), i) * d.columns + number(pto_sparse_array(c, 1), i)] +=
            number(pto_sparse_array(c, 2), i);
    pto_sparse_release(c);
}

static void expect_dense(PTOSparse *a, const int64_t *wanted)
{
    int64_t dense[ROWS * COLUMNS * 4];
    PTOSparseDescription d;
    EXPECT_EQ(pto_sparse_describe(a, &d), PTO_OK);
    expand(a, dense);
    EXPECT_EQ(memcmp(dense, wanted, (size_t)(d.rows * d.columns) * sizeof *dense), 0);
}

/* A random CSR matrix whose ptr begins at `base`, and itself as a dense one. */
static PTOSparse *random_csr(PTOType index, int64_t base, int64_t *dense)
{
    int64_t ptr[ROWS + 1] = {base}, idx[ROWS * COLUMNS], val[ROWS * COLUMNS], n = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < COLUMNS; j++) {
            dense[i * COLUMNS + j] = below(3) == 0 ? 1 + below(99) : 0;
            if (dense[i * COLUMNS + j]) idx[n] = j, val[n++] = dense[i * COLUMNS + j];
        }
        ptr[i + 1] = base + n;
    }
    PTOTensor *t[3] = {array_of(index, ROWS + 1, ptr), array_of(index, n, idx), array_of(PTO_F32, n, val)};
    PTOSparse *a = pto_sparse_make(PTO_CSR, ROWS, COLUMNS, t, PTO_CHECK_ALL);
    EXPECT(a != NULL);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
    return a;
}

TEST(a_matrix_is_described)
{
    int64_t dense[ROWS * COLUMNS];
    PTOSparse *a = random_csr(PTO_I32, 0, dense);
    PTOSparseDescription d;
    EXPECT_EQ(pto_sparse_describe(a, &d), PTO_OK);
    EXPECT(d.format == PTO_CSR && d.arrays == 3 && d.rows == ROWS && d.columns == COLUMNS);
    EXPECT(d.index_type == PTO_I32 && d.value_type == PTO_F32 && d.references == 1);
    EXPECT_EQ(d.flags, PTO_SORTED | PTO_UNIQUE);
    expect_dense(a, dense);
    EXPECT(pto_sparse_array(a, 3) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_ARGUMENT);
    pto_sparse_release(pto_sparse_retain(a));
    pto_sparse_release(a);
    pto_sparse_release(NULL);
    EXPECT_EQ(living(), 0);
}

TEST(rows_next_to_each_other_are_views)
{
    int64_t dense[ROWS * COLUMNS];
    for (int round = 0; round < 20; round++) {
        PTOSparse *a = random_csr(round % 2 ? PTO_I32 : PTO_I64, round % 3 * 5, dense);
        const int64_t first = below(ROWS), count = below(ROWS - first + 1);
        PTOSparse *r = pto_sparse_rows(a, first, count), *again = pto_sparse_rows(r, 0, count / 2);
        expect_dense(r, dense + first * COLUMNS);
        expect_dense(again, dense + first * COLUMNS);
        EXPECT_EQ(describe(pto_sparse_array(r, 0)).buffer, describe(pto_sparse_array(a, 0)).buffer);
        PTOTensor *t[3];
        for (int i = 0; i < 3; i++) t[i] = pto_sparse_array(r, i);
        PTOSparse *checked = pto_sparse_make(PTO_CSR, count, COLUMNS, t, PTO_CHECK_ALL); /* ptr keeps its numbers */
        EXPECT(checked != NULL);
        pto_sparse_release(a); /* the view keeps the memory */
        expect_dense(checked, dense + first * COLUMNS);
        pto_sparse_release(r);
        pto_sparse_release(again);
        pto_sparse_release(checked);
    }
    EXPECT_EQ(living(), 0);
}

TEST(rows_are_picked_in_any_order_and_twice)
{
    int64_t dense[ROWS * COLUMNS], wanted[9 * COLUMNS], order[9];
    for (int round = 0; round < 20; round++) {
        PTOSparse *a = random_csr(round % 2 ? PTO_I32 : PTO_I64, round % 3 * 5, dense);
        for (int i = 0; i < 9; i++) {
            order[i] = below(ROWS);
            memcpy(wanted + i * COLUMNS, dense + order[i] * COLUMNS, COLUMNS * sizeof *dense);
        }
        PTOSparse *p = pto_sparse_pick(a, order, 9), *part = pto_sparse_rows(p, 2, 4);
        PTOSparse *last = pto_sparse_pick(part, (const int64_t[]){3, 0}, 2);
        EXPECT_EQ(describe(pto_sparse_array(p, 3)).buffer, describe(pto_sparse_array(a, 2)).buffer);
        expect_dense(p, wanted);
        expect_dense(part, wanted + 2 * COLUMNS);
        int64_t two[2 * COLUMNS];
        memcpy(two, wanted + 5 * COLUMNS, sizeof two / 2);
        memcpy(two + COLUMNS, wanted + 2 * COLUMNS, sizeof two / 2);
        expect_dense(last, two);
        PTOSparse *none = pto_sparse_pick(a, NULL, 0);
        EXPECT(none != NULL);
        PTOSparse *all[] = {a, p, part, last, none};
        for (int i = 0; i < 5; i++) pto_sparse_release(all[i]);
    }
    EXPECT_EQ(living(), 0);
}

TEST(a_transpose_is_a_view_and_a_conversion_is_not)
{
    int64_t dense[ROWS * COLUMNS], turned[ROWS * COLUMNS];
    PTOSparse *a = random_csr(PTO_I64, 3, dense);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) turned[j * ROWS + i] = dense[i * COLUMNS + j];
    static const PTOFormat formats[] = {PTO_CSR, PTO_CSC, PTO_COO, PTO_CSR4};
    for (int from = 0; from < 4; from++) {
        PTOSparse *b = pto_sparse_convert(a, formats[from]);
        expect_dense(b, dense);
        PTOTensor *array[4];
        for (int i = 0; i < (formats[from] == PTO_CSR4 ? 4 : 3); i++) array[i] = pto_sparse_array(b, i);
        PTOSparse *checked = pto_sparse_make(formats[from], ROWS, COLUMNS, array, PTO_CHECK_ALL);
        PTOSparseDescription d;
        EXPECT_EQ(pto_sparse_describe(checked, &d), PTO_OK);
        EXPECT_EQ(d.flags, PTO_SORTED | PTO_UNIQUE);
        for (int to = 0; to < 4; to++) {
            PTOSparse *c = pto_sparse_convert(b, formats[to]);
            expect_dense(c, dense);
            pto_sparse_release(c);
        }
        PTOSparse *t = pto_sparse_transpose(b);
        EXPECT_EQ(t == NULL, formats[from] == PTO_CSR4);
        if (t) {
            expect_dense(t, turned);
            EXPECT_EQ(describe(pto_sparse_array(t, 2)).buffer, describe(pto_sparse_array(b, 2)).buffer);
        } else {
            EXPECT_EQ(pto_last_status(), PTO_ERR_UNSUPPORTED);
        }
        pto_sparse_release(t);
        pto_sparse_release(b);
        pto_sparse_release(checked);
    }
    pto_sparse_release(a);
    EXPECT_EQ(living(), 0);
}

TEST(blocks)
{
    /* 4 x 6 in blocks of 2 x 3: blocks (0, 1), (1, 0), (1, 1) */
    PTOTensor *flat = numbers(1, SHAPE(18)),
              *t[3] = {array_of(PTO_I64, 3, (int64_t[]){0, 1, 3}), array_of(PTO_I64, 3, (int64_t[]){1, 0, 1}),
                       pto_tensor_reshape(flat, 3, SHAPE(3, 2, 3))};
    PTOSparse *a = pto_sparse_make(PTO_BSR, 4, 6, t, PTO_CHECK_ALL);
    static const int64_t dense[24] = {0, 0, 0, 0, 1, 2, 0, 0, 0, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11, 15, 16, 17};
    int64_t turned[24];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) turned[j * 4 + i] = dense[i * 6 + j];
    expect_dense(a, dense);
    PTOSparse *low = pto_sparse_rows(a, 2, 2), *other = pto_sparse_transpose(a), *back = pto_sparse_transpose(other);
    expect_dense(low, dense + 12);
    expect_dense(other, turned);
    expect_dense(back, dense);
    EXPECT(pto_sparse_rows(a, 1, 2) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_ARGUMENT);
    EXPECT(pto_sparse_convert(low, PTO_BSR) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_UNSUPPORTED);
    PTOSparse *csc = pto_sparse_convert(other, PTO_CSC);
    expect_dense(csc, turned);
    PTOSparse *all[] = {a, low, other, back, csc};
    for (int i = 0; i < 5; i++) pto_sparse_release(all[i]);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
    pto_tensor_release(flat);
    EXPECT_EQ(living(), 0);
}

static PTOStatus status_of(PTOFormat format, int64_t rows, int64_t columns, PTOTensor **t, PTOSparseCheck check)
{
    PTOSparse *a = pto_sparse_make(format, rows, columns, t, check);
    const PTOStatus status = a ? PTO_OK : pto_last_status();
    if (!a) EXPECT(strlen(pto_last_error(NULL)) > 10);
    pto_sparse_release(a);
    return status;
}

TEST(arrays_that_do_not_agree_are_refused) /* K10 */
{
    PTOTensor *ptr = array_of(PTO_I64, 3, (int64_t[]){0, 1, 2}), *idx = array_of(PTO_I64, 2, (int64_t[]){0, 1});
    PTOTensor *val = array_of(PTO_F32, 2, (int64_t[]){5, 6}), *idx32 = array_of(PTO_I32, 2, (int64_t[]){0, 1});
    PTOTensor *longer = array_of(PTO_F32, 3, (int64_t[]){5, 6, 7});
    PTOTensor *t[4] = {ptr, idx, val};
    EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, PTO_CHECK_ALL), PTO_OK);
    EXPECT_EQ(status_of(PTO_CSR, 3, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    EXPECT_EQ(status_of(PTO_CSR, 2, -1, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    EXPECT_EQ(status_of(PTO_BSR, 2, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    EXPECT_EQ(status_of((PTOFormat)17, 2, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, (PTOSparseCheck)7), PTO_ERR_ARGUMENT);
    EXPECT_EQ(status_of(PTO_CSR, 2, 1, t, PTO_CHECK_SHAPE), PTO_OK); /* the numbers are not looked at */
    EXPECT_EQ(status_of(PTO_CSR, 2, 1, t, PTO_CHECK_ALL), PTO_ERR_BOUNDS);
    t[1] = idx32;
    EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT); /* one type */
    t[1] = idx, t[2] = longer;
    EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    t[0] = val, t[2] = val;
    EXPECT_EQ(status_of(PTO_CSR, 1, 2, t, PTO_CHECK_SHAPE), PTO_ERR_ARGUMENT);
    t[0] = NULL;
    EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, PTO_CHECK_SHAPE), PTO_ERR_MISUSE);
    static const int64_t bad[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 1, 1}, {-1, 0, 1}, {0, 3, 2}, {0, INT64_MAX, 2}};
    for (int i = 0; i < 6; i++) {
        t[0] = array_of(PTO_I64, 3, bad[i]);
        EXPECT_EQ(status_of(PTO_CSR, 2, 2, t, PTO_CHECK_ALL), PTO_ERR_BOUNDS);
        PTOSparse *a = pto_sparse_make(PTO_CSR, 2, 2, t, PTO_CHECK_SHAPE), *b = pto_sparse_rows(a, 0, 2);
        PTOSparse *c = pto_sparse_pick(a, (const int64_t[]){0, 1}, 2), *d = pto_sparse_convert(a, PTO_CSC);
        EXPECT(!b || !c || !d || i == 2 || i == 3); /* and wrong numbers never reach outside */
        PTOSparse *all[] = {a, b, c, d};
        for (int j = 0; j < 4; j++) pto_sparse_release(all[j]);
        pto_tensor_release(t[0]);
    }
    PTOSparse *a = (t[0] = ptr, pto_sparse_make(PTO_CSR, 2, 2, t, PTO_CHECK_ALL));
    EXPECT(pto_sparse_rows(a, 1, 2) == NULL && pto_last_status() == PTO_ERR_BOUNDS);
    EXPECT(pto_sparse_rows(a, -1, 1) == NULL && pto_last_status() == PTO_ERR_BOUNDS);
    EXPECT(pto_sparse_pick(a, (const int64_t[]){2}, 1) == NULL && pto_last_status() == PTO_ERR_BOUNDS);
    EXPECT(pto_sparse_pick(a, (const int64_t[]){-1}, 1) == NULL && pto_last_status() == PTO_ERR_BOUNDS);
    EXPECT(pto_sparse_pick(a, NULL, 1) == NULL && pto_last_status() == PTO_ERR_ARGUMENT);
    PTOSparse *csc = pto_sparse_transpose(a);
    EXPECT(pto_sparse_rows(csc, 0, 1) == NULL && pto_last_status() == PTO_ERR_UNSUPPORTED);
    EXPECT(pto_sparse_share(NULL) == NULL && pto_last_status() == PTO_ERR_MISUSE);
    pto_sparse_release(a);
    pto_sparse_release(csc);
    PTOTensor *made[] = {ptr, idx, val, idx32, longer};
    for (int i = 0; i < 5; i++) pto_tensor_release(made[i]);
    EXPECT_EQ(living(), 0);
}

TEST(what_is_not_sorted_or_stands_twice_is_noted)
{
    PTOTensor *t[3] = {array_of(PTO_I32, 2, (int64_t[]){0, 3}), array_of(PTO_I32, 3, (int64_t[]){1, 1, 2}),
                       array_of(PTO_F32, 3, (int64_t[]){1, 2, 3})};
    PTOSparseDescription d;
    PTOSparse *a = pto_sparse_make(PTO_CSR, 1, 3, t, PTO_CHECK_ALL);
    EXPECT_EQ(pto_sparse_describe(a, &d), PTO_OK);
    EXPECT_EQ(d.flags, PTO_SORTED);
    pto_sparse_release(a);
    pto_tensor_release(t[1]);
    t[1] = array_of(PTO_I32, 3, (int64_t[]){2, 1, 0});
    a = pto_sparse_make(PTO_CSR, 1, 3, t, PTO_CHECK_ALL);
    EXPECT_EQ(pto_sparse_describe(a, &d), PTO_OK);
    EXPECT_EQ(d.flags, 0);
    pto_sparse_release(a);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
}

TEST(foreign_arrays_are_released_once_each_and_never_by_a_failed_call) /* K14, K16, K18 */
{
    struct owned o[3] = {own(4), own(3), own(3)}; /* ptr 0 1 2 3, idx 0 1 2, val 0 1 2 */
    PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)), foreign(&o[2], 3, 1, SHAPE(3))};
    EXPECT(pto_sparse_attach(PTO_CSR, 3, 2, f, PTO_CHECK_ALL) == NULL); /* index 2 of 2 columns */
    EXPECT(pto_sparse_attach(PTO_CSR, 4, 3, f, PTO_CHECK_SHAPE) == NULL);
    f[2].bytes = 8;
    EXPECT(pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL) == NULL);
    EXPECT(o[0].released + o[1].released + o[2].released == 0);
    f[2].bytes = 24;
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL), *r = pto_sparse_rows(a, 1, 1);
    PTOSparse *s = pto_sparse_share(r), *p = pto_sparse_pick(s, (const int64_t[]){0, 0}, 2);
    PTOSparse *all[] = {a, r, s};
    for (int i = 0; i < 3; i++) pto_sparse_release(all[i]);
    EXPECT(o[0].released == 1 && o[1].released == 0 && o[2].released == 0); /* nobody needs ptr any more */
    pto_sparse_release(p);
    for (int i = 0; i < 3; i++) EXPECT_EQ(o[i].released, 1);
    EXPECT_EQ(living(), 0);
}

TEST(all_arrays_are_taken_with_their_sizes_and_release_functions) /* K17 */
{
    struct owned o[3] = {own(4), own(3), own(3)};
    PTOForeign f[3] = {foreign(&o[0], 4, 1, SHAPE(4)), foreign(&o[1], 3, 1, SHAPE(3)), foreign(&o[2], 3, 1, SHAPE(3))};
    PTOSparse *a = pto_sparse_attach(PTO_CSR, 3, 3, f, PTO_CHECK_ALL), *r = pto_sparse_rows(a, 1, 2);
    PTODetached out[PTO_SPARSE_ARRAYS];
    EXPECT_EQ(pto_sparse_take(&r, out), PTO_OK); /* parts of shared memory: copies */
    EXPECT(r == NULL && out[0].bytes == 24 && out[1].bytes == 16 && out[2].bytes == 16);
    EXPECT_EQ(((int64_t *)out[0].address)[0], 1);
    for (int i = 0; i < 3; i++) out[i].release(out[i].context);
    EXPECT_EQ(pto_sparse_take(&a, out), PTO_OK); /* the memory itself */
    for (int i = 0; i < 3; i++) {
        EXPECT(out[i].address == o[i].data && o[i].released == 0);
        out[i].release(out[i].context);
        EXPECT_EQ(o[i].released, 1);
    }
    EXPECT_EQ(living(), 0);
    /* one tensor as two arrays: it leaves once, and a copy */
    PTOTensor *n = numbers(1, SHAPE(2)), *t[3] = {n, n, n};
    PTOSparse *c = pto_sparse_make(PTO_COO, 2, 2, t, PTO_CHECK_ALL);
    pto_tensor_release(n);
    EXPECT_EQ(pto_sparse_take(&c, out), PTO_OK);
    EXPECT(out[0].address != out[1].address && out[1].address != out[2].address);
    for (int i = 0; i < 3; i++) out[i].release(out[i].context);
    EXPECT_EQ(pto_sparse_take(&c, out), PTO_ERR_MISUSE);
    EXPECT_EQ(living(), 0);
}

TEST(a_detached_matrix_keeps_its_elements)
{
    int64_t dense[ROWS * COLUMNS];
    PTOSparse *a = random_csr(PTO_I64, 0, dense), *s = pto_sparse_share(a), *d = pto_sparse_detach(a);
    float *val = pto_tensor_map(pto_sparse_array(a, 2), PTO_READ_WRITE);
    val[0] += 1;
    pto_tensor_unmap(pto_sparse_array(a, 2));
    expect_dense(d, dense);
    EXPECT_EQ(number(pto_sparse_array(s, 2), 0), number(pto_sparse_array(d, 2), 0) + 1);
    PTOSparse *all[] = {a, s, d};
    for (int i = 0; i < 3; i++) pto_sparse_release(all[i]);
    EXPECT_EQ(living(), 0);
}

TEST(empty_matrices)
{
    int64_t none = 0;
    PTOTensor *t[4] = {array_of(PTO_I64, 1, &none), pto_tensor_new(NULL, PTO_I64, 1, &none),
                       pto_tensor_new(NULL, PTO_F32, 1, &none)};
    PTOSparse *a = pto_sparse_make(PTO_CSR, 0, 5, t, PTO_CHECK_ALL);
    EXPECT(a != NULL);
    PTOSparse *r = pto_sparse_rows(a, 0, 0), *c = pto_sparse_convert(a, PTO_CSC), *p = pto_sparse_pick(a, NULL, 0);
    EXPECT(r && c && p);
    PTOSparse *q = pto_sparse_convert(p, PTO_CSR4), *b = pto_sparse_convert(q, PTO_COO);
    EXPECT(q && b);
    PTODetached out[PTO_SPARSE_ARRAYS];
    EXPECT_EQ(pto_sparse_take(&b, out), PTO_OK);
    EXPECT(!out[0].address && !out[0].release);
    PTOSparse *all[] = {a, r, c, p, q};
    for (int i = 0; i < 5; i++) pto_sparse_release(all[i]);
    for (int i = 0; i < 3; i++) pto_tensor_release(t[i]);
    EXPECT_EQ(living(), 0);
}
