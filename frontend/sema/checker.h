/* checker.h - what the files of the checker share, and the passes of codegen/passes that report during checking;
 * nobody else includes it.
 *
 * Calls point down this list; what one line names may call each other.
 *   sema.c                     the order of things
 *   stmts.c                    statements: lets.c assign.c returns.c attrs.c (statements.h)
 *   declare.c exprs.c calls.c  names are looked at when they are first needed, so a declaration holds expressions, an
 *                              expression calls, and a call names: constants.c type_nodes.c requests.c, indexing.c,
 *                              builtin_calls.c, callee.c arguments.c dims.c written.c (matching.h)
 *   demands.c agree.c          of a call: its conditions, its types
 *   decided.c                  extents that the run decides (decided.h)
 *   generics.c                 generic kernels and their instances
 *   structs.c                  structs as their leaves
 *   hoist.c lookahead.c        checks that leave loops; statements that are not checked yet
 *   shapes.c region.c steps.c  tensors with other dimensions; pieces of tensors; every s-th index of a dimension
 *   consteval.c builtins.c     values known now: an argument of a builtin is one, and its result
 *   equations/                 kernels in index notation
 *   kernel_body.c derive.c values.c
 *   grads.c                    @grad and @adjoint
 *   names.c modules.c texts.c notes.c facts.c size.c types.c
 *
 * struct checker: its first members are sema.c's, set once; modules.c fills modules and module_of; names.c writes
 * scope, closed, unknown and unused; the function that enters a part of the program sets module, function, loop_depth,
 * open_for, checks and statement, and sets them back behind it. */
#ifndef PTOC_CHECKER_H
#define PTOC_CHECKER_H
#include "facts.h"
#include "sema.h"
#include "support/arena.h"
#include "support/intern.h"
#include "support/strbuf.h"
#include "support/vec.h"

struct note {
    struct call *call;
    const struct region *region;
    const struct struct_place *place;
    struct check *checks;
    struct symbol *taken;
    enum truth truth;
};

/* What a symbol of taken_of() stands for, where that is an element of a host array, which never changes. */
struct host_element {
    const struct symbol *base, *taken;
    const struct size *at;
};

struct scope {
    struct scope *parent;
    VEC(struct symbol *) names;
    struct ptrmap by_name; /* the same, of a block with many of them */
    struct ast *block;     /* NULL: the formals of a function */
};

/* A name that was said to be unknown: once in each function, and once in the heads of a file. */
struct unknown {
    const char *name;
    const struct module *file, *inside;
    const struct symbol *function;
};

struct checker {
    struct front *front;
    struct arena *mem;
    struct diag *diag;
    struct size_table *sizes;
    const struct sema_options *options;
    struct checked *checked; /* the result */
    VEC(struct module *) modules;
    struct ptrmap module_of;    /* interned real path -> module */
    struct ptrmap module_names; /* interned C names of modules: -> the last number that was put behind it */
    int import_depth, resolve_depth;
    struct module *module; /* whose text is being checked */
    struct scope *scope;   /* NULL: file level */
    struct facts *facts;
    struct facts *kernel_facts; /* of a kernel in index notation; NULL: there was none */
    struct symbol *function;    /* the ORCH being checked, or NULL */
    int loop_depth;
    int parts_compared;          /* in this program: parts.c stops when it has thought enough */
    struct open_for *open_for;   /* the innermost `for` that a check can be hoisted out of; NULL: none */
    VEC(struct symbol *) closed; /* names of blocks of this function that have ended */
    VEC(struct unknown) unknown;
    VEC(struct symbol *) unused;       /* unused locals: reported when there is no error */
    struct span statement;             /* the one being checked */
    struct symbol *head;               /* the KERNEL or ORCH whose head is being resolved, or NULL */
    struct symbol *deciding;           /* the result_place whose type is being looked at: it may have `?m`; or NULL */
    VEC(struct host_element) elements; /* read so far in this function */
    struct check **checks;             /* where a run-time check goes; NULL where none can be made */
    int next_text;                     /* texts of types in messages share a few buffers, the next one is used first */
    const struct ast *alone;           /* the call that is all that its statement evaluates */
    struct strbuf text[8];
    bool is_left_out;    /* a constant condition leaves out the code that is checked: see exprs_enter */
    bool is_assigned;    /* the name that is looked up is the target of an assignment */
    bool may_name_ranks; /* in an attribute that changes no result, outside of calls */
    bool *define_used;
    bool has_syntax_error; /* broken.c says what is checked then */
    const struct type *error, *void_, *int_, *f64, *f32, *bool_, *string;
};

/* ---- broken.c ---- */
bool broken_only_bodies(struct checker *c); /* every error so far lies in the body of one function */
bool broken_is_body(const struct checker *c, const struct ast *item);

/* ---- notes.c ---- */
struct note *notes_of(struct checker *c, struct ast *e); /* made where there is none */
bool notes_bad(struct ast *e);                           /* marks; returns false */
const struct type *notes_fail(struct checker *c, struct ast *e);
bool notes_is_element(const struct ast *e);

/* ---- texts.c: good for one message ---- */
struct strbuf *texts_next(struct checker *c); /* empty; the same again some texts later */
const char *type_str(struct checker *c, const struct type *t);
const char *size_str(struct checker *c, const struct size *a);
const char *place_str(struct checker *c, const struct ast *e); /* "x[i +: w]" as written, cut short */

/* ---- names.c ---- */
struct symbol *names_new(struct checker *c, enum symbol_kind kind, const char *name, struct ast *decl);
void names_push(struct checker *c, struct ast *block);
void names_pop(struct checker *c);
void names_add(struct scope *s, struct symbol *symbol); /* of a symbol that was declared before */
/* in the innermost scope; E16, W03 */
void names_declare(struct checker *c, struct symbol *s, struct span at);
/* NULL: unknown; declare_lookup() asks both */
struct symbol *names_in_scope(const struct checker *c, const char *name);
struct symbol *names_in_module(const struct module *m, const char *name);
/* E01 with the nearest names; module NULL: all that is visible here (E11 for a name whose block has ended). */
/* Help for the member e of a tensor, and for a call of a member of something that is no module. */
void members_help(struct checker *c, const struct ast *e);
void members_help_call(struct checker *c, const struct ast *callee, const struct symbol *object);
void names_unknown(struct checker *c, struct span at, const char *name, const char *what, const struct module *module);

/* ---- values.c ---- */
/* The var gets another value; the one it had keeps what is known, under a name that no text can say.  Returns that
 * name. */
const struct symbol *values_forget(struct checker *c, struct symbol *var);
/* The same element of a host array is the same number wherever it is read. */
void values_know_element(struct checker *c, const struct symbol *taken, const struct region *r);

/* ---- derive.c ---- */
const struct type *derive_element(struct checker *c, enum elem e); /* what reading one element gives */
const struct type *derive_tensor(struct checker *c, const struct region *r, enum elem elem, int array_rank);
const struct type *derive_array(struct checker *c, const struct size *length, const struct type *element);
const struct type *derive_with_array_rank(struct checker *c, const struct type *t, int array_rank);
const struct type *derive_type(struct checker *c, const struct type *t, const struct symbol *const *from,
                               const struct size *const *to, int count);
void derive_extents(struct checker *c, struct type *t, const struct symbol *const *from, const struct size *const *to,
                    int count);
bool derive_same_structure(const struct type *a, const struct type *b); /* the same but for elements and extents */

/* ---- modules.c ---- */
struct module *modules_load(struct checker *c, const char *path); /* the main file and all it imports; NULL: reported */
void modules_declare(struct checker *c, struct module *m);
void modules_extend(struct checker *c, struct module *m, struct ast *items); /* with items that are declared now */

/* ---- declare.c ---- */
void declare_resolve(struct checker *c, struct symbol *s);                   /* its type and value; cycles are E16 */
void declare_check_overloads(struct checker *c, const struct symbol *first); /* when all are resolved */
struct symbol *declare_lookup(struct checker *c, const char *name); /* the meaning of the name here; NULL: unknown */
/* pushes generics and formals of a KERNEL or ORCH */
void declare_body_scope(struct checker *c, struct symbol *s);

/* ---- constants.c ---- */
void constants_const(struct checker *c, struct symbol *s);
void constants_param(struct checker *c, struct symbol *s);
void constants_check_defines(struct checker *c); /* a -D of an unknown name */

/* ---- type_nodes.c ---- */
const struct type *type_nodes_check(struct checker *c, struct ast *node);

/* ---- accumulators.c ---- */
/* The `by` of a formal of s, which node has; sets f->by. */
void accumulators_check(struct checker *c, struct symbol *s, struct symbol *f, const struct ast *node);

/* ---- library.c ---- */
/* The text of std/MODULE.pto in the source map; -1: there is none. */
int library_file(struct checker *c, const char *module);
/* A kernel without a body whose C function is the library's; E04, E12. */
void library_check(struct checker *c, const struct symbol *kernel);

/* ---- scratch.c ---- */
/* A scratch tensor of s: node->symbol is its symbol, which is in scope. */
void scratch_declare(struct checker *c, struct symbol *s, struct ast *node);

/* ---- generics.c ---- */
void generics_declare(struct checker *c, struct symbol *s, struct ast *generic); /* an element type in the head of s */
/* Of a generic kernel in index notation: each instance there can be, until one is refused. */
void generics_check_instances(struct checker *c, struct symbol *kernel);
void generics_check(struct checker *c, struct symbol *kernel); /* a head whose formals are known */
/* No element type is that of both: kernels of one name may differ by it.  A plain type goes before a variable. */
const char *generics_elements(struct checker *c, const struct type *t); /* "f32", "E (any float)" */
bool generics_differ(const struct type *a, const struct type *b);

/* ---- kernel_body.c ---- */
void kernel_body_check(struct checker *c, struct symbol *s); /* E16; sets needs_contiguous of formals */

/* ---- equations/equations.c ---- */
/* A kernel in index notation, in the scope of its head: sets its `equations`, or reports. */
void equations_check(struct checker *c, struct symbol *kernel);

/* ---- requests.c ---- */
void requests_check(struct checker *c, struct symbol *kernel); /* the attributes before a KERNEL; sets its opcode */

/* ---- grads.c ---- */
void grads_check(struct checker *c, struct symbol *orch); /* the attributes before a function whose head is known */
/* `@adjoint(f)` before a kernel: sets its `adjoint`.  false: reported. */
bool grads_check_adjoint(struct checker *c, struct symbol *kernel, struct ast *attr);

/* ---- consteval.c ---- */
struct constant {
    const struct type *type;
    int64_t i;
    double f;
};
bool consteval(struct checker *c, const struct ast *e, struct constant *out); /* false: not constant, or bad */
double constant_as(const struct constant *v, const struct type *t);           /* the number v as one of type t */
bool consteval_text(struct checker *c, const char *text, const struct type *type, struct constant *out); /* -D */

/* ---- exprs.c ---- */
enum use { AS_VALUE, AS_PLACE }; /* AS_PLACE: an element of a tensor may stand here, its user looks at it */
const struct type *exprs_check(struct checker *c, struct ast *e, enum use use);
const struct size *exprs_int(struct checker *c, struct ast *e, const char *what); /* NULL: reported */
/* The same, where the run computes the size instead of the expression: what the size has lost is evaluated, too. */
const struct size *exprs_size(struct checker *c, struct ast *e, const char *what);
/* The value of a checked integer expression that a size needs: where it has none, it is what the expression gives when
 * it is evaluated. */
const struct size *exprs_take(struct checker *c, struct ast *e);
bool exprs_condition(struct checker *c, struct ast *e);
enum truth exprs_truth(struct checker *c, const struct ast *condition); /* that of a constant */
/* Precedes the check of an expression or a block that is evaluated only where `condition` is `truth`.  Where a constant
 * leaves it out, a value that does not exist (10 / 0) is no error, nor is an index out of bounds.  Returns the value
 * that c->is_left_out must have again after that check. */
bool exprs_enter(struct checker *c, enum truth condition, bool truth);
/* Can a value of type `from` be given to `to`?  Reports E02 when not. */
bool exprs_fits(struct checker *c, const struct ast *e, const struct type *to, const char *what);
bool exprs_is_number(const struct type *t);
/* The type that arithmetic of two numbers has. */
const struct type *exprs_common(struct checker *c, const struct type *a, const struct type *b);
void exprs_say_await(struct checker *c, const struct ast *e); /* E19: an element of a tensor as a value */

/* ---- indexing.c ---- */
/* Types an INDEX expression whose object has been checked; sets type and region. */
const struct type *indexing_check(struct checker *c, struct ast *e);
void indexing_view(struct checker *c, struct ast *stmt); /* a VIEW statement */
struct index_range;
/* One index of a dimension: *r says which it names, and is inside, or has a check.  false: reported. */
bool indexing_bounds(struct checker *c, struct ast *i, const struct size *extent, struct index_range *r);
/* A check that such an index has made, with other sizes: it is proved, or made again.  false: reported at e. */
bool indexing_again(struct checker *c, struct ast *e, const struct check *k);

/* ---- builtins.c ---- */
const struct builtin *builtins_find(const char *name); /* NULL: there is none of that name */
/* As consteval, of a call with a real or a bool. */
bool builtins_consteval(struct checker *c, const struct ast *e, struct constant *out);

/* ---- builtin_calls.c ---- */
const struct type *builtin_calls_check(struct checker *c, struct ast *e);
/* As exprs_take, of a call of a builtin. */
const struct size *builtin_calls_take(struct checker *c, struct ast *e);

/* ---- region.c ---- */
const struct region *region_whole(struct checker *c, struct symbol *base);
bool region_is_contiguous(struct checker *c, const struct region *r,
                          int from); /* dimension `from` and those after it */
/* 1: share an element whenever neither is empty, 0: never, -1: not known. */
int region_overlap(struct checker *c, const struct region *a, const struct region *b);
bool region_is_host(const struct region *r); /* its elements are read without await */
bool region_is_empty(struct checker *c, const struct region *r);
/* NULL where none can be made */
struct check *region_check(struct checker *c, enum check_kind kind, struct span at);
void region_check_extents(struct checker *c, const struct type *t, const struct ast *node);
/* It is not negative, and not 0 where that is said. */
void region_check_size(struct checker *c, const struct size *a, struct span at, const char *what, bool or_zero);
/* Sizes that name a `var` are stored with the symbol. */
const struct type *region_capture_type(struct checker *c, struct symbol *s, const struct type *t);
const struct region *region_capture_region(struct checker *c, struct symbol *s, const struct region *r);

/* Indices of one dimension: low + k * step, k in [0, width).  width NULL: the point low; step NULL: 1; is_loose: low is
 * known to be inside only where there is an element. */
struct index_range {
    const struct size *low, *width, *step;
    bool is_loose;
};
/* The piece of `all` that has these indices in its first `count` dimensions. */
const struct region *region_narrow(struct checker *c, const struct region *all, int count,
                                   const struct index_range *index);
void region_settle(struct checker *c, struct region *r); /* what follows from offset, extents and strides */
/* Overflow of constants is reported where the extents are declared, or the index is out of bounds: the result is a. */
const struct size *region_plus(struct checker *c, const struct size *a, const struct size *b);
const struct size *region_times(struct checker *c, const struct size *a, const struct size *b);

/* ---- lost.c: of a checked integer expression, whose size stands for it ---- */
void lost_check(struct checker *c, struct ast *e);
void lost_check_type(struct checker *c, struct ast *type); /* the extents in it; NULL: there is none */

/* ---- shapes.c: of a tensor ---- */
const struct type *shapes_transpose(struct checker *c, struct ast *e); /* a MEMBER .T, whose object has been checked */
bool shapes_is_permutation(struct checker *c, const struct ast *e);    /* a CALL of .permute */
const struct type *shapes_permute(struct checker *c, struct ast *e);
const struct type *shapes_as(struct checker *c, struct ast *e); /* an INDEX that is_shape */

/* ---- steps.c: of one dimension of the base ---- */
int steps_sign(struct checker *c, const struct size *a); /* 1, -1; 0: not known */
/* r, so far the region that is narrowed, gets these indices of it in dimension b. */
void steps_narrow(struct checker *c, struct region *r, int b, const struct index_range *index);
bool steps_apart(struct checker *c, const struct region *x, const struct region *y,
                 int b);                                                                   /* proved: none is in both */
bool steps_meet(struct checker *c, const struct region *x, const struct region *y, int b); /* proved: one is in both */
bool steps_equal(struct checker *c, const struct region *x, const struct region *y, int b);   /* the same indices */
bool steps_leave_out(struct checker *c, const struct region *r, int b, const struct size *i); /* proved: not i */

/* ---- structs.c ---- */
/* of a symbol whose type is a struct, or an array of structs */
void structs_declare_fields(struct checker *c, struct symbol *s);
/* place: a result_place of the same type, or NULL */
void structs_set_returned(struct symbol *let, struct symbol *place);
bool structs_names_var(const struct type *t); /* an extent does */
/* E08 for a new value of a type that has a host field: nothing could write it. */
bool structs_can_be_made(struct checker *c, struct span at, const char *name, const struct type *t);
bool structs_is_host_field(const struct symbol *s); /* a leaf of a formal */
/* writable.c: may the function write base, a tensor or a scalar of a struct?  false: reported, at `at`. */
bool writable_check(struct checker *c, const struct ast *at, const struct symbol *base, enum direction dir);
/* the scalars of s change: nothing is known of them any more */
void structs_forget(struct checker *c, struct symbol *s);
const struct struct_place *structs_place(const struct ast *e); /* what e names; NULL: no struct */
/* What e names all of: a name, or a field of a struct, down to a tensor; NULL: a view, an element, a second name. */
const struct symbol *structs_owner(const struct ast *e);
/* The array of tensors or structs of which e, `xs[i]`, is one element, or a field of one; else NULL. */
const struct symbol *structs_array_of(const struct ast *e);
const char *structs_relation(const struct ast *e); /* "a part of": what e, which names no whole, is of its owner */
/* They set what e means: its place or region, its type, its value. */
void structs_name(struct checker *c, struct ast *e, struct symbol *s);
void structs_member(struct checker *c, struct ast *e, const struct struct_place *object, int field);
void structs_index(struct checker *c, struct ast *e, const struct struct_place *object, const struct size *low,
                   const struct size *width);
/* `let v = place` */
void structs_alias(struct checker *c, struct symbol *let, const struct struct_place *p, const struct type *t);
void structs_pieces(struct checker *c, struct ast *e); /* e's symbol is one whose fields are what e names */
void structs_leaves(struct checker *c, struct leaves *list, const struct struct_place *p, struct symbol *formal);

/* ---- calls.c ---- */
struct target {
    const struct region *destination; /* an existing place, or NULL */
    const struct struct_place *into;  /* the same for a struct */
    const struct type *type;          /* of the destination */
    const struct type *declared;      /* no destination: the type that the let is given, or NULL */
    struct ast *place;                /* for messages */
    struct symbol *let;               /* no destination: the let that the new tensor belongs to; NULL: a hidden one */
    bool returns;
};
/* A call whose result is used; target NULL: a new tensor.  The result's type. */
const struct type *calls_value(struct checker *c, struct ast *e, const struct target *target);
void calls_statement(struct checker *c, struct ast *e);

/* ---- callee.c ---- */
bool callee_is_task(struct checker *c, const struct ast *e); /* a call, and not of a builtin */

/* ---- written.c ---- */
void written_check(struct checker *c, struct symbol *kernel); /* the parts that its formals declare */
void written_refuse(struct checker *c, struct symbol *orch);
bool written_names(const struct symbol *formal, const struct symbol *s); /* does the part depend on the scalar? */

/* ---- agree.c ---- */
/* Type equality of a tensor with what is expected; E02, E03, E04. */
bool agree_type(struct checker *c, struct span at, const char *what, const struct type *got, const struct type *want);

/* ---- vars.c ---- */
/* The form with a `var`, as a help, where a tensor that is made here cannot be assigned. */
void vars_show_form(struct checker *c, const struct ast *place);

/* ---- stmts.c ---- */
void stmts_function(struct checker *c, struct symbol *s);

#endif
