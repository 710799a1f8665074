/* progress.h - how far a run is, for --progress and SIGUSR1.
 *
 * Idea       another thread than the orchestrator's looks, so it reads only words that any thread may: the counts of
 *            the window, what the orchestrator waits for, and what workers run.  What only the orchestrator's thread
 *            knows is seen there, by the handler of SIGUSR1.
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

/* What the orchestrator's thread alone knows. */
struct progress_seen {
    const PTOSite *site; /* NULL: not known */
    /* that it runs itself; NULL: none */
    const PTOKernel *kernel;
    const PTOSite *kernel_site;
    uint64_t number; /* of that task */
    uint64_t submitted, completed;
    int32_t thread; /* as debug/backtrace.h numbers them */
};

/* May be called by a handler of a signal in that thread.  first: the number of the run's first task. */
struct progress_seen ptoi_progress_see(const PTORuntime *rt, uint64_t first, int32_t thread);
/* Writes where each role is. */
void ptoi_progress_roles(PTORuntime *rt, const struct progress_seen *seen);

#endif
