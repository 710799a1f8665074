/* strip.c - see strip.h. */
#include "strip.h"
#include "worker.h"

/* The arguments of the first iteration.  own NULL: tensors get no addresses. */
static void first_args(const struct strip *s, const PTOArg *own, PTOArg *args)
{
    const int64_t *extent = ptoi_strip_extents(s);
    const struct strip_arg *from = ptoi_strip_args(s);
    for (int i = 0; i < s->args; i++, from++) {
        const bool is_scalar = from->kind == PTO_PARAM_SCALAR;
        args[i] = (PTOArg){.kind = from->kind,
                           .type = from->type,
                           .rank = from->rank,
                           .shape = extent,
                           .stride = extent + from->rank,
                           .ptr = is_scalar || !own ? NULL : (char *)own[from->of].ptr + from->value};
        args[i].value.i64 = is_scalar ? from->value : 0;
        extent += (size_t)2 * from->rank;
    }
}

static inline void move(PTOArg *a, const struct strip_arg *by, int64_t times)
{
    if (by->kind == PTO_PARAM_SCALAR)
        a->value.i64 += by->step * times;
    else if (a->ptr)
        a->ptr = (char *)a->ptr + by->step * times;
}

int ptoi_strip_run(const struct window *w, const struct backend *backend, uint64_t id, const PTOArg *own)
{
    struct strip *const s = ptoi_task_strip(w, id);
    const struct strip_call *const call = ptoi_strip_calls(s);
    PTOArg args[PTO_STRIP_PARAMS];
    first_args(s, own, args);
    for (int64_t n = 0; n < s->iterations; n++) {
        PTOArg *a = args;
        for (int c = 0; c < s->calls; a += call[c++].args) {
            const int result = ptoi_worker_call(backend, ptoi_image_pointer_of(call[c].kernel), a, (int)call[c].args,
                                                ptoi_image_pointer(call[c].site), id - w->first_id);
            if (result == 0) continue;
            s->failed_call = c;
            s->failed_iteration = n;
            return result;
        }
        if (n + 1 == s->iterations) break; /* no argument moves past its tensor */
        for (int i = 0; i < s->args; i++) move(&args[i], &ptoi_strip_args(s)[i], 1);
    }
    return 0;
}

int ptoi_strip_failed(const struct window *w, uint64_t id, const PTOKernel **kernel, const PTOSite **site, PTOArg *args)
{
    const struct strip *const s = ptoi_task_strip(w, id);
    const struct strip_call *const call = ptoi_strip_calls(s);
    PTOArg all[PTO_STRIP_PARAMS];
    int first = 0;
    for (int c = 0; c < s->failed_call; c++) first += (int)call[c].args;
    const int count = (int)call[s->failed_call].args;
    first_args(s, NULL, all);
    for (int i = 0; i < count; i++) {
        args[i] = all[first + i];
        move(&args[i], &ptoi_strip_args(s)[first + i], s->failed_iteration);
    }
    *kernel = ptoi_image_pointer_of(call[s->failed_call].kernel);
    *site = ptoi_image_pointer(call[s->failed_call].site);
    return count;
}
