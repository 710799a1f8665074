/* page.c - a run as one page of HTML: summary, timeline, each kernel's times, the graph if it is small, flow
 * control and advice.
 * Idea       everything is in the page, nothing is fetched, and it is well-formed XML, so other programs can read it
 *            too. Where tasks are too many to be drawn as boxes, the page shows how busy each worker was.
 * Tests      test/lit/host/report.test
 */
#include "causes.h"
#include "api/misuse.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 20, LEFT = 110, BOXES = 4000, COLUMNS = 600, GRAPH_TASKS = 80, COLORS = 10 };

static const char *const colors[COLORS] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                           "#edc948", "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6"};

struct kernel_times {
    const PTOKernel *kernel;
    uint64_t count;
    int64_t *ns; /* of the tasks that ran */
};

struct page {
    FILE *out;
    PTORuntime *rt;
    const struct recorder *record;
    int64_t end; /* of the last task, from the origin */
    struct kernel_times *kernel;
    int kernels;
    int64_t *times; /* what kernel[].ns points into */
};

static void text(FILE *out, const char *s)
{
    for (const unsigned char *c = (const unsigned char *)s; *c; c++) switch (*c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*c < 0x20 && *c != '\n' ? '?' : *c, out); break;
        }
}

static const char *name_of(const struct recorded_task *t) { return t->name ? t->name : t->kernel->name; }
static bool has_run(const struct recorded_task *t) { return t->begin != 0 || t->end != 0; }
static const char *unit(const struct page *p) { return p->record->unit[0] == 'n' ? "us" : "cycles"; }
static double shown(const struct page *p, int64_t ticks)
{
    return p->record->unit[0] == 'n' ? (double)ticks / 1000.0 : (double)ticks;
}

/* ---- what is counted first ---- */

static int kernel_number(const struct page *p, const PTOKernel *kernel)
{
    for (int i = 0; i < p->kernels; i++)
        if (p->kernel[i].kernel == kernel) return i;
    return -1;
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool count_kernels(struct page *p)
{
    const struct recorder *r = p->record;
    p->times = calloc(r->tasks + 1, sizeof *p->times);
    p->kernel = NULL;
    if (!p->times) return false;
    for (uint64_t n = 0; n < r->tasks; n++) {
        if (!has_run(&r->task[n])) continue;
        if (r->task[n].end - r->origin > p->end) p->end = r->task[n].end - r->origin;
        int i = kernel_number(p, r->task[n].kernel);
        if (i < 0) {
            struct kernel_times *more = realloc(p->kernel, (size_t)(p->kernels + 1) * sizeof *more);
            if (!more) return false;
            p->kernel = more;
            i = p->kernels++;
            p->kernel[i] = (struct kernel_times){.kernel = r->task[n].kernel};
        }
        p->kernel[i].count++;
    }
    int64_t *next = p->times;
    for (int i = 0; i < p->kernels; i++) {
        p->kernel[i].ns = next;
        next += p->kernel[i].count;
        p->kernel[i].count = 0;
    }
    for (uint64_t n = 0; n < r->tasks; n++) {
        if (!has_run(&r->task[n])) continue;
        struct kernel_times *k = &p->kernel[kernel_number(p, r->task[n].kernel)];
        k->ns[k->count++] = r->task[n].end - r->task[n].begin;
    }
    for (int i = 0; i < p->kernels; i++)
        qsort(p->kernel[i].ns, p->kernel[i].count, sizeof *p->kernel[i].ns, compare_times);
    return true;
}

/* ---- sections ---- */

/* Of a line of stats.def that has a text, unless it is 0. */
static void write_stat(const struct page *p, const char *text, const void *value, const char *unit)
{
    int64_t number = 0;
    if (text) memcpy(&number, value, sizeof number);
    if (number != 0) fprintf(p->out, "<tr><th>%s</th><td>%lld %s</td></tr>\n", text, (long long)number, unit);
}

static void write_summary(struct page *p)
{
    const PTORunStats *s = pto_get_run_stats(p->rt);
    fprintf(p->out,
            "<h2>Run</h2>\n<table>\n<tr><th>engine</th><td>%s</td></tr>\n<tr><th>tasks</th><td>%lld</td></tr>\n",
            p->rt->core.engine->name, (long long)s->tasks);
    fprintf(p->out, "<tr><th>dependences found</th><td>%lld</td></tr>\n", (long long)s->dependences);
    if (!ptoi_has_cycles(&p->rt->core))
        fprintf(p->out, "<tr><th>wall time</th><td>%.1f us</td></tr>\n", (double)s->ns / 1000.0);
    const PTOFlowControlStats *f = pto_get_flow_stats(p->rt);
    fprintf(p->out, "<tr><th>time in await</th><td>%.1f %s, for %lld of %lld values</td></tr>\n", shown(p, f->await_ns),
            unit(p), (long long)f->awaits_blocked, (long long)f->awaits);
    if (s->cycles)
        fprintf(p->out, "<tr><th>simulated</th><td>%lld cycles, critical path %lld</td></tr>\n", (long long)s->cycles,
                (long long)s->critical_path);
#define PTO_RUN_FIELD(owner, type, name, array, text, unit) write_stat(p, text, &s->name, unit);
#include <pto/stats.def>
    if (p->record->lost)
        fprintf(p->out, "<tr><th>not recorded</th><td>%llu tasks</td></tr>\n", (unsigned long long)p->record->lost);
    fprintf(p->out, "</table>\n");
}

static int row_count(const struct page *p)
{
    int rows = 1; /* the orchestrator's */
    for (int t = 0; t < PTO_WORKER_TYPES; t++) rows += p->rt->core.config.workers[t];
    return rows;
}

static double place(const struct page *p, int64_t at)
{
    return LEFT + (double)at / (double)(p->end > 0 ? p->end : 1) * (WIDTH - LEFT);
}

static void write_row_name(struct page *p, int row, const char *name)
{
    fprintf(p->out, "<text x=\"0\" y=\"%d\">%s</text>\n<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"row\"/>\n",
            row * ROW + 14, name, LEFT, (row + 1) * ROW, WIDTH, (row + 1) * ROW);
}

static void write_row_names(struct page *p)
{
    int row = 0;
    write_row_name(p, row++, "orchestrator");
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = 0; i < p->rt->core.config.workers[t]; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s %d", pto_worker_type_name((PTOWorkerType)t), i);
            write_row_name(p, row++, name);
        }
}

/* The waits of the orchestrator; the rest of its row is the program. */
static void write_waits(struct page *p)
{
    for (uint64_t i = 0; i < p->record->waits && i < BOXES; i++) {
        const struct recorded_wait *w = &p->record->wait[i];
        if (w->end == w->begin) continue;
        const double x = place(p, w->begin - p->record->origin), width = place(p, w->end - p->record->origin) - x;
        const bool is_await = w->reason == PTO_STALL_NONE;
        fprintf(p->out, "<rect x=\"%.2f\" y=\"2\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s%s", x,
                width < 0.3 ? 0.3 : width, ROW - 4, is_await ? "#888888" : "#cc8888",
                is_await ? "await" : "stall: ", is_await ? "" : pto_stall_reason_name(w->reason));
        if (w->tensor) {
            fputs(" of ", p->out);
            text(p->out, w->tensor);
        }
        fprintf(p->out, ", %.3f %s", shown(p, w->end - w->begin), unit(p));
        if (w->site) {
            fputs(", ", p->out);
            text(p->out, w->site->file);
            fprintf(p->out, ":%d", w->site->line);
        }
        fprintf(p->out, "</title></rect>\n");
    }
}

static void write_box(struct page *p, uint64_t n)
{
    const struct recorded_task *t = &p->record->task[n];
    const double x = place(p, t->begin - p->record->origin), width = place(p, t->end - p->record->origin) - x;
    fprintf(p->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>task %llu: ", x,
            (t->row + 1) * ROW + 2, width < 0.3 ? 0.3 : width, ROW - 4, colors[kernel_number(p, t->kernel) % COLORS],
            (unsigned long long)n);
    text(p->out, name_of(t));
    fprintf(p->out, ", %.3f %s", shown(p, t->end - t->begin), unit(p));
    if (t->site) {
        fputs(", ", p->out);
        text(p->out, t->site->file);
        fprintf(p->out, ":%d", t->site->line);
    }
    fprintf(p->out, "</title></rect>\n");
}

/* busy[row][column]: ticks that the worker ran something. */
static bool write_columns(struct page *p, int rows)
{
    double *busy = calloc((size_t)rows * COLUMNS, sizeof *busy);
    if (!busy) return false;
    const double width = (double)(p->end > 0 ? p->end : 1) / COLUMNS;
    for (uint64_t n = 0; n < p->record->tasks; n++) {
        const struct recorded_task *t = &p->record->task[n];
        if (!has_run(t) || t->row + 1 >= rows) continue;
        const double begin = (double)(t->begin - p->record->origin), end = (double)(t->end - p->record->origin);
        for (int c = (int)(begin / width); c < COLUMNS && c * width < end; c++) {
            if (c < 0) continue;
            const double from = begin > c * width ? begin : c * width,
                         to = end < (c + 1) * width ? end : (c + 1) * width;
            if (to > from) busy[(t->row + 1) * COLUMNS + c] += to - from;
        }
    }
    for (int i = 0; i < rows * COLUMNS; i++) {
        const double share = busy[i] / width;
        if (share <= 0) continue;
        fprintf(p->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\" fill-opacity=\"%.2f\"/>\n",
                LEFT + (double)(i % COLUMNS) * (WIDTH - LEFT) / COLUMNS, i / COLUMNS * ROW + 2,
                (double)(WIDTH - LEFT) / COLUMNS, ROW - 4, colors[0],
                share > 1      ? 1.0
                : share < 0.02 ? 0.02
                               : share); /* what little ran is seen */
    }
    free(busy);
    return true;
}

static bool write_timeline(struct page *p)
{
    const int rows = row_count(p);
    bool ok = true;
    fprintf(p->out, "<h2>Timeline</h2>\n<p>0 to %.1f %s%s</p>\n<svg width=\"%d\" height=\"%d\">\n", shown(p, p->end),
            unit(p), p->record->tasks > BOXES ? "; the darker, the busier" : "", WIDTH, rows * ROW + 4);
    write_row_names(p);
    write_waits(p);
    if (p->record->tasks > BOXES) {
        ok = write_columns(p, rows);
    } else {
        for (uint64_t n = 0; n < p->record->tasks; n++)
            if (has_run(&p->record->task[n])) write_box(p, n);
    }
    fprintf(p->out, "</svg>\n");
    return ok;
}

/* A bar for the orchestrator and for each worker; the words and numbers are those of --stats. */
static bool write_causes(struct page *p)
{
    int count;
    struct cause_row *row = ptoi_causes_rows(p->rt, &count);
    if (!row) return false;
    fprintf(p->out, "<h2>Where the time went</h2>\n<svg width=\"%d\" height=\"%d\">\n", WIDTH, count * ROW + 4);
    for (int i = 0; i < count; i++) {
        double x = LEFT;
        fprintf(p->out, "<text x=\"0\" y=\"%d\">%s</text>\n", i * ROW + 14, row[i].name);
        for (int c = 0; c < ptoi_causes_of(&row[i]); c++) {
            if (row[i].time[c] <= 0 || row[i].total <= 0) continue;
            const double share = (double)row[i].time[c] / (double)row[i].total, width = share * (WIDTH - LEFT);
            fprintf(p->out,
                    "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s: %s, %.3f %s "
                    "(%.1f %%)</title></rect>\n",
                    x, i * ROW + 2, width, ROW - 4, colors[(row[i].is_orchestrator ? c : c + 4) % COLORS], row[i].name,
                    ptoi_cause_name(&row[i], c), shown(p, row[i].time[c]), unit(p), 100 * share);
            x += width;
        }
    }
    fprintf(p->out, "</svg>\n");
    free(row);
    return true;
}

static void write_kernels(struct page *p)
{
    fprintf(p->out,
            "<h2>Kernels</h2>\n<table>\n<tr><th>kernel</th><th>worker</th><th>tasks</th><th>least, "
            "%s</th><th>median</th><th>most</th>"
            "<th>all</th></tr>\n",
            unit(p));
    for (int i = 0; i < p->kernels; i++) {
        const struct kernel_times *k = &p->kernel[i];
        int64_t sum = 0;
        for (uint64_t n = 0; n < k->count; n++) sum += k->ns[n];
        fprintf(p->out, "<tr><td><span style=\"color:%s\">&#9632;</span> ", colors[i % COLORS]);
        text(p->out, k->kernel->name);
        fprintf(p->out, "</td><td>%s</td><td>%llu</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td></tr>\n",
                pto_worker_type_name(k->kernel->worker), (unsigned long long)k->count, shown(p, k->ns[0]),
                shown(p, k->ns[k->count / 2]), shown(p, k->ns[k->count - 1]), shown(p, sum));
    }
    fprintf(p->out, "</table>\n");
}

/* Tasks in columns by the longest way from a task without producers. */
static void write_graph(struct page *p)
{
    const struct recorder *r = p->record;
    int level[GRAPH_TASKS], place_in_level[GRAPH_TASKS], filled[GRAPH_TASKS] = {0}, levels = 0, highest = 0;
    if (r->tasks == 0 || r->tasks > GRAPH_TASKS || r->lost) return;
    for (uint64_t n = 0; n < r->tasks; n++) {
        level[n] = 0;
        for (uint32_t k = 0; k < r->task[n].edge_count; k++) {
            const uint64_t from = r->edge[r->task[n].first_edge + k].from;
            if (from < n && level[from] >= level[n]) level[n] = level[from] + 1;
        }
        place_in_level[n] = filled[level[n]]++;
        if (level[n] >= levels) levels = level[n] + 1;
        if (filled[level[n]] > highest) highest = filled[level[n]];
    }
    enum { ACROSS = 150, DOWN = 30 };
    fprintf(p->out, "<h2>Graph</h2>\n<svg width=\"%d\" height=\"%d\">\n", levels * ACROSS, highest * DOWN + 10);
    for (uint64_t n = 0; n < r->tasks; n++)
        for (uint32_t k = 0; k < r->task[n].edge_count; k++) {
            const uint64_t from = r->edge[r->task[n].first_edge + k].from;
            if (from >= n) continue;
            fprintf(p->out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"edge\"/>\n",
                    level[from] * ACROSS + 100, place_in_level[from] * DOWN + 15, level[n] * ACROSS,
                    place_in_level[n] * DOWN + 15);
        }
    for (uint64_t n = 0; n < r->tasks; n++) {
        const int color = kernel_number(p, r->task[n].kernel);
        fprintf(p->out,
                "<rect x=\"%d\" y=\"%d\" width=\"100\" height=\"20\" fill=\"%s\" fill-opacity=\"0.5\"/>\n<text "
                "x=\"%d\" y=\"%d\">%llu ",
                level[n] * ACROSS, place_in_level[n] * DOWN + 5, color < 0 ? "#cccccc" : colors[color % COLORS],
                level[n] * ACROSS + 4, place_in_level[n] * DOWN + 19, (unsigned long long)n);
        char name[13];
        snprintf(name, sizeof name, "%s", name_of(&r->task[n]));
        text(p->out, name);
        fprintf(p->out, "</text>\n");
    }
    fprintf(p->out, "</svg>\n");
}

static bool write_flow(struct page *p)
{
    char *words = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&words, &length);
    if (!to) return false;
    pto_write_flow_stats(p->rt, to);
    const bool ok = fclose(to) == 0 && words; /* its last allocation may fail unsaid */
    fprintf(p->out, "<h2>Flow control</h2>\n<pre>");
    if (ok) text(p->out, words);
    fprintf(p->out, "</pre>\n");
    free(words);
    return ok;
}

PTOStatus ptoi_write_report(PTORuntime *rt, const char *path, struct whole_file *file)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_runtime_write_report");
    if (refused != PTO_OK) return refused;
    const PTOStatus settled = ptoi_settle_record(rt);
    if (settled != PTO_OK) return settled;
    if (!ptoi_whole_open(file, path)) return PTO_ERR_IO;
    FILE *out = file->out;
    struct page p = {.out = out, .rt = rt, .record = rt->core.recorder};
    fprintf(out, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">\n<head><meta "
                 "charset=\"utf-8\"/><title>A run of ptoc</title>\n<style>\n"
                 "body { font: 14px sans-serif; margin: 2em; }\ntable { border-collapse: collapse; }\n"
                 "td, th { text-align: left; padding: 2px 12px 2px 0; }\nsvg text { font: 12px sans-serif; }\n"
                 ".row { stroke: #ddd; }\n.edge { stroke: #999; }\n</style></head>\n<body>\n<h1>A run of ptoc</h1>\n");
    bool ok = count_kernels(&p);
    write_summary(&p);
    if (ok) {
        ok = write_causes(&p) && write_timeline(&p);
        write_kernels(&p);
        write_graph(&p);
    }
    ok &= write_flow(&p);
    fprintf(out, "</body>\n</html>\n");
    free(p.times);
    free(p.kernel);
    if (!ok) return PTO_ERR_NOMEM;
    return ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_report(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    return ptoi_publish(ptoi_write_report(rt, path, &file), &file);
}
