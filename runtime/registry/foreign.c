/* foreign.c - tensors of memory that somebody else owns.
 *
 * Idea       everything is checked before anything is taken: a failed attach has called nothing and keeps nothing.
 * Tests      test/runtime/test_foreign.c */
#include "tensor.h"
#include "shared/thread_error.h"
#include <string.h>

static PTOStatus check_place(const PTOForeign *f)
{
    if (f->bytes < 0 || f->bytes > INT64_MAX / 2 || (f->bytes > 0 && !f->address))
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_tensor_attach: %lld bytes at %p", (long long)f->bytes,
                                f->address);
    if (f->flags & ~(uint32_t)(PTO_READ_ONLY | PTO_MAY_MOVE))
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_tensor_attach: flags %#x", f->flags);
    if (f->device < 0) return ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_tensor_attach: device %d", f->device);
    return PTO_OK;
}

static PTOStatus check_elements(const struct geometry *g, int64_t count, const PTOForeign *f)
{
    const int64_t bytes = pto_type_bytes((PTOType)g->type);
    int64_t lowest, highest;
    if (count == 0) return PTO_OK;
    if ((uintptr_t)f->address % (uint64_t)bytes != 0)
        return ptoi_thread_fail(PTO_ERR_ARGUMENT, "pto_tensor_attach: %p is not aligned to %s: copy the elements first",
                                f->address, pto_type_name((PTOType)g->type));
    if (!ptoi_geometry_range(g, &lowest, &highest))
        return ptoi_thread_fail(PTO_ERR_OVERFLOW, "pto_tensor_attach: strides and extents overflow");
    if (lowest >= 0 && highest < f->bytes / bytes) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_BOUNDS, "pto_tensor_attach: elements %lld to %lld of %lld bytes", (long long)lowest,
                            (long long)highest, (long long)f->bytes);
}

/* Along a dimension of one element, and without elements, nothing steps, and the owner's stride may be any number; one
 * that has no number of bytes is 0. */
static void settle_strides(struct geometry *g, int64_t count)
{
    const int64_t limit = INT64_MAX / pto_type_bytes((PTOType)g->type);
    for (int i = 0; i < g->rank; i++)
        if ((count == 0 || g->shape[i] == 1) && (g->strides[i] > limit || g->strides[i] < -limit)) g->strides[i] = 0;
}

static PTOStatus read_geometry(const PTOForeign *f, struct geometry *g, int64_t *count)
{
    const PTOStatus status = ptoi_geometry_check("pto_tensor_attach", f->type, f->rank, f->shape);
    if (status != PTO_OK) return status;
    *g = (struct geometry){.type = (uint8_t)f->type, .rank = (uint8_t)f->rank, .first = f->first};
    if (f->rank > 0) memcpy(g->shape, f->shape, (size_t)f->rank * sizeof *f->shape);
    if (!ptoi_geometry_count(g, count))
        return ptoi_thread_fail(PTO_ERR_OVERFLOW, "pto_tensor_attach: the shape has more than 2^63 elements");
    if (f->rank > 0 && f->strides)
        memcpy(g->strides, f->strides, (size_t)f->rank * sizeof *f->strides);
    else
        ptoi_geometry_row_major(g);
    settle_strides(g, *count);
    return check_elements(g, *count, f);
}

PTOTensor *pto_tensor_attach(const PTOForeign *f)
{
    struct geometry g;
    int64_t count;
    if (!f) {
        ptoi_tensor_refuse(NULL, "pto_tensor_attach");
        return NULL;
    }
    if (check_place(f) != PTO_OK || read_geometry(f, &g, &count) != PTO_OK) return NULL;
    struct buffer *b = NULL;
    if (count > 0) {
        const struct block k = {.address = f->address,
                                .bytes = f->bytes,
                                .device = f->device,
                                .is_read_only = f->flags & PTO_READ_ONLY,
                                .may_move = f->flags & PTO_MAY_MOVE,
                                .is_foreign = true,
                                .context = f->context};
        b = ptoi_buffer_attach(&k);
        if (!b) return NULL;
    }
    PTOTensor *t = ptoi_tensor_make(b, &g, f->flags & PTO_READ_ONLY, PTOI_CALLER);
    if (!t) return NULL; /* the block went without a call: it has no release function yet */
    if (b)
        b->block->release = f->release;
    else if (f->release)
        f->release(f->context);
    return t;
}
