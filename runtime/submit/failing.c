/* failing.c - see failing.h. */
#include "failing.h"
#include <pto/detail/decode.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void meet(const struct orchestrator *o)
{
    if (o->meet) o->meet(o->meet_arg);
}

PTOStatus ptoi_orch_fail(struct orchestrator *o, PTOStatus status, const char *format, ...)
{
    va_list args;
    meet(o);
    va_start(args, format);
    ptoi_vfail(o->run_status, status, *o->site, format, args);
    va_end(args);
    return ptoi_status(o->run_status) != PTO_OK ? ptoi_status(o->run_status) : status; /* an earlier failure sticks */
}

/* "P" of PTO_OUTPUT(&P, ...): the program calls it P. */
static const char *text_of(const PTOTaskParam *p) { return p->name ? p->name + (p->name[0] == '&') : "an argument"; }

/* "4 * 512 * 128" */
static const char *product_of(const PTOTaskParam *p, char *text, size_t size)
{
    int length = snprintf(text, size, "%d", (int)pto_bytes_of_(p->type));
    for (int d = 0; d < p->rank; d++)
        length += snprintf(text + length, size - (size_t)length, " * %lld", (long long)p->shape[d]);
    return text;
}

/* "kernel 'k': parameter 0 (P)", or with no kernel "await: the range" */
static const char *parameter_of(const struct refused *r, bool named, char *text, size_t size)
{
    const int name = r->kernel ? snprintf(text, size, "kernel '%s': parameter %d", r->kernel->name, r->index)
                               : snprintf(text, size, "await: the range");
    if (named && r->kernel && r->param->name && (size_t)name < size)
        snprintf(text + name, size - (size_t)name, " (%s)", text_of(r->param));
    return text;
}

PTOStatus ptoi_refuse_submit(struct orchestrator *o, enum refusal why, const struct refused *r)
{
    enum { FACTOR = sizeof " * -9223372036854775808" };
    char product[(PTO_MAX_RANK + 1) * FACTOR], parameter[256];
    meet(o);
    switch (why) {
#define TEXT      text_of(r->param)
#define BYTES     product_of(r->param, product, sizeof product)
#define PARAMETER parameter_of(r, false, parameter, sizeof parameter)
#define NAMED     parameter_of(r, true, parameter, sizeof parameter)
#define REFUSAL(name, status, ...)                                                                                     \
    case REFUSED_##name:                                                                                               \
        ptoi_fail(o->run_status, status, *o->site, __VA_ARGS__);                                                       \
        break;
#include "refusals.def"
#undef REFUSAL
#undef TEXT
#undef BYTES
#undef PARAMETER
#undef NAMED
    default: break;
    }
    return ptoi_status(o->run_status); /* an earlier failure sticks */
}
