/* reason.h - why a kernel says that it failed (pto_kernel_failed in pto_equations.h).
 * Idea       the text is the thread's until the call of the kernel has ended; who ran the kernel takes it then.
 * Owner      the thread that runs the kernel.
 * Tests      test/lit/run/index-checks.pto
 */
#ifndef PTOI_REASON_H
#define PTOI_REASON_H
#include <stdbool.h>

enum { PTOI_REASON_BYTES = 160 };

/* The text of the kernel that this thread ran last, which is then forgotten; false: it gave none. */
bool ptoi_reason_take(char text[PTOI_REASON_BYTES]);

#endif
