/* pto_arithmetic.h - small functions of generated C that never fail the run: costs, extents, counted loops. Included by
 * pto_program.h. */
#ifndef PTO_ARITHMETIC_H
#define PTO_ARITHMETIC_H
#include <stdbool.h>
#include <stdint.h>

/* ---- loops: iterations of `for i in low .. high step step` and the value of i; nothing can overflow ---- */
static inline uint64_t pto_iterations_between(int64_t low, int64_t high, uint64_t step)
{
    return low < high ? ((uint64_t)high - (uint64_t)low - 1) / step + 1 : 0;
}
static inline int64_t pto_iteration(int64_t low, int64_t step, uint64_t iteration)
{
    return (int64_t)((uint64_t)low + (uint64_t)step * iteration);
}

/* ---- trying: *ok becomes false when the result leaves 64 bits or there is none ----------------------------------- */
static inline int64_t pto_try_add(bool *ok, int64_t a, int64_t b)
{
    int64_t r;
    *ok &= !__builtin_add_overflow(a, b, &r);
    return r;
}
static inline int64_t pto_try_sub(bool *ok, int64_t a, int64_t b)
{
    int64_t r;
    *ok &= !__builtin_sub_overflow(a, b, &r);
    return r;
}
static inline int64_t pto_try_mul(bool *ok, int64_t a, int64_t b)
{
    int64_t r;
    *ok &= !__builtin_mul_overflow(a, b, &r);
    return r;
}
static inline int64_t pto_try_div(bool *ok, int64_t a, int64_t b)
{
    *ok &= b != 0 && !(a == INT64_MIN && b == -1);
    return *ok ? a / b : 0;
}
static inline int64_t pto_try_mod(bool *ok, int64_t a, int64_t b)
{
    *ok &= b != 0;
    return *ok && b != -1 ? a % b : 0;
}
static inline int64_t pto_try_abs(bool *ok, int64_t a) { return a < 0 ? pto_try_sub(ok, 0, a) : a; }
static inline int64_t pto_try_ceil_div(bool *ok, int64_t a, int64_t b)
{
    int64_t q = pto_try_div(ok, a, b);
    return *ok && q * b != a && (a < 0) == (b < 0) ? q + 1 : q;
}
static inline int64_t pto_try_log2(bool *ok, int64_t a)
{
    *ok &= a > 0;
    return *ok ? 63 - __builtin_clzll((unsigned long long)a) : 0;
}
/* a * 2^by: like a product, it has to fit.  by outside of 0 .. 63 has no result. */
static inline int64_t pto_try_shl(bool *ok, int64_t a, int64_t by)
{
    *ok &= by >= 0 && by <= 63;
    const int64_t r = *ok ? (int64_t)((uint64_t)a << by) : 0;
    *ok = *ok && r >> by == a;
    return r;
}
static inline int64_t pto_try_shr(bool *ok, int64_t a, int64_t by)
{
    *ok &= by >= 0 && by <= 63;
    return *ok ? a >> by : 0;
}
/* Without its fraction. */
static inline int64_t pto_try_truncate(bool *ok, double value)
{
    const bool fits = value >= -9223372036854775808.0 && value < 9223372036854775808.0; /* 2^63; false: not a number */
    *ok &= fits;
    return fits ? (int64_t)value : 0;
}

/* ---- costs: an estimate stops at the largest number instead of failing ------------------------------------------- */
static inline int64_t pto_cost_limit(bool ok, int64_t value) { return ok ? value : INT64_MAX; }
#define PTO_COST_OF_TWO(name)                                                                                          \
    static inline int64_t pto_cost_##name(int64_t a, int64_t b)                                                        \
    {                                                                                                                  \
        bool ok = true;                                                                                                \
        int64_t r = pto_try_##name(&ok, a, b);                                                                         \
        return pto_cost_limit(ok, r);                                                                                  \
    }
#define PTO_COST_OF_ONE(name)                                                                                          \
    static inline int64_t pto_cost_##name(int64_t a)                                                                   \
    {                                                                                                                  \
        bool ok = true;                                                                                                \
        int64_t r = pto_try_##name(&ok, a);                                                                            \
        return pto_cost_limit(ok, r);                                                                                  \
    }
PTO_COST_OF_TWO(add)
PTO_COST_OF_TWO(sub)
PTO_COST_OF_TWO(mul)
PTO_COST_OF_TWO(shl)
PTO_COST_OF_TWO(shr)
PTO_COST_OF_ONE(abs)
PTO_COST_OF_ONE(log2)
#undef PTO_COST_OF_TWO
#undef PTO_COST_OF_ONE
/* Without a divisor: a number that lies in the range which a quotient or remainder may have. */
#define PTO_COST_OF_QUOTIENT(name, without)                                                                            \
    static inline int64_t pto_cost_##name(int64_t a, int64_t b)                                                        \
    {                                                                                                                  \
        bool ok = true;                                                                                                \
        int64_t r = b == 0 ? (without) : pto_try_##name(&ok, a, b);                                                    \
        return pto_cost_limit(ok, r);                                                                                  \
    }
PTO_COST_OF_QUOTIENT(div, a)
PTO_COST_OF_QUOTIENT(mod, 0)
PTO_COST_OF_QUOTIENT(ceil_div, a)
#undef PTO_COST_OF_QUOTIENT
static inline int64_t pto_cost_truncate(double value)
{
    bool ok = true;
    int64_t r = pto_try_truncate(&ok, value);
    return pto_cost_limit(ok, r);
}
static inline int64_t pto_cost_real(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value > 0 ? (int64_t)value : 0; /* not a number: 0 */
}

/* ---- bf16 is the upper half of an f32 ---------------------------------------------------------------------------- */
static inline float pto_bf16_value(uint16_t bits)
{
    uint32_t all = (uint32_t)bits << 16;
    float value;
    __builtin_memcpy(&value, &all, sizeof value);
    return value;
}

/* ---- views ------------------------------------------------------------------------------------------------------- */
static inline bool pto_is_row_major(int rank, const int64_t *shape, const int64_t *stride)
{
    int64_t dense = 1;
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0) return true;
    for (int d = rank - 1; d >= 0; d--) {
        if (shape[d] != 1 && stride[d] != dense) return false;
        if (__builtin_mul_overflow(dense, shape[d], &dense)) return false;
    }
    return true;
}

#endif
