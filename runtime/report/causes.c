/* causes.c - see causes.h. */
#include "causes.h"
#include "json.h"
#include <stdlib.h>
#include <string.h>

_Static_assert((int)WORKER_CAUSES <= (int)ORCHESTRATOR_CAUSES, "a row has room for either");

int ptoi_causes_of(const struct cause_row *row)
{
    return row->is_orchestrator ? (int)ORCHESTRATOR_CAUSES : (int)WORKER_CAUSES;
}

const char *ptoi_cause_name(const struct cause_row *row, int cause)
{
    static const char *const of_orchestrator[] = {
#define ORCHESTRATOR_CAUSE(id, text) text,
#include "shared/causes.def"
    };
    static const char *const of_worker[] = {
#define WORKER_CAUSE(id, text) text,
#include "shared/causes.def"
    };
    return row->is_orchestrator ? of_orchestrator[cause] : of_worker[cause];
}

/* ---- rows ---- */

/* From readings of a clock to the unit of the run; the sum is `total`. */
static void scale(struct cause_row *row, const int64_t *readings, int64_t total)
{
    const int causes = ptoi_causes_of(row);
    int64_t sum = 0, left = row->total = total;
    int largest = 0;
    for (int c = 0; c < causes; c++) sum += readings[c];
    for (int c = 0; c < causes; c++) {
        const double time = sum > 0 ? (double)readings[c] / (double)sum * (double)total : 0;
        row->time[c] = time < (double)left ? (int64_t)time : left; /* the largest time is no double */
        left -= row->time[c];
        if (row->time[c] > row->time[largest]) largest = c;
    }
    row->time[largest] += left;
}

/* Calls of the fast path do not come by: their time is that of the kernels that were sampled. */
static void add_inline(struct cause_row *row, const PTORuntime *rt)
{
    int64_t more = -row->time[CAUSE_INLINE];
    for (int t = 0; t < PTO_WORKER_TYPES; t++) more += rt->core.orch.fast.busy_ns[t];
    if (more > row->time[CAUSE_PROGRAM]) more = row->time[CAUSE_PROGRAM];
    if (more <= 0) return;
    row->time[CAUSE_INLINE] += more;
    row->time[CAUSE_PROGRAM] -= more;
}

static void fill_orchestrator(struct cause_row *row, const PTORuntime *rt, const PTORunStats *s)
{
    *row = (struct cause_row){.name = "orchestrator", .is_orchestrator = true};
    const bool cycles = ptoi_has_cycles(&rt->core);
    int64_t time[ORCHESTRATOR_CAUSES], sum = 0;
    memcpy(time, rt->core.orch.flow.meter.time, sizeof time);
    for (int c = 0; c < ORCHESTRATOR_CAUSES; c++) sum += time[c];
    if (cycles && s->cycles > sum) time[CAUSE_END] += s->cycles - sum;
    scale(row, time, cycles ? s->cycles : s->ns);
    if (!cycles) add_inline(row, rt);
}

/* Engine timing: the workers of a type in one row. */
static int fill_simulated(struct cause_row *row, const PTORuntime *rt, const PTORunStats *s)
{
    int count = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        if (s->workers[t] == 0) continue;
        struct cause_row *r = &row[count++];
        *r = (struct cause_row){.total = INT64_MAX};
        if (s->cycles <= INT64_MAX / s->workers[t]) r->total = s->cycles * s->workers[t];
        snprintf(r->name, sizeof r->name, "%s x %d", pto_worker_type_name((PTOWorkerType)t), s->workers[t]);
        r->time[WORKER_KERNEL] = s->worker_busy_cycles[t];
        r->time[WORKER_DISPATCH] = s->worker_tasks[t] * rt->core.config.dispatch_cycles;
        r->time[WORKER_IDLE] = r->total - r->time[WORKER_KERNEL] - r->time[WORKER_DISPATCH];
    }
    return count;
}

/* Workers that several types share have a clock as workers of the first of them. */
static int fill_workers(struct cause_row *row, const PTORuntime *rt, const PTORunStats *s)
{
    const struct worker_times *times = &rt->core.times;
    int count = 0, n = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        const bool is_shared = rt->core.shares_workers && t != PTO_WORKER_ACCELERATOR;
        for (int i = 0; i < s->workers[t] && n < times->workers; i++, n++) {
            struct cause_row *const r = &row[count];
            if (is_shared && t != PTO_WORKER_CUBE) continue;
            count++;
            *r = (struct cause_row){0};
            snprintf(r->name, sizeof r->name, "%s %d", is_shared ? "worker" : pto_worker_type_name((PTOWorkerType)t),
                     i);
            scale(r, times->spent[n], s->ns);
        }
    }
    return count;
}

struct cause_row *ptoi_causes_rows(PTORuntime *rt, int *count)
{
    *count = 0;
    if (!rt->core.orch.flow.meter.is_on || ptoi_is_running(rt)) return NULL;
    const PTORunStats *s = pto_get_run_stats(rt);
    struct cause_row *row = calloc((size_t)rt->core.times.workers + PTO_WORKER_TYPES + 1, sizeof *row);
    if (!row) return NULL;
    fill_orchestrator(row, rt, s);
    *count = 1;
    *count += ptoi_has_cycles(&rt->core) ? fill_simulated(row + 1, rt, s) : fill_workers(row + 1, rt, s);
    return row;
}

/* ---- text ---- */

struct amount {
    double divisor;
    int digits;
    const char *unit;
};

static struct amount amount_of(const PTORuntime *rt)
{
    return ptoi_has_cycles(&rt->core) ? (struct amount){1, 0, "cycles"} : (struct amount){1e6, 3, "ms"};
}

static void write_row(const struct cause_row *row, const struct amount *a, FILE *out)
{
    fprintf(out, "  %-14s", row->name);
    const char *between = " ";
    for (int c = 0; c < ptoi_causes_of(row); c++) {
        if (row->time[c] == 0) continue;
        fprintf(out, "%s%s %.*f", between, ptoi_cause_name(row, c), a->digits, (double)row->time[c] / a->divisor);
        if (row->total > 0) fprintf(out, " (%.1f %%)", 100.0 * (double)row->time[c] / (double)row->total);
        between = ", ";
    }
    fputc('\n', out);
}

static int by_time(const void *a, const void *b)
{
    const struct metered_wait *x = a, *y = b;
    return (x->time < y->time) - (x->time > y->time);
}

static void write_waits(const PTORuntime *rt, const struct cause_row *row, const struct amount *a, FILE *out)
{
    enum { SHOWN = 8 };
    const struct meter *m = &rt->core.orch.flow.meter;
    struct metered_wait wait[METERED_WAITS];
    memcpy(wait, m->wait, sizeof wait);
    qsort(wait, (size_t)m->waits, sizeof *wait, by_time);
    for (int i = 0; i < m->waits && i < SHOWN; i++) {
        fprintf(out, "    %s", ptoi_cause_name(row, (int)wait[i].cause));
        if (wait[i].tensor) fprintf(out, ", %.100s", wait[i].tensor);
        if (wait[i].site)
            fprintf(out, ", %.200s:%d:%d", wait[i].site->file, wait[i].site->line, pto_site_column(wait[i].site));
        fprintf(out, ": %.*f %s in %lld waits\n", a->digits, (double)wait[i].time / a->divisor, a->unit,
                (long long)wait[i].count);
    }
}

void ptoi_causes_write(PTORuntime *rt, FILE *out)
{
    int count;
    struct cause_row *row = ptoi_causes_rows(rt, &count);
    if (!row) return;
    const struct amount a = amount_of(rt);
    fprintf(out, "\nWhere the time went (%.*f %s):\n", a.digits, (double)row[0].total / a.divisor, a.unit);
    for (int i = 0; i < count; i++) {
        write_row(&row[i], &a, out);
        if (i == 0) write_waits(rt, &row[0], &a, out);
    }
    free(row);
}

void ptoi_causes_write_json(PTORuntime *rt, FILE *out)
{
    int count;
    struct cause_row *row = ptoi_causes_rows(rt, &count);
    fputc('{', out);
    for (int i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        json_string(out, row[i].name);
        for (int c = 0; c < ptoi_causes_of(&row[i]); c++)
            fprintf(out, "%s\"%s\":%lld", c ? "," : ":{", ptoi_cause_name(&row[i], c), (long long)row[i].time[c]);
        fputc('}', out);
    }
    fputc('}', out);
    free(row);
}
