/* bounds.h - what bounds.c found out about the memory of each function, for those who print it and who compare it with
 * a heap. */
#ifndef PTOC_BOUNDS_H
#define PTOC_BOUNDS_H
#include "ir/ir.h"
#include "plan.h"
#include <pto/pto_limits.h>

/* Somewhere a buffer is made while others are held. */
struct need_point {
    const struct size *bytes;
    const struct size *fresh; /* of it, the new buffer */
    struct maker at;
    int buffers; /* held before */
};

struct bound {
    struct need_point point[6]; /* none is known to be smaller than another: need is the largest */
    int point_count;
    struct maker unknown; /* a point whose bytes are not known before the run; none: need is known */
};

struct scope_bound {
    const struct ir_op *scope; /* SCOPE_BEGIN */
    struct bound need;         /* in addition to the bytes held when the scope begins */
};

/* A loop whose trip count is unknown. */
struct iteration_bound {
    const struct ir_op *loop;
    /* an iteration allocates at most so many, without those of inner loops that are listed themselves */
    const struct size *bytes;
};

/* If `at` is reached, so many bytes are held: the buffers that it makes and those held before. */
struct sure_point {
    int64_t bytes, fresh;         /* fresh: of the buffers it makes, or the need of its callee */
    struct maker at;              /* none: nothing is sure */
    const struct symbol *largest; /* buffer held before; NULL: none was */
    int64_t largest_bytes;
};

/* The tensors that are moved into a call: a bit for each `own` formal, in their order.  counted: it lies in the heap,
 * and counts until the function releases it.  copied: it is an element of an array, or lies outside of the heap; so it
 * does not count, and where a buffer of the heap is wanted of it, a copy does.  The others are their caller's. */
struct moved_in {
    uint64_t counted, copied;
};

struct function_bounds {
    struct bound whole;
    /* bytes with which it completes wherever earlier buffers happened to lie; see Note [gaps] in bounds.c */
    struct bound safe;
    const struct size *peak; /* all that is ever allocated, in addition to `iterations`; NULL: not known */
    VEC(struct iteration_bound) iterations;
    int64_t sure; /* every call needs at least so much, */
    /* and so much, in dimension variables and integer formals, whose values the caller gives */
    const struct size *sure_of_call[4];
    int sure_count;
    bool is_complete;
    struct maker recursive;   /* the call by which it comes back to itself; none: never */
    const struct size *level; /* held across that call */
    VEC(struct scope_bound *) scopes;
    struct sure_point worst;
    int64_t one_bytes;             /* the largest buffer that is surely made in one piece, */
    const struct symbol *one;      /* its tensor, */
    struct maker one_at;           /* and where */
    struct moved_in moved_in;      /* see bounds_in() */
    struct function_bounds *other; /* the same function, with other tensors moved in */
};

/* Measured with the frames that were chosen.  has_place: the caller has a place for the tensor that is returned.  NULL:
 * it is being looked at already, so it is recursive. */
struct function_bounds *bounds_of(struct plan *p, const struct symbol *orch, bool has_place);
/* Bytes of heap with which such a call completes where buffers may be moved; NULL: not known. */
const struct size *bounds_need(struct plan *p, const struct symbol *orch, bool has_place);
/* bounds_of in one memory model. */
struct function_bounds *bounds_in(struct plan *p, struct memory_model *model, const struct symbol *orch, bool has_place,
                                  struct moved_in moved_in);
/* With the frame that is proposed for it, while the functions that it calls have none. */
struct function_bounds *bounds_with(struct plan *p, const struct symbol *orch, bool has_place, struct moved_in moved_in,
                                    const struct frame_plan *frame);
/* Where all that is moved in counts; where all that is `own` may have to be copied, as in an entry. */
struct moved_in bounds_all_counted(const struct plan *p, const struct symbol *orch);
struct moved_in bounds_all_copied(const struct plan *p, const struct symbol *orch);
void memory_model_begin(struct plan *p, struct memory_model *model, bool has_frames);

#endif
