/* slots.c - see slots.h. */
#include "slots.h"
#include "shared/map_memory.h"
#include "shared/window.h"
#include <string.h>

bool ptoi_slots_init(struct slots *s, uint64_t heap_bytes)
{
    *s = (struct slots){.granules = heap_bytes / PTO_GRANULE + 1, .bytes = heap_bytes};
    s->tensor = ptoi_memory_map(s->granules * sizeof *s->tensor, false);
    s->is_blank = ptoi_memory_map(s->bytes, false);
    return s->tensor && s->is_blank;
}

void ptoi_slots_free(struct slots *s)
{
    ptoi_memory_unmap(s->tensor, s->granules * sizeof *s->tensor);
    ptoi_memory_unmap(s->is_blank, s->bytes);
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
    memset(s->is_blank + offset, false, bytes);
}

void ptoi_slots_move(struct slots *s, uint64_t from, uint64_t to, uint64_t bytes)
{
    const uint64_t first = from / PTO_GRANULE;
    memmove(s->tensor + to / PTO_GRANULE, s->tensor + first, (end_of(s, from, bytes) - first) * sizeof *s->tensor);
    memmove(s->is_blank + to, s->is_blank + from, bytes);
}

void ptoi_slots_write(struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor)
{
    const char *const before = s->tensor[offset / PTO_GRANULE];
    if (before && strcmp(before, tensor) != 0 && s->next_count < PTO_MAX_PARAMS) {
        s->next[s->next_count].offset = offset;
        s->next[s->next_count++].bytes = bytes;
    }
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++) s->tensor[g] = tensor;
}

void ptoi_slots_set_blank(struct slots *s, uint64_t offset, uint64_t bytes)
{
    memset(s->is_blank + offset, true, bytes);
}

void ptoi_slots_begin(struct slots *s)
{
    for (int i = 0; i < s->next_count; i++) ptoi_slots_set_blank(s, s->next[i].offset, s->next[i].bytes);
    s->next_count = 0;
}

bool ptoi_slots_is_blank(const struct slots *s, uint64_t offset, uint64_t bytes)
{
    return !memchr(s->is_blank + offset, false, bytes);
}

void ptoi_slots_fill(struct slots *s, uint64_t offset, uint64_t bytes) { memset(s->is_blank + offset, false, bytes); }

const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor)
{
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++)
        if (s->tensor[g] && strcmp(s->tensor[g], tensor) != 0) return s->tensor[g];
    return NULL;
}
