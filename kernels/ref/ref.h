/* ref.h - the kernels once more, written to be read: what each must compute.
 * Idea       Same prototypes with the prefix ref_ (ref_kernels.h, made by prototypes.cmake), so a test calls both with
 *            the same arguments.  Sums are in long double and in index order, and nothing is blocked, packed or
 *            vectorised.
 * Tests      are their only users
 */
#ifndef PTO_KERNELS_REF_H
#define PTO_KERNELS_REF_H
#include "kernels.h"
#include "ref_kernels.h"

/* Element (i, j) of matrix x, element i of vector x, by x_stride. */
#define AT2(x, i, j) x[(i)*x##_stride[0] + (j)*x##_stride[1]]
#define AT1(x, i)    x[(i)*x##_stride[0]]
#endif
