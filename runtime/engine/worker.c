/* worker.c - see worker.h. */
#include "worker.h"
#include "debug/checked.h"
#include "debug/crash.h"
#include "shared/caller.h"

const PTOKernel *ptoi_task_kernel(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->kernel);
}

const PTOSite *ptoi_task_site(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->site);
}

/* heap_base NULL: the tensors' addresses are not wanted. */
static void unpack(const struct window *w, char *heap_base, uint64_t id, PTOArg *args)
{
    const struct task_slot *t = window_task(w, id);
    const struct arg_head *head = window_args(w, t->arg_begin);
    const int64_t *extent = (const int64_t *)(head + t->param_count);
    for (int i = 0; i < t->param_count; i++) {
        const int rank = head[i].rank;
        args[i] = (PTOArg){
            .shape = extent, .stride = extent + rank, .kind = head[i].kind, .type = head[i].type, .rank = head[i].rank};
        extent += 2 * rank;
        if (head[i].kind == PTO_PARAM_SCALAR)
            args[i].value.i64 = head[i].value;
        else if (heap_base)
            args[i].ptr = head[i].buffer ? (void *)(heap_base + head[i].value) : (void *)(intptr_t)head[i].value;
    }
}

int ptoi_task_args(const struct window *w, char *heap_base, uint64_t id, PTOArg *args)
{
    unpack(w, heap_base, id, args);
    return window_task(w, id)->param_count;
}

int64_t ptoi_task_limit_ns(const struct window *w, uint64_t id)
{
    const struct task_slot *t = window_task(w, id);
    if (!(t->flags & TASK_TIMED)) return 0;
    const struct arg_head *head = window_args(w, t->arg_begin);
    const int64_t *extent = (const int64_t *)(head + t->param_count);
    for (int i = 0; i < t->param_count; i++) extent += 2 * head[i].rank;
    return *extent * 1000000;
}

int64_t ptoi_task_cost(const struct window *w, uint64_t id)
{
    const PTOKernel *kernel = ptoi_task_kernel(w, id);
    if (!kernel->cost) return 1;
    PTOArg args[PTO_MAX_PARAMS];
    unpack(w, NULL, id, args);
    return kernel->cost(args);
}

/* Buffers and scalars of the arguments, each in their order. */
static int request(const struct backend *backend, const PTOKernel *kernel, const PTOArg *args, int count)
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
    const void *outer = ptoi_orchestrate(&ptoi_none);
    ptoi_crash_mark(kernel, site, number, args, count);
    const int result = kernel->fn ? backend->run(backend, kernel, args, count) : request(backend, kernel, args, count);
    ptoi_crash_unmark();
    ptoi_orchestrate(outer);
    return result;
}

/* The same on copies of the arguments; what the kernel did wrong, where it did. */
static int call_checked(struct window *w, const struct backend *backend, uint64_t id, const PTOArg *args, int count)
{
    struct checked_call c;
    uint64_t none = 0;
    ptoi_checked_begin(&c, args, count);
    const int result =
        ptoi_worker_call(backend, ptoi_task_kernel(w, id), c.arg, count, ptoi_task_site(w, id), id - w->first_id);
    const struct checked_fault fault = ptoi_checked_end(&c, args);
    if (fault.result == 0) return result;
    /* relaxed: the completion of this task publishes fault_at to whoever reports it */
    if (swap_if_relaxed(&w->fault_task, &none, id + 1)) w->fault_at = fault.at;
    return fault.result;
}

int ptoi_worker_run(struct window *w, const struct backend *backend, char *heap_base, uint64_t id)
{
    PTOArg args[PTO_MAX_PARAMS];
    const int count = window_task(w, id)->param_count;
    unpack(w, heap_base, id, args);
    if (w->checked) return call_checked(w, backend, id, args, count);
    return ptoi_worker_call(backend, ptoi_task_kernel(w, id), args, count, ptoi_task_site(w, id), id - w->first_id);
}
