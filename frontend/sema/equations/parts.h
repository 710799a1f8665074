/* parts.h - what the files that check a kernel in index notation share; nobody else includes it.
 *
 * Calls point down this list.
 *   equations.c    the order of things: one kernel
 *   statements.c   `let`, `=`, `+=`, `for`
 *   ranges.c       over which values a variable runs
 *   bounds.c       fates of indices, and what the caller must test
 *   writes.c       the left side: injective, and which reads it allows
 *   coverage.c     is an `out` written as a whole?
 *   cost.c         work
 *   values.c       expressions and their types: reductions.c accesses.c
 *   scopes.c       names
 *   forms.c        sizes as sums over variables; forms.h is what others see of it */
#ifndef PTOC_EQUATION_PARTS_H
#define PTOC_EQUATION_PARTS_H
#include "equations.h"
#include "forms.h"
#include "sema/checker.h"

/* A checked expression.  expr NULL: an error was reported. */
struct eq_value {
    struct eq_expr *expr;
    enum elem type;  /* as the text has it: f16 is computed as f32, and stays f16 */
    bool is_literal; /* of literals and constants alone: it takes the type of what it meets */
};

enum eq_name_kind { EQ_NAME_VAR, EQ_NAME_TEMP, EQ_NAME_ALIAS, EQ_NAME_BAD };

struct eq_name {
    enum eq_name_kind kind;
    const char *name;
    struct eq_var *var;
    struct eq_temp *temp;
    struct eq_value alias; /* `let n = N / 2;` */
    struct span at;
    bool has_ended; /* of a temporary: the `for` that it belongs to has ended */
};

struct eq_work {
    struct checker *c;
    struct symbol *kernel;
    struct equations *out;
    VEC(struct eq_name) names;        /* in scope, the innermost last */
    VEC(struct eq_var *) vars;        /* all */
    VEC(struct eq_var *) in_scope;    /* for, free, bound */
    VEC(struct eq_var *) loops;       /* `for`s around */
    VEC(struct eq_var *) frees;       /* of the statement */
    VEC(struct eq_access *) accesses; /* all */
    VEC(struct eq_stmt *) stmts;
    VEC(struct eq_temp *) temps;
    VEC(const struct symbol *) written; /* formals that some statement writes */
    VEC(const char *) said;             /* stray variables of the statement: reported once */
    struct eq_stmt *stmt;               /* the one being checked */
    const struct eq_guard *guard;
    bool has_var; /* a `var`, which has no meaning: what follows is not looked at */
    bool on_left; /* unknown names are free variables here */
    bool failed;  /* an error in this kernel: no form is left */
};

/* ---- scopes.c ---- */
struct eq_name *eq_find(struct eq_work *w, const char *name);
struct eq_var *eq_declare_var(struct eq_work *w, enum eq_role role, const char *name, struct span at);
void eq_declare_temp(struct eq_work *w, struct eq_temp *t);
void eq_declare_alias(struct eq_work *w, const char *name, struct span at, struct eq_value v);
void eq_declare_bad(struct eq_work *w, const char *name, struct span at); /* its error was reported */
void eq_find_written(struct eq_work *w, struct ast *block);
bool eq_is_written(const struct eq_work *w, const struct symbol *formal);
/* E19 where the name is one already: of a formal, a dimension, a constant, a `let` or a variable. */
bool eq_is_new_name(struct eq_work *w, const char *name, struct span at);
/* E19 for a name that means nothing yet, where a `let` of this name ends after `at`. */
bool eq_is_read_early(struct eq_work *w, const char *name, struct span at);
/* What the name means outside of the body, of what may stand in it; NULL: nothing. */
struct symbol *eq_outer(struct eq_work *w, const char *name);
struct eq_value eq_fail(struct eq_work *w);

/* ---- values.c ---- */
struct eq_value eq_value_of(struct eq_work *w, struct ast *n);
/* Of an expression that is evaluated only where `cond` is `truth`: it is checked under that condition. */
struct eq_value eq_value_under(struct eq_work *w, const struct eq_expr *cond, bool truth, struct ast *n);
/* Of a condition over constants its truth, 0 or 1; -1: it is none. */
int eq_decided(const struct eq_expr *e);
/* An integer that no data decides; NULL: reported. */
const struct size *eq_size_of(struct eq_work *w, struct ast *n, const char *what);
struct eq_expr *eq_new(struct eq_work *w, enum eq_kind kind, enum elem type, struct span at);
enum eq_constant { EQ_NOT_CONSTANT, EQ_CONSTANT, EQ_TOO_LARGE };

/* The value of what literals made, computed in i64. */
enum eq_constant eq_constant_of(const struct eq_expr *e, int64_t *value);
bool eq_refuse_large(struct eq_work *w, const struct eq_value *v, struct span at);
const struct size *eq_as_size(struct eq_work *w, const struct eq_value *v); /* NULL: it has none */
enum elem eq_computed(enum elem e);                                         /* f16, bf16: f32 */
/* The value as one of type `to`, which the text calls `nominal`: literals take it, others are cast. */
struct eq_expr *eq_convert(struct eq_work *w, struct eq_value v, enum elem to);
/* Is what literals alone made a real number, and no integer? */
bool eq_has_real_literal(const struct eq_expr *e);
bool eq_is_float(enum elem e);
bool eq_is_integer(enum elem e);
int eq_float_rank(enum elem e);
/* Does v fit in elements of this type without a cast?  Reports E02. */
struct eq_expr *eq_fit(struct eq_work *w, struct eq_value v, enum elem to, struct span at, const char *what);
const char *eq_type_text(struct eq_work *w, const struct eq_value *v);

/* Two operands of one type, which is that of *joined; at, op: for messages.  false: reported. */
bool eq_join(struct eq_work *w, struct eq_value *a, struct eq_value *b, struct span at, const char *op,
             struct eq_value *joined);

/* ---- calls.c ---- */
struct eq_value eq_call(struct eq_work *w, struct ast *n);

/* ---- reductions.c ---- */
struct eq_value eq_reduction(struct eq_work *w, struct ast *n);

/* ---- accesses.c ---- */
/* object[indices]; NULL: reported.  is_target: unknown names in the indices are free variables. */
struct eq_access *eq_access_of(struct eq_work *w, struct ast *n, bool is_target);

/* ---- statements.c ---- */
void eq_check_block(struct eq_work *w, struct ast *block);

/* ---- ranges.c ---- */
bool eq_find_ranges(struct eq_work *w, size_t first_access, size_t first_var);

/* ---- bounds.c ---- */
void eq_check_bounds(struct eq_work *w, struct eq_access *a);
void eq_know_kernel(struct eq_work *w); /* facts that hold in the whole kernel */
void eq_know_vars(struct eq_work *w, const struct eq_var *const *vars, int count);
void eq_know_guards(struct eq_work *w, const struct eq_access *a); /* what its conditions say, where they fit */

/* ---- writes.c ---- */
void eq_check_writes(struct eq_work *w);

/* ---- coverage.c ---- */
void eq_check_coverage(struct eq_work *w);

/* ---- cost.c ---- */
void eq_find_cost(struct eq_work *w);

/* ---- forms.c ---- */
bool eq_is_affine(struct checker *c, const struct size *a, const struct eq_var *const *vars, int count);
/* The largest or smallest value of a, with the variables, from the last to the first, at the ends of their ranges;
 * NULL: a is not affine, or a factor's sign is not known.  ends, unless NULL, gets the ends, which may name variables
 * further out, of those that a names. */
const struct size *eq_corner(struct checker *c, const struct size *a, const struct eq_var *const *vars, int count,
                             bool largest, const struct size **ends);

#endif
