/* timeline.c - see timeline.h. */
#include "timeline.h"
#include "digits.h"
#include "joined.h"
#include "region_text.h"
#include <stdlib.h>
#include <string.h>
#include <timeline_script.h>

const char *ptoi_report_color(int i)
{
    static const char *const colors[REPORT_COLORS] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
                                                      "#b07aa1", "#9c755f", "#ff9da7", "#86bcb6", "#b6992d"};
    return i < 0 ? "#999999" : colors[i % REPORT_COLORS];
}

/* ---- kinds: what tasks have in common ---- */

enum { KINDS = 4096 }; /* what comes later is of the last one */

struct kind {
    const PTOKernel *kernel;
    const PTOSite *site;
    const char *name;
};

struct timeline {
    const struct recorder *record;
    const struct joined *joined; /* NULL: one rank */
    FILE *out;
    int kinds;
    struct kind kind[KINDS];
    uint16_t slot[2 * KINDS]; /* by hash: number + 1 */
    struct region_names regions;
};

static int kind_of(struct timeline *t, struct kind k)
{
    uint64_t hash =
        ((uint64_t)(uintptr_t)k.kernel * 31 + (uint64_t)(uintptr_t)k.site) * 31 + (uint64_t)(uintptr_t)k.name;
    for (hash *= 0x9e3779b97f4a7c15u;; hash += (uint64_t)1 << 51) {
        uint16_t *slot = &t->slot[hash >> 51];
        if (*slot == 0 && t->kinds == KINDS) return KINDS - 1;
        if (*slot == 0) {
            t->kind[t->kinds] = k;
            *slot = (uint16_t)++t->kinds;
        }
        const struct kind *have = &t->kind[*slot - 1];
        if (have->kernel == k.kernel && have->site == k.site && have->name == k.name) return *slot - 1;
    }
}

static struct kind kind_of_task(const struct recorded_task *r)
{
    return (struct kind){r->kernel, r->site, r->name ? r->name : r->kernel->name};
}

static void put_kind(FILE *out, const char *first, const char *rest, const char *formals, const PTOSite *site,
                     const char *color)
{
    char place[300] = "";
    if (site) snprintf(place, sizeof place, "%.250s:%d", site->file, site->line);
    char name[300];
    snprintf(name, sizeof name, "%.100s%.190s", first, rest);
    fputs("{\"name\":", out);
    digits_put_string(out, name);
    fputs(",\"place\":", out);
    digits_put_string(out, place);
    fputs(",\"formals\":", out);
    digits_put_string(out, formals ? formals : "");
    fprintf(out, ",\"color\":\"%s\"}", color);
}

/* ---- data ---- */

static bool has_run(const struct recorded_task *t) { return t->begin != 0 || t->end != 0; }

static uint32_t edges_of(const struct recorder *r, uint64_t n)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < r->task[n].edge_count; k++) count += r->edge[r->task[n].first_edge + k].from < n;
    return count;
}

/* The first row of a rank, that of its orchestrator: those of the ranks before stand above. */
static int32_t first_row(const struct joined *j, int32_t rank)
{
    int32_t row = 0;
    for (int32_t k = 0; j && k < rank; k++) row += 1 + j->rank[k].rows;
    return row;
}

/* base: the first row of each rank, NULL: there is one. */
static void write_tasks(struct timeline *t, int64_t *last, const int32_t *base)
{
    const struct recorder *r = t->record;
    fputs("<script type=\"text/plain\" id=\"tasks\">", t->out);
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *task = &r->task[n];
        const int32_t first = base ? base[t->joined->rank_of[n]] : 0, row = has_run(task) ? first + task->row + 1 : 0;
        const int64_t begin = has_run(task) ? task->begin - r->origin : last[row];
        digits_put(t->out, (uint64_t)row);
        digits_put(t->out, (uint64_t)kind_of(t, kind_of_task(task)));
        digits_put_signed(t->out, begin - last[row]);
        digits_put(t->out, has_run(task) && task->end > task->begin ? (uint64_t)(task->end - task->begin) : 0);
        digits_put(t->out, edges_of(r, n));
        for (uint32_t k = 0; k < task->edge_count; k++) {
            const uint64_t from = r->edge[task->first_edge + k].from;
            if (from < n) digits_put(t->out, n - from);
        }
        last[row] = begin;
    }
    fputs("</script>\n", t->out);
}

/* Of an orchestrator, in its row. */
struct wait_kind {
    struct recorded_wait wait;
    int32_t row;
};

static bool is_same_wait(const struct wait_kind *k, const struct recorded_wait *b, int32_t row)
{
    const struct recorded_wait *a = &k->wait;
    return k->row == row && a->reason == b->reason && a->tensor == b->tensor && a->site == b->site;
}

/* The waits of the orchestrators, and the kinds that they are of. */
static void write_waits(struct timeline *t, struct wait_kind *kinds, int *count, uint64_t *shown)
{
    const struct recorder *r = t->record;
    int64_t last = 0;
    int32_t rank = 0, row = 0;
    fputs("<script type=\"text/plain\" id=\"waits\">", t->out);
    for (uint64_t i = 0; i < r->waits; i++) {
        const struct recorded_wait *w = &r->wait[i];
        int k = 0;
        while (t->joined && i >= t->joined->rank[rank].end_wait) row = first_row(t->joined, ++rank);
        if (w->end <= w->begin) continue;
        while (k < *count && !is_same_wait(&kinds[k], w, row)) k++;
        if (k == *count && k < KINDS) kinds[(*count)++] = (struct wait_kind){*w, row};
        digits_put(t->out, (uint64_t)(k < KINDS ? k : KINDS - 1));
        digits_put_signed(t->out, w->begin - r->origin - last);
        digits_put(t->out, (uint64_t)(w->end - w->begin));
        last = w->begin - r->origin;
        ++*shown;
    }
    fputs("</script>\n", t->out);
}

static void write_row_names(const struct joined *j, const PTORuntime *rt, FILE *out)
{
    fputs("\"rows\":[", out);
    for (int32_t rank = 0; rank < (j ? j->ranks : 1); rank++) {
        char of[16] = "";
        if (j) snprintf(of, sizeof of, "%d: ", rank);
        fprintf(out, "%s\"%sorchestrator\"", rank ? "," : "", of);
        for (int t = 0; t < PTO_WORKER_TYPES; t++)
            for (int i = 0; i < (j ? j->rank[rank].workers : rt->core.config.workers)[t]; i++)
                fprintf(out, ",\"%s%s %d\"", of, pto_worker_type_name((PTOWorkerType)t), i);
        if (j) fprintf(out, ",\"%smessages\"", of);
    }
    fputs("],\"ranks\":[", out);
    for (int32_t rank = 0; rank < (j ? j->ranks : 1); rank++) fprintf(out, "%s%d", rank ? "," : "", first_row(j, rank));
    fputs("]", out);
}

static void write_info(struct timeline *t, const PTORuntime *rt, int64_t end, const PTOKernel *const *kernels,
                       int kernel_count, const struct wait_kind *waits, int wait_kinds, uint64_t wait_count)
{
    const struct recorder *r = t->record;
    uint64_t edges = 0;
    for (uint64_t n = 0; n < r->tasks; n++) edges += edges_of(r, n);
    fprintf(t->out,
            "<script type=\"application/json\" "
            "id=\"info\">{\"tasks\":%llu,\"edges\":%llu,\"waits\":%llu,\"end\":%lld,\"unit\":\"%s\",",
            (unsigned long long)r->tasks, (unsigned long long)edges, (unsigned long long)wait_count, (long long)end,
            r->unit);
    fputs("\"help\":\"Click on a task, or use the keys: + and - zoom, the arrows move, n and p select the next and the "
          "previous task, up and down "
          "another row, / searches, Home shows all.\",",
          t->out);
    write_row_names(t->joined, rt, t->out);
    fputs(",\"kinds\":[", t->out);
    for (int i = 0; i < t->kinds; i++) {
        int k = kernel_count - 1;
        while (k >= 0 && kernels[k] != t->kind[i].kernel) k--;
        if (i) putc(',', t->out);
        put_kind(t->out, "", t->kind[i].name, t->kind[i].kernel->formals, t->kind[i].site, ptoi_report_color(k));
    }
    fputs("],\"waitKinds\":[", t->out);
    for (int i = 0; i < wait_kinds; i++) {
        const struct recorded_wait *w = &waits[i].wait;
        const bool is_await = w->reason == PTO_STALL_NONE;
        if (i) putc(',', t->out);
        put_kind(t->out, is_await ? "await " : "full: ",
                 !is_await   ? pto_stall_reason_name(w->reason)
                 : w->tensor ? w->tensor
                             : "",
                 "", w->site, is_await ? "#888888" : "#cc8888");
    }
    fputs("],\"waitRows\":[", t->out);
    for (int i = 0; i < wait_kinds; i++) fprintf(t->out, "%s%d", i ? "," : "", waits[i].row);
    fputc(']', t->out);
    ptoi_region_names_write(&t->regions, t->out);
    fputs("}</script>\n", t->out);
}

bool ptoi_timeline_write(PTORuntime *rt, int64_t end, const PTOKernel *const *kernels, int kernel_count, FILE *out)
{
    const struct joined *j = ptoi_joined_run(rt);
    int rows = 1, wait_kinds = 0;
    uint64_t wait_count = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) rows += rt->core.config.workers[t];
    if (j) rows = first_row(j, j->ranks);
    struct timeline *t = calloc(1, sizeof *t);
    int64_t *last = calloc((size_t)rows, sizeof *last);
    int32_t *base = j ? calloc((size_t)j->ranks, sizeof *base) : NULL;
    struct wait_kind *waits = calloc(KINDS, sizeof *waits);
    const bool ok = t && last && waits && (base || !j);
    for (int32_t k = 0; base && k < j->ranks; k++) base[k] = first_row(j, k);
    if (ok) {
        t->record = j ? &j->all : rt->core.recorder;
        t->joined = j;
        t->out = out;
        fputs("<h2>Timeline</h2>\n<p><label>search a task: <input id=\"find\" type=\"search\" size=\"28\" "
              "placeholder=\"a number, a kernel, a line\"/></label></p>\n"
              "<canvas id=\"timeline\" tabindex=\"0\" role=\"img\" aria-label=\"the time line of the run\"></canvas>\n"
              "<div id=\"task\" aria-live=\"polite\"></div>\n",
              out);
        write_tasks(t, last, base);
        write_waits(t, waits, &wait_kinds, &wait_count);
        ptoi_regions_write(t->record, t->out, &t->regions);
        write_info(t, rt, end, kernels, kernel_count, waits, wait_kinds, wait_count);
        fprintf(out, "<script>//<![CDATA[\n%s//]]></script>\n", timeline_script);
    }
    free(t);
    free(last);
    free(base);
    free(waits);
    return ok;
}
