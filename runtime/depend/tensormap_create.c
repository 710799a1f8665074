/* tensormap_create.c - the memory of a map: all that it will ever have.
 * Owner      the orchestrator.
 * Tests      test/runtime/test_tensormap.c
 */
#include "tensormap_tiles.h"
#include "shared/map_memory.h"
#include <stdlib.h>

/* The bytes of the arrays. */
static uint64_t cut_arrays(struct tensormap *m, char *memory)
{
    struct ptoi_cut c = {.memory = memory, .has_guards = true};
    const uint64_t ring = m->ring.mask + 1, heads = UINT64_C(1) << (64 - m->shift);
    m->ring.entry = ptoi_cut(&c, ring, sizeof *m->ring.entry);
    m->rare = ptoi_cut(&c, ring, sizeof *m->rare);
    m->node = ptoi_cut(&c, m->nodes, sizeof *m->node);
    m->head = ptoi_cut(&c, heads, sizeof *m->head);
    m->wide = ptoi_cut(&c, 2 * heads, sizeof *m->wide);
    m->seen = ptoi_cut(&c, m->window_mask + 1, sizeof *m->seen);
    return c.bytes;
}

struct tensormap *ptoi_map_create(int64_t entries, int64_t window, int64_t outside_buffers)
{
    if (entries < 1 || entries > 1 << 26 || window < 1 || (window & (window - 1)) || outside_buffers < 1 ||
        outside_buffers > 1 << 26)
        return NULL;
    struct tensormap *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    int32_t bits = 0;
    while (INT64_C(1) << bits < entries) bits++;
    const size_t ring = (size_t)1 << bits, heads = (size_t)(bits < 3 ? 16 : 2 << bits);
    m->ring.mask = ring - 1;
    m->shift = 64 - __builtin_ctzll(heads);
    m->capacity = (uint64_t)entries;
    m->ring.first = m->ring.next = 1;
    m->spare_fresh = 1;
    m->spare_count = 4 * (uint32_t)entries + CELL_LIMIT; /* 4 cells an entry; entries that get none go to the list */
    m->nodes = m->spare_fresh + m->spare_count;
    m->window_mask = (uint64_t)window - 1;
    m->memory = ptoi_memory_map(cut_arrays(m, NULL), false);
    if (!m->memory || !ptoi_outside_create(&m->out, outside_buffers) || !ptoi_tiles_create(&m->pool)) {
        ptoi_map_destroy(m);
        return NULL;
    }
    cut_arrays(m, m->memory);
    return m;
}

void ptoi_map_destroy(struct tensormap *m)
{
    if (!m) return;
    ptoi_arrays_unmap(m->memory, cut_arrays(m, NULL));
    ptoi_outside_free(&m->out);
    ptoi_tiles_free(&m->pool);
    free(m);
}
