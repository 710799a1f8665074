/* backtrace.h - the lines of the source that a kernel is in, for the report of one that crashes or does not return.
 *
 * Idea       in the handler of a signal a copy of the process (_Fork) walks the stack, asks addr2line, which comes with
 *            the C compilers, for functions and lines, and sends the text through a pipe.  Only the copy calls what a
 *            handler may not: if it hangs, the text is missing.  A thread that does not crash is asked by SIGURG, which
 *            hosts do not use; the question has a number, so that a late answer is recognized.
 * Owner      the pipe and the handler: the process, counted.
 * Limits     without addr2line only names of exported functions are known.  Under a sanitizer nothing is.
 * Blocks     at most PTOI_BACKTRACE_SECONDS.
 * Tests      test/runtime/test_crash.c, test_watchdog.c, test/lit/run/crash.pto, test/lit/host/watchdog.pto */
#ifndef PTOI_BACKTRACE_H
#define PTOI_BACKTRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTOI_BACKTRACE_BYTES = 800, PTOI_BACKTRACE_MORE = 4000, PTOI_BACKTRACE_SECONDS = 10 };

/* Before a signal may come; any thread, any number of times. */
void ptoi_backtrace_prepare(void);

/* From where the signal of this context came to the kernel's function: "\n  in store at f.pto:11" for each call.  The
 * length; 0: nothing is known.  The caller is the handler of a signal. */
size_t ptoi_backtrace_here(const void *context, char text[PTOI_BACKTRACE_BYTES]);

/* The same for a kernel that the fast path called, and what ptoi_backtrace_send gets from a copy that resumes its
 * submit (resume.h); *more is empty if there was none.  before: called in the copy, first.  In the copy it returns,
 * too, and so must the handler, at once. */
size_t ptoi_backtrace_submit(const void *context, void (*before)(void), char text[PTOI_BACKTRACE_BYTES],
                             char more[PTOI_BACKTRACE_MORE]);
/* Is this process such a copy? */
bool ptoi_backtrace_resumes(void);
/* Ends the copy. */
_Noreturn void ptoi_backtrace_send(const char *text);

/* From now on threads of this process may be asked, and those of processes that it forks and that call
 * ptoi_backtrace_answer.  Counted; any thread.  Without file descriptors or where the host uses SIGURG nothing happens:
 * no text is known. */
void ptoi_backtrace_listen(void);
void ptoi_backtrace_unlisten(void);
void ptoi_backtrace_answer(void);

/* The same text of another thread, by the number that ptoi_backtrace_thread gives it. */
size_t ptoi_backtrace_of(int32_t process, int32_t thread, char text[PTOI_BACKTRACE_BYTES]);
int32_t ptoi_backtrace_thread(void);

#endif
