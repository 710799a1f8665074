/* checked.h - what a checked run (PTOConfig.checked) looks at around each kernel and each buffer.
 *
 * Idea       before a kernel the bytes of every region that it only reads are summed up, afterwards once more: who changed them, the
 *            kernel or somebody at the same time, has done wrong.  Behind each buffer of the heap stands a guard that must be whole when
 *            the buffer is consumed, and what was consumed is filled with a pattern.
 * Owner      none: each function looks at what it is given.
 * Tests      test/lit/memory/checked.pto */
#ifndef PTOI_CHECKED_H
#define PTOI_CHECKED_H
#include <pto/pto_types.h>

enum { PTOI_GUARD_BYTES = 64, PTOI_POISON = 0xE5 }; /* as a float about -1.4e23, as an integer negative */

/* What a worker returns for a kernel that changed its argument i: this and i. */
#define PTOI_INPUT_CHANGED INT32_MIN

void ptoi_checked_before(const PTOArg *args, int count, uint64_t *sums);     /* sums: one for each argument */
int  ptoi_checked_after(const PTOArg *args, int count, const uint64_t *sums); /* the argument that changed, or -1 */

void ptoi_guard_write(unsigned char *guard);
bool ptoi_guard_is_whole(const unsigned char *guard);

#endif
