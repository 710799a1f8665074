/* threads_measured.c - a worker runs a task that somebody watches or that is timed, and the times of its kernels are
 * learned.
 *
 * Owner      the worker, or the orchestrator that serves its lane.
 * Tests      test/runtime/test_inline.c, test_strips.c, test_record.c, test_causes.c */
#include "threads_parts.h"
#include "backend/worker.h"

static void measured_task(struct threads *e, struct lane *l, const PTOKernel *kernel, int64_t ns)
{
    ptoi_busy_measured(&l->busy, kernel, ns);
    ptoi_grain_measured_away(&e->grain, kernel, ns);
}

static void measured_strip(struct threads *e, const struct strip *s, int64_t ns)
{
    const struct strip_call *call = ptoi_strip_calls(s);
    const PTOKernel *kernel[PTO_STRIP_CALLS];
    for (int c = 0; c < s->calls; c++) kernel[c] = ptoi_image_pointer_of(call[c].kernel);
    ptoi_grain_measured_body(&e->grain, kernel, s->calls, ns / s->iterations);
}

/* Of a metered run.  The kernel's time belongs to its worker, or to the orchestrator that helps. */
static void begin_metered(struct lane *l, uint64_t id, bool as_helper)
{
    struct core *core = l->core;
    if (core->outside.began) core->outside.began(core->outside.context, id, l->ended_ns);
    if (!as_helper) ptoi_worker_enter(&l->clock, WORKER_KERNEL);
}

static void end_metered(struct lane *l, bool as_helper)
{
    if (!as_helper) ptoi_worker_enter(&l->clock, WORKER_DISPATCH);
    if (l->core->outside.began) l->ended_ns = ptoi_clock_ns();
}

static int run_kernel(struct lane *l, const struct task_slot *t, bool as_helper)
{
    struct core *core = l->core;
    struct meter *const meter = &core->orch.flow.meter;
    const enum orchestrator_cause cause = as_helper ? ptoi_meter_enter(meter, CAUSE_HELP) : CAUSE_PROGRAM;
    if (l->clock.time) begin_metered(l, t->id, as_helper);
    const int result = ptoi_worker_run(core->window, core->backend, core->heap, t);
    if (l->clock.time) end_metered(l, as_helper);
    if (as_helper) ptoi_meter_enter(meter, cause);
    return result;
}

int ptoi_threads_run_watched(struct lane *l, const struct task_slot *slot, bool as_helper)
{
    struct core *const core = l->core;
    struct threads *const e = core->state;
    const uint64_t id = slot->id;
    const PTOKernel *const kernel = ptoi_image_pointer_of(slot->kernel);
    const int type = slot->worker;
    const bool is_strip = slot->flags & TASK_STRIP;
    struct running_line *const line = l->line + e->shift[type];
    int64_t since = 0, end;
    const bool is_timed = is_strip || ptoi_busy_is_due(&l->busy, kernel, &end) || slot->flags & TASK_TIMED ||
                          core->config.watchdog_seconds > 0;
    if (is_timed) since = ptoi_clock_ns();
    struct recorded_task *const t = ptoi_record_task(core->recorder, id);
    if (t) t->row = lane_row(e, l, type), t->begin = ptoi_record_now(core->recorder);
    if (core->replay) ptoi_threads_begun(core, t);
    ptoi_running_begin(line, core->window, id, since, as_helper ? e->helper_thread : l->thread_number);
    const int result = run_kernel(l, slot, as_helper);
    if (is_timed) {
        end = ptoi_clock_ns();
        if (is_strip)
            measured_strip(e, ptoi_task_strip(core->window, id), end - since);
        else
            measured_task(e, l, kernel, end - since);
    }
    if (t) t->end = ptoi_record_now(core->recorder);
    ptoi_running_end_timed(line, core->window, core->run_status, id, since, end);
    return result;
}
