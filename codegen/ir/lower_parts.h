/* lower_parts.h - what the files of the lowering share; nobody else includes it.
 *
 * lower.c        functions, blocks, scopes, ends of lifetimes      lower_stmt.c   statements
 * lower_loop.c   loops and branches                                lower_call.c   tasks and calls
 * lower_value.c  scalar expressions                                lower_size.c   sizes and views
 * lower_order.c  evaluation order: what goes before a statement    lower_check.c  checks
 * lower_print.c  print                                             lower_uses.c   uses
 * lower_var.c    tensors that change                              lower_cells.c  where cells live
 *
 * One walk decides the order of evaluation, of what is done and of the uses that the checks look at. */
#ifndef PTOC_LOWER_PARTS_H
#define PTOC_LOWER_PARTS_H
#include "plan.h"
#include "kernel_dims.h"
#include "lower.h"
#include "support/arena.h"

struct open_block {
    struct open_block *parent;
    struct ir_op *scope; /* SCOPE_BEGIN */
    bool is_loop;
    bool is_value;                    /* not of a block, but of an expression */
    bool owns;                        /* a tensor */
    VEC(const struct symbol *) names; /* declared here, whose buffers belong to a block around */
};

struct lowering {
    struct front *front;
    const struct checked *checked;
    struct ranges *ranges;
    struct arena *mem;

    struct ir_function *f;     /* that is lowered; NULL: outside of functions */
    const struct symbol *orch; /* its symbol */
    struct ir_block *block;    /* operations are appended here, */
    struct span at;            /* as coming from here */
    struct open_block *open;
    /* expression -> the temporary that holds its value; struct call -> its checks are made */
    struct ptrmap hoisted;
    const struct ast *attributes; /* of the statement that is lowered, */
    const struct ast *attributed; /* for this call */
    /* while a kernel's `where` is lowered at a call: names of its formals mean the arguments */
    const struct call *binding;
    enum arithmetic arithmetic;
    struct ptrmap exchange; /* struct exchange -> the struct ir_op of the SCOPE_BEGIN that owns its buffers */
    /* The expression at hand stays one of C: of what is prepared only the uses are left. */
    bool is_expression;
    VEC(struct tensor_note *) tensors; /* by their numbers */
    struct ast *holder;                /* of the checks of the statement, expression or call at hand */
    bool is_same_argument;             /* as that of the use before */
};

/* ---- lower.c ---- */
struct ir_op *lower_op(struct lowering *l, enum ir_op_kind kind);
void lower_site(struct lowering *l, struct span at, const char *text);
/* where an operation evaluates v, and that can fail */
void lower_site_of(struct lowering *l, const struct ir_value *v, struct span at, const char *text);
void lower_unsupported(struct lowering *l, struct span at, const char *what);
/* A block of operations that is filled until lower_block_end(), which gives the place back to the block around it. */
struct ir_block *lower_block_begin(struct lowering *l, struct ir_block **outer);
void lower_block_end(struct lowering *l, struct ir_block *outer);
/* A block of the language, with a scope if it owns tensors or `is_explicit`; appended to the current block. */
void lower_statements(struct lowering *l, struct ast *block, bool is_loop, bool is_explicit, struct span at);
void lower_list(struct lowering *l, struct ast *list); /* without a scope */
/* the same, as a block of its own */
struct ir_block *lower_braced(struct lowering *l, struct ast *block, bool is_loop);
/* A scope for what an expression needs for a moment. */
void lower_scope_open(struct lowering *l, struct ast *n, struct open_block *open);
void lower_scope_close(struct lowering *l, struct open_block *open);
void lower_leave_scopes(struct lowering *l, bool all); /* up to the innermost loop, or all */
/* drops what was moved in and is still there */
void lower_leave(struct lowering *l, const struct symbol *returned);

/* ---- lower_stmt.c ---- */
void lower_statement(struct lowering *l, struct ast *n);
/* The value of n converted to `t` (NULL: as it is), with its site where it can fail; before that prepared. */
struct ir_value *lower_evaluated(struct lowering *l, struct ast *n, const struct type *t, const char *what);
struct ir_value *lower_prepared(struct lowering *l, struct ast *n, const struct type *t, const char *what);
/* those of the statement itself */
void lower_statement_checks(struct lowering *l, const struct ast *n, const char *what);
void lower_captured(struct lowering *l, const struct symbol *s); /* stores the sizes that name a `var`; NULL: nothing */
/* variables of its leaves, which the statement `let` declares; NULL: they have no name */
void lower_new_tensors(struct lowering *l, const struct symbol *s, const struct ast *let);
void lower_tensor(struct lowering *l, const struct symbol *s); /* the variable of one */

/* ---- lower_cells.c ---- */
/* of the arguments of an entry that it names before the view that says them */
void lower_early_cells(struct lowering *l, struct ast *body);
/* of the tensor of a `let` or a view, if it says them */
void lower_cells(struct lowering *l, const struct ast *n);

/* ---- lower_var.c ---- */
/* The variable of a tensor that gets other buffers, and those of all with which it changes them. */
void lower_exchange(struct lowering *l, const struct symbol *s);
/* The same for those that take over `own` formals in blocks inside of the function; where its body begins. */
void lower_handed_on(struct lowering *l, const struct ast *body);
/* `to` takes over `from`, has nothing before (FIRST), or becomes a second name (KEEP); structs with all their parts.
 * at: the place that is named */
enum take { TAKE_NEXT, TAKE_FIRST, TAKE_KEEP };
void lower_take(struct lowering *l, const struct symbol *to, const struct symbol *from, enum take how,
                const struct ast *at);
/* The site of the copies that may be made of `from`, where that was moved into the function. */
void lower_take_site(struct lowering *l, const struct symbol *from, const struct ast *at);
/* Sets the extents of `to` that the run decides to those of a value with the type `from`. */
void lower_decided(struct lowering *l, const struct symbol *to, const struct type *from);
void lower_var_assign(struct lowering *l, struct ast *n);
void lower_end_names(struct lowering *l, const struct open_block *o); /* those that end with the block */

/* ---- lower_loop.c ---- */
void lower_for(struct lowering *l, struct ast *n);
void lower_while(struct lowering *l, struct ast *n);
void lower_if(struct lowering *l, struct ast *n);
void lower_match(struct lowering *l, struct ast *n);

/* ---- lower_value.c ---- */
struct ir_value *lower_value(struct lowering *l, const struct ast *n);
/* Of two integers with the ranges that they can have; *range: that of the result.  mode: where it may not fit.
 * Literals are an int in C: what they make is a literal where that is too small. */
struct ir_value *lower_integers(struct lowering *l, enum ast_op op, struct ir_value *a, struct interval range_a,
                                struct ir_value *b, struct interval range_b, enum arithmetic mode,
                                struct interval *range);
struct ir_value *lower_value_as(struct lowering *l, const struct ast *n, const struct type *t);
/* read without waiting, as it is stored */
struct ir_value *lower_stored_element(struct lowering *l, const struct region *r);
struct ir_value *lower_element(struct lowering *l, const struct ast *n); /* without its checks */

/* ---- lower_size.c ---- */
/* the offset; extents, strides where needed; strides */
enum view_parts { VIEW_ELEMENT, VIEW_OF_TASK, VIEW_OF_FUNCTION, VIEW_OF_PART };
struct ir_view *lower_view(struct lowering *l, const struct region *r, enum view_parts parts);
const struct region *lower_whole(struct lowering *l, const struct symbol *s); /* the region of a whole tensor */

/* ---- lower_order.c ---- */
/* Before a statement that evaluates n once: what C's expressions cannot do, or not in order, goes first, into
 * temporaries. What lower_value makes afterwards is the rest. */
void lower_prepare(struct lowering *l, struct ast *n);
/* all of it into a temporary, where it could fail or change */
void lower_keep(struct lowering *l, struct ast *n);
/* of n nothing but its uses */
void lower_only_uses(struct lowering *l, struct ast *n);
/* of a tensor or an element: the calls that make it, its indices; the same, and the tensor is named */
void lower_prepare_place(struct lowering *l, struct ast *n);
void lower_prepare_named(struct lowering *l, struct ast *n);
void lower_prepare_type(struct lowering *l, struct ast *type); /* the extents in it; NULL: nothing */
void lower_prepare_arguments(struct lowering *l, const struct call *call);
void lower_prepare_attribute(struct lowering *l, struct ast *n);
/* lower_prepare would append something that must be there */
bool needs_statements(struct ast *n);
bool lower_has_call(const struct ast *n); /* of a function, evaluated or not */
/* let NAME = value; */
struct ir_temporary *lower_let(struct lowering *l, const char *wanted, const struct type *type, struct ir_value *value,
                               bool is_const);

/* ---- lower_call.c ---- */
/* All that a call as a statement needs.  Of a function with a scalar result: that value, not yet evaluated; else
 * NULL. */
struct ir_value *lower_call(struct lowering *l, struct ast *n);
void lower_whole_call(struct lowering *l, struct ast *n); /* lower_call(), or in a broken program its uses */
struct ir_call *lower_call_of_function(struct lowering *l, const struct ast *n); /* inside an expression */

/* ---- lower_check.c ---- */
const struct ir_check *lower_checks(struct lowering *l, const struct check *list, const struct call *call);
void lower_check_statements(struct lowering *l, const struct check *list, const struct call *call);
/* Where checks of `holder` stand that `settle` may add; site: for them, NULL: there is one. */
void lower_later_checks(struct lowering *l, const struct ast *holder, const char *site);
/* text, and the scalars that `named` names */
struct ir_message lower_message(struct lowering *l, const char *text, struct ast *named);
void format_text(struct strbuf *format, const char *text); /* % doubled */

/* ---- lower_print.c ---- */
void lower_print(struct lowering *l, struct ast *n);

/* ---- lower_uses.c ---- */
bool use_may_be_unwritten(struct lowering *l, const struct symbol *s);
void use_unknown(struct lowering *l, const struct ast *n); /* below an error */
/* An element, a name, a member or an await, when its indices have been evaluated. */
void use_memory(struct lowering *l, struct ast *n);
void use_call(struct lowering *l, struct ast *n);          /* when its arguments have been evaluated */
void use_ends(struct lowering *l, const struct ast *list); /* of a block: lifetimes */
void use_formals(struct lowering *l, const struct symbol *orch);
void use_declaration(struct lowering *l, struct ast *n);                                /* its tensors get numbers */
void use_begin(struct lowering *l, const struct symbol *leaf, const struct ast *let);   /* a new tensor or scalar */
void use_name_defined(struct lowering *l, const struct symbol *s, const struct ast *n); /* it has its value */
void use_bad_declaration(struct lowering *l, struct ast *n);
void use_views(struct lowering *l, const struct ast *at); /* through which something is named */
void use_take(struct lowering *l, const struct symbol *to, const struct symbol *from, bool is_kept,
              const struct ast *at); /* one tensor or scalar */
void use_assigned(struct lowering *l, const struct ast *target);
void use_element_dropped(struct lowering *l, const struct ast *at);
void use_leaves(struct lowering *l, enum ir_use_kind kind, const struct symbol *t, const struct ast *at);
bool use_returned(struct lowering *l, const struct ast *v); /* a tensor or a struct by its name; false: v is none */
void use_part(struct lowering *l, const struct ast *n);     /* a tensor that is returned by a piece of it */
void use_printed(struct lowering *l, const struct ast *n);  /* a struct */

#endif
