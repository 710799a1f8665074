/* life.c - see life.h. */
#include "life.h"
#include "misuse.h"
#include "shared/system.h"
#include <pthread.h>
#include <stddef.h>

enum { BUCKET_BITS = 6, BUCKETS = 1 << BUCKET_BITS, RETIRED = 8 };

static ptoi_lock lock = PTOI_LOCK_OPEN; /* guards everything below */
static struct life *bucket[BUCKETS];
static uint32_t forks;
static void *retired[RETIRED];
static unsigned retired_next;

static void before_fork(void) { ptoi_lock_take(&lock); }
static void after_fork(void) { ptoi_lock_leave(&lock); }

static void in_child(void)
{
    forks++;
    ptoi_lock_leave(&lock);
    ptoi_misuse_forked();
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, in_child); }

static struct life **bucket_of(const struct life *l)
{
    return &bucket[((uint64_t)(uintptr_t)l >> 4) * 0x9e3779b97f4a7c15u >> (64 - BUCKET_BITS)];
}

/* Only addresses are compared: l may be anything. */
static struct life **find(const struct life *l)
{
    struct life **at = bucket_of(l);
    while (*at && *at != l) at = &(*at)->next;
    return at;
}

static enum life_answer look(const struct life *l)
{
    if (!*find(l)) return LIFE_UNKNOWN;
    if (l->forks != forks) return LIFE_FORKED;
    return load_relaxed(&l->use) == LIFE_IDLE ? LIFE_FREE : LIFE_IN_USE; /* relaxed: under the lock */
}

void ptoi_life_begin(struct life *l)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    ptoi_lock_take(&lock);
    l->forks = forks;
    l->next = *bucket_of(l);
    *bucket_of(l) = l;
    ptoi_lock_leave(&lock);
}

enum life_answer ptoi_life_look(const struct life *l)
{
    ptoi_lock_take(&lock);
    const enum life_answer answer = look(l);
    ptoi_lock_leave(&lock);
    return answer;
}

enum life_answer ptoi_life_take(struct life *l, enum life_use use)
{
    ptoi_lock_take(&lock);
    const enum life_answer answer = look(l);
    if (answer == LIFE_FREE) store_relaxed(&l->use, (int)use); /* relaxed: the lock publishes it */
    ptoi_lock_leave(&lock);
    return answer;
}

void ptoi_life_give(struct life *l)
{
    ptoi_lock_take(&lock);
    store_relaxed(&l->use, (int)LIFE_IDLE);
    ptoi_lock_leave(&lock);
}

enum life_answer ptoi_life_end(struct life *l)
{
    ptoi_lock_take(&lock);
    const enum life_answer answer = look(l);
    if (answer == LIFE_FREE) *find(l) = l->next;
    ptoi_lock_leave(&lock);
    return answer;
}

void *ptoi_life_retire(void *memory)
{
    ptoi_lock_take(&lock);
    void *oldest = retired[retired_next];
    retired[retired_next] = memory;
    retired_next = (retired_next + 1) % RETIRED;
    ptoi_lock_leave(&lock);
    return oldest;
}
