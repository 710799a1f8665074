/* test_mathematics.c - the functions of pto_mathematics.h against long double, and the scratch of a worker.
 * Idea       random bits and values near the ranges where a formula changes; then the special values.  The error is in
 *            units of the last place of the exact result.
 */
#include "unit.h"
#include <float.h>
#include <math.h>
#include <pto/pto_equations.h>
#include <pto/pto_integers.h>
#include <pto/pto_mathematics.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 150000 };

static uint64_t rng_state = 88172645463325252u;

static uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

/* digits: 24 or 53; least: the exponent of the smallest number */
static double error_in_ulp(double got, long double want, double nearest, int digits, int least, double greatest)
{
    int exponent;
    if (isnan(want)) return isnan(got) ? 0 : 1e9;
    if (got == nearest) return 0;
    if (isinf(nearest) || isinf(got) || isnan(got)) return fabsl(want) > greatest && fabs(got) >= greatest ? 1 : 1e9;
    frexp(nearest, &exponent);
    const int unit = exponent - digits < least ? least : exponent - digits;
    return (double)(fabsl(got - want) / ldexpl(1, unit));
}

static double error_f32(float got, long double want)
{
    return error_in_ulp((double)got, want, (double)(float)want, 24, -149, (double)FLT_MAX);
}

static double error_f64(double got, long double want)
{
    return error_in_ulp(got, want, (double)want, 53, -1074, DBL_MAX);
}

static float some_f32(int i, double scale)
{
    const uint64_t r = rng();
    return i % 2 ? pto_of_bits_f32((int32_t)(uint32_t)r) : (float)((double)(int64_t)r * 0x1p-63 * scale);
}

static double some_f64(int i, double scale)
{
    const uint64_t r = rng();
    return i % 2 ? pto_of_bits_f64((int64_t)r) : (double)(int64_t)r * 0x1p-63 * scale;
}

/* The values of both types, with |x| < most, are within `ulp` of `exact`. */
#define EXPECT_CLOSE(name, exact, scale, most, ulp)                                                                    \
    do {                                                                                                               \
        for (int i = 0; i < VALUES; i++) {                                                                             \
            const float f = some_f32(i, scale);                                                                        \
            const double d = some_f64(i, scale);                                                                       \
            if (fabsf(f) < (float)(most)) EXPECT(error_f32(pto_##name##_f32(f), exact((long double)f)) <= ulp);        \
            if (fabs(d) < (most)) EXPECT(error_f64(pto_##name##_f64(d), exact((long double)d)) <= ulp);                \
        }                                                                                                              \
    } while (0)

static long double rsqrt_exact(long double x) { return 1 / sqrtl(x); }

TEST(exp_is_within_2_ulp)
{
    EXPECT_CLOSE(exp, expl, 750.0, DBL_MAX, 2);
}
/* The last finite results, those of a few bits, and the last that is not 0. */
TEST(exp_is_within_2_ulp_where_its_exponent_ends)
{
    static const float ranges[][2] = {{88.3f, 89.1f}, {-88.0f, -86.9f}, {-104.1f, -102.0f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (float x = ranges[i][0]; x < ranges[i][1]; x = nextafterf(x, INFINITY))
            EXPECT(error_f32(pto_exp_f32(x), expl((long double)x)) <= 2);
    EXPECT(pto_exp_f32(FLT_MAX) == INFINITY && pto_exp_f32(-FLT_MAX) == 0 && pto_exp_f32(-3.0e6f) == 0);
}
TEST(log_is_within_2_ulp)
{
    EXPECT_CLOSE(log, logl, 2.0, DBL_MAX, 2);
    EXPECT_CLOSE(log, logl, 1e30, DBL_MAX, 2);
}
TEST(tanh_is_within_2_ulp)
{
    EXPECT_CLOSE(tanh, tanhl, 1.0, DBL_MAX, 2);
    EXPECT_CLOSE(tanh, tanhl, 20.0, DBL_MAX, 2);
}
TEST(sqrt_is_exact)
{
    EXPECT_CLOSE(sqrt, sqrtl, 100.0, DBL_MAX, 0.5);
}
TEST(rsqrt_is_within_4_ulp)
{
    EXPECT_CLOSE(rsqrt, rsqrt_exact, 100.0, DBL_MAX, 4);
}
TEST(erf_is_within_4_ulp)
{
    EXPECT_CLOSE(erf, erfl, 6.0, DBL_MAX, 4);
}
TEST(sin_and_cos_are_within_4_ulp)
{
    EXPECT_CLOSE(sin, sinl, 10.0, (double)INFINITY, 4);
    EXPECT_CLOSE(cos, cosl, 10.0, (double)INFINITY, 4);
    EXPECT_CLOSE(sin, sinl, 1e9, (double)INFINITY, 4);
    EXPECT_CLOSE(cos, cosl, 1e9, (double)INFINITY, 4);
    EXPECT_CLOSE(sin, sinl, 1e19, (double)INFINITY, 4);
    EXPECT_CLOSE(cos, cosl, 1e19, (double)INFINITY, 4);
}
/* Correctly rounded values, computed with 2000 bits; the first argument is the f64 next to a multiple of pi/2. */
TEST(sin_and_cos_of_arguments_that_cancel)
{
    static const double cases[][3] = {
        {0x1.6ac5b262ca1ffp+849, 0x1.0000000000000p+0, -0x1.14ae72e6ba22fp-61},
        {0x1.6ac5b262ca1ffp+849, 0x1.0000000000000p+0, -0x1.14ae72e6ba22fp-61},
        {0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
        {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
        {0x1.0000000400000p+30, 0x1.5054c2710443fp-2, 0x1.e398612c96801p-1},
        {0x1.d1a94a2000000p+39, -0x1.38f4477984352p-1, 0x1.9538731dff223p-1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double x = cases[i][0], sine = cases[i][1], cosine = cases[i][2];
        EXPECT(error_f64(pto_sin_f64(x), (long double)sine) <= 1 &&
               error_f64(pto_cos_f64(x), (long double)cosine) <= 1);
        EXPECT(pto_sin_f64(-x) == -pto_sin_f64(x) && pto_cos_f64(-x) == pto_cos_f64(x));
    }
}
/* The functions for usual arguments note each argument for which they have too few bits. */
TEST(sin_and_cos_note_a_large_argument)
{
    static const double values[] = {0.0, -1.0, 0x1p30, -0x1p30, 0x1.0000020p30, -0x1.0000020p30, 1e38, INFINITY, NAN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t large = 0;
        int32_t large_f32 = 0;
        const double x = values[i], y = pto_near_sin_f64(&large, x);
        const float f = pto_near_cos_f32(&large_f32, (float)x);
        EXPECT((large < 0) == (i >= 4) && (large_f32 < 0) == (i >= 4));
        if (i < 4) EXPECT(y == pto_sin_f64(x) && f == pto_cos_f32((float)x));
    }
}

TEST(pow_is_within_4_ulp)
{
    for (int i = 0; i < VALUES; i++) {
        double x = exp((double)(int64_t)rng() * 2e-18 * (i % 3 ? 40 : 1)) * (i % 5 ? 1 : -1);
        double y = (double)(int64_t)rng() * 1.1e-19 * (i % 3 == 0 ? 2000 : i % 3 == 1 ? 20 : 1);
        if (i % 7 == 0 || i % 5 == 0) y = rint(y);
        EXPECT(error_f64(pto_pow_f64(x, y), powl(x, y)) <= 4);
        const float a = (float)x, b = (float)y;
        EXPECT(error_f32(pto_pow_f32(a, b), powl(a, b)) <= 4);
    }
}

static bool is_same(double a, double b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }

/* What is special has one result, sign of zero and all. */
TEST(special_values)
{
    static const double values[] = {
        0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, INFINITY, -INFINITY, NAN, 9007199254740991.0, 4503599627370497.0};
    const int count = (int)(sizeof values / sizeof *values);
    for (int i = 0; i < count; i++) {
        const double x = values[i];
        const bool is_special = x == 0 || isinf(x) || isnan(x);
        if (is_special) {
            EXPECT(is_same(pto_exp_f64(x), exp(x)) && is_same((double)pto_exp_f32((float)x), exp(x)));
            EXPECT(is_same(pto_log_f64(x), log(x)) && is_same((double)pto_log_f32((float)x), log(x)));
            EXPECT(is_same(pto_tanh_f64(x), tanh(x)) && is_same((double)pto_tanh_f32((float)x), tanh(x)));
            EXPECT(is_same(pto_erf_f64(x), erf(x)) && is_same((double)pto_erf_f32((float)x), erf(x)));
            EXPECT(is_same(pto_sin_f64(x), sin(x)) && is_same((double)pto_sin_f32((float)x), sin(x)));
            EXPECT(is_same(pto_cos_f64(x), cos(x)) && is_same((double)pto_cos_f32((float)x), cos(x)));
        }
        for (int k = 0; k < count; k++) {
            const double y = values[k], want = pow(x, y);
            if (is_special || isinf(y) || isnan(y) || want == 0 || isinf(want) || isnan(want)) {
                EXPECT(is_same(pto_pow_f64(x, y), want));
                EXPECT(is_same((double)pto_pow_f32((float)x, (float)y), (double)powf((float)x, (float)y)));
            }
        }
    }
}

TEST(casts_go_to_the_nearest_that_fits)
{
    EXPECT(pto_i8_of_f64(1e9) == INT8_MAX && pto_i8_of_f64(-1e9) == INT8_MIN && pto_i8_of_f64(NAN) == 0);
    EXPECT(pto_i8_of_f64(127.9) == 127 && pto_i8_of_f64(-128.9) == -128 && pto_i8_of_f64(-1.9) == -1);
    EXPECT(pto_u8_of_f64(-0.5) == 0 && pto_u8_of_f64(255.5) == 255 && pto_u8_of_f64(-1e300) == 0);
    EXPECT(pto_i64_of_f64(9.3e18) == INT64_MAX && pto_i64_of_f64(-9.3e18) == INT64_MIN);
    EXPECT(pto_u64_of_f64(1.9e19) == UINT64_MAX && pto_u64_of_i64(-1) == 0);
    EXPECT(pto_i32_of_i64(INT64_MIN) == INT32_MIN && pto_u32_of_i64(INT64_MAX) == UINT32_MAX);
    EXPECT(pto_i64_of_u64(UINT64_MAX) == INT64_MAX && pto_i16_of_u64(40000) == INT16_MAX);
}

TEST(a_division_without_a_result_is_noted)
{
    int failed = 0;
    EXPECT(pto_div_i32(&failed, 7, -2) == -3 && pto_mod_i32(&failed, -7, 2) == -1 && failed == 0);
    pto_div_i64(&failed, INT64_MIN, -1);
    EXPECT(failed == PTO_FAILED_DIVIDE);
    failed = 0;
    pto_mod_u8(&failed, 3, 0);
    EXPECT(failed == PTO_FAILED_DIVIDE);
}

/* Of a shift by the width or more, or by a negative number, no bit is left. */
#define EXPECT_SHIFTS(name, type, bits)                                                                                \
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)                                                        \
        for (int64_t by = -70; by <= 130; by++) {                                                                      \
            const type a = (type)values[i], b = (type)by;                                                              \
            const bool is_inside = b >= 0 && (uint64_t)b < bits;                                                       \
            const type none = a > 0 ? 0 : (type)(a >> (bits - 1));                                                     \
            EXPECT(pto_shl_##name(a, b) == (is_inside ? (type)((uint64_t)a << b) : 0));                                \
            EXPECT(pto_shr_##name(a, b) == (is_inside ? (type)(a >> b) : none));                                       \
        }
TEST(a_shift_by_the_width_or_more_leaves_no_bit)
{
    static const int64_t values[] = {0, 1, -1, 7, -5, 200, 0x123456789abcdef, INT64_MAX, INT64_MIN};
    EXPECT_SHIFTS(i8, int8_t, 8)
    EXPECT_SHIFTS(i16, int16_t, 16)
    EXPECT_SHIFTS(i32, int32_t, 32)
    EXPECT_SHIFTS(i64, int64_t, 64)
}
#undef EXPECT_SHIFTS
TEST(a_shift_of_an_unsigned_number_fills_with_zeros)
{
    for (int by = 0; by < 256; by++) {
        EXPECT(pto_shl_u8(202, (uint8_t)by) == (by < 8 ? (uint8_t)(202u << by) : 0));
        EXPECT(pto_shr_u8(202, (uint8_t)by) == (by < 8 ? 202u >> by : 0));
        EXPECT(pto_shr_u16(0xffff, (uint16_t)by) == (by < 16 ? 0xffffu >> by : 0));
        EXPECT(pto_shr_u32(UINT32_MAX, (uint32_t)by) == (by < 32 ? UINT32_MAX >> by : 0));
        EXPECT(pto_shr_u64(UINT64_MAX, (uint64_t)by) == (by < 64 ? UINT64_MAX >> by : 0));
        EXPECT(pto_shl_u64(UINT64_MAX, (uint64_t)by) == (by < 64 ? UINT64_MAX << by : 0));
    }
}

TEST(bf16_rounds_to_even_and_keeps_what_is_no_number)
{
    EXPECT(pto_bf16_bits(1.0f) == 0x3f80 && pto_bf16_bits(pto_of_bits_f32(0x3f808000)) == 0x3f80);
    EXPECT(pto_bf16_bits(pto_of_bits_f32(0x3f818000)) == 0x3f82 &&
           pto_bf16_bits(pto_of_bits_f32(0x3f808001)) == 0x3f81);
    EXPECT(isnan(pto_bf16_value(pto_bf16_bits(NAN))) &&
           isnan(pto_bf16_value(pto_bf16_bits(pto_of_bits_f32(0x7f800001)))));
}

TEST(scratch_grows_and_is_kept)
{
    unsigned char *small = pto_scratch(100);
    EXPECT(small && (uintptr_t)small % 64 == 0 && pto_scratch(0) == small);
    unsigned char *large = pto_scratch(10 << 20);
    EXPECT(large && (uintptr_t)large % 64 == 0);
    if (large) memset(large, 1, 10 << 20);
    EXPECT(pto_scratch(5000) == large);
    EXPECT(pto_scratch(SIZE_MAX / 2) == NULL && pto_scratch(SIZE_MAX) == NULL);
    EXPECT(pto_bytes(4, INT64_MAX) > SIZE_MAX / 4 && pto_bytes(8, -1) == 0);
}
