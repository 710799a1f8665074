/* tensormap.h - which uncompleted tasks touch which bytes: the orchestrator's private memory of accesses.
 *
 * Owner      the orchestrator; no other role reads it.
 * Blocks     never: ptoi_map_reserve says when the pool has no room, waiting is flow.c's.
 * Invariant  every live access (its task not retired) is found by every later access that must follow it, or by one
 *            that already follows it.  Entries are taken from a ring in task order and given back in task order. */
#ifndef PTOI_TENSORMAP_H
#define PTOI_TENSORMAP_H
#include "region.h"
#include <pto/pto_status.h>

enum access { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE /* reads and writes */, ACCESS_ACC };

/* The accesses of one buffer.  All zero is "none".  One lives in every heap allocation's record; those of outside
 * buffers live in the map.  The members are tensormap.c's. */
struct map_buffer {
    int64_t low, high;         /* the buffer's bytes; of a heap allocation set by ptoi_map_open */
    struct map_buffer *joined; /* an outside buffer that is now part of this one; else NULL */
    uint32_t entries;          /* how many that are not dead, */
    uint32_t apart;            /* how many of them do not touch one cell of the grid, */
    uint32_t list;             /* and how many of these are too large for it */
    uint32_t waste;            /* entries looked at in vain since the grid was chosen */
    uint32_t known;            /* outside: the run in which exactly these bytes were registered; else 0 */
    uint32_t untiled;          /* outside: the run in which a table of tiles was in use, and is no more; else 0 */
    bool is_odd;        /* some are apart, or there was too much waste: look-ups and additions take the slow path */
    uint32_t levels;    /* of the grid; 0: there is none yet, and what follows but for the positions says nothing */
    uint64_t all;       /* position of the newest entry; 0: none */
    uint64_t written;   /* position of the newest that is not a read */
    uint64_t key;       /* distinguishes its cells from those of other buffers in the hash table */
    int64_t origin;     /* where cell 0 of the grid begins */
    uint64_t reach;     /* see tensormap_parts.h */
    uint64_t near;      /* the same, if the grid has one level and the buffer is not odd; else 0 */
    uint64_t tiled;     /* as near, of the table of tiles that is in use; 0: there is none */
    uint64_t runs;      /* the same, if its tiles are runs inside of the buffer; else 0 */
    struct tile *tiles; /* of that table */
    struct tile_table *tables; /* those that may hold accesses, Note [tile tables]; the one in use is the first */
    int64_t cell[3];           /* stride of each level in bytes, see tensormap_parts.h */
    uint64_t cell_inverse[3], tile_inverse[3];
    int32_t tile[3];
};

/* An access that the map remembers.  The first 64 bytes are all that is looked at when both regions are runs. */
struct map_entry {
    uint64_t task_id;
    struct map_buffer *buffer; /* NULL: dead */
    uint64_t next;             /* in its chain; IN_CELLS it has nodes instead */
    /* so many positions back is an older one of the buffer; the count of entries says where it ends */
    uint32_t older;
    uint8_t access, hanging; /* enum access; tensormap_parts.h */
    struct region region;
};

/* The entries, with which struct tensormap begins. */
struct map_ring {
    struct map_entry *entry; /* by position & mask */
    uint64_t first, next;    /* positions: the oldest, and the one to come */
    uint64_t mask;
};
struct tensormap;

/* The producers found for one task: each id once. */
struct map_found {
    uint64_t *task_id; /* room for window entries, and what the caller adds */
    int32_t count;
};

struct tensormap *ptoi_map_create(int64_t entries, int64_t window, int64_t outside_buffers); /* NULL: no memory */
void ptoi_map_destroy(struct tensormap *m);

/* An outside buffer: registered (bytes known), or found by the bytes of an access.  Buffers that are found to overlap
 * are joined, and the nearest two when there are too many.  What find returns stays good for the next 64 finds, joined
 * or not. */
void ptoi_map_register_outside(struct tensormap *m, int64_t low, int64_t high);
/* The run ends.  The next one may have other arrays at the addresses that this one registered. */
void ptoi_map_end_run(struct tensormap *m);
/* An access to [low, high) of a registered buffer, in which base lies, exceeds it: the bytes that the buffer has; else
 * 0. */
int64_t ptoi_map_exceeds(const struct tensormap *m, int64_t base, int64_t low, int64_t high);
struct map_buffer *ptoi_map_find_outside(struct tensormap *m, const struct region *r);
/* The same; NULL: it exceeds the registered buffer in which base lies. */
struct map_buffer *ptoi_map_find_within(struct tensormap *m, const struct region *r, int64_t base);
/* The same; *near is what was found the last time, or NULL, and mostly it is that again.  One that was joined holds
 * nothing. */
static inline struct map_buffer *ptoi_map_find_near(struct tensormap *m, int64_t low, int64_t high, const void *base,
                                                    struct map_buffer **near)
{
    struct map_buffer *b = *near;
    if (b && b->low <= low && high <= b->high) return b;
    const struct region r = {.low = low, .high = high, .run = high - low, .rank = 0};
    return *near = ptoi_map_find_within(m, &r, (int64_t)(intptr_t)base);
}

/* Called after each change of what it depends on. */
static inline void ptoi_map_set_near(struct map_buffer *b) { b->near = b->levels == 1 && !b->is_odd ? b->reach : 0; }

/* Of a heap allocation.  Its entries are forgotten: all their tasks have completed. */
void ptoi_map_forget(struct tensormap *m, struct map_buffer *b);
/* The grid lies so many bytes further on: the next buffer of that size is mostly used by the same tiles. */
static inline void ptoi_map_shift(struct map_buffer *b, int64_t bytes)
{
    b->origin += bytes;
    const uint64_t k = (uint64_t)b->origin * UINT64_C(0xD6E8FEB86659FD93);
    b->key = (k ^ k >> 32) * UINT64_C(0xD6E8FEB86659FD93); /* of two buffers: as if at random */
}
static inline void ptoi_map_open(struct tensormap *m, struct map_buffer *b, int64_t low, int64_t high)
{
    if (b->entries) ptoi_map_forget(m, b);
    if (high - low == b->high - b->low)
        ptoi_map_shift(b, low - b->low);
    else
        b->levels = 0;
    b->low = low;
    b->high = high;
    b->joined = NULL;
    b->all = b->written = 0;
    b->waste = 0;
    b->is_odd = false;
    ptoi_map_set_near(b);
}
static inline void ptoi_map_close(struct tensormap *m, struct map_buffer *b) { ptoi_map_open(m, b, 0, 0); }

struct head;

/* Cells of a grid that lie beside each other. */
struct map_cells {
    int64_t first[3], count[3];
    int64_t total;
};

/* One access of the task that is being submitted; its region is not empty. */
struct map_access {
    struct map_buffer *buffer;
    const struct region *region;
    enum access access;
    /* tensormap.c's, on its slow path */
    struct head *cell; /* the only one, as its chains; NULL: several */
    struct map_cells cells;
};

/* One task: begin, then all its accesses at once, which are found and added one after the other; it does not find
 * itself. */
void ptoi_map_begin(struct tensormap *m, struct map_found *found);
void ptoi_map_find_and_add(struct tensormap *m, struct map_access *a, int32_t count, const void *kernel,
                           uint64_t task_id, struct map_found *found);
/* Accesses of that task that move: their regions are that of the first, moved by so many bytes each time. */
struct map_steps {
    struct map_access first;
    int32_t times; /* at least 1 */
    int64_t step;
};
/* tensormap_steps.c.  As ptoi_map_find_and_add. */
void ptoi_map_find_and_add_steps(struct tensormap *m, struct map_steps *s, int32_t count, const void *kernel,
                                 uint64_t task_id, struct map_found *found);
/* The same, all of it, of accesses that are written where the map will keep them: the place for `count` entries that
 * lie side by side, of which the caller fills in buffer, access and region as it fills in a map_access; then those that
 * are filled in are found and added.  NULL: they do not lie side by side here.  There must be room for them.  `found`
 * has what the caller has found in tables of tiles, Note [tile tables], or nothing. */
static inline struct map_entry *ptoi_map_place(const struct tensormap *m, int32_t count)
{
    const struct map_ring *const ring = (const struct map_ring *)(const void *)m;
    const uint64_t at = ring->next & ring->mask;
    return at + (uint64_t)count <= ring->mask + 1 ? &ring->entry[at] : NULL;
}
void ptoi_map_take_in_place(struct tensormap *m, struct map_entry *e, const struct map_entry *end, const void *kernel,
                            uint64_t task_id, struct map_found *found);
bool ptoi_map_reserve(struct tensormap *m, int64_t entries); /* room for this many adds?  false: retire first */
/* The task that was added last will not run after all, and nothing that it superseded is looked for any more.
 * Its entries are room again once those of older tasks are. */
void ptoi_map_forget_task(struct tensormap *m, uint64_t task_id);
/* Who only waits. */
void ptoi_map_find_all(struct tensormap *m, struct map_access *a, int32_t count, const void *kernel,
                       struct map_found *found);
/* The same for one access, and adding alone. */
void ptoi_map_find(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                   const void *kernel, struct map_found *found);
void ptoi_map_add(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access,
                  const void *kernel, uint64_t task_id);

void ptoi_map_retire(struct tensormap *m, uint64_t first_live_task); /* every task below has completed */
int64_t ptoi_map_used(const struct tensormap *m);
int64_t ptoi_map_capacity(const struct tensormap *m);
bool ptoi_map_is_valid(const struct tensormap *m);         /* CHECK_DEEP: walks everything */
int64_t ptoi_map_longest_chain(const struct tensormap *m); /* tests: entries behind one hash value */

#endif
