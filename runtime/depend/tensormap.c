/* tensormap.c - which uncompleted tasks touch which bytes: the orchestrator's private memory of accesses.
 * Idea       A ring of entries, one for each access, in task order.  An entry hangs in the chain of the cell of its
 *            buffer's grid that it touches, Note [cells]; all chains are in one hash table.  Exact overlap decides,
 *            cells only choose whom to ask.  Tiles that are used again and again are a cell each, with a chain of their
 *            own: one writer and its readers.  A buffer of which all accesses are tiles has a table of them instead,
 *            Note [tile tables].
 * Owner      the orchestrator.
 * Invariant  Every entry that is not dead is in the chain of each cell it touches, Note [chains].  It is dead from when
 *            its buffer is closed or a later write covers it, Note [superseded].  Its place in the ring comes back in
 *            task order.
 * Blocks     never, and allocates only in ptoi_map_create.
 * Tests      test/runtime/test_tensormap.c, test_tensormap_model.c
 */
#include "tensormap_tiles.h"
#include "shared/check.h"
#include <string.h>

/* Note [superseded]
 * A write whose region contains an older access depends on it.  A later task that depends on the older access overlaps
 * the write too, and so depends on the write.  The older entry need not be found any more, and the map holds about one
 * writer for each live region. */

/* ---- look-ups ---- */

/* The look-ups of one task. */
struct look {
    struct tensormap *m;
    const void *kernel;
    struct map_found *found;
};

static void note_waste(struct map_buffer *b)
{
    b->waste++;
    b->is_odd |= has_wasted(b);
    ptoi_map_set_near(b);
}

/* An entry of the same cell: its region may overlap the access. */
SLOW_PATH static void visit(const struct look *l, struct map_buffer *b, const struct region *r, enum access access,
                            const struct map_entry *e, uint64_t p)
{
    if (!ptoi_region_overlaps(r, &e->region))
        note_waste(b);
    else if (!(access == ACCESS_ACC && e->access == ACCESS_ACC && rare_at(l->m, p)->kernel == l->kernel &&
               ptoi_region_equals(r, &e->region)))
        found_note(l->m, l->found, e->task_id);
}

/* An entry that begins at the byte `conflict` overlaps without a comparison, because a view touches its first byte. */
SLOW_PATH static void find_in_chain_any(const struct look *l, struct map_buffer *b, const struct region *r,
                                        enum access access, uint64_t *link, int64_t conflict)
{
    struct tensormap *m = l->m;
    for (uint64_t p = *link; is_live(m, p); p = *link) {
        struct map_entry *e = entry_at(m, p);
        if (e->region.low == conflict) {
            found_note(m, l->found, e->task_id);
        } else if (!e->buffer) {
            *link = e->next;
            continue;
        } else {
            visit(l, b, r, access, e, p);
        }
        link = &e->next;
    }
}

/* The same.  Mostly the chain has nothing but accesses that begin at that byte. */
static inline void find_in_chain(const struct look *l, struct map_buffer *b, const struct region *r, enum access access,
                                 uint64_t *link, int64_t conflict)
{
    struct tensormap *m = l->m;
    for (uint64_t p = *link; is_live(m, p); p = *link) {
        struct map_entry *e = entry_at(m, p);
        if (e->region.low != conflict) {
            find_in_chain_any(l, b, r, access, link, conflict);
            return;
        }
        found_note(m, l->found, e->task_id);
        link = &e->next;
    }
}

static inline void find_in_cell(const struct look *l, struct map_buffer *b, const struct region *r, enum access access,
                                struct head *cell)
{
    if (access == ACCESS_READ) {
        find_in_chain(l, b, r, access, &cell->chain[WRITES], r->low);
    } else {
        const int64_t conflict = access == ACCESS_ACC ? INT64_MIN : r->low; /* accumulations may commute */
        find_in_chain(l, b, r, access, &cell->chain[WRITES], conflict);
        find_in_chain(l, b, r, access, &cell->chain[READS], conflict);
    }
}

static void find_in_nodes(const struct look *l, const struct map_access *a, uint32_t n)
{
    for (; n; n = l->m->node[n].next) {
        const uint64_t p = l->m->node[n].entry;
        struct entry_rare *rare = rare_at(l->m, p);
        if (rare->visited != l->m->visit) visit(l, a->buffer, a->region, a->access, entry_at(l->m, p), p);
        rare->visited = l->m->visit;
    }
}

static void find_at(const struct look *l, const struct map_access *a, uint32_t head)
{
    struct tensormap *m = l->m;
    find_in_cell(l, a->buffer, a->region, a->access, &m->head[head]);
    find_in_nodes(l, a, m->wide[head * 2 + WRITES]);
    if (a->access != ACCESS_READ) find_in_nodes(l, a, m->wide[head * 2 + READS]);
}

/* More cells than entries: visiting all entries is cheaper. */
static bool is_near_all(const struct map_buffer *b, const struct map_cells *c)
{
    return c->total > CELL_LIMIT && c->total > b->entries;
}

static void find_in_all(const struct look *l, const struct map_access *a)
{
    struct map_buffer *b = a->buffer;
    const uint32_t waste = b->waste;
    ptoi_map_compact(l->m, b);
    for (uint64_t left = b->entries, p = b->all; left > 0; left--) {
        const struct map_entry *e = entry_at(l->m, p);
        if (a->access != ACCESS_READ || e->access != ACCESS_READ) visit(l, b, a->region, a->access, e, p);
        p -= e->older;
    }
    b->waste = waste; /* larger cells would not help: the region meets nearly all of them */
}

/* Sets the cells of the access, in the grid that its buffer has. */
static void locate(const struct tensormap *m, struct map_access *a)
{
    const int64_t head = ptoi_grid_where(m, a->buffer, a->region, &a->cells);
    a->cell = head == MANY ? NULL : &m->head[head];
}

/* The slow path: any buffer, any cells.  true: these are located. */
SLOW_PATH static bool find_far(const struct look *l, struct map_access *a)
{
    struct tensormap *m = l->m;
    struct map_buffer *b = a->buffer = buffer_now(a->buffer);
    if (b->tables) ptoi_tiles_find(m, b, a->region, a->access, l->found);
    if (b->entries == 0 || (a->access == ACCESS_READ && !is_live(m, b->written))) return false;
    const struct map_cells *c = &a->cells;
    locate(m, a);
    m->visit++;
    if (a->cell) {
        find_at(l, a, (uint32_t)(a->cell - m->head));
    } else if (is_near_all(b, c)) {
        find_in_all(l, a);
        return true;
    } else {
        for (int64_t x = 0; x < c->count[0]; x++)
            for (int64_t y = 0; y < c->count[1]; y++)
                for (int64_t z = 0; z < c->count[2]; z++)
                    find_at(l, a, head_of_cell(m, b, c->first[0] + x, c->first[1] + y, c->first[2] + z));
    }
    if (b->list) find_at(l, a, head_of_list(m, b));
    return true;
}

/* Does the write make an entry of the same cell needless?  See Note [superseded]. */
static inline bool supersedes(const struct region *r, uint64_t task_id, const struct map_entry *e)
{
    return e->task_id != task_id && region_holds(r, &e->region);
}

/* Kills the entries of earlier tasks in the chain that r contains, and unlinks dead ones. */
static void supersede_in_chain(struct tensormap *m, uint64_t *link, const struct region *r, uint64_t task_id)
{
    for (uint64_t p = *link; is_live(m, p); p = *link) {
        struct map_entry *e = entry_at(m, p);
        if (e->buffer) {
            if (!supersedes(r, task_id, e)) {
                link = &e->next;
                continue;
            }
            entry_kill(m, e, p);
        }
        *link = e->next;
    }
}

static void supersede_in_nodes(struct tensormap *m, uint32_t n, const struct region *r, uint64_t task_id)
{
    while (n) {
        const uint64_t p = m->node[n].entry;
        struct map_entry *e = entry_at(m, p);
        n = m->node[n].next;
        while (n && m->node[n].entry == p) /* a further node of the same entry, which leaves with it */
            n = m->node[n].next;
        if (supersedes(r, task_id, e)) entry_kill(m, e, p);
    }
}

static void supersede_at(struct tensormap *m, uint32_t head, const struct region *r, uint64_t task_id)
{
    for (uint32_t side = READS; side <= WRITES; side++) {
        supersede_in_chain(m, &m->head[head].chain[side], r, task_id);
        supersede_in_nodes(m, m->wide[head * 2 + side], r, task_id);
    }
}

static void supersede_in_all(struct tensormap *m, struct map_buffer *b, const struct region *r, uint64_t task_id)
{
    ptoi_map_compact(m, b);
    for (uint64_t left = b->entries, p = b->all; left > 0; left--) {
        struct map_entry *e = entry_at(m, p);
        const uint64_t at = p;
        p -= e->older;
        if (supersedes(r, task_id, e)) entry_kill(m, e, at);
    }
}

/* The slow path, as find_far. */
static void supersede_far(struct tensormap *m, const struct map_access *a, uint64_t task_id)
{
    struct map_buffer *b = a->buffer;
    const struct map_cells *c = &a->cells;
    if (a->cell) {
        supersede_at(m, (uint32_t)(a->cell - m->head), a->region, task_id);
    } else if (is_near_all(b, c)) {
        supersede_in_all(m, b, a->region, task_id);
        return;
    } else {
        for (int64_t x = 0; x < c->count[0]; x++)
            for (int64_t y = 0; y < c->count[1]; y++)
                for (int64_t z = 0; z < c->count[2]; z++)
                    supersede_at(m, head_of_cell(m, b, c->first[0] + x, c->first[1] + y, c->first[2] + z), a->region,
                                 task_id);
    }
    if (b->list) supersede_at(m, head_of_list(m, b), a->region, task_id);
}

/* Once in 2^32 tasks: old stamps must not look new. */
SLOW_PATH static void begin_stamps(struct tensormap *m)
{
    memset(m->seen, 0, (size_t)(m->window_mask + 1) * sizeof *m->seen);
    m->stamp = 1;
}

static inline void begin(struct tensormap *m, struct map_found *found)
{
    found->count = 0;
    if (++m->stamp == 0) begin_stamps(m);
}

void ptoi_map_begin(struct tensormap *m, struct map_found *found) { begin(m, found); }

/* It may hold accesses, or be joined to one that does. */
static inline bool is_used(const struct map_buffer *b) { return b->entries || b->joined || b->tables; }

static inline void find_one(const struct look *l, struct map_access *a)
{
    struct head *cell = near_cell(l->m, a->buffer, a->region);
    if (cell)
        find_in_cell(l, a->buffer, a->region, a->access, cell);
    else if (is_used(a->buffer))
        find_far(l, a);
}

void ptoi_map_find_all(struct tensormap *m, struct map_access *a, int32_t count, const void *kernel,
                       struct map_found *found)
{
    const struct look l = {m, kernel, found};
    for (int32_t i = 0; i < count; i++) find_one(&l, &a[i]);
}

void ptoi_map_find(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                   const void *kernel, struct map_found *found)
{
    struct map_access a = {.buffer = b, .region = r, .access = access};
    if (r->run > 0) ptoi_map_find_all(m, &a, 1, kernel, found);
}

bool ptoi_map_reserve(struct tensormap *m, int64_t entries)
{
    return entries <= (int64_t)(m->capacity - (m->ring.next - m->ring.first));
}

static void region_copy(struct region *to, const struct region *from)
{
    to->low = from->low;
    to->high = from->high;
    to->run = from->run;
    to->rank = from->rank;
    if (from->rank == 0) return;
    to->dim[0] = from->dim[0]; /* enough for a tile of a matrix */
    for (int32_t k = 1; k < from->rank; k++) to->dim[k] = from->dim[k];
}

/* The access is the first of its buffer: the cells of the grid get its size. */
static void grid_first(struct tensormap *m, struct map_access *a)
{
    struct map_buffer *b = a->buffer;
    if (b->levels && a->cell && ptoi_grid_fits(b, a->region)) { /* a tile that fits keeps the grid */
        b->waste = 0;
        return;
    }
    ptoi_grid_choose(b, a->region);
    locate(m, a);
}

/* The next entry, of which buffer, access and region are there, and which is in no chain yet. */
static inline void entry_take(struct tensormap *m, struct map_entry *e, uint64_t task_id)
{
    const uint64_t p = m->ring.next++;
    struct map_buffer *b = e->buffer;
    e->task_id = task_id;
    e->hanging = IN_CELL;
    e->older = (uint32_t)(p - b->all);
    b->all = p;
    b->entries++;
    if (e->access != ACCESS_READ) b->written = p;
}

static inline struct map_entry *entry_place(struct tensormap *m, const struct map_access *a)
{
    struct map_entry *e = entry_at(m, m->ring.next);
    e->buffer = a->buffer;
    e->access = (uint8_t)a->access;
    if (a->region != &e->region) region_copy(&e->region, a->region);
    return e;
}

static inline void link_newest(struct map_entry *e, uint64_t p, uint64_t *link)
{
    e->next = *link;
    *link = p;
}

/* The slow path: any buffer, any grid, any cells. */
static void add_far(struct tensormap *m, struct map_access *a, bool is_located, const void *kernel, uint64_t task_id)
{
    struct map_buffer *b = a->buffer = buffer_now(a->buffer);
    CHECK(m->ring.next - m->ring.first < m->capacity);
    if (b->levels && !is_located) locate(m, a);
    const bool is_tile = b->tables && ptoi_tiles_add(m, b, a->region, a->access, task_id);
    if ((a->access == ACCESS_WRITE || a->access == ACCESS_UPDATE) && b->entries) supersede_far(m, a, task_id);
    if (is_tile) return;
    if (b->entries == 0) {
        grid_first(m, a);
        if (ptoi_tiles_open(m, b) && ptoi_tiles_add(m, b, a->region, a->access, task_id)) return;
    } else if (has_wasted(b) && !b->tiles) {
        ptoi_map_regrid(m, b, a->region);
        locate(m, a);
    }
    b->is_odd = b->apart > 0 || b->tables;
    ptoi_map_set_near(b);

    const uint64_t p = m->ring.next;
    struct map_entry *e = entry_place(m, a);
    entry_take(m, e, task_id);
    if (a->access == ACCESS_ACC) rare_at(m, p)->kernel = kernel;
    if (a->cell)
        link_newest(e, p, &a->cell->chain[a->access != ACCESS_READ]);
    else
        ptoi_map_hang(m, p, &a->cells);
}

SLOW_PATH static void find_and_add_far(const struct look *l, struct map_access *a, uint64_t task_id)
{
    const bool is_located = is_used(a->buffer) && find_far(l, a);
    add_far(l->m, a, is_located, l->kernel, task_id);
}

/* A write finds the entries of a chain, and supersedes what it contains, in one walk. */
SLOW_PATH static void find_and_supersede_any(const struct look *l, const struct map_entry *own, uint64_t *link,
                                             uint64_t task_id)
{
    struct tensormap *m = l->m;
    const struct region *r = &own->region;
    uint64_t p = *link;
    while (is_live(m, p)) {
        struct map_entry *e = entry_at(m, p);
        const uint64_t next = e->next;
        if (e->buffer) {
            if (e->region.low == r->low) /* as in find_in_chain */
                found_note(m, l->found, e->task_id);
            else
                visit(l, own->buffer, r, (enum access)own->access, e, p);
            if (!supersedes(r, task_id, e)) {
                link = &e->next;
                p = next;
                continue;
            }
            entry_kill(m, e, p);
        }
        *link = p = next;
    }
}

/* The same.  Mostly earlier tasks have used these very bytes, and so the whole chain goes. */
static inline __attribute__((always_inline)) void find_and_supersede(const struct look *l, const struct map_entry *own,
                                                                     uint64_t *link, uint64_t task_id)
{
    struct tensormap *m = l->m;
    const struct region *r = &own->region;
    const int64_t low = r->low, contained = r->rank == 0 ? r->high : INT64_MIN; /* ends of what surely is */
    uint64_t p = *link;
    while (is_live(m, p)) {
        struct map_entry *e = entry_at(m, p);
        if (e->region.low != low || (e->region.high > contained && !ptoi_region_equals(r, &e->region)) ||
            e->task_id == task_id || e->hanging != IN_CELL) {
            *link = p;
            find_and_supersede_any(l, own, link, task_id);
            return;
        }
        found_note(m, l->found, e->task_id);
        p = e->next;
        if (--e->buffer->entries == 0) e->buffer->all = 0;
        entry_forget(e);
    }
    *link = p;
}

/* The next entry, of which buffer, access and region are there: what it must follow is found, and it hangs in the one
 * cell that it touches. */
static inline __attribute__((always_inline)) void find_and_hang(const struct look *l, struct map_entry *e,
                                                                struct head *cell, uint64_t task_id)
{
    struct tensormap *m = l->m;
    const uint64_t p = m->ring.next;
    if (e->access == ACCESS_READ) {
        find_in_chain(l, e->buffer, &e->region, ACCESS_READ, &cell->chain[WRITES], e->region.low);
        link_newest(e, p, &cell->chain[READS]);
    } else {
        if (e->access == ACCESS_ACC) {
            find_in_cell(l, e->buffer, &e->region, ACCESS_ACC, cell);
            rare_at(m, p)->kernel = l->kernel;
        } else {
            find_and_supersede(l, e, &cell->chain[WRITES], task_id);
            find_and_supersede(l, e, &cell->chain[READS], task_id);
        }
        link_newest(e, p, &cell->chain[WRITES]);
    }
    entry_take(m, e, task_id);
}

void ptoi_map_find_and_add(struct tensormap *m, struct map_access *a, int32_t count, const void *kernel,
                           uint64_t task_id, struct map_found *found)
{
    const struct look l = {m, kernel, found};
    m->seen[task_id & m->window_mask] = (struct seen){.stamp = m->stamp, .at = NOT_FOUND};
    for (const struct map_access *end = a + count; a < end; a++) {
        struct tile *const tile = tile_of(a->buffer, a->region);
        if (tile && tile_take(m, tile, a->access, task_id, found)) continue;
        struct head *cell = near_cell(m, a->buffer, a->region);
        CHECK(m->ring.next - m->ring.first < m->capacity);
        if (cell)
            find_and_hang(&l, entry_place(m, a), cell, task_id);
        else
            find_and_add_far(&l, a, task_id);
    }
}

/* It has the place that it will have as an entry, if all before it have become one. */
SLOW_PATH static void take_far(const struct look *l, struct map_entry *e, uint64_t task_id)
{
    struct map_access a = {.buffer = e->buffer, .region = &e->region, .access = (enum access)e->access};
    find_and_add_far(l, &a, task_id);
}

/* It goes to a place before its own. */
static void entry_copy(struct map_entry *to, const struct map_entry *from)
{
    to->buffer = from->buffer;
    to->access = from->access;
    region_copy(&to->region, &from->region);
}

/* A reader of a tile that finds no place there. */
SLOW_PATH static void hang_reader(struct tensormap *m, const struct map_entry *e, struct tile *tile, uint64_t task_id)
{
    struct map_entry *const to = entry_at(m, m->ring.next);
    CHECK(m->ring.next - m->ring.first < m->capacity);
    if (to != e) entry_copy(to, e);
    link_newest(to, m->ring.next, &m->head[head_of_tile(m, to->buffer, tile)].chain[READS]);
    entry_take(m, to, task_id);
    tile->more = task_id + 1;
}

/* What tile_take did not do of a tile. */
static void take_crowded(const struct look *l, const struct map_entry *e, struct tile *tile, uint64_t task_id)
{
    if (e->access == ACCESS_READ) {
        hang_reader(l->m, e, tile, task_id);
    } else {
        find_and_supersede(l, e, &l->m->head[head_of_tile(l->m, e->buffer, tile)].chain[READS], task_id);
        tile_write_crowded(tile, task_id);
    }
}

/* Accesses of any buffers; `found` has what was found for those before them. */
SLOW_PATH static void take_any(const struct look *l, struct map_entry *e, const struct map_entry *end, uint64_t task_id)
{
    struct tensormap *m = l->m;
    for (struct map_entry *to = entry_at(m, m->ring.next); e < end; e++) {
        struct tile *const tile = tile_of(e->buffer, &e->region);
        if (tile && tile_take(m, tile, (enum access)e->access, task_id, l->found)) continue;
        struct head *cell = near_cell(m, e->buffer, &e->region);
        CHECK(m->ring.next - m->ring.first < m->capacity && to == entry_at(m, m->ring.next));
        if (cell) {
            if (to != e) entry_copy(to, e);
            find_and_hang(l, to++, cell, task_id);
            continue;
        }
        if (tile && e->access != ACCESS_ACC)
            take_crowded(l, e, tile, task_id);
        else
            take_far(l, e, task_id);
        to = entry_at(m, m->ring.next);
    }
}

/* Those that were found are noted again, where they are. */
static inline void begin_own(struct tensormap *m, struct map_found *found, uint64_t task_id)
{
    const int32_t count = found->count;
    begin(m, found);
    m->seen[task_id & m->window_mask] = (struct seen){.stamp = m->stamp, .at = NOT_FOUND};
    for (int32_t k = 0; k < count; k++) found_note(m, found, found->task_id[k]);
}

/* Tiles that come first: there are few producers of a task whose accesses are all tiles. */
SLOW_PATH static void take_tiles(struct tensormap *m, struct map_entry *e, const struct map_entry *end,
                                 const void *kernel, uint64_t task_id, struct map_found *found)
{
    const uint64_t retired = m->retired, own = task_id + 1;
    uint64_t *const ids = found->task_id;
    int32_t count = found->count;
    for (; e < end; e++) {
        struct tile *const t = tile_of(e->buffer, &e->region);
        const enum access access = (enum access)e->access;
        if (!t || access == ACCESS_ACC) break;
        if (access == ACCESS_READ) {
            count = few_note(ids, count, retired, t->writer, own);
            if (!tile_read(m->retired, t, task_id)) hang_reader(m, e, t, task_id);
        } else {
            if (tile_holds(m, t->more)) break;
            count = few_note_all(ids, count, retired, t, own);
            tile_write(t, task_id);
        }
    }
    found->count = count;
    if (e == end) return;
    const struct look l = {m, kernel, found};
    begin_own(m, found, task_id);
    take_any(&l, e, end, task_id);
}

/* Accesses of which the first is of a buffer without a table. */
SLOW_PATH static void take_entries(struct tensormap *m, struct map_entry *e, const struct map_entry *end,
                                   const void *kernel, uint64_t task_id, struct map_found *found)
{
    const struct look l = {m, kernel, found};
    begin_own(m, found, task_id);
    for (; e < end; e++) {
        struct head *cell = near_cell(m, e->buffer, &e->region);
        CHECK(m->ring.next - m->ring.first < m->capacity && e == entry_at(m, m->ring.next));
        if (!cell) {
            take_any(&l, e, end, task_id);
            return;
        }
        find_and_hang(&l, e, cell, task_id);
    }
}

void ptoi_map_take_in_place(struct tensormap *m, struct map_entry *e, const struct map_entry *end, const void *kernel,
                            uint64_t task_id, struct map_found *found)
{
    if (e == end) return;
    if (e->buffer->tiled)
        take_tiles(m, e, end, kernel, task_id, found);
    else
        take_entries(m, e, end, kernel, task_id, found);
}

void ptoi_map_add(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                  const void *kernel, uint64_t task_id)
{
    struct map_access a = {.buffer = b, .region = r, .access = access};
    if (r->run > 0) add_far(m, &a, false, kernel, task_id);
}
