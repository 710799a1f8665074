/* submission.h - a task that is being submitted to the window: its parameters, made ready.
 *
 * Owner      the orchestrator, for the time of one call.
 * Invariant  place[0 .. terms.arguments) and edges.access[0 .. accesses) are set; nothing is cleared beforehand.
 *
 * Note [parts]: an argument of which only a part is written (PTO_INOUT_PART) is two accesses, a read of the region and
 * an update of the part, in the map and in the history.  Everything else sees one argument: the region is what the
 * kernel is given, what holds its buffer, and what a mirror keeps in step. */
#ifndef PTOI_SUBMISSION_H
#define PTOI_SUBMISSION_H
#include "decode.h"

/* One argument made ready: what the kernel will see, and what the map is asked. */
struct place {
    PTOArg arg;
    int64_t lay[PTO_MAX_RANK];
    const PTOTaskParam *param;
    uint32_t buffer; /* of the heap; 0: memory of the program, a scalar, or empty */
    bool is_new;     /* an output that this submit allocates */
    enum access access;
    struct map_buffer *map; /* NULL: the map need not know the access */
    struct region region;   /* of a new output from 0; not of a scalar */
    uint64_t birth;
};

/* A task on its way into the window, or an await: what edges are found for. */
struct submission {
    struct terms terms;
    struct place place[ARGUMENT_ROOM];
    uint64_t arg_bytes, part_bytes; /* in the ring of arguments; placing.c: of them for parts */
    uint8_t extras;                 /* TASK_TIMED, TASK_PARTS: what stands behind the arguments */
    int accesses;                   /* in o->edges.access: in the order of the places, then Note [parts] */
    bool holds;                     /* some tensor lies in the heap */
    bool accumulates;
    uint32_t exclusive; /* its accumulators, as a set; edges.c */
};

/* edges.c.  Everything in the window that the task must follow, and has not completed, goes to o->edges.found, its
 * accesses to the map, its accumulators to s->exclusive.  false: no memory.  A task that is not published after all is
 * forgotten by the map: its run has failed.  alone: nothing is in flight, and the map has no room for it. */
bool ptoi_find_edges(struct orchestrator *o, struct submission *s, const PTOKernel *kernel, bool alone);
/* Leaves in o->edges.found only what has not completed. */
void ptoi_forget_completed(struct orchestrator *o);

#endif
