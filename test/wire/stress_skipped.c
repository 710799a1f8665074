/* stress_skipped.c - random loops on several ranks, some of which take their offers: every rank has the hash, the
 * numbers, the messages and the bytes that it has where each task is submitted alone.
 * PTO_SKIPPED=N programs (default 25), PTO_SEED=S the first seed; a failure prints the seed that repeats it. */
#include "api/runtime.h"
#include "shared/sanitizer.h"
#include "local_wire.h"
#include "pick.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = 48, CELLS = SIDE * SIDE, MATRICES = 3, LOOPS = 6, CALLS = 4, PARAMS = 4, MOST_ITERATIONS = 24 };

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static uint64_t *at(const PTOArg *a, int64_t i, int64_t j)
{
    return (uint64_t *)a->ptr + i * a->stride[0] + j * a->stride[1];
}

/* in tile, in tile, inout tile, scalar */
static int mix(const PTOArg *a)
{
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++)
            *at(&a[2], i, j) =
                *at(&a[2], i, j) * 5 + *at(&a[0], i, j) * 3 + *at(&a[1], i, j) + (uint64_t)a[3].value.i64;
    return 0;
}

/* in tile, out tile */
static int scale(const PTOArg *a)
{
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) *at(&a[1], i, j) = *at(&a[0], i, j) * 7 + 1;
    return 0;
}

/* inout tile, bool */
static int flip(const PTOArg *a)
{
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) *at(&a[0], i, j) = *at(&a[0], i, j) * 3 + (a[1].value.b ? 5 : 2);
    return 0;
}

#define KERNEL(name_, fn_)                                                                                             \
    {                                                                                                                  \
        .name = name_, .worker = PTO_WORKER_VECTOR, .fn = fn_                                                          \
    }
#define KERNELS                                                                                                        \
    {                                                                                                                  \
        KERNEL("mix", mix), KERNEL("scale", scale), KERNEL("flip", flip), KERNEL("make", scale),                       \
            KERNEL("make_too", scale), KERNEL("add", mix), KERNEL("use", mix)                                          \
    }
/* Loops that share none know their tasks again in the next sweep. */
static const PTOKernel kernels[][7] = {KERNELS, KERNELS, KERNELS, KERNELS};
enum { SETS = sizeof kernels / sizeof *kernels };
enum { MIX, SCALE, FLIP, MAKE, MAKE_TOO, ADD, USE };

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum from { OF_MATRIX, OF_BODY, A_NUMBER, A_TEST, A_PRIORITY };

struct param {
    enum from from;
    PTOParamKind kind;
    int which;        /* matrix, or buffer of the body; of a test: its comparison */
    int64_t at, step; /* of the iteration 0 */
    int64_t limit;
};

struct call {
    int kernel, count;
    struct param param[PARAMS + 1];
};

struct loop {
    int64_t first, by, iterations, shape[2];
    int calls, buffers, kernels;
    struct call call[CALLS];
};

struct program {
    int loops, sweeps;
    bool awaits;
    struct loop loop[LOOPS];
};

/* One dimension of tiles that move: where it begins and by how much it moves; false: it leaves the matrix. */
static bool interval(const struct loop *l, int64_t length, int64_t *begin, int64_t *step)
{
    static const int64_t signs[] = {0, 0, 1, 1, -1};
    *step = signs[pick(0, 4)] * (pick(0, 5) ? length : pick(1, length + 1));
    const int64_t span = (*step < 0 ? -*step : *step) * (l->iterations - 1) + length;
    if (span > SIDE) return false;
    *begin = pick(0, SIDE - span);
    if (pick(0, 5)) *begin -= *begin % length;
    if (*step < 0) *begin += -*step * (l->iterations - 1);
    return true;
}

static struct param tile(const struct loop *l, PTOParamKind kind, int which)
{
    int64_t begin[2] = {0, 0}, step[2] = {0, 0};
    for (int d = 0; d < 2; d++)
        for (int tries = 0; !interval(l, l->shape[d], &begin[d], &step[d]); tries++)
            if (tries == 20) {
                begin[d] = step[d] = 0;
                break;
            }
    return (struct param){.from = OF_MATRIX,
                          .kind = kind,
                          .which = which,
                          .at = begin[0] * SIDE + begin[1],
                          .step = step[0] * SIDE + step[1]};
}

static struct param tile_as(struct param tile_of, PTOParamKind kind)
{
    tile_of.kind = kind;
    return tile_of;
}

/* Mostly the same tile of another matrix, which lies on the same rank where their homes are alike. */
static struct param beside(const struct loop *l, struct param tile_of, int which)
{
    if (pick(0, 2) == 0) return tile(l, PTO_PARAM_INPUT, which);
    tile_of.kind = PTO_PARAM_INPUT;
    tile_of.which = which;
    return tile_of;
}

static struct param of_body(PTOParamKind kind, int which)
{
    return (struct param){.from = OF_BODY, .kind = kind, .which = which};
}

static struct param number(void)
{
    return (struct param){.from = A_NUMBER, .kind = PTO_PARAM_SCALAR, .at = pick(-9, 9), .step = pick(-1, 3)};
}

static void add_call(struct loop *l, int kernel, int count, const struct param *params)
{
    struct call *const c = &l->call[l->calls++];
    c->kernel = kernel;
    c->count = count;
    memcpy(c->param, params, (size_t)count * sizeof *params);
    if (pick(0, 4) == 0)
        c->param[c->count++] =
            (struct param){.from = A_PRIORITY, .kind = PTO_PARAM_PRIORITY, .at = pick(0, 5), .step = pick(-1, 1)};
}

static int matrix(void) { return (int)pick(0, MATRICES - 1); }

/* What is read is mostly another matrix than what is written. */
static void add_plain(struct loop *l)
{
    const int to = matrix(), from = pick(0, 4) ? (to + 1) % MATRICES : to;
    const int64_t what = pick(0, 4);
    const struct param written = tile(l, PTO_PARAM_INOUT, to);
    if (what < 3)
        add_call(l, MIX, 4, (struct param[]){beside(l, written, from), beside(l, written, from), written, number()});
    else if (what == 3)
        add_call(l, SCALE, 2, (struct param[]){beside(l, written, from), tile_as(written, PTO_PARAM_OUTPUT)});
    else
        add_call(l, FLIP, 2,
                 (struct param[]){written,
                                  {.from = A_TEST,
                                   .kind = PTO_PARAM_SCALAR,
                                   .which = (int)pick(0, 2),
                                   .at = pick(-3, 9),
                                   .step = pick(-1, 2),
                                   .limit = pick(0, 9)}});
}

static void add_body_of_buffers(struct loop *l)
{
    const int to = matrix(), from = pick(0, 4) ? (to + 1) % MATRICES : to;
    const bool two = pick(0, 1);
    const struct param written = tile(l, PTO_PARAM_INOUT, to);
    l->buffers = 1 + two;
    add_call(l, MAKE, 2, (struct param[]){beside(l, written, from), of_body(PTO_PARAM_OUTPUT, 0)});
    if (two) add_call(l, MAKE_TOO, 2, (struct param[]){beside(l, written, from), of_body(PTO_PARAM_OUTPUT, 1)});
    add_call(l, ADD, 4,
             (struct param[]){of_body(PTO_PARAM_INPUT, 0),
                              two && pick(0, 3) ? of_body(PTO_PARAM_INPUT, 1) : beside(l, written, from), written,
                              number()});
    if (pick(0, 7) == 0) l->calls--; /* nothing reads the buffers */
    if (pick(0, 1)) {
        const bool writes = pick(0, 1);
        add_call(l, USE, 4,
                 (struct param[]){of_body(PTO_PARAM_INPUT, 0), beside(l, written, from),
                                  writes       ? of_body(PTO_PARAM_INOUT, 0)
                                  : pick(0, 1) ? written
                                               : tile(l, PTO_PARAM_INOUT, matrix()),
                                  number()});
    }
}

static struct program any_program(void)
{
    static const int64_t shapes[][2] = {{4, 4}, {4, 4}, {4, 4}, {1, 6}, {3, 2}, {SIDE, 2}, {2, SIDE}};
    struct program p = {.loops = (int)pick(2, LOOPS), .sweeps = (int)pick(2, 4), .awaits = pick(0, 2) == 0};
    const int64_t same = pick(0, 3);
    for (int n = 0; n < p.loops; n++) {
        struct loop *const l = &p.loop[n];
        const int64_t *shape = shapes[same ? 0 : pick(0, 6)];
        l->first = pick(-5, 5);
        l->by = pick(1, 3) * (pick(0, 2) ? 1 : -1);
        l->iterations = pick(0, 3) ? pick(5, 12) : pick(2, MOST_ITERATIONS);
        l->kernels = (int)pick(0, SETS - 1);
        memcpy(l->shape, shape, sizeof l->shape);
        if (pick(0, 2) == 0)
            add_body_of_buffers(l);
        else
            for (int64_t k = pick(0, 2) ? 1 : pick(2, 3); k > 0; k--) add_plain(l);
    }
    return p;
}

/* ---- the orchestration ------------------------------------------------------------------------------------------- */

struct rank_of {
    const struct program *program;
    uint64_t *matrix[MATRICES];
    bool takes;    /* offers */
    int64_t taken; /* iterations */
};

static bool compares(const struct param *p, int64_t k)
{
    const int64_t value = p->at + k * p->step;
    return p->which == 0 ? value < p->limit : p->which == 1 ? value == p->limit : value >= p->limit;
}

static PTOTaskParam param_of(const struct rank_of *r, const struct loop *l, const struct param *p, int64_t k,
                             void **buffer, bool offers)
{
    static const int64_t strides[2] = {SIDE, 1};
    const int64_t now = p->at + k * p->step;
    PTOTaskParam to = {.kind = (uint8_t)p->kind, .type = PTO_U64, .rank = 2, .shape = l->shape};
    switch (p->from) {
    case OF_MATRIX:
        to.stride = strides;
        to.at = now;
        if (p->kind == PTO_PARAM_OUTPUT)
            to.ref = (void *)(uintptr_t)&r->matrix[p->which];
        else
            to.buffer = r->matrix[p->which];
        return to;
    case OF_BODY:
        if (p->kind == PTO_PARAM_OUTPUT || offers)
            to.ref = &buffer[p->which];
        else
            to.buffer = buffer[p->which];
        if (p->kind == PTO_PARAM_OUTPUT && offers) to.flags = PTO_IS_PRIVATE_;
        return to;
    case A_PRIORITY: return (PTOTaskParam)PTO_PRIORITY(now);
    case A_TEST:
        if (!offers) return (PTOTaskParam)PTO_SCALAR((bool)compares(p, k));
        return p->which == 0   ? (PTOTaskParam)PTO_STRIP_TEST(now, <, p->limit)
               : p->which == 1 ? (PTOTaskParam)PTO_STRIP_TEST(now, ==, p->limit)
                               : (PTOTaskParam)PTO_STRIP_TEST(now, >=, p->limit);
    default: return (PTOTaskParam)PTO_SCALAR(now);
    }
}

static const PTOSiteLine sites[CALLS] = {
    {.site = {.text = "a"}}, {.site = {.text = "b"}}, {.site = {.text = "c"}}, {.site = {.text = "d"}}};

/* The first iteration that is left, from iteration k on. */
static int64_t offer(PTORuntime *rt, struct rank_of *r, const struct loop *l, int64_t k)
{
    void *buffer[2] = {NULL, NULL};
    PTOTaskParam params[CALLS][PARAMS + 1];
    int64_t steps[CALLS][PARAMS + 1];
    PTOStripCall calls[CALLS];
    for (int c = 0; c < l->calls; c++) {
        const struct call *const call = &l->call[c];
        for (int i = 0; i < call->count; i++) {
            params[c][i] = param_of(r, l, &call->param[i], k, buffer, true);
            steps[c][i] = call->param[i].step;
        }
        calls[c] = (PTOStripCall){&kernels[l->kernels][call->kernel], &sites[c], params[c], steps[c], call->count};
    }
    const int64_t end = l->first + l->iterations * l->by,
                  next = pto_submit_strips(rt, l->first + k * l->by, end, l->by, calls, l->calls);
    r->taken += (next - l->first) / l->by - k;
    return (next - l->first) / l->by;
}

static void iterate(PTORuntime *rt, struct rank_of *r, const struct loop *l, int64_t k)
{
    void *buffer[2] = {NULL, NULL};
    if (l->buffers) pto_scope_begin(rt);
    for (int c = 0; c < l->calls; c++) {
        PTOTaskParam params[PARAMS + 1];
        const struct call *const call = &l->call[c];
        for (int i = 0; i < call->count; i++) params[i] = param_of(r, l, &call->param[i], k, buffer, false);
        pto_at(rt, &sites[c]);
        if (pto_submit_task(rt, &kernels[l->kernels][call->kernel], params, call->count) < 0) _exit(5);
    }
    if (l->buffers) pto_scope_end(rt);
}

static void run_loop(PTORuntime *rt, struct rank_of *r, const struct loop *l)
{
    for (int64_t k = 0; k < l->iterations;) {
        if (pto_takes_strips(rt) && k + 1 < l->iterations) k = offer(rt, r, l, k);
        for (const int64_t end = pto_next_offer(rt, k, l->iterations, 1); k < end; k++) iterate(rt, r, l, k);
    }
}

static void orchestrate(PTORuntime *rt, void *arg)
{
    struct rank_of *const r = arg;
    const struct program *const p = r->program;
    if (!r->takes) rt->now.takes_strips = false;
    for (int s = 0; s < p->sweeps; s++)
        for (int n = 0; n < p->loops; n++) {
            run_loop(rt, r, &p->loop[n]);
            if (p->awaits && n == 1) pto_await(rt, r->matrix[s % MATRICES], 8 * s, 8);
        }
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* What a rank has in the end, whatever it skips. */
struct left {
    uint64_t hash, steps, tensors;
    int64_t tasks, tasks_of[MOST_RANKS], used_again, messages, bytes, forgotten;
    int64_t scopes, allocations, allocated_bytes;
};

struct shared {
    uint64_t seed;
    int ranks;
    unsigned takes; /* a bit for each rank */
    struct program program;
    struct distribution home[MATRICES];
    bool is_everywhere[MATRICES];
    int64_t copy_bytes;
    bool is_serial;
    uint64_t matrix[MATRICES][CELLS];
    struct left left[MOST_RANKS];
    int64_t taken;
};

static void fill(uint64_t *const *matrix)
{
    for (int m = 0; m < MATRICES; m++)
        for (int64_t i = 0; i < CELLS; i++) matrix[m][i] = (uint64_t)(i * 7 + m);
}

static void prepare(PTORuntime *rt, const struct shared *s, uint64_t *const *matrix, int rank)
{
    fill(matrix);
    for (int m = 0; m < MATRICES; m++) {
        if (s->is_everywhere[m]) {
            pto_buffer(rt, matrix[m], CELLS * 8);
            continue;
        }
        if (ptoi_dist_distribute(rt->dist, matrix[m], &s->home[m]) != PTO_OK) _exit(3);
        for (int64_t i = 0; i < CELLS; i++)
            if (ptoi_home_of(&s->home[m], s->ranks, (int64_t[]){i / SIDE, i % SIDE}) != rank) matrix[m][i] = 0xdeadbeef;
    }
}

static struct left left_of(PTORuntime *rt)
{
    const struct dist *const d = rt->dist;
    const PTORunStats *const stats = pto_get_run_stats(rt);
    struct left left = {.hash = d->hash,
                        .steps = d->steps,
                        .tensors = d->tensors,
                        .tasks = load_relaxed(&d->tasks), /* relaxed: the run is over */
                        .used_again = d->copies.used_again,
                        .forgotten = d->copies.forgotten_bytes,
                        .messages = d->sends.messages,
                        .bytes = d->sends.bytes,
                        .scopes = stats->scopes,
                        .allocations = stats->allocations,
                        .allocated_bytes = stats->allocated_bytes};
    memcpy(left.tasks_of, d->tasks_of, (size_t)d->ranks * sizeof *d->tasks_of);
    return left;
}

static int run_rank(struct wire *wire, int rank, void *arg)
{
    static uint64_t m[MATRICES][CELLS];
    struct shared *const s = arg;
    struct rank_of r = {.program = &s->program, .matrix = {m[0], m[1], m[2]}, .takes = s->takes >> rank & 1};
    const struct dist_config ranks = {.wire = wire, .copy_bytes = s->copy_bytes, .sends = 2};
    PTORuntime *rt =
        ptoi_create_ranked(&(PTOConfig){.engine = s->is_serial ? PTO_ENGINE_SERIAL : PTO_ENGINE_THREADS}, &ranks, NULL);
    if (!rt) return 1;
    prepare(rt, s, r.matrix, rank);
    const PTOStatus status = pto_runtime_run(rt, orchestrate, &r);
    if (status != PTO_OK)
        fprintf(stderr, "seed %llu, rank %d: %s\n", (unsigned long long)s->seed, rank, pto_last_error(rt));
    s->left[rank] = left_of(rt);
    __atomic_add_fetch(&s->taken, r.taken, __ATOMIC_RELAXED);
    for (int k = 0; k < MATRICES && status == PTO_OK; k++) {
        const struct tensor *const t = ptoi_dist_tensor(rt->dist, m[k]);
        for (int64_t i = 0; t && i < CELLS; i++) {
            int64_t element[PTO_MAX_RANK];
            ptoi_home_element(&t->home, i * 8, element);
            if (ptoi_home_of(&t->home, s->ranks, element) == rank) s->matrix[k][i] = m[k][i];
        }
    }
    pto_runtime_destroy(rt);
    return status != PTO_OK;
}

static void choose(struct shared *s, uint64_t seed)
{
    static const int ranks[] = {2, 3, 4, 7, 4, 8};
    static const int64_t kept[] = {1 << 20, 1 << 20, 1 << 20, 512};
    static const int64_t cells[] = {4, 4, 4, 8, 12, SIDE, 6, 5};
    memset(s, 0, sizeof *s);
    rng_state = seed * 7919 + 1;
    for (int i = 0; i < 5; i++) rng();
    s->seed = seed;
    s->ranks = ranks[seed % 6];
    s->program = any_program();
    s->copy_bytes = kept[pick(0, 3)];
    s->is_serial = pick(0, 2);
    const bool are_alike = pick(0, 2);
    for (int m = 0; m < MATRICES; m++) {
        s->home[m] = (struct distribution){.rank = 2, .unit = 8, .shape = {SIDE, SIDE}};
        for (int k = 0; k < 2; k++) s->home[m].cell[k] = cells[pick(0, 7)], s->home[m].grid[k] = pick(1, 4);
        if (m > 0 && are_alike) s->home[m] = s->home[0];
        s->is_everywhere[m] = pick(0, 7) == 0;
    }
}

static void run_ranks(struct shared *s, unsigned takes)
{
    s->takes = takes;
    s->taken = 0;
    const struct medium_config medium = {
        .ranks = s->ranks, .slots = 18, .message_bytes = CELLS * 8, .seed = s->seed, .latest = 4};
    const int failed = ranks_run(&medium, run_rank, s);
    if (failed) fprintf(stderr, "seed %llu, takes %x\n", (unsigned long long)s->seed, takes);
    EXPECT_EQ(failed, 0);
}

static void run_alone(const struct shared *s, uint64_t (*matrix)[CELLS])
{
    struct rank_of r = {.program = &s->program, .matrix = {matrix[0], matrix[1], matrix[2]}};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    fill(r.matrix);
    EXPECT_EQ(pto_runtime_run(rt, orchestrate, &r), PTO_OK);
    pto_runtime_destroy(rt);
}

static bool compare(const struct left *is, const struct left *was, int rank)
{
#define COMPARE(name)                                                                                                  \
    if (is->name != was->name)                                                                                         \
        fprintf(stderr, "rank %d: " #name " %llu, not %llu\n", rank, (unsigned long long)is->name,                     \
                (unsigned long long)was->name);
    COMPARE(hash)
    COMPARE(steps)
    COMPARE(tensors)
    COMPARE(tasks)
    COMPARE(used_again)
    COMPARE(messages)
    COMPARE(bytes)
    COMPARE(forgotten)
    COMPARE(scopes)
    COMPARE(allocations)
    COMPARE(allocated_bytes)
    return memcmp(is, was, sizeof *is) == 0;
}

static long from_environment(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

/* Offers are refused, taken by all ranks, and by some. */
TEST(loops_that_are_skipped_in_strips_leave_what_single_tasks_leave)
{
    static uint64_t wanted[MATRICES][CELLS];
    static struct left left[MOST_RANKS];
    struct shared *s = ranks_share(sizeof *s);
    const long count = from_environment("PTO_SKIPPED", PTOI_HAS_SANITIZER ? 12 : 25),
               first = from_environment("PTO_SEED", 1);
    int64_t taken = 0;
    for (long seed = first; seed < first + count; seed++) {
        choose(s, (uint64_t)seed);
        run_alone(s, wanted);
        const unsigned takes[] = {0, ~0u, (unsigned)pick(0, 127)};
        for (int t = 0; t < 3; t++) {
            memset(s->matrix, 0, sizeof s->matrix);
            run_ranks(s, takes[t]);
            taken += s->taken;
            bool is_same = true;
            for (int k = 0; t > 0 && k < s->ranks; k++) is_same &= compare(&s->left[k], &left[k], k);
            if (!is_same || memcmp(s->matrix, wanted, sizeof wanted) != 0)
                fprintf(stderr, "seed %ld, takes %x: %s\n", seed, takes[t], is_same ? "the result" : "what is left");
            EXPECT(is_same);
            EXPECT(memcmp(s->matrix, wanted, sizeof wanted) == 0);
            memcpy(left, s->left, sizeof left);
        }
    }
    if (getenv("PTO_SKIPPED")) fprintf(stderr, "%lld iterations were skipped\n", (long long)taken);
    EXPECT(count < 10 || taken > 20 * count);
}
