/* large_angle.c - the quarter of a large argument of sin and cos.
 * Idea       Payne and Hanek, Radian Reduction for Trigonometric Functions, ACM SIGNUM Newsletter 18 (1983).  x is an
 *            integer m times a power of 2.  Of the product of m and 2/pi only the part modulo 4 matters, so those bits
 *            of 2/pi are left out whose products are multiples of 4, and 192 of them are enough: the product errs by
 *            less than 2^-137, and no f64 lies nearer to a multiple of pi/2 than 2^-62.
 * Invariant  integers but for the last product, so each machine has the same bits.
 * Tests      test/runtime/test_mathematics.c
 */
#include <pto/pto_equations.h>
#include <pto/pto_mathematics.h>

__extension__ typedef unsigned __int128 wide;

enum { MANTISSA = 52, BIAS = 1023 };

/* 64 zeros, and the first 1280 bits of 2/pi after the point */
static const uint64_t two_over_pi[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
};

/* The 64 bits of the table from `bit` on. */
static uint64_t bits_from(int bit)
{
    const int word = bit / 64, shift = bit % 64;
    return shift == 0 ? two_over_pi[word] : two_over_pi[word] << shift | two_over_pi[word + 1] >> (64 - shift);
}

/* *r + *low is a * 2^-128 * pi/2; a > 0 */
static void times_quarter(wide a, double *r, double *low)
{
    const uint64_t top = (uint64_t)(a >> 64);
    const int zeros = top ? __builtin_clzll(top) : 64 + __builtin_clzll((uint64_t)a);
    a <<= zeros;
    const double scale = pto_power_of_2_f64(-zeros);
    const double high = (double)(int64_t)(a >> 75) * 0x1p-53;
    const double rest = (double)(int64_t)((a >> 22) & 0x1fffffffffffff) * 0x1p-106;
    double product_low;
    const double product = pto_product(high, 0x1.921fb54442d18p+0, &product_low);
    product_low += high * 6.123233995736766e-17 + rest * 0x1.921fb54442d18p+0;
    const double sum = pto_sum(product, product_low, low);
    *r = sum * scale;
    *low *= scale;
}

int64_t pto_large_quarter(double x, double *r, double *low)
{
    const uint64_t bits = (uint64_t)pto_bits_f64(x);
    const int exponent = (int)(bits >> MANTISSA & 0x7ff) - BIAS;
    if (exponent > BIAS) { /* infinite, or not a number */
        *r = *low = x - x;
        return 0;
    }
    const uint64_t m = (bits & ((UINT64_C(1) << MANTISSA) - 1)) | UINT64_C(1) << MANTISSA;
    /* x = m 2^(exponent - 52), so the first bit has the weight 2: those before it give multiples of 4 */
    const int first = exponent - MANTISSA - 2 + 64;
    const wide third = (wide)m * bits_from(first + 128);
    const wide second = (wide)m * bits_from(first + 64) + (uint64_t)(third >> 64);
    const uint64_t top = m * bits_from(first) + (uint64_t)(second >> 64);
    /* two bits of quarters, and a fraction */
    const wide product = (wide)top << 64 | (uint64_t)second;
    wide fraction = product << 2 | (uint64_t)third >> 62;
    int64_t n = (int64_t)(top >> 62);
    const bool is_above = fraction >> 127 != 0; /* nearer to the next quarter */
    if (is_above) fraction = -fraction, n++;
    times_quarter(fraction, r, low);
    const bool is_negative = pto_bits_f64(x) < 0;
    if (is_above != is_negative) *r = -*r, *low = -*low;
    return (is_negative ? -n : n) & 3;
}
