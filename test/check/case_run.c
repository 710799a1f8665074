/* case_run.c - whole runs on the engine `threads`, from create to destroy: the orchestrator, two workers, the role,
 * lanes and sleeps. */
#include "programs.h"

static const PTOConfig two = {.workers = {[PTO_WORKER_VECTOR] = 2}, PROGRAMS_SMALL};
static const PTOConfig one = {.workers = {[PTO_WORKER_VECTOR] = 1}, PROGRAMS_SMALL};

#define RUN(name_, about_, config_, program_, status_)                                                                 \
    static void name_##_body(void) { program_run(&config_, program_, status_); }                                       \
    const struct check_case check_case_##name_ = {.name = #name_, .about = about_, .body = name_##_body};

RUN(run_one, "one task on one worker", one, program_one, PTO_OK)
RUN(run_chain, "values through buffers, two slots, scopes that end", two, program_chain, PTO_OK)
RUN(run_wide, "more tasks than workers and slots", two, program_wide, PTO_OK)
RUN(run_updates, "tasks that follow each other in a lane", two, program_updates, PTO_OK)
static const PTOConfig shared = {PROGRAMS_SMALL};
RUN(run_shared, "workers that serve every type", shared, program_types, PTO_OK)
RUN(run_await, "the second of two tasks is awaited, and read", two, program_await, PTO_OK)
RUN(run_own_work, "the orchestrator leaves its tasks to the workers", one, program_own_work, PTO_OK)
RUN(run_own_work_shared, "the same, with a helper's lane", shared, program_own_work, PTO_OK)
RUN(run_release, "the heap holds one buffer", two, program_release, PTO_OK)
RUN(run_events, "more events than their ring holds", one, program_events, PTO_OK)
RUN(run_failure, "a kernel fails", two, program_failure, PTO_ERR_KERNEL)
RUN(run_deadlock, "a deadlock is reported, and nowhere else", two, program_deadlock, PTO_ERR_DEADLOCK)

static const PTOConfig eager = {.workers = {[PTO_WORKER_VECTOR] = 2},
                                .task_window = 2,
                                .heap_bytes = 256,
                                .heap_rings = 1,
                                .deplist_entries = 4,
                                .tensormap_entries = 8,
                                .recursion_limit = 4};
RUN(run_fine, "tasks executed inline and in the window, alternately", eager, program_fine, PTO_OK)

static const PTOConfig dedicated = {.workers = {[PTO_WORKER_VECTOR] = 1}, .dedicated_scheduler = true, PROGRAMS_SMALL};
RUN(run_dedicated, "a scheduler with a thread of its own", dedicated, program_chain, PTO_OK)
RUN(run_own_work_dedicated, "the orchestrator leaves its tasks to a scheduler", dedicated, program_own_work, PTO_OK)

/* ---- somebody else ---- */

static void *cancel(void *rt)
{
    check_name("canceller");
    pto_cancel(rt);
    return NULL;
}

static void program_cancelled(PTORuntime *rt, void *arg)
{
    (void)arg;
    static int64_t cell[4];
    for (int i = 0; i < 4; i++)
        if (SUBMIT(rt, &fill_kernel, PTO_INOUT(&cell[i], 0, 8), PTO_SCALAR(i)) < 0) {
            CHECK_THAT(pto_last_error(rt)[0] != '\0'); /* whoever sees that it failed may read why */
            return;
        }
}

static void run_cancel_body(void)
{
    static const PTOStatus either[] = {PTO_OK, PTO_ERR_CANCELLED};
    program_run_beside(&two, program_cancelled, cancel, either, 2);
}
const struct check_case check_case_run_cancel = {
    .name = "run_cancel", .about = "another thread cancels, before, while or after the run", .body = run_cancel_body};

/* ---- workers outside ---- */

enum { OUTSIDERS = 2, GIVEN = 4 };
static struct {
    PTORuntime *rt;
    ptoi_lock lock;
    int64_t id[GIVEN]; /* guarded by lock */
    void *to[GIVEN];
    int given, taken;
    bool is_over;
} outside;

static void give_outside(void *context, int64_t id, const PTOKernel *kernel, const PTOArg *args, int32_t count)
{
    (void)context, (void)kernel, (void)count;
    ptoi_lock_take(&outside.lock);
    outside.id[outside.given % GIVEN] = id;
    outside.to[outside.given++ % GIVEN] = args[0].ptr;
    ptoi_lock_leave(&outside.lock);
}

static void *work_outside(void *arg)
{
    (void)arg;
    for (;;) {
        int64_t id = -1;
        void *to = NULL;
        ptoi_lock_take(&outside.lock);
        const bool is_over = outside.is_over;
        if (outside.taken != outside.given) {
            id = outside.id[outside.taken % GIVEN];
            to = outside.to[outside.taken++ % GIVEN];
        }
        ptoi_lock_leave(&outside.lock);
        if (id >= 0) {
            *(int64_t *)to += 1;
            pto_task_complete(outside.rt, id);
        } else if (is_over) {
            return NULL;
        } else {
            ptoi_yield();
        }
    }
}

static int never(const PTOArg *a)
{
    (void)a;
    check_fail("a kernel of a worker outside was called here");
}

static void program_outside(PTORuntime *rt, void *arg)
{
    static const PTOKernel kernel = {.name = "outside", .worker = PTO_WORKER_CUBE, .fn = never};
    static int64_t cell[3];
    (void)arg;
    memset(cell, 0, sizeof cell);
    for (int i = 0; i < 4; i++) SUBMIT(rt, &kernel, PTO_INOUT(&cell[i % 3], 0, 8));
    if (pto_await(rt, cell, 0, sizeof cell) != PTO_OK) check_fail("%s", pto_last_error(rt));
    CHECK_THAT(cell[0] == 2 && cell[1] == 1 && cell[2] == 1);
}

static void run_outside_body(void)
{
    const PTOConfig config = {.workers = {[PTO_WORKER_CUBE] = 1, [PTO_WORKER_VECTOR] = 1},
                              .external = {[PTO_WORKER_CUBE] = true},
                              .external_start = give_outside,
                              PROGRAMS_SMALL};
    ptoi_thread t[OUTSIDERS];
    memset(&outside, 0, sizeof outside);
    outside.rt = pto_runtime_create(&config, NULL);
    for (int i = 0; i < OUTSIDERS; i++) ptoi_thread_start(&t[i], work_outside, NULL);
    const PTOStatus status = pto_runtime_run(outside.rt, program_outside, NULL);
    if (status != PTO_OK) check_fail("the run ended with %d: %s", status, pto_last_error(outside.rt));
    ptoi_lock_take(&outside.lock);
    outside.is_over = true;
    ptoi_lock_leave(&outside.lock);
    for (int i = 0; i < OUTSIDERS; i++) ptoi_thread_join(t[i]);
    pto_runtime_destroy(outside.rt);
}
const struct check_case check_case_run_outside = {
    .name = "run_outside", .about = "tasks that two threads outside carry out", .body = run_outside_body};

/* ---- a checked run ----------------------------------------------------------------------------------------------- */

static int write_behind(const PTOArg *a)
{
    ((int64_t *)a[0].ptr)[1] = 1;
    return 0;
}

static void program_faulty(PTORuntime *rt, void *arg)
{
    static const PTOKernel kernel = {.name = "faulty", .worker = PTO_WORKER_VECTOR, .fn = write_behind};
    static int64_t cell[4];
    (void)arg;
    for (int i = 0; i < 2; i++) SUBMIT(rt, &kernel, PTO_INOUT(&cell[2 * i], 0, 8));
}

static void run_checked_body(void)
{
    const PTOConfig config = {.workers = {[PTO_WORKER_VECTOR] = 2}, .checked = true, PROGRAMS_SMALL};
    program_run(&config, program_faulty, PTO_ERR_KERNEL);
}
const struct check_case check_case_run_checked = {
    .name = "run_checked", .about = "two kernels of a checked run write where they must not", .body = run_checked_body};
