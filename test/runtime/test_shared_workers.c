/* test_shared_workers.c - where nobody says how many workers there are, the processors do: each worker serves every
 * programmable type, and what is reported keeps the types. */
#include "api/runtime.h"
#include "report/causes.h"
#include "shared/processors.h"
#include "submit.h"
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAMMABLE = PTO_WORKER_ACCELERATOR, MOST = 64, LIMIT_MS = 20000 };

/* What kernels note, in memory that a worker process shares. */
static struct notes {
    _Atomic int begun, ended, now, most, order;
    _Atomic int thread[MOST];
    int wanted; /* before the run: so many begin before any ends */
    int gates;  /* before the run: the first so many tasks are gates */
    int place[2];
} * notes;

static bool wait_until(_Atomic int *count, int least)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int ms = 0;
    do {
        nanosleep(&pause, NULL); /* at least once: a task that is long is long every time */
    } while (atomic_load(count) < least && ++ms < LIMIT_MS);
    return atomic_load(count) >= least;
}

/* 1: the others do not come, for 20 s. */
static int meet(const PTOArg *a)
{
    (void)a;
    const int n = atomic_fetch_add(&notes->begun, 1);
    if (n < MOST) atomic_store(&notes->thread[n], (int)gettid());
    return !wait_until(&notes->begun, notes->wanted);
}

static int count_running(const PTOArg *a)
{
    (void)a;
    const int now = atomic_fetch_add(&notes->now, 1) + 1;
    int most = atomic_load(&notes->most);
    while (now > most && !atomic_compare_exchange_weak(&notes->most, &most, now)) {}
    atomic_fetch_sub(&notes->now, 1);
    return 0;
}

#define OF_EACH_TYPE(of, function)                                                                                     \
    static const PTOKernel of[PROGRAMMABLE] = {{.name = "cube", .worker = PTO_WORKER_CUBE, .fn = (function)},          \
                                               {.name = "vector", .worker = PTO_WORKER_VECTOR, .fn = (function)},      \
                                               {.name = "cpu", .worker = PTO_WORKER_AI_CPU, .fn = (function)}};
OF_EACH_TYPE(meeting, meet)
OF_EACH_TYPE(running, count_running)

static char cells[MOST][64];

static PTORuntime *create(PTOConfig c)
{
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    if (!rt) fail_msg("%s", pto_last_error(NULL));
    return rt;
}

static void take_notes(void)
{
    notes = pto_shared_alloc(sizeof *notes);
    assert_non_null(notes);
}

static void leave_notes(void) { pto_shared_free(notes, sizeof *notes); }

static int threads_of(int tasks)
{
    int found = 0;
    for (int i = 0; i < tasks; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++) is_new &= notes->thread[j] != notes->thread[i];
        found += is_new;
    }
    return found;
}

static int workers(void)
{
    const int processors = ptoi_processors();
    return processors < MOST ? processors : MOST;
}

/* ---- every processor ---- */

static void submit_meeting(PTORuntime *rt, void *arg)
{
    const int *first = arg, *last = first + 1;
    for (int i = 0; i < notes->wanted; i++)
        SUBMIT(rt, &meeting[*first + i % (*last - *first)], PTO_INOUT(cells[i], 0, 64));
}

/* As many tasks as processors, which all wait for each other: each has a thread. */
static void meet_on_every_processor(PTOEngine engine, int first, int last)
{
#ifdef PTO_TINY
    skip(); /* there the dice say which kernel is short, and a task may stand behind one that waits for it */
#endif
    take_notes();
    notes->wanted = workers();
    PTORuntime *rt = create((PTOConfig){.engine = engine, .always_defer = true});
    const PTOStatus status = pto_runtime_run(rt, submit_meeting, (int[]){first, last});
    if (status != PTO_OK) fail_msg("%s", pto_last_error(rt));
    EXPECT_EQ(threads_of(notes->wanted), notes->wanted);
    for (int t = first; t < last; t++) {
        EXPECT_EQ(pto_get_run_stats(rt)->workers[t], workers());
        EXPECT_EQ(pto_get_run_stats(rt)->worker_tasks[t],
                  notes->wanted / (last - first) + (t - first < notes->wanted % (last - first)));
    }
    pto_runtime_destroy(rt);
    leave_notes();
}

TEST(a_program_of_one_type_uses_every_processor)
{
    for (int t = 0; t < PROGRAMMABLE; t++) meet_on_every_processor(PTO_ENGINE_THREADS, t, t + 1);
}

TEST(so_it_does_where_the_workers_are_another_process)
{
    for (int t = 0; t < PROGRAMMABLE; t++) meet_on_every_processor(PTO_ENGINE_PROCESS, t, t + 1);
}

TEST(a_program_of_several_types_shares_the_workers)
{
    meet_on_every_processor(PTO_ENGINE_THREADS, 0, PROGRAMMABLE);
    meet_on_every_processor(PTO_ENGINE_PROCESS, 0, PROGRAMMABLE);
}

/* ---- and no more ---- */

static void submit_running(PTORuntime *rt, void *arg)
{
    const int *types = arg;
    for (int i = 0; i < 200 * MOST; i++) SUBMIT(rt, &running[i % *types], PTO_INOUT(cells[i % MOST], 0, 64));
}

static int most_running(PTOConfig c, int types)
{
    take_notes();
    PTORuntime *rt = create(c);
    for (int run = 0; run < 5; run++) EXPECT_EQ(pto_runtime_run(rt, submit_running, &types), PTO_OK);
    pto_runtime_destroy(rt);
    const int most = atomic_load(&notes->most);
    leave_notes();
    return most;
}

TEST(tasks_of_all_types_together_are_never_more_than_processors)
{
    EXPECT(most_running((PTOConfig){.always_defer = true}, PROGRAMMABLE) <= ptoi_processors());
    EXPECT(most_running((PTOConfig){.always_defer = true, .engine = PTO_ENGINE_PROCESS}, PROGRAMMABLE) <=
           ptoi_processors());
    EXPECT(most_running((PTOConfig){.always_defer = true, .task_window = 4}, PROGRAMMABLE) <= ptoi_processors());
}

TEST(workers_that_are_named_serve_their_type_only)
{
    EXPECT_EQ(most_running((PTOConfig){.always_defer = true, .workers = {1, 1, 1, 1}}, 1), 1);
}

/* ---- one queue ---- */

/* The first gate opens when everything was submitted, the others when the two tasks behind them have run. */
static int wait_at_gate(const PTOArg *a)
{
    (void)a;
    const bool is_first = atomic_fetch_add(&notes->begun, 1) == 0;
    return is_first ? !wait_until(&notes->ended, 1) : !wait_until(&notes->order, 2);
}

static int note_place(const PTOArg *a)
{
    notes->place[a[0].value.i64] = atomic_fetch_add(&notes->order, 1);
    return 0;
}

static const PTOKernel gate = {.name = "gate", .worker = PTO_WORKER_AI_CPU, .fn = wait_at_gate};
static const PTOKernel later = {.name = "later", .worker = PTO_WORKER_CUBE, .fn = note_place};
static const PTOKernel sooner = {.name = "sooner", .worker = PTO_WORKER_VECTOR, .fn = note_place};

static void submit_behind_gates(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < notes->gates; i++) SUBMIT(rt, &gate, PTO_PRIORITY(9), PTO_INOUT(cells[i], 0, 64));
    SUBMIT(rt, &sooner, PTO_SCALAR(0), PTO_PRIORITY(5), PTO_INOUT(cells[MOST - 1], 0, 64));
    SUBMIT(rt, &later, PTO_SCALAR(1), PTO_INOUT(cells[MOST - 2], 0, 64));
    atomic_store(&notes->ended, 1);
}

TEST(the_most_urgent_task_of_all_types_starts_first)
{
#ifdef PTO_TINY
    skip();
#endif
    PTORuntime *rt = create((PTOConfig){.always_defer = true});
    for (int round = 0; round < 20; round++) {
        take_notes();
        notes->gates = workers();
        const PTOStatus status = pto_runtime_run(rt, submit_behind_gates, NULL);
        if (status != PTO_OK) fail_msg("%s", pto_last_error(rt));
        EXPECT_EQ(notes->place[0], 0);
        leave_notes();
    }
    pto_runtime_destroy(rt);
}

/* ---- what is reported keeps the types ---- */

static void submit_chains(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++) SUBMIT(rt, &running[i % PROGRAMMABLE], PTO_INOUT(cells[i % 5], 0, 64));
}

TEST(a_schedule_names_workers_of_the_type_of_each_task_and_is_repeated)
{
    char path[] = "/tmp/pto_schedule_XXXXXX";
    const int fd = mkstemp(path);
    EXPECT(fd >= 0);
    close(fd);
    take_notes();
    PTOConfig c = {.record_tasks = 1024};
    PTORuntime *rt = create(c);
    EXPECT_EQ(pto_runtime_run(rt, submit_chains, NULL), PTO_OK);
    const int each = rt->core.config.workers[PTO_WORKER_CUBE];
    for (int i = 0; i < 300; i++) EXPECT_EQ(rt->core.recorder->task[i].row / each, i % PROGRAMMABLE);
    EXPECT_EQ(pto_runtime_write_schedule(rt, path), PTO_OK);
    int32_t rows[300];
    for (int i = 0; i < 300; i++) rows[i] = rt->core.recorder->task[i].row;
    pto_runtime_destroy(rt);
    c.replay = path;
    rt = create(c);
    EXPECT_EQ(pto_runtime_run(rt, submit_chains, NULL), PTO_OK);
    EXPECT_EQ(rt->core.replay->next, rt->core.replay->count);
    for (int i = 0; i < 300; i++) EXPECT_EQ(rt->core.recorder->task[i].row, rows[i]);
    pto_runtime_destroy(rt);
    leave_notes();
    remove(path);
}

static int sleep_ms(const PTOArg *a) { return usleep((useconds_t)a[0].value.i64 * 1000), 0; }
OF_EACH_TYPE(sleeping, sleep_ms)

static void submit_sleeping(PTORuntime *rt, void *arg)
{
    (void)arg;
    for (int i = 0; i < 2 * PROGRAMMABLE; i++)
        SUBMIT(rt, &sleeping[i % PROGRAMMABLE], PTO_SCALAR(20), PTO_INOUT(cells[0], 0, 64));
}

/* One row a thread, whatever types it ran, and one of the accelerator's. */
static void account_for_threads(PTOEngine engine)
{
    PTORuntime *rt = create((PTOConfig){.engine = engine, .always_defer = true, .time_causes = true});
    EXPECT_EQ(pto_runtime_run(rt, submit_sleeping, NULL), PTO_OK);
    int count;
    struct cause_row *row = ptoi_causes_rows(rt, &count);
    assert_non_null(row);
    EXPECT_EQ(count, 1 + rt->core.config.workers[PTO_WORKER_CUBE] + 1);
    int64_t kernels = row[0].time[CAUSE_HELP];
    for (int i = 1; i < count; i++) {
        int64_t sum = 0;
        for (int c = 0; c < ptoi_causes_of(&row[i]); c++) sum += row[i].time[c];
        EXPECT_EQ(sum, row[i].total);
        EXPECT_EQ(strncmp(row[i].name, i + 1 < count ? "worker " : "accel", 5), 0);
        kernels += row[i].time[WORKER_KERNEL];
    }
    EXPECT_EQ(row[count - 1].time[WORKER_KERNEL], 0);
    EXPECT(kernels >= (int64_t)2 * PROGRAMMABLE * 20000000);
    free(row);
    pto_runtime_destroy(rt);
}

TEST(where_the_time_went_has_a_row_for_each_thread)
{
    account_for_threads(PTO_ENGINE_THREADS);
    account_for_threads(PTO_ENGINE_PROCESS);
}
