/* block.h - what the AscendC kernels of this folder share: numbers out of the argument block, sizes, the parts of a
 * launch.
 * Idea       the words of a launch are those of docs/ascend.md: one GM_ADDR a tensor, then one int64_t a word.  A
 *            device has no f64 arithmetic that is documented for every product, so an f64 scalar is rounded to f32
 *            with integers.
 * Invariant  nothing here needs anything but the scalar unit.
 * Tests      test/ascend/test_ascendc.c
 *
 * NOT COMPILED HERE: no CANN toolkit was at hand.  Written from the public AscendC documentation (products Atlas A2
 * and A3), compiled and run against the stand-in of test/ascend/mock only.
 */
#ifndef PTO_ASCEND_BLOCK_H
#define PTO_ASCEND_BLOCK_H
#include "kernel_operator.h"

namespace pto {

constexpr int64_t LINE_BYTES = 32; /* what local memory and its copies count in */

__aicore__ inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
__aicore__ inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
__aicore__ inline int64_t round_up(int64_t a, int64_t to) { return ceil_div(a, to) * to; }

/* The f32 whose bits the low half of a word has. */
__aicore__ inline float f32_of(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } u = {bits};
    return u.value;
}

/* The bits of an f64, rounded to the nearest f32, ties to even. */
__aicore__ inline float f32_of_f64(int64_t word)
{
    const uint64_t bits = (uint64_t)word, fraction = bits & 0xfffffffffffffULL;
    const uint32_t sign = (uint32_t)(bits >> 63) << 31;
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024)
        return f32_of(sign | 0x7f800000u | (fraction != 0 ? 0x400000u | (uint32_t)(fraction >> 29) : 0));
    if (exponent > 127) return f32_of(sign | 0x7f800000u);
    if (exponent < -150) return f32_of(sign);
    /* `cut` bits of the significand go; below the normal range more of them, and no leading one is left out. */
    const uint64_t whole = 1ULL << 52 | fraction;
    const int32_t cut = exponent < -126 ? 29 + (-126 - exponent) : 29;
    const uint64_t kept = whole >> cut, rest = whole & ((1ULL << cut) - 1), half = 1ULL << (cut - 1);
    const uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
    /* The leading one, and a carry out of the fraction, go into the exponent, which is what they should do. */
    const uint32_t base = exponent < -126 ? 0 : (uint32_t)(exponent + 126) << 23;
    return f32_of(sign | (base + (uint32_t)rounded));
}

} // namespace pto
#endif
