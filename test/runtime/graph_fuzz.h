/* graph_fuzz.h - random programs over the C API, made of kernels whose result depends on order.
 * Idea       a program is a pure function of its seed: run on the serial engine it gives the reference, run on any other engine
 *            with any sizes it must leave the same bytes.  Tasks read and write random rectangles of two outside matrices and
 *            of heap buffers; scopes, early releases, buffers without a task and awaits are mixed in.
 * Invariant  at most LIVE_MAX heap buffers of at most BUFFER_ELEMENTS elements are alive, so a heap ring of HEAP_LEAST bytes is
 *            enough for every program. */
#ifndef PTO_TEST_GRAPH_FUZZ_H
#define PTO_TEST_GRAPH_FUZZ_H
#include <pto/pto_runtime.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE = 24, CELLS = SIDE * SIDE, BUFFER_ELEMENTS = 64, LIVE_MAX = 6, HEAP_LEAST = 16384, SCOPES_MAX = 5 };

static inline uint64_t fuzz_next(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline int64_t fuzz_below(uint64_t *s, int64_t n) { return (int64_t)(fuzz_next(s) % (uint64_t)n); }

static inline uint64_t fuzz_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ (a >> 29);
}

enum { KIND_IN, KIND_OUT, KIND_INOUT, KIND_ACC };

/* args[0]: two bits a parameter.  Reads everything first, then writes. */
static inline int fuzz_kernel(const PTOArg *args)
{
    uint64_t code = (uint64_t)args[0].value.i64, h = code >> 40;
    int count = (int)(code & 0xff);
    for (int p = 1; p <= count; p++) {
        int kind = (int)(code >> (6 + 2 * p) & 3);
        if (kind == KIND_OUT || kind == KIND_ACC) continue;
        const uint64_t *x = args[p].ptr;
        for (int64_t i = 0; i < args[p].shape[0]; i++)
            for (int64_t j = 0; j < args[p].shape[1]; j++) h = fuzz_mix(h, x[i * args[p].stride[0] + j * args[p].stride[1]]);
    }
    if (code >> 40 & 1) sched_yield();
    if ((code >> 40 & 127) == 2) usleep(50);
    for (int p = 1; p <= count; p++) {
        int kind = (int)(code >> (6 + 2 * p) & 3);
        if (kind == KIND_IN) continue;
        uint64_t *x = args[p].ptr;
        for (int64_t i = 0; i < args[p].shape[0]; i++)
            for (int64_t j = 0; j < args[p].shape[1]; j++) {
                uint64_t *cell = &x[i * args[p].stride[0] + j * args[p].stride[1]];
                h = fuzz_mix(h, (uint64_t)(i * 131 + j + p));
                if (kind != KIND_ACC) {
                    *cell = h;
                    continue;
                }
                uint64_t old = *cell; /* the sum commutes; a lost update shows when two run together */
                if ((h & 63) == 0) sched_yield();
                *cell = old + h;
            }
    }
    return 0;
}

static const PTOKernel fuzz_kernels[PTO_WORKER_TYPES] = {
    {.name = "fuzz_cube", .worker = PTO_WORKER_CUBE, .fn = fuzz_kernel},
    {.name = "fuzz_vector", .worker = PTO_WORKER_VECTOR, .fn = fuzz_kernel},
    {.name = "fuzz_cpu", .worker = PTO_WORKER_AI_CPU, .fn = fuzz_kernel},
    {.name = "fuzz_accel", .worker = PTO_WORKER_ACCELERATOR, .fn = fuzz_kernel},
};

struct fuzz_handle {
    void *base;
    int64_t rows, cols;
    int scope;
    PTOScope token; /* of a place that is not written yet */
    bool written;
};

/* What was submitted, for the checker. */
struct fuzz_access {
    int64_t task, params_at, shape[2], stride[2];
    const uint64_t *base;
    int kind, kernel;
    bool is_first; /* of its buffer's life */
};

struct fuzz_log {
    struct fuzz_access *access;
    int64_t count, capacity;
};

struct fuzz_program {
    struct fuzz_log *log; /* NULL: not kept */
    uint64_t seed;
    int tasks;
    uint64_t *matrix[2]; /* CELLS each */
    uint64_t awaited;    /* digest of what was read after awaits */
    int64_t submitted;
};

struct fuzz_view {
    int64_t at, shape[2], stride[2];
};

static inline struct fuzz_view fuzz_rectangle(uint64_t *s, int64_t rows, int64_t cols)
{
    struct fuzz_view v;
    int64_t i = fuzz_below(s, rows), j = fuzz_below(s, cols);
    v.shape[0] = 1 + fuzz_below(s, rows - i);
    v.shape[1] = 1 + fuzz_below(s, cols - j);
    if (fuzz_below(s, 4) == 0) i = 0, j = 0, v.shape[0] = rows, v.shape[1] = cols;
    v.at = i * cols + j;
    v.stride[0] = cols;
    v.stride[1] = 1;
    if (fuzz_below(s, 5) == 0) { /* every other row */
        v.stride[0] *= 2;
        v.shape[0] = (v.shape[0] + 1) / 2;
    }
    if (fuzz_below(s, 8) == 0) { /* transposed */
        int64_t t = v.shape[0];
        v.shape[0] = v.shape[1], v.shape[1] = t;
        t = v.stride[0], v.stride[0] = v.stride[1], v.stride[1] = t;
    }
    if (fuzz_below(s, 40) == 0) v.shape[0] = 0;
    return v;
}

static inline void fuzz_note(struct fuzz_log *log, int64_t task, int kernel, const PTOTaskParam *p, int count)
{
    if (!log) return;
    for (int k = 0; k < count; k++) {
        if (p[k].kind == PTO_PARAM_SCALAR || log->count == log->capacity) continue;
        struct fuzz_access a = {.task = task, .params_at = p[k].at, .base = p[k].buffer, .kernel = kernel};
        a.kind = p[k].kind == PTO_PARAM_INPUT ? KIND_IN : p[k].kind == PTO_PARAM_ACC ? KIND_ACC : KIND_INOUT;
        if (p[k].kind == PTO_PARAM_OUTPUT) a.base = *(uint64_t **)p[k].ref, a.is_first = true;
        for (int d = 0; d < 2; d++) a.shape[d] = p[k].shape[d], a.stride[d] = p[k].stride ? p[k].stride[d] : d == 0 ? p[k].shape[1] : 1;
        if (a.shape[0] * a.shape[1] > 0) log->access[log->count++] = a;
    }
}

static inline void fuzz_orchestrate(PTORuntime *rt, void *arg)
{
    struct fuzz_program *p = arg;
    uint64_t s = p->seed;
    struct fuzz_handle live[LIVE_MAX];
    int live_count = 0, depth = 0;
    p->awaited = 0;
    p->submitted = 0;
    for (int n = 0; n < p->tasks; n++) {
        int64_t choice = fuzz_below(&s, 100);
        if (choice < 6 && depth < SCOPES_MAX) {
            pto_scope_begin(rt);
            depth++;
        } else if (choice < 12 && depth > 0) {
            pto_scope_end(rt);
            for (int k = live_count - 1; k >= 0; k--)
                if (live[k].scope == depth) live[k] = live[--live_count];
            depth--;
        } else if (choice < 18 && live_count > 0) {
            int k = (int)fuzz_below(&s, live_count);
            pto_release(rt, live[k].base);
            live[k] = live[--live_count];
        } else if (choice < 22 && live_count < LIVE_MAX) {
            struct fuzz_handle h = {.rows = 1 + fuzz_below(&s, 8), .cols = 1 + fuzz_below(&s, 8), .scope = depth};
            h.base = pto_alloc(rt, PTO_SCOPE_CURRENT, h.rows * h.cols * 8);
            const int64_t shape[2] = {h.rows, h.cols};
            PTOTaskParam params[] = {PTO_SCALAR((int64_t)(1 | KIND_OUT << 8)), PTO_OUTPUT(&h.base, 0, 0)};
            params[1].type = PTO_U64, params[1].rank = 2, params[1].shape = shape;
            if (pto_submit_task(rt, &fuzz_kernels[0], params, 2) < 0) return;
            fuzz_note(p->log, p->submitted, 0, params, 2);
            p->submitted++;
            live[live_count++] = h;
        } else if (choice < 24) {
            int m = (int)fuzz_below(&s, 2);
            int64_t cell = fuzz_below(&s, CELLS);
            if (pto_await(rt, p->matrix[m], cell * 8, 8) != PTO_OK) return;
            p->awaited = fuzz_mix(p->awaited, p->matrix[m][cell]);
        } else {
            PTOTaskParam params[8];
            struct fuzz_view view[8];
            struct fuzz_handle fresh = {0};
            int count = 0;
            uint64_t code = fuzz_next(&s) << 40;
            int wanted = 1 + (int)fuzz_below(&s, 5);
            bool made = false;
            for (int k = 0; k < wanted; k++) {
                int kind = (int)fuzz_below(&s, 4);
                int64_t where = fuzz_below(&s, 4);
                if (kind == KIND_OUT && !made && where >= 2 && live_count < LIVE_MAX) {
                    fresh = (struct fuzz_handle){.rows = 1 + fuzz_below(&s, 8), .cols = 1 + fuzz_below(&s, 8), .scope = depth};
                    made = true;
                    params[1 + count++] = (PTOTaskParam)PTO_OUTPUT(&fresh.base, 0, PTO_ARRAY(PTO_U64, 0, 0));
                    view[count] = (struct fuzz_view){.shape = {fresh.rows, fresh.cols}};
                    params[count].shape = view[count].shape;
                } else {
                    struct fuzz_handle *h = where >= 2 && live_count > 0 ? &live[fuzz_below(&s, live_count)] : NULL;
                    void *base = h ? h->base : p->matrix[where & 1];
                    view[1 + count] = h ? fuzz_rectangle(&s, h->rows, h->cols) : fuzz_rectangle(&s, SIDE, SIDE);
                    struct fuzz_view *v = &view[1 + count];
                    if (kind == KIND_ACC && !h) *v = (struct fuzz_view){fuzz_below(&s, 3) * SIDE, {1, SIDE}, {SIDE, 1}}; /* often the same */
                    if (kind == KIND_IN)
                        params[1 + count] = (PTOTaskParam)PTO_INPUT(base, v->at, 0);
                    else if (kind == KIND_ACC)
                        params[1 + count] = (PTOTaskParam)PTO_ACC(base, v->at, 0);
                    else
                        params[1 + count] = (PTOTaskParam)PTO_INOUT(base, v->at, 0);
                    params[1 + count].type = PTO_U64;
                    params[1 + count].rank = 2;
                    params[1 + count].shape = v->shape;
                    params[1 + count].stride = v->stride;
                    count++;
                }
                code |= (uint64_t)kind << (6 + 2 * count);
            }
            code |= (uint64_t)count;
            params[0] = (PTOTaskParam)PTO_SCALAR((int64_t)code);
            int kernel = (int)fuzz_below(&s, PTO_WORKER_TYPES);
            int64_t id = pto_submit_task(rt, &fuzz_kernels[kernel], params, count + 1);
            if (id < 0) return;
            if (id != PTO_NO_TASK) fuzz_note(p->log, p->submitted, kernel, params, count + 1);
            p->submitted += id != PTO_NO_TASK;
            if (made && fresh.base) live[live_count++] = fresh;
        }
    }
    while (depth-- > 0) pto_scope_end(rt);
}

static inline void fuzz_reset(struct fuzz_program *p)
{
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < CELLS; i++) p->matrix[m][i] = fuzz_mix((uint64_t)m, (uint64_t)i);
}

static inline uint64_t fuzz_digest(const struct fuzz_program *p)
{
    uint64_t h = p->awaited;
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < CELLS; i++) h = fuzz_mix(h, p->matrix[m][i]);
    return h;
}

/* Small rings, few or many workers, counters that start where they wrap. */
static inline PTOConfig fuzz_config(uint64_t *s)
{
    static const int64_t windows[] = {2, 2, 4, 8, 16, 64, 1024}, pools[] = {2, 3, 4, 16, 64, 4096};
    static const int64_t starts[] = {0, ((int64_t)1 << 31) - 8, ((int64_t)1 << 32) - 8, INT64_MAX - 7};
    PTOConfig c = {.task_window = windows[fuzz_below(s, 7)],
                   .deplist_entries = pools[fuzz_below(s, 6)],
                   .tensormap_entries = pools[fuzz_below(s, 6)],
                   .heap_bytes = HEAP_LEAST + 64 * fuzz_below(s, 200),
                   .heap_rings = 1 + (int32_t)fuzz_below(s, 4),
                   .first_task_id = starts[fuzz_below(s, 4)],
                   .first_byte = starts[fuzz_below(s, 4)] / 64 * 64,
                   .count_dependences = fuzz_below(s, 4) == 0};
    for (int t = 0; t < PTO_WORKER_TYPES; t++) c.workers[t] = 1 + (int32_t)fuzz_below(s, fuzz_below(s, 8) ? 2 : 5);
    return c;
}

#endif
