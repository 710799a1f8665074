/* slots.c - see slots.h. */
#include "slots.h"
#include "shared/map_memory.h"
#include "shared/window.h"
#include <string.h>

bool ptoi_slots_init(struct slots *s, uint64_t heap_bytes)
{
    s->granules = heap_bytes / PTO_GRANULE + 1;
    s->tensor = ptoi_memory_map(s->granules * sizeof *s->tensor, false);
    s->bytes = heap_bytes;
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
    if (before && strcmp(before, tensor) != 0) ptoi_slots_set_blank(s, offset, bytes);
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++) s->tensor[g] = tensor;
}

void ptoi_slots_set_blank(struct slots *s, uint64_t offset, uint64_t bytes)
{
    memset(s->is_blank + offset, true, bytes);
}

/* The next run of bytes of the region; index: of its outer dimensions, all 0 in the first one.  false: that was the
 * last. */
static bool next_run(const struct region *r, int64_t *index, int64_t *at)
{
    for (int d = r->rank - 1; d >= 0; d--) {
        *at += r->dim[d].stride_bytes;
        if (++index[d] < r->dim[d].count) return true;
        *at -= r->dim[d].count * r->dim[d].stride_bytes;
        index[d] = 0;
    }
    return false;
}

bool ptoi_slots_is_blank(const struct slots *s, const struct region *r)
{
    int64_t index[PTO_MAX_RANK] = {0}, at = r->low;
    if (r->run == 0) return false;
    do
        if (memchr(s->is_blank + at, false, (size_t)r->run)) return false;
    while (next_run(r, index, &at));
    return true;
}

void ptoi_slots_fill(struct slots *s, const struct region *r)
{
    int64_t index[PTO_MAX_RANK] = {0}, at = r->low;
    do memset(s->is_blank + at, false, (size_t)r->run);
    while (next_run(r, index, &at));
}

const char *ptoi_slots_other(const struct slots *s, uint64_t offset, uint64_t bytes, const char *tensor)
{
    for (uint64_t g = offset / PTO_GRANULE; g < end_of(s, offset, bytes); g++)
        if (s->tensor[g] && strcmp(s->tensor[g], tensor) != 0) return s->tensor[g];
    return NULL;
}
