/* critical.c - see critical.h. */
#include "critical.h"
#include "shared/limit.h"
#include <stdlib.h>
#include <string.h>

enum { SIMULATED = 1 << 18 }; /* tasks: a larger run is not scheduled again for what nobody asked */

static int64_t time_of(const struct recorded_task *t) { return t->end - t->begin; }

/* reach[n]: the longest chain that ends with task n. */
static uint64_t find_ends(const struct recorder *r, int64_t *reach, uint64_t *before)
{
    uint64_t last = 0;
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        reach[n] = 0;
        before[n] = n;
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const uint64_t from = r->edge[t->first_edge + k].from;
            if (from < n && reach[from] >= reach[n]) reach[n] = reach[from], before[n] = from;
        }
        reach[n] += time_of(t);
        if (reach[n] > reach[last]) last = n;
    }
    return last;
}

bool ptoi_critical_find(const struct recorder *r, struct critical *c)
{
    *c = (struct critical){0};
    int64_t *reach = malloc((r->tasks + 1) * sizeof *reach);
    uint64_t *before = malloc((r->tasks + 1) * sizeof *before);
    c->task = malloc((r->tasks + 1) * sizeof *c->task);
    const bool ok = reach && before && c->task;
    if (ok && r->tasks > 0) {
        uint64_t n = find_ends(r, reach, before);
        c->path = reach[n];
        for (c->task[c->tasks++] = n; before[n] != n; c->task[c->tasks++] = n) n = before[n];
        for (uint64_t i = 0; i < c->tasks / 2; i++) {
            const uint64_t other = c->task[i];
            c->task[i] = c->task[c->tasks - 1 - i];
            c->task[c->tasks - 1 - i] = other;
        }
        for (n = 0; n < r->tasks; n++) c->work += time_of(&r->task[n]);
    }
    free(reach);
    free(before);
    return ok;
}

void ptoi_critical_free(struct critical *c)
{
    free(c->task);
    *c = (struct critical){0};
}

/* ---- text ---- */

struct words {
    FILE *out;
    const PTORuntime *rt;
    const struct recorder *record;
    double divisor;
    int digits;
    const char *unit;
};

static struct words words_of(const PTORuntime *rt, FILE *out)
{
    const bool cycles = ptoi_has_cycles(&rt->core);
    return (struct words){out, rt, rt->core.recorder, cycles ? 1 : 1e6, cycles ? 0 : 3, cycles ? "cycles" : "ms"};
}

static void print_time(const struct words *w, int64_t time)
{
    fprintf(w->out, "%.*f %s", w->digits, (double)time / w->divisor, w->unit);
}

/* The kernels of the chain, the dearest first. */
static void write_kernels(const struct words *w, const struct critical *c)
{
    enum { KERNELS = 64, SHOWN = 6 };
    struct {
        const PTOKernel *kernel;
        int64_t time;
    } sum[KERNELS];
    int kernels = 0;
    for (uint64_t i = 0; i < c->tasks; i++) {
        const struct recorded_task *t = &w->record->task[c->task[i]];
        int k = 0;
        while (k < kernels && sum[k].kernel != t->kernel) k++;
        if (k == KERNELS) continue;
        if (k == kernels) sum[kernels].kernel = t->kernel, sum[kernels++].time = 0;
        sum[k].time += time_of(t);
    }
    for (int shown = 0; shown < SHOWN && shown < kernels; shown++) {
        int most = 0;
        for (int k = 1; k < kernels; k++)
            if (sum[k].time > sum[most].time) most = k;
        fprintf(w->out, "%s%s ", shown ? ", " : " (", sum[most].kernel->name);
        print_time(w, sum[most].time);
        sum[most].time = -1;
    }
    if (kernels > 0) fputc(')', w->out);
}

static void write_path(const struct words *w, const struct critical *c, int64_t wall)
{
    fprintf(w->out, "\nCritical path: %llu tasks, ", (unsigned long long)c->tasks);
    print_time(w, c->path);
    if (wall > 0) fprintf(w->out, ", %.0f %% of the time", 100.0 * (double)c->path / (double)wall);
    write_kernels(w, c);
    fprintf(w->out, "\nParallelism: %.1f (kernels of ", c->path > 0 ? (double)c->work / (double)c->path : 0.0);
    print_time(w, c->work);
    fprintf(w->out, ")\n");
}

static bool has_awaits(const struct recorder *r)
{
    for (uint64_t i = 0; i < r->waits; i++)
        if (r->wait[i].reason == PTO_STALL_NONE && r->wait[i].end > r->wait[i].begin) return true;
    return false;
}

static bool runs_on(const struct recorder *r, int type)
{
    for (uint64_t n = 0; n < r->tasks; n++)
        if ((int)r->task[n].kernel->worker == type) return true;
    return false;
}

static void write_workers(const struct words *w)
{
    const struct whatif_limits today = ptoi_advice_limits(w->rt);
    const int64_t time = ptoi_whatif_time(w->record, &today);
    if (time < 0) return;
    fprintf(w->out, "What if (the recorded tasks, scheduled again; today ");
    print_time(w, time);
    fprintf(w->out, "):");
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        struct whatif_limits l = today;
        l.workers[t]++;
        if (!runs_on(w->record, t)) continue;
        fprintf(w->out, " one more %s ", pto_worker_type_name((PTOWorkerType)t));
        print_time(w, ptoi_whatif_time(w->record, &l));
        fputc(',', w->out);
    }
    struct whatif_limits l = today;
    l.skips_awaits = true;
    fprintf(w->out, " awaits of no time ");
    print_time(w, has_awaits(w->record) ? ptoi_whatif_time(w->record, &l) : time);
    fputc('\n', w->out);
}

static int64_t wall_of(PTORuntime *rt)
{
    const PTORunStats *s = pto_get_run_stats(rt);
    return ptoi_has_cycles(&rt->core) ? s->cycles : s->ns;
}

static bool is_readable(PTORuntime *rt)
{
    return !ptoi_is_running(rt) && ptoi_settle_record(rt) == PTO_OK && ptoi_is_record_complete(rt);
}

void ptoi_critical_write(PTORuntime *rt, FILE *out)
{
    struct critical c;
    if (!is_readable(rt)) return;
    const struct words w = words_of(rt, out);
    if (ptoi_critical_find(w.record, &c)) {
        write_path(&w, &c, wall_of(rt));
        if (w.record->tasks <= SIMULATED) write_workers(&w);
    }
    ptoi_critical_free(&c);
}

/* ---- --advise ---- */

/* The tasks before the longest chains first: by the longest chain from each, its own time included. */
static int64_t *priorities(const struct recorder *r)
{
    int64_t *left = calloc(r->tasks + 1, sizeof *left);
    for (uint64_t n = r->tasks; left && n-- > 0;) {
        left[n] += time_of(&r->task[n]);
        for (uint32_t k = 0; k < r->task[n].edge_count; k++) {
            const uint64_t from = r->edge[r->task[n].first_edge + k].from;
            if (from < n && left[n] > left[from]) left[from] = left[n];
        }
    }
    return left;
}

static void write_change(const struct words *w, const char *change, int64_t time, int64_t today)
{
    enum { WORTH = 20 }; /* a twentieth */
    if (time < 0) return;
    const int64_t less = today - time;
    fprintf(w->out, "  %s %-44s %12.*f %-7s %5.0f %%\n",
            today > 0 && less >= (today + WORTH - 1) / WORTH ? "[!]" : "   ", change, w->digits,
            (double)time / w->divisor, w->unit, today > 0 && less > 0 ? 100.0 * (double)less / (double)today : 0.0);
}

static void write_rings(const struct words *w, const struct whatif_limits *today, int64_t time)
{
    for (int ring = 0; ring < WHATIF_RINGS; ring++) {
        bool asked[WHATIF_RINGS] = {false};
        struct whatif_advice advice[WHATIF_RINGS];
        char change[80], size[40] = "larger";
        asked[ring] = true;
        const bool helps = ptoi_whatif_advise(w->record, today, asked, advice) > 0;
        const uint64_t rings = ring == WHATIF_HEAP ? (uint64_t)w->rt->core.config.heap_rings : 1;
        if (helps) snprintf(size, sizeof size, "%llu", (unsigned long long)(advice[0].size / rings));
        snprintf(change, sizeof change, "%s %s (now %llu)",
                 ptoi_limit_name(ptoi_advice_limit((enum whatif_ring)ring), w->rt->core.config.names), size,
                 (unsigned long long)(today->ring[ring] / rings));
        write_change(w, change, helps ? advice[0].time : time, time);
    }
}

static void write_changes(const struct words *w, const struct whatif_limits *today, int64_t time)
{
    write_rings(w, today, time);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        struct whatif_limits l = *today;
        char change[80];
        if (!runs_on(w->record, t)) continue;
        l.workers[t]++;
        snprintf(change, sizeof change, "%d workers %s (now %d)", l.workers[t], pto_worker_type_name((PTOWorkerType)t),
                 today->workers[t]);
        write_change(w, change, ptoi_whatif_time(w->record, &l), time);
    }
    struct whatif_limits l = *today;
    if (l.processors > 0) {
        l.processors++;
        write_change(w, "one processor more", ptoi_whatif_time(w->record, &l), time);
    }
    int64_t *const priority = priorities(w->record);
    l = *today;
    l.priority = priority;
    if (priority) write_change(w, "@priority by the longest chain that is left", ptoi_whatif_time(w->record, &l), time);
    free(priority);
    l = *today;
    l.skips_awaits = true;
    write_change(w, "awaits of no time", ptoi_whatif_time(w->record, &l), time);
    l = *today;
    l.submits_at_once = true;
    write_change(w, "submits of no time (fewer, larger tasks)", ptoi_whatif_time(w->record, &l), time);
}

/* All of it was recorded, and there was nothing. */
static bool had_no_tasks(const PTORuntime *rt)
{
    const struct recorder *r = rt->core.recorder;
    return r && r->tasks == 0 && r->lost == 0 && !ptoi_is_running(rt) && ptoi_status(rt->core.run_status) == PTO_OK;
}

void ptoi_advise_write(PTORuntime *rt, FILE *out)
{
    if (!is_readable(rt)) {
        fprintf(out, "\nNo advice: the run %s\n", had_no_tasks(rt) ? "had no tasks" : "was not recorded completely");
        return;
    }
    const struct words w = words_of(rt, out);
    const struct whatif_limits today = ptoi_advice_limits(rt);
    const int64_t time = ptoi_whatif_time(w.record, &today);
    if (time < 0) return;
    fprintf(out, "\nWhat would help (the recorded tasks, scheduled again; today ");
    print_time(&w, time);
    fprintf(out, "; [!] is at least 5 %% faster):\n");
    write_changes(&w, &today, time);
}
