/* calls.c - the calls of an orchestration: scopes, buffers, tasks, waiting.
 *
 * Idea       each checks that the caller may call it (misuse.h), calls the orchestrator, and unwinds to
 *            pto_run_entry where the run has failed (unwind.c).  A machine with memory of its own is notified too.
 * Owner      the thread that orchestrates.
 * Tests      test/runtime/test_runtime.c, test_refused.c, test_misuse.c */
#include "misuse.h"
#include "runtime.h"
#include "debug/guard.h"
#include "shared/limit.h"
#include "shared/system.h"
#include "submit/failing.h"
#include <stddef.h>
#include <string.h>

void pto_buffer(PTORuntime *rt, const void *base, int64_t bytes)
{
    int64_t low = (int64_t)(intptr_t)base, high;
    if (!ptoi_may_call(rt) && ptoi_is_gone(rt, "pto_buffer")) return;
    if (!base || bytes <= 0 || __builtin_add_overflow(low, bytes, &high)) return;
    ptoi_orch_register(&rt->core.orch, low, high);
    if (rt->dist) ptoi_dist_buffer(rt->dist, base, bytes);
    if (rt->core.backend->mirror)
        ptoi_is_mirror_fine(rt, rt->core.backend->mirror->buffer(rt->core.backend, base, bytes));
}

void pto_input(PTORuntime *rt, const void *base, int64_t bytes)
{
    const int64_t low = (int64_t)(intptr_t)base;
    pto_buffer(rt, base, bytes);
    if (rt && base && bytes > 0 && ptoi_is_running(rt) && rt->is_entry && !rt->dist) /* a receive may write it */
        ptoi_orch_read_only(&rt->core.orch, low, low + bytes);
}

void pto_state_need(PTORuntime *rt, int64_t bytes)
{
    if (rt && ptoi_is_running(rt) && rt->is_entry) ptoi_orch_state_need(&rt->core.orch, bytes);
}

PTOScope pto_scope_begin(PTORuntime *rt)
{
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_scope_begin");
        return PTO_SCOPE_CURRENT;
    }
    const PTOScope scope = ptoi_orch_scope_begin(&rt->core.orch);
    if (scope == PTO_SCOPE_CURRENT) ptoi_end_of_call(rt, ptoi_status(rt->core.run_status));
    return scope;
}

PTOScope pto_result_scope(PTORuntime *rt)
{
    const PTOScope scope = pto_scope_begin(rt);
    if (rt) rt->result_scope = scope;
    return scope;
}

static PTOStatus end_scope(PTORuntime *rt)
{
    const PTOStatus status = rt->accumulators.count > 0 ? ptoi_fold_scope(rt) : PTO_OK;
    if (rt->dist && rt->core.orch.scopes.depth > 1) ptoi_dist_scope_ends(rt->dist);
    return status == PTO_OK ? ptoi_orch_scope_end(&rt->core.orch) : status;
}

void pto_scope_end(PTORuntime *rt)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_scope_end");
    else
        ptoi_end_of_call(rt, end_scope(rt));
}

/* false: there is no run to ask, which is an answer, or the call is misuse. */
static bool may_ask(PTORuntime *rt, const char *call)
{
    if (ptoi_may_call(rt)) return true;
    if (!rt || ptoi_lifetime_look(&rt->lifetime) != LIFETIME_FREE) ptoi_refuse_call(rt, call);
    return false;
}

PTOScope pto_scope_current(PTORuntime *rt)
{
    return may_ask(rt, "pto_scope_current") ? ptoi_scope_token(&rt->core.orch.scopes, rt->core.orch.scopes.depth - 1)
                                            : PTO_SCOPE_CURRENT;
}

int32_t pto_scope_depth(PTORuntime *rt) { return may_ask(rt, "pto_scope_depth") ? rt->core.orch.scopes.depth - 1 : 0; }

void *pto_task_get_output(PTORuntime *rt, int64_t task, int32_t index)
{
    if (!may_ask(rt, "pto_task_get_output") || task < 0 || index < 0) return NULL;
    const uint32_t buffer = ptoi_buffer_of_task(&rt->core.orch.scopes, (uint64_t)task, index);
    const bool has_ended = rt->dist && ptoi_dist_has_released(rt->dist, buffer);
    return buffer && !has_ended ? rt->core.orch.heap_base + ptoi_record(&rt->core.orch.scopes, buffer)->at : NULL;
}

int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return pto_submit_slow_(rt, kernel, params, count, 0);
}

void *pto_room_(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name)
{
    return ptoi_orch_room(&rt->core.orch, scope, (uint64_t)bytes, name);
}

int32_t pto_call_(const PTOKernel *kernel, const PTOArg *args)
{
    return ptoi_guarded_call((ptoi_function)kernel->fn, (void *)(uintptr_t)args, NULL);
}

int64_t pto_measure_(PTORuntime *rt) { return ptoi_may_call(rt) ? ptoi_clock_ns() : -1; }

void pto_measured_(PTORuntime *rt, const PTOKernel *kernel, int64_t since)
{
    ptoi_orch_measured(&rt->core.orch, kernel, since);
}

/* No part of an accumulator waits, and the task is executed by this rank. */
static inline __attribute__((always_inline)) int64_t submit_free(PTORuntime *rt, const PTOKernel *kernel,
                                                                 const PTOTaskParam *params, int32_t count)
{
    const struct mirror *mirror = params && count > 0 ? rt->core.backend->mirror : NULL;
    if (mirror && ptoi_status(rt->core.run_status) == PTO_OK)
        ptoi_is_mirror_fine(rt, mirror->submitting(rt->core.backend, params, count));
    int64_t id = ptoi_orch_submit(&rt->core.orch, kernel, params, count);
    if (id < 0) id = ptoi_accumulate(rt, kernel, params, count, id);
    if (mirror && id >= 0) mirror->submitted(rt->core.backend, params, count);
    return id;
}

static bool has_parts(const PTOTaskParam *params, int32_t count)
{
    for (int32_t i = 0; params && count <= PTO_TASK_PARAMS && i < count; i++)
        if (params[i].kind == PTO_PARAM_ACC_BY) return true;
    return false;
}

/* In a checked run on several ranks: of a task of the program, or of an await (kernel NULL).  All find the same. */
static PTOStatus note_on_ranks(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    const PTOStatus status = ptoi_status(rt->core.run_status);
    if (status != PTO_OK) return status;
    ptoi_dist_meets(rt->dist, true);
    const PTOStatus noted = ptoi_note_written(&rt->core.orch, kernel, params, count);
    ptoi_dist_meets(rt->dist, false);
    return noted;
}

static __attribute__((noinline)) int64_t submit_attended(PTORuntime *rt, const PTOKernel *kernel,
                                                         const PTOTaskParam *params, int32_t count)
{
    if (rt->accumulators.count > 0) ptoi_fold_params(rt, params, count);
    if (!rt->dist) return submit_free(rt, kernel, params, count);
    if (rt->notes_writes && ptoi_refusal_of(kernel, params, count) == REFUSED_NOT) {
        const PTOStatus status = note_on_ranks(rt, kernel, params, count);
        if (status != PTO_OK) return status;
    }
    return has_parts(params, count) ? ptoi_accumulate(rt, kernel, params, count, ORCH_HAS_PARTS)
                                    : ptoi_dist_submit(rt->dist, kernel, params, count);
}

static __attribute__((noinline)) int64_t submit_any(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params,
                                                    int32_t count, int32_t result)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_submit_task");
    if (result != 0) return ptoi_orch_failed(&rt->core.orch, kernel, params, count, result);
    if (kernel && (unsigned)kernel->worker < PTO_WORKER_TYPES && rt->core.config.workers[kernel->worker] == 0)
        ptoi_fail(rt->core.run_status, PTO_ERR_CONFIG, rt->now.site,
                  "kernel '%s' runs on %s workers, but there are none: %s", kernel->name,
                  pto_worker_type_name(kernel->worker),
                  ptoi_limit_worker(kernel->worker, rt->core.config.names, (char[LIMIT_TEXT]){0}));
    if (kernel && !kernel->fn && kernel->opcode != PTO_OP_NONE) ptoi_look_at_operation(rt, kernel);
    const int64_t id =
        rt->attends ? submit_attended(rt, kernel, params, count) : submit_free(rt, kernel, params, count);
    if (id < 0) ptoi_end_of_call(rt, (PTOStatus)id);
    return id;
}

static PTORuntime *runtime_of(struct orchestrator *o)
{
    return (PTORuntime *)(void *)((char *)o - offsetof(PTORuntime, core.orch));
}

/* submit_fn: a task that is not plain, or is not skipped. */
static int64_t submit_other(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return submit_any(runtime_of(o), kernel, params, count, 0);
}

int64_t pto_submit_slow_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result)
{
    const bool is_usual = ptoi_may_call(rt) && result == 0;
    if (is_usual && !rt->attends) return ptoi_orch_submit_plain(&rt->core.orch, kernel, params, count, submit_other);
    if (is_usual && rt->dist && rt->accumulators.count == 0 && !rt->notes_writes)
        return ptoi_dist_skip(rt->dist, kernel, params, count, submit_other);
    return submit_any(rt, kernel, params, count, result);
}

static PTOStatus alloc(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name, void **buffer)
{
    PTOStatus status = ptoi_orch_alloc(&rt->core.orch, scope, bytes, name, buffer);
    if (status == (PTOStatus)ORCH_NO_ROOM) {
        status = ptoi_fold_all(rt);
        if (status == PTO_OK) status = ptoi_orch_alloc(&rt->core.orch, scope, bytes, name, buffer);
    }
    return status;
}

/* Where a buffer, or a slot of a frame, lies in the heap; false: this run is not checked, or it lies elsewhere. */
static bool find_slot(PTORuntime *rt, const void *slot, uint64_t *offset)
{
    if (!ptoi_may_call(rt) || !slot || !rt->slots.tensor) return false;
    *offset =
        (uint64_t)((uintptr_t)ptoi_orch_where(&rt->core.orch, (void *)(uintptr_t)slot) - (uintptr_t)rt->core.heap);
    return *offset < rt->core.heap_bytes;
}

/* Tasks are to write it. */
static void note_blank(PTORuntime *rt, const void *buffer, int64_t bytes)
{
    uint64_t offset;
    if (find_slot(rt, buffer, &offset)) ptoi_slots_set_blank(&rt->slots, offset, (uint64_t)bytes);
}

void *pto_alloc(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_alloc");
    } else if ((buffer = ptoi_result_room(rt, scope, bytes)) == NULL) {
        if (rt->dist) ptoi_dist_makes_room(rt->dist, (uint64_t)bytes);
        PTOStatus status = ptoi_fold_for_room(rt, (uint64_t)bytes);
        if (status == PTO_OK) status = alloc(rt, scope, bytes, NULL, &buffer);
        ptoi_end_of_call(rt, status);
    }
    if (buffer && rt->dist && !ptoi_dist_made(rt->dist, buffer, bytes, false)) ptoi_end_of_call(rt, PTO_ERR_NOMEM);
    note_blank(rt, buffer, bytes);
    return buffer;
}

void *pto_where(PTORuntime *rt, const void *buffer)
{
    return rt ? ptoi_orch_where(&rt->core.orch, (void *)(uintptr_t)buffer) : NULL;
}

void *pto_alloc_zeroed(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *base = pto_alloc(rt, scope, bytes);
    if (!base) return NULL;
    if (rt->core.backend->mirror) ptoi_is_mirror_fine(rt, rt->core.backend->mirror->own(rt->core.backend, base, bytes));
    if (rt->dist && !ptoi_dist_made(rt->dist, base, bytes, true)) ptoi_end_of_call(rt, PTO_ERR_NOMEM);
    memset(pto_where(rt, base), 0, (size_t)bytes);
    uint64_t offset;
    if (find_slot(rt, base, &offset)) ptoi_slots_forget(&rt->slots, offset, (uint64_t)bytes);
    return base;
}

void *pto_frame(PTORuntime *rt, int64_t bytes, int64_t need)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_frame");
    else if (!rt->dist) /* what fits may not be the same on all ranks */
        ptoi_end_of_call(rt, ptoi_orch_frame(&rt->core.orch, bytes, need, &buffer));
    note_blank(rt, buffer, bytes);
    return buffer;
}

void pto_slot_write(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor)
{
    uint64_t offset;
    if (bytes > 0 && find_slot(rt, slot, &offset)) ptoi_slots_write(&rt->slots, offset, (uint64_t)bytes, tensor);
}

void pto_slot_read(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor)
{
    uint64_t offset;
    const char *other = bytes > 0 && find_slot(rt, slot, &offset)
                            ? ptoi_slots_other(&rt->slots, offset, (uint64_t)bytes, tensor)
                            : NULL;
    if (!other) return;
    ptoi_fail(rt->core.run_status, PTO_ERR_HANDLE, rt->now.site,
              "'%s' is used, but '%s' was written into its place in the frame", tensor, other);
    ptoi_end_of_call(rt, PTO_ERR_HANDLE);
}

static PTOStatus release(PTORuntime *rt, const void *buffer)
{
    const PTOStatus status = rt->accumulators.count > 0 ? ptoi_fold_buffer(rt, buffer) : PTO_OK;
    if (rt->dist && ptoi_dist_releases(rt->dist, buffer)) return status;
    return status == PTO_OK ? ptoi_orch_release(&rt->core.orch, buffer) : status;
}

void pto_release(PTORuntime *rt, const void *buffer)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_release");
    else
        ptoi_end_of_call(rt, release(rt, buffer));
}

/* submit_fn: one that is not plain, of several ranks. */
static int64_t submit_other_here(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params,
                                 int32_t count)
{
    return submit_free(runtime_of(o), kernel, params, count);
}

/* Of several ranks, this one executes the task. */
static int64_t submit_here(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    ptoi_accumulate_here(rt, kernel, params);
    return ptoi_orch_submit_plain(&rt->core.orch, kernel, params, count, submit_other_here);
}

const struct local_calls ptoi_local_calls = {.submit = submit_here, .alloc = alloc, .await = ptoi_await_bytes};

static PTOStatus await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    PTOStatus status = rt->accumulators.count > 0 ? ptoi_fold_bytes(rt, buffer, offset, bytes) : PTO_OK;
    const PTOTaskParam param = {.kind = for_writing ? PTO_PARAM_INOUT : PTO_PARAM_INPUT,
                                .buffer = (char *)(uintptr_t)buffer + offset,
                                .bytes = bytes};
    if (status == PTO_OK && rt->notes_writes && bytes >= 0 && offset >= 0) status = note_on_ranks(rt, NULL, &param, 1);
    if (status != PTO_OK) return status;
    return rt->dist ? ptoi_dist_await(rt->dist, buffer, offset, bytes, for_writing)
                    : ptoi_await_bytes(rt, buffer, offset, bytes, for_writing);
}

PTOStatus pto_await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await");
    if (rt->core.config.engine == PTO_ENGINE_GRAPH || rt->core.config.skip_kernels) {
        ptoi_fail(rt->core.run_status, PTO_ERR_UNSUPPORTED, rt->now.site,
                  "await, but no kernel runs here, so there is no value to wait for");
        return ptoi_end_of_call(rt, PTO_ERR_UNSUPPORTED);
    }
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, false));
}

PTOStatus pto_await_users(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await_users");
    /* nothing runs that could see the bytes */
    if (rt->core.config.engine == PTO_ENGINE_GRAPH || rt->core.config.skip_kernels) return PTO_OK;
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, true));
}
