/* result_room.c - memory of the caller for a tensor that an entry returns and whose extent the run decides.
 *
 * Idea       the caller of a loaded program gives its memory where the tensor is made, and keeps that: nothing is
 *            copied.
 * Owner      the orchestrator's thread.
 * Limits     not where kernels see other memory: engine process, backends with mirrors, ranks.
 * Tests      test/lit/codegen/decided-results.pto, test/call/test_call.c */
#include "runtime.h"
#include <pto/pto_program.h>

bool ptoi_runs_kernels(const PTORuntime *rt)
{
    return rt->core.config.engine != PTO_ENGINE_GRAPH && !rt->core.config.skip_kernels;
}

void *ptoi_result_room(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    if (!rt->keeper || scope == PTO_SCOPE_CURRENT || scope != rt->result_scope || bytes <= 0) return NULL;
    if (rt->core.engine->is_split || rt->core.backend->mirror || rt->dist || !ptoi_runs_kernels(rt)) return NULL;
    if (ptoi_status(rt->core.run_status) != PTO_OK) return NULL;
    void *const memory = rt->make_room(rt->keeper, bytes);
    const int64_t low = (int64_t)(intptr_t)memory;
    if (memory) ptoi_orch_register(&rt->core.orch, low, low + bytes);
    return memory;
}
