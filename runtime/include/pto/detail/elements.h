/* elements.h - how functions over the elements of a kernel in index notation are compiled, and the bits of floats.
 *
 * Idea       pto_equations.h, pto_integers.h and pto_mathematics.h have such functions.  They stand apart because a
 *            file of generated C includes those that it names: a C compiler reads all three as long as it compiles a
 *            small kernel. */
#ifndef PTO_DETAIL_ELEMENTS_H
#define PTO_DETAIL_ELEMENTS_H
#include <stdint.h>

/* C's own, without <math.h>: to read that header takes a C compiler a third of the time of all headers of a kernel. */
#define PTO_INFINITY __builtin_inff()
#define PTO_NAN      __builtin_nanf("")

/* Functions over elements are inlined into their caller and become vectors there; `?:` is a selection, as no operation
 * traps.  A loop that fills or copies the lanes of a group stays one: as a call or a string instruction it is slower.
 */
#define PTO_ELEMENTS static inline __attribute__((always_inline, unused))
#if defined __GNUC__ && !defined __clang__ && defined __OPTIMIZE__
#ifdef PTO_FOR_ONE_RUN /* without what takes the compiler half of its time and gains nothing */
#define PTO_ELEMENTS_SOON_                                                                                             \
    _Pragma("GCC optimize(\"no-ivopts\", \"no-schedule-insns2\")")                                                     \
        _Pragma("GCC optimize(\"no-tree-slp-vectorize\", \"no-version-loops-for-strides\")")                           \
            _Pragma("GCC optimize(\"no-thread-jumps\", \"no-tree-dominator-opts\", \"no-gcse\", \"no-tree-bit-ccp\")")
#else
#define PTO_ELEMENTS_SOON_
#endif
/* The last of them defines macros of GCC's own, and GCC 12 drops the pragmas after it in the same macro. */
#define PTO_ELEMENTS_BEGIN                                                                                             \
    _Pragma("GCC push_options") PTO_ELEMENTS_SOON_ _Pragma(                                                            \
        "GCC optimize(\"O3\", \"fp-contract=off\", \"no-loop-interchange\", \"no-loop-unroll-and-jam\")")              \
        _Pragma("GCC optimize(\"no-trapping-math\", \"no-math-errno\", \"no-tree-loop-distribute-patterns\")")
#define PTO_ELEMENTS_END _Pragma("GCC pop_options")
#elif defined __clang__
#define PTO_ELEMENTS_BEGIN _Pragma("STDC FP_CONTRACT OFF")
#define PTO_ELEMENTS_END
#else
#define PTO_ELEMENTS_BEGIN
#define PTO_ELEMENTS_END
#endif

PTO_ELEMENTS_BEGIN

PTO_ELEMENTS int32_t pto_bits_f32(float value)
{
    int32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
PTO_ELEMENTS float pto_of_bits_f32(int32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
PTO_ELEMENTS int64_t pto_bits_f64(double value)
{
    int64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}
PTO_ELEMENTS double pto_of_bits_f64(int64_t bits)
{
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

PTO_ELEMENTS_END

#endif
