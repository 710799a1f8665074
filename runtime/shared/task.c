/* task.c - see task.h. */
#include "task.h"
#include <pto/pto_program.h>

static _Thread_local const void *cost_params;

const void *pto_cost_params(void) { return cost_params; }

const PTOKernel *ptoi_task_kernel(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->kernel);
}

const PTOSite *ptoi_task_site(const struct window *w, uint64_t id)
{
    return ptoi_image_pointer(window_task(w, id)->site);
}

int ptoi_task_args(const struct window *w, char *heap_base, uint64_t id, PTOArg *args)
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
    return t->param_count;
}

/* What stands behind the extents and strides of the arguments. */
static const int64_t *behind_args(const struct window *w, const struct task_slot *t)
{
    const struct arg_head *head = window_args(w, t->arg_begin);
    const int64_t *extent = (const int64_t *)(head + t->param_count);
    for (int i = 0; i < t->param_count; i++) extent += 2 * head[i].rank;
    return extent;
}

int64_t ptoi_task_limit_ns(const struct window *w, uint64_t id)
{
    const struct task_slot *t = window_task(w, id);
    return t->flags & TASK_TIMED ? *behind_args(w, t) * 1000000 : 0;
}

bool ptoi_task_parts(const struct window *w, uint64_t id, struct task_part *parts)
{
    const struct task_slot *t = window_task(w, id);
    if (!(t->flags & TASK_PARTS)) return false;
    const struct arg_head *head = window_args(w, t->arg_begin);
    for (int i = 0; i < t->param_count; i++) parts[i] = (struct task_part){0};
    for (const int64_t *p = behind_args(w, t) + ((t->flags & TASK_TIMED) != 0); *p >= 0;) {
        const int rank = head[*p].rank;
        parts[*p] = (struct task_part){.at = p[1], .shape = p + 2, .stride = p + 2 + rank};
        p += 2 + 2 * rank;
    }
    return true;
}

int64_t ptoi_task_cost(const struct window *w, uint64_t id, const void *params)
{
    const PTOKernel *kernel = ptoi_task_kernel(w, id);
    if (!kernel->cost) return 1;
    PTOArg args[PTO_MAX_PARAMS];
    ptoi_task_args(w, NULL, id, args);
    cost_params = params;
    return kernel->cost(args);
}
