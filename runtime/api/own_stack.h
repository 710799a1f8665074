/* own_stack.h - a stack of the runtime's own, on which an orchestration runs that recurses, or whose thread has a small
 * stack.
 *
 * Idea       addresses are reserved once, an eighth of the machine's memory of them; pages become memory where calls
 *            reach them, so that recursion is as deep as memory allows, on whichever thread the run begins.  The thread
 *            stays the same: it is the stack that changes (makecontext of POSIX.1-2001), and sanitizers are informed.
 * Owner      the thread that orchestrates.
 * Invariant  a page below the stack cannot be touched.  Between runs only the first pages are kept.
 * Tests      test/runtime/test_own_stack.c */
#ifndef PTOI_OWN_STACK_H
#define PTOI_OWN_STACK_H
#include "stack.h"

struct own_stack {
    char *memory; /* NULL: not reserved yet */
    uint64_t bytes;
    void *fiber; /* of ThreadSanitizer */
};

/* Reserves it.  false: the system refuses; the caller's own stack remains. */
bool ptoi_own_stack_open(struct own_stack *s);
void ptoi_own_stack_close(struct own_stack *s);

/* Calls fn on the stack, and returns when it has returned. */
void ptoi_own_stack_call(struct own_stack *s, void (*fn)(void *arg), void *arg);

/* Of an orchestration that is called on it. */
struct stack_bounds ptoi_own_stack_bounds(const struct own_stack *s);

/* Gives back all pages but the first ones. */
void ptoi_own_stack_trim(const struct own_stack *s);

#endif
