/* scratch.h - memory of a worker that a kernel has while it runs (pto_scratch.h).
 *
 * Idea       each thread keeps one block, which grows to the largest need of its kernels and is freed when the thread
 *            ends.  A kernel has the block until it returns; nobody gives it back.  Where a kernel begins a run of its
 *            own, kernels of that run may be executed on the same thread: such a run begins without a block, and ends
 *            by putting back the one of the outer kernel.
 * Owner      the thread: nobody else sees its block.
 * Blocks     never.
 * Tests      test/runtime/test_scratch.c, test_nomem.c, test/lit/run/scratch.pto */
#ifndef PTOI_SCRATCH_H
#define PTOI_SCRATCH_H
#include <pto/pto_scratch.h>

/* Of a kernel in a checked run: what lies behind each of its scratch tensors. */
struct scratch_check {
    int32_t count;
    const char *name[PTO_MAX_PARAMS];
    const unsigned char *guard[PTO_MAX_PARAMS];
};

/* What a thread keeps. */
struct scratch {
    void *block; /* NULL: none */
    size_t bytes;
    bool is_lent;                /* to a kernel of the thread's run, which may be running */
    struct scratch_check *check; /* NULL: the kernel is not checked */
};

/* A run begins on the calling thread.  Returns what ptoi_scratch_end_run is given when the run has ended. */
struct scratch ptoi_scratch_begin_run(void);
void ptoi_scratch_end_run(struct scratch outer);

/* The next kernel of the calling thread is checked: its scratch tensors are filled with a pattern, and behind each of
 * them is a guard.  NULL: it is not. */
void ptoi_scratch_check(struct scratch_check *check);
/* NULL, or the name of the first tensor whose guard was changed. */
const char *ptoi_scratch_fault(const struct scratch_check *check);

#endif
