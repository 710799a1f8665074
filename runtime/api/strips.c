/* strips.c - the call that submits iterations of a loop as strips: see pto_strip.h.
 *
 * Owner      the thread that orchestrates.
 * Tests      test/runtime/test_strips.c */
#include "misuse.h"
#include "runtime.h"
#include <pto/pto_strip.h>

int64_t pto_submit_strips(PTORuntime *rt, int64_t first, int64_t end, const PTOStripCall *calls, int32_t count)
{
    int64_t iterations;
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_submit_strips");
    if (rt->attends || !pto_takes_strips(rt) || !calls || count < 1) return first;
    if (__builtin_sub_overflow(end, first, &iterations) || iterations < 2) return first;
    (pto_at)(rt, &calls[0].site->site);
    const int64_t taken = ptoi_orch_submit_strips(&rt->core.orch, iterations, calls, count);
    if (taken < 0) ptoi_end_of_call(rt, (PTOStatus)taken);
    return taken < 0 ? end : first + taken;
}
