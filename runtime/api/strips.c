/* strips.c - the call that submits iterations of a loop as strips, or on several ranks skips them: see pto_strip.h.
 *
 * Owner      the thread that orchestrates.
 * Tests      test/runtime/test_strips.c */
#include "misuse.h"
#include "runtime.h"
#include <pto/pto_strip.h>

/* The number that is so many iterations after `first`, or the last one of 64 bits. */
static int64_t after(int64_t first, int64_t by, int64_t iterations)
{
    const int64_t last = by > 0 ? INT64_MAX : INT64_MIN;
    if ((uint64_t)iterations > pto_distance_(first, last, by) / pto_magnitude_(by)) return last;
    return (int64_t)((uint64_t)first + (uint64_t)iterations * (uint64_t)by);
}

/* Of several ranks; no part of an accumulator waits. */
static bool may_skip(const PTORuntime *rt) { return rt->dist && rt->accumulators.count == 0; }

int64_t(pto_submit_strips)(PTORuntime *rt, int64_t first, int64_t end, int64_t by, const PTOStripCall *calls,
                           int32_t count)
{
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_submit_strips");
        return first; /* a number of the loop, as its caller reads the result as one */
    }
    if ((rt->attends && !may_skip(rt)) || !pto_takes_strips(rt) || !calls || count < 1 || !calls[0].site || by == 0)
        return first;
    const uint64_t distance = pto_distance_(first, end, by), magnitude = pto_magnitude_(by);
    if (distance <= magnitude || (distance - 1) / magnitude >= INT64_MAX) return first;
    const int64_t iterations = (int64_t)((distance - 1) / magnitude + 1);
    (pto_at)(rt, &calls[0].site->site);
    const int64_t taken = rt->dist ? ptoi_dist_skip_strips(rt->dist, iterations, calls, count)
                                   : ptoi_orch_submit_strips(&rt->core.orch, iterations, calls, count);
    if (taken < 0) ptoi_end_of_call(rt, (PTOStatus)taken);
    return after(first, by, taken < 0 ? iterations : taken);
}
