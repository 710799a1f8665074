/* process_lock.c - see process_lock.h. */
#include "process_lock.h"
#include "system.h"
#include <pthread.h>

static ptoi_lock lock[PROCESS_LOCKS] = {PTOI_LOCK_OPEN, PTOI_LOCK_OPEN, PTOI_LOCK_OPEN, PTOI_LOCK_OPEN,
                                        PTOI_LOCK_OPEN, PTOI_LOCK_OPEN, PTOI_LOCK_OPEN};

static void take_all(void)
{
    for (int i = 0; i < PROCESS_LOCKS; i++) ptoi_lock_take(&lock[i]);
}

static void leave_all(void)
{
    for (int i = PROCESS_LOCKS; i-- > 0;) ptoi_lock_leave(&lock[i]);
}

/* Before main, so that a lock costs no look at a flag. */
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(take_all, leave_all, leave_all); }

void ptoi_process_lock(enum process_lock which) { ptoi_lock_take(&lock[which]); }

void ptoi_process_unlock(enum process_lock which) { ptoi_lock_leave(&lock[which]); }
