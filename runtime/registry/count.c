/* count.c - see count.h. */
#include "count.h"
#include "shared/process_lock.h"
#include "shared/system.h"
#include <stdlib.h>
#ifndef PTO_SCHEDULED
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define BIAS ((int64_t)1 << 62)

_Thread_local int ptoi_count_number = COUNT_SLOT_UNKNOWN;

/* ---- numbers of threads ------------------------------------------------------------------------------------------ */

static uint64_t taken; /* a bit for each number; guarded by PROCESS_LOCK_THREAD_SLOTS */
static _Atomic uint32_t forks;

static int take_free_number(void)
{
    ptoi_process_lock(PROCESS_LOCK_THREAD_SLOTS);
    const int first = ~taken ? __builtin_ctzll(~taken) : COUNT_NO_SLOT;
    const int number = first < COUNT_THREADS ? first : COUNT_NO_SLOT;
    if (number < COUNT_THREADS) taken |= (uint64_t)1 << number;
    ptoi_process_unlock(PROCESS_LOCK_THREAD_SLOTS);
    return number;
}

static void give_number(int number)
{
    if (number < 0 || number >= COUNT_THREADS) return;
    ptoi_process_lock(PROCESS_LOCK_THREAD_SLOTS);
    taken &= ~((uint64_t)1 << number);
    ptoi_process_unlock(PROCESS_LOCK_THREAD_SLOTS);
}

void ptoi_count_leave_thread(void)
{
    const int number = ptoi_count_number;
    ptoi_count_number = COUNT_NO_SLOT;
    give_number(number);
}

#ifdef PTO_SCHEDULED
/* Fibers have no end that could be noticed: a case calls ptoi_count_leave_thread. */
int ptoi_count_take_number(void) { return ptoi_count_number = take_free_number(); }
static bool barrier_exists(void) { return true; }
static void barrier_of_all_threads(void) {}
#define COUNT_CLOSE(slots)  store_seq(&(slots)->closed, 1, COUNT_BUSY)
#define COUNT_IS_BUSY(slot) load_seq(&(slot)->busy, COUNT_BUSY)
#else
#define COUNT_CLOSE(slots)  store_relaxed(&(slots)->closed, 1)
#define COUNT_IS_BUSY(slot) load_acquire(&(slot)->busy, COUNT_BUSY) /* [COUNT_BUSY] */
static pthread_key_t end_of_thread;
static bool has_end_of_thread, has_barrier;

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
    has_barrier = pthread_atfork(NULL, NULL, note_fork) == 0 &&
                  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

int ptoi_count_take_number(void)
{
    prepare_once();
    int number = has_end_of_thread ? take_free_number() : COUNT_NO_SLOT;
    if (number != COUNT_NO_SLOT && pthread_setspecific(end_of_thread, &taken) != 0) {
        give_number(number);
        number = COUNT_NO_SLOT;
    }
    return ptoi_count_number = number;
}

static bool barrier_exists(void)
{
    prepare_once();
    return has_barrier && has_end_of_thread;
}

static void barrier_of_all_threads(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }
#endif

/* ---- the spread form --------------------------------------------------------------------------------------------- */

int64_t ptoi_count_now(struct count *c)
{
    const int64_t word = load_relaxed(&c->word);
    return word > BIAS / 2 ? -1 : word;
}

/* The slots are words of several threads from the first store on. */
static void open_slots(struct count_slots *s)
{
    store_relaxed(&s->closed, 0);
    s->forks = load_relaxed(&forks);
    for (int i = 0; i < COUNT_THREADS; i++) {
        store_relaxed(&s->slot[i].delta, 0);
        store_relaxed(&s->slot[i].busy, 0);
    }
}

bool ptoi_count_spread(struct count *c) /* model: COUNT_ENTER */
{
    if (load_relaxed(&c->slots)) return true; /* relaxed: the caller alone writes it */
    struct count_slots *s = barrier_exists() ? aligned_alloc(PTO_CACHELINE, sizeof *s) : NULL;
    if (!s) return false;
    open_slots(s);
    add_relaxed(&c->word, BIAS);
    store_release(&c->slots, s, COUNT_SLOTS); /* [COUNT_SLOTS] the zeroes, and the word above BIAS */
    return true;
}

int64_t ptoi_count_close(struct count *c) /* model: COUNT_CLOSE */
{
    struct count_slots *s = load_relaxed(&c->slots); /* relaxed: the caller alone writes it */
    if (!s) return ptoi_count_add(c, -1);
    if (s->forks != load_relaxed(&forks)) return 1; /* nobody knows how many are left: the child keeps the object */
    COUNT_CLOSE(s);
    barrier_of_all_threads();
    int64_t sum = 0;
    for (int i = 0; i < COUNT_THREADS; i++) {
        while (COUNT_IS_BUSY(&s->slot[i])) ptoi_yield();
        sum += load_relaxed(&s->slot[i].delta);
    }
    return ptoi_count_add(c, sum - BIAS - 1);
}

void ptoi_count_free(struct count *c)
{
    free(load_relaxed(&c->slots));
    store_relaxed(&c->slots, NULL);
}
