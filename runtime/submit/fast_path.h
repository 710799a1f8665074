/* fast_path.h - the runtime's private part of the fast path, beside the public part that the caller reads
 * (pto/detail/fast_path.h).
 *
 * Idea       timing a call costs as much as a small task, so short kernels are sampled 1 in SAMPLE: a sampled call
 *            stands for those between.  A kernel that runs longer than SHORT_NS is timed at every call.  A timed kernel
 *            gets a line with the number of calls until the next timed one, which is all that a caller has to check.
 *            The calls of a line are counted when it gets a new number, or when statistics are asked for.
 * Owner      the orchestrator.
 * Invariant  the fast path is enabled only while tasks are executed inline and the run has not failed, is not checked,
 *            and no buffer was ever moved: an address is an address.
 * Tests      test/runtime/test_inline.c, test_fast_path.c */
#ifndef PTOI_FAST_PATH_H
#define PTOI_FAST_PATH_H
#include <pto/pto_runtime.h>

struct fast_path {
    PTOFastPath *open; /* the public part */
    struct {
        int64_t given, last_ns; /* calls it was given; how long the measured one took, and so each of these */
    } line[PTO_FAST_LINES];
    int64_t tasks[PTO_WORKER_TYPES], busy_ns[PTO_WORKER_TYPES]; /* of this run, up to the last count */
};

extern const int ptoi_fast_closed; /* the word that `closed` points to while the fast path is disabled */

void ptoi_fast_init(struct fast_path *s, PTOFastPath *open);
/* status: of the run. */
void ptoi_fast_open(struct fast_path *s, const _Atomic int *status);
void ptoi_fast_close(struct fast_path *s);
/* A run begins. */
void ptoi_fast_begin(struct fast_path *s);
/* A run has ended: its calls are counted, and no kernel is named any more, because its program may be unloaded. */
void ptoi_fast_end(struct fast_path *s);
/* Brings `tasks` and `busy_ns` up to date. */
void ptoi_fast_count(struct fast_path *s);

/* A task runs by a call of the runtime.  true: it has to be measured. */
bool ptoi_fast_is_due(struct fast_path *s, const PTOKernel *kernel);
/* A measured call took ns; is_fine: those that follow may be made without asking. */
void ptoi_fast_measured(struct fast_path *s, const PTOKernel *kernel, int64_t ns, bool is_fine);
/* Who is not fine any more has no line. */
void ptoi_fast_ask(struct fast_path *s, bool (*is_fine)(void *context, const PTOKernel *kernel), void *context);

#endif
