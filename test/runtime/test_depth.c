/* test_depth.c - thousands of nested scopes that each hold a little: the work grows with the depth, not with its
 * square, in large heaps and in heaps of exactly what is held, and a heap that is too small is found out at once.
 * Steps are counted, not time. */
#include "api/config.h"
#include "api/runtime.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>

enum { MOST = PTOI_HAS_SANITIZER ? 10000 : 20000, BYTES = 64 };

static int fill(const PTOArg *a)
{
    memset(a[0].ptr, (int)a[1].value.i64, (size_t)a[0].shape[0]);
    return 0;
}
static const PTOKernel fill_kernel = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = fill};

struct nest {
    /* of each scope, which are released before it opens the next one, and made again after that has ended */
    int depth, temporaries;
    void *held[MOST];
    int reached, wrong;
};

static void *make(PTORuntime *rt, int value)
{
    void *made = NULL;
    SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_U8, BYTES)), PTO_SCALAR((int64_t)value & 127));
    return made;
}

static void work(PTORuntime *rt, const struct nest *n)
{
    for (int i = 0; i < n->temporaries; i++) {
        void *made = make(rt, i);
        if (made) pto_release(rt, made);
    }
}

static void run_nest(PTORuntime *rt, void *arg)
{
    struct nest *n = arg;
    for (n->reached = 0; n->reached < n->depth; n->reached++) {
        pto_scope_begin(rt);
        work(rt, n);
        n->held[n->reached] = make(rt, n->reached);
    }
    for (int d = n->depth; d-- > 0;) {
        n->wrong += *(const uint8_t *)pto_await_element(rt, n->held[d], d % BYTES, 1) != (d & 127);
        pto_scope_end(rt);
        work(rt, n);
    }
}

struct steps {
    int64_t compactions, moved_bytes;
};

static struct steps nest(PTOConfig c, uint64_t heap_bytes, int depth, int temporaries, PTOStatus want)
{
    static struct nest n;
    n = (struct nest){.depth = depth, .temporaries = temporaries};
    c.heap_bytes = (int64_t)heap_bytes;
    c.heap_rings = 1;
    c.recursion_limit = MOST + 2;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    const PTOStatus status = pto_run_entry(rt, run_nest, &n);
    if (status != want) fprintf(stderr, "at depth %d of %d: %s\n", n.reached, depth, pto_last_error(rt));
    EXPECT_EQ(status, want);
    EXPECT_EQ(n.wrong, 0);
    if (want == PTO_OK) EXPECT_EQ(n.reached, depth);
    const struct steps s = {rt->core.orch.buffers.compactions, rt->core.orch.run.stats.moved_bytes};
    pto_runtime_destroy(rt);
    return s;
}

static const PTOConfig serial = {.engine = PTO_ENGINE_SERIAL};
static const PTOConfig deferred = {.engine = PTO_ENGINE_THREADS, .always_defer = true};

TEST(in_a_large_heap_nothing_is_moved)
{
    for (int temporaries = 0; temporaries <= 3; temporaries++) {
        const struct steps s = nest(serial, (uint64_t)256 << 20, MOST, temporaries, PTO_OK);
        EXPECT_EQ(s.compactions, 0);
    }
    EXPECT_EQ(nest(deferred, (uint64_t)256 << 20, MOST, 1, PTO_OK).compactions, 0);
}

TEST(in_a_heap_of_what_is_held_nothing_is_moved_where_all_is_held)
{
    EXPECT_EQ(nest(serial, (uint64_t)MOST * BYTES, MOST, 0, PTO_OK).compactions, 0);
    EXPECT_EQ(nest(deferred, (uint64_t)MOST * BYTES, MOST, 0, PTO_OK).compactions, 0);
}

/* A compaction moves what is held at most once, and after it the next one is so far away that twice what was held at
 * last is never exceeded. */
TEST(the_bytes_moved_grow_with_the_depth)
{
    for (uint64_t percent = 100; percent <= 200; percent += 50)
        for (int depth = 2500; depth <= MOST; depth *= 2) {
            const struct steps s = nest(serial, (uint64_t)(depth + 1) * BYTES * percent / 100, depth, 2, PTO_OK);
            EXPECT(s.compactions >= 1 && s.compactions <= 24);
            EXPECT(s.moved_bytes <= (int64_t)2 * depth * BYTES);
        }
}

TEST(a_heap_that_is_too_small_is_found_out_by_one_compaction)
{
    for (int depth = 2500; depth <= MOST; depth *= 2)
        EXPECT_EQ(nest(serial, (uint64_t)depth * BYTES * 3 / 4, depth, 0, PTO_ERR_DEADLOCK).compactions, 1);
    EXPECT_EQ(nest(deferred, (uint64_t)MOST * BYTES / 2, MOST, 0, PTO_ERR_DEADLOCK).compactions, 1);
}

/* Buffers that were moved have other names: a checked run lays more, and finds its way just so. */
TEST(checked_runs_are_compacted_too)
{
    PTOConfig c = serial;
    c.checked = true;
    const int depth = PTOI_HAS_SANITIZER ? 1500 : 4000;
    EXPECT(nest(c, (uint64_t)(depth + 1) * 2 * BYTES, depth, 2, PTO_OK).compactions > 0);
}

/* ---- tokens of deep scopes --------------------------------------------------------------------------------------- */

enum { DEEP = (1 << 20) + 4 };
static const int named[] = {1, 2, 3, 4, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + 2, DEEP};
enum { NAMED = sizeof named / sizeof *named };

struct deep {
    PTOScope token[NAMED];
    int wrong;
};

/* Each token names its scope, and no other: what it owns has its index, and ends with it. */
static void run_deep(PTORuntime *rt, void *arg)
{
    struct deep *d = arg;
    const struct scope_stack *s = &rt->core.orch.scopes;
    for (int depth = 1, k = 0; depth <= DEEP; depth++) {
        const PTOScope token = pto_scope_begin(rt);
        if (depth == named[k]) d->token[k++] = token;
    }
    for (int k = 0; k < NAMED; k++) {
        const char *made = pto_alloc(rt, d->token[k], BYTES);
        const uint32_t buffer = made ? ptoi_buffer_at(s, (uint64_t)(made - rt->core.heap)) : 0;
        d->wrong += buffer == 0 || ptoi_record(s, buffer)->owner != named[k] + 1;
    }
    d->wrong += pto_scope_current(rt) != d->token[NAMED - 1];
    for (int depth = DEEP, k = NAMED; depth >= 1; depth--) {
        if (depth == named[k - 1]) d->wrong += s->scope[depth].held == 0, k--;
        pto_scope_end(rt);
        if (k < NAMED && depth == named[k]) d->wrong += ptoi_scope_index(s, d->token[k]) != -1;
    }
}

TEST(a_token_names_its_scope_however_deep_it_is)
{
    static const PTOEngine all[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING, PTO_ENGINE_GRAPH,
                                    PTO_ENGINE_PROCESS};
    for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
        PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = all[e]}, NULL);
        assert_non_null(rt);
        struct deep d = {.wrong = 0};
        const PTOStatus status = pto_run_entry(rt, run_deep, &d);
        if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
        EXPECT_EQ(status, PTO_OK);
        EXPECT_EQ(d.wrong, 0);
        pto_runtime_destroy(rt);
    }
}

TEST(a_token_names_the_deepest_scope_that_any_limit_allows)
{
    static struct scope_stack s;
    assert_true(ptoi_scopes_init(&s, PTOI_SCOPES_MAX(PTOI_RECURSION_MAX), 1));
    s.depth = s.capacity;
    s.serial = UINT32_MAX;
    s.scope[s.depth - 1].serial = s.serial;
    EXPECT_EQ(ptoi_scope_index(&s, ptoi_scope_token(&s, s.depth - 1)), s.depth - 1);
    ptoi_scopes_free(&s);
}
