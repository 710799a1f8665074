/* sparse_convert.c - a matrix in another format, in linear time.
 *
 * Idea       the source is read once as a list of (row, column, where the value is), in its own order; a stable
 *            counting sort by row or column puts it into its new order.
 * Owner      the caller: the list, while it converts.
 * Tests      test/runtime/test_sparse.c */
#include "shared/thread_error.h"
#include "sparse.h"
#include <stdlib.h>
#include <string.h>

struct element {
    int64_t row, column;
    const char *value;
};

struct list {
    struct element *at;
    int64_t count, room;
    const PTOSparse *of;
};

/* ---- the source is read ------------------------------------------------------------------------------------------ */

static PTOStatus wrong(int64_t line)
{
    return ptoi_thread_fail(PTO_ERR_BOUNDS, "pto_sparse_convert: a number is wrong in row or column %lld",
                            (long long)line);
}

/* All elements of the block that stands at (row, column) in blocks: k counts blocks. */
static bool add_block(struct list *l, int64_t row, int64_t column, int64_t k)
{
    const PTOSparse *a = l->of;
    const PTOTensor *val = a->array[ptoi_sparse_arrays(a->format) - 1];
    const int64_t bytes = pto_type_bytes((PTOType)val->type), r = a->block[0], c = a->block[1];
    const char *block = (const char *)ptoi_tensor_address(val) + k * val->strides[0] * bytes;
    if (row < 0 || row >= a->rows / r || column < 0 || column >= a->columns / c) return false;
    for (int64_t i = 0; i < r * c; i++) {
        const int64_t at = val->rank == 3 ? i / c * val->strides[1] + i % c * val->strides[2] : 0;
        if (l->count == l->room) return false; /* rows of CSR4 that overlap: counted before */
        l->at[l->count++] = (struct element){row * r + i / c, column * c + i % c, block + at * bytes};
    }
    return true;
}

static bool add_line(struct list *l, const struct indices *idx, int64_t line, int64_t from, int64_t to)
{
    if (from < 0 || to < from || to > idx->count) return false;
    bool good = true;
    for (int64_t k = from; k < to && good; k++) {
        const int64_t at = index_at(idx, k);
        good = ptoi_sparse_by_column(l->of->format) ? add_block(l, at, line, k) : add_block(l, line, at, k);
    }
    return good;
}

static PTOStatus read_lines(struct list *l)
{
    const bool anywhere = l->of->format == PTO_CSR4;
    const struct indices from = ptoi_sparse_indices(l->of, 0), to = anywhere ? ptoi_sparse_indices(l->of, 1) : from;
    const struct indices idx = ptoi_sparse_indices(l->of, anywhere ? 2 : 1);
    const int64_t lines = anywhere ? from.count : from.count - 1, base = anywhere ? 0 : index_at(&from, 0);
    for (int64_t i = 0; i < lines; i++)
        if (!add_line(l, &idx, i, index_at(&from, i) - base, index_at(&to, anywhere ? i : i + 1) - base))
            return wrong(i);
    return PTO_OK;
}

static PTOStatus read_coordinates(struct list *l)
{
    const struct indices row = ptoi_sparse_indices(l->of, 0), column = ptoi_sparse_indices(l->of, 1);
    for (int64_t k = 0; k < row.count; k++)
        if (!add_block(l, index_at(&row, k), index_at(&column, k), k)) return wrong(k);
    return PTO_OK;
}

/* The elements that the list will have: of CSR4 the sum of its rows. */
static PTOStatus count_elements(const PTOSparse *a, int64_t *count)
{
    *count = a->nnz;
    if (a->format != PTO_CSR4) return PTO_OK;
    const struct indices first = ptoi_sparse_indices(a, 0), last = ptoi_sparse_indices(a, 1);
    *count = 0;
    for (int64_t i = 0; i < first.count; i++) {
        const int64_t from = index_at(&first, i), to = index_at(&last, i);
        if (from < 0 || to < from || to > a->array[2]->shape[0]) return wrong(i);
        if (__builtin_add_overflow(*count, to - from, count))
            return ptoi_thread_fail(PTO_ERR_OVERFLOW, "pto_sparse_convert: more than 2^63 elements");
    }
    return PTO_OK;
}

static PTOStatus read_all(const PTOSparse *a, struct list *l)
{
    *l = (struct list){.of = a};
    const PTOStatus status = count_elements(a, &l->room);
    if (status != PTO_OK) return status;
    if (a->array[0]->type == PTO_I32 && l->room > INT32_MAX)
        return ptoi_thread_fail(PTO_ERR_OVERFLOW, "pto_sparse_convert: %lld elements, and indices are i32",
                                (long long)l->room);
    if (l->room > INT64_MAX / (int64_t)sizeof *l->at) return ptoi_refuse_nomem();
    l->at = malloc((size_t)(l->room + 1) * sizeof *l->at);
    if (!l->at) return ptoi_refuse_nomem();
    return a->format == PTO_COO ? read_coordinates(l) : read_lines(l);
}

/* ---- and written ------------------------------------------------------------------------------------------------- */

static void put(PTOTensor *t, int64_t i, int64_t value)
{
    void *at = ptoi_tensor_address(t);
    if (t->type == PTO_I32)
        ((int32_t *)at)[i] = (int32_t)value;
    else
        ((int64_t *)at)[i] = value;
}

static void put_value(PTOTensor *t, int64_t i, const struct element *e)
{
    const size_t bytes = (size_t)pto_type_bytes((PTOType)t->type);
    memcpy((char *)ptoi_tensor_address(t) + (size_t)i * bytes, e->value, bytes);
}

static void write_coordinates(const struct list *l, PTOTensor **array)
{
    for (int64_t i = 0; i < l->count; i++) {
        put(array[0], i, l->at[i].row);
        put(array[1], i, l->at[i].column);
        put_value(array[2], i, &l->at[i]);
    }
}

/* next[line + 1] counts, then says where the next element of a line goes; then ptr is what it was before. */
static PTOStatus write_lines(const struct list *l, bool by_column, int64_t lines, PTOTensor **array)
{
    int64_t *next = calloc((size_t)lines + 2, sizeof *next);
    if (!next) return ptoi_refuse_nomem();
    for (int64_t i = 0; i < l->count; i++) next[(by_column ? l->at[i].column : l->at[i].row) + 1]++;
    for (int64_t i = 0; i < lines; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i <= lines; i++) put(array[0], i, next[i]);
    for (int64_t i = 0; i < l->count; i++) {
        const struct element *e = &l->at[i];
        const int64_t to = next[by_column ? e->column : e->row]++;
        put(array[1], to, by_column ? e->row : e->column);
        put_value(array[2], to, e);
    }
    free(next);
    return PTO_OK;
}

static PTOSparse *write_all(const struct list *l, PTOFormat format)
{
    const PTOSparse *a = l->of;
    const PTOType index = (PTOType)a->array[0]->type,
                  value = (PTOType)a->array[ptoi_sparse_arrays(a->format) - 1]->type;
    const int64_t lines = format == PTO_CSC ? a->columns : a->rows, ends = format == PTO_COO ? l->count : lines + 1;
    PTOTensor *array[PTO_SPARSE_ARRAYS] = {pto_tensor_new(NULL, index, 1, &ends),
                                           pto_tensor_new(NULL, index, 1, &l->count),
                                           pto_tensor_new(NULL, value, 1, &l->count)};
    PTOStatus status = array[0] && array[1] && array[2] ? PTO_OK : PTO_ERR_NOMEM;
    if (status == PTO_OK && format == PTO_COO)
        write_coordinates(l, array);
    else if (status == PTO_OK)
        status = write_lines(l, format == PTO_CSC, lines, array);
    if (status != PTO_OK) {
        for (int i = 0; i < 3; i++) pto_tensor_release(array[i]);
        return NULL;
    }
    if (format != PTO_CSR4) return ptoi_sparse_of(format, a->rows, a->columns, array);
    PTOTensor *four[PTO_SPARSE_ARRAYS] = {pto_tensor_slice(array[0], 0, 0, lines, 1),
                                          pto_tensor_slice(array[0], 0, 1, lines, 1), array[1], array[2]};
    pto_tensor_release(array[0]);
    return ptoi_sparse_of(PTO_CSR4, a->rows, a->columns, four);
}

PTOSparse *pto_sparse_convert(PTOSparse *a, PTOFormat format)
{
    static const char call[] = "pto_sparse_convert";
    struct list l;
    if (ptoi_sparse_is_bad(a, call)) return NULL;
    if (format < PTO_CSR || format >= PTO_FORMAT_COUNT) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: to format %d", call, (int)format);
        return NULL;
    }
    if (format == PTO_BSR || format == PTO_BSC) {
        ptoi_thread_fail(
            PTO_ERR_UNSUPPORTED,
            "%s: CSR, CSC, COO and CSR4 are made, and %s is not: nothing says how large its blocks would be", call,
            ptoi_sparse_format_name(format));
        return NULL;
    }
    if (ptoi_sparse_read_begin(a, call) != PTO_OK) return NULL;
    PTOSparse *made = read_all(a, &l) == PTO_OK ? write_all(&l, format) : NULL;
    free(l.at);
    ptoi_sparse_read_end(a);
    return made;
}
