/* parts.h - what the printers of kernels in index notation share; no other file includes it.
 *
 *   equations.c    the C functions of a kernel, its temporaries, its levels
 *   sharing.c      which statements share a loop, and what is left of a temporary then
 *   statements.c   loops and statements
 *   joining.c      which loops are done inside of the reduction behind them
 *   reduce.c       reductions
 *   tiles.c        two loops over an operand that lies the other way round
 *   prefetch.c     what the next iteration will need
 *   flags.c        which formal decides a condition for all elements
 *   short_rows.c   contiguous rows of a few elements
 *   by_columns.c   matrices that lie by columns
 *   lanes.c        reductions in order, for a group of elements at a time
 *   angles.c       loops with sin and cos, for usual arguments and for any
 *   contraction.c  sums of products of two matrices, which the library computes
 *   value.c        expressions
 *   sizes.c        integers that are sizes, and addresses
 *   checks.c       what is tested before anything is written, and the text of a test that failed */
#ifndef PTOC_EMIT_EQUATIONS_PARTS_H
#define PTOC_EMIT_EQUATIONS_PARTS_H
#include "../emit.h"
#include "sema/equations/equations.h"
#include <pto/detail/pieces.h>

/* Loops, one inside of the other; a leaf is a statement. */
struct eq_node {
    struct eq_node *next, *child, *parent;
    const struct eq_stmt *stmt; /* of a leaf */
    const struct eq_var *var;   /* of a loop: the variable of the first statement in it */
    struct eq_node *first;      /* of a leaf: the loop whose statements its reduction does, or NULL */
};

/* Where a temporary is kept. */
struct eq_storage {
    const char *name;
    int dims; /* those that are left: dims that a shared loop runs over are none */
    bool is_dropped[MAX_RANK];
    const struct eq_node *in; /* the loop in which it is declared, where no dimension is left; NULL: the kernel */
    /* An output whose elements are its own until that is written, in the iteration that reads them; NULL: there is none
     */
    const struct symbol *output;
};

/* Which functions sin and cos are. */
enum eq_angles {
    ANGLES_ALONE, /* those of any argument; a loop may be printed twice */
    ANGLES_NEAR,  /* those that note a large argument in `large` */
    ANGLES_ANY    /* those of any argument: the loop is printed once more */
};

struct eq_printer {
    struct emitter *e;
    const struct equations *q;
    struct size_table *sizes;
    struct eq_storage *storage; /* by the temporary's id */
    const char **strides;       /* by the formal's number: the C name of the array of its strides */
    const char **stride;        /* by number * MAX_RANK + dimension: of one stride, in the elements function */
    struct eq_node *tree;
    const char *fused, *dense, *failed; /* names in C */
    const char **failed_of;             /* of a joined kernel, of each of its parts: `failed` in its statements */
    const struct eq_stmt *stmt;         /* that is being printed */
    const struct eq_node *first;        /* the loop that its reduction has to do */
    const char *panel;                  /* scratch of the contractions, in C */
    const struct eq_expr *replaced;     /* a reduction whose result there is already: */
    const char *replacement;
    enum eq_angles angles;
    const char *large_f32, *large_f64; /* in C; NULL: no function of the type notes there */
    /* variables that are run over by the loop of another: symbol from[i] is the variable to[i] */
    const struct symbol **from;
    const struct size **to;
    int same_count;
};

/* ---- equations.c ---- */
void equation_begin(struct eq_printer *p, const struct eq_stmt *s); /* what is printed from here on belongs to it */
const char *equation_part_text(const struct eq_printer *p, const struct eq_stmt *s); /* "in 'relu': ", or nothing */

/* ---- sizes.c ---- */
/* the variable of the shared loop for each */
const struct size *equation_canonical(const struct eq_printer *p, const struct size *s);
const char *equation_size(struct eq_printer *p, const struct size *s, enum precedence prec);
const char *equation_size_value(struct eq_printer *p, const struct size *s); /* any value: modulo 2^64 */
/* Are the ends of its range made of extents and loops alone?  Others may be any numbers, also where it is empty. */
bool equation_is_bounded(const struct eq_var *v);
/* The count of the numbers in its range. */
const char *equation_length(struct eq_printer *p, const struct eq_var *v);
/* The same of the rest of the range, from `low` to before `high`, which are names in C. */
const char *equation_left(struct eq_printer *p, const struct eq_var *v, const char *low, const char *high);
/* Opens the loop that goes from `low` on by `step` numbers of the range, as long as so many are left. */
void equation_open_groups(struct eq_printer *p, const struct eq_var *v, const char *low, const char *high,
                          const char *step);
const char *equation_strides(const struct eq_printer *p, const struct symbol *formal); /* the array, in C */
const char *equation_stride(const struct eq_printer *p, const struct symbol *formal, int dim);
const char *equation_place(struct eq_printer *p, const struct eq_access *a); /* x[i * x_0 + j] */
/* The access, of a temporary that lies in an output, to that. */
struct eq_access equation_home(const struct eq_printer *p, const struct eq_access *a);

/* ---- value.c ---- */
/* Prints what has to come before it as lines. */
const char *equation_value(struct eq_printer *p, const struct eq_expr *x, enum precedence prec);
/* The text names a function of this type: its header is included. */
void equation_need_type(struct eq_printer *p, enum elem type);
const char *equation_binary(struct eq_printer *p, enum eq_kind kind, enum elem type, const char *a, const char *b);
bool equation_is_float(enum elem elem);
bool equation_holds_reduction(const struct eq_expr *x);

/* ---- reduce.c ---- */
const char *equation_reduction(struct eq_printer *p, const struct eq_expr *x); /* the name of its result */
const char *equation_result_type(const struct eq_expr *x);
const char *equation_empty_value(struct eq_printer *p, const struct eq_expr *x);
void equation_step(struct eq_printer *p, const struct eq_expr *x, const char *into); /* into = into OP term */
bool equation_is_dense_along(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *v);
/* The variable along which vectors run, or NULL: the statement's last free variable is the better one. */
const struct eq_var *equation_vector(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_expr *x);

/* A loop over v runs by groups of PTO_PARTS values.  Can it have a whole group?  is_rest: can values follow the last
 * whole group? */
bool equation_has_part(const struct eq_var *v, bool is_rest);

/* ---- lanes.c ---- */
/* The reduction of a statement whose last free variable's loop is done for a group of elements at a time, or NULL. */
const struct eq_expr *equation_in_lanes(const struct eq_printer *p, const struct eq_stmt *s);
void equation_lanes(struct eq_printer *p, const struct eq_stmt *s, const struct eq_expr *x); /* that loop */

/* ---- angles.c ---- */
bool equation_holds_angle(const struct eq_expr *x);
const char *equation_angle(struct eq_printer *p, const struct eq_expr *x); /* sin or cos */
/* The loop is printed by `print`, twice where that is right and faster. */
void equation_loop_of_angles(struct eq_printer *p, struct eq_node *loop,
                             void (*print)(struct eq_printer *p, struct eq_node *loop));
/* Loops printed between the two have angles: between equation_begin_near and equation_begin_any for usual arguments,
 * then once more for any. */
void equation_begin_near(struct eq_printer *p, const struct eq_expr *x);
void equation_begin_any(struct eq_printer *p);
void equation_end_any(struct eq_printer *p);

/* ---- prefetch.c ---- */
/* For the group of elements from `group` on of a loop that is done inside of a reduction. */
void equation_prefetch(struct eq_printer *p, const struct eq_node *loop, const char *group);
/* For the group from `group` on of a reduction along v, which ends before `end`. */
void equation_prefetch_row(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, const char *group,
                           const char *end);

/* ---- flags.c ---- */
struct eq_flag {
    const struct symbol *formal; /* NULL: there is none */
    bool value;                  /* with which it decides */
};
/* Of a condition of some `select` that differs from element to element. */
struct eq_flag equation_flag(const struct equations *q);

/* ---- short_rows.c ---- */
/* The condition in C that the short rows of all formals are contiguous; NULL: no formal has such rows. */
const char *equation_short_rows(struct eq_printer *p);
/* Of a tensor, under that condition: the argument for its strides. */
const char *equation_row_strides(struct eq_printer *p, const struct symbol *formal);

/* ---- by_columns.c ---- */
/* Are all tensors matrices whose elements of columns may be computed as those of rows? */
bool equation_may_go_by_columns(struct eq_printer *p);

/* ---- whole_lines.c ---- */
/* The only statement of a loop, whose row is stored by whole lines, or NULL. */
const struct eq_stmt *equation_new_row(const struct eq_printer *p, const struct eq_node *loop);
void equation_open_parts(struct eq_printer *p, const struct eq_node *loop, const struct eq_stmt *s); /* depth + 2 */

/* ---- tiles.c ---- */
bool equation_is_tiled(const struct eq_printer *p, const struct eq_node *loop); /* it and the one inside of it */
void equation_tiles(struct eq_printer *p, const struct eq_node *loop);

/* ---- joining.c ---- */
void equation_join_loops(struct eq_printer *p, struct eq_node **list);

/* ---- contraction.c ---- */
struct eq_contraction {
    const struct eq_expr *sum;
    const struct eq_access *a, *b;
    const struct eq_var *i, *j, *k;
};
/* The only reduction of the value, not in a part that is not always evaluated; NULL or *count != 1: there is none, or
 * several. */
const struct eq_expr *equation_only_reduction(const struct eq_expr *x, int *count);
bool equation_is_contraction(const struct eq_printer *p, const struct eq_stmt *s, struct eq_contraction *c);
void equation_contract(struct eq_printer *p, const struct eq_stmt *s, const struct eq_contraction *c);

/* ---- statements.c ---- */
void equation_open_loop(struct eq_printer *p, const struct eq_var *v); /* `for (...) {`, depth + 1 */
/* The variables that were merged with this loop's have its name in C, too. */
void equation_name_merged(struct eq_printer *p, const struct eq_var *v);
/* What stands first in a loop, of which each statement has the C name of the loop's variable. */
void equation_begin_iteration(struct eq_printer *p, const struct eq_node *loop);
/* The variable of C that a temporary without dimensions is.  begin: its first value, or "". */
void equation_declare_number(struct eq_printer *p, const struct eq_temp *t, const char *begin);
/* Names that stand in no loop stay taken: what is printed next may lie in the same block. */
void equation_nodes(struct eq_printer *p, struct eq_node *first);
void equation_statement(struct eq_printer *p, const struct eq_stmt *s);

/* ---- sharing.c ---- */
bool equation_names_loop(const struct size *s); /* any index variable */
/* index is v + what does not vary */
bool equation_is_alone(const struct eq_printer *p, const struct eq_index *index, const struct eq_var *v);
bool equation_has_same_range(const struct eq_printer *p, const struct eq_var *a, const struct eq_var *b);
void equation_merge(struct eq_printer *p, const struct eq_var *v, const struct eq_var *into); /* two names of one */
struct eq_node *equation_loops(struct eq_printer *p, const struct eq_stmt *s); /* of one statement alone */
void equation_share(struct eq_printer *p, const struct eq_stmt *const *stmts, int count);

/* ---- checks.c ---- */
/* Prints the tests and the temporaries they need; *rest gets the statements that are left. */
void equation_checks(struct eq_printer *p, const struct eq_stmt **rest, int *rest_count);

#endif
