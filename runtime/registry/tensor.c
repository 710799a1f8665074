/* tensor.c - see tensor.h: tensors are made, counted and described. */
#include "tensor.h"
#include "memory/slab.h"
#include "shared/thread_error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct slab tensors = SLAB_OF(PTOTensor);

PTOStatus pto_last_status(void) { return ptoi_thread_status; }

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

struct geometry ptoi_geometry_of(const PTOTensor *t)
{
    struct geometry g = {.type = t->type, .rank = t->rank, .first = t->first};
    memcpy(g.shape, t->shape, sizeof g.shape);
    memcpy(g.strides, t->strides, sizeof g.strides);
    return g;
}

void ptoi_geometry_row_major(struct geometry *g)
{
    int64_t stride = 1;
    for (int i = g->rank; i-- > 0;) {
        g->strides[i] = stride;
        if (g->shape[i] > 1 && __builtin_mul_overflow(stride, g->shape[i], &stride)) stride = 1; /* no elements */
    }
}

bool ptoi_geometry_count(const struct geometry *g, int64_t *count)
{
    bool is_empty = false, fits = true;
    int64_t n = 1;
    for (int i = 0; i < g->rank; i++) {
        is_empty |= g->shape[i] == 0;
        fits &= !__builtin_mul_overflow(n, g->shape[i], &n);
    }
    *count = is_empty ? 0 : n;
    return is_empty || fits;
}

static bool has_elements(const struct geometry *g)
{
    for (int i = 0; i < g->rank; i++)
        if (g->shape[i] == 0) return false;
    return true;
}

bool ptoi_geometry_range(const struct geometry *g, int64_t *lowest, int64_t *highest)
{
    *lowest = *highest = g->first;
    for (int i = 0; i < g->rank; i++) {
        int64_t reach, *end = g->strides[i] < 0 ? lowest : highest;
        if (g->shape[i] == 0) continue;
        if (__builtin_mul_overflow(g->shape[i] - 1, g->strides[i], &reach)) return false;
        if (__builtin_add_overflow(*end, reach, end)) return false;
    }
    return true;
}

bool ptoi_geometry_is_dense(const struct geometry *g)
{
    int64_t stride = 1;
    if (!has_elements(g)) return true;
    for (int i = g->rank; i-- > 0;) {
        if (g->shape[i] > 1 && g->strides[i] != stride) return false;
        stride *= g->shape[i];
    }
    return true;
}

/* Sorted by their strides, each dimension must step over everything that the smaller ones reach. */
bool ptoi_geometry_overlaps(const struct geometry *g)
{
    uint64_t stride[PTO_MAX_RANK], extent[PTO_MAX_RANK], reach = 0;
    int count = 0;
    for (int i = 0; i < g->rank; i++) {
        if (g->shape[i] == 0) return false;
        if (g->shape[i] == 1) continue;
        const uint64_t s = g->strides[i] < 0 ? 0 - (uint64_t)g->strides[i] : (uint64_t)g->strides[i];
        int at = count++;
        for (; at > 0 && stride[at - 1] > s; at--) stride[at] = stride[at - 1], extent[at] = extent[at - 1];
        stride[at] = s, extent[at] = (uint64_t)g->shape[i];
    }
    for (int i = 0; i < count; i++) {
        if (stride[i] <= reach) return true;
        reach += stride[i] * (extent[i] - 1);
    }
    return false;
}

PTOStatus ptoi_geometry_check(const char *call, PTOType type, int rank, const int64_t *shape)
{
    if (pto_type_bytes(type) == 0)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: type %d is not one of PTOType", call, (int)type);
    if (rank < 0 || rank > PTO_MAX_RANK)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: rank %d, expected 0 to %d", call, rank, PTO_MAX_RANK);
    if (rank > 0 && !shape) return ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: the shape is NULL", call);
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0)
            return ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: extent %lld of dimension %d is negative", call,
                                    (long long)shape[i], i);
    return PTO_OK;
}

/* ---- tensors are made -------------------------------------------------------------------------------------------- */

PTOTensor *ptoi_tensor_make(struct buffer *buffer, const struct geometry *g, uint32_t flags, const void *made)
{
    PTOTensor *t = ptoi_slab_take(&tensors);
    if (!t) {
        if (buffer) ptoi_buffer_release(buffer);
        ptoi_refuse_nomem();
        return NULL;
    }
    t->buffer = buffer;
    t->first = g->first;
    t->made = made;
    t->type = g->type;
    t->rank = g->rank;
    t->flags = (uint8_t)flags;
    memcpy(t->shape, g->shape, sizeof t->shape);
    memcpy(t->strides, g->strides, sizeof t->strides);
    store_relaxed(&t->count.slots, NULL);
    store_release(&t->count.word, 1, COUNT_WORD); /* [COUNT_WORD] the dump reads what it finds counted */
    return t;
}

PTOTensor *ptoi_tensor_view_of(PTOTensor *t, const struct geometry *g, uint32_t flags, const void *made)
{
    struct buffer *b = has_elements(g) ? t->buffer : NULL;
    if (b) ptoi_buffer_retain(b);
    return ptoi_tensor_make(b, g, flags, made);
}

PTOTensor *pto_tensor_new(PTOPool *pool, PTOType type, int rank, const int64_t *shape)
{
    int64_t count, bytes;
    if (ptoi_geometry_check("pto_tensor_new", type, rank, shape) != PTO_OK) return NULL;
    struct geometry g = {.type = (uint8_t)type, .rank = (uint8_t)rank};
    if (rank > 0) memcpy(g.shape, shape, (size_t)rank * sizeof *shape);
    if (!ptoi_geometry_count(&g, &count) || __builtin_mul_overflow(count, pto_type_bytes(type), &bytes)) {
        ptoi_thread_fail(PTO_ERR_OVERFLOW, "pto_tensor_new: the tensor has more than 2^63 bytes");
        return NULL;
    }
    ptoi_geometry_row_major(&g);
    struct buffer *b = bytes > 0 ? ptoi_buffer_new(pool, bytes) : NULL;
    return bytes == 0 || b ? ptoi_tensor_make(b, &g, 0, PTOI_CALLER) : NULL;
}

/* ---- and counted ------------------------------------------------------------------------------------------------- */

static void describe_in_words(const PTOTensor *t, char *text, size_t size)
{
    int used = snprintf(text, size, "%s[", pto_type_name((PTOType)t->type));
    for (int i = 0; i < t->rank && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
    if (used > 0 && (size_t)used < size) snprintf(text + used, size - (size_t)used, "]");
}

static _Noreturn void end_of_program(const PTOTensor *t)
{
    char text[256];
    describe_in_words(t, text, sizeof text);
    fprintf(stderr, "pto_tensor_release: tensor %s at %p was released more often than retained\n", text,
            (const void *)t);
    abort();
}

static void destroy(PTOTensor *t)
{
    struct buffer *b = t->buffer;
    ptoi_count_free(&t->count);
    ptoi_slab_give(&tensors, t);
    if (b) ptoi_buffer_release(b);
}

PTOTensor *pto_tensor_retain(PTOTensor *t)
{
    if (t) ptoi_count_retain(&t->count);
    return t;
}

static void end(PTOTensor *t, int64_t left)
{
    if (left < 0) end_of_program(t);
    if (left == 0) destroy(t);
}

void pto_tensor_release(PTOTensor *t)
{
    if (t) end(t, ptoi_count_release(&t->count));
}

void pto_tensor_spread(PTOTensor *t)
{
    if (t) ptoi_count_spread(&t->count);
}

void pto_tensor_unspread(PTOTensor *t)
{
    if (t) end(t, ptoi_count_close(&t->count));
}

void ptoi_tensor_forget(PTOTensor *t)
{
    struct buffer *b = t->buffer;
    const int64_t left = ptoi_count_release(&t->count); /* before its buffer: the dump looks at the count first */
    if (left != 0) end_of_program(t);
    ptoi_count_free(&t->count);
    ptoi_slab_give(&tensors, t);
    ptoi_buffer_forget(b);
}

PTOStatus ptoi_tensor_refuse(const PTOTensor *t, const char *call)
{
    return ptoi_thread_fail(PTO_ERR_MISUSE, t ? "%s: the tensor was released" : "%s: the tensor is NULL", call);
}

/* ---- what a tensor is -------------------------------------------------------------------------------------------- */

int64_t ptoi_tensor_count_of(const PTOTensor *t)
{
    const struct geometry g = ptoi_geometry_of(t);
    int64_t count;
    (void)ptoi_geometry_count(&g, &count); /* it was checked when t was made */
    return count;
}

void *ptoi_tensor_address(const PTOTensor *t)
{
    if (!t->buffer) return NULL;
    return (char *)t->buffer->block->address + t->first * pto_type_bytes((PTOType)t->type);
}

bool ptoi_tensor_is_dense(const PTOTensor *t)
{
    const struct geometry g = ptoi_geometry_of(t);
    return ptoi_geometry_is_dense(&g);
}

bool ptoi_tensor_is_whole(const PTOTensor *t)
{
    return t->buffer && t->first == 0 && ptoi_tensor_is_dense(t) &&
           ptoi_tensor_count_of(t) * pto_type_bytes((PTOType)t->type) == t->buffer->block->bytes;
}

bool ptoi_tensor_is_unique(PTOTensor *t)
{
    const struct buffer *b = t->buffer;
    if (!ptoi_count_is_one(&t->count)) return false;
    if (!b) return true;
    const struct block *k = b->block;
    return !k->foreign && ptoi_count_is_one(&t->buffer->count) && !ptoi_block_is_shared(k) && b->exports == 0 &&
           k->map_count == 0 && k->readers == 0 && k->writers == 0;
}

struct tensor_view ptoi_tensor_view(const PTOTensor *t)
{
    const struct geometry g = ptoi_geometry_of(t);
    return (struct tensor_view){.type = (PTOType)t->type,
                                .rank = t->rank,
                                .shape = t->shape,
                                .strides = t->strides,
                                .is_read_only = t->flags & PTO_READ_ONLY,
                                .is_overlapping = ptoi_geometry_overlaps(&g)};
}

uint64_t ptoi_tensor_buffer_id(const PTOTensor *t) { return t->buffer ? t->buffer->id : 0; }

PTOStatus pto_tensor_describe(const PTOTensor *t, PTODescription *out)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_describe")) return PTO_ERR_MISUSE;
    if (!out) return ptoi_thread_fail(PTO_ERR_MISUSE, "pto_tensor_describe: the description is NULL");
    *out = (PTODescription){.type = (PTOType)t->type, .rank = t->rank, .flags = t->flags & PTO_READ_ONLY};
    memcpy(out->shape, t->shape, sizeof out->shape);
    memcpy(out->strides, t->strides, sizeof out->strides);
    PTOTensor *counted = (PTOTensor *)(uintptr_t)t; /* a look at a count changes nothing */
    out->references = ptoi_count_now(&counted->count);
    if (!t->buffer) return PTO_OK;
    struct buffer *b = t->buffer;
    ptoi_registry_lock();
    out->buffer = b->id;
    out->device = b->block->device;
    out->tensors = ptoi_count_now(&b->count) - load_relaxed(&b->pins);
    out->pins = b->block->readers + b->block->writers + b->block->map_count;
    out->flags |= b->block->is_undefined ? PTO_UNDEFINED : 0;
    ptoi_registry_unlock();
    return PTO_OK;
}

void ptoi_tensor_visit(void (*fn)(void *tensor, void *arg), void *arg) { ptoi_slab_visit(&tensors, fn, arg); }
