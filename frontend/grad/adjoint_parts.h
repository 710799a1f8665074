/* adjoint_parts.h - what the files that make adjoint kernels share; nobody else includes it.
 *
 * Calls point down this list.
 *   adjoint.c          the order of things: one formal of one kernel
 *   adjoint_conditions.c  its `where`
 *   adjoint_print.c    the kernel as text
 *   adjoint_emit.c     the statements that write the gradient
 *   adjoint_recurrence.c  iterations that hand values on
 *   adjoint_bars.c     bars of temporaries and formals: what flows into them
 *   adjoint_chain.c    the chain rule, from the value of a statement down to its loads
 *   adjoint_invariance.c  temporaries on which no result depends
 *   adjoint_gather.c   the inverse of an index, so that a bar is a sum over the places that read its element
 *   adjoint_values.c   values of the kernel that its adjoint needs
 *   adjoint_forward.c  the kernel's own statements, with plain indices
 *   adjoint_inline.c   temporaries that are read once, or never
 *   adjoint_simplify.c conditions that always hold
 *   adjoint_build.c    expressions
 *
 * Statements and expressions have the form of equations.h, with three differences: an index of a temporary is the one
 * that the text has, lows are not subtracted, and it has a low and a high, but no extent; no fates are set; eq_access
 * has no stmt, vars and guard.  Every variable of a statement stands in its list, whether the text has a `for` for it
 * or not. */
#ifndef PTOC_ADJOINT_PARTS_H
#define PTOC_ADJOINT_PARTS_H
#include "adjoint.h"
#include "sema/equations/equations.h"
#include "sema/equations/forms.h"
#include "sema/facts.h"
#include "sema/sema.h"
#include "support/arena.h"
#include "support/ptrmap.h"
#include "support/vec.h"

enum { MAX_VARS = 24 };

/* A condition around a place: cond == truth there.  The list goes outwards. */
struct adj_guard {
    const struct eq_expr *cond; /* of the forward statements */
    bool truth;
    bool
        is_of_text; /* of a select, `&&` or `||` of the kernel, without which nothing is read; else of the chain rule */
    const struct adj_guard *outer;
};

/* Variables with the conditions of the selects around a place, outermost first. */
struct adj_scope {
    const struct eq_var *var[MAX_VARS];
    int count;
    const struct adj_guard *guard; /* innermost first */
    const struct adj_stmt *stmt;   /* of the kernel: values of what it writes are those of that moment */
};

struct adj_stmt {
    enum eq_stmt_kind kind;
    const struct eq_var *var[MAX_VARS]; /* outermost first */
    int var_count;
    const struct eq_access *target;
    const struct eq_expr *value;
    int id; /* of a statement of the kernel: its position */
    bool is_needed;
    bool reads_work;  /* it depends on bars that a reversed `for` makes */
    bool is_in_order; /* in a `for` over its first variable, in which iterations read what earlier ones wrote */
};

/* An `out` that iterations of a `for` hand on. */
struct adj_recurrence {
    const struct symbol *formal;
    const struct eq_var *loop;
    int dim;                      /* along which the loop runs */
    const struct symbol *work;    /* its bars; NULL: nothing asked for them */
    const struct eq_var *counter; /* of the reversed loop */
};

/* object[index] gets `value` for each value of the variables in scope, where its conditions hold. */
struct adj_flow {
    struct adj_scope scope;
    const struct eq_access *access;
    const struct eq_expr *value;
};

/* The bar of a tensor or temporary at one point in the backward pass through the statements. */
struct adj_bar {
    const void *object;
    const struct eq_access *base; /* its elements, without their indices; NULL: 0 */
    VEC(struct adj_flow) flows;   /* what was added */
    /* Left sides of `=` that were passed: there the base is of no use any more. */
    VEC(const struct adj_stmt *) gone;
    bool is_ended; /* an `=` over all of it was passed */
};

/* The printed formals, in order. */
struct adj_formal {
    struct adjoint_formal shown;
    struct symbol *symbol; /* a copy, with the printed name and direction */
    bool is_needed;
};

struct adj_work {
    struct front *front;
    const struct checked *checked;
    struct size_table *sizes;
    struct facts *facts;
    const struct symbol *kernel;
    const struct equations *q;
    int x;
    VEC(struct adj_stmt *) forward;
    struct ptrmap temps;   /* eq_temp of the kernel -> that of the forward statements */
    struct ptrmap made;    /* eq_temp of forward -> adj_stmt of `out` that makes it again */
    struct ptrmap hoisted; /* eq_expr of forward -> eq_access of the temporary that holds its value */
    VEC(const void *) active;
    VEC(struct adj_recurrence) recurrences; /* in the order of the text */
    VEC(struct adj_stmt *) out; /* temporaries of the adjoint, in an order in which each is written before it is read */
    VEC(struct adj_stmt *) writes;      /* of the gradient, after them; OVERWRITES */
    VEC(struct adj_stmt *) writes_adds; /* the same of ADDS */
    VEC(struct adj_bar *) bars;
    VEC(struct adj_formal) formals;
    bool has_kinks;
    struct span at; /* why not: NULL: it has one */
    const char *why, *help;
};

/* What the printer needs. */
struct adjoint_body {
    const struct adj_stmt *const *out, *const *writes, *const *writes_adds;
    int out_count, writes_count, writes_adds_count;
    struct symbol *const *symbols; /* of the formals */
    const struct equations *equations;
};

/* Remembers why there is no adjoint; the first reason stays. */
void adj_refuse(struct adj_work *w, struct span at, const char *why);
void adj_refuse_with(struct adj_work *w, struct span at, const char *why, const char *help);
/* The same where two kernels in place of the one would have adjoints. */
void adj_refuse_whole(struct adj_work *w, struct span at, const char *why);

/* ---- adjoint_conditions.c ---- */

/* Is the dimension variable one of the adjoint? */
bool adj_names_dim(const struct adjoint *a, const struct symbol *dim);
/* Appends " where CONDITION" for each that the adjoint can have: it held at the call of the kernel, so it holds at that
 * of the adjoint, and proves the indices there. */
void adj_print_conditions(struct front *front, const struct adjoint *a, struct strbuf *out);

/* ---- adjoint_print.c ---- */
/* The kernel in any layout. */
void adj_print(struct front *front, const struct checked *checked, const struct adjoint *a, enum adjoint_form form,
               const char *name, struct strbuf *out);

/* ---- adjoint_emit.c ---- */
void adj_emit_gradient(struct adj_work *w);

/* ---- adjoint_recurrence.c ---- */
void adj_find_recurrences(struct adj_work *w);
const struct adj_recurrence *adj_recurrence_of(const struct adj_work *w, const void *object); /* NULL: none */
/* An `out` each of whose elements is written once: all reads of it see what it has at the end. */
bool adj_is_written_once(struct adj_work *w, const struct symbol *formal);
/* The loops that make the bars of all recurrences, and the temporaries before and after them. */
void adj_close_recurrences(struct adj_work *w);

/* ---- adjoint_bars.c ---- */
void adj_walk_back(struct adj_work *w);
struct adj_bar *adj_bar_of(struct adj_work *w, const void *object);

/* ---- adjoint_chain.c ---- */
void adj_chain(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e, const struct eq_expr *bar);
bool adj_find_active(struct adj_work *w);
bool adj_is_active_object(const struct adj_work *w, const void *object);

/* ---- adjoint_invariance.c ---- */
/* Does no result of the kernel depend on the temporary that s writes, a greatest or least value? */
bool adj_is_invariant_of(struct adj_work *w, const struct adj_stmt *s);

/* ---- adjoint_gather.c ---- */
/* What the element with these indices gets of the flow. */
const struct eq_expr *adj_gather(struct adj_work *w, const struct adj_flow *f, const struct eq_var *const *element);
/* The sum of all that flows in, for the element with these indices; NULL: nothing, or refused. */
const struct eq_expr *adj_gather_all(struct adj_work *w, const struct adj_flow *flows, size_t count,
                                     const struct eq_var *const *element);
/* Can each of its indices be solved for a variable of its own with a factor of 1 or -1? */
bool adj_is_invertible(struct adj_work *w, const struct adj_flow *f);
/* Variables for the elements of a tensor or temporary, named like the indices of the flows. */
void adj_element_vars(struct adj_work *w, const struct eq_access *a, const struct adj_flow *flows, size_t count,
                      const struct eq_var **element);

/* ---- adjoint_values.c ---- */
/* The printed formal of this role, made where there is none yet. */
struct symbol *adj_formal(struct adj_work *w, int of, enum adjoint_role role);
struct adj_scope adj_scope_of(const struct adj_stmt *s);
struct adj_scope adj_scope_within(struct adj_work *w, const struct adj_scope *outer, const struct eq_expr *reduction);
struct adj_scope adj_scope_where(struct adj_work *w, const struct adj_scope *outer, const struct eq_expr *cond,
                                 bool truth, bool is_of_text);
/* The value of an expression of the forward statements, in terms of formals and temporaries of the adjoint. */
const struct eq_expr *adj_value(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e);
/* The same place, its indices in terms of the adjoint. */
const struct eq_access *adj_at(struct adj_work *w, const struct adj_scope *scope, const struct eq_access *a);
/* The expression, already one of the adjoint's, as a temporary: its value at the variables of the scope. */
const struct eq_expr *adj_keep(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                               const char *name);
/* The conditions around a place as one expression of the adjoint; NULL: there are none. */
const struct eq_expr *adj_condition(struct adj_work *w, const struct adj_scope *scope);
/* e where the conditions hold, else 0. */
const struct eq_expr *adj_under(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e);

/* ---- adjoint_forward.c ---- */
bool adj_forward(struct adj_work *w);
/* Are no two elements named by both left sides, whatever the variables are? */
bool adj_is_apart(struct adj_work *w, const struct eq_access *a, const struct eq_access *b);
/* Do the indices, each a variable of its own over its whole range, name all of the object? */
bool adj_is_whole(struct adj_work *w, const struct eq_access *a);
bool adj_is_same_place(const struct eq_access *a, const struct eq_access *b);
const void *adj_object(const struct eq_access *a);
struct span adj_span(const struct adj_work *w, const struct eq_access *a);

/* ---- adjoint_inline.c ---- */
/* Marks the temporaries and formals that are needed, and puts those that are read once in their place. */
void adj_tidy(struct adj_work *w);
/* The value of the temporary in place of its loads. */
const struct eq_expr *adj_put_in(struct adj_work *w, const struct eq_expr *e, const struct adj_stmt *let);

/* ---- adjoint_simplify.c ---- */
void adj_simplify(struct adj_work *w, struct adj_stmt *stmt);

/* ---- adjoint_build.c ---- */
struct eq_expr *adj_new(struct adj_work *w, enum eq_kind kind, enum elem type);
const struct eq_expr *adj_number(struct adj_work *w, enum elem type, double value);
const struct eq_expr *adj_size(struct adj_work *w, const struct size *s);
const struct eq_expr *adj_truth(struct adj_work *w, bool value);
bool adj_is_number(const struct eq_expr *e, double value);
/* With 0 and 1 taken out. */
const struct eq_expr *adj_add(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b); /* either NULL */
const struct eq_expr *adj_mul(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b);
const struct eq_expr *adj_div(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b);
const struct eq_expr *adj_sub(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b);
const struct eq_expr *adj_neg(struct adj_work *w, const struct eq_expr *a);
const struct eq_expr *adj_and(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b); /* either NULL */
const struct eq_expr *adj_not(struct adj_work *w, const struct eq_expr *a);
const struct eq_expr *adj_select(struct adj_work *w, const struct eq_expr *c, const struct eq_expr *a,
                                 const struct eq_expr *b);
const struct eq_expr *adj_call(struct adj_work *w, enum eq_kind f, const struct eq_expr *a, const struct eq_expr *b);
const struct eq_expr *adj_cast(struct adj_work *w, enum elem type, const struct eq_expr *a);
/* Of two sizes; decided where the facts decide it. */
const struct eq_expr *adj_compare(struct adj_work *w, enum eq_kind op, const struct size *a, const struct size *b);
const struct eq_expr *adj_reduce(struct adj_work *w, enum eq_reduction kind, enum elem type,
                                 const struct eq_var *const *vars, int count, const struct eq_expr *a);
/* A load: of f16 and bf16 with the cast to f32 that a load has. */
const struct eq_expr *adj_load(struct adj_work *w, const struct eq_access *a);
struct eq_access *adj_access(struct adj_work *w, const struct symbol *formal, const struct eq_temp *temp);
bool adj_is_equal(const struct eq_expr *a, const struct eq_expr *b);
bool adj_is_cheap(const struct eq_expr *e); /* a load, a number, a scalar, and their negation or cast */
/* The variables replaced by sizes, conditions decided where the facts decide them. */
struct adj_substitution {
    const struct symbol *from[MAX_VARS];
    const struct size *to[MAX_VARS];
    int count;
};
const struct eq_expr *adj_substitute(struct adj_work *w, const struct eq_expr *e, const struct adj_substitution *s);
const struct size *adj_substitute_size(struct adj_work *w, const struct size *a, const struct adj_substitution *s);
bool adj_names_var(const struct eq_expr *e, const struct eq_var *v);
void adj_know_var(struct adj_work *w, const struct eq_var *v);
struct eq_var *adj_new_var(struct adj_work *w, const char *name, const struct size *low, const struct size *high);
enum elem adj_computed(enum elem e); /* f16, bf16: f32 */
bool adj_is_float(enum elem e);
struct eq_temp *adj_new_temp(struct adj_work *w, const char *name, enum elem elem);

#endif
