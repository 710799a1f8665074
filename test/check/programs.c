/* programs.c - see programs.h. */
#include "programs.h"

static int fill(const PTOArg *a)
{
    *(int64_t *)a[0].ptr = a[1].value.i64;
    return 0;
}
static int increase(const PTOArg *a)
{
    *(int64_t *)a[1].ptr = *(const int64_t *)a[0].ptr + 1;
    return 0;
}
static int add_into(const PTOArg *a)
{
    *(int64_t *)a[1].ptr += *(const int64_t *)a[0].ptr;
    return 0;
}
static _Atomic int shown; /* W kernels, R orchestrator, relaxed: how far they are */
static int show(const PTOArg *a)
{
    store_relaxed(&shown, (int)a[1].value.i64);
    return 0;
}
static int fail(const PTOArg *a)
{
    (void)a;
    return 7;
}
const PTOKernel fill_kernel = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = fill};
static const PTOKernel increase_kernel = {.name = "increase", .worker = PTO_WORKER_VECTOR, .fn = increase};
static const PTOKernel increase_cube = {.name = "increase", .worker = PTO_WORKER_CUBE, .fn = increase};
static const PTOKernel add_kernel = {.name = "add", .worker = PTO_WORKER_VECTOR, .fn = add_into};
static const PTOKernel show_kernel = {.name = "show", .worker = PTO_WORKER_VECTOR, .fn = show};
static const PTOKernel fail_kernel = {.name = "fail", .worker = PTO_WORKER_VECTOR, .fn = fail};

static int64_t result[8];

static PTORuntime *create(const PTOConfig *config)
{
    PTORuntime *rt = pto_runtime_create(config, NULL);
    if (!rt) check_fail("no runtime: %s", pto_last_error(NULL));
    memset(result, 0, sizeof result);
    return rt;
}

void program_run(const PTOConfig *config, program *p, PTOStatus wanted)
{
    program_run_beside(config, p, NULL, &wanted, 1);
}

void program_run_beside(const PTOConfig *config, program *p, void *(*other)(void *rt), const PTOStatus *wanted,
                        int wanted_count)
{
    PTORuntime *rt = create(config);
    ptoi_thread beside;
    if (other) ptoi_thread_start(&beside, other, rt);
    const PTOStatus status = pto_runtime_run(rt, p, NULL);
    bool is_wanted = false;
    for (int i = 0; i < wanted_count; i++) is_wanted |= status == wanted[i];
    if (!is_wanted) check_fail("the run ended with %d: %s", status, pto_last_error(rt));
    if (other) ptoi_thread_join(beside);
    pto_runtime_destroy(rt);
}

void program_one(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[0], 0, 8), PTO_SCALAR(5));
    CHECK_THAT(pto_await(rt, &result[0], 0, 8) == PTO_OK);
    CHECK_THAT(result[0] == 5);
}

/* The arguments of the third task take the slot of the first. */
void program_reuse(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[i], 0, 8), PTO_SCALAR(i + 1));
    CHECK_THAT(pto_await(rt, &result[2], 0, 8) == PTO_OK);
    CHECK_THAT(result[2] == 3);
}

/* A value goes through new buffers and is added up. */
void program_chain(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        void *p = NULL, *q = NULL;
        pto_scope_begin(rt);
        SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&p, 0, 8), PTO_SCALAR(10 * (i + 1)));
        SUBMIT(rt, &increase_kernel, PTO_INPUT(p, 0, 8), PTO_OUTPUT(&q, 0, 8));
        pto_release(rt, p);
        SUBMIT(rt, &add_kernel, PTO_INPUT(q, 0, 8), PTO_INOUT(&result[0], 0, 8));
        pto_scope_end(rt);
    }
    CHECK_THAT(pto_await(rt, &result[0], 0, 8) == PTO_OK);
    CHECK_THAT(result[0] == 11 + 21);
}

/* The second task may have completed before the first has retired: completed[] alone says so. */
void program_await(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[0], 0, 8), PTO_SCALAR(1));
    SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[1], 0, 8), PTO_SCALAR(2));
    CHECK_THAT(pto_await(rt, &result[1], 0, 8) == PTO_OK);
    CHECK_THAT(result[1] == 2);
}

/* The heap holds one buffer: the next one waits until nobody has the last. */
void program_release(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        void *p = NULL;
        SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&p, 0, 256), PTO_SCALAR(i + 1));
        SUBMIT(rt, &add_kernel, PTO_INPUT(p, 0, 8), PTO_INOUT(&result[0], 0, 8));
        pto_release(rt, p);
    }
    CHECK_THAT(pto_await(rt, &result[0], 0, 8) == PTO_OK);
    CHECK_THAT(result[0] == 3);
}

/* Whoever sees that a run has failed may read why. */
void program_failure(PTORuntime *rt, void *arg)
{
    (void)arg;
    SUBMIT(rt, &fail_kernel, PTO_INOUT(&result[0], 0, 8));
    SUBMIT(rt, &add_kernel, PTO_INPUT(&result[0], 0, 8), PTO_INOUT(&result[1], 0, 8));
    for (int i = 0; i < 2; i++)
        if (SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[2 + i], 0, 8), PTO_SCALAR(1)) < 0) {
            CHECK_THAT(strstr(pto_last_error(rt), "fail") != NULL);
            return;
        }
    CHECK_THAT(result[1] == 0);
}

/* The ring of events holds 64. */
void program_events(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 34; i++) pto_release(rt, pto_alloc(rt, PTO_SCOPE_CURRENT, 64));
}

/* The third buffer of half the heap has no room while the scope is open, whatever runs. */
void program_deadlock(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        void *p = NULL;
        if (SUBMIT(rt, &fill_kernel, PTO_OUTPUT(&p, 0, 128), PTO_SCALAR(1)) < 0) CHECK_THAT(i == 2);
    }
}

/* More tasks than workers, each for itself. */
void program_wide(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 6; i++) SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[i], 0, 8), PTO_SCALAR(i));
    for (int i = 0; i < 6; i++) {
        CHECK_THAT(pto_await(rt, &result[i], 0, 8) == PTO_OK);
        CHECK_THAT(result[i] == i);
    }
}

/* Each follows the one before it: a chain that one worker goes through. */
void program_updates(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++)
        SUBMIT(rt, &increase_kernel, PTO_INPUT(&result[i], 0, 8), PTO_INOUT(&result[i + 1], 0, 8));
    CHECK_THAT(pto_await_users(rt, &result[5], 0, 8) == PTO_OK);
    CHECK_THAT(result[5] == 5);
}

/* A chain through workers of two types, beside tasks of both. */
void program_types(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        SUBMIT(rt, i % 2 ? &increase_cube : &increase_kernel, PTO_INPUT(&result[i], 0, 8),
               PTO_INOUT(&result[i + 1], 0, 8));
        SUBMIT(rt, &increase_cube, PTO_INPUT(&result[i + 4], 0, 8), PTO_INOUT(&result[i + 4], 0, 8));
    }
    CHECK_THAT(pto_await_users(rt, &result[3], 0, 8) == PTO_OK);
    CHECK_THAT(result[3] == 3);
    for (int i = 4; i < 7; i++) CHECK_THAT(pto_await(rt, &result[i], 0, 8) == PTO_OK && result[i] == 1);
}

/* After its submits the orchestrator has work of its own, and calls nothing until the second task, which depends on the
 * first, has run. */
void program_own_work(PTORuntime *rt, void *arg)
{
    (void)arg;
    store_relaxed(&shown, 0);
    for (int i = 1; i <= 2; i++) SUBMIT(rt, &show_kernel, PTO_INOUT(&result[0], 0, 8), PTO_SCALAR(i));
    while (load_relaxed(&shown) < 2) ptoi_yield();
}

/* With kernels that may be executed inline. */
void program_fine(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++) SUBMIT(rt, &fill_kernel, PTO_INOUT(&result[i % 2], 0, 8), PTO_SCALAR(i));
    CHECK_THAT(pto_await(rt, &result[1], 0, 8) == PTO_OK);
    CHECK_THAT(result[1] == 3);
}
