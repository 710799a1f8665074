/* test_tensormap_outside.c - buffers outside the heap: their bounds, what belongs to one, when two become one. */
#include "tensormap_unit.h"
#include "depend/tensormap_parts.h"

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

TEST(the_place_of_a_joined_buffer_serves_another)
{
    struct tensormap *m = ptoi_map_create(16, WINDOW, 2);
    EXPECT(m != NULL);
    for (int64_t k = 0; k < 4 * SLOT_REST; k++) { /* the third is one too many, and so is each after it */
        struct region r = bytes_of((k % 3 * 100 + k) * 1000, 100);
        EXPECT(ptoi_map_find_outside(m, &r) && ptoi_map_is_valid(m));
    }
    ptoi_map_destroy(m);
}
