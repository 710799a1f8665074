/* count.h - a count of references, in one word, or spread over a slot for each thread.
 *
 * Idea       word form: retain adds 1 relaxed, as its caller holds a reference; release subtracts 1 with release,
 *            and who brings the word to 0 loads it with acquire and destroys.
 *            Spread form, entered by the holder of the primary reference: each thread counts in a slot of its own,
 *            without a read-modify-write.  The word is BIAS too high meanwhile, so nobody sees it at 0.  Dropping
 *            the primary reference closes the slots: `closed` is set, every thread passes a barrier (membarrier), and
 *            the closer waits until no number is odd; an operation that began later sees `closed` and uses the word.
 *            Then one addition to the word decides.  No sum is compared with 0 while it can change.
 * Slots      a slot has two numbers, each twice the operations that it counted, and odd while one begins.  With one
 *            number a retain would wait for the store of the release before it, and a release for that of its retain.
 * Owner      a slot: the thread that has its number, taken and given back under a lock; a thread without one finds a
 *            slot that is always closed, and uses the word.
 * Invariant  every operation is counted once, in a slot before its sum is read, or in the word; exactly one call
 *            returns 0, when no reference is left, and everything that a holder did happens before.
 * Limits     not from signal handlers.  Where there is no membarrier the spread form is never entered.
 * Tests      test/runtime/test_count.c, test/model/count.pml, test/check (count, count_spread) */
#ifndef PTOI_COUNT_H
#define PTOI_COUNT_H
#include "shared/barrier.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef PTO_SCHEDULED
enum { COUNT_THREADS = 2 }; /* the checker's searches are short */
#else
enum { COUNT_THREADS = 64 }; /* slots */
#endif

enum count_operation { COUNT_RETAIN, COUNT_RELEASE };

struct count_slot {
    /* Of each operation: W its thread: release [COUNT_BUSY], R the closer: acquire. */
    _Alignas(PTO_CACHELINE) _Atomic int64_t counted[2];
    /* W the closer, R the thread: [COUNT_BUSY], ordered against `counted` by the closer's barrier of all threads. */
    _Atomic int32_t closed;
};

struct count_slots {
    struct count_slot slot[1 + COUNT_THREADS]; /* the first is for threads without a number: closed, never read */
    uint32_t forks;                            /* of the process, when the slots were made */
};

struct count {
    /* RW any holder: retain relaxed, release [COUNT_WORD]; the destroyer acquires. */
    _Atomic int64_t word;
    /* W the holder of the primary reference, once: release [COUNT_SLOTS], R everybody: acquire. */
    struct count_slots *_Atomic slots; /* NULL: word form */
};

/* Bytes from the slots of a count to the one of the calling thread.  0: it has no number, perhaps not yet.  Not of the
 * model initial-exec: all thread-local variables of libpto.so would need room in the static block of a process that
 * opens it late, which may have none left. */
extern _Thread_local int64_t ptoi_count_slot_at __attribute__((visibility("hidden")));
/* A thread that never asked for a number asks now.  true: it got one. */
bool ptoi_count_enter_thread(void) __attribute__((cold));
/* At the end of a thread: its number is free.  What it releases later goes to the word. */
void ptoi_count_leave_thread(void);

static inline void ptoi_count_open(struct count *c) /* one reference */
{
    store_relaxed(&c->slots, NULL);
    store_relaxed(&c->word, 1);
}

/* false: the thread's slot is closed; nothing was counted. */
static inline bool ptoi_count_in_slot(struct count_slots *s, enum count_operation operation) /* model: COUNT_OP */
{
    struct count_slot *const mine = (struct count_slot *)((char *)s + ptoi_count_slot_at);
    _Atomic int64_t *const counted = &mine->counted[operation];
    const int64_t before = load_relaxed(counted);
    store_relaxed(counted, before + 1);
    barrier_at_compiler(); /* [COUNT_BUSY] the closer's barrier does the rest */
    if (__builtin_expect(load_relaxed(&mine->closed), 0)) {
        store_release(counted, before, COUNT_BUSY); /* [COUNT_BUSY] the last look at the slots */
        return false;
    }
    store_release(counted, before + 2, COUNT_BUSY); /* [COUNT_BUSY] the last look at the slots */
    return true;
}

/* The caller's reference is not yet dropped, so the slots are still there. */
static inline bool ptoi_count_is_spread(struct count_slots *s, enum count_operation operation)
{
    if (!s) return false;
    return ptoi_count_in_slot(s, operation) || (ptoi_count_enter_thread() && ptoi_count_in_slot(s, operation));
}

static inline void ptoi_count_retain(struct count *c)
{
    struct count_slots *s = load_acquire(&c->slots, COUNT_SLOTS); /* [COUNT_SLOTS] */
    if (ptoi_count_is_spread(s, COUNT_RETAIN)) return;
    add_relaxed(&c->word, 1); /* relaxed: the caller holds a reference, so the word is not about to become 0 */
}

static inline int64_t ptoi_count_add(struct count *c, int64_t change) /* model: COUNT_WORD_OP */
{
    const int64_t left = add_release(&c->word, change, COUNT_WORD) + change; /* [COUNT_WORD] what this holder did */
    if (left == 0) (void)load_acquire(&c->word, COUNT_WORD);                 /* [COUNT_WORD] and all others */
    return left;
}

/* 0: the caller dropped the last reference and destroys; below 0: there was none to drop. */
static inline int64_t ptoi_count_release(struct count *c)
{
    struct count_slots *s = load_acquire(&c->slots, COUNT_SLOTS); /* [COUNT_SLOTS] */
    if (ptoi_count_is_spread(s, COUNT_RELEASE)) return 1;
    return ptoi_count_add(c, -1);
}

/* Is the caller's reference the only one?  Never in the spread form. */
static inline bool ptoi_count_is_one(struct count *c) { return load_acquire(&c->word, COUNT_WORD) == 1; }

/* References now; -1 in the spread form.  A snapshot. */
int64_t ptoi_count_now(struct count *c);

/* The holder of the primary reference enters the spread form, once.  false: no membarrier or no memory; nothing
 * changed. */
bool ptoi_count_spread(struct count *c);
/* Drops the primary reference: as ptoi_count_release, and the spread form ends. */
int64_t ptoi_count_close(struct count *c);
/* The destroyer frees the slots. */
void ptoi_count_free(struct count *c);

#endif
