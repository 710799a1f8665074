/* test_tensormap.c - which earlier tasks an access finds: by hand, one rule in each test. */
#include "tensormap_unit.h"
#include "depend/tensormap_parts.h"
#include "shared/sanitizer.h"

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

#if !PTOI_HAS_ASAN /* which sees the access itself */
/* The gap beyond the table of wide accesses has a node: the check of a map reads no further than its tables. */
TEST(a_map_is_valid_whatever_lies_past_its_tables)
{
    struct tensormap *m = map_of(16);
    const size_t heads = (size_t)1 << (64 - m->shift);
    m->wide[2 * heads] = 1;
    EXPECT(ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}
#endif
