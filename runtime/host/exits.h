/* exits.h - a kernel of a built program that calls exit(): the program would end in the middle of a run, with the exit
 * code of a program that has done its work.
 * Idea       a handler of atexit.  While a run is active it names the kernel, and ends the program with the code of a
 *            run that failed.  A kernel that calls _exit() is not seen.
 * Owner      the process: one run at a time.
 * Tests      test/lit/host/exits.pto
 */
#ifndef PTO_HOST_EXITS_H
#define PTO_HOST_EXITS_H
#include <pto/pto_runtime.h>

/* Around a run, on the thread that begins it. */
void ptoi_exits_begin(PTORuntime *rt);
void ptoi_exits_end(void);

#endif
