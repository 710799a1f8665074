// 4 x 8 x 8 x 8 products of 64 x 64 tiles on instant workers: how much heap each rule about the end of a lifetime
// needs, to the byte.  With one unit less, of those that a heap is cut into, none completes, and each says so.
// RUN: %pto-cc %s -o %t
// RUN: %t | FileCheck %s
// CHECK:      every tensor to the end of the run: 33554432 bytes in a heap of 33554432; with one unit less: deadlock
// CHECK-NEXT: to the end of the scope of its result: 131072 bytes in a heap of 131072; with one unit less: deadlock
// CHECK-NEXT: to its last use: 16384 bytes in a heap of 16384; with one unit less: too large
#include <pto/pto_runtime.h>
#include <stdio.h>
enum { NB = 4, M = 8, N = 8, K = 8, TILE = 16384 };
static float a[NB * M * K][TILE / 4], b[NB * K * N][TILE / 4], c[NB * M * N][TILE / 4];
static int gemm(const PTOArg *args)
{
    *(float *)args[2].ptr = *(const float *)args[0].ptr * *(const float *)args[1].ptr;
    return 0;
}
static int add(const PTOArg *args)
{
    *(float *)args[1].ptr += *(const float *)args[0].ptr;
    return 0;
}
static const PTOKernel GEMM = {.name = "gemm", .fn = gemm, .worker = PTO_WORKER_CUBE};
static const PTOKernel ADD = {.name = "add", .fn = add, .worker = PTO_WORKER_VECTOR};
enum rule { TO_THE_END, SCOPE, RELEASE, RULES };

static void product(PTORuntime *rt, void *arg)
{
    const enum rule rule = *(enum rule *)arg;
    for (int t = 0; t < NB * M * N; t++) {
        if (rule == SCOPE) pto_scope_begin(rt);
        for (int k = 0; k < K; k++) {
            void *p = NULL;
            const int batch = t / (M * N), i = t / N % M, j = t % N;
            pto_submit_task(rt, &GEMM,
                            (PTOTaskParam[]){PTO_INPUT(a[(batch * M + i) * K + k], 0, TILE),
                                             PTO_INPUT(b[(batch * K + k) * N + j], 0, TILE), PTO_OUTPUT(&p, 0, TILE)},
                            3);
            pto_submit_task(rt, &ADD, (PTOTaskParam[]){PTO_INPUT(p, 0, TILE), PTO_INOUT(c[t], 0, TILE)}, 2);
            if (rule == RELEASE) pto_release(rt, p);
        }
        if (rule == SCOPE) pto_scope_end(rt);
    }
}

/* The high-water mark, or below 0 why it did not complete. */
static int64_t run(enum rule rule, int64_t heap, PTOScopePolicy policy)
{
    const PTOConfig config = {
        .engine = PTO_ENGINE_SERIAL, .heap_bytes = heap, .heap_rings = 1, .task_window = 4096, .scope_policy = policy};
    PTORuntime *rt = pto_runtime_create(&config, NULL);
    const PTOStatus status = pto_runtime_run(rt, product, &rule);
    const int64_t used = pto_get_flow_stats(rt)->heap_hwm;
    pto_runtime_destroy(rt);
    return status == PTO_OK ? used : status;
}

int main(void)
{
    static const char *const names[RULES] = {"every tensor to the end of the run",
                                             "to the end of the scope of its result", "to its last use"};
    static const int64_t heap[RULES] = {NB * M * N * K * TILE, K * TILE, TILE};
    for (int rule = 0; rule < RULES; rule++) {
        const PTOScopePolicy policy = rule == TO_THE_END ? PTO_SCOPE_OUTERMOST : PTO_SCOPE_OWNER;
        const int64_t unit = heap[rule] / 1024 > 64 ? heap[rule] / 1024 : 64;
        const int64_t used = run(rule, heap[rule], policy), less = run(rule, heap[rule] - unit, policy);
        printf("%s: %lld bytes in a heap of %lld; with one unit less: %s\n", names[rule], (long long)used,
               (long long)heap[rule],
               less == PTO_ERR_DEADLOCK    ? "deadlock"
               : less == PTO_ERR_TOO_LARGE ? "too large"
                                           : "it completes");
    }
    return 0;
}
