/* ticks.h - a clock for records: a counter of the processor, where there is one that all cores share and that never
 * stops.
 *
 * Idea       a look at the system's clock takes 20 ns, as long as a small task; a look at the counter takes 5.  What
 *            was written down is turned into nanoseconds before the first report of a run, by two looks at both clocks,
 *            at its beginning and its end: struct tick_rate.
 * Source     x86: time-stamp counter, if the processor says that it is invariant (leaf 0x80000007, edx bit 8); aarch64:
 *            cntvct_el0. */
#ifndef PTOI_TICKS_H
#define PTOI_TICKS_H
#include "shared/system.h"
#if defined __x86_64__
#include <cpuid.h>
#endif

/* May ptoi_ticks() be used here? */
static inline bool ptoi_ticks_are_steady(void)
{
#if defined __x86_64__
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return true;
#endif
}

static inline int64_t ptoi_ticks(void)
{
#if defined __x86_64__
    return (int64_t)__builtin_ia32_rdtsc();
#elif defined __aarch64__
    int64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return ptoi_clock_ns();
#endif
}

struct tick_rate {
    int64_t ticks, ns; /* of one moment */
    double ns_per_tick;
};

static inline struct tick_rate ptoi_tick_begin(void)
{
    return (struct tick_rate){.ticks = ptoi_ticks(), .ns = ptoi_clock_ns(), .ns_per_tick = 1};
}

/* A later moment: now the rate is known. */
static inline void ptoi_tick_end(struct tick_rate *r)
{
    const int64_t ticks = ptoi_ticks() - r->ticks, ns = ptoi_clock_ns() - r->ns;
    if (ticks > 0) r->ns_per_tick = (double)ns / (double)ticks;
}

static inline int64_t ptoi_tick_ns(const struct tick_rate *r, int64_t ticks)
{
    return r->ns + (int64_t)((double)(ticks - r->ticks) * r->ns_per_tick);
}

#endif
