/* page.c - a run as one page of HTML: head, summary, timeline, each kernel's times, memory, scopes, the graph if it is
 * small, flow control and advice.
 * Idea       everything is in the page, nothing is fetched, and it is well-formed XML, so other programs can read it
 *            too.  It fits every width from 360 px, light and dark.
 * Tests      test/lit/host/report.test, test/report/report.py
 */
#include "causes.h"
#include "api/misuse.h"
#include "joined.h"
#include "page.h"
#include "timeline.h"
#include <stdlib.h>
#include <string.h>

enum { ROW = 20, GRAPH_TASKS = 80 };

static const char *name_of(const struct recorded_task *t) { return t->name ? t->name : t->kernel->name; }
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
        if (!ptoi_page_has_run(&r->task[n])) continue;
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
        if (!ptoi_page_has_run(&r->task[n])) continue;
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
            "<h2>Run%s</h2>\n<table>\n<tr><th>engine</th><td>%s</td></tr>\n<tr><th>tasks</th><td>%lld</td></tr>\n",
            p->of, p->rt->core.engine->name, (long long)s->tasks);
    if (p->ranks > 1) fprintf(p->out, "<tr><th>ranks</th><td>%d</td></tr>\n", p->ranks);
    fprintf(p->out, "<tr><th>dependences found</th><td>%lld</td></tr>\n", (long long)s->dependences);
    if (!ptoi_has_cycles(&p->rt->core))
        fprintf(p->out, "<tr><th>wall time</th><td>%.1f us</td></tr>\n", (double)s->ns / 1000.0);
    const PTOFlowControlStats *f = pto_get_flow_stats(p->rt);
    fprintf(p->out, "<tr><th>time in await</th><td>%.1f %s, for %lld of %lld values</td></tr>\n",
            ptoi_page_time(p, f->await_ns), ptoi_page_unit(p), (long long)f->awaits_blocked, (long long)f->awaits);
    if (s->cycles)
        fprintf(p->out, "<tr><th>simulated</th><td>%lld cycles, critical path %lld</td></tr>\n", (long long)s->cycles,
                (long long)s->critical_path);
#define PTO_RUN_FIELD(owner, type, name, array, text, unit) write_stat(p, text, &s->name, unit);
#include <pto/stats.def>
    if (p->record->lost)
        fprintf(p->out, "<tr><th>not recorded</th><td>%llu tasks</td></tr>\n", (unsigned long long)p->record->lost);
    fprintf(p->out, "</table>\n");
}

/* The causes of one row have different colors, and so have the two kinds of rows as far as the colors reach. */
_Static_assert((int)ORCHESTRATOR_CAUSES <= (int)REPORT_COLORS, "two causes of a row would have one color");
static const char *cause_color(bool is_orchestrator, int cause)
{
    return ptoi_report_color(is_orchestrator ? cause : cause + 4);
}

/* A bar for the orchestrator and for each worker; the words and numbers are those of --stats. */
static bool write_causes(struct page *p)
{
    int count;
    bool seen[2][ORCHESTRATOR_CAUSES] = {{0}};
    struct cause_row *row = ptoi_causes_rows(p->rt, &count);
    if (!row) return false;
    fprintf(p->out, "<h2>Where the time went%s</h2>\n<div class=\"bars\">\n", p->of);
    for (int i = 0; i < count; i++) {
        double x = 0;
        fprintf(p->out, "<span>%s</span><svg width=\"100%%\" height=\"%d\">\n", row[i].name, ROW - 4);
        for (int c = 0; c < ptoi_causes_of(&row[i]); c++) {
            if (row[i].time[c] <= 0 || row[i].total <= 0) continue;
            const double share = 100.0 * (double)row[i].time[c] / (double)row[i].total;
            fprintf(p->out,
                    "<rect x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" height=\"%d\" fill=\"%s\"><title>%s: %s, %.3f %s "
                    "(%.1f %%)</title></rect>\n",
                    x, share, ROW - 4, cause_color(row[i].is_orchestrator, c), row[i].name, ptoi_cause_name(&row[i], c),
                    ptoi_page_time(p, row[i].time[c]), ptoi_page_unit(p), share);
            seen[row[i].is_orchestrator][c] |= share >= 0.1;
            x += share;
        }
        fprintf(p->out, "</svg>\n");
    }
    fprintf(p->out, "</div>\n");
    for (int kind = 1; kind >= 0; kind--) {
        const struct cause_row of = {.is_orchestrator = kind};
        fprintf(p->out, "<p>%s:", kind ? "orchestrator" : "workers");
        for (int c = 0; c < ptoi_causes_of(&of); c++)
            if (seen[kind][c])
                fprintf(p->out, " <span class=\"cause\"><span style=\"color:%s\">&#9632;</span> %s</span>",
                        cause_color(kind, c), ptoi_cause_name(&of, c));
        fprintf(p->out, "</p>\n");
    }
    free(row);
    return true;
}

static bool write_timeline(struct page *p)
{
    const PTOKernel **kernels = calloc((size_t)p->kernels + 1, sizeof *kernels);
    if (!kernels) return false;
    for (int i = 0; i < p->kernels; i++) kernels[i] = p->kernel[i].kernel;
    const bool ok = ptoi_timeline_write(p->rt, p->end, kernels, p->kernels, p->out);
    free(kernels);
    return ok;
}

static void write_kernels(struct page *p)
{
    fprintf(p->out,
            "<h2>Kernels</h2>\n<div class=\"wide\"><table>\n<tr><th>kernel</th><th>worker</th><th>tasks</th><th>least, "
            "%s</th><th>median</th><th>most</th>"
            "<th>all</th><th>durations</th></tr>\n",
            ptoi_page_unit(p));
    for (int i = 0; i < p->kernels; i++) {
        const struct kernel_times *k = &p->kernel[i];
        int64_t sum = 0;
        for (uint64_t n = 0; n < k->count; n++) sum += k->ns[n];
        fprintf(p->out, "<tr><td><span style=\"color:%s\">&#9632;</span> ", ptoi_report_color(i));
        ptoi_page_text(p->out, k->kernel->name);
        fprintf(p->out, "</td><td>%s</td><td>%llu</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td><td>",
                pto_worker_type_name(k->kernel->worker), (unsigned long long)k->count, ptoi_page_time(p, k->ns[0]),
                ptoi_page_time(p, k->ns[k->count / 2]), ptoi_page_time(p, k->ns[k->count - 1]), ptoi_page_time(p, sum));
        ptoi_histogram_write(p, k, ptoi_report_color(i));
        fprintf(p->out, "</td></tr>\n");
    }
    fprintf(p->out, "</table></div>\n");
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
    fprintf(p->out, "<h2>Graph</h2>\n<div class=\"wide\"><svg width=\"%d\" height=\"%d\">\n", levels * ACROSS,
            highest * DOWN + 10);
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
                level[n] * ACROSS, place_in_level[n] * DOWN + 5, ptoi_report_color(color), level[n] * ACROSS + 4,
                place_in_level[n] * DOWN + 19, (unsigned long long)n);
        char name[13];
        snprintf(name, sizeof name, "%s", name_of(&r->task[n]));
        ptoi_page_text(p->out, name);
        fprintf(p->out, "</text>\n");
    }
    fprintf(p->out, "</svg></div>\n");
}

static bool write_flow(struct page *p)
{
    char *words = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&words, &length);
    if (!to) return false;
    pto_write_flow_stats(p->rt, to);
    const bool ok = fclose(to) == 0 && words; /* its last allocation may fail unsaid */
    fprintf(p->out, "<h2>Flow control%s</h2>\n<pre class=\"wide\">", p->of);
    if (ok) ptoi_page_text(p->out, words);
    fprintf(p->out, "</pre>\n");
    free(words);
    return ok;
}

static const char head[] =
    "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head><meta "
    "charset=\"utf-8\"/><title>A run of ptoc</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<style>\n"
    ":root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ddd; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #181a1b; --line: #444; } }\n"
    "body { font: 14px sans-serif; margin: 1.5em max(1em, 2vw); color: var(--ink); background: var(--paper); }\n"
    "table { border-collapse: collapse; }\ntd, th { text-align: left; padding: 2px 12px 2px 0; }\n"
    ".bars { display: grid; grid-template-columns: 104px 1fr; row-gap: 4px; font-size: 12px; }\n"
    ".area { fill: #4e79a7; fill-opacity: 0.6; }\n.scopes details details { margin-left: 1.2em; }\n.scopes ul { "
    "margin: 2px 0; "
    "padding-left: 1.6em; }\n.scopes summary { cursor: pointer; }\ncode { overflow-wrap: anywhere; }\n"
    ".cause { white-space: nowrap; margin-right: 8px; }\n.wide { overflow-x: auto; }\n"
    "svg text { font: 12px sans-serif; fill: var(--ink); }\n.edge { stroke: #999; }\n"
    "#timeline { width: 100%; display: block; touch-action: none; cursor: crosshair; }\n"
    "#timeline:focus-visible { outline: 2px solid #4e79a7; outline-offset: 2px; }\n"
    "#task { min-height: 9em; }\n#task p { margin: 6px 0; }\n#task button { margin: 2px; font: inherit; }\n"
    "#find { font: inherit; max-width: 60vw; }\n</style></head>\n<body>\n<h1>A run of ptoc</h1>\n";

PTOStatus ptoi_write_report(PTORuntime *rt, const struct report_head *about, const char *path, struct whole_file *file)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_runtime_write_report");
    if (refused != PTO_OK) return refused;
    const PTOStatus settled = ptoi_settle_record(rt);
    if (settled != PTO_OK) return settled;
    if (!ptoi_whole_open(file, path)) return PTO_ERR_IO;
    FILE *out = file->out;
    const struct joined *joined = ptoi_joined_run(rt);
    struct page p = {.out = out, .rt = rt, .own = rt->core.recorder, .of = joined ? " of rank 0" : ""};
    p.record = joined ? &joined->all : p.own;
    p.ranks = joined ? joined->ranks : 1;
    fputs(head, out);
    ptoi_head_write(&p, about);
    bool ok = count_kernels(&p);
    write_summary(&p);
    if (ok) {
        ok = write_causes(&p) && write_timeline(&p);
        write_kernels(&p);
        ptoi_heap_chart_write(&p);
        ok &= ptoi_scopes_write(&p);
        write_graph(&p);
    }
    ok &= write_flow(&p);
    fprintf(out, "</body>\n</html>\n");
    free(p.times);
    free(p.kernel);
    if (!ok) return ptoi_thread_fail(PTO_ERR_NOMEM, "no memory for the report");
    return ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_report(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_report");
    return ptoi_publish_for(ptoi_write_report(rt, NULL, path, &file), &file, path);
}
