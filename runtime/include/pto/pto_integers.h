/* pto_integers.h - elements of the integer types beside i64, and casts to integers, without undefined behaviour.  A
 * kernel in index notation includes it where it has such elements. */
#ifndef PTO_INTEGERS_H
#define PTO_INTEGERS_H
#include <pto/pto_equations.h>

PTO_ELEMENTS_BEGIN

PTO_INTEGER(i8, int8_t, uint32_t, INT8_MIN, 8)
PTO_INTEGER(i16, int16_t, uint32_t, INT16_MIN, 16)
PTO_INTEGER(i32, int32_t, uint32_t, INT32_MIN, 32)
PTO_INTEGER(u8, uint8_t, uint32_t, 0, 8)
PTO_INTEGER(u16, uint16_t, uint32_t, 0, 16)
PTO_INTEGER(u32, uint32_t, uint32_t, 0, 32)
PTO_INTEGER(u64, uint64_t, uint64_t, 0, 64)

/* ---- casts to integers: truncated, to the nearest that fits; not a number is 0 ----------------------------------- */
/* Below 1 the 0 is written out: gcc 12 makes trunc(v) of (double)(type)v, which is -0.0 for a negative v. */
#define PTO_CAST(name, type, least, most, below)                                                                       \
    PTO_ELEMENTS type pto_##name##_of_f64(double v)                                                                    \
    {                                                                                                                  \
        const bool is_zero = v > -1.0 && v < 1.0;                                                                      \
        return is_zero ? (type)0 : v >= below ? most : v > (double)least ? (type)v : v == v ? least : (type)0;         \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_##name##_of_u64(uint64_t v) { return v > (uint64_t)most ? most : (type)v; }
#define PTO_CAST_SIGNED(name, type, least, most)                                                                       \
    PTO_ELEMENTS type pto_##name##_of_i64(int64_t v) { return v < least ? least : v > most ? most : (type)v; }
PTO_CAST(i8, int8_t, INT8_MIN, INT8_MAX, 127.0)
PTO_CAST(i16, int16_t, INT16_MIN, INT16_MAX, 32767.0)
PTO_CAST(i32, int32_t, INT32_MIN, INT32_MAX, 2147483647.0)
PTO_CAST(i64, int64_t, INT64_MIN, INT64_MAX, 9223372036854775808.0)
PTO_CAST(u8, uint8_t, 0, UINT8_MAX, 255.0)
PTO_CAST(u16, uint16_t, 0, UINT16_MAX, 65535.0)
PTO_CAST(u32, uint32_t, 0, UINT32_MAX, 4294967295.0)
PTO_CAST(u64, uint64_t, 0, UINT64_MAX, 18446744073709551616.0)
PTO_CAST_SIGNED(i8, int8_t, INT8_MIN, INT8_MAX)
PTO_CAST_SIGNED(i16, int16_t, INT16_MIN, INT16_MAX)
PTO_CAST_SIGNED(i32, int32_t, INT32_MIN, INT32_MAX)
PTO_CAST_SIGNED(u8, uint8_t, 0, UINT8_MAX)
PTO_CAST_SIGNED(u16, uint16_t, 0, UINT16_MAX)
PTO_CAST_SIGNED(u32, uint32_t, 0, UINT32_MAX)
#undef PTO_CAST
#undef PTO_CAST_SIGNED
PTO_ELEMENTS int64_t pto_i64_of_i64(int64_t v) { return v; }
PTO_ELEMENTS uint64_t pto_u64_of_i64(int64_t v) { return v < 0 ? 0 : (uint64_t)v; }

PTO_ELEMENTS_END

#endif
