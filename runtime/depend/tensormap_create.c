/* tensormap_create.c - the memory of a map: all that it will ever have.
 * Owner      the orchestrator.
 * Tests      test/runtime/test_tensormap.c
 */
#include "tensormap_tiles.h"
#include <stdlib.h>

struct tensormap *ptoi_map_create(int64_t entries, int64_t window, int64_t outside_buffers)
{
    enum { LINE = 64 };
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
    m->entries_at = calloc(1, ring * sizeof *m->ring.entry + LINE);
    m->rare = calloc(ring, sizeof *m->rare);
    m->node = calloc(m->nodes, sizeof *m->node);
    m->head = calloc(heads, sizeof *m->head);
    m->wide = calloc(2 * heads, sizeof *m->wide);
    m->seen = calloc((size_t)window, sizeof *m->seen);
    if (!ptoi_outside_create(&m->out, outside_buffers) || !ptoi_tiles_create(&m->pool) || !m->entries_at || !m->rare ||
        !m->node || !m->head || !m->wide || !m->seen) {
        ptoi_map_destroy(m);
        return NULL;
    }
    m->ring.entry = (struct map_entry *)(((uintptr_t)m->entries_at + LINE - 1) / LINE * LINE);
    return m;
}

void ptoi_map_destroy(struct tensormap *m)
{
    if (!m) return;
    free(m->entries_at);
    free(m->rare);
    free(m->node);
    free(m->head);
    free(m->wide);
    free(m->seen);
    ptoi_outside_free(&m->out);
    ptoi_tiles_free(&m->pool);
    free(m);
}
