/* count.c - see count.h. */
#include "count.h"
#include "shared/barrier.h"
#include "shared/process_lock.h"
#include "shared/system.h"
#include <stdlib.h>
#ifndef PTO_SCHEDULED
#include <pthread.h>
#endif

#define BIAS ((int64_t)1 << 62)

_Thread_local int64_t ptoi_count_slot_at;
static _Thread_local bool has_asked; /* for a number */

/* ---- numbers of threads ------------------------------------------------------------------------------------------ */

static uint64_t taken; /* a bit for each number; guarded by PROCESS_LOCK_THREAD_SLOTS */
static _Atomic uint32_t forks;

static int64_t place_of(int number) { return (int64_t)sizeof(struct count_slot) * (1 + number); }
static int number_of(int64_t at) { return (int)(at / (int64_t)sizeof(struct count_slot)) - 1; }

/* 0: all are taken. */
static int64_t take_free_slot(void)
{
    ptoi_process_lock(PROCESS_LOCK_THREAD_SLOTS);
    const int number = ~taken ? __builtin_ctzll(~taken) : COUNT_THREADS;
    if (number < COUNT_THREADS) taken |= (uint64_t)1 << number;
    ptoi_process_unlock(PROCESS_LOCK_THREAD_SLOTS);
    return number < COUNT_THREADS ? place_of(number) : 0;
}

static void give_slot(int64_t at)
{
    if (at == 0) return;
    ptoi_process_lock(PROCESS_LOCK_THREAD_SLOTS);
    taken &= ~((uint64_t)1 << number_of(at));
    ptoi_process_unlock(PROCESS_LOCK_THREAD_SLOTS);
}

void ptoi_count_leave_thread(void)
{
    const int64_t at = ptoi_count_slot_at;
    ptoi_count_slot_at = 0;
    has_asked = true;
    give_slot(at);
}

#ifdef PTO_SCHEDULED
/* Fibers have no end that could be noticed: a case calls ptoi_count_leave_thread. */
static int64_t take_slot(void) { return take_free_slot(); }
static bool can_spread(void) { return true; }
#else
static pthread_key_t end_of_thread;
static bool has_end_of_thread, sees_forks;

static void leave_thread(void *unused)
{
    (void)unused;
    ptoi_count_leave_thread();
}

/* The threads of the parent do not exist here, and what they were about to count is not known. */
static void note_fork(void) { add_relaxed(&forks, 1); }

static void prepare(void)
{
    has_end_of_thread = pthread_key_create(&end_of_thread, leave_thread) == 0;
    sees_forks = pthread_atfork(NULL, NULL, note_fork) == 0;
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

static int64_t take_slot(void)
{
    prepare_once();
    const int64_t at = has_end_of_thread ? take_free_slot() : 0;
    if (at == 0 || pthread_setspecific(end_of_thread, &taken) == 0) return at;
    give_slot(at);
    return 0;
}

static bool can_spread(void)
{
    prepare_once();
    return has_end_of_thread && sees_forks && ptoi_barrier_exists();
}
#endif

bool ptoi_count_enter_thread(void)
{
    if (has_asked) return false;
    has_asked = true;
    ptoi_count_slot_at = take_slot();
    return ptoi_count_slot_at != 0;
}

/* ---- the spread form --------------------------------------------------------------------------------------------- */

int64_t ptoi_count_now(struct count *c)
{
    const int64_t word = load_relaxed(&c->word);
    return word > BIAS / 2 ? -1 : word;
}

/* The slots are words of several threads from the first store on. */
static void open_slots(struct count_slots *s)
{
    s->forks = load_relaxed(&forks);
    for (int i = 0; i <= COUNT_THREADS; i++) {
        store_relaxed(&s->slot[i].counted[COUNT_RETAIN], 0);
        store_relaxed(&s->slot[i].counted[COUNT_RELEASE], 0);
        store_relaxed(&s->slot[i].closed, i == 0);
    }
}

bool ptoi_count_spread(struct count *c) /* model: COUNT_ENTER */
{
    if (load_relaxed(&c->slots)) return true; /* relaxed: the caller alone writes it */
    struct count_slots *s = can_spread() ? aligned_alloc(PTO_CACHELINE, sizeof *s) : NULL;
    if (!s) return false;
    open_slots(s);
    add_relaxed(&c->word, BIAS);
    store_release(&c->slots, s, COUNT_SLOTS); /* [COUNT_SLOTS] the zeroes, and the word above BIAS */
    return true;
}

/* The operations that a closed slot has counted. */
static int64_t read_when_idle(_Atomic int64_t *number)
{
    int64_t twice;
    while ((twice = load_acquire(number, COUNT_BUSY)) % 2 != 0) ptoi_yield();
    return twice / 2;
}

int64_t ptoi_count_close(struct count *c) /* model: COUNT_CLOSE */
{
    struct count_slots *s = load_relaxed(&c->slots); /* relaxed: the caller alone writes it */
    if (!s) return ptoi_count_add(c, -1);
    if (s->forks != load_relaxed(&forks)) return 1; /* nobody knows how many are left: the child keeps the object */
    for (int i = 1; i <= COUNT_THREADS; i++) store_relaxed(&s->slot[i].closed, 1);
    barrier_of_threads(COUNT_BUSY); /* [COUNT_BUSY] */
    int64_t sum = 0;
    for (int i = 1; i <= COUNT_THREADS; i++)
        sum += read_when_idle(&s->slot[i].counted[COUNT_RETAIN]) - read_when_idle(&s->slot[i].counted[COUNT_RELEASE]);
    return ptoi_count_add(c, sum - BIAS - 1);
}

void ptoi_count_free(struct count *c)
{
    free(load_relaxed(&c->slots));
    store_relaxed(&c->slots, NULL);
}
