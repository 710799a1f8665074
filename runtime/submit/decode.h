/* decode.h - the parameters of a submit, one after the other: the argument of the kernel, the bytes that it accesses,
 * and the buffer that holds them.
 *
 * Idea       the immediate path (executed inline, inline.c) and the deferred path (deferred.c) both read their
 *            parameters here, and differ in what they do with each.  A plain parameter is decoded by the code that
 *            the fast path inlines into programs (pto/detail/decode.h); every other one, valid or not, by decode.c.
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/runtime/test_decode.c */
#ifndef PTOI_DECODE_H
#define PTOI_DECODE_H
#include "parts.h"
#include <pto/detail/decode.h>

/* Decodes any parameter of kind PTO_PARAM_INPUT to PTO_PARAM_ACC, as pto_decode_ does; lay has PTO_MAX_RANK entries.
 * An empty view has no base, and its argument no address.  *number: of the sentence. */
enum refusal ptoi_decode_any(const PTOTaskParam *p, PTOArg *arg, int64_t *lay, PTOAccess_ *a, long long *number);

/* Does the task write only a part of this argument? */
static inline bool ptoi_has_part(const PTOTaskParam *p) { return p->kind == PTO_PARAM_INOUT_PART; }
/* The bytes of the part of a valid parameter.  They must lie between the lowest and the highest byte of all of it. */
enum refusal ptoi_decode_part(const PTOTaskParam *p, struct region *part);

/* What the parameters that were read until now say of the task. */
struct terms {
    const PTOKernel *kernel; /* NULL: of an await */
    const PTOTaskParam *params;
    int count, arguments;  /* of them; what the kernel sees */
    uint32_t writes_some;  /* some argument that is not empty is written, */
    uint32_t writes_empty; /* or an empty one */
    uint32_t makes;        /* there are new outputs */
    uint32_t parts;        /* of some argument only a part is written */
    int32_t priority;
    const char *name;
    int64_t limit_ms; /* of its kernel; 0: none */
};

/* One more than a task may have, so that there is room for the one that is refused. */
enum { ARGUMENT_ROOM = PTO_MAX_PARAMS + 1 };

/* One argument of the task. */
struct operand {
    PTOAccess_ access;
    uint32_t buffer; /* of the heap, which holds the access; 0: there is none, or not yet */
    uint8_t kind;    /* of the argument */
};

/* Its buffer has to be allocated. */
static inline bool ptoi_is_new(const PTOAccess_ *a) { return !a->base && a->low != a->high; }

/* The parameter is refused. */
PTOStatus ptoi_refuse_param(struct orchestrator *o, const struct terms *t, enum refusal why, const PTOTaskParam *p,
                            long long number);

/* Reads a parameter that is no argument: PTO_PRIORITY, PTO_NAME, PTO_TIMEOUT. */
PTOStatus ptoi_decode_term(struct orchestrator *o, struct terms *t, const PTOTaskParam *p);

/* Reads an argument of kind PTO_PARAM_INOUT_PART: as one of kind PTO_PARAM_INOUT, and its part. */
PTOStatus ptoi_decode_with_part(struct orchestrator *o, struct terms *t, const PTOTaskParam *p, PTOArg *arg,
                                int64_t *lay, struct operand *x);

/* The buffer of the heap that holds the access; 0: memory of the program, which has bounds where it is registered. */
static inline enum refusal ptoi_find_holder(const struct orchestrator *o, const PTOAccess_ *a, uint32_t *buffer,
                                            long long *number)
{
    if (!ptoi_orch_is_in_heap(o, a->base)) {
        *number = ptoi_map_exceeds(o->edges.map, (int64_t)(intptr_t)a->base, (int64_t)a->low, (int64_t)a->high);
        return *number ? REFUSED_BOUNDS : REFUSED_NOT;
    }
    *buffer = ptoi_compact_buffer(o, (uint64_t)((uintptr_t)a->base - (uintptr_t)o->heap_base));
    if (*buffer == 0) return REFUSED_HANDLE;
    const struct buffer_record *r = ptoi_record(&o->scopes, *buffer);
    *number = (long long)r->bytes;
    return a->high - (uint64_t)(uintptr_t)o->heap_base - r->at > r->bytes ? REFUSED_BOUNDS : REFUSED_NOT;
}

/* Is this parameter an argument?  Its decoding is in *arg and *x.  false: it is a term, or *status is not PTO_OK. */
static inline __attribute__((always_inline)) bool ptoi_decode(struct orchestrator *o, struct terms *t,
                                                              const PTOTaskParam *p, PTOArg *arg, int64_t *lay,
                                                              struct operand *x, PTOStatus *status)
{
    enum refusal why = REFUSED_NOT;
    long long number = 0;
    const uint8_t kind = p->kind;
    x->buffer = 0;
    x->kind = kind;
    if (__builtin_expect(kind < PTO_PARAM_INPUT || kind > PTO_PARAM_SCALAR, 0)) {
        struct terms with = *t; /* a copy, so that *t may be in registers; likewise `any` and `n` */
        struct operand whole = *x;
        if (kind == PTO_PARAM_INOUT_PART)
            *status = ptoi_decode_with_part(o, &with, p, arg, lay, &whole);
        else
            *status = ptoi_decode_term(o, &with, p);
        *t = with;
        *x = whole;
        return kind == PTO_PARAM_INOUT_PART && *status == PTO_OK;
    }
    if (__builtin_expect(t->arguments == PTO_MAX_PARAMS, 0)) {
        why = REFUSED_ARGUMENTS;
    } else if (kind == PTO_PARAM_SCALAR) {
        pto_decode_scalar_(p, arg, &x->access);
        t->arguments++;
        return true;
    } else {
        if (!pto_decode_tensor_(p, arg, lay, &x->access)) {
            PTOAccess_ any = {0};
            long long n = 0;
            why = ptoi_decode_any(p, arg, lay, &any, &n);
            x->access = any;
            number = n;
            t->writes_empty |= kind != PTO_PARAM_INPUT && any.low == any.high;
        }
        if (why == REFUSED_NOT && x->access.base)
            why = ptoi_find_holder(o, &x->access, &x->buffer, &number);
        else
            t->makes |= x->access.low != x->access.high;
        t->writes_some |= kind != PTO_PARAM_INPUT && x->access.low != x->access.high;
    }
    if (__builtin_expect(why != REFUSED_NOT, 0)) {
        *status = ptoi_refuse_param(o, t, why, p, number);
        return false;
    }
    t->arguments++;
    return true;
}

/* The parameters of a work request have been read. */
PTOStatus ptoi_decoded_request(struct orchestrator *o, const struct terms *t, const PTOKernel *kernel);

/* All parameters have been read.  PTO_NO_TASK: the task would write nothing; below 0: the status. */
static inline int64_t ptoi_decoded(struct orchestrator *o, const struct terms *t, const PTOKernel *kernel)
{
    const PTOStatus status = kernel->fn ? PTO_OK : ptoi_decoded_request(o, t, kernel);
    if (status != PTO_OK) return status;
    return t->writes_empty && !t->writes_some ? PTO_NO_TASK : PTO_OK;
}

#endif
