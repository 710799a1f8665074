/* disagree.h - the message of ranks that disagree: the step, the item of it that differs, and two values.  See asked.h.
 *
 * Owner      any thread of rank 0, which fails the run with it; nothing is kept here.
 * Blocks     never.
 * Tests      test/wire/test_ranks_failing.c, check_disagree.py */
#ifndef PTOI_DISAGREE_H
#define PTOI_DISAGREE_H
#include "search.h"
#include "shared/run_status.h"

/* first, other: the newest answers of rank 0 and of the one that differs from it; other NULL: no value is known.
 * site: where the program of rank 0 was at that step; NULL: nowhere that has a line. */
void ptoi_disagree_fail(struct run_status *o, const struct search *s, const struct wire_status *first,
                        const struct wire_status *other, const PTOSite *site);

#endif
