/* separate.h - copy on write: one of two buffers on a block gets a block of its own.
 *
 * Idea       a write needs a block with one buffer, and a block has at most one buffer whose address somebody knows.
 *            The buffer that leaves is the writer's own, or the others if the writer's address is known.  It is copied
 *            with no lock held while the old block is kept from writers, and moves when the copy is complete; then the
 *            caller looks again.
 * Owner      the calling thread: the block that it copies to.
 * Invariant  a buffer with pins, maps or exports never moves.
 * Tests      test/runtime/test_detach.c */
#ifndef PTOI_SEPARATE_H
#define PTOI_SEPARATE_H
#include "block.h"

enum separation {
    SEPARATE_READY, /* nothing is in the way */
    SEPARATE_AGAIN, /* the lock was left: look again */
    SEPARATE_WAIT,  /* a run or a map must end first */
    SEPARATE_STUCK, /* the address of read-only memory is out */
    SEPARATE_NOMEM,
    SEPARATE_LOST,   /* a device that had the elements failed; the lock was left */
    SEPARATE_CLOSED, /* no runtime has opened the device that has the elements */
    SEPARATE_FOREIGN /* it is memory of somebody else on a device, which runs there write */
};

/* Under the lock.  The address of b will be known (for_writing: and its memory written). */
enum separation ptoi_separate(struct buffer *b, bool for_writing);
/* Under the lock.  k will be written: the detached buffers on other blocks that overlap it leave. */
enum separation ptoi_separate_overlapping(const struct block *k);

#endif
