/* grain.h - which kernels are fine: so short that handing a task to a worker costs more than running it.
 *
 * Idea       the caller of a kernel that times it stores how long it took.  A kernel is fine if its last timed call was
 *            short. A kernel whose calls differ collects strikes, and is coarse after a few of them: it would stop the
 *            orchestrator.
 * Owner      a word: anyone who runs tasks, relaxed.  It orders nothing, and a lost update only delays a choice.
 * Tests      test/runtime/test_inline.c */
#ifndef PTOI_GRAIN_H
#define PTOI_GRAIN_H
#include "shared/atomics.h"
#include <pto/pto_types.h>
#include <stdbool.h>

enum { GRAIN_BITS = 8, GRAIN_LINES = 1 << GRAIN_BITS };

/* Handing a task over costs both sides 400 ns together.  Two processors share that and the task; more than two share it
 * among them too, but the orchestrator cannot hand over faster than one in 200 ns. */
enum { GRAIN_FINE_NS = 250, GRAIN_FINE_NS_OF_TWO = 400 };

struct grain {
    uint64_t fine_ns;                   /* constant */
    _Atomic uint64_t line[GRAIN_LINES]; /* by kernel; 0: nothing is known */
};

/* *g is zero.  So many processors can run the process. */
static inline void ptoi_grain_init(struct grain *g, int processors)
{
    g->fine_ns = processors == 2 ? GRAIN_FINE_NS_OF_TWO : GRAIN_FINE_NS;
}

/* One call of the kernel took so long. */
void ptoi_grain_measured(struct grain *g, const PTOKernel *kernel, int64_t ns);

/* A word: 36 bits of the kernel's address, 8 of strikes, 20 of its time. */
static inline uint64_t ptoi_grain_tag(const PTOKernel *kernel) { return (uint64_t)(uintptr_t)kernel >> 3 << 28; }
static inline _Atomic uint64_t *ptoi_grain_line(struct grain *g, const PTOKernel *kernel)
{
    /* Kernels of one program lie 32 to 64 bytes apart: multiples of the golden ratio put neighbours far from each
     * other. */
    return &g->line[((uint64_t)(uintptr_t)kernel >> 4) * 0x9e3779b97f4a7c15u >> (64 - GRAIN_BITS)];
}

#ifdef PTO_TINY /* at random: all ways there and back want testing */
bool ptoi_grain_is_fine(struct grain *g, const PTOKernel *kernel);
int64_t ptoi_grain_ns(struct grain *g, const PTOKernel *kernel);
#else
static inline bool ptoi_grain_is_fine(struct grain *g, const PTOKernel *kernel)
{
    const uint64_t few_strikes = (uint64_t)0x7f << 20;
    /* relaxed: a choice */
    return ((load_relaxed(ptoi_grain_line(g, kernel)) - ptoi_grain_tag(kernel)) & ~few_strikes) <= g->fine_ns;
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

#endif
