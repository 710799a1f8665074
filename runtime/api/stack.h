/* stack.h - how far down the calling thread's stack may be used by calls of orchestration functions.
 *
 * Idea       a thread knows its stack, which is looked up once; that of a process's first thread grows, up to a limit
 *            that may change.  What a kernel and the library need themselves is kept free.
 * Tests      test/runtime/test_stack.c */
#ifndef PTOI_STACK_H
#define PTOI_STACK_H
#include <stdbool.h>
#include <stdint.h>

enum stack_kind { STACK_OF_A_THREAD, STACK_OF_THE_FIRST_THREAD, STACK_OF_THE_RUNTIME };

struct stack_bounds {
    uintptr_t lowest; /* calls may not go below; 0: nothing is known about this stack */
    uint64_t bytes;   /* of all of it */
    enum stack_kind kind;
    bool is_small; /* so little is left that a submit, or a kernel, may not fit */
};

/* Of the calling thread. */
struct stack_bounds ptoi_stack_bounds(void);

#endif
