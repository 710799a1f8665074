/* decode.h - what a parameter of a submit says: the argument of the kernel, and the bytes that it touches.
 *
 * Idea       nearly every parameter is a scalar, a flat range of bytes, or a view of one or two dimensions, with
 *            numbers so small that no product of them overflows.  These are decoded here, in a few instructions; where
 *            the C compiler knows the parameter, only the address is left to compute.  All three paths of a task use
 *            this: the fast path inside the caller (fast_path.h), and in the runtime the immediate and the deferred
 *            path (runtime/submit/decode.h), which also accept every other valid parameter and report an invalid one.
 * Limits     PTO_PLAIN_RANK dimensions, extents and flat ranges from 1 to 2^30, strides below 2^24 elements, offsets
 *            below 2^40 elements or 2^30 flat ranges, addresses below 2^60.
 * Invariant  a parameter that is accepted here has the same argument and bytes by runtime/submit/decode.c, which has no
 *            such limits.
 * Tests      test/runtime/test_decode.c */
#ifndef PTO_DETAIL_DECODE_H
#define PTO_DETAIL_DECODE_H
#include <pto/pto_types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTO_INLINED_         static inline __attribute__((always_inline))
#define PTO_RARE_(condition) __builtin_expect(!!(condition), 0)

enum { PTO_PLAIN_RANK = 2 };

/* The memory of one parameter.  A scalar has none. */
typedef struct PTOAccess_ {
    char *base;         /* of its buffer; NULL: a new output, or an empty view */
    uint64_t low, high; /* the first byte that it accesses, and behind the last; of a new output counted from 0 */
    bool is_contiguous; /* it accesses all of them, in row-major order */
} PTOAccess_;

/* Four bits for each type. */
PTO_INLINED_ int64_t pto_bytes_of_(uint8_t type) { return (int64_t)(0x18421842184221u >> 4 * type & 15); }

PTO_INLINED_ void pto_decode_scalar_(const PTOTaskParam *p, PTOArg *arg, PTOAccess_ *a)
{
    arg->ptr = NULL;
    arg->shape = arg->stride = NULL;
    arg->value = p->value;
    arg->kind = PTO_PARAM_SCALAR;
    arg->type = p->type;
    arg->rank = 0;
    a->base = NULL;
    a->low = a->high = 0;
    a->is_contiguous = true;
}

/* Decodes a parameter of kind PTO_PARAM_INPUT to PTO_PARAM_ACC.  false: it is not plain, or not valid, and *arg and *a
 * say nothing.  `lay` has room for the extents and strides that the parameter does not bring along, and must live as
 * long as the argument.  The argument of a new output has no address yet. */
PTO_INLINED_ bool pto_decode_tensor_(const PTOTaskParam *p, PTOArg *arg, int64_t *lay, PTOAccess_ *a)
{
    /* read before anything is written, which the C compiler takes for a change of *p */
    const int64_t *shape = p->shape, *stride = p->stride;
    const int64_t at = p->at;
    const uint8_t kind = p->kind, type = p->type, rank = p->rank;
    int64_t unit = 1, bytes = p->bytes;
    char *base = (char *)p->buffer;
    bool is_contiguous = true;
    arg->kind = kind;
    arg->type = type;
    arg->rank = rank;
    arg->value = p->value;
    arg->ptr = a->base = base; /* where it is false, nobody reads them: gcc does not see that everywhere */
    if (type >= PTO_TYPE_COUNT || rank > PTO_PLAIN_RANK) return false;
    /* one test for all numbers, where the address is not that of a variable */
    const uint64_t far = kind == PTO_PARAM_OUTPUT ? 0 : ((uint64_t)(uintptr_t)base - 1) >> 60;
    if (rank == 0) { /* a flat range: a vector of bytes */
        if (type != PTO_BYTE || PTO_RARE_((((uint64_t)bytes - 1) | (uint64_t)at) >> 30 | far)) return false;
        lay[0] = unit = bytes;
        lay[1] = 1;
        shape = lay;
        stride = lay + 1;
        arg->rank = 1;
    } else {
        const int last = rank - 1;
        if (!shape) return false;
        if (!stride) {
            lay[0] = last == 1 ? shape[1] : 1;
            lay[1] = 1;
            stride = lay;
        }
        uint64_t extents = (uint64_t)shape[last] - 1, steps = (uint64_t)stride[last] >> 24;
        if (last == 1) extents |= (uint64_t)shape[0] - 1, steps |= (uint64_t)stride[0] >> 24;
        if (PTO_RARE_(steps | extents >> 30 | (uint64_t)at >> 40 | far)) return false;
        unit = pto_bytes_of_(type);
        bytes = (shape[last] - 1) * stride[last] + 1;
        if (last == 1) bytes += (shape[0] - 1) * stride[0];
        bytes *= unit;
        is_contiguous = !p->stride || ((stride[last] == 1 || shape[last] == 1) &&
                                       (last == 0 || stride[0] == shape[1] || shape[0] == 1));
    }
    a->is_contiguous = is_contiguous;
    if (kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base); /* the caller's variable may be of any pointer type */
        if (!base) {
            arg->shape = shape;
            arg->stride = stride;
            arg->ptr = a->base = NULL;
            a->low = 0;
            a->high = (uint64_t)bytes;
            return at == 0 && is_contiguous;
        }
        if (PTO_RARE_(((uint64_t)(uintptr_t)base - 1) >> 60)) return false;
    }
    arg->shape = shape;
    arg->stride = stride;
    arg->ptr = base + at * unit;
    a->base = base;
    a->low = (uint64_t)(uintptr_t)base + (uint64_t)(at * unit);
    a->high = a->low + (uint64_t)bytes;
    return true;
}

/* The same for a scalar, too. */
PTO_INLINED_ bool pto_decode_(const PTOTaskParam *p, PTOArg *arg, int64_t *lay, PTOAccess_ *a)
{
    if (p->kind != PTO_PARAM_SCALAR) return pto_decode_tensor_(p, arg, lay, a);
    pto_decode_scalar_(p, arg, a);
    return true;
}

/* Of a plain parameter of kind PTO_PARAM_INOUT_PART: is the part plain, and inside of the access?  false: also where
 * that is not known here. */
PTO_INLINED_ bool pto_is_part_(const PTOTaskParam *p, const PTOAccess_ *a)
{
    const PTOPart *w = (const PTOPart *)p->ref;
    if (!w || p->rank < 1 || p->rank > PTO_PLAIN_RANK || w->rank != p->rank || !w->shape || !w->stride) return false;
    int64_t low = w->at, high = w->at + 1;
    uint64_t far = (uint64_t)w->at >> 40;
    for (int d = 0; d < PTO_PLAIN_RANK && d < p->rank; d++) {
        far |= ((uint64_t)w->shape[d] - 1) >> 30 | ((uint64_t)w->stride[d] + (1 << 24)) >> 25;
        if (PTO_RARE_(far)) return false;
        const int64_t reach = (w->shape[d] - 1) * w->stride[d];
        low += reach < 0 ? reach : 0;
        high += reach < 0 ? 0 : reach;
    }
    const uint64_t base = (uint64_t)(uintptr_t)p->buffer;
    const int64_t unit = pto_bytes_of_(p->type);
    return base + (uint64_t)(low * unit) >= a->low && base + (uint64_t)(high * unit) <= a->high;
}

#ifdef __cplusplus
}
#endif
#endif
