/* shared_blocks.c - see shared_blocks.h. */
#include "shared_blocks.h"
#include "shared/map_memory.h"
#include "shared/process_lock.h"
#include <pto/pto_runtime.h>
#include <stdlib.h>

struct shared_block {
    struct shared_block *next;
    uintptr_t low;
    uint64_t bytes, serial;
};

/* Guarded by PROCESS_LOCK_SHARED_BLOCKS. */
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
    ptoi_process_lock(PROCESS_LOCK_SHARED_BLOCKS);
    *b = (struct shared_block){
        .next = blocks, .low = (uintptr_t)memory, .bytes = (uint64_t)bytes, .serial = ++youngest_serial};
    blocks = b;
    ptoi_process_unlock(PROCESS_LOCK_SHARED_BLOCKS);
    return memory;
}

void pto_shared_free(void *memory, int64_t bytes)
{
    if (!memory || bytes <= 0) return;
    struct shared_block *gone = NULL;
    ptoi_process_lock(PROCESS_LOCK_SHARED_BLOCKS);
    for (struct shared_block **at = &blocks; *at; at = &(*at)->next) {
        if ((*at)->low != (uintptr_t)memory) continue;
        gone = *at;
        *at = gone->next;
        break;
    }
    ptoi_process_unlock(PROCESS_LOCK_SHARED_BLOCKS);
    free(gone);
    ptoi_memory_unmap(memory, (uint64_t)bytes);
}

uint64_t ptoi_shared_youngest(void)
{
    ptoi_process_lock(PROCESS_LOCK_SHARED_BLOCKS);
    const uint64_t youngest = youngest_serial;
    ptoi_process_unlock(PROCESS_LOCK_SHARED_BLOCKS);
    return youngest;
}

bool ptoi_shared_holds(const void *memory, uint64_t bytes, uint64_t youngest)
{
    bool is_held = false;
    ptoi_process_lock(PROCESS_LOCK_SHARED_BLOCKS);
    for (const struct shared_block *b = blocks; b && !is_held; b = b->next) {
        const uint64_t before = (uintptr_t)memory - b->low; /* modulo 2^64: large when it is in front */
        is_held = b->serial <= youngest && before < b->bytes && bytes <= b->bytes - before;
    }
    ptoi_process_unlock(PROCESS_LOCK_SHARED_BLOCKS);
    return is_held;
}
