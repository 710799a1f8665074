/* caller.h - whose run the calling thread orchestrates.
 *
 * Idea       a thread orchestrates one run at a time, and none while it is inside a kernel; so one comparison decides
 *            whether a call is allowed, see api/misuse.h.
 * Owner      each thread: its own word.
 * Tests      test/runtime/test_misuse.c */
#ifndef PTOI_CALLER_H
#define PTOI_CALLER_H

/* The runtime whose orchestration the calling thread is in; else an address that is no runtime's, and not NULL. */
extern _Thread_local const void *ptoi_orchestrated;
extern const char ptoi_none;

/* The thread orchestrates `now`, or &ptoi_none.  What was before, which the caller restores. */
static inline const void *ptoi_orchestrate(const void *now)
{
    const void *before = ptoi_orchestrated;
    ptoi_orchestrated = now;
    return before;
}

#endif
