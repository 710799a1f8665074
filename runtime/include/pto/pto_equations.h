/* pto_equations.h - what the C of a kernel in index notation is made of: processor levels, arithmetic without undefined
 * behaviour, partial results, scratch.  Generated programs include it where they have such a kernel.
 *
 * Levels      the equations are a function that is inlined into one function for each level, whose target attribute
 *             decides how wide its vectors are.
 * Rounding    nothing here contracts or reorders; pto_fma_* is one rounding where `fused`. */
#ifndef PTO_EQUATIONS_H
#define PTO_EQUATIONS_H
#include <pto/detail/elements.h>
#include <pto/detail/pieces.h>
#include <pto/pto_arithmetic.h>
#include <pto/pto_scratch.h>
#include <pto/pto_types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- levels ------------------------------------------------------------------------------------------------------ */

typedef enum PTOCpu { PTO_CPU_BASE, PTO_CPU_V3, PTO_CPU_V4 } PTOCpu;

/* The level that kernels use: that of the machine, or the one that --cpu forces.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API PTOCpu pto_cpu(void);

/* Is it worth asking this processor for elements further along a row?  Not AMD's of the third and fourth generation
 * (family 19h), which foresee rows by themselves: a sum out of memory takes 0.95 of the time without.  Those of the
 * fifth take 1.4.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API bool pto_asks_ahead(void) __attribute__((const));

#if defined __x86_64__ && (defined __clang__ || __GNUC__ >= 11)
#define PTO_HAS_LEVELS 1
#define PTO_TARGET_V3  __attribute__((target("arch=x86-64-v3")))
#ifdef __clang__
#define PTO_TARGET_V4 __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))
#else
#define PTO_TARGET_V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#endif
#else
#define PTO_HAS_LEVELS 0
#endif
#define PTO_TARGET_BASE

#ifdef PTO_NO_FMA
#define PTO_FUSED_BASE false
#define PTO_FUSED_V3   false
#define PTO_FUSED_V4   false
#else
#if !defined __x86_64__ && defined __FP_FAST_FMA && defined __FP_FAST_FMAF
#define PTO_FUSED_BASE true
#else
#define PTO_FUSED_BASE false
#endif
#define PTO_FUSED_V3 true
#define PTO_FUSED_V4 true
#endif

/* The function `name` that a task calls, with one function for each level into which `elements` is inlined twice: with
 * every tensor's last dimension in a row (is_dense), and for any strides.  leading: the arguments and a comma.
 * PTO_EQUATION_ROWS is of a kernel that the program gives no other tensors: it has no version for any strides, which
 * takes a C compiler as long as the first. */
#define PTO_EQUATION_LEVELS(name, elements, parameters, is_dense, arguments, leading)                                  \
    PTO_EQUATION_(name, elements, parameters, (is_dense), arguments, leading, PTO_ANY_STRIDE_)
#define PTO_EQUATION_ROWS(name, elements, parameters, is_dense, arguments, leading)                                    \
    PTO_EQUATION_(name, elements, parameters, (is_dense), arguments, leading, PTO_UNIT_STRIDE_)
#define PTO_ANY_STRIDE_(elements, leading, fused) elements(PTO_ONLY_ leading false, fused)
#define PTO_UNIT_STRIDE_(elements, leading, fused)                                                                     \
    pto_kernel_failed("the last dimension of a tensor has gaps, which no call of the program gives it")
#define PTO_ONLY_(...)         __VA_ARGS__
/* A compiler takes an equality for rare, and what follows several of them for code that should be small. */
#define PTO_USUALLY(condition) __builtin_expect(condition, 1)
#ifndef PTO_EQUATION_LINKAGE
#define PTO_EQUATION_LINKAGE static /* of `name` */
#endif
#ifdef PTO_TOGETHER /* kernels that are compiled together are kept together, so two objects may have the same */
#define PTO_EQUATION_APART __attribute__((weak))
#else
#define PTO_EQUATION_APART
#endif
#define PTO_EQUATION_LEVEL_(linkage, name, elements, parameters, is_dense, leading, gaps, level)                       \
    PTO_TARGET_##level linkage int name parameters                                                                     \
    {                                                                                                                  \
        return PTO_USUALLY(is_dense) ? elements(PTO_ONLY_ leading true, PTO_FUSED_##level)                             \
                                     : gaps(elements, leading, PTO_FUSED_##level);                                     \
    }
#if PTO_HAS_LEVELS && defined PTO_ONLY_LEVEL /* V4, V3 or BASE: the program runs on this machine alone */
#define PTO_EQUATION_LEVEL(name, elements, parameters, is_dense, leading, gaps, level)                                 \
    PTO_EQUATION_LEVEL_(PTO_EQUATION_LINKAGE, name, elements, parameters, is_dense, leading, gaps, level)
#define PTO_EQUATION_(name, elements, parameters, is_dense, arguments, leading, gaps)                                  \
    PTO_EQUATION_LEVEL(name, elements, parameters, is_dense, leading, gaps, PTO_ONLY_LEVEL)
#elif PTO_HAS_LEVELS
#define PTO_EQUATION_(name, elements, parameters, is_dense, arguments, leading, gaps)                                  \
    PTO_EQUATION_LEVEL_(static, name##_base, elements, parameters, is_dense, leading, gaps, BASE)                      \
    PTO_EQUATION_LEVEL_(static, name##_v3, elements, parameters, is_dense, leading, gaps, V3)                          \
    PTO_EQUATION_LEVEL_(static, name##_v4, elements, parameters, is_dense, leading, gaps, V4)                          \
    PTO_EQUATION_LINKAGE int name parameters                                                                           \
    {                                                                                                                  \
        const PTOCpu pto_cpu_ = pto_cpu(); /* no parameter is called that */                                           \
        return pto_cpu_ == PTO_CPU_V4   ? name##_v4 arguments                                                          \
               : pto_cpu_ == PTO_CPU_V3 ? name##_v3 arguments                                                          \
                                        : name##_base arguments;                                                       \
    }
#else
#define PTO_EQUATION_(name, elements, parameters, is_dense, arguments, leading, gaps)                                  \
    PTO_EQUATION_LEVEL_(PTO_EQUATION_LINKAGE, name, elements, parameters, is_dense, leading, gaps, BASE)
#endif

/* ---- contractions, and what the memory of temporaries needs ------------------------------------------------------ */

/* The sums over k of a[i, k] * b[k, j], each in the order of k; strides in elements. */
typedef struct PTOContraction {
    int64_t rows, columns, depth;
    const void *a;
    int64_t a_row, a_depth;
    const void *b;
    int64_t b_depth, b_column;
    void *c;
    int64_t c_row, c_column;
    bool add, fused; /* c += the sums; a product and its addition are one rounding */
    void *panel;     /* PTO_PANEL_BYTES for each k */
} PTOContraction;
enum { PTO_PANEL_BYTES = 256 };

/* Writes the sums to c; from 2048 rows, columns and k on a BLAS may choose the order of the additions.  Of
 * libpto_kernels.
 * Caller     a kernel.  Never blocks.  Status: none. */
void pto_contract_f32(const PTOContraction *product);
void pto_contract_f64(const PTOContraction *product);

enum { PTO_FAILED_DIVIDE = 1, PTO_FAILED_EMPTY = 2 };

static inline const char *pto_failure_text(int failed)
{
    return failed == PTO_FAILED_DIVIDE ? "an integer division by zero, or one that does not fit"
                                       : "argmax or argmin over nothing";
}
static inline int pto_elements_end(int failed)
{
    return failed == 0 ? 0 : pto_kernel_failed("%s", pto_failure_text(failed));
}

/* How many numbers there are from low to before high, whatever these are; INT64_MAX where they are more. */
static inline int64_t pto_length(int64_t low, int64_t high)
{
    int64_t length;
    return low >= high ? 0 : __builtin_sub_overflow(high, low, &length) ? INT64_MAX : length;
}

static inline size_t pto_bytes(size_t bytes, int64_t count)
{
    size_t all;
    return count <= 0 ? 0 : __builtin_mul_overflow(bytes, (size_t)count, &all) ? SIZE_MAX / 2 : all;
}
static inline size_t pto_aligned(size_t bytes) { return bytes > SIZE_MAX / 2 ? bytes : (bytes + 63) / 64 * 64; }
static inline size_t pto_bytes_sum(size_t a, size_t b)
{
    size_t all;
    return __builtin_add_overflow(a, b, &all) ? SIZE_MAX : all;
}

PTO_ELEMENTS_BEGIN

/* ---- integers: modulo 2^w; pto_integers.h has the other types ---------------------------------------------------- */
#define PTO_INTEGER(name, type, wide, least, bits)                                                                     \
    PTO_ELEMENTS type pto_add_##name(type a, type b) { return (type)((wide)a + (wide)b); }                             \
    PTO_ELEMENTS type pto_sub_##name(type a, type b) { return (type)((wide)a - (wide)b); }                             \
    PTO_ELEMENTS type pto_mul_##name(type a, type b) { return (type)((wide)a * (wide)b); }                             \
    PTO_ELEMENTS type pto_neg_##name(type a) { return (type)((wide)0 - (wide)a); }                                     \
    PTO_ELEMENTS type pto_abs_##name(type a) { return a > 0 ? a : pto_neg_##name(a); }                                 \
    PTO_ELEMENTS type pto_min_##name(type a, type b) { return a < b ? a : b; }                                         \
    PTO_ELEMENTS type pto_max_##name(type a, type b) { return a > b ? a : b; }                                         \
    PTO_ELEMENTS type pto_shl_##name(type a, type b)                                                                   \
    {                                                                                                                  \
        const wide by = (wide)b; /* a negative one is large */                                                         \
        return (type)(by < bits ? (wide)a << (by & (bits - 1)) : 0);                                                   \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_shr_##name(type a, type b)                                                                   \
    {                                                                                                                  \
        const wide by = (wide)b;                                                                                       \
        const type kept = (type)(a >> (by < bits ? by : bits - 1));                                                    \
        return by < bits || least != 0 ? kept : (type)0;                                                               \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_div_##name(int *failed, type a, type b)                                                      \
    {                                                                                                                  \
        const bool is_wrong = b == 0 || (least != 0 && a == least && b == (type)-1);                                   \
        *failed = is_wrong ? PTO_FAILED_DIVIDE : *failed;                                                              \
        return (type)(a / (is_wrong ? (type)1 : b));                                                                   \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_mod_##name(int *failed, type a, type b)                                                      \
    {                                                                                                                  \
        const bool is_wrong = b == 0 || (least != 0 && a == least && b == (type)-1);                                   \
        *failed = is_wrong ? PTO_FAILED_DIVIDE : *failed;                                                              \
        return (type)(a % (is_wrong ? (type)1 : b));                                                                   \
    }
PTO_INTEGER(i64, int64_t, uint64_t, INT64_MIN, 64)

/* Sizes: what the compiler has proved to be an index has no division by zero. */
PTO_ELEMENTS int64_t pto_quotient(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? pto_neg_i64(a) : a / b; }
PTO_ELEMENTS int64_t pto_remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
PTO_ELEMENTS int64_t pto_ceiling(int64_t a, int64_t b)
{
    const int64_t q = pto_quotient(a, b);
    return q * b != a && (a < 0) == (b < 0) ? q + 1 : q;
}
PTO_ELEMENTS int64_t pto_whole_log2(int64_t a) { return a > 0 ? 63 - __builtin_clzll((unsigned long long)a) : 0; }

/* To nearest, to even; not a number stays one. */
PTO_ELEMENTS uint16_t pto_bf16_bits(float value)
{
    const uint32_t bits = (uint32_t)pto_bits_f32(value);
    return (uint16_t)(value != value ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */
#ifndef PTO_STEPS
#define PTO_STEPS INT32_MAX /* most steps that are counted in 32 bits; a test takes fewer */
#endif
#define PTO_TILE 32 /* rows and columns of a tile, of an operand that lies the other way round */
/* The test of a stands apart from the comparison: so GCC makes one instruction of that. */
#define PTO_FLOAT(name, type, f)                                                                                       \
    PTO_ELEMENTS type pto_min_##name(type a, type b)                                                                   \
    {                                                                                                                  \
        const type least = a < b ? a : b;                                                                              \
        return a != a ? a : least;                                                                                     \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_max_##name(type a, type b)                                                                   \
    {                                                                                                                  \
        const type most = a > b ? a : b;                                                                               \
        return a != a ? a : most;                                                                                      \
    }                                                                                                                  \
    PTO_ELEMENTS type pto_add_##name(type a, type b) { return a + b; }                                                 \
    PTO_ELEMENTS type pto_mul_##name(type a, type b) { return a * b; }                                                 \
    PTO_ELEMENTS type pto_abs_##name(type a) { return __builtin_fabs##f(a); }                                          \
    PTO_ELEMENTS type pto_floor_##name(type a) { return __builtin_floor##f(a); }                                       \
    PTO_ELEMENTS type pto_ceil_##name(type a) { return __builtin_ceil##f(a); }                                         \
    PTO_ELEMENTS type pto_round_##name(type a) { return __builtin_rint##f(a); }                                        \
    PTO_ELEMENTS type pto_sqrt_##name(type a) { return __builtin_sqrt##f(a); }                                         \
    PTO_ELEMENTS type pto_rsqrt_##name(type a) { return (type)1 / __builtin_sqrt##f(a); }                              \
    PTO_ELEMENTS type pto_fma_##name(bool fused, type a, type b, type c)                                               \
    {                                                                                                                  \
        return fused ? __builtin_fma##f(a, b, c) : a * b + c;                                                          \
    }
PTO_FLOAT(f32, float, f)
PTO_FLOAT(f64, double, )
#undef PTO_FLOAT

/* The value, which the compiler does not know: it would make a comparison with infinity one with the greatest number,
 * and then two instructions of a minimum that is one. */
PTO_ELEMENTS float pto_hidden_f32(float value)
{
    __asm__("" : "+m"(value));
    return value;
}
PTO_ELEMENTS double pto_hidden_f64(double value)
{
    __asm__("" : "+m"(value));
    return value;
}

/* Asks for the PTO_PARTS elements from here on, if they lie in a row. */
#define pto_prefetch(place, dense, writes) pto_prefetch_(place, 0, dense, writes, 3)
/* The same, but only into the second cache. */
#define pto_prefetch_near(place, dense)    pto_prefetch_(place, 0, dense, 0, 2)
/* Asks for those PTO_AHEAD elements further along, where the processor does not by itself.  The row may have ended
 * there: a condition costs more than a request for nothing, and a piece of a vector is often followed by the next. */
#define pto_prefetch_ahead(place, dense)   pto_prefetch_(place, PTO_AHEAD, (dense) && pto_asks_ahead(), 0, 3)
#define pto_prefetch_(place, elements, dense, writes, locality)                                                        \
    do {                                                                                                               \
        const uintptr_t pto_from_ = (uintptr_t)(place) + (elements) * sizeof *(place);                                 \
        for (size_t pto_at_ = 0; (dense) && pto_at_ < PTO_PARTS * sizeof *(place); pto_at_ += 64)                      \
            __builtin_prefetch((const void *)(pto_from_ + pto_at_), writes, locality);                                 \
    } while (0)

/* How many elements of a row stand before its first line of memory; 0 where it is too short to be worth a loop. */
PTO_ELEMENTS int64_t pto_before_line(const void *row, int64_t bytes, bool dense, int64_t count)
{
    const int64_t before = -(int64_t)(uintptr_t)row & 63;
    return dense && count >= 8 * PTO_PARTS && before % bytes == 0 ? before / bytes : 0;
}

/* The parts are folded by halves: sums and products in vectors that are written out, extremes in loops that stay loops,
 * as gcc makes single elements of comparisons of such vectors, and of loops that it has unrolled. */
#ifdef __clang__
#define PTO_STAYS_LOOP
#else
#define PTO_STAYS_LOOP _Pragma("GCC unroll 1")
#endif
#define PTO_FOLD_STEP(sign, type, bytes, half)                                                                         \
    for (int i = 0; i < (half); i += (int)((bytes) / sizeof(type))) {                                                  \
        typedef type vec __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias));                        \
        *(vec *)(part + i) = *(const vec *)(part + i) sign * (const vec *)(part + i + (half));                         \
    }
#define PTO_FOLD_LOOP(operation, half)                                                                                 \
    PTO_STAYS_LOOP                                                                                                     \
    for (int i = 0; i < (half); i++) part[i] = operation(part[i], part[i + (half)]);
#define PTO_FOLD_SIGN(name, sign)                                                                                      \
    PTO_ELEMENTS float pto_fold_##name##_f32(float *part)                                                              \
    {                                                                                                                  \
        PTO_FOLD_STEP(sign, float, 64, 32)                                                                             \
        PTO_FOLD_STEP(sign, float, 64, 16)                                                                             \
        PTO_FOLD_STEP(sign, float, 32, 8)                                                                              \
        PTO_FOLD_STEP(sign, float, 16, 4)                                                                              \
        return (part[0] sign part[2])sign(part[1] sign part[3]);                                                       \
    }                                                                                                                  \
    PTO_ELEMENTS double pto_fold_##name##_f64(double *part)                                                            \
    {                                                                                                                  \
        PTO_FOLD_STEP(sign, double, 64, 32)                                                                            \
        PTO_FOLD_STEP(sign, double, 64, 16)                                                                            \
        PTO_FOLD_STEP(sign, double, 64, 8)                                                                             \
        PTO_FOLD_STEP(sign, double, 32, 4)                                                                             \
        PTO_FOLD_STEP(sign, double, 16, 2)                                                                             \
        return part[0] sign part[1];                                                                                   \
    }
#define PTO_FOLD_EXTREME(name, type, operation)                                                                        \
    PTO_ELEMENTS type name(type *part)                                                                                 \
    {                                                                                                                  \
        PTO_FOLD_LOOP(operation, 32)                                                                                   \
        PTO_FOLD_LOOP(operation, 16)                                                                                   \
        PTO_FOLD_LOOP(operation, 8)                                                                                    \
        PTO_FOLD_LOOP(operation, 4)                                                                                    \
        return operation(operation(part[0], part[2]), operation(part[1], part[3]));                                    \
    }
PTO_FOLD_SIGN(add, +)
PTO_FOLD_SIGN(mul, *)
PTO_FOLD_EXTREME(pto_fold_min_f32, float, pto_min_f32)
PTO_FOLD_EXTREME(pto_fold_min_f64, double, pto_min_f64)
PTO_FOLD_EXTREME(pto_fold_max_f32, float, pto_max_f32)
PTO_FOLD_EXTREME(pto_fold_max_f64, double, pto_max_f64)
#undef PTO_FOLD_STEP
#undef PTO_FOLD_LOOP
#undef PTO_FOLD_SIGN
#undef PTO_FOLD_EXTREME

PTO_ELEMENTS_END

#ifdef __cplusplus
}
#endif
#endif
