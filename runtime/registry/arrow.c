/* arrow.c - tensors to and from Arrow's C data interface.
 *
 * Idea       in: the struct is moved into a slab, and its release function ends the foreign memory.  Out: one record
 *            holds the structs of all levels; a consumer may move a child away and release its parent, so each level
 *            holds a reference to the record.
 * Invariant  a failed import leaves the array as it is; children are released by their parent.
 * Tests      test/runtime/test_arrow.c */
#include "arrow.h"
#include "map.h"
#include "memory/slab.h"
#include "shared/thread_error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letter_of[PTO_TYPE_COUNT] = {
    [PTO_F16] = 'e', [PTO_F32] = 'f', [PTO_F64] = 'g', [PTO_I8] = 'c',  [PTO_I16] = 's', [PTO_I32] = 'i',
    [PTO_I64] = 'l', [PTO_U8] = 'C',  [PTO_U16] = 'S', [PTO_U32] = 'I', [PTO_U64] = 'L',
};

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* One level of lists, or the elements: without nulls, and as long as its parent needs. */
static PTOStatus check_level(const struct ArrowArray *a, const struct ArrowSchema *s, int64_t wanted, int64_t buffers)
{
    if (!a || !s || !a->release || !s->release || !s->format || a->length < 0 || a->offset < 0)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "Arrow: a struct that was released or is malformed");
    if (a->dictionary || s->dictionary) return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: a dictionary");
    if (a->n_buffers != buffers || !a->buffers)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "Arrow: '%s' with %lld buffers, not %lld", s->format,
                                (long long)a->n_buffers, (long long)buffers);
    if (a->offset > INT64_MAX - a->length)
        return ptoi_thread_fail(PTO_ERR_OVERFLOW,
                                "Arrow: offset %lld + length %lld of '%s' are more than 2^63 elements",
                                (long long)a->offset, (long long)a->length, s->format);
    if (a->length < wanted)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT,
                                "Arrow: the child '%s' of a list has length %lld, the list needs %lld", s->format,
                                (long long)a->length, (long long)wanted);
    if (a->null_count > 0) return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: %lld nulls", (long long)a->null_count);
    const uint8_t *valid = a->buffers[0];
    for (int64_t i = a->offset; a->null_count < 0 && valid && i < a->offset + a->length; i++)
        if (!(valid[i / 8] >> i % 8 & 1)) return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: nulls");
    return PTO_OK;
}

static PTOStatus find_type(const char *format, PTOType *type)
{
    if (strcmp(format, "b") == 0)
        return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: booleans are bits there; u8 stands for them");
    for (int t = 0; t < PTO_TYPE_COUNT && format[0] && !format[1]; t++)
        if (letter_of[t] && letter_of[t] == format[0]) return *type = (PTOType)t, PTO_OK;
    return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: format '%s'", format);
}

/* The extent of a level of fixed-size lists; false: it is none. */
static bool list_extent(const char *format, int64_t *extent)
{
    char *end;
    if (strncmp(format, "+w:", 3) != 0) return false;
    *extent = strtoll(format + 3, &end, 10);
    return end > format + 3 && !*end && *extent >= 0;
}

/* first: of the elements, from the beginning of the last buffer. */
static PTOStatus find_elements(const struct ArrowArray *a, const struct ArrowSchema *s, PTOForeign *f, int64_t *shape)
{
    int64_t count = a->length, first = a->offset, extent = 0, wanted = 0;
    shape[0] = a->length;
    f->rank = 1;
    while (list_extent(s->format, &extent)) {
        const PTOStatus status = check_level(a, s, wanted, 1);
        if (status != PTO_OK) return status;
        if (a->n_children != 1 || s->n_children != 1 || !a->children || !s->children)
            return ptoi_thread_fail(PTO_ERR_ARGUMENT, "Arrow: a list without a child");
        if (f->rank == PTO_MAX_RANK) return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: more than 8 dimensions");
        const struct ArrowArray *const list = a;
        a = a->children[0];
        s = s->children[0];
        if (!a || !s || !s->format) return check_level(NULL, NULL, 0, 0);
        shape[f->rank++] = extent;
        if (__builtin_mul_overflow(count, extent, &count) || __builtin_mul_overflow(first, extent, &first) ||
            __builtin_add_overflow(first, count, &wanted) || a->offset > INT64_MAX - wanted)
            return ptoi_thread_fail(
                PTO_ERR_OVERFLOW,
                "Arrow: offset %lld + length %lld of lists of %lld, and offset %lld of their child, "
                "are more than 2^63 elements",
                (long long)list->offset, (long long)list->length, (long long)extent, (long long)a->offset);
        first += a->offset;
    }
    PTOStatus status = find_type(s->format, &f->type);
    if (status == PTO_OK) status = check_level(a, s, wanted, 2);
    if (status != PTO_OK) return status;
    if (__builtin_mul_overflow(first + count, pto_type_bytes(f->type), &f->bytes) || f->bytes > INT64_MAX / 2)
        return ptoi_thread_fail(PTO_ERR_OVERFLOW, "Arrow: %lld elements from element %lld are more than 2^62 bytes",
                                (long long)count, (long long)first);
    f->address = (void *)(uintptr_t)a->buffers[1];
    f->first = first;
    return PTO_OK;
}

static struct slab moved = SLAB_OF(struct ArrowArray);

static void release_moved(void *context)
{
    struct ArrowArray a = *(struct ArrowArray *)context;
    ptoi_slab_give(&moved, context);
    a.release(&a);
}

PTOTensor *pto_tensor_from_arrow(struct ArrowArray *a, struct ArrowSchema *schema)
{
    int64_t shape[PTO_MAX_RANK];
    PTOForeign f = {.shape = shape, .flags = PTO_READ_ONLY, .release = release_moved};
    if (!a || !schema || !a->release || !schema->release || !schema->format) {
        check_level(NULL, NULL, 0, 0);
        return NULL;
    }
    if (find_elements(a, schema, &f, shape) != PTO_OK) return NULL;
    struct ArrowArray *kept = ptoi_slab_take(&moved);
    if (!kept) {
        ptoi_refuse_nomem();
        return NULL;
    }
    *kept = *a;
    f.context = kept;
    PTOTensor *t = pto_tensor_attach(&f);
    if (t)
        a->release = NULL;
    else
        ptoi_slab_give(&moved, kept);
    return t;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* The structs of all levels, of which the outermost one is copied to the consumer. */
struct arrays {
    _Atomic int32_t left; /* levels that are not released: release [COUNT_WORD], the last one acquires */
    PTOTensor *tensor;
    struct ArrowArray level[PTO_MAX_RANK], *child[PTO_MAX_RANK];
    const void *buffers[2]; /* no nulls, and the elements */
};

struct schemas {
    _Atomic int32_t left;
    struct ArrowSchema level[PTO_MAX_RANK], *child[PTO_MAX_RANK];
    char format[PTO_MAX_RANK][24];
};

static struct slab all_arrays = SLAB_OF(struct arrays), all_schemas = SLAB_OF(struct schemas);

static bool is_last(_Atomic int32_t *left)
{
    if (add_release(left, -1, COUNT_WORD) != 1) return false; /* [COUNT_WORD] */
    (void)load_acquire(left, COUNT_WORD);                     /* [COUNT_WORD] */
    return true;
}

static void release_array(struct ArrowArray *a)
{
    struct arrays *all = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->release) a->children[i]->release(a->children[i]);
    a->release = NULL;
    if (!is_last(&all->left)) return;
    PTOTensor *t = all->tensor;
    ptoi_export_end(t, false);
    ptoi_slab_give(&all_arrays, all);
    pto_tensor_release(t);
}

static void release_schema(struct ArrowSchema *s)
{
    struct schemas *all = s->private_data;
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children[i]->release) s->children[i]->release(s->children[i]);
    s->release = NULL;
    if (is_last(&all->left)) ptoi_slab_give(&all_schemas, all);
}

static void fill_arrays(struct arrays *all, const PTOTensor *t, const void *elements)
{
    int64_t length = 1;
    all->buffers[0] = NULL;
    all->buffers[1] = elements;
    store_relaxed(&all->left, t->rank);
    for (int i = 0; i < t->rank; i++) {
        const bool is_leaf = i == t->rank - 1;
        length *= t->shape[i];
        all->child[i] = is_leaf ? NULL : &all->level[i + 1];
        all->level[i] = (struct ArrowArray){.length = length,
                                            .n_buffers = is_leaf ? 2 : 1,
                                            .n_children = is_leaf ? 0 : 1,
                                            .buffers = all->buffers,
                                            .children = is_leaf ? NULL : &all->child[i],
                                            .release = release_array,
                                            .private_data = all};
    }
}

static void fill_schemas(struct schemas *all, const PTOTensor *t)
{
    store_relaxed(&all->left, t->rank);
    for (int i = 0; i < t->rank; i++) {
        const bool is_leaf = i == t->rank - 1;
        if (is_leaf)
            snprintf(all->format[i], sizeof all->format[i], "%c", letter_of[t->type]);
        else
            snprintf(all->format[i], sizeof all->format[i], "+w:%lld", (long long)t->shape[i + 1]);
        all->child[i] = is_leaf ? NULL : &all->level[i + 1];
        all->level[i] = (struct ArrowSchema){.format = all->format[i],
                                             .name = i == 0 ? "" : "item",
                                             .n_children = is_leaf ? 0 : 1,
                                             .children = is_leaf ? NULL : &all->child[i],
                                             .release = release_schema,
                                             .private_data = all};
    }
}

static PTOStatus refuse(const PTOTensor *t)
{
    if (t->rank == 0) return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: a tensor of rank 0");
    if (!letter_of[t->type])
        return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "Arrow: elements of type %s", pto_type_name((PTOType)t->type));
    if (ptoi_tensor_is_dense(t)) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_WOULD_COPY, "Arrow: the tensor is not contiguous in row-major order");
}

PTOStatus pto_tensor_to_arrow(PTOTensor *t, struct ArrowArray *a, struct ArrowSchema *schema)
{
    static const char call[] = "pto_tensor_to_arrow";
    if (ptoi_tensor_is_bad(t, call)) return PTO_ERR_MISUSE;
    if (!a || !schema) return ptoi_thread_fail(PTO_ERR_MISUSE, "%s: a struct is NULL", call);
    if (refuse(t) != PTO_OK) return ptoi_thread_status;
    struct arrays *arrays = ptoi_slab_take(&all_arrays);
    struct schemas *schemas = arrays ? ptoi_slab_take(&all_schemas) : NULL;
    const void *elements = schemas ? ptoi_export_begin(t, false, call) : NULL;
    if (!elements) {
        const PTOStatus status = schemas ? ptoi_thread_status : ptoi_refuse_nomem();
        ptoi_slab_give(&all_arrays, arrays);
        ptoi_slab_give(&all_schemas, schemas);
        return status;
    }
    arrays->tensor = pto_tensor_retain(t);
    fill_arrays(arrays, t, elements);
    fill_schemas(schemas, t);
    *a = arrays->level[0];
    *schema = schemas->level[0];
    return PTO_OK;
}
