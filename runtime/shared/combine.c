/* combine.c - see combine.h. */
#include "combine.h"
#include "half.h"
#include <string.h>

typedef void (*row_fn)(void *to, int64_t stride, const void *part, int64_t count);

/* A row in which neighbours lie side by side is a loop of its own, which C compilers vectorize. */
#define ROW(name, type, load, store, expression)                                                                       \
    static void name(void *to, int64_t stride, const void *part, int64_t count)                                        \
    {                                                                                                                  \
        type *a = to;                                                                                                  \
        const type *b = part;                                                                                          \
        if (stride == 1) {                                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                const __typeof__(load(a[i])) x = load(a[i]), y = load(b[i]);                                           \
                a[i] = store(expression);                                                                              \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                const __typeof__(load(a[i])) x = load(a[i * stride]), y = load(b[i]);                                  \
                a[i * stride] = store(expression);                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
#define PLAIN(x) (x)

#define FLOATS(id, type, load, store)                                                                                  \
    ROW(sum_##id, type, load, store, x + y)                                                                            \
    ROW(prod_##id, type, load, store, x *y)                                                                            \
    ROW(min_##id, type, load, store, isnan(y) || y < x ? y : x)                                                        \
    ROW(max_##id, type, load, store, isnan(y) || y > x ? y : x)
FLOATS(F16, uint16_t, f32_of_f16, f16_of_f32)
FLOATS(BF16, uint16_t, f32_of_bf16, bf16_of_f32)
FLOATS(F32, float, PLAIN, PLAIN)
FLOATS(F64, double, PLAIN, PLAIN)

#define INTEGERS(id, type)                                                                                             \
    ROW(sum_##id, type, PLAIN, (type), (uint64_t)x + (uint64_t)y)                                                      \
    ROW(prod_##id, type, PLAIN, (type), (uint64_t)x *(uint64_t)y)                                                      \
    ROW(min_##id, type, PLAIN, PLAIN, y < x ? y : x)                                                                   \
    ROW(max_##id, type, PLAIN, PLAIN, y > x ? y : x)                                                                   \
    ROW(and_##id, type, PLAIN, (type), x &y)                                                                           \
    ROW(or_##id, type, PLAIN, (type), x | y)                                                                           \
    ROW(xor_##id, type, PLAIN, (type), x ^ y)
INTEGERS(I8, int8_t)
INTEGERS(I16, int16_t)
INTEGERS(I32, int32_t)
INTEGERS(I64, int64_t)
INTEGERS(U8, uint8_t)
INTEGERS(U16, uint16_t)
INTEGERS(U32, uint32_t)
INTEGERS(U64, uint64_t)

/* A bool is a byte here: a kernel may have left any number that is not 0. */
#define TRUTH(x) ((x) != 0)
ROW(and_BOOL, uint8_t, TRUTH, (uint8_t), x &&y)
ROW(or_BOOL, uint8_t, TRUTH, (uint8_t), x || y)
ROW(xor_BOOL, uint8_t, TRUTH, (uint8_t), x != y)

#define FLOAT_ROWS(id)                                                                                                 \
    [PTO_BY_SUM][PTO_##id] = sum_##id, [PTO_BY_PROD][PTO_##id] = prod_##id, [PTO_BY_MIN][PTO_##id] = min_##id,         \
    [PTO_BY_MAX][PTO_##id] = max_##id
#define INTEGER_ROWS(id)                                                                                               \
    FLOAT_ROWS(id), [PTO_BY_AND][PTO_##id] = and_##id, [PTO_BY_OR][PTO_##id] = or_##id,                                \
                    [PTO_BY_XOR][PTO_##id] = xor_##id
static const row_fn rows[PTO_BY_COUNT][PTO_TYPE_COUNT] = {
    FLOAT_ROWS(F16),
    FLOAT_ROWS(BF16),
    FLOAT_ROWS(F32),
    FLOAT_ROWS(F64),
    INTEGER_ROWS(I8),
    INTEGER_ROWS(I16),
    INTEGER_ROWS(I32),
    INTEGER_ROWS(I64),
    INTEGER_ROWS(U8),
    INTEGER_ROWS(U16),
    INTEGER_ROWS(U32),
    INTEGER_ROWS(U64),
    [PTO_BY_AND][PTO_BOOL] = and_BOOL,
    [PTO_BY_OR][PTO_BOOL] = or_BOOL,
    [PTO_BY_XOR][PTO_BOOL] = xor_BOOL,
};

const char *ptoi_by_name(int by)
{
    static const char *const names[PTO_BY_COUNT] = {
        "?",
#define PTO_BY_OPERATION(id, name, is_bitwise) #name,
#include <pto/by.def>
    };
    return by > PTO_BY_NONE && by < PTO_BY_COUNT ? names[by] : names[0];
}

bool ptoi_can_combine(int by, int type)
{
    return by > PTO_BY_NONE && by < PTO_BY_COUNT && type >= 0 && type < PTO_TYPE_COUNT && rows[by][type];
}

/* ---- neutral elements -------------------------------------------------------------------------------------------- */

/* -0.0 + x is x for every x; 0.0 + -0.0 is not. */
static float neutral_float(int by)
{
    switch (by) {
    case PTO_BY_PROD: return 1.0f;
    case PTO_BY_MIN: return INFINITY;
    case PTO_BY_MAX: return -INFINITY;
    default: return -0.0f;
    }
}

/* In its lowest `bytes` bytes. */
static uint64_t neutral_integer(int by, int64_t bytes, bool is_signed)
{
    const uint64_t all = ~UINT64_C(0) >> (64 - 8 * bytes), top = all ^ all >> 1;
    switch (by) {
    case PTO_BY_PROD: return 1;
    case PTO_BY_MIN: return is_signed ? all ^ top : all;
    case PTO_BY_MAX: return is_signed ? top : 0;
    case PTO_BY_AND: return all;
    default: return 0;
    }
}

void ptoi_fill_neutral(int by, int type, void *part, int64_t count)
{
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } x = {.u64 = 0};
    const int64_t bytes = pto_type_bytes((PTOType)type);
    switch (type) {
    case PTO_F16: x.u16 = f16_of_f32(neutral_float(by)); break;
    case PTO_BF16: x.u16 = bf16_of_f32(neutral_float(by)); break;
    case PTO_F32: x.f32 = neutral_float(by); break;
    case PTO_F64: x.f64 = (double)neutral_float(by); break;
    case PTO_BOOL: x.u8 = by == PTO_BY_AND; break;
    default: {
        const uint64_t bits = neutral_integer(by, bytes, type < PTO_U8);
        if (bytes == 1)
            x.u8 = (uint8_t)bits;
        else if (bytes == 2)
            x.u16 = (uint16_t)bits;
        else if (bytes == 4)
            x.u32 = (uint32_t)bits;
        else
            x.u64 = bits;
    }
    }
    switch (bytes) {
    case 1: memset(part, x.u8, (size_t)count); break;
    case 2:
        for (int64_t i = 0; i < count; i++) ((uint16_t *)part)[i] = x.u16;
        break;
    case 4:
        for (int64_t i = 0; i < count; i++) ((uint32_t *)part)[i] = x.u32;
        break;
    default:
        for (int64_t i = 0; i < count; i++) ((uint64_t *)part)[i] = x.u64;
    }
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* Rows of the last dimension, in order.  `to` and `part` go on behind what was combined; the new end of `part`. */
static const char *combine_rows(row_fn row, const PTOArg *view, int d, char *to, const char *part)
{
    const int64_t unit = pto_type_bytes((PTOType)view->type), count = view->shape[d];
    if (d == view->rank - 1) {
        row(to, view->stride[d], part, count);
        return part + count * unit;
    }
    for (int64_t i = 0; i < count; i++) part = combine_rows(row, view, d + 1, to + i * view->stride[d] * unit, part);
    return part;
}

void ptoi_combine(int by, const PTOArg *to, const void *part)
{
    combine_rows(rows[by][to->type], to, 0, to->ptr, part);
}
