/* sparse_views.c - other views of the same elements: rows next to each other, rows anywhere, the transpose.
 *
 * Idea       rows next to each other are slices of the arrays; rows anywhere are two numbers each.
 * Tests      test/runtime/test_sparse.c */
#include "shared/thread_error.h"
#include "sparse.h"

static void refuse_format(const PTOSparse *a, const char *call)
{
    ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "%s: a matrix of format %s", call, ptoi_sparse_format_name(a->format));
}

/* ---- rows next to each other ------------------------------------------------------------------------------------- */

/* Lines first to first + count of ptr: where their elements begin, and how many there are. */
static PTOStatus find_elements(PTOSparse *a, int64_t first, int64_t count, int64_t *begin, int64_t *elements)
{
    static const char call[] = "pto_sparse_rows";
    const PTOStatus status = ptoi_read_begin(a->array[0], call);
    if (status != PTO_OK) return status;
    const struct indices ptr = ptoi_sparse_indices(a, 0);
    *begin = index_at(&ptr, first) - index_at(&ptr, 0);
    *elements = index_at(&ptr, first + count) - index_at(&ptr, first);
    ptoi_read_end(a->array[0]);
    if (*begin >= 0 && *elements >= 0) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_BOUNDS, "%s: ptr falls between rows %lld and %lld", call, (long long)first,
                            (long long)(first + count));
}

PTOSparse *pto_sparse_rows(PTOSparse *a, int64_t first, int64_t count)
{
    static const char call[] = "pto_sparse_rows";
    PTOTensor *array[PTO_SPARSE_ARRAYS] = {NULL};
    if (ptoi_sparse_is_bad(a, call)) return NULL;
    if (a->format != PTO_CSR && a->format != PTO_BSR && a->format != PTO_CSR4) {
        refuse_format(a, call);
        return NULL;
    }
    if (first < 0 || count < 0 || first > a->rows || count > a->rows - first) {
        ptoi_thread_fail(PTO_ERR_BOUNDS, "%s: %lld rows from %lld, and the matrix has %lld", call, (long long)count,
                         (long long)first, (long long)a->rows);
        return NULL;
    }
    const int64_t block = a->block[0];
    if (first % block != 0 || count % block != 0) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: %lld rows from %lld are no blocks of %lld", call, (long long)count,
                         (long long)first, (long long)block);
        return NULL;
    }
    if (a->format == PTO_CSR4) {
        for (int i = 0; i < 2; i++) array[i] = pto_tensor_slice(a->array[i], 0, first, count, 1);
        for (int i = 2; i < 4; i++) array[i] = pto_tensor_retain(a->array[i]);
    } else {
        int64_t begin, elements;
        if (find_elements(a, first / block, count / block, &begin, &elements) != PTO_OK) return NULL;
        array[0] = pto_tensor_slice(a->array[0], 0, first / block, count / block + 1, 1);
        for (int i = 1; i < 3; i++) array[i] = pto_tensor_slice(a->array[i], 0, begin, elements, 1);
    }
    PTOSparse *view = ptoi_sparse_of(a->format, count, a->columns, array);
    if (view) view->flags = a->flags;
    return view;
}

/* ---- rows anywhere ----------------------------------------------------------------------------------------------- */

static void put(PTOTensor *t, void *at, int64_t i, int64_t value)
{
    if (t->type == PTO_I32)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

/* Fills first and last; the arrays of a are read meanwhile. */
static PTOStatus fill_pick(PTOSparse *a, const int64_t *rows, int64_t n, PTOTensor *first, PTOTensor *last)
{
    const struct indices from = ptoi_sparse_indices(a, 0),
                         to = a->format == PTO_CSR4 ? ptoi_sparse_indices(a, 1) : from;
    const int64_t elements = a->array[ptoi_sparse_arrays(a->format) - 2]->shape[0];
    const int64_t next = a->format == PTO_CSR4 ? 0 : 1, base = next ? index_at(&from, 0) : 0;
    void *first_at = ptoi_tensor_address(first), *last_at = ptoi_tensor_address(last);
    for (int64_t i = 0; i < n; i++) {
        if (rows[i] < 0 || rows[i] >= a->rows)
            return ptoi_thread_fail(PTO_ERR_BOUNDS, "pto_sparse_pick: row %lld, and the matrix has %lld",
                                    (long long)rows[i], (long long)a->rows);
        const int64_t begin = index_at(&from, rows[i]) - base, end = index_at(&to, rows[i] + next) - base;
        if (begin < 0 || end < begin || end > elements)
            return ptoi_thread_fail(PTO_ERR_BOUNDS, "pto_sparse_pick: row %lld has the elements %lld to %lld of %lld",
                                    (long long)rows[i], (long long)begin, (long long)end, (long long)elements);
        put(first, first_at, i, begin);
        put(last, last_at, i, end);
    }
    return PTO_OK;
}

PTOSparse *pto_sparse_pick(PTOSparse *a, const int64_t *rows, int64_t n)
{
    static const char call[] = "pto_sparse_pick";
    if (ptoi_sparse_is_bad(a, call)) return NULL;
    if (a->format != PTO_CSR && a->format != PTO_CSR4) {
        refuse_format(a, call);
        return NULL;
    }
    if (n < 0 || (n > 0 && !rows)) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: %lld rows at %p", call, (long long)n, (const void *)rows);
        return NULL;
    }
    const PTOType type = (PTOType)a->array[0]->type;
    const int count = ptoi_sparse_arrays(a->format);
    PTOTensor *array[PTO_SPARSE_ARRAYS] = {pto_tensor_new(NULL, type, 1, &n), pto_tensor_new(NULL, type, 1, &n),
                                           pto_tensor_retain(a->array[count - 2]),
                                           pto_tensor_retain(a->array[count - 1])};
    PTOStatus status = array[0] && array[1] ? ptoi_sparse_read_begin(a, call) : PTO_ERR_NOMEM;
    if (status == PTO_OK) {
        status = fill_pick(a, rows, n, array[0], array[1]);
        ptoi_sparse_read_end(a);
    }
    if (status == PTO_OK) {
        PTOSparse *view = ptoi_sparse_of(PTO_CSR4, n, a->columns, array);
        if (view) view->flags = a->flags;
        return view;
    }
    for (int i = 0; i < PTO_SPARSE_ARRAYS; i++) pto_tensor_release(array[i]);
    return NULL;
}

/* ---- transpose --------------------------------------------------------------------------------------------------- */

PTOSparse *pto_sparse_transpose(PTOSparse *a)
{
    static const char call[] = "pto_sparse_transpose";
    static const PTOFormat other[PTO_FORMAT_COUNT] = {
        [PTO_CSR] = PTO_CSC, [PTO_CSC] = PTO_CSR, [PTO_COO] = PTO_COO, [PTO_BSR] = PTO_BSC, [PTO_BSC] = PTO_BSR};
    if (ptoi_sparse_is_bad(a, call)) return NULL;
    if (a->format == PTO_CSR4) {
        refuse_format(a, call);
        return NULL;
    }
    const bool swaps = a->format == PTO_COO, has_blocks = a->array[2]->rank == 3;
    PTOTensor *array[PTO_SPARSE_ARRAYS] = {pto_tensor_retain(a->array[swaps]), pto_tensor_retain(a->array[!swaps]),
                                           has_blocks ? pto_tensor_transpose(a->array[2], (const int[]){0, 2, 1})
                                                      : pto_tensor_retain(a->array[2])};
    PTOSparse *view = ptoi_sparse_of(other[a->format], a->columns, a->rows, array);
    if (view && !swaps) view->flags = a->flags; /* coordinates are sorted by rows, so no longer */
    return view;
}
