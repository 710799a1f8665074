/* test_process.c - the process engine: what is shared, what a dead worker process means, idleness, statistics, the
 * watchdog, timeouts. */
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What kernels write, and who they are. */
static struct shared {
    int64_t x[64];
    _Atomic int worker_process, has_begun;
    int64_t got;
} * share;
__attribute__((constructor)) static void make_share(void) { share = pto_shared_alloc(sizeof *share); }

static PTORuntime *create(PTOConfig c)
{
    PTOStatus status;
    if (c.engine == PTO_ENGINE_THREADS) c.engine = PTO_ENGINE_PROCESS;
    PTORuntime *rt = pto_runtime_create(&c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static int k_who(const PTOArg *a) { return *(int64_t *)a[0].ptr = getpid(), 0; }
static int k_count(const PTOArg *a)
{
    share->worker_process = getpid(); /* not an argument: this test wants to know */
    ++*(int64_t *)a[0].ptr;
    return 0;
}
static int k_sleep(const PTOArg *a)
{
    share->worker_process = getpid();
    usleep((useconds_t)a[1].value.i64);
    return 0;
}
static const PTOKernel who = {.name = "who", .worker = PTO_WORKER_VECTOR, .fn = k_who};
static const PTOKernel count = {.name = "count", .worker = PTO_WORKER_VECTOR, .fn = k_count};
static const PTOKernel sleepy = {.name = "sleepy", .worker = PTO_WORKER_CUBE, .fn = k_sleep};
static const PTOSite here = {"p.pto", 4, 7, "sleepy"};

#define I64(n) PTO_ARRAY(PTO_I64, n)

static void ask_who(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &who, PTO_INOUT(s->x, 0, I64(1)));
    void *P = NULL;
    SUBMIT(rt, &who, PTO_OUTPUT(&P, 0, I64(1)));
    assert_int_equal(pto_await(rt, P, 0, 8), PTO_OK);
    s->got = *(int64_t *)P;
}

TEST(kernels_run_in_one_other_process_and_their_results_are_seen_here)
{
    PTORuntime *rt = create((PTOConfig){0});
    memset(share, 0, sizeof *share);
    EXPECT_EQ(pto_runtime_run(rt, ask_who, share), PTO_OK);
    EXPECT(share->x[0] > 0 && share->x[0] != getpid());
    EXPECT_EQ(share->got, share->x[0]);
    pid_t worker = (pid_t)share->got;
    EXPECT_EQ(kill(worker, 0), 0);
    pto_runtime_destroy(rt);
    EXPECT(kill(worker, 0) != 0); /* gone, and no zombie */
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0);
}

static void many(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 20000; i++)
        if ((s->got = SUBMIT(rt, i % 2 ? &count : &who, PTO_INOUT(s->x, i % 7, I64(1)))) < 0) return;
}

TEST(statistics_come_from_the_worker_process)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 2}, .task_window = 64});
    EXPECT_EQ(pto_runtime_run(rt, many, share), PTO_OK);
    const PTORunStats *s = pto_get_run_stats(rt);
    EXPECT_EQ(s->tasks, 20000);
    EXPECT_EQ(s->worker_tasks[PTO_WORKER_VECTOR], 20000);
    EXPECT_EQ(s->worker_tasks[PTO_WORKER_CUBE], 0);
    EXPECT(s->worker_busy_ns[PTO_WORKER_VECTOR] > 0 && s->worker_busy_ns[PTO_WORKER_VECTOR] <= 2 * s->ns);
    EXPECT_EQ(s->worker_busy_ns[PTO_WORKER_CUBE], 0);
    EXPECT(pto_get_flow_stats(rt)->ready_queue_hwm > 0);
    pto_reset_flow_stats(rt);
    EXPECT_EQ(pto_get_flow_stats(rt)->ready_queue_hwm, 0);
    EXPECT_EQ(pto_runtime_run(rt, many, share), PTO_OK);
    EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[PTO_WORKER_VECTOR], 20000); /* of this run alone */
    pto_runtime_destroy(rt);
}

/* ---- the worker process dies ---- */
/* A process that is killed before the run begins is replaced, and the run goes on. */
static void *kill_soon(void *arg)
{
    while (!share->has_begun) usleep(100);
    usleep((useconds_t)(intptr_t)arg);
    kill(share->worker_process, SIGKILL);
    return NULL;
}

static void *kill_when_it_runs(void *arg)
{
    while (share->worker_process == 0) usleep(1000);
    kill(share->worker_process, SIGKILL);
    return arg;
}

static void endless(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    s->has_begun = 1;
    for (int64_t i = 0;; i++) {
        void *P = NULL;
        pto_at(rt, &here);
        pto_scope_begin(rt);
        if ((s->got = SUBMIT(rt, &count, PTO_OUTPUT(&P, 0, I64(100)))) < 0) return;
        if ((s->got = SUBMIT(rt, &count, PTO_INPUT(P, 0, I64(100)), PTO_INOUT(s->x, i % 3, I64(1)))) < 0) return;
        if (i % 50 == 0 && pto_await(rt, s->x, 0, 8) != PTO_OK) return;
        pto_scope_end(rt);
    }
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* More buffers than any heap here holds at once, each of half the smallest. */
static void fills_the_heap(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 20; i++) {
        void *P = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &count, PTO_OUTPUT(&P, 0, I64(256)));
        SUBMIT(rt, &count, PTO_INPUT(P, 0, I64(256)), PTO_INOUT(s->x, 9, I64(1)));
        SUBMIT(rt, &count, PTO_INOUT(s->x, 10, I64(1)));
        pto_scope_end(rt);
    }
}

/* What a run that was lost has left does not matter to the next one. */
static bool runs_again(PTORuntime *rt)
{
    share->x[10] = 0;
    bool is_right = pto_runtime_run(rt, fills_the_heap, share) == PTO_OK && share->x[10] == 20;
    is_right = is_right && pto_runtime_run(rt, ask_who, share) == PTO_OK && share->got == share->x[0];
    return is_right && pto_runtime_run(rt, many, share) == PTO_OK;
}

TEST(a_killed_worker_process_is_an_error_at_once_and_the_next_run_works)
{
#ifdef PTO_TINY
    enum { KILLS = 24 }; /* each wait yields many times */
#else
    enum { KILLS = PTOI_HAS_SANITIZER ? 30 : 100 };
#endif
    unsigned seed = 1;
    for (int n = 0; n < KILLS; n++) {
        static const int64_t windows[] = {2, 16, 1024};
        PTORuntime *rt =
            create((PTOConfig){.task_window = windows[n % 3], .heap_bytes = 4096 << n % 3, .workers = {1, 1 + n % 3}});
        EXPECT_EQ(pto_runtime_run(rt, ask_who, share), PTO_OK);
        share->worker_process = (int)share->got;
        share->has_begun = 0;
        pthread_t thread;
        const int after_us = rand_r(&seed) % 8000;
        pthread_create(&thread, NULL, kill_soon, (void *)(intptr_t)after_us);
        const int64_t since = now_ms();
        if (n % 8 == 0) usleep(10000); /* longer than the other thread waits once the run has begun */
        EXPECT_EQ(pto_runtime_run(rt, endless, share), PTO_ERR_LOST);
        EXPECT(now_ms() - since < 5000); /* no hang; the machine may be busy */
        pthread_join(thread, NULL);
        EXPECT(strstr(pto_last_error(rt), "the worker process died: signal 9 (Killed)"));
        (void)pto_get_run_stats(rt);
        (void)pto_get_flow_stats(rt);
        EXPECT(n % 4 || runs_again(rt));
        pto_runtime_destroy(rt);
        EXPECT(waitpid(-1, NULL, WNOHANG) < 0);
    }
}

static void nothing_much(PTORuntime *rt, void *arg) { (void)rt, (void)arg; }

TEST(a_worker_process_that_dies_between_runs_is_replaced)
{
    PTORuntime *rt = create((PTOConfig){0});
    siginfo_t end;
    EXPECT_EQ(pto_runtime_run(rt, ask_who, share), PTO_OK);
    const pid_t first = (pid_t)share->got;
    kill(first, SIGKILL);
    EXPECT_EQ(waitid(P_PID, (id_t)first, &end, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(pto_runtime_run(rt, nothing_much, share), PTO_OK);
    EXPECT(runs_again(rt) && share->got != first);
    pto_runtime_destroy(rt);
    rt = create((PTOConfig){0}); /* and one that nobody notices */
    EXPECT_EQ(pto_runtime_run(rt, ask_who, share), PTO_OK);
    kill((pid_t)share->got, SIGKILL);
    pto_runtime_destroy(rt);
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0);
}

static void one_sleeps(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &here);
    SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)1000000));
}

TEST(what_ran_when_the_worker_process_died_is_named)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1}});
    pthread_t thread;
    EXPECT_EQ(pto_runtime_run(rt, ask_who, share), PTO_OK);
    share->worker_process = 0;
    pthread_create(&thread, NULL, kill_when_it_runs, NULL);
    EXPECT_EQ(pto_runtime_run(rt, one_sleeps, share), PTO_ERR_LOST);
    pthread_join(thread, NULL);
    EXPECT(strstr(pto_last_error(rt), "p.pto:4:7: error: the worker process died: signal 9 (Killed); what ran then:\n"
                                      "  kernel 'sleepy' (task 2, p.pto:4:7"));
    pto_runtime_destroy(rt);
}

static int k_leave(const PTOArg *a) { _exit(*(int64_t *)a[0].ptr == 0 ? 3 : 4); }
static const PTOKernel leaves = {.name = "leaves", .worker = PTO_WORKER_VECTOR, .fn = k_leave};

static void one_leaves(PTORuntime *rt, void *arg) { SUBMIT(rt, &leaves, PTO_INOUT(arg, 0, I64(1))); }

TEST(a_kernel_that_ends_the_worker_process_is_reported_with_its_exit_code)
{
    PTORuntime *rt = create((PTOConfig){0});
    share->x[0] = 0;
    EXPECT_EQ(pto_runtime_run(rt, one_leaves, share->x), PTO_ERR_LOST);
    EXPECT(strstr(pto_last_error(rt), "the worker process died: exit code 3"));
    pto_runtime_destroy(rt);
}

/* ---- the orchestrator's process dies ---- */
/* The process is gone, or a zombie that its new parent has not reaped, so look at its state and not at its id. */
static bool ends_soon(pid_t process)
{
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", (int)process);
    for (int i = 0; i < 300; i++) {
        FILE *f = fopen(name, "r");
        if (!f) return true;
        if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'X';
        fclose(f);
        if (state == 'Z' || state == 'X') return true;
        usleep(10000);
    }
    return false;
}

/* Returns the worker process of one that has been killed. */
static pid_t kill_parent(bool is_worker_stopped)
{
    memset(share, 0, sizeof *share);
    pid_t parent = fork();
    if (parent == 0) {
        int stopped;
        PTOConfig c = {.engine = PTO_ENGINE_PROCESS};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        if (!rt || pto_runtime_run(rt, ask_who, share) != PTO_OK) _exit(1);
        if (is_worker_stopped && kill((pid_t)share->got, SIGSTOP) == 0) waitpid((pid_t)share->got, &stopped, WUNTRACED);
        kill(getpid(), SIGKILL);
        _exit(1);
    }
    int status;
    EXPECT_EQ(waitpid(parent, &status, 0), parent);
    EXPECT(WIFSIGNALED(status));
    EXPECT(share->got > 0);
    return (pid_t)share->got;
}

TEST(the_worker_process_ends_with_its_parent)
{
    EXPECT(ends_soon(kill_parent(false)));
    EXPECT(ends_soon(kill_parent(true)));
}

/* ---- idle ---- */
static int64_t cpu_us(int whose)
{
    struct rusage u;
    getrusage(whose, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

TEST(waiting_for_one_long_kernel_and_an_idle_runtime_use_no_processor_time)
{
    const int64_t children = cpu_us(RUSAGE_CHILDREN);
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1}});
    const int64_t made = cpu_us(RUSAGE_SELF);
    EXPECT_EQ(pto_runtime_run(rt, one_sleeps, share), PTO_OK);
    usleep(1000000);
    EXPECT(cpu_us(RUSAGE_SELF) - made < 100000); /* of two seconds */
    pto_runtime_destroy(rt);
    EXPECT(cpu_us(RUSAGE_CHILDREN) - children < 100000); /* with the beginning and the end of the process */
}

/* A sleeper looks by itself every 20 ms. */
static void awaits_short_ones(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    s->got = INT64_MAX;
    for (int i = 0; i < 20; i++) {
        const int64_t since = now_ms();
        SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)10000));
        pto_await(rt, s->x, 0, 8);
        const int64_t took = now_ms() - since;
        s->got = took < s->got ? took : s->got;
    }
}

TEST(an_orchestrator_that_sleeps_is_woken_by_the_end_of_a_task)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1}});
    EXPECT_EQ(pto_runtime_run(rt, awaits_short_ones, share), PTO_OK);
    EXPECT(share->got < 18);
    pto_runtime_destroy(rt);
}

/* ---- watchdog ---- */
static void sleeps_long(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &here);
    SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)3000000));
}

TEST(the_watchdog_stops_a_worker_process_that_is_stuck)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1}, .watchdog_seconds = 0.2});
    const int64_t since = now_ms();
    EXPECT_EQ(pto_runtime_run(rt, sleeps_long, share), PTO_ERR_WATCHDOG);
    EXPECT(now_ms() - since < 2500);
    EXPECT(strstr(pto_last_error(rt),
                  "p.pto:4:7: error: no task finished for 0.2 s, the worker process was stopped; what ran then:\n"
                  "  kernel 'sleepy' (task 0, p.pto:4:7, for 0."));
    int stopped = 0; /* runs that a busy machine kept from running */
    while (stopped < 20 && !runs_again(rt)) {
        EXPECT_EQ(pto_runtime_status(rt), PTO_ERR_WATCHDOG);
        stopped++;
    }
    EXPECT(stopped < 20);
    EXPECT_EQ(pto_runtime_run(rt, sleeps_long, share), PTO_ERR_WATCHDOG); /* it watches the new one */
    pto_runtime_destroy(rt);
}

TEST(the_watchdog_on_threads_names_the_kernel_and_the_run_ends_with_it)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS, .workers = {1, 1}, .watchdog_seconds = 0.2};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, one_sleeps, share), PTO_ERR_WATCHDOG);
    EXPECT(strstr(pto_last_error(rt), "p.pto:4:7: error: no task finished for 0.2 s while these ran:\n"
                                      "  kernel 'sleepy' (task 0, p.pto:4:7, for 0."));
    EXPECT_EQ(pto_runtime_run(rt, many, share), PTO_OK); /* and the next run is right */
    pto_runtime_destroy(rt);
}

static void short_kernels(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 10; i++) SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)100000));
}

TEST(the_watchdog_leaves_long_runs_of_short_kernels_alone)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
    for (int e = 0; e < 2; e++) {
        PTOConfig c = {.engine = engines[e], .workers = {1, 1}, .watchdog_seconds = 0.6, .task_window = 2};
        PTORuntime *rt = pto_runtime_create(&c, NULL);
        assert_non_null(rt);
        EXPECT_EQ(pto_runtime_run(rt, short_kernels, share), PTO_OK);
        pto_runtime_destroy(rt);
    }
}

/* ---- @timeout ---- */
static void limited(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    pto_at(rt, &here);
    SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)20000), PTO_TIMEOUT(5000));
    SUBMIT(rt, &sleepy, PTO_TIMEOUT(100), PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)3000000));
}

TEST(a_timeout_stops_a_worker_process_whose_kernel_is_late)
{
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1}});
    const int64_t since = now_ms();
    EXPECT_EQ(pto_runtime_run(rt, limited, share), PTO_ERR_TIMEOUT);
    EXPECT(now_ms() - since < 2500);
    EXPECT(strstr(pto_last_error(rt), "p.pto:4:7: error: kernel 'sleepy' runs for longer than its @timeout of 100 ms "
                                      "(task 1), the worker process was stopped"));
    EXPECT(runs_again(rt));
    pto_runtime_destroy(rt);
}

static void limited_without_wait(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)60000), PTO_TIMEOUT(20));
    usleep(150000); /* nobody looks until the kernel is back */
}

TEST(a_timeout_on_threads_is_noticed_at_once_or_when_the_kernel_returns)
{
    PTOConfig c = {.engine = PTO_ENGINE_THREADS, .workers = {1, 1}};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, limited, share), PTO_ERR_TIMEOUT);
    EXPECT_STR(pto_last_error(rt),
               "p.pto:4:7: error: kernel 'sleepy' runs for longer than its @timeout of 100 ms (task 1)");
    EXPECT_EQ(pto_runtime_run(rt, limited_without_wait, share), PTO_ERR_TIMEOUT);
    EXPECT_EQ(pto_runtime_run(rt, many, share), PTO_OK); /* and the next run is right */
    pto_runtime_destroy(rt);
}

static void no_time(PTORuntime *rt, void *arg)
{
    struct shared *s = arg;
    SUBMIT(rt, &sleepy, PTO_INOUT(s->x, 0, I64(1)), PTO_SCALAR((int64_t)1), PTO_TIMEOUT(0));
}

TEST(a_timeout_that_is_no_time_is_refused)
{
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, no_time, share), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(rt), "@timeout(0): at least 1 ms is needed"));
    EXPECT_EQ(pto_runtime_run(rt, limited_without_wait, share), PTO_ERR_TIMEOUT);
    pto_runtime_destroy(rt);
}

TEST(a_watchdog_that_is_no_time_is_refused)
{
    const double bad[] = {-1, 1e10, 0.0 / 0.0};
    for (int i = 0; i < 3; i++) {
        PTOConfig c = {.watchdog_seconds = bad[i]};
        PTOStatus status = PTO_OK;
        EXPECT(pto_runtime_create(&c, &status) == NULL);
        EXPECT(status == PTO_ERR_CONFIG);
    }
}

TEST(shared_memory_is_zeroed_and_refuses_what_is_no_size)
{
    int64_t *m = pto_shared_alloc(4096);
    assert_non_null(m);
    for (int i = 0; i < 512; i++) EXPECT_EQ(m[i], 0);
    pto_shared_free(m, 4096);
    EXPECT(pto_shared_alloc(0) == NULL);
    EXPECT(pto_shared_alloc(-1) == NULL);
    pto_shared_free(NULL, 4096);
}
