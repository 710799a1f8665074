/* join.h - runtimes are created and destroyed; those of a host program that a launcher of MPI has started several times
 * are ranks of one job, where PTOConfig.join_ranks says so.
 *
 * Idea       the process joins the others once, when the first such runtime is created, and leaves when it ends; one
 *            runtime at a time is its rank.  Host programs are alike on all ranks, so each creates the same runtimes
 *            and begins the same runs.
 * Owner      the process.
 * Invariant  after a run that failed no other one begins: messages of it may still be under way.
 * Blocks     pto_runtime_create of such a runtime: until all ranks have come.
 * Tests      test/wire/check_hosts.py, test/runtime/test_config.c */
#ifndef PTOI_JOIN_H
#define PTOI_JOIN_H
#include "runtime.h"

/* Before a run, and after it; between them only the first rank's output is seen.  false: an earlier
 * run has failed, and the error of this one says so. */
bool ptoi_join_begin(PTORuntime *rt);
void ptoi_join_end(PTORuntime *rt, PTOStatus status);

#endif
