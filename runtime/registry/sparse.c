/* sparse.c - see sparse.h: matrices are made of tensors or of foreign arrays, counted, described, shared, taken. */
#include "sparse.h"
#include "memory/slab.h"
#include "shared/thread_error.h"
#include <stdio.h>
#include <stdlib.h>

static struct slab matrices = SLAB_OF(struct PTOSparse);

bool ptoi_sparse_is_bad(const PTOSparse *a, const char *call)
{
    if (a && load_relaxed(&((PTOSparse *)(uintptr_t)a)->count.word) > 0) return false;
    ptoi_thread_fail(PTO_ERR_MISUSE, a ? "%s: the matrix was released" : "%s: the matrix is NULL", call);
    return true;
}

/* ---- extents ----------------------------------------------------------------------------------------------------- */

static PTOStatus disagree(const char *what) { return ptoi_thread_fail(PTO_ERR_ARGUMENT, "sparse matrix: %s", what); }

static bool is_index(const PTOTensor *t) { return t->rank == 1 && (t->type == PTO_I32 || t->type == PTO_I64); }

/* ptr or first and last: one number a row (block row, column ...), and one more for ptr. */
static PTOStatus check_lines(const PTOSparse *a)
{
    const int64_t extent = ptoi_sparse_by_column(a->format) ? a->columns : a->rows;
    const int64_t block = a->block[ptoi_sparse_by_column(a->format)];
    if (a->format == PTO_COO)
        return a->array[0]->shape[0] == a->array[1]->shape[0] ? PTO_OK : disagree("row and column differ in length");
    if (a->format == PTO_CSR4)
        return a->array[0]->shape[0] == a->rows && a->array[1]->shape[0] == a->rows
                   ? PTO_OK
                   : disagree("first and last have one number a row");
    return a->array[0]->shape[0] == extent / block + 1 ? PTO_OK : disagree("ptr has one number a row, and one more");
}

static PTOStatus check_extents(PTOSparse *a)
{
    const int count = ptoi_sparse_arrays(a->format);
    const bool has_blocks = a->format == PTO_BSR || a->format == PTO_BSC;
    const PTOTensor *idx = a->array[count - 2], *val = a->array[count - 1];
    if (a->rows < 0 || a->columns < 0) return disagree("a negative number of rows or columns");
    for (int i = 0; i < count - 1; i++)
        if (!is_index(a->array[i]) || a->array[i]->type != a->array[0]->type)
            return disagree("index arrays have one dimension and are all i32 or all i64");
    if (val->rank != (has_blocks ? 3 : 1)) return disagree("val has one dimension, or three with blocks");
    if (val->shape[0] != idx->shape[0]) return disagree("idx and val differ in length");
    a->block[0] = has_blocks ? val->shape[1] : 1;
    a->block[1] = has_blocks ? val->shape[2] : 1;
    if (a->block[0] < 1 || a->block[1] < 1 || a->rows % a->block[0] != 0 || a->columns % a->block[1] != 0)
        return disagree("rows and columns are multiples of the block");
    a->nnz = ptoi_tensor_count_of(val);
    return check_lines(a);
}

PTOSparse *ptoi_sparse_of(PTOFormat format, int64_t rows, int64_t columns, PTOTensor **arrays)
{
    const int count = ptoi_sparse_arrays(format);
    PTOSparse *a = NULL;
    bool is_whole = true;
    for (int i = 0; i < count; i++) is_whole &= arrays[i] != NULL;
    if (is_whole) {
        a = ptoi_slab_take(&matrices);
        if (!a) ptoi_refuse_nomem();
    }
    if (a) {
        a->format = format;
        a->rows = rows;
        a->columns = columns;
        a->flags = 0;
        for (int i = 0; i < PTO_SPARSE_ARRAYS; i++) a->array[i] = i < count ? arrays[i] : NULL;
        if (check_extents(a) == PTO_OK) {
            ptoi_count_open(&a->count);
            return a;
        }
        ptoi_slab_give(&matrices, a);
    }
    for (int i = 0; i < count; i++) pto_tensor_release(arrays[i]);
    return NULL;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

PTOStatus ptoi_sparse_read_begin(PTOSparse *a, const char *call)
{
    for (int i = 0; i < ptoi_sparse_arrays(a->format); i++) {
        const PTOStatus status = ptoi_read_begin(a->array[i], call);
        if (status == PTO_OK) continue;
        while (i-- > 0) ptoi_read_end(a->array[i]);
        return status;
    }
    return PTO_OK;
}

void ptoi_sparse_read_end(PTOSparse *a)
{
    for (int i = ptoi_sparse_arrays(a->format); i-- > 0;) ptoi_read_end(a->array[i]);
}

const char *ptoi_sparse_format_name(PTOFormat format)
{
    static const char *const name[PTO_FORMAT_COUNT] = {"CSR", "CSC", "COO", "BSR", "BSC", "CSR4"};
    return name[format];
}

struct indices ptoi_sparse_indices(const PTOSparse *a, int array)
{
    const PTOTensor *t = a->array[array];
    return (struct indices){.at = ptoi_tensor_address(t),
                            .stride = t->strides[0] * pto_type_bytes((PTOType)t->type),
                            .count = t->shape[0],
                            .is_32 = t->type == PTO_I32};
}

static PTOStatus wrong(const char *what, int64_t at)
{
    return ptoi_thread_fail(PTO_ERR_BOUNDS, "sparse matrix: %s %lld", what, (long long)at);
}

/* Elements `from` to `to` of idx, all of one line. */
static PTOStatus check_line(const struct indices *idx, int64_t from, int64_t to, int64_t extent, uint32_t *flags)
{
    int64_t before = -1;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = index_at(idx, i);
        if (at < 0 || at >= extent) return wrong("an index is outside: element", i);
        if (at < before) *flags = 0;
        if (at == before) *flags &= ~(uint32_t)PTO_UNIQUE;
        before = at;
    }
    return PTO_OK;
}

static PTOStatus check_coordinates(PTOSparse *a)
{
    const struct indices row = ptoi_sparse_indices(a, 0), column = ptoi_sparse_indices(a, 1);
    int64_t r = -1, c = -1;
    for (int64_t i = 0; i < row.count; i++) {
        const int64_t this_row = index_at(&row, i), this_column = index_at(&column, i);
        if (this_row < 0 || this_row >= a->rows || this_column < 0 || this_column >= a->columns)
            return wrong("an index is outside: element", i);
        if (this_row < r || (this_row == r && this_column < c)) a->flags = 0;
        if (this_row == r && this_column == c) a->flags &= ~(uint32_t)PTO_UNIQUE;
        r = this_row, c = this_column;
    }
    return PTO_OK;
}

static PTOStatus check_rows_anywhere(PTOSparse *a, int64_t extent)
{
    const struct indices first = ptoi_sparse_indices(a, 0), last = ptoi_sparse_indices(a, 1);
    const struct indices idx = ptoi_sparse_indices(a, 2);
    PTOStatus status = PTO_OK;
    for (int64_t i = 0; i < first.count && status == PTO_OK; i++) {
        const int64_t from = index_at(&first, i), to = index_at(&last, i);
        if (from < 0 || from > to || to > idx.count) return wrong("first and last are wrong for row", i);
        status = check_line(&idx, from, to, extent, &a->flags);
    }
    return status;
}

static PTOStatus check_ptr(PTOSparse *a, int64_t extent)
{
    const struct indices ptr = ptoi_sparse_indices(a, 0), idx = ptoi_sparse_indices(a, 1);
    const int64_t base = index_at(&ptr, 0);
    PTOStatus status = PTO_OK;
    if (base < 0) return wrong("ptr is below 0 at", 0);
    for (int64_t i = 0; i + 1 < ptr.count && status == PTO_OK; i++) {
        const int64_t from = index_at(&ptr, i) - base, to = index_at(&ptr, i + 1) - base;
        if (to < from) return wrong("ptr falls behind", i);
        if (to > idx.count) return wrong("ptr exceeds the elements at", i + 1);
        status = check_line(&idx, from, to, extent, &a->flags);
    }
    if (status == PTO_OK && index_at(&ptr, ptr.count - 1) - base != idx.count)
        return wrong("ptr does not reach the end of the elements, which are", idx.count);
    return status;
}

PTOStatus ptoi_sparse_check_numbers(PTOSparse *a)
{
    const bool by_column = ptoi_sparse_by_column(a->format);
    const int64_t extent = by_column ? a->rows / a->block[0] : a->columns / a->block[1];
    PTOStatus status = ptoi_sparse_read_begin(a, "pto_sparse_make");
    if (status != PTO_OK) return status;
    a->flags = PTO_SORTED | PTO_UNIQUE;
    if (a->format == PTO_COO)
        status = check_coordinates(a);
    else if (a->format == PTO_CSR4)
        status = check_rows_anywhere(a, extent);
    else
        status = check_ptr(a, extent);
    ptoi_sparse_read_end(a);
    return status;
}

/* ---- made -------------------------------------------------------------------------------------------------------- */

static bool is_known(PTOFormat format, PTOSparseCheck check, const void *arrays)
{
    if (format >= PTO_CSR && format < PTO_FORMAT_COUNT && (check == PTO_CHECK_SHAPE || check == PTO_CHECK_ALL) &&
        arrays)
        return true;
    ptoi_thread_fail(PTO_ERR_ARGUMENT, "sparse matrix: format %d, check %d, arrays at %p", (int)format, (int)check,
                     arrays);
    return false;
}

static PTOSparse *make(PTOFormat format, int64_t rows, int64_t columns, PTOTensor **arrays, PTOSparseCheck check)
{
    PTOSparse *a = ptoi_sparse_of(format, rows, columns, arrays);
    if (!a || check == PTO_CHECK_SHAPE || ptoi_sparse_check_numbers(a) == PTO_OK) return a;
    pto_sparse_release(a);
    return NULL;
}

PTOSparse *pto_sparse_make(PTOFormat format, int64_t rows, int64_t columns, PTOTensor *const *tensors,
                           PTOSparseCheck check)
{
    PTOTensor *arrays[PTO_SPARSE_ARRAYS] = {NULL};
    if (!is_known(format, check, tensors)) return NULL;
    for (int i = 0; i < ptoi_sparse_arrays(format); i++)
        if (ptoi_tensor_is_bad(tensors[i], "pto_sparse_make")) return NULL;
    for (int i = 0; i < ptoi_sparse_arrays(format); i++) arrays[i] = pto_tensor_retain(tensors[i]);
    return make(format, rows, columns, arrays, check);
}

/* The release functions come last, when nothing can fail any more. */
PTOSparse *pto_sparse_attach(PTOFormat format, int64_t rows, int64_t columns, const PTOForeign *arrays,
                             PTOSparseCheck check)
{
    PTOTensor *t[PTO_SPARSE_ARRAYS] = {NULL};
    if (!is_known(format, check, arrays)) return NULL;
    const int count = ptoi_sparse_arrays(format);
    for (int i = 0; i < count; i++) {
        PTOForeign f = arrays[i];
        f.release = NULL;
        t[i] = pto_tensor_attach(&f);
        if (t[i]) continue;
        while (i-- > 0) pto_tensor_release(t[i]);
        return NULL;
    }
    PTOSparse *a = make(format, rows, columns, t, check);
    for (int i = 0; i < count && a; i++) {
        if (t[i]->buffer)
            t[i]->buffer->block->release = arrays[i].release;
        else if (arrays[i].release)
            arrays[i].release(arrays[i].context);
    }
    return a;
}

/* ---- counted, described ------------------------------------------------------------------------------------------ */

PTOSparse *pto_sparse_retain(PTOSparse *a)
{
    if (a) ptoi_count_retain(&a->count);
    return a;
}

void pto_sparse_release(PTOSparse *a)
{
    if (!a) return;
    const int64_t left = ptoi_count_release(&a->count);
    if (left < 0) {
        fprintf(stderr, "pto_sparse_release: matrix %p was released more often than retained\n", (void *)a);
        abort();
    }
    if (left > 0) return;
    PTOTensor *array[PTO_SPARSE_ARRAYS];
    for (int i = 0; i < PTO_SPARSE_ARRAYS; i++) array[i] = a->array[i];
    ptoi_slab_give(&matrices, a);
    for (int i = 0; i < PTO_SPARSE_ARRAYS; i++) pto_tensor_release(array[i]);
}

PTOStatus pto_sparse_describe(const PTOSparse *a, PTOSparseDescription *out)
{
    if (ptoi_sparse_is_bad(a, "pto_sparse_describe")) return PTO_ERR_MISUSE;
    if (!out) return ptoi_thread_fail(PTO_ERR_MISUSE, "pto_sparse_describe: the description is NULL");
    const int count = ptoi_sparse_arrays(a->format);
    *out = (PTOSparseDescription){.format = a->format,
                                  .arrays = count,
                                  .rows = a->rows,
                                  .columns = a->columns,
                                  .nnz = a->nnz,
                                  .block = {a->block[0], a->block[1]},
                                  .index_type = (PTOType)a->array[0]->type,
                                  .value_type = (PTOType)a->array[count - 1]->type,
                                  .references = ptoi_count_now(&((PTOSparse *)(uintptr_t)a)->count),
                                  .flags = a->flags};
    return PTO_OK;
}

PTOTensor *pto_sparse_array(PTOSparse *a, int which)
{
    if (ptoi_sparse_is_bad(a, "pto_sparse_array")) return NULL;
    if (which >= 0 && which < ptoi_sparse_arrays(a->format)) return a->array[which];
    ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_sparse_array: array %d of %d", which, ptoi_sparse_arrays(a->format));
    return NULL;
}

/* ---- shared, detached, taken ------------------------------------------------------------------------------------- */

static PTOSparse *with_each(PTOSparse *a, PTOTensor *(*fn)(PTOTensor *), const char *call)
{
    PTOTensor *array[PTO_SPARSE_ARRAYS] = {NULL};
    if (ptoi_sparse_is_bad(a, call)) return NULL;
    for (int i = 0; i < ptoi_sparse_arrays(a->format); i++) {
        array[i] = fn(a->array[i]);
        if (array[i]) continue;
        while (i-- > 0) pto_tensor_release(array[i]);
        return NULL;
    }
    PTOSparse *other = ptoi_sparse_of(a->format, a->rows, a->columns, array);
    if (other) other->flags = a->flags;
    return other;
}

PTOSparse *pto_sparse_share(PTOSparse *a) { return with_each(a, pto_tensor_share, "pto_sparse_share"); }
PTOSparse *pto_sparse_detach(PTOSparse *a) { return with_each(a, pto_tensor_detach, "pto_sparse_detach"); }

/* A copy of array i whose memory will leave; or the array itself, which the caller alone holds. */
static PTOTensor *leaver_of(PTOSparse *a, int i, bool is_alone)
{
    PTOTensor *t = a->array[i];
    for (int j = 0; j < ptoi_sparse_arrays(a->format); j++) is_alone &= j == i || a->array[j] != t;
    return is_alone && (!t->buffer || ptoi_tensor_may_leave(t)) ? t : pto_tensor_copy(t);
}

PTOStatus pto_sparse_take(PTOSparse **a, PTODetached *out)
{
    static const char call[] = "pto_sparse_take";
    if (!a || !out || ptoi_sparse_is_bad(*a, call))
        return a && out ? PTO_ERR_MISUSE : ptoi_thread_fail(PTO_ERR_MISUSE, "%s: an argument is NULL", call);
    PTOSparse *m = *a;
    const int count = ptoi_sparse_arrays(m->format);
    const bool is_alone = ptoi_count_is_one(&m->count);
    PTOTensor *leaver[PTO_SPARSE_ARRAYS] = {NULL};
    PTOStatus status = PTO_OK;
    int left = 0;
    for (int i = 0; i < count && status == PTO_OK; i++) {
        leaver[i] = leaver_of(m, i, is_alone);
        if (!leaver[i]) status = ptoi_thread_status;
    }
    for (; left < count && status == PTO_OK; left++) {
        out[left] = (PTODetached){0};
        if (leaver[left]->buffer) status = ptoi_block_leave(leaver[left]->buffer, &out[left]);
        if (status != PTO_OK) break;
    }
    for (int i = 0; i < left && status != PTO_OK; i++) ptoi_block_stay(&out[i]);
    for (int i = 0; i < count; i++) {
        if (leaver[i] && status == PTO_OK && leaver[i] == m->array[i]) m->array[i] = NULL; /* m forgets it */
        if (leaver[i] && status == PTO_OK && leaver[i]->buffer)
            ptoi_tensor_forget(leaver[i]);
        else if (leaver[i] && leaver[i] != m->array[i])
            pto_tensor_release(leaver[i]);
    }
    if (status != PTO_OK) return status;
    pto_sparse_release(m);
    *a = NULL;
    return PTO_OK;
}
