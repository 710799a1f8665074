/* test_kernels_la.c - the kernels of std/la.pto against their references, and what a failing factor leaves. */
#include "kernels_unit.h"

#include <float.h>

#include "ref/ref.h"

enum { N = PTO_LA_TILE, ROUNDS = 12 };
#define IN(o)  (o)->p, (o)->stride
#define REF(o) (o)->twin, (o)->stride

static const int64_t one[1] = {1}, dense[2] = {N, 1};

static struct operand *f64(bool is_written) { return operand_new(true, N, N, is_written); }

/* A lower factor with whole numbers, powers of two on the diagonal: nothing that is computed with it is ever
 * rounded. */
static void whole_factor(double l[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) l[i][j] = j > i ? 0 : j == i ? 1 << random_below(2) : (double)(random_below(3) - 1);
}

/* The lower triangle of l transpose(l); what stands above keeps its noise. */
static void set_product(struct operand *a, double l[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++) sum += l[i][k] * l[j][k];
            operand_set(a, i, j, sum);
        }
}

TEST(a_factor_of_whole_numbers_is_found_exactly)
{
    static double l[N][N];
    for (int round = 0; round < ROUNDS; round++) {
        struct operand *a = f64(true);
        int32_t info = 0, ref_info = 0;
        whole_factor(l);
        set_product(a, l);
        EXPECT_EQ(pto_la_potrf_f64(IN(a), &info, one), 0);
        EXPECT_EQ(info, 0);
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) EXPECT(operand_get(a, a->p, i, j) == l[i][j]);
        ref_la_potrf_tile_f64(REF(a), &ref_info, one, N);
        expect_agree(a, 0, 0);
        operands_free();
    }
}

TEST(a_factor_is_close_to_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct operand *a = f64(true);
        int32_t info = 0;
        // Symmetric with rows that sum to less than the diagonal: the condition is below 10, and the error is at most
        // condition * N * epsilon * the norm, which is below 2 N.
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) operand_set(a, i, j, i == j ? 1.5 * N : random_real(-1, 1));
        EXPECT_EQ(pto_la_potrf_f64(IN(a), &info, one), 0);
        EXPECT_EQ(info, 0);
        ref_la_potrf_tile_f64(REF(a), &info, one, N);
        expect_agree(a, 10.0 * N * DBL_EPSILON * 2 * sqrt(N), 0);
        operands_free();
    }
}

TEST(a_tile_that_is_not_positive_definite_says_where_and_stays)
{
    static const int orders[] = {1, 2, 31, 32, 64, 65, 127, 128};
    static double l[N][N];
    for (size_t r = 0; r < sizeof orders / sizeof *orders; r++)
        for (int nan = 0; nan < 2; nan++) {
            struct operand *a = f64(true);
            int at = orders[r] - 1;
            int32_t info = 0;
            whole_factor(l);
            set_product(a, l);
            operand_set(a, at, at, nan ? NAN : operand_get(a, a->p, at, at) - l[at][at] * l[at][at]);
            EXPECT_EQ(pto_la_potrf_f64(IN(a), &info, one), 0);
            EXPECT_EQ(info, orders[r]);
            expect_agree(a, 0, 0);
            operands_free();
        }
}

TEST(the_first_failure_is_kept)
{
    static double a[N * N]; // zeros fail at once
    int32_t info = 77;
    EXPECT_EQ(pto_la_potrf_f64(a, dense, &info, one), 0);
    EXPECT_EQ(info, 77);
    for (int i = 0; i < N; i++) a[i * N + i] = 4;
    EXPECT_EQ(pto_la_potrf_f64(a, dense, &info, one), 0);
    EXPECT_EQ(info, 77);
    EXPECT(a[0] == 2);
}

TEST(updates_of_whole_numbers_are_exact)
{
    whole_numbers = true;
    for (int round = 0; round < ROUNDS; round++) {
        struct operand *a = f64(false), *b = f64(false), *c = f64(true), *d = f64(true);
        EXPECT_EQ(pto_la_gemm_nt_sub_f64(IN(a), IN(b), IN(c)), 0);
        ref_la_gemm_nt_sub_tile_f64(REF(a), REF(b), REF(c), N);
        expect_agree(c, 0, 0);
        EXPECT_EQ(pto_la_syrk_f64(IN(a), IN(d)), 0);
        ref_la_syrk_tile_f64(REF(a), REF(d), N); // leaves the strict upper triangle, and so must the kernel
        expect_agree(d, 0, 0);
        operands_free();
    }
    whole_numbers = false;
}

TEST(a_solve_reads_only_the_lower_triangle)
{
    static double l[N][N];
    whole_numbers = true;
    for (int round = 0; round < ROUNDS; round++) {
        struct operand *f = f64(true), *b = f64(true);
        // Few numbers beside the diagonal: the solution of a dense one grows out of what is exact.
        whole_factor(l);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                operand_set(f, i, j, j > i ? NAN : i - j < 3 && i % 8 > j % 8 ? l[i][j] : i == j ? l[i][j] : 0);
        EXPECT_EQ(pto_la_trsm_f64(IN(f), IN(b)), 0);
        ref_la_trsm_tile_f64(REF(f), REF(b), N);
        expect_agree(b, 0, 0);
        operands_free();
    }
    whole_numbers = false;
}

TEST(a_solve_is_close_to_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct operand *f = f64(true), *b = f64(true);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) operand_set(f, i, j, i == j ? 4 : random_real(-1, 1) / N);
        EXPECT_EQ(pto_la_trsm_f64(IN(f), IN(b)), 0);
        ref_la_trsm_tile_f64(REF(f), REF(b), N);
        expect_agree(b, 2 * N * DBL_EPSILON, 0); // N roundings of numbers below 1, condition below 2
        operands_free();
    }
}

/* All four on one matrix of 2 x 2 tiles, at an address `offset` elements past a 64-byte boundary. */
static void factor_two(const double *from, double *a)
{
    const int64_t stride[2] = {2 * N, 1};
    double *a10 = a + N * 2 * N, *a11 = a10 + N;
    int32_t info = 0;
    memcpy(a, from, 4 * N * N * sizeof *a);
    EXPECT_EQ(pto_la_potrf_f64(a, stride, &info, one), 0);
    EXPECT_EQ(pto_la_trsm_f64(a, stride, a10, stride), 0);
    EXPECT_EQ(pto_la_syrk_f64(a10, stride, a11, stride), 0);
    EXPECT_EQ(pto_la_gemm_nt_sub_f64(a10, stride, a, stride, a11, stride), 0);
    EXPECT_EQ(info, 0);
}

TEST(the_address_of_a_tile_is_not_in_the_bits)
{
    enum { SIZE = 4 * N * N };
    double *from = malloc(SIZE * sizeof *from), *want = malloc(SIZE * sizeof *want);
    double *block = aligned_alloc(64, (SIZE + 8) * sizeof *block);
    EXPECT(from != NULL && want != NULL && block != NULL);
    for (int i = 0; i < SIZE; i++) from[i] = random_real(-1, 1) + (i % (2 * N + 1) == 0 ? 3 * N : 0);
    for (int offset = 0; offset < 8; offset++) {
        factor_two(from, block + offset);
        if (offset == 0) memcpy(want, block, SIZE * sizeof *want);
        EXPECT(memcmp(want, block + offset, SIZE * sizeof *want) == 0);
    }
    free(block);
    free(want);
    free(from);
}

/* Below a block of a library, one more than that, and nothing. */
TEST(tiles_have_any_extent)
{
    static const int64_t extents[] = {0, 1, 2, 3, 5, 8, 17, 31, 32, 33, 64, 65, 100, 129, 160};
    static const double per_cent = DBL_EPSILON * 100;
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
        for (int round = 0; round < ROUNDS; round++) {
            const int64_t t = extents[e];
            struct operand *a = operand_new(true, t, t, true), *b = operand_new(true, t, t, true),
                           *c = operand_new(true, t, t, true), *d = operand_new(true, t, t, true);
            int32_t info = 0, ref_info = 0;
            for (int i = 0; i < t; i++)
                for (int j = 0; j < t; j++) {
                    operand_set(a, i, j, i == j ? 1.5 * (double)t : random_real(-1, 1));
                    operand_set(b, i, j, random_real(-1, 1));
                }
            EXPECT_EQ(pto_la_potrf_tile_f64(IN(a), &info, one, t), 0);
            EXPECT_EQ(ref_la_potrf_tile_f64(REF(a), &ref_info, one, t), 0);
            EXPECT_EQ(info, 0);
            expect_agree(a, per_cent * (double)t, 0);
            EXPECT_EQ(pto_la_trsm_tile_f64(IN(a), IN(b), t), 0);
            EXPECT_EQ(ref_la_trsm_tile_f64(REF(a), REF(b), t), 0);
            expect_agree(b, per_cent * (double)t, 0);
            EXPECT_EQ(pto_la_syrk_tile_f64(IN(b), IN(c), t), 0);
            EXPECT_EQ(ref_la_syrk_tile_f64(REF(b), REF(c), t), 0);
            expect_agree(c, per_cent * (double)t, 0);
            EXPECT_EQ(pto_la_gemm_nt_sub_tile_f64(IN(b), IN(a), IN(d), t), 0);
            EXPECT_EQ(ref_la_gemm_nt_sub_tile_f64(REF(b), REF(a), REF(d), t), 0);
            expect_agree(d, per_cent * (double)t * (double)t, 0);
            operands_free();
        }
}
