/* fiber.h - the threads of an execution: stacks in one thread of the system, of which one runs until it hands on. */
#ifndef CHECK_FIBER_H
#define CHECK_FIBER_H
#include "scheduled.h"
#include <setjmp.h>

enum { MAX_FIBERS = 6, MAX_LOCATIONS = 256 };

/* What a fiber knows: of each fiber, how far it is ordered after it; of each location, the oldest store that it may
 * still read. */
struct view {
    uint32_t clock[MAX_FIBERS];
    uint16_t seen[MAX_LOCATIONS];
};

enum op_kind {
    OP_BEGIN,
    OP_LOAD,
    OP_STORE,
    OP_RMW,
    OP_LOCK,
    OP_UNLOCK,
    OP_WAIT,
    OP_RESUME,
    OP_WAKE,
    OP_YIELD,
    OP_BARRIER, /* of all threads */
    OP_JOIN,
    OP_END
};

/* The next step of a fiber that stands before it. */
struct op {
    enum op_kind kind;
    int location; /* -1: none */
    const struct check_site *site;
    void *object; /* the lock; the fiber that is joined */
};

struct check_fiber {
    int number;
    const char *name;
    jmp_buf at;
    char *stack, *local; /* local: its thread-local variables, while it does not run */
    void *(*body)(void *arg);
    void *arg;
    bool has_begun, has_ended, is_woken;
    struct op next;
    struct view view;
    const volatile void *sleeps_on;
    uint32_t changes, looked; /* stores it made; stores that others had made when it last came from a yield */
};

extern struct check_fiber check_fibers[MAX_FIBERS];
extern int check_fiber_count;
extern struct check_fiber *check_me; /* who runs */

/* Runs body as fiber 0, and whatever it starts, until all have ended. */
void fiber_run_all(void (*body)(void));
struct check_fiber *fiber_start(const char *name, void *(*body)(void *), void *arg);
/* The caller goes on when somebody switches to it. */
void fiber_switch(struct check_fiber *to);
bool fiber_is_enabled(const struct check_fiber *f);
/* Is it a thread-local variable?  Then it is of the fiber that runs. */
bool fiber_is_local(const volatile void *p);
/* A name for the fiber that runs, in traces. */
void check_name(const char *name);

#endif
