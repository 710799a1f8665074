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

/* As calloc, but the pages of a large table are not touched, neither ours nor the shadow that a sanitizer has of them:
 * the C library clears what it has handed out before.  NULL: none. */
void *ptoi_table_make(uint64_t count, uint64_t bytes_each);
void ptoi_table_free(void *table, uint64_t count, uint64_t bytes_each); /* NULL is fine */

#endif
