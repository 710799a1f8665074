/* moved.c - tensors that were moved into a function: the function ends the lifetime of each or hands it on.
 *
 * Idea       a moved tensor with base NULL is gone, so ending a lifetime twice, or after it was handed on, does
 *            nothing.  A tensor from outside the heap, such as an argument of the entry, is never released.  An
 *            element of an array is moved without its memory, which stays with the array: while a function owns one, an
 *            end or a return of something in that buffer is the element's, because calls nest.  The result
 *            of a function and a name that changes buffers need a buffer of the heap: for one of these two tensors they
 *            get a copy.
 * Owner      the orchestrator's thread.
 * Tests      test/lit/run/own.pto elements-moved.pto */
#include "runtime.h"
#include <pto/pto_program.h>

static const PTOKernel copy_back = {.name = "copy", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_COPY};

static PTOStatus drop(PTORuntime *rt, const void *buffer)
{
    if (ptoi_orch_owns_element(&rt->core.orch, buffer)) {
        ptoi_orch_end_element(&rt->core.orch, buffer);
        return PTO_OK;
    }
    const PTOStatus status = rt->accumulators.count > 0 ? ptoi_fold_buffer(rt, buffer) : PTO_OK;
    if (rt->dist && ptoi_dist_releases(rt->dist, buffer)) return status;
    return status == PTO_OK ? ptoi_orch_drop(&rt->core.orch, buffer) : status;
}

static PTOStatus give(PTORuntime *rt, const void *buffer, PTOScope scope)
{
    const PTOStatus status = rt->accumulators.count > 0 ? ptoi_fold_buffer(rt, buffer) : PTO_OK;
    if (rt->dist) ptoi_dist_names(rt->dist, buffer);
    return status == PTO_OK ? ptoi_orch_give(&rt->core.orch, buffer, scope) : status;
}

void pto_drop(PTORuntime *rt, PTOView *t)
{
    if (t->base) ptoi_end_of_call(rt, drop(rt, t->base));
    t->base = NULL;
}

PTOView pto_move_element(PTORuntime *rt, PTOView element)
{
    ptoi_orch_move_element(&rt->core.orch, element.base);
    return element;
}

/* Can the scope own the buffer in which the tensor lies?  Results of the entry may be outside of the heap. */
static bool can_own(const PTORuntime *rt, PTOScope scope, const PTOTaskParam *t)
{
    const bool is_result = scope != PTO_SCOPE_CURRENT && scope == rt->result_scope;
    return t->at == 0 && (is_result || ptoi_orch_has(&rt->core.orch, t->buffer)) &&
           !ptoi_orch_owns_element(&rt->core.orch, t->buffer) &&
           (!t->stride || pto_is_row_major(t->rank, t->shape, t->stride));
}

void pto_return_tensor(PTORuntime *rt, const PTOPlace *place, const PTOTaskParam *tensor)
{
    void **ref = place->ref;
    if (!tensor->buffer) return; /* empty: so is the place */
    if (!*ref && can_own(rt, place->scope, tensor)) {
        *ref = tensor->buffer;
        ptoi_end_of_call(rt, give(rt, tensor->buffer, place->scope));
        return;
    }
    PTOTaskParam params[2] = {*tensor, *tensor};
    params[1].kind = PTO_PARAM_OUTPUT;
    params[1].buffer = NULL;
    params[1].ref = ref;
    params[1].scope = place->scope;
    params[1].at = *ref ? place->at : 0;
    params[1].stride = *ref ? place->s : NULL;
    pto_submit_task(rt, &copy_back, params, 2);
    ptoi_end_of_call(rt, drop(rt, tensor->buffer));
}

void *pto_take_over(PTORuntime *rt, PTOScope scope, PTOView *t, const PTOTaskParam *tensor)
{
    void *buffer = NULL;
    pto_return_tensor(rt, &(PTOPlace){.ref = &buffer, .scope = scope}, tensor);
    t->base = NULL;
    return buffer;
}
