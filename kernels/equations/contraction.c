/* contraction.c - the sums of products of kernels in index notation: pto_contract_f32 and pto_contract_f64.
 * Idea       a block of rows by vectors of columns stays in registers while k runs once through it; then the block is
 *            stored.  Columns of b that are not dense, or too few for a block, are packed into a panel first.  The same
 *            text is compiled for each level and for both roundings.  From 2048 in each extent the matrices go to BLAS.
 * Invariant  below that each element is the sum in the order of k, whatever the strides, the level or the block.
 * Tests      test/lit/run/index-notation.test
 */
#include "blas.h"
#include <pto/pto_equations.h>
#include <string.h>

#define NAME_(a, b) a##_##b
#define NAME(a, b)  NAME_(a, b)
#define UNROLL      _Pragma("GCC unroll 16")

#if PTO_HAS_LEVELS
#include <immintrin.h>
#endif
PTO_ELEMENTS_BEGIN

enum { FAR_BYTES = 1024 }; /* from one row of b to the next */

/* to[k * to_pitch + l] = from[l * from_pitch + k], a square of 16 bytes a side */
#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE __builtin_shufflevector
#endif
#endif
#ifdef SHUFFLE
typedef float quad __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
typedef double pair __attribute__((vector_size(16), aligned(sizeof(double)), may_alias));

PTO_ELEMENTS void square_f32(const float *from, int64_t from_pitch, float *to, int64_t to_pitch)
{
    const quad a = *(const quad *)from, b = *(const quad *)(from + from_pitch);
    const quad c = *(const quad *)(from + 2 * from_pitch), d = *(const quad *)(from + 3 * from_pitch);
    const quad ab = SHUFFLE(a, b, 0, 4, 1, 5), cd = SHUFFLE(c, d, 0, 4, 1, 5);
    const quad ab_high = SHUFFLE(a, b, 2, 6, 3, 7), cd_high = SHUFFLE(c, d, 2, 6, 3, 7);
    *(quad *)to = SHUFFLE(ab, cd, 0, 1, 4, 5);
    *(quad *)(to + to_pitch) = SHUFFLE(ab, cd, 2, 3, 6, 7);
    *(quad *)(to + 2 * to_pitch) = SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
    *(quad *)(to + 3 * to_pitch) = SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
}
PTO_ELEMENTS void square_f64(const double *from, int64_t from_pitch, double *to, int64_t to_pitch)
{
    const pair a = *(const pair *)from, b = *(const pair *)(from + from_pitch);
    *(pair *)to = SHUFFLE(a, b, 0, 2);
    *(pair *)(to + to_pitch) = SHUFFLE(a, b, 1, 3);
}
#else
#define SQUARE(name, type, side)                                                                                       \
    PTO_ELEMENTS void square_##name(const type *from, int64_t from_pitch, type *to, int64_t to_pitch)                  \
    {                                                                                                                  \
        for (int k = 0; k < side; k++)                                                                                 \
            for (int l = 0; l < side; l++) to[k * to_pitch + l] = from[l * from_pitch + k];                            \
    }
SQUARE(f32, float, 4)
SQUARE(f64, double, 2)
#endif

#define ELEMENT      float
#define TYPE         f32
#define SIDE         4
#define LEVEL        f32_base
#define TARGET       PTO_TARGET_BASE
#define BYTES        16
#define ROWS         4
#define VECTORS      2
#define FMA(x, y, z) ((x) * (y) + (z))
#include "contraction_block.h"
#define ELEMENT      double
#define TYPE         f64
#define SIDE         2
#define LEVEL        f64_base
#define TARGET       PTO_TARGET_BASE
#define BYTES        16
#define ROWS         4
#define VECTORS      2
#define FMA(x, y, z) ((x) * (y) + (z))
#include "contraction_block.h"
#if PTO_HAS_LEVELS
#define ELEMENT      float
#define TYPE         f32
#define SIDE         4
#define LEVEL        f32_v3
#define TARGET       PTO_TARGET_V3
#define BYTES        32
#define ROWS         6
#define VECTORS      2
#define FMA(x, y, z) ((vector)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#include "contraction_block.h"
#define ELEMENT      double
#define TYPE         f64
#define SIDE         2
#define LEVEL        f64_v3
#define TARGET       PTO_TARGET_V3
#define BYTES        32
#define ROWS         6
#define VECTORS      2
#define FMA(x, y, z) ((vector)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#include "contraction_block.h"
#define ELEMENT      float
#define TYPE         f32
#define SIDE         4
#define LEVEL        f32_v4_half
#define TARGET       PTO_TARGET_V4
#define BYTES        32
#define ROWS         12
#define VECTORS      1
#define FMA(x, y, z) ((vector)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#include "contraction_block.h"
#define ELEMENT      float
#define TYPE         f32
#define SIDE         4
#define LEVEL        f32_v4
#define NARROW       f32_v4_half
#define TARGET       PTO_TARGET_V4
#define BYTES        64
#define ROWS         6
#define VECTORS      4
#define FMA(x, y, z) ((vector)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#include "contraction_block.h"
#define ELEMENT      double
#define TYPE         f64
#define SIDE         2
#define LEVEL        f64_v4_half
#define TARGET       PTO_TARGET_V4
#define BYTES        32
#define ROWS         12
#define VECTORS      1
#define FMA(x, y, z) ((vector)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#include "contraction_block.h"
#define ELEMENT      double
#define TYPE         f64
#define SIDE         2
#define LEVEL        f64_v4
#define NARROW       f64_v4_half
#define TARGET       PTO_TARGET_V4
#define BYTES        64
#define ROWS         6
#define VECTORS      4
#define FMA(x, y, z) ((vector)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#include "contraction_block.h"
#endif
PTO_ELEMENTS_END

#if PTO_HAS_LEVELS
#define DISPATCH(type, t)                                                                                              \
    const PTOCpu cpu = (t)->fused ? pto_cpu() : PTO_CPU_BASE;                                                          \
    if (cpu == PTO_CPU_V4)                                                                                             \
        contract_##type##_v4(t, (t)->panel);                                                                           \
    else if (cpu == PTO_CPU_V3)                                                                                        \
        contract_##type##_v3(t, (t)->panel);                                                                           \
    else                                                                                                               \
        contract_##type##_base(t, (t)->panel)
#else
#define DISPATCH(type, t) contract_##type##_base(t, (t)->panel)
#endif

void pto_contract_f32(const PTOContraction *t)
{
    if (ptoi_is_for_blas(t->rows, t->columns, t->depth) &&
        ptoi_blas_gemm_f32(t->rows, t->columns, t->depth, 1, t->a, t->a_row, t->a_depth, t->b, t->b_depth, t->b_column,
                           t->add ? 1 : 0, t->c, t->c_row, t->c_column) == 0)
        return;
    DISPATCH(f32, t);
}

void pto_contract_f64(const PTOContraction *t)
{
    if (ptoi_is_for_blas(t->rows, t->columns, t->depth) &&
        ptoi_blas_gemm_f64(t->rows, t->columns, t->depth, 1, t->a, t->a_row, t->a_depth, t->b, t->b_depth, t->b_column,
                           t->add ? 1 : 0, t->c, t->c_row, t->c_column) == 0)
        return;
    DISPATCH(f64, t);
}
