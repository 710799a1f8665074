/* stress_graphs.c - random programs on every engine leave the bytes that program order leaves, and an independent
 * checker finds every conflicting pair ordered and every edge explained.
 * PTO_GRAPHS=N programs (default 150; 40 with a sanitizer), PTO_SEED=S the first seed, PTO_CHECK_EVERY=N which are
 * checked (default 3); a failure prints the seed that repeats it. */
#include "graph_fuzz.h"
#include "api/runtime.h"
#include "shared/sanitizer.h"
#include "unit.h"

#ifdef PTO_TINY
enum { STANDARD_GRAPHS = 100 }; /* each wait yields many times */
#else
enum { STANDARD_GRAPHS = PTOI_HAS_SANITIZER ? 40 : 150 };
#endif
enum { MAX_ACCESSES = 4096 };

static void complain(const struct fuzz_program *p, const char *what, int64_t i, int64_t j)
{
    fprintf(stderr, "seed %llu: %s (tasks %lld, %lld)\n", (unsigned long long)p->seed, what, (long long)i,
            (long long)j);
    fail();
}

/* Element by element: slow, simple, and nothing of the runtime's. */
static bool has(const struct fuzz_access *a, const uint64_t *x)
{
    for (int64_t k = 0; k < a->shape[0]; k++) {
        int64_t away = x - (a->base + a->params_at + k * a->stride[0]);
        if (away >= 0 && away % a->stride[1] == 0 && away / a->stride[1] < a->shape[1]) return true;
    }
    return false;
}

/* The first element of an access, or the last. */
static const uint64_t *end_of(const struct fuzz_access *a, bool is_last)
{
    const uint64_t *end = a->base + a->params_at;
    for (int d = 0; d < 2; d++)
        if ((a->stride[d] > 0) == is_last) end += (a->shape[d] - 1) * a->stride[d];
    return end;
}

static int64_t shared_elements(const struct fuzz_access *a, const struct fuzz_access *b, int64_t enough)
{
    int64_t n = 0;
    if (end_of(a, true) < end_of(b, false) || end_of(b, true) < end_of(a, false)) return 0;
    for (int64_t i = 0; i < a->shape[0] && n < enough; i++)
        for (int64_t j = 0; j < a->shape[1] && n < enough; j++)
            n += has(b, a->base + a->params_at + i * a->stride[0] + j * a->stride[1]);
    return n;
}

static bool meets(const struct fuzz_access *a, const struct fuzz_access *b) { return shared_elements(a, b, 1) > 0; }

static bool same_region(const struct fuzz_access *a, const struct fuzz_access *b)
{
    int64_t size = a->shape[0] * a->shape[1];
    return size == b->shape[0] * b->shape[1] && shared_elements(a, b, size) == size;
}

/* O(n^2): pairs of accesses of different tasks that share an element, one of them a write, must not have run at the
 * same time and not in the other order; and an edge must come from such a pair.  (Buffers that follow each other at one
 * address count too: the second must not begin before the first one's last user has ended.) */
static void check_order(const struct fuzz_program *p, const struct recorder *r)
{
    static bool explained[1 << 16];
    EXPECT_EQ(r->lost, 0);
    EXPECT_EQ(r->tasks, (uint64_t)p->submitted);
    memset(explained, 0, r->edges);
    for (int64_t i = 0; i < p->log->count; i++)
        for (int64_t j = i + 1; j < p->log->count; j++) {
            const struct fuzz_access *a = &p->log->access[i], *b = &p->log->access[j];
            if (a->task == b->task || (a->kind == KIND_IN && b->kind == KIND_IN) || !meets(a, b)) continue;
            const struct recorded_task *first = &r->task[a->task], *second = &r->task[b->task];
            for (uint32_t k = 0; k < second->edge_count; k++)
                if (r->edge[second->first_edge + k].from == (uint64_t)a->task) explained[second->first_edge + k] = true;
            if (a->kind == KIND_ACC && b->kind == KIND_ACC && a->kernel == b->kernel && same_region(a, b)) {
                if (first->end > second->begin && second->end > first->begin)
                    complain(p, "two updates of one accumulator ran together", a->task, b->task);
                continue;
            }
            if (first->end > second->begin) complain(p, "a conflicting pair was not ordered", a->task, b->task);
        }
    for (uint64_t n = 0; n < r->tasks; n++) {
        if (r->task[n].end == 0) complain(p, "a task never ran", (int64_t)n, (int64_t)n);
        for (uint32_t k = 0; k < r->task[n].edge_count; k++)
            if (!explained[r->task[n].first_edge + k])
                complain(p, "an edge without a conflict", (int64_t)r->edge[r->task[n].first_edge + k].from, (int64_t)n);
    }
}

static uint64_t run(struct fuzz_program *p, const PTOConfig *config)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(config, &status);
    if (!rt) {
        fprintf(stderr, "seed %llu: create: %s\n", (unsigned long long)p->seed, pto_last_error(NULL));
        fail();
    }
    fuzz_reset(p);
    if (p->log) p->log->count = 0;
    status = pto_runtime_run(rt, fuzz_orchestrate, p);
    if (status != PTO_OK) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)p->seed, pto_last_error(rt));
    EXPECT_EQ(status, PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, p->submitted);
    uint64_t digest = fuzz_digest(p);
    if (rt->core.recorder && p->log) check_order(p, rt->core.recorder);
    pto_runtime_destroy(rt);
    return digest;
}

static long from_environment(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

TEST(every_schedule_gives_what_program_order_gives)
{
    uint64_t *a = pto_shared_alloc(CELLS * sizeof *a), *b = pto_shared_alloc(CELLS * sizeof *b);
    static struct fuzz_access accesses[MAX_ACCESSES];
    static struct fuzz_log log = {.access = accesses, .capacity = MAX_ACCESSES};
    const long count = from_environment("PTO_GRAPHS", STANDARD_GRAPHS), first = from_environment("PTO_SEED", 1);
    const long checked = from_environment("PTO_CHECK_EVERY", 3);
    for (long seed = first; seed < first + count; seed++) {
        uint64_t s = (uint64_t)seed * 7919;
        struct fuzz_program p = {.seed = (uint64_t)seed, .tasks = 5 + (int)fuzz_below(&s, 200), .matrix = {a, b}};
        PTOConfig c = fuzz_config(&s), oracle = {.engine = PTO_ENGINE_SERIAL};
        uint64_t want = run(&p, &oracle);
        static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS, PTO_ENGINE_SERIAL,
                                            PTO_ENGINE_TIMING,  PTO_ENGINE_SERIAL,  PTO_ENGINE_THREADS};
        for (int e = 0; e < 6; e++) {
            c.engine = engines[e];
            c.always_defer = e < 4;                       /* the last two also execute tasks inline */
            if (e < 2 && seed % checked == e % checked) { /* the checker looks at some: it costs more than the runs */
                c.record_tasks = 512;
                p.log = &log;
            }
            uint64_t got = run(&p, &c);
            c.record_tasks = 0;
            c.count_dependences &= e < 3;
            p.log = NULL;
            if (got != want)
                fprintf(stderr, "seed %ld: the result on engine %d differs from program order\n", seed,
                        (int)engines[e]);
            EXPECT_EQ(got, want);
        }
    }
}
