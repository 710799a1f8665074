/* park.h - a thread that has nothing to do sleeps here, and is woken by whoever gives it something.
 *
 * Idea       `sleeping` is a hint that may be read without the lock; `woken` under the lock is the truth, so a wake that comes
 *            before the sleep is not lost.  Why no wake is lost between hint and sleep: see [ROLE] in engine/threads.c.
 * Guards     mutex: woken.  Nothing else is taken under it. */
#ifndef PTOI_PARK_H
#define PTOI_PARK_H
#include "atomics.h"
#include <pthread.h>
#include <stdbool.h>

struct parker {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool woken;
    _Atomic int sleeping; /* W owner: store release; R anyone: load acquire [ROLE] */
};

bool ptoi_park_init(struct parker *p);
void ptoi_park_free(struct parker *p);
static inline void ptoi_park_announce(struct parker *p) { store_release(&p->sleeping, 1); }
static inline void ptoi_park_cancel(struct parker *p) { store_release(&p->sleeping, 0); }
static inline bool ptoi_park_is_sleeping(struct parker *p) { return load_acquire(&p->sleeping) != 0; }
void ptoi_park_wait(struct parker *p); /* blocks until a wake since the last wait; after announce */
void ptoi_park_wake(struct parker *p); /* any thread */

#endif
