/* test_edges.c - what is recorded of dependences is complete at any distance: whole runs against a model that
 * knows every element. */
#include "graph_fuzz.h"
#include "api/runtime.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"

static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static int64_t cost_100(const PTOArg *a) { return (void)a, 100; }
static const PTOKernel multiply = {.name = "multiply", .worker = PTO_WORKER_CUBE, .fn = k_nothing, .cost = cost_100};
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = k_nothing, .cost = cost_100};

static PTORuntime *record(PTOConfig c, int64_t tasks, void (*fn)(PTORuntime *, void *), void *arg)
{
    c.record_tasks = tasks;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    assert_int_equal(pto_runtime_run(rt, fn, arg), PTO_OK);
    assert_int_equal(rt->core.recorder->lost, 0);
    assert_int_equal(rt->core.recorder->lost_edges, 0);
    const int64_t dependences = pto_get_run_stats(rt)->dependences; /* finds them */
    assert_int_equal(dependences, rt->core.recorder->edges);
    return rt;
}

/* The longest chain of the recorded graph, in tasks. */
static int64_t depth_of(const struct recorder *r)
{
    int64_t *depth = calloc(r->tasks, sizeof *depth), most = 0;
    assert_non_null(depth);
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        for (uint32_t k = 0; k < t->edge_count; k++)
            if (depth[r->edge[t->first_edge + k].from] > depth[n]) depth[n] = depth[r->edge[t->first_edge + k].from];
        if (++depth[n] > most) most = depth[n];
    }
    free(depth);
    return most;
}

static const PTOConfig small[] = {
    {.engine = PTO_ENGINE_GRAPH, .task_window = 4, .tensormap_entries = 4},
    {.engine = PTO_ENGINE_GRAPH},
    {.engine = PTO_ENGINE_TIMING, .task_window = 4},
    {.engine = PTO_ENGINE_TIMING, .tensormap_entries = 8},
    {.engine = PTO_ENGINE_SERIAL, .task_window = 16},
    {.engine = PTO_ENGINE_THREADS, .workers = {1, 1}, .task_window = 8},
    {.engine = PTO_ENGINE_PROCESS, .workers = {1, 1}, .task_window = 8},
};
enum { SMALL = sizeof small / sizeof small[0] };

/* ---- a product of tiles, the sums innermost: a sum is 2 * TILES * TILES tasks after the one before ---- */

/* A sanitizer makes each task some ten times slower. */
enum { TILES = PTOI_HAS_SANITIZER ? 12 : 32, DEEP = 8 };

static void product(PTORuntime *rt, void *arg)
{
    char *A = arg, *B = A + TILES * DEEP * 64, *C = B + TILES * DEEP * 64;
    for (int k = 0; k < DEEP; k++)
        for (int i = 0; i < TILES; i++)
            for (int j = 0; j < TILES; j++) {
                void *P = NULL;
                pto_scope_begin(rt);
                SUBMIT(rt, &multiply, PTO_INPUT(A, i * DEEP + k, 64), PTO_INPUT(B, k * TILES + j, 64),
                       PTO_OUTPUT(&P, 0, 64));
                SUBMIT(rt, &add, PTO_INPUT(P, 0, 64), PTO_INOUT(C, i * TILES + j, 64));
                pto_scope_end(rt);
            }
}

TEST(a_product_has_all_its_edges_with_any_window_and_map)
{
    void *memory = calloc(2 * TILES * DEEP + TILES * TILES, 64);
    for (int n = 0; n < SMALL; n++) {
        PTORuntime *rt = record(small[n], 1 << 15, product, memory);
        EXPECT_EQ(rt->core.recorder->edges, TILES * TILES * (2 * DEEP - 1));
        EXPECT_EQ(depth_of(rt->core.recorder), 1 + DEEP);
        if (small[n].engine == PTO_ENGINE_TIMING) EXPECT_EQ(pto_get_run_stats(rt)->critical_path, 100 * (1 + DEEP));
        pto_runtime_destroy(rt);
    }
    free(memory);
}

/* Each run is much longer than what is recorded of it, or than what is kept until edges are looked for. */
TEST(dependences_are_counted_exactly_beyond_what_is_recorded)
{
    void *memory = calloc(2 * TILES * DEEP + TILES * TILES, 64);
    for (int n = 0; n < SMALL; n++) {
        for (int64_t recorded = 0; recorded <= 100; recorded += 50) {
            PTOConfig c = small[n];
            c.count_dependences = true;
            c.record_tasks = recorded;
            PTORuntime *rt = pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            for (int times = 0; times < 3; times++) {
                EXPECT_EQ(pto_runtime_run(rt, product, memory), PTO_OK);
                if (times == 1) continue; /* nobody asks */
                EXPECT(pto_get_run_stats(rt)->counts_dependences);
                EXPECT_EQ(pto_get_run_stats(rt)->dependences, TILES * TILES * (2 * DEEP - 1));
            }
            pto_runtime_destroy(rt);
        }
    }
    free(memory);
}

/* ---- read far behind: a chain of LINKS tasks, and then each of its results is read three times ---- */

enum { LINKS = PTOI_HAS_SANITIZER ? 1500 : 9000, READERS = 3 };

static void far_behind(PTORuntime *rt, void *arg)
{
    char *x = arg;
    for (int i = 0; i < LINKS; i++) SUBMIT(rt, &add, PTO_INPUT(x, i, 8), PTO_OUTPUT(&arg, i + 1, 8));
    for (int r = 0; r < READERS; r++)
        for (int i = 0; i < LINKS; i++) SUBMIT(rt, &multiply, PTO_INPUT(x, i + 1, 8));
    SUBMIT(rt, &add, PTO_INOUT(x, 0, 8 * (LINKS + 1))); /* all of them */
}

TEST(a_chain_that_is_read_far_behind_has_all_its_edges)
{
    void *memory = calloc(LINKS + 1, 8);
    for (int n = 0; n < SMALL; n++) {
        PTORuntime *rt = record(small[n], 1 << 16, far_behind, memory);
        const struct recorder *r = rt->core.recorder;
        EXPECT_EQ(r->tasks, LINKS * (1 + READERS) + 1);
        EXPECT_EQ(r->edges, LINKS - 1 + LINKS * READERS + LINKS * (1 + READERS));
        EXPECT_EQ(r->task[r->tasks - 1].edge_count, LINKS * (1 + READERS));
        pto_runtime_destroy(rt);
    }
    free(memory);
}

/* ---- what the map need not know: inputs of an entry, buffers with one writer, memory that is used again  */

static void inputs_written_after_all(PTORuntime *rt, void *arg)
{
    char *x = arg;
    pto_input(rt, x, 640);
    for (int i = 0; i < 10; i++) SUBMIT(rt, &multiply, PTO_INPUT(x, i, 64));
    SUBMIT(rt, &add, PTO_INOUT(x, 0, 640));
}

static void used_again(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) { /* at the same address each time */
        void *P = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &multiply, PTO_OUTPUT(&P, 0, 64));
        SUBMIT(rt, &add, PTO_INPUT_OF(P, 0, 32));
        pto_scope_end(rt);
    }
}

static void entry(PTORuntime *rt, void *arg) { inputs_written_after_all(rt, arg); }

TEST(readers_that_need_no_look_up_are_known_to_a_later_writer)
{
    static char memory[640];
    for (int n = 0; n < SMALL; n++) {
        PTOConfig c = small[n];
        c.record_tasks = 64;
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_run_entry(rt, entry, memory), PTO_OK);
        EXPECT_EQ(pto_get_run_stats(rt)->dependences, 10);
        EXPECT_EQ(rt->core.recorder->edges, 10);
        EXPECT_EQ(rt->core.recorder->task[10].edge_count, 10);
        EXPECT_EQ(pto_run_entry(rt, entry, memory), PTO_OK); /* another run knows nothing of the one before */
        EXPECT_EQ(pto_get_run_stats(rt)->dependences, 10);
        EXPECT_EQ(rt->core.recorder->edges, 10);
        pto_runtime_destroy(rt);
    }
}

TEST(tasks_that_share_an_address_one_after_the_other_do_not_conflict)
{
    for (int n = 0; n < SMALL; n++) {
        PTORuntime *rt = record(small[n], 256, used_again, NULL);
        EXPECT_EQ(rt->core.recorder->edges, 100);
        for (int i = 0; i < 100; i++)
            EXPECT_EQ(rt->core.recorder->edge[rt->core.recorder->task[2 * i + 1].first_edge].from, 2 * i);
        pto_runtime_destroy(rt);
    }
}

/* ---- random programs ---- */

enum { FUZZ_TASKS = 250, FUZZ_ACCESSES = 64 * FUZZ_TASKS, FUZZ_LIFETIMES = 4 * FUZZ_TASKS };

/* The accesses of one element since it was written, the write included. */
struct element {
    int32_t *access;
    int count, capacity;
};

struct elements {
    const struct fuzz_program *program;
    struct element matrix[2][CELLS], buffer[FUZZ_LIFETIMES][BUFFER_ELEMENTS];
    int lifetimes;
    struct {
        const uint64_t *base;
        int lifetime;
    } latest[FUZZ_LIFETIMES];
};

static struct element *element_of(struct elements *e, const struct fuzz_access *a, int lifetime, int64_t i, int64_t j)
{
    const int64_t at = a->params_at + i * a->stride[0] + j * a->stride[1];
    return lifetime < 0 ? &e->matrix[a->base == e->program->matrix[1]][at] : &e->buffer[lifetime][at];
}

/* The buffer at that address now; below 0: it is a matrix. */
static int lifetime_of(struct elements *e, const struct fuzz_access *a)
{
    if (a->base == e->program->matrix[0] || a->base == e->program->matrix[1]) return -1;
    if (a->is_first) {
        e->latest[e->lifetimes].base = a->base;
        return e->lifetimes++;
    }
    for (int k = e->lifetimes - 1; k >= 0; k--)
        if (e->latest[k].base == a->base) return k;
    fail_msg("a buffer that was never made");
    return -1;
}

static void mark_elements(const struct fuzz_access *a, bool *in)
{
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t j = 0; j < a->shape[1]; j++) in[a->params_at + i * a->stride[0] + j * a->stride[1]] = true;
}

static bool commute(const struct fuzz_access *a, const struct fuzz_access *b)
{
    if (a->kind == KIND_IN && b->kind == KIND_IN) return true;
    if (a->kind != KIND_ACC || b->kind != KIND_ACC || a->kernel != b->kernel || a->base != b->base) return false;
    bool in_a[CELLS] = {false}, in_b[CELLS] = {false}; /* the same elements, whatever the order of the dimensions */
    mark_elements(a, in_a);
    mark_elements(b, in_b);
    return memcmp(in_a, in_b, sizeof in_a) == 0;
}

static void mark_needed(const struct fuzz_log *log, const struct element *e, const struct fuzz_access *later,
                        bool *needed)
{
    bool accumulated = false;
    for (int k = 0; k < e->count; k++)
        accumulated |= log->access[e->access[k]].kind == KIND_ACC && !commute(&log->access[e->access[k]], later);
    for (int k = 0; k < e->count; k++) {
        const struct fuzz_access *a = &log->access[e->access[k]];
        if (a->task != later->task && !commute(a, later) && !(a->kind == KIND_INOUT && accumulated))
            needed[a->task] = true;
    }
}

static void note(const struct fuzz_log *log, struct element *e, int32_t access)
{
    if (log->access[access].kind == KIND_INOUT) e->count = 0;
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 4;
        e->access = realloc(e->access, (size_t)e->capacity * sizeof *e->access);
        assert_non_null(e->access);
    }
    e->access[e->count++] = access;
}

/* The tasks before access `n` of the log that share an element with it, in whatever order they would have to run. */
static void mark_conflicts(const struct fuzz_log *log, const int *lifetime, int64_t n, bool *conflicts)
{
    const struct fuzz_access *later = &log->access[n];
    bool in[CELLS] = {false};
    mark_elements(later, in);
    for (int64_t k = 0; k < n; k++) {
        const struct fuzz_access *a = &log->access[k];
        bool meets = false;
        if (a->task == later->task || conflicts[a->task] || a->base != later->base || lifetime[k] != lifetime[n])
            continue;
        for (int64_t i = 0; i < a->shape[0]; i++)
            for (int64_t j = 0; j < a->shape[1]; j++) meets |= in[a->params_at + i * a->stride[0] + j * a->stride[1]];
        conflicts[a->task] = meets && !commute(a, later);
    }
}

static void check_task(const struct recorder *r, uint64_t task, const bool *needed, const bool *conflicts,
                       uint64_t seed)
{
    const struct recorded_task *t = &r->task[task];
    int64_t missing = 0;
    for (uint64_t n = 0; n < task; n++) missing += needed[n];
    for (uint32_t k = 0; k < t->edge_count; k++) {
        const uint64_t from = r->edge[t->first_edge + k].from;
        missing -= needed[from];
        if (!conflicts[from])
            fail_msg("seed %llu: tasks %llu and %llu do not conflict", (unsigned long long)seed,
                     (unsigned long long)from, (unsigned long long)task);
    }
    if (missing != 0)
        fail_msg("seed %llu: task %llu lacks %lld edges", (unsigned long long)seed, (unsigned long long)task,
                 (long long)missing);
}

static void check_run(const struct fuzz_program *p, const struct recorder *r)
{
    struct elements *e = calloc(1, sizeof *e);
    bool needed[FUZZ_TASKS], conflicts[FUZZ_TASKS];
    int lifetime[FUZZ_ACCESSES];
    assert_non_null(e);
    e->program = p;
    const struct fuzz_log *log = p->log;
    for (int64_t first = 0, behind; first < log->count; first = behind) {
        const int64_t task = log->access[first].task;
        memset(needed, 0, sizeof needed);
        memset(conflicts, 0, sizeof conflicts);
        for (behind = first; behind < log->count && log->access[behind].task == task; behind++) {
            const struct fuzz_access *a = &log->access[behind];
            lifetime[behind] = lifetime_of(e, a);
            mark_conflicts(log, lifetime, behind, conflicts);
            for (int64_t i = 0; i < a->shape[0]; i++)
                for (int64_t j = 0; j < a->shape[1]; j++)
                    mark_needed(log, element_of(e, a, lifetime[behind], i, j), a, needed);
        }
        check_task(r, (uint64_t)task, needed, conflicts, p->seed);
        for (int write = 1; write >= 0; write--)
            for (int64_t n = first; n < behind; n++) {
                const struct fuzz_access *a = &log->access[n];
                if ((a->kind == KIND_INOUT) != write) continue;
                for (int64_t i = 0; i < a->shape[0]; i++)
                    for (int64_t j = 0; j < a->shape[1]; j++)
                        note(log, element_of(e, a, lifetime[n], i, j), (int32_t)n);
            }
    }
    for (int m = 0; m < 2; m++)
        for (int c = 0; c < CELLS; c++) free(e->matrix[m][c].access);
    for (int b = 0; b < e->lifetimes; b++)
        for (int c = 0; c < BUFFER_ELEMENTS; c++) free(e->buffer[b][c].access);
    free(e);
}

TEST(random_programs_lack_no_edge_with_any_rings)
{
    static struct fuzz_access access[FUZZ_ACCESSES];
    struct fuzz_log log = {.access = access, .capacity = FUZZ_ACCESSES};
    static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
    uint64_t *cells = malloc(2 * CELLS * sizeof *cells);
    assert_non_null(cells);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fuzz_program p = {.log = &log, .seed = seed, .tasks = FUZZ_TASKS, .matrix = {cells, cells + CELLS}};
        uint64_t s = seed;
        PTOConfig c = fuzz_config(&s);
        c.engine = engines[seed % 3];
        c.first_task_id = 0;
        fuzz_reset(&p);
        log.count = 0;
        PTORuntime *rt = record(c, FUZZ_TASKS, fuzz_orchestrate, &p);
        EXPECT(log.count < FUZZ_ACCESSES); /* all of it was kept */
        EXPECT_EQ(rt->core.recorder->tasks, (uint64_t)p.submitted);
        check_run(&p, rt->core.recorder);
        pto_runtime_destroy(rt);
    }
    free(cells);
}

static void chain(PTORuntime *rt, void *cell)
{
    for (int i = 0; i < 3; i++) SUBMIT(rt, &add, PTO_INOUT(cell, 0, PTO_ARRAY(PTO_I64, 1)));
}

TEST(the_edges_of_a_second_run_are_between_its_own_tasks)
{
    for (int c = 0; c < SMALL; c++) {
        int64_t cell = 0;
        PTORuntime *rt = record(small[c], 16, chain, &cell);
        EXPECT_EQ(pto_runtime_run(rt, chain, &cell), PTO_OK);
        EXPECT_EQ(pto_get_run_stats(rt)->dependences, 2);
        const struct recorder *r = rt->core.recorder;
        EXPECT_EQ(r->tasks, 3);
        for (uint32_t n = 1; n < 3; n++) {
            EXPECT_EQ(r->task[n].edge_count, 1);
            EXPECT_EQ(r->edge[r->task[n].first_edge].from, n - 1);
        }
        pto_runtime_destroy(rt);
    }
}
