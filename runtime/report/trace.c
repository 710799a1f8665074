/* trace.c - the timeline of a run as Chrome/Perfetto JSON.
 * Format     the Trace Event Format: X complete events, C counters, s and f flows, M names.  Times are microseconds
 *            with a fraction; on the timing engine one cycle is shown as one microsecond. */
#include "json.h"
#include "causes.h"
#include "api/misuse.h"
#include "packed.h"
#include "report.h"

enum { ROW_ORCHESTRATOR, ROW_SCHEDULER, ROW_WORKERS };

struct writer {
    FILE *out;
    const struct recorder *record;
    double per_us; /* clock ticks shown as one microsecond */
    bool any;
};

static double shown(const struct writer *w, int64_t at) { return (double)(at - w->record->origin) / w->per_us; }

static void begin_event(struct writer *w, const char *phase, int row)
{
    fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%d", w->any ? "," : "", phase, row);
    w->any = true;
}

static void name_row(struct writer *w, int row, const char *name)
{
    begin_event(w, "M", row);
    fprintf(w->out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    json_string(w->out, name);
    fprintf(w->out, "}}");
    begin_event(w, "M", row);
    fprintf(w->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}", row);
}

static void name_rows(struct writer *w, const PTORuntime *rt)
{
    begin_event(w, "M", 0);
    fprintf(w->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"pto (%s)\"}}", rt->core.engine->name);
    name_row(w, ROW_ORCHESTRATOR, "orchestrator");
    name_row(w, ROW_SCHEDULER, "scheduler");
    int row = ROW_WORKERS;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = 0; i < rt->core.config.workers[t]; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s %d", pto_worker_type_name((PTOWorkerType)t), i);
            name_row(w, row++, name);
        }
}

static void span(struct writer *w, int row, int64_t begin, int64_t end, const char *name)
{
    begin_event(w, "X", row);
    fprintf(w->out, ",\"ts\":%.3f,\"dur\":%.3f,\"name\":", shown(w, begin), (double)(end - begin) / w->per_us);
    json_string(w->out, name);
}

static void write_site(struct writer *w, const PTOSite *site)
{
    char place[512];
    snprintf(place, sizeof place, "%s:%d:%d", site->file, site->line, pto_site_column(site));
    fprintf(w->out, "\"site\":");
    json_string(w->out, place);
}

static void write_task(struct writer *w, uint64_t n)
{
    const struct recorded_task *t = &w->record->task[n];
    span(w, ROW_WORKERS + t->row, t->begin, t->end, t->name ? t->name : t->kernel->name);
    fprintf(w->out, ",\"args\":{\"task\":%llu", (unsigned long long)n);
    if (t->site) {
        fputc(',', w->out);
        write_site(w, t->site);
    }
    fprintf(w->out, ",\"submitted\":%.3f}}", shown(w, t->submitted));
}

static void write_wait(struct writer *w, const struct recorded_wait *wait)
{
    char name[64] = "await";
    const bool is_await = wait->reason == PTO_STALL_NONE;
    if (is_await && wait->end == wait->begin) return;
    if (!is_await) snprintf(name, sizeof name, "stall: %s", pto_stall_reason_name(wait->reason));
    span(w, ROW_ORCHESTRATOR, wait->begin, wait->end, name);
    fprintf(w->out, ",\"args\":{");
    if (wait->tensor) {
        fprintf(w->out, "\"tensor\":");
        json_string(w->out, wait->tensor);
    }
    if (wait->tensor && wait->site) fputc(',', w->out);
    if (wait->site) write_site(w, wait->site);
    fprintf(w->out, "}}");
}

static void write_flows(struct writer *w, uint64_t n)
{
    const struct recorded_task *t = &w->record->task[n];
    for (uint32_t k = 0; k < t->edge_count; k++) {
        const struct recorded_task *from = &w->record->task[w->record->edge[t->first_edge + k].from];
        if (from->end == 0) continue;
        unsigned long long id = (unsigned long long)t->first_edge + k;
        begin_event(w, "s", ROW_WORKERS + from->row);
        fprintf(w->out, ",\"ts\":%.3f,\"id\":%llu,\"name\":\"edge\",\"cat\":\"edge\"}", shown(w, from->end), id);
        begin_event(w, "f", ROW_WORKERS + t->row);
        fprintf(w->out, ",\"ts\":%.3f,\"id\":%llu,\"name\":\"edge\",\"cat\":\"edge\",\"bp\":\"e\"}", shown(w, t->begin),
                id);
    }
}

static void write_counter(struct writer *w, int64_t at, const char *name, const char *what, uint64_t value)
{
    begin_event(w, "C", 0);
    fprintf(w->out, ",\"ts\":%.3f,\"name\":\"%s\",\"args\":{\"%s\":%llu}}", shown(w, at), name, what,
            (unsigned long long)value);
}

/* A counter keeps its value until the next event. */
static void write_counters(struct writer *w)
{
    const struct recorded_sample *before = NULL;
    for (uint64_t i = 0; i < w->record->samples; i++) {
        const struct recorded_sample *s = &w->record->sample[i];
        if (!before || s->tasks != before->tasks) write_counter(w, s->at, "task ring", "tasks", s->tasks);
        if (!before || s->map != before->map) write_counter(w, s->at, "tensormap pool", "entries", s->map);
        if (!before || s->deps != before->deps) write_counter(w, s->at, "deplist pool", "entries", s->deps);
        if (!before || s->heap != before->heap) write_counter(w, s->at, "heap", "bytes", s->heap);
        before = s;
    }
}

PTOStatus ptoi_write_trace(PTORuntime *rt, const char *path, struct whole_file *file)
{
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_runtime_write_trace");
    if (refused != PTO_OK) return refused;
    const PTOStatus settled = ptoi_settle_record(rt);
    if (settled != PTO_OK) return settled;
    if (!ptoi_whole_open(file, path)) return PTO_ERR_IO;
    FILE *out = ptoi_packed_open(file->out, path);
    if (!out) return PTO_ERR_IO;
    const struct recorder *r = rt->core.recorder;
    struct writer w = {.out = out, .record = r, .per_us = r->unit[0] == 'n' ? 1000.0 : 1.0};
    fprintf(out, "{\"otherData\":{\"unit\":\"%s\",\"lost_tasks\":%llu,\"lost_edges\":%llu,\"causes\":", r->unit,
            (unsigned long long)r->lost, (unsigned long long)r->lost_edges);
    ptoi_causes_write_json(rt, out);
    fprintf(out, "},\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    name_rows(&w, rt);
    for (uint64_t n = 0; n < r->tasks; n++) {
        if (r->task[n].end == 0 && r->task[n].begin == 0) continue; /* it never ran */
        write_task(&w, n);
        write_flows(&w, n);
    }
    for (uint64_t i = 0; i < r->waits; i++) write_wait(&w, &r->wait[i]);
    for (uint64_t i = 0; i < r->steps; i++) {
        span(&w, ROW_SCHEDULER, r->step[i].begin, r->step[i].end, "schedule");
        fprintf(out, "}");
    }
    write_counters(&w);
    fprintf(out, "\n]}\n");
    return ptoi_packed_close(out, file->out) && ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_trace(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_trace");
    return ptoi_publish_for(ptoi_write_trace(rt, path, &file), &file, path);
}
