/* sema.h - checks a program: names, types, symbolic shapes, directions, lifetimes.  The result is the AST with its "set
 * by sema" members filled in, plus the side tables below. */
#ifndef PTOC_SEMA_H
#define PTOC_SEMA_H
#include "syntax/parser.h"
#include "support/ptrmap.h"
#include "symbol.h"

struct arena;
struct checker;
struct strbuf;

struct module {
    const char *name;        /* a C identifier that no other module has: the stem, followed by a number if need be */
    const char *stem;        /* of the file, as a C identifier: "bgemm", "tile" */
    const char *option_name; /* in `--set vec.n=4` and `-D vec.T=8`: what the main file imports it as; of a module that
                              * only others import its stem, or `layer.vec` where two have that */
    const char *imported_as; /* by its first importer */
    const struct module *importer;
    const char *path; /* as found: "examples/bgemm.pto", "std/tile.pto" */
    struct program_ast *ast;
    struct symbol **symbols; /* in source order; overloads chained, so each name once */
    int symbol_count;
    struct ptrmap by_name; /* the same symbols by their interned names */
    bool is_main;
    bool is_named;           /* the main file imports it */
    const char *gradients;   /* the text of the items that `@grad` asked for; NULL: there are none */
    bool lacks_gradients;    /* it asks for some, and an error is in their place */
    struct grad_plan *plans; /* the loops of gradients that run in segments */
    const char *real_path;   /* which file it is; nothing that is generated has it, but for --depfile */
};

enum truth {
    TRUTH_OF_RUN, /* the run decides */
    TRUTH_NEVER,
    TRUTH_ALWAYS
};

/* A const or a param as the command line names it: T of the main file, vec.T of a module.  In mem, or s->name. */
const char *symbol_option_name(struct arena *mem, const struct symbol *s);
/* Of the library of kernels, and not the main file. */
bool module_is_std(const struct module *m);

/* A loop of a gradient whose values are made again. */
struct grad_plan {
    struct grad_plan *next;
    const char *function;        /* the gradient */
    struct span loop;            /* in the function */
    const char *kept, *segments; /* iterations of a segment, how many there are, as the gradient writes them */
    const char *values, *copies; /* names of what is kept of an iteration, and before a segment */
    int calls, calls_again;      /* in the text of an iteration: all, and those that run once more */
};

struct define {
    const char *name;
    const char *value;
}; /* -D T=128 */

struct sema_options {
    const char *const *import_dirs; /* the search path after the importing file's folder; std/ is found in its parent */
    int import_dir_count;
    const struct define *defines;
    int define_count;
    int64_t heap_bytes; /* 0: not given */
    int grad_segments;  /* of the loops of gradients without `@keep`; 0 and 1: everything is kept */
    /* Called when the body of a function has been checked, errors or not, so that all messages about a function stand
     * together.  codegen_check() sets it. */
    void (*passes)(struct checker *c, struct symbol *orch);
    /* Called for a module with `@grad`, when the functions that have it and all that they call were checked without an
     * error: appends the items that it asks for, or reports.  codegen_check() sets it. */
    void (*gradients)(struct checker *c, struct module *m, struct strbuf *out);
    /* Asked before the body of each function; true: nobody wants the result any more, and the rest is not checked.
     * NULL: it is always wanted. */
    bool (*is_stale)(void *cx);
    void *stale_cx;
    const char *check_grad; /* the function whose gradient is compared, "": the only one; NULL: none is */
    bool only_checks;       /* nobody asks for code */
    struct arena *scratch;  /* of codegen_check(): for one function after the other; NULL: they are kept */
    struct strbuf *uses;    /* the uses of each function as text, for --dump=uses; NULL: not asked for */
};

struct checked {
    struct module **modules; /* the main module first, then in order of first import */
    int module_count;
    bool has_syntax_error; /* in a module: then not all was checked */
    struct size_table *sizes;
    struct ptrmap tensors;   /* symbol -> struct tensor_note, through tensor_note_of() */
    struct ptrmap functions; /* orch -> what codegen_check() made of it, where code may be asked for */
};

/* Parses and checks the file, whose text is in front->sources or laid over it, and everything it imports.  Reports
 * through front->diag; the result may be used for code only if there was no error.  For codegen_check(), which adds the
 * passes. */
struct checked *sema_check(struct front *front, const char *path, const struct sema_options *options);

/* The instance of a generic kernel for a type of each of its elems, made where there is none. */
struct symbol *sema_instance(struct front *front, struct symbol *generic, const enum elem *elem);
/* Never NULL: all is false of what no pass has seen. */
const struct tensor_note *tensor_note_of(const struct checked *checked, const struct symbol *s);

/* NULL for builtins (builtins.c has them) */
const struct call *call_of(const struct ast *call_node);
/* select(c, a, b): its arguments, of which only one arm is evaluated; else NULL. */
struct ast *select_of(const struct ast *n);
/* Of a tensor-valued expression that names storage (NAME, INDEX, MEMBER; for an element `t[i]` the one element), of a
 * CALL with a tensor result where that goes, of a VIEW statement what is tiled; else NULL. */
const struct region *region_of(const struct ast *expr);
/* Of a NAME or MEMBER; a second name of a whole tensor has the symbol of the tensor itself.  NULL: there is none. */
struct symbol *symbol_behind(const struct ast *place);
/* Of an integer expression whose value is known only when it is evaluated, where a size needs it: the hidden LET that
 * stands for the value in sizes (extents, offsets, checks).  It is evaluated once, in its place among the other
 * expressions.  Else NULL. */
struct symbol *taken_of(const struct ast *expr);
/* The extent of `got` where `want`, a type alike, has the number (see decided_name); NULL: it has none. */
const struct size *decided_value(const struct type *want, const struct type *got, const struct symbol *number);
/* Is the place all of a `var` that is a tensor or a struct, or a field of one?  Then its symbol is that. */
bool vars_is_place(const struct ast *place);
const char *builtins_name(int i); /* of the functions that the language has itself; NULL behind the last */
const char *attrs_name(int i);    /* of the attributes before a statement; NULL behind the last */
/* The attribute of that name before the statement; NULL: there is none. */
struct ast *attrs_find(const struct ast *s, const char *name);
/* Of the condition of a branch: does a constant decide it? */
enum truth truth_of(const struct ast *condition);
/* To be made before this statement (LET, VIEW, FOR, ...), or each time this AWAIT, INDEX (one element) or CALL (of dim)
 * is evaluated.  Those of a call are in call.checks. */
const struct check *checks_of(const struct ast *node);

#endif
