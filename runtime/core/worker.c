/* worker.c - see worker.h. */
#include "worker.h"

const PTOKernel *ptoi_task_kernel(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->kernel);
}

const PTOSite *ptoi_task_site(const struct window *w, uint64_t id) { return ptoi_image_pointer(window_task(w, id)->site); }

int ptoi_worker_run(const struct window *w, const struct backend *backend, char *heap_base, uint64_t id)
{
    const struct task_slot *t = window_task(w, id);
    const struct arg_head *head = window_args(w, t->arg_begin);
    const int64_t *extent = (const int64_t *)(head + t->param_count);
    PTOArg args[PTO_MAX_PARAMS];
    for (int i = 0; i < t->param_count; i++) {
        const int rank = head[i].rank;
        args[i].shape = extent;
        args[i].stride = extent + rank;
        extent += 2 * rank;
        if (head[i].kind == PTO_PARAM_SCALAR) {
            args[i].ptr = NULL;
            args[i].value.i64 = head[i].value;
        } else {
            args[i].ptr = head[i].buffer ? (void *)(heap_base + head[i].value) : (void *)(intptr_t)head[i].value;
            args[i].value.i64 = 0;
        }
    }
    return backend->run(ptoi_image_pointer(t->kernel), args);
}
