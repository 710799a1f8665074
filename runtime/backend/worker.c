/* worker.c - see worker.h. */
#include "worker.h"
#include "shared/strip.h"
#include "debug/checked.h"
#include "debug/reason.h"
#include "memory/scratch.h"
#include <string.h>

int ptoi_worker_request(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count)
{
    PTOWorkRequest r = {.opcode = kernel->opcode};
    for (int i = 0; i < count; i++) {
        if (args[i].kind == PTO_PARAM_SCALAR)
            r.param[r.param_count++] = args[i].value.i64;
        else
            r.buffer[r.buffer_count++] = args[i];
    }
    return backend->request(backend, kernel, &r);
}

int ptoi_worker_call(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count,
                     const PTOSite *site, uint64_t number)
{
    return ptoi_worker_call_here(backend, kernel, args, count, site, number);
}

/* The same on copies of the arguments; what the kernel did wrong, where it did. */
static __attribute__((noinline)) int call_checked(struct window *w, const struct backend *backend, uint64_t id,
                                                  const PTOArg *args, int count)
{
    struct checked_call c;
    struct scratch_check scratch;
    struct task_part parts[PTO_MAX_PARAMS];
    uint64_t none = 0;
    c.task = ptoi_task_number(w, id);
    c.parts = ptoi_task_parts(w, id, parts) ? parts : NULL;
    ptoi_checked_begin(&c, args, count);
    ptoi_scratch_check(&scratch);
    int result = ptoi_worker_call(backend, ptoi_task_kernel(w, id), c.arg, count, ptoi_task_site(w, id),
                                  ptoi_task_number(w, id));
    ptoi_scratch_check(NULL);
    const char *spoiled = ptoi_scratch_fault(&scratch);
    if (spoiled) result = pto_kernel_failed("it wrote behind its scratch tensor '%s'", spoiled);
    const struct checked_fault fault = ptoi_checked_end(&c, args);
    if (fault.result == 0) return result;
    /* relaxed: the completion of this task publishes fault_at to whoever reports it */
    if (swap_if_relaxed(&w->fault_task, &none, id + 1)) w->fault_at = fault.at;
    return fault.result;
}

void ptoi_worker_publish_reason(struct window *w, uint64_t id)
{
    char text[PTOI_REASON_BYTES];
    uint64_t none = 0;
    _Static_assert(sizeof w->reason == sizeof text, "one text");
    if (!ptoi_reason_take(text)) return;
    /* relaxed: the completion of this task publishes the text */
    if (swap_if_relaxed(&w->reason_task, &none, id + 1)) memcpy(w->reason, text, sizeof text);
}

/* The kernels of its iterations, in their order: what the first that failed returned, and the strip says which call it
 * was; 0: all succeeded. */
static int call_strip(const struct window *w, const struct backend *backend, uint64_t id, const PTOArg *own)
{
    struct strip *const s = ptoi_task_strip(w, id);
    const struct strip_call *const calls = ptoi_strip_calls(s);
    uint64_t number = ptoi_task_number(w, id);
    PTOArg args[PTO_STRIP_PARAMS];
    ptoi_strip_first_args(s, own, args);
    for (int64_t n = 0; n < s->iterations; n++) {
        PTOArg *a = args;
        for (int c = 0; c < s->calls; a += calls[c++].args) {
            const int result = ptoi_worker_call_here(backend, ptoi_image_pointer_of(calls[c].kernel), a,
                                                     (int)calls[c].args, ptoi_image_pointer(calls[c].site), number++);
            if (result == 0) continue;
            s->failed_call = c;
            s->failed_iteration = n;
            return result;
        }
        if (n + 1 == s->iterations) break; /* no argument moves past its tensor */
        for (int i = 0; i < s->args; i++) ptoi_strip_move(&args[i], &ptoi_strip_args(s)[i], 1, n + 1);
    }
    return 0;
}

int ptoi_worker_run(struct window *w, const struct backend *backend, char *heap_base, const struct task_slot *t)
{
    PTOArg args[PTO_MAX_PARAMS];
    const uint64_t id = t->id;
    const int count = ptoi_unpack_args(w, heap_base, t, args);
    int result;
    if (w->checked)
        result = call_checked(w, backend, id, args, count);
    else if (__builtin_expect(t->flags & TASK_STRIP, 0))
        result = call_strip(w, backend, id, args);
    else
        result = ptoi_worker_call_here(backend, ptoi_image_pointer_of(t->kernel), args, count,
                                       ptoi_image_pointer(t->site), ptoi_task_number(w, id));
    if (result != 0) ptoi_worker_publish_reason(w, id);
    return result;
}
