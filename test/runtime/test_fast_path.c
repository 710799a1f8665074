/* test_fast_path.c - tasks on the fast path (pto/detail/fast_path.h): the kernel receives the same arguments, and a
 * mistake has the same message, as on the slow path.
 * Method     a kernel can see how it was called: only the fast path writes `running` of the runtime.  Every case is
 *            submitted until the fast path has taken it, and by the same runtime's call with all tasks deferred. */
#define PTO_INLINE_SUBMITS 1 /* with a sanitizer, too */
#include "submit.h"
#include "submit/fast_path.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <string.h>

static PTORuntime *create(PTOConfig c)
{
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    return rt;
}

static PTORuntime *active; /* of the run */
static int64_t fast_calls, slow_calls;

static void note_way(void)
{
    if (((PTOFastPath *)active)->running)
        fast_calls++;
    else
        slow_calls++;
}

/* ---- which way --------------------------------------------------------------------------------------------------- */

static int add_one(const PTOArg *a)
{
    note_way();
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_CUBE, .fn = add_one};

enum { ROUNDS = 2000 };

static void many(PTORuntime *rt, void *arg)
{
    active = rt;
    fast_calls = slow_calls = 0;
    for (int64_t i = 0; i < ROUNDS; i++)
        if (SUBMIT(rt, &add_kernel, PTO_INOUT(arg, 0, 8), PTO_PRIORITY(3), PTO_NAME("x")) < 0) return;
}

TEST(most_calls_of_a_short_kernel_are_made_by_the_caller_and_all_are_counted)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    for (int64_t run = 1; run < 4; run++) {
        int64_t sum = 0;
        EXPECT_EQ(pto_runtime_run(rt, many, &sum), PTO_OK);
        EXPECT_EQ(sum, ROUNDS);
        EXPECT_EQ(fast_calls + slow_calls, ROUNDS);
        EXPECT(fast_calls > ROUNDS / 2);
        const PTORunStats *s = pto_get_run_stats(rt);
        EXPECT_EQ(s->tasks, ROUNDS);
        EXPECT_EQ(s->worker_tasks[PTO_WORKER_CUBE], ROUNDS);
        EXPECT(s->worker_busy_ns[PTO_WORKER_CUBE] > 0);
        EXPECT_EQ(pto_get_flow_stats(rt)->task_ring_hwm, 1);
    }
    pto_runtime_destroy(rt);
}

TEST(who_watches_has_every_task_in_the_window)
{
    const PTOConfig closed[] = {
        {.engine = PTO_ENGINE_SERIAL, .always_defer = true},
        {.engine = PTO_ENGINE_SERIAL, .count_dependences = true},
        {.engine = PTO_ENGINE_SERIAL, .record_tasks = 16},
        {.engine = PTO_ENGINE_SERIAL, .checked = true},
        {.engine = PTO_ENGINE_TIMING},
    };
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        PTORuntime *rt = create(closed[i]);
        int64_t sum = 0;
        EXPECT_EQ(pto_runtime_run(rt, many, &sum), PTO_OK);
        EXPECT_EQ(sum, ROUNDS);
        EXPECT_EQ(fast_calls, 0);
        pto_runtime_destroy(rt);
    }
}

static void reset_in_between(PTORuntime *rt, void *arg)
{
    many(rt, arg);
    pto_reset_flow_stats(rt);
    EXPECT_EQ(pto_get_flow_stats(rt)->task_ring_hwm, 0);
    SUBMIT(rt, &add_kernel, PTO_INOUT(arg, 0, 8));
    EXPECT_EQ(pto_get_flow_stats(rt)->task_ring_hwm, 1);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, ROUNDS + 1);
    EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_CUBE], ROUNDS + 1);
}

TEST(marks_that_are_reset_see_the_next_task)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t sum = 0;
    EXPECT_EQ(pto_runtime_run(rt, reset_in_between, &sum), PTO_OK);
    pto_runtime_destroy(rt);
}

TEST(outside_of_a_run_nothing_is_called)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t sum = 0;
    EXPECT_EQ(pto_runtime_run(rt, many, &sum), PTO_OK);
    EXPECT_EQ(SUBMIT(rt, &add_kernel, PTO_INOUT(&sum, 0, 8)), PTO_ERR_STATE);
    EXPECT_EQ(SUBMIT(NULL, &add_kernel, PTO_INOUT(&sum, 0, 8)), PTO_ERR_MISUSE);
    EXPECT_EQ(sum, ROUNDS);
    pto_runtime_destroy(rt);
}

/* ---- what the kernel is given ------------------------------------------------------------------------------------ */

/* Numbers, as text would take so long that the kernel were no short one; so would notes of every access. */
enum { MAX_SEEN = 128 };
static int64_t seen[MAX_SEEN];
static int seen_count;
static char cells[1 << 16] __attribute__((aligned(64)));

/* Addresses outside of `cells` are those of new outputs. */
__attribute__((no_sanitize("thread"))) static int describe(const PTOArg *a, int count)
{
    int n = 0;
    note_way();
    for (int i = 0; i < count; i++) {
        seen[n++] = a[i].kind * 10000 + a[i].type * 100 + a[i].rank;
        if (a[i].kind == PTO_PARAM_SCALAR) {
            seen[n++] = a[i].value.i64;
            continue;
        }
        const ptrdiff_t at = (char *)a[i].ptr - cells;
        const bool is_cell = at >= 0 && at < (ptrdiff_t)sizeof cells;
        if (!is_cell) memset(a[i].ptr, 1, (size_t)a[i].shape[0]);
        seen[n++] = is_cell ? at : -1;
        for (int d = 0; d < a[i].rank; d++) {
            seen[n++] = a[i].shape[d];
            seen[n++] = a[i].stride[d];
        }
    }
    seen_count = n;
    return 0;
}
static int describe_1(const PTOArg *a) { return describe(a, 1); }
static int describe_3(const PTOArg *a) { return describe(a, 3); }
static int describe_8(const PTOArg *a) { return describe(a, 8); }
static const PTOKernel one = {.name = "one", .worker = PTO_WORKER_VECTOR, .fn = describe_1};
static const PTOKernel three = {.name = "three", .worker = PTO_WORKER_VECTOR, .fn = describe_3};
static const PTOKernel eight = {.name = "eight", .worker = PTO_WORKER_VECTOR, .fn = describe_8};

enum { GOOD = 18, FIRST_LONG = 13 };

static int64_t submit_good(PTORuntime *rt, int which)
{
    static const int64_t five[] = {1, 2, 1, 2, 3};
    void *p = NULL, *q = NULL, *at = cells;
    PTOTaskParam deep = PTO_INPUT(cells, 0, 0);
    deep.rank = 5;
    deep.shape = five;
    switch (which) {
    case 0: return SUBMIT(rt, &one, PTO_INPUT(cells, 3, 64));
    case 1: return SUBMIT(rt, &one, PTO_INOUT(cells, 3, PTO_ARRAY(PTO_F64, 7)));
    case 2: return SUBMIT(rt, &one, PTO_ACC(cells, 3, PTO_STRIDED(PTO_U16, (7), (5))));
    case 3: return SUBMIT(rt, &one, PTO_INPUT_OF(cells, 1000, PTO_ARRAY(PTO_I8, 7, 9)));
    case 4: return SUBMIT(rt, &one, PTO_INPUT(cells, 3, PTO_STRIDED(PTO_F16, (7, 9), (20, 2))));
    case 5: return SUBMIT(rt, &one, PTO_INPUT(cells, 3, PTO_STRIDED(PTO_F32, (7, 9), (0, 0))));
    case 6: return SUBMIT(rt, &one, PTO_INPUT(cells, 3, PTO_ARRAY(PTO_BOOL, 2, 1)));
    case 7: return SUBMIT(rt, &one, PTO_OUTPUT(&at, 3, PTO_STRIDED(PTO_I64, (4, 5), (10, 1))));
    case 8:
        return SUBMIT(rt, &three, PTO_INPUT(cells, 0, 8), PTO_PRIORITY(7), PTO_SCALAR((int64_t)-1), PTO_NAME("n"),
                      PTO_SCALAR(2.5f));
    case 9: return SUBMIT(rt, &three, PTO_OUTPUT(&p, 0, 100), PTO_SCALAR(true), PTO_SCALAR(1e300));
    case 10: return SUBMIT(rt, &one, PTO_OUTPUT_IN(PTO_SCOPE_CURRENT, &p, 0, PTO_STRIDED(PTO_BF16, (1, 9), (77, 1))));
    case 11:
        return SUBMIT(rt, &eight, PTO_INPUT(cells, 0, 8), PTO_INPUT(cells, 1, 8), PTO_INPUT(cells, 2, 8),
                      PTO_INPUT(cells, 3, 8), PTO_INPUT(cells, 4, 8), PTO_INPUT(cells, 5, 8), PTO_INPUT(cells, 6, 8),
                      PTO_OUTPUT(&p, 0, 8));
    case 12: return SUBMIT(rt, &one, PTO_OUTPUT(&p, 0, PTO_ARRAY(PTO_I32, 6, 7)));
    /* The slow path. */
    case 13: return SUBMIT(rt, &three, PTO_INPUT(cells, 0, 8), PTO_OUTPUT(&p, 0, 8), PTO_OUTPUT(&q, 0, 8));
    case 14: return SUBMIT(rt, &one, PTO_INPUT(cells, 0, 8), PTO_TIMEOUT(100000));
    case 15: return SUBMIT(rt, &one, deep);
    case 16: return SUBMIT(rt, &one, PTO_OUTPUT(&p, 0, PTO_ARRAY(PTO_I32, 6, 7, 2)));
    case 17: return SUBMIT(rt, &one, PTO_OUTPUT(&at, 3, PTO_STRIDED(PTO_I64, (2, 3, 4, 5), (500, 100, 10, 1))));
    default: return INT64_MIN;
    }
}

struct good {
    int which;
    bool was_fast, was_wrong;
    int count;
    int64_t seen[MAX_SEEN];
};

/* Often enough to be neither the first call nor one that is measured; all see the same. */
static void submit_often(PTORuntime *rt, void *arg)
{
    struct good *g = arg;
    active = rt;
    fast_calls = slow_calls = 0;
    for (int i = 0; i < 40; i++) {
        pto_scope_begin(rt);
        seen_count = 0;
        g->was_wrong |= submit_good(rt, g->which) < 0 || seen_count == 0;
        if (i == 0) {
            g->count = seen_count;
            memcpy(g->seen, seen, sizeof seen);
        }
        g->was_wrong |= g->count != seen_count || memcmp(g->seen, seen, (size_t)seen_count * sizeof *seen) != 0;
        pto_scope_end(rt);
    }
    g->was_fast = fast_calls > 0;
}

TEST(a_kernel_is_given_the_same_arguments_both_ways)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    PTORuntime *deferred = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .always_defer = true});
    for (int i = 0; i < GOOD; i++) {
        static struct good now, later;
        now = (struct good){.which = i}, later = (struct good){.which = i};
        EXPECT_EQ(pto_runtime_run(rt, submit_often, &now), PTO_OK);
        EXPECT_EQ(pto_runtime_run(deferred, submit_often, &later), PTO_OK);
        EXPECT(!now.was_wrong && !later.was_wrong);
        EXPECT_EQ(now.count, later.count);
        for (int k = 0; k < now.count; k++) EXPECT_EQ(now.seen[k], later.seen[k]);
        EXPECT(!later.was_fast);
        EXPECT_EQ(now.was_fast, i < FIRST_LONG);
    }
    pto_runtime_destroy(rt);
    pto_runtime_destroy(deferred);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static int nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel quiet = {.name = "quiet", .worker = PTO_WORKER_VECTOR, .fn = nothing};

enum { BAD = 22 };

/* `held` is a buffer of 64 bytes, and another lies behind it; `gone` has been released. */
static int64_t submit_bad(PTORuntime *rt, int which, void *held, void *gone)
{
    static const int64_t shape[] = {4, 4}, backwards[] = {-4, 1}, negative[] = {4, -1}, huge[] = {INT64_MAX / 2, 4};
    static void *const null = NULL;
    void *p = NULL;
    PTOTaskParam view = PTO_INPUT(cells, 0, 0);
    view.type = PTO_F32;
    view.rank = 2;
    view.shape = shape;
    switch (which) {
    case 0: return SUBMIT(rt, &quiet, PTO_INPUT(held, 0, 65));
    case 1: return SUBMIT(rt, &quiet, PTO_INPUT(held, 1, 64));
    case 2: return SUBMIT(rt, &quiet, PTO_INPUT(held, 0, PTO_ARRAY(PTO_F32, 17)));
    case 3: return SUBMIT(rt, &quiet, PTO_INPUT(held, 1, PTO_ARRAY(PTO_F32, 4, 4)));
    case 4: return SUBMIT(rt, &quiet, PTO_INPUT(held, 0, PTO_STRIDED(PTO_F32, (2, 2), (15, 1))));
    case 5: return SUBMIT(rt, &quiet, PTO_INPUT((char *)held + 60, 0, 5));
    case 6: return SUBMIT(rt, &quiet, PTO_INPUT(gone, 0, 1));
    case 7: return SUBMIT(rt, &quiet, PTO_INPUT((char *)gone + 3, 0, 1));
    case 8: return SUBMIT(rt, &quiet, PTO_INPUT(null, 0, 8));
    case 9: return SUBMIT(rt, &quiet, PTO_INOUT(null, 0, PTO_ARRAY(PTO_I8, 1)));
    case 10: return SUBMIT(rt, &quiet, PTO_INPUT(cells, -1, 8));
    case 11: return SUBMIT(rt, &quiet, PTO_INPUT(cells, 0, -8));
    case 12: return SUBMIT(rt, &quiet, PTO_INPUT(cells, INT64_MAX / 4, PTO_ARRAY(PTO_I64, 4)));
    case 13: return SUBMIT(rt, &quiet, PTO_OUTPUT(NULL, 0, 8));
    case 14: return SUBMIT(rt, &quiet, PTO_OUTPUT(&p, 1, PTO_ARRAY(PTO_I64, 4)));
    case 15: return SUBMIT(rt, &quiet, PTO_OUTPUT(&p, 0, PTO_STRIDED(PTO_I64, (4, 2), (3, 1))));
    case 16: return SUBMIT(rt, &quiet, PTO_OUTPUT(&p, 0, 1 << 20));
    case 17: return SUBMIT(rt, &quiet, PTO_OUTPUT_IN(77, &p, 0, 8));
    case 18: view.stride = backwards; return SUBMIT(rt, &quiet, view);
    case 19: view.shape = negative; return SUBMIT(rt, &quiet, view);
    case 20: view.shape = huge; return SUBMIT(rt, &quiet, view);
    case 21: view.type = PTO_TYPE_COUNT; return SUBMIT(rt, &quiet, view);
    default: return INT64_MIN;
    }
}

struct bad {
    int which;
    int64_t returned;
};

static void submit_one_bad(PTORuntime *rt, void *arg)
{
    static const PTOSite site = {"a.pto", 7, 3, "here"};
    struct bad *b = arg;
    void *held = NULL, *behind = NULL, *gone = NULL;
    pto_at(rt, &site);
    SUBMIT(rt, &quiet, PTO_OUTPUT(&held, 0, 64));
    SUBMIT(rt, &quiet, PTO_OUTPUT(&behind, 0, 64));
    SUBMIT(rt, &quiet, PTO_OUTPUT(&gone, 0, 64));
    pto_release(rt, gone);
    for (int i = 0; i < 3; i++) SUBMIT(rt, &quiet, PTO_INPUT(held, 0, 64), PTO_INOUT((char *)held + 32, 0, 32));
    b->returned = submit_bad(rt, b->which, held, gone);
}

TEST(every_wrong_submit_is_refused_in_the_same_words)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096});
    PTORuntime *deferred = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096, .always_defer = true});
    for (int i = 0; i < BAD; i++) {
        struct bad now = {.which = i}, later = {.which = i};
        const PTOStatus status = pto_runtime_run(rt, submit_one_bad, &now);
        EXPECT(status < 0);
        EXPECT_EQ(status, pto_runtime_run(deferred, submit_one_bad, &later));
        EXPECT_EQ(now.returned, status);
        EXPECT_EQ(now.returned, later.returned);
        EXPECT_STR(pto_last_error(rt), pto_last_error(deferred));
        EXPECT_EQ(strncmp(pto_last_error(rt), "a.pto:7:3: error", 16), 0);
    }
    struct bad none = {.which = BAD};
    EXPECT_EQ(pto_runtime_run(rt, submit_one_bad, &none), PTO_OK);
    EXPECT(none.returned == INT64_MIN); /* BAD is their number */
    pto_runtime_destroy(rt);
    pto_runtime_destroy(deferred);
}

/* One more output than there is room for. */
static void fill(PTORuntime *rt, void *arg)
{
    int64_t *made = arg;
    for (*made = 0; *made < 1000; ++*made) {
        void *p = NULL;
        if (SUBMIT(rt, &quiet, PTO_OUTPUT(&p, 0, 64)) < 0) return;
    }
}

TEST(a_full_heap_is_reported_as_ever)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 1024, .heap_rings = 1});
    PTORuntime *deferred =
        create((PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 1024, .heap_rings = 1, .always_defer = true});
    int64_t made, later;
    EXPECT_EQ(pto_runtime_run(rt, fill, &made), PTO_ERR_DEADLOCK);
    EXPECT_EQ(pto_runtime_run(deferred, fill, &later), PTO_ERR_DEADLOCK);
    EXPECT_EQ(made, 16);
    EXPECT_EQ(later, 16);
    EXPECT_STR(pto_last_error(rt), pto_last_error(deferred));
    EXPECT_EQ(pto_get_flow_stats(rt)->heap_ring_stalls, pto_get_flow_stats(deferred)->heap_ring_stalls);
    EXPECT_EQ(pto_get_run_stats(rt)->allocations, 16);
    pto_runtime_destroy(rt);
    pto_runtime_destroy(deferred);
}

/* ---- how a run ends ---------------------------------------------------------------------------------------------- */

static int64_t fails_at;
static int fail_at(const PTOArg *a)
{
    note_way();
    return ++*(int64_t *)a[0].ptr == fails_at ? 7 : 0;
}
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_CUBE, .fn = fail_at};

static void fail_alternately(PTORuntime *rt, void *arg)
{
    static const PTOSite site = {"b.pto", 2, 5, "failing"};
    int64_t count = 0;
    active = rt;
    pto_at(rt, &site);
    for (int i = 0; i < 100; i++) {
        void *p = NULL;
        fast_calls = 0;
        const int64_t number = SUBMIT(rt, &failing, PTO_INOUT(&count, 0, PTO_ARRAY(PTO_I64, 1)), PTO_OUTPUT(&p, 0, 16),
                                      PTO_SCALAR((int64_t)9));
        if (count < fails_at) continue;
        EXPECT_EQ(count, fails_at);
        EXPECT(number >= 0); /* as when the task is deferred: the next submit returns the failure */
        EXPECT_EQ(SUBMIT(rt, &failing, PTO_INOUT(&count, 0, 8), PTO_OUTPUT(&p, 0, 16)), PTO_ERR_KERNEL);
        EXPECT_EQ(count, fails_at);
        *(int64_t *)arg += fast_calls;
        return;
    }
}

TEST(a_kernel_that_fails_is_named_with_its_arguments_place_and_number)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t numbers = 0, was_fast = 0;
    for (fails_at = 1; fails_at < 40; fails_at++) {
        char expected[200];
        EXPECT_EQ(pto_runtime_run(rt, fail_alternately, &was_fast), PTO_ERR_KERNEL);
        snprintf(expected, sizeof expected,
                 "b.pto:2:5: error: kernel 'failing' failed: it returned 7 (task %lld)\n  of (i64[1], byte[16], 9)",
                 (long long)(numbers + fails_at - 1));
        EXPECT_STR(pto_last_error(rt), expected);
        numbers += fails_at;
    }
    EXPECT(was_fast > 10);
    pto_runtime_destroy(rt);
}

static int cancel_at_30(const PTOArg *a)
{
    if (++*(int64_t *)a[0].ptr == 30) pto_cancel(active);
    return 0;
}
static const PTOKernel cancelling = {.name = "cancelling", .worker = PTO_WORKER_CUBE, .fn = cancel_at_30};

static void cancel_in_between(PTORuntime *rt, void *arg)
{
    active = rt;
    for (int i = 0; i < 100; i++) SUBMIT(rt, &cancelling, PTO_INOUT(arg, 0, 8));
}

TEST(a_cancelled_run_calls_no_more_kernels)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t count = 0;
    EXPECT_EQ(pto_runtime_run(rt, cancel_in_between, &count), PTO_ERR_CANCELLED);
    EXPECT_EQ(count, 30);
    pto_runtime_destroy(rt);
}

/* ---- runs in kernels of runs ------------------------------------------------------------------------------------- */

static PTORuntime *inner;
static int run_inside(const PTOArg *a)
{
    PTORuntime *const outer = active;
    int64_t sum = 0;
    const PTOStatus status = pto_runtime_run(inner, many, &sum);
    active = outer;
    *(int64_t *)a[0].ptr += sum;
    return (int)status;
}
static const PTOKernel nesting = {.name = "nesting", .worker = PTO_WORKER_CUBE, .fn = run_inside};

static void nest(PTORuntime *rt, void *arg)
{
    for (int i = 0; i < 20; i++) {
        many(rt, arg);
        SUBMIT(rt, &nesting, PTO_INOUT(arg, 0, 8));
    }
}

TEST(a_kernel_may_run_another_runtime)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    inner = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    int64_t sum = 0;
    EXPECT_EQ(pto_runtime_run(rt, nest, &sum), PTO_OK);
    EXPECT_EQ(sum, 40 * ROUNDS);
    EXPECT_EQ(pto_get_run_stats(rt)->tasks, 20 * (ROUNDS + 1));
    EXPECT_EQ(pto_get_run_stats(inner)->tasks, ROUNDS);
    pto_runtime_destroy(inner);
    pto_runtime_destroy(rt);
}

/* ---- overlap of two views, which callers look at before a submit ------------------------------------------------- */

static uint64_t state = 1;
static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

struct view {
    int64_t shape[3], stride[3];
    PTOTaskParam p;
};

static void make_view(struct view *v)
{
    v->p = (PTOTaskParam)PTO_INPUT(cells, below(40), 0);
    v->p.rank = (uint8_t)(1 + below(3));
    v->p.type = (uint8_t)(1 + below(PTO_TYPE_COUNT - 1));
    v->p.shape = v->shape;
    if (below(2)) v->p.stride = v->stride;
    for (int d = 0; d < v->p.rank; d++) {
        v->shape[d] = below(8) == 0 ? 0 : 1 + below(6);
        v->stride[d] = below(12);
    }
}

TEST(the_inlined_look_at_two_views_says_what_the_exact_one_says)
{
    int64_t overlaps = 0;
    for (int i = 0; i < 200000; i++) {
        struct view a, b;
        make_view(&a);
        make_view(&b);
        const bool exact = (pto_views_overlap)(&a.p, &b.p);
        EXPECT_EQ(pto_views_overlap(&a.p, &b.p), exact);
        overlaps += exact;
    }
    EXPECT(overlaps > 20000 && overlaps < 180000);
    PTOTaskParam far = PTO_INPUT(cells, INT64_MAX / 2, PTO_ARRAY(PTO_F64, 4)),
                 near = PTO_INPUT(cells, 0, PTO_ARRAY(PTO_F64, 4));
    EXPECT_EQ(pto_views_overlap(&far, &near), (pto_views_overlap)(&far, &near));
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool is_another(void *context, const PTOKernel *kernel) { return kernel != context; }

TEST(asked_again_a_kernel_that_is_fine_keeps_its_line_and_another_loses_it)
{
    static PTOKernel kernel[16];
    for (int i = 0; i < 16; i++) kernel[i] = add_kernel;
    int other = 1;
    while (other < 15 && pto_kernel_line_(&kernel[other]) == pto_kernel_line_(&kernel[0])) other++;
    PTOFastPath open = {0};
    struct fast_path fast;
    ptoi_fast_init(&fast, &open);
    ptoi_fast_measured(&fast, &kernel[0], 100, true);
    ptoi_fast_measured(&fast, &kernel[other], 100, true);
    const PTOKernelLine *stays = &open.line[pto_kernel_line_(&kernel[0])],
                        *goes = &open.line[pto_kernel_line_(&kernel[other])];
    const int64_t given = stays->left;
    EXPECT(given > 0);
    EXPECT_EQ(goes->left, given);
    EXPECT(!ptoi_fast_is_due(&fast, &kernel[other])); /* one call, which is counted */
    for (int i = 0; i < 2; i++) {
        ptoi_fast_ask(&fast, is_another, &kernel[other]);
        EXPECT_EQ(stays->left, given);
        EXPECT(goes->left < 0);
        EXPECT(ptoi_fast_is_due(&fast, &kernel[other]));
    }
    ptoi_fast_count(&fast);
    EXPECT_EQ(fast.tasks[PTO_WORKER_CUBE], 3);
    EXPECT_EQ(fast.busy_ns[PTO_WORKER_CUBE], 300);
}
