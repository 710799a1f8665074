/* tensormap_tiles.h - tables of tiles: for a buffer that is used tile by tile, the last writer of each tile and its
 * readers since.
 *
 * Owner      the orchestrator, through tensormap.c and submit/plain.c; no other file includes it.
 *
 * Note [tile tables]
 * While every access of a registered buffer outside the heap is a tile of its grid, exactly, its accesses need no
 * entries: a tile is found by its number, two tiles never overlap, and a write of a tile supersedes all that the tile
 * says.  What has retired is not removed, but too old to count, so nothing is given back.  Readers of a tile that find
 * no place there get entries in the cell that is the tile.  The first access that is no tile, or that accumulates,
 * closes the table: from then on the buffer is one with entries, which asks the closed table, too, until all that it
 * holds has retired.  No table is opened again in that run, so what that costs is paid once for each buffer and run.
 *
 * Note [readers follow]
 * Each reader that a tile names has looked for the writer.  So a writer that finds readers there follows the older
 * writer through them, and has no edge to it; where all of them have retired, so has that writer, which is older. */
#ifndef PTOI_TENSORMAP_TILES_H
#define PTOI_TENSORMAP_TILES_H
#include "tensormap_parts.h"

enum { TILE_READERS = 3 };

/* The accesses of one tile that are not superseded: 1 + the task.  A place is free if it is 0, or if its task has
 * retired; where the first is 0 the others are. */
struct tile {
    uint64_t writer, reader[TILE_READERS];
    uint64_t more; /* the newest reader that has an entry */
};

struct tile_table {
    struct tile_table *next; /* of its buffer */
    struct tile *tile;
    uint32_t room, count;                   /* in tiles */
    uint32_t columns;                       /* of tiles in a row of the matrix; 1: the tiles are runs */
    int64_t origin, row_bytes, rows, bytes; /* of the first tile; of a row of the matrix; of a tile */
    uint64_t newest;                        /* of a closed one: as in a tile */
};

static inline bool tile_holds(const struct tensormap *m, uint64_t mark) { return mark > m->retired; }

/* false: it has too many readers. */
static inline bool tile_read(uint64_t retired, struct tile *t, uint64_t task_id)
{
    for (int k = 0; k < TILE_READERS; k++)
        if (t->reader[k] <= retired || t->reader[k] == task_id + 1) {
            t->reader[k] = task_id + 1;
            return true;
        }
    return false;
}

static inline void tile_write(struct tile *t, uint64_t task_id) { *t = (struct tile){.writer = task_id + 1}; }

/* The same, where readers have entries: the task may be one of them, and does not supersede itself. */
static inline void tile_write_crowded(struct tile *t, uint64_t task_id)
{
    const uint64_t more = t->more == task_id + 1 ? t->more : 0;
    tile_write(t, task_id);
    t->more = more;
}

static inline void tile_note(struct tensormap *m, struct map_found *found, uint64_t mark)
{
    if (tile_holds(m, mark)) found_note(m, found, mark - 1);
}

/* An access of the tile, where that needs nothing but the table; false: what the table holds was found, no more. */
static inline __attribute__((always_inline)) bool tile_take(struct tensormap *m, struct tile *t, enum access access,
                                                            uint64_t task_id, struct map_found *found)
{
    if (access == ACCESS_READ || !t->reader[0]) tile_note(m, found, t->writer); // see Note [readers follow]
    if (access == ACCESS_READ) return tile_read(m->retired, t, task_id);
    for (int k = 0; k < TILE_READERS; k++) tile_note(m, found, t->reader[k]);
    if (access == ACCESS_ACC || tile_holds(m, t->more)) return false;
    tile_write(t, task_id);
    return true;
}

/* The access of a plain task, whose producers are few, which begins with this: those found before are ids[0 .. count).
 * How many they are with the mark's. */
static inline int32_t few_note(uint64_t *ids, int32_t count, uint64_t retired, uint64_t mark, uint64_t own)
{
    if (mark <= retired || mark == own) return count;
    for (int32_t k = 0; k < count; k++)
        if (ids[k] == mark - 1) return count;
    ids[count] = mark - 1;
    return count + 1;
}

/* Of a writer: what the tile says. */
static inline int32_t few_note_all(uint64_t *ids, int32_t count, uint64_t retired, const struct tile *t, uint64_t own)
{
    if (!t->reader[0]) return few_note(ids, count, retired, t->writer, own); // see Note [readers follow]
    for (int k = 0; k < TILE_READERS; k++) count = few_note(ids, count, retired, t->reader[k], own);
    return count;
}

/* As tile_at, in a matrix: row and column are those of the first byte. */
static inline struct tile *tile_of_matrix(const struct map_buffer *b, const struct rows *r, int64_t row, int64_t column)
{
    const int64_t x = grid_divide(row, b->tile_inverse[0]), y = grid_divide(column, b->cell_inverse[1]);
    if (r->row_bytes != b->cell[0] || r->count != b->tile[0] || r->run != b->cell[1] || row != x * b->tile[0] ||
        column != y * b->cell[1] || column + r->run > b->cell[0])
        return NULL;
    return &b->tiles[x * b->tables->columns + y];
}

/* The tile of the table in use that the rows are; NULL: they are none.  The grid is that of the table. */
static inline __attribute__((always_inline)) struct tile *tile_at(const struct map_buffer *b, int64_t low,
                                                                  const struct rows *r)
{
    const uint64_t at = (uint64_t)(low - b->origin);
    if (__builtin_expect(at >= b->tiled, 0)) return NULL;
    const int64_t row = grid_divide((int64_t)at, b->cell_inverse[0]), column = (int64_t)at - row * b->cell[0];
    if (b->levels != 1) return tile_of_matrix(b, r, row, column);
    return __builtin_expect(column == 0 && r->run == b->cell[0] && r->count == 1, 1) ? &b->tiles[row] : NULL;
}

/* The same of one run, where a tile is one, too; that it lies in the buffer need not be known.  NULL says nothing. */
static inline __attribute__((always_inline)) struct tile *tile_at_run(const struct map_buffer *b, int64_t low,
                                                                      int64_t run)
{
    const uint64_t at = (uint64_t)(low - b->origin);
    if (at >= b->runs) return NULL;
    const int64_t row = grid_divide((int64_t)at, b->cell_inverse[0]);
    return (int64_t)at == row * b->cell[0] && run == b->cell[0] ? &b->tiles[row] : NULL;
}

static inline __attribute__((always_inline)) struct tile *tile_of(const struct map_buffer *b, const struct region *r)
{
    if (!b->tiled || r->rank > 1) return NULL;
    const struct rows rows = {r->run, r->rank ? r->dim[0].count : 1, r->rank ? r->dim[0].stride_bytes : 0};
    return tile_at(b, r->low, &rows);
}

/* Of the cell that is the tile. */
static inline uint32_t head_of_tile(const struct tensormap *m, const struct map_buffer *b, const struct tile *t)
{
    const uint32_t i = (uint32_t)(t - b->tiles), columns = b->tables->columns;
    return b->levels == 1 ? head_of_cell(m, b, i, 0, 0) : head_of_cell(m, b, i / columns, i % columns, 0);
}

static inline bool region_holds(const struct region *outer, const struct region *inner)
{
    if (outer->low > inner->low || outer->high < inner->high) return false;
    return outer->rank == 0 || ptoi_region_equals(outer, inner) || ptoi_region_contains(outer, inner);
}

bool ptoi_tiles_create(struct tile_pool *pool); /* false: no memory */
void ptoi_tiles_free(struct tile_pool *pool);
/* The buffer has no entries, and its grid was chosen for the access that comes.  true: that is a tile of a table. */
bool ptoi_tiles_open(struct tensormap *m, struct map_buffer *b);
/* What the tables of the buffer hold and the access has to follow. */
void ptoi_tiles_find(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                     struct map_found *found);
/* true: the access is in the table in use; false: it needs an entry. */
bool ptoi_tiles_add(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                    uint64_t task_id);
void ptoi_tiles_join(struct tensormap *m, struct map_buffer *from, struct map_buffer *to);
/* Nothing that its tables hold has not retired: there are none any more.  false: something has not. */
bool ptoi_tiles_end(struct tensormap *m, struct map_buffer *b);
void ptoi_tiles_forget_task(struct tensormap *m, uint64_t task_id); /* it is the newest */
void ptoi_tile_forget(struct tile *t, uint64_t task_id);            /* the same, where it only reads */
bool ptoi_tiles_are_valid(const struct tensormap *m);

#endif
