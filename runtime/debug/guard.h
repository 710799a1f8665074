/* guard.h - calls, from C, of code that may throw or end its thread.
 *
 * Idea       an exception of C++, and the unwinding by which pthread_exit ends a thread, walk up the stack and ask each
 *            frame's personality routine whether it handles them.  C has no way to write one, so the frame of this call
 *            is a few instructions of assembler whose personality always does.  A call that returns costs three
 *            instructions more.
 * Limits     x86-64 and aarch64.  Elsewhere it is a plain call: an exception ends the process, and pthread_exit the
 *            thread.
 * Tests      test/runtime/test_guard.c, test/lit/headers */
#ifndef PTOI_GUARD_H
#define PTOI_GUARD_H
#include <stdint.h>

/* The results of a call that does not return.  No kernel returns these numbers. */
#define PTOI_THREW        (INT32_MIN + 4097)
#define PTOI_ENDED_THREAD (INT32_MIN + 4098) /* pthread_exit, or pthread_cancel from outside */

typedef void (*ptoi_function)(void); /* of any type */

/* fn(a, b): what it returns, or one of the above. */
int ptoi_guarded_call(ptoi_function fn, void *a, void *b);

#endif
