/* expect.h - --expect C=FILE.npy: is an array after the run as a file has it?
 *
 * Idea       integers and bools are compared exactly.  Floating-point elements may differ by a few units in the last
 *            place of their type, because another compiler, BLAS or order of a sum rounds otherwise; a NaN equals a
 *            NaN.  The files are opened, and their shapes and types checked, before the run begins.
 * Tests      test/lit/host/expect.test */
#ifndef PTO_HOST_EXPECT_H
#define PTO_HOST_EXPECT_H
#include "session.h"

/* Opens the file of each; an exit code of fail.h. */
int ptoi_expect_open(struct session *s);
/* After the run: HOST_RUN with the first element that differs. */
int ptoi_expect_check(struct session *s);
void ptoi_expect_close(struct session *s);

#endif
