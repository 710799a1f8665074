/* host.c - a C program that calls `export orch bgemm` of ../bgemm.pto. */
#include "bgemm.h"
#include <stdio.h>
#include <stdlib.h>

enum { NB = 2, M = 64, N = 128, K = 192 };

static float A[NB][M][K], B[NB][K][N], C[NB][M][N];

/* Small integers, so that every sum is exact in any order. */
static void fill(float *x, int count, int step)
{
    for (int i = 0; i < count; i++) x[i] = (float)(i * step % 7 - 3);
}

static int count_wrong(void)
{
    int wrong = 0;
    for (int b = 0; b < NB; b++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 1;
                for (int k = 0; k < K; k++) sum += A[b][i][k] * B[b][k][j];
                wrong += C[b][i][j] != sum;
            }
    return wrong;
}

int main(void)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(NULL, &status);
    if (!rt) {
        fprintf(stderr, "host: %s\n", pto_last_error(NULL));
        return 1;
    }
    fill(&A[0][0][0], NB * M * K, 5);
    fill(&B[0][0][0], NB * K * N, 3);
    for (int i = 0; i < NB * M * N; i++) (&C[0][0][0])[i] = 1;
    status = run_bgemm(rt, &A[0][0][0], &B[0][0][0], &C[0][0][0], NB, M, N, K);
    if (status != PTO_OK)
        fprintf(stderr, "host: %s\n", pto_last_error(rt));
    else
        printf("bgemm from C: %d wrong of %d\n", count_wrong(), NB * M * N);
    /* A size that the program refuses comes back as a status. */
    PTOStatus refused = run_bgemm(rt, &A[0][0][0], &B[0][0][0], &C[0][0][0], NB, M - 1, N, K);
    printf("refused: %s\n", pto_status_name(refused));
    pto_runtime_destroy(rt);
    return status == PTO_OK ? 0 : 1;
}
