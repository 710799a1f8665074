/* shared_blocks.h - the memory of pto_shared_alloc: which of it do the workers of another process see?
 *
 * Idea       a process made by fork shares the blocks that were there when it was made.  Blocks have serial numbers;
 *            whoever forks keeps the number of the youngest.
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
