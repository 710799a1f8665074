/* graph.c - the tasks of a run and the reason of each dependence: DOT for Graphviz, JSON for programs, text for a quick
 * look. */
#include "json.h"
#include "api/misuse.h"
#include "report.h"
#include <string.h>

static const struct {
    uint8_t bit;
    const char *name, *color;
} reasons[] = {
    {EDGE_RAW, "RAW", "black"},
    {EDGE_WAR, "WAR", "orange"},
    {EDGE_WAW, "WAW", "red"},
    {EDGE_ACC, "acc", "blue"},
};
enum { REASONS = sizeof reasons / sizeof reasons[0] };

static void reason_text(uint8_t bits, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < REASONS; i++)
        if (bits & reasons[i].bit) {
            size_t n = strlen(text);
            snprintf(text + n, size - n, "%s%s", n ? "+" : "", reasons[i].name);
        }
}

static const char *color(uint8_t bits)
{
    for (int i = 0; i < REASONS; i++)
        if (bits & reasons[i].bit) return reasons[i].color;
    return "gray";
}

static const char *task_name(const struct recorded_task *t) { return t->name ? t->name : t->kernel->name; }

static void write_dot(FILE *out, const struct recorder *r)
{
    static const char *const shapes[PTO_WORKER_TYPES] = {"box", "ellipse", "hexagon", "parallelogram"};
    fprintf(out, "digraph tasks {\n  rankdir=TB; node [fontname=\"sans-serif\"];\n");
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        char label[256], place[512] = "";
        snprintf(label, sizeof label, "%llu: %s", (unsigned long long)n, task_name(t));
        if (t->site) snprintf(place, sizeof place, "%s:%d:%d", t->site->file, t->site->line, pto_site_column(t->site));
        fprintf(out, "  t%llu [shape=%s, label=", (unsigned long long)n, shapes[t->kernel->worker]);
        json_string(out, label); /* DOT quotes like JSON does */
        fprintf(out, ", tooltip=");
        json_string(out, place);
        fprintf(out, "];\n");
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const struct recorded_edge *e = &r->edge[t->first_edge + k];
            char why[32];
            reason_text(e->reasons, why, sizeof why);
            fprintf(out, "  t%llu -> t%llu [label=\"%s\", color=%s];\n", (unsigned long long)e->from,
                    (unsigned long long)n, why, color(e->reasons));
        }
    }
    if (r->lost)
        fprintf(out, "  lost [shape=note, label=\"%llu more tasks were not recorded\"];\n",
                (unsigned long long)r->lost);
    if (r->lost_edges)
        fprintf(out, "  lost_edges [shape=note, label=\"%llu more edges were not recorded\"];\n",
                (unsigned long long)r->lost_edges);
    fprintf(out, "}\n");
}

static void write_text(FILE *out, const struct recorder *r)
{
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        fprintf(out, "%llu %s", (unsigned long long)n, task_name(t));
        if (t->site) fprintf(out, " %s:%d", t->site->file, t->site->line);
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const struct recorded_edge *e = &r->edge[t->first_edge + k];
            char why[32];
            reason_text(e->reasons, why, sizeof why);
            fprintf(out, "%s%llu (%s)", k ? ", " : " <- ", (unsigned long long)e->from, why);
        }
        fputc('\n', out);
    }
    if (r->lost) fprintf(out, "%llu more tasks were not recorded\n", (unsigned long long)r->lost);
    if (r->lost_edges) fprintf(out, "%llu more edges were not recorded\n", (unsigned long long)r->lost_edges);
}

static void write_json(FILE *out, const struct recorder *r)
{
    fprintf(out, "{\"lost_tasks\":%llu,\"lost_edges\":%llu,\"tasks\":[", (unsigned long long)r->lost,
            (unsigned long long)r->lost_edges);
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        fprintf(out, "%s\n{\"id\":%llu,\"kernel\":", n ? "," : "", (unsigned long long)n);
        json_string(out, t->kernel->name);
        fprintf(out, ",\"name\":");
        json_string(out, task_name(t));
        fprintf(out, ",\"worker\":\"%s\"", pto_worker_type_name(t->kernel->worker));
        if (t->site) {
            fprintf(out, ",\"file\":");
            json_string(out, t->site->file);
            fprintf(out, ",\"line\":%d,\"column\":%d", t->site->line, pto_site_column(t->site));
        }
        fprintf(out, ",\"after\":[");
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const struct recorded_edge *e = &r->edge[t->first_edge + k];
            char why[32];
            reason_text(e->reasons, why, sizeof why);
            fprintf(out, "%s{\"task\":%llu,\"why\":\"%s\"}", k ? "," : "", (unsigned long long)e->from, why);
        }
        fprintf(out, "]}");
    }
    fprintf(out, "\n]}\n");
}

PTOStatus ptoi_write_graph(PTORuntime *rt, const char *path, struct whole_file *file)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_runtime_write_graph");
    if (refused != PTO_OK) return refused;
    const PTOStatus settled = ptoi_settle_record(rt);
    if (settled != PTO_OK) return settled;
    if (!ptoi_whole_open(file, path)) return PTO_ERR_IO;
    FILE *out = file->out;
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".json") == 0)
        write_json(out, rt->core.recorder);
    else if (dot && strcmp(dot, ".txt") == 0)
        write_text(out, rt->core.recorder);
    else
        write_dot(out, rt->core.recorder);
    return ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_graph(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_graph");
    return ptoi_publish_for(ptoi_write_graph(rt, path, &file), &file, path);
}
