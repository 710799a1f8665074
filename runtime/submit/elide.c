/* elide.c - a task that runs at its submit.
 *
 * Idea       where one thread holds every role, all that was submitted before has completed when a task is submitted:
 *            it has no producer, needs no slot, and nobody will look for it.  What is left is to check the parameters,
 *            to make room for the outputs, and to call.  The promises are those of the window: the same errors, the
 *            same lifetimes of buffers.
 * Owner      the orchestrator.
 * Blocks     while the heap is full.
 * Tests      test/runtime/test_elide.c; every test of the engine `serial` */
#include "orchestrator_parts.h"
#include "backend/failure.h"
#include "backend/worker.h"
#include "shared/references.h"
#include "shared/system.h"
#include <pto/pto_program.h>
#include <string.h>

/* What one submit needs beside the arguments.  Not cleared: only what a parameter uses is written. */
struct call {
    PTOArg arg[PTO_MAX_PARAMS];
    int64_t stride[PTO_MAX_PARAMS][PTO_MAX_RANK]; /* of row-major views, and the extent of flat ones behind it */
    uint64_t fresh_bytes[PTO_MAX_PARAMS];         /* of outputs that the runtime allocates */
    const PTOTaskParam *fresh[PTO_MAX_PARAMS];    /* NULL: it exists */
    uint32_t buffer[PTO_MAX_PARAMS];              /* of the fresh ones, once allocated */
    int count, fresh_count, scalars;
    int64_t limit_ms; /* 0: none */
    bool writes, writes_some;
};

/* Elements from the first to the last of a view with strides, both included; 0: it is empty. */
static bool reach_of(int32_t rank, const int64_t *shape, const int64_t *stride, int64_t *elements)
{
    int64_t reach = 1, step, empty = 0;
    bool fits = true;
    for (int32_t d = 0; d < rank; d++) {
        empty |= shape[d] == 0;
        fits &= stride[d] >= 0 && !__builtin_mul_overflow(shape[d] - 1, stride[d], &step) &&
                !__builtin_add_overflow(reach, step, &reach);
    }
    *elements = empty ? 0 : reach;
    return fits || empty;
}

/* Of an address in the heap: are the bytes inside the buffer that it lies in? */
static PTOStatus check_in_heap(struct orchestrator *o, const PTOTaskParam *p, int index, const char *base,
                               int64_t offset, int64_t bytes)
{
    const uint64_t at = (uint64_t)(base - o->heap_base);
    const uint32_t buffer = ptoi_compact_buffer(o, at);
    if (buffer == 0)
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "parameter %d (%s) is a buffer whose lifetime has ended", index,
                              ptoi_param_text(p));
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    if (at - r->at + (uint64_t)offset + (uint64_t)bytes > r->bytes)
        return ptoi_orch_fail(o, PTO_ERR_BOUNDS, "parameter %d (%s) exceeds its buffer of %llu bytes", index,
                              ptoi_param_text(p), (unsigned long long)r->bytes);
    return PTO_OK;
}

/* Memory that is not the heap's is the program's business. */
static inline PTOStatus check_buffer(struct orchestrator *o, const PTOTaskParam *p, int index, const char *base,
                                     int64_t offset, int64_t bytes)
{
    return ptoi_orch_is_in_heap(o, base) ? check_in_heap(o, p, index, base, offset, bytes) : PTO_OK;
}

static PTOStatus take_tensor(struct orchestrator *o, struct call *c, const PTOTaskParam *p, int index)
{
    PTOArg *a = &c->arg[c->count];
    int64_t *stride = c->stride[c->count], elements, offset = 0, bytes = 0, end;
    bool fits;
    if (p->type >= PTO_TYPE_COUNT || p->rank > PTO_MAX_RANK || (p->rank > 0 && !p->shape))
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d has no valid type and shape", index);
    *a = (PTOArg){.shape = p->shape, .stride = p->stride, .kind = p->kind, .type = p->type, .rank = p->rank};
    if (p->rank == 0) { /* a flat range: a vector of bytes */
        if (p->bytes < 0 || __builtin_mul_overflow(p->at, p->bytes, &offset))
            return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d: %lld bytes at tile %lld is no size", index,
                                  (long long)p->bytes, (long long)p->at);
        stride[0] = 1;
        stride[1] = bytes = p->bytes;
        a->stride = stride;
        a->shape = stride + 1;
        a->rank = 1;
        fits = true;
    } else {
        for (int d = 0; d < p->rank; d++)
            if (p->shape[d] < 0)
                return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d has extent %lld", index,
                                      (long long)p->shape[d]);
        if (p->stride) {
            fits = reach_of(p->rank, p->shape, p->stride, &elements);
        } else {
            fits = ptoi_lay_out(p->rank, p->shape, stride, &elements);
            a->stride = stride;
        }
        const int64_t element = ptoi_element_bytes(p->type);
        fits &= !__builtin_mul_overflow(elements, element, &bytes) && !__builtin_mul_overflow(p->at, element, &offset);
    }
    char *base = p->buffer;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d: PTO_OUTPUT of no variable", index);
        memcpy(&base, p->ref, sizeof base); /* the caller's variable may be of any pointer type */
    }
    if (!fits || offset < 0 || __builtin_add_overflow((int64_t)(intptr_t)base, offset, &end) ||
        __builtin_add_overflow(end, bytes, &end))
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d: offset, shape and strides give no region of memory",
                              index);
    if (p->kind != PTO_PARAM_INPUT) {
        c->writes = true;
        c->writes_some |= bytes > 0;
    }
    c->fresh[c->count] = NULL;
    if (bytes == 0) return PTO_OK; /* empty: a null handle */
    if (base) {
        a->ptr = base + offset;
        return check_buffer(o, p, index, base, offset, bytes);
    }
    if (p->kind != PTO_PARAM_OUTPUT)
        return ptoi_orch_fail(o, PTO_ERR_UNWRITTEN, "parameter %d (%s) was never written", index, ptoi_param_text(p));
    if (p->at != 0 || (p->stride && !pto_is_row_major(p->rank, p->shape, p->stride)))
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d (%s): a new output begins at 0 and is row-major",
                              index, ptoi_param_text(p));
    c->fresh[c->count] = p;
    c->fresh_bytes[c->count] = (uint64_t)bytes;
    c->fresh_count++;
    return PTO_OK;
}

/* What most parameters are, a flat range or a vector in memory that exists, of sizes whose products cannot overflow,
 * goes the short way. false: nothing was done, take_tensor looks at it, and says what may be wrong with it. */
static inline bool take_simple(struct orchestrator *o, struct call *c, const PTOTaskParam *p, int index,
                               PTOStatus *status)
{
    const uint64_t most = (uint64_t)1 << 30, widest = (uint64_t)1 << 24;
    PTOArg *a = &c->arg[c->count];
    int64_t *stride = c->stride[c->count], element = 1, steps = p->bytes;
    if (p->rank == 1 && p->shape && p->stride && p->type < PTO_TYPE_COUNT) {
        if ((uint64_t)p->shape[0] - 1 >= most || (uint64_t)p->stride[0] >= widest) return false;
        element = ptoi_element_bytes(p->type);
        steps = (p->shape[0] - 1) * p->stride[0] + 1;
    } else if (p->rank != 0 || p->type != PTO_BYTE || (uint64_t)p->bytes - 1 >= most) {
        return false;
    }
    char *base = p->buffer;
    if (p->kind == PTO_PARAM_OUTPUT) {
        if (!p->ref) return false;
        memcpy(&base, p->ref, sizeof base);
    }
    if (!base || (uint64_t)p->at >= most || (uint64_t)(uintptr_t)base >> 60) return false;
    const int64_t offset = p->at * (p->rank == 0 ? steps : element), bytes = steps * element;
    a->ptr = base + offset;
    a->kind = p->kind;
    a->type = p->type;
    a->rank = 1;
    a->shape = p->shape;
    a->stride = p->stride;
    if (p->rank == 0) {
        stride[0] = 1;
        stride[1] = bytes;
        a->stride = stride;
        a->shape = stride + 1;
    }
    const bool writes = p->kind != PTO_PARAM_INPUT;
    c->writes |= writes;
    c->writes_some |= writes;
    c->fresh[c->count] = NULL;
    *status = check_buffer(o, p, index, base, offset, bytes);
    return true;
}

static PTOStatus take_params(struct orchestrator *o, struct call *c, const PTOTaskParam *params, int32_t count)
{
    c->count = c->fresh_count = c->scalars = 0;
    c->limit_ms = 0;
    c->writes = c->writes_some = false;
    for (int i = 0; i < count; i++) {
        const PTOTaskParam *p = &params[i];
        if (p->kind == PTO_PARAM_TIMEOUT) {
            if (!ptoi_orch_limit(o, p, &c->limit_ms)) return PTO_ERR_ARGUMENT;
            continue;
        }
        /* nothing waits, and nothing is recorded */
        if (p->kind == PTO_PARAM_PRIORITY || p->kind == PTO_PARAM_NAME) continue;
        if (p->kind < PTO_PARAM_INPUT || p->kind > PTO_PARAM_SCALAR)
            return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d is of no known kind", i);
        if (c->count == PTO_MAX_PARAMS)
            return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "a task has at most %d parameters", PTO_MAX_PARAMS);
        if (p->kind == PTO_PARAM_SCALAR) {
            c->arg[c->count] = (PTOArg){.value = p->value, .kind = PTO_PARAM_SCALAR};
            c->fresh[c->count] = NULL;
            c->scalars++;
        } else {
            PTOStatus status;
            if (!take_simple(o, c, p, i, &status)) status = take_tensor(o, c, p, i);
            if (status != PTO_OK) return status;
        }
        c->count++;
    }
    return PTO_OK;
}

/* Each belongs to its scope from the start; what a submit that fails has taken is let go at once. */
static PTOStatus make_outputs(struct orchestrator *o, struct call *c)
{
    PTOStatus status = PTO_OK;
    int made = 0;
    uint8_t output = 0;
    for (; made < c->count && status == PTO_OK; made++) {
        const PTOTaskParam *p = c->fresh[made];
        if (!p) continue;
        const int32_t owner = ptoi_orch_owner(o, p->scope);
        c->buffer[made] = 0;
        if (owner < 0)
            status =
                ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "parameter %d (%s): its scope is closed", made, ptoi_param_text(p));
        else
            status = ptoi_orch_take_buffer(o, owner, c->fresh_bytes[made], PTO_NO_BIRTH, p->name, &c->buffer[made]);
        if (status != PTO_OK) break;
        ptoi_references_open(o->refs, c->buffer[made]);
        struct buffer_record *const r = ptoi_record(&o->scopes, c->buffer[made]);
        r->output = output++;
        c->arg[made].ptr = o->heap_base + r->at;
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
    ptoi_short_measured(&o->now, kernel, ns, !ops->is_fine || ops->is_fine(o->flow.context, kernel));
}

static int call_kernel(struct orchestrator *o, const PTOKernel *kernel, const struct call *c, const PTOSite *site,
                       uint64_t number)
{
    const int *const closed = o->now.open->closed;
    const int64_t since = ptoi_short_is_due(&o->now, kernel) ? ptoi_clock_ns() : 0;
    o->now.open->closed = &ptoi_short_closed; /* so that a submit by the kernel is found */
    const int result = ptoi_worker_call(o->backend, kernel, c->arg, c->count, site, number);
    o->now.open->closed = closed;
    if (since != 0) ptoi_orch_measured(o, kernel, since);
    return result;
}

static int64_t submit_call(struct orchestrator *o, const PTOKernel *kernel, struct call *c)
{
    if (!kernel->fn && c->scalars > PTO_REQUEST_PARAMS)
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "work request '%s' with %d scalars; at most %d are possible",
                              kernel->name, c->scalars, PTO_REQUEST_PARAMS);
    if (c->writes && !c->writes_some) return PTO_NO_TASK;
    PTOStatus status = c->fresh_count > 0 ? make_outputs(o, c) : PTO_OK;
    if (status != PTO_OK) return status;
    for (int i = 0; o->moved > 0 && i < c->count; i++)
        if (c->arg[i].kind != PTO_PARAM_SCALAR) c->arg[i].ptr = ptoi_orch_where(o, c->arg[i].ptr);
    const uint64_t number = o->now.open->number++;
    o->flow.task_max |= 1; /* one at a time; the window's own use is none or more */
    const PTOSite *site = *o->site;
    const int64_t since = c->limit_ms > 0 ? ptoi_clock_ns() : 0;
    const int result = call_kernel(o, kernel, c, site, number);
    if (c->limit_ms > 0 && ptoi_clock_ns() - since > c->limit_ms * 1000000)
        ptoi_fail(o->run_status, PTO_ERR_TIMEOUT, site, PTO_TIMEOUT_TEXT, kernel->name, (long long)c->limit_ms,
                  (long long)number);
    if (result != 0)
        ptoi_fail_call(o->window, o->run_status, o->backend, kernel, c->arg, c->count, site, number, result);
    return (int64_t)number;
}

bool ptoi_orch_submit_now(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          int64_t *number)
{
    struct call c;
    *number = take_params(o, &c, params, count);
    if (*number != PTO_OK) return true;
    if (c.limit_ms > 0 && o->flow.ops->is_fine) return false; /* somebody has to look at the clock while it runs */
    if (o->names.bytes == 0) ptoi_short_open(&o->now, &o->run_status->status);
    *number = submit_call(o, kernel, &c);
    return true;
}

int64_t ptoi_orch_failed(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result)
{
    struct call c;
    const uint64_t number = o->now.open->number - 1;
    if (take_params(o, &c, params, count) == PTO_OK)
        ptoi_fail_call(o->window, o->run_status, o->backend, kernel, c.arg, c.count, *o->site, number, result);
    return (int64_t)number;
}
