/* test_ascendc.c - the kernels of kernels/ascend on the stand-in of mock/, against the references.  Mock, not run on
 * Ascend.
 * Idea       every launch is an argument block, made here as docs/ascend.md says; random shapes and strides, and one,
 *            three or more cores than there is work.
 */
#include "kernels_unit.h"

#include <float.h>

#include "ref/ref.h"

enum { ROUNDS = 120, MAX_WORDS = 64 };

static struct {
    uint64_t words[MAX_WORDS];
    size_t count;
} block;

static void put(uint64_t word)
{
    assert_true(block.count < MAX_WORDS);
    block.words[block.count++] = word;
}

/* The addresses of the operands, then extents and strides of each. */
static void put_operands(struct operand **o, int count)
{
    block.count = 0;
    for (int i = 0; i < count; i++) put((uint64_t)(uintptr_t)o[i]->p);
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < 2; d++) put((uint64_t)o[i]->extent[d]);
        for (int d = 0; d < 2; d++) put((uint64_t)o[i]->stride[d]);
    }
}

float mock_f32_of_f64(uint64_t bits);

#define DEVICE(kernel) int device_pto_tile_##kernel(const uint64_t *block, size_t words, uint64_t reach)
DEVICE(gemm_f32);
DEVICE(gemm_acc_f32);
DEVICE(gemm_nt_f32);
DEVICE(copy_f32);
DEVICE(copy_f64);
DEVICE(transpose_f32);
DEVICE(transpose_f64);

#define OPERANDS(...)                                                                                                  \
    put_operands((struct operand *[]){__VA_ARGS__},                                                                    \
                 (int)(sizeof(struct operand *[]){__VA_ARGS__} / sizeof(struct operand *)))
#define LAUNCH(kernel) EXPECT_EQ(device_pto_tile_##kernel(block.words, block.count, 0), 0)
#define REF(o)         (o)->twin, (o)->stride

static void set_cores(int round)
{
    static const char *const cores[] = {"1", "3", "40"};
    EXPECT_EQ(setenv("PTO_MOCK_BLOCKS", cores[round % 3], 1), 0);
}

/* Now and then more than a piece of a row. */
static int64_t some_extent(void) { return random_below(12) == 0 ? 4000 + random_below(300) : random_extent(); }

#define CHECK_MOVES(type, is_wide)                                                                                     \
    do {                                                                                                               \
        struct operand *a = operand_new(is_wide, m, n, false), *c = operand_new(is_wide, m, n, true);                  \
        struct operand *d = operand_new(is_wide, n, m, true);                                                          \
        OPERANDS(a, c);                                                                                                \
        LAUNCH(copy_##type);                                                                                           \
        ref_tile_copy_##type(REF(a), REF(c), m, n);                                                                    \
        expect_agree(c, 0, 0);                                                                                         \
        OPERANDS(a, d);                                                                                                \
        LAUNCH(transpose_##type);                                                                                      \
        ref_tile_transpose_##type(REF(a), REF(d), m, n);                                                               \
        expect_agree(d, 0, 0);                                                                                         \
        operands_free();                                                                                               \
    } while (0)

static void check_moves(int64_t m, int64_t n)
{
    CHECK_MOVES(f32, false);
    CHECK_MOVES(f64, true);
}

static void check_products(int64_t m, int64_t n, int64_t k, double absolute)
{
    struct operand *a = operand_new(false, m, k, false), *b = operand_new(false, k, n, false);
    struct operand *bt = operand_new(false, n, k, false), *c = operand_new(false, m, n, true);
#define CHECK_GEMM(kernel, right)                                                                                      \
    OPERANDS(a, right, c);                                                                                             \
    LAUNCH(kernel##_f32);                                                                                              \
    ref_tile_##kernel##_f32(REF(a), REF(right), REF(c), m, n, k);                                                      \
    expect_agree(c, absolute, 0)
    CHECK_GEMM(gemm_acc, b); /* first, while c holds numbers of the size that the bound is made for */
    CHECK_GEMM(gemm, b);
    CHECK_GEMM(gemm_nt, bt);
#undef CHECK_GEMM
    operands_free();
}

TEST(moves_give_the_bits_of_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        set_cores(round);
        const bool long_rows = round % 8 == 0;
        check_moves(long_rows ? 1 + random_below(3) : random_extent(), long_rows ? some_extent() : random_extent());
        check_moves(long_rows ? some_extent() : random_extent(), long_rows ? 1 + random_below(3) : random_extent());
    }
}

TEST(products_of_whole_numbers_are_exact)
{
    whole_numbers = true;
    for (int round = 0; round < ROUNDS; round++) {
        set_cores(round);
        check_products(random_extent(), random_extent(), random_extent(), 0);
    }
    whole_numbers = false;
}

TEST(products_are_as_close_as_the_order_of_a_sum_allows)
{
    for (int round = 0; round < ROUNDS / 2; round++) {
        set_cores(round);
        int64_t k = random_extent();
        double size = (double)(k + 1);
        check_products(random_extent(), random_extent(), k, size * (size + 1) * FLT_EPSILON);
    }
}

/* Rows side by side, columns side by side, or neither. */
static struct operand *operand_way(int64_t rows, int64_t columns, int way)
{
    const int64_t stride[3][2] = {{columns + 3, 1}, {1, rows + 5}, {2 * columns + 1, 2}};
    return operand_strided(false, rows, columns, stride[way]);
}

/* Larger than a tile and a step in each dimension, in every layout of a, b and the result. */
TEST(tiles_and_steps_meet_without_a_seam)
{
    static const int64_t m = 150, n = 261, k = 139;
    whole_numbers = true;
    for (int a_way = 0; a_way < 3; a_way++)
        for (int b_way = 0; b_way < 3; b_way++)
            for (int c_way = 0; c_way < 3; c_way++) {
                set_cores(c_way);
                struct operand *a = operand_way(m, k, a_way), *b = operand_way(k, n, b_way),
                               *c = operand_way(m, n, c_way);
                OPERANDS(a, b, c);
                LAUNCH(gemm_f32);
                ref_tile_gemm_f32(REF(a), REF(b), REF(c), m, n, k);
                expect_agree(c, 0, 0);
                operands_free();
            }
    whole_numbers = false;
}

TEST(scalars_are_rounded_to_the_nearest_f32)
{
    static const double values[] = {0.0,
                                    -0.0,
                                    1.0,
                                    0.1,
                                    -0.1,
                                    1e300,
                                    -1e300,
                                    0x1.fffffep127,
                                    0x1.ffffffp127,
                                    0x1p-126,
                                    0x1p-149,
                                    0x1.8p-149,
                                    0x1p-150,
                                    -0x1p-150,
                                    0x1.000001p-150,
                                    0x1p-151,
                                    5e-324,
                                    INFINITY,
                                    -INFINITY,
                                    0x1.000001p0,
                                    0x1.000003p0,
                                    0x1.fffffefp-127,
                                    0x1.ffffffp-127,
                                    3.0e-39};
    set_cores(0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_u64();
        double value;
        /* half of them near the range of f32 */
        if (i % 2) bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1023 - 160 + random_below(300)) << 52;
        memcpy(&value, &bits, sizeof value);
        if ((size_t)i < sizeof values / sizeof *values) value = values[i];
        memcpy(&bits, &value, sizeof bits);
        const float got = mock_f32_of_f64(bits), want = (float)value;
        if (isnan(value) ? !isnan(got) : memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%.17g (%a): got %a, want %a", value, value, (double)got, (double)want);
    }
}

TEST(an_empty_sum_clears_what_is_not_a_number)
{
    float p[2] = {NAN, INFINITY};
    block.count = 0;
    put(0), put(0), put((uint64_t)(uintptr_t)p);
    put(1), put(0), put(1), put(1); /* a */
    put(0), put(2), put(2), put(1); /* b */
    put(1), put(2), put(2), put(1); /* p */
    LAUNCH(gemm_f32);
    EXPECT(p[0] == 0 && p[1] == 0);
}
