/* test_tensormap_grid.c - the cells by which accesses are found: tiles of any size, whose chains stay short, in a grid
 * that follows what a buffer is used for. */
#include "pick.h"
#include "tensormap_unit.h"
#include <stdlib.h>

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
