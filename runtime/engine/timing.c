/* timing.c - discrete-event simulation: a clock in cycles, one for every worker, so that a program's time on a device
 * can be predicted and is the same on every run and machine.
 *
 * Idea       a kernel runs (or is skipped) at the moment it starts, and its end is an event `cost` cycles later.  The
 *            program's own clock moves by submit_cycles a task, and to the event it waited for when a ring was full.
 *            Before a task is published everything that ends earlier has happened.
 * Owner      one thread holds every role.
 * Invariant  events are taken in order of time, ties in order of start; workers of a type are taken lowest number
 *            first.
 * Source     next-event time advance: Law, Simulation Modeling and Analysis, ch. 1.
 * Tests      test/runtime/test_timing.c */
#include "shared/check.h"
#include "shared/events.h"
#include "core.h"
#include "debug/backtrace.h"
#include "watchdog.h"
#include "backend/worker.h"
#include "shared/system.h"
#include "shared/task.h"
#include <stdlib.h>
#include <string.h>

struct timing {
    int64_t now;     /* of scheduler and workers */
    int64_t program; /* of the orchestrator, never behind now when it runs */
    int64_t began;   /* of this run */
    int64_t last_end;
    struct events ends; /* of tasks: one a busy worker, whose number is its kind */
    bool *is_busy;
    int32_t idle; /* how many are not busy */
    int32_t first[PTO_WORKER_TYPES + 1];
    int64_t busy_cycles[PTO_WORKER_TYPES];
    /* by task of the run: cycles of the costliest chain that ends with it, its own cost included */
    int64_t *path;
    uint64_t paths, first_id; /* room in path; the first task of the run */
    int64_t reached;          /* the same of the producers of the task being submitted */
    int64_t critical_path;
    bool is_full; /* there was no memory for path: the run has failed */
};

static int64_t cycles_after(int64_t at, int64_t more)
{
    int64_t sum;
    return __builtin_add_overflow(at, more, &sum) ? INT64_MAX : sum;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Most kernels do not say what they cost. */
static __attribute__((noinline)) int64_t stated_cost(struct core *core, uint64_t id)
{
    const int64_t cost = ptoi_task_cost(core->window, id, core->orch.fast.open->params);
    return cost > 0 ? cost : 0;
}
static inline int64_t task_cost(struct core *core, uint64_t id)
{
    return ptoi_task_kernel(core->window, id)->cost ? stated_cost(core, id) : 1;
}

/* Runs the task at once; it ends when the worker's time has passed. */
static __attribute__((noinline)) void run_on(struct core *core, PTOWorkerType type, uint64_t id, int32_t worker)
{
    struct timing *t = core->state;
    int64_t begin = cycles_after(t->now, core->config.dispatch_cycles), cost = task_cost(core, id);
    struct event e = {.at = cycles_after(begin, cost), .id = id, .kind = worker};
    struct running_line *line = core->watchdog ? ptoi_watchdog_line(core->watchdog) : NULL;
    if (line) ptoi_running_begin(line, core->window, id, ptoi_clock_ns(), ptoi_backtrace_thread());
    if (!core->config.skip_kernels)
        e.result = ptoi_worker_run(core->window, core->backend, core->heap, window_task(core->window, id));
    if (line) ptoi_running_end(line);
    t->is_busy[worker] = true;
    t->idle--;
    t->busy_cycles[type] = cycles_after(t->busy_cycles[type], cost);
    const bool has_room = ptoi_events_add(&t->ends, e); /* for all workers */
    CHECK(has_room);
    struct recorded_task *r = ptoi_record_task(core->recorder, id);
    if (r) r->begin = begin, r->end = e.at, r->row = worker;
}

/* Most calls find no idle worker: they stay small. */
static bool timing_start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct core *core = context;
    const struct timing *t = core->state;
    (void)place;
    if (t->idle == 0) return false;
    int32_t w = t->first[type];
    while (w < t->first[type + 1] && t->is_busy[w]) w++;
    if (w == t->first[type + 1]) return false;
    run_on(core, type, id, w);
    return true;
}

static __attribute__((noinline)) int take_due(struct timing *t, struct completion *out, int max)
{
    int n = 0;
    while (n < max && ptoi_events_due(&t->ends, t->now)) {
        const struct event e = ptoi_events_take(&t->ends);
        t->is_busy[e.kind] = false;
        t->idle++;
        t->last_end = e.at;
        out[n++] = (struct completion){.id = e.id, .result = e.result};
    }
    return n;
}

/* Most calls find nothing that has ended. */
static int timing_collect(void *context, struct completion *out, int max)
{
    struct timing *t = ((struct core *)context)->state;
    return ptoi_events_due(&t->ends, t->now) ? take_due(t, out, max) : 0;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* A step takes all that is there; only what it starts may have ended at once. */
static void settle(struct core *core)
{
    const struct timing *t = core->state;
    while (ptoi_sched_step(&core->sched) && ptoi_events_due(&t->ends, t->now)) {}
}

/* A task was published.  Where nothing can start or end, it is taken with what ends next, before that, and nothing is
 * different then; but for buffers, whose room the program may need earlier. */
static void see_published(struct core *core)
{
    const struct timing *t = core->state;
    if (t->idle > 0 || ptoi_events_due(&t->ends, t->now) || ptoi_is_failing(core->run_status))
        settle(core);
    else if (core->orch.rings.event_head != core->sched.events)
        ptoi_sched_take(&core->sched);
}

static void advance(struct core *core, int64_t to)
{
    struct timing *t = core->state;
    while (ptoi_events_due(&t->ends, to)) {
        t->now = t->ends.heap[0].at;
        settle(core);
    }
    if (to > t->now) t->now = to;
}

static bool timing_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    struct timing *t = core->state;
    bool met;
    for (settle(core); !(met = is_met(arg)) && t->ends.count > 0; settle(core)) t->now = t->ends.heap[0].at;
    if (t->program < t->now) t->program = t->now;
    return met;
}

static int64_t timing_clock(void *context)
{
    struct timing *t = ((struct core *)context)->state;
    return t->program > t->now ? t->program : t->now;
}

/* ---- the critical path: what the dependences alone cost ---------------------------------------------------------- */

static void timing_edge(void *context, uint64_t from)
{
    struct core *core = context;
    struct timing *t = core->state;
    const int64_t path = t->path[from - t->first_id];
    if (path > t->reached) t->reached = path;
}

static bool more_paths(struct timing *t)
{
    int64_t *more = calloc(2 * t->paths, sizeof *more);
    if (!more) return false;
    memcpy(more, t->path, t->paths * sizeof *more);
    free(t->path);
    t->path = more;
    t->paths *= 2;
    return true;
}

static void see_task(struct core *core, uint64_t id)
{
    struct timing *t = core->state;
    const int64_t path = cycles_after(t->reached, task_cost(core, id));
    if (id - t->first_id == t->paths && !more_paths(t)) {
        ptoi_fail(core->run_status, PTO_ERR_NOMEM, NULL, "no memory for the critical path of %llu tasks",
                  (unsigned long long)t->paths);
        t->is_full = true;
    }
    if (!t->is_full) t->path[id - t->first_id] = path;
    t->reached = 0;
    if (path > t->critical_path) t->critical_path = path;
}

static void timing_wake(void *context)
{
    struct core *core = context;
    struct timing *t = core->state;
    see_task(core, core->orch.rings.head - 1);
    t->program = cycles_after(t->program, core->config.submit_cycles);
    /* this task is not there before its submit has ended; what ends at that very cycle, is seen with it */
    advance(core, t->program - 1);
    if (t->program > t->now) t->now = t->program;
    see_published(core);
}

/* ---- lifetime ---------------------------------------------------------------------------------------------------- */

static void timing_close(struct core *core)
{
    struct timing *t = core->state;
    free(t->ends.heap);
    free(t->is_busy);
    free(t->path);
    free(t);
    core->state = NULL;
}

static PTOStatus timing_open(struct core *core)
{
    struct timing *t = calloc(1, sizeof *t);
    if (!t) return PTO_ERR_NOMEM;
    core->state = t;
    for (int w = 0; w < PTO_WORKER_TYPES; w++) t->first[w + 1] = t->first[w] + core->config.workers[w];
    const bool has_room = ptoi_events_reserve(&t->ends, (uint32_t)t->first[PTO_WORKER_TYPES] + 1);
    t->is_busy = calloc((size_t)t->first[PTO_WORKER_TYPES] + 1, sizeof *t->is_busy);
    t->paths = 1024;
    t->path = calloc(t->paths, sizeof *t->path);
    if (!has_room || !t->is_busy || !t->path) {
        timing_close(core);
        return PTO_ERR_NOMEM;
    }
    return PTO_OK;
}

static void timing_begin(struct core *core)
{
    struct timing *t = core->state;
    CHECK(t->ends.count == 0);
    t->idle = t->first[PTO_WORKER_TYPES];
    t->now = t->program = t->began = t->last_end = 0;
    t->critical_path = t->reached = 0;
    memset(t->busy_cycles, 0, sizeof t->busy_cycles);
    t->first_id = core->orch.rings.head;
    t->is_full = false;
}

static void timing_poke(struct core *core) { (void)core; }

static void timing_measure(struct core *core, PTORunStats *stats)
{
    const struct timing *t = core->state;
    stats->cycles = t->last_end > t->program ? t->last_end : t->program;
    stats->critical_path = t->critical_path;
    memcpy(stats->worker_busy_cycles, t->busy_cycles, sizeof t->busy_cycles);
}

const struct engine ptoi_engine_timing = {.name = "timing",
                                          .ops = {.start = timing_start,
                                                  .refuses_until_end = true,
                                                  .collect = timing_collect,
                                                  .failed = ptoi_core_failed,
                                                  .wake = timing_wake,
                                                  .wait = timing_wait,
                                                  .clock = timing_clock,
                                                  .edge = timing_edge},
                                          .open = timing_open,
                                          .close = timing_close,
                                          .begin = timing_begin,
                                          .poke = timing_poke,
                                          .measure = timing_measure};
