/* graphs.h - the nine task graphs that every program of bench/ runs (C11 and C++17).
 *
 * Idea       a graph is a stream of tasks in program order.  A task reads up to 4 regions and writes one, cells of 64
 *            bytes of one array; the old contents of what it writes are needed (UPDATES) or not.  Whoever runs it has
 *            to find the dependences from the addresses.  Run in program order a graph defines the result, and the
 *            result depends on the order of any two tasks that touch one region.
 * Owner      cells: the graph.
 * Tests      before any time is taken every program runs its graph with a kernel whose result depends on the order, and
 *            compares. */
#ifndef BENCH_GRAPHS_H
#define BENCH_GRAPHS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct cell {
    uint64_t v, rest[7];
} __attribute__((aligned(64))) cell;

enum { WRITES, UPDATES };

/* What every task carries: 48 bytes. */
typedef struct task {
    cell *in[4];
    cell *out;
    uint32_t in_count, mode;
} task;

enum shape { INDEP, CHAIN, BGEMM, STENCIL, WAVE2D, FAN, RANDOM, TREE, SHAPES };

typedef struct graph {
    enum shape shape;
    const char *name;
    long tasks;
    cell *cells;
    size_t cell_count;
    /* cells that a program would want back: all but bgemm's partial products and tree's inner nodes */
    size_t result_begin, result_end;
    long p[3]; /* see graph_make */
} graph;

/* ---- what the tasks compute when it is checked ------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static inline void compute(const task *t)
{
    uint64_t h = t->mode == UPDATES ? t->out->v : 1;
    for (uint32_t i = 0; i < t->in_count; i++) h = mix(h, t->in[i]->v + i);
    t->out->v = mix(h, 7);
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

typedef void (*submit_fn)(void *context, const task *t);

static inline task task_of(uint32_t mode, cell *out, uint32_t in_count, cell *a, cell *b, cell *c, cell *d)
{
    task t;
    t.in[0] = a, t.in[1] = b, t.in[2] = c, t.in[3] = d;
    t.out = out;
    t.in_count = in_count;
    t.mode = mode;
    return t;
}

static inline uint64_t next_random(uint64_t *s)
{
    uint64_t x = *s;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return *s = x;
}

/* Task i of `random`: one of `regions` written, 0 to 4 others read, all different. */
static inline uint32_t random_task(uint64_t *state, long regions, long *out, long in[4])
{
    const uint64_t r = next_random(state), q = next_random(state);
    *out = (long)(r % (uint64_t)regions);
    for (int j = 0; j < 4; j++) {
        long v = (long)((q >> (j * 16) & 0xffff) % (uint64_t)regions);
        for (int m = 0; m <= j; m++)
            if (v == *out || (m < j && in[m] == v)) v = (v + 1) % regions, m = -1;
        in[j] = v;
    }
    return (uint32_t)((r >> 40) % 5);
}
enum { RANDOM_REGIONS = 1024 };
static inline uint64_t random_seed(void) { return 88172645463325252u; }

/* Leaves write fresh cells, an inner task reads its two children and writes the next fresh one; returns the root's. */
static inline cell *emit_tree(graph *g, long leaves, size_t *next, submit_fn f, void *context)
{
    cell *l = NULL, *r = NULL;
    if (leaves > 1) {
        l = emit_tree(g, leaves / 2, next, f, context);
        r = emit_tree(g, leaves - leaves / 2, next, f, context);
    }
    cell *me = &g->cells[(*next)++];
    const task t = task_of(WRITES, me, l ? 2 : 0, l, r, NULL, NULL);
    f(context, &t);
    return me;
}

/* Hands over every task in program order.  Always inlined, so that what submits folds into the loops as it would in a
 * program. */
static inline __attribute__((always_inline)) void graph_emit(graph *g, submit_fn f, void *context)
{
    cell *x = g->cells;
    task t;
    switch (g->shape) {
    case INDEP:
        for (long i = 0; i < g->tasks; i++) t = task_of(WRITES, &x[i], 0, NULL, NULL, NULL, NULL), f(context, &t);
        break;
    case CHAIN:
        for (long i = 0; i < g->tasks; i++) t = task_of(UPDATES, &x[0], 0, NULL, NULL, NULL, NULL), f(context, &t);
        break;
    case BGEMM: {
        const long B = g->p[0], M = g->p[1], K = g->p[2];
        cell *a = x, *b = a + B * M * K, *c = b + B * K * M, *p = c + B * M * M;
        for (long s = 0; s < B; s++)
            for (long i = 0; i < M; i++)
                for (long j = 0; j < M; j++)
                    for (long k = 0; k < K; k++, p++) {
                        t = task_of(WRITES, p, 2, &a[(s * M + i) * K + k], &b[(s * K + k) * M + j], NULL, NULL),
                        f(context, &t);
                        t = task_of(UPDATES, &c[(s * M + i) * M + j], 1, p, NULL, NULL, NULL), f(context, &t);
                    }
        break;
    }
    case STENCIL: {
        const long W = g->p[0];
        for (long s = 0; s < g->p[1]; s++) {
            cell *o = x + (s & 1) * W, *r = x + !(s & 1) * W;
            t = task_of(WRITES, &o[0], 2, &r[0], &r[1], NULL, NULL), f(context, &t);
            for (long i = 1; i < W - 1; i++)
                t = task_of(WRITES, &o[i], 3, &r[i - 1], &r[i], &r[i + 1], NULL), f(context, &t);
            t = task_of(WRITES, &o[W - 1], 2, &r[W - 2], &r[W - 1], NULL, NULL), f(context, &t);
        }
        break;
    }
    case WAVE2D: {
        const long S = g->p[0], row = S + 1;
        for (long s = 0; s < g->p[1]; s++)
            for (long i = 1; i <= S; i++)
                for (long j = 1; j <= S; j++) {
                    cell *o = &x[i * row + j];
                    t = task_of(UPDATES, o, 3, o - 1, o - row, o - row - 1, NULL), f(context, &t);
                }
        break;
    }
    case FAN:
        for (long s = 0; s < g->p[0]; s++) {
            t = task_of(UPDATES, &x[0], 0, NULL, NULL, NULL, NULL), f(context, &t);
            for (long i = 1; i <= g->p[1]; i++) t = task_of(WRITES, &x[i], 1, &x[0], NULL, NULL, NULL), f(context, &t);
            t = task_of(UPDATES, &x[0], 0, NULL, NULL, NULL, NULL), f(context, &t);
        }
        break;
    case RANDOM: {
        uint64_t state = random_seed();
        for (long i = 0; i < g->tasks; i++) {
            long o, in[4];
            const uint32_t n = random_task(&state, g->p[0], &o, in);
            t = task_of(WRITES, &x[o], n, &x[in[0]], &x[in[1]], &x[in[2]], &x[in[3]]), f(context, &t);
        }
        break;
    }
    case TREE: {
        size_t next = 0;
        emit_tree(g, g->p[0], &next, f, context);
        break;
    }
    case SHAPES: break;
    }
}

/* ---- making one -------------------------------------------------------------------------------------------------- */

static inline void lay_out(graph *g, long n, const char *number)
{
    const long side = *number ? atol(number) : 0;
    long *p = g->p;
    switch (g->shape) {
    case INDEP: g->cell_count = (size_t)n; break;
    case CHAIN: g->cell_count = 1; break;
    case BGEMM: /* batch p0, p1 x p1 tiles of C, depth p2; a, b, c, then the partial products */
        p[1] = p[2] = side == 512 ? 4 : 16;
        p[0] = side == 512 ? 4 : n / (2 * p[1] * p[1] * p[2]) > 0 ? n / (2 * p[1] * p[1] * p[2]) : 1;
        g->tasks = 2 * p[0] * p[1] * p[1] * p[2];
        g->result_begin = (size_t)(2 * p[0] * p[1] * p[2]);
        g->result_end = g->result_begin + (size_t)(p[0] * p[1] * p[1]);
        g->cell_count = g->result_end + (size_t)(g->tasks / 2);
        return;
    case STENCIL: /* p0 columns, p1 steps, two rows, alternately */
        p[0] = side ? side : 64;
        p[1] = n / p[0] > 2 ? n / p[0] : 2;
        g->tasks = p[0] * p[1];
        g->cell_count = (size_t)(2 * p[0]);
        break;
    case WAVE2D: /* p0 x p0 cells, swept p1 times; each reads its neighbours W, N, NW and updates itself */
        p[0] = side ? side : 32;
        p[1] = n / (p[0] * p[0]) > 0 ? n / (p[0] * p[0]) : 1;
        g->tasks = p[0] * p[0] * p[1];
        g->cell_count = (size_t)((p[0] + 1) * (p[0] + 1));
        break;
    case FAN: /* p0 times: an update, p1 readers of it, an update that has to wait for them */
        p[1] = 1000;
        p[0] = n / (p[1] + 2) > 0 ? n / (p[1] + 2) : 1;
        g->tasks = p[0] * (p[1] + 2);
        g->cell_count = (size_t)(p[1] + 1);
        break;
    case RANDOM:
        p[0] = RANDOM_REGIONS;
        g->cell_count = RANDOM_REGIONS;
        break;
    case TREE: /* p0 leaves */
        p[0] = (n + 1) / 2;
        g->tasks = 2 * p[0] - 1;
        g->cell_count = (size_t)g->tasks;
        g->result_begin = g->cell_count - 1;
        break;
    case SHAPES: break;
    }
    g->result_end = g->cell_count;
}

/* name: one of the eight shapes; bgemm512 is the small one, stencil128 has 128 columns, wave2d16 has 16 x 16 cells.  n:
 * about how many tasks. */
static inline graph graph_make(const char *name, long n)
{
    static const char *const names[] = {"indep", "chain", "bgemm", "stencil", "wave2d", "fan", "random", "tree"};
    graph g;
    memset(&g, 0, sizeof g);
    int s = 0;
    while (s < SHAPES && strncmp(name, names[s], strlen(names[s])) != 0) s++;
    if (s == SHAPES || n < 1) {
        fprintf(stderr, "no graph '%s' of %ld tasks\n", name, n);
        exit(2);
    }
    g.shape = (enum shape)s;
    g.name = name;
    g.tasks = n;
    lay_out(&g, n, name + strlen(names[s]));
    void *m = mmap(NULL, g.cell_count * sizeof(cell), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (m == MAP_FAILED) {
        perror("mmap");
        exit(3);
    }
    g.cells = (cell *)m;
    return g;
}

static inline void graph_free(graph *g) { munmap(g->cells, g->cell_count * sizeof(cell)); }

static inline void graph_reset(graph *g)
{
    for (size_t i = 0; i < g->cell_count; i++) g->cells[i].v = i * 2654435761u + 1;
}

/* Of every cell, or of those that are results. */
static inline uint64_t graph_sum(const graph *g, bool results)
{
    uint64_t h = 0;
    for (size_t i = results ? g->result_begin : 0; i < (results ? g->result_end : g->cell_count); i++)
        h = mix(h, g->cells[i].v);
    return h;
}

#endif
