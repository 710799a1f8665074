/* map_memory.c - see map_memory.h. */
#include "map_memory.h"
#include "sanitizer.h"
#include <stddef.h>
#include <sys/mman.h>
#if PTOI_HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)0)
#endif

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

void *ptoi_cut(struct ptoi_cut *c, uint64_t count, uint64_t size)
{
    enum { LINE = 64 };
    const uint64_t first = c->bytes, end = first + count * size;
    c->bytes = (end + LINE - 1) / LINE * LINE + (c->has_guards ? LINE : 0);
    if (!c->memory) return NULL;
    if (c->has_guards) ASAN_POISON_MEMORY_REGION(c->memory + end, c->bytes - end);
    return c->memory + first;
}

void ptoi_arrays_unmap(void *memory, uint64_t bytes)
{
    if (memory) ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    ptoi_memory_unmap(memory, bytes);
}
