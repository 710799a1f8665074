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

static const int64_t dense_64[2] = {B, 1}, dense_1[2] = {1, 1};

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
        bool diagonal = random_below(2);
        struct operand *q = f32(B, d, false), *k = f32(B, d, false), *v = f32(B, d, false), *s = f32(B, B, true);
        EXPECT_EQ(pto_nn_qk_f32(IN(q), IN(k), IN(s), d), 0);
        ref_nn_qk_f32(REF(q), REF(k), REF(s), d);
        expect_agree(s, (double)((d + 1) * (d + 1)) * FLT_EPSILON, 0); // as in test_kernels_tile.c
        struct operand *m = f32(B, 1, true), *l = f32(B, 1, true), *p = f32(B, B, true), *r = f32(B, 1, true);
        for (int64_t i = 0; i < B; i++) {
            operand_set(m, i, 0, round % 4 == 0 ? -1e30 : random_real(-8, 8));
            operand_set(l, i, 0, random_real(0, 4));
        }
        EXPECT_EQ(pto_nn_online_softmax_f32(IN(s), IN(m), IN(l), IN(p), IN(r), diagonal), 0);
        ref_nn_online_softmax_f32(REF(s), REF(m), REF(l), REF(p), REF(r), diagonal);
        double roundings = 24 * FLT_EPSILON; // half an ulp of at most 20 in the argument of exp, then exp
        expect_agree(m, 0, 0);
        expect_agree(r, FLT_TRUE_MIN, roundings);
        expect_agree(p, FLT_TRUE_MIN, roundings);
        expect_agree(l, 0, roundings);
        operands_free();

        struct operand *o = f32(B, d, true), *y = f32(B, d, true);
        p = f32(B, B, false), v = f32(B, d, false), r = f32(B, 1, false), l = f32(B, 1, false);
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

TEST(hidden_keys_do_not_matter_even_when_they_are_no_numbers)
{
    static float s[B * B], m[B], l[B], p[B * B], r[B];
    for (int64_t i = 0; i < B; i++) {
        m[i] = -1e30f, l[i] = 0;
        for (int64_t j = 0; j < B; j++) s[i * B + j] = j > i ? NAN : 0;
    }
    EXPECT_EQ(pto_nn_online_softmax_f32(s, dense_64, m, dense_1, l, dense_1, p, dense_64, r, dense_1, true), 0);
    for (int64_t i = 0; i < B; i++) {
        EXPECT(m[i] == 0 && r[i] == 0 && l[i] == (float)(i + 1));
        for (int64_t j = 0; j < B; j++) EXPECT(p[i * B + j] == (j > i ? 0 : 1));
    }
}

TEST(a_block_of_scores_that_are_all_minus_infinity_weighs_nothing)
{
    static float s[B * B], m[B], l[B], p[B * B], r[B];
    for (int64_t i = 0; i < B * B; i++) s[i] = -INFINITY;
    for (int64_t i = 0; i < B; i++) m[i] = i % 2 ? -INFINITY : 3, l[i] = i % 2 ? 0 : 2;
    EXPECT_EQ(pto_nn_online_softmax_f32(s, dense_64, m, dense_1, l, dense_1, p, dense_64, r, dense_1, false), 0);
    for (int64_t i = 0; i < B; i++) {
        EXPECT(m[i] == (i % 2 ? -INFINITY : 3) && l[i] == (i % 2 ? 0 : 2));
        EXPECT(i % 2 || r[i] == 1);
        for (int64_t j = 0; j < B; j++) EXPECT(p[i * B + j] == 0);
    }
}

enum { BLOCKS = 3, S = BLOCKS * B, D = 40 };
static float Q[S * D], K[S * D], V[S * D], Y[S * D];

/* The loops of flash.pto. */
static void flash(bool causal)
{
    static float s[B * B], m[B], l[B], p[B * B], r[B], o[B * D];
    const int64_t d[2] = {D, 1};
    for (int i = 0; i < BLOCKS; i++) {
        pto_nn_fill_f32(m, dense_1, -1e30f, B);
        pto_nn_fill_f32(l, dense_1, 0, B);
        pto_nn_fill2_f32(o, d, 0, B, D);
        for (int j = 0; j < BLOCKS && !(causal && j > i); j++) {
            EXPECT_EQ(pto_nn_qk_f32(Q + i * B * D, d, K + j * B * D, d, s, dense_64, D), 0);
            pto_nn_online_softmax_f32(s, dense_64, m, dense_1, l, dense_1, p, dense_64, r, dense_1, causal && j == i);
            EXPECT_EQ(pto_nn_rescale_pv_f32(p, dense_64, V + j * B * D, d, r, dense_1, o, d, D), 0);
        }
        pto_nn_finish_f32(o, d, l, dense_1, Y + i * B * D, d, D);
    }
}

TEST(the_blocks_together_are_attention)
{
    for (int i = 0; i < S * D; i++)
        Q[i] = (float)random_real(-2, 2), K[i] = (float)random_real(-2, 2), V[i] = (float)random_real(-1, 1);
    for (int causal = 0; causal < 2; causal++) {
        flash(causal);
        for (int i = 0; i < S; i++) {
            double score[S], top = -INFINITY, sum = 0;
            int seen = causal ? i + 1 : S;
            for (int j = 0; j < seen; j++) {
                score[j] = 0;
                for (int d = 0; d < D; d++) score[j] += (double)Q[i * D + d] * K[j * D + d] / sqrt(D);
                top = fmax(top, score[j]);
            }
            for (int j = 0; j < seen; j++) sum += score[j] = exp(score[j] - top);
            for (int d = 0; d < D; d++) {
                double want = 0;
                for (int j = 0; j < seen; j++) want += score[j] / sum * V[j * D + d];
                // Weights that add up to 1 and values below 1; scores below 26 with 40 roundings each are what errs
                // most.
                assert_float_equal(Y[i * D + d], want, 1e-4);
            }
        }
    }
}
