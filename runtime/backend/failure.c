/* failure.c - see failure.h. */
#include "failure.h"
#include "shared/place.h"
#include "shared/strip.h"
#include "debug/checked.h"
#include "debug/guard.h"
#include "debug/reason.h"
#include <stdio.h>
#include <string.h>

/* A checked run found that the kernel changed what it must not. */
static bool fail_fault(struct window *w, struct run_status *run_status, const PTOKernel *kernel, const PTOArg *args,
                       const PTOSite *site, uint64_t id, long long number, int result, const char *params)
{
    static const struct {
        int32_t first;
        const char *format;
    } faults[] = {
        {PTOI_WROTE_NO_PART,
         "kernel '%s' writes its argument %d outside of the part that it declares%s%s (task %lld)\n  of (%s)"},
        {PTOI_WROTE_OUTSIDE, "kernel '%s' writes outside of its argument %d%s%s (task %lld)\n  of (%s)"},
        {PTOI_INPUT_CHANGED,
         "kernel '%s' only reads its argument %d, which changed while it ran%s%s (task %lld)\n  of (%s)"},
    };
    int which = 0;
    while (result < faults[which].first) which++;
    const int i = result - faults[which].first;
    char element[200] = "";
    const bool is_placed = load_relaxed(&w->fault_task) == id + 1;
    if (is_placed) ptoi_checked_element(&args[i], w->fault_at, element, sizeof element);
    return ptoi_fail(run_status, PTO_ERR_KERNEL, site, faults[which].format, kernel->name, i + 1,
                     is_placed ? ": first at element " : "", element, number, params);
}

static const char *request_problem(const PTOKernel *kernel, int result)
{
    if (kernel->fn || kernel->opcode >= PTO_OP_OWN) return "";
    return result == PTO_REQUEST_INDEX ? ", an index is out of range" : ", the buffers are not those of the operation";
}

bool ptoi_fail_unwound(struct run_status *run_status, const PTOKernel *kernel, const PTOSite *site, uint64_t number,
                       int how)
{
    return ptoi_fail(run_status, PTO_ERR_MISUSE, site,
                     how == PTOI_THREW
                         ? "kernel '%s' threw an exception (task %lld): a kernel has to catch what it throws"
                         : "kernel '%s' ended its thread (task %lld): a kernel has to return",
                     kernel->name, (long long)number);
}

/* As its type says; without one, which a list that was made by hand may be, its bits as well. */
static int describe_scalar(const PTOArg *a, char *text, size_t size)
{
    switch (a->type) {
    case PTO_F32: return snprintf(text, size, "%.7g", (double)a->value.f32);
    case PTO_F64: return snprintf(text, size, "%.15g", a->value.f64);
    case PTO_BOOL: return snprintf(text, size, "%s", a->value.b ? "true" : "false");
    case PTO_I64: return snprintf(text, size, "%lld", (long long)a->value.i64);
    default: return snprintf(text, size, "0x%llx (%lld)", (unsigned long long)a->value.i64, (long long)a->value.i64);
    }
}

static void describe_args(const PTOArg *args, int count, char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < count && n + 200 < size; i++) {
        if (args[i].kind == PTO_PARAM_SCALAR) {
            if (i > 0) n += (size_t)snprintf(text + n, size - n, ", ");
            n += (size_t)describe_scalar(&args[i], text + n, size - n);
        } else {
            n += (size_t)snprintf(text + n, size - n, "%s%s[", i ? ", " : "", pto_type_name((PTOType)args[i].type));
            for (int d = 0; d < args[i].rank; d++)
                n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? ", " : "", (long long)args[i].shape[d]);
            n += (size_t)snprintf(text + n, size - n, "]");
        }
    }
}

/* The kernel's own words, from its worker or from this thread. */
static bool reason_of(struct window *w, uint64_t id, char text[PTOI_REASON_BYTES])
{
    if (load_relaxed(&w->reason_task) != id + 1) return ptoi_reason_take(text);
    memcpy(text, w->reason, PTOI_REASON_BYTES);
    return true;
}

/* id: of the task in the window, or NOT_IN_WINDOW. */
#define NOT_IN_WINDOW (UINT64_MAX - 1)
static bool fail_with(struct window *w, struct run_status *run_status, const struct backend *backend,
                      const PTOKernel *kernel, const PTOArg *args, int count, const PTOSite *site, uint64_t id,
                      long long number, int result)
{
    char params[1500], reason[PTOI_REASON_BYTES];
    describe_args(args, count, params, sizeof params);
    if (result == PTOI_MACHINE_FAILED)
        return ptoi_fail(run_status, PTO_ERR_DEVICE, site, "%s\n  in kernel '%s' (task %lld) of (%s)",
                         backend->mirror->failure(backend), kernel->name, number, params);
    if (result == PTOI_THREW || result == PTOI_ENDED_THREAD)
        return ptoi_fail_unwound(run_status, kernel, site, (uint64_t)number, result);
    if (result < PTOI_WROTE_NO_PART + PTO_MAX_PARAMS)
        return fail_fault(w, run_status, kernel, args, site, id, number, result, params);
    if (reason_of(w, id, reason))
        return ptoi_fail(run_status, PTO_ERR_KERNEL, site, "kernel '%s' failed: %s (task %lld)\n  of (%s)",
                         kernel->name, reason, number, params);
    return ptoi_fail(run_status, PTO_ERR_KERNEL, site, "kernel '%s' failed: it returned %d%s (task %lld)\n  of (%s)",
                     kernel->name, result, request_problem(kernel, result), number, params);
}

void ptoi_fail_call(struct window *w, struct run_status *run_status, const struct backend *backend,
                    const PTOKernel *kernel, const PTOArg *args, int count, const PTOSite *site, uint64_t number,
                    int result)
{
    fail_with(w, run_status, backend, kernel, args, count, site, NOT_IN_WINDOW, (long long)number, result);
}

void ptoi_fail_task(struct window *w, struct run_status *run_status, const struct backend *backend, uint64_t id,
                    int result)
{
    PTOArg args[PTO_MAX_PARAMS];
    const PTOKernel *kernel = ptoi_task_kernel(w, id);
    const PTOSite *site = ptoi_task_site(w, id);
    uint64_t number = ptoi_task_number(w, id);
    int count;
    if (window_task(w, id)->flags & TASK_STRIP) {
        const struct strip *const s = ptoi_task_strip(w, id);
        const struct strip_call *const call = &ptoi_strip_calls(s)[s->failed_call];
        kernel = ptoi_image_pointer_of(call->kernel);
        site = ptoi_image_pointer(call->site);
        number += (uint64_t)(s->failed_iteration * s->calls + s->failed_call);
        count = ptoi_strip_failed_args(s, args);
    } else {
        count = ptoi_task_args(w, NULL, id, args);
    }
    /* the indices of its place are those of a later iteration by now */
    const struct open_functions *const here = ptoi_place_orchestrates(NULL);
    if (fail_with(w, run_status, backend, kernel, args, count, site, id, (long long)number, result))
        store_relaxed(&w->failed_task, id + 1); /* relaxed: see window.h */
    ptoi_place_orchestrates(here);
}
