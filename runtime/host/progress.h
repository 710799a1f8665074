/* progress.h - how far a run is, for --progress and SIGUSR1.
 *
 * Idea       another thread than the orchestrator's looks, so it reads only words that any thread may: the counts of
 *            the window, what the orchestrator waits for, and what workers run.
 * Owner      the thread that watches the run.
 * Tests      test/lit/host/progress.test */
#ifndef PTO_HOST_PROGRESS_H
#define PTO_HOST_PROGRESS_H
#include "api/runtime.h"

struct progress {
    PTORuntime *rt;
    bool is_terminal, was_shown;
    uint64_t first;             /* of the run */
    int64_t begin_ns, shown_ns; /* when it began, and when the last line was written */
    uint64_t shown_done;        /* what that line said */
};

void ptoi_progress_begin(struct progress *p, PTORuntime *rt);
/* Writes the line if it is time for one. */
void ptoi_progress_look(struct progress *p);
void ptoi_progress_end(struct progress *p);

/* Where each role is.  site: of the orchestrator; NULL: not known. */
void ptoi_progress_roles(PTORuntime *rt, const PTOSite *site);

#endif
