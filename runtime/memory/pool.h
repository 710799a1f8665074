/* pool.h - the memory that runtimes and tensors are made of, by size classes, kept for the next one that asks.
 *
 * Idea       a freed block goes to its class and is found again there; above 64 MiB the best fit of the next
 *            octave serves too.  Small blocks are cut from spans (span.h).  A runtime takes its blocks when it is
 *            created, so a run obtains nothing; the system may take the pages of its kept blocks while it is short of
 *            memory.
 *            A shared pool is one piece of memory that forked processes share, cut from its beginning on.
 * Owner      the process has one pool of the host; a shared pool is its maker's.  One lock guards all, and nothing else
 *            is taken under it.
 * Invariant  total = in use + kept; kept is at most the limit.
 * Tests      test/runtime/test_pool.c */
#ifndef PTOI_POOL_H
#define PTOI_POOL_H
#include <pto/pto_pool.h>
#include <stdbool.h>
#include <stdint.h>

/* For a runtime: page-aligned; zeroed only if that is wanted.  NULL: none.  shared: of this process and those forked
 * from it, which is never kept. */
void *ptoi_pool_take(uint64_t bytes, bool shared, bool zeroed);
void ptoi_pool_give(void *memory, uint64_t bytes, bool shared); /* NULL is fine */

/* For a tensor: aligned to 64 bytes, not zeroed.  pool NULL: the host's.  NULL: none. */
void *ptoi_pool_obtain(PTOPool *pool, uint64_t bytes);
void ptoi_pool_return(PTOPool *pool, void *memory, uint64_t bytes);

bool ptoi_pool_trim(void); /* what is kept goes back to the system; false: nothing was */

/* Every page becomes memory now and not at its first use; false: the system has not so much. */
bool ptoi_pool_touch(void *memory, uint64_t bytes);

#endif
