/* names.c - see names.h. */
#include "names.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include "shared/window.h"
#include <sys/mman.h>

static int bits_of(uint64_t n) /* the least power of two that is not below n */
{
    return n <= 1 ? 0 : 64 - __builtin_clzll(n - 1);
}

/* The smallest slot is a granule. */
enum { GRANULE_BITS = __builtin_ctz(PTO_GRANULE) };

static int size_bits(int size) { return GRANULE_BITS + size; }

/* Buffers of more than half a slot are alive at once. */
static uint64_t slots_of(uint64_t heap_bytes, int size)
{
    return heap_bytes >> (size == 0 ? GRANULE_BITS : size_bits(size) - 1);
}

bool ptoi_names_reserve(struct names *n, const void *heap, uint64_t heap_bytes)
{
    const int sizes = bits_of(heap_bytes) - GRANULE_BITS + 1, area_bits = bits_of(2 * heap_bytes);
    if (n->bytes > 0) return true;
    if (sizes > PTOI_NAME_SIZES || area_bits > 56) return false;
    const uint64_t bytes = (uint64_t)sizes << area_bits;
    uint64_t slots = 0;
    for (int size = 0; size < sizes; size++) {
        n->area[size] = (struct name_area){.first = slots};
        slots += slots_of(heap_bytes, size);
    }
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    n->slot = ptoi_memory_map(slots * sizeof *n->slot, false);
    if (!n->slot) {
        munmap(p, bytes);
        return false;
    }
    n->at = (uintptr_t)p - (uintptr_t)heap;
    n->bytes = bytes;
    n->area_bits = area_bits;
    n->slots = slots;
    return true;
}

void ptoi_names_free(struct names *n, const void *heap)
{
    if (n->bytes > 0) munmap((char *)(uintptr_t)heap + n->at, n->bytes);
    ptoi_memory_unmap(n->slot, n->slots * sizeof *n->slot);
    *n = (struct names){0};
}

static uint64_t slot_in(const struct names *n, int size, uint64_t offset)
{
    return ((offset - n->at) & (((uint64_t)1 << n->area_bits) - 1)) >> size_bits(size);
}

uint64_t ptoi_names_take(struct names *n, uint32_t buffer, uint64_t bytes)
{
    const int bits = bits_of(bytes), size = bits < GRANULE_BITS ? 0 : bits - GRANULE_BITS;
    struct name_area *a = &n->area[size];
    uint32_t slot = a->free - 1;
    if (a->free > 0)
        a->free = n->slot[a->first + slot];
    else
        slot = a->fresh++;
    n->slot[a->first + slot] = buffer;
    return n->at + ((uint64_t)size << n->area_bits) + ((uint64_t)slot << size_bits(size));
}

void ptoi_names_give_back(struct names *n, uint64_t name)
{
    const int size = (int)((name - n->at) >> n->area_bits);
    const uint64_t slot = slot_in(n, size, name);
    CHECK(slot < n->area[size].fresh);
    n->slot[n->area[size].first + slot] = n->area[size].free;
    n->area[size].free = (uint32_t)slot + 1;
}

uint32_t ptoi_names_find(const struct names *n, uint64_t offset)
{
    const int size = (int)((offset - n->at) >> n->area_bits);
    const uint64_t slot = slot_in(n, size, offset);
    return slot < n->area[size].fresh ? n->slot[n->area[size].first + slot] : 0;
}
