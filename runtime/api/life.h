/* life.h - which runtimes exist in this process, and what each is used for.
 *
 * Idea       a pointer that a program passes is looked up before anything behind it is read, so a runtime that was
 *            destroyed, or that a fork has copied, is found without an access to memory that is gone.  Only calls at
 *            the edges of a run ask.
 * Owner      the process, under one lock that nothing else is taken under.  A fork takes it too, so that the child
 *            finds it free.
 * Tests      test/runtime/test_misuse.c */
#ifndef PTOI_LIFE_H
#define PTOI_LIFE_H
#include "shared/atomics.h"
#include <stdbool.h>

enum life_use { LIFE_IDLE, LIFE_RUNNING, LIFE_TRIMMING };
enum life_answer {
    LIFE_FREE, /* it exists, and nothing uses it */
    LIFE_IN_USE,
    LIFE_UNKNOWN, /* it does not exist, or exists no more */
    LIFE_FORKED   /* a fork has made this copy: its threads stayed in the parent */
};

struct life {
    struct life *next; /* in the table, under the lock */
    uint32_t forks;    /* of this process and its ancestors, when the runtime was created */
    _Atomic int use;   /* enum life_use.  W under the lock, R anyone, relaxed: a hint */
};

void ptoi_life_begin(struct life *l);
enum life_answer ptoi_life_look(const struct life *l);
/* LIFE_FREE: it was, and is now in that use until ptoi_life_give. */
enum life_answer ptoi_life_take(struct life *l, enum life_use use);
void ptoi_life_give(struct life *l);
/* LIFE_FREE: it was, and is unknown from now on. */
enum life_answer ptoi_life_end(struct life *l);

/* `memory` held a runtime.  Memory that may be freed instead, or NULL: the newest few are kept, so that a runtime
 * created next has another address and a second destroy of the old one is not a destroy of the new one. */
void *ptoi_life_retire(void *memory);

#endif
