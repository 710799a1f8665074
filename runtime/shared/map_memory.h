/* map_memory.h - zeroed memory straight from the system, for one process or for two.
 *
 * Idea       pages cost nothing until they are touched.  Shared memory mapped before a fork is at the same address on
 *            both sides.
 * Tests      test/runtime/test_process.c, test_nomem.c, test_map_memory.c */
#ifndef PTOI_MAP_MEMORY_H
#define PTOI_MAP_MEMORY_H
#include <stdbool.h>
#include <stdint.h>

void *ptoi_memory_map(uint64_t bytes, bool shared);   /* page-aligned; NULL: none */
void ptoi_memory_unmap(void *memory, uint64_t bytes); /* NULL is fine */

/* Private memory that is used from its beginning on, a little of it or most.  After ask_large_pages its first 512 KB
 * have small pages, because a short run needs no more, and the rest large ones, where the system gives them to those
 * that ask: the first access to a large page takes as long as to 120 small ones, and it has the room of 512.  Less than
 * 32 MB have small pages alone: a part of a page counts there. */
void *ptoi_memory_map_long(uint64_t bytes); /* page-aligned; NULL: none */
void ptoi_memory_ask_large_pages(void *memory, uint64_t bytes);

/* Zeroed arrays of one owner in one mapping, each at the beginning of a line of 64 bytes: calloc writes memory that the
 * process has had before, and the thread sanitizer touches a hundred pages for each mapping.  They are cut twice:
 * without memory, for its bytes, and then with it.  Arrays with guards are unmapped by ptoi_arrays_unmap: the address
 * sanitizer reports an access between them. */
struct ptoi_cut {
    char *memory; /* NULL: no array is made, its bytes are counted */
    uint64_t bytes;
    bool has_guards;
};

void *ptoi_cut(struct ptoi_cut *c, uint64_t count, uint64_t size);
void ptoi_arrays_unmap(void *memory, uint64_t bytes); /* NULL is fine */

#endif
