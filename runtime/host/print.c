/* print.c - numbers as text.
 * Idea       the fewest %g digits that read back as the same number.  A decimal of DBL_DIG digits survives the way to
 *            binary and back, and %g drops trailing zeros, so normal numbers need not be tried with fewer; subnormal
 *            ones have less precision.
 * Invariant  the text read with strtod (strtof) is the number, bit for bit; every NaN is "nan".
 * Tests      test/runtime/test_npy.c, test/lit/host/summary.test
 */
#include "print.h"
#include "shared/half.h"

#include <float.h>
#include <inttypes.h>
#include <pto/pto_program.h>
#include <stdio.h>
#include <stdlib.h>

const char *pto_f64_text(double value, char *text)
{
    if (isnan(value)) return strcpy(text, "nan");
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, PTO_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}

const char *pto_f32_text(float value, char *text)
{
    if (isnan(value)) return strcpy(text, "nan");
    for (int digits = fabsf(value) < FLT_MIN ? 1 : FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, PTO_NUMBER_TEXT, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value) break;
    }
    return text;
}

/* LOAD(type, C type) for each integer type. */
#define INTEGER_TYPES(LOAD)                                                                                            \
    LOAD(PTO_BYTE, uint8_t)                                                                                            \
    LOAD(PTO_BOOL, uint8_t)                                                                                            \
    LOAD(PTO_U8, uint8_t)                                                                                              \
    LOAD(PTO_U16, uint16_t)                                                                                            \
    LOAD(PTO_U32, uint32_t)                                                                                            \
    LOAD(PTO_U64, uint64_t) LOAD(PTO_I8, int8_t) LOAD(PTO_I16, int16_t) LOAD(PTO_I32, int32_t) LOAD(PTO_I64, int64_t)

static float half_at(PTOType type, const void *address)
{
    uint16_t half;
    memcpy(&half, address, sizeof half);
    return type == PTO_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

double ptoi_element_value(PTOType type, const void *address)
{
    switch (type) {
#define LOAD(name, ctype)                                                                                              \
    case name: {                                                                                                       \
        ctype v;                                                                                                       \
        memcpy(&v, address, sizeof v);                                                                                 \
        return (double)v;                                                                                              \
    }
        INTEGER_TYPES(LOAD)
        LOAD(PTO_F32, float)
        LOAD(PTO_F64, double)
#undef LOAD
    case PTO_F16:
    case PTO_BF16: return (double)half_at(type, address);
    case PTO_TYPE_COUNT: break;
    }
    return 0;
}

const char *ptoi_element_text(PTOType type, const void *address, char *text)
{
    switch (type) {
    case PTO_F64: return pto_f64_text(ptoi_element_value(type, address), text);
    case PTO_F32:
    case PTO_F16:
    case PTO_BF16: return pto_f32_text((float)ptoi_element_value(type, address), text);
    case PTO_BOOL: return strcpy(text, ptoi_element_value(type, address) != 0 ? "true" : "false");
    case PTO_U64: {
        uint64_t v;
        memcpy(&v, address, sizeof v);
        snprintf(text, PTO_NUMBER_TEXT, "%" PRIu64, v);
        return text;
    }
    case PTO_I64: {
        int64_t v;
        memcpy(&v, address, sizeof v);
        snprintf(text, PTO_NUMBER_TEXT, "%" PRId64, v);
        return text;
    }
    default: snprintf(text, PTO_NUMBER_TEXT, "%" PRId64, (int64_t)ptoi_element_value(type, address)); return text;
    }
}
