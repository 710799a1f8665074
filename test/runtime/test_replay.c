/* test_replay.c - a schedule is written, repeated exactly, and refused when it does not fit; a scheduler thread of its
 * own; tasks that something outside the library carries out. */
#include "graph_fuzz.h"
#include "api/runtime.h"
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>

enum { TASKS = 120 };

/* What kernels write is reached by the workers of each engine. */
static uint64_t *matrix[2];
__attribute__((constructor)) static void make_matrices(void)
{
    for (int m = 0; m < 2; m++) matrix[m] = pto_shared_alloc(CELLS * sizeof **matrix);
}

static PTORuntime *create(PTOConfig c)
{
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    return rt;
}

static struct fuzz_program program(uint64_t seed)
{
    return (struct fuzz_program){.seed = seed, .tasks = TASKS, .matrix = {matrix[0], matrix[1]}};
}

static uint64_t run(PTORuntime *rt, uint64_t seed)
{
    struct fuzz_program p = program(seed);
    fuzz_reset(&p);
    PTOStatus status = pto_runtime_run(rt, fuzz_orchestrate, &p);
    if (status != PTO_OK) fprintf(stderr, "%s\n", pto_last_error(rt));
    assert_int_equal(status, PTO_OK);
    return fuzz_digest(&p);
}

static void read_file(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
}

TEST(r7_a_recorded_schedule_is_repeated_start_for_start)
{
    char path[] = "/tmp/pto_schedule_XXXXXX", again[] = "/tmp/pto_schedule_XXXXXX";
    static char first[1 << 16], second[1 << 16];
    int a = mkstemp(path), b = mkstemp(again);
    EXPECT(a >= 0 && b >= 0);
    close(a);
    close(b);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        PTOConfig c = {.workers = {2, 2, 1, 1}, .task_window = 16, .record_tasks = 4096};
        if (seed % 4 == 0) memset(c.workers, 0, sizeof c.workers); /* shared */
        PTORuntime *rt = create(c);
        uint64_t digest = run(rt, seed);
        EXPECT_EQ(pto_runtime_write_schedule(rt, path), PTO_OK);
        pto_runtime_destroy(rt);
        c.replay = path;
        rt = create(c);
        for (int k = 0; k < 2; k++) {
            EXPECT_EQ(run(rt, seed), digest);
            EXPECT_EQ(rt->core.replay->next, rt->core.replay->count);
            EXPECT_EQ(pto_runtime_write_schedule(rt, again), PTO_OK);
            read_file(path, first, sizeof first);
            read_file(again, second, sizeof second);
            EXPECT_STR(first, second);
        }
        pto_runtime_destroy(rt);
    }
    remove(path);
    remove(again);
}

/* Of a run of three tasks: what its task 0 does, how many began, and whether the last one began before task 0 ended. */
static struct {
    PTORuntime *rt;
    bool fails, cancels;
    atomic_bool has_ended, is_early;
    atomic_int count;
} starts;

/* Task 1 waits for its worker, which executes task 0; task 2 has a worker of its own, but comes later. */
static int note_start(const PTOArg *args)
{
    const int64_t task = args[0].value.i64;
    starts.count++;
    if (task == 2 && !starts.has_ended) starts.is_early = true;
    if (task != 0) return 0;
    usleep(50000);
    if (starts.cancels) pto_cancel(starts.rt);
    starts.has_ended = true;
    return starts.fails;
}

static void submit_three(PTORuntime *rt, void *arg)
{
    static const PTOKernel kernel = {.name = "note_start", .worker = PTO_WORKER_VECTOR, .fn = note_start};
    (void)arg;
    for (int64_t i = 0; i < 3; i++) PTO_SUBMIT(rt, &kernel, PTO_SCALAR(i));
}

static PTOStatus replay_three(PTORuntime *rt, bool fails, bool cancels)
{
    starts.rt = rt;
    starts.fails = fails;
    starts.cancels = cancels;
    starts.has_ended = starts.is_early = false;
    starts.count = 0;
    const PTOStatus status = pto_runtime_run(rt, submit_three, NULL);
    EXPECT(!starts.is_early);
    return status;
}

TEST(a_worker_begins_nothing_before_its_place_in_the_schedule)
{
    char path[] = "/tmp/pto_schedule_XXXXXX", again[] = "/tmp/pto_schedule_XXXXXX", text[200];
    const char *const schedule = "pto schedule 1\n0 1\n1 1\n2 2\n";
    const int fd = mkstemp(path), other = mkstemp(again);
    EXPECT(fd >= 0 && other >= 0);
    EXPECT_EQ(write(fd, schedule, strlen(schedule)), strlen(schedule));
    close(fd);
    close(other);
    PTORuntime *rt = create((PTOConfig){.workers = {1, 2, 1, 1}, .replay = path, .record_tasks = 16});
    for (int k = 0; k < 3; k++) {
        EXPECT_EQ(replay_three(rt, false, false), PTO_OK);
        EXPECT_EQ(starts.count, 3);
        EXPECT_EQ(pto_runtime_write_schedule(rt, again), PTO_OK);
        read_file(again, text, sizeof text);
        EXPECT_STR(text, schedule);
        EXPECT_EQ(replay_three(rt, true, false), PTO_ERR_KERNEL); /* what waits for its start ends too */
        EXPECT_EQ(starts.count, 1);
        EXPECT_EQ(replay_three(rt, false, true), PTO_ERR_CANCELLED);
        EXPECT_EQ(starts.count, 1);
    }
    pto_runtime_destroy(rt);
    remove(path);
    remove(again);
}

TEST(r7_the_engine_threads_repeats_what_the_engine_process_recorded)
{
    char path[] = "/tmp/pto_schedule_XXXXXX";
    const int fd = mkstemp(path);
    EXPECT(fd >= 0);
    close(fd);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        PTOConfig c = {.engine = PTO_ENGINE_PROCESS, .workers = {2, 2, 1, 1}, .task_window = 16, .record_tasks = 4096};
        if (seed % 3 == 0) memset(c.workers, 0, sizeof c.workers); /* shared */
        if (seed % 4 == 0) c.always_defer = true;
        PTORuntime *rt = create(c);
        const uint64_t digest = run(rt, seed);
        EXPECT_EQ(pto_runtime_write_schedule(rt, path), PTO_OK);
        const int64_t tasks = (int64_t)rt->core.recorder->tasks;
        pto_runtime_destroy(rt);
        c.engine = PTO_ENGINE_THREADS;
        c.replay = path;
        rt = create(c);
        EXPECT_EQ(run(rt, seed), digest);
        EXPECT_EQ(rt->core.replay->next, tasks);
        EXPECT_EQ(rt->core.replay->count, tasks);
        pto_runtime_destroy(rt);
    }
    remove(path);
}

/* Also one that it has recorded itself: it is refused by name. */
TEST(the_engine_process_repeats_no_schedule)
{
    char path[] = "/tmp/pto_schedule_XXXXXX";
    const int fd = mkstemp(path);
    EXPECT(fd >= 0);
    close(fd);
    static const PTOEngine recorders[] = {PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
    for (int i = 0; i < 2; i++) {
        PTOConfig c = {.engine = recorders[i], .record_tasks = 4096};
        PTORuntime *rt = create(c);
        run(rt, 3);
        EXPECT_EQ(pto_runtime_write_schedule(rt, path), PTO_OK);
        pto_runtime_destroy(rt);
        PTOStatus status = PTO_OK;
        c = (PTOConfig){.engine = PTO_ENGINE_PROCESS, .replay = path};
        EXPECT(pto_runtime_create(&c, &status) == NULL);
        EXPECT_EQ(status, PTO_ERR_CONFIG);
        EXPECT(strstr(pto_last_error(NULL), "the replay of a schedule, also of one that the engine process has "
                                            "recorded, needs the engine threads"));
    }
    remove(path);
}

TEST(a_schedule_of_another_program_is_reported_and_not_waited_for)
{
    char path[] = "/tmp/pto_schedule_XXXXXX";
    int fd = mkstemp(path);
    EXPECT(fd >= 0);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "pto schedule 1\n");
    for (int i = 399; i >= 0; i--) fprintf(f, "%d 0\n", i); /* backwards: what comes first is never ready */
    fclose(f);
    PTORuntime *rt = create((PTOConfig){.workers = {1, 1, 1, 1}, .replay = path});
    struct fuzz_program p = program(3);
    fuzz_reset(&p);
    EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(rt), "does not fit this run"));
    pto_runtime_destroy(rt);
    remove(path);
}

static void nothing(PTORuntime *rt, void *arg) { (void)rt, (void)arg; }

TEST(what_has_no_order_of_starts_has_no_schedule)
{
    static const PTOEngine none[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING, PTO_ENGINE_GRAPH};
    for (int i = 0; i < 3; i++) {
        PTORuntime *rt = create((PTOConfig){.engine = none[i], .record_tasks = 4096});
        EXPECT_EQ(pto_runtime_run(rt, nothing, NULL), PTO_OK);
        EXPECT_EQ(pto_runtime_write_schedule(rt, "/dev/null"), PTO_ERR_UNSUPPORTED);
        EXPECT(strstr(pto_last_error(NULL), "record on threads"));
        pto_runtime_destroy(rt);
    }
}

TEST(a_schedule_with_more_starts_than_the_run_is_reported)
{
    char path[] = "/tmp/pto_schedule_XXXXXX";
    int fd = mkstemp(path);
    EXPECT(fd >= 0);
    close(fd);
    PTOConfig c = {.workers = {1, 1, 1, 1}, .record_tasks = 4096};
    PTORuntime *rt = create(c);
    const uint64_t digest = run(rt, 3);
    EXPECT_EQ(pto_runtime_write_schedule(rt, path), PTO_OK);
    const long long starts = (long long)rt->core.recorder->tasks;
    pto_runtime_destroy(rt);
    c.replay = path;
    rt = create(c);
    EXPECT_EQ(run(rt, 3), digest);
    pto_runtime_destroy(rt);
    FILE *f = fopen(path, "a");
    fprintf(f, "%lld 0\n", starts);
    fclose(f);
    rt = create(c);
    struct fuzz_program p = program(3);
    fuzz_reset(&p);
    EXPECT_EQ(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_ERR_ARGUMENT);
    char text[80];
    snprintf(text, sizeof text, "does not fit this run: it has %lld starts, and the run made %lld", starts + 1, starts);
    EXPECT(strstr(pto_last_error(rt), text));
    pto_runtime_destroy(rt);
    remove(path);
}

TEST(bad_schedule_files_are_refused_with_their_line)
{
    static const struct {
        const char *text, *message;
    } bad[] = {{"", ":1: not a schedule"},
               {"hello\n", ":1: not a schedule"},
               {"pto schedule 1\nx y\n", ":2: `task worker` expected"},
               {"pto schedule 1\n0 0\n1 99\n", ":3: this run has no such worker"},
               {"pto schedule 1\n0 0\n-1 0\n", ":3: no such task"},
               {"pto schedule 1\n0 0\n0 0\n", ":3: every task from 0"},
               {"pto schedule 1\n5 0\n", ":2: every task from 0"}};
    char path[] = "/tmp/pto_schedule_XXXXXX";
    int fd = mkstemp(path);
    EXPECT(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FILE *f = fopen(path, "w");
        fputs(bad[i].text, f);
        fclose(f);
        PTOStatus status = PTO_OK;
        EXPECT(pto_runtime_create(&(PTOConfig){.replay = path}, &status) == NULL);
        EXPECT_EQ(status, PTO_ERR_ARGUMENT);
        EXPECT(strstr(pto_last_error(NULL), bad[i].message));
    }
    remove(path);
    PTOStatus status = PTO_OK;
    EXPECT(pto_runtime_create(&(PTOConfig){.replay = path}, &status) == NULL);
    EXPECT_EQ((uint64_t)status, (uint64_t)PTO_ERR_IO);
}

TEST(a_scheduler_of_its_own_gives_the_same_results)
{
    PTORuntime *oracle = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t want = run(oracle, seed);
        PTORuntime *rt = create(
            (PTOConfig){.workers = {2, 1, 1, 1}, .task_window = (int64_t)2 << seed % 5, .dedicated_scheduler = true});
        EXPECT_EQ(run(rt, seed), want);
        EXPECT_EQ(run(rt, seed), want);
        pto_runtime_destroy(rt);
    }
    pto_runtime_destroy(oracle);
}

/* ---- outside workers: a pool of threads that the library knows nothing of ---- */
struct outside_task {
    int64_t id;
    const PTOKernel *kernel;
    PTOArg args[PTO_MAX_PARAMS];
};

struct pool {
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    struct outside_task task[64];
    uint64_t first, last;
    bool stop;
    PTORuntime *rt;
    int64_t fail_at;
};

static void outside_start(void *context, int64_t id, const PTOKernel *kernel, const PTOArg *args, int32_t count)
{
    struct pool *p = context;
    pthread_mutex_lock(&p->mutex);
    assert_true(p->last - p->first < 64);
    struct outside_task *t = &p->task[p->last++ % 64];
    t->id = id;
    t->kernel = kernel;
    memcpy(t->args, args, (size_t)count * sizeof *args);
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static void *outside_main(void *arg)
{
    struct pool *p = arg;
    for (;;) {
        pthread_mutex_lock(&p->mutex);
        while (p->first == p->last && !p->stop) pthread_cond_wait(&p->changed, &p->mutex);
        if (p->first == p->last) {
            pthread_mutex_unlock(&p->mutex);
            return NULL;
        }
        struct outside_task t = p->task[p->first++ % 64];
        pthread_mutex_unlock(&p->mutex);
        int result = t.kernel->fn(t.args);
        if (t.id == p->fail_at)
            pto_task_complete_with(p->rt, t.id, 9);
        else if (result == 0)
            pto_task_complete(p->rt, t.id);
    }
}

TEST(h31_tasks_may_be_carried_out_outside_and_completed_from_any_thread)
{
    int failures = 0;
    PTORuntime *oracle = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t want = run(oracle, seed);
        struct pool p = {.fail_at = -1};
        pthread_mutex_init(&p.mutex, NULL);
        pthread_cond_init(&p.changed, NULL);
        p.rt = create((PTOConfig){.workers = {1, 1, 1, 1},
                                  .task_window = 32,
                                  .external = {true, false, true},
                                  .external_start = outside_start,
                                  .external_context = &p,
                                  .first_task_id = seed % 2 ? 0 : ((int64_t)1 << 32) - 8});
        pthread_t thread[3];
        for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, outside_main, &p);
        EXPECT_EQ(run(p.rt, seed), want);
        pthread_mutex_lock(&p.mutex);
        p.fail_at = (int64_t)pto_get_run_stats(p.rt)->tasks; /* in the next run ids go on from here */
        pthread_mutex_unlock(&p.mutex);
        struct fuzz_program again = program(seed);
        fuzz_reset(&again);
        PTOStatus status = pto_runtime_run(p.rt, fuzz_orchestrate, &again);
        EXPECT(status == PTO_OK || (status == PTO_ERR_KERNEL && strstr(pto_last_error(p.rt), "it returned 9")));
        failures += status != PTO_OK; /* the task with that id may be one of the library's own workers' */
        pthread_mutex_lock(&p.mutex);
        p.fail_at = -1;
        pthread_mutex_unlock(&p.mutex);
        EXPECT_EQ(run(p.rt, seed), want);
        pthread_mutex_lock(&p.mutex);
        p.stop = true;
        pthread_cond_broadcast(&p.changed);
        pthread_mutex_unlock(&p.mutex);
        for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
        pto_runtime_destroy(p.rt);
        pthread_cond_destroy(&p.changed);
        pthread_mutex_destroy(&p.mutex);
    }
    EXPECT(failures > 0);
    pto_runtime_destroy(oracle);
}
