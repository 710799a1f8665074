/* tensormap_check.c - is what the map holds as its files promise?
 * Idea       what is said twice is counted from both sides: entries by the ring and by their buffers, chains and nodes
 *            by the ring and by the hash table.
 * Owner      the orchestrator; nothing is changed.
 * Tests      test/runtime/test_tensormap*.c, all of which ask it
 */
#include "tensormap_tiles.h"

/* The buffer's entries from its newest: as many as the buffer says. */
static bool buffer_is_valid(const struct tensormap *m, const struct map_buffer *b)
{
    uint32_t entries = 0, list = 0, apart = 0;
    for (uint64_t p = b->all; entries < b->entries; p -= entry_at(m, p)->older) {
        const struct map_entry *e = entry_at(m, p);
        if (!is_live(m, p) || e->older == 0) return false;
        if (e->buffer != b) continue;
        if (e->access != ACCESS_READ && p > b->written) return false;
        entries++;
        list += e->hanging == IN_LIST;
        apart += e->hanging != IN_CELL;
    }
    return list == b->list && apart == b->apart && ((!apart && !b->tables) || b->is_odd) && !b->joined &&
           (b->levels || !entries) && b->near == (b->levels == 1 && !b->is_odd ? b->reach : 0);
}

/* Entries in their ring; those in chains are counted in *chained, nodes of the others in *nodes. */
static bool ring_is_valid(const struct tensormap *m, uint64_t *chained, uint64_t *nodes)
{
    uint64_t of_buffers = 0, entries = 0;
    for (uint64_t p = m->ring.first; p < m->ring.next; p++) {
        const struct map_entry *e = entry_at(m, p);
        if (p > m->ring.first && e->task_id < entry_at(m, p - 1)->task_id) return false;
        if (!e->buffer) continue;
        entries++;
        if (e->region.low < e->buffer->low || e->region.high > e->buffer->high || e->buffer->all < p) return false;
        uint64_t newest = e->buffer->all;
        entry_of(m, e->buffer, &newest);
        if (newest == p) {
            of_buffers += e->buffer->entries;
            if (!buffer_is_valid(m, e->buffer)) return false;
        }
        if (e->hanging != IN_CELLS)
            ++*chained;
        else
            for (uint32_t n = rare_at(m, p)->nodes; n; n = m->node[n].sibling)
                if (++*nodes > m->nodes || m->node[n].entry != p) return false;
    }
    return entries == of_buffers;
}

static bool chain_is_valid(const struct tensormap *m, size_t head, int side, uint64_t *chained)
{
    for (uint64_t p = m->head[head].chain[side], before = UINT64_MAX; is_live(m, p);
         before = p, p = entry_at(m, p)->next) {
        const struct map_entry *e = entry_at(m, p);
        struct map_cells cells;
        if (p >= before) return false;
        if (!e->buffer) continue;
        ++*chained;
        const bool in_list = e->hanging == IN_LIST;
        const int64_t expected =
            in_list ? (int64_t)head_of_list(m, e->buffer) : ptoi_grid_where(m, e->buffer, &e->region, &cells);
        if (e->hanging == IN_CELLS || expected != (int64_t)head || (e->access != ACCESS_READ) != side) return false;
    }
    return true;
}

static bool nodes_are_valid(const struct tensormap *m, uint32_t at, uint64_t *linked)
{
    for (uint32_t n = m->wide[at], prev = AT_HEAD | at; n; prev = n, n = m->node[n].next) {
        const struct map_entry *e = entry_at(m, m->node[n].entry);
        if (++*linked > m->nodes || m->node[n].prev != prev || !is_live(m, m->node[n].entry) || !e->buffer ||
            e->hanging != IN_CELLS || (e->access != ACCESS_READ) != (at & 1))
            return false;
    }
    return true;
}

bool ptoi_map_is_valid(const struct tensormap *m)
{
    uint64_t to_chain = 0, nodes = 0, chained = 0, linked = 0;
    if (!ring_is_valid(m, &to_chain, &nodes)) return false;
    const size_t heads = (size_t)1 << (64 - m->shift);
    for (size_t h = 0; h < heads; h++)
        for (int side = READS; side <= WRITES; side++)
            if (!chain_is_valid(m, h, side, &chained) ||
                !nodes_are_valid(m, (uint32_t)(2 * h) + (uint32_t)side, &linked))
                return false;
    uint32_t spare = m->nodes - m->spare_fresh;
    for (uint32_t n = m->spare_free; n; n = m->node[n].sibling)
        if (++spare > m->spare_count) return false;
    return chained == to_chain && linked == nodes && spare == m->spare_count && spare + nodes + 1 == m->nodes &&
           ptoi_outside_is_valid(&m->out) && ptoi_tiles_are_valid(m);
}

int64_t ptoi_map_longest_chain(const struct tensormap *m)
{
    int64_t longest = 0;
    const size_t heads = (size_t)1 << (64 - m->shift);
    for (size_t h = 0; h < heads; h++)
        for (int side = READS; side <= WRITES; side++) {
            int64_t length = 0;
            for (uint64_t p = m->head[h].chain[side]; is_live(m, p); p = entry_at(m, p)->next) length++;
            for (uint32_t n = m->wide[2 * h + (size_t)side]; n; n = m->node[n].next) length++;
            longest = length > longest ? length : longest;
        }
    return longest;
}
