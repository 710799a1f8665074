/* barrier.h - a barrier that one thread makes all threads of the process pass.
 *
 * Idea       two threads each store a word and then load the other's; at least one must see the other's store, for
 *            which both need a full barrier between the two.  Where one of them comes seldom, it makes every thread
 *            pass one (membarrier), and the frequent one keeps the compiler's order only: if it loaded before that
 *            barrier it had stored before it, so the seldom one sees the store, else it sees the seldom one's.
 * Thread     any.  barrier_of_threads() takes some microseconds and interrupts every thread that runs.
 * Tests      test/check (run_own_work, count_spread) */
#ifndef PTOI_BARRIER_H
#define PTOI_BARRIER_H
#include "atomics.h"
#include <stdbool.h>

#ifndef PTO_SCHEDULED
/* Of the seldom thread.  false: the system has no such barrier, or refuses it. */
#define barrier_of_threads(label) ptoi_barrier_of_threads()
/* Of the frequent one. */
#define barrier_at_compiler()     atomic_signal_fence(memory_order_seq_cst)
#endif

/* Is there one?  The first call asks the system for it, which takes milliseconds once there are several threads. */
bool ptoi_barrier_exists(void);
bool ptoi_barrier_of_threads(void);

#endif
