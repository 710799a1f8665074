/* park.h - an idle thread sleeps here until another thread wakes it.
 *
 * Idea       parker: threads of one process; any of them may wake, and a wake that comes before the sleep is kept in
 *            `woken`. `sleeping` is a hint for wakers; why no wake is lost between the hint and the sleep: [ROLE] in
 *            engine/threads.c. bell: one side rings, the other sleeps, and they need not be in the same process: every
 *            word has one writer, nothing is locked, nothing is read, modified and written.
 * Blocks     in the kernel, on a futex: no processor time.
 * Tests      test/runtime/test_park.c
 *
 * [WOKEN]    what a waker did before the wake is visible to the owner after its wait.
 * [BELL]     ringer: make input, store_seq rung, load_seq sleeping, wake if set.  Sleeper: load rung, look for input,
 * store_seq
 *            sleeping, load_seq rung again, sleep if it is the same.  All four are in one total order.  If the ringer's
 *            load comes before the sleeper's store, the ringer's store does too and the sleeper reads it: it does not
 *            sleep, and what was made before the ring is visible.  Otherwise the ringer sees the sleeper.  Between the
 *            sleeper's last look and its sleep the kernel compares `rung` once more. */
#ifndef PTOI_PARK_H
#define PTOI_PARK_H
#include "atomics.h"
#include "system.h"
#include <stdbool.h>

struct parker {
    _Atomic uint32_t woken; /* W anyone, R owner: swap acq_rel [WOKEN] */
    _Atomic int sleeping;   /* W owner, R anyone, relaxed: the swaps of [ROLE] order it */
};

void ptoi_park_init(struct parker *p);
static inline void ptoi_park_announce(struct parker *p) { store_relaxed(&p->sleeping, 1); }
static inline void ptoi_park_cancel(struct parker *p) { store_relaxed(&p->sleeping, 0); }
static inline bool ptoi_park_is_sleeping(struct parker *p) { return load_relaxed(&p->sleeping) != 0; }
/* Blocks until a wake since the last wait, or as long as given; after announce. */
void ptoi_park_wait(struct parker *p, int64_t ns);
void ptoi_park_wake(struct parker *p); /* any thread */

struct bell {
    /* W ringer: store seq_cst [BELL]; R sleeper. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t rung;
    /* W sleeper: store seq_cst [BELL]; R ringer. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t sleeping;
};

/* before looking for input */
static inline uint32_t ptoi_bell_heard(struct bell *b) { return load_acquire(&b->rung, BELL); }
static inline void ptoi_bell_ring(struct bell *b)
{
    store_seq(&b->rung, load_relaxed(&b->rung) + 1, BELL); /* relaxed: our own word */
}
void ptoi_bell_wake(struct bell *b); /* after ring: wakes the sleeper if there is one */
/* Blocks until the bell was rung since `heard`, or as long as given.  May come back for nothing. */
void ptoi_bell_wait(struct bell *b, uint32_t heard, int64_t ns);

#endif
