/* stats.c - flow control and what a run did, in numbers; report/flow_stats.c puts them into words. */
#include "misuse.h"
#include "runtime.h"
#include <string.h>

const char *pto_stall_reason_name(PTOStallReason reason)
{
    static const char *const names[PTO_STALL_REASONS] = {
        "none",
#define PTO_RING(id, name, mark, text, ...) text,
#include <pto/stats.def>
    };
    return (unsigned)reason < PTO_STALL_REASONS ? names[reason] : "?";
}

PTOStallReason pto_get_current_stall(PTORuntime *rt)
{
    if (ptoi_is_gone(rt, "pto_get_current_stall")) return PTO_STALL_NONE;
    return (PTOStallReason)load_relaxed(&rt->core.orch.flow.current); /* relaxed: a glimpse */
}

const PTOFlowControlStats *pto_get_flow_stats(PTORuntime *rt)
{
    if (ptoi_is_gone(rt, "pto_get_flow_stats")) return NULL;
    const struct flow *f = &rt->core.orch.flow;
    if (ptoi_is_running(rt) && rt->core.engine->settle) rt->core.engine->settle(&rt->core, false);
    ptoi_orch_note_use(&rt->core.orch);
    PTOFlowControlStats *s = &rt->flow_stats;
#define PTO_RING(id, name, ...)                                                                                        \
    s->name##_stalls = f->stalls[PTO_STALL_##id];                                                                      \
    s->name##_stall_ns = f->stall_ns[PTO_STALL_##id];
#include <pto/stats.def>
#define PTO_FLOW_STAT(name, ...) s->name = f->name;
#include <pto/stats.def>
    s->task_ring_hwm = (int64_t)f->task_max;
    s->tensormap_pool_hwm = (int64_t)f->map_max;
    s->deplist_pool_hwm = (int64_t)f->dep_max;
    s->heap_hwm = (int64_t)rt->core.orch.buffers.heap.used_bytes_max;
    s->ready_queue_hwm = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if ((int64_t)rt->core.sched.ready[t].count_max > s->ready_queue_hwm)
            s->ready_queue_hwm = (int64_t)rt->core.sched.ready[t].count_max;
    s->task_ring_size = s->ready_queue_size = rt->core.config.task_window;
    s->tensormap_pool_size = ptoi_map_capacity(rt->core.orch.edges.map);
    s->deplist_pool_size = rt->core.config.deplist_entries;
    s->heap_size = (int64_t)rt->core.window->heap_bytes;
    s->current_stall = pto_get_current_stall(rt);
    s->unit = ptoi_unit(&rt->core);
    return s;
}

void pto_reset_flow_stats(PTORuntime *rt)
{
    if (ptoi_is_gone(rt, "pto_reset_flow_stats")) return;
    ptoi_orch_reset_flow(&rt->core.orch);
    if (rt->core.engine->settle)
        rt->core.engine->settle(&rt->core, true);
    else
        ptoi_sched_reset_marks(&rt->core.sched);
}

const PTORunStats *pto_get_run_stats(PTORuntime *rt)
{
    if (ptoi_is_gone(rt, "pto_get_run_stats")) return NULL;
    PTORunStats *s = &rt->run_stats;
    const struct core *core = &rt->core;
    const bool found = ptoi_orch_find_edges(&rt->core.orch);
#define COPY_ORCHESTRATOR(name) memcpy(&s->name, &core->orch.run.stats.name, sizeof s->name);
#define COPY_SCHEDULER(name)    memcpy(&s->name, &core->sched.stats.name, sizeof s->name);
#define COPY_ENGINE(name)       memset(&s->name, 0, sizeof s->name);
#define COPY_RUNTIME(name)
#define PTO_RUN_FIELD(owner, type, name, ...) COPY_##owner(name)
#include <pto/stats.def>
    core->engine->measure(&rt->core, s);
    s->folds = rt->accumulators.folds; /* beside the tasks of the program */
    s->tasks = (int64_t)(rt->now.number - core->orch.run.first_number) + (rt->dist ? 0 : s->folds);
    const int64_t in_window = (int64_t)(core->orch.rings.head - core->orch.run.first_head);
    s->at_submit = s->tasks - (in_window - s->strips + s->strip_tasks);
    s->tasks -= s->folds;
    s->at_submit -= rt->accumulators.folds_inline;
    if (rt->dist && !rt->dist->plan) { /* transfers have numbers, too */
        s->tasks = rt->dist->tasks_of[rt->dist->me];
        s->folds = rt->dist->folds;
    }
    s->counts_dependences = found && core->config.count_dependences;
    ptoi_fast_count(&rt->core.orch.fast);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        s->workers[t] = core->config.workers[t];
        s->worker_tasks[t] += core->orch.fast.tasks[t];
        s->worker_busy_ns[t] += core->orch.fast.busy_ns[t];
    }
    return s;
}
