/* parts.h - what the files of frontend/grad share; no other file includes it.
 *
 * A function is read into steps: a list for each block, in which a call within a call is a step of its own.  Then it is
 * printed twice: the forward pass, which is the text of the function with a few more statements, and the backward pass,
 * each step in reverse.  The backward pass is printed first, because it finds out which values the forward pass keeps.
 *
 * Calls point down this list.
 *   module.c     which functions, which items
 *   function.c   the head of a gradient and its two parts
 *   forth.c back.c       the two walks over the steps
 *   back_call.c          the adjoints of one call
 *   plan.c       loops in segments, whose values the backward pass recomputes
 *   bars.c               where the gradient of a tensor lies, and since when
 *   keep.c               values that the forward pass keeps: copies, logs, tensors of inner blocks
 *   active.c     which tensors have a gradient at all
 *   hiding.c     names of the function that hide others, or that the backward pass cannot have
 *   order.c      can one step follow another one on the same elements?
 *   steps.c      from the tree to steps
 *   kernels.c    adjoint kernels, and those that copy and fill with zeros
 *   text.c       pieces of the program as text, names that are free */
#ifndef PTOC_GRAD_PARTS_H
#define PTOC_GRAD_PARTS_H
#include "adjoint.h"
#include "sema/checker.h"

/* ---- steps ------------------------------------------------------------------------------------------------------- */

enum step_kind {
    STEP_CALL,   /* of a kernel or a function, alone or as the value of a let or an assignment */
    STEP_LET,    /* storage without a value */
    STEP_ALIAS,  /* a second name for a tensor or a piece: LET, VIEW */
    STEP_SCALAR, /* a let, a var, or an assignment to one */
    STEP_FOR,
    STEP_WHILE, /* DO_WHILE, too */
    STEP_IF,    /* two blocks, of which the second may be empty */
    STEP_MATCH, /* a block for each arm, the last for `else` if there is one */
    STEP_BLOCK, /* SCOPE, too */
    STEP_DROP,
    STEP_RETURN,
    STEP_PLAIN /* print, assert, ..: a gradient does not need it */
};

struct step;

struct block {
    struct step *first, *last;
    struct step *owner;  /* NULL: the body of the function */
    struct block *outer; /* NULL likewise */
};

/* The argument of a formal of a callee.  base NULL: a scalar or a struct. */
struct grad_place {
    struct tensor *base;
    const struct region *region;
    struct ast *expr; /* NULL: all of base, by its name */
    const char *seed; /* of a `var` that the call also reads: a copy of its bar, which the call overwrites */
};

struct step {
    enum step_kind kind;
    struct ast *ast; /* the statement; of a call within another one: the CALL */
    struct block *in;
    struct step *next, *before; /* in its block */
    int order;                  /* in the text */
    struct block **blocks;
    int block_count;
    /* CALL */
    struct ast *call_ast;
    const struct call *call;
    struct grad_place *places; /* of each formal, then the result of a function */
    int place_count;
    struct tensor *made; /* a new tensor that it writes, or NULL */
    /* forth.c prints these around it */
    struct strbuf first_text, last_text;
    struct plan *plan; /* of a FOR in segments, or NULL */
    bool is_touching;  /* it, or a step inside, names a tensor that has a gradient */
};

/* A tensor of the function: a formal, a let, the result of a call. */
struct tensor {
    struct symbol *symbol;
    const char *name;    /* in the forward pass */
    struct block *block; /* where it is declared; that of the body for a formal */
    bool is_formal, is_result;
    bool is_x;              /* a gradient with respect to it is asked for */
    bool is_varied;         /* it depends on an x */
    bool is_useful;         /* a result of the function depends on it */
    bool is_found;          /* the backward pass names it */
    const char *bar;        /* the name of its bar, where it has one */
    const char *bar_formal; /* the formal of the gradient that it is, or NULL */
    bool bar_is_ready;      /* the bar has a value where the backward pass is now */
    bool bar_is_given;      /* it is a formal of the gradient that must not be written */
    bool bar_is_written;    /* the backward pass changes it, so it works on a copy; the first printing finds this */
    const char *kept;       /* an array around the function that has its elements for each iteration */
    const char *kept_text;  /* the element of it here */
    bool is_copied;         /* a call copies it for the backward pass */
    bool is_alive;          /* of a loop in segments: kept values depend on it */
    bool is_named;          /* likewise: another step than the call that makes it names it */
};

static inline bool tensor_is_active(const struct tensor *t) { return t && t->is_varied && t->is_useful; }

/* ---- one function ------------------------------------------------------------------------------------------------ */

enum adds { OVERWRITES, ADDS };

/* A name that the backward pass has declared, in its innermost open block. */
struct again {
    const void *key;
    const char *text;
};

struct gradient {
    struct grads *all;
    struct checker *c;
    struct front *front;
    struct arena *mem;
    struct symbol *orch;
    const char *name;
    struct symbol **x; /* the formals whose gradients are asked for */
    enum adds *adds;
    int x_count;
    bool is_inner;                 /* for a caller's gradient: nothing is returned, and nothing exported */
    bool is_any_order;             /* additions to a gradient may be reordered: `@order("any")` */
    struct span at;                /* where it was asked for */
    int64_t keep;                  /* of `@keep`: so many iterations of a loop, 0: all of them, -1: it is not there */
    int segments;                  /* then so many of a loop; 0 and 1: everything is kept */
    VEC(struct grad_plan *) plans; /* from the last one to the first */
    const struct plan *remaking;   /* the body of its loop is printed once more */

    struct block *body;
    struct step *returns; /* the RETURN at the end, or NULL */
    struct tensor *result;
    VEC(struct tensor *) tensors;
    VEC(struct step *) calls;
    VEC(struct step *) steps;
    struct ptrmap tensor_of;     /* symbol -> struct tensor */
    struct ptrmap block_of;      /* scalar, alias, view: symbol -> the block that declares it */
    struct ptrmap step_of;       /* scalar, alias, view -> its step */
    struct ptrmap tainted;       /* scalars that depend on an x -> the tensor whose element each is made of */
    struct ptrmap names;         /* interned names that are taken -> (void *)1 */
    struct ptrmap logs;          /* node or symbol -> its text in the backward pass */
    struct ptrmap renamed;       /* symbol of a local that hides another name -> its name in the function */
    VEC(struct symbol *) hiding; /* the same symbols */
    struct ptrmap values;        /* place -> the name of its copy */
    struct strbuf out;           /* the backward pass, so far */
    VEC(struct again) again;     /* the names that it has declared */
    const struct ast *own;       /* the call that is printed itself, and not its name */
    bool failed;
};

/* ---- steps.c ---- */
bool steps_read(struct gradient *g); /* false: reported */
struct tensor *steps_tensor(struct gradient *g, struct symbol *s);
/* The `for`s around a step, outermost first; inside: of a block, or NULL for all.  Returns how many. */
enum { MAX_LOOPS = 16 };
int steps_loops(const struct block *b, const struct block *inside, const struct step **loops);
struct step *steps_outermost(const struct gradient *g, struct step *s); /* s, or what encloses it, in the body */
bool grad_refuse(struct gradient *g, enum diag_id id, struct span at, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* ---- order.c ---- */
/* Can a run of `later` follow one of `first` that has to do with the same elements of the tensor? */
bool order_may_follow(struct gradient *g, const struct step *first, const struct grad_place *a,
                      const struct step *later, const struct grad_place *b);
bool order_encloses(const struct block *outer, const struct block *inner);

/* ---- active.c ---- */
bool active_find(struct gradient *g); /* false: reported */
bool active_reads(enum direction d);
bool active_writes(enum direction d);
enum direction active_direction(const struct step *s, int place);
bool active_is_float(const struct type *t);
bool active_flows(struct gradient *g, const struct step *s, int from, int to);

/* ---- text.c ---- */
void text_take_names(struct gradient *g);                     /* the names of the function: before any text_fresh */
const char *text_fresh(struct gradient *g, const char *base); /* a name that nothing has */
/* The text of n; what `replace` prints itself, returning true, is left out. */
void text_splice(struct gradient *g, struct ast *n, bool (*replace)(void *cx, struct ast *n, struct strbuf *out),
                 void *cx, struct strbuf *out);
void text_forth(struct gradient *g, struct ast *n, struct strbuf *out);
/* The name of the module in the file of the gradient; "": none, which is reported. */
const char *text_module(struct gradient *g, const struct module *m);
struct ast *text_root(struct ast *place); /* the NAME or CALL that a place begins with */
/* A size as the program writes it, of names that are seen in the body; loops: and of `for`s around.  NULL: no. */
const char *text_size(struct gradient *g, const struct size *s, bool with_loops);
/* An upper bound of it without variables of loops; NULL: none is found. */
const struct size *text_most(struct gradient *g, const struct size *s);
/* "f32[M, N]"; NULL: an extent cannot be written. */
const char *text_type(struct gradient *g, const struct type *t, bool with_loops);
const char *text_region_type(struct gradient *g, const struct grad_place *p, bool with_loops);
const char *text_most_type(struct gradient *g, enum elem elem, int rank, const struct size *const *extent,
                           bool *is_exact);

/* ---- keep.c ---- */
/* The value that the formal of s had, for an expression of the backward pass; after: as s left it. */
bool keep_value(struct gradient *g, struct step *s, int formal, bool after, struct strbuf *out);
/* An expression of a statement: in the backward pass. */
bool keep_expr(struct gradient *g, struct step *s, struct ast *n, struct strbuf *out);
bool keep_place(struct gradient *g, struct step *s, struct ast *n, const struct ast *root, const char *root_text,
                struct strbuf *out);
const char *keep_again(struct gradient *g, const void *key);
void keep_note(struct gradient *g, const void *key, const char *text);

/* ---- hiding.c ---- */
bool hiding_declares(const struct ast *n); /* a local */
/* Gives locals that hide another name of the function a name of their own, until hiding_restore().  false: reported. */
bool hiding_rename(struct gradient *g);
void hiding_restore(struct gradient *g);
/* Is a name of the function that of a formal of the gradient?  false: reported. */
bool hiding_check(struct gradient *g);

/* ---- bars.c ---- */
void bars_name(struct gradient *g);
const char *bars_formal(struct gradient *g, const char *of); /* the formal of the gradient that is the bar of it */
bool bars_declare(struct gradient *g, struct span at, const struct tensor *t); /* of no x */
bool bars_ready(struct gradient *g, struct step *at, struct tensor *t); /* declared and filled with zeros if need be */
bool bars_text(struct gradient *g, struct step *s, const struct grad_place *p, struct strbuf *out);
void bars_write(struct gradient *g, struct tensor *t); /* the backward pass changes it */
bool bars_clear(struct gradient *g, struct step *s, const struct grad_place *p);
bool bars_is_met_before(struct gradient *g, struct step *s, const struct grad_place *p);

/* ---- plan.c ---- */

/* A tensor from outside of a loop in segments, whose value differs when the body runs again. */
struct remade {
    struct tensor *tensor;
    bool is_changed;   /* by the loop; else only after it */
    bool is_scratch;   /* each iteration writes it, or pieces of it, before it uses them */
    const char *start; /* the array of its values before segments, or NULL */
    const char *again; /* its name when the body runs again; NULL: nothing needs it */
};

struct plan {
    struct step *loop;
    int64_t step;
    size_t begins_at, ends_at;              /* in the text before the loop, or before its branch */
    const char *low, *high, *all;           /* bounds, and how many iterations */
    const char *most, *count, *before_last; /* iterations of a segment, segments, those before the last one */
    const char *segment;                    /* the variable */
    VEC(struct remade *) remade;
    struct strbuf copies; /* before a segment of the forward pass */
    bool is_asked;        /* a value of each iteration is kept */
    const char *why;      /* the reason why the loop cannot run in segments, or NULL */
    const char *help;     /* what to write instead, where that is not `@keep(0)` alone, or NULL */
    struct span why_at;
};
/* plan_written.c */
bool plan_has_inside(const struct plan *p, const struct step *s); /* is it in the body of the loop? */
/* Is the whole tensor written before the loop, on every path? */
bool plan_is_written_before(struct gradient *g, const struct plan *p, const struct tensor *t);
/* Does each iteration write the whole tensor before it uses it? */
bool plan_begins_anew(struct gradient *g, const struct plan *p, const struct tensor *t);
/* Do the iterations use nothing of the tensor but what they write, piece by piece? */
bool plan_only_writes(struct gradient *g, const struct plan *p, const struct tensor *t);

/* plan.c */
bool plan_begin(struct gradient *g, struct step *loop); /* sets loop->plan where there is one; false: reported */
void plan_forget(struct gradient *g, struct step *loop);
/* Prints the backward pass of the loop; back: that of an iteration. */
void plan_end(struct gradient *g, struct step *loop, const char *back);
void plan_forth(struct gradient *g, const struct step *s, struct strbuf *out);
const char *plan_iteration(struct gradient *g, const struct plan *p, const char *iteration);
/* While the body runs again: is the call made, is the name declared? */
bool plan_runs_again(const struct plan *p, const struct step *s);
bool plan_names_again(struct gradient *g, const struct plan *p, const struct step *s);

/* ---- back.c, back_call.c, forth.c ---- */
bool back_block(struct gradient *g, struct block *b);
bool back_call(struct gradient *g, struct step *s);
void forth_block(struct gradient *g, struct block *b, struct strbuf *out);

/* ---- kernels.c, of a module ---- */
struct known_adjoint;
struct grads {
    struct checker *c;
    struct module *m;
    struct strbuf kernels, functions;
    VEC(struct known_adjoint) adjoints;
    VEC(struct inner_gradient *) inner;
    struct ptrmap names; /* of items that were made */
    struct ptrmap words; /* all names in the module: none of an item that is made is hidden by one */
    const char *copy_names[MAX_RANK + 1], *zero_names[MAX_RANK + 1], *add_names[MAX_RANK + 1];
    int depth; /* of functions in functions */
};
struct known_adjoint {
    const struct symbol *kernel;
    int x;
    const struct adjoint *adjoint;
    const char *name[3]; /* by enum adjoint_form; NULL: not printed yet */
};
struct inner_gradient {
    const struct symbol *orch;
    const char *key, *name;
    bool is_open; /* its text is being made */
};
const struct adjoint *kernels_adjoint(struct grads *all, const struct symbol *kernel, int x);
const char *kernels_name(struct grads *all, const struct symbol *kernel, int x, enum adjoint_form form);
const char *kernels_copy(struct grads *all, int rank);
const char *kernels_zero(struct grads *all, int rank);
const char *kernels_add(struct grads *all, int rank); /* (in x, inout y) */
const char *kernels_free_name(struct grads *all, const char *base);
/* The formal of the kernel that a formal of its @adjoint belongs to, and whether as its bar. */
int kernels_original(const struct symbol *kernel, const struct symbol *f, bool *is_bar);

/* ---- function.c ---- */
/* The gradient of orch for a caller's; its name.  NULL: reported. */
const char *function_inner(struct gradient *caller, struct symbol *orch, struct symbol **x, const enum adds *adds,
                           int x_count, struct span at);
bool function_print(struct grads *all, struct symbol *orch, const char *name, struct symbol **x, const enum adds *adds,
                    int x_count, struct span at);

#endif
