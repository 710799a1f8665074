/* shared_blocks.c - see shared_blocks.h. */
#include "shared_blocks.h"
#include "shared/map_memory.h"
#include "shared/system.h"
#include <pto/pto_runtime.h>
#include <stdlib.h>

struct shared_block {
    struct shared_block *next;
    uintptr_t low;
    uint64_t bytes, serial;
};

/* Guards everything below. */
static ptoi_lock lock = PTOI_LOCK_OPEN;
static struct shared_block *blocks;
static uint64_t youngest_serial;

void *pto_shared_alloc(int64_t bytes)
{
    if (bytes <= 0) return NULL;
    struct shared_block *b = malloc(sizeof *b);
    void *memory = b ? ptoi_memory_map((uint64_t)bytes, true) : NULL;
    if (!memory) {
        free(b);
        return NULL;
    }
    ptoi_lock_take(&lock);
    *b = (struct shared_block){
        .next = blocks, .low = (uintptr_t)memory, .bytes = (uint64_t)bytes, .serial = ++youngest_serial};
    blocks = b;
    ptoi_lock_leave(&lock);
    return memory;
}

void pto_shared_free(void *memory, int64_t bytes)
{
    if (!memory || bytes <= 0) return;
    struct shared_block *gone = NULL;
    ptoi_lock_take(&lock);
    for (struct shared_block **at = &blocks; *at; at = &(*at)->next) {
        if ((*at)->low != (uintptr_t)memory) continue;
        gone = *at;
        *at = gone->next;
        break;
    }
    ptoi_lock_leave(&lock);
    free(gone);
    ptoi_memory_unmap(memory, (uint64_t)bytes);
}

uint64_t ptoi_shared_youngest(void)
{
    ptoi_lock_take(&lock);
    const uint64_t youngest = youngest_serial;
    ptoi_lock_leave(&lock);
    return youngest;
}

bool ptoi_shared_holds(const void *memory, uint64_t bytes, uint64_t youngest)
{
    bool is_held = false;
    ptoi_lock_take(&lock);
    for (const struct shared_block *b = blocks; b && !is_held; b = b->next) {
        const uint64_t before = (uintptr_t)memory - b->low; /* modulo 2^64: large when it is in front */
        is_held = b->serial <= youngest && before < b->bytes && bytes <= b->bytes - before;
    }
    ptoi_lock_leave(&lock);
    return is_held;
}
