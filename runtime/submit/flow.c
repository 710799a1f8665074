/* flow.c - see flow.h. */
#include "flow.h"
#include "record/record.h"
#include "shared/system.h"

int64_t ptoi_flow_now(const struct flow *f) { return f->ops->clock ? f->ops->clock(f->context) : ptoi_clock_ns(); }

bool ptoi_flow_wait(struct flow *f, PTOStallReason reason, bool (*is_met)(void *arg), void *arg)
{
    const int64_t since = ptoi_flow_now(f), begin = f->recorder ? ptoi_record_now(f->recorder) : 0;
    const enum orchestrator_cause cause = ptoi_meter_enter(&f->meter, ptoi_cause_of_stall(reason));
    f->stalls[reason]++;
    store_relaxed(&f->current, (int)reason);
    bool met = f->ops->wait(f->context, is_met, arg);
    store_relaxed(&f->current, (int)PTO_STALL_NONE);
    ptoi_meter_enter(&f->meter, cause);
    f->stall_ns[reason] += ptoi_flow_now(f) - since;
    if (f->recorder) ptoi_record_wait(f->recorder, reason, begin, ptoi_record_now(f->recorder));
    return met;
}

void ptoi_flow_reset(struct flow *f)
{
    for (int r = 0; r < PTO_STALL_REASONS; r++) f->stalls[r] = f->stall_ns[r] = 0;
#define PTO_FLOW_STAT(name, ...) f->name = 0;
#include <pto/stats.def>
    f->task_max = f->map_max = f->dep_max = 0;
}
