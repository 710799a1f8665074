/* shared_blocks.h - the memory of pto_shared_alloc, and which blocks a worker process shares.
 *
 * Idea       a process made by fork shares the blocks that existed at the fork.  Blocks have serial numbers; the parent
 *            keeps the number of the youngest.
 * Owner      the process: under one lock that nothing else is taken under.
 * Tests      test/runtime/test_execute.c */
#ifndef PTOI_SHARED_BLOCKS_H
#define PTOI_SHARED_BLOCKS_H
#include <stdbool.h>
#include <stdint.h>

uint64_t ptoi_shared_youngest(void); /* 0: there has been none */

/* The bytes lie in one block that exists and is not younger than that. */
bool ptoi_shared_holds(const void *memory, uint64_t bytes, uint64_t youngest);

#endif
