/* test_strip_bodies.c - strips of loops (pto_strip.h) whose calls make tensors for each other, or compare: results are
 * those of single tasks, with any heap; what finds no room is left to the loop. */
#include "spin.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <string.h>

enum { N = 60, T = 16, ROUNDS = 60 };

/* o = 3 a + 1 */
static int make(const PTOArg *a)
{
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        ((int64_t *)a[1].ptr)[i] = (int64_t)(3 * (uint64_t)((const int64_t *)a[0].ptr)[i * a[0].stride[0]] + 1);
    spin(150);
    return 0;
}
/* o = 5 o + a, and 7 more where `more` holds: the order of the calls decides the result */
static int use(const PTOArg *a)
{
    for (int64_t i = 0; i < a[0].shape[0]; i++) {
        int64_t *const o = &((int64_t *)a[1].ptr)[i * a[1].stride[0]];
        *o = (int64_t)((uint64_t)*o * 5 + (uint64_t)((const int64_t *)a[0].ptr)[i] + (a[2].value.i64 != 0 ? 7 : 0));
    }
    spin(150);
    return 0;
}
static const PTOKernel make_kernel = {.name = "make", .worker = PTO_WORKER_CUBE, .fn = make, .formals = "a, o"};
static const PTOKernel use_kernel = {.name = "use", .worker = PTO_WORKER_CUBE, .fn = use, .formals = "a, o, more"};
static const PTOKernel on_vector = {.name = "use", .worker = PTO_WORKER_VECTOR, .fn = use, .formals = "a, o, more"};
static const PTOSiteLine here = PTO_SITE_LINE("bodies.pto", 7, 3, "make", 0, 3, "i");

struct plan {
    bool is_private;  /* the tensor between the calls is one of the body */
    bool moves;       /* that tensor moves, so it cannot be made by strips */
    int64_t step;     /* of the tensor that is updated: 0, all iterations update one */
    int test;         /* the comparison, 0 to 5: < <= == != >= > */
    int64_t limit;    /* what the number of the iteration is compared with */
    bool when;        /* holds at all */
    int64_t elements; /* of the tensor between the calls, T or more */
    const PTOKernel *user;
    bool by_strips;
    int64_t taken;
};

static int64_t m[N * T], want[N * T], *data;

static bool holds(const struct plan *p, int64_t n)
{
    const bool is[] = {n<p->limit, n <= p->limit, n == p->limit, n != p->limit, n >= p->limit, n> p->limit};
    return p->when && is[p->test];
}

static void single(PTORuntime *rt, const struct plan *p, int64_t n, void **made)
{
    pto_submit_task(
        rt, &make_kernel,
        (PTOTaskParam[]){PTO_INPUT(data, n * T, PTO_ARRAY(PTO_I64, T)), PTO_OUTPUT(made, 0, PTO_ARRAY(PTO_I64, T))}, 2);
    pto_submit_task(rt, p->user,
                    (PTOTaskParam[]){PTO_INPUT(*made, 0, PTO_ARRAY(PTO_I64, T)),
                                     PTO_INOUT(data, n * p->step, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(holds(p, n))},
                    3);
}

static int64_t offer(PTORuntime *rt, const struct plan *p, void **outer)
{
    void *own = NULL;
    void **const made = p->is_private ? &own : outer;
    PTOTaskParam first[][2] = {
        {PTO_INPUT(data, 0, PTO_ARRAY(PTO_I64, T)), PTO_STRIP_PRIVATE(made, 0, PTO_ARRAY(PTO_I64, p->elements))},
        {PTO_INPUT(data, 0, PTO_ARRAY(PTO_I64, T)), PTO_OUTPUT(made, 0, PTO_ARRAY(PTO_I64, p->elements))}};
#define SECOND(test)                                                                                                   \
    {PTO_STRIP_INPUT(made, 0, PTO_ARRAY(PTO_I64, T)), PTO_INOUT(data, 0, PTO_ARRAY(PTO_I64, T)),                       \
     PTO_STRIP_TEST_IF(p->when, 0, test, p->limit)}
    PTOTaskParam second[][3] = {SECOND(<), SECOND(<=), SECOND(==), SECOND(!=), SECOND(>=), SECOND(>)};
    const int64_t moved = p->moves ? 1 : 0;
    const PTOStripCall calls[] = {
        {&make_kernel, &here, first[!p->is_private], (int64_t[]){T, moved}, 2},
        {p->user, &here, second[p->test], (int64_t[]){moved, p->step, 1}, 3},
    };
    const int64_t taken = pto_submit_strips(rt, 0, N, 1, calls, 2);
    assert_null(own);
    return taken;
}

static void loop(PTORuntime *rt, void *arg)
{
    struct plan *const p = arg;
    pto_buffer(rt, data, sizeof m);
    for (int r = 0; r < ROUNDS; r++) {
        void *outer = NULL;
        pto_scope_begin(rt);
        const int64_t taken = p->by_strips && pto_takes_strips(rt) ? offer(rt, p, &outer) : 0;
        assert_in_range(taken, 0, N);
        if (taken > 0) assert_int_equal(outer != NULL, !p->is_private);
        p->taken += taken;
        for (int64_t n = taken; n < N; n++) {
            void *made = NULL;
            if (p->is_private) pto_scope_begin(rt);
            single(rt, p, n, p->is_private ? &made : &outer);
            if (p->is_private) pto_scope_end(rt);
        }
        pto_scope_end(rt);
    }
}

static void fill(int64_t *to)
{
    for (int i = 0; i < N * T; i++) to[i] = (int64_t)i * i % 101;
    data = to;
}

static int64_t check(struct plan p, PTOConfig c)
{
    PTOConfig serial = {.engine = PTO_ENGINE_SERIAL};
    PTORuntime *rt = pto_runtime_create(&serial, NULL);
    assert_non_null(rt);
    p.by_strips = false;
    if (!p.user) p.user = &use_kernel;
    if (p.elements == 0) p.elements = T;
    fill(want);
    EXPECT_EQ(pto_run_entry(rt, loop, &p), PTO_OK);
    pto_runtime_destroy(rt);
    rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    p.by_strips = true;
    fill(m);
    EXPECT_EQ(pto_run_entry(rt, loop, &p), PTO_OK);
    const PTORunStats *s = pto_get_run_stats(rt);
    EXPECT_EQ(s->tasks, (int64_t)ROUNDS * N * 2);
    EXPECT_EQ(s->strip_tasks, p.taken * 2);
    int64_t at_workers = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) at_workers += s->worker_tasks[t];
    EXPECT_EQ(at_workers, s->tasks);
    EXPECT_EQ(s->worker_tasks[PTO_WORKER_VECTOR], p.user == &on_vector ? s->tasks / 2 : 0);
    pto_runtime_destroy(rt);
    assert_memory_equal(m, want, sizeof m);
    return p.taken;
}

static PTOConfig two_threads(void) { return (PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {2, 2, 0, 0}}; }

/* Whether strips are taken depends on the time that kernels take: a busy machine may need several attempts. */
enum { ATTEMPTS = 60 };

TEST(tensors_between_calls)
{
    int64_t taken = 0;
    for (int attempt = 0; attempt < ATTEMPTS && taken == 0; attempt++)
        for (int is_private = 0; is_private < 2; is_private++)
            for (int64_t step = 0; step <= T; step += T) {
                const struct plan p = {.is_private = is_private, .step = step, .when = true};
                PTOConfig c = two_threads();
                taken += check(p, c);
                c.task_window = 2;
                taken += check(p, c);
            }
    EXPECT(taken > 0);
}

/* One buffer, two buffers: the next strip waits, or its iterations become single tasks. */
TEST(a_heap_without_room_fails_no_run)
{
    for (int attempt = 0; attempt < 4; attempt++)
        for (int64_t buffers = 2; buffers <= 4; buffers++)
            for (int is_private = 0; is_private < 2; is_private++) {
                PTOConfig c = two_threads();
                c.heap_bytes = buffers * T * (int64_t)sizeof(int64_t);
                c.heap_rings = 1;
                check((struct plan){.is_private = is_private, .step = T}, c);
            }
}

TEST(what_finds_no_room_is_left_to_the_loop)
{
    for (int is_private = 0; is_private < 2; is_private++) {
        PTOConfig c = two_threads();
        c.heap_bytes = 64 * 1024;
        const struct plan p = {.is_private = is_private, .step = T, .elements = 1 << 20};
        EXPECT_EQ(check(p, c), 0);
    }
}

TEST(a_tensor_that_moves_is_left_to_the_loop)
{
    for (int is_private = 0; is_private < 2; is_private++)
        EXPECT_EQ(check((struct plan){.is_private = is_private, .step = T, .moves = true}, two_threads()), 0);
}

TEST(comparisons)
{
    static const int64_t limits[] = {INT64_MIN, -1, 0, 1, 7, N - 1, N, INT64_MAX};
    int64_t taken = 0;
    for (int attempt = 0; attempt < ATTEMPTS && taken == 0; attempt++)
        for (int test = 0; test < 6; test++)
            for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
                const struct plan p = {
                    .is_private = true, .test = test, .limit = limits[i], .when = i != 4 || test % 2};
                taken += check(p, two_threads());
            }
    EXPECT(taken > 0);
}

/* A strip of kernels of two types runs where the same workers run both. */
TEST(two_types_of_workers)
{
    const struct plan p = {.is_private = true, .step = T, .user = &on_vector};
    int64_t taken = 0;
    EXPECT_EQ(check(p, two_threads()), 0);
    for (int attempt = 0; attempt < ATTEMPTS && taken == 0; attempt++)
        taken += check(p, (PTOConfig){.engine = PTO_ENGINE_THREADS});
    EXPECT(taken > 0);
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

static int fail_where_it_holds(const PTOArg *a)
{
    spin(150);
    return a[1].value.i64 ? 9 : 0;
}
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_CUBE, .fn = fail_where_it_holds};

static void failing_loop(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int64_t r = 0; r < ROUNDS; r++) {
        void *own = NULL;
        PTOTaskParam p[] = {PTO_STRIP_PRIVATE(&own, 0, PTO_ARRAY(PTO_I64, T)),
                            PTO_STRIP_TEST(0, ==, r < ROUNDS - 1 ? -1 : 17)};
        const PTOStripCall call = {&failing, &here, p, (int64_t[]){0, 1}, 2};
        const int64_t taken = pto_takes_strips(rt) ? pto_submit_strips(rt, 0, N, 1, &call, 1) : 0;
        for (int64_t n = taken; n < N; n++) {
            void *made = NULL;
            pto_scope_begin(rt);
            pto_at(rt, &here);
            pto_submit_task(rt, &failing,
                            (PTOTaskParam[]){PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_I64, T)),
                                             PTO_SCALAR((bool)(r == ROUNDS - 1 && n == 17))},
                            2);
            pto_scope_end(rt);
        }
    }
}

TEST(failure_names_its_arguments)
{
    PTOConfig c = two_threads();
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_run_entry(rt, failing_loop, NULL), PTO_ERR_KERNEL);
    EXPECT(strstr(pto_last_error(rt), "kernel 'failing' failed: it returned 9"));
    EXPECT(strstr(pto_last_error(rt), "(i64[16], true)"));
    EXPECT(strstr(pto_last_error(rt), "bodies.pto:7:3"));
    EXPECT_EQ(pto_run_entry(rt, failing_loop, NULL), PTO_ERR_KERNEL); /* the next run begins without scopes */
    pto_runtime_destroy(rt);
}
