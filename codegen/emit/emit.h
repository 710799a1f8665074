/* emit.h - what the emitters of C share; nobody else includes it.
 *
 * emit_c.c      the order of the file, functions    emit_stmt.c    statements            emit_call.c   calls of kernels, functions
 * emit_expr.c   scalar expressions                  emit_size.c    sizes and regions     emit_check.c  run-time checks
 * emit_kernel.c what a kernel needs around it       emit_table.c   entries, the table    emit_header.c --emit=header
 * emit_print.c  print
 * emit_prepare.c what goes before a statement, in the order of evaluation
 *
 * Note [every function is printed twice]: the first time into a section that is thrown away, only to learn which names and scopes
 * its text mentions.  So a declaration knows whether anything uses it, and nothing unused is printed. */
#ifndef PTOC_EMIT_H
#define PTOC_EMIT_H
#include "codegen.h"
#include "mangle.h"
#include "out.h"
#include "plan.h"

/* How tightly what is printed must bind, to save parentheses. */
enum precedence { P_ANY, P_OR, P_AND, P_EQ, P_REL, P_ADD, P_MUL, P_UNARY, P_POSTFIX };

/* What arithmetic does when it leaves 64 bits. */
enum arithmetic {
    ARITH_CHECKED, /* fails the run */
    ARITH_PLAIN,   /* cannot happen: something else was checked before */
    ARITH_COST,    /* stops at the largest number: a cost is an estimate */
    ARITH_TRY      /* clears the local variable `ok` */
};

struct site { const char *file; int line, column; const char *text; };

struct open_block {
    struct open_block *parent;
    const struct ast *block;
    bool has_scope, is_loop;
    const char *scope_name;
    size_t names_mark;
};

struct kernel_names {
    const char *object, *task, *cost, *body, *symbol; /* symbol: the C function that does the work */
    const char *mapped; /* what the map of a backend calls it */
    int extra[MAX_FORMALS]; /* dimension variables that no shape tells: their place behind the formals, or -1 */
    int extra_count;
};

struct emitter {
    struct front *front;
    const struct checked *checked;
    const struct codegen_options *options;
    struct plan *plan;
    struct arena *mem;
    struct out *out;
    struct names names;
    VEC(struct site) sites;
    int submits; /* calls of pto_submit_task that were printed */
    struct ptrmap c_names; /* symbol -> its name in C */
    struct ptrmap kernels; /* kernel -> struct kernel_names */
    struct ptrmap used;    /* symbols and scopes that the text mentions */
    struct ptrmap hoisted; /* expression -> the C variable that holds its value */

    struct symbol *function;
    struct open_block *block;
    const struct ast *attributes; /* of the statement being printed */
    const struct ast *attributed; /* the call they belong to */
    const struct call *binding; /* while a kernel's `where` is printed: what its names stand for */
    enum arithmetic arithmetic;
    const char *frame;          /* the function's frame, in C */
    bool uses_rt;               /* what was printed since this was cleared can fail */
};

/* ---- emit_c.c ---- */
const char *emit_name(struct emitter *e, const struct symbol *s); /* marks it as used */
const char *emit_declare(struct emitter *e, const struct symbol *s, const char *wanted);
void        emit_unsupported(struct emitter *e, struct span at, const char *what);
void        emit_at(struct emitter *e, struct span at);             /* the lines that follow are from there */
int         emit_site(struct emitter *e, struct span at, const char *text);
void        emit_mark_site(struct emitter *e, struct span at, const char *text); /* pto_at(...); */
const char *emit_stem(const struct emitter *e);                     /* "bgemm" */
struct span emit_callee_span(const struct ast *call);
const char *emit_source_text(struct emitter *e, struct span at);    /* on one line, harmless in a comment */
const char *emit_comment_text(struct emitter *e, const char *text); /* a path or a name that may hold anything */
const char *c_string(struct emitter *e, const char *text);
void        emit_orch_signature(struct emitter *e, const struct symbol *orch, bool declare, struct strbuf *b);
/* The formals with structs replaced by their leaves; what it returns likewise, where that is a tensor or a struct. */
void        flat_formals(const struct symbol *callee, symbol_list *list);
void        flat_results(const struct symbol *callee, symbol_list *list);

/* ---- emit_size.c ---- */
const char *c_elem_type(enum elem elem);             /* "float" */
const char *c_elem_constant(enum elem elem);         /* "PTO_F32" */
const char *c_scalar_type(const struct type *t);     /* "int64_t" */
const char *type_string(struct emitter *e, const struct type *t);
void        print_int(struct strbuf *b, int64_t value, enum precedence prec);
void        print_size(struct emitter *e, struct strbuf *b, const struct size *s, enum precedence prec, enum arithmetic mode);
const char *result_name(struct emitter *e, const struct symbol *base); /* "ret": the hidden destination where base lies */
void        print_base(struct emitter *e, struct strbuf *b, const struct region *r);    /* the base address */
void        print_ref(struct emitter *e, struct strbuf *b, const struct symbol *base);  /* where the base address is kept */
void        print_view(struct emitter *e, struct strbuf *b, const struct region *r);    /* PTO_ARRAY(...) or PTO_STRIDED(...) */
void        print_tensor(struct emitter *e, struct strbuf *b, const struct region *r);  /* a PTOTensor */
void        print_bytes(struct emitter *e, struct strbuf *b, const struct type *t);     /* of a whole tensor, checked */
const struct region *region_of_all(struct emitter *e, const struct symbol *s);          /* a whole tensor */

/* ---- emit_expr.c ---- */
void expr_print(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence prec);
void print_element_of(struct emitter *e, struct strbuf *b, const struct region *r); /* its value, read without waiting */
void expr_print_as(struct emitter *e, struct strbuf *b, const struct ast *n, const struct type *t, enum precedence prec);
/* An element, its checks as statements before. */
void element_print_checked(struct emitter *e, struct strbuf *b, const struct ast *n);
void print_symbol(struct emitter *e, struct strbuf *b, const struct symbol *s, enum precedence prec);
const char *arithmetic_prefix(enum arithmetic mode); /* "pto_cost_" */
const char *arithmetic_first(enum arithmetic mode);  /* "rt, " */
void print_real(struct strbuf *b, double value);
/* Joins `b op text`, with the run-time check that the ranges ask for; *range and *prec are those of b. */
void print_apply(struct emitter *e, struct strbuf *b, struct interval *range, enum precedence *prec, enum ast_op op,
                 const struct strbuf *text, struct interval text_range, enum precedence text_prec, enum arithmetic mode);

/* ---- emit_prepare.c ---- */
/* Before a statement that evaluates n once: what C's expressions cannot do, or not in order, goes first, into variables.  What
 * expr_print prints afterwards is the rest. */
void expr_prepare(struct emitter *e, struct ast *n);
void expr_keep(struct emitter *e, struct ast *n);     /* all of it into a variable, where it could fail or change */
void place_prepare(struct emitter *e, struct ast *n); /* of a tensor or an element: the calls that make it, its indices */
void type_prepare(struct emitter *e, struct ast *type); /* the extents in it; NULL: nothing */
void arguments_prepare(struct emitter *e, const struct call *call);
void attribute_prepare(struct emitter *e, struct ast *n);
bool expr_needs_statements(struct ast *n);            /* expr_prepare would print something that must be there */

/* ---- emit_check.c ---- */
void check_print_statements(struct emitter *e, const struct check *list, const struct call *call);
void check_print_commas(struct emitter *e, struct strbuf *b, const struct check *list, const struct call *call); /* "a, b, " */
/* Whether a tensor was written, where a check wants to know: a variable of C that every write sets. */
void        check_declare_flag(struct emitter *e, const struct symbol *s);
const char *check_flag(struct emitter *e, const struct symbol *s);
void        check_flags_of(const struct call *call, symbol_list *list); /* tensors with a flag that the call writes */
/* `name = value` of the scalars that n names, for a message: a format and the arguments for it. */
void print_values_named(struct emitter *e, struct ast *n, struct strbuf *format, struct strbuf *args);
void print_format_text(struct strbuf *format, const char *text); /* % doubled */

/* ---- emit_call.c ---- */
/* Everything a call statement needs; for a call with a scalar result the text of the call itself goes to *value. */
void call_emit(struct emitter *e, struct ast *n, struct strbuf *value);
void call_print(struct emitter *e, struct strbuf *b, struct ast *n); /* a call of an orch with a scalar result, in place */
void call_declare_new(struct emitter *e, const struct symbol *s);    /* void *P = NULL; for each leaf */
void sizes_capture(struct emitter *e, const struct symbol *s);       /* stores the sizes that name a `var`; NULL: nothing */

/* ---- emit_memory.c ---- */
void frame_emit(struct emitter *e);                                                   /* at the function's entry */
void frame_print_slot(struct emitter *e, struct strbuf *b, const struct symbol *s);   /* where a new tensor lies: "NULL": nowhere yet */
void frame_report(struct emitter *e, const struct symbol *orch);                      /* W06, W07 */

/* ---- emit_print.c ---- */
void emit_print(struct emitter *e, struct ast *n);

/* ---- emit_stmt.c ---- */
void emit_statement_checks(struct emitter *e, const struct ast *n, const char *what); /* those of the statement itself */
void emit_ends(struct emitter *e, const symbol_list *list);
void stmt_function_body(struct emitter *e, const struct symbol *orch);
/* pto_scope_begin for what `open->block` holds; the caller makes it e->block, and ends it. */
void scope_begin(struct emitter *e, struct open_block *open, const struct block_plan *plan, struct span at);
/* The scope that owns a tensor, by name; NULL: it is the current one, and `always` is false. */
const char *scope_reference(struct emitter *e, const struct symbol *tensor, bool always);

/* ---- emit_kernel.c ---- */
void kernel_assign_names(struct emitter *e);
void kernel_print_prototype(struct emitter *e, const struct symbol *kernel, bool is_body, struct strbuf *b);
void kernel_emit(struct emitter *e, const struct symbol *kernel);
void kernel_emit_call(struct emitter *e, const struct symbol *kernel); /* the C function and its adapter only */

/* Which extent of which formal tells a dimension variable, as factor * variable + rest; false: none does. */
bool kernel_dim_source(struct emitter *e, const struct symbol *kernel, const struct symbol *dim, int *formal, int *place, int64_t *factor,
                       int64_t *rest);

/* ---- emit_ascendc.c ---- */
void ascendc_emit(struct emitter *e); /* the whole file for --emit=ascendc */

/* ---- emit_device.c ---- */
void device_emit(struct emitter *e); /* the rest of the file for --emit=kernels */
const char *kernel_external_symbol(const struct symbol *kernel); /* of one without a body */

/* ---- emit_table.c ---- */
void entry_emit(struct emitter *e, const struct symbol *orch);
void entry_declare_names(struct emitter *e, const struct symbol *orch); /* they live until the caller forgets them */
void entry_print_prototype(struct emitter *e, const struct symbol *orch, struct strbuf *b);
void table_emit(struct emitter *e);
void params_emit(struct emitter *e);
const char *params_derive_name(struct emitter *e); /* the function that computes defaults which follow from others; NULL: there are none */
void params_derive_emit(struct emitter *e);
const char *param_c_name(struct emitter *e, const struct symbol *param);

/* ---- emit_listing.c ---- */
/* A text about the plan, function by function, with an empty line between them. */
void emit_listing(struct front *front, const struct checked *checked, const struct memory_plan *memory,
                  void (*print)(struct emitter *e, const struct symbol *orch), struct strbuf *to);

/* ---- emit_header.c ---- */
void header_emit(struct emitter *e);

#endif
