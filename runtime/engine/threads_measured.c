/* threads_measured.c - a worker has timed a task or a strip, and the times of its kernels are learned.
 *
 * Owner      the worker, or the orchestrator that serves its lane.
 * Tests      test/runtime/test_inline.c, test_strips.c */
#include "threads_parts.h"

void ptoi_threads_measured_task(struct threads *e, struct lane *l, const PTOKernel *kernel, int64_t ns)
{
    ptoi_busy_measured(&l->busy, kernel, ns);
    ptoi_grain_measured_away(&e->grain, kernel, ns);
}

/* Each kernel took as much more or less than was expected of it as all of them together. */
void ptoi_threads_measured_strip(struct threads *e, const struct strip *s, int64_t ns)
{
    const struct strip_call *call = ptoi_strip_calls(s);
    for (int c = 0; c < s->calls; c++) {
        const PTOKernel *kernel = ptoi_image_pointer_of(call[c].kernel);
        const double part = (double)ptoi_grain_usual_ns(&e->grain, kernel) / (double)s->expected_ns;
        if (part > 0) ptoi_grain_measured_away(&e->grain, kernel, (int64_t)((double)ns * part) + 1);
    }
}
