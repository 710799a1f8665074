/* emit.h - what the emitters of C share; no other file includes it.
 *
 *   emit_c.c                        the order of the file, functions
 *   emit_table.c emit_params.c emit_header.c
 *                                   entries, the table; params; --emit=header
 *   emit_op.c emit_strips.c         operations; what stands before a loop that is handed over in strips
 *   emit_kernel.c emit_scratch.c emit_memory.c
 *                                   the C around a kernel; its scratch tensors; frames
 *   emit_value.c emit_view.c emit_call.c emit_check.c
 *                                   values, and what holds values: views, calls in expressions, run-time checks
 *   emit.c                          names, sites, texts */
#ifndef PTOC_EMIT_H
#define PTOC_EMIT_H
#include "codegen.h"
#include "kernel_dims.h"
#include "ir/lower.h"
#include "mangle.h"
#include "out.h"
#include "plan.h"

/* How tightly what is printed must bind, to save parentheses. */
enum precedence { P_ANY, P_OR, P_AND, P_EQ, P_REL, P_BITS, P_ADD, P_MUL, P_UNARY, P_POSTFIX };

struct site {
    const char *file;
    int line, column, width; /* of what the site is about, in bytes of the line */
    uint32_t digest;         /* of the line */
    const char *text, *indices;
};

struct kernel_names {
    const char *object, *task, *cost, *body, *symbol; /* symbol: the C function that does the work */
    const char *mapped;                               /* what the map of a backend calls it */
    int extra[MAX_FORMALS]; /* dimension variables that no shape determines: their index after the formals, or -1 */
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
    size_t offered;       /* so many sites before the last one are those of the loop that is printed, too */
    const char *digested; /* the line whose digest is known: that of the last site */
    uint32_t line_digest;
    int submits;                            /* calls of pto_submit_task that were printed */
    struct ptrmap c_names;                  /* symbol -> its name in C */
    struct ptrmap kernels;                  /* kernel -> struct kernel_names */
    struct ptrmap used;                     /* symbols and stored sizes that the text names */
    struct ptrmap param_members;            /* param -> its member of struct params */
    bool names_params;                      /* the text names `params`; cleared by params_declare */
    bool needs_integers, needs_mathematics; /* headers of functions that kernels in index notation name */
    bool has_global_params;                 /* params are read from the global variables of a library */
    struct lowering *lowering;

    const char *frame;             /* the function's frame, in C */
    const char *indices;           /* its array of the indices of loops, in C */
    const struct ir_strips *offer; /* the parameters that are printed are those of an offer; NULL: of a submit */
    VEC(const char *) loops;       /* the names of the indices around what is printed */
};

/* ---- emit.c ---- */
const char *emit_name(struct emitter *e, const struct symbol *s); /* marks it as used */
const char *emit_declare(struct emitter *e, const struct symbol *s, const char *wanted);
void emit_unsupported(struct emitter *e, struct span at, const char *what);
void emit_at(struct emitter *e, struct span at); /* the lines that follow are from there */
int emit_site(struct emitter *e, struct span at, const char *text);
void emit_mark_site(struct emitter *e, struct span at, const char *text); /* pto_at(...); */
const char *emit_public(const struct emitter *e, const char *name);       /* with --prefix */
const char *emit_stem(const struct emitter *e);                           /* "bgemm" */
struct span emit_callee_span(const struct ast *call);
const char *emit_source_text(struct emitter *e, struct span at);    /* source_one_line() */
const char *emit_comment_text(struct emitter *e, const char *text); /* a path or a name that may hold anything */
const char *c_string(struct emitter *e, const char *text);
/* ---- emit_view.c ---- */
const char *c_elem_type(enum elem elem);           /* "float" */
const char *c_elem_constant(enum elem elem);       /* "PTO_F32" */
const char *c_scalar_type(const struct type *t);   /* "int64_t" */
const char *scalar_member(const struct type *t);   /* of a PTOScalar: "i64" */
const char *scalar_constant(const struct type *t); /* "PTO_I64" */
const char *type_string(struct emitter *e, const struct type *t);
void print_int(struct strbuf *b, int64_t value, enum precedence prec);
void print_finite(struct strbuf *b, double value, bool is_f32); /* a literal of its type, whose value is exact */
const char *result_name(struct emitter *e,
                        const struct symbol *base); /* "ret": the hidden destination where base lies */
void print_base(struct emitter *e, struct strbuf *b, const struct region *r); /* the base address */
/* where the base address is kept */
void print_ref(struct emitter *e, struct strbuf *b, const struct symbol *base);
void print_values(struct emitter *e, struct strbuf *b, struct ir_value *const *list, int count); /* "a, b" */
/* PTO_ARRAY(...) or PTO_STRIDED(...) */
void print_view(struct emitter *e, struct strbuf *b, const struct ir_view *v);
/* a PTOTaskParam that is read */
void print_param(struct emitter *e, struct strbuf *b, const struct ir_view *v);
/* a PTOView */
void print_tensor(struct emitter *e, struct strbuf *b, const struct ir_view *v, bool is_moved);

/* ---- emit_value.c ---- */
void value_print(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence prec);
void let_emit(struct emitter *e, const struct ir_op *op); /* a LET */
/* Outside of functions: an expression (converted to `type` if that is not NULL), a size. */
void expression_print(struct emitter *e, struct strbuf *b, const struct ast *n, const struct type *type,
                      enum precedence prec, enum arithmetic mode);
void size_print(struct emitter *e, struct strbuf *b, const struct size *s, enum precedence prec, enum arithmetic mode);

/* ---- emit_check.c ---- */
void check_emit(struct emitter *e, const struct ir_check *c, bool is_hoisted);             /* as a statement */
void check_print_commas(struct emitter *e, struct strbuf *b, const struct ir_check *list); /* "a, b, " */
/* a condition under which the check does not fail: CONTIGUOUS, WRITTEN */
void check_print_condition(struct emitter *e, struct strbuf *b, const struct ir_check *c);
const char *check_flag(struct emitter *e, const void *key); /* the variable that says whether a tensor was written */
void message_print_values(struct emitter *e, struct strbuf *b, const struct ir_message *m); /* ", (long long)i" */

/* ---- emit_call.c ---- */
void submit_emit(struct emitter *e, const struct ir_call *call);
/* tests: those of an offer, by argument; NULL: none.  end: after the last one */
void submit_emit_params(struct emitter *e, const struct ir_call *call, const struct ir_strip_test *tests,
                        const char *end);
void call_print(struct emitter *e, struct strbuf *b, const struct ir_call *call); /* of a function, in an expression */

/* ---- emit_strips.c ---- */
/* The step of a loop that is not COUNTED, and that `end` ends. */
const char *step_text(struct emitter *e, const struct ir_op *op, const char *name, const char *end);
/* The number before which a loop stops, whose bounds are printed; it may become a variable before the loop. */
const char *strips_emit_end(struct emitter *e, const struct ir_op *op, const char *high);
/* The heads of two loops, and between them the offer: from one offer to the next, and from iteration to iteration. */
void strips_emit(struct emitter *e, const struct ir_op *op, const char *name, const char *low, const char *end);

/* ---- emit_memory.c ---- */
void frame_emit(struct emitter *e, const struct ir_op *op);
void frame_report(struct emitter *e, const struct symbol *orch); /* W06, W07 */

/* ---- emit_op.c ---- */
void function_emit_body(struct emitter *e, const struct ir_function *f);
int loops_with_sites(const struct ir_block *block); /* how deep those that have a site are nested */

/* ---- emit_kernel.c ---- */
void kernel_assign_names(struct emitter *e);
void kernel_print_prototype(struct emitter *e, const struct symbol *kernel, bool is_body, struct strbuf *b);
/* "f.pto:3  kernel scale(...)", for a comment */
const char *kernel_head_text(struct emitter *e, const struct symbol *kernel);
void kernel_emit(struct emitter *e, const struct symbol *kernel);
void fates_emit(struct emitter *e); /* emit_fates.c: of kernels in index notation, for --emit=kernels */
void kernel_emit_call(struct emitter *e, const struct symbol *kernel); /* the C function and its adapter only */

/* The values of its dimension variables and scalars, for an expression in a function that has the arguments `a`:
 * declared before the expression is printed; those it names are emitted afterwards.  false: it names none. */
void kernel_declare_values(struct emitter *e, const struct symbol *kernel);
bool kernel_emit_values(struct emitter *e, const struct symbol *kernel);

/* ---- emit_scratch.c ---- */
bool scratch_is_used(const struct symbol *kernel);                 /* has it scratch tensors? */
void scratch_emit(struct emitter *e, const struct symbol *kernel); /* in its adapter: the memory of all */
void scratch_print_argument(struct strbuf *b, int index);
void scratch_print_bounds(void *emitter, struct ir_op *op); /* a line for each call of such a kernel */

/* ---- emit_bounds.c ---- */
const char *emit_bytes_text(struct emitter *e, const struct size *s); /* "4 * N bytes" */

/* ---- emit_c.c ---- */
bool emit_has_f16(const struct symbol *s);      /* a kernel or function with a tensor of f16 */
void emit_equations_headers(struct emitter *e); /* that the kernels in index notation printed so far need */
void emit_f16_error(struct out *out);           /* where the C compiler has no such type */
void emit_no_tautologies(struct out *out);

/* ---- equations/equations.c ---- */
/* the C function of a kernel in index notation */
void equations_emit(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names);

/* ---- cpp_names.c ---- */
bool cpp_is_keyword(const char *name);                       /* of C++ and not of C */
bool cpp_is_word(const char *name);                          /* that, or a name of every file of AscendC */
const char *cpp_name(struct emitter *e, const char *wanted); /* names_take(), for C++ */

/* ---- emit_ascendc.c ---- */
void ascendc_emit(struct emitter *e); /* the whole file for --emit=ascendc */

/* ---- emit_device.c ---- */
void device_emit(struct emitter *e);                             /* the rest of the file for --emit=kernels */
bool kernel_is_external(const struct symbol *kernel);            /* its C is elsewhere */
const char *kernel_external_symbol(const struct symbol *kernel); /* of one without a body */

/* ---- emit_decided.c: results of an entry whose extents the run decides ---- */
struct decided {
    const struct symbol *from[MAX_FORMALS]; /* the numbers of the result */
    const struct size *to[MAX_FORMALS];     /* the variables of the entry for them */
    int count;
};
uint32_t decided_dims(const struct type *t); /* bit d: the run decides extent d */
/* Declares the variables, and begins the scope that owns the tensors; count 0: nothing is needed. */
void decided_begin(struct emitter *e, const struct symbol *orch, struct decided *decided);
void decided_emit(struct emitter *e, const struct symbol *result, struct strbuf *call); /* a tensor, as an argument */
void decided_print(struct emitter *e, const struct decided *decided, struct strbuf *call); /* the variables */
/* The tensor goes to the caller; of another result: nothing. */
void decided_copy(struct emitter *e, const struct decided *decided, const struct symbol *result);

/* ---- emit_table.c ---- */
void entry_emit(struct emitter *e, const struct symbol *orch);
void entry_declare_names(struct emitter *e, const struct symbol *orch); /* they live until the caller forgets them */
void entry_print_prototype(struct emitter *e, const struct symbol *orch, struct strbuf *b);
void table_emit(struct emitter *e);

/* ---- emit_params.c ---- */
bool params_exist(const struct emitter *e);
void params_assign_names(struct emitter *e);
void param_print(struct emitter *e, struct strbuf *b, const struct symbol *param); /* its value */
/* Declares `params` where the text since the last call names it.  from: the C expression of the record. */
void params_declare(struct emitter *e, const char *from);
void params_emit(struct emitter *e);          /* struct params, and the defaults */
void params_emit_snapshot(struct emitter *e); /* of a library: a record of the global variables */
int params_emit_table(struct emitter *e);     /* how many there are */
/* the function that computes defaults which follow from others; NULL: there are none */
const char *params_derive_name(struct emitter *e);
void params_derive_emit(struct emitter *e);

/* ---- emit_listing.c ---- */
/* A text about the plan, function by function, with an empty line between them. */
void emit_listing(struct front *front, const struct checked *checked, const struct memory_plan *memory,
                  void (*print)(struct emitter *e, const struct symbol *orch), struct strbuf *to);

/* ---- emit_header.c ---- */
void header_emit(struct emitter *e);

#endif
