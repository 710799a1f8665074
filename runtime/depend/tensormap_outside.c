/* tensormap_outside.c - the buffers outside the heap: registered, or found by the bytes of an access.
 * Idea       disjoint ranges by address; what overlaps is joined.  Most finds are answered by a cache.
 * Owner      the orchestrator, through tensormap.c.
 * Invariant  sorted[] is by address and disjoint; every access ever seen lies inside one of them.  A buffer that was
 *            registered in this run has exactly the bytes that were registered, until an access from outside reaches
 *            into it.
 * Blocks     never, and allocates only when it is created.
 * Tests      test/runtime/test_tensormap_outside.c, test_tensormap_model.c
 */
#include "tensormap_tiles.h"
#include "shared/map_memory.h"
#include <string.h>

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
    ptoi_map_move(m, gone, kept);
    ptoi_tiles_join(m, gone, kept);
    kept->low = low;
    kept->high = high;
    kept->known = 0;
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

static bool is_known(const struct outside *o, const struct map_buffer *b) { return b->known == o->run; }

/* The buffer of [low, high).  `grows`: bytes that only touch a buffer belong to it; blocks of an unregistered array are
 * met one after the other. */
static struct map_buffer *outside_place(struct tensormap *m, int64_t low, int64_t high, bool grows)
{
    struct outside *o = &m->out;
    int64_t at = position_of(o, low);
    if (at == o->count || o->sorted[at]->low >= high) { /* overlaps none */
        if (grows && at > 0 && o->sorted[at - 1]->high == low && !is_known(o, o->sorted[at - 1])) {
            o->sorted[at - 1]->high = high;
            return o->sorted[at - 1];
        }
        if (grows && at < o->count && o->sorted[at]->low == high && !is_known(o, o->sorted[at])) {
            o->sorted[at]->low = low;
            return o->sorted[at];
        }
        struct map_buffer *b = slot_take(o);
        b->low = low;
        b->high = high;
        memmove(&o->sorted[at + 1], &o->sorted[at], (size_t)(o->count - at) * sizeof o->sorted[0]);
        o->sorted[at] = b;
        if (++o->count > o->limit) join_nearest(m);
        return buffer_now(b);
    }
    while (at + 1 < o->count && o->sorted[at + 1]->low < high) join_with_next(m, at);
    struct map_buffer *b = o->sorted[at];
    if (grows && (low < b->low || high > b->high)) b->known = 0;
    if (low < b->low) b->low = low;
    if (high > b->high) b->high = high;
    return b;
}

static bool holds(const struct map_buffer *b, int64_t low, int64_t high) { return b->low <= low && high <= b->high; }

static uint64_t cache_at(int64_t low) { return (uint64_t)low * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CACHE_BITS); }

/* Gives sorted[at] the bytes [low, high), if it is the only buffer that they overlap and nothing refers to it as it is:
 * its tasks have retired, and it was registered in another run, or never. */
static bool begins_anew(struct tensormap *m, int64_t at, int64_t low, int64_t high)
{
    const struct outside *o = &m->out;
    if (at == o->count || o->sorted[at]->low >= high) return false;
    if (at + 1 < o->count && o->sorted[at + 1]->low < high) return false;
    struct map_buffer *const b = o->sorted[at];
    if (is_known(o, b) || b->entries > 0 || !ptoi_tiles_end(m, b)) return false;
    b->low = low;
    b->high = high;
    return true;
}

void ptoi_map_register_outside(struct tensormap *m, int64_t low, int64_t high)
{
    struct outside *o = &m->out;
    if (low >= high) return;
    const int64_t at = position_of(o, low);
    struct map_buffer *b = at < o->count ? o->sorted[at] : &o->nowhere;
    if ((b->low != low || b->high != high) && !begins_anew(m, at, low, high)) b = outside_place(m, low, high, false);
    if (b->low == low && b->high == high) b->known = o->run;
    /* the first access chooses a grid, and mostly a table of tiles */
    if (b != &o->nowhere && b->entries == 0 && !b->tiles && ptoi_tiles_end(m, b)) {
        b->levels = 0;
        ptoi_map_set_near(b);
    }
    o->cache[cache_at(low)] = b;
    o->has_known = true;
}

void ptoi_map_end_run(struct tensormap *m)
{
    m->out.run++;
    m->out.has_known = false;
}

int64_t ptoi_map_exceeds(const struct tensormap *m, int64_t base, int64_t low, int64_t high)
{
    const struct outside *o = &m->out;
    if (!o->has_known) return 0;
    if (holds(o->cache[cache_at(low)], low, high)) return 0;
    const int64_t at = position_of(o, base);
    if (at == o->count) return 0;
    const struct map_buffer *b = o->sorted[at];
    if (b->low > base || !is_known(o, b) || holds(b, low, high)) return 0;
    return b->high - b->low;
}

struct map_buffer *ptoi_map_find_outside(struct tensormap *m, const struct region *r)
{
    struct outside *o = &m->out;
    struct map_buffer **cached = &o->cache[cache_at(r->low)];
    if (holds(*cached, r->low, r->high)) return *cached;
    for (uint32_t k = 0; k < RECENT; k++)
        if (holds(o->recent[k], r->low, r->high)) return *cached = o->recent[k];
    if (r->run == 0) return &o->nowhere;
    struct map_buffer *b = outside_place(m, r->low, r->high, true);
    o->recent[o->recent_at++ % RECENT] = b;
    return *cached = b;
}

struct map_buffer *ptoi_map_find_within(struct tensormap *m, const struct region *r, int64_t base)
{
    return ptoi_map_exceeds(m, base, r->low, r->high) ? NULL : ptoi_map_find_outside(m, r);
}

static uint64_t cut_arrays(struct outside *o, char *memory)
{
    struct ptoi_cut c = {.memory = memory, .has_guards = true};
    o->slot = ptoi_cut(&c, (uint64_t)o->slots, sizeof *o->slot);
    o->free = ptoi_cut(&c, (uint64_t)o->slots, sizeof *o->free);
    o->sorted = ptoi_cut(&c, (uint64_t)o->limit + 1, sizeof *o->sorted);
    return c.bytes;
}

bool ptoi_outside_create(struct outside *o, int64_t limit)
{
    o->limit = limit;
    o->run = 1;
    o->slots = limit + 1 + SLOT_REST;
    cut_arrays(o, ptoi_memory_map(cut_arrays(o, NULL), false));
    if (!o->slot) return false;
    for (int64_t i = 0; i < o->slots; i++) o->free[i] = &o->slot[i];
    o->free_count = o->slots;
    for (int32_t i = 0; i < 1 << CACHE_BITS; i++) o->cache[i] = &o->nowhere;
    for (int32_t i = 0; i < RECENT; i++) o->recent[i] = &o->nowhere;
    return true;
}

bool ptoi_outside_is_valid(const struct outside *o)
{
    bool ok = o->count <= o->limit && o->count + o->free_count == o->slots;
    for (int64_t i = 0; i < o->count; i++)
        ok = ok && o->sorted[i]->low < o->sorted[i]->high && !o->sorted[i]->joined &&
             (i == 0 || o->sorted[i - 1]->high <= o->sorted[i]->low);
    return ok;
}

void ptoi_outside_free(struct outside *o)
{
    void *memory = o->slot;
    ptoi_arrays_unmap(memory, cut_arrays(o, NULL));
}
