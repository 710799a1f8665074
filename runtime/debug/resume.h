/* resume.h - the parameters of a task that the fast path called: back into the submit, as if the kernel had failed.
 *
 * Idea       the fast path stores no arguments (fast_path.h), but behind the call of a kernel stands the code that
 *            hands the parameters of one that fails to the slow path.  A copy of a process whose kernel crashed
 *            continues there, with RESUMED for the kernel's result: the C compiler has kept what this code needs, so
 *            it is exact, and costs a submit nothing.
 * Invariant  no other code has an effect: the copy may write to one pipe and end, and has no other system call.
 * Limits     x86-64 and Linux's filter of system calls; crashes within the frames that backtrace.c walks.  A kernel
 *            that the C compiler has merged with its caller returns from no call, and there is nothing to continue.
 * Tests      test/runtime/test_crash.c, test/lit/run/crash-arguments.pto */
#ifndef PTOI_RESUME_H
#define PTOI_RESUME_H
#include <stdbool.h>

enum { PTOI_RESUMED = -0x5ead };

/* Changes the context of a signal, to continue behind the call that returns to this address, with the result
 * PTOI_RESUMED, when its handler returns: a caller may keep values in any register that its callee, which it knows,
 * does not use, so all others stay as they are.  false: it cannot.  The caller is the copy, in that handler.  to: the
 * pipe. */
bool ptoi_resume(void *context, const void *return_address, int to);

#endif
