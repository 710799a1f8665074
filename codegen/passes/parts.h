/* parts.h - which pieces of a tensor may have been written; for assign.c. */
#ifndef PTOC_PARTS_H
#define PTOC_PARTS_H
#include "sema/checker.h"

struct part {
    const struct region *region;
    const struct ast *at; /* the write */
    bool is_moved;        /* of an element that ended there: into a function */
    /* what is known about the names of loops that are over: each is not negative; NULL ends it */
    const struct size *const *known;
    const struct part *next;
};

/* All that may have been written on some path to here. */
struct parts {
    bool any; /* more than the list says: nothing can be concluded */
    int count;
    const struct part *list; /* newest first */
};

/* A loop, while its body is walked. */
struct iterations {
    const struct symbol *i;                   /* NULL: not a `for` */
    const struct size *low, *high;            /* NULL: not known, or a `var` names them */
    int direction;                            /* 1: i grows, -1: it falls, 0: not known */
    int depth;                                /* how many loops are around it */
    const struct symbol *earlier, *whichever; /* names for i in an earlier iteration, and in some iteration */
};

/* added: without `known` and `next`. */
void parts_add(struct checker *c, struct parts *p, const struct part *added);
void parts_join(struct checker *c, struct parts *into, const struct parts *other);
void parts_begin_loop(struct checker *c, struct iterations *t, const struct ast *loop, int depth);
/* What was written in the body, as an earlier iteration of this loop, or, when it is over, as any iteration. */
void parts_after_iteration(struct checker *c, struct parts *p, const struct iterations *t, bool is_over);

/* Has all of the region, or a piece of it that is not empty, surely never been written?  *near: a part that was. */
enum missing { MISSING_UNKNOWN, MISSING_SOME, MISSING_ALL };
enum missing parts_missing(struct checker *c, const struct parts *p, const struct region *r, const struct part **near);

/* Does the region surely share no element with any part?  *near: a part with which it may. */
bool parts_are_apart(struct checker *c, const struct parts *p, const struct region *r, const struct part **near);

#endif
