/* waits.h - how long workers have waited for transfers, by the kernel that needed them.
 *
 * Idea       a worker that begins a task has had nothing to do since the task before it.  Where receives that the task
 *            depends on were under way meanwhile, the worker has waited for them.  When a receive began and ended is
 *            noted by its number in the window, so that the task finds it among those that it depends on.
 * Owner      notes: the thread that moves transfers, one at a time; sums: the thread that begins a task, under
 *            `lock`.  Read when no run is active.
 * Invariant  a note is there until each task that depends on the receive has begun: such a task lies less than a window
 *            behind it, and there are as many notes as two windows have tasks.
 * Blocks     never for long: nothing is taken under the lock.
 * Tests      test/wire/check_options.py */
#ifndef PTOI_WAITS_H
#define PTOI_WAITS_H
#include "shared/system.h"
#include "shared/window.h"

enum { WAITED_KERNELS = 24 };

struct kernel_wait {
    const PTOKernel *kernel; /* NULL: all that have no place of their own */
    int64_t ns, tasks;
};

/* A receive that has ended.  W the thread that moves transfers; R who begins a task that depends on it; relaxed:
 * the completion of the receive publishes both. */
struct arrival {
    _Atomic uint64_t task; /* its id + 1 */
    _Atomic int64_t began, ended;
};

struct waits {
    const struct window *window;
    struct arrival *arrival; /* by id, of two windows; NULL: nobody asks for these times */
    ptoi_lock lock;          /* guards what follows */
    int64_t began;           /* the run */
    int32_t kernels;
    struct kernel_wait kernel[WAITED_KERNELS];
};

/* false: no memory. */
bool ptoi_waits_open(struct waits *w, const struct window *window);
void ptoi_waits_close(struct waits *w);
void ptoi_waits_begin(struct waits *w); /* a run */
/* A receive that the scheduler started then has ended, and is about to be reported as completed. */
void ptoi_waits_arrived(struct waits *w, uint64_t id, int64_t began);
static inline int64_t ptoi_waits_now(const struct waits *w) { return w->arrival ? ptoi_clock_ns() : 0; }
/* Of struct outside: a worker begins the task, and has had nothing to do since then. */
void ptoi_waits_began(struct waits *w, uint64_t id, int64_t idle_since);

#endif
