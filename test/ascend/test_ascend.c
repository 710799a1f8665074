/* test_ascend.c - the backend ascend through the C API, over the stub.  ABI stub, not run on Ascend. */
#include "api/runtime.h"
#include "submit.h"
#include "unit.h"
#include "unit_kernels.h"
#include <pthread.h>
#include <pto/pto_runtime.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const PTOKernel mix = {.name = "mix", .worker = PTO_WORKER_VECTOR, .fn = k_mix};
static const PTOKernel set = {.name = "anything", .worker = PTO_WORKER_CUBE, .fn = k_set, .symbol = "set"};
static const PTOKernel failing = {.name = "fail", .worker = PTO_WORKER_AI_CPU, .fn = k_fail};
static const PTOKernel sleeping = {.name = "sleep", .worker = PTO_WORKER_CUBE, .fn = k_sleep};
static const PTOKernel overrun = {.name = "overrun", .worker = PTO_WORKER_CUBE, .fn = k_overrun};
static const PTOKernel unmapped = {.name = "set", .worker = PTO_WORKER_CUBE, .fn = k_set, .symbol = "set_of_another"};
static const PTOKernel copy = {.name = "copy", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_COPY};
static const PTOKernel gather = {.name = "gather", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_GATHER_ROWS};
static const PTOKernel scatter = {.name = "scatter", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_SCATTER_ROWS};
static const PTOKernel unknown = {.name = "unknown", .worker = PTO_WORKER_ACCELERATOR, .opcode = 77};

/* Where the stub logs to; each test begins an empty one. */
static char log_path[] = "/tmp/test_ascend_XXXXXX";

__attribute__((constructor)) static void open_log(void)
{
    const int file = mkstemp(log_path);
    if (file >= 0) close(file);
    setenv("PTO_STUB_LOG", log_path, 1);
}
__attribute__((destructor)) static void remove_log(void) { unlink(log_path); }

/* How many lines of the log have this text. */
static int logged(const char *text)
{
    FILE *in = fopen(log_path, "r");
    char line[512];
    int count = 0;
    while (in && fgets(line, sizeof line, in)) count += strstr(line, text) != NULL;
    if (in) fclose(in);
    return count;
}

static PTORuntime *create(PTOEngine engine)
{
    PTOConfig c = {.engine = engine,
                   .backend = "ascend",
                   .kernels = PTO_TEST_MAP,
                   .heap_bytes = 1 << 16,
                   .task_window = 8,
                   .tensormap_entries = 64,
                   .workers = {2, 2, 1, 1}};
    if (truncate(log_path, 0) != 0) return NULL;
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    return rt;
}

/* The end of every test: nothing is left, and the stub has nothing to say. */
#define CLOSE(rt)                                                                                                      \
    do {                                                                                                               \
        pto_runtime_destroy(rt);                                                                                       \
        EXPECT_STR(pto_last_error(NULL), "");                                                                          \
        EXPECT_EQ(logged("# ABI stub, not run on Ascend: "), 1);                                                       \
        EXPECT_EQ(logged(" 0 mistakes, 0 leaks"), 1);                                                                  \
    } while (0)

enum { N = 64 };

/* ---- runs -------------------------------------------------------------------------------------------------------- */

struct arrays {
    int64_t x[N], y[N];
};

static void add_up(PTORuntime *rt, void *arg)
{
    struct arrays *a = arg;
    pto_buffer(rt, a->x, sizeof a->x);
    pto_buffer(rt, a->y, sizeof a->y);
    for (int64_t i = 0; i < 10; i++)
        SUBMIT(rt, &mix, PTO_INPUT(a->x, 0, PTO_ARRAY(PTO_I64, N)), PTO_INOUT(a->y, 0, PTO_ARRAY(PTO_I64, N)),
               PTO_SCALAR(i));
}

static void expect_added(struct arrays *a, const int64_t *before)
{
    for (int i = 0; i < N; i++) {
        uint64_t y = (uint64_t)before[i];
        for (uint64_t k = 0; k < 10; k++) y = y * 31 + (uint64_t)a->x[i] + k;
        EXPECT(a->y[i] == (int64_t)y);
    }
}

TEST(device_memory_is_kept_between_runs)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    EXPECT(rt != NULL);
    struct arrays a = {.x = {1, 2, 3}, .y = {4, 5}};
    for (int run = 0; run < 3; run++) {
        int64_t before[N];
        memcpy(before, a.y, sizeof before);
        a.x[5] = run;
        EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_OK);
        expect_added(&a, before);
    }
    EXPECT_EQ(logged("aclrtMalloc("), 2 + 2); /* the heap, a line of status for each stream; the arrays, once */
    EXPECT_EQ(logged("aclInit"), 1);
    CLOSE(rt);
}

/* ---- pto_runtime_execute ----------------------------------------------------------------------------------------- */

/* Nothing is registered by pto_buffer.  inputs[1] is outputs[0]. */
static void execute_mixing(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    const int64_t value = *(int64_t *)params;
    void *P = NULL;
    SUBMIT(rt, &set, PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR(value));
    SUBMIT(rt, &mix, PTO_INPUT(inputs[0], 0, PTO_ARRAY(PTO_I64, N)), PTO_INOUT(outputs[0], 0, PTO_ARRAY(PTO_I64, N)),
           PTO_SCALAR((int64_t)2));
    SUBMIT(rt, &mix, PTO_INPUT(P, 0, PTO_ARRAY(PTO_I64, N)), PTO_INOUT(inputs[1], 0, PTO_ARRAY(PTO_I64, N)),
           PTO_SCALAR((int64_t)3));
    /* The second half of outputs[0] as outputs[1]. */
    SUBMIT(rt, &set, PTO_OUTPUT(&outputs[1], 0, PTO_ARRAY(PTO_I64, N / 2)), PTO_SCALAR(value + 1));
}

static void execute_failing(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    execute_mixing(rt, inputs, outputs, params);
    SUBMIT(rt, &failing, PTO_INOUT(outputs[0], 0, PTO_ARRAY(PTO_I64, 1)), PTO_SCALAR((int64_t)7));
}

TEST(execute_copies_its_arrays_to_the_device_and_back)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL};
    for (size_t e = 0; e < 2; e++) {
        PTORuntime *rt = create(engines[e]);
        EXPECT(rt != NULL);
        for (int64_t run = 0; run < 3; run++) {
            int64_t x[N], y[N], before[N];
            for (int i = 0; i < N; i++) x[i] = 10 * i + run, y[i] = before[i] = 7 * i;
            void *const in[] = {x, y}, *const out[] = {y, y + N / 2};
            const int64_t in_bytes[] = {sizeof x, sizeof y}, out_bytes[] = {sizeof y, sizeof y / 2};
            EXPECT_EQ(pto_runtime_execute(rt, execute_mixing, in, in_bytes, 2, out, out_bytes, 2, &run), PTO_OK);
            for (int i = 0; i < N; i++) {
                const uint64_t mixed = ((uint64_t)before[i] * 31 + (uint64_t)x[i] + 2) * 31 + (uint64_t)run + 3;
                EXPECT_EQ((uint64_t)y[i], i < N / 2 ? mixed : (uint64_t)run + 1);
            }
            memcpy(before, y, sizeof y);
            EXPECT_EQ(pto_runtime_execute(rt, execute_failing, in, in_bytes, 2, out, out_bytes, 2, &run),
                      PTO_ERR_KERNEL);
            EXPECT(memcmp(before, y, sizeof y) == 0); /* nothing was copied back */
        }
        CLOSE(rt);
    }
}

TEST(two_runtimes_share_the_library_and_the_device)
{
    PTORuntime *one = create(PTO_ENGINE_THREADS), *two = NULL;
    EXPECT(one != NULL);
    PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .backend = "ascend", .kernels = PTO_TEST_MAP, .heap_bytes = 1 << 16};
    two = pto_runtime_create(&c, NULL);
    EXPECT(two != NULL);
    struct arrays a = {.x = {1}}, b = {.x = {2}};
    const int64_t zeros[N] = {0};
    for (int run = 0; run < 2; run++) {
        memset(a.y, 0, sizeof a.y);
        memset(b.y, 0, sizeof b.y);
        EXPECT_EQ(pto_runtime_run(one, add_up, &a), PTO_OK);
        EXPECT_EQ(pto_runtime_run(two, add_up, &b), PTO_OK);
        expect_added(&a, zeros);
        expect_added(&b, zeros);
    }
    pto_runtime_destroy(one);
    EXPECT_EQ(logged("aclrtResetDevice"), 0);
    memset(b.y, 0, sizeof b.y);
    EXPECT_EQ(pto_runtime_run(two, add_up, &b), PTO_OK);
    expect_added(&b, zeros);
    EXPECT_EQ(logged("aclInit"), 1);
    CLOSE(two);
    EXPECT_EQ(logged("aclrtResetDevice"), 1);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void run_fail(PTORuntime *rt, void *arg)
{
    int64_t *x = arg;
    pto_buffer(rt, x, 8 * N);
    SUBMIT(rt, &failing, PTO_INOUT(x, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)7));
    SUBMIT(rt, &set, PTO_INOUT(x, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)7));
}

TEST(a_kernel_that_fails_fails_its_run_and_no_other)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    const int64_t zeros[N] = {0};
    EXPECT_EQ(pto_runtime_run(rt, run_fail, a.x), PTO_ERR_KERNEL);
    EXPECT(strstr(pto_last_error(rt), "kernel 'fail' failed: it returned 7") != NULL);
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_OK);
    expect_added(&a, zeros);
    CLOSE(rt);
}

static void run_unmapped(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 8 * N);
    SUBMIT(rt, &unmapped, PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)7));
}

static void run_unregistered(PTORuntime *rt, void *arg)
{
    SUBMIT(rt, &set, PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)7));
}

static void run_longer(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 8 * N - 8);
    run_unregistered(rt, arg);
}

TEST(what_the_device_does_not_know_fails_the_run)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    const int64_t zeros[N] = {0};
    EXPECT_EQ(pto_runtime_run(rt, run_unmapped, a.x), PTO_ERR_DEVICE);
    EXPECT(strstr(pto_last_error(rt), "has no [set_of_another]") != NULL);
    EXPECT_EQ(pto_runtime_run(rt, run_unregistered, a.x), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(rt), "register it with pto_buffer") != NULL);
    EXPECT_EQ(pto_runtime_run(rt, run_longer, a.x), PTO_ERR_ARGUMENT);
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_OK);
    expect_added(&a, zeros);
    CLOSE(rt);
}

TEST(a_device_that_failed_is_not_used_again)
{
    setenv("PTO_STUB_FAIL", "aclrtRecordEvent:3", 1);
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    const int64_t zeros[N] = {0};
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_ERR_DEVICE);
    EXPECT(strstr(pto_last_error(rt), "aclrtRecordEvent failed with error 507899: injected") != NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_ERR_DEVICE);
        EXPECT(strstr(pto_last_error(rt), "ascend: of an earlier run: ascend: aclrtRecordEvent failed") != NULL);
    }
    unsetenv("PTO_STUB_FAIL");
    CLOSE(rt);
    rt = create(PTO_ENGINE_THREADS); /* in the same process */
    memset(a.y, 0, sizeof a.y);
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_OK);
    expect_added(&a, zeros);
    CLOSE(rt);
}

static void *ask_for_failure(void *backend)
{
    const struct backend *b = backend;
    return (void *)(uintptr_t)b->mirror->failure(b);
}

/* A copy that fails beside a task that does: both report it. */
TEST(two_threads_ask_for_one_failure)
{
    setenv("PTO_STUB_FAIL", "aclrtRecordEvent:1", 1);
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_ERR_DEVICE);
    unsetenv("PTO_STUB_FAIL");
    pthread_t other;
    void *text = NULL;
    void *const backend = (void *)(uintptr_t)rt->core.backend;
    EXPECT_EQ(pthread_create(&other, NULL, ask_for_failure, backend), 0);
    EXPECT(strstr(ask_for_failure(backend), "aclrtRecordEvent failed with error 507899: injected") != NULL);
    EXPECT_EQ(pthread_join(other, &text), 0);
    EXPECT(text == ask_for_failure(backend));
    CLOSE(rt);
}

TEST(what_could_not_be_given_back_is_reported)
{
    setenv("PTO_STUB_FAIL", "aclrtDestroyStream:2", 1);
    PTORuntime *rt = create(PTO_ENGINE_SERIAL);
    pto_runtime_destroy(rt);
    EXPECT_STR(pto_last_error(NULL),
               "ascend: aclrtDestroyStream failed with error 507899: injected: use 2 of aclrtDestroyStream");
    unsetenv("PTO_STUB_FAIL");
    CLOSE(create(PTO_ENGINE_SERIAL));
}

static void run_sleep(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 8 * N);
    for (int i = 0; i < 4; i++)
        SUBMIT(rt, &sleeping, PTO_INOUT(arg, 16 * i, PTO_ARRAY(PTO_I64, 16)), PTO_SCALAR((int64_t)20));
    pto_cancel(rt);
}

TEST(a_cancelled_run_waits_for_the_kernels_that_run)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    EXPECT_EQ(pto_runtime_run(rt, run_sleep, a.x), PTO_ERR_CANCELLED);
    EXPECT_EQ(pto_runtime_run(rt, add_up, &a), PTO_OK);
    CLOSE(rt);
}

static void run_long(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 8 * N);
    SUBMIT(rt, &sleeping, PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)400));
}

/* How many calls the library that is closed has had. */
static int calls(void)
{
    FILE *in = fopen(log_path, "r");
    char line[512];
    int count = 0;
    while (in && fgets(line, sizeof line, in)) sscanf(line, "# ABI stub, not run on Ascend: %d calls", &count);
    if (in) fclose(in);
    return count;
}

TEST(a_long_kernel_is_asked_for_less_and_less)
{
    PTORuntime *rt = create(PTO_ENGINE_SERIAL);
    struct arrays a = {.x = {1}};
    EXPECT_EQ(pto_runtime_run(rt, run_long, a.x), PTO_OK);
    CLOSE(rt);
    EXPECT(calls() > 0 && calls() < 2000); /* a call takes a microsecond, the kernel 400,000 */
}

static void awaits_its_own(PTORuntime *rt, void *arg)
{
    int64_t own[2] = {3, 4};
    add_up(rt, arg);
    EXPECT_EQ(pto_await(rt, own, 0, sizeof own), PTO_OK);
    EXPECT_EQ(own[0] + own[1], 7);
}

TEST(memory_that_the_device_does_not_know_is_there_at_once)
{
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    struct arrays a = {.x = {1}};
    EXPECT_EQ(pto_runtime_run(rt, awaits_its_own, &a), PTO_OK);
    CLOSE(rt);
}

/* ---- traps of the stub, which is why a test over it means something ---------------------------------------------- */

static void run_overrun(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 8 * N);
    SUBMIT(rt, &overrun, PTO_INOUT(arg, 0, PTO_ARRAY(PTO_I64, N)), PTO_SCALAR((int64_t)0));
}

TEST(a_kernel_that_leaves_its_array_traps)
{
    fflush(NULL);
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        int64_t x[N] = {0};
        unsetenv("PTO_STUB_LOG");
        PTORuntime *rt = create(PTO_ENGINE_SERIAL);
        signal(SIGSEGV, SIG_DFL);
        pto_runtime_run(rt, run_overrun, x);
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(status != 0); /* by the signal, or by a sanitizer's report of it */
}

/* ---- work requests ----------------------------------------------------------------------------------------------- */

enum { ROWS = 6, COLUMNS = 5 };
struct moves {
    int64_t a[ROWS][COLUMNS], transposed[COLUMNS][ROWS], picked[4][COLUMNS], spread[ROWS][COLUMNS], cube[2][3][4],
        part[2][4][3];
    int64_t index[8];
    const PTOKernel *kernel;
};

static void move(PTORuntime *rt, void *arg)
{
    struct moves *m = arg;
    pto_buffer(rt, m, sizeof *m);
    SUBMIT(rt, &copy, PTO_INPUT(m->a, 0, PTO_ARRAY(PTO_I64, ROWS, COLUMNS)),
           PTO_INOUT(m->transposed, 0, PTO_STRIDED(PTO_I64, (ROWS, COLUMNS), (1, ROWS))));
    void *rows = NULL;
    SUBMIT(rt, &gather, PTO_INPUT(m->a, 0, PTO_ARRAY(PTO_I64, ROWS, COLUMNS)),
           PTO_INPUT(m->index, 0, PTO_STRIDED(PTO_I64, (4), (2))),
           PTO_OUTPUT(&rows, 0, PTO_ARRAY(PTO_I64, 4, COLUMNS)));
    SUBMIT(rt, &copy, PTO_INPUT(rows, 0, PTO_ARRAY(PTO_I64, 4, COLUMNS)),
           PTO_INOUT(m->picked, 0, PTO_ARRAY(PTO_I64, 4, COLUMNS)));
    SUBMIT(rt, &scatter, PTO_INPUT(rows, 0, PTO_ARRAY(PTO_I64, 4, COLUMNS)),
           PTO_INPUT(m->index, 0, PTO_STRIDED(PTO_I64, (4), (2))),
           PTO_INOUT(m->spread, 0, PTO_ARRAY(PTO_I64, ROWS, COLUMNS)));
    SUBMIT(rt, &copy, PTO_INPUT(m->cube, 0, PTO_STRIDED(PTO_I64, (2, 4, 3), (12, 1, 4))),
           PTO_INOUT(m->part, 0, PTO_ARRAY(PTO_I64, 2, 4, 3)));
    SUBMIT(rt, &copy, PTO_INPUT(m->a, 0, PTO_ARRAY(PTO_I64, 0, COLUMNS)),
           PTO_INOUT(m->spread, 0, PTO_ARRAY(PTO_I64, 0, COLUMNS)));
}

static void fill(struct moves *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < ROWS * COLUMNS; i++) m->a[i / COLUMNS][i % COLUMNS] = 100 + i;
    for (int i = 0; i < 24; i++) m->cube[i / 12][i / 4 % 3][i % 4] = 1000 + i;
    memcpy(m->index, (int64_t[]){5, -9, 0, -9, 5, -9, 2, -9}, sizeof m->index);
}

TEST(work_requests_move_what_they_move_on_sim)
{
    static struct moves on_sim, on_ascend;
    fill(&on_sim);
    fill(&on_ascend);
    setenv("PTO_STUB_SLOW", "2000", 1);
    PTORuntime *sim = pto_runtime_create(&(PTOConfig){.heap_bytes = 1 << 16}, NULL),
               *ascend = create(PTO_ENGINE_THREADS);
    EXPECT_EQ(pto_runtime_run(sim, move, &on_sim), PTO_OK);
    EXPECT_EQ(pto_runtime_run(ascend, move, &on_ascend), PTO_OK);
    EXPECT(memcmp(&on_sim, &on_ascend, sizeof on_sim) == 0);
    unsetenv("PTO_STUB_SLOW");
    pto_runtime_destroy(sim);
    CLOSE(ascend);
}

static void move_badly(PTORuntime *rt, void *arg)
{
    struct moves *m = arg;
    pto_buffer(rt, m, sizeof *m);
    if (m->kernel == &gather)
        SUBMIT(rt, &gather, PTO_INPUT(m->a, 0, PTO_ARRAY(PTO_I64, ROWS, COLUMNS)),
               PTO_INPUT(m->index, 0, PTO_ARRAY(PTO_I64, 4)), PTO_INOUT(m->picked, 0, PTO_ARRAY(PTO_I64, 4, COLUMNS)));
    else
        SUBMIT(rt, m->kernel, PTO_INPUT(m->a, 0, PTO_ARRAY(PTO_I64, 2, 3)),
               PTO_INOUT(m->picked, 0, PTO_ARRAY(PTO_I64, 3, 2)));
}

TEST(bad_work_requests_fail_as_on_sim)
{
    static struct moves m;
    const struct {
        const PTOKernel *kernel;
        PTOStatus status;
        const char *text;
    } cases[] = {{&gather, PTO_ERR_KERNEL, "it returned 2"},
                 {&copy, PTO_ERR_KERNEL, "it returned 1"},
                 {&unknown, PTO_ERR_UNSUPPORTED, "which the accelerators of the backend ascend do not have"}};
    PTORuntime *rt = create(PTO_ENGINE_THREADS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(&m);
        m.kernel = cases[i].kernel;
        EXPECT_EQ(pto_runtime_run(rt, move_badly, &m), cases[i].status);
        EXPECT(strstr(pto_last_error(rt), cases[i].text) != NULL);
    }
    EXPECT_EQ(pto_operation(rt, PTO_OP_OWN, NULL, NULL), PTO_ERR_UNSUPPORTED);
    CLOSE(rt);
}

/* ---- host and device in step: random programs against what happens when everything runs at once ------------------ */

enum { ARRAYS = 4, LENGTH = 48, ITERATIONS = 120 };

struct world {
    int64_t block[ARRAYS / 2 * LENGTH]; /* two arrays of the host that touch */
    int64_t *array[ARRAYS];             /* the others are of the heap */
    int64_t model[ARRAYS][LENGTH];
    uint32_t seed;
    bool is_wrong;
};

static uint32_t draw(struct world *w, uint32_t below)
{
    w->seed = w->seed * 1664525 + 1013904223;
    return (w->seed >> 8) % below;
}

static void step(PTORuntime *rt, struct world *w)
{
    const int a = (int)draw(w, ARRAYS), b = (a + 1 + (int)draw(w, ARRAYS - 1)) % ARRAYS;
    const int64_t count = 1 + draw(w, LENGTH / 3), stride = 1 + draw(w, 3),
                  at = draw(w, (uint32_t)(LENGTH - count * 3 + 1)), s = draw(w, 1000);
    int64_t to;
    switch (draw(w, 5)) {
    case 0: /* a task writes */
        SUBMIT(rt, &set, PTO_INOUT(w->array[a], at, PTO_STRIDED(PTO_I64, (count), (stride))), PTO_SCALAR(s));
        for (int64_t i = 0; i < count; i++) w->model[a][at + i * stride] = s;
        break;
    case 1: /* a task reads and writes */
        SUBMIT(rt, &mix, PTO_INPUT(w->array[b], at, PTO_ARRAY(PTO_I64, count)),
               PTO_INOUT(w->array[a], at, PTO_STRIDED(PTO_I64, (count), (stride))), PTO_SCALAR(s));
        for (int64_t i = 0; i < count; i++)
            w->model[a][at + i * stride] =
                (int64_t)((uint64_t)w->model[a][at + i * stride] * 31 + (uint64_t)w->model[b][at + i] + (uint64_t)s);
        break;
    case 2: /* the host writes, now and then up to the next array, and there, too */
        to = draw(w, 2) ? LENGTH : at + count;
        pto_await_users(rt, w->array[a], 8 * at, 8 * (to - at));
        for (int64_t i = at; i < to; i += 1 + (int64_t)draw(w, 2)) w->array[a][i] = w->model[a][i] = s + i;
        if (a == 0) {
            pto_await_users(rt, w->array[1], 0, 8);
            w->array[1][0] = w->model[1][0] = s;
        }
        break;
    case 3: /* the host reads */
        pto_await(rt, w->array[a], 8 * at, 8 * count);
        w->is_wrong |= memcmp(&w->array[a][at], &w->model[a][at], (size_t)(8 * count)) != 0;
        break;
    default: /* a new array where there was another */
        if (a < ARRAYS / 2) break;
        pto_release(rt, w->array[a]);
        void *made = NULL;
        SUBMIT(rt, &set, PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_I64, LENGTH)), PTO_SCALAR(s));
        w->array[a] = made;
        for (int i = 0; i < LENGTH; i++) w->model[a][i] = s;
    }
}

static void play(PTORuntime *rt, void *arg)
{
    struct world *w = arg;
    for (int a = 0; a < ARRAYS; a++) {
        if (a < ARRAYS / 2) {
            w->array[a] = w->block + a * LENGTH;
            pto_buffer(rt, w->array[a], 8 * LENGTH);
        } else {
            void *made = NULL;
            SUBMIT(rt, &set, PTO_OUTPUT(&made, 0, PTO_ARRAY(PTO_I64, LENGTH)), PTO_SCALAR((int64_t)a));
            w->array[a] = made;
        }
        for (int i = 0; i < LENGTH; i++) w->model[a][i] = a < ARRAYS / 2 ? w->array[a][i] : a;
    }
    for (int i = 0; i < ITERATIONS; i++) step(rt, w);
}

TEST(host_and_device_stay_in_step)
{
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL};
    static struct world w;
    for (size_t e = 0; e < 2; e++) {
        PTORuntime *rt = create(engines[e]);
        EXPECT(rt != NULL);
        for (uint32_t seed = 1; seed <= 40; seed++) {
            w = (struct world){.seed = seed * 7919};
            for (size_t i = 0; i < sizeof w.block / 8; i++) w.block[i] = (int64_t)(i + seed);
            EXPECT_EQ(pto_runtime_run(rt, play, &w), PTO_OK);
            EXPECT(!w.is_wrong);
            for (int a = 0; a < ARRAYS / 2; a++)
                EXPECT(memcmp(w.block + a * LENGTH, w.model[a], sizeof w.model[a]) == 0);
        }
        CLOSE(rt);
    }
}
