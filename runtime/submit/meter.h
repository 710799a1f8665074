/* meter.h - where the orchestrator's time goes: a clock for each cause of causes.def.
 *
 * Idea       the orchestrator is in one cause at a time.  When it goes to another, the time since the last change is
 *            added to the cause that it leaves: so the sum of all is the time of the run, exactly.  A look at the clock
 *            is a counter of the processor (ticks.h).  Nobody looks unless the run is metered.  The waits that took
 *            longest are kept by place and tensor, metered or not: a wait costs far more than that.
 * Owner      the orchestrator; read when no run is active.
 * Tests      test/runtime/test_causes.c, test/lit/host/await.test */
#ifndef PTOI_METER_H
#define PTOI_METER_H
#include "record/ticks.h"
#include "schedule/role_ops.h"
#include <pto/pto_stats.h>

enum orchestrator_cause {
#define ORCHESTRATOR_CAUSE(id, text) CAUSE_##id,
#include "shared/causes.def"
    ORCHESTRATOR_CAUSES
};

struct metered_wait {
    enum orchestrator_cause cause;
    const PTOSite *site; /* NULL: not known */
    const char *tensor;  /* likewise */
    int64_t time, count; /* time of the engine's clock */
};

enum { METERED_WAITS = 32 };

struct meter {
    bool is_on, in_ticks;
    enum orchestrator_cause now;
    int64_t since;
    int64_t time[ORCHESTRATOR_CAUSES]; /* ticks, ns or cycles */
    struct metered_wait wait[METERED_WAITS];
    int waits;
    const struct role_ops *ops;
    void *context; /* of ops */
};

static inline int64_t ptoi_meter_clock(const struct meter *m)
{
    return m->ops->clock ? m->ops->clock(m->context) : m->in_ticks ? ptoi_ticks() : ptoi_clock_ns();
}

/* The orchestrator's time belongs to that cause from now on.  Returns the cause before. */
enum orchestrator_cause ptoi_meter_change(struct meter *m, enum orchestrator_cause to);
static inline enum orchestrator_cause ptoi_meter_enter(struct meter *m, enum orchestrator_cause to)
{
    return __builtin_expect(m->is_on, 0) ? ptoi_meter_change(m, to) : CAUSE_PROGRAM;
}

void ptoi_meter_init(struct meter *m, bool is_on, const struct role_ops *ops, void *context);
void ptoi_meter_begin(struct meter *m);
void ptoi_meter_end(struct meter *m);
/* A wait has ended. */
void ptoi_meter_waited(struct meter *m, enum orchestrator_cause cause, const PTOSite *site, const char *tensor,
                       int64_t time);
static inline enum orchestrator_cause ptoi_cause_of_stall(PTOStallReason reason)
{
    return (enum orchestrator_cause)(CAUSE_WINDOW + (int)reason - (int)PTO_STALL_TASK_RING);
}

#endif
