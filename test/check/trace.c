/* trace.c - the last steps of an execution, for the report of a fault. */
#include "explore.h"
#include "memory_model.h"
#include <stdio.h>
#include <string.h>

enum { KEPT = 512, SHOWN = 120 };

static struct {
    const char *name;
    const struct check_site *site;
    enum op_kind kind;
    uint64_t value;
    int stale;
    bool has_value;
} step[KEPT];
static uint64_t steps;

void trace_reset(void) { steps = 0; }

void trace_step(const struct check_fiber *f)
{
    const uint64_t i = steps++ % KEPT;
    step[i].name = f->name;
    step[i].site = f->next.site;
    step[i].kind = f->next.kind;
    step[i].has_value = false;
}

void trace_value(uint64_t value, int stale)
{
    const uint64_t i = (steps - 1) % KEPT;
    step[i].value = value;
    step[i].stale = stale;
    step[i].has_value = true;
}

void trace_print(void)
{
    static const char *const text[] = {"begins",    "loads",    "stores", "modifies", "takes", "leaves",
                                       "sleeps at", "wakes up", "wakes",  "yields",   "joins", "ends"};
    fprintf(stderr, "the last steps:\n");
    for (uint64_t n = steps > SHOWN ? steps - SHOWN : 0; n < steps; n++) {
        const uint64_t i = n % KEPT;
        const struct check_site *s = step[i].site;
        fprintf(stderr, "%6llu  %-12s %-9s", (unsigned long long)n, step[i].name, text[step[i].kind]);
        if (s) fprintf(stderr, " %s", s->text);
        if (step[i].has_value) fprintf(stderr, " = %lld", (long long)step[i].value);
        if (step[i].has_value && step[i].stale > 0) fprintf(stderr, " (%d older than the newest)", step[i].stale);
        if (s && s->line) {
            const char *file = strrchr(s->file, '/');
            fprintf(stderr, "   %s%s%s%s:%d", s->label ? "[" : "", model_label((enum check_label)s->label),
                    s->label ? "] " : "", file ? file + 1 : s->file, s->line);
        }
        fprintf(stderr, "\n");
    }
}
