/* library.c - OpenBLAS and its LAPACK themselves, with their own threads: the tile is theirs.  Attention they do not
 * have. */
#include "large.h"
#include <cblas.h>

extern void openblas_set_num_threads(int count);
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

static void gemm(struct matrices *x, int64_t tile)
{
    (void)tile;
    openblas_set_num_threads(large_threads);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, GEMM_N, GEMM_N, GEMM_N, 1, x->a, GEMM_N, x->b, GEMM_N, 1,
                x->c, GEMM_N);
}

/* The lower triangle by rows is the upper one by columns. */
static void cholesky(struct matrices *x, int64_t tile)
{
    const int n = CHOLESKY_N;
    int info;
    (void)tile;
    openblas_set_num_threads(large_threads);
    dpotrf_("U", &n, x->m, &n, &info);
    if (info) exit(3);
}

static bool attention(struct matrices *x, int64_t tile)
{
    (void)x, (void)tile;
    return false;
}

int main(int argc, char **argv) { return large_main(argc, argv); }
