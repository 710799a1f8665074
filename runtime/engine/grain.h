/* grain.h - which kernels are fine: so short that handing a task to a worker costs more than running it.
 *
 * Idea       the caller of a kernel that times it stores how long it took.  A kernel is fine if its last timed call was
 *            short. A kernel whose calls differ collects strikes, and is coarse after a few of them: it would stop the
 *            orchestrator.  It loses them by short calls at workers.
 * Owner      a word: every thread that runs tasks, relaxed.  It orders nothing, and a lost update only delays a choice.
 *            The trials: the orchestrator.
 * Tests      test/runtime/test_grain.c, test_inline.c */
#ifndef PTOI_GRAIN_H
#define PTOI_GRAIN_H
#include "shared/atomics.h"
#include <pto/pto_types.h>
#include <stdbool.h>

enum { GRAIN_BITS = 8, GRAIN_LINES = 1 << GRAIN_BITS };

/* Note [latency]: two processors share a task and what handing it over costs; more than two share these among them too,
 * but the orchestrator cannot hand over faster than one task in 200 ns.  Most of that cost is time in which one
 * processor waits for lines of memory of the other.  So with two processors the limit follows the latency of a line as
 * it is measured (handover.h): where a line takes 25 ns, tasks of 260 ns gain by workers, where it takes 120, none
 * below 500.  Until it is measured the limit is FINE_NS_OF_TWO. */
enum { GRAIN_FINE_NS = 250, GRAIN_FINE_NS_OF_TWO = 400, GRAIN_LEAST_NS = 260, GRAIN_MOST_NS = 600 };

/* Note [trials]: a worker that is handed a task often finds its data in the cache of another processor, so a kernel may
 * take twice as long there as inline.  Of P processors that take d ns a task and share what handing over costs, h,
 * inline execution in i ns is at least as fast if i <= (d + h) / P.  With d = i that is what fine means, h = (P - 1)
 * fine.  Otherwise it is (d - fine) / P more: the discount of the kernel.  Inline time is unknown of one that is handed
 * over, so one that is not much too long is tried: when workers have timed it so many times, a few tasks are executed
 * inline and timed.  If it is not fine with its discount either, the next trial comes four times later. */
struct trial {
    const PTOKernel *kernel;
    uint64_t next, gap; /* of the workers' timed calls: when the next one begins; from one to the next */
    int64_t discount;   /* of calls that are executed inline, ns */
    int32_t left;       /* timed calls of the one that is on; 0: none is */
};

struct grain {
    int processors;                     /* constant */
    _Atomic uint64_t fine_ns;           /* W orchestrator, R threads that run tasks, relaxed: a choice */
    _Atomic uint64_t line[GRAIN_LINES]; /* by kernel; 0: nothing is known */
    _Atomic uint64_t away[GRAIN_LINES]; /* likewise: how often workers have timed it, and 20 bits of their median */
    struct trial trial[GRAIN_LINES];    /* likewise */
};

/* *g is zero.  So many processors can run the process. */
static inline void ptoi_grain_init(struct grain *g, int processors)
{
    store_relaxed(&g->fine_ns, processors == 2 ? GRAIN_FINE_NS_OF_TWO : GRAIN_FINE_NS);
    g->processors = processors;
}

/* One call of the kernel took so long, at a worker that a task was handed to. */
void ptoi_grain_measured_away(struct grain *g, const PTOKernel *kernel, int64_t ns);
/* The kernels, at most PTO_STRIP_CALLS, one after the other took so long there.  How they share it is what is known of
 * them now, not when the strip was submitted: with older shares an error would grow from strip to strip. */
void ptoi_grain_measured_body(struct grain *g, const PTOKernel *const *kernels, int count, int64_t ns);
/* One that was executed inline.  Called by the orchestrator. */
void ptoi_grain_measured_inline(struct grain *g, const PTOKernel *kernel, int64_t ns);

/* A line takes so long from a worker's processor to the orchestrator's.  Called by the orchestrator. */
void ptoi_grain_follow(struct grain *g, int64_t latency_ns);
/* Would the kernel be fine, or not, with another latency? */
bool ptoi_grain_is_doubtful(struct grain *g, const PTOKernel *kernel);

/* The next task of a kernel that is not fine: is it to be executed inline all the same?  Called by the orchestrator. */
bool ptoi_grain_is_tried(struct grain *g, const PTOKernel *kernel);

/* A word: 36 bits of the kernel's address, 8 of strikes, 20 of its time. */
static inline uint64_t ptoi_grain_tag(const PTOKernel *kernel) { return (uint64_t)(uintptr_t)kernel >> 3 << 28; }
/* Kernels of one program lie 32 to 64 bytes apart: multiples of the golden ratio put neighbours far from each other. */
static inline uint32_t ptoi_grain_number(const PTOKernel *kernel)
{
    return (uint32_t)(((uint64_t)(uintptr_t)kernel >> 4) * 0x9e3779b97f4a7c15u >> (64 - GRAIN_BITS));
}
static inline _Atomic uint64_t *ptoi_grain_line(struct grain *g, const PTOKernel *kernel)
{
    return &g->line[ptoi_grain_number(kernel)];
}

#ifdef PTO_TINY /* at random: all ways there and back want testing */
bool ptoi_grain_is_fine(struct grain *g, const PTOKernel *kernel);
int64_t ptoi_grain_ns(struct grain *g, const PTOKernel *kernel);
#else
static inline bool ptoi_grain_is_fine(struct grain *g, const PTOKernel *kernel)
{
    const uint64_t few_strikes = (uint64_t)0x7f << 20;
    /* relaxed: a choice */
    return ((load_relaxed(ptoi_grain_line(g, kernel)) - ptoi_grain_tag(kernel)) & ~few_strikes) <=
           load_relaxed(&g->fine_ns);
}
/* The time of the kernel's timed calls, near the longest of the last ones where they differ and are not fine; 0:
 * unknown, or some of its calls are fine and others are not. */
static inline int64_t ptoi_grain_ns(struct grain *g, const PTOKernel *kernel)
{
    const uint64_t few_strikes = (uint64_t)0x7f << 20, longest = (1u << 20) - 1;
    /* relaxed: a choice */
    const uint64_t ns = (load_relaxed(ptoi_grain_line(g, kernel)) - ptoi_grain_tag(kernel)) & ~few_strikes;
    return ns <= longest ? (int64_t)ns : 0;
}
#endif

/* The time of most calls, where ptoi_grain_ns is that of long ones; 0: unknown. */
int64_t ptoi_grain_usual_ns(struct grain *g, const PTOKernel *kernel);

#endif
