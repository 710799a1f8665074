/* limit.h - how messages and advice name a limit: by the option of a built program, or by the member of PTOConfig.
 *
 * Idea       PTOConfig.names_options selects the form; only main() of a built program sets it.
 * Owner      none: plain functions of the list limit.def.
 * Tests      test/runtime/test_limit.c */
#ifndef PTOI_LIMIT_H
#define PTOI_LIMIT_H
#include <pto/pto_runtime.h>

enum limit {
#define LIMIT(id, option, member) LIMIT_##id,
#include "limit.def"
#undef LIMIT
    LIMITS
};

enum { LIMIT_TEXT = 96 };

/* "--heap", or "PTOConfig.heap_bytes". */
const char *ptoi_limit_name(enum limit limit, bool names_options);

/* "run with --heap 4096", or "set PTOConfig.heap_bytes to 4096"; `text` has room for LIMIT_TEXT. */
const char *ptoi_limit_set(enum limit limit, bool names_options, uint64_t value, char *text);

/* The same for one worker of a type. */
const char *ptoi_limit_worker(PTOWorkerType type, bool names_options, char *text);

#endif
