/* views.c - another view of the same buffer: slice, index, transpose, reshape, broadcast, share; and detach, with a
 * buffer of its own.
 *
 * Idea       each call computes a geometry and makes a tensor of it; the checks of the first tensor hold for every
 *            view, as its elements are some of the first one's.
 * Invariant  strides of a tensor without elements, which has no buffer, are not computed with: they may be any numbers.
 * Tests      test/runtime/test_views.c, test_detach.c */
#include "map.h"
#include "tensor.h"
#include "shared/thread_error.h"
#include <string.h>

static bool has_dimension(const PTOTensor *t, int dim, const char *call)
{
    if (dim >= 0 && dim < t->rank) return true;
    ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: dimension %d, and the tensor has %d", call, dim, t->rank);
    return false;
}

/* ---- some elements of a dimension -------------------------------------------------------------------------------- */

/* Are first and first + (count - 1) * step indices of the dimension? */
static bool is_inside(int64_t extent, int64_t first, int64_t count, int64_t step)
{
    int64_t reach, last;
    if (count == 0) return first >= 0 && first <= extent;
    return first >= 0 && first < extent && !__builtin_mul_overflow(count - 1, step, &reach) &&
           !__builtin_add_overflow(first, reach, &last) && last >= 0 && last < extent;
}

PTOTensor *pto_tensor_slice(PTOTensor *t, int dim, int64_t first, int64_t count, int64_t step)
{
    static const char call[] = "pto_tensor_slice";
    if (ptoi_tensor_is_bad(t, call) || !has_dimension(t, dim, call)) return NULL;
    if (step == 0 || count < 0) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: count %lld, step %lld", call, (long long)count, (long long)step);
        return NULL;
    }
    if (!is_inside(t->shape[dim], first, count, step)) {
        ptoi_thread_fail(PTO_ERR_BOUNDS, "%s: %lld elements from %lld with step %lld, and dimension %d has %lld", call,
                         (long long)count, (long long)first, (long long)step, dim, (long long)t->shape[dim]);
        return NULL;
    }
    struct geometry g = ptoi_geometry_of(t);
    if (t->buffer && count > 0) g.first += first * g.strides[dim];
    if (t->buffer && count > 1) g.strides[dim] *= step;
    g.shape[dim] = count;
    return ptoi_tensor_view_of(t, &g, t->flags, PTOI_CALLER);
}

PTOTensor *pto_tensor_index(PTOTensor *t, int dim, int64_t at)
{
    static const char call[] = "pto_tensor_index";
    if (ptoi_tensor_is_bad(t, call) || !has_dimension(t, dim, call)) return NULL;
    if (at < 0 || at >= t->shape[dim]) {
        ptoi_thread_fail(PTO_ERR_BOUNDS, "%s: index %lld, and dimension %d has %lld", call, (long long)at, dim,
                         (long long)t->shape[dim]);
        return NULL;
    }
    struct geometry g = ptoi_geometry_of(t);
    if (t->buffer) g.first += at * g.strides[dim];
    g.rank--;
    for (int i = dim; i < g.rank; i++) g.shape[i] = g.shape[i + 1], g.strides[i] = g.strides[i + 1];
    g.shape[g.rank] = g.strides[g.rank] = 0;
    return ptoi_tensor_view_of(t, &g, t->flags, PTOI_CALLER);
}

/* ---- all elements ------------------------------------------------------------------------------------------------ */

PTOTensor *pto_tensor_transpose(PTOTensor *t, const int *order)
{
    static const char call[] = "pto_tensor_transpose";
    unsigned seen = 0;
    if (ptoi_tensor_is_bad(t, call)) return NULL;
    struct geometry g = ptoi_geometry_of(t);
    for (int i = 0; i < t->rank; i++) {
        const int from = order ? order[i] : t->rank - 1 - i;
        if (from < 0 || from >= t->rank || seen >> from & 1) {
            ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: order[%d] = %d: the order is no permutation of %d dimensions", call,
                             i, from, t->rank);
            return NULL;
        }
        seen |= 1u << from;
        g.shape[i] = t->shape[from];
        g.strides[i] = t->strides[from];
    }
    return ptoi_tensor_view_of(t, &g, t->flags, PTOI_CALLER);
}

/* Dimensions of t without those of 1, neighbours joined where one steps over the other. */
static int joined(const PTOTensor *t, int64_t *shape, int64_t *strides)
{
    int count = 0;
    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i] == 1) continue;
        if (count > 0 && strides[count - 1] == t->shape[i] * t->strides[i]) {
            shape[count - 1] *= t->shape[i];
            strides[count - 1] = t->strides[i];
        } else {
            shape[count] = t->shape[i];
            strides[count++] = t->strides[i];
        }
    }
    return count;
}

/* Strides for g->shape, which has as many elements, from the last dimension on: each joined dimension is cut into some
 * of the new ones, whose product grows until it is all of it. */
static bool cut(const PTOTensor *t, struct geometry *g)
{
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
    int from = joined(t, shape, strides) - 1;
    int64_t whole = from >= 0 ? shape[from] : 1, stride = from >= 0 ? strides[from] : 1, product = 1;
    for (int i = g->rank; i-- > 0;) {
        if (g->shape[i] > 1 && product == whole && from > 0) {
            from--;
            whole = shape[from];
            stride = strides[from];
            product = 1;
        }
        product *= g->shape[i]; /* at most the number of elements */
        if (product > whole) return false;
        g->strides[i] = stride;
        stride *= g->shape[i];
    }
    return product == whole && from <= 0;
}

/* g: t's type, and the shape.  The thread's error otherwise. */
static bool open_geometry(const PTOTensor *t, int rank, const int64_t *shape, const char *call, struct geometry *g,
                          int64_t *count)
{
    if (ptoi_geometry_check(call, (PTOType)t->type, rank, shape) != PTO_OK) return false;
    *g = (struct geometry){.type = t->type, .rank = (uint8_t)rank, .first = t->first};
    if (rank > 0) memcpy(g->shape, shape, (size_t)rank * sizeof *shape);
    if (ptoi_geometry_count(g, count)) return true;
    ptoi_thread_fail(PTO_ERR_OVERFLOW, "%s: the shape has more than 2^63 elements", call);
    return false;
}

PTOTensor *pto_tensor_reshape(PTOTensor *t, int rank, const int64_t *shape)
{
    static const char call[] = "pto_tensor_reshape";
    struct geometry g;
    int64_t count;
    if (ptoi_tensor_is_bad(t, call) || !open_geometry(t, rank, shape, call, &g, &count)) return NULL;
    if (count != ptoi_tensor_count_of(t)) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: %lld elements, and the tensor has %lld", call, (long long)count,
                         (long long)ptoi_tensor_count_of(t));
        return NULL;
    }
    if (count == 0)
        ptoi_geometry_row_major(&g);
    else if (!cut(t, &g)) {
        ptoi_thread_fail(PTO_ERR_WOULD_COPY, "%s: the strides of the tensor do not allow this shape", call);
        return NULL;
    }
    return ptoi_tensor_view_of(t, &g, t->flags, PTOI_CALLER);
}

PTOTensor *pto_tensor_broadcast(PTOTensor *t, int rank, const int64_t *shape)
{
    static const char call[] = "pto_tensor_broadcast";
    struct geometry g;
    int64_t count;
    if (ptoi_tensor_is_bad(t, call) || !open_geometry(t, rank, shape, call, &g, &count)) return NULL;
    const int more = rank - t->rank;
    bool fits = more >= 0;
    for (int i = 0; i < t->rank && fits; i++) {
        fits = t->shape[i] == 1 || t->shape[i] == g.shape[more + i];
        g.strides[more + i] = t->shape[i] == 1 ? 0 : t->strides[i];
    }
    if (!fits) {
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s: an extent that is not 1 differs, or the rank is less", call);
        return NULL;
    }
    return ptoi_tensor_view_of(t, &g, t->flags | PTO_READ_ONLY, PTOI_CALLER);
}

PTOTensor *pto_tensor_share(PTOTensor *t)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_share")) return NULL;
    const struct geometry g = ptoi_geometry_of(t);
    return ptoi_tensor_view_of(t, &g, t->flags, PTOI_CALLER);
}

/* ---- a buffer of its own ----------------------------------------------------------------------------------------- */

/* Somebody outside may write the memory at any time: the elements are copied now, with their strides if they are one
 * for one, else row-major. */
static PTOTensor *detach_by_copy(PTOTensor *t, const void *made)
{
    if (ptoi_read_begin(t, "pto_tensor_detach") != PTO_OK) return NULL;
    PTOTensor *copy = ptoi_tensor_copy(t, made);
    ptoi_read_end(t);
    return copy;
}

PTOTensor *pto_tensor_detach(PTOTensor *t)
{
    if (ptoi_tensor_is_bad(t, "pto_tensor_detach")) return NULL;
    const struct geometry g = ptoi_geometry_of(t);
    const bool is_free = t->flags & PTO_READ_ONLY && !ptoi_geometry_overlaps(&g);
    const uint32_t flags = is_free ? t->flags & ~(uint32_t)PTO_READ_ONLY : t->flags;
    if (!t->buffer) return ptoi_tensor_make(NULL, &g, flags, PTOI_CALLER);
    struct buffer *b = ptoi_buffer_detach(t->buffer);
    if (b) return ptoi_tensor_make(b, &g, flags, PTOI_CALLER);
    return ptoi_thread_status == PTO_ERR_WOULD_COPY ? detach_by_copy(t, PTOI_CALLER) : NULL;
}
