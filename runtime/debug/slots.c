/* slots.c - see slots.h. */
#include "slots.h"
#include "shared/map_memory.h"
#include "shared/window.h"
#include <string.h>

bool ptoi_slots_init(struct slots *s, uint64_t heap_bytes)
{
    s->granules = heap_bytes / PTO_GRANULE + 1;
    s->tensor = ptoi_memory_map(s->granules * sizeof *s->tensor, false);
    return s->tensor != NULL;
}

void ptoi_slots_free(struct slots *s)
{
    ptoi_memory_unmap(s->tensor, s->granules * sizeof *s->tensor);
    *s = (struct slots){0};
}

static uint64_t end_of(const struct slots *s, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = (offset + bytes + PTO_GRANULE - 1) / PTO_GRANULE;
    return end < s->granules ? end : s->granules;
}

void ptoi_slots_forget(struct slots *s, uint64_t offset, uint64_t bytes)
{
    const uint64_t first = offset / PTO_GRANULE;
    memset(s->tensor + first, 0, (end_of(s, offset, bytes) - first) * sizeof *s->tensor);
}

void ptoi_slots_move(struct slots *s, uint64_t from, uint64_t to, uint64_t bytes)
{
    const uint64_t first = from / PTO_GRANULE;
    memmove(s->tensor + to / PTO_GRANULE, s->tensor + first, (end_of(s, from, bytes) - first) * sizeof *s->tensor);
}

void ptoi_slots_write(struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor)
{
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++) s->tensor[g] = tensor;
}

const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor)
{
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++)
        if (s->tensor[g] && strcmp(s->tensor[g], tensor) != 0) return s->tensor[g];
    return NULL;
}
