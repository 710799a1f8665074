/* scheduled.h - the runtime's atomics.h and system.h in the build `check`: every access to a shared word, every lock,
 * sleep and thread is the checker's.
 *
 * Idea       the same names, with the label of an access and its place handed on; which value a load returns, and which
 *            thread goes on after it, is chosen by explore.h.  Plain accesses come as calls of __tsan_read8() and so
 *            on, which the compiler inserts: race.c.
 * Tests      test/check itself, case_litmus.c first */
#ifndef CHECK_SCHEDULED_H
#define CHECK_SCHEDULED_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum check_order { CHECK_RELAXED = 0, CHECK_ACQUIRE = 1, CHECK_RELEASE = 2, CHECK_SEQ = 4 }; /* bits */

enum check_label {
    CHECK_NONE,
#define LABEL(name) CHECK_##name,
#include "labels.def"
#undef LABEL
    CHECK_LABELS
};

/* An access in the text of the program. */
struct check_site {
    const char *file, *text;
    int line;
    uint8_t label; /* enum check_label */
    uint8_t order; /* enum check_order */
};

uint64_t check_load(const volatile void *word, unsigned size, const struct check_site *site);
void check_store(volatile void *word, unsigned size, uint64_t value, const struct check_site *site);
uint64_t check_swap(volatile void *word, unsigned size, uint64_t value, const struct check_site *site);
uint64_t check_add(volatile void *word, unsigned size, uint64_t value, const struct check_site *site);
/* *old: as C11's compare-exchange.  One that fails is a relaxed load. */
bool check_swap_if(volatile void *word, unsigned size, void *old, uint64_t value, const struct check_site *site);

/* Every thread sees all that was stored before, and what it stores later comes after. */
bool check_barrier(const struct check_site *site);

#define CHECK_SITE(text_, label_, order_)                                                                              \
    __extension__({                                                                                                    \
        static const struct check_site check_site_ = {__FILE__, text_, __LINE__, (uint8_t)(label_),                    \
                                                      (uint8_t)(order_)};                                              \
        &check_site_;                                                                                                  \
    })
#define CHECK_LOAD_(p, label, order) (__typeof__(*(p)))check_load((p), sizeof *(p), CHECK_SITE(#p, label, order))
#define CHECK_STORE_(p, v, label, order)                                                                               \
    check_store((p), sizeof *(p), (uint64_t)(__typeof__(*(p)))(v), CHECK_SITE(#p, label, order))
#define CHECK_SWAP_(p, v, label, order)                                                                                \
    __extension__({                                                                                                    \
        (__typeof__(*(p)))check_swap((p), sizeof *(p), (uint64_t)(__typeof__(*(p)))(v), CHECK_SITE(#p, label, order)); \
    })
#define CHECK_ADD_(p, v, label, order)                                                                                 \
    __extension__({ (__typeof__(*(p)))check_add((p), sizeof *(p), (uint64_t)(v), CHECK_SITE(#p, label, order)); })
#define CHECK_SWAP_IF_(p, old, v, label, order)                                                                        \
    check_swap_if((p), sizeof *(p), (old), (uint64_t)(__typeof__(*(p)))(v), CHECK_SITE(#p, label, order))

#define load_relaxed(p)                   CHECK_LOAD_(p, CHECK_NONE, CHECK_RELAXED)
#define load_acquire(p, label)            CHECK_LOAD_(p, CHECK_##label, CHECK_ACQUIRE)
#define load_seq(p, label)                CHECK_LOAD_(p, CHECK_##label, CHECK_ACQUIRE | CHECK_SEQ)
#define store_relaxed(p, v)               CHECK_STORE_(p, v, CHECK_NONE, CHECK_RELAXED)
#define store_release(p, v, label)        CHECK_STORE_(p, v, CHECK_##label, CHECK_RELEASE)
#define store_seq(p, v, label)            CHECK_STORE_(p, v, CHECK_##label, CHECK_RELEASE | CHECK_SEQ)
#define swap_relaxed(p, v)                CHECK_SWAP_(p, v, CHECK_NONE, CHECK_RELAXED)
#define swap_acquire(p, v, label)         CHECK_SWAP_(p, v, CHECK_##label, CHECK_ACQUIRE)
#define swap_acq_rel(p, v, label)         CHECK_SWAP_(p, v, CHECK_##label, CHECK_ACQUIRE | CHECK_RELEASE)
#define swap_if_relaxed(p, old, v)        CHECK_SWAP_IF_(p, old, v, CHECK_NONE, CHECK_RELAXED)
#define swap_if_acquire(p, old, v, label) CHECK_SWAP_IF_(p, old, v, CHECK_##label, CHECK_ACQUIRE)
#define swap_if_release(p, old, v, label) CHECK_SWAP_IF_(p, old, v, CHECK_##label, CHECK_RELEASE)
#define add_relaxed(p, v)                 CHECK_ADD_(p, v, CHECK_NONE, CHECK_RELAXED)
#define add_release(p, v, label)          CHECK_ADD_(p, v, CHECK_##label, CHECK_RELEASE)
#define add_acq_rel(p, v, label)          CHECK_ADD_(p, v, CHECK_##label, CHECK_ACQUIRE | CHECK_RELEASE)
#define barrier_of_threads(label)         check_barrier(CHECK_SITE("the barrier", CHECK_##label, CHECK_SEQ))
#define barrier_at_compiler()             ((void)0)

bool ptoi_barrier_exists(void);

typedef struct check_fiber *ptoi_thread;
bool ptoi_thread_start(ptoi_thread *t, void *(*body)(void *), void *arg);
void ptoi_thread_join(ptoi_thread t);
void ptoi_yield(void);

typedef struct {
    struct check_fiber *owner; /* NULL: nobody has it */
} ptoi_lock;
#define PTOI_LOCK_OPEN                                                                                                 \
    {                                                                                                                  \
        0                                                                                                              \
    }
void ptoi_lock_take(ptoi_lock *l);
bool ptoi_lock_try(ptoi_lock *l);
void ptoi_lock_leave(ptoi_lock *l);

/* A sleep has no end but a wake: no time-out hides a wake that was lost. */
bool ptoi_sleep_on(_Atomic uint32_t *word, uint32_t value, int64_t ns, bool is_shared);
void ptoi_wake_on(_Atomic uint32_t *word, bool is_shared);
void ptoi_wake_all_on(_Atomic uint32_t *word);
int64_t ptoi_clock_ns(void);

#endif
