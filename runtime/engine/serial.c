/* serial.c - one thread holds every role.
 *
 * Idea       serial: each kernel runs at its submit; the oracle.  graph: the same without the kernels, so that what
 *            remains is the graph.  Where nobody watches the graph, a task does not even pass through the window,
 *            submit/elide.c. */
#include "busy.h"
#include "watchdog.h"
#include "shared/check.h"
#include "api/runtime.h"
#include "worker.h"
#include "shared/system.h"
#include <stdlib.h>
#include <string.h>

struct serial {
    struct completion ended; /* at most one task runs */
    bool has_ended;
    bool runs; /* false: the graph engine, whose tasks end as they start */
    int64_t busy_ns[PTO_WORKER_TYPES];
    struct busy busy;
};

static bool start_and_run(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    PTORuntime *rt = context;
    struct serial *e = rt->engine_state;
    (void)place;
    if (e->has_ended) return false;
    struct recorded_task *t = ptoi_record_task(rt->recorder, id);
    const int64_t limit = e->runs ? ptoi_task_limit_ns(rt->window, id) : 0;
    const PTOKernel *kernel = ptoi_task_kernel(rt->window, id);
    int64_t ns = 0, since = 0;
    const bool is_timed = e->runs && (ptoi_busy_is_due(&e->busy, kernel, &ns) || limit > 0);
    if (t && e->runs) t->row = (int32_t)type, t->begin = ptoi_record_now(rt->recorder);
    if (is_timed) since = ptoi_clock_ns();
    struct running_line *line = rt->watchdog ? ptoi_watchdog_line(rt->watchdog) : NULL;
    if (line) ptoi_running_begin(line, rt->window, id, ptoi_clock_ns());
    e->ended =
        (struct completion){.id = id, .result = e->runs ? ptoi_worker_run(rt->window, rt->backend, rt->heap, id) : 0};
    if (line) ptoi_running_end(line);
    if (is_timed) {
        ns = ptoi_clock_ns() - since;
        ptoi_busy_measured(&e->busy, kernel, ns);
        if (limit > 0 && ns > limit) ptoi_fail_timeout(rt->window, rt->outcome, id);
    }
    if (e->runs) e->busy_ns[type] += ns;
    if (t && e->runs) t->end = ptoi_record_now(rt->recorder);
    e->has_ended = true;
    return true;
}

static int collect(void *context, struct completion *out, int max)
{
    struct serial *e = ((PTORuntime *)context)->engine_state;
    if (!e->has_ended || max < 1) return 0;
    out[0] = e->ended;
    e->has_ended = false;
    return 1;
}

static PTOStatus serial_open(PTORuntime *rt)
{
    rt->engine_state = calloc(1, sizeof(struct serial));
    if (!rt->engine_state) return PTO_ERR_NOMEM;
    ((struct serial *)rt->engine_state)->runs = rt->config.engine != PTO_ENGINE_GRAPH;
    rt->sched.machine = (struct machine){.context = rt, .start = start_and_run, .collect = collect};
    return PTO_OK;
}

static void serial_close(PTORuntime *rt) { free(rt->engine_state); }

static void serial_published(void *context)
{
    PTORuntime *rt = context;
    bool any = true; /* its producers were run at their submits, so it runs, ends, and then all is quiet */
    for (; any && !ptoi_sched_is_quiet(&rt->sched);) any = ptoi_sched_step(&rt->sched);
    CHECK(any);
}

static bool serial_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    PTORuntime *rt = context;
    while (!is_met(arg))
        if (!ptoi_sched_step(&rt->sched) && ptoi_sched_is_quiet(&rt->sched)) return is_met(arg);
    return true;
}

static void serial_poke(PTORuntime *rt) { (void)rt; }

static void serial_begin(PTORuntime *rt)
{
    struct serial *e = rt->engine_state;
    memset(e->busy_ns, 0, sizeof e->busy_ns);
}

static int64_t serial_now(void *context)
{
    (void)context;
    return ptoi_clock_ns();
}

static void serial_measure(PTORuntime *rt, PTORunStats *stats)
{
    struct serial *e = rt->engine_state;
    memcpy(stats->worker_busy_ns, e->busy_ns, sizeof e->busy_ns);
}

#define ONE_THREAD                                                                                                     \
    .unit = "ns", .open = serial_open, .close = serial_close, .begin = serial_begin, .now = serial_now,                \
    .published = serial_published, .elides = true, .wait = serial_wait, .poke = serial_poke, .measure = serial_measure

const struct engine ptoi_engine_serial = {.name = "serial", ONE_THREAD};
const struct engine ptoi_engine_graph = {.name = "graph", ONE_THREAD};
