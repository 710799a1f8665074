/* decode.c - see decode.h: parameters of any rank and size, empty ones; parts that are written. */
#include "decode.h"
#include <pto/pto_program.h>
#include <string.h>

PTOStatus ptoi_refuse_param(struct orchestrator *o, const struct terms *t, enum refusal why, const PTOTaskParam *p,
                            long long number)
{
    return ptoi_refuse_submit(
        o, why, &(struct refused){.param = p, .kernel = t->kernel, .index = (int)(p - t->params), .number = number});
}

PTOStatus ptoi_decode_term(struct orchestrator *o, struct terms *t, const PTOTaskParam *p)
{
    enum { LONGEST = INT32_MAX }; /* 24 days */
    switch (p->kind) {
    case PTO_PARAM_PRIORITY:
        t->priority = p->at > INT32_MAX ? INT32_MAX : p->at < INT32_MIN ? INT32_MIN : (int32_t)p->at;
        return PTO_OK;
    case PTO_PARAM_NAME: t->name = p->buffer; return PTO_OK;
    case PTO_PARAM_AT: return PTO_OK; /* one rank has no choice; dist/submit.c has made it */
    case PTO_PARAM_TIMEOUT:
        if (p->at < 1) return ptoi_refuse_submit(o, REFUSED_TIMEOUT, &(struct refused){.number = p->at});
        t->limit_ms = p->at < LONGEST ? p->at : LONGEST;
        if (o->run.least_limit_ms == 0 || t->limit_ms < o->run.least_limit_ms) o->run.least_limit_ms = t->limit_ms;
        return PTO_OK;
    case PTO_PARAM_ACC_BY: return (PTOStatus)ORCH_HAS_PARTS;
    default: return ptoi_refuse_param(o, t, REFUSED_KIND, p, 0);
    }
}

/* Elements from the lowest to the highest of a view, and how many of them lie below the one whose indices are all 0.
 * *elements 0: it is empty.  Row-major strides are written to `lay`.  false: a number is too large. */
static bool measure_view(const PTOTaskParam *p, int64_t *lay, int64_t *elements, int64_t *below)
{
    int64_t dense = 1, reach = 1, down = 0, step;
    bool is_empty = false, has_strides = true, fits = true;
    for (int d = p->rank - 1; d >= 0; d--) {
        const int64_t extent = p->shape[d];
        is_empty |= extent == 0;
        if (!p->stride) {
            lay[d] = dense;
            has_strides &= !__builtin_mul_overflow(dense, extent + (extent == 0), &dense);
        }
        const int64_t stride = p->stride ? p->stride[d] : lay[d];
        fits &= !__builtin_mul_overflow(extent - 1, stride, &step);
        if (stride < 0)
            fits &= !__builtin_sub_overflow(down, step, &down);
        else
            fits &= !__builtin_add_overflow(reach, step, &reach);
    }
    fits &= !__builtin_add_overflow(reach, down, &reach);
    *elements = is_empty ? 0 : reach;
    *below = is_empty ? 0 : down;
    return has_strides && (fits || is_empty);
}

/* Of a parameter in bytes: the offset of its element 0, what it accesses below that, and how much it spans; and the
 * shape and strides of its argument.  An empty one is at no offset. */
static enum refusal measure(const PTOTaskParam *p, PTOArg *arg, int64_t *lay, int64_t *offset, int64_t *below,
                            int64_t *bytes, long long *number)
{
    if (p->rank == 0) { /* a flat range: a vector of bytes */
        if (p->bytes < 0 || __builtin_mul_overflow(p->at, p->bytes, offset)) return REFUSED_RANGE;
        lay[0] = *bytes = p->bytes;
        lay[1] = 1;
        arg->shape = lay;
        arg->stride = lay + 1;
        arg->rank = 1;
        return REFUSED_NOT;
    }
    for (int d = 0; d < p->rank; d++)
        if (p->shape[d] < 0) {
            *number = p->shape[d];
            return REFUSED_EXTENT;
        }
    const int64_t unit = pto_bytes_of_(p->type);
    int64_t elements, down;
    const bool fits =
        measure_view(p, lay, &elements, &down) && !__builtin_mul_overflow(elements, unit, bytes) &&
        (elements == 0 || (!__builtin_mul_overflow(p->at, unit, offset) && !__builtin_mul_overflow(down, unit, below)));
    arg->shape = p->shape;
    arg->stride = p->stride ? p->stride : lay;
    return fits ? REFUSED_NOT : REFUSED_REGION;
}

enum refusal ptoi_decode_any(const PTOTaskParam *p, PTOArg *arg, int64_t *lay, PTOAccess_ *a, long long *number)
{
    int64_t offset = 0, below = 0, bytes = 0, low, high;
    char *base = p->buffer;
    if (p->type >= PTO_TYPE_COUNT || p->rank > PTO_MAX_RANK || (p->rank > 0 && !p->shape)) return REFUSED_TYPE;
    *arg = (PTOArg){.kind = p->kind, .type = p->type, .rank = p->rank};
    const enum refusal why = measure(p, arg, lay, &offset, &below, &bytes, number);
    if (why == REFUSED_RANGE || why == REFUSED_EXTENT) return why;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return REFUSED_VARIABLE;
        memcpy(&base, p->ref, sizeof base); /* the caller's variable may be of any pointer type */
    }
    if (why == REFUSED_REGION && p->kind == PTO_PARAM_OUTPUT && !base && p->at == 0 && !p->stride) return REFUSED_BYTES;
    if (why != REFUSED_NOT || offset < below || __builtin_add_overflow((int64_t)(intptr_t)base, offset - below, &low) ||
        low < 0 || __builtin_add_overflow(low, bytes, &high))
        return REFUSED_REGION;
    *a = (PTOAccess_){.base = base,
                      .low = (uint64_t)low,
                      .high = (uint64_t)high,
                      .is_contiguous = !p->stride || pto_is_row_major(p->rank, p->shape, p->stride)};
    if (low == high) /* a null handle */
        a->base = NULL;
    else if (base)
        arg->ptr = base + offset;
    else if (p->kind != PTO_PARAM_OUTPUT)
        return REFUSED_UNWRITTEN;
    else if (p->at != 0 || !a->is_contiguous)
        return REFUSED_NEW_OUTPUT;
    return REFUSED_NOT;
}

static bool region_of(const PTOTaskParam *p, int64_t at, const int64_t *shape, const int64_t *stride, struct region *r)
{
    const int64_t unit = pto_bytes_of_(p->type);
    int64_t offset, address;
    return !__builtin_mul_overflow(at, unit, &offset) &&
           !__builtin_add_overflow((int64_t)(intptr_t)p->buffer, offset, &address) &&
           ptoi_region_make(r, address, unit, p->rank, shape, stride);
}

enum refusal ptoi_decode_part(const PTOTaskParam *p, struct region *part)
{
    const PTOPart *w = p->ref;
    struct region all;
    if (!w || !w->shape || !w->stride) return REFUSED_NO_PART;
    if (p->rank == 0 || w->rank != p->rank) return REFUSED_PART_RANK;
    part->run = 0;
    for (int d = 0; d < w->rank; d++)
        if (w->shape[d] == 0) return REFUSED_NOT; /* nothing is written */
    if (!region_of(p, w->at, w->shape, w->stride, part) || !region_of(p, p->at, p->shape, p->stride, &all) ||
        all.run == 0)
        return REFUSED_PART;
    return part->low < all.low || part->high > all.high ? REFUSED_PART : REFUSED_NOT;
}

PTOStatus ptoi_decode_with_part(struct orchestrator *o, struct terms *t, const PTOTaskParam *p, PTOArg *arg,
                                int64_t *lay, struct operand *x)
{
    struct region part;
    long long number = 0;
    enum refusal why = t->arguments == PTO_MAX_PARAMS ? REFUSED_ARGUMENTS : REFUSED_NOT;
    if (why == REFUSED_NOT) why = ptoi_decode_any(p, arg, lay, &x->access, &number);
    if (why == REFUSED_NOT && x->access.base) why = ptoi_find_holder(o, &x->access, &x->buffer, &number);
    if (why == REFUSED_NOT) why = ptoi_decode_part(p, &part);
    if (why != REFUSED_NOT) return ptoi_refuse_param(o, t, why, p, number);
    arg->kind = x->kind = PTO_PARAM_INOUT;
    t->writes_empty |= x->access.low == x->access.high;
    t->writes_some |= x->access.low != x->access.high;
    t->parts = true;
    t->arguments++;
    return PTO_OK;
}

PTOStatus ptoi_orch_view(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t index, struct orch_view *view)
{
    PTOStatus status = PTO_OK;
    struct terms t = {.kernel = kernel, .params = params, .count = count};
    struct operand x;
    if (ptoi_decode(o, &t, &params[index], &view->arg, view->lay, &x, &status)) {
        view->is_empty = x.access.low == x.access.high;
        view->buffer = x.buffer;
    }
    return status;
}

bool ptoi_orch_part(const PTOTaskParam *p, struct region *part)
{
    return ptoi_decode_part(p, part) == REFUSED_NOT && part->run > 0;
}

bool ptoi_orch_touches(const PTOTaskParam *p, struct region *region)
{
    PTOArg arg;
    PTOAccess_ a;
    int64_t lay[PTO_MAX_RANK];
    long long number;
    if (p->kind < PTO_PARAM_INPUT ||
        (p->kind > PTO_PARAM_ACC && p->kind != PTO_PARAM_INOUT_PART && p->kind != PTO_PARAM_ACC_BY))
        return false;
    if (!pto_decode_tensor_(p, &arg, lay, &a) && ptoi_decode_any(p, &arg, lay, &a, &number) != REFUSED_NOT)
        return false; /* the submit will refuse it */
    if (!a.base) return false;
    if (!ptoi_region_make(region, (int64_t)(intptr_t)arg.ptr, pto_bytes_of_(arg.type), arg.rank, arg.shape, arg.stride))
        *region = (struct region){.low = a.low, .high = a.high, .run = (int64_t)(a.high - a.low)};
    return true;
}

/* In offsets of the heap, as they are now; false: it is no memory of the heap, or the submit will refuse it. */
static bool region_in_heap(const struct orchestrator *o, const PTOTaskParam *p, struct region *r)
{
    if (!ptoi_orch_touches(p, r) || r->run == 0) return false;
    char *const low = (char *)(intptr_t)r->low;
    if (!ptoi_orch_is_in_heap(o, low)) return false;
    const int64_t bytes = r->high - r->low;
    r->low = (char *)ptoi_orch_where(o, low) - o->heap_base;
    r->high = r->low + bytes;
    return r->high <= (int64_t)o->window->heap_bytes;
}

/* The next run of bytes of the region; index: of its outer dimensions, all 0 in the first one.  false: that was the
 * last. */
static bool next_run(const struct region *r, int64_t *index, int64_t *at)
{
    for (int d = r->rank - 1; d >= 0; d--) {
        *at += r->dim[d].stride_bytes;
        if (++index[d] < r->dim[d].count) return true;
        *at -= r->dim[d].count * r->dim[d].stride_bytes;
        index[d] = 0;
    }
    return false;
}

static bool is_blank(const struct slots *s, const struct region *r)
{
    int64_t index[PTO_MAX_RANK] = {0}, at = r->low;
    do
        if (!ptoi_slots_is_blank(s, (uint64_t)at, (uint64_t)r->run)) return false;
    while (next_run(r, index, &at));
    return true;
}

static void fill(struct slots *s, const struct region *r)
{
    int64_t index[PTO_MAX_RANK] = {0}, at = r->low;
    do ptoi_slots_fill(s, (uint64_t)at, (uint64_t)r->run);
    while (next_run(r, index, &at));
}

PTOStatus ptoi_note_written(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    struct region r;
    for (int i = 0; i < count; i++) {
        const PTOTaskParam *p = &params[i];
        const bool reads =
            p->kind == PTO_PARAM_INPUT || (kernel && (p->kind == PTO_PARAM_INOUT || p->kind == PTO_PARAM_INOUT_PART));
        if (!reads || !region_in_heap(o, p, &r) || !is_blank(o->buffers.slots, &r)) continue;
        if (!kernel) return ptoi_orch_fail(o, PTO_ERR_UNWRITTEN, "[E13] nothing was written here before it is awaited");
        return ptoi_orch_fail(o, PTO_ERR_UNWRITTEN,
                              "[E06] parameter %d of kernel '%s': nothing was written there before it is read", i,
                              kernel->name);
    }
    ptoi_slots_begin(o->buffers.slots);
    for (int i = 0; i < count; i++)
        if (params[i].kind != PTO_PARAM_INPUT && region_in_heap(o, &params[i], &r)) fill(o->buffers.slots, &r);
    return PTO_OK;
}

PTOStatus ptoi_decoded_request(struct orchestrator *o, const struct terms *t, const PTOKernel *kernel)
{
    int scalars = 0;
    for (int i = 0; i < t->count; i++) scalars += t->params[i].kind == PTO_PARAM_SCALAR;
    if (scalars <= PTO_REQUEST_PARAMS) return PTO_OK;
    return ptoi_refuse_submit(o, REFUSED_SCALARS, &(struct refused){.kernel = kernel, .number = scalars});
}
