/* bounds_parts.h - what the files of the pass `bounds` share; nobody else includes it.
 *
 * bounds.c         calls and operations                            bounds_sizes.c   worst values of symbolic sizes
 * bounds_points.c  tensors held, and the points with most bytes  bounds_functions.c  each function, measured once */
#ifndef PTOC_BOUNDS_PARTS_H
#define PTOC_BOUNDS_PARTS_H
#include "bounds.h"
#include "ir/ir.h"

enum {
    MAY = 1,
    MUST = 2,
    KEPT = 4, /* the buffer of a `var`, which counts for that: see bounds_take */
    MAX_POINTS = 6,
    MAX_MOVED = 64,      /* tensors of one call that are moved in; more stay the caller's until it returns */
    MAX_SIZE_NODES = 300 /* a size of more is `not known`: nobody could read it, and walking it can take for ever */
};

struct held {
    unsigned char *tensors; /* by number: MAY, MUST, KEPT */
    size_t *same;           /* a name of the class, see Note [one buffer]; NULL: no two names have one buffer */
    const struct size *may; /* bytes; NULL: not known */
    int64_t must;
    const struct size *must_of_call; /* the same in what the caller says, where that is known; see sure_bytes */
    int buffers;
    int kept;  /* tensors that are KEPT */
    bool dead; /* no path comes here */
};

struct loop {
    struct loop *parent;
    struct held leaves, again;    /* what break and continue carry */
    const struct size *condition; /* bytes that it allocates, of a `while` */
};

struct walk {
    struct plan *plan;
    struct size_table *sizes;
    struct function_bounds *out;
    struct memory_model *model;     /* how the functions are measured that are called */
    const struct frame_plan *frame; /* of this function; NULL: it is measured without */
    VEC(const struct symbol *) tensors;
    struct ptrmap numbers;              /* tensor -> 1 + its number, as a pointer */
    struct ptrmap copied;               /* formals that are moved in and do not count: see struct moved_in */
    VEC(const struct symbol *) keepers; /* names that were KEPT anywhere so far, each once */
    struct ptrmap is_keeper;            /* those names */
    /* scopes around the operation at hand, the function first; each with what was held at its start */
    VEC(struct bound *) open;
    VEC(const struct size *) start;
    struct loop *loop;
    struct held *now;
    int jumps, returns; /* seen so far */
    bool silent;        /* only the state is followed: no point is noted */
    bool is_second;     /* silent, in the second iteration of a loop: points note only their sure bytes */
    long work;          /* steps left; none: nothing is known about the function */
    bool is_certain;    /* each call of the function comes here */
    bool has_place;     /* the caller has a place for the result */
    bool has_shared;    /* two names of the function may have one buffer */
};

/* ---- bounds.c ---- */
const struct size *bounds_walk_block(struct walk *w, const struct ir_block *block); /* the bytes ever allocated */
bool bounds_is_in_frame(const struct plan *p, const struct frame_plan *frame, const struct symbol *t);

/* ---- bounds_sizes.c: NULL is `not known` ---- */
const struct size *bounds_unless_large(const struct size *a);
const struct size *bounds_add(struct walk *w, const struct size *a, const struct size *b);
const struct size *bounds_multiply(struct walk *w, const struct size *a, const struct size *b);
const struct size *bounds_larger(struct walk *w, const struct size *a, const struct size *b);
bool bounds_is_at_most(struct walk *w, const struct size *a, const struct size *b);
/* The largest (or least) value of a while the loop variable `name` lies in [low, high]; both may be NULL. */
const struct size *bounds_extreme(struct walk *w, const struct size *a, const struct symbol *name,
                                  const struct size *low, const struct size *high, bool largest);
/* A name whose value nobody knows before the run: its largest value, if it has one. */
const struct size *bounds_without_unknown(struct walk *w, const struct size *a);
/* Of a whole tensor, in the granules of the heap. */
const struct size *bounds_bytes_of(struct walk *w, const struct type *t);
int64_t bounds_round_up(int64_t bytes);
/* At least so many bytes, as they are asked for. */
int64_t bounds_least_bytes(struct walk *w, const struct type *t);
/* Does it name only dimension variables and formals, whose values the caller gives? */
bool bounds_is_of_call(const struct size *a);
/* A lower bound of a whole tensor's granules: in values that the caller gives, or else a constant. */
const struct size *bounds_sure_bytes(struct walk *w, const struct type *t);
/* a of the callee, in the words of the caller; NULL: it cannot be said. */
const struct size *bounds_put_arguments(struct walk *w, const struct call *call, const struct size *a);
const struct size *bounds_in_caller(struct walk *w, const struct call *call, const struct size *a);

/* ---- bounds_points.c ---- */
struct held bounds_copy_held(struct walk *w, const struct held *s);
struct held bounds_nowhere(struct walk *w);
void bounds_join(struct walk *w, struct held *into, const struct held *other); /* into = into or other */
unsigned char bounds_is_held(const struct walk *w, const struct symbol *t);
/* Has it surely a buffer, maybe with another name? */
bool bounds_is_there(const struct walk *w, const struct symbol *t);
/* Does no other name surely have its buffer, too? */
bool bounds_is_alone(const struct walk *w, const struct symbol *t);
/* It has a buffer now: a new one, where it had none. */
void bounds_hold_new(struct walk *w, const struct symbol *t);
/* Its scope ends. */
void bounds_end(struct walk *w, const struct symbol *t);
/* `to` gets the buffer of `from`; is_kept: which both have from now on */
void bounds_take(struct walk *w, const struct symbol *to, const struct symbol *from, bool is_kept);
/* `to` gets a new buffer, into which the tensor of an `own` formal is copied. */
void bounds_take_copy(struct walk *w, const struct symbol *to, struct maker at);
void bounds_release(struct walk *w, const struct symbol *t);
/* Every call of the function comes here and then needs `bytes` in addition to those held. */
void bounds_note_sure_of_call(struct walk *w, const struct size *bytes);
/* p is needed in addition to the bytes held now; at least `surely` bytes of p are new. */
void bounds_note_point(struct walk *w, struct need_point p, int64_t surely);
/* The same with room for the gaps: p.bytes includes it for the buffers of p. */
void bounds_note_safe(struct walk *w, struct need_point p);
void bounds_note_new(struct walk *w, const struct symbol *t, struct maker at);
/* A part of an accumulator, which lives for the submit of one task. */
void bounds_hold_part(struct walk *w, const struct type *t, struct maker at, bool begins);
/* A loop variable ends: its worst value counts. */
void bounds_end_variable(struct walk *w, struct bound *b, const struct symbol *name, const struct size *low,
                         const struct size *high);

#endif
