/* uses.c - every macro that makes a parameter, and every way to submit, in text that is both C and C++; the results of
 * its runs are compared. */
#include <pto/pto_program.h>
#include <pto/pto_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8 };

static int scale(const PTOArg *a) /* dst = src * factor + shift, negated or not, any strides */
{
    const float *src = (const float *)a[0].ptr;
    float *dst = (float *)a[1].ptr;
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        for (int64_t j = 0; j < a[0].shape[1]; j++) {
            const float value = src[i * a[0].stride[0] + j * a[0].stride[1]] * a[2].value.f32 + (float)a[3].value.f64;
            dst[i * a[1].stride[0] + j * a[1].stride[1]] = a[4].value.b ? -value : value;
        }
    return 0;
}

static int add(const PTOArg *a) /* bytes to bytes, a[2] times */
{
    const float *src = (const float *)a[0].ptr;
    float *dst = (float *)a[1].ptr;
    for (int64_t i = 0; i < a[0].shape[0] / (int64_t)sizeof(float); i++) dst[i] += src[i] * (float)a[2].value.i64;
    return 0;
}

static const PTOKernel scale_kernel = {"scale", PTO_WORKER_VECTOR, scale, NULL, 0, NULL, NULL};
static const PTOKernel add_kernel = {"add", PTO_WORKER_CUBE, add, NULL, 0, NULL, NULL};

struct data {
    float A[N * N], B[N * N];
    int64_t failed;
};

static void orchestrate(PTORuntime *rt, void *arg)
{
    struct data *d = (struct data *)arg;
    const int64_t bytes = sizeof d->B;
    const unsigned once = 1;
    void *P = NULL;
    float *Q = NULL, *T = NULL;
    const PTOScope scope = pto_scope_begin(rt);
    /* P = -(A transposed * 2 + 1): a list that is kept, and submitted twice. */
    const PTOParam list[] = {PTO_INPUT(d->A, 0, PTO_STRIDED(PTO_F32, (N, N), (1, N))),
                             PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_F32, N, N)),
                             PTO_SCALAR(2.0f),
                             PTO_SCALAR(1.0),
                             PTO_SCALAR(true),
                             PTO_PRIORITY(1),
                             PTO_NAME("turned"),
                             PTO_TIMEOUT(60000)};
    for (int i = 0; i < 2; i++) d->failed += pto_submit_task(rt, &scale_kernel, list, 8) < 0;
    /* Q = 3 P, in the same scope by its token; T = Q. */
    d->failed += PTO_SUBMIT(rt, &scale_kernel, PTO_INPUT(P, 0, PTO_ARRAY(PTO_F32, N, N)),
                            PTO_OUTPUT_IN(scope, &Q, 0, PTO_ARRAY(PTO_F32, N, N)), PTO_SCALAR(3.0f), PTO_SCALAR(0.0),
                            PTO_SCALAR(false)) < 0;
    d->failed += PTO_SUBMIT(rt, &scale_kernel, PTO_INPUT_OF(Q, 0, PTO_ARRAY(PTO_F32, N, N)),
                            PTO_OUTPUT(&T, 0, PTO_ARRAY(PTO_F32, N, N)), PTO_SCALAR(1.0f), PTO_SCALAR(0.0),
                            PTO_SCALAR(false)) < 0;
    /* B += T + 2 T + 4 T, flat. */
    const PTOTaskParam flat[] = {PTO_INPUT(T, 0, bytes), PTO_INOUT(d->B, 0, bytes), PTO_SCALAR(once)};
    d->failed += pto_submit_task(rt, &add_kernel, flat, 3) < 0;
    d->failed += PTO_SUBMIT(rt, &add_kernel, PTO_INPUT(T, 0, bytes), PTO_ACC(d->B, 0, bytes), PTO_SCALAR(2)) < 0;
    d->failed +=
        PTO_SUBMIT(rt, &add_kernel, PTO_INPUT(T, 0, bytes), PTO_ACC(d->B, 0, bytes), PTO_SCALAR((int64_t)4)) < 0;
    pto_scope_end(rt);
}

int main(void)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        PTOConfig config;
        memset(&config, 0, sizeof config);
        config.engine = engines[e];
        PTORuntime *rt = pto_runtime_create(&config, NULL);
        if (!rt) return 1;
        struct data *d = (struct data *)calloc(1, sizeof *d);
        for (int i = 0; i < N * N; i++) d->A[i] = (float)i;
        if (pto_runtime_run(rt, orchestrate, d) != PTO_OK || d->failed != 0) return 2;
        for (int i = 0; i < N * N; i++)
            if (d->B[i] != -(d->A[i % N * N + i / N] * 2 + 1) * 3 * 7) return 3;
        pto_runtime_destroy(rt);
        free(d);
    }
    puts(PTO_F64_TEXT(0.5));
    puts(PTO_F32_TEXT(0.25f));
    return 0;
}
