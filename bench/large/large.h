/* large.h - three computations on real kernels, and what every program that runs them is around its schedule (C11).
 *
 * Idea       a program includes this and defines gemm(), cholesky() and attention(); all call the same kernels, one
 *            BLAS thread each, on the same tiles of the same row-major arrays.  What differs is who decides when and
 *            where a kernel runs.
 * Usage      PROGRAM RUNS PROBLEM:TILE...      LARGE_THREADS: how many threads run kernels, default 2
 * Prints     problem, tile, ns of one run, ok or WRONG; separated by tabs.
 * Invariant  before any time is taken the result of one run is compared with the library's, or with plain loops. */
#ifndef BENCH_LARGE_H
#define BENCH_LARGE_H
#include "kernels.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GEMM_N = 1024, CHOLESKY_N = 1536, SEQUENCE = 2048 };
enum { LARGEST_TILE = 256 };

struct matrices {
    double *a, *b, *c;    /* gemm: c += a b, GEMM_N square */
    double *m;            /* cholesky: the lower triangle becomes the factor, CHOLESKY_N square */
    float *q, *k, *v, *y; /* attention, causal: SEQUENCE x HEAD each */
};

/* What a program supplies. */
static void gemm(struct matrices *x, int64_t tile);
static void cholesky(struct matrices *x, int64_t tile);
static bool attention(struct matrices *x, int64_t tile); /* false: this program has none */
static int large_threads;

/* ---- data -------------------------------------------------------------------------------------------------------- */

static inline double value_at(int64_t i) { return (double)((uint64_t)i * 0x9e3779b97f4a7c15u >> 40) / (1 << 24) - 0.5; }

static inline void *new_array(size_t count, size_t bytes)
{
    void *p = aligned_alloc(64, (count * bytes + 63) / 64 * 64);
    if (!p) exit(3);
    return p;
}

static inline void fill(struct matrices *x)
{
    for (int64_t i = 0; i < GEMM_N * GEMM_N; i++)
        x->a[i] = value_at(i), x->b[i] = value_at(i + 7), x->c[i] = value_at(i + 13);
    for (int64_t i = 0; i < CHOLESKY_N; i++)
        for (int64_t j = 0; j < CHOLESKY_N; j++)
            x->m[i * CHOLESKY_N + j] = i == j ? CHOLESKY_N : value_at(i > j ? i * CHOLESKY_N + j : j * CHOLESKY_N + i);
    for (int64_t i = 0; i < SEQUENCE * HEAD; i++) {
        x->q[i] = (float)value_at(i + 3);
        x->k[i] = (float)value_at(i + 5);
        x->v[i] = (float)value_at(i + 11);
    }
}

static inline struct matrices new_matrices(void)
{
    struct matrices x;
    double **square[] = {&x.a, &x.b, &x.c};
    float **rows[] = {&x.q, &x.k, &x.v, &x.y};
    for (int i = 0; i < 3; i++) *square[i] = new_array(GEMM_N * GEMM_N, sizeof(double));
    x.m = new_array(CHOLESKY_N * CHOLESKY_N, sizeof(double));
    for (int i = 0; i < 4; i++) *rows[i] = new_array(SEQUENCE * HEAD, sizeof(float));
    return x;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* A few rows of each are computed plainly: what a wrong order does, it does to many elements. */
enum { EVERY = 97 };

static inline bool is_near(double got, double expected, double tolerance)
{
    return fabs(got - expected) <= tolerance * (1 + fabs(expected));
}

static inline bool gemm_is_right(const struct matrices *x)
{
    for (int64_t i = 0; i < GEMM_N; i += EVERY)
        for (int64_t j = 0; j < GEMM_N; j++) {
            double c = value_at(i * GEMM_N + j + 13);
            for (int64_t k = 0; k < GEMM_N; k++) c += x->a[i * GEMM_N + k] * x->b[k * GEMM_N + j];
            if (!is_near(x->c[i * GEMM_N + j], c, 1e-10)) return false;
        }
    return true;
}

/* The factor times its transpose is the matrix. */
static inline bool cholesky_is_right(const struct matrices *x)
{
    const int64_t n = CHOLESKY_N;
    for (int64_t i = 0; i < n; i += EVERY)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int64_t k = 0; k <= j; k++) sum += x->m[i * n + k] * x->m[j * n + k];
            if (!is_near(sum, i == j ? n : value_at(i * n + j), 1e-9)) return false;
        }
    return true;
}

static inline bool attention_is_right(const struct matrices *x)
{
    for (int64_t i = 0; i < SEQUENCE; i += EVERY) {
        double weight[SEQUENCE], sum = 0;
        for (int64_t j = 0; j <= i; j++) {
            double s = 0;
            for (int64_t d = 0; d < HEAD; d++) s += (double)x->q[i * HEAD + d] * x->k[j * HEAD + d];
            sum += weight[j] = exp(s / sqrt(HEAD));
        }
        for (int64_t d = 0; d < HEAD; d++) {
            double y = 0;
            for (int64_t j = 0; j <= i; j++) y += weight[j] / sum * x->v[j * HEAD + d];
            if (!is_near(x->y[i * HEAD + d], y, 1e-4)) return false;
        }
    }
    return true;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static inline int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* false: the program does not have the problem. */
static inline bool run_problem(struct matrices *x, const char *problem, int64_t tile, int64_t *ns)
{
    bool has = true;
    fill(x);
    const int64_t since = now_ns();
    if (strcmp(problem, "gemm") == 0)
        gemm(x, tile);
    else if (strcmp(problem, "cholesky") == 0)
        cholesky(x, tile);
    else
        has = attention(x, tile);
    *ns = now_ns() - since;
    return has;
}

static inline bool is_right(const struct matrices *x, const char *problem)
{
    return strcmp(problem, "gemm") == 0       ? gemm_is_right(x)
           : strcmp(problem, "cholesky") == 0 ? cholesky_is_right(x)
                                              : attention_is_right(x);
}

static inline int large_main(int argc, char **argv)
{
    const char *threads = getenv("LARGE_THREADS");
    large_threads = threads ? atoi(threads) : 2;
    struct matrices x = new_matrices();
    int result = 0;
    for (int i = 2; i < argc; i++) {
        char problem[32];
        long tile;
        int64_t ns;
        if (sscanf(argv[i], "%31[^:]:%ld", problem, &tile) != 2 || tile < 1 || tile > LARGEST_TILE) return 2;
        if (!run_problem(&x, problem, tile, &ns)) continue;
        const bool ok = is_right(&x, problem);
        if (!ok) result = 1;
        for (int r = 0; r < atoi(argv[1]); r++) {
            run_problem(&x, problem, tile, &ns);
            printf("%s\t%ld\t%lld\t%s\n", problem, tile, (long long)ns, ok ? "ok" : "WRONG");
        }
        fflush(stdout);
    }
    return result;
}

#endif
