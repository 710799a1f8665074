/* tensormap.c - which uncompleted tasks touch which bytes: the orchestrator's private memory of accesses.
 * Idea       A ring of entries, one for each access, in task order.  An entry hangs in a chain for each cell of its buffer's
 *            grid that it touches, Note [cells]; all chains are in one hash table.  Exact overlap decides, cells only choose
 *            whom to ask.
 * Owner      the orchestrator.
 * Invariant  A chain holds linked entries only: an entry leaves all its chains when its task retires, its buffer is closed, or
 *            a later write covers it, Note [superseded].  Its place in the ring comes back in task order.
 * Blocks     never, and allocates only in ptoi_map_create.
 * Tests      test/runtime/test_tensormap.c
 */
#include "tensormap.h"
#include "check.h"
#include <pto/pto_types.h>
#include <stdlib.h>
#include <string.h>

/* Note [cells]
 * Level 0 of a grid cuts the buffer into bands of tile[0] * cell[0] bytes, a band's rows being cell[0] bytes apart; level 1 cuts
 * what is left inside a row in the same way; the last level cuts a run.  The cuts are those of the first access, so when a
 * matrix is used tile by tile each tile is one cell, whatever the number of tiles.  Two regions that share a byte share the
 * byte's cell.  So it is enough that an entry hangs in every cell it touches and that a look-up asks every cell it touches.
 * A region that touches more than CELL_LIMIT cells hangs in the buffer's list (one more chain), which every look-up asks. */
enum { LEVELS = 3, CELL_LIMIT = 16 };

/* Note [regrid]
 * The first access may be a bad guess: one task clears a matrix, then tiles are used.  Entries looked at in vain are
 * counted, and when they are many for the number of entries the grid is chosen again from the region that is added next.
 * The move costs less than the vain looks did, so it can be wrong again and again and only doubles the cost. */
enum { WASTE_BASE = 128, WASTE_PER_ENTRY = 16 };

/* Note [superseded]
 * A write that contains an older access follows it.  Whoever must follow the older access overlaps the write too, and follows
 * that.  So the older entry need not be found any more, and the map holds about one writer for each live region. */

/* Note [joined]
 * A submit finds the buffers of all its parameters and then uses them, and a find may join two buffers that an earlier find
 * returned.  So a joined buffer says where it went, and its slot is used again only after SLOT_REST other slots were. */
enum { SLOT_REST = 2 * PTO_MAX_PARAMS };

/* Note [memo]
 * One access asks for its cells up to three times: find, the look for superseded entries, and hanging it up.  The answer depends
 * on the grid and the region only, and is kept under both; a grid's number is never used again. */
enum { MEMO = 8 };

enum { CACHE_BITS = 8, RECENT = 4 };

#define AT_HEAD 0x80000000u /* node.prev: the rest is an index of head[] */

struct entry {
    uint64_t task_id;
    struct map_buffer *buffer; /* NULL: hangs nowhere */
    const void *kernel;
    uint64_t visited;          /* the look-up that saw it last */
    uint32_t newer, older;     /* of the buffer */
    uint32_t more;             /* its nodes after the first, by `sibling` */
    uint32_t doomed;           /* next one to be unlinked after this walk */
    uint8_t access;
    bool is_listed;
    struct region region;
};

/* Node i is the first node of entry i; those above the capacity are spare. */
struct node {
    uint32_t next, prev;
    uint32_t entry;
    uint32_t sibling;
};

struct seen {
    uint32_t turn;
    int32_t at;
};

struct outside {
    struct map_buffer *slot;
    struct map_buffer **sorted; /* by address, disjoint */
    struct map_buffer **free;   /* first in, first out */
    int64_t slots, limit, count, free_first, free_count;
    struct map_buffer *cache[1 << CACHE_BITS]; /* by address; may be stale, so what it says is checked */
    struct map_buffer *recent[RECENT];
    uint32_t recent_at;
    struct map_buffer nowhere; /* of empty regions */
};

struct cells {
    int64_t first[LEVELS], count[LEVELS];
    int64_t total;
    uint32_t only; /* total 1: its head */
};

struct memo {
    uint64_t grid; /* 0: empty */
    struct region region;
    struct cells cells;
};

struct tensormap {
    struct entry *entry; /* 1 to capacity */
    struct node *node;
    uint32_t *head;      /* pairs: chain of reads, chain of writes */
    uint32_t capacity, first, used;
    uint32_t spare_free, spare_fresh, spare_count, nodes;
    int32_t shift;
    uint64_t visit, grids;
    struct memo memo[MEMO];
    struct cells run; /* a run's cells: only what its first level changes */
    struct seen *seen;
    uint64_t window_mask;
    uint32_t turn;
    struct outside out;
};

/* ---- the grid ---- */

static int64_t divide_down(int64_t a, int64_t b, int8_t shift)
{
    if (shift >= 0)
        return a >> shift;
    int64_t q = a / b;
    return q - (a % b < 0);
}

static int8_t shift_of(int64_t a)
{
    return (a & (a - 1)) == 0 ? (int8_t)__builtin_ctzll((unsigned long long)a) : -1;
}

/* Every cell that r touches, as a box, perhaps with some that it does not touch. */
static void cells_of(const struct map_buffer *b, const struct region *r, struct cells *c)
{
    int64_t at = r->low - b->origin, span = r->high - r->low;
    int32_t i = 0;
    *c = (struct cells){.count = {1, 1, 1}, .total = 1};
    for (uint32_t k = 0; k < b->levels; k++) {
        const int64_t stride = b->cell[k];
        const int8_t shift = b->cell_shift[k];
        int64_t row = divide_down(at, stride, shift), last_row = row;
        at -= row * stride;
        /* Dimensions that step by whole strides stay at one place inside a stride.  Another one that is as long makes the
         * span longer than the stride, see below. */
        for (; i < r->rank && r->dim[i].stride_bytes >= stride; i++) {
            int64_t d = r->dim[i].stride_bytes, last = r->dim[i].count - 1;
            int64_t rows = d == stride ? 1 : divide_down(d, stride, shift);
            if (rows * stride == d) {
                last_row += rows * last;
                span -= d * last;
            }
        }
        if (at + span > stride) { /* runs over the end of a row: anywhere inside a row */
            last_row += divide_down(at + span - 1, stride, shift);
            i = r->rank;
            at = 0;
            span = stride;
        }
        c->first[k] = divide_down(row, b->tile[k], b->tile_shift[k]);
        if (last_row > row)
            c->count[k] = divide_down(last_row, b->tile[k], b->tile_shift[k]) - c->first[k] + 1;
        if (c->count[k] > 1 && __builtin_mul_overflow(c->total, c->count[k], &c->total))
            c->total = INT64_MAX;
    }
}

static void grid_level(struct map_buffer *b, int64_t stride, int64_t count, int64_t *at)
{
    uint32_t k = b->levels++;
    b->cell[k] = stride;
    b->tile[k] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
    b->cell_shift[k] = shift_of(stride);
    b->tile_shift[k] = shift_of(b->tile[k]);
    int64_t row = divide_down(*at, stride, b->cell_shift[k]);
    *at -= row * stride;
    b->origin += (row - divide_down(row, b->tile[k], b->tile_shift[k]) * b->tile[k]) * stride;
}

/* The grid of which r is one cell.  Its origin lies so that the buffer's first row begins near the beginning of a cell: rows are
 * cut where the tensor's rows end, not in the middle. */
static void grid_choose(struct tensormap *m, struct map_buffer *b, const struct region *r)
{
    int64_t at = r->low - b->low, span = r->high - r->low;
    b->grid = ++m->grids;
    b->levels = 0;
    b->waste = 0;
    b->origin = b->low;
    for (int32_t k = 0; k < r->rank && k < LEVELS - 1; k++) {
        int64_t inner = span - r->dim[k].stride_bytes * (r->dim[k].count - 1);
        if (inner > r->dim[k].stride_bytes)
            break;
        grid_level(b, r->dim[k].stride_bytes, r->dim[k].count, &at);
        span = inner;
    }
    grid_level(b, span, 1, &at);
    b->origin += at;
}

/* ---- chains ---- */

static uint32_t head_of(const struct tensormap *m, uint64_t key)
{
    key ^= key >> 32;
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> m->shift) << 1;
}

static uint64_t key_of(const struct map_buffer *b)
{
    return (uint64_t)b->origin * UINT64_C(0xD6E8FEB86659FD93);
}

static uint64_t key_of_cell(uint64_t key, int64_t a, int64_t b, int64_t c)
{
    return key + (uint64_t)a * UINT64_C(0xC2B2AE3D27D4EB4F) + (uint64_t)b * UINT64_C(0xA24BAED4963EE407) +
           (uint64_t)c * UINT64_C(0x9FB21C651E98DF25);
}

static uint32_t head_of_list(const struct tensormap *m, const struct map_buffer *b)
{
    return head_of(m, ~key_of(b));
}

static void region_copy(struct region *to, const struct region *from)
{
    memcpy(to, from, offsetof(struct region, dim) + (size_t)from->rank * sizeof from->dim[0]);
}

/* The cells of r in the grid of b.  Good until the next call. */
static const struct cells *cells_now(struct tensormap *m, const struct map_buffer *b, const struct region *r)
{
    if (b->levels == 1 && r->rank == 0) { /* a run in a grid of runs: computed sooner than found in the memo, and mostly one cell */
        struct cells *c = &m->run;
        const int64_t at = r->low - b->origin;
        c->first[0] = divide_down(at, b->cell[0], b->cell_shift[0]);
        c->total = c->count[0] = divide_down(at + r->run - 1, b->cell[0], b->cell_shift[0]) - c->first[0] + 1;
        c->only = head_of(m, key_of_cell(key_of(b), c->first[0], 0, 0));
        return c;
    }
    // see Note [memo]
    struct memo *memo = &m->memo[(uint64_t)r->low * UINT64_C(0x9E3779B97F4A7C15) >> 61];
    if (memo->grid != b->grid || !ptoi_region_equals(&memo->region, r)) {
        struct cells *c = &memo->cells;
        memo->grid = b->grid;
        region_copy(&memo->region, r);
        cells_of(b, r, c);
        c->only = head_of(m, key_of_cell(key_of(b), c->first[0], c->first[1], c->first[2]));
    }
    return &memo->cells;
}

static void node_link(struct tensormap *m, uint32_t n, uint32_t entry, uint32_t head)
{
    struct node *node = &m->node[n];
    node->entry = entry;
    node->prev = AT_HEAD | head;
    node->next = m->head[head];
    if (node->next)
        m->node[node->next].prev = n;
    m->head[head] = n;
}

static void node_unlink(struct tensormap *m, uint32_t n)
{
    struct node *node = &m->node[n];
    if (node->prev & AT_HEAD)
        m->head[node->prev & ~AT_HEAD] = node->next;
    else
        m->node[node->prev].next = node->next;
    if (node->next)
        m->node[node->next].prev = node->prev;
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

/* Hangs an entry into the cells of its buffer, or the list. */
static void entry_hang(struct tensormap *m, uint32_t i)
{
    struct entry *e = &m->entry[i];
    struct map_buffer *b = e->buffer;
    const uint32_t side = e->access != ACCESS_READ;
    const struct cells *c = cells_now(m, b, &e->region);
    e->more = 0;
    e->is_listed = c->total > CELL_LIMIT || c->total - 1 > m->spare_count;
    if (e->is_listed) {
        b->list++;
        node_link(m, i, i, head_of_list(m, b) + side);
        return;
    }
    if (c->total == 1) {
        node_link(m, i, i, c->only + side);
        return;
    }
    uint32_t n = i;
    uint64_t key = key_of(b);
    for (int64_t x = 0; x < c->count[0]; x++)
        for (int64_t y = 0; y < c->count[1]; y++)
            for (int64_t z = 0; z < c->count[2]; z++) {
                if (!n) {
                    n = spare_take(m);
                    m->node[n].sibling = e->more;
                    e->more = n;
                }
                node_link(m, n, i, head_of(m, key_of_cell(key, c->first[0] + x, c->first[1] + y, c->first[2] + z)) + side);
                n = 0;
            }
}

static void entry_unhang(struct tensormap *m, uint32_t i)
{
    struct entry *e = &m->entry[i];
    node_unlink(m, i);
    while (e->more) {
        uint32_t n = e->more;
        e->more = m->node[n].sibling;
        node_unlink(m, n);
        spare_give(m, n);
    }
    e->buffer->list -= e->is_listed;
}

static void entry_enter(struct tensormap *m, uint32_t i, struct map_buffer *b)
{
    struct entry *e = &m->entry[i];
    e->buffer = b;
    e->newer = 0;
    e->older = b->all;
    if (b->all)
        m->entry[b->all].newer = i;
    b->all = i;
    b->entries++;
    b->writers += e->access != ACCESS_READ;
    entry_hang(m, i);
}

static void entry_leave(struct tensormap *m, uint32_t i)
{
    struct entry *e = &m->entry[i];
    struct map_buffer *b = e->buffer;
    entry_unhang(m, i);
    if (e->newer)
        m->entry[e->newer].older = e->older;
    else
        b->all = e->older;
    if (e->older)
        m->entry[e->older].newer = e->newer;
    b->entries--;
    b->writers -= e->access != ACCESS_READ;
    e->buffer = NULL;
}

static void regrid(struct tensormap *m, struct map_buffer *b, const struct region *r)
{
    for (uint32_t i = b->all; i; i = m->entry[i].older)
        entry_unhang(m, i);
    grid_choose(m, b, r);
    for (uint32_t i = b->all; i; i = m->entry[i].older)
        entry_hang(m, i);
}

/* ---- look-ups ---- */

/* What a walk asks of every entry it may have to do with; false: nothing shared. */
struct walk {
    struct tensormap *m;
    const struct region *region;
    enum access access;
    const void *kernel;
    struct map_found *found; /* NULL: look for superseded entries of earlier tasks */
    uint64_t task_id;
    uint32_t doomed;
    uint32_t vain;
};

static uint8_t reason_of(enum access earlier, enum access later)
{
    if (earlier == ACCESS_ACC || later == ACCESS_ACC)
        return EDGE_ACC;
    if (later == ACCESS_READ)
        return EDGE_RAW;
    if (earlier == ACCESS_READ)
        return EDGE_WAR;
    return later == ACCESS_UPDATE ? EDGE_RAW | EDGE_WAW : EDGE_WAW;
}

static void found_note(struct tensormap *m, struct map_found *found, uint64_t task_id, enum edge_reason reason)
{
    struct seen *seen = &m->seen[task_id & m->window_mask];
    if (seen->turn != m->turn) {
        seen->turn = m->turn;
        seen->at = found->count++;
        found->task_id[seen->at] = task_id;
        found->reason[seen->at] = (uint8_t)reason;
    } else if (found->task_id[seen->at] == task_id) {
        found->reason[seen->at] |= (uint8_t)reason;
    } else if (found->task_id[seen->at] < task_id) { /* the older one has given up the slot, so it is done */
        found->task_id[seen->at] = task_id;
        found->reason[seen->at] = (uint8_t)reason;
    }
}

static void visit(struct walk *w, uint32_t i)
{
    struct entry *e = &w->m->entry[i];
    if (e->visited == w->m->visit || (w->access == ACCESS_READ && e->access == ACCESS_READ))
        return;
    e->visited = w->m->visit;
    if (!w->found) {
        if (e->task_id != w->task_id && ptoi_region_contains(w->region, &e->region)) {
            e->doomed = w->doomed;
            w->doomed = i;
        }
    } else if (!ptoi_region_overlaps(w->region, &e->region)) {
        w->vain++;
    } else if (!(w->access == ACCESS_ACC && e->access == ACCESS_ACC && e->kernel == w->kernel &&
                 ptoi_region_equals(w->region, &e->region))) {
        found_note(w->m, w->found, e->task_id, reason_of((enum access)e->access, w->access));
    }
}

static void walk_chains(struct walk *w, uint32_t head)
{
    const struct tensormap *m = w->m;
    for (uint32_t n = m->head[head + 1]; n; n = m->node[n].next)
        visit(w, m->node[n].entry);
    if (w->access != ACCESS_READ)
        for (uint32_t n = m->head[head]; n; n = m->node[n].next)
            visit(w, m->node[n].entry);
}

/* Visits every entry of b that shares a byte with the region (and, for a read, is not a read), and some others. */
static void walk_near(struct walk *w, const struct map_buffer *b)
{
    struct tensormap *m = w->m;
    const struct cells *c = cells_now(m, b, w->region);
    m->visit++;
    if (c->total > CELL_LIMIT && c->total > b->entries) {
        for (uint32_t i = b->all; i; i = m->entry[i].older)
            visit(w, i);
        w->vain = 0; /* a grid of larger cells would not help: the region is near everything */
        return;
    }
    const uint64_t key = key_of(b);
    if (c->total == 1)
        walk_chains(w, c->only);
    else
        for (int64_t x = 0; x < c->count[0]; x++)
            for (int64_t y = 0; y < c->count[1]; y++)
                for (int64_t z = 0; z < c->count[2]; z++)
                    walk_chains(w, head_of(m, key_of_cell(key, c->first[0] + x, c->first[1] + y, c->first[2] + z)));
    if (b->list)
        walk_chains(w, head_of_list(m, b));
}

static struct map_buffer *buffer_now(struct map_buffer *b)
{
    while (b->joined) // see Note [joined]
        b = b->joined;
    return b;
}

void ptoi_map_begin(struct tensormap *m, struct map_found *found)
{
    found->count = 0;
    if (++m->turn == 0) { /* once in 2^32 tasks: stamps of the last lap must not look new */
        memset(m->seen, 0, (size_t)(m->window_mask + 1) * sizeof *m->seen);
        m->turn = 1;
    }
}

void ptoi_map_find(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access, const void *kernel,
                   struct map_found *found)
{
    b = buffer_now(b);
    if (r->run == 0 || (access == ACCESS_READ ? b->writers : b->entries) == 0)
        return;
    struct walk w = {.m = m, .region = r, .access = access, .kernel = kernel, .found = found};
    walk_near(&w, b);
    b->waste += w.vain;
}

bool ptoi_map_reserve(struct tensormap *m, int64_t entries)
{
    return entries <= (int64_t)(m->capacity - m->used);
}

void ptoi_map_add(struct tensormap *m, struct map_buffer *b, const struct region *r, enum access access, const void *kernel,
                  uint64_t task_id)
{
    b = buffer_now(b);
    if (r->run == 0)
        return;
    CHECK(m->used < m->capacity);
    if ((access == ACCESS_WRITE || access == ACCESS_UPDATE) && b->entries) { // see Note [superseded]
        struct walk w = {.m = m, .region = r, .access = access, .task_id = task_id};
        walk_near(&w, b);
        for (uint32_t i = w.doomed; i; i = m->entry[i].doomed)
            entry_leave(m, i);
    }
    if (b->entries == 0 && !(b->levels == 1 && r->rank == 0 && r->run == b->cell[0])) /* tile after tile: the grid fits */
        grid_choose(m, b, r);
    else if (b->waste > WASTE_BASE + WASTE_PER_ENTRY * (uint64_t)b->entries) // see Note [regrid]
        regrid(m, b, r);

    uint32_t i = m->first + m->used++;
    if (i > m->capacity)
        i -= m->capacity;
    struct entry *e = &m->entry[i];
    e->task_id = task_id;
    e->kernel = kernel;
    e->access = (uint8_t)access;
    e->visited = 0;
    region_copy(&e->region, r);
    entry_enter(m, i, b);
}

void ptoi_map_retire(struct tensormap *m, uint64_t first_live_task)
{
    while (m->used && m->entry[m->first].task_id < first_live_task) {
        if (m->entry[m->first].buffer)
            entry_leave(m, m->first);
        m->first = m->first == m->capacity ? 1 : m->first + 1;
        m->used--;
    }
}

int64_t ptoi_map_used(const struct tensormap *m)
{
    return m->used;
}

int64_t ptoi_map_capacity(const struct tensormap *m)
{
    return m->capacity;
}

void ptoi_map_open(struct tensormap *m, struct map_buffer *b, int64_t low, int64_t high)
{
    ptoi_map_close(m, b);
    b->low = low;
    b->high = high;
}

void ptoi_map_close(struct tensormap *m, struct map_buffer *b)
{
    while (b->all)
        entry_leave(m, b->all);
    memset(b, 0, sizeof *b);
}

/* ---- outside buffers ---- */

static struct map_buffer *slot_take(struct outside *o)
{
    struct map_buffer *b = o->free[o->free_first];
    o->free_first = (o->free_first + 1) % o->slots;
    o->free_count--;
    memset(b, 0, sizeof *b);
    return b;
}

static void slot_give(struct outside *o, struct map_buffer *b, struct map_buffer *joined)
{
    memset(b, 0, sizeof *b); /* low == high: the cache finds nothing in it */
    b->joined = joined;
    o->free[(o->free_first + o->free_count++) % o->slots] = b;
}

/* Joins sorted[at] and sorted[at + 1], with the bytes between them.  Entries of the smaller one move. */
static void join_with_next(struct tensormap *m, int64_t at)
{
    struct outside *o = &m->out;
    struct map_buffer *left = o->sorted[at], *right = o->sorted[at + 1];
    struct map_buffer *kept = left->entries >= right->entries ? left : right, *gone = kept == left ? right : left;
    int64_t low = left->low < right->low ? left->low : right->low;
    int64_t high = left->high > right->high ? left->high : right->high;
    while (gone->all) {
        uint32_t i = gone->all;
        entry_leave(m, i);
        entry_enter(m, i, kept);
    }
    kept->low = low;
    kept->high = high;
    o->sorted[at] = kept;
    o->count--;
    memmove(&o->sorted[at + 1], &o->sorted[at + 2], (size_t)(o->count - at - 1) * sizeof o->sorted[0]);
    slot_give(o, gone, kept);
}

/* First buffer that ends behind `low`. */
static int64_t position_of(const struct outside *o, int64_t low)
{
    int64_t from = 0, to = o->count;
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (o->sorted[middle]->high > low)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static void join_nearest(struct tensormap *m)
{
    const struct outside *o = &m->out;
    int64_t best = 0, best_gap = INT64_MAX;
    for (int64_t i = 0; i + 1 < o->count; i++) {
        int64_t gap = o->sorted[i + 1]->low - o->sorted[i]->high;
        if (gap < best_gap) {
            best_gap = gap;
            best = i;
        }
    }
    join_with_next(m, best);
}

/* The buffer of [low, high).  `grows`: bytes that only touch a buffer belong to it; blocks of an array that nobody told us about
 * are met one after the other. */
static struct map_buffer *outside_place(struct tensormap *m, int64_t low, int64_t high, bool grows)
{
    struct outside *o = &m->out;
    int64_t at = position_of(o, low);
    if (at == o->count || o->sorted[at]->low >= high) { /* overlaps none */
        if (grows && at > 0 && o->sorted[at - 1]->high == low) {
            o->sorted[at - 1]->high = high;
            return o->sorted[at - 1];
        }
        if (grows && at < o->count && o->sorted[at]->low == high) {
            o->sorted[at]->low = low;
            return o->sorted[at];
        }
        struct map_buffer *b = slot_take(o);
        b->low = low;
        b->high = high;
        memmove(&o->sorted[at + 1], &o->sorted[at], (size_t)(o->count - at) * sizeof o->sorted[0]);
        o->sorted[at] = b;
        if (++o->count > o->limit)
            join_nearest(m);
        return buffer_now(b);
    }
    while (at + 1 < o->count && o->sorted[at + 1]->low < high)
        join_with_next(m, at);
    struct map_buffer *b = o->sorted[at];
    if (low < b->low)
        b->low = low;
    if (high > b->high)
        b->high = high;
    return b;
}

void ptoi_map_tell_outside(struct tensormap *m, int64_t low, int64_t high)
{
    if (low < high)
        outside_place(m, low, high, false);
}

static bool holds(const struct map_buffer *b, const struct region *r)
{
    return b->low <= r->low && r->high <= b->high;
}

struct map_buffer *ptoi_map_find_outside(struct tensormap *m, const struct region *r)
{
    struct outside *o = &m->out;
    if (r->run == 0)
        return &o->nowhere;
    struct map_buffer **cached = &o->cache[(uint64_t)r->low * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CACHE_BITS)];
    if (holds(*cached, r))
        return *cached;
    for (uint32_t k = 0; k < RECENT; k++)
        if (holds(o->recent[k], r))
            return *cached = o->recent[k];
    struct map_buffer *b = outside_place(m, r->low, r->high, true);
    o->recent[o->recent_at++ % RECENT] = b;
    return *cached = b;
}

/* ---- making, checking ---- */

static bool outside_create(struct outside *o, int64_t limit)
{
    o->limit = limit;
    o->slots = limit + 1 + SLOT_REST;
    o->slot = calloc((size_t)o->slots, sizeof *o->slot);
    o->free = calloc((size_t)o->slots, sizeof *o->free);
    o->sorted = calloc((size_t)limit + 1, sizeof *o->sorted);
    if (!o->slot || !o->free || !o->sorted)
        return false;
    for (int64_t i = 0; i < o->slots; i++)
        o->free[i] = &o->slot[i];
    o->free_count = o->slots;
    for (int32_t i = 0; i < 1 << CACHE_BITS; i++)
        o->cache[i] = &o->nowhere;
    for (int32_t i = 0; i < RECENT; i++)
        o->recent[i] = &o->nowhere;
    return true;
}

struct tensormap *ptoi_map_create(int64_t entries, int64_t window, int64_t outside_buffers)
{
    if (entries < 1 || entries > 1 << 26 || window < 1 || (window & (window - 1)) || outside_buffers < 1 ||
        outside_buffers > 1 << 26)
        return NULL;
    struct tensormap *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    int32_t bits = 4;
    while (INT64_C(1) << bits < 2 * entries)
        bits++;
    m->shift = 64 - bits;
    m->capacity = (uint32_t)entries;
    m->first = 1;
    m->spare_fresh = m->capacity + 1;
    m->spare_count = 4 * m->capacity + CELL_LIMIT; /* 4 more cells each; when they are used up there is the list */
    m->nodes = m->spare_fresh + m->spare_count;
    m->window_mask = (uint64_t)window - 1;
    m->run = (struct cells){.count = {1, 1, 1}, .total = 1};
    m->entry = calloc((size_t)entries + 1, sizeof *m->entry);
    m->node = calloc(m->nodes, sizeof *m->node);
    m->head = calloc((size_t)2 << bits, sizeof *m->head);
    m->seen = calloc((size_t)window, sizeof *m->seen);
    if (!outside_create(&m->out, outside_buffers) || !m->entry || !m->node || !m->head || !m->seen) {
        ptoi_map_destroy(m);
        return NULL;
    }
    return m;
}

void ptoi_map_destroy(struct tensormap *m)
{
    if (!m)
        return;
    free(m->entry);
    free(m->node);
    free(m->head);
    free(m->seen);
    free(m->out.slot);
    free(m->out.sorted);
    free(m->out.free);
    free(m);
}

static bool outside_is_valid(const struct outside *o)
{
    bool ok = o->count <= o->limit && o->count + o->free_count == o->slots;
    for (int64_t i = 0; i < o->count; i++)
        ok = ok && o->sorted[i]->low < o->sorted[i]->high && !o->sorted[i]->joined &&
             (i == 0 || o->sorted[i - 1]->high <= o->sorted[i]->low);
    return ok;
}

/* The buffer's chain of all entries, seen from its newest: linked both ways, and as long as the buffer says. */
static bool buffer_is_valid(const struct tensormap *m, const struct map_buffer *b)
{
    uint32_t entries = 0, writers = 0, list = 0, newer = 0;
    for (uint32_t i = b->all; i; newer = i, i = m->entry[i].older) {
        const struct entry *e = &m->entry[i];
        if (++entries > m->used || e->buffer != b || e->newer != newer)
            return false;
        writers += e->access != ACCESS_READ;
        list += e->is_listed;
    }
    return entries == b->entries && writers == b->writers && list == b->list && !b->joined && (b->levels || !entries);
}

bool ptoi_map_is_valid(const struct tensormap *m)
{
    uint64_t linked = 0, chained = 0, spare_used = 0;
    for (uint32_t k = 0, i = m->first, before = 0; k < m->used; k++, before = i, i = i == m->capacity ? 1 : i + 1) {
        const struct entry *e = &m->entry[i];
        if (before && e->task_id < m->entry[before].task_id)
            return false;
        if (!e->buffer)
            continue;
        if (e->region.low < e->buffer->low || e->region.high > e->buffer->high ||
            (!e->newer && (e->buffer->all != i || !buffer_is_valid(m, e->buffer))))
            return false;
        linked++;
        for (uint32_t n = e->more; n; n = m->node[n].sibling)
            if (++linked > m->nodes || ++spare_used > m->nodes || m->node[n].entry != i)
                return false;
    }
    uint32_t heads = 2u << (64 - m->shift);
    for (uint32_t h = 0; h < heads; h++)
        for (uint32_t n = m->head[h], prev = AT_HEAD | h; n; prev = n, n = m->node[n].next) {
            const struct entry *e = &m->entry[m->node[n].entry];
            if (++chained > linked || m->node[n].prev != prev || !e->buffer || (e->access != ACCESS_READ) != (h & 1))
                return false;
        }
    uint32_t spare = m->nodes - m->spare_fresh;
    for (uint32_t n = m->spare_free; n; n = m->node[n].sibling)
        if (++spare > m->spare_count)
            return false;
    return chained == linked && spare == m->spare_count && spare + spare_used + m->capacity + 1 == m->nodes && outside_is_valid(&m->out);
}

int64_t ptoi_map_longest_chain(const struct tensormap *m)
{
    int64_t longest = 0;
    uint32_t heads = 2u << (64 - m->shift);
    for (uint32_t h = 0; h < heads; h++) {
        int64_t length = 0;
        for (uint32_t n = m->head[h]; n; n = m->node[n].next)
            length++;
        longest = length > longest ? length : longest;
    }
    return longest;
}
