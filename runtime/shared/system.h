/* system.h - what threads of the runtime ask of the system: to begin and to end, a lock, a sleep, the time.
 *
 * Idea       the build `check` has its own in place of these, so that a test decides which thread goes on:
 *            docs/model.md. */
#ifndef PTOI_SYSTEM_H
#define PTOI_SYSTEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define PTO_FOR_EVER INT64_MAX

#ifdef PTO_SCHEDULED
#include PTO_SCHEDULED
#else
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

typedef pthread_t ptoi_thread;
static inline bool ptoi_thread_start(ptoi_thread *t, void *(*body)(void *), void *arg)
{
    return pthread_create(t, NULL, body, arg) == 0;
}
static inline void ptoi_thread_join(ptoi_thread t) { pthread_join(t, NULL); }
static inline void ptoi_yield(void) { sched_yield(); }

/* Sleeps while *word is `value`; false: the time was over.  May return without a wake.  is_shared: the word is of
 * several processes.  The call always has a limit, at most 292 years: a sleep without one goes on after the handler
 * of a signal, and ThreadSanitizer runs that handler only after the call. */
static inline bool ptoi_sleep_on(_Atomic uint32_t *word, uint32_t value, int64_t ns, bool is_shared)
{
    const struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return syscall(SYS_futex, word, FUTEX_WAIT | (is_shared ? 0 : FUTEX_PRIVATE_FLAG), value, &limit, NULL, 0) == 0 ||
           errno != ETIMEDOUT;
}
static inline void ptoi_wake_on(_Atomic uint32_t *word, bool is_shared)
{
    syscall(SYS_futex, word, FUTEX_WAKE | (is_shared ? 0 : FUTEX_PRIVATE_FLAG), 1, NULL, NULL, 0);
}
/* Wakes every thread of this process that sleeps on the word. */
static inline void ptoi_wake_all_on(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

/* A lock.  Not a mutex of the system: the registry makes and drops its objects under locks that are nearly always free,
 * and such a mutex has eight times the instructions.  A free lock is taken by one exchange, and left by one.  A thread
 * that finds it taken makes it LOCK_AWAITED before it sleeps, and takes it as LOCK_AWAITED: others may sleep still. */
typedef struct {
    _Atomic uint32_t state; /* take: acquire, leave: release */
} ptoi_lock;
enum { LOCK_FREE, LOCK_TAKEN, LOCK_AWAITED };
#define PTOI_LOCK_OPEN                                                                                                 \
    {                                                                                                                  \
        LOCK_FREE                                                                                                      \
    }
static inline void ptoi_lock_take(ptoi_lock *l)
{
    uint32_t seen = LOCK_FREE;
    if (atomic_compare_exchange_strong_explicit(&l->state, &seen, LOCK_TAKEN, memory_order_acquire,
                                                memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&l->state, LOCK_AWAITED, memory_order_acquire) != LOCK_FREE)
        ptoi_sleep_on(&l->state, LOCK_AWAITED, PTO_FOR_EVER, false);
}
/* false: another thread has it. */
static inline bool ptoi_lock_try(ptoi_lock *l)
{
    uint32_t seen = LOCK_FREE;
    return atomic_compare_exchange_strong_explicit(&l->state, &seen, LOCK_TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}
static inline void ptoi_lock_leave(ptoi_lock *l)
{
    if (atomic_exchange_explicit(&l->state, LOCK_FREE, memory_order_release) == LOCK_AWAITED)
        ptoi_wake_on(&l->state, false);
}

static inline int64_t ptoi_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

/* Between runs, where no other thread waits for this one: the build `check` sleeps too.  A signal may end it early. */
static inline void ptoi_sleep_ns(int64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

/* Of this machine; "": it has none. */
static inline void ptoi_host_name(char *name, size_t size)
{
    name[size - 1] = '\0';
    if (gethostname(name, size - 1) != 0) name[0] = '\0';
}

#endif
