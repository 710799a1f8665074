/* timed.h - the kernel with a @timeout that the orchestrator's own thread executes: another thread sees that it does
 * not return.
 *
 * Idea       a kernel on a worker is named by the worker's line (engine/running.h).  One that is executed inline has
 *            none, and the thread that would look at the clock is inside of it.
 * Owner      the orchestrator's thread.  The lock guards all members; nothing is taken under it.
 * Tests      test/lit/run/timeout.pto */
#ifndef PTOI_TIMED_H
#define PTOI_TIMED_H
#include "system.h"
#include <pto/pto_types.h>
#include <stdbool.h>

/* A kernel that runs for longer than it may. */
struct overdue {
    const PTOKernel *kernel;
    const PTOSite *site; /* NULL: it has none */
    uint64_t number;     /* of the task */
    int64_t limit_ms;
};

struct timed_kernel {
    ptoi_lock lock;
    int64_t overdue_at; /* 0: none runs */
    struct overdue what;
};

static inline void ptoi_timed_begin(struct timed_kernel *t, const struct overdue *what, int64_t now)
{
    ptoi_lock_take(&t->lock);
    t->what = *what;
    t->overdue_at = now + what->limit_ms * 1000000;
    ptoi_lock_leave(&t->lock);
}

static inline void ptoi_timed_end(struct timed_kernel *t)
{
    ptoi_lock_take(&t->lock);
    t->overdue_at = 0;
    ptoi_lock_leave(&t->lock);
}

/* Any thread.  true: it has been overdue for so long. */
static inline bool ptoi_timed_overdue(struct timed_kernel *t, int64_t now, int64_t for_ns, struct overdue *what)
{
    ptoi_lock_take(&t->lock);
    const bool is_overdue = t->overdue_at != 0 && now - t->overdue_at > for_ns;
    *what = t->what;
    ptoi_lock_leave(&t->lock);
    return is_overdue;
}

#endif
