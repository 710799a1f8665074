/* test_strips.c - strips of loops (pto_strip.h) have the results of their iterations, one after the other, whatever the
 * tensors do from one iteration to the next; a strip that fails names the call that failed; calls that
 * a submit refuses are left to it. */
#include "spin.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_program.h>
#include <string.h>

enum { N = 48, T = 4, ROUNDS = 40 };

/* o += 3 a + b + k, element by element of 4 x 4 tiles: its result depends on the order of the calls. */
static int mix(const PTOArg *a)
{
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        for (int64_t j = 0; j < a[0].shape[1]; j++) {
            const int64_t x = ((const int64_t *)a[0].ptr)[i * a[0].stride[0] + j * a[0].stride[1]];
            const int64_t y = ((const int64_t *)a[1].ptr)[i * a[1].stride[0] + j * a[1].stride[1]];
            int64_t *o = &((int64_t *)a[2].ptr)[i * a[2].stride[0] + j * a[2].stride[1]];
            *o = (int64_t)((uint64_t)*o * 5 + 3 * (uint64_t)x + (uint64_t)y + (uint64_t)a[3].value.i64);
        }
    spin(150);
    return 0;
}
static const PTOKernel mix_kernel = {.name = "mix", .worker = PTO_WORKER_CUBE, .fn = mix, .formals = "a, b, o, k"};
static const PTOSiteLine here = PTO_SITE_LINE("strips.pto", 7, 3, "mix", 0, 3, "i");

/* A matrix of N x N numbers; one call, whose tiles begin there and move so far. */
struct access {
    int64_t a, b, o, by_a, by_b, by_o;
};
struct plan {
    struct access call[2];
    int32_t calls;
    int64_t iterations;
    int64_t *m;
    bool by_strips;
    int64_t taken;
};

static void one_by_one(PTORuntime *rt, const struct plan *p, int64_t from)
{
    for (int64_t n = from; n < p->iterations; n++)
        for (int32_t c = 0; c < p->calls; c++) {
            const struct access *x = &p->call[c];
            pto_submit_task(rt, &mix_kernel,
                            (PTOTaskParam[]){PTO_INPUT(p->m, x->a + n * x->by_a, PTO_STRIDED(PTO_I64, (T, T), (N, 1))),
                                             PTO_INPUT(p->m, x->b + n * x->by_b, PTO_STRIDED(PTO_I64, (T, T), (N, 1))),
                                             PTO_INOUT(p->m, x->o + n * x->by_o, PTO_STRIDED(PTO_I64, (T, T), (N, 1))),
                                             PTO_SCALAR(7 + 2 * n)},
                            4);
        }
}

/* A loop up by ones, by steps to an end between two of them, down, and at the edges of 64 bits.  How many iterations it
 * has submitted. */
static const int64_t by_of_round[] = {1, 5, -3, (int64_t)1 << 40, -((int64_t)1 << 40)};
enum { LOOPS = sizeof by_of_round / sizeof *by_of_round };
static int64_t by_strips(PTORuntime *rt, const struct plan *p, const PTOStripCall *call, int64_t by)
{
    const bool is_edge = by > 5 || by < -3;
    const int64_t first = is_edge ? (by > 0 ? INT64_MAX : INT64_MIN) - (p->iterations - 1) * by - by / 2 : 7;
    const int64_t end = is_edge ? (by > 0 ? INT64_MAX : INT64_MIN) : 7 + p->iterations * by - by / 2;
    const int64_t next = pto_submit_strips(rt, first, end, by, call, p->calls);
    if (is_edge && next == end) return p->iterations; /* the last one and a step are beyond */
    EXPECT_EQ((next - first) % by, 0);
    return (next - first) / by;
}

static void loop(PTORuntime *rt, void *arg)
{
    struct plan *p = arg;
    pto_buffer(rt, p->m, sizeof(int64_t) * N * N);
    for (int r = 0; r < ROUNDS; r++) {
        PTOTaskParam param[2][4];
        int64_t step[2][4], taken = 0;
        PTOStripCall call[2];
        const int64_t shape[] = {T, T}, stride[] = {N, 1};
        for (int32_t c = 0; c < p->calls; c++) {
            const struct access *x = &p->call[c];
            const PTOTaskParam params[] = {PTO_INPUT(p->m, x->a, PTO_STRIDED(PTO_I64, (T, T), (N, 1))),
                                           PTO_INPUT(p->m, x->b, PTO_STRIDED(PTO_I64, (T, T), (N, 1))),
                                           PTO_INOUT(p->m, x->o, PTO_STRIDED(PTO_I64, (T, T), (N, 1))), PTO_SCALAR(7)};
            memcpy(param[c], params, sizeof params);
            for (int i = 0; i < 3; i++) param[c][i].shape = shape, param[c][i].stride = stride;
            memcpy(step[c], (int64_t[]){x->by_a, x->by_b, x->by_o, 2}, sizeof step[c]);
            call[c] = (PTOStripCall){&mix_kernel, &here, param[c], step[c], 4};
        }
        if (p->by_strips && pto_takes_strips(rt)) taken = by_strips(rt, p, call, by_of_round[r % LOOPS]);
        assert_in_range(taken, 0, p->iterations);
        p->taken += taken;
        one_by_one(rt, p, taken);
    }
}

static void fill(int64_t *m)
{
    for (int i = 0; i < N * N; i++) m[i] = (int64_t)i * i % 101;
}

static int64_t m[N * N], want[N * N];

static int64_t check(struct plan p, PTOConfig c)
{
    PTOConfig serial = {.engine = PTO_ENGINE_SERIAL, .workers = {1, 0, 0, 0}};
    PTORuntime *rt = pto_runtime_create(&serial, NULL);
    assert_non_null(rt);
    p.by_strips = false;
    fill(p.m = want);
    EXPECT_EQ(pto_run_entry(rt, loop, &p), PTO_OK);
    pto_runtime_destroy(rt);
    rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    p.by_strips = true;
    fill(p.m = m);
    EXPECT_EQ(pto_run_entry(rt, loop, &p), PTO_OK);
    const PTORunStats *s = pto_get_run_stats(rt);
    EXPECT_EQ(s->tasks, ROUNDS * p.iterations * p.calls);
    EXPECT_EQ(s->strip_tasks, p.taken * p.calls);
    int64_t at_workers = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) at_workers += s->worker_tasks[t];
    EXPECT_EQ(at_workers, s->tasks);
    pto_runtime_destroy(rt);
    assert_memory_equal(m, want, sizeof m);
    return p.taken;
}

static PTOConfig two_threads(void) { return (PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {2, 0, 0, 0}}; }

enum { ROW = T * N };
static const struct plan plans[] = {
    {{{0, ROW, 2 * ROW, T, T, T}}, 1, N / T, NULL, false, 0},                    /* three rows of tiles */
    {{{0, T, 2 * T, ROW, ROW, ROW}}, 1, N / T, NULL, false, 0},                  /* three columns */
    {{{0, ROW + T, 5 * ROW, T, 0, 0}}, 1, N / T, NULL, false, 0},                /* all into one tile */
    {{{0, T, 2 * T, T, T, T}}, 1, N / T - 2, NULL, false, 0},                    /* each reads what others wrote */
    {{{N - T, N - 2 * T, N - 3 * T, -T, -T, -T}}, 1, N / T - 2, NULL, false, 0}, /* the same, backwards */
    {{{0, ROW + T, 7, ROW + T, 2, 1}}, 1, N / T - 1, NULL, false, 0},            /* a diagonal; tiles that overlap */
    {{{0, ROW, 2 * ROW, T, T, T}, {2 * ROW, 0, 3 * ROW, T, T, 0}}, 2, N / T, NULL, false, 0}, /* two calls */
};

TEST(pieces_are_full_until_the_end_is_near)
{
    EXPECT_EQ(pto_full_end(0, 10, 10, 4), 7); /* 0, 4; the piece at 8 is shorter */
    EXPECT_EQ(pto_full_end(4, 12, 8, 4), 9);
    EXPECT_EQ(pto_full_end(8, 10, 2, 4), 8);
    EXPECT_EQ(pto_full_end(0, 10, 3, 4), 0);
    EXPECT_EQ(pto_full_end(0, 10, 400, 4), 10); /* the loop ends before */
    EXPECT_EQ(pto_full_end(5, 5, 400, 4), 5);   /* where another piece is short already */
    EXPECT_EQ(pto_full_end(5, pto_full_end(5, 8, 3, 4), 9, 4), 5);
    EXPECT_EQ(pto_full_end(0, 10, 13, 4), 10);
    EXPECT_EQ(pto_full_end(0, 10, 12, 4), 9);
    EXPECT_EQ(pto_full_end(INT64_MAX - 9, INT64_MAX, INT64_MAX, INT64_MIN), INT64_MAX);
    EXPECT_EQ(pto_full_end(INT64_MIN, INT64_MAX, INT64_MAX, INT64_MIN), INT64_MAX);
    EXPECT_EQ(pto_full_end(INT64_MIN, INT64_MAX, 10, 4), INT64_MIN + 7);
    EXPECT_EQ(pto_full_end(INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN), INT64_MIN + 1);
}

TEST(results_are_those_of_single_tasks)
{
    int64_t taken = 0;
    /* whether strips are taken depends on the time that kernels take: a busy machine may need several attempts */
    for (int attempt = 0; attempt < 100 && taken == 0; attempt++)
        for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
            PTOConfig c = two_threads();
            taken += check(plans[i], c);
            c.always_defer = true;
            taken += check(plans[i], c);
            c.task_window = 2;
            taken += check(plans[i], c);
            c.always_defer = false;
            taken += check(plans[i], c);
        }
    EXPECT(taken > 0);
}

/* One row of tiles is read upwards and downwards.  Some of the loops are one strip: both read the same tiles. */
TEST(two_directions_in_one_row)
{
    int64_t taken = 0;
    for (int attempt = 0; attempt < 100 && taken == 0; attempt++)
        for (int64_t n = 2; n <= N / T; n++) {
            PTOConfig c = two_threads();
            const struct plan p = {{{0, (n - 1) * T, 2 * ROW, T, -T, T}}, 1, n, NULL, false, 0};
            taken += check(p, c);
            c.task_window = 2;
            taken += check(p, c);
        }
    EXPECT(taken > 0);
}

TEST(other_runs_take_none)
{
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .workers = {1, 0, 0, 0}};
    EXPECT_EQ(check(plans[0], c), 0);
    c = two_threads();
    c.record_tasks = 100000;
    EXPECT_EQ(check(plans[0], c), 0);
    c = two_threads();
    c.checked = true;
    EXPECT_EQ(check(plans[0], c), 0);
    c = two_threads();
    c.watchdog_seconds = 600; /* it names the kernel that does not return */
    EXPECT_EQ(check(plans[0], c), 0);
}

/* ---- tasks that may not be executed inline ----------------------------------------------------------------------- */

static int add_one(const PTOArg *a)
{
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static const PTOKernel finest = {.name = "finest", .worker = PTO_WORKER_CUBE, .fn = add_one};

static void finest_loop(PTORuntime *rt, void *arg)
{
    (void)arg;
    const int64_t shape[] = {1}, step[] = {1};
    for (int64_t k = 0; k < N * N;) {
        PTOTaskParam p[] = {PTO_INOUT(m, k, PTO_ARRAY(PTO_I64, 1))};
        p[0].shape = shape;
        const PTOStripCall call = {&finest, &here, p, step, 1};
        if (pto_takes_strips(rt)) k = pto_submit_strips(rt, k, N * N, 1, &call, 1);
        for (const int64_t end = pto_next_offer(rt, k, N * N, 1); k < end; k++)
            pto_submit_task(rt, &finest, (PTOTaskParam[]){PTO_INOUT(m, k, PTO_ARRAY(PTO_I64, 1))}, 1);
    }
}

/* Strips need no kernels that are worth a task of their own where the finest ones are deferred, too. */
static void expect_strips_of_the_finest(PTOConfig c)
{
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    memset(m, 0, sizeof m);
    int64_t strips = 0, runs = 0;
    for (; runs < 100 && strips == 0; runs++) {
        EXPECT_EQ(pto_run_entry(rt, finest_loop, NULL), PTO_OK);
        strips = pto_get_run_stats(rt)->strips;
        EXPECT_EQ(pto_get_run_stats(rt)->at_submit, 0);
    }
    EXPECT(strips > 0);
    for (int64_t i = 0; i < N * N; i++) EXPECT_EQ(m[i], runs);
    pto_runtime_destroy(rt);
}

TEST(a_run_that_defers_all_hands_over_the_finest_in_strips)
{
    PTOConfig c = two_threads();
    c.always_defer = true;
    expect_strips_of_the_finest(c);
    c.task_window = 2;
    expect_strips_of_the_finest(c);
    c = two_threads();
    c.dedicated_scheduler = true;
    expect_strips_of_the_finest(c);
}

/* ---- failure ----------------------------------------------------------------------------------------------------- */

static int fail_at_30(const PTOArg *a)
{
    spin(150);
    return a[1].value.i64 == 30 ? 9 : 0;
}
static const PTOKernel failing = {.name = "thirtieth", .worker = PTO_WORKER_CUBE, .fn = fail_at_30};

struct failing_plan {
    const PTOSiteLine *site;
    bool ends_with_single_tasks;
};

static void failing_loop(PTORuntime *rt, void *arg)
{
    const struct failing_plan *plan = arg;
    const PTOSiteLine *site = plan->site;
    const int64_t shape[] = {T};
    for (int64_t r = 0; r < ROUNDS; r++) {
        PTOTaskParam p[] = {PTO_INOUT(m, 0, PTO_ARRAY(PTO_I64, T)),
                            PTO_SCALAR(r < ROUNDS - 1 ? (int64_t)100 : (int64_t)0)};
        p[0].shape = shape;
        const int64_t step[] = {T, 1};
        const PTOStripCall call = {&failing, site, p, step, 2};
        const bool is_offered = pto_takes_strips(rt) && !(r == ROUNDS - 1 && plan->ends_with_single_tasks);
        const int64_t taken = is_offered ? pto_submit_strips(rt, 0, N, 1, &call, 1) : 0;
        for (int64_t n = taken; n < N; n++) {
            pto_at(rt, site);
            PTOTaskParam q[] = {PTO_INOUT(m, n * T, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(p[1].value.i64 + n)};
            const int64_t number = pto_submit_task(rt, &failing, q, 2);
            EXPECT(number == r * N + n || pto_runtime_status(rt) != PTO_OK);
        }
    }
}

/* ---- what a submit refuses --------------------------------------------------------------------------------------- */

enum { FIRST = 7 };
static int64_t next_of(PTORuntime *rt, PTOStripCall call)
{
    return pto_submit_strips(rt, FIRST, FIRST + N, 1, &call, 1);
}

static void invalid_calls(PTORuntime *rt, void *arg)
{
    static const PTOKernel no_function = {.name = "none", .worker = PTO_WORKER_CUBE};
    const int64_t shape[] = {T}, step[] = {T, 1}, still[] = {T, 0}, far[] = {(int64_t)1 << 60, 1};
    const int64_t beyond[] = {INT64_MIN, 1}, most[] = {INT64_MAX, 1};
    PTOTaskParam p[] = {PTO_INOUT(m, 0, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR((int64_t)100)};
    PTOTaskParam real[] = {p[0], PTO_SCALAR(100.5)}, no_type[] = {p[0], p[1]};
    p[0].shape = real[0].shape = no_type[0].shape = shape;
    no_type[0].type = 77;
    for (int64_t n = 0; n < 200; n++) { /* the kernel is timed */
        PTOTaskParam q[] = {PTO_INOUT(m, n % N * T, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(100 + n)};
        pto_submit_task(rt, &failing, q, 2);
    }
    *(int64_t *)arg += next_of(rt, (PTOStripCall){&failing, &here, real, still, 2}) - FIRST;
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, step, -1}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, step, 0}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, NULL, step, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, NULL, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){NULL, &here, p, step, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&no_function, &here, p, step, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, no_type, step, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, far, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, beyond, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, p, most, 2}), FIRST);
    EXPECT_EQ(next_of(rt, (PTOStripCall){&failing, &here, real, step, 2}), FIRST); /* only an i64 grows */
}

TEST(invalid_calls_are_left_to_the_loop)
{
    PTOConfig c = two_threads();
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    int64_t taken = 0; /* of the valid ones */
    for (int attempt = 0; attempt < 100 && taken == 0; attempt++)
        EXPECT_EQ(pto_run_entry(rt, invalid_calls, &taken), PTO_OK);
    EXPECT(taken > 0);
    const PTOStripCall none = {&failing, &here, NULL, NULL, 0};
    EXPECT_EQ(next_of(rt, none), FIRST); /* outside of a run */
    EXPECT_EQ(next_of(NULL, none), FIRST);
    EXPECT(strstr(pto_last_error(NULL), "pto_submit_strips without a runtime"));
    pto_runtime_destroy(rt);
}

/* Iterations whose views lie in the memory. */
enum { INSIDE = N * N / T };
static void rows(PTORuntime *rt, int64_t end, int64_t *index)
{
    const int64_t shape[] = {T}, step[] = {T, 1};
    for (int64_t n = 0; n < end;) {
        PTOTaskParam p[] = {PTO_INOUT(m, n * T, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(100 + n)};
        p[0].shape = shape;
        const PTOStripCall call = {&failing, &here, p, step, 2};
        *index = n;
        if (pto_takes_strips(rt)) n = pto_submit_strips(rt, n, end, 1, &call, 1);
        for (const int64_t part = pto_next_offer(rt, n, end, 1); n < part; n++) {
            PTOTaskParam q[] = {PTO_INOUT(m, n * T, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(100 + n)};
            *index = n;
            pto_at(rt, &here);
            pto_submit_task(rt, &failing, q, 2);
        }
    }
}

static void leaving(PTORuntime *rt, void *arg)
{
    (void)arg;
    int64_t index[1];
    pto_enter_loops(rt, "f", index);
    pto_buffer(rt, m, sizeof m);
    for (int r = 0; r < ROUNDS; r++) rows(rt, INSIDE, index); /* the kernel is timed */
    rows(rt, 2 * INSIDE, index);
    pto_leave(rt);
}

/* A view that leaves its memory is reported in its iteration, not in the one that was offered. */
TEST(a_strip_ends_before_an_invalid_iteration)
{
    PTOConfig c = two_threads();
    int64_t strips = 0;
    char wanted[32];
    snprintf(wanted, sizeof wanted, "with i = %d", INSIDE);
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    for (int attempt = 0; attempt < 100 && strips == 0; attempt++) {
        EXPECT_EQ(pto_run_entry(rt, leaving, NULL), PTO_ERR_BOUNDS);
        EXPECT(strstr(pto_last_error(rt), wanted));
        strips = pto_get_run_stats(rt)->strips;
    }
    pto_runtime_destroy(rt);
    EXPECT(strips > 0);
}

#ifndef PTO_TINY /* there the times of kernels are drawn */
/* The first iteration that a long loop offers, if it has not got strips. */
static void offers(PTORuntime *rt, void *arg)
{
    int64_t *next = arg;
    const int64_t shape[] = {T}, step[] = {T, 1};
    PTOTaskParam p[] = {PTO_INOUT(m, 0, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR((int64_t)100)};
    p[0].shape = shape;
    const PTOStripCall call = {&failing, &here, p, step, 2};
    EXPECT(pto_next_offer(rt, 0, INT64_MAX, 1) > 0); /* also before any loop has made one */
    const int64_t taken = pto_takes_strips(rt) ? pto_submit_strips(rt, 0, N, 1, &call, 1) : 0;
    *next = pto_next_offer(rt, 0, INT64_MAX, 1);
    EXPECT_EQ(pto_next_offer(rt, 0, 2, 1), 2);
    EXPECT_EQ(pto_next_offer(rt, INT64_MAX - 3, INT64_MAX, 1), INT64_MAX);
    if (*next < INT64_MAX) EXPECT_EQ(pto_next_offer(rt, INT64_MIN, INT64_MAX, 1), INT64_MIN + *next);
    EXPECT_EQ(pto_next_offer(rt, 5, 7, 3), 7);
    EXPECT_EQ(pto_next_offer(rt, 7, 5, 3), 5);
    EXPECT_EQ(pto_next_offer(rt, 5, -7, -3), -7);
    EXPECT_EQ(pto_next_offer(rt, INT64_MIN, INT64_MAX, INT64_MAX), INT64_MAX);
    EXPECT_EQ(pto_next_offer(rt, INT64_MAX, INT64_MIN, INT64_MIN), INT64_MIN);
    if (*next < INT64_MAX) EXPECT_EQ(pto_next_offer(rt, 10, INT64_MAX, 1 << 20), 10 + (*next << 20));
    if (*next < INT64_MAX) EXPECT_EQ(pto_next_offer(rt, INT64_MAX, INT64_MIN, -7), INT64_MAX - 7 * *next);
    for (int64_t n = taken; n < 200; n++) {
        PTOTaskParam q[] = {PTO_INOUT(m, n % N * T, PTO_ARRAY(PTO_I64, T)), PTO_SCALAR(100 + n)};
        q[0].shape = shape;
        pto_submit_task(rt, &failing, q, 2);
    }
}

/* A loop that begins before its kernels were timed is offered again while it runs. */
TEST(a_loop_is_offered_again)
{
    PTOConfig c = two_threads(), serial = {.engine = PTO_ENGINE_SERIAL, .workers = {1, 0, 0, 0}};
    int64_t untimed, timed, never;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_run_entry(rt, offers, &untimed), PTO_OK);
    EXPECT_EQ(pto_run_entry(rt, offers, &timed), PTO_OK);
    pto_runtime_destroy(rt);
    EXPECT(untimed > 2 && untimed < 100 && timed > 10 * untimed && timed < 100000);
    rt = pto_runtime_create(&serial, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_run_entry(rt, offers, &never), PTO_OK);
    pto_runtime_destroy(rt);
    EXPECT_EQ(never, INT64_MAX);
}
#endif

/* Its number is that of a single task, however many of those before it, or it, were strips. */
TEST(failure_names_its_call)
{
    static const PTOSiteLine site = PTO_SITE_LINE("strips.pto", 12, 5, "thirtieth", 0, 9, "i");
    for (int n = 0; n < 4; n++) {
        struct failing_plan plan = {&site, n % 2 != 0};
        PTOConfig c = two_threads();
        c.always_defer = n / 2 != 0;
        int64_t strips = 0;
        for (int attempt = 0; attempt < 100 && strips == 0; attempt++) {
            PTORuntime *rt = pto_runtime_create(&c, NULL);
            assert_non_null(rt);
            EXPECT_EQ(pto_run_entry(rt, failing_loop, &plan), PTO_ERR_KERNEL);
            EXPECT(strstr(pto_last_error(rt), "kernel 'thirtieth' failed: it returned 9 (task 1902)"));
            EXPECT(strstr(pto_last_error(rt), "(i64[4], 30)"));
            EXPECT(strstr(pto_last_error(rt), "strips.pto:12:5"));
            strips = pto_get_run_stats(rt)->strips;
            pto_runtime_destroy(rt);
        }
        EXPECT(strips > 0);
    }
}
