/* frames_parts.h - what the files of the pass `frames` share; nobody else includes it.
 *
 * frames.c        tasks of a function, which frame is taken     frames_slots.c   which tensors share a slot
 * frames_order.c  which task surely waits for which          frames_offsets.c where they lie with --plan=min
 * frames_exchange.c  names that exchange their buffers   frames_names.c   which of them have a slot */
#ifndef PTOC_FRAMES_PARTS_H
#define PTOC_FRAMES_PARTS_H
#include "frames.h"
#include "ir/ir.h"

enum { MAX_TASKS = 4096 }; /* of one function: the order is a bit for each pair */

struct access {
    const struct symbol *tensor;
    enum direction dir;
    bool whole;
};

struct task {
    struct span at;
    const struct call *call; /* NULL: an await */
    VEC(struct access) accesses;
    int loop;        /* innermost loop around it, or -1 */
    bool is_certain; /* each call of the function makes it */
    bool is_opaque;  /* a function: its own tasks are not seen */
};

struct loop {
    int parent, first, last; /* tasks in it */
    const struct ir_op *op;
};

struct home { /* where a tensor is named */
    int loop;
    const char *why; /* why it may not lie in a frame, or NULL */
    VEC(int) users;  /* tasks, ascending */
    struct tensor_plan *plan;
    bool alternates; /* its buffers may lie in a slot: see Note [alternating slots] */
    /* of a name that exchanges its buffer: a slot is its own at first */
    bool has_slot;
    /* of the first of such names.  is_open: one may be written while another one has its slot, so that each needs one;
     * is_reused: a task may make a value in a slot that had another one, where without a frame it makes a buffer */
    bool is_open, is_reused;
};

struct walk {
    struct plan *plan;
    struct size_table *sizes;
    struct frame_plan *out;
    VEC(struct task *) tasks;
    VEC(struct loop) loops;
    struct ptrmap places; /* tensor -> struct home */
    VEC(const struct symbol *) tensors;
    int loop, conditions; /* around the operation at hand */
    uint64_t *before;     /* a row of bits for each task: see find_order */
    size_t row;
    bool has_left; /* a path may have left the function, or the loop, before */
};

struct lifetime {
    struct tensor_plan *plan;
    struct home *home;
    int first, last; /* tasks */
};

/* ---- frames_order.c ---- */
void frames_order(struct walk *w);                                   /* for each task those that it surely waits for */
bool frames_find_lifetime(const struct walk *w, struct lifetime *l); /* false: nothing uses the tensor */

int frames_foreign_loop(const struct walk *w, int loop, int named_in);
bool frames_is_before(const struct walk *w, int earlier, int later); /* one of these */

/* ---- frames_names.c ---- */
void frames_find_names(const struct walk *w, const struct ir_function *f);

/* ---- frames_exchange.c ---- */
int frames_slots_of(const struct walk *w, const struct exchange *names);                /* how many of them have one */
const char *frames_why_no_exchange(const struct walk *w, const struct exchange *names); /* NULL: they have a slot */
void frames_share_exchange(const struct walk *w, const struct exchange *names); /* what the first of them has got */

/* ---- frames_slots.c ---- */
const char *frames_why_not(const struct walk *w, const struct home *p); /* NULL: the tensor may lie in a frame */
void frames_place(struct walk *w);                          /* sets the bytes of the frame, NULL: there is none */
void frames_note_loops(struct walk *w, struct lifetime *l); /* the loops that it outlives, the iterations that wait */
bool frames_is_known_at_entry(const struct size *s);

/* ---- frames_offsets.c ---- */
void frames_make_offsets(struct walk *w, struct lifetime *list, size_t count); /* --plan=min */

#endif
