/* test_tensormap_tiles.c - tables of tiles: what they find is what entries find, and whatever is no tile closes them.
 * Idea       one map has a registered buffer, which gets a table, the other the same bytes as a buffer of the heap,
 *            which has entries only.  The same tasks find the same producers in both; but a writer of a tile finds no
 *            older writer that readers there follow, Note [readers follow].
 */
#include "pick.h"
#include "tensormap_unit.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, MOST = 4, TIMES = 9, WORDS = WINDOW / 64 };

static struct map_buffer *registered(struct tensormap *m, int64_t low, int64_t high)
{
    ptoi_map_register_outside(m, low, high);
    const struct region r = bytes_of(low, high - low);
    return ptoi_map_find_outside(m, &r);
}

/* ---- two maps ---- */

struct pair {
    struct tensormap *tiles, *entries;
    struct map_buffer of_heap;
    struct region task[MOST];
    enum access access[MOST];
    int32_t times[MOST]; /* the accesses of a strip, where they move */
    int64_t step[MOST];
    int32_t count;
    bool moves;
    uint64_t ids[2][WINDOW + 64], head, tail;
    struct map_found found[2];
    uint64_t after[WINDOW][WORDS]; /* bit id % WINDOW: tasks that this one follows, directly or not, by the tables */
    int64_t in_table, tasks;       /* tasks that took no entry */
    int64_t followed;              /* producers that only entries name */
};

static bool is_in(const struct map_found *f, uint64_t id)
{
    for (int32_t i = 0; i < f->count; i++)
        if (f->task_id[i] == id) return true;
    return false;
}

/* `after`: all that a task follows that has found these. */
static void close_over(const struct pair *p, const struct map_found *f, uint64_t *after)
{
    memset(after, 0, WORDS * sizeof *after);
    for (int32_t i = 0; i < f->count; i++) {
        const uint64_t at = f->task_id[i] % WINDOW;
        for (int w = 0; w < WORDS; w++) after[w] |= p->after[at][w];
        after[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static void expect_same(struct pair *p)
{
    const struct map_found *const tiles = &p->found[0], *const entries = &p->found[1];
    uint64_t after[WORDS];
    close_over(p, tiles, after);
    for (int32_t i = 0; i < tiles->count; i++) {
        const uint64_t id = tiles->task_id[i];
        EXPECT(id >= p->tail && id < p->head && is_in(entries, id));
        for (int32_t k = 0; k < i; k++) EXPECT(tiles->task_id[k] != id);
    }
    for (int32_t i = 0; i < entries->count; i++) {
        const uint64_t at = entries->task_id[i] % WINDOW;
        EXPECT(after[at / 64] >> at % 64 & 1);
    }
    p->followed += entries->count - tiles->count;
}

static void find_and_add(struct tensormap *m, struct map_buffer *const *b, const struct pair *p, bool is_in_place,
                         struct map_found *f)
{
    struct map_entry *const first = is_in_place ? ptoi_map_place(m, p->count) : NULL, *e = first;
    struct map_access a[MOST];
    for (int32_t i = 0; i < p->count; i++) {
        a[i] = (struct map_access){.buffer = b[i], .region = &p->task[i], .access = p->access[i]};
        if (!e) continue;
        e->buffer = b[i];
        e->access = (uint8_t)p->access[i];
        e->region = p->task[i];
        e++;
    }
    f->count = 0;
    if (e) {
        ptoi_map_take_in_place(m, first, e, NULL, p->head, f);
    } else {
        ptoi_map_begin(m, f);
        ptoi_map_find_and_add(m, a, p->count, NULL, p->head, f);
    }
}

/* To the tables they are steps, to the entries as many accesses. */
static void find_and_add_moves(struct pair *p, struct map_buffer *const *b)
{
    struct map_steps steps[MOST];
    for (int32_t i = 0; i < p->count; i++)
        steps[i] = (struct map_steps){
            {.buffer = b[i], .region = &p->task[i], .access = p->access[i]}, p->times[i], p->step[i]};
    ptoi_map_begin(p->tiles, &p->found[0]);
    ptoi_map_find_and_add_steps(p->tiles, steps, p->count, NULL, p->head, &p->found[0]);
    ptoi_map_begin(p->entries, &p->found[1]);
    for (int32_t i = 0; i < p->count; i++) {
        struct region r = p->task[i];
        for (int32_t n = 0; n < p->times[i]; n++, r.low += p->step[i], r.high += p->step[i]) {
            struct map_access a = {.buffer = &p->of_heap, .region = &r, .access = p->access[i]};
            ptoi_map_find_and_add(p->entries, &a, 1, NULL, p->head, &p->found[1]);
        }
    }
}

static void retire(struct pair *p, uint64_t count)
{
    p->tail = p->tail + count < p->head ? p->tail + count : p->head;
    ptoi_map_retire(p->tiles, p->tail);
    ptoi_map_retire(p->entries, p->tail);
}

static void submit(struct pair *p)
{
    struct map_buffer *b[2][MOST];
    int64_t most = p->count;
    for (int32_t i = 0; p->moves && i < p->count; i++) most += p->times[i];
    for (int32_t i = 0; i < p->count; i++) {
        b[0][i] = ptoi_map_find_outside(p->tiles, &p->task[i]);
        b[1][i] = &p->of_heap;
    }
    while (p->head - p->tail == WINDOW || !ptoi_map_reserve(p->tiles, most) || !ptoi_map_reserve(p->entries, most))
        retire(p, (uint64_t)pick(1, 20));
    if (pick(0, 9) == 0) { /* an await, which only finds */
        for (int k = 0; k < 2; k++) {
            ptoi_map_begin(k ? p->entries : p->tiles, &p->found[k]);
            ptoi_map_find(k ? p->entries : p->tiles, b[k][0], &p->task[0], p->access[0], NULL, &p->found[k]);
        }
        expect_same(p);
    }
    const bool is_in_place = pick(0, 3) > 0;
    const int64_t used = ptoi_map_used(p->tiles);
    if (p->moves) {
        find_and_add_moves(p, b[0]);
    } else {
        find_and_add(p->tiles, b[0], p, is_in_place, &p->found[0]);
        find_and_add(p->entries, b[1], p, is_in_place, &p->found[1]);
    }
    expect_same(p);
    close_over(p, &p->found[0], p->after[p->head % WINDOW]);
    p->in_table += ptoi_map_used(p->tiles) == used;
    p->tasks++;
    if (pick(0, 199) == 0) { /* it will not run */
        ptoi_map_forget_task(p->tiles, p->head);
        ptoi_map_forget_task(p->entries, p->head);
        retire(p, WINDOW); /* what it superseded is lost, so a run ends then */
    }
    p->head++;
    if (pick(0, 3) == 0) retire(p, (uint64_t)pick(0, 6));
}

/* A run of `bytes` bytes, a tile of a matrix of 64 bytes in a row, or of the matrix that begins 256 bytes behind it. */
struct tiling {
    int64_t origin, row, rows, bytes;
};

static struct region tile_at(const struct tiling *g, int64_t x, int64_t y)
{
    struct region r;
    EXPECT(ptoi_region_make(&r, MATRIX + g->origin + x * g->rows * g->row + y * g->bytes, 1, 2,
                            (int64_t[]){g->rows, g->bytes}, (int64_t[]){g->row, 1}));
    return r;
}

static struct region pick_tile(const struct tiling *g)
{
    const int64_t rows = (BYTES - g->origin) / (g->rows * g->row);
    return tile_at(g, pick(0, rows < 9 ? rows - 1 : 8), g->row > g->bytes ? pick(0, g->row / g->bytes - 1) : 0);
}

static struct region pick_any(void)
{
    const int64_t low = pick(0, BYTES - 1), bytes = pick(1, BYTES - low);
    return bytes_of(MATRIX + low, pick(0, 1) ? bytes : pick(1, bytes < 64 ? bytes : 64));
}

static bool begins_tile(const struct tiling *g, int64_t low)
{
    const int64_t at = low - MATRIX - g->origin, row = at / g->row, column = at % g->row;
    return at >= 0 && at + (g->rows - 1) * g->row + g->bytes <= BYTES - g->origin && row % g->rows == 0 &&
           column % g->bytes == 0 && column + g->bytes <= g->row;
}

/* Where the access goes on: to other tiles as far as there are any, also those of the next row; or anywhere. */
static void pick_step(struct pair *p, int32_t i, const struct tiling *g, bool is_odd)
{
    const struct region *const r = &p->task[i], next = pick_tile(g);
    const int64_t step = pick(0, 1) ? next.low - r->low : pick(0, 1) ? g->bytes : -g->bytes;
    const int32_t most = (int32_t)pick(1, TIMES);
    p->step[i] = !is_odd ? step : pick(0, 1) ? pick(-BYTES, BYTES) : pick(-8, 8) * g->bytes;
    for (p->times[i] = 1; p->times[i] < most; p->times[i]++) {
        const int64_t moved = p->step[i] * p->times[i];
        if (r->low + moved < MATRIX || r->high + moved > MATRIX + BYTES) break;
        if (!is_odd && !begins_tile(g, r->low + moved)) break;
    }
}

/* odd: of how many accesses one is no tile; 0: none is. */
static void run_pair(const struct tiling *g, int64_t entries, int64_t odd, uint64_t first_id)
{
    struct pair *const p = calloc(1, sizeof *p);
    EXPECT(p != NULL);
    p->tiles = map_of(entries);
    p->entries = map_of(entries);
    for (int k = 0; k < 2; k++) p->found[k].task_id = p->ids[k];
    p->head = p->tail = first_id;
    ptoi_map_open(p->entries, &p->of_heap, MATRIX, MATRIX + BYTES);
    for (int run = 0; run < 40; run++) {
        registered(p->tiles, MATRIX, MATRIX + BYTES);
        for (int64_t task = pick(1, 300); task > 0; task--) {
            p->count = (int32_t)pick(1, MOST < entries ? MOST : entries);
            p->moves = entries >= 2 * MOST * TIMES && pick(0, 2) == 0;
            for (int32_t i = 0; i < p->count; i++) {
                const bool is_odd = odd > 0 && pick(1, odd) == 1;
                p->task[i] = is_odd && pick(0, 1) ? pick_any() : pick_tile(g);
                p->access[i] = is_odd && pick(0, 1) ? ACCESS_ACC : (enum access)(pick(0, 5) < 4 ? 0 : pick(1, 2));
                pick_step(p, i, g, odd > 0 && pick(1, odd) < 3);
            }
            submit(p);
        }
        EXPECT(ptoi_map_is_valid(p->tiles) && ptoi_map_is_valid(p->entries));
        if (pick(0, 1)) retire(p, WINDOW); /* a run ends when all has, and another one begins */
        if (p->head == p->tail) ptoi_map_end_run(p->tiles);
    }
    EXPECT(odd || p->followed > 0);
    EXPECT(odd ? p->in_table > 0 && p->in_table < p->tasks : p->in_table > p->tasks / 2);
    ptoi_map_destroy(p->tiles);
    ptoi_map_destroy(p->entries);
    free(p);
}

/* The last one is that of a view whose rows begin in the middle of the matrix's: some of its tiles are none. */
static const struct tiling tilings[] = {{0, 64, 1, 64},   {0, 4096, 1, 4096}, {24, 40, 1, 40}, {0, 64, 4, 16},
                                        {256, 64, 8, 64}, {0, 48, 3, 20},     {8, 64, 2, 8}};
enum { TILINGS = sizeof tilings / sizeof tilings[0] };

TEST(tiles_find_what_entries_find)
{
    rng_state = 88172645463325252u;
    for (size_t k = 0; k + 1 < TILINGS; k++) {
        run_pair(&tilings[k], 2000, 0, 0);
        run_pair(&tilings[k], 16, 0, (UINT64_C(1) << 32) - 100);
    }
}

TEST(what_is_no_tile_finds_the_tiles_and_is_found_by_them)
{
    rng_state = 1234567;
    for (size_t k = 0; k < TILINGS; k++) {
        run_pair(&tilings[k], 2000, 300, 0);
        run_pair(&tilings[k], 2000, 20, (UINT64_C(1) << 63) - 100);
        run_pair(&tilings[k], 8, 60, 5);
    }
}

/* ---- one map ---- */

static void take(struct tensormap *m, struct map_buffer *b, struct region r, enum access access, uint64_t id)
{
    struct map_access a = {.buffer = b, .region = &r, .access = access};
    ptoi_map_begin(m, &found);
    ptoi_map_find_and_add(m, &a, 1, NULL, id, &found);
    EXPECT(ptoi_map_is_valid(m));
}

TEST(a_tile_takes_no_entry_until_it_has_many_readers)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *b = registered(m, MATRIX, MATRIX + 1024);
    take(m, b, bytes_of(MATRIX, 64), ACCESS_WRITE, 0);
    for (uint64_t id = 1; id <= 3; id++) take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, id);
    EXPECT(ptoi_map_used(m) == 0);
    for (uint64_t id = 4; id <= 9; id++) take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, id);
    EXPECT(ptoi_map_used(m) == 6 && found.count == 1 && is_found(0));
    take(m, b, bytes_of(MATRIX + 64, 64), ACCESS_READ, 10);
    EXPECT(ptoi_map_used(m) == 6 && found.count == 0);
    take(m, b, bytes_of(MATRIX, 64), ACCESS_UPDATE, 11);
    EXPECT(found.count == 9 && !is_found(0)); /* which they follow */
    take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, 12);
    EXPECT(found.count == 1 && is_found(11));
    ptoi_map_destroy(m);
}

/* From tile (0, 0) over (0, 3) into rows that begin no tile, and to tile (1, 2), which is the seventh: neither every
 * third tile of the table nor every one. */
TEST(steps_over_the_edge_of_a_matrix_are_no_tiles)
{
    const struct tiling g = {0, 64, 4, 16};
    struct tensormap *m = map_of(64);
    struct map_buffer *b = registered(m, MATRIX, MATRIX + 2048);
    const struct region first = tile_at(&g, 0, 0);
    struct map_steps s = {{.buffer = b, .region = &first, .access = ACCESS_WRITE}, .times = 7, .step = 48};
    take(m, b, tile_at(&g, 0, 0), ACCESS_WRITE, 0);
    ptoi_map_begin(m, &found);
    ptoi_map_find_and_add_steps(m, &s, 1, NULL, 1, &found);
    EXPECT(found.count == 1 && is_found(0));
    const int64_t touched[][2] = {{0, 0}, {1, 3}, {1, 2}}, free[][2] = {{2, 1}, {4, 2}, {3, 3}};
    for (int k = 0; k < 3; k++) {
        take(m, b, tile_at(&g, touched[k][0], touched[k][1]), ACCESS_READ, 2);
        EXPECT(found.count == 1 && is_found(1));
        take(m, b, tile_at(&g, free[k][0], free[k][1]), ACCESS_READ, 2);
        EXPECT(found.count == 0);
    }
    ptoi_map_destroy(m);
}

TEST(readers_that_have_retired_make_room)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *b = registered(m, MATRIX, MATRIX + 1024);
    for (uint64_t id = 0; id < 100; id++) {
        take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, id);
        ptoi_map_retire(m, id < 2 ? 0 : id - 1);
        EXPECT(ptoi_map_used(m) == 0);
    }
    take(m, b, bytes_of(MATRIX, 64), ACCESS_WRITE, 100);
    EXPECT(found.count == 2 && is_found(98) && is_found(99));
    ptoi_map_destroy(m);
}

TEST(a_closed_table_is_asked_until_all_it_holds_has_retired)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *b = registered(m, MATRIX, MATRIX + 1024);
    for (uint64_t id = 0; id < 16; id++) take(m, b, bytes_of(MATRIX + 64 * (int64_t)id, 64), ACCESS_WRITE, id);
    EXPECT(ptoi_map_used(m) == 0);
    take(m, b, bytes_of(MATRIX + 100, 100), ACCESS_READ, 16);
    EXPECT(found.count == 3 && is_found(1) && is_found(2) && is_found(3) && ptoi_map_used(m) == 1);
    take(m, b, bytes_of(MATRIX + 128, 64), ACCESS_UPDATE, 17);
    EXPECT(found.count == 2 && is_found(2) && is_found(16));
    take(m, b, bytes_of(MATRIX, 1024), ACCESS_READ, 18);
    EXPECT(found.count == 16 && !is_found(2) && is_found(17));
    ptoi_map_retire(m, 16);
    take(m, b, bytes_of(MATRIX, 1024), ACCESS_WRITE, 19);
    EXPECT(found.count == 3 && is_found(16) && is_found(17) && is_found(18));
    ptoi_map_destroy(m);
}

TEST(joined_buffers_keep_what_their_tables_hold)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *left = registered(m, MATRIX, MATRIX + 512), *right = registered(m, MATRIX + 512, MATRIX + 1024);
    take(m, left, bytes_of(MATRIX + 64, 64), ACCESS_WRITE, 0);
    take(m, right, bytes_of(MATRIX + 512, 128), ACCESS_WRITE, 1);
    EXPECT(ptoi_map_used(m) == 0);
    const struct region both = bytes_of(MATRIX, 1024);
    take(m, ptoi_map_find_outside(m, &both), both, ACCESS_READ, 2);
    EXPECT(found.count == 2);
    take(m, left, bytes_of(MATRIX + 64, 64), ACCESS_WRITE, 3);
    EXPECT(found.count == 2 && is_found(0) && is_found(2));
    ptoi_map_destroy(m);
}

TEST(a_run_over_the_same_memory_begins_anew)
{
    struct tensormap *m = map_of(64);
    for (uint64_t run = 0; run < 1000; run++) {
        const int64_t low = MATRIX + (int64_t)(run % 3) * 256, tile = 32 + (int64_t)(run % 2) * 32;
        struct map_buffer *b = registered(m, low, low + 1024);
        for (uint64_t k = 0; k < 4; k++) take(m, b, bytes_of(low + (int64_t)k * tile, tile), ACCESS_WRITE, run * 4 + k);
        EXPECT(ptoi_map_used(m) == 0 && found.count == 0);
        ptoi_map_retire(m, run * 4 + 4);
        ptoi_map_end_run(m);
    }
    ptoi_map_destroy(m);
}

TEST(what_finds_no_room_for_a_table_has_entries)
{
    struct tensormap *m = ptoi_map_create(4096, WINDOW, 1000);
    int64_t in_table = 0;
    EXPECT(m != NULL);
    for (int64_t k = 0; k < 300; k++) {
        struct map_buffer *b = registered(m, MATRIX + k * 4096, MATRIX + k * 4096 + 1024);
        const int64_t used = ptoi_map_used(m);
        take(m, b, bytes_of(MATRIX + k * 4096 + 64, 64), ACCESS_WRITE, 0);
        in_table += ptoi_map_used(m) == used;
    }
    EXPECT(in_table > 0 && in_table < 300);
    for (int64_t k = 0; k < 300; k++) {
        const struct region r = bytes_of(MATRIX + k * 4096, 1024);
        EXPECT(find(m, ptoi_map_find_outside(m, &r), r, ACCESS_READ) == 1);
    }
    ptoi_map_destroy(m);
}

TEST(a_task_that_will_not_run_is_in_no_tile)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *b = registered(m, MATRIX, MATRIX + 1024);
    take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, 0);
    take(m, b, bytes_of(MATRIX, 64), ACCESS_READ, 1);
    take(m, b, bytes_of(MATRIX + 64, 64), ACCESS_WRITE, 1);
    ptoi_map_forget_task(m, 1);
    EXPECT(ptoi_map_is_valid(m));
    EXPECT(find(m, b, bytes_of(MATRIX, 64), ACCESS_WRITE) == 1 && is_found(0));
    EXPECT(find(m, b, bytes_of(MATRIX + 64, 64), ACCESS_WRITE) == 0);
    ptoi_map_destroy(m);
}
