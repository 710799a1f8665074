/* test_kernels_tile.c - the C kernels of std/tile.pto against their references, f32 and f64. */
#ifndef T
#include "kernels_unit.h"

#include <float.h>
#include <pthread.h>

#include "ref/ref.h"

enum { ROUNDS = 150 };
#define IN(o)  (o)->p, (o)->stride
#define REF(o) (o)->twin, (o)->stride

#define EACH_TYPE_FILE "test_kernels_tile.c"
#include "each_type.h"

TEST(moves_give_the_bits_of_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        check_moves_f32(random_extent(), random_extent());
        check_moves_f64(random_extent(), random_extent());
    }
}

TEST(products_of_whole_numbers_are_exact)
{
    whole_numbers = true;
    for (int round = 0; round < ROUNDS; round++) {
        check_products_f32(random_extent(), random_extent(), random_extent(), 0);
        check_products_f64(random_extent(), random_extent(), random_extent(), 0);
    }
    whole_numbers = false;
}

TEST(products_are_as_close_as_the_order_of_a_sum_allows)
{
    // A sum of K products and a start, each at most 1: K roundings, each of at most half an ulp of at most K + 1, for
    // either side, and one more where the result is stored.
    for (int round = 0; round < ROUNDS; round++) {
        int64_t k = random_extent();
        double size = (double)(k + 1);
        check_products_f32(random_extent(), random_extent(), k, size * (size + 1) * FLT_EPSILON);
        check_products_f64(random_extent(), random_extent(), k, size * (size + 1) * DBL_EPSILON);
    }
}

TEST(an_empty_sum_clears_what_is_not_a_number)
{
    float p[2] = {NAN, INFINITY};
    const int64_t stride[2] = {2, 1};
    EXPECT_EQ(pto_tile_gemm_f32(NULL, stride, NULL, stride, p, stride, 1, 2, 0), 0);
    EXPECT(p[0] == 0 && p[1] == 0);
    float one = 1, q = NAN;
    EXPECT_EQ(pto_tile_gemm_f32(&one, stride, &one, stride, &q, stride, 1, 1, 1), 0);
    EXPECT(q == 1);
}

TEST(what_is_not_a_number_gets_through_a_product)
{
    const int64_t stride[2] = {2, 1};
    double a[4] = {0, 0, 0, 0}, b[4] = {NAN, 1, INFINITY, 1}, p[4];
    EXPECT_EQ(pto_tile_gemm_f64(a, stride, b, stride, p, stride, 2, 2, 2), 0);
    EXPECT(isnan(p[0]) && p[1] == 0 && isnan(p[2]) && p[3] == 0);
}

TEST(the_address_of_an_operand_is_not_in_the_bits)
{
    static const int64_t sizes[][3] = {{1, 1, 9},    {4, 4, 4},    {5, 7, 3},     {16, 1, 33},
                                       {31, 17, 64}, {64, 64, 64}, {65, 130, 100}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_alignment_f32(sizes[i][0], sizes[i][1], sizes[i][2]);
        check_alignment_f64(sizes[i][0], sizes[i][1], sizes[i][2]);
    }
}

enum { THREADS = 4, SIDE = 96, CALLS = 30 };
static double shared_a[SIDE * SIDE], shared_b[SIDE * SIDE], want[SIDE * SIDE];

static void *multiply_often(void *unused)
{
    (void)unused;
    static _Thread_local double p[SIDE * SIDE];
    const int64_t stride[2] = {SIDE, 1};
    for (int call = 0; call < CALLS; call++) {
        memset(p, 0xff, sizeof p);
        if (pto_tile_gemm_f64(shared_a, stride, shared_b, stride, p, stride, SIDE, SIDE, SIDE) != 0) return p;
        if (memcmp(p, want, sizeof p) != 0) return p;
    }
    return NULL;
}

TEST(the_thread_is_not_in_the_bits)
{
    const int64_t stride[2] = {SIDE, 1};
    for (int i = 0; i < SIDE * SIDE; i++) shared_a[i] = random_value(), shared_b[i] = random_value();
    EXPECT_EQ(pto_tile_gemm_f64(shared_a, stride, shared_b, stride, want, stride, SIDE, SIDE, SIDE), 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) EXPECT_EQ(pthread_create(&threads[i], NULL, multiply_often, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *different = NULL;
        EXPECT_EQ(pthread_join(threads[i], &different), 0);
        EXPECT(different == NULL);
    }
}
#else

static const bool NAME(wide) = sizeof(T) == sizeof(double);

static void NAME(check_moves)(int64_t m, int64_t n)
{
    struct operand *a = operand_new(NAME(wide), m, n, false), *c = operand_new(NAME(wide), m, n, true);
    struct operand *d = operand_new(NAME(wide), n, m, true);
    EXPECT_EQ(NAME(pto_tile_copy)(IN(a), IN(c), m, n), 0);
    NAME(ref_tile_copy)(REF(a), REF(c), m, n);
    expect_agree(c, 0, 0);
    EXPECT_EQ(NAME(pto_tile_transpose)(IN(a), IN(d), m, n), 0);
    NAME(ref_tile_transpose)(REF(a), REF(d), m, n);
    expect_agree(d, 0, 0);
    operands_free();
}

static void NAME(check_products)(int64_t m, int64_t n, int64_t k, double absolute)
{
    struct operand *a = operand_new(NAME(wide), m, k, false), *b = operand_new(NAME(wide), k, n, false);
    struct operand *bt = operand_new(NAME(wide), n, k, false), *c = operand_new(NAME(wide), m, n, true);
#define CHECK_GEMM(kernel, right)                                                                                      \
    EXPECT_EQ(NAME(pto_tile_##kernel)(IN(a), IN(right), IN(c), m, n, k), 0);                                           \
    NAME(ref_tile_##kernel)(REF(a), REF(right), REF(c), m, n, k);                                                      \
    expect_agree(c, absolute, 0)
    CHECK_GEMM(gemm_acc, b); // first, while c holds numbers of the size that the bound is made for
    CHECK_GEMM(gemm, b);
    CHECK_GEMM(gemm_nt, bt);
#undef CHECK_GEMM
    operands_free();
}

/* One product with its operands at every offset from a 64-byte boundary that elements can have. */
static void NAME(check_alignment)(int64_t m, int64_t n, int64_t k)
{
    enum { OFFSETS = 64 / sizeof(T) };
    const int64_t a_stride[2] = {k, 1}, b_stride[2] = {n, 1}, p_stride[2] = {n, 1};
    size_t a_size = (size_t)(m * k), b_size = (size_t)(k * n), p_size = (size_t)(m * n);
    size_t total = (a_size + b_size + p_size + 3 * OFFSETS) * sizeof(T);
    T *block = aligned_alloc(64, (total + 63) / 64 * 64), *first = malloc(p_size * sizeof(T));
    T *values = malloc((a_size + b_size) * sizeof(T));
    EXPECT(block != NULL && first != NULL && values != NULL);
    for (size_t i = 0; i < a_size + b_size; i++) values[i] = (T)random_value();
    for (int64_t offset = 0; offset < OFFSETS; offset++) {
        T *a = block + offset, *b = a + a_size + random_below(OFFSETS), *p = b + b_size + random_below(OFFSETS);
        memcpy(a, values, a_size * sizeof(T));
        memcpy(b, values + a_size, b_size * sizeof(T));
        EXPECT_EQ(NAME(pto_tile_gemm)(a, a_stride, b, b_stride, p, p_stride, m, n, k), 0);
        if (offset == 0) memcpy(first, p, p_size * sizeof(T));
        EXPECT(memcmp(first, p, p_size * sizeof(T)) == 0);
    }
    free(values);
    free(first);
    free(block);
}
#endif
