/* map_memory.h - zeroed memory straight from the system, for one process or for two.
 *
 * Idea       pages cost nothing until they are touched.  Shared memory mapped before a fork is at the same address on
 *            both sides.
 * Tests      test/runtime/test_process.c, test_nomem.c */
#ifndef PTOI_MAP_MEMORY_H
#define PTOI_MAP_MEMORY_H
#include <stdbool.h>
#include <stdint.h>

void *ptoi_memory_map(uint64_t bytes, bool shared);   /* page-aligned; NULL: none */
void ptoi_memory_unmap(void *memory, uint64_t bytes); /* NULL is fine */

#endif
