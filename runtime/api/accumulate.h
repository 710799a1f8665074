/* accumulate.h - accumulators whose parts combine: the parameters PTO_ACC_BY.
 *
 * Idea       a task with such a parameter is submitted with a part of its own instead, a buffer of the heap that was
 *            filled with the neutral element, so tasks that share an accumulator are free of each other.  The parts of
 *            a region wait in a group, in the order of the submits, until a fold, which is an ordinary task too: it
 *            updates the region and reads the parts, one after the other.  So the roles below know nothing of
 *            accumulators, and every engine, ring and report treats parts as buffers and folds as tasks.
 *            Note [when a group is folded] in accumulate.c.
 * Owner      the orchestrator.
 * Invariant  the regions of the groups do not overlap, so where a group is cut never changes a result: there is one
 *            left fold from the value of the accumulator before, task after task.  No part waits while tasks are
 *            executed inline.
 * Blocks     as a submit does.
 * Tests      test/runtime/test_accumulate.c, stress_accumulate.c, test/lit/run/by.test */
#ifndef PTOI_ACCUMULATE_H
#define PTOI_ACCUMULATE_H
#include "depend/region.h"
#include "submit/orchestrator.h"

enum {
    ACCUMULATE_PARTS = PTO_MAX_PARAMS - 2, /* of a group: the fold has the region and their number besides */
    ACCUMULATE_GROUPS = 256,               /* at once; one more folds the oldest */
    ACCUMULATE_HINTS = 1024                /* a power of two */
};

/* The parts that wait for one region. */
struct group {
    PTOBy by;
    const PTOSite *site; /* of the first task */
    char *base;          /* of the region, as the program names it, */
    PTOArg view;
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
    struct region region;
    uint32_t buffer; /* of the heap, that holds the region; 0: memory of the program */
    int32_t scope;   /* the innermost that owns a part */
    int32_t count;
    void *part[ACCUMULATE_PARTS];
};

struct accumulators {
    int32_t count;                    /* groups that wait */
    const struct parted_task *task;   /* that is being submitted on several ranks; NULL: none */
    const PTOKernel *fold;            /* likewise */
    int64_t folds, folds_inline;      /* of the run; the latter were executed inline */
    struct region hull;               /* one run, in which the regions of all groups lie */
    uint8_t order[ACCUMULATE_GROUPS]; /* places in `group`: of those that wait, the oldest first, then of the others */
    uint8_t hint[ACCUMULATE_HINTS];   /* by address: which group was found last */
    struct group *group;              /* ACCUMULATE_GROUPS, of which few are touched */
};

bool ptoi_accumulators_open(struct accumulators *a); /* *a is zero; false: no memory */
void ptoi_accumulators_close(struct accumulators *a);
/* A run begins; what waits is forgotten. */
void ptoi_accumulators_begin(struct accumulators *a);

/* What a submit answered with a negative number, if that is an answer of orchestrator.h, becomes its result. */
int64_t ptoi_accumulate(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                        int64_t answer);

/* Of several ranks, this one executes the task: its parts are filled, or it is a fold and counted. */
void ptoi_accumulate_here(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params);

/* Each folds what must be folded before ... and returns the status of the run. */
PTOStatus ptoi_fold_all(PTORuntime *rt);
PTOStatus ptoi_fold_params(PTORuntime *rt, const PTOTaskParam *params, int32_t count); /* a task with these */
PTOStatus ptoi_fold_for_room(PTORuntime *rt, uint64_t bytes); /* on several ranks: so many of the heap are taken */
PTOStatus ptoi_fold_bytes(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes);
PTOStatus ptoi_fold_buffer(PTORuntime *rt, const void *buffer); /* its lifetime ends, or it changes its owner */
PTOStatus ptoi_fold_scope(PTORuntime *rt);                      /* the innermost scope ends */

#endif
