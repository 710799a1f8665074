/* tensormap_parts.h - what the files of the map share; no other file includes it. */
#ifndef PTOI_TENSORMAP_PARTS_H
#define PTOI_TENSORMAP_PARTS_H
#include "tensormap.h"

/* What is rare stays out of what is done for every access, which then needs no stack. */
#define SLOW_PATH __attribute__((noinline))

/* Note [cells]
 * Level 0 of a grid cuts the buffer into bands of tile[0] * cell[0] bytes, a band's rows being cell[0] bytes apart;
 * level 1 cuts what is left inside a row in the same way; the last level cuts a run.  The cuts are those of the first
 * access, so when a matrix is used tile by tile each tile is one cell, whatever the number of tiles.  Two regions that
 * share a byte share the byte's cell.  So it is enough that an entry hangs in every cell it touches and that a look-up
 * asks every cell it touches. A region that touches more than CELL_LIMIT cells hangs in the buffer's list (one more
 * chain), which every look-up asks. */
enum { LEVELS = 3, CELL_LIMIT = 16 };

/* Note [joined]
 * A submit finds the buffers of all its parameters and then uses them, and a find may join two buffers that an earlier
 * find returned.  So a joined buffer says where it went, and its slot is used again only after SLOT_REST other slots
 * were. */
enum { SLOT_REST = 2 * PTO_MAX_PARAMS };

/* Note [chains]
 * Entries are numbered by their positions: 1, 2, 3 ... in the order of adding, never used again; the ring's slot is the
 * position modulo the ring.  Retiring takes the oldest, so an entry is in the ring when its position is not below
 * `first`.  A chain goes from newer to older positions only.  So it has no cycle, and where a walk meets a position
 * that is gone, all behind it is gone: retiring touches no chain.  An entry that leaves out of order is marked dead;
 * the next walk that meets it unlinks it. */
enum { READS, WRITES };

enum { DEAD = -1 /* region.low of a dead entry: no region begins there */ };

enum hanging { IN_CELL, IN_LIST, IN_CELLS };

struct entry_rare {
    const void *kernel; /* of an accumulation */
    uint64_t visited;   /* IN_CELLS: the look-up that saw it last */
    uint32_t nodes;     /* IN_CELLS: by `sibling` */
};

/* A place of an entry that touches several cells, in a chain that is linked both ways. */
struct node {
    uint64_t entry;
    uint32_t next, prev;
    uint32_t sibling;
};
#define AT_HEAD 0x80000000u /* node.prev: the rest is an index of wide[] */

struct head {
    uint64_t chain[2]; /* READS, WRITES */
};

struct seen {
    uint32_t stamp;
    int32_t at;
};

enum { CACHE_BITS = 8, RECENT = 4 };

struct outside {
    struct map_buffer *slot;
    struct map_buffer **sorted; /* by address, disjoint */
    struct map_buffer **free;   /* first in, first out */
    int64_t slots, limit, count, free_first, free_count;
    uint32_t run;                              /* its number, from 1 */
    bool has_known;                            /* a buffer was registered in this run */
    struct map_buffer *cache[1 << CACHE_BITS]; /* by address; may be stale, so what it says is checked */
    struct map_buffer *recent[RECENT];
    uint32_t recent_at;
    struct map_buffer nowhere; /* of empty regions */
};

/* See tensormap_tiles.h. */
enum { TILE_TABLES = 64 };

struct tile_pool {
    struct tile *tile;
    struct tile_table *table;
    uint32_t fresh; /* tiles from here on, and tables from there, were never used */
    uint32_t fresh_table;
};

struct tensormap {
    struct map_ring ring;
    struct entry_rare *rare; /* in step with its entries */
    struct head *head;
    uint32_t *wide; /* in step with head: nodes of READS and WRITES */
    uint64_t capacity;
    int32_t shift;
    uint32_t stamp;
    struct seen *seen;
    uint64_t window_mask;
    uint64_t visit;
    struct node *node; /* 1 to nodes - 1 */
    uint32_t spare_free, spare_fresh, spare_count, nodes;
    char *memory;     /* of the arrays of this map, but not of `out` and `pool` */
    uint64_t retired; /* every task below */
    struct tile_pool pool;
    struct outside out;
};

enum { NOT_FOUND = -1 }; /* seen.at: the slot is that of the task that looks */

static inline void found_note(struct tensormap *m, struct map_found *found, uint64_t task_id)
{
    struct seen *seen = &m->seen[task_id & m->window_mask];
    if (seen->stamp != m->stamp) {
        seen->stamp = m->stamp;
        seen->at = found->count;
        found->task_id[found->count++] = task_id;
    } else if (seen->at != NOT_FOUND && found->task_id[seen->at] < task_id) {
        found->task_id[seen->at] = task_id; /* the slot was reused, so the older task has completed */
    }
}

static inline bool is_live(const struct tensormap *m, uint64_t position) { return position >= m->ring.first; }
static inline struct map_entry *entry_at(const struct tensormap *m, uint64_t position)
{
    return &m->ring.entry[position & m->ring.mask];
}
static inline struct entry_rare *rare_at(const struct tensormap *m, uint64_t position)
{
    return &m->rare[position & m->ring.mask];
}

/* ---- tensormap_grid.c: what is near what ---- */

/* The grid of which r is one cell. */
void ptoi_grid_choose(struct map_buffer *b, const struct region *r);
/* would r choose a grid of the same measures? */
bool ptoi_grid_fits(const struct map_buffer *b, const struct region *r);

/* Note [inverse]
 * Sizes of tiles are any numbers, and a division is dear.  With inverse = 2^64 / b rounded up the high half of a *
 * inverse is a / b exactly, as long as a * b < 2^64: what rounding adds is less than what is missing to the next
 * quotient.  `reach` is at most inverse / 2 for every b of the grid, and so good for every a on the way from a byte
 * within reach of the origin to its cell. */

/* a / b, rounded down.  0 <= a < the reach of a grid that b is of. */
static inline int64_t grid_divide(int64_t a, uint64_t inverse)
{
    return (int64_t)((unsigned __int128)(uint64_t)a * inverse >> 64);
}

/* Note [heads]
 * The head of a cell is the upper bits of key + x * A + y * B + z * C.  A is 2^64 divided by the golden ratio, so the
 * heads of a row of cells lie evenly apart (Knuth, The Art of Computer Programming 3, 6.4, theorem S): wherever in
 * memory the buffer begins, two cells of a row share a head only where there are about as many cells as heads.  B and C
 * come from a search for the same in two and three dimensions: of up to 64 by 64 cells two are at least
 * 0.22 * 2^64 / (nx * ny) apart, of up to 16 by 16 by 16 at least 0.13 * 2^64 / (nx * ny * nz). */
static inline uint32_t head_of(const struct tensormap *m, uint64_t key) { return (uint32_t)(key >> m->shift); }

static inline uint32_t head_of_cell(const struct tensormap *m, const struct map_buffer *b, int64_t x, int64_t y,
                                    int64_t z)
{
    return head_of(m, b->key + (uint64_t)x * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)y * UINT64_C(0x7D293BC242D69801) +
                          (uint64_t)z * UINT64_C(0xF78493A02F384801));
}

static inline uint32_t head_of_list(const struct tensormap *m, const struct map_buffer *b)
{
    return head_of(m, ~b->key);
}

enum { MANY = -1 };

/* A band of rows of a matrix, or a piece of one row, that lies in one tile of the grid. */
static inline int64_t cell_of_tile(const struct tensormap *m, const struct map_buffer *b, const struct region *r)
{
    const int64_t at = r->low - b->origin, rows = r->rank == 0 ? 1 : r->dim[0].count;
    if (r->rank > 1 || (r->rank == 1 && r->dim[0].stride_bytes != b->cell[0]) || (uint64_t)at >= b->reach) return MANY;
    const int64_t row = grid_divide(at, b->cell_inverse[0]), column = at - row * b->cell[0];
    const int64_t x = grid_divide(row, b->tile_inverse[0]), y = grid_divide(column, b->cell_inverse[1]);
    if (row - x * b->tile[0] + rows > b->tile[0] || column - y * b->cell[1] + r->run > b->cell[1] ||
        column + r->run > b->cell[0])
        return MANY;
    return head_of_cell(m, b, x, y, 0);
}

/* A run that begins `at` bytes behind the origin, within reach, where the grid has one level. */
static inline int64_t cell_of_run(const struct tensormap *m, const struct map_buffer *b, int64_t at, int64_t run)
{
    const int64_t x = grid_divide(at, b->cell_inverse[0]);
    return at - x * b->cell[0] + run <= b->cell[0] ? (int64_t)head_of_cell(m, b, x, 0, 0) : MANY;
}

/* The one cell that r touches, as its head; MANY: more, or it takes longer to say. */
static inline __attribute__((always_inline)) int64_t cell_of(const struct tensormap *m, const struct map_buffer *b,
                                                             const struct region *r)
{
    const int64_t at = r->low - b->origin;
    if (b->levels == 2) return cell_of_tile(m, b, r);
    if (b->levels != 1 || r->rank != 0 || (uint64_t)at >= b->reach) return MANY;
    return cell_of_run(m, b, at, r->run);
}

/* The cell of an access to which no slow path applies, else NULL. */
static inline __attribute__((always_inline)) struct head *near_cell(const struct tensormap *m,
                                                                    const struct map_buffer *b, const struct region *r)
{
    const uint64_t at = (uint64_t)(r->low - b->origin);
    int64_t head = MANY;
    if (at < b->near && r->rank == 0) /* a buffer that was joined to another has no grid */
        head = cell_of_run(m, b, (int64_t)at, r->run);
    else if (b->levels == 2 && !b->is_odd)
        head = cell_of_tile(m, b, r);
    return head == MANY ? NULL : &m->head[head];
}

/* The cell of any access, whatever it takes, as its head; MANY: *cells says which. */
int64_t ptoi_grid_where(const struct tensormap *m, const struct map_buffer *b, const struct region *r,
                        struct map_cells *cells);

/* ---- tensormap_entries.c ---- */

/* The next entry of b at *p or older that is not dead; there is one. */
static inline struct map_entry *entry_of(const struct tensormap *m, const struct map_buffer *b, uint64_t *p)
{
    struct map_entry *e = entry_at(m, *p);
    while (e->buffer != b) {
        *p -= e->older;
        e = entry_at(m, *p);
    }
    return e;
}

/* All entries of one buffer become those of another. */
void ptoi_map_move(struct tensormap *m, struct map_buffer *from, struct map_buffer *to);
/* Of an entry that is in the ring and in the list of its buffer: into several cells, or the list. */
void ptoi_map_hang(struct tensormap *m, uint64_t p, const struct map_cells *cells);
void ptoi_map_unhang_wide(struct tensormap *m, uint64_t p); /* out of its several cells */
/* Takes the dead out of the list of b, so that nobody meets them twice. */
void ptoi_map_compact(struct tensormap *m, struct map_buffer *b);
/* The grid of b is chosen again, from the region r. */
void ptoi_map_regrid(struct tensormap *m, struct map_buffer *b, const struct region *r);

/* Note [regrid]
 * The first access may be a bad guess: one task clears a matrix, then tiles are used.  Entries looked at in vain are
 * counted, and when they are many for the number of entries the grid is chosen again from the region that is added
 * next. The move costs less than the vain looks did, so it can be wrong again and again and only doubles the cost. */
enum { WASTE_BASE = 128, WASTE_PER_ENTRY = 16 };

static inline bool has_wasted(const struct map_buffer *b)
{
    return b->waste > WASTE_BASE + WASTE_PER_ENTRY * (uint64_t)b->entries;
}

/* Out of all that is not a chain, and out of its buffer's counts.  It is to be forgotten: dead, or gone from the
 * ring. */
static inline void entry_leave(struct tensormap *m, const struct map_entry *e, uint64_t p)
{
    struct map_buffer *b = e->buffer;
    if (--b->entries == 0) b->all = 0;
    if (e->hanging == IN_CELL) return;
    if (--b->apart == 0) {
        b->is_odd = b->tables || has_wasted(b);
        ptoi_map_set_near(b);
    }
    if (e->hanging == IN_LIST)
        b->list--;
    else
        ptoi_map_unhang_wide(m, p);
}

static inline void entry_forget(struct map_entry *e)
{
    e->buffer = NULL;
    e->region.low = DEAD;
}

static inline void entry_kill(struct tensormap *m, struct map_entry *e, uint64_t p)
{
    entry_leave(m, e, p);
    entry_forget(e);
}

/* ---- tensormap_outside.c ---- */

bool ptoi_outside_create(struct outside *o, int64_t limit); /* false: no memory */
void ptoi_outside_free(struct outside *o);
bool ptoi_outside_is_valid(const struct outside *o);

static inline struct map_buffer *buffer_now(struct map_buffer *b)
{
    while (b->joined) // see Note [joined]
        b = b->joined;
    return b;
}

#endif
