/* test_lifetime.c - calls on a runtime that is not there: copied by a fork, destroyed, or never created.  Each is
 * PTO_ERR_MISUSE and a sentence, and reads nothing of it. */
#include "every_call.h"
#include "misuse_unit.h"
#include "shared/system.h"
#include <dirent.h>
#include <pto/pto_registry.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a forked child ---- */

enum { RUN_IN_CHILD, DESTROY_IN_CHILD, CANCEL_IN_CHILD, CHILD_CALLS };

static int in_child(PTORuntime *rt, int call)
{
    int64_t n = 0;
    if (call == RUN_IN_CHILD && pto_runtime_run(rt, one_task, &n) != PTO_ERR_MISUSE) return 2;
    if (call == DESTROY_IN_CHILD) pto_runtime_destroy(rt);
    if (call == CANCEL_IN_CHILD) pto_cancel(rt);
    return strstr(pto_last_error(NULL), "in a forked child") && strstr(pto_last_error(rt), "in a forked child") ? 0 : 3;
}

TEST(a_runtime_is_not_used_in_a_forked_child)
{
    for (int e = 0; e < ENGINES; e++)
        for (int call = 0; call < CHILD_CALLS; call++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
            int status;
            fflush(NULL);
            const pid_t child = fork();
            if (child == 0) _exit(in_child(rt, call));
            EXPECT_EQ(waitpid(child, &status, 0), child);
            EXPECT(WIFEXITED(status));
            EXPECT_EQ(WEXITSTATUS(status), 0);
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
        }
}

/* cells[0] counts, cells[1] is the exit code.  Shared: the worker process would count on the stack that it runs on. */
static void forks_during_a_run(PTORuntime *rt, void *arg)
{
    int64_t *cells = arg;
    int status;
    for (int i = 0; i < 100; i++) SUBMIT(rt, &increment, PTO_INOUT(cells, 0, 8)); /* the fast path is open */
    pto_await(rt, cells, 0, 8);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(SUBMIT(rt, &increment, PTO_INOUT(cells, 0, 8)) == PTO_ERR_MISUSE &&
                      pto_scope_begin(rt) == PTO_SCOPE_CURRENT
                  ? 0
                  : 2);
    waitpid(child, &status, 0);
    cells[1] = WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

TEST(a_child_that_is_forked_during_a_run_submits_nothing)
{
    int64_t *cells = pto_shared_alloc(64);
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
        cells[0] = 0;
        cells[1] = 4;
        EXPECT_EQ(pto_runtime_run(rt, forks_during_a_run, cells), PTO_OK);
        EXPECT_EQ(cells[1], 0);
        EXPECT_EQ(cells[0], 100);
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
    }
    pto_shared_free(cells, 64);
}

#if HAS_CHILDREN
static void *one_run(void *arg)
{
    int64_t n = 0;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_THREADS, .workers = {0, 1, 0, 0}}, NULL);
    *(int *)arg = rt && pto_runtime_run(rt, one_task, &n) == PTO_OK && n == 1 ? 0 : 5;
    pto_runtime_destroy(rt);
    return NULL;
}

/* All other threads sleep.  One that begins allocates, and a fork meanwhile copies the taken lock of a sanitizer. */
static bool others_sleep(void)
{
    bool all = true;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e; threads && (e = readdir(threads));) {
        char path[300], stat[300] = "";
        if (e->d_name[0] == '.' || atoi(e->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        FILE *in = fopen(path, "r");
        const char *state = in && fgets(stat, sizeof stat, in) ? strrchr(stat, ')') : NULL;
        all &= state && state[2] == 'S';
        if (in) fclose(in);
    }
    if (threads) closedir(threads);
    return all && threads;
}

TEST(a_forked_child_may_create_a_runtime_of_its_own)
{
    PTORuntime *rt = create((PTOConfig){.engine = PTO_ENGINE_THREADS});
    int status, code = 0;
    while (!others_sleep()) ptoi_sleep_ns(100000);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        one_run(&code);
        _exit(code);
    }
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pto_runtime_destroy(rt);
}
#endif

/* ---- destroy ---- */

static void *destroy_it(void *arg)
{
    pto_runtime_destroy(arg);
    return NULL;
}

static void is_destroyed_meanwhile(PTORuntime *rt, void *by_itself)
{
    pthread_t thread;
    if (by_itself)
        pto_runtime_destroy(rt);
    else if (pthread_create(&thread, NULL, destroy_it, rt) == 0)
        pthread_join(thread, NULL);
}

TEST(destroy_during_a_run_ends_the_run_and_destroys_nothing)
{
    for (int e = 0; e < ENGINES; e++)
        for (int by_itself = 0; by_itself < 2; by_itself++) {
            PTORuntime *rt = create((PTOConfig){.engine = engines[e]});
            EXPECT_EQ(pto_runtime_run(rt, is_destroyed_meanwhile, by_itself ? rt : NULL), PTO_ERR_MISUSE);
            EXPECT(contains(pto_last_error(rt), "pto_runtime_destroy during a run"));
            EXPECT(works(rt));
            pto_runtime_destroy(rt);
            EXPECT_STR(pto_last_error(NULL), "");
        }
}

TEST(a_second_destroy_destroys_nothing_even_when_there_is_a_new_runtime)
{
    PTORuntime *old[4], *new[4];
    for (int e = 0; e < ENGINES; e++) {
        old[e] = create((PTOConfig){.engine = engines[e]});
        pto_runtime_destroy(old[e]);
        pto_runtime_destroy(old[e]);
        EXPECT_STR(pto_last_error(NULL), "pto_runtime_destroy of a runtime that was destroyed");
        EXPECT_STR(pto_last_error(old[e]), "pto_runtime_destroy of a runtime that was destroyed");
        new[e] = create((PTOConfig){.engine = engines[e]});
        pto_runtime_destroy(old[e]);
        EXPECT(works(new[e]));
    }
    for (int e = 0; e < ENGINES; e++) pto_runtime_destroy(new[e]);
    EXPECT_EQ(pto_runtime_run(old[0], one_task, NULL), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_trim(old[1]), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_trace(old[2], "t.json"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_submit_slow_(old[3], &increment, NULL, 0, 0), PTO_ERR_MISUSE);
    EXPECT_STR(pto_last_error(NULL), "pto_submit_task of a runtime that was destroyed");
}

TEST(questions_about_a_runtime_that_was_destroyed_read_nothing_of_it)
{
    int64_t n = 0;
    for (int e = 0; e < ENGINES; e++) {
        PTORuntime *rt = create((PTOConfig){.engine = engines[e], .record_tasks = 8});
        EXPECT(works(rt));
        pto_runtime_destroy(rt);
        EXPECT(!pto_get_flow_stats(rt));
        EXPECT_STR(pto_last_error(NULL), "pto_get_flow_stats of a runtime that was destroyed");
        EXPECT(!pto_get_run_stats(rt));
        EXPECT_STR(pto_last_error(NULL), "pto_get_run_stats of a runtime that was destroyed");
        EXPECT_EQ(pto_get_current_stall(rt), PTO_STALL_NONE);
        pto_reset_flow_stats(rt);
        EXPECT_STR(pto_last_error(NULL), "pto_reset_flow_stats of a runtime that was destroyed");
        pto_write_flow_stats(rt, stderr);
        pto_write_pinned(rt, stderr);
        EXPECT_STR(pto_last_error(NULL), "pto_write_pinned of a runtime that was destroyed");
        pto_buffer(rt, &n, 8);
        EXPECT_STR(pto_last_error(NULL), "pto_buffer of a runtime that was destroyed");
        pto_task_complete(rt, 0);
        EXPECT_STR(pto_last_error(NULL), "pto_task_complete of a runtime that was destroyed");
    }
}

/* ---- no runtime ---- */

TEST(every_call_without_a_runtime_is_defined_and_says_why_there_is_none)
{
    int64_t n = 0;
    const PTOConfig impossible = {.task_window = 3};
    static const PTOSite site = {"a.pto", 1, 1, "a"};
    PTOStatus status;
    EXPECT(!pto_runtime_create(&impossible, &status));
    for (int call = 0; call < CALLS; call++) {
        EXPECT_EQ(make_call(NULL, call, &n), PTO_ERR_MISUSE);
        EXPECT(contains(pto_last_error(NULL), call_names[call]));
        EXPECT(contains(pto_last_error(NULL), "without a runtime: pto_runtime_create failed: task window 3"));
    }
    EXPECT_EQ(pto_runtime_write_trace(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_report(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_graph(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_write_schedule(NULL, "t"), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_execute(NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL), PTO_ERR_MISUSE);
    EXPECT_EQ((pto_submit_task)(NULL, &increment, NULL, 0), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_runtime_trim(NULL), PTO_OK); /* what is kept for no runtime */
    pto_at(NULL, &site);
    pto_buffer(NULL, &n, 8);
    pto_input(NULL, &n, 8);
    pto_cancel(NULL);
    pto_task_complete(NULL, 0);
    EXPECT(contains(pto_last_error(NULL), "pto_task_complete without a runtime"));
    EXPECT(!pto_get_flow_stats(NULL) && !pto_get_run_stats(NULL));
    EXPECT_EQ(pto_get_current_stall(NULL), PTO_STALL_NONE);
    pto_reset_flow_stats(NULL);
    pto_print_flow_stats(NULL);
    pto_write_flow_stats(NULL, stderr);
    pto_write_pinned(NULL, stderr);
    EXPECT(contains(pto_last_error(NULL), "pto_write_pinned without a runtime"));
    pto_pool_stats(NULL);
    pto_pool_print(NULL);
    EXPECT(pto_pool_classes(NULL, 8) >= 0);
    pto_registry_dump(NULL);
    PTORuntime *const rt = create((PTOConfig){.engine = PTO_ENGINE_SERIAL});
    pto_write_flow_stats(rt, NULL);
    pto_write_pinned(rt, NULL);
    pto_runtime_destroy(rt);
    pto_runtime_destroy(NULL);
    EXPECT_STR(pto_last_error(NULL), "");
    EXPECT(!pto_alloc_zeroed(NULL, PTO_SCOPE_CURRENT, 8) && !pto_frame(NULL, 8, 8) && !pto_where(NULL, NULL));
    pto_runtime_destroy(create((PTOConfig){.engine = PTO_ENGINE_SERIAL}));
    EXPECT_EQ(pto_runtime_run(NULL, one_task, NULL), PTO_ERR_MISUSE);
    EXPECT_STR(pto_last_error(NULL), "pto_runtime_run without a runtime: it is NULL");
}
