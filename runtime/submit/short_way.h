/* short_way.h - what the runtime keeps beside the public part of tasks that run at their submits in the caller
 * (fast_path.h).
 *
 * Idea       two looks at the clock cost as much as a small task.  A kernel that runs longer than SHORT_NS is measured
 *            at every call; of a shorter one every SAMPLE-th call is, and stands for those between.  A measured kernel
 *            is given a line: so often it may be called without a look at the clock, which is all that a caller has to
 *            ask.  Who was called how often is found out when a line is given anew, or when somebody wants to know.
 * Owner      the orchestrator.
 * Invariant  the way is open only while tasks run at their submits and the run has not failed, is not checked, and no
 *            buffer was ever moved: an address is an address.
 * Tests      test/runtime/test_elide.c, test_short_way.c */
#ifndef PTOI_SHORT_WAY_H
#define PTOI_SHORT_WAY_H
#include <pto/pto_runtime.h>

struct short_way {
    PTOShortWay *open; /* the public part */
    struct {
        int64_t given, last_ns; /* calls it was given; how long the measured one took, and so each of these */
    } line[PTO_SHORT_LINES];
    int64_t tasks[PTO_WORKER_TYPES], busy_ns[PTO_WORKER_TYPES]; /* of this run, up to the last count */
};

extern const int ptoi_short_closed; /* what `closed` points to while the way is closed */

void ptoi_short_init(struct short_way *s, PTOShortWay *open);
/* status: of the run. */
void ptoi_short_open(struct short_way *s, const _Atomic int *status);
void ptoi_short_close(struct short_way *s);
/* A run begins. */
void ptoi_short_begin(struct short_way *s);
/* Brings `tasks` and `busy_ns` up to date. */
void ptoi_short_count(struct short_way *s);

/* A task runs by a call of the runtime.  true: it has to be measured. */
bool ptoi_short_is_due(struct short_way *s, const PTOKernel *kernel);
/* A measured call took ns; is_fine: those that follow may be made without asking. */
void ptoi_short_measured(struct short_way *s, const PTOKernel *kernel, int64_t ns, bool is_fine);
/* Who is not fine any more has no line. */
void ptoi_short_ask(struct short_way *s, bool (*is_fine)(void *context, const PTOKernel *kernel), void *context);

#endif
