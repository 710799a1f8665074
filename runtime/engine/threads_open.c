/* threads_open.c - the engine threads is opened and closed: lanes, stacks, threads; its rows and its table.
 *
 * Owner      the thread that owns the runtime.
 * Tests      test/runtime/test_runtime.c, test_nomem.c, test_process.c */
#include "threads_parts.h"
#include "debug/crash.h"
#include "shared/barrier.h"
#include "shared/map_memory.h"
#include "shared/processors.h"
#include <stdlib.h>

void ptoi_threads_close(struct core *core)
{
    struct threads *e = core->state;
    if (!e) return;
    store_relaxed(&e->stop, 1); /* relaxed: [WOKEN] publishes it */ /* model: CLOSE */
    for (int i = 0; i < e->started; i++) ptoi_park_wake(&e->lane[i].parker);
    if (e->has_scheduler) {
        ptoi_park_wake(&e->idle_scheduler);
        ptoi_thread_join(e->scheduler);
    }
    for (int i = 0; i < e->started; i++) ptoi_thread_join(e->lane[i].thread);
    ptoi_memory_unmap(e->stacks, (uint64_t)e->lane_count * PTO_CRASH_STACK_BYTES);
    if (e->owns_lines) free(e->line);
    free(e->lane);
    free(e->outside.slot);
    free(e);
    core->state = NULL;
}

static bool allocate_lanes(struct threads *e, struct running_line *line)
{
    const size_t count = (size_t)e->lane_count, rows = (size_t)e->row_count;
    e->owns_lines = !line;
    e->line = line ? line : aligned_alloc(PTO_CACHELINE, rows * sizeof *line);
    e->lane = aligned_alloc(PTO_CACHELINE, count * sizeof *e->lane);
    e->stacks = ptoi_memory_map(count * PTO_CRASH_STACK_BYTES, false);
    return e->line && e->lane && e->stacks;
}

/* Not where the orchestrator has to watch the others. */
static void choose_helper_lane(struct core *core)
{
    struct threads *e = core->state;
    const PTOConfig *c = &core->config;
    const int processors = ptoi_processors();
    if (e->notify || e->outside.slot || core->backend->mirror || c->replay || c->dedicated_scheduler ||
        c->watchdog_seconds > 0 || processors < 2)
        return;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (c->workers[t] >= processors) e->helper_lane = &e->lane[e->first[t] + c->workers[t] - 1];
}

/* Which lanes are a type's, and which rows are theirs; Note [shared workers]. */
static void number_lanes(struct core *core)
{
    struct threads *e = core->state;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        const bool is_shared = core->shares_workers && t != PTO_WORKER_ACCELERATOR;
        const int group = core->sched.group[t] = is_shared ? PTO_WORKER_CUBE : (uint8_t)t;
        e->first[t] = group < t ? e->first[group] : e->lane_count;
        e->shift[t] = e->row_count - e->first[t];
        e->row_count += core->config.workers[t];
        if (group == t) e->lane_count += core->config.workers[t];
    }
}

static PTOStatus open_lanes(struct core *core, struct running_line *line, struct bell *notify)
{
    struct threads *e = aligned_alloc(PTO_CACHELINE, ptoi_whole_lines(sizeof *e));
    if (!e) return PTO_ERR_NOMEM;
    *e = (struct threads){.notify = notify};
    ptoi_grain_init(&e->grain, ptoi_processors());
    core->state = e;
    ptoi_park_init(&e->orchestrator);
    ptoi_park_init(&e->idle_scheduler);
    store_relaxed(&e->seen_tasks, core->sched.taken); /* relaxed: no thread runs yet */
    store_relaxed(&e->seen_events, core->sched.events);
    e->is_watched = core->recorder || core->replay || core->config.watchdog_seconds > 0 ||
                    core->orch.flow.meter.is_on || core->window->checked;
    number_lanes(core);
    ptoi_handover_init(&e->handover, e->grain.processors == 2 && e->lane_count > 0);
    bool outside = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) outside |= core->config.external[t];
    if (outside) e->outside.slot = calloc(core->window->task_mask + 1, sizeof *e->outside.slot);
    if ((outside && !e->outside.slot) || !allocate_lanes(e, line)) {
        ptoi_threads_close(core);
        return PTO_ERR_NOMEM;
    }
    for (int i = 0; i < e->row_count; i++) e->line[i] = (struct running_line){0};
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = e->first[t]; core->sched.group[t] == t && i < e->first[t] + core->config.workers[t]; i++) {
            e->lane[i] = (struct lane){.core = core, .group = t, .line = &e->line[i]};
            ptoi_park_init(&e->lane[i].parker);
            if (core->orch.flow.meter.is_on) ptoi_worker_clock_begin(&e->lane[i].clock, &e->line[i + e->shift[t]].time);
        }
    choose_helper_lane(core);
    core->sched.ops = &ptoi_engine_threads.ops;
    core->sched.context = core;                          /* of this process */
    e->has_scheduler = core->config.dedicated_scheduler; /* before any thread looks */
    e->looks_always = e->has_scheduler || outside;
    (void)ptoi_barrier_exists(); /* asked for early: it is cheap while there is one thread */
    if (e->has_scheduler && !ptoi_thread_start(&e->scheduler, ptoi_threads_scheduler, core)) {
        e->has_scheduler = false;
        ptoi_threads_close(core);
        return PTO_ERR_NOMEM;
    }
    for (; e->started < e->lane_count; e->started++)
        if (!ptoi_thread_start(&e->lane[e->started].thread, ptoi_threads_worker, &e->lane[e->started])) {
            ptoi_threads_close(core);
            return PTO_ERR_NOMEM;
        }
    return PTO_OK;
}

PTOStatus ptoi_threads_open_apart(struct core *core, struct running_line *line, struct bell *notify)
{
    return open_lanes(core, line, notify);
}

const struct running_line *ptoi_threads_lines(struct core *core, int *count)
{
    const struct threads *e = core->state;
    *count = e->row_count;
    return e->line;
}

void ptoi_threads_measure(struct core *core, PTORunStats *stats)
{
    struct threads *e = core->state;
    const struct running_line *line = e->line;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = 0; i < core->config.workers[t]; i++) stats->worker_busy_ns[t] += load_relaxed(&line++->busy_ns);
}

void ptoi_threads_begin(struct core *core)
{
    struct threads *e = core->state;
    /* a worker has nothing until a task is sent */
    for (int i = 0; i < e->row_count; i++) store_relaxed(&e->line[i].busy_ns, 0);
    for (int i = 0; i < e->lane_count; i++) e->lane[i].has_stopped = false;
}

static bool is_still(struct core *core)
{
    ptoi_threads_take_role(core);
    const bool is = ptoi_is_still(core);
    ptoi_threads_leave_role(core, false);
    return is;
}

static PTOStatus threads_open(struct core *core) { return open_lanes(core, NULL, NULL); }

const struct engine ptoi_engine_threads = {.name = "threads",
                                           .runs_inline = true,
                                           .ops = {.start = ptoi_lanes_start,
                                                   .collect = ptoi_lanes_collect,
                                                   .follow = ptoi_lanes_follow,
                                                   .failed = ptoi_core_failed,
                                                   .wake = ptoi_threads_wake,
                                                   .wait = ptoi_threads_wait,
                                                   .is_fine = ptoi_threads_is_fine,
                                                   .known_ns = ptoi_threads_known_ns,
                                                   .shares_workers = ptoi_threads_shares_workers,
                                                   .enter = ptoi_threads_enter,
                                                   .leave = ptoi_threads_leave,
                                                   .measured = ptoi_threads_measured},
                                           .open = threads_open,
                                           .close = ptoi_threads_close,
                                           .begin = ptoi_threads_begin,
                                           .poke = ptoi_threads_poke,
                                           .settle = ptoi_threads_settle,
                                           .completed = ptoi_threads_completed,
                                           .is_still = is_still,
                                           .lines = ptoi_threads_lines,
                                           .measure = ptoi_threads_measure};
