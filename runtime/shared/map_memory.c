/* map_memory.c - see map_memory.h. */
#include "map_memory.h"
#include "sanitizer.h"
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
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

/* Of the architectures that we know; where a large page is another size, there are fewer large ones. */
enum { LARGE_PAGE = 2 << 20, SMALL_FIRST = 512 << 10, LARGE_FROM = 16 * LARGE_PAGE };

void *ptoi_memory_map_long(uint64_t bytes)
{
    char *p = bytes >= LARGE_FROM ? ptoi_memory_map(bytes + LARGE_PAGE, false) : NULL;
    if (!p) return ptoi_memory_map(bytes, false);
    /* a large page begins where the small ones end; what is left at both sides goes back */
    const uint64_t before = -((uintptr_t)p + SMALL_FIRST) % LARGE_PAGE;
    if (before > 0) munmap(p, before);
    p += before;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    munmap(p + whole, LARGE_PAGE - before);
    return p;
}

void ptoi_memory_ask_large_pages(void *memory, uint64_t bytes)
{
    if (bytes < LARGE_FROM) return;
    const uint64_t first = SMALL_FIRST + -((uintptr_t)memory + SMALL_FIRST) % LARGE_PAGE,
                   end = bytes - ((uintptr_t)memory + bytes) % LARGE_PAGE;
    madvise((char *)memory + first, end - first, MADV_HUGEPAGE);
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
