/* results.c - tensors that an entry returns and whose extents the run decides.
 *
 * Idea       nobody can have made room for such a tensor before the run.  Where the caller has given no memory for it
 *            (result_room.c) it lies in the heap, and the entry copies it out, once, when the tasks that write it have
 *            completed.
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
    if (bytes == 0 || !ptoi_runs_kernels(rt)) return;
    const PTOStatus status = pto_await(rt, tensor, 0, bytes);
    if (status != PTO_OK) pto_raise(rt, status, "the result '%s' cannot be read", name);
    const void *const from = pto_where(rt, tensor);
    if (rt->keeper) {
        const PTOStatus kept = rt->keep_result(rt->keeper, to, type, rank, from);
        if (kept == PTO_OK) return;
        if (kept != PTO_ERR_ARGUMENT) pto_raise(rt, kept, "%s", pto_last_error(NULL));
    }
    if (posix_memalign(&to->data, PTO_GRANULE, (size_t)bytes) != 0) {
        to->data = NULL;
        pto_raise(rt, PTO_ERR_NOMEM, "no memory for the %lld bytes of the result '%s'", (long long)bytes, name);
    }
    memcpy(to->data, from, (size_t)bytes);
}
