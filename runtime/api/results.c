/* results.c - tensors that an entry returns and whose extents the run decides.
 *
 * Idea       nobody can have made room for such a tensor before the run: it lies in the heap, and the entry copies it
 *            out when the tasks that write it have completed.
 * Owner      the orchestrator's thread fills in PTOResult; who began the run frees its data.
 * Tests      test/lit/run/decided-exports.test, test/call/test_call.c */
#include "runtime.h"
#include <pto/pto_program.h>
#include <stdlib.h>

void pto_copy_result(PTORuntime *rt, PTOResult *to, const char *name, const void *tensor, PTOType type, int32_t rank,
                     const int64_t *shape)
{
    if (!to) pto_raise(rt, PTO_ERR_ARGUMENT, "no PTOResult for '%s'", name);
    int64_t bytes = pto_type_bytes(type);
    for (int32_t d = 0; d < rank; d++) to->shape[d] = shape[d];
    for (int32_t d = 0; d < rank; d++)
        if (shape[d] == 0) bytes = 0;
    for (int32_t d = 0; d < rank; d++) bytes = pto_mul(rt, bytes, shape[d]);
    const bool runs_kernels = rt->core.config.engine != PTO_ENGINE_GRAPH && !rt->core.config.skip_kernels;
    if (bytes == 0 || !runs_kernels) return;
    const PTOStatus status = pto_await(rt, tensor, 0, bytes);
    if (status != PTO_OK) pto_raise(rt, status, "the result '%s' cannot be read", name);
    if (posix_memalign(&to->data, PTO_GRANULE, (size_t)bytes) != 0) {
        to->data = NULL;
        pto_raise(rt, PTO_ERR_NOMEM, "no memory for the %lld bytes of the result '%s'", (long long)bytes, name);
    }
    memcpy(to->data, pto_where(rt, tensor), (size_t)bytes);
}
