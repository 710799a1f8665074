/* lifetime.c - see lifetime.h. */
#include "lifetime.h"
#include "shared/process_lock.h"
#include <pthread.h>
#include <stddef.h>

enum { BUCKET_BITS = 6, BUCKETS = 1 << BUCKET_BITS, RETIRED = 8 };

/* Guarded by PROCESS_LOCK_LIFETIMES. */
static struct lifetime *bucket[BUCKETS];
static uint32_t forks;
static void *retired[RETIRED];
static unsigned retired_next;
static void (*notify_child)(void);

/* The child has one thread, and no lock is held: process_lock.h. */
static void in_child(void)
{
    forks++;
    notify_child();
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

static struct lifetime **bucket_of(const struct lifetime *l)
{
    return &bucket[((uint64_t)(uintptr_t)l >> 4) * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

/* Only addresses are compared: l may be anything. */
static struct lifetime **find(const struct lifetime *l)
{
    struct lifetime **at = bucket_of(l);
    while (*at && *at != l) at = &(*at)->next;
    return at;
}

static enum lifetime_answer look(const struct lifetime *l)
{
    if (!*find(l)) return LIFETIME_UNKNOWN;
    if (l->forks != forks) return LIFETIME_FORKED;
    return load_relaxed(&l->use) == LIFETIME_IDLE ? LIFETIME_FREE : LIFETIME_IN_USE; /* relaxed: under the lock */
}

void ptoi_lifetime_begin(struct lifetime *l, void (*forked)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    notify_child = forked;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    pthread_once(&once, watch_forks);
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    l->forks = forks;
    l->next = *bucket_of(l);
    *bucket_of(l) = l;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
}

enum lifetime_answer ptoi_lifetime_look(const struct lifetime *l)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    const enum lifetime_answer answer = look(l);
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    return answer;
}

enum lifetime_answer ptoi_lifetime_take(struct lifetime *l, enum lifetime_use use)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    const enum lifetime_answer answer = look(l);
    if (answer == LIFETIME_FREE) store_relaxed(&l->use, (int)use); /* relaxed: the lock publishes it */
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    return answer;
}

void ptoi_lifetime_give(struct lifetime *l)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    store_relaxed(&l->use, (int)LIFETIME_IDLE);
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
}

enum lifetime_answer ptoi_lifetime_call(struct lifetime *l)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    enum lifetime_answer answer = look(l);
    if (answer == LIFETIME_FREE && l->is_called) answer = LIFETIME_IN_USE;
    if (answer == LIFETIME_FREE) l->is_called = true;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    return answer;
}

void ptoi_lifetime_return(struct lifetime *l)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    l->is_called = false;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
}

enum lifetime_answer ptoi_lifetime_end(struct lifetime *l)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    enum lifetime_answer answer = look(l);
    if (answer == LIFETIME_FREE && l->is_called) answer = LIFETIME_IN_USE;
    if (answer == LIFETIME_FREE) *find(l) = l->next;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    return answer;
}

void *ptoi_lifetime_retire(void *memory)
{
    ptoi_process_lock(PROCESS_LOCK_LIFETIMES);
    void *oldest = retired[retired_next];
    retired[retired_next] = memory;
    retired_next = (retired_next + 1) % RETIRED;
    ptoi_process_unlock(PROCESS_LOCK_LIFETIMES);
    return oldest;
}
