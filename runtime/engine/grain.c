/* grain.c - see grain.h. */
#include "grain.h"
#include <pto/pto_strip.h>

/* A long call of a kernel that was short counts as many short ones: about one in so many may be long, as when the
 * thread was preempted.  With STRIKES_OUT it is coarse, and has as many as there can be: it has to be short for long,
 * at workers, before it is tried again. */
enum { TIME_BITS = 20, STRIKE = 16, STRIKES_OUT = 128, MOST_STRIKES = 255 };
/* A call that took less lowers a time that is not fine by one part in so many: of a kernel whose calls differ the time
 * stays near that of its long ones, behind which no other task should have to wait. */
enum { FORGETTING = 8 };
/* A call that takes more than so many times the limit of fine kernels is long. */
enum { LONGEST = 4 };
/* Note [latency]. */
enum { NO_LATENCY_NS = 180, LINES = 3 };

/* A step towards the median of all times: one that is far off counts as any other. */
static int64_t nearer(int64_t median, int64_t ns)
{
    const int64_t step = median / 32 + 1;
    return ns > median ? median + step : ns < median ? median - step : median;
}

/* A kernel with STRIKES_OUT was called: how many it has then. */
static uint64_t strikes_after(uint64_t strikes, bool is_long)
{
    if (!is_long) return strikes - 1;
    return strikes + STRIKE < MOST_STRIKES ? strikes + STRIKE : MOST_STRIKES;
}

static void measured(struct grain *g, const PTOKernel *kernel, int64_t ns)
{
    const uint64_t longest = (1u << TIME_BITS) - 1, tag = ptoi_grain_tag(kernel);
    const uint64_t known = load_relaxed(ptoi_grain_line(g, kernel)); /* relaxed: see grain.h */
    const bool is_same = known >> 28 == tag >> 28;
    uint64_t strikes = is_same ? known >> TIME_BITS & 0xff : 0;
    const int64_t last = (int64_t)(known & longest), some = last / 8;
    const bool is_long = ns > LONGEST * (int64_t)load_relaxed(&g->fine_ns);
    if (strikes >= STRIKES_OUT) {
        store_relaxed(ptoi_grain_line(g, kernel), tag | strikes_after(strikes, is_long) << TIME_BITS | (uint64_t)last);
        return;
    }
    /* no news: others have this line */
    if (is_same && strikes == 0 && last > (int64_t)load_relaxed(&g->fine_ns) && ns > last - some && ns < last + some)
        return;
    const bool was_fine = is_same && last <= (int64_t)load_relaxed(&g->fine_ns),
               is_fine = ns <= (int64_t)load_relaxed(&g->fine_ns);
    if (is_fine)
        strikes -= strikes > 0;
    else if (was_fine && is_long)
        strikes = strikes + STRIKE < STRIKES_OUT ? strikes + STRIKE : MOST_STRIKES;
    int64_t next = ns;
    if (is_same && !is_fine && ns < last) next = last - (last - ns + FORGETTING - 1) / FORGETTING;
    if (was_fine && !is_long) next = nearer(last, ns);
    store_relaxed(ptoi_grain_line(g, kernel),
                  tag | strikes << TIME_BITS | ((uint64_t)next < longest ? (uint64_t)next : longest));
}

/* The workers' timed calls of the kernel: how many, and the median of their times.  Between them: in how many calls on
 * end the median rose, or did not.
 *
 * Note [a kernel that changes]: the same kernel may take 1 us on small tensors in one loop, and 1 ms on large ones in
 * the next.  So each further step of the median in one direction is twice as long as the last one: it is there in a
 * dozen calls, while a single call that is far off counts as any other. */
enum { STREAK_BITS = 4, AWAY_BITS = TIME_BITS + STREAK_BITS + 1, MOST_STREAK = (1 << STREAK_BITS) - 1 };
static uint64_t away_count(struct grain *g, const PTOKernel *kernel)
{
    return load_relaxed(&g->away[ptoi_grain_number(kernel)]) >> AWAY_BITS; /* relaxed: see grain.h */
}
static int64_t away_ns(struct grain *g, const PTOKernel *kernel)
{
    return (int64_t)(load_relaxed(&g->away[ptoi_grain_number(kernel)]) & ((1u << TIME_BITS) - 1)); /* likewise */
}

/* One more call took so long. */
static uint64_t away_after(uint64_t away, int64_t ns)
{
    const int64_t median = (int64_t)(away & ((1u << TIME_BITS) - 1));
    const uint64_t count = away >> AWAY_BITS, rose = away >> (AWAY_BITS - 1) & 1, rises = ns > median;
    uint64_t streak = rose == rises && ns != median ? away >> TIME_BITS & MOST_STREAK : 0;
    const int64_t step = (median / 32 + 1) << streak;
    int64_t next = rises ? median + step : median - step;
    if (count == 0 || (rises && next > ns) || (!rises && next < ns)) next = ns;
    if (next == ns)
        streak = 0;
    else if (streak < MOST_STREAK)
        streak++;
    return (count + 1) << AWAY_BITS | rises << (AWAY_BITS - 1) | streak << TIME_BITS | (uint64_t)next;
}

/* See Note [trials]. */
enum { FIRST_TRIAL = 16, LAST_GAP = 1 << 20, TIMED_CALLS = 8 };

/* The one is near the longest calls, the other, while they are few, near the first, which may have waited for its
 * pages. */
int64_t ptoi_grain_usual_ns(struct grain *g, const PTOKernel *kernel)
{
    const int64_t ns = ptoi_grain_ns(g, kernel), median = away_ns(g, kernel);
    if (away_count(g, kernel) < FIRST_TRIAL || ptoi_grain_is_fine(g, kernel)) return ns; /* as it is executed inline */
    return ns == 0 || median < ns ? median : ns;
}

void ptoi_grain_measured_away(struct grain *g, const PTOKernel *kernel, int64_t ns)
{
    const int64_t longest = (1 << TIME_BITS) - 1;
    _Atomic uint64_t *const away = &g->away[ptoi_grain_number(kernel)];
    store_relaxed(away, away_after(load_relaxed(away), ns < longest ? ns : longest)); /* relaxed: see grain.h */
    measured(g, kernel, ns);
}

void ptoi_grain_measured_body(struct grain *g, const PTOKernel *const *kernels, int count, int64_t ns)
{
    int64_t share[PTO_STRIP_CALLS], sum = 0;
    for (int i = 0; i < count; i++) sum += share[i] = ptoi_grain_usual_ns(g, kernels[i]) + 1;
    for (int i = 0; i < count; i++)
        ptoi_grain_measured_away(g, kernels[i], (int64_t)((double)ns * (double)share[i] / (double)sum) + 1);
}

static struct trial *trial_of(struct grain *g, const PTOKernel *kernel)
{
    struct trial *t = &g->trial[ptoi_grain_number(kernel)];
    if (t->kernel != kernel)
        *t = (struct trial){.kernel = kernel, .next = away_count(g, kernel) + FIRST_TRIAL, .gap = FIRST_TRIAL};
    return t;
}

bool ptoi_grain_is_tried(struct grain *g, const PTOKernel *kernel)
{
    struct trial *t = trial_of(g, kernel);
    const uint64_t count = away_count(g, kernel);
    const int64_t fine = (int64_t)load_relaxed(&g->fine_ns), ns = away_ns(g, kernel);
    if (t->left > 0) return true;
    if (count < t->next || ns > LONGEST * fine || ptoi_grain_ns(g, kernel) == 0) return false;
    if (t->gap < LAST_GAP) t->gap *= 4;
    t->next = count + t->gap;
    t->discount = ns > fine ? (ns - fine) / g->processors : 0;
    t->left = TIMED_CALLS;
    return true;
}

void ptoi_grain_measured_inline(struct grain *g, const PTOKernel *kernel, int64_t ns)
{
    struct trial *t = trial_of(g, kernel);
    const bool was_fine = ptoi_grain_is_fine(g, kernel);
    measured(g, kernel, ns > t->discount ? ns - t->discount : 1);
    const bool is_fine = ptoi_grain_is_fine(g, kernel);
    if (t->left > 0) t->left = is_fine ? 0 : t->left - 1;
    if (is_fine) t->gap = FIRST_TRIAL;
    if (was_fine && !is_fine) t->next = away_count(g, kernel) + FIRST_TRIAL;
}

void ptoi_grain_follow(struct grain *g, int64_t latency_ns)
{
    const int64_t before = (int64_t)load_relaxed(&g->fine_ns), some = before / 8; /* relaxed: ours */
    int64_t ns = NO_LATENCY_NS + latency_ns * LINES;
    if (ns < GRAIN_LEAST_NS) ns = GRAIN_LEAST_NS;
    if (ns > GRAIN_MOST_NS) ns = GRAIN_MOST_NS;
    /* kernels near the limit stay where they are */
    if (g->processors == 2 && (ns < before - some || ns > before + some)) store_relaxed(&g->fine_ns, (uint64_t)ns);
}

bool ptoi_grain_is_doubtful(struct grain *g, const PTOKernel *kernel)
{
    const int64_t ns = ptoi_grain_ns(g, kernel);
    return g->processors == 2 && ns > GRAIN_LEAST_NS && ns <= GRAIN_MOST_NS;
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
