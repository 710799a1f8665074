/* busy.c - see busy.h. */
#include "busy.h"

/* Of a short kernel every so many calls are measured, and of one that is still so short that two looks at the clock
 * would show. */
enum { SHORT_NS = 2000, SAMPLE_OF_SHORT = 16, MEDIUM_NS = 50000, SAMPLE_OF_MEDIUM = 4 };

static uint32_t sample_of(int64_t ns)
{
    return ns < SHORT_NS ? SAMPLE_OF_SHORT : ns < MEDIUM_NS ? SAMPLE_OF_MEDIUM : 1;
}

static struct busy_line *line_of(struct busy *b, const PTOKernel *kernel)
{
    return &b->line[(uintptr_t)kernel / sizeof *kernel % BUSY_LINES];
}

bool ptoi_busy_is_due(struct busy *b, const PTOKernel *kernel, int64_t *ns)
{
    struct busy_line *l = line_of(b, kernel);
    *ns = 0;
    if (l->kernel != kernel || l->skipped == l->skip) return true;
    l->skipped++;
    *ns = l->last_ns;
    return false;
}

void ptoi_busy_measured(struct busy *b, const PTOKernel *kernel, int64_t ns)
{
    *line_of(b, kernel) = (struct busy_line){.kernel = kernel, .last_ns = ns, .skip = sample_of(ns) - 1};
}
