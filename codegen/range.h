/* range.h - between which bounds an integer lies: analysis/range.c. */
#ifndef PTOC_RANGE_H
#define PTOC_RANGE_H
#include "support/ptrmap.h"
#include "sema/sema.h"

struct arena;

/* All values that an integer can have; lo <= hi. */
struct interval {
    int64_t lo, hi;
};

/* Where the question is asked.  function: NULL: outside of functions.  A dimension variable or a scalar formal of a
 * kernel means the caller's value while the kernel's `where` is evaluated at the call `binding`; NULL: it is not. */
struct ranges {
    struct arena *mem;
    const struct symbol *function;
    const struct call *binding;
    struct ptrmap known; /* symbol -> struct interval */
    struct ptrmap given; /* likewise, of the entry: what one run gives it */
};

struct interval range_of_expr(struct ranges *p, const struct ast *n);
struct interval range_of_size(struct ranges *p, const struct size *s);
/* The values of `a op b`; *fits: none of them leaves 64 bits and nothing is divided by zero. */
struct interval range_apply(enum ast_op op, struct interval a, struct interval b, bool *fits);

#endif
