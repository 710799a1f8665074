/* half.h - 16-bit floats to and from f32, for the types that C compilers do not all have.
 * Idea       f16 is IEEE binary16, bf16 is the upper half of an f32; rounding is to nearest, ties to even.
 * Tests      test/runtime/test_npy.c
 */
#ifndef PTOI_HALF_H
#define PTOI_HALF_H
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float f32_of_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 0) /* zero and subnormal: multiples of 2^-24 */
        return f32_of_bits(sign | bits_of_f32((float)mantissa * 0x1p-24f));
    if (exponent == 31) return f32_of_bits(sign | 0x7f800000u | mantissa << 13);
    return f32_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline uint16_t f16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value), magnitude = bits & 0x7fffffffu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (magnitude > 0x7f800000u) return sign | 0x7e00;
    if (magnitude >= 0x477ff000u) /* 65520 and more round to infinity */
        return sign | 0x7c00;
    if (magnitude < 0x38800000u) /* below 2^-14 */
        return (uint16_t)(sign | lrintf(f32_of_bits(magnitude) * 0x1p24f));
    magnitude += 0x0fff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (magnitude - 0x38000000u) >> 13);
}

static inline float f32_of_bf16(uint16_t half) { return f32_of_bits((uint32_t)half << 16); }

static inline uint16_t bf16_of_f32(float value)
{
    uint32_t bits = bits_of_f32(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40); /* stays a NaN when its low half is cut off */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
#endif
