/* elementwise.c - add sub mul add_to scale axpy fill of std/tile.pto.
 * Idea       One walk over the written matrix; a row whose operands are all dense gets a loop the compiler vectorises.
 * Invariant  Each element is computed by the same operations whatever the strides, so the bits do not depend on them.
 *            The scalars are rounded to the element type first, as a literal of that type would be.
 * Tests      test/runtime/test_kernels_tile.c
 */
#ifndef T
#include "kernels.h"
#include "walk.h"

/* c[i] = expr over the elements x, y of a and b. */
#define MAP2(expr)                                                                                                     \
    struct walk w = walk_matrix(c_stride, M, N);                                                                       \
    int64_t da = a_stride[w.inner_dim], db = b_stride[w.inner_dim], dc = c_stride[w.inner_dim];                        \
    for (int64_t i = 0; i < w.outer; i++) {                                                                            \
        const T *ra = a + i * a_stride[w.outer_dim], *rb = b + i * b_stride[w.outer_dim];                              \
        T *restrict rc = c + i * c_stride[w.outer_dim];                                                                \
        if (da == 1 && db == 1 && dc == 1) {                                                                           \
            for (int64_t j = 0; j < w.inner; j++) {                                                                    \
                T x = ra[j], y = rb[j];                                                                                \
                rc[j] = expr;                                                                                          \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int64_t j = 0; j < w.inner; j++) {                                                                    \
                T x = ra[j * da], y = rb[j * db];                                                                      \
                rc[j * dc] = expr;                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    return PTO_KERNEL_OK

/* b[i] = expr over the element x of a and the old element y of b, which only an inout kernel may name. */
#define MAP1(expr)                                                                                                     \
    struct walk w = walk_matrix(b_stride, M, N);                                                                       \
    int64_t da = a_stride[w.inner_dim], db = b_stride[w.inner_dim];                                                    \
    for (int64_t i = 0; i < w.outer; i++) {                                                                            \
        const T *ra = a + i * a_stride[w.outer_dim];                                                                   \
        T *restrict rb = b + i * b_stride[w.outer_dim];                                                                \
        if (da == 1 && db == 1) {                                                                                      \
            for (int64_t j = 0; j < w.inner; j++) rb[j] = expr(ra[j], rb[j]);                                          \
        } else {                                                                                                       \
            for (int64_t j = 0; j < w.inner; j++) rb[j * db] = expr(ra[j * da], rb[j * db]);                           \
        }                                                                                                              \
    }                                                                                                                  \
    return PTO_KERNEL_OK

#define EACH_TYPE_FILE "tile/elementwise.c"
#include "each_type.h"
#else

int NAME(pto_tile_add)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,
                       const int64_t *c_stride, int64_t M, int64_t N)
{
    MAP2(x + y);
}

int NAME(pto_tile_sub)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,
                       const int64_t *c_stride, int64_t M, int64_t N)
{
    MAP2(x - y);
}

int NAME(pto_tile_mul)(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,
                       const int64_t *c_stride, int64_t M, int64_t N)
{
    MAP2(x * y);
}

int NAME(pto_tile_add_to)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M, int64_t N)
{
#define EXPR(x, y) (y) + (x)
    MAP1(EXPR);
#undef EXPR
}

int NAME(pto_tile_scale)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, double s, int64_t M,
                         int64_t N)
{
    const T factor = (T)s;
#define EXPR(x, y) (x) * factor
    MAP1(EXPR);
#undef EXPR
}

int NAME(pto_tile_axpy)(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, double s, int64_t M,
                        int64_t N)
{
    const T factor = (T)s;
#define EXPR(x, y) (y) + factor *(x)
    MAP1(EXPR);
#undef EXPR
}

int NAME(pto_tile_fill)(T *a, const int64_t *a_stride, double v, int64_t M, int64_t N)
{
    struct walk w = walk_matrix(a_stride, M, N);
    int64_t da = a_stride[w.inner_dim];
    const T value = (T)v;
    for (int64_t i = 0; i < w.outer; i++) {
        T *row = a + i * a_stride[w.outer_dim];
        for (int64_t j = 0; j < w.inner; j++) row[j * da] = value;
    }
    return PTO_KERNEL_OK;
}
#endif
