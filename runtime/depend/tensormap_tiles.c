/* tensormap_tiles.c - tables of tiles: making and closing them, and the rare cases.
 * Idea       Note [tile tables]; what each access of a tile needs is in tensormap_tiles.h.
 * Owner      the orchestrator, through tensormap.c.
 * Invariant  a buffer whose table is in use has no entries but those of readers that find no place in their tile; one
 *            with any table has no fast path to its entries.
 * Blocks     never, and allocates only in ptoi_tiles_create: what finds no room in the pool has entries.
 * Tests      test/runtime/test_tensormap_tiles.c, test_tensormap_model.c
 */
#include "tensormap_tiles.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include <string.h>

#ifdef PTO_TINY
enum { POOL_TILES = 512, TABLE_TILES = 256 };
#else
enum { POOL_TILES = 1 << 14, TABLE_TILES = 1 << 12 };
#endif

static uint64_t cut_arrays(struct tile_pool *pool, char *memory)
{
    struct ptoi_cut c = {.memory = memory, .has_guards = true};
    pool->tile = ptoi_cut(&c, POOL_TILES, sizeof *pool->tile);
    pool->table = ptoi_cut(&c, TILE_TABLES, sizeof *pool->table);
    return c.bytes;
}

bool ptoi_tiles_create(struct tile_pool *pool)
{
    cut_arrays(pool, ptoi_memory_map(cut_arrays(pool, NULL), false));
    return pool->tile != NULL;
}

void ptoi_tiles_free(struct tile_pool *pool)
{
    void *memory = pool->tile;
    ptoi_arrays_unmap(memory, cut_arrays(pool, NULL));
}

/* ---- tables ---- */

/* The smallest unused one that is large enough, or a new one; NULL: there is no room. */
static struct tile_table *table_take(struct tile_pool *pool, uint32_t count)
{
    struct tile_table *best = NULL;
    for (struct tile_table *t = pool->table, *end = t + pool->fresh_table; t < end; t++)
        if (t->count == 0 && t->room >= count && (!best || t->room < best->room)) best = t;
    if (!best && pool->fresh_table < TILE_TABLES && count <= POOL_TILES - pool->fresh) {
        best = &pool->table[pool->fresh_table++];
        *best = (struct tile_table){.tile = &pool->tile[pool->fresh], .room = count};
        pool->fresh += count;
    }
    if (!best) return NULL;
    memset(best->tile, 0, count * sizeof *best->tile);
    best->count = count;
    return best;
}

static void set_odd(struct map_buffer *b)
{
    b->is_odd = b->tables || b->apart > 0 || has_wasted(b);
    ptoi_map_set_near(b);
}

static uint64_t newest_of(const struct tile *t)
{
    uint64_t newest = t->writer;
    for (int k = 0; k < TILE_READERS; k++)
        if (t->reader[k] > newest) newest = t->reader[k];
    return newest;
}

static void table_close(struct tensormap *m, struct map_buffer *b)
{
    if (!b->tiles) return;
    struct tile_table *const t = b->tables;
    t->newest = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint64_t newest = newest_of(&t->tile[i]);
        if (newest > t->newest) t->newest = newest;
    }
    b->tiles = NULL;
    b->tiled = b->runs = 0;
    b->untiled = m->out.run;
}

/* Closed tables of which all has retired are given back. */
static void give_back(const struct tensormap *m, struct map_buffer *b)
{
    for (struct tile_table **link = &b->tables; *link;) {
        struct tile_table *const t = *link;
        if (t->tile == b->tiles || tile_holds(m, t->newest)) {
            link = &t->next;
        } else {
            *link = t->next;
            t->count = 0;
        }
    }
    set_odd(b);
}

/* The measures of a table for the grid of b; its count is 0 where it would be too large. */
static void measure(const struct map_buffer *b, struct tile_table *t)
{
    const int64_t bytes = b->high - b->origin;
    int64_t lines;
    t->origin = b->origin;
    t->row_bytes = b->cell[0];
    if (b->levels == 1) {
        t->rows = t->columns = 1;
        t->bytes = b->cell[0];
        lines = bytes / b->cell[0];
    } else {
        const int64_t columns = b->cell[0] / b->cell[1];
        t->rows = b->tile[0];
        t->bytes = b->cell[1];
        t->columns = columns <= TABLE_TILES ? (uint32_t)columns : 0;
        lines = ((bytes - 1) / b->cell[0] + b->tile[0]) / b->tile[0];
    }
    t->count = lines <= TABLE_TILES && lines * t->columns <= TABLE_TILES ? (uint32_t)lines * t->columns : 0;
}

bool ptoi_tiles_open(struct tensormap *m, struct map_buffer *b)
{
    struct tile_table measured = {0};
    if (b->known != m->out.run || b->untiled == m->out.run || b->levels > 2 || b->reach == 0) return false;
    if (b->tables) give_back(m, b);
    if (b->tables) return false;
    measure(b, &measured);
    struct tile_table *const t = measured.count > 0 ? table_take(&m->pool, measured.count) : NULL;
    b->untiled = m->out.run; /* where there is no room now, there is no second attempt */
    if (!t) return false;
    measured.tile = t->tile;
    measured.room = t->room;
    *t = measured;
    const uint64_t end = (uint64_t)(b->levels == 1 ? t->count * t->bytes : b->high - b->origin);
    b->tiles = t->tile;
    b->tables = t;
    b->tiled = end < b->reach ? end : b->reach;
    b->runs = b->levels == 1 && b->origin >= b->low ? b->tiled : 0; /* no tile ends behind the buffer, see measure() */
    set_odd(b);
    return true;
}

void ptoi_tiles_join(struct tensormap *m, struct map_buffer *from, struct map_buffer *to)
{
    table_close(m, from);
    table_close(m, to);
    struct tile_table **link = &to->tables;
    while (*link) link = &(*link)->next;
    *link = from->tables;
    from->tables = NULL;
    if (to->tables) give_back(m, to);
}

bool ptoi_tiles_end(struct tensormap *m, struct map_buffer *b)
{
    if (!b->tables) return true;
    table_close(m, b);
    give_back(m, b);
    if (!b->tables) b->untiled = 0;
    return !b->tables;
}

/* ---- accesses that are no tile ---- */

static struct region region_of_tile(const struct tile_table *t, uint32_t i)
{
    const int64_t low = t->origin + i / t->columns * t->rows * t->row_bytes + i % t->columns * t->bytes;
    struct region r;
    r.low = low;
    r.high = low + (t->rows - 1) * t->row_bytes + t->bytes;
    r.run = t->bytes;
    r.rank = t->rows > 1;
    r.dim[0] = (struct region_dim){.count = t->rows, .stride_bytes = t->row_bytes};
    return r;
}

/* The first tile that lies not quite before the byte; count: there is none. */
static uint32_t tile_from(const struct tile_table *t, int64_t byte)
{
    const int64_t line = t->rows * t->row_bytes;
    if (byte <= t->origin) return 0;
    const int64_t at = (byte - t->origin) / line * t->columns;
    return at < t->count ? (uint32_t)at : t->count;
}

static uint32_t tile_behind(const struct tile_table *t, int64_t end)
{
    return end <= t->origin ? 0 : tile_from(t, end - 1 + t->rows * t->row_bytes);
}

static void find_in_table(struct tensormap *m, const struct tile_table *t, const struct region *r, enum access access,
                          struct map_found *found)
{
    for (uint32_t i = tile_from(t, r->low), end = tile_behind(t, r->high); i < end; i++) {
        const struct tile *const tile = &t->tile[i];
        if (!tile_holds(m, newest_of(tile))) continue;
        const struct region region = region_of_tile(t, i);
        if (!ptoi_region_overlaps(r, &region)) continue;
        if (access == ACCESS_READ || !tile->reader[0]) tile_note(m, found, tile->writer); // see Note [readers follow]
        for (int k = 0; k < TILE_READERS && access != ACCESS_READ; k++) tile_note(m, found, tile->reader[k]);
    }
}

void ptoi_tiles_find(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                     struct map_found *found)
{
    give_back(m, b);
    for (const struct tile_table *t = b->tables; t; t = t->next) find_in_table(m, t, r, access, found);
}

/* See Note [superseded]. */
static void supersede_in_table(struct tensormap *m, const struct tile_table *t, const struct region *r)
{
    for (uint32_t i = tile_from(t, r->low), end = tile_behind(t, r->high); i < end; i++) {
        if (!tile_holds(m, newest_of(&t->tile[i]))) continue;
        const struct region region = region_of_tile(t, i);
        if (region_holds(r, &region)) t->tile[i] = (struct tile){0};
    }
}

bool ptoi_tiles_add(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                    uint64_t task_id)
{
    struct tile *const tile = tile_of(b, r);
    if (tile && access == ACCESS_READ) {
        const bool is_there = tile_read(m->retired, tile, task_id);
        if (!is_there) tile->more = task_id + 1;
        return is_there;
    }
    if (tile && (access == ACCESS_WRITE || access == ACCESS_UPDATE)) {
        tile_write_crowded(tile, task_id);
        return true;
    }
    table_close(m, b);
    if (access == ACCESS_WRITE || access == ACCESS_UPDATE)
        for (const struct tile_table *t = b->tables; t; t = t->next) supersede_in_table(m, t, r);
    return false;
}

/* ---- the whole pool ---- */

void ptoi_tile_forget(struct tile *t, uint64_t task_id)
{
    const uint64_t mark = task_id + 1;
    int kept = 0;
    if (t->writer == mark) t->writer = 0;
    for (int k = 0; k < TILE_READERS; k++)
        if (t->reader[k] != mark) t->reader[kept++] = t->reader[k];
    if (t->more == mark) t->more = mark - 1; /* older ones may have entries */
    while (kept < TILE_READERS) t->reader[kept++] = 0;
}

void ptoi_tiles_forget_task(struct tensormap *m, uint64_t task_id)
{
    for (const struct tile_table *t = m->pool.table, *end = t + m->pool.fresh_table; t < end; t++)
        for (uint32_t i = 0; i < t->count; i++) ptoi_tile_forget(&t->tile[i], task_id);
}

/* Of the readers that are left, the first is there if any is; a table has the tiles that it was given. */
bool ptoi_tiles_are_valid(const struct tensormap *m)
{
    uint32_t fresh = 0;
    for (const struct tile_table *t = m->pool.table, *end = t + m->pool.fresh_table; t < end; t++) {
        if (t->tile != m->pool.tile + fresh || t->count > t->room) return false;
        fresh += t->room;
        for (uint32_t i = 0; i < t->count; i++)
            for (int k = 1; k < TILE_READERS; k++)
                if (t->tile[i].reader[k] && !t->tile[i].reader[0]) return false;
    }
    return fresh == m->pool.fresh;
}
