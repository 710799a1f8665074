/* frames.h - which tensors of a function share one allocation, and where in it; made by frames.c. */
#ifndef PTOC_FRAMES_H
#define PTOC_FRAMES_H
#include "plan.h"

enum storage {
    STORAGE_RING,   /* made by its first writer, in the heap */
    STORAGE_SLOT,   /* in the frame */
    STORAGE_RESULT, /* where the caller wants it */
};

/* Of every tensor that a function names, or makes for a moment. */
struct tensor_plan {
    const struct symbol *tensor;
    enum storage storage;
    const char *why;            /* of a ring: why not in the frame */
    const struct size *bytes;   /* in granules; NULL: known only when it is made */
    struct span first, last;    /* calls; without an end: nothing uses it */
    const struct ir_op *across; /* a loop that it outlives, and that makes tensors of its own; or NULL */
    int slot;
    /* of a name that goes from buffer to buffer: how many its slot has room for, and which of them is its own at first,
     * -1: none */
    int count, number;
    const struct size *room; /* bytes of its slot: of all the names that exchange their buffers, by the first of them */
    /* two slots, slot and slot + 1: an iteration of its loop takes the slot that the previous iteration did not take */
    bool alternates;
    const struct symbol *loop_variable; /* the variable of that loop */
};

struct ir_op;

struct slot {
    const struct size *at, *bytes;
};

/* A tensor waits for one that lay in its place before, and would not otherwise. */
struct added_order {
    const struct symbol *tensor, *before; /* the same: an iteration of the loop waits for the previous iteration */
    struct span at, reader;               /* its first writer; one that it waits for */
};

struct frame_plan {
    VEC(struct tensor_plan *) tensors; /* in the order of their first use */
    VEC(struct slot) slots;
    const struct size *bytes;   /* NULL: there is no frame */
    const struct size *without; /* its tensors side by side */
    VEC(struct added_order) added;
    const char *why; /* why there is none */
};

struct frame_plan *frame_of(const struct plan *p, const struct symbol *orch);
struct tensor_plan *slot_of(const struct plan *p, const struct symbol *tensor); /* NULL: not in a frame */

#endif
