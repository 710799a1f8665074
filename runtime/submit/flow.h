/* flow.h - back-pressure: how the orchestrator waits for a ring, and what that cost.
 *
 * Idea       one routine for every wait.  It asks the engine to wait until a condition holds; the engine answers false
 *            only when it has proved that nothing will ever change: everything published was taken, nothing is ready or
 *            running.
 * Owner      the orchestrator; `current` may be read by any thread.
 * Tests      test/runtime/test_deadlock.c, stress_limits.c */
#ifndef PTOI_FLOW_H
#define PTOI_FLOW_H
#include "meter.h"
#include "shared/atomics.h"
#include "schedule/role_ops.h"
#include <pto/pto_stats.h>

struct recorder;

struct flow {
    const struct role_ops *ops;
    void *context;                                                  /* of ops */
    struct recorder *recorder;                                      /* notified of every stall; may be NULL */
    int64_t stalls[PTO_STALL_REASONS], stall_ns[PTO_STALL_REASONS]; /* times are of the engine's clock */
#define PTO_FLOW_STAT(name, ...) int64_t name;                      /* times are of that clock, too */
#include <pto/stats.def>
    uint64_t task_max, map_max, dep_max; /* high-water marks that no leaf keeps */
    /* the wait that is on is not met before task_tail is so high; 0: nothing is known */
    uint64_t wake_at;
    struct meter meter;      /* where all the time goes */
    _Atomic bool awaits_now; /* it is in an await: relaxed, like `current` */
    _Atomic bool ends_now;   /* the program has returned, and it waits for the end of the run: likewise */
    _Atomic int current;     /* PTOStallReason: relaxed, it orders nothing */
};

/* Blocks until is_met(arg), which must be false now.  false: it never will be. */
bool ptoi_flow_wait(struct flow *f, PTOStallReason reason, bool (*is_met)(void *arg), void *arg);
void ptoi_flow_reset(struct flow *f);
int64_t ptoi_flow_now(const struct flow *f); /* of that clock */

#endif
