/* map_memory.c - see map_memory.h. */
#include "map_memory.h"
#include <stddef.h>
#include <sys/mman.h>

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
