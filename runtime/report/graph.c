/* graph.c - the tasks of a run and the reason of each dependence: DOT for Graphviz, JSON for programs, text for a quick
 * look. */
#include "json.h"
#include "api/misuse.h"
#include "joined.h"
#include "report.h"
#include <string.h>

static const struct {
    uint8_t bit;
    const char *name, *color;
} reasons[] = {
    {EDGE_RAW, "RAW", "black"}, {EDGE_WAR, "WAR", "orange"},         {EDGE_WAW, "WAW", "red"},
    {EDGE_ACC, "acc", "blue"},  {EDGE_MESSAGE, "message", "purple"},
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

/* Ranks that stand beside each other in the order of the program look different. */
static const char *rank_color(int32_t rank)
{
    static const char *const colors[] = {"#c6dbef", "#fdd0a2", "#c7e9c0", "#fbb4b9", "#dadaeb",
                                         "#fee391", "#ccebc5", "#d9d9d9", "#fddaec", "#e5d8bd"};
    return colors[(size_t)rank % (sizeof colors / sizeof colors[0])];
}

/* Of a message, the bytes that it carries: " 16384 bytes"; of another edge nothing. */
static const char *bytes_text(const struct joined *j, const struct recorded_edge *e, uint64_t to, char *text,
                              size_t size)
{
    text[0] = '\0';
    if (e->reasons & EDGE_MESSAGE) snprintf(text, size, " %lld bytes", (long long)j->noted[to].bytes);
    return text;
}

/* j: NULL of one rank. */
static void write_dot(FILE *out, const struct recorder *r, const struct joined *j)
{
    static const char *const shapes[PTO_WORKER_TYPES] = {"box", "ellipse", "hexagon", "parallelogram"};
    fprintf(out, "digraph tasks {\n  rankdir=TB; node [fontname=\"sans-serif\"];\n");
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        char label[256], place[512] = "";
        if (j)
            snprintf(label, sizeof label, "%llu: %s (%d)", (unsigned long long)n, task_name(t), j->rank_of[n]);
        else
            snprintf(label, sizeof label, "%llu: %s", (unsigned long long)n, task_name(t));
        if (t->site) snprintf(place, sizeof place, "%s:%d:%d", t->site->file, t->site->line, pto_site_column(t->site));
        fprintf(out, "  t%llu [shape=%s, label=", (unsigned long long)n, shapes[t->kernel->worker]);
        dot_string(out, label);
        fprintf(out, ", tooltip=");
        dot_string(out, place);
        if (j) fprintf(out, ", style=filled, fillcolor=\"%s\"", rank_color(j->rank_of[n]));
        fprintf(out, "];\n");
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const struct recorded_edge *e = &r->edge[t->first_edge + k];
            char why[32], bytes[32];
            reason_text(e->reasons, why, sizeof why);
            fprintf(out, "  t%llu -> t%llu [label=\"%s%s\", color=%s];\n", (unsigned long long)e->from,
                    (unsigned long long)n, why, bytes_text(j, e, n, bytes, sizeof bytes), color(e->reasons));
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

static void write_text(FILE *out, const struct recorder *r, const struct joined *j)
{
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        fprintf(out, "%llu %s", (unsigned long long)n, task_name(t));
        if (j) fprintf(out, " on rank %d", j->rank_of[n]);
        if (t->site) fprintf(out, " %s:%d", t->site->file, t->site->line);
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const struct recorded_edge *e = &r->edge[t->first_edge + k];
            char why[32], bytes[32];
            reason_text(e->reasons, why, sizeof why);
            fprintf(out, "%s%llu (%s%s)", k ? ", " : " <- ", (unsigned long long)e->from, why,
                    bytes_text(j, e, n, bytes, sizeof bytes));
        }
        fputc('\n', out);
    }
    if (r->lost) fprintf(out, "%llu more tasks were not recorded\n", (unsigned long long)r->lost);
    if (r->lost_edges) fprintf(out, "%llu more edges were not recorded\n", (unsigned long long)r->lost_edges);
}

static void write_json(FILE *out, const struct recorder *r, const struct joined *j)
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
        if (j) fprintf(out, ",\"rank\":%d", j->rank_of[n]);
        if (j && !j->noted[n].serves) fprintf(out, ",\"number\":%llu", (unsigned long long)j->noted[n].number);
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
            fprintf(out, "%s{\"task\":%llu,\"why\":\"%s\"", k ? "," : "", (unsigned long long)e->from, why);
            if (e->reasons & EDGE_MESSAGE) fprintf(out, ",\"bytes\":%lld", (long long)j->noted[n].bytes);
            fputc('}', out);
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
    const struct recorder *r = rt->joined ? &rt->joined->all : rt->core.recorder;
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".json") == 0)
        write_json(out, r, rt->joined);
    else if (dot && strcmp(dot, ".txt") == 0)
        write_text(out, r, rt->joined);
    else
        write_dot(out, r, rt->joined);
    return ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_graph(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_graph");
    return ptoi_publish_for(ptoi_write_graph(rt, path, &file), &file, path);
}
