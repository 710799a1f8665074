/* threads_inline.c - tasks that are executed inline: the orchestrator runs them, and is the scheduler while it does.
 *
 * Owner      the orchestrator; the role is its from enter to leave.
 * Tests      test/runtime/test_fast_path.c, test_inline.c, test_handover.c */
#include "threads_parts.h"
#include "shared/processors.h"

/* See Note [measured] in handover.h: the lane whose counter is looked at, never the helper's. */
static struct lane *watched_lane(struct threads *e)
{
    struct lane *l = &e->lane[e->handover.worker % (uint32_t)e->lane_count];
    return l == e->helper_lane ? e->lane : l;
}

/* Likewise: whose worker is woken.  Systems like to wake a thread where it went to sleep. */
static struct lane *probed_lane(struct threads *e)
{
    const int here = ptoi_processor_now();
    struct lane *l = NULL;
    for (int i = 0; i < e->lane_count; i++) {
        l = &e->lane[(e->handover.worker + (uint32_t)i) % (uint32_t)e->lane_count];
        if (load_relaxed(&l->slept_on) != here) break; /* relaxed: a hint */
    }
    return l;
}

static __attribute__((noinline)) void look(struct threads *e)
{
    int64_t latency_ns;
    ptoi_handover_look(&e->handover, &watched_lane(e)->done, &latency_ns);
    if (latency_ns > 0) ptoi_grain_follow(&e->grain, latency_ns);
}

bool ptoi_threads_is_fine(void *context, const PTOKernel *kernel)
{
    struct threads *e = ((struct core *)context)->state;
    if (!e->holds && __builtin_expect(ptoi_handover_is_due(&e->handover), 0)) look(e);
    return ptoi_grain_is_fine(&e->grain, kernel) || ptoi_grain_is_tried(&e->grain, kernel);
}

bool ptoi_threads_shares_workers(void *context, PTOWorkerType a, PTOWorkerType b)
{
    const struct core *const core = context;
    return core->sched.group[a] == core->sched.group[b];
}

int64_t ptoi_threads_known_ns(void *context, const PTOKernel *kernel)
{
    struct threads *e = ((struct core *)context)->state;
    return ptoi_grain_usual_ns(&e->grain, kernel);
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
    int64_t latency_ns;
    ptoi_grain_measured_inline(&e->grain, kernel, ns);
    if (!ptoi_grain_is_doubtful(&e->grain, kernel)) return;
    if (ptoi_handover_doubts(&e->handover, &latency_ns)) ptoi_park_wake(&probed_lane(e)->parker);
    if (latency_ns > 0) ptoi_grain_follow(&e->grain, latency_ns);
}
