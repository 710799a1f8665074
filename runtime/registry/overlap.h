/* overlap.h - blocks of foreign memory whose bytes overlap: the same array, attached twice.
 *
 * Idea       an array of NumPy is attached anew by each call that gets it, so one memory may lie below several blocks.
 *            Who looks whether a block is in use looks at the blocks that overlap it, too; who writes it first gives
 *            the detached buffers on these a block of their own.  Only few blocks matter to others: those that are in
 *            use, and those with a detached buffer.  They are on a list; a block that is not costs nothing.
 * Guarded    by PROCESS_LOCK_REGISTRY.
 * Invariant  a block of foreign memory of the host is on the list while it has readers, writers, maps or a detached
 *            buffer.  Memory on a device is not compared: it has a room of its own on the host.
 * Tests      test/runtime/test_overlap.c test/python/test_calls.py */
#ifndef PTOI_OVERLAP_H
#define PTOI_OVERLAP_H
#include "block.h"

/* Behind each change of what the list depends on. */
void ptoi_overlap_note(struct block *k);
/* k, then each block of the list that overlaps it: begin with at == k, until NULL. */
struct block *ptoi_overlap_next(const struct block *k, const struct block *at);
/* A detached buffer on k whose address nobody knows, or NULL. */
struct buffer *ptoi_overlap_detached(const struct block *k);

#endif
