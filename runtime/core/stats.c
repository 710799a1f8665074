/* stats.c - flow control in numbers and in words: the report of the design, with advice that names limits (limit.h). */
#include "limit.h"
#include "misuse.h"
#include "runtime.h"
#include <string.h>

const char *pto_stall_reason_name(PTOStallReason reason)
{
    static const char *const names[PTO_STALL_REASONS] = {"none",         "task ring", "tensormap pool",
                                                         "deplist pool", "heap ring", "ready queue"};
    return (unsigned)reason < PTO_STALL_REASONS ? names[reason] : "?";
}

PTOStallReason pto_get_current_stall(PTORuntime *rt)
{
    if (ptoi_is_null(rt, "pto_get_current_stall")) return PTO_STALL_NONE;
    return (PTOStallReason)load_relaxed(&rt->orch.flow.current); /* relaxed: a glimpse */
}

const PTOFlowControlStats *pto_get_flow_stats(PTORuntime *rt)
{
    if (ptoi_is_null(rt, "pto_get_flow_stats")) return NULL;
    const struct flow *f = &rt->orch.flow;
    if (ptoi_is_running(rt) && rt->engine->settle) rt->engine->settle(rt, false);
    PTOFlowControlStats *s = &rt->flow_stats;
    s->task_ring_stalls = f->stalls[PTO_STALL_TASK_RING];
    s->tensormap_pool_stalls = f->stalls[PTO_STALL_TENSORMAP_POOL];
    s->deplist_pool_stalls = f->stalls[PTO_STALL_DEPLIST_POOL];
    s->heap_ring_stalls = f->stalls[PTO_STALL_HEAP_RING];
    s->ready_queue_stalls = f->stalls[PTO_STALL_READY_QUEUE];
    s->task_ring_stall_ns = f->stall_ns[PTO_STALL_TASK_RING];
    s->tensormap_pool_stall_ns = f->stall_ns[PTO_STALL_TENSORMAP_POOL];
    s->deplist_pool_stall_ns = f->stall_ns[PTO_STALL_DEPLIST_POOL];
    s->heap_ring_stall_ns = f->stall_ns[PTO_STALL_HEAP_RING];
    s->ready_queue_stall_ns = f->stall_ns[PTO_STALL_READY_QUEUE];
    s->task_ring_hwm = (int64_t)f->task_max;
    s->tensormap_pool_hwm = (int64_t)f->map_max;
    s->deplist_pool_hwm = (int64_t)f->dep_max;
    s->heap_hwm = (int64_t)rt->orch.heap.used_bytes_max;
    s->ready_queue_hwm = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if ((int64_t)rt->sched.ready[t].count_max > s->ready_queue_hwm) s->ready_queue_hwm = (int64_t)rt->sched.ready[t].count_max;
    s->task_ring_size = s->ready_queue_size = rt->config.task_window;
    s->tensormap_pool_size = ptoi_map_capacity(rt->orch.map);
    s->deplist_pool_size = rt->config.deplist_entries;
    s->heap_size = (int64_t)rt->window->heap_bytes;
    s->awaits = f->awaits;
    s->awaits_blocked = f->awaits_blocked;
    s->await_ns = f->await_ns;
    s->current_stall = pto_get_current_stall(rt);
    s->unit = rt->engine->has_cycles ? "cycles" : "ns";
    return s;
}

void pto_reset_flow_stats(PTORuntime *rt)
{
    if (ptoi_is_null(rt, "pto_reset_flow_stats")) return;
    ptoi_flow_reset(&rt->orch.flow);
    rt->orch.heap.used_bytes_max = rt->orch.heap.used_bytes;
    ptoi_short_close(&rt->orch.now); /* the next task that runs at its submit is one in flight */
    if (rt->engine->settle)
        rt->engine->settle(rt, true);
    else
        ptoi_sched_reset_marks(&rt->sched);
}

struct row {
    const char *name;
    enum limit limit;
    int64_t stalls, ns, hwm, size;
    const char *unit;
};

static void print_row(FILE *out, const char *name, int64_t value) { fprintf(out, "  %-25s %12lld\n", name, (long long)value); }

static void print_time(FILE *out, const char *name, int64_t time, const char *unit)
{
    fprintf(out, "%-27s %12lld %s", name, (long long)time, unit);
    if (time > 0 && unit[0] == 'n') fprintf(out, "  (%.2f ms)", (double)time / 1e6);
    fputc('\n', out);
}

void pto_write_flow_stats(PTORuntime *rt, FILE *out)
{
    enum { ROWS = 5 };
    const PTOFlowControlStats *s = pto_get_flow_stats(rt);
    if (!s) return;
    const struct row rows[ROWS] = {
        {"Task Ring", LIMIT_WINDOW, s->task_ring_stalls, s->task_ring_stall_ns, s->task_ring_hwm, s->task_ring_size, ""},
        {"TensorMap Pool", LIMIT_TENSORMAP, s->tensormap_pool_stalls, s->tensormap_pool_stall_ns, s->tensormap_pool_hwm,
         s->tensormap_pool_size, ""},
        {"DepList Pool", LIMIT_DEPS, s->deplist_pool_stalls, s->deplist_pool_stall_ns, s->deplist_pool_hwm, s->deplist_pool_size, ""},
        {"Heap Ring", LIMIT_HEAP, s->heap_ring_stalls, s->heap_ring_stall_ns, s->heap_hwm, s->heap_size, " bytes"},
        {"Ready Queue", LIMIT_WINDOW, s->ready_queue_stalls, s->ready_queue_stall_ns, s->ready_queue_hwm, s->ready_queue_size, ""},
    };
    static const char line[] = "================================================================================";
    char name[64];
    int64_t total = 0;
    bool advice = false;
    fprintf(out, "[PTO Flow Control Statistics]\n%s\n\nStall Counts (times orchestration was blocked):\n", line);
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "%s%s:", rows[i].name, i == 0 ? " (window full)" : "");
        print_row(out, name, rows[i].stalls);
    }
    fprintf(out, "\nStall Times (%s):\n", s->unit[0] == 'n' ? "nanoseconds" : s->unit);
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "  %s%s:", rows[i].name, i == 0 ? " (window full)" : "");
        print_time(out, name, rows[i].ns, s->unit);
        total += rows[i].ns;
    }
    fputc('\n', out);
    print_time(out, "Total Stall Time:", total, s->unit);
    print_time(out, "Time in await:", s->await_ns, s->unit);
    fprintf(out, "  %-25s %12lld, of which %lld had to wait\n", "Values awaited:", (long long)s->awaits, (long long)s->awaits_blocked);
    fprintf(out, "\nHigh Water Marks (peak usage):\n");
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "%s:", rows[i].name);
        fprintf(out, "  %-16s %10lld / %lld%s  (%.1f%%)\n", name, (long long)rows[i].hwm, (long long)rows[i].size, rows[i].unit,
                rows[i].size ? 100.0 * (double)rows[i].hwm / (double)rows[i].size : 0.0);
    }
    fprintf(out, "\nSizing Recommendations:\n");
    for (int i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        const char *const limit = ptoi_limit_name(r->limit, rt->config.names_options);
        if (r->stalls > 0) {
            fprintf(out, "  [!] %s was exhausted %lld times.\n      Consider increasing %s (current: %lld)\n", r->name,
                    (long long)r->stalls, limit, (long long)(i == 3 ? rt->config.heap_bytes : r->size));
            advice = true;
        }
        if (r->size > 0 && 10 * r->hwm > 9 * r->size && i != 4) {
            fprintf(out, "  [WARN] %s usage reached %.1f%% - consider increasing %s\n", r->name,
                    100.0 * (double)r->hwm / (double)r->size, limit);
            advice = true;
        }
    }
    if (!advice) fprintf(out, "  none: no ring was ever full\n");
    fprintf(out, "\n%s\n", line);
}

void pto_print_flow_stats(PTORuntime *rt) { pto_write_flow_stats(rt, stdout); }

const PTORunStats *pto_get_run_stats(PTORuntime *rt)
{
    if (ptoi_is_null(rt, "pto_get_run_stats")) return NULL;
    PTORunStats *s = &rt->run_stats;
    s->tasks = (int64_t)(rt->now.number - rt->orch.first_number);
    s->at_submit = s->tasks - (int64_t)(rt->orch.head - rt->orch.first_head);
    s->counts_dependences = rt->config.count_dependences;
    s->edges = rt->orch.edges;
    s->dependences = rt->orch.dependences;
    s->allocations = rt->orch.allocations;
    s->allocated_bytes = rt->orch.allocated_bytes;
    s->moved_bytes = rt->orch.moved_bytes;
    s->scopes = rt->orch.scope_count;
    memset(s->worker_busy_ns, 0, sizeof s->worker_busy_ns);
    memset(s->worker_busy_cycles, 0, sizeof s->worker_busy_cycles);
    s->cycles = s->critical_path = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        s->workers[t] = rt->config.workers[t];
        s->worker_tasks[t] = rt->sched.worker_tasks[t];
    }
    rt->engine->measure(rt, s);
    ptoi_short_count(&rt->orch.now);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        s->worker_tasks[t] += rt->orch.now.tasks[t];
        s->worker_busy_ns[t] += rt->orch.now.busy_ns[t];
    }
    return s;
}
