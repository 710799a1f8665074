/* call_give.c - a tensor given to a formal, and complaints about arguments: the part of a call that call_match.c and
 * call_sparse.c share.
 * Tests      test/call/test_call.c
 */
#include "call.h"

int ptoi_call_complain(struct calling *c, PTOComplaint complaint, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->complaint = complaint;
    return host_fail(&c->error, HOST_USAGE, "%s", text);
}

int ptoi_call_complain_twice(struct calling *c, const char *name)
{
    return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is given twice", name);
}

int ptoi_call_give_tensor(struct calling *c, int32_t f, PTOTensor *t)
{
    const PTOFormal *formal = &c->entry->formals[f];
    struct host_array *array = &c->formals[f].array;
    if (c->given[f].is_given) return ptoi_call_complain_twice(c, formal->name);
    if (!t) {
        c->given[f].is_given = formal->direction == PTO_OUT;
        return HOST_OK; /* else it is missing */
    }
    if (bind_is_decided(formal))
        return ptoi_call_complain(
            c, PTO_COMPLAINT_ARGUMENT, "the run decides the extents of '%s' (%s), so the call makes it: give %s",
            formal->name, formal->text,
            c->rt->core.config.names == PTO_NAMES_PYTHON ? "None, or leave it out" : "PTO_R or nothing");
    const struct tensor_view view = ptoi_tensor_view(t);
    array->type = view.type;
    array->rank = view.rank;
    memcpy(array->shape, view.shape, (size_t)view.rank * sizeof *view.shape);
    c->formals[f].given = true;
    c->given[f].is_given = true;
    c->pins[f].tensor = t;
    if (view.type == formal->type && view.rank == formal->rank) return HOST_OK;
    char text[256];
    return ptoi_call_complain(c, view.type == formal->type ? PTO_COMPLAINT_SHAPE : PTO_COMPLAINT_ARGUMENT,
                              "'%s' is %s, declared %s", formal->name, ptoi_array_text(array, text, sizeof text),
                              formal->text);
}
