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

void ptoi_threads_measured_strip(struct threads *e, const struct strip *s, int64_t ns)
{
    const struct strip_call *call = ptoi_strip_calls(s);
    const PTOKernel *kernel[PTO_STRIP_CALLS];
    for (int c = 0; c < s->calls; c++) kernel[c] = ptoi_image_pointer_of(call[c].kernel);
    ptoi_grain_measured_body(&e->grain, kernel, s->calls, ns / s->iterations);
}
