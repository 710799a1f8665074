/* copy.c - the calls that copy elements, and whose names say so: copy, dense, writable, take. */
#include "map.h"
#include "stale.h"
#include "shared/thread_error.h"
#include "tensor.h"
#include <string.h>

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* Elements of one row: `stride` bytes apart, of `bytes` each. */
static void copy_row(char *to, const char *from, int64_t count, int64_t stride, size_t bytes)
{
    if (stride == (int64_t)bytes) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * bytes, from + i * stride, bytes);
}

void ptoi_elements_copy(void *to, const void *from, const struct geometry *g)
{
    const size_t bytes = (size_t)pto_type_bytes((PTOType)g->type);
    int64_t index[PTO_MAX_RANK] = {0};
    const int last = g->rank - 1;
    for (int i = 0; i < g->rank; i++)
        if (g->shape[i] == 0) return; /* before the strides: of no elements they may be anything */
    const int64_t row = g->rank > 0 ? g->shape[last] : 1;
    const int64_t stride = g->rank > 0 ? g->strides[last] * (int64_t)bytes : (int64_t)bytes;
    char *out = to;
    const char *in = from;
    for (;;) {
        copy_row(out, in, row, stride, bytes);
        out += (size_t)row * bytes;
        int d = last - 1;
        for (; d >= 0; d--) {
            in += g->strides[d] * (int64_t)bytes;
            if (++index[d] < g->shape[d]) break;
            in -= g->shape[d] * g->strides[d] * (int64_t)bytes;
            index[d] = 0;
        }
        if (d < 0) return;
    }
}

PTOTensor *ptoi_tensor_copy(PTOTensor *t, const void *made)
{
    const struct geometry from = ptoi_geometry_of(t);
    struct geometry to = from;
    to.first = 0;
    ptoi_geometry_row_major(&to);
    int64_t bytes;
    if (__builtin_mul_overflow(ptoi_tensor_count_of(t), pto_type_bytes((PTOType)t->type), &bytes)) {
        ptoi_thread_fail(PTO_ERR_OVERFLOW, "a copy of the tensor has more than 2^63 bytes");
        return NULL;
    }
    struct buffer *b = bytes > 0 ? ptoi_buffer_new(t->buffer->block->pool, bytes) : NULL;
    if (bytes > 0 && !b) return NULL;
    if (b) {
        ptoi_elements_copy(b->block->address, ptoi_tensor_address(t), &from);
        b->block->is_undefined = t->buffer->block->is_undefined;
    }
    return ptoi_tensor_make(b, &to, 0, made);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static PTOTensor *copy(PTOTensor *t, const char *call, const void *made)
{
    if (ptoi_read_begin(t, call) != PTO_OK) return NULL;
    PTOTensor *made_of_it = ptoi_tensor_copy(t, made);
    ptoi_read_end(t);
    return made_of_it;
}

PTOTensor *pto_tensor_copy(PTOTensor *t)
{
    return ptoi_tensor_is_bad(t, "pto_tensor_copy") ? NULL : copy(t, "pto_tensor_copy", PTOI_CALLER);
}

PTOTensor *pto_tensor_dense(PTOTensor *t)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_dense")) return NULL;
    return ptoi_tensor_is_dense(t) ? pto_tensor_retain(t) : copy(t, "pto_tensor_dense", PTOI_CALLER);
}

/* t alone sees its memory: neither another tensor does nor the owner of attached memory, which may have attached it to
 * others, too. */
static bool is_alone(PTOTensor *t)
{
    ptoi_registry_lock();
    const struct block *const k = t->buffer ? t->buffer->block : NULL;
    const bool is =
        ptoi_tensor_is_unique(t) && !(t->flags & PTO_READ_ONLY) && !(k && (k->is_read_only || !k->may_move));
    ptoi_registry_unlock();
    return is;
}

PTOStatus pto_tensor_writable(PTOTensor **t)
{
    if (!t || ptoi_tensor_is_bad(*t, "pto_tensor_writable"))
        return t ? PTO_ERR_MISUSE : ptoi_tensor_refuse(NULL, "pto_tensor_writable");
    if (is_alone(*t)) return PTO_OK;
    PTOTensor *other = copy(*t, "pto_tensor_writable", PTOI_CALLER);
    if (!other) return ptoi_thread_status;
    pto_tensor_release(*t);
    *t = other;
    return PTO_OK;
}

bool ptoi_tensor_may_leave(PTOTensor *t)
{
    ptoi_registry_lock();
    const bool may = ptoi_tensor_is_unique(t) && ptoi_tensor_is_whole(t);
    ptoi_registry_unlock();
    return may;
}

/* What leaves is the memory of the host. */
static PTOStatus save(struct buffer *b)
{
    enum separation found;
    ptoi_registry_lock();
    while ((found = ptoi_stale_save(b)) == SEPARATE_AGAIN) {}
    const PTOStatus status = ptoi_stale_refuse(b, found, "pto_tensor_take");
    ptoi_registry_unlock();
    return status;
}

PTOStatus pto_tensor_take(PTOTensor **t, PTODetached *out)
{
    static const char call[] = "pto_tensor_take";
    if (!t || !out) return ptoi_tensor_refuse(NULL, call);
    if (ptoi_tensor_is_bad(*t, call)) return PTO_ERR_MISUSE;
    if (!(*t)->buffer) {
        *out = (PTODetached){0};
        pto_tensor_release(*t);
        *t = NULL;
        return PTO_OK;
    }
    PTOTensor *leaver = ptoi_tensor_may_leave(*t) ? *t : copy(*t, call, PTOI_CALLER);
    if (!leaver) return ptoi_thread_status;
    PTOStatus status = save(leaver->buffer);
    if (status == PTO_OK) status = ptoi_block_leave(leaver->buffer, out);
    if (status == PTO_OK)
        ptoi_tensor_forget(leaver);
    else if (leaver != *t)
        pto_tensor_release(leaver);
    if (status != PTO_OK) return status;
    if (leaver != *t) pto_tensor_release(*t);
    *t = NULL;
    return PTO_OK;
}
