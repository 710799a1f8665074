/* contraction.c - the sums of products of kernels in index notation: pto_contract_f32 and pto_contract_f64.
 * Idea       a block of rows by vectors of columns stays in registers while k runs once through it; then the block is
 *            stored.  Columns of b that are not dense, or too few for a block, are packed into a panel first.  The same
 *            text is compiled for each level and for both roundings.  From 512 in each extent the matrices go to BLAS.
 * Invariant  below that each element is the sum in the order of k, whatever the strides, the level or the block.
 * Tests      test/lit/run/index-notation.test
 */
#include "blas.h"
#include <pto/pto_equations.h>
#include <string.h>

#define NAME_(a, b) a##_##b
#define NAME(a, b)  NAME_(a, b)
#define UNROLL      _Pragma("GCC unroll 8")

#if PTO_HAS_LEVELS
#include <immintrin.h>
#endif
PTO_ELEMENTS_BEGIN

#define ELEMENT      float
#define LEVEL        f32_base
#define TARGET       PTO_TARGET_BASE
#define BYTES        16
#define ROWS         4
#define VECTORS      2
#define FMA(x, y, z) ((x) * (y) + (z))
#include "contraction_block.h"
#define ELEMENT      double
#define LEVEL        f64_base
#define TARGET       PTO_TARGET_BASE
#define BYTES        16
#define ROWS         4
#define VECTORS      2
#define FMA(x, y, z) ((x) * (y) + (z))
#include "contraction_block.h"
#if PTO_HAS_LEVELS
#define ELEMENT      float
#define LEVEL        f32_v3
#define TARGET       PTO_TARGET_V3
#define BYTES        32
#define ROWS         6
#define VECTORS      2
#define FMA(x, y, z) ((vector)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#include "contraction_block.h"
#define ELEMENT      double
#define LEVEL        f64_v3
#define TARGET       PTO_TARGET_V3
#define BYTES        32
#define ROWS         6
#define VECTORS      2
#define FMA(x, y, z) ((vector)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#include "contraction_block.h"
#define ELEMENT      float
#define LEVEL        f32_v4
#define TARGET       PTO_TARGET_V4
#define BYTES        64
#define ROWS         6
#define VECTORS      4
#define FMA(x, y, z) ((vector)_mm512_fmadd_ps((__m512)(x), (__m512)(y), (__m512)(z)))
#include "contraction_block.h"
#define ELEMENT      double
#define LEVEL        f64_v4
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
