/* serial.c - one thread holds every role.
 *
 * Idea       serial: each task is executed inline; the oracle.  graph: the same without the kernels, so that only the
 *            graph remains. Where nothing needs the graph, a task does not even pass through the window,
 *            submit/inline.c. */
#include "busy.h"
#include "watchdog.h"
#include "shared/check.h"
#include "core.h"
#include "debug/backtrace.h"
#include "backend/worker.h"
#include "shared/system.h"
#include "shared/task.h"
#include <stdlib.h>
#include <string.h>

struct serial {
    struct completion ended; /* at most one task runs */
    bool has_ended;
    bool runs; /* false: the graph engine, whose tasks end as they start */
    int64_t busy_ns[PTO_WORKER_TYPES];
    struct busy busy;
};

static bool serial_start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct core *core = context;
    struct serial *e = core->state;
    (void)place;
    if (e->has_ended) return false;
    struct recorded_task *t = ptoi_record_task(core->recorder, id);
    const int64_t limit = e->runs ? ptoi_task_limit_ns(core->window, id) : 0;
    const PTOKernel *kernel = ptoi_task_kernel(core->window, id);
    int64_t ns = 0, since = 0;
    /* every transfer between ranks is measured: how long one waits says nothing of the next */
    const bool is_transfer = core->outside.is_mine && core->outside.is_mine(kernel);
    const bool is_timed = e->runs && (ptoi_busy_is_due(&e->busy, kernel, &ns) || limit > 0 || is_transfer);
    if (t && e->runs) t->row = (int32_t)type, t->begin = ptoi_record_now(core->recorder);
    if (is_timed) since = ptoi_clock_ns();
    struct running_line *line = core->watchdog ? ptoi_watchdog_line(core->watchdog) : NULL;
    if (line) ptoi_running_begin(line, core->window, id, ptoi_clock_ns(), ptoi_backtrace_thread());
    const enum orchestrator_cause cause = ptoi_meter_enter(&core->orch.flow.meter, CAUSE_INLINE);
    e->ended = (struct completion){
        .id = id, .result = e->runs ? ptoi_worker_run(core->window, core->backend, core->heap, id) : 0};
    ptoi_meter_enter(&core->orch.flow.meter, cause);
    if (line) ptoi_running_end(line);
    if (is_timed) {
        ns = ptoi_clock_ns() - since;
        ptoi_busy_measured(&e->busy, kernel, ns);
        if (limit > 0 && ns > limit) ptoi_fail_timeout(core->window, core->run_status, id);
    }
    if (e->runs) e->busy_ns[type] += ns;
    if (t && e->runs) t->end = ptoi_record_now(core->recorder);
    e->has_ended = true;
    return true;
}

static int serial_collect(void *context, struct completion *out, int max)
{
    struct serial *e = ((struct core *)context)->state;
    if (!e->has_ended || max < 1) return 0;
    out[0] = e->ended;
    e->has_ended = false;
    return 1;
}

static PTOStatus serial_open(struct core *core)
{
    core->state = calloc(1, sizeof(struct serial));
    if (!core->state) return PTO_ERR_NOMEM;
    ((struct serial *)core->state)->runs = core->config.engine != PTO_ENGINE_GRAPH;
    return PTO_OK;
}

static void serial_close(struct core *core) { free(core->state); }

static void serial_wake(void *context)
{
    struct core *core = context;
    bool any = true; /* its producers were executed inline, so it runs, ends, and then all is quiet */
    for (; any && !ptoi_sched_is_quiet(&core->sched);) any = ptoi_sched_step(&core->sched);
    CHECK(any);
}

static bool serial_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    while (!is_met(arg))
        if (!ptoi_sched_step(&core->sched) && ptoi_sched_is_quiet(&core->sched)) return is_met(arg);
    return true;
}

static void serial_poke(struct core *core) { (void)core; }

static void serial_begin(struct core *core)
{
    struct serial *e = core->state;
    memset(e->busy_ns, 0, sizeof e->busy_ns);
}

static void serial_measure(struct core *core, PTORunStats *stats)
{
    struct serial *e = core->state;
    memcpy(stats->worker_busy_ns, e->busy_ns, sizeof e->busy_ns);
}

#define ONE_THREAD                                                                                                     \
    .runs_inline = true,                                                                                               \
    .ops = {.start = serial_start,                                                                                     \
            .collect = serial_collect,                                                                                 \
            .failed = ptoi_core_failed,                                                                                \
            .wake = serial_wake,                                                                                       \
            .wait = serial_wait},                                                                                      \
    .open = serial_open, .close = serial_close, .begin = serial_begin, .poke = serial_poke, .measure = serial_measure

const struct engine ptoi_engine_serial = {.name = "serial", ONE_THREAD};
const struct engine ptoi_engine_graph = {.name = "graph", ONE_THREAD};
