/* kernels.h - the C side of std/<module>.pto.  std_kernels.h has the prototype of each kernel that the modules declare:
 * it is made from them, see prototypes.cmake.
 * Idea       The calling convention of the language: for each formal in order a tensor is a typed pointer (const for
 *            `in`) and its strides in elements, a scalar is its C type; then the dimension variables.  0 is success.
 * Invariant  A written tensor never overlaps another argument, so outputs may be restrict.  Strides are any that name
 *            each written element once; an input may also repeat elements with stride 0.  Zero extents are fine, with
 *            any pointer.  Same shapes, strides and values give the same bits, whoever calls and wherever the data lie.
 * Tests      test/runtime/test_kernels_*.c, against kernels/ref
 */
#ifndef PTO_KERNELS_H
#define PTO_KERNELS_H
#include "std_kernels.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel of this library returns; everything but 0 fails the task. */
enum {
    PTO_KERNEL_OK = 0,
    PTO_KERNEL_BAD_INDEX = 1, /* an index in the data points outside its tensor */
    PTO_KERNEL_NO_MEMORY = 2, /* no room to pack operands whose strides BLAS cannot take */
};

/* Kernels of std/la.pto for programs that declare them with the constant extent PTO_LA_TILE, which no dimension
 * variable passes at run time. */
enum { PTO_LA_TILE = 128 };
int pto_la_potrf_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride);
int pto_la_trsm_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride);
int pto_la_syrk_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride);
int pto_la_gemm_nt_sub_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,
                           double *c, const int64_t *c_stride);

#ifdef __cplusplus
}
#endif
#endif
