/* tensormap_entries.c - where an entry of the map hangs: in the chain of one cell, in several cells, or in the list of
 * its buffer; how all entries of a buffer move at once; and how they leave.
 * Owner      the orchestrator.
 * Blocks     never, and allocates nothing.
 * Tests      test/runtime/test_tensormap_entries.c, test_tensormap_grid.c, test_tensormap_model.c
 */
#include "tensormap_tiles.h"

/* ---- entries of several cells ---- */

static void node_link(struct tensormap *m, uint32_t n, uint64_t entry, uint32_t at)
{
    struct node *node = &m->node[n];
    node->entry = entry;
    node->prev = AT_HEAD | at;
    node->next = m->wide[at];
    if (node->next) m->node[node->next].prev = n;
    m->wide[at] = n;
}

static void node_unlink(struct tensormap *m, uint32_t n)
{
    struct node *node = &m->node[n];
    if (node->prev & AT_HEAD)
        m->wide[node->prev & ~AT_HEAD] = node->next;
    else
        m->node[node->prev].next = node->next;
    if (node->next) m->node[node->next].prev = node->prev;
}

static uint32_t spare_take(struct tensormap *m)
{
    m->spare_count--;
    uint32_t n = m->spare_free;
    if (n) {
        m->spare_free = m->node[n].sibling;
        return n;
    }
    return m->spare_fresh++;
}

static void spare_give(struct tensormap *m, uint32_t n)
{
    m->node[n].sibling = m->spare_free;
    m->spare_free = n;
    m->spare_count++;
}

static void wide_hang(struct tensormap *m, uint64_t p, const struct map_buffer *b, const struct map_cells *c,
                      uint32_t side)
{
    struct entry_rare *rare = rare_at(m, p);
    rare->nodes = 0;
    rare->visited = 0;
    for (int64_t x = 0; x < c->count[0]; x++)
        for (int64_t y = 0; y < c->count[1]; y++)
            for (int64_t z = 0; z < c->count[2]; z++) {
                uint32_t n = spare_take(m);
                m->node[n].sibling = rare->nodes;
                rare->nodes = n;
                node_link(m, n, p, head_of_cell(m, b, c->first[0] + x, c->first[1] + y, c->first[2] + z) * 2 + side);
            }
}

SLOW_PATH void ptoi_map_unhang_wide(struct tensormap *m, uint64_t p)
{
    struct entry_rare *rare = rare_at(m, p);
    while (rare->nodes) {
        uint32_t n = rare->nodes;
        rare->nodes = m->node[n].sibling;
        node_unlink(m, n);
        spare_give(m, n);
    }
}

/* ---- lifetime of an entry ---- */

/* The chain goes from newer to older: what is added is the newest, what moves finds its place. */
static void chain_link(struct tensormap *m, uint64_t p, uint32_t head, uint32_t side)
{
    uint64_t *link = &m->head[head].chain[side];
    while (*link > p) link = &entry_at(m, *link)->next;
    entry_at(m, p)->next = *link;
    *link = p;
}

SLOW_PATH void ptoi_map_hang(struct tensormap *m, uint64_t p, const struct map_cells *cells)
{
    struct map_entry *e = entry_at(m, p);
    struct map_buffer *b = e->buffer;
    const uint32_t side = e->access != ACCESS_READ;
    b->apart++;
    b->is_odd = true;
    b->near = 0;
    if (cells->total <= CELL_LIMIT && cells->total <= m->spare_count) {
        e->hanging = IN_CELLS;
        wide_hang(m, p, b, cells, side);
        return;
    }
    e->hanging = IN_LIST;
    b->list++;
    chain_link(m, p, head_of_list(m, b), side);
}

void ptoi_map_compact(struct tensormap *m, struct map_buffer *b)
{
    uint64_t p = b->all, newer = 0;
    for (uint64_t left = b->entries; left > 0; left--) {
        const struct map_entry *e = entry_of(m, b, &p);
        if (newer)
            entry_at(m, newer)->older = (uint32_t)(newer - p);
        else
            b->all = p;
        newer = p;
        p -= e->older;
    }
}

/* Takes all entries of b out of their chains.  They are left in a list by `older`, from the oldest, which is
 * returned. */
static uint64_t unhang_all(struct tensormap *m, struct map_buffer *b)
{
    uint64_t oldest = 0;
    struct map_cells cells;
    for (uint64_t left = b->entries, p = b->all; left > 0; left--) {
        struct map_entry *e = entry_of(m, b, &p);
        const uint64_t at = p;
        p -= e->older;
        e->older = (uint32_t)(oldest - at);
        oldest = at;
        if (e->hanging == IN_CELLS) {
            ptoi_map_unhang_wide(m, at);
            continue;
        }
        const int64_t head =
            e->hanging == IN_LIST ? (int64_t)head_of_list(m, b) : ptoi_grid_where(m, b, &e->region, &cells);
        uint64_t *link = &m->head[head].chain[e->access != ACCESS_READ];
        while (*link != at) link = &entry_at(m, *link)->next;
        *link = e->next;
    }
    b->list = b->apart = 0;
    return oldest;
}

/* What unhang_all left becomes entries of b, which may have others. */
static void hang_all(struct tensormap *m, struct map_buffer *b, uint64_t p, uint64_t count)
{
    struct map_cells cells;
    uint64_t older = 0;
    for (; count > 0; count--) {
        struct map_entry *e = entry_at(m, p);
        const uint64_t next = p + e->older, at = p;
        e->buffer = b;
        e->older = (uint32_t)(at - older);
        const int64_t head = ptoi_grid_where(m, b, &e->region, &cells);
        e->hanging = IN_CELL;
        if (head == MANY)
            ptoi_map_hang(m, at, &cells);
        else
            chain_link(m, at, (uint32_t)head, e->access != ACCESS_READ);
        older = at;
        p = next;
    }
    b->all = older;
}

void ptoi_map_regrid(struct tensormap *m, struct map_buffer *b, const struct region *r) // see Note [regrid]
{
    const uint64_t oldest = unhang_all(m, b);
    ptoi_grid_choose(b, r);
    hang_all(m, b, oldest, b->entries);
}

void ptoi_map_move(struct tensormap *m, struct map_buffer *from, struct map_buffer *to)
{
    uint64_t moved = from->entries, left = to->entries, p = to->all;
    if (moved == 0) return;
    hang_all(m, to, unhang_all(m, from), moved);
    to->entries += from->entries;
    from->entries = 0;
    if (to->written < from->written) to->written = from->written;
    uint64_t q = to->all, last = 0; /* two lists, each from newer to older, become one */
    for (; moved + left > 0;) {
        if (left > 0) entry_of(m, to, &p);
        const bool is_moved = left == 0 || (moved > 0 && q > p);
        uint64_t *at = is_moved ? &q : &p;
        const uint64_t taken = *at;
        *at -= entry_at(m, taken)->older;
        *(is_moved ? &moved : &left) -= 1;
        if (last)
            entry_at(m, last)->older = (uint32_t)(last - taken);
        else
            to->all = taken;
        last = taken;
    }
}

/* ---- entries that are given back ---- */

void ptoi_map_retire(struct tensormap *m, uint64_t first_live_task)
{
    uint64_t p = m->ring.first;
    for (const uint64_t next = m->ring.next; p < next; p++) {
        const struct map_entry *e = entry_at(m, p);
        if (!e->buffer) continue; /* a dead one has nothing to wait for */
        if (e->task_id >= first_live_task) break;
        entry_leave(m, e, p);
    }
    m->ring.first = p;
    if (m->retired < first_live_task) m->retired = first_live_task;
}

void ptoi_map_forget_task(struct tensormap *m, uint64_t task_id)
{
    ptoi_tiles_forget_task(m, task_id);
    for (uint64_t p = m->ring.next; p-- > m->ring.first && entry_at(m, p)->task_id == task_id;)
        if (entry_at(m, p)->buffer) entry_kill(m, entry_at(m, p), p);
    ptoi_map_retire(m, 0); /* the dead ones: no task may ever retire after it */
}

int64_t ptoi_map_used(const struct tensormap *m) { return (int64_t)(m->ring.next - m->ring.first); }

int64_t ptoi_map_capacity(const struct tensormap *m) { return (int64_t)m->capacity; }

void ptoi_map_forget(struct tensormap *m, struct map_buffer *b)
{
    for (uint64_t left = b->entries, p = b->all; left > 0; left--) {
        struct map_entry *e = entry_of(m, b, &p);
        const uint64_t at = p;
        p -= e->older;
        entry_kill(m, e, at);
    }
}
