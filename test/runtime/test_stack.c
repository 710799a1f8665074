/* test_stack.c - recursion on stacks of any size: an error before the stack ends, and all of a large one is used; calls
 * of threads whose stack is nearly full of thread-local variables. */
#include "misuse_unit.h"
#include "shared/sanitizer.h"
#include <pthread.h>
#include <pto/pto_program.h>
#include <sys/resource.h>

/* They lie on the stack of each thread, as those of libraries do: OpenBLAS has as many. */
static _Thread_local volatile char thread_local_variables[60 << 10];

static int64_t recurse(PTORuntime *rt, int64_t depth)
{
    volatile char frame[200];
    frame[0] = 0;
    pto_enter(rt, "recurse");
    const int64_t reached = depth == 0 ? frame[0] : recurse(rt, depth - 1) + 1;
    pto_leave(rt);
    return reached;
}

static void recurses(PTORuntime *rt, void *arg) { *(int64_t *)arg = recurse(rt, *(int64_t *)arg); }

struct deep {
    PTOEngine engine;
    int64_t depth;
    PTOStatus status;
    char message[400];
};

static void *run_deep(void *arg)
{
    struct deep *d = arg;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = d->engine, .recursion_limit = 1 << 20}, NULL);
    if (!rt) return NULL;
    d->status = pto_run_entry(rt, recurses, &d->depth);
    snprintf(d->message, sizeof d->message, "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    return NULL;
}

static void run_on_stack(void *(*fn)(void *arg), struct deep *d, size_t stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, stack), 0);
    assert_int_equal(pthread_create(&thread, &attributes, fn, d), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

TEST(deep_recursion_on_a_small_stack_is_an_error)
{
    if (PTOI_HAS_SANITIZER) return; /* they take more of a stack than this */
    static const size_t stacks[] = {320 << 10, 1 << 20, 64 << 20};
    for (int e = 0; e < ENGINES; e++)
        for (size_t s = 0; s < sizeof stacks / sizeof stacks[0]; s++) {
            struct deep deep = {.engine = engines[e], .depth = 1 << 20}, shallow = {.engine = engines[e], .depth = 20};
            run_on_stack(run_deep, &deep, stacks[s]);
            EXPECT_EQ(deep.status, PTO_ERR_RECURSION);
            EXPECT(contains(deep.message, "call of 'recurse': no stack left after "));
            EXPECT(contains(deep.message, "(pthread_attr_setstacksize)"));
            run_on_stack(run_deep, &shallow, stacks[s]);
            EXPECT_EQ(shallow.status, PTO_OK);
            EXPECT_EQ(shallow.depth, 20);
        }
}

/* ---- 96 KiB, of which a third is left ---- */

enum { SMALL = 96 << 10, MANY = 10000 };

static void *run_two(void *arg)
{
    struct deep *d = arg;
    int64_t sum = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = d->engine}, NULL);
    if (!rt) return NULL;
    thread_local_variables[0] = 1;
    d->status = pto_run_entry(rt, one_and_one, &sum);
    snprintf(d->message, sizeof d->message, "%s", pto_last_error(rt));
    pto_runtime_destroy(rt);
    d->depth = sum;
    return NULL;
}

TEST(a_thread_whose_stack_is_small_calls_kernels_and_recurses)
{
    if (PTOI_HAS_SANITIZER) return;
    for (int e = 0; e < ENGINES; e++) {
        struct deep d = {.engine = engines[e]}, deep = {.engine = engines[e], .depth = MANY};
        run_on_stack(run_two, &d, SMALL);
        EXPECT_EQ(d.status, PTO_OK);
        EXPECT_EQ(d.depth, 2);
        run_on_stack(run_deep, &deep, SMALL);
        EXPECT_EQ(deep.status, PTO_OK);
        EXPECT_EQ(deep.depth, MANY);
    }
}

static void *run_without_room(void *arg)
{
    struct deep *d = arg;
    int64_t depth = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    struct rlimit limit;
    if (!rt || getrlimit(RLIMIT_AS, &limit) != 0) return NULL;
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return NULL;
    d->status = pto_run_entry(rt, recurses, &depth);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_AS, &limit);
    snprintf(d->message, sizeof d->message, "%s", pto_last_error(rt));
    return NULL;
}

/* Then there is no stack of the runtime's own. */
TEST(no_room_on_the_stack_and_no_addresses_for_another_is_an_error)
{
    if (PTOI_HAS_SANITIZER) return;
    struct deep d = {.status = PTO_OK};
    run_on_stack(run_without_room, &d, SMALL);
    EXPECT_EQ(d.status, PTO_ERR_RECURSION);
    EXPECT(contains(d.message, "call of 'recurse': no stack left after 0 calls, of 96 KiB"));
}

TEST(a_large_stack_of_a_thread_is_used)
{
    if (PTOI_HAS_SANITIZER) return;
    struct deep d = {.engine = PTO_ENGINE_SERIAL, .depth = 100000}; /* more than 8 MiB hold */
    run_on_stack(run_deep, &d, 256 << 20);
    EXPECT_EQ(d.status, PTO_OK);
    EXPECT_EQ(d.depth, 100000);
}
