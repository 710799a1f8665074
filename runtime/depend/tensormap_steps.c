/* tensormap_steps.c - accesses of one task that move by a constant step: those of a strip (pto_strip.h).
 *
 * Idea       where they are tiles of a table, these lie evenly apart, too, so only three of them are looked up.  Any
 *            other access is found and added like that of a single task.
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/runtime/test_tensormap_tiles.c, test_strips.c
 *
 * Note [evenly apart]
 * A step from a tile to another one is so many rows of tiles down and so many tiles to the right.  The next step does
 * the same, until it leaves the matrix at its right or left side.  There the bytes go on in the next row of the matrix.
 * If that is the next row of tiles, the tile in the table is the right one, as the table goes on in the same manner.
 * Else the step leads to no tile; and a later one that leads to a tile again leads to a row of tiles nearer than so
 * many steps say.  So if the last tile is where the steps lead in the table, all are. */
#include "tensormap_tiles.h"

/* How far apart in the table the tiles are from number n on; 0: they are not all known to be tiles of it. */
static int64_t tiles_apart(const struct map_steps *s, int32_t n)
{
    const struct map_buffer *const b = s->first.buffer;
    const struct region *const r = s->first.region;
    const int32_t last = s->times - 1;
    if (!b->tiled || r->rank > 1 || n >= last) return 0;
    const struct rows rows = {r->run, r->rank ? r->dim[0].count : 1, r->rank ? r->dim[0].stride_bytes : 0};
    const struct tile *const from = tile_at(b, r->low + n * s->step, &rows),
                             *const next = tile_at(b, r->low + (n + 1) * s->step, &rows),
                             *const to = tile_at(b, r->low + last * s->step, &rows);
    if (!from || !next || !to || to - from != (next - from) * (last - n)) return 0; // see Note [evenly apart]
    return next - from;
}

/* tile_take of tiles that lie so far apart, one after the other: how many of them, from the first on, the table takes.
 * Mostly they were written by one strip, which is noted once. */
static inline __attribute__((always_inline)) int32_t take_tiles(struct tensormap *m, struct tile *first, int64_t apart,
                                                                int32_t times, bool is_read, uint64_t task_id,
                                                                struct map_found *found)
{
    const uint64_t retired = m->retired;
    uint64_t noted = 0;
    for (int32_t n = 0; n < times; n++) {
        struct tile *const t = first + n * apart;
        const uint64_t mark = is_read || !t->reader[0] ? t->writer : t->reader[0];
        if (mark > retired && mark != noted) found_note(m, found, mark - 1), noted = mark;
        if (is_read) {
            if (!tile_read(retired, t, task_id)) return n;
            continue;
        }
        for (int k = 1; k < TILE_READERS && t->reader[0]; k++) tile_note(m, found, t->reader[k]);
        if (t->more > retired) return n;
        tile_write(t, task_id);
    }
    return times;
}

static void move_region(struct region *r, const struct region *from, int64_t bytes)
{
    r->low = from->low + bytes;
    r->high = from->high + bytes;
}

/* The first access of a buffer may be what opens its table, and each that is no tile closes it. */
static void find_and_add(struct tensormap *m, const struct map_steps *s, const void *kernel, uint64_t task_id,
                         struct map_found *found)
{
    struct region region = *s->first.region;
    struct map_access single = s->first;
    const struct map_buffer *const b = single.buffer;
    struct tile *tile = NULL; /* of access number tile_n, if that and all later ones are known to be tiles */
    int32_t tile_n = 0;
    int64_t apart = 0;
    single.region = &region;
    for (int32_t n = 0; n < s->times; n++) {
        move_region(&region, s->first.region, n * s->step);
        if (n <= 1 && apart == 0) {
            apart = tiles_apart(s, n);
            tile = apart ? tile_of(b, &region) : NULL;
            tile_n = n;
        }
        if (apart && b->tiled && single.access != ACCESS_ACC) {
            struct tile *const t = tile + (n - tile_n) * apart;
            const int32_t left = s->times - n;
            n += single.access == ACCESS_READ ? take_tiles(m, t, apart, left, true, task_id, found)
                                              : take_tiles(m, t, apart, left, false, task_id, found);
            if (n == s->times) return;
            move_region(&region, s->first.region, n * s->step);
        }
        ptoi_map_find_and_add(m, &single, 1, kernel, task_id, found);
    }
}

void ptoi_map_find_and_add_steps(struct tensormap *m, struct map_steps *s, int32_t count, const void *kernel,
                                 uint64_t task_id, struct map_found *found)
{
    m->seen[task_id & m->window_mask] = (struct seen){.stamp = m->stamp, .at = NOT_FOUND};
    for (const struct map_steps *end = s + count; s < end; s++)
        if (s->times == 1)
            ptoi_map_find_and_add(m, &s->first, 1, kernel, task_id, found);
        else
            find_and_add(m, s, kernel, task_id, found);
}
