/* inline.c - a task that is executed inline, at its submission.
 *
 * Idea       where one thread holds every role, all that was submitted before has completed when a task is submitted:
 *            it has no producer, needs no slot, and no later task searches for it.  It remains to check the
 *            parameters, to allocate the outputs, and to call the kernel.  Errors and lifetimes of buffers are those
 *            of a deferred task.
 * Owner      the orchestrator.
 * Blocks     while the heap is full.
 * Tests      test/runtime/test_inline.c; every test of the engine `serial` */
#include "decode.h"
#include "backend/failure.h"
#include "backend/worker.h"
#include "debug/crash.h"
#include "shared/references.h"
#include "shared/system.h"
#include <string.h>

/* What one submit needs beside the arguments.  Not cleared: only what a parameter uses is written. */
struct call {
    struct terms terms;
    PTOArg arg[ARGUMENT_ROOM];
    int64_t lay[ARGUMENT_ROOM][PTO_MAX_RANK];
    uint64_t fresh_bytes[PTO_MAX_PARAMS];      /* of outputs that the runtime allocates */
    const PTOTaskParam *fresh[PTO_MAX_PARAMS]; /* NULL: it exists */
    uint32_t buffer[PTO_MAX_PARAMS];           /* of the fresh ones, once allocated */
};

static PTOStatus take_params(struct orchestrator *o, const PTOKernel *kernel, struct call *c,
                             const PTOTaskParam *params, int32_t count)
{
    PTOStatus status = PTO_OK;
    struct terms t = {.kernel = kernel, .params = params, .count = count};
    for (int i = 0; i < count && status == PTO_OK; i++) {
        const int n = t.arguments;
        struct operand x;
        if (!ptoi_decode(o, &t, &params[i], &c->arg[n], c->lay[n], &x, &status)) continue;
        c->fresh[n] = ptoi_is_new(&x.access) ? &params[i] : NULL;
        c->fresh_bytes[n] = x.access.high;
    }
    c->terms = t;
    return status;
}

/* Each belongs to its scope from the start; what a submit that fails has taken is let go at once. */
static PTOStatus make_outputs(struct orchestrator *o, struct call *c)
{
    PTOStatus status = PTO_OK;
    int made = 0;
    uint8_t output = 0;
    for (; made < c->terms.arguments && status == PTO_OK; made++) {
        if (!c->fresh[made]) continue;
        status = ptoi_make_output(o, &c->terms, c->fresh[made], c->fresh_bytes[made], PTO_NO_BIRTH, output++,
                                  &c->buffer[made]);
        if (status != PTO_OK) break;
        ptoi_references_open(o->inlined.refs, c->buffer[made]);
        c->arg[made].ptr = o->heap_base + ptoi_record(&o->scopes, c->buffer[made])->at;
    }
    for (int i = 0; i < made; i++) {
        if (!c->fresh[i]) continue;
        if (status == PTO_OK)
            memcpy(c->fresh[i]->ref, &c->arg[i].ptr, sizeof c->arg[i].ptr);
        else
            ptoi_orch_let_go(o, c->buffer[i]);
    }
    return status;
}

void ptoi_orch_measured(struct orchestrator *o, const PTOKernel *kernel, int64_t since)
{
    const struct role_ops *ops = o->flow.ops;
    const int64_t ns = ptoi_clock_ns() - since;
    if (ops->measured) ops->measured(o->flow.context, kernel, ns);
    ptoi_fast_measured(&o->fast, kernel, ns, !ops->is_fine || ops->is_fine(o->flow.context, kernel));
}

static int call_kernel(struct orchestrator *o, const PTOKernel *kernel, const struct call *c, const PTOSite *site,
                       uint64_t number)
{
    const int *const closed = o->fast.open->closed;
    const int64_t since = ptoi_fast_is_due(&o->fast, kernel) ? ptoi_clock_ns() : 0;
    o->fast.open->closed = &ptoi_crash_inline; /* so that a submit by the kernel is found */
    const enum orchestrator_cause cause = ptoi_meter_enter(&o->flow.meter, CAUSE_INLINE);
    const int result = ptoi_worker_call(o->inlined.backend, kernel, c->arg, c->terms.arguments, site, number);
    ptoi_meter_enter(&o->flow.meter, cause);
    o->fast.open->closed = closed;
    if (since != 0) ptoi_orch_measured(o, kernel, since);
    return result;
}

static int64_t submit_call(struct orchestrator *o, const PTOKernel *kernel, struct call *c)
{
    const int64_t decoded = ptoi_decoded(o, &c->terms, kernel);
    if (decoded != PTO_OK) return decoded;
    const PTOStatus status = c->terms.makes ? make_outputs(o, c) : PTO_OK;
    if (status != PTO_OK) return status;
    const int64_t limit_ms = c->terms.limit_ms;
    for (int i = 0; o->buffers.moved > 0 && i < c->terms.arguments; i++)
        if (c->arg[i].kind != PTO_PARAM_SCALAR) c->arg[i].ptr = ptoi_orch_where(o, c->arg[i].ptr);
    const uint64_t number = o->fast.open->number++;
    o->flow.task_max |= 1; /* one at a time; the window's own use is none or more */
    const PTOSite *site = *o->site;
    const int64_t since = limit_ms > 0 ? ptoi_clock_ns() : 0;
    if (limit_ms > 0) ptoi_timed_begin(&o->inlined.timed, &(struct overdue){kernel, site, number, limit_ms}, since);
    const int result = call_kernel(o, kernel, c, site, number);
    if (limit_ms > 0) ptoi_timed_end(&o->inlined.timed);
    if (limit_ms > 0 && ptoi_clock_ns() - since > limit_ms * 1000000)
        ptoi_fail(o->run_status, PTO_ERR_TIMEOUT, site, PTO_TIMEOUT_TEXT, kernel->name, (long long)limit_ms,
                  (long long)number);
    if (result != 0)
        ptoi_fail_call(o->window, o->run_status, o->inlined.backend, kernel, c->arg, c->terms.arguments, site, number,
                       result);
    return (int64_t)number;
}

bool ptoi_orch_submit_now(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          int64_t *number)
{
    struct call c;
    *number = take_params(o, kernel, &c, params, count);
    if (*number != PTO_OK) return true;
    if (c.terms.limit_ms > 0 && o->flow.ops->is_fine)
        return false; /* somebody has to look at the clock while it runs */
    if (o->buffers.names.bytes == 0) ptoi_fast_open(&o->fast, &o->run_status->status);
    *number = submit_call(o, kernel, &c);
    return true;
}

int64_t ptoi_orch_failed(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result)
{
    struct call c;
    const uint64_t number = o->fast.open->number - 1;
    if (take_params(o, kernel, &c, params, count) != PTO_OK) return (int64_t)number;
    ptoi_crash_recovered(kernel, c.arg, c.terms.arguments);
    ptoi_fail_call(o->window, o->run_status, o->inlined.backend, kernel, c.arg, c.terms.arguments, *o->site, number,
                   result);
    return (int64_t)number;
}
