/* pto_strip.h - strips: consecutive iterations of a loop as one task.  Included by pto_program.h.
 *
 * Idea       where the kernels of a loop body take about as long as handing a task to a worker costs, a loop whose
 *            tensors move by constant steps hands over strips of several iterations (strip-mining): one task of the
 *            window, which calls the kernels of its iterations in their order.  It accesses all that they access, so
 *            results are those of single tasks.  A rank skips so iterations that others execute.
 * Tests      test/runtime/test_strips.c, test/lit/run/strips-of-loops.pto */
#ifndef PTO_STRIP_H
#define PTO_STRIP_H
#include <pto/pto_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call in the body of the loop. */
typedef struct PTOStripCall {
    const PTOKernel *kernel;
    const PTOSiteLine *site;
    /* of the first iteration: PTO_INPUT, PTO_INOUT, PTO_OUTPUT, PTO_SCALAR, PTO_PRIORITY, and those below */
    const PTOTaskParam *params;
    /* by parameter, from one iteration to the next: elements that a view moves, or what an i64 scalar, the number of a
     * PTO_STRIP_TEST or a priority grows by; 0 for all other scalars (else the call is no strip's) */
    const int64_t *step;
    int32_t count; /* of the parameters; of all calls together at most PTO_STRIP_PARAMS */
} PTOStripCall;

/* Parameters of such calls only.  A variable (void *) that is NULL when the strips are offered gets memory by the first
 * PTO_OUTPUT of the body that names it, as in pto_submit_task; that one is row-major, begins at 0 and moves by 0.
 *     PTO_STRIP_INPUT(ref, at, extent)     as PTO_INPUT of the memory that the variable *ref has by then
 *     PTO_STRIP_INOUT(ref, at, extent)     likewise
 *     PTO_STRIP_PRIVATE(ref, at, extent)   as PTO_OUTPUT, of memory that no iteration reads before it writes it: each
 *                                          strip has its own, in a scope that it begins and ends; *ref stays NULL
 *     PTO_STRIP_TEST(number, ==, limit)    the bool that the comparison (<, <=, ==, !=, >=, >) gives, of two int64_t
 *     PTO_STRIP_TEST_IF(when, number, ==, limit)   the same where the bool `when` holds, else false
 */
#ifndef __cplusplus
#define PTO_STRIP_INPUT(ref_, at_, extent)                                                                             \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INPUT, 0, NULL, ref_, 0, at_, extent), .name = #ref_                                       \
    }
#define PTO_STRIP_INOUT(ref_, at_, extent)                                                                             \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_INOUT, 0, NULL, ref_, 0, at_, extent), .name = #ref_                                       \
    }
#define PTO_STRIP_PRIVATE(ref_, at_, extent)                                                                           \
    {                                                                                                                  \
        PTO_REST_(PTO_PARAM_OUTPUT, PTO_IS_PRIVATE_, NULL, ref_, 0, at_, extent), .name = #ref_                        \
    }
#define PTO_STRIP_TEST(number, test, limit) PTO_STRIP_TEST_IF(true, number, test, limit)
#define PTO_STRIP_TEST_IF(when, number, test, limit)                                                                   \
    {                                                                                                                  \
        .kind = PTO_PARAM_SCALAR, .type = PTO_BOOL, .rank = 0, .buffer = NULL, .ref = NULL, .scope = 0, .bytes = 0,    \
        .shape = NULL, .stride = NULL, .name = NULL, .value = {.i64 = (number)}, .at = (limit),                        \
        .flags = (uint8_t)(PTO_IS_TEST_ + ((when) ? (0 test 1) + 2 * (0 test 0) + 4 * (1 test 0) : 0))                 \
    }
#endif
/* Flags: of an output; of a comparison, whose lower bits are its results for a number below, at and above the limit. */
enum { PTO_IS_PRIVATE_ = 2, PTO_IS_TEST_ = 8 };

/* Do loops of this run offer strips at all?  A hint that costs one load.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
static inline bool pto_takes_strips(const PTORuntime *rt)
{
    return ((const PTOFastPath *)(const void *)rt)->takes_strips;
}

/* How far it is from k to end for a loop that moves by `by`; 0: it has no more iterations. */
static inline uint64_t pto_distance_(int64_t k, int64_t end, int64_t by)
{
    if (by > 0) return k < end ? (uint64_t)end - (uint64_t)k : 0;
    return k > end ? (uint64_t)k - (uint64_t)end : 0;
}
static inline uint64_t pto_magnitude_(int64_t by) { return by > 0 ? (uint64_t)by : 0 - (uint64_t)by; }

/* Where a loop of single tasks, k, k + by ... up to before end, is interrupted for the next offer; end: not any more.
 * By then the runtime may know how long its kernels take.  by: not 0; below 0 the loop goes down.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
static inline int64_t pto_next_offer(const PTORuntime *rt, int64_t k, int64_t end, int64_t by)
{
    const PTOFastPath *const fast = (const PTOFastPath *)(const void *)rt;
    const bool is_far = pto_distance_(k, end, by) / pto_magnitude_(by) > (uint64_t)fast->offer_gap;
    const uint64_t gap = (uint64_t)fast->offer_gap * (uint64_t)by;
    return fast->takes_strips && is_far ? (int64_t)((uint64_t)k + gap) : end;
}

/* Where the iterations end in which a piece is as long as a loop wants its pieces: `room` is left for it in iteration
 * k, and 1 less for each 1 that k grows.  k, if there is not room enough or no iteration; at most end.
 *     for (k = 0; k < N; k += T) f(min(T, N - k))     pto_full_end(k, N, N - k, T)
 * Caller     any thread.  Never blocks.  Status: none. */
static inline int64_t pto_full_end(int64_t k, int64_t end, int64_t room, int64_t wanted)
{
    if (k >= end || room < wanted) return k;
    const uint64_t more = (uint64_t)room - (uint64_t)wanted, distance = (uint64_t)end - (uint64_t)k;
    return more < distance - 1 ? (int64_t)((uint64_t)k + more + 1) : end;
}

/* Submits the iterations first, first + by ... of a loop that ends before `end` as strips, where that is faster than
 * one task after the other; on several ranks it skips those that others execute, and of which this rank needs nothing.
 * The first iteration that it has not submitted, and that the caller has to; if there is none, the number behind the
 * last one, or the last one of 64 bits if that is beyond them.  by: not 0; below 0 the loop goes down.  calls: of the
 * iteration `first`, at most PTO_STRIP_CALLS with PTO_STRIP_PARAMS parameters, in the order of the body; read before
 * the function returns.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: the run status.  What cannot be submitted as a
 *            strip, or finds no room in the heap, is left to the caller, whose submit reports it: `first`, where that
 *            is all.  Outside of a run, with rt NULL and in other misuse it is `first` too, and the message is set as
 *            by a submit. */
PTO_API int64_t pto_submit_strips(PTORuntime *rt, int64_t first, int64_t end, int64_t by, const PTOStripCall *calls,
                                  int32_t count);
/* As pto_submit_task: to a debugger all lines of the call are its first one, not those of the source that follow. */
#define pto_submit_strips(...) (pto_submit_strips)(__VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
