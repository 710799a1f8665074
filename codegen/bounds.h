/* bounds.h - what bounds.c found out about the memory of each function, for those who print it and who compare it with
 * a heap. */
#ifndef PTOC_BOUNDS_H
#define PTOC_BOUNDS_H
#include "plan.h"
#include <pto/pto_limits.h>

/* Somewhere a buffer is made while others are held. */
struct need_point {
    const struct size *bytes;
    const struct size *fresh; /* of it, the new buffer */
    const struct ast *at;     /* the call or `let` that makes it */
    int buffers;              /* held before */
};

struct bound {
    struct need_point point[6]; /* none is known to be smaller than another: need is the largest */
    int point_count;
    const struct ast *unknown; /* a point whose bytes are not known before the run; NULL: need is known */
};

struct scope_bound {
    const struct ast *block;
    struct bound need; /* beside what is held when it begins */
};

/* A loop whose trip count is unknown. */
struct iteration_bound {
    const struct ast *loop;
    /* allocated in an iteration, at most; what loops in it allocate that are such themselves does not count */
    const struct size *bytes;
};

/* If `at` is reached, so much is held: what it makes, and what was held before. */
struct sure_point {
    int64_t bytes, fresh;         /* fresh: what it makes, or the function that it calls needs */
    const struct ast *at;         /* NULL: nothing is sure */
    const struct symbol *largest; /* of what was held before; NULL: nothing was */
    int64_t largest_bytes;
};

struct function_bounds {
    struct bound whole;
    /* bytes with which it completes wherever earlier buffers happened to lie; see Note [gaps] in bounds.c */
    struct bound safe;
    const struct size *peak; /* all that is ever allocated, in addition to `iterations`; NULL: not known */
    VEC(struct iteration_bound) iterations;
    int64_t sure; /* every call needs at least so much, */
    /* and so much, in what the caller says: dimension variables and integer formals */
    const struct size *sure_of_call[4];
    int sure_count;
    bool is_complete;
    const struct ast *recursive; /* the call by which it comes back to itself; NULL: never */
    const struct size *level;    /* held across that call */
    VEC(struct scope_bound *) scopes;
    struct sure_point worst;
    int64_t one_bytes;        /* the largest buffer that is surely made in one piece, */
    const struct symbol *one; /* its tensor, */
    const struct ast *one_at; /* and where */
};

/* has_place: the caller has a place for the tensor that is returned.  NULL: it is being looked at already, so it is
 * recursive. */
struct function_bounds *bounds_of(struct plan *p, const struct symbol *orch, bool has_place);

/* The same, looked at again: with the frame that the function has by now. */
struct function_bounds *bounds_again(struct plan *p, const struct symbol *orch, bool has_place);
void bounds_forget(struct plan *p); /* all: something that they lean on has changed */

#endif
