#include "ptrmap.h"
#include "arena.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static size_t slot_of(const struct ptrmap *m, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash >> 20) & (m->capacity - 1);
    while (m->entries[slot].key && m->entries[slot].key != key) slot = (slot + 1) & (m->capacity - 1);
    return slot;
}

static void grow(struct ptrmap *m)
{
    struct ptrmap bigger = {.capacity = m->capacity ? m->capacity * 2 : 64, .mem = m->mem};
    bigger.entries = m->mem ? arena_array(m->mem, struct ptrmap_entry, bigger.capacity)
                            : calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    for (size_t i = 0; i < m->capacity; i++)
        if (m->entries[i].key) bigger.entries[slot_of(&bigger, m->entries[i].key)] = m->entries[i];
    bigger.count = m->count;
    if (!m->mem) free(m->entries);
    *m = bigger;
}

void *ptrmap_get(const struct ptrmap *m, const void *key)
{
    return m->capacity ? m->entries[slot_of(m, key)].value : NULL;
}

void ptrmap_set(struct ptrmap *m, const void *key, void *value)
{
    if (m->count * 2 >= m->capacity) grow(m);
    size_t slot = slot_of(m, key);
    if (!m->entries[slot].key) m->count++;
    m->entries[slot] = (struct ptrmap_entry){key, value};
}

void ptrmap_free(struct ptrmap *m)
{
    if (!m->mem) free(m->entries);
    *m = (struct ptrmap){.mem = m->mem};
}
