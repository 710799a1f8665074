/* summary.c - the results of a run, in a few lines on standard output.
 * Idea       a line for each output: shape, least, greatest, mean, and a checksum of the bytes (FNV-1a, 64 bits) that
 *            shows whether two runs had the same results.  NaNs are counted apart, so that one of them does not hide
 *            the rest.
 * Invariant  the same bytes give the same line on every machine.
 * Tests      test/lit/host/summary.test
 */
#include "summary.h"
#include "print.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ptoi_array_text(const struct host_array *a, char *text, size_t size)
{
    int at = snprintf(text, size, "%s[", pto_type_name(a->type));
    for (int d = 0; d < a->rank && at < (int)size; d++)
        at += snprintf(text + at, size - (size_t)at, d == 0 ? "%" PRId64 : ", %" PRId64, a->shape[d]);
    if (at < (int)size) snprintf(text + at, size - (size_t)at, "]");
    return text;
}

static uint64_t checksum(const struct host_array *a)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < a->bytes; i++) hash = (hash ^ ((const unsigned char *)a->data)[i]) * 0x100000001b3u;
    return hash;
}

/* a < b for 64-bit integers that a double would merge, and for everything else. */
static bool is_less(PTOType type, const void *a, const void *b)
{
    if (type == PTO_I64) return *(const int64_t *)a < *(const int64_t *)b;
    if (type == PTO_U64) return *(const uint64_t *)a < *(const uint64_t *)b;
    return ptoi_element_value(type, a) < ptoi_element_value(type, b);
}

void ptoi_summary_print(const char *name, const struct host_array *a)
{
    char text[256], least_text[PTO_NUMBER_TEXT], greatest_text[PTO_NUMBER_TEXT];
    const char *least = NULL, *greatest = NULL, *at = a->data;
    int64_t size = pto_type_bytes(a->type), nans = 0;
    double mean = 0;
    for (int64_t first = 0; first < a->count; first += 4096) { /* sums of blocks: less is lost than in one long sum */
        double sum = 0;
        for (int64_t i = first; i < a->count && i < first + 4096; i++, at += size) {
            double value = ptoi_element_value(a->type, at);
            if (isnan(value)) {
                nans++;
                continue;
            }
            sum += value;
            if (!least || is_less(a->type, at, least)) least = at;
            if (!greatest || is_less(a->type, greatest, at)) greatest = at;
        }
        mean += sum;
    }
    printf("%s: %s ", name, ptoi_array_text(a, text, sizeof text));
    if (a->count == 0)
        printf("empty ");
    else if (!least)
        printf("all nan ");
    else
        printf("min %s max %s mean %.9g ", ptoi_element_text(a->type, least, least_text),
               ptoi_element_text(a->type, greatest, greatest_text), mean / (double)(a->count - nans));
    if (nans > 0 && least) printf("nans %" PRId64 " ", nans);
    printf("checksum %016" PRIx64 "\n", checksum(a));
}

/* Counting is not free, so statistics alone do not ask for it. */
static void print_tasks(const PTORunStats *s)
{
    static const char help[] = "--graph, --trace and --report count them";
    printf("Tasks: %" PRId64, s->tasks);
    if (s->at_submit > 0 && s->at_submit < s->tasks) printf(" (%" PRId64 " executed inline)", s->at_submit);
    printf("\nDependence edges: ");
    if (s->counts_dependences)
        printf("%" PRId64 " (%" PRId64 " on tasks still to complete)\n", s->dependences, s->edges);
    else if (s->at_submit == s->tasks && s->tasks > 0)
        printf("not counted: the tasks were executed inline (%s)\n", help);
    else
        printf("%" PRId64 " on tasks still to complete, the others were not counted (%s)\n", s->edges, help);
}

/* Of a line of stats.def that has a text, unless it is 0. */
static void print_stat(const char *text, const void *value, const char *unit)
{
    int64_t number = 0;
    if (text) memcpy(&number, value, sizeof number);
    if (number != 0) printf("%c%s: %" PRId64 " %s\n", toupper(text[0]), text + 1, number, unit);
}

void ptoi_summary_print_run(PTORuntime *rt)
{
    const PTORunStats *s = pto_get_run_stats(rt);
    /* then the host's clock says nothing */
    const bool is_simulated = strcmp(pto_get_flow_stats(rt)->unit, "cycles") == 0;
    print_tasks(s);
    printf("Allocations: %" PRId64 " (%" PRId64 " bytes) in %" PRId64 " scopes\n", s->allocations, s->allocated_bytes,
           s->scopes);
#define PTO_RUN_FIELD(owner, type, name, array, text, unit) print_stat(text, &s->name, unit);
#include <pto/stats.def>
    for (int type = 0; type < PTO_WORKER_TYPES; type++) {
        const double available = (double)s->ns * s->workers[type];
        if (s->worker_tasks[type] == 0) continue;
        printf("Workers %s: %d, %" PRId64 " tasks", pto_worker_type_name((PTOWorkerType)type), s->workers[type],
               s->worker_tasks[type]);
        if (is_simulated)
            printf("\n");
        else
            printf(", busy %.1f%%\n", available > 0 ? 100 * (double)s->worker_busy_ns[type] / available : 0.0);
    }
    if (is_simulated) {
        printf("Cycles: %" PRId64 "\nCritical path: %" PRId64 "\n", s->cycles, s->critical_path);
        for (int type = 0; type < PTO_WORKER_TYPES; type++)
            if (s->worker_tasks[type] > 0 && s->cycles > 0)
                printf("Utilisation %s: %.1f%%\n", pto_worker_type_name((PTOWorkerType)type),
                       100 * (double)s->worker_busy_cycles[type] / ((double)s->cycles * s->workers[type]));
    }
    if (!is_simulated) printf("Wall time: %.6f s\n", (double)s->ns * 1e-9);
}
