/* lifetime.h - which runtimes exist in this process, and what each is used for.
 *
 * Idea       a pointer that a program passes is looked up before anything behind it is read, so a runtime that was
 *            destroyed, or that a fork has copied, is found without an access to memory that is gone.  Only calls at
 *            the edges of a run ask.
 * Owner      the process, under one lock that nothing else is taken under.  A fork takes it too, so that the child
 *            finds it free.
 * Tests      test/runtime/test_lifetime.c */
#ifndef PTOI_LIFETIME_H
#define PTOI_LIFETIME_H
#include "shared/atomics.h"
#include <stdbool.h>

enum lifetime_use { LIFETIME_IDLE, LIFETIME_RUNNING, LIFETIME_TRIMMING };
enum lifetime_answer {
    LIFETIME_FREE, /* it exists, and nothing uses it */
    LIFETIME_IN_USE,
    LIFETIME_UNKNOWN, /* it does not exist, or exists no more */
    LIFETIME_FORKED   /* a fork has made this copy: its threads stayed in the parent */
};

struct lifetime {
    struct lifetime *next; /* in the table, under the lock */
    uint32_t forks;        /* of this process and its ancestors, when the runtime was created */
    bool is_called;        /* a thread calls a program, and may wait before its run begins; under the lock */
    _Atomic int use;       /* enum lifetime_use.  W under the lock, R anyone, relaxed: a hint */
};

/* forked: called in every child process from now on, by its only thread; of every runtime the same. */
void ptoi_lifetime_begin(struct lifetime *l, void (*forked)(void));
enum lifetime_answer ptoi_lifetime_look(const struct lifetime *l);
/* LIFETIME_FREE: it was, and is now in that use until ptoi_lifetime_give. */
enum lifetime_answer ptoi_lifetime_take(struct lifetime *l, enum lifetime_use use);
void ptoi_lifetime_give(struct lifetime *l);
/* LIFETIME_FREE: the caller calls a program until ptoi_lifetime_return, and the runtime exists so long.
 * LIFETIME_IN_USE: it runs, or another thread is in such a call. */
enum lifetime_answer ptoi_lifetime_call(struct lifetime *l);
void ptoi_lifetime_return(struct lifetime *l);
/* LIFETIME_FREE: it was, and is unknown from now on. */
enum lifetime_answer ptoi_lifetime_end(struct lifetime *l);

/* `memory` held a runtime.  Memory that may be freed instead, or NULL: the newest few are kept, so that a runtime
 * created next has another address and a second destroy of the old one is not a destroy of the new one. */
void *ptoi_lifetime_retire(void *memory);

#endif
