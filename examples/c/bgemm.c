/* bgemm.c - batched matrix product orchestrated by hand on the C API, as the design's usage example does it: create a
 * runtime with 4 cube and 4 vector workers, submit two tasks a step, write a trace.
 *
 *     cc -Ibuild/dev/include examples/c/bgemm.c build/dev/lib/libpto_runtime.a -lm -pthread -o bgemm && ./bgemm
 *     trace.json
 */
#include <pto/pto_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 4, TILES = 4, T = 16, TILE_BYTES = T * T * (int)sizeof(float) };

static int gemm_tile(const PTOArg *args) /* P = A * B */
{
    const float *a = args[0].ptr, *b = args[1].ptr;
    float *p = args[2].ptr;
    for (int i = 0; i < T; i++)
        for (int j = 0; j < T; j++) {
            float sum = 0;
            for (int k = 0; k < T; k++) sum += a[i * T + k] * b[k * T + j];
            p[i * T + j] = sum;
        }
    return 0;
}

static int tile_add(const PTOArg *args) /* C += P */
{
    const float *p = args[0].ptr;
    float *c = args[1].ptr;
    for (int i = 0; i < T * T; i++) c[i] += p[i];
    return 0;
}

static int64_t gemm_cost(const PTOArg *args) { return (void)args, 100; }
static int64_t add_cost(const PTOArg *args) { return (void)args, 50; }

static const PTOKernel gemm = {.name = "gemm_tile", .worker = PTO_WORKER_CUBE, .fn = gemm_tile, .cost = gemm_cost};
static const PTOKernel add = {.name = "tile_add", .worker = PTO_WORKER_VECTOR, .fn = tile_add, .cost = add_cost};

struct matrices {
    float *A, *B, *C; /* tile after tile */
};

static void bgemm(PTORuntime *rt, void *arg)
{
    const struct matrices *m = arg;
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < TILES; i++)
            for (int j = 0; j < TILES; j++)
                for (int k = 0; k < TILES; k++) {
                    pto_scope_begin(rt); /* holds P */
                    void *P = NULL;
                    const PTOTaskParam product[] = {PTO_INPUT(m->A, (b * TILES + i) * TILES + k, TILE_BYTES),
                                                    PTO_INPUT(m->B, (b * TILES + k) * TILES + j, TILE_BYTES),
                                                    PTO_OUTPUT(&P, 0, TILE_BYTES)};
                    pto_submit_task(rt, &gemm, product, 3);
                    const PTOTaskParam sum[] = {PTO_INPUT(P, 0, TILE_BYTES),
                                                PTO_INOUT(m->C, (b * TILES + i) * TILES + j, TILE_BYTES)};
                    pto_submit_task(rt, &add, sum, 2);
                    pto_scope_end(rt);
                }
}

static float *filled(size_t count, float value)
{
    float *x = malloc(count * sizeof *x);
    if (!x) exit(3);
    for (size_t i = 0; i < count; i++) x[i] = value;
    return x;
}

int main(int argc, char **argv)
{
    const size_t count = (size_t)BATCH * TILES * TILES * T * T;
    struct matrices m = {filled(count, 1), filled(count, 2), filled(count, 0)};
    PTORuntime *rt = pto_runtime_create_threaded(4, 4, true); /* true: simulate, time in cycles */
    if (!rt) {
        fprintf(stderr, "%s\n", pto_last_error(NULL));
        return 1;
    }
    PTOStatus status = pto_runtime_run(rt, bgemm, &m);
    if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
    const PTORunStats *s = pto_get_run_stats(rt);
    printf("%lld tasks, %lld cycles; no schedule is shorter than %lld\n", (long long)s->tasks, (long long)s->cycles,
           (long long)s->critical_path);
    printf("C[0] = %g\n", (double)m.C[0]);
    if (argc > 1 && pto_runtime_write_trace(rt, argv[1]) != PTO_OK) {
        fprintf(stderr, "cannot write %s\n", argv[1]);
        status = PTO_ERR_IO;
    }
    pto_runtime_destroy(rt);
    free(m.A);
    free(m.B);
    free(m.C);
    return status == PTO_OK ? 0 : 1;
}
