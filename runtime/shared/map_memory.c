/* map_memory.c - see map_memory.h. */
#include "map_memory.h"
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LARGE = 64 << 10 }; /* bytes: below it, pages that are in use already are the cheaper ones */

void *ptoi_memory_map(uint64_t bytes, bool shared)
{
    const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void ptoi_memory_unmap(void *memory, uint64_t bytes)
{
    if (memory) munmap(memory, bytes);
}

void *ptoi_table_make(uint64_t count, uint64_t bytes_each)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(count, bytes_each, &bytes)) return NULL;
    return bytes < LARGE ? calloc(count, bytes_each) : ptoi_memory_map(bytes, false);
}

void ptoi_table_free(void *table, uint64_t count, uint64_t bytes_each)
{
    if (count * bytes_each < LARGE)
        free(table);
    else
        ptoi_memory_unmap(table, count * bytes_each);
}
