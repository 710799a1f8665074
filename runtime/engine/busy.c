/* busy.c - see busy.h. */
#include "busy.h"

/* Of a short kernel every so many calls are measured, and of one that is still so short that two looks at the clock
 * would show. */
enum { SHORT_NS = 2000, SAMPLE_OF_SHORT = 16, MEDIUM_NS = 50000, SAMPLE_OF_MEDIUM = 4 };

static uint32_t sample_of(int64_t ns)
{
    return ns < SHORT_NS ? SAMPLE_OF_SHORT : ns < MEDIUM_NS ? SAMPLE_OF_MEDIUM : 1;
}

void ptoi_busy_measured(struct busy *b, const PTOKernel *kernel, int64_t ns)
{
    *ptoi_busy_line(b, kernel) = (struct busy_line){.kernel = kernel, .last_ns = ns, .skip = sample_of(ns) - 1};
}
