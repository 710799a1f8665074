/* grain.c - see grain.h. */
#include "grain.h"

/* A long call of a kernel that was short counts as many short ones: about one in so many may be long, as when the
 * thread was preempted.  With STRIKES_OUT it is coarse for good. */
enum { TIME_BITS = 20, STRIKE = 16, STRIKES_OUT = 128 };
/* A call that took less lowers a time that is not fine by one part in so many: of a kernel whose calls differ the time
 * stays near that of its long ones, behind which no other task should have to wait. */
enum { FORGETTING = 8 };

void ptoi_grain_measured(struct grain *g, const PTOKernel *kernel, int64_t ns)
{
    const uint64_t longest = (1u << TIME_BITS) - 1, tag = ptoi_grain_tag(kernel);
    const uint64_t known = load_relaxed(ptoi_grain_line(g, kernel)); /* relaxed: see grain.h */
    const bool is_same = known >> 28 == tag >> 28;
    uint64_t strikes = is_same ? known >> TIME_BITS & 0xff : 0;
    if (strikes >= STRIKES_OUT) return;
    const int64_t last = (int64_t)(known & longest), some = last / 8;
    /* no news: others have this line */
    if (is_same && strikes == 0 && last > (int64_t)g->fine_ns && ns > last - some && ns < last + some) return;
    const bool was_fine = is_same && last <= (int64_t)g->fine_ns, is_fine = ns <= (int64_t)g->fine_ns;
    if (is_fine)
        strikes -= strikes > 0;
    else if (was_fine)
        strikes += STRIKE;
    int64_t next = ns;
    if (is_same && !is_fine && ns < last) next = last - (last - ns + FORGETTING - 1) / FORGETTING;
    store_relaxed(ptoi_grain_line(g, kernel),
                  tag | strikes << TIME_BITS | ((uint64_t)next < longest ? (uint64_t)next : longest));
}

#ifdef PTO_TINY
static uint32_t below(uint32_t n)
{
    static _Thread_local uint32_t calls;
    return (uint32_t)((uint64_t)(++calls * 0x9e3779b9u) * n >> 32);
}

bool ptoi_grain_is_fine(struct grain *g, const PTOKernel *kernel)
{
    (void)g;
    (void)kernel;
    return below(8) > 2;
}

int64_t ptoi_grain_ns(struct grain *g, const PTOKernel *kernel)
{
    (void)g;
    (void)kernel;
    return 100 * below(4); /* 0: unknown */
}
#endif
