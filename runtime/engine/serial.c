/* serial.c - one thread holds every role.
 *
 * Idea       serial: each task is executed inline; the oracle.  graph: the same without the kernels, so that only the
 *            graph remains. Where nothing needs the graph, a task does not even pass through the window,
 *            submit/inline.c.
 *            On several ranks a transfer ends outside (dist/transfer.h), and what depends on it stays in the window
 *            until then: the program goes on, and what depends on no transfer that is under way is executed inline.
 *            It asks for messages after kernels, now and then after submits, and where it waits.
 * Tests      test/runtime/test_runtime.c; test/wire/test_one_thread.c */
#include "busy.h"
#include "watchdog.h"
#include "shared/check.h"
#include "core.h"
#include "outside_ended.h"
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
    /* ---- on several ranks ---- */
    struct outside_ended outside;
    int64_t idle_since; /* of a metered run: there has been nothing to do since then; 0: there has */
    bool has_run;       /* a kernel, since it has asked outside */
    int unasked;        /* submits since then */
    int64_t unasked_ns; /* of kernels since then */
    int spins, limit;   /* asks in vain before the first yield: of most waits, and of this one, Note [spins] */
    unsigned waits;
};

static void start_transfer(struct core *core, uint64_t id)
{
    struct serial *e = core->state;
    PTOArg args[PTO_MAX_PARAMS];
    ptoi_task_args(core->window, core->heap, id, args);
    ptoi_outside_open(&e->outside, core->window, id);
    core->outside.start(core->outside.context, id, ptoi_task_kernel(core->window, id), args);
}

/* Messages leave before a kernel runs: other ranks wait for them. */
static bool has_ready_transfers(const struct core *core)
{
    return core->outside.is_mine && ptoi_ready_count(&core->sched.ready[PTO_WORKER_ACCELERATOR]) > 0;
}

static bool serial_start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct core *core = context;
    struct serial *e = core->state;
    (void)place;
    if (ptoi_is_outside(core, id)) {
        start_transfer(core, id);
        return true;
    }
    if (e->has_ended || (type != PTO_WORKER_ACCELERATOR && has_ready_transfers(core))) return false;
    if (core->outside.began && e->idle_since > 0) core->outside.began(core->outside.context, id, e->idle_since);
    e->idle_since = 0;
    e->has_run = true;
    struct recorded_task *t = ptoi_record_task(core->recorder, id);
    const int64_t limit = e->runs ? ptoi_task_limit_ns(core->window, id) : 0;
    const PTOKernel *kernel = ptoi_task_kernel(core->window, id);
    int64_t ns = 0, since = 0;
    const bool is_timed = e->runs && (ptoi_busy_is_due(&e->busy, kernel, &ns) || limit > 0);
    if (t && e->runs) t->row = (int32_t)type, t->begin = ptoi_record_now(core->recorder);
    if (is_timed) since = ptoi_clock_ns();
    struct running_line *line = core->watchdog ? ptoi_watchdog_line(core->watchdog) : NULL;
    if (line) ptoi_running_begin(line, core->window, id, ptoi_clock_ns(), ptoi_backtrace_thread());
    struct timed_kernel *const timed = limit > 0 ? &core->orch.inlined.timed : NULL;
    if (timed)
        ptoi_timed_begin(timed,
                         &(struct overdue){kernel, ptoi_task_site(core->window, id), ptoi_task_number(core->window, id),
                                           limit / 1000000},
                         since);
    const enum orchestrator_cause cause = ptoi_meter_enter(&core->orch.flow.meter, CAUSE_INLINE);
    e->ended = (struct completion){
        .id = id,
        .result =
            e->runs ? ptoi_worker_run(core->window, core->backend, core->heap, window_task(core->window, id)) : 0};
    ptoi_meter_enter(&core->orch.flow.meter, cause);
    if (timed) ptoi_timed_end(timed);
    if (line) ptoi_running_end(line);
    if (is_timed) {
        ns = ptoi_clock_ns() - since;
        ptoi_busy_measured(&e->busy, kernel, ns);
        if (limit > 0 && ns > limit) ptoi_fail_timeout(core->window, core->run_status, id);
    }
    if (e->runs) e->busy_ns[type] += ns;
    e->unasked_ns += ns;
    if (t && e->runs) t->end = ptoi_record_now(core->recorder);
    e->has_ended = true;
    return true;
}

static int serial_collect(void *context, struct completion *out, int max)
{
    struct core *core = context;
    struct serial *e = core->state;
    int n = 0;
    if (e->has_ended && max > 0) {
        out[n++] = e->ended;
        e->has_ended = false;
    }
    return n + ptoi_outside_collect(&e->outside, core->window, out + n, max - n);
}

static void serial_close(struct core *core)
{
    struct serial *e = core->state;
    free(e->outside.slot);
    free(e);
    core->state = NULL;
}

static PTOStatus serial_open(struct core *core)
{
    struct serial *e = core->state = calloc(1, sizeof(struct serial));
    if (!e) return PTO_ERR_NOMEM;
    e->runs = core->config.engine != PTO_ENGINE_GRAPH;
    if (core->outside.is_mine) e->outside.slot = calloc(core->window->task_mask + 1, sizeof *e->outside.slot);
    if (!core->outside.is_mine || e->outside.slot) return PTO_OK;
    serial_close(core);
    return PTO_ERR_NOMEM;
}

static bool serial_completed(struct core *core, uint64_t id, int32_t result)
{
    struct serial *e = core->state;
    return ptoi_outside_end(&e->outside, core->window, id, result);
}

/* Asks outside; true: something has ended. */
static bool ask_outside(struct core *core)
{
    struct serial *e = core->state;
    e->has_run = false;
    e->unasked = 0;
    e->unasked_ns = 0;
    return core->outside.progress && core->outside.progress(core->outside.context);
}

/* Would a step of the scheduler find anything?  Most of those that are asked for would not. */
static bool has_work(struct core *core)
{
    struct serial *e = core->state;
    const struct scheduler *s = &core->sched;
    return e->has_ended || e->outside.taken || ptoi_outside_has_ended(&e->outside) || s->ready_groups != 0 ||
           ptoi_sched_has_input(s) || ptoi_is_failing(core->run_status);
}

/* A step of the scheduler.  After a long kernel it also asks, even where there is always more to do: a large message
 * needs both of its ends, and costs nothing beside such a kernel. */
static bool work(struct core *core)
{
    enum { LONG_NS = 20000 };
    const struct serial *e = core->state;
    if (!has_work(core) || !ptoi_sched_step(&core->sched)) return false;
    if (e->unasked_ns >= LONG_NS) ask_outside(core);
    return true;
}

/* After a kernel and after each submit, because another rank may wait for the answer to a message that comes meanwhile.
 * Where many transfers are under way a look visits all of them, so it asks after some submits. */
static bool ask_now_and_then(struct core *core)
{
    enum { FEW = 8, SUBMITS = 8 };
    struct serial *e = core->state;
    if (!e->has_run && core->outside.under_way && load_relaxed(core->outside.under_way) > FEW && /* relaxed: a hint */
        ++e->unasked < SUBMITS)
        return false;
    return ask_outside(core);
}

static bool serial_go_on(struct core *core) { return work(core) || ask_outside(core); }

static void serial_wake(void *context)
{
    struct core *core = context;
    bool any = true; /* its producers were executed inline or are outside; so it runs and ends, or waits for those */
    while (any && !ptoi_sched_is_quiet(&core->sched)) any = work(core) || ask_now_and_then(core);
    CHECK(any || core->outside.progress);
}

/* Asks at most so many times, without a step of the scheduler between, which would find nothing.  The processor is left
 * alone between two looks, because the other rank may run on the same core.  true: something has ended. */
static bool ask_some_times(struct core *core, int times)
{
    struct serial *e = core->state;
    while (!ask_outside(core) && !ptoi_outside_has_ended(&e->outside)) {
        if (--times <= 0) return false;
        pto_relax();
        pto_relax();
    }
    return true;
}

/* Note [spins]: a rank that waits asks in vain for a while, without giving the processor away first, because a yield
 * costs as much as a message takes.  Where the ranks share a processor, the other one cannot answer meanwhile.  So a
 * wait that ends after a yield halves the spins of those that follow, one that ends while it spins restores them, and
 * now and then one spins as long as ever. */
enum { SPINS = 128, TRIAL = 32 };

static void choose_spins(struct serial *e) { e->limit = ++e->waits % TRIAL == 0 ? SPINS : e->spins; }

/* A wait has ended, after so many asks in vain. */
static void learn_spins(struct serial *e, int asks)
{
    if (asks > e->limit)
        e->spins /= 2;
    else if (asks > 0)
        e->spins = SPINS;
}

/* There is nothing to do until something outside has ended.  It spins, then it yields, then it sleeps, for ever longer.
 * It asks as long as a short sleep takes with its wake, some 50 us: if it slept sooner, the other rank would wait for
 * it meanwhile, and sleep, too.  *asks counts. */
static void wait_outside(struct core *core, int *asks)
{
    enum { SOME = 8, YIELDS = 128, NAPS = 20, NAP_NS = 5000 };
    struct serial *e = core->state;
    _Atomic uint32_t idle = 0;
    if (core->outside.began && e->idle_since == 0) e->idle_since = ptoi_clock_ns();
    if (*asks == 0) choose_spins(e);
    const int times = *asks + SOME <= e->limit ? SOME : 1;
    if (ask_some_times(core, times)) {
        learn_spins(e, *asks);
        *asks = 0;
        return;
    }
    if (*asks < e->limit + YIELDS + NAPS) *asks += times;
    if (*asks > e->limit + YIELDS) ptoi_say_outside(core);
    if (*asks > e->limit + YIELDS)
        ptoi_sleep_on(&idle, 0, (int64_t)NAP_NS * (*asks - e->limit - YIELDS), false);
    else if (*asks > e->limit)
        ptoi_yield();
}

/* A kernel has ended whose messages other ranks wait for: they leave before the program goes on. */
static void let_messages_leave(struct core *core)
{
    const struct serial *e = core->state;
    while (e->has_ended || has_ready_transfers(core)) ptoi_sched_step(&core->sched);
}

static bool serial_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    struct core *core = context;
    for (int asks = 0; !is_met(arg);) {
        if (work(core)) {
            asks = 0;
            continue;
        }
        if (ptoi_sched_is_quiet(&core->sched)) return is_met(arg);
        if (core->outside.progress) wait_outside(core, &asks);
    }
    if (core->outside.progress) let_messages_leave(core);
    return true;
}

static bool serial_is_still(struct core *core) { return !has_work(core) && ptoi_is_still(core); }

static void serial_poke(struct core *core) { (void)core; }

static void serial_begin(struct core *core)
{
    struct serial *e = core->state;
    memset(e->busy_ns, 0, sizeof e->busy_ns);
    e->idle_since = 0;
    e->spins = SPINS;
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
            .wait = serial_wait,                                                                                       \
            .runs_in_waits = true},                                                                                    \
    .open = serial_open, .close = serial_close, .begin = serial_begin, .poke = serial_poke, .measure = serial_measure, \
    .completed = serial_completed, .go_on = serial_go_on, .is_still = serial_is_still

const struct engine ptoi_engine_serial = {.name = "serial", ONE_THREAD};
const struct engine ptoi_engine_graph = {.name = "graph", ONE_THREAD};
