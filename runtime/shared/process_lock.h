/* process_lock.h - the locks of data that all runtimes of a process share.
 *
 * Idea       a child of fork has one thread, and a lock that another thread of the parent held at the fork is held in
 *            the child for ever.  So a fork takes all of these locks first and leaves them on both sides.
 * Owner      the process.
 * Invariant  a thread holds at most one of them, for a short time, and calls nothing unknown meanwhile.  The lock of
 *            the ACL library is none of them: calls of the library are made under it, and these may fork.
 * Tests      test/runtime/test_process_lock.c */
#ifndef PTOI_PROCESS_LOCK_H
#define PTOI_PROCESS_LOCK_H

enum process_lock {
    PROCESS_LOCK_LIFETIMES,
    PROCESS_LOCK_POOL,
    PROCESS_LOCK_SHARED_BLOCKS,
    PROCESS_LOCK_CRASH_HANDLERS,
    PROCESS_LOCK_SLABS,
    PROCESS_LOCK_REGISTRY,
    PROCESS_LOCK_THREAD_SLOTS,
    PROCESS_LOCKS
};

void ptoi_process_lock(enum process_lock which);
void ptoi_process_unlock(enum process_lock which);

#endif
