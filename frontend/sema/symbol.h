/* symbol.h - the meaning of a name. */
#ifndef PTOC_SYMBOL_H
#define PTOC_SYMBOL_H
#include "accumulators.h"
#include "syntax/ast.h"
#include "types.h"

#define MAX_CAPTURED (5 * MAX_RANK)

enum symbol_kind {
    SYM_MODULE,
    SYM_CONST,
    SYM_PARAM,
    SYM_STRUCT,
    SYM_KERNEL,
    SYM_ORCH, /* of a file */
    SYM_DIM,
    SYM_ELEM, /* an element type of a generic kernel */
    SYM_FORMAL,
    SYM_LET,
    SYM_VAR,
    SYM_VIEW,
    SYM_LOOP /* of a function */
};

/* Of each of the base's dimensions: index k of a region is first + k * step.  step NULL: each index of the box. */
struct steps {
    const struct size *first[MAX_RANK], *step[MAX_RANK];
};

/* A strided piece of one tensor, in elements.  base: the tensor symbol (formal or let) that owns the storage. */
struct region {
    struct symbol *base;
    const struct size *offset; /* from the base's first element, the base's own `at` of a formal included */
    int rank;
    const struct size *extent[MAX_RANK], *stride[MAX_RANK];
    bool contiguous;  /* proved contiguous and row-major */
    bool whole;       /* proved to be all of the base */
    bool is_part;     /* of the box that follows it has some elements, and which they are only the strides say */
    bool is_left_out; /* never reached: what a constant condition leaves out may lie outside of the base */
    bool is_loose;    /* where it is empty, it may begin anywhere: its offset is not known to fit in 64 bits */
    /* The same piece in the base's own coordinates: indices [low, low + span) of each of base_rank dimensions, or those
     * of them that `steps` has.  Where the region is empty, a span may be negative. */
    int base_rank;
    const struct size *low[MAX_RANK], *span[MAX_RANK];
    const struct steps *steps; /* NULL: all of the box */
    int base_dim
        [MAX_RANK]; /* of each of the rank dimensions: which of the base's it is; -1: none, it was merged or split */
};

/* Something that must be tested at run time because it could not be decided. */
enum check_kind {
    CHECK_INDEX,      /* 0 <= a < b */
    CHECK_FROM_ZERO,  /* 0 <= a; b: the extent, for the message */
    CHECK_BELOW,      /* a < b */
    CHECK_SLICE,      /* 0 <= a <= b <= c */
    CHECK_EXTENT,     /* 0 <= a: a declared extent */
    CHECK_DIMENSION,  /* 0 <= a: a dimension variable of a callee, `another`, solved from b, which `one` describes */
    CHECK_STEPPED,    /* b >= 0, and where b > 0: a and a + (b - 1) * d are in [0, c) */
    CHECK_STEP,       /* a != 0: the step of a loop */
    CHECK_SLICE_STEP, /* a != 0: the step of a slice */
    CHECK_TILE,       /* a != 0: the extent of a tile */
    CHECK_VALUE,      /* cond, an AST expression, has a value: see lost.c */
    CHECK_WHERE,      /* cond, an AST expression over the callee's formals, holds; see call.formal_values */
    CHECK_CONTIGUOUS, /* view is row-major */
    CHECK_PRODUCT,    /* a == b: the elements of a tensor, and of the shape it is given */
    CHECK_DENSE,      /* the dimensions of view lie one behind the other */
    CHECK_DISJOINT,   /* view and other share no element */
    CHECK_WRITTEN     /* symbol has been written (its flag says so), or it is empty */
};

/* A check that stands before a loop: only if the loop has an iteration, least < most. */
struct guard {
    const struct size *least, *most;
    const struct guard *next;
};

struct check {
    enum check_kind kind;
    struct span at;
    const struct size *a, *b, *c, *d;
    const struct ast *cond;
    const struct region *view, *other;
    const char *one, *another; /* DISJOINT: what `view` and `other` are to the call; DIMENSION: see there */
    int from;                  /* CONTIGUOUS: the first dimension that is */
    enum elem elem;
    const struct guard *guard; /* INDEX, SLICE before a loop: made only if all of these hold; else NULL */
    struct check *next;
};

/* What an expression names whose type is a struct, or an array of structs: the leaves of `symbol`, each with its first
 * `given` dimensions indexed. */
struct struct_place {
    struct symbol *symbol;
    int given;
    const struct size *low[MAX_RANK], *width[MAX_RANK]; /* width NULL: a point */
};

/* What stands for one tensor or scalar of a struct formal, or of a struct result. */
struct leaf {
    struct symbol *formal; /* the callee's: a leaf of a formal, or of the result_place */
    /* a tensor; where the formal is a scalar: the element of an array of scalars that stands for it */
    const struct region *region;
    struct symbol *scalar; /* region NULL: a scalar of a struct */
};
struct leaves {
    struct leaf *leaf;
    int count;
};

/* The tensors of a function that may get each other's buffers: a `var`, and each name that is moved to it or keeps its
 * value.  All of them belong to the block of the one that is declared first, a LET.  An `own` FORMAL among them hands
 * its tensor on, and gets no buffer; the block of such names is that of the function. */
struct exchange {
    struct symbol **names;
    int count, room;
    bool is_shared; /* `let t = a;`: two of the names may mean one buffer; the pass `keeps` says whether */
};

struct equations;    /* equations/equations.h */
struct written_part; /* written.c */

struct symbol {
    enum symbol_kind kind;
    const char *name;
    struct ast *decl;      /* the declaring node */
    struct module *module; /* of a file-level symbol: the file it is declared in */
    const struct type *type;
    enum direction dir;   /* FORMAL: its direction, DIR_IN where none was written on a tensor */
    enum by_operation by; /* FORMAL of a kernel, `acc`: how the parts of its tasks combine */

    /* constants: CONST always; others when known */
    bool has_value;
    int64_t int_value; /* TYPE_INT, TYPE_BOOL */
    double real_value; /* TYPE_F32, TYPE_F64 */

    const struct size *definition;     /* LET of an integer: its value */
    struct symbol *next_overload;      /* KERNEL: the next kernel of the same name */
    const struct equations *equations; /* KERNEL in index notation without an error: its body, checked; else NULL */
    const struct symbol *
        *adjoints; /* KERNEL with `@adjoint(f, ..)`: the kernels of its gradients, adjoint_count many */
    int adjoint_count;
    int32_t opcode;              /* KERNEL that is a work request: what the accelerator does; else 0 */
    const struct region *region; /* VIEW: what is tiled; LET bound to a slice: what it names */
    /* LET, VIEW: sizes that name a `var` (extents, indices, tiles), to be stored in C variables where it is declared,
     * after the checks of the statement; SIZE_EXTENT(symbol, i) means captured[i].  NULL after the last. */
    const struct size *const *captured;

    /* KERNEL, ORCH; of a STRUCT: its fields and generics */
    struct symbol **formals; /* in order */
    int formal_count;
    struct symbol **declared; /* KERNEL: its formals and its scratch tensors, in order */
    int declared_count;
    struct symbol **dims; /* generics, in order */
    int dim_count;
    /* A generic KERNEL: its element types, and its instances, by their element types.  An instance: the kernel it is
     * of, and the C function that does its work where that has a name with element types */
    struct symbol **elems;
    int elem_count;
    struct symbol *instances, *next_instance;
    const struct symbol *generic;
    enum elem *bound;          /* of an instance: the type for each of generic->elems */
    const char *external;      /* or NULL */
    unsigned elem_set;         /* ELEM: 1 << e of every element type in its class */
    const struct type *result; /* ORCH; TYPE_VOID for none */
    /* ORCH that returns a tensor or a struct: the hidden destination.  It, or a leaf of it, is the base of the region
     * of `return f()`, and the symbol of the SIZE_AT and SIZE_STRIDE leaves of every region in a `returned` let.  Its
     * type is `result`. */
    struct symbol *result_place;
    /* of a `returned` let or a leaf of one: the result_place, or its leaf, where it lies; of these: itself */
    struct symbol *place;
    /* decided.c: of a result_place, and of a LET that is a tensor or a struct: the extents that the run decides, which
     * are hidden numbers; of such a number, its name in the result of the function, `?m` without the question mark */
    struct symbol **decided;
    int decided_count;
    const char *decided_name;
    struct module *target; /* MODULE: what the name stands for */
    /* of a FORMAL or LET whose type is a struct, or an array of structs: one hidden symbol a field, named "w.wx".
     * Scalars of what can be written are a VAR */
    struct symbol **fields;
    int field_count;
    int fields_in_all; /* STRUCT: its fields, those of its structs counted */
    /* LET: a second name for this struct or a part of it; the fields, or what they stand for, are its */
    struct symbol *alias_of;
    /* VAR: a scalar of an `out` or `inout` struct formal or of a result_place: the caller's variable */
    bool by_reference;

    /* a tensor LET: */
    bool returned;       /* its storage is the function's destination (only by `return name`, on every path) */
    bool is_lent;        /* an argument of a call, or a result: tasks may use it */
    bool is_doubtful;    /* a view of it is in error: it is unknown whether it is written */
    int await_count;     /* how often its elements were used without `await`: that is said a few times only */
    bool is_blamed;      /* its type was said to be wrong in an expression: that is not said again */
    bool is_named;       /* anything names it after its declaration */
    int contiguous_dims; /* FORMAL of a kernel: its body names no stride of so many last dimensions; row-major then */
    const struct written_part *written; /* FORMAL of a kernel that writes only this; NULL: as its direction says */
    int loop_depth;                     /* how many loops of the function enclose the declaration */
    struct ast *block;                  /* the BLOCK that names it */
    /* LET of a tensor or struct, or a leaf of one: a `var`, which may become another tensor; where a call makes that
     * (NULL: none does), and of the latter the var; the tensors with which it changes buffers (NULL: with none), also
     * of an `own` FORMAL */
    bool is_var;
    bool is_field; /* of a struct that is declared without a value, and given a tensor: a var, in messages a field */
    struct symbol *next, *next_of;
    struct exchange *exchange;
    struct symbol *keeps; /* LET: this name of a `var` means its value of that moment, which is its value number: */
    int value_number;     /* VAR of tensors: how often it was assigned to in the text so far */
    bool is_taken;        /* LET, `own` FORMAL: a `var` takes its buffer over */
    /* LET: no declaration in the text; the new tensor of a call that is an argument (decl: the CALL). Its name is
     * the callee's and not unique */
    bool hidden;
    bool is_checked; /* ORCH: its body was looked at */
    int resolving;   /* sema's own: 0 not looked at, 1 in work, 2 done */
};

/* What the passes over the IR find out about a tensor, or a scalar of a struct, of a function; tensor_note_of(). */
struct tensor_note {
    struct symbol *symbol;
    int number; /* among those of its function that passes look at, from 0; -1: it is none of them */

    /* assign.c: how the storage of a LET comes to be */
    /* written in parts or passed to an orch before any kernel wrote it whole: allocate at the declaration */
    bool needs_alloc;
    /* FORMAL, LET: whether it was written is tested when the program runs, so a variable remembers it */
    bool needs_flag;
    bool is_written, is_read;
    /* LET: its buffer leaves the block: moved into a callee, which ends its lifetime, or returned though `returned` is
     * false.  It has a buffer of its own, and its other names do not release it afterwards */
    bool escapes;
    /* results.c: LET that becomes this result place, whose extents the run decides, on every path: its buffer belongs
     * to the owner of the place from the beginning; NULL: it is none */
    const struct symbol *given;
    /* FORMAL that is own: at some way out of the function it is still there, so its lifetime ends there */
    bool is_kept;
    /* LET with `exchange`: declared in a block inside of the one that owns its buffers; that block ends its lifetime */
    bool ends_with_block;
};

/* A resolved call; found by call_of(). */
struct call {
    struct symbol *callee;         /* KERNEL or ORCH */
    struct ast **values;           /* argument of each formal: an expression, or NULL where the result goes */
    const struct region **regions; /* of tensor arguments */
    const struct region **written; /* the part that is written of each, NULL: all; itself NULL: of none */
    struct leaves *leaves;         /* of struct arguments */
    struct leaves result_leaves;   /* of a struct result: where it goes */
    struct leaves decided;         /* of a result whose extents the run decides: the names of these in the caller */
    const struct size **dims;      /* value of each dimension variable of the callee */
    int result_formal;             /* KERNEL in value position: the single `out` that was left out; else -1 */
    /* where the result goes when it is an existing place (out formal, slice, let, or the result_place of `return
     * f()`); NULL: a new tensor */
    const struct region *destination;
    /* the new tensor: `let P = f()`: P; an argument `g(f())`: a hidden LET.  Else NULL */
    struct symbol *result_symbol;
    bool returns;         /* `return f()`: destination is the function's own result_place */
    struct check *checks; /* before the call, after its arguments that are calls */
};

#endif
