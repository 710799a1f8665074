/* task.c - see task.h. */
#include "task.h"
#include <pto/pto_program.h>

static _Thread_local const void *cost_params;

const void *pto_cost_params(void) { return cost_params; }

int ptoi_task_args(const struct window *w, char *heap_base, uint64_t id, PTOArg *args)
{
    const int count = ptoi_unpack_args(w, heap_base, window_task(w, id), args);
    if (!heap_base)
        for (int i = 0; i < count; i++) args[i].ptr = NULL;
    return count;
}

void *ptoi_task_extras(const struct window *w, uint64_t id)
{
    const struct task_slot *t = window_task(w, id);
    struct arg_head *head = window_args(w, t->arg_begin);
    int64_t *extent = (int64_t *)(head + t->param_count);
    for (int i = 0; i < t->param_count; i++) extent += (size_t)2 * head[i].rank;
    return extent;
}

int64_t ptoi_task_timed_ns(const struct window *w, uint64_t id)
{
    return *(const int64_t *)ptoi_task_extras(w, id) * 1000000;
}

bool ptoi_task_parts(const struct window *w, uint64_t id, struct task_part *parts)
{
    const struct task_slot *t = window_task(w, id);
    if (!(t->flags & TASK_PARTS)) return false;
    const struct arg_head *head = window_args(w, t->arg_begin);
    for (int i = 0; i < t->param_count; i++) parts[i] = (struct task_part){0};
    for (const int64_t *p = (const int64_t *)ptoi_task_extras(w, id) + ((t->flags & TASK_TIMED) != 0); *p >= 0;) {
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
