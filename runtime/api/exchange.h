/* exchange.h - addresses shared with the workers of another process, for arrays that are not.
 *
 * Idea       a range of shared addresses, reserved before the workers are forked; it has memory where arrays were
 *            copied to.
 * Owner      the thread that owns the runtime.
 * Tests      test/runtime/test_execute.c */
#ifndef PTOI_EXCHANGE_H
#define PTOI_EXCHANGE_H
#include "runtime.h"

#define PTOI_EXCHANGE_BYTES ((uint64_t)1 << 36)

void ptoi_exchange_open(PTORuntime *rt); /* before the engine is opened */
void ptoi_exchange_close(PTORuntime *rt);
void ptoi_exchange_trim(PTORuntime *rt); /* its memory goes back to the system */

#endif
