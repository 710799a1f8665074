/* test_kernels_dma.c - the moves of std/dma.pto against their references, and indices that are no rows. */
#ifndef T
#include "kernels_unit.h"

#include "ref/ref.h"

enum { ROUNDS = 150, MOST_ROWS = 140 };
#define IN(o)  (o)->p, (o)->stride
#define REF(o) (o)->twin, (o)->stride

#define EACH_TYPE_FILE "test_kernels_dma.c"
#include "each_type.h"

TEST(moves_give_the_bits_of_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        check_moves_f32(random_extent(), random_extent(), random_extent());
        check_moves_f64(random_extent(), random_extent(), random_extent());
    }
}

TEST(an_index_that_is_no_row_fails_and_nothing_is_written)
{
    static const int64_t bad[] = {-1, 3, INT64_MAX, INT64_MIN};
    const int64_t stride[2] = {2, 1}, unit[1] = {1};
    const float src[6] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float dst[6] = {0};
        const int64_t index[3] = {0, 1, bad[i]};
        EXPECT_EQ(pto_dma_gather_rows_f32(src, stride, index, unit, dst, stride, 3, 2, 3), PTO_KERNEL_BAD_INDEX);
        EXPECT_EQ(pto_dma_scatter_rows_f32(src, stride, index, unit, dst, stride, 3, 2, 3), PTO_KERNEL_BAD_INDEX);
        for (int j = 0; j < 6; j++) EXPECT(dst[j] == 0);
        EXPECT_EQ(pto_dma_gather_rows_f32(src, stride, index, unit, dst, stride, 3, 2, 2), 0);
        EXPECT(dst[0] == 1 && dst[3] == 4 && dst[4] == 0);
    }
}

TEST(the_last_row_scattered_to_a_place_stays)
{
    const int64_t stride[2] = {1, 1}, unit[1] = {1}, index[3] = {1, 1, 1};
    const double src[3] = {5, 6, 7};
    double dst[2] = {0, 0};
    EXPECT_EQ(pto_dma_scatter_rows_f64(src, stride, index, unit, dst, stride, 2, 1, 3), 0);
    EXPECT(dst[0] == 0 && dst[1] == 7);
}

TEST(rows_of_no_columns_and_no_rows_are_fine)
{
    const int64_t stride[2] = {0, 1}, unit[1] = {1}, index[2] = {0, 1};
    EXPECT_EQ(pto_dma_gather_rows_f32(NULL, stride, index, unit, NULL, stride, 2, 0, 2), 0);
    EXPECT_EQ(pto_dma_gather_rows_f32(NULL, stride, NULL, unit, NULL, stride, 0, 3, 0), 0);
    EXPECT_EQ(pto_dma_scatter_rows_f64(NULL, stride, NULL, unit, NULL, stride, 0, 3, 0), 0);
    EXPECT_EQ(pto_dma_gather_rows_f64(NULL, stride, index, unit, NULL, stride, 1, 0, 2), PTO_KERNEL_BAD_INDEX);
}
#else

static void NAME(check_moves)(int64_t m, int64_t n, int64_t r)
{
    const bool wide = sizeof(T) == sizeof(double);
    static int64_t index[2 * MOST_ROWS];
    const int64_t step[1] = {random_below(3)};
    if (m == 0) r = 0;
    for (int64_t i = 0; i < r; i++) index[i * step[0]] = random_below(m);
    struct operand *big = operand_new(wide, m, n, false), *list = operand_new(wide, r, n, true);
    struct operand *rows = operand_new(wide, r, n, false), *into = operand_new(wide, m, n, true);
    EXPECT_EQ(NAME(pto_dma_copy)(IN(big), IN(into), m, n), 0);
    NAME(ref_dma_copy)(REF(big), REF(into), m, n);
    expect_agree(into, 0, 0);
    EXPECT_EQ(NAME(pto_dma_gather_rows)(IN(big), index, step, IN(list), m, n, r), 0);
    NAME(ref_dma_gather_rows)(REF(big), index, step, REF(list), m, n, r);
    expect_agree(list, 0, 0);
    EXPECT_EQ(NAME(pto_dma_scatter_rows)(IN(rows), index, step, IN(into), m, n, r), 0);
    NAME(ref_dma_scatter_rows)(REF(rows), index, step, REF(into), m, n, r);
    expect_agree(into, 0, 0);
    operands_free();
}
#endif
