/* threads_inline.c - tasks that are executed inline: the orchestrator runs them, and is the scheduler while it does.
 *
 * Owner      the orchestrator; the role is its from enter to leave.
 * Tests      test/runtime/test_fast_path.c */
#include "threads_parts.h"

bool ptoi_threads_is_fine(void *context, const PTOKernel *kernel)
{
    struct threads *e = ((struct core *)context)->state;
    return ptoi_grain_is_fine(&e->grain, kernel) || ptoi_grain_is_tried(&e->grain, kernel);
}

void ptoi_threads_enter(void *context)
{
    ptoi_threads_take_role(context);
    ((struct threads *)((struct core *)context)->state)->holds = true;
}

void ptoi_threads_leave(void *context)
{
    ((struct threads *)((struct core *)context)->state)->holds = false;
    ptoi_threads_leave_role(context, false);
}

void ptoi_threads_measured(void *context, const PTOKernel *kernel, int64_t ns)
{
    struct threads *e = ((struct core *)context)->state;
    ptoi_grain_measured_inline(&e->grain, kernel, ns);
}
