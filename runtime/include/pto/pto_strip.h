/* pto_strip.h - strips: consecutive iterations of a loop as one task.  Included by pto_program.h.
 *
 * Idea       where the kernels of a loop body take about as long as handing a task to a worker costs, a loop whose
 *            tensors move by constant steps hands over strips of several iterations (strip-mining): one task of the
 *            window, which calls the kernels of its iterations in their order.  It accesses all that they access, so
 *            results are those of single tasks.
 * Tests      test/runtime/test_strips.c, test/lit/run/strips-of-loops.pto */
#ifndef PTO_STRIP_H
#define PTO_STRIP_H
#include <pto/pto_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PTO_STRIP_CALLS = 4, PTO_STRIP_PARAMS = 16 };

/* A call in the body of the loop. */
typedef struct PTOStripCall {
    const PTOKernel *kernel;
    const PTOSiteLine *site;
    /* of the first iteration: PTO_INPUT, PTO_INOUT, PTO_OUTPUT of memory that exists, PTO_SCALAR, PTO_PRIORITY */
    const PTOTaskParam *params;
    /* by parameter, from one iteration to the next: elements that a view moves, or what an i64 scalar or a priority
     * grows by; 0 for all other scalars */
    const int64_t *step;
    int32_t count; /* of the parameters; of all calls together at most PTO_STRIP_PARAMS */
} PTOStripCall;

/* Do loops of this run submit strips at all?  A hint that costs one load.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
static inline bool pto_takes_strips(const PTORuntime *rt)
{
    return ((const PTOFastPath *)(const void *)rt)->takes_strips;
}

/* Submits the iterations first, first + 1 ... of a loop that goes on to end - 1 as strips, where that is faster than
 * one task after the other: the first iteration that it has not submitted, and that the caller has to.  calls: of the
 * iteration `first`, at most PTO_STRIP_CALLS, in the order of the body; read before the function returns.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: the run status; what cannot be submitted as a
 *            strip is left to the caller, whose submit reports it. */
PTO_API int64_t pto_submit_strips(PTORuntime *rt, int64_t first, int64_t end, const PTOStripCall *calls, int32_t count);

#ifdef __cplusplus
}
#endif
#endif
