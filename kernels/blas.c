/* blas.c - strided matrices in, BLAS calls out.
 * Idea       BLAS wants one unit stride and a leading dimension.  A view that has them is passed as it is, any other is
 *            packed first (and a written one unpacked after), so every call does the same arithmetic.  Products that
 *            are no larger than what BLAS is worth are computed by contraction.c.
 * Owner      The number of OpenBLAS threads: set to one, once, before the first call.  Workers are the parallelism, and
 *            a product split over threads would add up in another order.
 * Invariant  See Note [no address in the bits].
 * Tests      test/runtime/test_kernels_tile.c, test_kernels_la.c
 */
/* Note [no address in the bits]: the level-3 routines copy their operands to buffers of their own before they add, or
 * load them unaligned when the product is small, so an address cannot change a rounding.  dpotrf falls back to dot
 * products and matrix-vector products on small blocks, which on some processors peel off elements until the address is
 * a multiple of 16; it therefore works on a copy that always starts on a 64-byte boundary.  The copy also keeps the
 * caller's matrix as it was when the factor fails. */
#ifndef T
#include "blas.h"
#include "kernels.h"
#include <limits.h>
#include <pto/pto_equations.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef PTO_HAVE_BLAS
#include <cblas.h>
#include <pthread.h>

#define cblas_gemm_f32 cblas_sgemm
#define cblas_gemm_f64 cblas_dgemm

extern void openblas_set_num_threads(int count);
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

static void use_one_thread(void) { openblas_set_num_threads(1); }

static void start_blas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_one_thread);
}

/* BLAS counts in int. */
static bool fits_int(int64_t count) { return count <= INT_MAX; }

/* Is a matrix with `pitch` from one line to the next and `unit` along it one that BLAS can be given? */
static bool is_dense_line(int64_t lines, int64_t width, int64_t pitch, int64_t unit)
{
    return (unit == 1 || width == 1) && (lines == 1 || (pitch >= width && fits_int(pitch)));
}
#endif

enum { CACHE_LINE = 64, BLAS_FROM = 2048 };

bool ptoi_is_for_blas(int64_t rows, int64_t columns, int64_t depth)
{
#ifdef PTO_HAVE_BLAS
    return rows >= BLAS_FROM && columns >= BLAS_FROM && depth >= BLAS_FROM;
#else
    (void)rows, (void)columns, (void)depth;
    return false;
#endif
}

/* A dense rows x columns matrix for a copy, on a cache line; NULL when there is no room. */
static void *new_matrix(int64_t rows, int64_t columns, size_t element_bytes)
{
    size_t bytes;
    if (__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, element_bytes, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    return aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE) / CACHE_LINE * CACHE_LINE);
}

#define EACH_TYPE_FILE "blas.c"
#include "each_type.h"

/* dst := the transpose of the lower triangle of src, dense and row-major, zero below. */
static void transpose_lower(int64_t n, const double *src, int64_t src_row, int64_t src_col, double *dst)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) dst[j * n + i] = j <= i ? src[i * src_row + j * src_col] : 0;
}

int ptoi_blas_trsm_f64(int64_t m, int64_t n, const double *l, int64_t l_row, int64_t l_col, double *b, int64_t b_row,
                       int64_t b_col)
{
    if (m <= 0 || n <= 0) return PTO_KERNEL_OK;
#ifdef PTO_HAVE_BLAS
    if (fits_int(m) && fits_int(n)) {
        struct form_f64 fl, fb;
        bool room = read_form_f64(&fl, n, n, l, l_row, l_col);
        room = write_form_f64(&fb, m, n, b, b_row, b_col, true) && room;
        if (room) {
            // Read in the order of b, an l stored the other way is its own transpose: upper, and not to be turned
            // again.
            bool same = fl.order == fb.order;
            start_blas();
            cblas_dtrsm(fb.order, CblasRight, same ? CblasLower : CblasUpper, same ? CblasTrans : CblasNoTrans,
                        CblasNonUnit, (int)m, (int)n, 1, fl.p, fl.ld, fb.p, fb.ld);
            unpack_f64(&fb, m, n, b, b_row, b_col);
        }
        free(fl.packed);
        free(fb.packed);
        return room ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
    }
#endif
    double *u = new_matrix(n, n, sizeof *u), *x = new_matrix(m, n, sizeof *x);
    bool room = u != NULL && x != NULL;
    if (room) {
        transpose_lower(n, l, l_row, l_col, u);
        copy_strided_f64(m, n, b, b_row, b_col, x, n, 1);
        ptoi_plain_trsm_upper_f64(m, n, u, x);
        copy_strided_f64(m, n, x, n, 1, b, b_row, b_col);
    }
    free(u);
    free(x);
    return room ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
}

int ptoi_blas_syrk_f64(int64_t n, int64_t k, const double *a, int64_t a_row, int64_t a_col, double *c, int64_t c_row,
                       int64_t c_col)
{
    if (n <= 0 || k <= 0) return PTO_KERNEL_OK;
#ifdef PTO_HAVE_BLAS
    if (fits_int(n) && fits_int(k)) {
        struct form_f64 fa, fc;
        bool room = read_form_f64(&fa, n, k, a, a_row, a_col);
        room = write_form_f64(&fc, n, n, c, c_row, c_col, true) && room;
        if (room) {
            start_blas();
            cblas_dsyrk(fc.order, CblasLower, fa.order == fc.order ? CblasNoTrans : CblasTrans, (int)n, (int)k, -1,
                        fa.p, fa.ld, 1, fc.p, fc.ld);
            unpack_f64(&fc, n, n, c, c_row, c_col);
        }
        free(fa.packed);
        free(fc.packed);
        return room ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
    }
#endif
    double *square = new_matrix(n, n, sizeof *square);
    if (square == NULL) return PTO_KERNEL_NO_MEMORY;
    ptoi_plain_gemm_f64(n, n, k, 1, a, a_row, a_col, a, a_col, a_row, 0, square, n, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) c[i * c_row + j * c_col] -= square[i * n + j];
    free(square);
    return PTO_KERNEL_OK;
}

/* Factors a dense row-major u, whose upper triangle is the transpose of the lower one meant. */
static int64_t factor_upper(int64_t n, double *u)
{
#ifdef PTO_HAVE_BLAS
    if (fits_int(n)) {
        // LAPACK counts columns first: to it this upper triangle is a lower one.
        int order = 0, size = (int)n;
        start_blas();
        dpotrf_("L", &size, u, &size, &order);
        if (order != 0) return order;
        for (int64_t i = 0; i < n; i++)
            if (!(u[i * n + i] > 0)) return i + 1; // it lets through what is not a number
        return 0;
    }
#endif
    return ptoi_plain_potrf_upper_f64(n, u);
}

int ptoi_blas_potrf_f64(int64_t n, double *a, int64_t a_row, int64_t a_col, int64_t *order)
{
    *order = 0;
    if (n <= 0) return PTO_KERNEL_OK;
    double *u = new_matrix(n, n, sizeof *u);
    if (u == NULL) return PTO_KERNEL_NO_MEMORY;
    transpose_lower(n, a, a_row, a_col, u);
    *order = factor_upper(n, u);
    if (*order == 0)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) a[i * a_row + j * a_col] = u[j * n + i];
    free(u);
    return PTO_KERNEL_OK;
}

#else

static inline void NAME(copy_strided)(int64_t rows, int64_t columns, const T *src, int64_t src_row, int64_t src_col,
                                      T *dst, int64_t dst_row, int64_t dst_col)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) dst[i * dst_row + j * dst_col] = src[i * src_row + j * src_col];
}

#ifdef PTO_HAVE_BLAS
/* A matrix as BLAS takes it. */
struct NAME(form) {
    T *p;
    int ld;
    enum CBLAS_ORDER order;
    T *packed; /* freed by the caller: the copy that p is, or NULL */
};

/* False when there is no room; packed is set either way. */
static bool NAME(write_form)(struct NAME(form) * f, int64_t rows, int64_t columns, T *p, int64_t row, int64_t col,
                             bool is_read)
{
    *f = (struct NAME(form)){.p = p, .order = CblasRowMajor};
    if (is_dense_line(rows, columns, row, col)) {
        f->ld = (int)(rows == 1 ? columns : row);
        return true;
    }
    if (is_dense_line(columns, rows, col, row)) {
        f->ld = (int)(columns == 1 ? rows : col);
        f->order = CblasColMajor;
        return true;
    }
    f->p = f->packed = new_matrix(rows, columns, sizeof(T));
    if (f->packed == NULL) return false;
    f->ld = (int)columns;
    if (is_read) NAME(copy_strided)(rows, columns, p, row, col, f->packed, columns, 1);
    return true;
}

static bool NAME(read_form)(struct NAME(form) * f, int64_t rows, int64_t columns, const T *p, int64_t row, int64_t col)
{
    return NAME(write_form)(f, rows, columns, (T *)p, row, col, true); // nobody writes through it
}

static void NAME(unpack)(const struct NAME(form) * f, int64_t rows, int64_t columns, T *p, int64_t row, int64_t col)
{
    if (f->packed != NULL) NAME(copy_strided)(rows, columns, f->packed, columns, 1, p, row, col);
}

static int NAME(gemm)(int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t a_row, int64_t a_col, const T *b,
                      int64_t b_row, int64_t b_col, T beta, T *c, int64_t c_row, int64_t c_col)
{
    struct NAME(form) fa, fb, fc;
    bool room = NAME(read_form)(&fa, m, k, a, a_row, a_col);
    room = NAME(read_form)(&fb, k, n, b, b_row, b_col) && room;
    room = NAME(write_form)(&fc, m, n, c, c_row, c_col, beta != 0) && room;
    if (room) {
        start_blas();
        NAME(cblas_gemm)
        (fc.order, fa.order == fc.order ? CblasNoTrans : CblasTrans, fb.order == fc.order ? CblasNoTrans : CblasTrans,
         (int)m, (int)n, (int)k, alpha, fa.p, fa.ld, fb.p, fb.ld, beta, fc.p, fc.ld);
        NAME(unpack)(&fc, m, n, c, c_row, c_col);
    }
    free(fa.packed);
    free(fb.packed);
    free(fc.packed);
    return room ? PTO_KERNEL_OK : PTO_KERNEL_NO_MEMORY;
}
#endif

/* The block of kernels in index notation, which is faster on small matrices. */
static int NAME(contract)(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, int64_t a_col, const T *b,
                          int64_t b_row, int64_t b_col, bool add, T *c, int64_t c_row, int64_t c_col)
{
    /* on the stack, where it is in a cache; contraction.c needs all k of a panel where it cannot store what it has of a
     * sum */
    _Alignas(CACHE_LINE) unsigned char room[PTOI_PANEL_DEPTH * PTO_PANEL_BYTES];
    const bool is_cut = !add && c_col == 1 && n * (int64_t)sizeof(T) % CACHE_LINE == 0;
    void *made = k > PTOI_PANEL_DEPTH && !is_cut ? new_matrix(k, PTO_PANEL_BYTES, 1) : NULL;
    if (k > PTOI_PANEL_DEPTH && !is_cut && made == NULL) return PTO_KERNEL_NO_MEMORY;
    NAME(pto_contract)
    (&(PTOContraction){m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row, c_col, add, true,
                       made != NULL ? made : room});
    free(made);
    return PTO_KERNEL_OK;
}

int NAME(ptoi_blas_gemm)(int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t a_row, int64_t a_col, const T *b,
                         int64_t b_row, int64_t b_col, T beta, T *c, int64_t c_row, int64_t c_col)
{
    if (m <= 0 || n <= 0) return PTO_KERNEL_OK;
    if (alpha == 1 && (beta == 0 || beta == 1) && k > 0 && !ptoi_is_for_blas(m, n, k))
        return NAME(contract)(m, n, k, a, a_row, a_col, b, b_row, b_col, beta == 1, c, c_row, c_col);
#ifdef PTO_HAVE_BLAS
    if (k > 0 && fits_int(m) && fits_int(n) && fits_int(k))
        return NAME(gemm)(m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, c_row, c_col);
#endif
    NAME(ptoi_plain_gemm)(m, n, k, alpha, a, a_row, a_col, b, b_row, b_col, beta, c, c_row, c_col);
    return PTO_KERNEL_OK;
}
#endif
