/* pool.h - the large blocks that runtimes are made of: heaps and windows, kept for the next runtime of the process.
 *
 * Idea       a runtime takes its blocks when it is created and gives them back when it is destroyed, so memory is
 *            obtained between runs only.  What was given back is kept, at most KEPT_BLOCKS of them, and found again by
 *            its size; the system may take its pages meanwhile if it is short of memory.
 * Owner      the process: runtimes of several threads share it, under one lock that nothing else is taken under.
 * Invariant  total = in use + kept.
 * Tests      test/runtime/test_pool.c */
#ifndef PTOI_POOL_H
#define PTOI_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include <pto/pto_registry.h>

/* Page-aligned; zeroed only if that is wanted.  NULL: none.  shared: of this process and those forked from it, which is
 * never kept. */
void *ptoi_pool_take(uint64_t bytes, bool shared, bool zeroed);
void ptoi_pool_give(void *memory, uint64_t bytes, bool shared); /* NULL is fine */

/* Memory of a tensor: aligned to 64 bytes, not zeroed.  pool NULL: the host's.  NULL: none. */
void *ptoi_pool_obtain(PTOPool *pool, uint64_t bytes);
void ptoi_pool_return(PTOPool *pool, void *memory, uint64_t bytes);

bool ptoi_pool_trim(void); /* what is kept goes back to the system; false: nothing was */

/* Every page becomes memory now and not at its first use; false: the system has not so much. */
bool ptoi_pool_touch(void *memory, uint64_t bytes);

#endif
