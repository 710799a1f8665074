/* half.c - what a C compiler calls to convert 16-bit floats where the machine cannot, and gcc's own library does not
 * help.
 * Idea       clang before 15 knows f16 on x86-64 as __fp16 (see pto_types.h) and converts with these two functions,
 *            which belong to its own run-time library; programs are linked with gcc's.  Weak: a library that has them
 *            wins.
 * Tests      test/lit/run/half.pto
 */
#include "shared/half.h"

float __gnu_h2f_ieee(uint16_t half);
uint16_t __gnu_f2h_ieee(float value);

__attribute__((weak)) float __gnu_h2f_ieee(uint16_t half) { return f32_of_f16(half); }

__attribute__((weak)) uint16_t __gnu_f2h_ieee(float value) { return f16_of_f32(value); }
