/* submit.c - a task is submitted: executed inline, or deferred.
 *
 * Idea       Note [fine tasks] says when tasks are executed inline where other threads are workers.
 * Owner      the orchestrator.
 * Invariant  while tasks are executed inline, the window is empty and this thread is the scheduler.
 * Blocks     while a ring is full.
 * Tests      test/runtime/test_inline.c, test_fast_path.c */
#include "parts.h"

/* Note [fine tasks]: where other threads are workers, a task is executed inline if its kernel is shorter than handing
 * it over would take, and nothing coarse is in the window: then the window is empty at once, and stays so until a
 * coarse task comes.  So no parallelism is lost that is worth its price, and a fine task needs no look at the map. */
void ptoi_stop_inline(struct orchestrator *o)
{
    if (!o->inlined.is_active || !o->flow.ops->is_fine) return;
    ptoi_fast_close(&o->fast);
    o->flow.ops->leave(o->flow.context);
    o->inlined.is_active = false;
}

static bool start_inline(struct orchestrator *o)
{
    if (!ptoi_wait_all_taken(o)) return false;
    o->flow.ops->enter(o->flow.context);
    ptoi_fast_ask(&o->fast, o->flow.ops->is_fine, o->flow.context);
    o->inlined.is_active = true;
    return true;
}

bool ptoi_runs_if_fine(struct orchestrator *o, const PTOKernel *kernel)
{
    const struct role_ops *ops = o->flow.ops;
    if (!ops->is_fine(o->flow.context, kernel)) {
        ptoi_stop_inline(o);
        o->inlined.coarse = o->rings.head + 1;
        return false;
    }
    /* parts wait for a fold that is not submitted yet, and no task that is executed inline would wait for it */
    const bool may_start = o->inlined.coarse <= o->rings.tail && !o->buffers.parts_wait;
    return o->inlined.is_active || (may_start && start_inline(o));
}

static inline int64_t submit_valid(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params,
                                   int32_t count)
{
    if (ptoi_runs_now(o, kernel)) {
        int64_t number;
        if (ptoi_orch_submit_now(o, kernel, params, count, &number)) return number;
        ptoi_stop_inline(o);
    }
    return ptoi_submit_deferred(o, kernel, params, count);
}

static __attribute__((noinline)) int64_t submit_metered(struct orchestrator *o, const PTOKernel *kernel,
                                                        const PTOTaskParam *params, int32_t count)
{
    const enum orchestrator_cause cause = ptoi_meter_change(&o->flow.meter, CAUSE_SUBMIT);
    const int64_t number = submit_valid(o, kernel, params, count);
    ptoi_meter_change(&o->flow.meter, cause);
    return number;
}

int64_t ptoi_orch_submit(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    const enum refusal why = ptoi_refusal_of(kernel, params, count);
    if (__builtin_expect(why != REFUSED_NOT, 0))
        return ptoi_refuse_submit(o, why, &(struct refused){.kernel = kernel, .number = count});
    if (__builtin_expect(o->buffers.notes_writes, 0)) {
        const PTOStatus status = ptoi_note_written(o, kernel, params, count);
        if (status != PTO_OK) return status;
    }
    return __builtin_expect(o->flow.meter.is_on, 0) ? submit_metered(o, kernel, params, count)
                                                    : submit_valid(o, kernel, params, count);
}
