/* test_combine.c - neutral elements and the combination of parts, for every type and operation. */
#include "shared/combine.h"
#include "shared/half.h"
#include "unit.h"
#include <string.h>

enum { SIDE = 5 };

TEST(types)
{
    for (int by = 0; by <= PTO_BY_COUNT; by++)
        for (int type = 0; type <= PTO_TYPE_COUNT; type++) {
            const bool is_float = type >= PTO_F16 && type <= PTO_F64, is_integer = type >= PTO_I8 && type <= PTO_U64;
            const bool is_number_by = by >= PTO_BY_SUM && by <= PTO_BY_MAX,
                       is_bit_by = by >= PTO_BY_AND && by <= PTO_BY_XOR;
            EXPECT_EQ(ptoi_can_combine(by, type),
                      (is_number_by && (is_float || is_integer)) || (is_bit_by && (is_integer || type == PTO_BOOL)));
        }
    EXPECT_STR(ptoi_by_name(PTO_BY_MAX), "max");
    EXPECT_STR(ptoi_by_name(PTO_BY_COUNT), "?");
}

/* Any bits, combined with the neutral element, stay what they are: there is no other meaning of neutral. */
TEST(neutral_elements)
{
    for (int by = PTO_BY_SUM; by < PTO_BY_COUNT; by++)
        for (int type = 0; type < PTO_TYPE_COUNT; type++) {
            if (!ptoi_can_combine(by, type)) continue;
            uint64_t seed = 1;
            for (int round = 0; round < 200; round++) {
                unsigned char x[SIDE * 8], before[SIDE * 8], part[SIDE * 8];
                const int64_t shape = SIDE, stride = 1;
                for (size_t i = 0; i < sizeof x; i++) {
                    seed = seed * 6364136223846793005u + 1442695040888963407u;
                    x[i] = type == PTO_BOOL ? seed >> 63 : (unsigned char)(seed >> 56);
                }
                memset(x, 0, 4);                                 /* 0.0, */
                if (round == 1 && type != PTO_BOOL) x[3] = 0x80; /* and -0.0 of f32 */
                const PTOArg to = {.ptr = x, .shape = &shape, .stride = &stride, .type = (uint8_t)type, .rank = 1};
                for (int i = 0; i < SIDE; i++) { /* no NaN: its bits may change */
                    if (type == PTO_F16 && (x[2 * i + 1] & 0x7c) == 0x7c) x[2 * i + 1] = 0;
                    if (type == PTO_BF16 && (x[2 * i + 1] & 0x7f) == 0x7f) x[2 * i + 1] = 0;
                    if (type == PTO_F32 && (x[4 * i + 3] & 0x7f) == 0x7f) x[4 * i + 3] = 0;
                    if (type == PTO_F64 && (x[8 * i + 7] & 0x7f) == 0x7f) x[8 * i + 7] = 0;
                }
                memcpy(before, x, sizeof x);
                ptoi_fill_neutral(by, type, part, SIDE);
                ptoi_combine(by, &to, part);
                EXPECT(memcmp(before, x, sizeof x) == 0);
            }
        }
}

TEST(strided_views)
{
    int32_t x[4][6];
    for (int i = 0; i < 24; i++) x[i / 6][i % 6] = i;
    const int64_t shape[2] = {3, 4}, stride[2] = {-1, 6}; /* a transposed view, backwards */
    const PTOArg to = {.ptr = &x[0][4], .shape = shape, .stride = stride, .type = PTO_I32, .rank = 2};
    int32_t part[3][4];
    for (int i = 0; i < 12; i++) part[i / 4][i % 4] = 100 * i;
    ptoi_combine(PTO_BY_SUM, &to, part);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) {
            const int k = 4 - j;
            EXPECT_EQ(x[i][j], 6 * i + j + (k >= 0 && k < 3 ? 100 * (4 * k + i) : 0));
        }
}

static float combine_f32(int by, float a, float b)
{
    const int64_t one = 1;
    const PTOArg to = {.ptr = &a, .shape = &one, .stride = &one, .type = PTO_F32, .rank = 1};
    ptoi_combine(by, &to, &b);
    return a;
}

TEST(nan_stays)
{
    EXPECT(isnan(combine_f32(PTO_BY_MAX, NAN, 1)) && isnan(combine_f32(PTO_BY_MAX, 1, NAN)));
    EXPECT(isnan(combine_f32(PTO_BY_MIN, NAN, 1)) && isnan(combine_f32(PTO_BY_MIN, 1, NAN)));
    EXPECT(combine_f32(PTO_BY_MAX, 1, 2) == 2 && combine_f32(PTO_BY_MIN, 1, 2) == 1);
}

TEST(halves_are_rounded_each_time)
{
    uint16_t a = f16_of_f32(2048), one = f16_of_f32(1);
    const int64_t shape = 1;
    const PTOArg to = {.ptr = &a, .shape = &shape, .stride = &shape, .type = PTO_F16, .rank = 1};
    for (int i = 0; i < 10; i++) ptoi_combine(PTO_BY_SUM, &to, &one);
    EXPECT(f32_of_f16(a) == 2048); /* 2049 is no f16, and rounds to even */
}

TEST(integers_wrap)
{
    int8_t a = 127, one = 1;
    const int64_t shape = 1;
    const PTOArg to = {.ptr = &a, .shape = &shape, .stride = &shape, .type = PTO_I8, .rank = 1};
    ptoi_combine(PTO_BY_SUM, &to, &one);
    EXPECT_EQ(a, -128);
}
