/* test_tensormap.c - the map against a model that remembers every access and compares all pairs.
 * Idea       What the map finds must be true (a live earlier task that really conflicts, once) and
 *            enough (every live conflicting task is found or is followed, step by step, by one that is found).
 */
#include "unit.h"
#include "depend/tensormap.h"
#include "depend/tensormap_parts.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 256, WORDS = WINDOW / 64, MATRIX = 1 << 20 };

static uint64_t rng_state;

static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

static int64_t pick(int64_t low, int64_t high) { return low + (int64_t)(rng() % (uint64_t)(high - low + 1)); }

/* ---- small helpers for tests by hand ---- */

static uint64_t ids[WINDOW];
static struct map_found found = {ids, 0};

static struct region bytes_of(int64_t low, int64_t bytes)
{
    struct region r;
    EXPECT(ptoi_region_make(&r, low, 1, 1, &bytes, NULL));
    return r;
}

/* A box of a row-major f32 matrix at MATRIX. */
static struct region box_of(int64_t columns, int64_t row, int64_t column, int64_t height, int64_t width)
{
    struct region r;
    EXPECT(ptoi_region_make(&r, MATRIX + (row * columns + column) * 4, 4, 2, (int64_t[]){height, width},
                            (int64_t[]){columns, 1}));
    return r;
}

static int32_t find(struct tensormap *m, struct map_buffer *b, struct region r, enum access access)
{
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, b, &r, access, NULL, &found);
    return found.count;
}

static void add(struct tensormap *m, struct map_buffer *b, struct region r, enum access access, uint64_t task_id)
{
    EXPECT(ptoi_map_reserve(m, 1));
    ptoi_map_add(m, b, &r, access, NULL, task_id);
    EXPECT(ptoi_map_is_valid(m));
}

static bool is_found(uint64_t task_id)
{
    for (int32_t i = 0; i < found.count; i++)
        if (ids[i] == task_id) return true;
    return false;
}

static struct tensormap *map_of(int64_t entries)
{
    struct tensormap *m = ptoi_map_create(entries, WINDOW, 16);
    EXPECT(m != NULL);
    return m;
}

/* ---- the hazards, one by one ---- */

TEST(h01_a_reader_finds_every_overlapping_writer)
{
    struct tensormap *m = map_of(128);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 10000);
    for (uint64_t k = 0; k < 100; k++) add(m, &b, bytes_of((int64_t)k * 100, 100), ACCESS_WRITE, k);
    EXPECT(find(m, &b, bytes_of(0, 256), ACCESS_READ) == 3);
    EXPECT(is_found(0) && is_found(1) && is_found(2));
    EXPECT(find(m, &b, bytes_of(0, 10000), ACCESS_READ) == 100);
    EXPECT(find(m, &b, bytes_of(199, 1), ACCESS_READ) == 1 && is_found(1));
    ptoi_map_destroy(m);
}

TEST(h02_a_writer_finds_every_overlapping_reader)
{
    struct tensormap *m = map_of(128);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    add(m, &b, bytes_of(0, 1000), ACCESS_WRITE, 0);
    for (uint64_t k = 1; k <= 64; k++) add(m, &b, bytes_of((int64_t)(k % 4) * 250, 250), ACCESS_READ, k);
    EXPECT(find(m, &b, bytes_of(0, 250), ACCESS_WRITE) == 17);
    EXPECT(is_found(0) && is_found(4) && is_found(64) && !is_found(1));
    EXPECT(find(m, &b, bytes_of(0, 250), ACCESS_READ) == 1); /* readers need not wait for readers */
    ptoi_map_destroy(m);
}

TEST(h03_a_writer_finds_the_writer_before_it)
{
    struct tensormap *m = map_of(8);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    add(m, &b, bytes_of(100, 100), ACCESS_WRITE, 7);
    EXPECT(find(m, &b, bytes_of(150, 100), ACCESS_WRITE) == 1 && is_found(7));
    EXPECT(find(m, &b, bytes_of(200, 100), ACCESS_WRITE) == 0);
    /* it reads what it changes */
    EXPECT(find(m, &b, bytes_of(150, 100), ACCESS_UPDATE) == 1 && is_found(7));
    add(m, &b, bytes_of(0, 300), ACCESS_UPDATE, 8); /* and stands for the writer it contains */
    EXPECT(find(m, &b, bytes_of(150, 100), ACCESS_READ) == 1 && is_found(8));
    ptoi_map_destroy(m);
}

TEST(a_registered_buffer_has_bounds_to_the_end_of_the_run)
{
    struct tensormap *m = map_of(16);
    struct region within = bytes_of(1000, 64), past = bytes_of(1060, 8), beside = bytes_of(1064, 8);
    EXPECT_EQ(ptoi_map_exceeds(m, 1000, 1000, 1068), 0);
    ptoi_map_register_outside(m, 1000, 1064);
    EXPECT_EQ(ptoi_map_exceeds(m, 1000, 1000, 1064), 0);
    EXPECT_EQ(ptoi_map_exceeds(m, 1000, 1000, 1068), 64);
    EXPECT_EQ(ptoi_map_exceeds(m, 1063, 999, 1064), 64);
    EXPECT_EQ(ptoi_map_exceeds(m, 1000, 1064, 1072), 64); /* none of it lies in the array */
    EXPECT_EQ(ptoi_map_exceeds(m, 999, 999, 1068), 0);    /* another array */
    EXPECT(ptoi_map_find_within(m, &within, 1000) && !ptoi_map_find_within(m, &past, 1000));
    /* memory that touches it does not belong to it */
    EXPECT(ptoi_map_find_within(m, &beside, 1064) != ptoi_map_find_within(m, &within, 1000));
    EXPECT(!ptoi_map_find_within(m, &past, 1000));
    ptoi_map_register_outside(m, 1000, 1064); /* again */
    ptoi_map_register_outside(m, 1040, 1064); /* and a part of it */
    EXPECT_EQ(ptoi_map_exceeds(m, 1000, 1000, 1068), 64);
    ptoi_map_register_outside(m, 2000, 2064); /* overlapping ones are one, of which no end is known */
    ptoi_map_register_outside(m, 2100, 2164);
    ptoi_map_register_outside(m, 2032, 2128);
    EXPECT_EQ(ptoi_map_exceeds(m, 2100, 2100, 2164), 0);
    ptoi_map_end_run(m);
    EXPECT(ptoi_map_find_within(m, &past, 1000) == ptoi_map_find_outside(m, &within));
    EXPECT(ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}

TEST(h07_interior_addresses_of_a_buffer_are_the_buffer)
{
    struct tensormap *m = map_of(16);
    ptoi_map_register_outside(m, 1000, 9000);
    struct region all = bytes_of(1000, 8000), inside = bytes_of(4321, 7), behind = bytes_of(4328, 100);
    struct map_buffer *b = ptoi_map_find_outside(m, &all);
    EXPECT(ptoi_map_find_outside(m, &inside) == b && ptoi_map_find_outside(m, &behind) == b);
    add(m, b, inside, ACCESS_WRITE, 3);
    EXPECT(find(m, b, all, ACCESS_READ) == 1 && is_found(3));
    EXPECT(find(m, b, behind, ACCESS_WRITE) == 0);
    ptoi_map_destroy(m);
}

TEST(h08_two_tilings_of_one_tensor_meet)
{
    struct tensormap *m = map_of(1024);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, MATRIX, MATRIX + 256 * 256 * 4);
    for (uint64_t k = 0; k < 256; k++)
        add(m, &b, box_of(256, (int64_t)(k / 16) * 16, (int64_t)(k % 16) * 16, 16, 16), ACCESS_WRITE, k);
    EXPECT(find(m, &b, box_of(256, 0, 0, 48, 24), ACCESS_READ) == 6);
    EXPECT(find(m, &b, box_of(256, 8, 8, 16, 16), ACCESS_READ) == 4);
    EXPECT(find(m, &b, box_of(256, 8, 0, 1, 256), ACCESS_READ) == 16);
    EXPECT(find(m, &b, box_of(256, 0, 17, 256, 1), ACCESS_READ) == 16);
    EXPECT(find(m, &b, box_of(256, 0, 0, 256, 256), ACCESS_READ) == 256);
    add(m, &b, box_of(256, 8, 8, 16, 16), ACCESS_WRITE, 256);
    /* slot of task 256 is that of task 0, and the newer one counts */
    EXPECT(find(m, &b, box_of(256, 0, 0, 16, 16), ACCESS_READ) == 1);
    EXPECT(is_found(256));
    EXPECT(find(m, &b, box_of(256, 16, 0, 16, 16), ACCESS_READ) == 2 && is_found(256) && is_found(16));
    ptoi_map_destroy(m);
}

TEST(h09_views_with_other_strides_and_ranks_meet)
{
    struct tensormap *m = map_of(64);
    struct map_buffer b = {0};
    struct region every_other_row, column, vector, transposed;
    ptoi_map_open(m, &b, MATRIX, MATRIX + 4096);
    EXPECT(ptoi_region_make(&every_other_row, MATRIX, 4, 2, (int64_t[]){16, 32}, (int64_t[]){64, 1}));
    EXPECT(ptoi_region_make(&column, MATRIX + 4, 4, 1, (int64_t[]){32}, (int64_t[]){32}));
    EXPECT(ptoi_region_make(&vector, MATRIX + 128, 4, 1, (int64_t[]){32}, NULL));
    EXPECT(ptoi_region_make(&transposed, MATRIX + 128, 4, 2, (int64_t[]){32, 16}, (int64_t[]){1, 64}));
    add(m, &b, every_other_row, ACCESS_WRITE, 1);
    EXPECT(find(m, &b, column, ACCESS_READ) == 1);
    EXPECT(find(m, &b, vector, ACCESS_READ) == 0);
    EXPECT(find(m, &b, transposed, ACCESS_READ) == 0); /* the odd rows */
    add(m, &b, transposed, ACCESS_WRITE, 2);
    EXPECT(find(m, &b, vector, ACCESS_READ) == 1 && is_found(2));
    EXPECT(find(m, &b, column, ACCESS_READ) == 2);
    ptoi_map_destroy(m);
}

TEST(h12_a_full_pool_says_so_and_loses_nothing)
{
    struct tensormap *m = map_of(4);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    EXPECT(ptoi_map_capacity(m) == 4 && ptoi_map_reserve(m, 4) && !ptoi_map_reserve(m, 5));
    for (uint64_t k = 0; k < 4; k++) add(m, &b, bytes_of((int64_t)k * 10, 10), ACCESS_WRITE, k);
    EXPECT(!ptoi_map_reserve(m, 1) && ptoi_map_used(m) == 4);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_READ) == 4);
    ptoi_map_retire(m, 0);
    EXPECT(!ptoi_map_reserve(m, 1));
    ptoi_map_retire(m, 2);
    EXPECT(ptoi_map_reserve(m, 2) && !ptoi_map_reserve(m, 3) && ptoi_map_used(m) == 2);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_READ) == 2 && is_found(2) && is_found(3));
    ptoi_map_retire(m, 1000);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_WRITE) == 0 && ptoi_map_used(m) == 0 && ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}

TEST(h14_aligned_blocks_spread_over_the_hash_table)
{
    for (int64_t step = 64; step <= 1 << 20; step *= 2) {
        struct tensormap *m = ptoi_map_create(10000, 16384, 4);
        struct map_buffer *b = calloc(10000, sizeof *b); /* each block a buffer of its own */
        EXPECT(m && b);
        for (int64_t k = 0; k < 10000; k++) {
            struct region r = bytes_of(k * step, step);
            ptoi_map_open(m, &b[k], k * step, k * step + step);
            ptoi_map_add(m, &b[k], &r, ACCESS_WRITE, NULL, (uint64_t)k);
        }
        EXPECT(ptoi_map_is_valid(m) && ptoi_map_longest_chain(m) <= 8);
        ptoi_map_destroy(m);
        free(b);

        m = ptoi_map_create(10000, 16384, 4); /* blocks of one buffer */
        ptoi_map_register_outside(m, 0, 10000 * step);
        for (int64_t k = 0; k < 10000; k++) {
            struct region r = bytes_of(k * step, step);
            ptoi_map_add(m, ptoi_map_find_outside(m, &r), &r, ACCESS_WRITE, NULL, (uint64_t)k);
        }
        EXPECT(ptoi_map_is_valid(m) && ptoi_map_longest_chain(m) <= 8);
        ptoi_map_destroy(m);
    }
}

/* 100 x 100 tiles of matrices of many widths. */
TEST(h14_tiles_of_matrices_spread_over_the_hash_table)
{
    for (int64_t tile = 1; tile <= 128; tile += tile < 8 ? 1 : 24) {
        struct tensormap *m = ptoi_map_create(10000, 16384, 4);
        struct map_buffer b = {0};
        EXPECT(m != NULL);
        ptoi_map_open(m, &b, MATRIX, MATRIX + 10000 * tile * tile * 4);
        for (int64_t k = 0; k < 10000; k++) {
            struct region r = box_of(100 * tile, k / 100 * tile, k % 100 * tile, tile, tile);
            ptoi_map_add(m, &b, &r, ACCESS_WRITE, NULL, (uint64_t)k);
        }
        EXPECT(ptoi_map_is_valid(m) && ptoi_map_longest_chain(m) <= 8);
        ptoi_map_destroy(m);
    }
}

/* ---- rules of accesses ---- */

TEST(accumulations_of_one_kernel_into_one_region_commute_and_nothing_else_does)
{
    static const int add_kernel, max_kernel;
    struct tensormap *m = map_of(16);
    struct map_buffer b = {0};
    struct region r = bytes_of(0, 100), part = bytes_of(50, 50);
    ptoi_map_open(m, &b, 0, 100);
    ptoi_map_add(m, &b, &r, ACCESS_ACC, &add_kernel, 1);
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, &b, &r, ACCESS_ACC, &add_kernel, &found);
    EXPECT(found.count == 0);
    ptoi_map_find(m, &b, &r, ACCESS_ACC, &max_kernel, &found);
    EXPECT(found.count == 1 && is_found(1));
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, &b, &part, ACCESS_ACC, &add_kernel, &found);
    EXPECT(found.count == 1);
    EXPECT(find(m, &b, r, ACCESS_READ) == 1 && find(m, &b, r, ACCESS_WRITE) == 1);
    ptoi_map_add(m, &b, &part, ACCESS_READ, NULL, 2);
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, &b, &r, ACCESS_ACC, &add_kernel, &found);
    EXPECT(found.count == 1 && is_found(2));
    ptoi_map_destroy(m);
}

TEST(a_task_found_for_several_reasons_is_found_once)
{
    struct tensormap *m = map_of(16);
    struct map_buffer b = {0};
    struct region left = bytes_of(0, 100), right = bytes_of(100, 100), both = bytes_of(0, 200);
    ptoi_map_open(m, &b, 0, 200);
    add(m, &b, left, ACCESS_READ, 1);
    add(m, &b, right, ACCESS_WRITE, 1);
    ptoi_map_begin(m, &found);
    ptoi_map_find(m, &b, &both, ACCESS_READ, NULL, &found);
    EXPECT(found.count == 1 && is_found(1));
    ptoi_map_find(m, &b, &both, ACCESS_WRITE, NULL, &found);
    EXPECT(found.count == 1 && is_found(1));
    ptoi_map_destroy(m);
}

/* Two entries in one slot of the window: the older task has given the slot up, so it has completed. */
TEST(of_two_tasks_in_one_slot_the_newer_is_found)
{
    for (int newer_first = 0; newer_first < 2; newer_first++) {
        struct tensormap *m = map_of(16);
        struct map_buffer b = {0};
        ptoi_map_open(m, &b, 0, 200);
        add(m, &b, bytes_of(newer_first * 100, 100), ACCESS_WRITE, 5);
        add(m, &b, bytes_of(100 - newer_first * 100, 100), ACCESS_READ, 5 + WINDOW);
        EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_WRITE) == 1 && is_found(5 + WINDOW));
        ptoi_map_destroy(m);
    }
}

TEST(a_write_replaces_what_it_contains_but_not_the_task_s_own_accesses)
{
    struct tensormap *m = map_of(64);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    for (uint64_t k = 0; k < 20; k++) { /* one region again and again: one reader and one writer stay */
        add(m, &b, bytes_of(0, 100), ACCESS_READ, k);
        add(m, &b, bytes_of(0, 100), ACCESS_WRITE, k);
        EXPECT(b.entries == 2);
    }
    EXPECT(find(m, &b, bytes_of(0, 100), ACCESS_WRITE) == 1 && is_found(19));
    add(m, &b, bytes_of(50, 100), ACCESS_WRITE, 20); /* overlaps, does not contain */
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_READ) == 2);
    add(m, &b, bytes_of(0, 1000), ACCESS_WRITE, 21);
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_READ) == 1 && is_found(21) && b.entries == 1);
    EXPECT(ptoi_map_used(m) == 42); /* the ring gives places back in order */
    ptoi_map_retire(m, 21);
    EXPECT(ptoi_map_used(m) == 1 && ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}

TEST(empty_regions_are_never_found_and_take_no_room)
{
    struct tensormap *m = map_of(4);
    struct region empty = bytes_of(500, 0);
    struct map_buffer *b = ptoi_map_find_outside(m, &empty);
    EXPECT(b != NULL);
    add(m, b, empty, ACCESS_WRITE, 1);
    EXPECT(ptoi_map_used(m) == 0 && find(m, b, empty, ACCESS_WRITE) == 0);
    ptoi_map_destroy(m);
}

TEST(a_closed_buffer_is_forgotten_while_its_places_stay_taken)
{
    struct tensormap *m = map_of(8);
    struct map_buffer a = {0}, b = {0};
    ptoi_map_open(m, &a, 1000, 2000);
    add(m, &a, bytes_of(1000, 1000), ACCESS_WRITE, 1);
    add(m, &a, bytes_of(1500, 100), ACCESS_READ, 2);
    ptoi_map_close(m, &a);
    EXPECT(ptoi_map_used(m) == 2 && ptoi_map_is_valid(m));
    ptoi_map_open(m, &b, 1000, 2000); /* the same bytes, another lifetime */
    EXPECT(find(m, &b, bytes_of(1000, 1000), ACCESS_WRITE) == 0);
    add(m, &b, bytes_of(1000, 1000), ACCESS_WRITE, 3);
    ptoi_map_retire(m, 3);
    EXPECT(ptoi_map_used(m) == 1 && find(m, &b, bytes_of(1000, 1), ACCESS_READ) == 1);
    ptoi_map_destroy(m);
}

TEST(a_bad_size_makes_no_map)
{
    EXPECT(ptoi_map_create(0, 4, 4) == NULL && ptoi_map_create(-1, 4, 4) == NULL);
    EXPECT(ptoi_map_create(4, 3, 4) == NULL && ptoi_map_create(4, 0, 4) == NULL && ptoi_map_create(4, 4, 0) == NULL);
    ptoi_map_destroy(NULL);
}

/* ---- outside buffers ---- */

/* What CHECK_DEEP relies on: ranges that are empty, overlap, are out of order or joined are refused. */
TEST(a_broken_list_of_outside_buffers_is_not_valid)
{
    struct map_buffer a = {.low = 0, .high = 10}, b = {.low = 10, .high = 20}, *sorted[] = {&a, &b};
    struct outside o = {.sorted = sorted, .slots = 5, .limit = 4, .count = 2, .free_count = 3};
    EXPECT(ptoi_outside_is_valid(&o));
    b.low = 9;
    EXPECT(!ptoi_outside_is_valid(&o));
    b.low = 10, a.joined = &b;
    EXPECT(!ptoi_outside_is_valid(&o));
    a.joined = NULL, a.low = 10;
    EXPECT(!ptoi_outside_is_valid(&o));
    a.low = 0, b.high = 10;
    EXPECT(!ptoi_outside_is_valid(&o));
    b.high = 20, o.free_count = 2;
    EXPECT(!ptoi_outside_is_valid(&o));
    o.free_count = 3, o.limit = 1;
    EXPECT(!ptoi_outside_is_valid(&o));
}

TEST(unknown_tiles_of_one_matrix_become_one_buffer)
{
    struct tensormap *m = map_of(1024);
    for (uint64_t k = 0; k < 64; k++) {
        struct region r = box_of(128, (int64_t)(k / 8) * 16, (int64_t)(k % 8) * 16, 16, 16);
        struct map_buffer *b = ptoi_map_find_outside(m, &r);
        EXPECT(find(m, b, r, ACCESS_WRITE) == 0);
        add(m, b, r, ACCESS_WRITE, k);
    }
    struct region all = box_of(128, 0, 0, 128, 128);
    struct map_buffer *b = ptoi_map_find_outside(m, &all);
    EXPECT(find(m, b, all, ACCESS_READ) == 64 && b->entries == 64);
    ptoi_map_destroy(m);
}

TEST(neighbouring_buffers_that_were_registered_stay_two)
{
    struct tensormap *m = map_of(16);
    struct region left = bytes_of(0, 1000), right = bytes_of(1000, 1000), part = bytes_of(1100, 10);
    ptoi_map_register_outside(m, 0, 1000);
    ptoi_map_register_outside(m, 1000, 2000);
    ptoi_map_register_outside(m, 500, 500); /* no bytes, no buffer */
    struct map_buffer *a = ptoi_map_find_outside(m, &left), *b = ptoi_map_find_outside(m, &right);
    EXPECT(a != b && a->high == 1000 && b->low == 1000 && ptoi_map_find_outside(m, &part) == b);
    struct region across = bytes_of(990, 20); /* but an access to both makes them one */
    EXPECT(ptoi_map_find_outside(m, &across) == ptoi_map_find_outside(m, &left) && ptoi_map_is_valid(m));
    EXPECT(ptoi_map_find_outside(m, &part) == ptoi_map_find_outside(m, &left));
    ptoi_map_destroy(m);
}

TEST(more_outside_buffers_than_places_are_joined_and_nothing_is_lost)
{
    for (int64_t limit = 1; limit <= 16; limit *= 2) {
        struct tensormap *m = ptoi_map_create(256, WINDOW, limit);
        EXPECT(m != NULL);
        for (uint64_t k = 0; k < 200; k++) {
            struct region r = bytes_of((int64_t)(k * 37 % 200) * 1000, 100);
            struct map_buffer *b = ptoi_map_find_outside(m, &r);
            EXPECT(find(m, b, r, ACCESS_WRITE) == 0);
            add(m, b, r, ACCESS_WRITE, k);
        }
        for (uint64_t k = 0; k < 200; k++) {
            struct region r = bytes_of((int64_t)(k * 37 % 200) * 1000 + 99, 1);
            EXPECT(find(m, ptoi_map_find_outside(m, &r), r, ACCESS_READ) == 1 && is_found(k));
        }
        ptoi_map_destroy(m);
    }
}

TEST(a_buffer_found_before_a_join_is_still_good_after_it)
{
    struct tensormap *m = map_of(64);
    struct map_buffer *b[3];
    struct region r[3] = {bytes_of(0, 100), bytes_of(200, 100), bytes_of(50, 200)};
    for (int k = 0; k < 3; k++) b[k] = ptoi_map_find_outside(m, &r[k]); /* the third joins the first two */
    for (int k = 0; k < 3; k++) add(m, b[k], r[k], ACCESS_READ, (uint64_t)k);
    for (int k = 0; k < 3; k++) EXPECT(find(m, b[k], bytes_of(0, 300), ACCESS_WRITE) == 3);
    ptoi_map_destroy(m);
}

/* ---- cells of every measure ---- */

static int32_t find_byte(struct tensormap *m, struct map_buffer *b, int64_t at)
{
    return find(m, b, bytes_of(at, 1), ACCESS_READ);
}

/* Sizes that have and have not an inverse of 64 bits, offsets before the grid's origin and behind what the inverse is
 * good for. */
TEST(runs_of_any_size_are_found_by_their_first_and_their_last_byte)
{
    static const int64_t sizes[] = {
        1, 2, 3, 5, 7, 24, 63, 64, 65, 100, 4095, 1048579, INT64_C(1) << 33, (INT64_C(1) << 40) + 1};
    enum { RUNS = 40 };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int64_t first = 0; first < 3; first++) {
            const int64_t size = sizes[s], low = 4096 + first * (size / 2);
            struct tensormap *m = map_of(64);
            struct map_buffer b = {0};
            EXPECT(m != NULL);
            ptoi_map_open(m, &b, 4096, 4096 + (RUNS + 1) * size);
            for (int64_t k = 0; k < RUNS; k++) { /* from the middle, so that some lie before the first */
                const int64_t at = (k + RUNS / 2) % RUNS;
                add(m, &b, bytes_of(low + at * size, size), ACCESS_WRITE, (uint64_t)k);
            }
            for (int64_t k = 0; k < RUNS; k++) {
                const int64_t at = (k + RUNS / 2) % RUNS, begin = low + at * size;
                EXPECT(find_byte(m, &b, begin) == 1 && is_found((uint64_t)k));
                EXPECT(find_byte(m, &b, begin + size - 1) == 1 && is_found((uint64_t)k));
                EXPECT(find(m, &b, bytes_of(begin, size), ACCESS_WRITE) == 1 && is_found((uint64_t)k));
                if (size > 1 && at + 1 < RUNS) EXPECT(find(m, &b, bytes_of(begin + size - 1, 2), ACCESS_READ) == 2);
            }
            EXPECT(b.entries == RUNS);
            ptoi_map_destroy(m);
        }
}

/* Every tile of a matrix is a cell; boxes that lie anywhere meet exactly the tiles that they share an element with. */
TEST(tiles_of_any_size_are_found_by_boxes_that_lie_anywhere)
{
    rng_state = 20261121;
    for (int64_t height = 1; height <= 12; height += height < 4 ? 1 : 4)
        for (int64_t width = 1; width <= 21; width += width < 5 ? 1 : 4) {
            enum { TILES = 6 };
            const int64_t columns = TILES * width + pick(0, 3);
            struct tensormap *m = map_of(64);
            struct map_buffer b = {0};
            ptoi_map_open(m, &b, MATRIX, MATRIX + TILES * height * columns * 4);
            for (int64_t k = 0; k < TILES * TILES; k++)
                add(m, &b, box_of(columns, k / TILES * height, k % TILES * width, height, width), ACCESS_WRITE,
                    (uint64_t)k);
            for (int32_t n = 0; n < 200; n++) {
                const int64_t h = pick(1, TILES * height), w = pick(1, TILES * width),
                              row = pick(0, TILES * height - h), column = pick(0, TILES * width - w);
                const int64_t down = (row + h - 1) / height - row / height + 1;
                const int64_t across = (column + w - 1) / width - column / width + 1;
                EXPECT(find(m, &b, box_of(columns, row, column, h, w), ACCESS_READ) == down * across);
            }
            for (int64_t k = 0; k < TILES * TILES; k++) { /* again: each replaces the one before */
                const struct region tile = box_of(columns, k / TILES * height, k % TILES * width, height, width);
                EXPECT(find(m, &b, tile, ACCESS_UPDATE) == 1);
                ptoi_map_retire(m, (uint64_t)k);
                add(m, &b, tile, ACCESS_UPDATE, (uint64_t)(k + TILES * TILES));
            }
            EXPECT(b.entries == TILES * TILES);
            ptoi_map_destroy(m);
        }
}

/* An access of a task may change the grid in which its next access is found. */
TEST(a_grid_that_changes_between_two_accesses_of_a_task_loses_nothing)
{
    struct tensormap *m = ptoi_map_create(4096, 4096, 4);
    struct map_buffer b = {0};
    uint64_t id = 0, *many = malloc(4096 * sizeof *many);
    EXPECT(m != NULL && many);
    struct map_found f = {many, 0};
    ptoi_map_open(m, &b, 0, 1 << 20);
    ptoi_map_add(m, &b, &(struct region){.low = 0, .high = 1 << 20, .run = 1 << 20}, ACCESS_READ, NULL, id++);
    int64_t cell = b.cell[0], changes = 0;
    for (int64_t k = 0; k < 1000; k++, id++) {
        const struct region r[3] = {bytes_of(k * 1024, 1024), bytes_of(k * 1024, 100), bytes_of(k * 1024 + 1000, 10)};
        struct map_access a[3];
        for (int32_t i = 0; i < 3; i++)
            a[i] = (struct map_access){.buffer = &b, .region = &r[i], .access = i == 0 ? ACCESS_WRITE : ACCESS_READ};
        ptoi_map_begin(m, &f);
        ptoi_map_find_and_add(m, a, 3, NULL, id, &f);
        EXPECT(f.count == 1); /* the one that reads everything */
        EXPECT(k % 50 != 0 || ptoi_map_is_valid(m));
        changes += b.cell[0] != cell;
        cell = b.cell[0];
        const struct region last = bytes_of(k * 1024, 1024);
        ptoi_map_begin(m, &f);
        ptoi_map_find(m, &b, &last, ACCESS_WRITE, NULL, &f);
        EXPECT(f.count == 2);
    }
    EXPECT(changes > 0);
    ptoi_map_destroy(m);
    free(many);
}

/* A submit that fails after it has looked: the next task gets the same number. */
TEST(a_task_that_is_forgotten_is_found_by_nobody)
{
    struct tensormap *m = map_of(16);
    struct map_buffer b = {0};
    const struct region r = bytes_of(0, 100);
    struct map_access a[2] = {{.buffer = &b, .region = &r, .access = ACCESS_UPDATE},
                              {.buffer = &b, .region = &r, .access = ACCESS_READ}};
    ptoi_map_open(m, &b, 0, 200);
    add(m, &b, bytes_of(100, 100), ACCESS_WRITE, 7);
    for (int times = 0; times < 2; times++) {
        ptoi_map_begin(m, &found);
        ptoi_map_find_and_add(m, a, 2, NULL, 8, &found);
        EXPECT(found.count == 0 && b.entries == 3 && ptoi_map_is_valid(m)); /* nor by itself */
        ptoi_map_forget_task(m, 8);
        EXPECT(b.entries == 1 && ptoi_map_is_valid(m));
    }
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_WRITE) == 1 && is_found(7));
    ptoi_map_retire(m, 9);
    EXPECT(ptoi_map_used(m) == 0);
    ptoi_map_destroy(m);
}

/* Also of a task that never comes, so no task retires. */
TEST(the_entries_of_a_forgotten_task_are_room_again)
{
    struct tensormap *m = map_of(2);
    struct map_buffer b = {0};
    const struct region low = bytes_of(0, 100), high = bytes_of(100, 100);
    struct map_access a[2] = {{.buffer = &b, .region = &low, .access = ACCESS_UPDATE},
                              {.buffer = &b, .region = &high, .access = ACCESS_READ}};
    ptoi_map_open(m, &b, 0, 200);
    for (int times = 0; times < 3; times++) {
        ptoi_map_begin(m, &found);
        EXPECT(ptoi_map_reserve(m, 2));
        ptoi_map_find_and_add(m, a, 2, NULL, 8, &found);
        EXPECT(!ptoi_map_reserve(m, 1));
        ptoi_map_forget_task(m, 8);
        EXPECT(ptoi_map_used(m) == 0 && ptoi_map_is_valid(m));
    }
    ptoi_map_destroy(m);
}

/* An entry that is forgotten out of order stays in its chain until somebody passes: that must cost nobody twice. */
TEST(what_was_forgotten_is_passed_once)
{
    struct tensormap *m = ptoi_map_create(4096, 4096, 4);
    struct map_buffer b = {0};
    EXPECT(m != NULL);
    for (uint64_t k = 0; k < 3000; k++) { /* lifetimes of one buffer at one address, that no lookup passes */
        ptoi_map_open(m, &b, 4096, 8192);
        struct region r = bytes_of(4096, 4096);
        ptoi_map_add(m, &b, &r, ACCESS_UPDATE, NULL, k);
    }
    EXPECT(ptoi_map_longest_chain(m) == 3000);
    EXPECT(find(m, &b, bytes_of(4096, 4096), ACCESS_READ) == 1 && is_found(2999));
    EXPECT(ptoi_map_longest_chain(m) == 1 && ptoi_map_used(m) == 3000 && ptoi_map_is_valid(m));
    ptoi_map_retire(m, 3000);
    EXPECT(ptoi_map_used(m) == 0 && b.entries == 0 && b.all == 0);
    ptoi_map_destroy(m);
}

/* The grid of a buffer moves to the next one of that size; another size asks for a grid of its own. */
TEST(a_buffer_that_is_as_large_as_the_one_before_it_keeps_the_grid)
{
    enum { TILE = 1000, TILES = 4 };
    struct tensormap *m = ptoi_map_create(4096, 4096, 4);
    struct map_buffer b = {0};
    EXPECT(m != NULL);
    for (int64_t k = 0; k < 200; k++) {
        const int64_t low = 4096 + k % 7 * 640, tile = k % 50 < 49 ? TILE : TILE / 2, bytes = tile * TILES;
        const uint32_t levels_before = b.levels;
        const bool is_as_large = b.high - b.low == bytes;
        ptoi_map_open(m, &b, low, low + bytes);
        EXPECT_EQ(b.levels, is_as_large ? levels_before : 0);
        for (int64_t i = 0; i < TILES; i++) {
            const struct region r = bytes_of(low + (i + k) % TILES * tile, tile);
            EXPECT_EQ(find(m, &b, r, ACCESS_UPDATE), 0);
            add(m, &b, r, ACCESS_UPDATE, (uint64_t)(k * TILES + i));
            EXPECT_EQ(find_byte(m, &b, r.low), 1);
            EXPECT_EQ(find_byte(m, &b, r.high - 1), 1);
        }
        EXPECT_EQ(find(m, &b, bytes_of(low + tile - 1, 2), ACCESS_READ), 2);
        EXPECT(ptoi_map_is_valid(m) && b.entries == TILES);
        ptoi_map_retire(m, (uint64_t)(k * TILES)); /* not what was added last: it is forgotten */
    }
    ptoi_map_destroy(m);
}

/* ---- against the model ---- */

struct model_access {
    struct region region;
    enum access access;
    const void *kernel;
    int32_t heap; /* heap buffer, -1: outside */
};

struct model_task {
    struct model_access access[4];
    int32_t count;
    uint64_t after[WORDS]; /* bit id % WINDOW: live tasks that this one follows, directly or not */
};

enum { HEAPS = 3, HEAP_BYTES = 1024, OUTSIDE_BYTES = 2048 };

struct model {
    struct tensormap *map;
    struct map_buffer heap[HEAPS];
    struct model_task task[WINDOW];
    uint64_t head, tail;
    uint64_t edges, conflicts;
};

static const char kernels[2];

static int64_t heap_low(int32_t h) { return OUTSIDE_BYTES + (int64_t)h * HEAP_BYTES; }

/* Boxes of 32 x 32 byte matrices: tiles of several tilings, halos, rows, columns, every other row, flat ranges. */
static struct region random_region(int64_t base, int64_t bytes)
{
    struct region r;
    int64_t matrix = pick(0, bytes / 1024 - 1) * 1024 + base;
    int64_t height = 32, width = 32, row = 0, column = 0, step = 1;
    switch (pick(0, 7)) {
    case 0:
    case 1: height = width = 8, row = pick(0, 3) * 8, column = pick(0, 3) * 8; break;
    case 2: height = 4, width = 16, row = pick(0, 7) * 4, column = pick(0, 1) * 16; break;
    case 3: height = width = 10, row = pick(0, 22), column = pick(0, 22); break;
    case 4: height = 1, row = pick(0, 31), width = pick(0, 32); break;
    case 5: width = 1, column = pick(0, 31); break;
    case 6: height = 16, step = 2, row = pick(0, 1), width = pick(1, 16), column = pick(0, 16); break;
    default: height = pick(1, 2), width = pick(1, 2), row = pick(0, 30), column = pick(0, 30); break;
    }
    EXPECT(
        ptoi_region_make(&r, matrix + row * 32 + column, 1, 2, (int64_t[]){height, width}, (int64_t[]){32 * step, 1}));
    return r;
}

static bool accesses_conflict(const struct model_access *earlier, const struct model_access *later)
{
    if (!ptoi_region_overlaps(&earlier->region, &later->region)) return false;
    if (earlier->access == ACCESS_READ && later->access == ACCESS_READ) return false;
    return earlier->access != ACCESS_ACC || later->access != ACCESS_ACC || earlier->kernel != later->kernel ||
           !ptoi_region_equals(&earlier->region, &later->region);
}

static bool tasks_conflict(const struct model_task *earlier, const struct model_task *later)
{
    bool any = false;
    for (int32_t i = 0; i < earlier->count; i++)
        for (int32_t k = 0; k < later->count; k++) any |= accesses_conflict(&earlier->access[i], &later->access[k]);
    return any;
}

static bool bit_of(const uint64_t *set, uint64_t id) { return set[id % WINDOW / 64] >> (id % 64) & 1; }

static void model_retire(struct model *o, uint64_t count)
{
    while (count-- && o->tail < o->head) {
        for (uint64_t id = o->tail; id < o->head; id++)
            o->task[id % WINDOW].after[o->tail % WINDOW / 64] &= ~(UINT64_C(1) << o->tail % 64);
        o->task[o->tail++ % WINDOW].count = 0;
    }
    ptoi_map_retire(o->map, o->tail);
}

/* All tasks that touched the heap buffer have completed (in whatever order), and it begins another lifetime. */
static void model_reopen(struct model *o, int32_t h)
{
    for (uint64_t id = o->tail; id < o->head; id++) {
        struct model_task *t = &o->task[id % WINDOW];
        for (int32_t i = 0; i < t->count; i++)
            if (t->access[i].heap == h) t->access[i--] = t->access[--t->count];
    }
    ptoi_map_close(o->map, &o->heap[h]);
    ptoi_map_open(o->map, &o->heap[h], heap_low(h), heap_low(h) + HEAP_BYTES);
}

static void model_check(struct model *o, struct model_task *t, const struct map_found *f)
{
    memset(t->after, 0, sizeof t->after);
    for (int32_t i = 0; i < f->count; i++) {
        uint64_t id = f->task_id[i];
        EXPECT(id >= o->tail && id < o->head);
        const struct model_task *earlier = &o->task[id % WINDOW];
        EXPECT(tasks_conflict(earlier, t));
        for (int32_t k = 0; k < i; k++) EXPECT(f->task_id[k] != id);
        for (int32_t w = 0; w < WORDS; w++) t->after[w] |= earlier->after[w];
        t->after[id % WINDOW / 64] |= UINT64_C(1) << id % 64;
    }
    for (uint64_t id = o->tail; id < o->head; id++)
        if (tasks_conflict(&o->task[id % WINDOW], t)) {
            EXPECT(bit_of(t->after, id));
            o->conflicts++;
        }
    o->edges += (uint64_t)f->count;
}

/* As the orchestrator does it: all at once, by one kernel. */
static void model_submit_all(struct model *o, struct model_task *t, struct map_buffer *const *b)
{
    struct map_access a[4];
    for (int32_t i = 0; i < t->count; i++) {
        t->access[i].kernel = t->access[0].kernel;
        a[i] = (struct map_access){.buffer = b[i], .region = &t->access[i].region, .access = t->access[i].access};
    }
    int32_t used = 0; /* the orchestrator leaves out what is empty */
    for (int32_t i = 0; i < t->count; i++)
        if (a[i].region->run > 0) a[used++] = a[i];
    ptoi_map_find_and_add(o->map, a, used, t->access[0].kernel, o->head, &found);
    model_check(o, t, &found);
    if (pick(0, 3) == 0) model_retire(o, (uint64_t)pick(0, 4));
}

static void model_submit(struct model *o, int64_t most_params, bool check_deep)
{
    if (o->head - o->tail == WINDOW) model_retire(o, (uint64_t)pick(1, 20));
    struct model_task *t = &o->task[o->head % WINDOW];
    struct map_buffer *b[4];
    int64_t params = pick(1, most_params);
    t->count = 0;
    for (int32_t i = 0; i < params; i++) {
        struct model_access *a = &t->access[t->count++];
        bool again = i > 0 && pick(0, 3) == 0; /* one region twice, say read and written */
        a->heap = again ? t->access[i - 1].heap : (int32_t)pick(-2, HEAPS - 1);
        a->heap = a->heap < 0 ? -1 : a->heap;
        a->region = again
                        ? t->access[i - 1].region
                        : random_region(a->heap < 0 ? 0 : heap_low(a->heap), a->heap < 0 ? OUTSIDE_BYTES : HEAP_BYTES);
        a->access = (const enum access[]){ACCESS_READ, ACCESS_WRITE, ACCESS_ACC}[pick(0, 9) / 4];
        a->kernel = &kernels[pick(0, 1)];
        b[i] = a->heap < 0 ? ptoi_map_find_outside(o->map, &a->region) : &o->heap[a->heap];
    }
    if (params > ptoi_map_capacity(o->map)) { /* what the orchestrator does then: waits for all, adds nothing */
        EXPECT(!ptoi_map_reserve(o->map, params));
        model_retire(o, WINDOW);
        EXPECT(ptoi_map_used(o->map) == 0 && !ptoi_map_reserve(o->map, params));
        t->count = 0;
        return;
    }
    while (!ptoi_map_reserve(o->map, params)) {
        EXPECT(o->tail < o->head); /* else entries have leaked */
        model_retire(o, (uint64_t)pick(1, 3));
    }
    ptoi_map_begin(o->map, &found);
    if (pick(0, 1)) {
        model_submit_all(o, t, b);
    } else {
        for (int32_t i = 0; i < params; i++)
            ptoi_map_find(o->map, b[i], &t->access[i].region, t->access[i].access, t->access[i].kernel, &found);
        model_check(o, t, &found);
        for (int32_t i = 0; i < params; i++)
            ptoi_map_add(o->map, b[i], &t->access[i].region, t->access[i].access, t->access[i].kernel, o->head);
    }
    if (check_deep) EXPECT(ptoi_map_is_valid(o->map));
    o->head++;
}

static void model_run(int64_t entries, int64_t outside, uint64_t first_id, int64_t tasks, int64_t most_params,
                      bool check_deep)
{
    struct model *o = calloc(1, sizeof *o);
    EXPECT(o != NULL);
    rng_state = 88172645463325252u + (uint64_t)entries * 7919 + first_id;
    o->map = ptoi_map_create(entries, WINDOW, outside);
    EXPECT(o->map != NULL);
    o->head = o->tail = first_id;
    for (int32_t h = 0; h < HEAPS; h++) ptoi_map_open(o->map, &o->heap[h], heap_low(h), heap_low(h) + HEAP_BYTES);
    while (o->head - first_id < (uint64_t)tasks && tasks-- > 0) {
        model_submit(o, most_params, check_deep);
        if (pick(0, 15) == 0) model_retire(o, (uint64_t)pick(0, 6));
        if (pick(0, 63) == 0) model_reopen(o, (int32_t)pick(0, HEAPS - 1));
        if (pick(0, 255) == 0) ptoi_map_register_outside(o->map, pick(0, 1) * 1024, OUTSIDE_BYTES);
    }
    EXPECT(ptoi_map_is_valid(o->map));
    EXPECT(entries < 4 || (o->edges > 0 && o->conflicts >= o->edges));
    model_retire(o, WINDOW);
    EXPECT(ptoi_map_used(o->map) == 0 && ptoi_map_is_valid(o->map));
    for (int32_t h = 0; h < HEAPS; h++) EXPECT(o->heap[h].entries == 0 && o->heap[h].all == 0);
    ptoi_map_destroy(o->map);
    free(o);
}

#define BEFORE_2_32 ((UINT64_C(1) << 32) - 50000)

TEST(h13_tiny_pools_go_round_and_round_without_cycles)
{
    model_run(1, 1, BEFORE_2_32, 100000, 1, true);
    model_run(2, 1, BEFORE_2_32, 200000, 3, true);
    model_run(3, 2, BEFORE_2_32, 200000, 3, true);
    model_run(4, 3, BEFORE_2_32, 200000, 4, true);
    model_run(16, 4, BEFORE_2_32, 200000, 4, true);
}

TEST(large_pools_order_every_conflict_and_invent_none)
{
    model_run(64, 4, 0, 60000, 4, false);
    model_run(1000, 16, 0, 20000, 4, false);
}

TEST(h40_h41_ids_beyond_every_power_of_two)
{
    static const uint64_t first[] = {0, (UINT64_C(1) << 31) - 8, (UINT64_C(1) << 32) - 8, (UINT64_C(1) << 63) - 8};
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++) {
        model_run(16, 4, first[k], 5000, 3, true);
        model_run(300, 4, first[k], 2000, 3, false);
    }
}

/* ---- cost ---- */

/* Tiles of a matrix that one task has cleared before: the first guess at the grid was wrong, and must not stay. */
TEST(a_grid_chosen_badly_is_chosen_again)
{
    struct tensormap *m = ptoi_map_create(4096, 4096, 4);
    struct map_buffer b = {0};
    EXPECT(m != NULL);
    ptoi_map_open(m, &b, MATRIX, MATRIX + 1024 * 1024 * 4);
    add(m, &b, box_of(1024, 0, 0, 1024, 1024), ACCESS_WRITE, 0);
    for (uint64_t k = 0; k < 3000; k++) {
        struct region r = box_of(1024, (int64_t)(k % 1024 / 32) * 32, (int64_t)(k % 32) * 32, 32, 32);
        ptoi_map_begin(m, &found);
        ptoi_map_find(m, &b, &r, ACCESS_WRITE, NULL, &found);
        EXPECT(found.count == (k < 1024 ? 1 : 2) && is_found(0));
        ptoi_map_add(m, &b, &r, ACCESS_WRITE, NULL, k + 1);
    }
    EXPECT(ptoi_map_is_valid(m) && ptoi_map_longest_chain(m) <= 8);
    ptoi_map_destroy(m);
}
