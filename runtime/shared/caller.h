/* caller.h - whose run the calling thread orchestrates.
 *
 * Idea       a thread orchestrates one run at a time, and none while it is inside a kernel; so one comparison decides
 *            whether a call is allowed, see api/misuse.h.
 * Owner      each thread: its own word.
 * Tests      test/runtime/test_misuse.c */
#ifndef PTOI_CALLER_H
#define PTOI_CALLER_H
#include <stdbool.h>

/* The runtime whose orchestration the calling thread is in; else the address of one of these, which is no runtime's. */
extern _Thread_local const void *ptoi_orchestrated;
extern const char ptoi_none;   /* outside of runs */
extern const char ptoi_kernel; /* in a kernel, so it must not wait for a run: that may be the run of the kernel */

/* The process executes the kernels of its parent's run: what uses memory here is in the parent, and a wait for it would
 * not see its end, whichever thread waits.  W the process, while it has one thread. */
extern bool ptoi_is_worker_process;

/* The thread orchestrates `now`, or one of these.  What was before, which the caller restores. */
static inline const void *ptoi_orchestrate(const void *now)
{
    const void *before = ptoi_orchestrated;
    ptoi_orchestrated = now;
    return before;
}

#endif
