/* held.h - tasks that are submitted later, because the task that reads their buffers decides where they run.
 *
 * Idea       a task that writes only new buffers can run on any rank, and runs best where these are read.  So it is
 *            held back, as it was read, with a copy of its parameters, until the program submits a task that writes
 *            anything else, or waits.  Its buffers exist already: the program names them.  Lifetimes that end
 *            meanwhile end with these tasks, in the order of the program, so that they place none of them.
 *            Most such tasks are like the last one of their kernel and are skipped, hold.c.  Of these only what differs
 *            is kept, and the task is completed when somebody has to read it.
 * Owner      the orchestrator; struct dist has them.
 * Invariant  they are the newest tasks of the program, in its order, so nothing comes between two of them.  They are
 *            the same on all ranks.  Lifetimes are held back only behind such tasks, and only while the program holds
 *            at most half of the heap, so they do not fill it.
 * Blocks     ptoi_held_complete, while the ring of events is full.
 * Tests      test/wire/test_placement.c */
#ifndef PTOI_HELD_H
#define PTOI_HELD_H
#include "place.h"

struct held {
    const PTOKernel *kernel;
    const PTOSite *site;
    int64_t number;         /* of the task */
    uint32_t first_tensor;  /* the number of its first output; those of the others follow */
    int32_t outputs, count; /* count: parameters */
    struct tensor *output[PTO_MAX_PARAMS];
    /* What its kernel's last task was like, which has not changed since; NULL: the task is complete.  Until then `task`
     * is not there, and the parameters are those of the program, but have no extents and no `ref`. */
    struct known_kernel *like;
    int32_t reads, home[KNOWN_BOXES]; /* until then: of each tensor that it reads, and that lies on another rank */
    int32_t common_home;              /* until then: of them all; NO_HOME: they may have several */
    struct task task;                 /* its outputs are uses; of the parameters below */
    PTOTaskParam params[PTO_TASK_PARAMS];
    void *base[PTO_TASK_PARAMS]; /* of an output, its `ref` */
    int64_t shape[PTO_TASK_PARAMS][PTO_MAX_RANK], stride[PTO_TASK_PARAMS][PTO_MAX_RANK];
};

/* A new buffer, which has no home yet, is a use of the task. */
void ptoi_held_use_output(struct task *k, struct tensor *t);
/* Copies the task, whose outputs have their buffers and are uses. */
void ptoi_held_copy(struct held *h, const struct task *k);
/* All tasks that are held back are complete.  Called before they are read, and before a kernel is learnt anew. */
void ptoi_held_complete(struct dist *d);

/* ---- lifetimes that end behind the newest of these tasks --------------------------------------------------------- */

/* The program ends that of the buffer.  false: it cannot be held back. */
bool ptoi_held_end(struct dist *d, uint32_t buffer);
/* The innermost scope ends, and what it owns: that belongs to the scope around it until it does.  false: nothing has
 * changed; the end cannot be held back, or no task that is held back makes a buffer for a scope around it. */
bool ptoi_held_end_scope(struct dist *d);
/* Does the heap have room for the bytes, with all that is held back? */
bool ptoi_held_has_room(const struct dist *d, uint64_t bytes);
/* So many of the tasks were submitted: the lifetimes that end next do. */
PTOStatus ptoi_held_release(struct dist *d, int32_t tasks);

#endif
