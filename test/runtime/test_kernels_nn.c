/* test_kernels_nn.c - the kernels of std/nn.pto against their references, and attention as a whole. */
#include "kernels_unit.h"

#include <float.h>

#include "ref/ref.h"

enum { ROUNDS = 150, B = PTO_NN_BLOCK };
#define IN(o)  (o)->p, (o)->stride
#define REF(o) (o)->twin, (o)->stride

static struct operand *f32(int64_t rows, int64_t columns, bool is_written)
{
    return operand_new(false, rows, columns, is_written);
}

TEST(filling_and_adding_give_the_bits_of_the_reference)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t m = random_extent(), n = random_extent();
        struct operand *a = f32(m, n, false), *b = f32(m, n, false), *c = f32(m, n, true), *x = f32(n, 1, true);
        EXPECT_EQ(pto_nn_add_f32(IN(a), IN(b), IN(c), m, n), 0);
        ref_nn_add_f32(REF(a), REF(b), REF(c), m, n);
        expect_agree(c, 0, 0);
        EXPECT_EQ(pto_nn_relu_f32(IN(a), IN(c), m, n), 0);
        ref_nn_relu_f32(REF(a), REF(c), m, n);
        expect_agree(c, 0, 0);
        EXPECT_EQ(pto_nn_fill2_f32(IN(c), -1.5f, m, n), 0);
        ref_nn_fill2_f32(REF(c), -1.5f, m, n);
        expect_agree(c, 0, 0);
        EXPECT_EQ(pto_nn_fill_f32(IN(x), -1e30f, n), 0);
        ref_nn_fill_f32(REF(x), -1e30f, n);
        expect_agree(x, 0, 0);
        operands_free();
    }
}

TEST(relu_keeps_what_is_not_a_number)
{
    float x[5] = {NAN, INFINITY, -3e38f, 3e38f, -0.0f}, y[5];
    const int64_t stride[2] = {5, 1};
    EXPECT_EQ(pto_nn_relu_f32(x, stride, y, stride, 1, 5), 0);
    EXPECT(isnan(y[0]) && y[1] == INFINITY && y[2] == 0 && y[3] == x[3] && y[4] == 0);
}

TEST(matmul_of_whole_numbers_is_exact)
{
    whole_numbers = true;
    for (int round = 0; round < 40; round++) {
        int64_t m = random_extent(), n = random_extent(), k = random_extent();
        struct operand *a = f32(m, k, false), *b = f32(k, n, false), *c = f32(m, n, true);
        EXPECT_EQ(pto_nn_matmul_f32(IN(a), IN(b), IN(c), m, n, k), 0);
        ref_nn_matmul_f32(REF(a), REF(b), REF(c), m, n, k);
        expect_agree(c, 0, 0);
        operands_free();
    }
    whole_numbers = false;
}

TEST(each_step_of_attention_agrees_with_the_reference)
{
    for (int round = 0; round < 40; round++) {
        int64_t d = random_extent();
        struct operand *q = f32(B, d, false), *k = f32(B, d, false), *s = f32(B, B, true);
        EXPECT_EQ(pto_nn_qk_f32(IN(q), IN(k), IN(s), d), 0);
        ref_nn_qk_f32(REF(q), REF(k), REF(s), d);
        expect_agree(s, (double)((d + 1) * (d + 1)) * FLT_EPSILON, 0); // as in test_kernels_tile.c
        operands_free();

        struct operand *o = f32(B, d, true), *y = f32(B, d, true), *p = f32(B, B, false), *v = f32(B, d, false);
        struct operand *r = f32(B, 1, false), *l = f32(B, 1, false);
        for (int64_t i = 0; i < B; i++) operand_set(l, i, 0, random_real(1, 4));
        EXPECT_EQ(pto_nn_rescale_pv_f32(IN(p), IN(v), IN(r), IN(o), d), 0);
        ref_nn_rescale_pv_f32(REF(p), REF(v), REF(r), REF(o), d);
        expect_agree(o, (B + 2) * (B + 1) * FLT_EPSILON, 0);
        EXPECT_EQ(pto_nn_finish_f32(IN(o), IN(l), IN(y), d), 0);
        ref_nn_finish_f32(REF(o), REF(l), REF(y), d);
        expect_agree(y, 0, 0);
        operands_free();
    }
}
