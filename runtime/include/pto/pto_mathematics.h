/* pto_mathematics.h - exp log tanh sin cos erf pow of elements: no table, no branch, no contraction, so each lane of a
 * vector and each level of a processor has the same bits.
 *
 * Error       exp log tanh: at most 2 ulp; sin cos erf pow: at most 4.
 * Large       sin and cos of more than 2^30 in absolute value need another reduction, which no vector does: a loop of
 *             vectors only notes such an argument, and is then done once more by functions with a branch.
 * Tests       test/runtime/test_mathematics.c, against long double */
#ifndef PTO_MATHEMATICS_H
#define PTO_MATHEMATICS_H
#include <pto/detail/elements.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

PTO_ELEMENTS_BEGIN

/* ---- bits -------------------------------------------------------------------------------------------------------- */

/* 2^n, -1022 <= n <= 1023 */
PTO_ELEMENTS double pto_power_of_2_f64(int64_t n) { return pto_of_bits_f64((int64_t)((uint64_t)(n + 1023) << 52)); }
/* value with the sign of sign */
PTO_ELEMENTS float pto_signed_f32(float value, float sign)
{
    return pto_of_bits_f32((pto_bits_f32(value) & INT32_MAX) | (pto_bits_f32(sign) & INT32_MIN));
}
PTO_ELEMENTS double pto_signed_f64(double value, double sign)
{
    return pto_of_bits_f64((pto_bits_f64(value) & INT64_MAX) | (pto_bits_f64(sign) & INT64_MIN));
}

/* ---- exp: 2^n e^r, |r| <= ln 2 / 2; n is found by adding a number whose last bit is a 1 -------------------------- */

/* The last bits of m are n + 254, so a shift makes each half of n the exponent of a factor.  n is limited as an
 * integer, and a result that is too small becomes 0 at the end: of two limits of x, one after the other, GCC makes
 * jumps. */
PTO_ELEMENTS float pto_exp_f32(float x)
{
    const int32_t near = pto_bits_f32(x * 1.44269504088896341f + 12583166.0f), most = 0x4b4000fe + 128;
    const float m = pto_of_bits_f32(near < most ? near : most), n = m - 12583166.0f;
    const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.3814540580e-3f;
    p = p * r + 8.3687454462e-3f;
    p = p * r + 4.1668388993e-2f;
    p = p * r + 1.6666521132e-1f;
    p = p * r + 4.9999994040e-1f;
    p = p * (r * r) + r + 1.0f;
    const uint32_t both = (uint32_t)pto_bits_f32(m), half = both >> 1;
    p = p * pto_of_bits_f32((int32_t)(half << 23)) * pto_of_bits_f32((int32_t)((both - half) << 23));
    return x < -104.0f ? 0.0f : p;
}

PTO_ELEMENTS double pto_exp_f64(double x)
{
    double t = x > 710.0 ? 710.0 : x;
    t = t < -746.0 ? -746.0 : t;
    const double m = t * 1.44269504088896338700 + 6755399441055744.0, n = m - 6755399441055744.0;
    const double high = t - n * 6.93147180369123816490e-01, low = n * 1.90821492927058770002e-10, r = high - low;
    const double z = r * r;
    double c = 4.13813679705723846039e-08;
    c = c * z + -1.65339022054652515390e-06;
    c = c * z + 6.61375632143793436117e-05;
    c = c * z + -2.77777777770155933842e-03;
    c = c * z + 1.66666666666666019037e-01;
    c = r - z * c;
    const double p = 1.0 + (r * c / (2.0 - c) - low + high);
    const int64_t e = (pto_bits_f64(m) & 0xfffffffffffff) - 0x8000000000000;
    const int64_t half = (int64_t)((uint64_t)(e + 4096) >> 1) - 2048;
    return p * pto_power_of_2_f64(half) * pto_power_of_2_f64(e - half);
}

/* ---- log: k ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2) ------------------------------------------------------ */

PTO_ELEMENTS float pto_log_f32(float x)
{
    const bool is_small = x < 1.17549435e-38f;
    const float scaled = is_small ? x * 33554432.0f : x;
    const uint32_t bits = (uint32_t)pto_bits_f32(scaled) + (0x3f800000u - 0x3f3504f3u);
    const float k = (float)((int32_t)(bits >> 23) - 127 - (is_small ? 25 : 0));
    const float f = pto_of_bits_f32((int32_t)((bits & 0x7fffffu) + 0x3f3504f3u)) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, w = z * z, half = 0.5f * f * f;
    const float t1 = w * (0.40000972152f + w * 0.24279078841f), t2 = z * (0.66666662693f + w * 0.28498786688f);
    const float y = s * (half + (t2 + t1)) + k * 9.0580006145e-06f - half + f + k * 6.9313812256e-01f;
    const float finite = x == PTO_INFINITY || x != x ? x : y;
    return x > 0.0f || x != x ? finite : x == 0.0f ? -PTO_INFINITY : PTO_NAN;
}

PTO_ELEMENTS double pto_log_f64(double x)
{
    const bool is_small = x < 2.2250738585072014e-308;
    const double scaled = is_small ? x * 18014398509481984.0 : x;
    const uint64_t bits = (uint64_t)pto_bits_f64(scaled) + (0x3ff0000000000000u - 0x3fe6a09e00000000u);
    const double k = (double)((int32_t)(bits >> 52) - 1023 - (is_small ? 54 : 0));
    const double f = pto_of_bits_f64((int64_t)((bits & 0xfffffffffffffu) + 0x3fe6a09e00000000u)) - 1.0;
    const double s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    const double t1 = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double t2 =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double y =
        s * (half + (t2 + t1)) + k * 1.90821492927058770002e-10 - half + f + k * 6.93147180369123816490e-01;
    const double finite = x == (double)PTO_INFINITY || x != x ? x : y;
    return x > 0.0 || x != x ? finite : x == 0.0 ? -(double)PTO_INFINITY : (double)PTO_NAN;
}

/* ---- tanh: a polynomial about 0, else 1 - 2 / (e^2x + 1) --------------------------------------------------------- */

PTO_ELEMENTS float pto_tanh_f32(float x)
{
    const float a = __builtin_fabsf(x), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    const float near = p * z * x + x, far = 1.0f - 2.0f / (pto_exp_f32(a + a) + 1.0f);
    return x != x ? x : pto_signed_f32(a < 0.625f ? near : far, x);
}

PTO_ELEMENTS double pto_tanh_f64(double x)
{
    const double a = __builtin_fabs(x), z = x * x;
    const double p = (-9.64399179425052238628e-1 * z + -9.92877231001918586564e1) * z + -1.61468768441708447952e3;
    const double q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
    const double near = x + x * z * (p / q), far = 1.0 - 2.0 / (pto_exp_f64(a + a) + 1.0);
    return x != x ? x : pto_signed_f64(a < 0.625 ? near : far, x);
}

/* ---- sin, cos: x - n pi/2 in three pieces, and the polynomial of the quarter ------------------------------------- */

/* n is the nearest multiple of pi/2: its two last bits; the rest is *r + *low.  |x| <= 2^30. */
PTO_ELEMENTS int64_t pto_quarter(double x, double *r, double *low)
{
    const double m = x * 6.36619772367581382433e-01 + 6755399441055744.0, n = m - 6755399441055744.0;
    /* pi/2 in pieces of 22 bits, whose products with n are exact */
    const double a = x - n * 1.570796012878418, b = n * 3.139164164167596e-07, c = n * 6.223371969669989e-14;
    const double t = a - b, e = (a - t) - b;
    const double y = t - c, g = y - t, f = (t - (y - g)) - (c + g) + (e - n * 2.0222662487959506e-21);
    *r = y + f;
    *low = (y - *r) + f;
    return pto_bits_f64(m) & 3;
}

/* The same of any x; not a number or infinite: the rest is not a number.  Of libpto_kernels. */
int64_t pto_large_quarter(double x, double *r, double *low);

/* The sine of r + low after n quarters. */
PTO_ELEMENTS double pto_sine_of_quarter(int64_t n, double r, double low)
{
    const double z = r * r;
    double s = 1.58969099521155010221e-10;
    s = s * z + -2.50507602534068634195e-08;
    s = s * z + 2.75573137070700676789e-06;
    s = s * z + -1.98412698298579493134e-04;
    s = s * z + 8.33333333332248946124e-03;
    const double cube = z * r;
    const double sine = r - ((z * (0.5 * low - cube * s) - low) - cube * -1.66666666666666324348e-01);
    double c = -1.13596475577881948265e-11;
    c = c * z + 2.08757232129817482790e-09;
    c = c * z + -2.75573143513906633035e-07;
    c = c * z + 2.48015872894767294178e-05;
    c = c * z + -1.38888888888741095749e-03;
    c = c * z + 4.16666666666666019037e-02;
    const double half = 0.5 * z, w = 1.0 - half;
    const double cosine = w + (((1.0 - w) - half) + (z * z * c - r * low));
    const double y = (n & 1) != 0 ? cosine : sine;
    return (n & 2) != 0 ? -y : y;
}

/* The sign bit of *large is set where |x| > 2^30 or x is not a number: the result may be wrong then. */
PTO_ELEMENTS void pto_note_f64(int64_t *large, double x)
{
    *large |= 0x41d0000000000000 - (pto_bits_f64(x) & INT64_MAX);
}
PTO_ELEMENTS void pto_note_f32(int32_t *large, float x) { *large |= 0x4e800000 - (pto_bits_f32(x) & INT32_MAX); }

/* pto_near_*: notes a large argument.  The others take any. */
PTO_ELEMENTS double pto_near_sin_or_cos(double x, int64_t shift)
{
    double r, low;
    const int64_t n = (pto_quarter(x, &r, &low) + shift) & 3;
    return pto_sine_of_quarter(n, r, low);
}
PTO_ELEMENTS double pto_sin_or_cos(double x, int64_t shift)
{
    double r, low;
    const bool is_near = __builtin_fabs(x) <= 1073741824.0;
    const int64_t n = (is_near ? pto_quarter(x, &r, &low) : pto_large_quarter(x, &r, &low)) + shift;
    return pto_sine_of_quarter(n & 3, r, low);
}
#define PTO_SIN_COS(name, type, bits)                                                                                  \
    PTO_ELEMENTS type pto_near_sin_##name(bits *large, type x)                                                         \
    {                                                                                                                  \
        pto_note_##name(large, x);                                                                                     \
        return x == 0 ? x : (type)pto_near_sin_or_cos((double)x, 0);                                                   \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_near_cos_##name(bits *large, type x)                                                         \
    {                                                                                                                  \
        pto_note_##name(large, x);                                                                                     \
        return (type)pto_near_sin_or_cos((double)x, 1);                                                                \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_sin_##name(type x) { return x == 0 ? x : (type)pto_sin_or_cos((double)x, 0); }               \
    PTO_ELEMENTS type pto_cos_##name(type x) { return (type)pto_sin_or_cos((double)x, 1); }
PTO_SIN_COS(f32, float, int32_t)
PTO_SIN_COS(f64, double, int64_t)
#undef PTO_SIN_COS

/* ---- erf: rational functions of four ranges, all of them evaluated ----------------------------------------------- */

PTO_ELEMENTS double pto_erf_f64(double x)
{
    const double a = __builtin_fabs(x);
    /* |x| < 0.84375 */
    const double z = x * x;
    const double p0 =
        1.28379167095512558561e-01 +
        z * (-3.25042107247001499370e-01 +
             z * (-2.84817495755985104766e-02 + z * (-5.77027029648944159157e-03 + z * -2.37630166566501626084e-05)));
    const double q0 = 1.0 + z * (3.97917223959155352819e-01 +
                                 z * (6.50222499887672944485e-02 +
                                      z * (5.08130628187576562776e-03 +
                                           z * (1.32494738004321644526e-04 + z * -3.96022827877536812320e-06))));
    const double near = x + x * (p0 / q0);
    /* |x| < 1.25 */
    const double s = a - 1.0;
    const double p1 = -2.36211856075265944077e-03 +
                      s * (4.14856118683748331666e-01 +
                           s * (-3.72207876035701323847e-01 +
                                s * (3.18346619901161753674e-01 +
                                     s * (-1.10894694282396677476e-01 +
                                          s * (3.54783043256182359371e-02 + s * -2.16637559486879084300e-03)))));
    const double q1 = 1.0 + s * (1.06420880400844228286e-01 +
                                 s * (5.40397917702171048937e-01 +
                                      s * (7.18286544141962662868e-02 +
                                           s * (1.26171219808761642112e-01 +
                                                s * (1.36370839120290507362e-02 + s * 1.19844998467991074170e-02)))));
    const double middle = 8.45062911510467529297e-01 + p1 / q1;
    /* up to 1 / 0.35 */
    const double b = a > 6.0 ? 6.0 : a, v = 1.0 / (b * b);
    const double p2 = -9.86494403484714822705e-03 +
                      v * (-6.93858572707181764372e-01 +
                           v * (-1.05586262253232909814e+01 +
                                v * (-6.23753324503260060396e+01 +
                                     v * (-1.62396669462573470355e+02 +
                                          v * (-1.84605092906711035994e+02 +
                                               v * (-8.12874355063065934246e+01 + v * -9.81432934416914548592e+00))))));
    const double q2 =
        1.0 + v * (1.96512716674392571292e+01 +
                   v * (1.37657754143519042600e+02 +
                        v * (4.34565877475229228821e+02 +
                             v * (6.45387271733267880336e+02 +
                                  v * (4.29008140027567833386e+02 +
                                       v * (1.08635005541779435134e+02 +
                                            v * (6.57024977031928170135e+00 + v * -6.04244152148580987438e-02)))))));
    const double p3 = -9.86494292470009928597e-03 +
                      v * (-7.99283237680523006574e-01 +
                           v * (-1.77579549177547519889e+01 +
                                v * (-1.60636384855821916062e+02 +
                                     v * (-6.37566443368389627722e+02 +
                                          v * (-1.02509513161107724954e+03 + v * -4.83519191608651397019e+02)))));
    const double q3 =
        1.0 + v * (3.03380607434824582924e+01 +
                   v * (3.25792512996573918826e+02 +
                        v * (1.53672958608443695994e+03 +
                             v * (3.19985821950859553908e+03 +
                                  v * (2.55305040643316442583e+03 +
                                       v * (4.74528541206955367215e+02 + v * -2.24409524465858183362e+01))))));
    const double ratio = b < 1.0 / 0.35 ? p2 / q2 : p3 / q3;
    const double head = pto_of_bits_f64(pto_bits_f64(b) & ~0xffffffffll);
    const double tail = pto_exp_f64(-head * head - 0.5625) * pto_exp_f64((head - b) * (head + b) + ratio);
    const double far = 1.0 - tail / b;
    return a < 0.84375 ? near : x != x ? x : pto_signed_f64(a < 1.25 ? middle : a < 6.0 ? far : 1.0, x);
}
PTO_ELEMENTS float pto_erf_f32(float x) { return (float)pto_erf_f64((double)x); }

/* ---- pow: e^(y log x), the logarithm in two pieces --------------------------------------------------------------- */

/* The exact product. */
PTO_ELEMENTS double pto_product(double a, double b, double *low)
{
    const double sa = a * 134217729.0, ah = sa - (sa - a), al = a - ah;
    const double sb = b * 134217729.0, bh = sb - (sb - b), bl = b - bh;
    const double p = a * b;
    *low = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
    return p;
}
/* |a| >= |b| */
PTO_ELEMENTS double pto_sum(double a, double b, double *low)
{
    const double s = a + b;
    *low = b - (s - a);
    return s;
}

/* The sign and the special values of x^y where `size` is |x|^y. */
PTO_ELEMENTS double pto_pow_sign(double x, double y, double size)
{
    const double a = __builtin_fabs(y);
    const bool is_whole = __builtin_rint(y) == y,
               is_odd = is_whole && a < 9007199254740992.0 && __builtin_rint(a * 0.5) * 2.0 != a;
    const bool is_negative = pto_bits_f64(x) < 0;
    const double with_sign = is_negative && is_odd ? -size : size;
    const double real =
        is_negative && !is_whole && x != 0.0 && __builtin_fabs(x) != (double)PTO_INFINITY ? (double)PTO_NAN : with_sign;
    const double number = x != x || y != y ? x + y : real;
    return x == 1.0 || y == 0.0 || (x == -1.0 && a == (double)PTO_INFINITY) ? 1.0 : number;
}

/* |x|^y of x that is 0, infinite, or y that is infinite. */
PTO_ELEMENTS double pto_pow_limit(double x, double y, double usual)
{
    const double a = __builtin_fabs(x);
    const double zero_or_infinite = (a == 0.0) == (y > 0.0) ? 0.0 : (double)PTO_INFINITY;
    const double far = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? (double)PTO_INFINITY : 0.0;
    const double base = a == 0.0 || a == (double)PTO_INFINITY ? zero_or_infinite : usual;
    return __builtin_fabs(y) == (double)PTO_INFINITY ? far : base;
}

PTO_ELEMENTS double pto_pow_f64(double x, double y)
{
    const double a = __builtin_fabs(x);
    const bool is_small = a < 2.2250738585072014e-308;
    const double scaled = is_small ? a * 18014398509481984.0 : a;
    const uint64_t bits = (uint64_t)pto_bits_f64(scaled) + (0x3ff0000000000000u - 0x3fe6a09e00000000u);
    const double k = (double)((int32_t)(bits >> 52) - 1023 - (is_small ? 54 : 0));
    const double f = pto_of_bits_f64((int64_t)((bits & 0xfffffffffffffu) + 0x3fe6a09e00000000u)) - 1.0;
    /* s = f / (2 + f) in two pieces */
    double d_low, p_low, z_low, c_low, u_low, v_low, w_low, l_low, e_low;
    const double d = pto_sum(2.0, f, &d_low), s = f / d;
    const double p = pto_product(s, d, &p_low), s_low = ((f - p) - p_low - s * d_low) / d;
    /* log(1 + f) = 2 s + 2/3 s^3 + s^5 (2/5 + ...), and the first two need both pieces */
    const double z = pto_product(s, s, &z_low), z_rest = z_low + 2.0 * s * s_low;
    const double c = pto_product(z, 6.66666666666666629659e-01, &c_low);
    const double c_rest = c_low + z_rest * 6.66666666666666629659e-01 + z * 3.70074341541718826e-17;
    double t = 1.0 / 23.0 * 2.0;
    t = t * z + 2.0 / 21.0;
    t = t * z + 2.0 / 19.0;
    t = t * z + 2.0 / 17.0;
    t = t * z + 2.0 / 15.0;
    t = t * z + 2.0 / 13.0;
    t = t * z + 2.0 / 11.0;
    t = t * z + 2.0 / 9.0;
    t = t * z + 2.0 / 7.0;
    t = t * z + 2.0 / 5.0;
    const double u = pto_sum(2.0, c, &u_low), u_rest = u_low + c_rest + z * z * t;
    const double v = pto_product(s, u, &v_low), v_rest = v_low + s * u_rest + s_low * u;
    /* k ln 2 + log(1 + f) */
    const double k_high = k * 6.93147180369123816490e-01;
    const double w =
        __builtin_fabs(k_high) >= __builtin_fabs(v) ? pto_sum(k_high, v, &w_low) : pto_sum(v, k_high, &w_low);
    const double w_rest = w_low + v_rest + k * 1.90821492927058770002e-10;
    const double l = pto_sum(w, w_rest, &l_low);
    /* y times that */
    const double limited = y > 1e300 ? 1e300 : y < -1e300 ? -1e300 : y;
    const double wanted = limited * l;
    const bool is_far = !(__builtin_fabs(wanted) < 1000.0);
    const double e = pto_product(is_far ? 0.0 : limited, l, &e_low), e_rest = e_low + (is_far ? 0.0 : limited * l_low);
    const double near = pto_exp_f64(e), size = near + near * e_rest;
    const double usual = is_far                         ? (wanted > 0.0 ? (double)PTO_INFINITY : 0.0)
                         : near == (double)PTO_INFINITY ? near
                                                        : size;
    return pto_pow_sign(x, y, pto_pow_limit(x, y, usual));
}

PTO_ELEMENTS float pto_pow_f32(float x, float y)
{
    const double usual = pto_exp_f64((double)y * pto_log_f64((double)__builtin_fabsf(x)));
    return (float)pto_pow_sign((double)x, (double)y, pto_pow_limit((double)x, (double)y, usual));
}

PTO_ELEMENTS_END

#ifdef __cplusplus
}
#endif
#endif
