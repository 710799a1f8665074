/* limit.c - see limit.h. */
#include "limit.h"
#include <stdio.h>

static const struct {
    const char *option, *member, *keyword, *python;
} limits[LIMITS] = {
#define LIMIT(id, option, member, keyword) {option, "PTOConfig." member, keyword, "ptoc.Runtime(" keyword "=...)"},
#include "limit.def"
#undef LIMIT
};

/* What Python cannot set has the name of C there, too. */
static PTONames known(enum limit limit, PTONames names)
{
    return names == PTO_NAMES_PYTHON && !*limits[limit].keyword ? PTO_NAMES_MEMBERS : names;
}

const char *ptoi_limit_name(enum limit limit, PTONames names)
{
    switch (known(limit, names)) {
    case PTO_NAMES_OPTIONS: return limits[limit].option;
    case PTO_NAMES_PYTHON: return limits[limit].python;
    default: return limits[limit].member;
    }
}

const char *ptoi_limit_set(enum limit limit, PTONames names, uint64_t value, char *text)
{
    const unsigned long long number = value;
    switch (known(limit, names)) {
    case PTO_NAMES_OPTIONS: snprintf(text, LIMIT_TEXT, "run with %s %llu", limits[limit].option, number); break;
    case PTO_NAMES_PYTHON:
        snprintf(text, LIMIT_TEXT, "use ptoc.Runtime(%s=%llu)", limits[limit].keyword, number);
        break;
    default: snprintf(text, LIMIT_TEXT, "set %s to %llu", limits[limit].member, number);
    }
    return text;
}

const char *ptoi_limit_worker(PTOWorkerType type, PTONames names, char *text)
{
    static const char *const constants[PTO_WORKER_TYPES] = {
#define PTO_WORKER(id, name) "PTO_WORKER_" #id,
#include <pto/workers.def>
#undef PTO_WORKER
    };
    const char *const name = pto_worker_type_name(type);
    switch (names) {
    case PTO_NAMES_OPTIONS: snprintf(text, LIMIT_TEXT, "run with --workers %s=1", name); break;
    case PTO_NAMES_PYTHON: snprintf(text, LIMIT_TEXT, "use ptoc.Runtime(workers=\"%s=1\")", name); break;
    default: snprintf(text, LIMIT_TEXT, "set PTOConfig.workers[%s] to 1", constants[type]);
    }
    return text;
}
