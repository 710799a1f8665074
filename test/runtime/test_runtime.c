/* test_runtime.c - the promises of a run, on all engines whose workers are real: order, write-back, limits, proofs,
 * failure and the way back. */
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <pto/pto_program.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
#define EACH_ENGINE(c) for (size_t e_ = 0; e_ < 3 && ((c).engine = engines[e_], 1); e_++)

static PTORuntime *create(const PTOConfig *c)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    assert_int_equal(status, PTO_OK);
    return rt;
}

/* ---- kernels ---- */
static int k_set(const PTOArg *a) /* out[i] = value */
{
    for (int64_t i = 0; i < a[0].shape[0]; i++) ((int64_t *)a[0].ptr)[i * a[0].stride[0]] = a[1].value.i64;
    return 0;
}
static int k_add(const PTOArg *a) /* inout[i] += in[i] */
{
    for (int64_t i = 0; i < a[0].shape[0]; i++)
        ((int64_t *)a[1].ptr)[i * a[1].stride[0]] += ((int64_t *)a[0].ptr)[i * a[0].stride[0]];
    return 0;
}
static int k_twice(const PTOArg *a) /* inout = 2 * inout + 1: order matters */
{
    *(int64_t *)a[0].ptr = (int64_t)(2u * *(uint64_t *)a[0].ptr + 1u);
    return 0;
}
static int k_refuse(const PTOArg *a) { return (void)a, 9; }
static int k_fail(const PTOArg *a) { return (int)a[1].value.i64; }
static int k_slow(const PTOArg *a)
{
    usleep((useconds_t)a[1].value.i64);
    return 0;
}
static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static int k_many(const PTOArg *a) /* 63 inputs and one output: their sum */
{
    int64_t sum = 0;
    for (int i = 0; i < 63; i++) sum += *(int64_t *)a[i].ptr;
    *(int64_t *)a[63].ptr = sum;
    return 0;
}
static const PTOKernel set = {.name = "set", .worker = PTO_WORKER_VECTOR, .fn = k_set};
static const PTOKernel add = {.name = "add", .worker = PTO_WORKER_CUBE, .fn = k_add};
static const PTOKernel twice = {.name = "twice", .worker = PTO_WORKER_AI_CPU, .fn = k_twice};
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = k_fail};
static const PTOKernel slow = {.name = "slow", .worker = PTO_WORKER_VECTOR, .fn = k_slow};
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};
static const PTOKernel many = {.name = "many", .worker = PTO_WORKER_CUBE, .fn = k_many};

#define I64(n) PTO_ARRAY(PTO_I64, n)

/* ---- Mode B ---- */
struct shared {
    int64_t x[64];
    int64_t cells[63];
    int64_t n;
    int64_t got;
    PTORuntime *rt;
};

/* What kernels write must be memory that the workers of every engine reach, made before the runtime is. */
static struct shared *share;
__attribute__((constructor)) static void make_share(void) { share = pto_shared_alloc(sizeof *share); }
static struct shared *renew(struct shared to)
{
    *share = to;
    return share;
}

static void mode_b(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) {
        pto_scope_begin(rt);
        void *P = NULL;
        int64_t id = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(8)), PTO_SCALAR(i));
        assert_true(id >= 0 && P != NULL && (uintptr_t)P % 64 == 0);
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(8)), PTO_INOUT(s->x, 0, I64(8)));
        pto_scope_end(rt);
    }
}

TEST(h04_h06_an_output_is_written_back_and_inout_works_in_place)
{
    PTOConfig c = {.task_window = 4, .heap_bytes = 64, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        struct shared *s = renew((struct shared){.n = 500});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        for (int i = 0; i < 8; i++) EXPECT_EQ(s->x[i], 499 * 500 / 2);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 1000);
        pto_runtime_destroy(rt);
    }
}

static void chain(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) SUBMIT(rt, &twice, PTO_INOUT(s->x, 0, I64(1)));
}

TEST(counters_wrap_without_losing_order)
{
    static const int64_t starts[] = {((int64_t)1 << 31) - 8, ((int64_t)1 << 32) - 8, INT64_MAX - 7};
    for (int k = 0; k < 3; k++) {
        PTOConfig c = {.task_window = 4, .first_task_id = starts[k], .first_byte = starts[k] / 64 * 64};
        EACH_ENGINE(c)
        {
            struct shared *s = renew((struct shared){.n = 40});
            PTORuntime *rt = create(&c);
            EXPECT_EQ(pto_runtime_run(rt, chain, s), PTO_OK);
            EXPECT_EQ(s->x[0], ((int64_t)1 << 40) - 1);
            pto_runtime_destroy(rt);
        }
    }
}

/* ---- P3, P4: no limit on parameters up to 64, on fan-in, on a scope ---- */
static void wide(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    int64_t *cells = s->cells;
    for (int64_t i = 0; i < 63; i++) {
        void *cell = &cells[i];
        SUBMIT(rt, &set, PTO_OUTPUT(&cell, 0, I64(1)), PTO_SCALAR(i + 1));
    }
    PTOTaskParam p[64];
    for (int i = 0; i < 63; i++) p[i] = (PTOTaskParam)PTO_INPUT(&cells[i], 0, PTO_ARRAY(PTO_I64, 1));
    void *out = s->x;
    p[63] = (PTOTaskParam)PTO_OUTPUT(&out, 0, PTO_ARRAY(PTO_I64, 1));
    static const int64_t one[1] = {1};
    for (int i = 0; i < 64; i++) p[i].shape = one;
    assert_true(pto_submit_task(rt, &many, p, 64) >= 0);
    assert_int_equal(pto_await(rt, s->x, 0, 8), PTO_OK);
    s->got = s->x[0];
}

TEST(h10_sixty_four_parameters_and_any_fan_in_with_pools_of_two)
{
    PTOConfig c = {.task_window = 2, .deplist_entries = 2, .tensormap_entries = 2};
    EACH_ENGINE(c)
    {
        struct shared *s = renew((struct shared){0});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, wide, s), PTO_OK);
        EXPECT_EQ(s->got, 63 * 64 / 2);
        pto_runtime_destroy(rt);
    }
}

static void one_scope(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_scope_begin(rt);
    for (int64_t i = 0; i < s->n; i++) {
        void *P = NULL;
        SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(512)), PTO_SCALAR(i));
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(8)), PTO_INOUT(s->x, 0, I64(8)));
        pto_release(rt, P);
    }
    pto_scope_end(rt);
}

TEST(p4_p8_a_scope_may_have_any_number_of_tasks_in_constant_memory)
{
    PTOConfig c = {.task_window = 16, .heap_bytes = 1 << 18};
    EACH_ENGINE(c)
    {
        struct rusage before, after;
        struct shared *s = renew((struct shared){.n = 2000});
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, one_scope, s), PTO_OK);
        getrusage(RUSAGE_SELF, &before);
        *s = (struct shared){.n = 50000};
        EXPECT_EQ(pto_runtime_run(rt, one_scope, s), PTO_OK);
        getrusage(RUSAGE_SELF, &after);
        EXPECT_EQ(s->x[7], (int64_t)50000 * 49999 / 2);
        EXPECT(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB */
        pto_runtime_destroy(rt);
    }
}

/* ---- P7: a deadlock is proved, a slow kernel is none ---- */
static const PTOSite scope_site = {"hoard.pto", 3, 5, "scope \"hoard\""}, tensor_site = {"hoard.pto", 4, 9, "big"};

static void hoard(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &scope_site);
    pto_scope_begin(rt);
    for (int64_t i = 0; i < s->n; i++) {
        void *big = NULL;
        pto_at(rt, &tensor_site);
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&big, 0, I64(64)), PTO_SCALAR(i));
        if (s->got < 0) return;
    }
    pto_scope_end(rt);
}

TEST(p7_live_data_larger_than_the_heap_is_a_proved_deadlock_with_a_report)
{
    PTOConfig c = {.task_window = 8, .heap_bytes = 2048, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 5});
        EXPECT_EQ(pto_runtime_run(rt, hoard, s), PTO_ERR_DEADLOCK);
        EXPECT_EQ((uint64_t)s->got, (uint64_t)PTO_ERR_DEADLOCK);
        const char *text = pto_last_error(rt);
        EXPECT(strstr(text, "hoard.pto:4:9"));
        EXPECT(strstr(text, "scope \"hoard\" (hoard.pto:3)"));
        EXPECT(strstr(text, "the largest 'big' with 512 bytes"));
        EXPECT(strstr(text, "set PTOConfig.heap_bytes to 4096 or more"));
        *s = (struct shared){.n = 4}; /* and the next run is right */
        EXPECT_EQ(pto_runtime_run(rt, hoard, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void full_and_slow(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 12; i++) {
        pto_scope_begin(rt);
        void *P = NULL;
        SUBMIT(rt, &slow, PTO_OUTPUT(&P, 0, I64(128)), PTO_SCALAR((int64_t)30000));
        SUBMIT(rt, &nothing, PTO_INPUT(P, 0, I64(128)), PTO_INOUT(s->x, 0, I64(1)));
        pto_scope_end(rt);
    }
}

TEST(h47_a_slow_kernel_is_never_a_deadlock)
{
    PTOConfig c = {.task_window = 2, .heap_bytes = 1024, .heap_rings = 1, .deplist_entries = 2, .tensormap_entries = 2};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, full_and_slow, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void too_large(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &tensor_site);
    for (int i = 0; i < 2; i++) { /* one after the other: fits */
        pto_scope_begin(rt);
        void *P = NULL;
        SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64((1 << 20) / 8)), PTO_SCALAR((int64_t)i));
        pto_scope_end(rt);
    }
    if (s->n) {
        void *P = NULL;
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64((2 << 20) / 8)), PTO_SCALAR((int64_t)0));
    }
}

TEST(h37_a_request_larger_than_a_heap_ring_is_refused_with_its_site)
{
    PTOConfig c = {.heap_bytes = 3 << 19, .heap_rings = 1};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 0});
        EXPECT_EQ(pto_runtime_run(rt, too_large, s), PTO_OK);
        s->n = 1;
        EXPECT_EQ(pto_runtime_run(rt, too_large, s), PTO_ERR_TOO_LARGE);
        EXPECT(strstr(pto_last_error(rt), "hoard.pto:4:9: error: P needs 2097152 bytes"));
        pto_runtime_destroy(rt);
    }
}

/* ---- H43, H24, H25, H26: handles and scopes ---- */
static void empty_outputs(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL, *Q = NULL;
    s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(0)), PTO_SCALAR((int64_t)1));
    assert_null(P);
    SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(0)), PTO_INOUT(s->x, 0, I64(1)));
    SUBMIT(rt, &set, PTO_OUTPUT(&Q, 0, I64(1)), PTO_SCALAR((int64_t)7));
    SUBMIT(rt, &add, PTO_INPUT(Q, 0, I64(1)), PTO_INOUT(s->x, 0, I64(1)));
    assert_non_null(Q);
}

TEST(h43_a_zero_size_output_is_null_and_its_task_is_not_submitted)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, empty_outputs, s), PTO_OK);
        EXPECT_EQ(s->got, PTO_NO_TASK);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 3);
        EXPECT_EQ(pto_get_run_stats(rt)->allocations, 1);
        pto_runtime_destroy(rt);
    }
}

static void use_after_release(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(1)), PTO_SCALAR((int64_t)7));
    pto_release(rt, P);
    s->got = SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(1)), PTO_INOUT(s->x, 0, I64(1)));
}

TEST(h16_a_handle_used_after_its_lifetime_is_reported)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        EXPECT_EQ(pto_runtime_run(rt, use_after_release, s), PTO_ERR_HANDLE);
        EXPECT_EQ((uint64_t)s->got, (uint64_t)PTO_ERR_HANDLE);
        pto_runtime_destroy(rt);
    }
}

static void too_many_ends(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_scope_begin(rt);
    pto_scope_end(rt);
    pto_scope_end(rt);
}
static void too_many_begins(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < s->n; i++) pto_scope_begin(rt);
}
static void left_open(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_scope_begin(rt);
}

TEST(h25_scopes_that_do_not_match_or_nest_too_deep_are_errors)
{
    PTOConfig c = {.recursion_limit = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 1000});
        EXPECT_EQ(pto_runtime_run(rt, too_many_ends, s), PTO_ERR_STATE);
        EXPECT_EQ(pto_runtime_run(rt, too_many_begins, s), PTO_ERR_RECURSION);
        EXPECT_EQ(pto_runtime_run(rt, left_open, s), PTO_ERR_STATE);
        *s = (struct shared){.n = 5};
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

/* ---- H52: failure ---- */
static const PTOSite fail_site = {"f.pto", 7, 3, "failing"};

static void fails_in_the_middle(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int64_t i = 0; i < 100; i++) {
        void *P = NULL;
        pto_at(rt, &fail_site);
        s->got = SUBMIT(rt, &failing, PTO_OUTPUT(&P, 0, I64(4)), PTO_SCALAR(i == s->n ? (int64_t)3 : (int64_t)0));
        if (s->got < 0) return;
        SUBMIT(rt, &add, PTO_INPUT(P, 0, I64(4)), PTO_INOUT(s->x, 0, I64(4)));
        pto_release(rt, P);
    }
}

static void fails_with_scalars(PTORuntime *rt, void *arg)
{
    static const PTOKernel refusing = {.name = "refusing", .worker = PTO_WORKER_VECTOR, .fn = k_refuse};
    PTOTaskParam untyped = PTO_SCALAR(2.5);
    untyped.type = 0;
    SUBMIT(rt, &refusing, PTO_INPUT(arg, 0, 8), PTO_SCALAR(2.5), PTO_SCALAR(-0.1f), PTO_SCALAR((bool)true),
           PTO_SCALAR(-7), PTO_SCALAR(1e300), untyped);
}

TEST(scalars_of_a_failed_task_are_printed_by_their_types)
{
    for (int always_defer = 0; always_defer < 2; always_defer++) {
        int64_t array = 0;
        PTORuntime *rt = pto_runtime_create(
            &(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096, .always_defer = always_defer}, NULL);
        EXPECT_EQ(pto_runtime_run(rt, fails_with_scalars, &array), PTO_ERR_KERNEL);
        const char *const list = "of (byte[8], 2.5, -0.1, true, -7, 1e+300, 0x4004000000000000 (4612811918334230528))";
        if (!strstr(pto_last_error(rt), list)) print_message("%s\n", pto_last_error(rt));
        EXPECT(strstr(pto_last_error(rt), list));
        pto_runtime_destroy(rt);
    }
}

static void allocates_too_much(PTORuntime *rt, void *arg) { (void)pto_alloc(rt, PTO_SCOPE_CURRENT, *(int64_t *)arg); }

TEST(no_heap_is_advised_that_no_machine_has)
{
    int64_t bytes[] = {INT64_MAX, INT64_MAX - 63, (int64_t)1 << 50, 8192};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096}, NULL);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(pto_runtime_run(rt, allocates_too_much, &bytes[i]), PTO_ERR_TOO_LARGE);
        EXPECT_EQ(strstr(pto_last_error(rt), "heap_bytes") != NULL, i == 3);
        EXPECT_EQ(strstr(pto_last_error(rt), "and on this machine at most ") != NULL, i < 3);
    }
    pto_runtime_destroy(rt);
}

TEST(h52_a_failing_kernel_ends_the_run_with_its_place_and_the_next_run_works)
{
    PTOConfig c = {.task_window = 8, .heap_bytes = 1024};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        for (int64_t n = 0; n < 100; n += 7) {
            struct shared *s = renew((struct shared){.n = n});
            EXPECT_EQ(pto_runtime_run(rt, fails_in_the_middle, s), PTO_ERR_KERNEL);
            EXPECT(strstr(pto_last_error(rt), "f.pto:7:3: error: kernel 'failing' failed: it returned 3"));
            *s = (struct shared){.n = 10};
            EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
            EXPECT_EQ(s->x[0], 45);
        }
        pto_runtime_destroy(rt);
    }
}

static _Atomic bool run_has_ended;

static void *cancel_soon(void *arg) /* and again, should the run not have begun */
{
    while (!run_has_ended) {
        usleep(2000);
        pto_cancel(arg);
    }
    return NULL;
}

static void endless(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    while (SUBMIT(rt, &twice, PTO_INOUT(s->x, 0, I64(1))) >= 0) {}
}

TEST(a_run_can_be_cancelled_from_another_thread)
{
    PTOConfig c = {.task_window = 4};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){0});
        pthread_t thread;
        run_has_ended = false;
        pthread_create(&thread, NULL, cancel_soon, rt);
        EXPECT_EQ(pto_runtime_run(rt, endless, s), PTO_ERR_CANCELLED);
        run_has_ended = true;
        pthread_join(thread, NULL);
        *s = (struct shared){.n = 10};
        EXPECT_EQ(pto_runtime_run(rt, mode_b, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

/* ---- bad parameters and configurations ---- */
static void bad_parameter(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    void *P = NULL;
    switch (s->n) {
    case 0: s->got = pto_submit_task(rt, NULL, NULL, 0); break;
    case 1: s->got = pto_submit_task(rt, &set, NULL, 2); break;
    case 2: s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(-1)), PTO_SCALAR((int64_t)1)); break;
    case 3:
        s->got = SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, INT64_MAX, 2)), PTO_SCALAR((int64_t)1));
        break;
    case 4: s->got = SUBMIT(rt, &set, PTO_OUTPUT(NULL, 0, I64(1)), PTO_SCALAR((int64_t)1)); break;
    case 5: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, -1, I64(1)), PTO_SCALAR((int64_t)1)); break;
    case 6: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, 0, -5), PTO_SCALAR((int64_t)1)); break;
    case 7: s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, INT64_MAX / 2, 5), PTO_SCALAR((int64_t)1)); break;
    case 8:
        s->got = SUBMIT(rt, &set, PTO_INOUT(s->x, 0, PTO_STRIDED(PTO_I64, (4), (-1))), PTO_SCALAR((int64_t)1));
        break;
    case 9: s->got = SUBMIT(rt, &set, {.kind = 99}); break;
    case 10:
        s->got = SUBMIT(rt, &set, {.kind = PTO_PARAM_INPUT, .type = 99, .rank = 0, .buffer = s->x, .bytes = 8});
        break;
    }
}

TEST(bad_parameters_give_a_status_and_a_message)
{
    PTOConfig c = {0};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        for (int64_t n = 0; n <= 10; n++) {
            struct shared *s = renew((struct shared){.n = n});
            EXPECT_EQ(pto_runtime_run(rt, bad_parameter, s), PTO_ERR_ARGUMENT);
            EXPECT((PTOStatus)s->got == PTO_ERR_ARGUMENT);
            EXPECT(strlen(pto_last_error(rt)) > 10);
        }
        pto_runtime_destroy(rt);
    }
}

TEST(bad_configurations_are_refused_with_a_message)
{
    const PTOConfig bad[] = {{.task_window = 3}, {.backend = "elsewhere"}, {.engine = (PTOEngine)77}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        PTOStatus status = PTO_OK;
        EXPECT(pto_runtime_create(&bad[i], &status) == NULL);
        EXPECT(status == PTO_ERR_CONFIG || status == PTO_ERR_UNSUPPORTED);
        EXPECT(strlen(pto_last_error(NULL)) > 10);
    }
}

/* ---- unwinding of generated code ---- */
static const PTOSite call_site = {"r.pto", 5, 9, "f"};

static void recurse(PTORuntime *rt, int64_t n)
{
    pto_enter(rt, "f");
    pto_scope_begin(rt);
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, I64(1)), PTO_SCALAR(n));
    pto_at(rt, &call_site);
    if (n > 0) recurse(rt, n - 1);
    pto_scope_end(rt);
    pto_leave(rt);
}
static void recurse_entry(PTORuntime *rt, void *arg) { recurse(rt, ((struct shared *)arg)->n); }

TEST(recursion_is_limited_and_reported_with_the_calls)
{
    PTOConfig c = {.recursion_limit = 256};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        struct shared *s = renew((struct shared){.n = 255});
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_OK); /* the entry counts as 1: 256 calls */
        s->n = 256;
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_ERR_RECURSION);
        EXPECT(strstr(pto_last_error(rt), "recursion is deeper than 256"));
        EXPECT(strstr(pto_last_error(rt), "in 'f', called at r.pto:5"));
        s->n = 3;
        EXPECT_EQ(pto_run_entry(rt, recurse_entry, s), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

static void arithmetic(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    switch (s->n) {
    case 0: s->got = pto_add(rt, INT64_MAX, 1); break;
    case 1: s->got = pto_sub(rt, INT64_MIN, 1); break;
    case 2: s->got = pto_mul(rt, INT64_MAX, 2); break;
    case 3: s->got = pto_div(rt, INT64_MIN, -1); break;
    case 4: s->got = pto_abs(rt, INT64_MIN); break;
    case 5: s->got = pto_div(rt, 1, 0); break;
    case 6: s->got = pto_mod(rt, 1, 0); break;
    case 7: s->got = pto_ceil_div(rt, 7, 2) * 1000 + pto_ceil_div(rt, -7, 2) * 100 + pto_ceil_div(rt, 8, 2); break;
    case 8: s->got = pto_log2(rt, 1024) * 100 + pto_log2(rt, 1025); break;
    case 9: s->got = pto_index(rt, 5, 5); break;
    case 10: s->got = pto_slice(rt, 3, 2, 5); break;
    case 11: s->got = pto_log2(rt, 0); break;
    }
}

TEST(arithmetic_is_checked)
{
    static const PTOStatus want[] = {PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW, PTO_ERR_OVERFLOW,
                                     PTO_ERR_OVERFLOW, PTO_ERR_DIVIDE,   PTO_ERR_DIVIDE,   PTO_OK,
                                     PTO_OK,           PTO_ERR_BOUNDS,   PTO_ERR_BOUNDS,   PTO_ERR_ARGUMENT};
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL};
    PTORuntime *rt = create(&c);
    for (int n = 0; n < 12; n++) {
        struct shared *s = renew((struct shared){.n = n, .got = -1});
        EXPECT(pto_run_entry(rt, arithmetic, s) == want[n]);
        if (n == 7) EXPECT_EQ(s->got, 4000 - 300 + 4);
        if (n == 8) EXPECT_EQ(s->got, 1010);
    }
    pto_runtime_destroy(rt);
}

/* ---- the seed's BGEMM by hand ---- */
static void bgemm(PTORuntime *rt, void *arg)
{
    int64_t *m = arg; /* A: 64 cells, B: 64, C: 64 */
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 4; k++) {
                    pto_scope_begin(rt);
                    void *P = NULL;
                    SUBMIT(rt, &nothing, PTO_INPUT(m, b * 16 + i * 4 + k, 8), PTO_INPUT(m + 64, b * 16 + k * 4 + j, 8),
                           PTO_OUTPUT(&P, 0, 8));
                    SUBMIT(rt, &nothing, PTO_INPUT(P, 0, 8), PTO_INOUT(m + 128, b * 16 + i * 4 + j, 8));
                    pto_scope_end(rt);
                }
}

TEST(the_seeds_bgemm_has_512_tasks_and_448_dependences)
{
    static int64_t m[192];
    PTOConfig c = {.count_dependences = true};
    EACH_ENGINE(c)
    {
        PTORuntime *rt = create(&c);
        EXPECT_EQ(pto_runtime_run(rt, bgemm, m), PTO_OK);
        EXPECT_EQ(pto_get_run_stats(rt)->tasks, 512);
        EXPECT_EQ(pto_get_run_stats(rt)->dependences, 448);
        pto_runtime_destroy(rt);
    }
}

static void one_long_kernel(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &slow, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)1000000));
}

/* Not a time limit: the processor time of a second in which nothing is to be done is compared with that second. */
TEST(waiting_for_one_long_kernel_uses_no_processor_time)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS};
    PTORuntime *rt = create(&c);
    struct shared *s = renew((struct shared){0});
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(pto_runtime_run(rt, one_long_kernel, s), PTO_OK);
    getrusage(RUSAGE_SELF, &after);
    int64_t us =
        (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
        after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec;
    EXPECT(us < 100000);
    pto_runtime_destroy(rt);
}
