/* regions.c - see regions.h.
 * Invariant  of an argument stand: what it is, the name, the place, the extents, the strides; a word -1 ends a task. */
#include "regions.h"
#include "shared/map_memory.h"
#include <string.h>

#define BYTES (PTOI_REGION_WORDS * sizeof(int64_t))

bool ptoi_regions_init(struct recorded_regions *r)
{
    *r = (struct recorded_regions){.word = ptoi_memory_map(BYTES, false)};
    return r->word != NULL;
}

void ptoi_regions_free(struct recorded_regions *r)
{
    ptoi_memory_unmap(r->word, BYTES);
    *r = (struct recorded_regions){0};
}

uint32_t ptoi_regions_begin(struct recorded_regions *r, int count)
{
    const uint64_t most = (uint64_t)count * PTOI_REGION_MOST + 1;
    return r->count + most <= PTOI_REGION_WORDS ? (uint32_t)r->count + 1 : 0;
}

void ptoi_regions_add(struct recorded_regions *r, const struct recorded_region *a)
{
    int64_t *w = r->word + r->count;
    *w++ = a->view.kind | a->view.type << 8 | a->view.rank << 16 | a->is_heap << 24;
    *w++ = (int64_t)(intptr_t)a->tensor;
    *w++ = a->at;
    for (int d = 0; d < a->view.rank; d++) *w++ = a->view.shape[d];
    for (int d = 0; d < a->view.rank; d++) *w++ = a->view.stride[d];
    r->count = (uint64_t)(w - r->word);
}

void ptoi_regions_end(struct recorded_regions *r) { r->word[r->count++] = -1; }

bool ptoi_regions_next(const struct recorded_regions *r, uint32_t *at, struct recorded_region *a)
{
    const int64_t *w = r->word + *at - 1;
    if (*w < 0) return false;
    *a = (struct recorded_region){.tensor = (const char *)(intptr_t)w[1], .at = w[2], .is_heap = w[0] >> 24 != 0};
    a->view.kind = (uint8_t)w[0];
    a->view.type = (uint8_t)(w[0] >> 8);
    a->view.rank = (uint8_t)(w[0] >> 16);
    a->view.shape = w + 3;
    a->view.stride = w + 3 + a->view.rank;
    *at += 3 + 2u * a->view.rank;
    return true;
}
