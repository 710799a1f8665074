/* matching.h - for the files that check a call: its arguments, as they are matched with the formals.
 *
 * calls.c the call and its result   callee.c which kernel   arguments.c markers and kinds   dims.c dimension variables
 * written.c the part of an argument that is written
 * generics.c which instance   demands.c what the callee asks of its arguments together */
#ifndef PTOC_MATCHING_H
#define PTOC_MATCHING_H
#include "checker.h"

struct matching {
    struct call *call;
    struct symbol *callee;
    struct ast *args[MAX_FORMALS];              /* the ARG of each formal, or NULL */
    const struct symbol *from[3 * MAX_FORMALS]; /* with the numbers that the run decides */
    const struct size *to[3 * MAX_FORMALS];
    const struct ast *source[MAX_FORMALS]; /* of each dimension variable: the argument that gave it */
    struct {                               /* and what it was solved from; want NULL: it is an extent by itself */
        const struct type *want, *got;
        int extent;
    } solved[MAX_FORMALS];
    int count;
    int rank_missing; /* of an argument, as it was said: the others with as many are the same mistake */
    bool failed;
};

/* ---- callee.c ---- */
struct symbol *callee_find(struct checker *c, struct ast *callee); /* NULL: reported, or an error before */
/* The overload that fits; target: where the result goes, NULL: it is not used. */
struct symbol *callee_choose(struct checker *c, struct ast *e, struct symbol *first, int count,
                             const struct target *target);
int callee_out_formal(const struct symbol *s); /* its only `out` formal, or -1 */
/* The formal that argument number `given` goes to, when the result stands for formal `skip`. */
int callee_formal_of(int given, int skip);

/* ---- generics.c ---- */
/* The instance for a call of a generic kernel with `count` arguments; the kernel itself where their number is wrong.
 * NULL: they do not determine one, which is said unless `quiet`, or their own error was. */
struct symbol *generics_instance(struct checker *c, struct ast *e, struct symbol *generic, int count,
                                 const struct target *target, bool quiet);

/* ---- arguments.c ---- */
/* One argument against its formal; *usable: its type says something of dimensions.  Writes m->call and m->failed. */
void arguments_check(struct checker *c, struct matching *m, int f, bool *usable);

/* Exactly two arguments do not fit, and each fits where the other stands: said, once. */
bool arguments_are_swapped(struct checker *c, struct matching *m);

/* ---- dims.c ---- */
/* Fills m->call->dims, m->source and the substitution m->from, m->to. */
void dims_bind(struct checker *c, struct matching *m, const bool *usable, const struct target *target);
bool dims_are_bound(struct checker *c, struct matching *m, const struct ast *e);    /* E04 */
void dims_check_extents(struct checker *c, struct matching *m, const bool *usable); /* writes m->failed */
/* A dimension variable that is solved from an extent is not negative: proved, an error, or a run-time check. */
void dims_check_solved(struct checker *c, struct matching *m);

/* ---- written.c ---- */
/* What the callee writes of the argument for formal f, which declares a part.  NULL: reported. */
const struct region *written_part(struct checker *c, struct matching *m, int f, struct ast *at);

/* ---- demands.c: each writes m->failed, or makes a run-time check ---- */
/* The indices of a kernel in index notation that its callers test. */
void demands_indices(struct checker *c, struct matching *m, const struct ast *e);
void demands_where(struct checker *c, struct matching *m, struct ast *e);
void demands_contiguous(struct checker *c, struct matching *m, const struct symbol *formal, const struct region *r,
                        struct span at);
void demands_apart(struct checker *c, struct matching *m, const struct target *target);

#endif
