/* limit.c - see limit.h. */
#include "limit.h"
#include <stdio.h>

static const struct {
    const char *option, *member;
} names[LIMITS] = {
#define LIMIT(id, option, member) {option, "PTOConfig." member},
#include "limit.def"
#undef LIMIT
};

const char *ptoi_limit_name(enum limit limit, bool names_options)
{
    return names_options ? names[limit].option : names[limit].member;
}

const char *ptoi_limit_set(enum limit limit, bool names_options, uint64_t value, char *text)
{
    snprintf(text, LIMIT_TEXT, names_options ? "run with %s %llu" : "set %s to %llu",
             ptoi_limit_name(limit, names_options), (unsigned long long)value);
    return text;
}

const char *ptoi_limit_worker(PTOWorkerType type, bool names_options, char *text)
{
    static const char *const constants[PTO_WORKER_TYPES] = {
#define PTO_WORKER(id, name) "PTO_WORKER_" #id,
#include <pto/workers.def>
#undef PTO_WORKER
    };
    const char *name = ptoi_limit_name(LIMIT_WORKERS, names_options);
    if (names_options)
        snprintf(text, LIMIT_TEXT, "run with %s %s=1", name, pto_worker_type_name(type));
    else
        snprintf(text, LIMIT_TEXT, "set %s[%s] to 1", name, constants[type]);
    return text;
}
