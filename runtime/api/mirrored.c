/* mirrored.c - what several calls ask of a machine that has memory of its own.
 *
 * Owner      the orchestrator's thread.
 * Blocks     ptoi_await_bytes: until the tasks have completed and the bytes were copied.
 * Tests      test/ascend, test/runtime/test_runtime.c */
#include "runtime.h"

bool ptoi_is_mirror_fine(PTORuntime *rt, PTOStatus status)
{
    if (status == PTO_OK) return true;
    ptoi_fail(rt->core.run_status, status, rt->now.site, "%s", rt->core.backend->mirror->failure(rt->core.backend));
    return false;
}

PTOStatus ptoi_await_bytes(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    const PTOStatus status = ptoi_orch_await(&rt->core.orch, buffer, offset, bytes, for_writing);
    const struct mirror *mirror = rt->core.backend->mirror;
    if (status != PTO_OK || !mirror || bytes == 0) return status;
    const void *address = (const char *)buffer + offset;
    const int64_t since = ptoi_flow_now(&rt->core.orch.flow);
    if (ptoi_is_mirror_fine(rt, mirror->fetch(rt->core.backend, address, bytes)) && for_writing)
        ptoi_is_mirror_fine(rt, mirror->own(rt->core.backend, address, bytes));
    rt->core.orch.flow.await_ns +=
        ptoi_flow_now(&rt->core.orch.flow) - since; /* the value is not there before it was copied */
    return ptoi_status(rt->core.run_status);
}
