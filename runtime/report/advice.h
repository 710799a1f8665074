/* advice.h - the limits that a run had, and the text that says which larger ring would make it faster.
 *
 * Idea       there is advice only where the recorded run, scheduled again with the larger ring, is at least 5 %
 *            faster; a full ring alone is ordinary back-pressure.  Without a record, or with a part of one, there is
 *            none.
 * Tests      test/runtime/test_whatif.c, test/lit/host/advice.test */
#ifndef PTOI_ADVICE_H
#define PTOI_ADVICE_H
#include "api/runtime.h"
#include "shared/limit.h"
#include "whatif.h"

struct whatif_limits ptoi_advice_limits(const PTORuntime *rt);
/* The limit that a user sets for the ring. */
enum limit ptoi_advice_limit(enum whatif_ring ring);
/* Every task ran, on workers beside the orchestrator, and all of it was kept. */
bool ptoi_is_record_complete(const PTORuntime *rt);
/* Nothing, where nothing was recorded. */
void ptoi_advice_write(PTORuntime *rt, FILE *out);

#endif
