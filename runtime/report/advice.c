/* advice.c - see advice.h. */
#include "advice.h"
#include "shared/limit.h"
#include "shared/processors.h"

struct whatif_limits ptoi_advice_limits(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    struct whatif_limits l = {.ring = {[WHATIF_WINDOW] = (uint64_t)c->task_window,
                                       [WHATIF_MAP] = (uint64_t)ptoi_map_capacity(rt->core.orch.edges.map),
                                       [WHATIF_DEPS] = (uint64_t)c->deplist_entries,
                                       [WHATIF_HEAP] = rt->core.window->heap_bytes}};
    for (int t = 0; t < PTO_WORKER_TYPES; t++) l.workers[t] = c->workers[t];
    if (ptoi_has_cycles(&rt->core)) {
        l.submit = c->submit_cycles;
        l.dispatch = c->dispatch_cycles;
    } else if (!rt->core.backend->mirror) {
        l.processors = ptoi_processors();
    }
    return l;
}

/* Every task ran, on workers beside the orchestrator, and all of it was kept. */
bool ptoi_is_record_complete(const PTORuntime *rt)
{
    const struct recorder *r = rt->core.recorder;
    if (r->lost > 0 || r->lost_edges > 0 || r->lost_other > 0 || ptoi_status(rt->core.run_status) != PTO_OK)
        return false;
    for (uint64_t n = 0; n < r->tasks; n++)
        if (r->task[n].begin == 0 && r->task[n].end == 0) return false;
    return r->tasks > 0;
}

enum limit ptoi_advice_limit(enum whatif_ring ring)
{
    static const enum limit limits[WHATIF_RINGS] = {[WHATIF_WINDOW] = LIMIT_WINDOW,
                                                    [WHATIF_MAP] = LIMIT_TENSORMAP,
                                                    [WHATIF_DEPS] = LIMIT_DEPS,
                                                    [WHATIF_HEAP] = LIMIT_HEAP};
    return limits[ring];
}

static void write_advice(const PTORuntime *rt, const struct whatif_advice *a, FILE *out)
{
    const uint64_t rings = a->ring == WHATIF_HEAP ? (uint64_t)rt->core.config.heap_rings : 1;
    const uint64_t today = ptoi_advice_limits(rt).ring[a->ring];
    const bool cycles = ptoi_has_cycles(&rt->core);
    const double unit = cycles ? 1 : 1e6;
    fprintf(out, "  [!] %s %llu (now %llu): %.*f %s instead of %.*f, %.0f %% less\n",
            ptoi_limit_name(ptoi_advice_limit(a->ring), rt->core.config.names), (unsigned long long)(a->size / rings),
            (unsigned long long)(today / rings), cycles ? 0 : 3, (double)a->time / unit, cycles ? "cycles" : "ms",
            cycles ? 0 : 3, (double)a->today / unit, 100.0 * (double)(a->today - a->time) / (double)a->today);
}

void ptoi_advice_write(PTORuntime *rt, FILE *out)
{
    if (ptoi_is_running(rt) || ptoi_settle_record(rt) != PTO_OK) return;
    const PTOFlowControlStats *s = pto_get_flow_stats(rt);
    const bool asked[WHATIF_RINGS] = {[WHATIF_WINDOW] = s->task_ring_stalls > 0,
                                      [WHATIF_MAP] = s->tensormap_pool_stalls > 0,
                                      [WHATIF_DEPS] = s->deplist_pool_stalls > 0,
                                      [WHATIF_HEAP] = s->heap_ring_stalls > 0};
    bool any = false;
    for (int ring = 0; ring < WHATIF_RINGS; ring++) any |= asked[ring];
    if (any && !ptoi_is_record_complete(rt)) return;
    fprintf(out, "\nSizing Recommendations (the recorded tasks, scheduled again):\n");
    struct whatif_advice advice[WHATIF_RINGS];
    const struct whatif_limits today = ptoi_advice_limits(rt);
    const int count = any ? ptoi_whatif_advise(rt->core.recorder, &today, asked, advice) : 0;
    for (int i = 0; i < count; i++) write_advice(rt, &advice[i], out);
    if (count == 0)
        fprintf(out, "  none: %s\n",
                any ? "no larger ring would make this run 5 % faster" : "the program never waited for a ring");
}
