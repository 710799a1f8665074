/* busy.c - see busy.h. */
#include "busy.h"

enum { SHORT_NS = 2000, SAMPLE = 16 };

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
    *line_of(b, kernel) = (struct busy_line){.kernel = kernel, .last_ns = ns, .skip = ns < SHORT_NS ? SAMPLE - 1 : 0};
}
