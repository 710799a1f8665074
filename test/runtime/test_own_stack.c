/* test_own_stack.c - an entry that recurses runs on a stack of the runtime's own: as deep as the limit allows on a
 * thread with a small stack; failures, exceptions of the run and runs inside of runs leave it as they leave any
 * other. */
#include "api/own_stack.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <pto/pto_program.h>
#include <stdlib.h>
#include <sys/resource.h>

/* ThreadSanitizer's own list of open functions holds 65,536. */
enum { DEPTH = PTOI_HAS_TSAN ? 10000 : 100000, SMALL_STACK = 256 << 10 };

static int add(const PTOArg *a)
{
    *(int64_t *)a[0].ptr += a[1].value.i64;
    return 0;
}
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add};

/* ---- the entries ------------------------------------------------------------------------------------------------- */

struct dive {
    PTOConfig config;
    int64_t depth, sum;
    bool fails; /* at the deepest call */
    int runs;
    PTOStatus status;
    char message[200];
};

static void down(PTORuntime *rt, struct dive *d, int64_t depth)
{
    pto_enter(rt, "down");
    pto_scope_begin(rt);
    void *held = NULL;
    SUBMIT(rt, &add_kernel, PTO_INOUT(&d->sum, 0, PTO_ARRAY(PTO_I64, 1)), PTO_SCALAR(depth));
    held = pto_alloc(rt, PTO_SCOPE_CURRENT, 64);
    if (depth > 0)
        down(rt, d, depth - 1);
    else if (d->fails)
        pto_raise(rt, PTO_ERR_ARGUMENT, "the bottom");
    if (held) pto_release(rt, held);
    pto_scope_end(rt);
    pto_leave(rt);
}

static void dive(PTORuntime *rt, void *arg)
{
    struct dive *d = arg;
    pto_buffer(rt, &d->sum, sizeof d->sum);
    down(rt, d, d->depth);
}

static void *run_dives(void *arg)
{
    struct dive *d = arg;
    PTORuntime *rt = pto_runtime_create(&d->config, NULL);
    if (!rt) return NULL;
    for (int i = 0; i < d->runs; i++) d->status = pto_run_recursive(rt, dive, d);
    snprintf(d->message, sizeof d->message, "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return d;
}

/* On a thread whose stack would not hold a thousand of these calls. */
static void run_on_small_stack(struct dive *d)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *created;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, PTOI_HAS_SANITIZER ? 8 << 20 : SMALL_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_dives, d), 0);
    pthread_join(thread, &created);
    pthread_attr_destroy(&attributes);
    assert_non_null(created);
}

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_TIMING};
enum { ENGINES = sizeof engines / sizeof engines[0] };

/* ---- the tests --------------------------------------------------------------------------------------------------- */

TEST(a_small_stack_does_not_limit_recursion)
{
    for (int e = 0; e < ENGINES; e++) {
        struct dive d = {.config = {.engine = engines[e]}, .depth = DEPTH, .runs = 2};
        run_on_small_stack(&d);
        EXPECT_EQ(d.status, PTO_OK);
        EXPECT_EQ(d.sum, 2 * ((int64_t)DEPTH * (DEPTH + 1) / 2));
    }
}

TEST(the_limit_of_recursion_stays_an_error)
{
    struct dive d = {.config = {.engine = PTO_ENGINE_SERIAL, .recursion_limit = 300}, .depth = 300, .runs = 1};
    run_on_small_stack(&d);
    EXPECT_EQ(d.status, PTO_ERR_RECURSION);
    EXPECT(strstr(d.message, "recursion is deeper than 300"));
}

TEST(a_failure_far_down_unwinds_and_the_runtime_works_again)
{
    for (int e = 0; e < ENGINES; e++) {
        struct dive d = {.config = {.engine = engines[e]}, .depth = 5000, .fails = true, .runs = 3};
        run_on_small_stack(&d);
        EXPECT_EQ(d.status, PTO_ERR_ARGUMENT);
        EXPECT(strstr(d.message, "the bottom"));
    }
}

static void entry_in_entry(PTORuntime *rt, void *arg)
{
    struct dive *d = arg;
    EXPECT_EQ(pto_run_recursive(rt, dive, d), PTO_OK);
    PTORuntime *other = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    struct dive second = {.depth = 1000};
    EXPECT_EQ(pto_run_recursive(other, dive, &second), PTO_OK);
    EXPECT_EQ(second.sum, 1000 * 1001 / 2);
    pto_runtime_destroy(other);
}

TEST(runs_within_runs)
{
    struct dive d = {.depth = 1000};
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    EXPECT_EQ(pto_run_recursive(rt, entry_in_entry, &d), PTO_OK);
    EXPECT_EQ(d.sum, 1000 * 1001 / 2);
    pto_runtime_destroy(rt);
}

static void ends_its_thread(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    pthread_exit(NULL);
}

static void *run_and_end(void *arg)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    *(PTOStatus *)arg = pto_run_recursive(rt, ends_its_thread, NULL);
    pto_runtime_destroy(rt);
    return arg;
}

TEST(the_end_of_the_thread_inside_is_caught)
{
    if (PTOI_HAS_SANITIZER) return; /* the guard is off there */
    pthread_t thread;
    PTOStatus status = PTO_OK;
    assert_int_equal(pthread_create(&thread, NULL, run_and_end, &status), 0);
    pthread_join(thread, NULL);
    EXPECT_EQ(status, PTO_ERR_MISUSE);
}

static void touch(void *arg)
{
    volatile char frame[1 << 20];
    for (size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
    *(char *)arg = frame[0];
}

TEST(where_addresses_are_few_the_stack_is_smaller_or_absent)
{
    if (PTOI_HAS_SANITIZER) return; /* they reserve more than any limit */
    struct rlimit before, few;
    getrlimit(RLIMIT_AS, &before);
    few = before;
    few.rlim_cur = (rlim_t)1 << 20;
    setrlimit(RLIMIT_AS, &few);
    struct own_stack s = {0};
    const bool is_open = ptoi_own_stack_open(&s);
    setrlimit(RLIMIT_AS, &before);
    EXPECT(!is_open);
    EXPECT(ptoi_own_stack_open(&s));
    char touched = 0;
    ptoi_own_stack_call(&s, touch, &touched);
    EXPECT_EQ(touched, 1);
    ptoi_own_stack_trim(&s);
    ptoi_own_stack_call(&s, touch, &touched);
    ptoi_own_stack_close(&s);
}
