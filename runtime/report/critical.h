/* critical.h - the longest chain of a recorded run, and what would shorten the run.
 *
 * Idea       a chain's length is the time of its kernels; edges go from older tasks to newer ones, so one walk in the
 *            order of tasks finds it.  What would shorten the run is asked of whatif.h, one change at a time: a ring,
 *            a worker, a processor, awaits that take no time, priorities by the longest chain that is left.
 * Needs      a record that is settled and complete.
 * Tests      test/runtime/test_causes.c, test/lit/host/advise.test */
#ifndef PTOI_CRITICAL_H
#define PTOI_CRITICAL_H
#include "advice.h"

struct critical {
    int64_t work, path; /* times of all kernels, and of those on the longest chain */
    uint64_t *task;     /* of the chain, in its order */
    uint64_t tasks;
};

/* false: no memory.  To be freed in any case. */
bool ptoi_critical_find(const struct recorder *r, struct critical *c);
void ptoi_critical_free(struct critical *c);

/* Critical path, parallelism, and more workers, of a run that is recorded completely; nothing of any other. */
void ptoi_critical_write(PTORuntime *rt, FILE *out);
/* The table of --advise. */
void ptoi_advise_write(PTORuntime *rt, FILE *out);

#endif
