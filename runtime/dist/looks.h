/* looks.h - how long the thread of the transfers sleeps between two looks, Note [idle workers ask] in transfer.h.
 *
 * Idea       a look takes the processor from the kernel that runs there; with both switches that is 45 us in a virtual
 *            machine, and 500 looks a second were 2 % of a rank.  So the sleep grows, to a limit: while nothing is in
 *            flight, while others ask often, and, where none asks, with the time in which nothing has ended.
 * Owner      struct transfers, under its lock.
 * Tests      test/wire/test_look_times.c */
#ifndef PTOI_DIST_LOOKS_H
#define PTOI_DIST_LOOKS_H
#include <stdbool.h>
#include <stdint.h>

/* When the next look is, if no thread wakes this one.  FARTHEST: a thread that does everything wakes it, too. */
enum look { LOOK_SOON, LOOK_LATE, LOOK_FAR, LOOK_FARTHEST };

/* Naps: each is longer than the one before it by this, to a limit. */
enum { LOOK_STEP_NS = 5000, LOOK_NAP_NS = 100000 };
/* Nanoseconds of the nap with this number, from 1. */
static inline int64_t ptoi_nap_ns(int64_t number)
{
    return number < LOOK_NAP_NS / LOOK_STEP_NS ? number * LOOK_STEP_NS : LOOK_NAP_NS;
}

struct looks {
    enum look next;
    bool relies, is_often; /* others ask; often enough for a longer sleep */
    int idle;              /* looks in vain */
    int64_t ns, waited;    /* the last sleep; all of those in vain while no other asked */
};

/* A look begins.  asks: of others since the last one.  is_watched: another thread has short naps until it says so.
 * has_news: something has ended since, or nothing is in flight. */
void ptoi_looks_begin(struct looks *l, int64_t asks, bool is_watched, bool has_news);
/* It ends.  any: it found something.  Returns nanoseconds until the next one; 0: at once, after a yield. */
int64_t ptoi_looks_end(struct looks *l, bool any, bool is_in_flight, bool is_running);
/* It has found nothing for so long that the thread sleeps, or would. */
bool ptoi_looks_are_vain(const struct looks *l);

#endif
