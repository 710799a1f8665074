/* traces.h - a plan as time-independent traces: what each rank computes, sends and receives, for SimGrid to replay.
 *
 * Idea       a file a rank, in the order of the program: `compute` cycles of a task, `isend` and `irecv` as early as
 *            the bytes may go and come, and `wait` before the first task that needs them.  So a rank that is one worker
 *            computes while messages travel.
 * Invariant  a rank waits only for messages whose sends stand earlier in the program, so the replay ends.
 * Limits     a rank is one sequence: where it has several workers, predict.h says more.
 * Tests      test/wire/check_plans.py, test/runtime/test_traces.c */
#ifndef PTOI_TRACES_H
#define PTOI_TRACES_H
#include "plan.h"

/* Writes folder/rank-K.txt for each rank and, at the end, folder/traces.txt with their names; makes the folder.
 * ahead: how many nodes of its rank a transfer may be earlier.  false, with errno. */
bool ptoi_traces_write(const struct plan *p, const char *folder, int64_t ahead);

#endif
