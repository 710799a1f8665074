/* test_kernels_sparse.c - spmv of std/sparse.pto: any rows of a matrix, and data that cannot be trusted. */
#include "kernels_unit.h"

#include "ref/ref.h"

enum { MOST = 40 * 60 };
static const int64_t unit[1] = {1};

TEST(rows_of_whole_numbers_are_exact)
{
    static int64_t ptr[2 * 60];
    static int32_t idx[2 * MOST];
    static float val[3 * MOST], x[3 * 60], y[2 * 60], want[2 * 60];
    for (int round = 0; round < 200; round++) {
        int64_t rows = random_below(40), columns = 1 + random_below(50), entries = 0;
        const int64_t sp[1] = {1 + random_below(2)}, si[1] = {1 + random_below(2)}, sv[1] = {random_below(4)};
        const int64_t sx[1] = {random_below(3)}, sy[1] = {1 + random_below(2)};
        int64_t first = round % 2 ? random_below(1000) : round % 3 ? 0 : INT64_MAX - MOST;
        ptr[0] = first;
        for (int64_t i = 0; i < rows; i++) {
            int64_t count = random_below(4) == 0 ? 0 : random_below(60);
            for (int64_t e = 0; e < count; e++, entries++) {
                idx[entries * si[0]] = (int32_t)random_below(columns);
                val[entries * sv[0]] = (float)(random_below(9) - 4);
            }
            ptr[(i + 1) * sp[0]] = first + entries;
        }
        for (int64_t i = 0; i < columns; i++) x[i * sx[0]] = (float)(random_below(9) - 4);
        memset(y, 0x55, sizeof y);
        memset(want, 0x55, sizeof want);
        int64_t room = entries + random_below(2); // Z may be more than the rows use
        EXPECT_EQ(pto_sparse_spmv_f32(ptr, sp, idx, si, val, sv, x, sx, y, sy, rows, room, columns), 0);
        ref_sparse_spmv_f32(ptr, sp, idx, si, val, sv, x, sx, want, sy, rows, room, columns);
        EXPECT(memcmp(y, want, sizeof y) == 0);
    }
}

static int run(const int64_t *ptr, int32_t column)
{
    const int32_t idx[4] = {0, column, 2, 2}; // one more than Z says, and it looks right
    const float val[4] = {1, 2, 3, 4}, x[4] = {1, 1, 1, 1};
    float y[2] = {0, 0};
    return pto_sparse_spmv_f32(ptr, unit, idx, unit, val, unit, x, unit, y, unit, 2, 3, 4);
}

TEST(bad_indices_are_found_and_never_followed)
{
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, 3), PTO_KERNEL_OK);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, 4), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, -1), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 3}, INT32_MAX), PTO_KERNEL_BAD_INDEX);
    EXPECT_EQ(run((int64_t[]){0, 1, 4}, 1), PTO_KERNEL_BAD_INDEX);         // past Z
    EXPECT_EQ(run((int64_t[]){0, 2, 1}, 1), PTO_KERNEL_BAD_INDEX);         // falls
    EXPECT_EQ(run((int64_t[]){5, 4, 6}, 1), PTO_KERNEL_BAD_INDEX);         // falls below its own start
    EXPECT_EQ(run((int64_t[]){INT64_MIN, 1, 3}, 1), PTO_KERNEL_BAD_INDEX); // differences that overflow
    EXPECT_EQ(run((int64_t[]){INT64_MAX, INT64_MIN, 3}, 1), PTO_KERNEL_BAD_INDEX);
}

TEST(no_rows_and_no_entries_are_fine)
{
    const int64_t ptr[3] = {7, 7, 7};
    float y[2] = {9, 9};
    EXPECT_EQ(pto_sparse_spmv_f32(ptr, unit, NULL, unit, NULL, unit, NULL, unit, NULL, unit, 0, 0, 0), 0);
    EXPECT_EQ(pto_sparse_spmv_f32(ptr, unit, NULL, unit, NULL, unit, NULL, unit, y, unit, 2, 0, 0), 0);
    EXPECT(y[0] == 0 && y[1] == 0);
}
