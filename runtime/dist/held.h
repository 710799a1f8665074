/* held.h - tasks that are submitted later, because the task that reads their buffers decides where they run.
 *
 * Idea       a task that writes only new buffers can run on any rank, and runs best where these are read.  So it is
 *            held back, as it was read, with a copy of its parameters, until the program submits a task that writes
 *            anything else, or waits, or releases a buffer.  Its buffers exist already: the program names them.
 * Owner      the orchestrator; struct dist has them.
 * Invariant  they are the newest tasks of the program, in its order, so nothing comes between two of them.  They are
 *            the same on all ranks.
 * Blocks     never.
 * Tests      test/wire/test_placement.c */
#ifndef PTOI_HELD_H
#define PTOI_HELD_H
#include "place.h"

struct held {
    const PTOKernel *kernel;
    const PTOSite *site;
    int64_t number;                    /* of the task */
    uint32_t first_tensor, end_tensor; /* the numbers of its outputs */
    struct task task;                  /* its outputs are uses; of the parameters below */
    PTOTaskParam params[PTO_TASK_PARAMS];
    void *base[PTO_TASK_PARAMS]; /* of an output, its `ref` */
    int64_t shape[PTO_TASK_PARAMS][PTO_MAX_RANK], stride[PTO_TASK_PARAMS][PTO_MAX_RANK];
};

/* Copies the task, whose outputs have their buffers and are uses. */
void ptoi_held_copy(struct held *h, const struct task *k);

#endif
