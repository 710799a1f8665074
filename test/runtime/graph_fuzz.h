/* graph_fuzz.h - random programs over the C API, made of kernels whose result depends on order.
 * Idea       a program is a pure function of its seed: run on the serial engine it gives the reference, run on any
 *            other engine with any sizes it must leave the same bytes.  Tasks read and write random rectangles of two
 *            outside matrices and of heap buffers, with up to 63 of them in a task and as views of rank 2 to 8; scopes,
 *            early releases, buffers without a task and awaits are mixed in.
 * Invariant  at most LIVE_MAX heap buffers of at most BUFFER_ELEMENTS elements are alive, so a heap ring of HEAP_LEAST
 *            bytes is enough for every program. */
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

/* An existing region that a task writes: does it read the region before?  args[0] of the task, number of the
 * parameter. */
static inline bool fuzz_overwrites(uint64_t code, int p) { return fuzz_mix(code, (uint64_t)p) & 1; }

/* The elements of an argument, the last index fastest. */
struct fuzz_walk {
    const PTOArg *of;
    int64_t index[PTO_MAX_RANK];
    uint64_t *cell; /* NULL: no more */
};

static inline struct fuzz_walk fuzz_begin(const PTOArg *of)
{
    struct fuzz_walk w = {.of = of, .cell = of->ptr};
    for (int d = 0; d < of->rank; d++)
        if (of->shape[d] == 0) w.cell = NULL;
    return w;
}

static inline void fuzz_step(struct fuzz_walk *w)
{
    for (int d = w->of->rank - 1; d >= 0; d--) {
        w->cell += w->of->stride[d];
        if (++w->index[d] < w->of->shape[d]) return;
        w->cell -= w->of->shape[d] * w->of->stride[d];
        w->index[d] = 0;
    }
    w->cell = NULL;
}

/* args[0]: below, the number of the other parameters; above, what the task mixes in.  Reads everything first, then
 * writes. */
static inline int fuzz_kernel(const PTOArg *args)
{
    const uint64_t code = (uint64_t)args[0].value.i64;
    const int count = (int)(code & 0xff);
    uint64_t h = code >> 40;
    for (int p = 1; p <= count; p++) {
        if (args[p].kind == PTO_PARAM_OUTPUT || args[p].kind == PTO_PARAM_ACC) continue;
        if (args[p].kind == PTO_PARAM_INOUT && fuzz_overwrites(code, p)) continue;
        for (struct fuzz_walk w = fuzz_begin(&args[p]); w.cell; fuzz_step(&w)) h = fuzz_mix(h, *w.cell);
    }
    if (code >> 40 & 1) sched_yield();
    if ((code >> 40 & 127) == 2) usleep(50);
    if (count > 8 && (code >> 40 & 15) == 4) usleep(500); /* what is submitted meanwhile fills the ring of arguments */
    for (int p = 1; p <= count; p++) {
        if (args[p].kind == PTO_PARAM_INPUT) continue;
        uint64_t n = 0;
        for (struct fuzz_walk w = fuzz_begin(&args[p]); w.cell; fuzz_step(&w)) {
            h = fuzz_mix(h, n++ * 131 + (uint64_t)p);
            if (args[p].kind != PTO_PARAM_ACC) {
                *w.cell = h;
                continue;
            }
            uint64_t old = *w.cell; /* the sum commutes; a lost update shows when two run together */
            if ((h & 63) == 0) sched_yield();
            *w.cell = old + h;
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
    bool is_first; /* of its buffer's lifetime */
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

/* A rectangle of rows and columns, and the same elements as a task names them. */
struct fuzz_view {
    int64_t at, flat_shape[2], flat_stride[2];
    int64_t shape[PTO_MAX_RANK], stride[PTO_MAX_RANK];
    int rank;
};

static inline struct fuzz_view fuzz_flat(int64_t at, int64_t rows, int64_t cols, int64_t row_stride)
{
    return (struct fuzz_view){at, {rows, cols}, {row_stride, 1}, {rows, cols}, {row_stride, 1}, 2};
}

static inline void fuzz_swap(struct fuzz_view *v, int a, int b)
{
    int64_t t = v->shape[a];
    v->shape[a] = v->shape[b], v->shape[b] = t;
    t = v->stride[a], v->stride[a] = v->stride[b], v->stride[b] = t;
}

static inline struct fuzz_view fuzz_rectangle(uint64_t *s, int64_t rows, int64_t cols, int64_t largest)
{
    int64_t i = fuzz_below(s, rows), j = fuzz_below(s, cols), height = 1 + fuzz_below(s, rows - i),
            width = 1 + fuzz_below(s, cols - j);
    if (fuzz_below(s, 4) == 0) i = 0, j = 0, height = rows, width = cols;
    if (height > largest) height = largest;
    if (width > largest) width = largest;
    struct fuzz_view v = fuzz_flat(i * cols + j, height, width, cols);
    if (fuzz_below(s, 5) == 0) { /* every other row */
        v.stride[0] *= 2;
        v.shape[0] = (v.shape[0] + 1) / 2;
    }
    if (fuzz_below(s, 8) == 0) fuzz_swap(&v, 0, 1); /* transposed */
    if (fuzz_below(s, 40) == 0) v.shape[0] = 0;
    for (int d = 0; d < 2; d++) v.flat_shape[d] = v.shape[d], v.flat_stride[d] = v.stride[d];
    return v;
}

/* The same elements with more dimensions: one is split into two, or one of extent 1 is put before it.  dense: in the
 * same order. */
static inline void fuzz_split(uint64_t *s, struct fuzz_view *v, int rank, bool dense)
{
    while (v->rank < rank) {
        const int d = (int)fuzz_below(s, v->rank);
        int64_t part = 1 + fuzz_below(s, 4);
        if (v->shape[d] == 0 || v->shape[d] % part != 0) part = v->shape[d];
        memmove(&v->shape[d + 1], &v->shape[d], sizeof *v->shape * (size_t)(v->rank - d));
        memmove(&v->stride[d + 1], &v->stride[d], sizeof *v->stride * (size_t)(v->rank - d));
        v->shape[d] = part == 0 ? 1 : v->shape[d] / part;
        v->stride[d] *= part == 0 ? 1 : part;
        v->shape[d + 1] = part;
        v->rank++;
        if (!dense && fuzz_below(s, 4) == 0) fuzz_swap(v, d, d + 1);
    }
}

static inline void fuzz_note(struct fuzz_log *log, int64_t task, int kernel, const PTOTaskParam *p,
                             const struct fuzz_view *view, int count)
{
    if (!log) return;
    for (int k = 0; k < count; k++) {
        if (p[k].kind == PTO_PARAM_SCALAR || log->count == log->capacity) continue;
        struct fuzz_access a = {.task = task, .params_at = p[k].at, .base = p[k].buffer, .kernel = kernel};
        a.kind = p[k].kind == PTO_PARAM_INPUT ? KIND_IN : p[k].kind == PTO_PARAM_ACC ? KIND_ACC : KIND_INOUT;
        if (p[k].kind == PTO_PARAM_OUTPUT) a.base = *(uint64_t **)p[k].ref, a.is_first = true;
        for (int d = 0; d < 2; d++) a.shape[d] = view[k].flat_shape[d], a.stride[d] = view[k].flat_stride[d];
        if (a.shape[0] * a.shape[1] > 0) log->access[log->count++] = a;
    }
}

/* How many parameters of a task are regions, and of which rank: mostly few of rank 2, in some programs up to all that
 * there may be. */
static inline int fuzz_wanted(uint64_t *s, bool is_wide)
{
    return 1 + (int)fuzz_below(s, is_wide ? PTO_MAX_PARAMS - 1 : 5);
}
static inline int fuzz_rank(uint64_t *s) { return fuzz_below(s, 3) ? 2 : 2 + (int)fuzz_below(s, PTO_MAX_RANK - 1); }

static inline void fuzz_orchestrate(PTORuntime *rt, void *arg)
{
    struct fuzz_program *p = arg;
    uint64_t s = p->seed;
    struct fuzz_handle live[LIVE_MAX];
    int live_count = 0, depth = 0;
    const bool is_wide_program = p->seed % 5 == 4;
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
            const struct fuzz_view view[2] = {{.rank = 0}, fuzz_flat(0, h.rows, h.cols, h.cols)};
            PTOTaskParam params[] = {PTO_SCALAR((int64_t)1), PTO_OUTPUT(&h.base, 0, 0)};
            params[1].type = PTO_U64, params[1].rank = 2, params[1].shape = view[1].shape;
            if (pto_submit_task(rt, &fuzz_kernels[0], params, 2) < 0) return;
            fuzz_note(p->log, p->submitted, 0, params, view, 2);
            p->submitted++;
            live[live_count++] = h;
        } else if (choice < 24) {
            int m = (int)fuzz_below(&s, 2);
            int64_t cell = fuzz_below(&s, CELLS);
            if (pto_await(rt, p->matrix[m], cell * 8, 8) != PTO_OK) return;
            p->awaited = fuzz_mix(p->awaited, p->matrix[m][cell]);
        } else {
            PTOTaskParam params[PTO_MAX_PARAMS + 1];
            struct fuzz_view view[PTO_MAX_PARAMS];
            struct fuzz_handle fresh = {0};
            const bool is_wide = is_wide_program && fuzz_below(&s, 2);
            const int wanted = fuzz_wanted(&s, is_wide);
            uint64_t code = fuzz_next(&s) << 40;
            int count = 0;
            bool made = false;
            for (int k = 0; k < wanted; k++) {
                const int kind = (int)fuzz_below(&s, 4);
                const int64_t where = fuzz_below(&s, 4);
                PTOTaskParam *to = &params[++count];
                struct fuzz_view *v = &view[count];
                if (kind == KIND_OUT && !made && where >= 2 && live_count < LIVE_MAX) {
                    fresh = (struct fuzz_handle){
                        .rows = 1 + fuzz_below(&s, 8), .cols = 1 + fuzz_below(&s, 8), .scope = depth};
                    made = true;
                    *to = (PTOTaskParam)PTO_OUTPUT(&fresh.base, 0, 0);
                    *v = fuzz_flat(0, fresh.rows, fresh.cols, fresh.cols);
                    fuzz_split(&s, v, fuzz_rank(&s), true);
                } else {
                    struct fuzz_handle *h = where >= 2 && live_count > 0 ? &live[fuzz_below(&s, live_count)] : NULL;
                    void *base = h ? h->base : p->matrix[where & 1];
                    *v = fuzz_rectangle(&s, h ? h->rows : SIDE, h ? h->cols : SIDE, is_wide ? 3 : SIDE);
                    /* often the same */
                    if (kind == KIND_ACC && !h) *v = fuzz_flat(fuzz_below(&s, 3) * SIDE, 1, SIDE, SIDE);
                    if (kind != KIND_ACC) fuzz_split(&s, v, fuzz_rank(&s), false);
                    if (kind == KIND_IN)
                        *to = (PTOTaskParam)PTO_INPUT(base, v->at, 0);
                    else if (kind == KIND_ACC)
                        *to = (PTOTaskParam)PTO_ACC(base, v->at, 0);
                    else
                        *to = (PTOTaskParam)PTO_INOUT(base, v->at, 0);
                    to->stride = v->stride;
                }
                to->type = PTO_U64;
                to->rank = (uint8_t)v->rank;
                to->shape = v->shape;
            }
            code |= (uint64_t)count;
            params[0] = (PTOTaskParam)PTO_SCALAR((int64_t)code);
            int kernel = (int)fuzz_below(&s, PTO_WORKER_TYPES);
            const bool is_placed = (p->seed + (uint64_t)n) % 4 == 1; /* only several ranks heed that */
            if (is_placed && n % 3)
                params[count + 1] = (PTOTaskParam)PTO_AT(n % 5 - 2);
            else if (is_placed)
                params[count + 1] = (PTOTaskParam)PTO_AT_HOME(p->matrix[n & 1], n * 37 % CELLS, PTO_U64);
            int64_t id = pto_submit_task(rt, &fuzz_kernels[kernel], params, count + 1 + is_placed);
            if (id < 0) return;
            if (id != PTO_NO_TASK) fuzz_note(p->log, p->submitted, kernel, params, view, count + 1);
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

/* Small rings, or in one of three so large ones that only the ring of arguments can fill; few or many workers, or as
 * many as processors for all types together; counters that start where they wrap. */
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
    if (fuzz_below(s, 3) == 0) {
        c.task_window = 64;
        c.deplist_entries = c.tensormap_entries = 1 << 16;
    }
    const bool are_shared = fuzz_below(s, 4) == 0;
    for (int t = 0; t < PTO_WORKER_TYPES && !are_shared; t++)
        c.workers[t] = 1 + (int32_t)fuzz_below(s, fuzz_below(s, 8) ? 2 : 5);
    return c;
}

#endif
