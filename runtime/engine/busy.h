/* busy.h - how long workers run kernels, without asking the clock twice a task.
 *
 * Idea       two looks at the clock cost as much as a small task.  Kernels that run for long are always measured; of
 *            shorter ones every so many calls are, and stand for those between.
 * Owner      a worker's thread. */
#ifndef PTOI_BUSY_H
#define PTOI_BUSY_H
#include <pto/pto_types.h>

struct busy_line {
    const PTOKernel *kernel;
    int64_t last_ns;  /* of the last call that was measured */
    uint32_t skipped; /* calls since */
    uint32_t skip;    /* how many may be */
};

enum { BUSY_LINES = 16 };

struct busy {
    struct busy_line line[BUSY_LINES];
};

static inline struct busy_line *ptoi_busy_line(struct busy *b, const PTOKernel *kernel)
{
    return &b->line[(uintptr_t)kernel / sizeof *kernel % BUSY_LINES];
}

/* Is this call to be measured?  If not, it is counted as long as the last one was: *ns is what to add. */
static inline bool ptoi_busy_is_due(struct busy *b, const PTOKernel *kernel, int64_t *ns)
{
    struct busy_line *l = ptoi_busy_line(b, kernel);
    *ns = 0;
    if (l->kernel != kernel || l->skipped == l->skip) return true;
    l->skipped++;
    *ns = l->last_ns;
    return false;
}
/* A measured call took ns. */
void ptoi_busy_measured(struct busy *b, const PTOKernel *kernel, int64_t ns);

#endif
