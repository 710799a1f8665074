/* ours.c - large.pto as ptoc compiles it, on our runtime; and its kernels. */
#include "large.h"
#include "large_pto.h"
#include "../options.h"

static PTORuntime *rt;

#define STRIDE(x) const int64_t *x##_stride
#define IGNORE(x) (void)x##_stride
int large_gemm(const double *a, STRIDE(a), const double *b, STRIDE(b), double *c, STRIDE(c), int64_t T)
{
    return kernel_gemm(T, a, a_stride[0], b, b_stride[0], c, c_stride[0]);
}
int large_potrf(double *a, STRIDE(a), int64_t T) { return kernel_potrf(T, a, a_stride[0]); }
int large_trsm(const double *l, STRIDE(l), double *b, STRIDE(b), int64_t T)
{
    return kernel_trsm(T, l, l_stride[0], b, b_stride[0]);
}
int large_syrk(const double *a, STRIDE(a), double *c, STRIDE(c), int64_t T)
{
    return kernel_syrk(T, a, a_stride[0], c, c_stride[0]);
}
int large_gemm_sub(const double *a, STRIDE(a), const double *b, STRIDE(b), double *c, STRIDE(c), int64_t T)
{
    return kernel_gemm_sub(T, a, a_stride[0], b, b_stride[0], c, c_stride[0]);
}
int large_start(float *top, STRIDE(top), float *sum, STRIDE(sum), float *o, STRIDE(o), int64_t T)
{
    IGNORE(top), IGNORE(sum), IGNORE(o);
    kernel_start(T, top, sum, o);
    return 0;
}
int large_scores(const float *q, STRIDE(q), const float *k, STRIDE(k), float *s, STRIDE(s), int64_t T)
{
    IGNORE(q), IGNORE(k), IGNORE(s);
    return kernel_scores(T, q, k, s);
}
int large_softmax(float *s, STRIDE(s), float *top, STRIDE(top), float *sum, STRIDE(sum), float *fade, STRIDE(fade),
                  bool diagonal, int64_t T)
{
    IGNORE(s), IGNORE(top), IGNORE(sum), IGNORE(fade);
    kernel_softmax(T, s, top, sum, fade, diagonal);
    return 0;
}
int large_values(const float *p, STRIDE(p), const float *v, STRIDE(v), const float *fade, STRIDE(fade), float *o,
                 STRIDE(o), int64_t T)
{
    IGNORE(p), IGNORE(v), IGNORE(fade), IGNORE(o);
    return kernel_values(T, p, v, fade, o);
}
int large_finish(const float *o, STRIDE(o), const float *sum, STRIDE(sum), float *y, STRIDE(y), int64_t T)
{
    IGNORE(o), IGNORE(sum), IGNORE(y);
    kernel_finish(T, o, sum, y);
    return 0;
}

static void gemm(struct matrices *x, int64_t tile) { expect_ok(rt, run_gemm(rt, x->a, x->b, x->c, tile, GEMM_N)); }
static void cholesky(struct matrices *x, int64_t tile) { expect_ok(rt, run_cholesky(rt, x->m, tile, CHOLESKY_N)); }
static bool attention(struct matrices *x, int64_t tile)
{
    expect_ok(rt, run_attention(rt, x->q, x->k, x->v, x->y, tile, SEQUENCE));
    return true;
}

int main(int argc, char **argv)
{
    const PTOConfig c = {.workers = {[PTO_WORKER_CUBE] = (int32_t)option_number("LARGE_THREADS", 2)},
                         .bind_workers = true};
    rt = pto_runtime_create(&c, NULL);
    if (!rt) return 3;
    const int result = large_main(argc, argv);
    pto_runtime_destroy(rt);
    return result;
}
