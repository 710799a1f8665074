/* join_parts.h - what the files of the pass `join` share; nobody else includes it.
 *
 *   join.c             which calls follow each other, and what the operations become
 *   join_conditions.c  may and should two calls become one?
 *   join_kernel.c      the kernel that is made of two: its formals and dimension variables
 *   join_equations.c   its equations */
#ifndef PTOC_JOIN_PARTS_H
#define PTOC_JOIN_PARTS_H
#include "ir/lower.h"
#include "plan.h"
#include "sema/equations/equations.h"

/* A kernel made of two, which two calls become; equal pairs are joined to one kernel. */
struct joined_kernel {
    const struct symbol *parts[2];
    int merged[MAX_FORMALS];      /* of each formal of the second: that of the first with the same region, or -1 */
    bool is_dropped[MAX_FORMALS]; /* of each formal of the first: a temporary now, and so are those merged with it */

    struct symbol *kernel;
    /* Where a formal, a dimension variable of the kernel comes from. */
    struct origin {
        int part, number;
    } formal_from[MAX_FORMALS], *dim_from;
};

/* ---- join_conditions.c ---- */
/* What is known of a tensor of the function. */
struct named {
    int operations;                 /* that name it, without those that make it */
    const struct ir_op *counted;    /* the last of them */
    struct ir_op *tensor;           /* TENSOR */
    struct ir_op *alloc, *its_site; /* ALLOC, and the SITE before it */
    struct ir_op *scope;            /* that owns it */
};

struct neighbours {
    struct plan *plan;
    const struct ir_call *call[2];
    struct named *(*find)(void *cx, const struct symbol *tensor); /* NULL: it is none of the function's */
    void *cx;
    const struct symbol *const *allocated; /* between the calls */
    size_t allocated_count;
};

bool join_is_possible(const struct ir_call *call); /* for the call alone, as the first or the second */
/* Fills in `merged` and `is_dropped`; false: they stay two. */
bool join_conditions(const struct neighbours *n, struct joined_kernel *j);
enum direction join_direction(enum direction first, enum direction second);

/* ---- join_kernel.c ---- */
bool join_make_kernel(struct plan *p, struct joined_kernel *j); /* false: there is none */

/* ---- join_equations.c ---- */
/* What a part of the kernel is copied with. */
struct part_copy {
    const struct symbol *kernel;
    VEC(const struct symbol *) from; /* symbols in sizes */
    VEC(const struct size *) to;
    struct symbol **formals; /* of each of its formals; NULL: */
    struct eq_temp **temps;  /* the temporary that it is now */
};
struct equations *join_equations(struct plan *p, const struct symbol *kernel, struct part_copy parts[2]);
const struct size *join_size(struct plan *p, const struct part_copy *part, const struct size *s); /* NULL: too large */

#endif
