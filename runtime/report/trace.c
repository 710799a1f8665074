/* trace.c - the timeline of a run as Chrome/Perfetto JSON.
 * Format     the Trace Event Format: X complete events, C counters, s and f flows, M names.  Times are microseconds
 *            with a fraction; on the timing engine one cycle is shown as one microsecond. */
#include "json.h"
#include "causes.h"
#include "api/misuse.h"
#include "joined.h"
#include "packed.h"
#include "report.h"

enum { ROW_ORCHESTRATOR, ROW_SCHEDULER, ROW_WORKERS };

struct writer {
    FILE *out;
    const struct recorder *record;
    const struct joined *joined; /* of several ranks; NULL: there is one */
    int32_t rank;                /* whose rows are written: a process of the trace */
    double per_us;               /* clock ticks shown as one microsecond */
    bool any;
};

static double shown(const struct writer *w, int64_t at) { return (double)(at - w->record->origin) / w->per_us; }

static void begin_event(struct writer *w, const char *phase, int row)
{
    fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", w->any ? "," : "", phase, w->rank + 1, row);
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
    const struct joined_rank *rank = w->joined ? &w->joined->rank[w->rank] : NULL;
    char process[128];
    begin_event(w, "M", 0);
    if (rank)
        snprintf(process, sizeof process, "rank %d of %d, %s (%s)", w->rank, w->joined->ranks, rank->host,
                 rt->core.engine->name);
    else
        snprintf(process, sizeof process, "pto (%s)", rt->core.engine->name);
    fprintf(w->out, ",\"name\":\"process_name\",\"args\":{\"name\":");
    json_string(w->out, process);
    fprintf(w->out, "}}");
    if (rank) {
        begin_event(w, "M", 0);
        fprintf(w->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", w->rank);
    }
    name_row(w, ROW_ORCHESTRATOR, "orchestrator");
    name_row(w, ROW_SCHEDULER, "scheduler");
    int row = ROW_WORKERS;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = 0; i < (rank ? rank->workers : rt->core.config.workers)[t]; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s %d", pto_worker_type_name((PTOWorkerType)t), i);
            name_row(w, row++, name);
        }
    if (rank) name_row(w, row, "messages");
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
    if (w->joined) {
        const struct noted *noted = &w->joined->noted[n];
        const bool is_message = noted->is_send || noted->is_receive;
        fprintf(w->out, ",\"number\":%llu", (unsigned long long)noted->number);
        if (is_message)
            fprintf(w->out, ",\"%s rank\":%d,\"message\":%llu,\"bytes\":%lld", noted->is_send ? "to" : "from",
                    noted->peer, (unsigned long long)noted->message, (long long)noted->bytes);
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

/* A message leaves when its send begins and is there when its receive ends; everything else begins behind it. */
static void write_flows(struct writer *w, uint64_t n)
{
    const struct recorded_task *t = &w->record->task[n];
    const int32_t rank = w->rank;
    for (uint32_t k = 0; k < t->edge_count; k++) {
        const struct recorded_edge *e = &w->record->edge[t->first_edge + k];
        const struct recorded_task *from = &w->record->task[e->from];
        const bool is_message = e->reasons & EDGE_MESSAGE;
        const char *const name = is_message ? "message" : "edge";
        if (from->end == 0) continue;
        unsigned long long id = (unsigned long long)t->first_edge + k;
        if (w->joined) w->rank = w->joined->rank_of[e->from];
        begin_event(w, "s", ROW_WORKERS + from->row);
        fprintf(w->out, ",\"ts\":%.3f,\"id\":%llu,\"name\":\"%s\",\"cat\":\"%s\"}",
                shown(w, is_message ? from->begin : from->end), id, name, name);
        w->rank = rank;
        begin_event(w, "f", ROW_WORKERS + t->row);
        fprintf(w->out, ",\"ts\":%.3f,\"id\":%llu,\"name\":\"%s\",\"cat\":\"%s\",\"bp\":\"e\"}",
                shown(w, is_message ? t->end : t->begin), id, name, name);
    }
}

static void write_counter(struct writer *w, int64_t at, const char *name, const char *what, uint64_t value)
{
    begin_event(w, "C", 0);
    fprintf(w->out, ",\"ts\":%.3f,\"name\":\"%s\",\"args\":{\"%s\":%llu}}", shown(w, at), name, what,
            (unsigned long long)value);
}

/* A counter keeps its value until the next event. */
static void write_counters(struct writer *w, uint64_t first, uint64_t end)
{
    const struct recorded_sample *before = NULL;
    for (uint64_t i = first; i < end; i++) {
        const struct recorded_sample *s = &w->record->sample[i];
        if (!before || s->tasks != before->tasks) write_counter(w, s->at, "task ring", "tasks", s->tasks);
        if (!before || s->map != before->map) write_counter(w, s->at, "tensormap pool", "entries", s->map);
        if (!before || s->deps != before->deps) write_counter(w, s->at, "deplist pool", "entries", s->deps);
        if (!before || s->heap != before->heap) write_counter(w, s->at, "heap", "bytes", s->heap);
        before = s;
    }
}

/* What a rank did, or the only one: its part of each list ends there. */
static void write_rows(struct writer *w, const PTORuntime *rt, uint64_t end_wait, uint64_t end_step,
                       uint64_t end_sample)
{
    const struct joined_rank *before = w->joined && w->rank > 0 ? &w->joined->rank[w->rank - 1] : NULL;
    const struct recorder *r = w->record;
    name_rows(w, rt);
    for (uint64_t i = before ? before->end_wait : 0; i < end_wait; i++) write_wait(w, &r->wait[i]);
    for (uint64_t i = before ? before->end_step : 0; i < end_step; i++) {
        span(w, ROW_SCHEDULER, r->step[i].begin, r->step[i].end, "schedule");
        fprintf(w->out, "}");
    }
    write_counters(w, before ? before->end_sample : 0, end_sample);
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
    const struct joined *joined = ptoi_joined_run(rt);
    const struct recorder *r = joined ? &joined->all : rt->core.recorder;
    struct writer w = {.out = out, .record = r, .joined = joined, .per_us = r->unit[0] == 'n' ? 1000.0 : 1.0};
    fprintf(out, "{\"otherData\":{\"unit\":\"%s\",\"lost_tasks\":%llu,\"lost_edges\":%llu,\"causes\":", r->unit,
            (unsigned long long)r->lost, (unsigned long long)r->lost_edges);
    ptoi_causes_write_json(rt, out);
    fprintf(out, "},\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    if (!joined) write_rows(&w, rt, r->waits, r->steps, r->samples);
    for (w.rank = 0; joined && w.rank < joined->ranks; w.rank++) {
        const struct joined_rank *rank = &joined->rank[w.rank];
        write_rows(&w, rt, rank->end_wait, rank->end_step, rank->end_sample);
    }
    for (uint64_t n = 0; n < r->tasks; n++) {
        if (r->task[n].end == 0 && r->task[n].begin == 0) continue; /* it never ran */
        w.rank = joined ? joined->rank_of[n] : 0;
        write_task(&w, n);
        write_flows(&w, n);
    }
    fprintf(out, "\n]}\n");
    return ptoi_packed_close(out, file->out) && ptoi_whole_finish(file) ? PTO_OK : PTO_ERR_IO;
}

PTOStatus pto_runtime_write_trace(PTORuntime *rt, const char *path)
{
    struct whole_file file = {0};
    if (rt && !path) return ptoi_refuse_path("pto_runtime_write_trace");
    return ptoi_publish_for(ptoi_write_trace(rt, path, &file), &file, path);
}
