/* strip.c - see strip.h. */
#include "strip.h"

void ptoi_strip_first_args(const struct strip *s, const PTOArg *own, PTOArg *args)
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
        args[i].value.i64 = is_scalar ? ptoi_strip_scalar(from, 0) : 0;
        extent += (size_t)2 * from->rank;
    }
}

int ptoi_strip_failed_args(const struct strip *s, PTOArg *args)
{
    const struct strip_call *const call = ptoi_strip_calls(s);
    PTOArg all[PTO_STRIP_PARAMS];
    int first = 0;
    for (int c = 0; c < s->failed_call; c++) first += (int)call[c].args;
    const int count = (int)call[s->failed_call].args;
    ptoi_strip_first_args(s, NULL, all);
    for (int i = 0; i < count; i++) {
        args[i] = all[first + i];
        ptoi_strip_move(&args[i], &ptoi_strip_args(s)[first + i], s->failed_iteration, s->failed_iteration);
    }
    return count;
}
