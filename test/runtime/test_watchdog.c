/* test_watchdog.c - a kernel that does not return is named while it runs, whoever runs it and whatever the orchestrator
 * does meanwhile.
 * Method     the kernel returns when another thread has seen the run fail, so a watchdog that waits for the kernel is
 *            never seen. */
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <signal.h>
#include <pto/pto_runtime.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
enum { ENGINES = sizeof engines / sizeof engines[0] };

static _Atomic bool may_return;

static int k_waits(const PTOArg *a)
{
    while (!atomic_load(&may_return)) usleep(1000);
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static int k_nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel waits = {.name = "waits", .worker = PTO_WORKER_VECTOR, .fn = k_waits};
static const PTOKernel nothing = {.name = "nothing", .worker = PTO_WORKER_VECTOR, .fn = k_nothing};
static const PTOSite here = {"w.pto", 9, 2, "waits"};

struct job {
    PTORuntime *rt;
    bool is_busy; /* the orchestrator does not wait: it has work of its own */
    PTOStatus seen;
    char message[2000];
    int64_t cell;
};

static void *look(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 60000 && (j->seen = pto_runtime_status(j->rt)) == PTO_OK; i++) usleep(1000);
    snprintf(j->message, sizeof j->message, "%s", pto_last_error(j->rt));
    atomic_store(&may_return, true);
    return NULL;
}

static void on_urgent(int number) { (void)number; }

static void stuck(PTORuntime *rt, void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < 40; i++) SUBMIT(rt, &nothing, PTO_INOUT(&j->cell, 0, 8));
    pto_at(rt, &here);
    SUBMIT(rt, &waits, PTO_INOUT(&j->cell, 0, 8));
    while (j->is_busy && !atomic_load(&may_return)) usleep(1000);
}

TEST(a_kernel_that_does_not_return_is_named_while_it_runs)
{
    for (int e = 0; e < ENGINES; e++) /* elsewhere it runs the kernel */
        for (int is_busy = 0; is_busy < 1 + (engines[e] == PTO_ENGINE_THREADS); is_busy++) {
            const PTOConfig c = {.engine = engines[e], .workers = {0, 2}, .watchdog_seconds = 0.2};
            struct job j = {.rt = pto_runtime_create(&c, NULL), .is_busy = is_busy};
            pthread_t thread;
            assert_non_null(j.rt);
            atomic_store(&may_return, false);
            assert_int_equal(pthread_create(&thread, NULL, look, &j), 0);
            EXPECT_EQ(pto_runtime_run(j.rt, stuck, &j), PTO_ERR_WATCHDOG);
            pthread_join(thread, NULL);
            EXPECT_EQ(j.seen, PTO_ERR_WATCHDOG);
            const char *begin = "w.pto:9:2: error: no task finished for 0.2 s while these ran:\n  kernel 'waits' (task "
                                "40, w.pto:9:2, for 0.";
            EXPECT(strncmp(j.message, begin, strlen(begin)) == 0);
            EXPECT((strstr(j.message, "\n  in k_waits at ") != NULL) == !PTOI_HAS_SANITIZER);
            EXPECT_STR(pto_last_error(j.rt), j.message);
            EXPECT_EQ(pto_runtime_run(j.rt, stuck, &j), PTO_OK); /* the kernel returns at once now */
            EXPECT_EQ(pto_runtime_status(j.rt), PTO_OK);
            pto_runtime_destroy(j.rt);
        }
}

TEST(the_host_may_have_its_own_handler_of_the_question)
{
    const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .watchdog_seconds = 0.2};
    struct sigaction now;
    signal(SIGURG, on_urgent);
    struct job j = {.rt = pto_runtime_create(&c, NULL)};
    pthread_t thread;
    assert_non_null(j.rt);
    atomic_store(&may_return, false);
    assert_int_equal(pthread_create(&thread, NULL, look, &j), 0);
    EXPECT_EQ(pto_runtime_run(j.rt, stuck, &j), PTO_ERR_WATCHDOG);
    pthread_join(thread, NULL);
    EXPECT(strstr(j.message, "kernel 'waits'") && !strstr(j.message, "in k_waits"));
    pto_runtime_destroy(j.rt);
    EXPECT(sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == on_urgent);
    signal(SIGURG, SIG_DFL);
}

TEST(the_handler_of_the_question_is_gone_with_the_last_runtime)
{
    const PTOConfig c = {.engine = PTO_ENGINE_THREADS, .watchdog_seconds = 0.2};
    struct sigaction now;
    PTORuntime *one = pto_runtime_create(&c, NULL), *two = pto_runtime_create(&c, NULL);
    pto_runtime_destroy(one);
    EXPECT(sigaction(SIGURG, NULL, &now) == 0 && (now.sa_handler != SIG_DFL) == !PTOI_HAS_SANITIZER);
    pto_runtime_destroy(two);
    EXPECT(sigaction(SIGURG, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
}

static void nothing_for_a_while(PTORuntime *rt, void *arg)
{
    (void)rt, (void)arg;
    usleep(400000);
}

static void nothing_after_a_kernel(PTORuntime *rt, void *arg)
{
    SUBMIT(rt, &nothing, PTO_INOUT(arg, 0, 8));
    pto_await(rt, arg, 0, 8);
    usleep(400000);
}

TEST(a_run_where_no_kernel_runs_is_left_alone)
{
    for (int e = 0; e < ENGINES; e++) {
        const PTOConfig c = {.engine = engines[e], .watchdog_seconds = 0.1};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_runtime_run(rt, nothing_for_a_while, NULL), PTO_OK);
        EXPECT_EQ(pto_runtime_run(rt, nothing_after_a_kernel, &(int64_t){0}), PTO_OK);
        pto_runtime_destroy(rt);
    }
}
