/* stress_accumulate.c - random programs with accumulators by an operation leave, on every engine, window and heap, the
 * bytes of one left fold in program order.
 * PTO_PROGRAMS=N programs (default 200, 25 under a sanitizer), PTO_SEED=S the first seed; a failure prints the seed
 * that repeats it. */
#include "shared/combine.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64, HELD = 3, ACTIONS = 120 };

struct arrays {
    int32_t x[CELLS], held[HELD][CELLS];
};

struct program {
    uint64_t seed;
    int type; /* PTO_F32 or PTO_I32 */
    struct arrays *device, expected;
    void *held[HELD]; /* in the heap; NULL: none */
    PTOScope owner[HELD];
    int depth;
};

static uint64_t next(uint64_t *seed) { return (*seed = *seed * 6364136223846793005u + 1442695040888963407u) >> 33; }
static int below(struct program *p, int n) { return (int)(next(&p->seed) % (uint64_t)n); }

/* A value that rounds in sums and products. */
static int32_t value(int type, int64_t seed, int64_t i)
{
    const int32_t n = (int32_t)((uint64_t)(seed * 31 + i * 7) % 2001) - 1000;
    const float f = 1.0f + (float)n / 3000.0f;
    int32_t bits = n;
    if (type == PTO_F32) memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void put(const PTOArg *to, int type, int by, int64_t seed)
{
    int32_t part[CELLS];
    int64_t n = 1;
    for (int d = 0; d < to->rank; d++) n *= to->shape[d];
    for (int64_t i = 0; i < n; i++) part[i] = value(type, seed, i);
    const PTOArg view = {
        .ptr = to->ptr, .shape = to->shape, .stride = to->stride, .type = (uint8_t)type, .rank = to->rank};
    ptoi_combine(by, &view, part);
}

/* Scalars: type, by, seed.  Two values go into the part, so that a part is more than one term. */
static int add(const PTOArg *args)
{
    const int type = (int)args[1].value.i64, by = (int)args[2].value.i64;
    put(&args[0], type, by, args[3].value.i64);
    put(&args[0], type, by, args[3].value.i64 + 1);
    return 0;
}
/* The accumulator and what is read besides. */
static int add_from(const PTOArg *args)
{
    const int32_t seed = *(const int32_t *)args[4].ptr;
    const int type = (int)args[1].value.i64, by = (int)args[2].value.i64;
    put(&args[0], type, by, seed % 1000);
    return 0;
}
/* Exact and commutative, as an accumulator without `by` must be. */
static int most(const PTOArg *args)
{
    put(&args[0], (int)args[1].value.i64, PTO_BY_MAX, args[3].value.i64);
    return 0;
}
static int set(const PTOArg *args)
{
    for (int64_t i = 0; i < args[0].shape[0]; i++)
        ((int32_t *)args[0].ptr)[i * args[0].stride[0]] = value((int)args[1].value.i64, args[3].value.i64, i);
    return 0;
}
static const PTOKernel kernels[] = {
    {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add},
    {.name = "add_from", .worker = PTO_WORKER_VECTOR, .fn = add_from},
    {.name = "most", .worker = PTO_WORKER_VECTOR, .fn = most},
    {.name = "set", .worker = PTO_WORKER_VECTOR, .fn = set},
};
enum { ADD, ADD_FROM, MOST, SET };

struct view {
    int which; /* -1: x */
    int64_t at, shape[2], stride[2];
};

static struct view any_view(struct program *p)
{
    struct view v = {.which = below(p, HELD + 2) - 2};
    if (v.which < 0 || !p->held[v.which]) v.which = -1;
    switch (below(p, 5)) {
    case 0: v.at = 0, v.shape[0] = 1, v.shape[1] = CELLS, v.stride[0] = CELLS, v.stride[1] = 1; break;
    case 1: v.at = 16 * below(p, 4), v.shape[0] = 1, v.shape[1] = 16, v.stride[0] = 16, v.stride[1] = 1; break;
    case 2: v.at = below(p, 2), v.shape[0] = 4, v.shape[1] = 8, v.stride[0] = 16, v.stride[1] = 2; break;
    case 3: v.at = 8 * below(p, 2), v.shape[0] = 4, v.shape[1] = 8, v.stride[0] = 16, v.stride[1] = 1; break;
    default: v.at = below(p, 60), v.shape[0] = 1, v.shape[1] = 4, v.stride[0] = 4, v.stride[1] = 1; break;
    }
    return v;
}

static int32_t *expected_of(struct program *p, int which)
{
    return which < 0 ? p->expected.x : p->expected.held[which];
}
static void *base_of(struct program *p, int which) { return which < 0 ? (void *)p->device->x : p->held[which]; }

static PTOArg expected_view(struct program *p, const struct view *v)
{
    return (PTOArg){.ptr = expected_of(p, v->which) + v->at,
                    .shape = v->shape,
                    .stride = v->stride,
                    .type = (uint8_t)p->type,
                    .rank = 2};
}

static PTOTaskParam scalar(int64_t n) { return (PTOTaskParam)PTO_SCALAR(n); }

static PTOTaskParam region(struct program *p, PTOParamKind kind, const struct view *v)
{
    return (PTOTaskParam){.kind = (uint8_t)kind,
                          .type = (uint8_t)p->type,
                          .rank = 2,
                          .buffer = base_of(p, v->which),
                          .at = v->at,
                          .shape = v->shape,
                          .stride = v->stride};
}

static void accumulate(PTORuntime *rt, struct program *p)
{
    const struct view v = any_view(p), from = any_view(p);
    const int by = p->type == PTO_F32 ? 1 + below(p, 4) : 1 + below(p, 7),
              times = below(p, 4) == 0 ? 70 : 1 + below(p, 3);
    const bool reads = below(p, 4) == 0;
    for (int k = 0; k < times; k++) {
        const int64_t seed = below(p, 1000);
        int32_t part[CELLS];
        int64_t packed[2] = {v.shape[1], 1};
        PTOArg to = expected_view(p, &v), own = {.ptr = part, .shape = v.shape, .stride = packed, .rank = 2};
        ptoi_fill_neutral(by, p->type, part, v.shape[0] * v.shape[1]);
        PTOTaskParam params[5] = {region(p, PTO_PARAM_ACC_BY, &v), scalar(p->type), scalar(by), scalar(seed),
                                  region(p, PTO_PARAM_INPUT, &from)};
        params[0].flags = (uint8_t)by;
        if (reads) {
            put(&own, p->type, by, expected_of(p, from.which)[from.at] % 1000);
        } else {
            put(&own, p->type, by, seed);
            put(&own, p->type, by, seed + 1);
        }
        ptoi_combine(by, &to, part);
        pto_submit_task(rt, &kernels[reads ? ADD_FROM : ADD], params, reads ? 5 : 4);
    }
}

static void write_whole(PTORuntime *rt, struct program *p, int which, int64_t seed)
{
    const int64_t shape = CELLS, stride = 1;
    const PTOArg to = {.ptr = expected_of(p, which), .shape = &shape, .stride = &stride, .rank = 1};
    const PTOArg args[4] = {to, {.value.i64 = p->type}, {.value.i64 = 0}, {.value.i64 = seed}};
    set(args);
    void *base = base_of(p, which);
    const PTOTaskParam params[] = {
        {.kind = PTO_PARAM_OUTPUT, .type = (uint8_t)p->type, .rank = 1, .ref = &base, .shape = &shape},
        scalar(p->type),
        scalar(0),
        scalar(seed)};
    pto_submit_task(rt, &kernels[SET], params, 4);
}

static void check_part(PTORuntime *rt, struct program *p)
{
    const struct view v = any_view(p);
    const int64_t bytes = (v.shape[0] - 1) * v.stride[0] + (v.shape[1] - 1) * v.stride[1] + 1;
    if (below(p, 2))
        pto_await(rt, base_of(p, v.which), 4 * v.at, 4 * bytes);
    else
        pto_await_users(rt, base_of(p, v.which), 4 * v.at, 4 * bytes);
    if (pto_runtime_status(rt) != PTO_OK) return;
    const int32_t *got = (int32_t *)pto_where(rt, base_of(p, v.which)) + v.at, *want = expected_of(p, v.which) + v.at;
    if (memcmp(got, want, (size_t)bytes * 4) != 0) pto_cancel(rt); /* the test sees the status */
}

static void act(PTORuntime *rt, struct program *p)
{
    const int which = below(p, HELD);
    switch (below(p, 12)) {
    case 0: write_whole(rt, p, -1, below(p, 1000)); break;
    case 1:
        if (p->held[which]) {
            pto_release(rt, p->held[which]);
            p->held[which] = NULL;
        } else {
            p->held[which] = pto_alloc(rt, PTO_SCOPE_CURRENT, 4 * CELLS);
            p->owner[which] = p->depth;
            if (p->held[which]) write_whole(rt, p, which, 7);
        }
        break;
    case 2: {
        const struct view v = any_view(p);
        const int64_t seed = below(p, 1000);
        const PTOArg to = expected_view(p, &v);
        const PTOTaskParam params[] = {region(p, PTO_PARAM_ACC, &v), scalar(p->type), scalar(0), scalar(seed)};
        put(&to, p->type, PTO_BY_MAX, seed);
        pto_submit_task(rt, &kernels[MOST], params, 4);
        break;
    }
    case 3:
        if (p->depth < 4) {
            pto_scope_begin(rt);
            p->depth++;
        }
        break;
    case 4:
        if (p->depth == 0) break;
        for (int i = 0; i < HELD; i++)
            if (p->held[i] && p->owner[i] == p->depth) p->held[i] = NULL;
        pto_scope_end(rt);
        p->depth--;
        break;
    case 5: check_part(rt, p); break;
    default: accumulate(rt, p);
    }
}

static void orchestrate(PTORuntime *rt, void *arg)
{
    struct program *p = arg;
    write_whole(rt, p, -1, 3);
    for (int i = 0; i < ACTIONS && pto_runtime_status(rt) == PTO_OK; i++) act(rt, p);
    while (p->depth > 0) {
        pto_scope_end(rt);
        p->depth--;
    }
}

static PTOConfig any_config(uint64_t *seed, bool is_entry)
{
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_THREADS, PTO_ENGINE_THREADS,
                                        PTO_ENGINE_TIMING};
    PTOConfig c = {.engine = engines[next(seed) % 5]};
    if (next(seed) % 16 == 0) c.engine = PTO_ENGINE_PROCESS;
    c.workers[PTO_WORKER_VECTOR] = 1 + (int32_t)(next(seed) % 3);
    c.task_window = 2 << next(seed) % 6;
    c.deplist_entries = 2 + (int64_t)(next(seed) % 100);
    c.tensormap_entries = 2 + (int64_t)(next(seed) % 200);
    /* at least: what is held, and the part of one task */
    c.heap_bytes = 4 * CELLS * (HELD + 1) + (next(seed) % 3) * 4 * CELLS * (int64_t)(next(seed) % 80);
    c.heap_rings = 1;
    c.always_defer = next(seed) % 2;
    c.checked = next(seed) % 8 == 0;
    /* an entry may have its buffers moved, so it completes in a heap of what it holds; another run needs room for gaps
     */
    c.heap_bytes *= c.checked ? 4 : is_entry ? 1 : 2;
    if (next(seed) % 4 == 0) c.record_tasks = 100000;
    if (next(seed) % 8 == 0) c.scope_policy = PTO_SCOPE_OUTERMOST, c.heap_bytes = 1 << 20;
    c.dedicated_scheduler = c.engine == PTO_ENGINE_THREADS && next(seed) % 4 == 0;
    return c;
}

static bool run_one(uint64_t seed)
{
    uint64_t s = seed * 7919 + 1;
    struct arrays *device = pto_shared_alloc(sizeof *device);
    struct program p = {.seed = seed, .device = device};
    p.type = next(&s) % 2 ? PTO_F32 : PTO_I32;
    const bool is_entry = next(&s) % 2;
    const PTOConfig c = any_config(&s, is_entry);
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    EXPECT(rt);
    const PTOStatus status = is_entry ? pto_run_entry(rt, orchestrate, &p) : pto_runtime_run(rt, orchestrate, &p);
    const bool ok = status == PTO_OK && memcmp(p.device->x, p.expected.x, sizeof p.expected.x) == 0;
    if (!ok)
        fprintf(stderr, "PTO_SEED=%llu: engine %d, window %lld, heap %lld, status %d: %s\n", (unsigned long long)seed,
                (int)c.engine, (long long)c.task_window, (long long)c.heap_bytes, (int)status, pto_last_error(rt));
    pto_runtime_destroy(rt);
    pto_shared_free(device, sizeof *device);
    return ok;
}

TEST(random_programs)
{
    const char *programs = getenv("PTO_PROGRAMS"), *first = getenv("PTO_SEED");
#ifdef PTO_TINY
    const uint64_t most = 150; /* each wait yields many times */
#else
    const uint64_t most = PTOI_HAS_SANITIZER ? 25 : 200;
#endif
    const uint64_t begin = first ? strtoull(first, NULL, 0) : 1, n = programs ? strtoull(programs, NULL, 0) : most;
    for (uint64_t seed = begin; seed < begin + n; seed++) EXPECT(run_one(seed));
}
