/* plain.c - the matrix kernels in plain C, for builds without BLAS.
 * Idea       Every inner loop adds a multiple of one dense row to another, which compilers vectorise without leave to
 *            reorder sums.  gemm works on blocks small enough for the first-level cache and copies the block of b, so
 *            any strides are fine.
 * Invariant  The order of operations depends on the shapes alone.
 * Blocks     never, allocates nothing; at most 33 KB of stack, because workers may have little.
 * Tests      test/runtime/test_kernels_tile.c, test_kernels_la.c
 */
#ifndef T
#include "blas.h"
#include <math.h>

enum { COLUMNS = 64, DEPTH = 64 };

static inline int64_t at_most(int64_t a, int64_t limit) { return a < limit ? a : limit; }

#define EACH_TYPE_FILE "plain.c"
#include "each_type.h"

void ptoi_plain_trsm_upper_f64(int64_t m, int64_t n, const double *u, double *b)
{
    for (int64_t i = 0; i < m; i++) {
        double *restrict row = b + i * n;
        for (int64_t j = 0; j < n; j++) {
            double x = row[j] / u[j * n + j];
            row[j] = x;
            for (int64_t k = j + 1; k < n; k++) row[k] -= x * u[j * n + k];
        }
    }
}

int64_t ptoi_plain_potrf_upper_f64(int64_t n, double *u)
{
    for (int64_t j = 0; j < n; j++) {
        double *pivot = u + j * n;
        if (!(pivot[j] > 0)) return j + 1; // also when it is not a number
        double root = sqrt(pivot[j]);
        pivot[j] = root;
        for (int64_t k = j + 1; k < n; k++) pivot[k] /= root;
        for (int64_t i = j + 1; i < n; i++) {
            double x = pivot[i], *row = u + i * n;
            for (int64_t k = i; k < n; k++) row[k] -= x * pivot[k];
        }
    }
    return 0;
}

#else

/* c[m, n] := beta c, where beta = 0 must also clear what is not a number. */
static void NAME(scale_matrix)(int64_t m, int64_t n, T beta, T *c, int64_t c_row, int64_t c_col)
{
    if (beta == 1) return;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            T *x = c + i * c_row + j * c_col;
            *x = beta == 0 ? 0 : beta * *x;
        }
}

/* sum[j] := the products of one row of a with the columns of a block of b, four rows of b in one pass. */
static void NAME(row_times_block)(int64_t depth, const T *a, int64_t a_col, const T (*block)[COLUMNS], T *restrict sum)
{
    for (int64_t j = 0; j < COLUMNS; j++) sum[j] = 0;
    int64_t l = 0;
    for (; l + 4 <= depth; l += 4) {
        T a0 = a[l * a_col], a1 = a[(l + 1) * a_col], a2 = a[(l + 2) * a_col], a3 = a[(l + 3) * a_col];
        const T *b0 = block[l], *b1 = block[l + 1], *b2 = block[l + 2], *b3 = block[l + 3];
        for (int64_t j = 0; j < COLUMNS; j++) sum[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    }
    for (; l < depth; l++) {
        T a0 = a[l * a_col];
        for (int64_t j = 0; j < COLUMNS; j++) sum[j] += a0 * block[l][j];
    }
}

void NAME(ptoi_plain_gemm)(int64_t m, int64_t n, int64_t k, T alpha, const T *a, int64_t a_row, int64_t a_col,
                           const T *b, int64_t b_row, int64_t b_col, T beta, T *c, int64_t c_row, int64_t c_col)
{
    T block[DEPTH][COLUMNS], sum[COLUMNS];
    NAME(scale_matrix)(m, n, beta, c, c_row, c_col);
    if (m <= 0) return;
    for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
        int64_t columns = at_most(n - j0, COLUMNS);
        for (int64_t l0 = 0; l0 < k; l0 += DEPTH) {
            int64_t depth = at_most(k - l0, DEPTH);
            // Columns past the edge are zero: the loops over them have a constant count and their sums are not stored.
            for (int64_t l = 0; l < depth; l++)
                for (int64_t j = 0; j < COLUMNS; j++)
                    block[l][j] = j < columns ? b[(l0 + l) * b_row + (j0 + j) * b_col] : 0;
            for (int64_t i = 0; i < m; i++) {
                NAME(row_times_block)(depth, a + i * a_row + l0 * a_col, a_col, (const T(*)[COLUMNS])block, sum);
                T *out = c + i * c_row + j0 * c_col;
                for (int64_t j = 0; j < columns; j++) out[j * c_col] += alpha * sum[j];
            }
        }
    }
}
#endif
