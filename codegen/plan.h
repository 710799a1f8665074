/* plan.h - what the analyses leave for the emitters.
 *
 * The analyses decide and print nothing; the emitters print and decide nothing.  A later analysis adds its result here
 * and a line to passes.def: what a block does early, such as a release at a last use, belongs in struct
 * block_plan. */
#ifndef PTOC_PLAN_H
#define PTOC_PLAN_H
#include "memory_plan.h"
#include "range.h"
#include "support/ptrmap.h"
#include "sema/sema.h"
#include "syntax/ast_walk.h"
#include "support/vec.h"

struct arena;
struct function_bounds;
struct joined_kernel;
struct ir_function;
struct ir_op;
struct lowering;
struct frame_plan;

typedef VEC(struct symbol *) symbol_list;

/* What is known of the need of functions, with frames or without; see bounds.h. */
struct memory_model {
    bool has_frames;
    int64_t granule;      /* every buffer is a multiple of so many bytes */
    struct ptrmap bounds; /* through bounds_in() */
    int depth;            /* calls that are being looked at, one in the other */
};

/* Of a tensor that a function makes in memory of its own. */
struct tensor_writers {
    const struct ir_op *loop; /* the innermost around its `let`; NULL: none */
    int count;                /* of tasks in the text with all of it as their output */
    bool is_shared;           /* something else may write it, or its memory */
};

struct plan {
    struct front *front;
    struct arena *mem;
    const struct checked *checked;
    struct memory_plan memory;
    bool checked_runs;                   /* tensors of a frame report each use, for runs that are checked */
    symbol_list exports;                 /* `export orch` of the main file, in source order */
    symbol_list orchs;                   /* functions that the exports need, modules in order, then source order */
    symbol_list kernels;                 /* kernels that those need, in the same order */
    VEC(struct ir_function *) functions; /* of orchs, in the same order */
    struct ptrmap function_of;           /* orch -> its struct ir_function */
    struct lowering *lowering;
    struct ptrmap moved_in; /* formals that are not `own`, and yet are moved in by every call: the pass `moves` */
    struct ptrmap gapped;   /* kernels that may get a tensor whose last dimension has gaps: the pass `gaps` */
    bool has_gapped;        /* that pass has run: what is not in `gapped` is proved to get none */
    VEC(struct joined_kernel *) joined_kernels;
    struct ptrmap joined;  /* struct call -> the struct call that was made of it and others; see plan_joined() */
    struct ptrmap last_of; /* such a struct call -> the last call of the text in it */
    struct memory_model ring, framed;
    VEC(struct function_bounds *) bound_list; /* the same, to be freed */
    struct ptrmap frames;                     /* function -> struct frame_plan */
    VEC(struct frame_plan *) frame_list;      /* the same, to be freed */
    struct ptrmap writers;                    /* tensor -> struct tensor_writers; see tensor_has_one_writer() */
    struct ptrmap slots;                      /* tensor -> struct tensor_plan, where it lies in a frame */

    struct ranges ranges; /* function: being looked at, or printed */
};

/* reach.c: `kernels` are those with a C body, called or not, but for std/ and generic ones that are not called. */
void reach_bodies(struct plan *p);

/* last: the pass after which to stop; NULL: all are run. */
struct plan *plan_create(struct front *front, const struct checked *checked, const struct memory_plan *memory,
                         bool checked_runs, const char *last);
void plan_destroy(struct plan *p);
bool plan_has_pass(const char *name); /* one behind which there is IR */

#define PLAN_PASS(name, writes_ir) void name##_run(struct plan *p);
#include "passes.def"

/* The call that a call of the text became part of, or itself. */
const struct call *plan_joined(const struct plan *p, const struct call *call);

/* ---- questions about tensors that several emitters ask ---- */
/* The tensors and scalars that a name stands for: those of a struct, or s itself. */
void symbol_leaves(struct symbol *s, symbol_list *list);
/* The formals of a function with structs replaced by their leaves; what it returns likewise, where that is a tensor or
 * a struct. */
void flat_formals(const struct symbol *callee, symbol_list *list);
void flat_results(const struct symbol *callee, symbol_list *list);
bool formal_is_moved_in(const struct plan *p, const struct symbol *s); /* by `own`, or by the pass `moves` */
/* One task writes all of it, before anything else is done with it, and nothing writes it, or its memory, again. */
bool tensor_has_one_writer(const struct plan *p, const struct symbol *s);
bool tensor_is_new(const struct symbol *s); /* a LET that names storage of its own, not a piece of another tensor */

#endif
