/* limit.h - how messages and advice name a limit: by the option of a built program, the member of PTOConfig, or the
 * keyword of ptoc.Runtime.
 *
 * Idea       PTOConfig.names selects the form; main() of a built program and the Python package set it.
 * Owner      none: plain functions of the list limit.def.
 * Tests      test/runtime/test_limit.c */
#ifndef PTOI_LIMIT_H
#define PTOI_LIMIT_H
#include <pto/pto_runtime.h>

enum limit {
#define LIMIT(id, option, member, keyword) LIMIT_##id,
#include "limit.def"
#undef LIMIT
    LIMITS
};

enum { LIMIT_TEXT = 96 };

/* "--heap", "PTOConfig.heap_bytes" or "ptoc.Runtime(heap=...)". */
const char *ptoi_limit_name(enum limit limit, PTONames names);

/* "run with --heap 4096", "set PTOConfig.heap_bytes to 4096" or "use ptoc.Runtime(heap=4096)"; `text` has room for
 * LIMIT_TEXT. */
const char *ptoi_limit_set(enum limit limit, PTONames names, uint64_t value, char *text);

/* The same for one worker of a type. */
const char *ptoi_limit_worker(PTOWorkerType type, PTONames names, char *text);

#endif
