/* test_home.c - distributions against a look at every element. */
#include "dist/home.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4096, RANDOM = 4000 };

static uint64_t state = 1;
static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static struct distribution any_distribution(void)
{
    static const int32_t units[] = {1, 2, 4, 8};
    struct distribution d = {.rank = 1 + (int32_t)below(3), .unit = units[below(4)], .first = (int32_t)below(3)};
    for (int k = 0; k < d.rank; k++) {
        d.shape[k] = 1 + below(7);
        d.cell[k] = 1 + below(d.shape[k] + 2);
        d.grid[k] = 1 + below(4);
    }
    return d;
}

static struct box any_box(const struct distribution *d)
{
    struct box b = {{0}, {0}};
    for (int k = 0; k < d->rank; k++) {
        b.low[k] = below(d->shape[k]);
        b.high[k] = b.low[k] + 1 + below(d->shape[k] - b.low[k]);
    }
    return b;
}

/* The element of a number in row-major order. */
static void element_of(const struct distribution *d, int64_t number, int64_t *element)
{
    for (int k = d->rank - 1; k >= 0; k--) {
        element[k] = number % d->shape[k];
        number /= d->shape[k];
    }
}

static bool is_in(const struct box *b, const int64_t *element, int rank)
{
    for (int k = 0; k < rank; k++)
        if (element[k] < b->low[k] || element[k] >= b->high[k]) return false;
    return true;
}

TEST(pieces_cover_a_box_once_and_each_has_one_home)
{
    for (int n = 0; n < RANDOM; n++) {
        const struct distribution d = any_distribution();
        const struct box all = any_box(&d);
        const int32_t ranks = 1 + (int32_t)below(5);
        const int64_t elements = ptoi_home_bytes(&d) / d.unit;
        static int seen[MOST_BYTES];
        memset(seen, 0, sizeof seen);
        struct box piece = {{0}, {0}};
        int32_t home, pieces = 0;
        const int32_t of_box = ptoi_home_of_box(&d, ranks, &all);
        for (struct pieces p = ptoi_pieces(&d, &all, ranks); ptoi_next_piece(&p, &piece, &home); pieces++) {
            EXPECT(of_box == NO_HOME || of_box == home);
            EXPECT(ptoi_box_contains(&all, &piece, d.rank));
            EXPECT(ptoi_box_elements(&piece, d.rank) > 0);
            for (int64_t i = 0; i < elements; i++) {
                int64_t e[PTO_MAX_RANK];
                element_of(&d, i, e);
                if (!is_in(&piece, e, d.rank)) continue;
                EXPECT_EQ(ptoi_home_of(&d, ranks, e), home);
                seen[i]++;
            }
        }
        EXPECT_EQ(of_box != NO_HOME, pieces == 1);
        for (int64_t i = 0; i < elements; i++) {
            int64_t e[PTO_MAX_RANK];
            element_of(&d, i, e);
            EXPECT_EQ(seen[i], is_in(&all, e, d.rank));
        }
    }
}

TEST(cells_are_dealt_to_the_grid_cyclically)
{
    const struct distribution d = {
        .rank = 2, .unit = 8, .shape = {100, 100}, .cell = {10, 20}, .grid = {3, 2}, .first = 0};
    for (int64_t i = 0; i < 100; i++)
        for (int64_t j = 0; j < 100; j++)
            EXPECT_EQ(ptoi_home_of(&d, 4, (int64_t[]){i, j}), ((i / 10 % 3) * 2 + j / 20 % 2) % 4);
}

/* Marks the bytes of a view. */
static void mark(const int64_t *shape, const int64_t *stride, int rank, int64_t at, int unit, char *bytes)
{
    if (rank == 0) {
        memset(bytes + at, 1, (size_t)unit);
        return;
    }
    for (int64_t i = 0; i < shape[0]; i++)
        mark(shape + 1, stride + 1, rank - 1, at + i * stride[0] * unit, unit, bytes);
}

/* A view of any strides whose bytes lie in the tensor. */
static bool any_view(const struct distribution *d, int64_t *at, int *rank, int64_t *shape, int64_t *stride)
{
    const int64_t elements = ptoi_home_bytes(d) / d->unit;
    int64_t low = *at = below(elements), high = *at + 1, dense[PTO_MAX_RANK];
    ptoi_home_strides(d, dense);
    *rank = 1 + (int)below(3);
    for (int k = 0; k < *rank; k++) {
        shape[k] = 1 + below(5);
        stride[k] = dense[below(d->rank)] * (1 + below(2) * below(3));
        if (below(4) == 0) stride[k] = below(9) - 4;
        *(stride[k] < 0 ? &low : &high) += stride[k] * (shape[k] - 1);
    }
    return low >= 0 && high <= elements;
}

TEST(a_box_covers_its_region_and_is_known_to_be_it_only_where_it_is)
{
    int exact = 0, views = 0, is_box_and_known = 0, is_box = 0;
    while (views < RANDOM) {
        const struct distribution d = any_distribution();
        const int64_t bytes = ptoi_home_bytes(&d);
        int64_t at, shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
        int rank;
        struct region region;
        struct box box = {{0}, {0}};
        if (!any_view(&d, &at, &rank, shape, stride)) continue;
        EXPECT(ptoi_region_make(&region, at * d.unit, d.unit, rank, shape, stride));
        const bool known = ptoi_home_box(&d, &region, &box);
        static char of_view[MOST_BYTES];
        memset(of_view, 0, sizeof of_view);
        mark(shape, stride, rank, at * d.unit, d.unit, of_view);
        bool same = true;
        for (int64_t i = 0; i < bytes; i++) {
            int64_t e[PTO_MAX_RANK];
            element_of(&d, i / d.unit, e);
            EXPECT(!of_view[i] || is_in(&box, e, d.rank));
            same &= of_view[i] == is_in(&box, e, d.rank);
        }
        for (int k = 0; k < d.rank; k++) EXPECT(box.low[k] >= 0 && box.high[k] <= d.shape[k]);
        EXPECT(same || !known);
        exact += known;
        is_box += same;
        is_box_and_known += same && known;
        views++;
    }
    EXPECT(exact > RANDOM / 20);
    EXPECT(is_box_and_known * 10 > is_box * 9); /* few boxes are not recognized */
}

TEST(boxes_of_the_tensor_are_always_known)
{
    for (int n = 0; n < RANDOM; n++) {
        const struct distribution d = any_distribution();
        const struct box b = any_box(&d);
        struct box found = {{0}, {0}};
        struct region region;
        int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK], at = 0;
        ptoi_home_strides(&d, stride);
        for (int k = 0; k < d.rank; k++) {
            shape[k] = b.high[k] - b.low[k];
            at += b.low[k] * stride[k];
        }
        EXPECT(ptoi_region_make(&region, at * d.unit, d.unit, d.rank, shape, stride));
        EXPECT(ptoi_home_box(&d, &region, &found));
        EXPECT(memcmp(&b, &found, sizeof b) == 0);
    }
}

TEST(a_distribution_that_is_none_has_no_bytes)
{
    const struct distribution good = {.rank = 1, .unit = 4, .shape = {5}, .cell = {2}, .grid = {3}};
    struct distribution d = good;
    EXPECT_EQ(ptoi_home_bytes(&d), 20);
    d.unit = 3;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
    d = good, d.rank = 0;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
    d = good, d.rank = PTO_MAX_RANK + 1;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
    d = good, d.cell[0] = 0;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
    d = good, d.grid[0] = 0;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
    d = good, d.shape[0] = INT64_MAX;
    EXPECT_EQ(ptoi_home_bytes(&d), 0);
}

TEST(bands_begin_at_lines_and_reach_the_end)
{
    for (int64_t bytes = 1; bytes < 3000; bytes += 37)
        for (int32_t ranks = 1; ranks < 6; ranks++) {
            const struct distribution d = ptoi_home_bands(bytes, ranks);
            EXPECT_EQ(ptoi_home_bytes(&d), bytes);
            EXPECT_EQ(d.cell[0] % 64, 0);
            EXPECT(d.cell[0] * ranks >= bytes);
        }
}

/* Rows of a cell are joined where the next cells are those of the same rank, and where there is one cell. */
TEST(a_row_of_a_cell_ends_where_another_rank_begins)
{
    const struct {
        struct distribution d;
        int32_t ranks;
        int32_t cut;
        int64_t row;
    } cases[] = {
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 64}, .grid = {1, 2}}, 2, 1, 256},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 64}, .grid = {2, 1}}, 2, 0, 64 * 2048},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {1, 512}, .grid = {2, 1}}, 2, 0, 2048},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 64}, .grid = {2, 2}}, 4, 1, 256},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 64}, .grid = {1, 2}}, 1, -1, 1 << 20},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {512, 512}, .grid = {2, 2}}, 4, -1, 1 << 20},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 512}, .grid = {2, 2}}, 2, -1, 1 << 20},
        {{.rank = 2, .unit = 4, .shape = {512, 512}, .cell = {64, 512}, .grid = {2, 2}}, 4, 0, 64 * 2048},
        {{.rank = 3, .unit = 8, .shape = {4, 6, 8}, .cell = {1, 6, 8}, .grid = {3, 1, 1}}, 3, 0, 6 * 8 * 8},
        {{.rank = 1, .unit = 1, .shape = {100}, .cell = {64}, .grid = {2}}, 2, 0, 64},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        EXPECT_EQ(ptoi_home_cut(&cases[k].d, cases[k].ranks), cases[k].cut);
        EXPECT_EQ(ptoi_home_row(&cases[k].d, cases[k].ranks), cases[k].row);
    }
}

TEST(ranks_own_all_bytes_and_each_as_many_as_elements_live_there)
{
    for (int n = 0; n < RANDOM; n++) {
        const struct distribution d = any_distribution();
        const int32_t ranks = 1 + (int32_t)below(5);
        int64_t elements[5] = {0}, element[PTO_MAX_RANK];
        for (int64_t e = 0; e < ptoi_home_bytes(&d) / d.unit; e++) {
            element_of(&d, e, element);
            elements[ptoi_home_of(&d, ranks, element)]++;
        }
        for (int32_t rank = 0; rank < ranks; rank++)
            EXPECT_EQ(ptoi_home_owned(&d, ranks, rank), elements[rank] * d.unit);
    }
}
