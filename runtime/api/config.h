/* config.h - what a runtime is asked to be: defaults, limits, and which engine that is.
 *
 * Owner      nobody: functions of a PTOConfig.  Messages go to this thread's pto_last_error(NULL).
 * Tests      test/runtime/test_config.c, test_refused.c, test_limit.c; test/lit/host */
#ifndef PTOI_CONFIG_H
#define PTOI_CONFIG_H
#include "engine/engine.h"

/* Sets this thread's message; returns status. */
PTOStatus ptoi_refuse(PTOStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Fills in the defaults.  PTO_ERR_CONFIG with a message: something is out of its limits, or does not go together. */
PTOStatus ptoi_config_check(PTOConfig *c);
/* Does it leave the workers to the processors of the host?  Asked before the defaults are filled in. */
bool ptoi_config_shares_workers(const PTOConfig *c);
/* The engine that serves this configuration; NULL: there is none. */
const struct engine *ptoi_config_engine(const PTOConfig *c);

enum {
    PTOI_WINDOW_MAX = 1 << 24,
    PTOI_DEPLIST_MAX = 1 << 28,
    PTOI_TENSORMAP_MAX = 1 << 24,
    PTOI_RECURSION_MAX = 1 << 20,
    PTOI_WORKERS_MAX = 1024 /* of all types */
};
#define PTOI_HEAP_MAX                    ((int64_t)1 << 40)
#define PTOI_CYCLES_MAX                  ((int64_t)1 << 40)
/* How many scopes may be open at a time, with that of the run itself. */
#define PTOI_SCOPES_MAX(recursion_limit) ((recursion_limit)*16 + 64 + 1)

#endif
