/* parts.h - what the printers of kernels in index notation share; no other file includes it.
 *
 *   equations.c    the C functions of a kernel, its temporaries, its levels
 *   sharing.c      which statements share a loop, and what is left of a temporary then
 *   statements.c   loops and statements
 *   reduce.c       reductions
 *   contraction.c  sums of products of two matrices, which the library computes
 *   value.c        expressions
 *   sizes.c        integers that are sizes, and addresses
 *   checks.c       what is tested before anything is written, and the text of a test that failed */
#ifndef PTOC_EMIT_EQUATIONS_PARTS_H
#define PTOC_EMIT_EQUATIONS_PARTS_H
#include "../emit.h"
#include "sema/equations/equations.h"

/* Loops, one inside of the other; a leaf is a statement. */
struct eq_node {
    struct eq_node *next, *child, *parent;
    const struct eq_stmt *stmt; /* of a leaf */
    const struct eq_var *var;   /* of a loop: the variable of the first statement in it */
};

/* Where a temporary is kept. */
struct eq_storage {
    const char *name;
    int dims; /* those that are left: dims that a shared loop runs over are none */
    bool is_dropped[MAX_RANK];
    const struct eq_node *in; /* the loop in which it is declared, where no dimension is left; NULL: the kernel */
};

struct eq_printer {
    struct emitter *e;
    const struct equations *q;
    struct size_table *sizes;
    struct eq_storage *storage; /* by the temporary's id */
    struct eq_node *tree;
    const char *fused, *dense, *failed; /* names in C */
    const struct eq_stmt *stmt;         /* that is being printed */
    const char *panel;                  /* scratch of the contractions, in C */
    const struct eq_expr *replaced;     /* a sum that the left side holds already */
    /* variables that are run over by the loop of another: symbol from[i] is the variable to[i] */
    const struct symbol **from;
    const struct size **to;
    int same_count;
};

/* ---- sizes.c ---- */
/* the variable of the shared loop for each */
const struct size *equation_canonical(const struct eq_printer *p, const struct size *s);
const char *equation_size(struct eq_printer *p, const struct size *s, enum precedence prec);
const char *equation_size_value(struct eq_printer *p, const struct size *s); /* any value: modulo 2^64 */
const char *equation_stride(struct eq_printer *p, const struct symbol *formal, int dim);
const char *equation_place(struct eq_printer *p, const struct eq_access *a); /* x[i * x_0 + j] */

/* ---- value.c ---- */
/* Prints what has to come before it as lines. */
const char *equation_value(struct eq_printer *p, const struct eq_expr *x, enum precedence prec);
const char *equation_binary(struct eq_printer *p, enum eq_kind kind, enum elem type, const char *a, const char *b);
bool equation_is_float(enum elem elem);
bool equation_holds_reduction(const struct eq_expr *x);

/* ---- reduce.c ---- */
const char *equation_reduction(struct eq_printer *p, const struct eq_expr *x); /* the name of its result */

/* ---- contraction.c ---- */
struct eq_contraction {
    const struct eq_expr *sum;
    const struct eq_access *a, *b;
    const struct eq_var *i, *j, *k;
};
bool equation_is_contraction(const struct eq_printer *p, const struct eq_stmt *s, struct eq_contraction *c);
void equation_contract(struct eq_printer *p, const struct eq_stmt *s, const struct eq_contraction *c);

/* ---- statements.c ---- */
void equation_open_loop(struct eq_printer *p, const struct eq_var *v); /* `for (...) {`, depth + 1 */
void equation_nodes(struct eq_printer *p, struct eq_node *first);
void equation_statement(struct eq_printer *p, const struct eq_stmt *s);

/* ---- sharing.c ---- */
bool equation_names_loop(const struct size *s); /* any index variable */
void equation_share(struct eq_printer *p, const struct eq_stmt *const *stmts, int count);

/* ---- checks.c ---- */
/* Prints the tests and the temporaries they need; *rest gets the statements that are left. */
void equation_checks(struct eq_printer *p, const struct eq_stmt **rest, int *rest_count);

#endif
