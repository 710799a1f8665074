/* flow_stats.c - prints flow control statistics, with advice if the recorded run supports it. */
#include "advice.h"
#include "causes.h"
#include "critical.h"
#include <ctype.h>

struct row {
    const char *name;
    int64_t stalls, ns, hwm, size;
    const char *unit;
};

static void print_row(FILE *out, const char *name, int64_t value)
{
    fprintf(out, "  %-25s %12lld\n", name, (long long)value);
}

static void print_time(FILE *out, const char *name, int64_t time, const char *unit)
{
    fprintf(out, "%-27s %12lld %s", name, (long long)time, unit);
    if (time > 0 && unit[0] == 'n') fprintf(out, "  (%.2f ms)", (double)time / 1e6);
    fputc('\n', out);
}

/* Of a line of stats.def, unless it is 0 or stands in a line with others. */
static void print_stat(FILE *out, const char *text, int64_t value, const char *unit)
{
    if (text && value != 0) fprintf(out, "  %c%s: %lld %s\n", toupper(text[0]), text + 1, (long long)value, unit);
}

void pto_write_flow_stats(PTORuntime *rt, FILE *out)
{
    enum { ROWS = PTO_STALL_REASONS - 1 };
    const PTOFlowControlStats *s = pto_get_flow_stats(rt);
    if (!s || !out) return;
    const struct row rows[ROWS] = {
#define PTO_RING(id, name, mark, text, title, unit)                                                                    \
    {title, s->name##_stalls, s->name##_stall_ns, s->mark##_hwm, s->mark##_size, unit},
#include <pto/stats.def>
    };
    static const char line[] = "================================================================================";
    char name[64];
    int64_t total = 0;
    fprintf(out, "[PTO Flow Control Statistics]\n%s\n\nStall Counts (times orchestration was blocked):\n", line);
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "%s%s:", rows[i].name, i == 0 ? " (window full)" : "");
        print_row(out, name, rows[i].stalls);
    }
    fprintf(out, "\nStall Times (%s):\n", s->unit[0] == 'n' ? "nanoseconds" : s->unit);
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "  %s%s:", rows[i].name, i == 0 ? " (window full)" : "");
        print_time(out, name, rows[i].ns, s->unit);
        total += rows[i].ns;
    }
    fputc('\n', out);
    print_time(out, "Total Stall Time:", total, s->unit);
    print_time(out, "Time in await:", s->await_ns, s->unit);
    fprintf(out, "  %-25s %12lld, of which %lld had to wait\n", "Values awaited:", (long long)s->awaits,
            (long long)s->awaits_blocked);
#define PTO_FLOW_STAT(name, text, unit) print_stat(out, text, s->name, unit);
#include <pto/stats.def>
    fprintf(out, "\nHigh Water Marks (peak usage):\n");
    for (int i = 0; i < ROWS; i++) {
        snprintf(name, sizeof name, "%s:", rows[i].name);
        fprintf(out, "  %-16s %10lld / %lld%s  (%.1f%%)\n", name, (long long)rows[i].hwm, (long long)rows[i].size,
                rows[i].unit, rows[i].size ? 100.0 * (double)rows[i].hwm / (double)rows[i].size : 0.0);
    }
    ptoi_causes_write(rt, out);
    ptoi_critical_write(rt, out);
    ptoi_advice_write(rt, out);
    fprintf(out, "\n%s\n", line);
}

void pto_print_flow_stats(PTORuntime *rt) { pto_write_flow_stats(rt, stdout); }
