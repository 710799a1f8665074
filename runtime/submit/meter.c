/* meter.c - see meter.h. */
#include "meter.h"
#include <string.h>

_Static_assert(CAUSE_MAP - CAUSE_WINDOW == PTO_STALL_TENSORMAP_POOL - PTO_STALL_TASK_RING &&
                   CAUSE_DEPS - CAUSE_WINDOW == PTO_STALL_DEPLIST_POOL - PTO_STALL_TASK_RING &&
                   CAUSE_HEAP - CAUSE_WINDOW == PTO_STALL_HEAP_RING - PTO_STALL_TASK_RING &&
                   CAUSE_QUEUE - CAUSE_WINDOW == PTO_STALL_READY_QUEUE - PTO_STALL_TASK_RING,
               "causes.def has the order of PTOStallReason");

void ptoi_meter_init(struct meter *m, bool is_on, const struct role_ops *ops, void *context)
{
    *m = (struct meter){.is_on = is_on, .ops = ops, .context = context};
    m->in_ticks = is_on && !ops->clock && ptoi_ticks_are_steady();
}

enum orchestrator_cause ptoi_meter_change(struct meter *m, enum orchestrator_cause to)
{
    const enum orchestrator_cause from = m->now;
    const int64_t now = ptoi_meter_clock(m);
    m->time[from] += now - m->since;
    m->since = now;
    m->now = to;
    return from;
}

void ptoi_meter_begin(struct meter *m)
{
    m->waits = 0;
    if (!m->is_on) return;
    memset(m->time, 0, sizeof m->time);
    m->now = CAUSE_PROGRAM;
    m->since = ptoi_meter_clock(m);
}

void ptoi_meter_end(struct meter *m) { ptoi_meter_enter(m, CAUSE_PROGRAM); }

void ptoi_meter_waited(struct meter *m, enum orchestrator_cause cause, const PTOSite *site, const char *tensor,
                       int64_t time)
{
    int i = 0;
    while (i < m->waits && (m->wait[i].cause != cause || m->wait[i].site != site || m->wait[i].tensor != tensor)) i++;
    if (i == METERED_WAITS) { /* the shortest makes room */
        i = 0;
        for (int k = 1; k < METERED_WAITS; k++)
            if (m->wait[k].time < m->wait[i].time) i = k;
        if (m->wait[i].time >= time) return;
        m->wait[i].time = m->wait[i].count = 0;
    } else if (i == m->waits) {
        m->wait[m->waits++] = (struct metered_wait){0};
    }
    m->wait[i] = (struct metered_wait){cause, site, tensor, m->wait[i].time + time, m->wait[i].count + 1};
}
