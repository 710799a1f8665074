/* kernels.h - the C side of std/<module>.pto: one prototype for each kernel that the modules declare.
 * Idea       The calling convention of the language: for each formal in order a tensor is a typed pointer (const for
 *            `in`) and its strides in elements, a scalar is its C type; then the dimension variables.  0 is success.
 * Invariant  A written tensor never overlaps another argument, so outputs may be restrict.  Strides are any that name
 *            each written element once; an input may also repeat elements with stride 0.  Zero extents are fine, with
 *            any pointer.  Same shapes, strides and values give the same bits, whoever calls and wherever the data lie.
 * Tests      test/runtime/test_kernels_*.c, against kernels/ref
 */
#ifndef PTO_KERNELS_H
#define PTO_KERNELS_H
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

/* The fixed tile of the four kernels of std/la.pto and of the block kernels of std/nn.pto: their declarations have a
 * constant extent there, so no dimension variable tells it at run time. */
enum { PTO_LA_TILE = 128, PTO_NN_BLOCK = 64 };

/* The prototypes of a module are a macro over the family's prefix: the references of kernels/ref have the same ones. */

/* ---- std/tile.pto ------------------------------------------------------------------------------------------------ */
#define PTO_TILE_KERNELS(family, T, suffix)                                                                            \
    int family##_gemm_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,         \
                               const int64_t *p_stride, int64_t M, int64_t N, int64_t K);                              \
    int family##_gemm_acc_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,     \
                                   const int64_t *c_stride, int64_t M, int64_t N, int64_t K);                          \
    int family##_gemm_nt_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *p,      \
                                  const int64_t *p_stride, int64_t M, int64_t N, int64_t K);                           \
    int family##_add_to_##suffix(const T *p, const int64_t *p_stride, T *c, const int64_t *c_stride, int64_t M,        \
                                 int64_t N);                                                                           \
    int family##_add_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,          \
                              const int64_t *c_stride, int64_t M, int64_t N);                                          \
    int family##_sub_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,          \
                              const int64_t *c_stride, int64_t M, int64_t N);                                          \
    int family##_mul_##suffix(const T *a, const int64_t *a_stride, const T *b, const int64_t *b_stride, T *c,          \
                              const int64_t *c_stride, int64_t M, int64_t N);                                          \
    int family##_scale_##suffix(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, double s,          \
                                int64_t M, int64_t N);                                                                 \
    int family##_axpy_##suffix(const T *x, const int64_t *x_stride, T *y, const int64_t *y_stride, double s,           \
                               int64_t M, int64_t N);                                                                  \
    int family##_fill_##suffix(T *a, const int64_t *a_stride, double v, int64_t M, int64_t N);                         \
    int family##_copy_##suffix(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M,          \
                               int64_t N);                                                                             \
    int family##_transpose_##suffix(const T *a, const int64_t *a_stride, T *b, const int64_t *b_stride, int64_t M,     \
                                    int64_t N);
PTO_TILE_KERNELS(pto_tile, float, f32)
PTO_TILE_KERNELS(pto_tile, double, f64)

/* ---- std/nn.pto -------------------------------------------------------------------------------------------------- */
#define PTO_NN_KERNELS(family)                                                                                         \
    int family##_fill_f32(float *x, const int64_t *x_stride, float v, int64_t N);                                      \
    int family##_fill2_f32(float *x, const int64_t *x_stride, float v, int64_t M, int64_t N);                          \
    int family##_add_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride, float *c,   \
                         const int64_t *c_stride, int64_t M, int64_t N);                                               \
    int family##_relu_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M,       \
                          int64_t N);                                                                                  \
    int family##_gelu_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M,       \
                          int64_t N);                                                                                  \
    int family##_silu_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t M,       \
                          int64_t N);                                                                                  \
    int family##_softmax_rows_f32(const float *x, const int64_t *x_stride, float *y, const int64_t *y_stride,          \
                                  int64_t M, int64_t N);                                                               \
    int family##_rmsnorm_f32(const float *x, const int64_t *x_stride, const float *w, const int64_t *w_stride,         \
                             float *y, const int64_t *y_stride, int64_t M, int64_t N);                                 \
    int family##_matmul_f32(const float *a, const int64_t *a_stride, const float *b, const int64_t *b_stride,          \
                            float *c, const int64_t *c_stride, int64_t M, int64_t N, int64_t K);                       \
                                                                                                                       \
    /* One block of attention, PTO_NN_BLOCK rows: see nn/flash.c. */                                                   \
    int family##_qk_f32(const float *q, const int64_t *q_stride, const float *k, const int64_t *k_stride, float *s,    \
                        const int64_t *s_stride, int64_t D);                                                           \
    int family##_online_softmax_f32(const float *s, const int64_t *s_stride, float *m, const int64_t *m_stride,        \
                                    float *l, const int64_t *l_stride, float *p, const int64_t *p_stride, float *r,    \
                                    const int64_t *r_stride, bool diagonal);                                           \
    int family##_rescale_pv_f32(const float *p, const int64_t *p_stride, const float *v, const int64_t *v_stride,      \
                                const float *r, const int64_t *r_stride, float *o, const int64_t *o_stride,            \
                                int64_t D);                                                                            \
    int family##_finish_f32(const float *o, const int64_t *o_stride, const float *l, const int64_t *l_stride,          \
                            float *y, const int64_t *y_stride, int64_t D);
PTO_NN_KERNELS(pto_nn)

/* ---- std/la.pto: tiles of PTO_LA_TILE x PTO_LA_TILE; see la/cholesky.c ------------------------------------------- */
#define PTO_LA_KERNELS(family)                                                                                         \
    int family##_potrf_f64(double *a, const int64_t *a_stride, int32_t *info, const int64_t *info_stride);             \
    int family##_trsm_f64(const double *l, const int64_t *l_stride, double *b, const int64_t *b_stride);               \
    int family##_syrk_f64(const double *a, const int64_t *a_stride, double *c, const int64_t *c_stride);               \
    int family##_gemm_nt_sub_f64(const double *a, const int64_t *a_stride, const double *b, const int64_t *b_stride,   \
                                 double *c, const int64_t *c_stride);
PTO_LA_KERNELS(pto_la)

/* ---- std/sparse.pto ---------------------------------------------------------------------------------------------- */
#define PTO_SPARSE_KERNELS(family)                                                                                     \
    int family##_spmv_f32(const int64_t *ptr, const int64_t *ptr_stride, const int32_t *idx,                           \
                          const int64_t *idx_stride, const float *val, const int64_t *val_stride, const float *x,      \
                          const int64_t *x_stride, float *y, const int64_t *y_stride, int64_t R, int64_t Z,            \
                          int64_t C);
PTO_SPARSE_KERNELS(pto_sparse)

#ifdef __cplusplus
}
#endif
#endif
