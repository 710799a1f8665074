/* create.c - a runtime is made, and destroyed: its window, heap and roles, what it records, its engine, its watchdog.
 *
 * Owner      the thread that calls.
 * Invariant  destroy takes apart whatever create has made, however far it came.
 * Tests      test/runtime/test_runtime.c, test_refused.c, test_nomem.c, test_lifetime.c */
#include "shared/thread_error.h"
#include "config.h"
#include "exchange.h"
#include "misuse.h"
#include "runtime.h"
#include "debug/crash.h"
#include "engine/watchdog.h"
#include "memory/pool.h"
#include "memory/resting.h"
#include "record/ticks.h"
#include "shared/limit.h"
#include "shared/map_memory.h"
#include "shared/system.h"
#include "registry/dump.h"
#include <stdlib.h>

/* Is every task to be seen by itself?  What watches the graph wants it to be found. */
static bool wants_single_tasks(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    bool external = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) external |= c->external[t];
    return rt->core.backend->mirror || c->engine == PTO_ENGINE_GRAPH || c->count_dependences || c->checked ||
           external || c->replay || c->watchdog_seconds != 0 || rt->dist;
}

static bool takes_strips(const PTORuntime *rt) { return rt->core.engine->ops.known_ns && !wants_single_tasks(rt); }

static bool runs_inline(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    return rt->core.engine->runs_inline && !wants_single_tasks(rt) && !c->always_defer && !c->dedicated_scheduler;
}

/* of struct recorder */
static int64_t system_ns(void *context)
{
    (void)context;
    return ptoi_clock_ns();
}

static bool start_recording(PTORuntime *rt)
{
    rt->core.recorder = aligned_alloc(_Alignof(struct recorder), sizeof *rt->core.recorder);
    if (rt->core.recorder) *rt->core.recorder = (struct recorder){0};
    if (!rt->core.recorder ||
        !ptoi_record_init(rt->core.recorder, rt->core.config.record_tasks, rt->core.engine->is_split))
        return false;
    rt->core.recorder->unit = ptoi_unit(&rt->core);
    if (ptoi_has_cycles(&rt->core))
        rt->core.recorder->now = rt->core.engine->ops.clock, rt->core.recorder->now_context = &rt->core;
    else if (!ptoi_ticks_are_steady())
        rt->core.recorder->now = system_ns;
    rt->core.orch.flow.recorder = rt->core.recorder;
    return true;
}

PTOStatus ptoi_settle_record(PTORuntime *rt)
{
    if (!rt->core.recorder) return ptoi_thread_fail(PTO_ERR_STATE, "nothing was recorded: PTOConfig.record_tasks is 0");
    ptoi_record_settle(rt->core.recorder);
    return ptoi_orch_find_edges(&rt->core.orch)
               ? PTO_OK
               : ptoi_thread_fail(PTO_ERR_NOMEM, "no memory for the edges of the record");
}

static bool is_watched(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    return c->watchdog_seconds > 0 && !rt->core.engine->is_split && c->engine != PTO_ENGINE_GRAPH && !c->skip_kernels;
}

static bool start_watching(PTORuntime *rt)
{
    int count = 0;
    const struct running_line *lines = rt->core.engine->lines ? rt->core.engine->lines(&rt->core, &count) : NULL;
    rt->core.watchdog = ptoi_watchdog_open(&rt->core, lines, count);
    return rt->core.watchdog != NULL;
}

/* Ranks that are planned only are those of a simulation. */
static bool serves_ranks(const PTOConfig *c, bool is_planned)
{
    const bool is_simulated = c->engine == PTO_ENGINE_TIMING || c->engine == PTO_ENGINE_GRAPH;
    return is_planned ? is_simulated : c->engine == PTO_ENGINE_THREADS || c->engine == PTO_ENGINE_SERIAL;
}

/* Before the backend is opened, which may fail for a reason of its own. */
static PTOStatus check_ranks(const PTOConfig *c, const struct engine *engine, const struct dist_config *ranks)
{
    if (!serves_ranks(c, !ranks->wire))
        return ptoi_refuse(PTO_ERR_UNSUPPORTED, "several ranks need the engine %s, not %s",
                           ranks->wire ? "threads or serial" : "timing or graph, which plan them", engine->name);
    if (strcmp(c->backend, "sim") != 0)
        return ptoi_refuse(PTO_ERR_UNSUPPORTED, "several ranks need the backend sim, not %s", c->backend);
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (c->external[t])
            return ptoi_refuse(PTO_ERR_UNSUPPORTED, "several ranks cannot have external workers ('%s')",
                               pto_worker_type_name((PTOWorkerType)t));
    if (c->replay && ranks->collects == COLLECTS_EVERYWHERE)
        return ptoi_refuse(PTO_ERR_UNSUPPORTED, "a host program on several ranks cannot replay a schedule");
    return PTO_OK;
}

/* Where there are several ranks, every submit is seen, and transfers are tasks that no worker executes. */
static PTOStatus open_ranks(PTORuntime *rt, const struct dist_config *ranks)
{
    PTOConfig *c = &rt->core.config;
    if (ranks->wire && rt->core.engine->completed) c->external[PTO_WORKER_ACCELERATOR] = true;
    rt->dist = ptoi_dist_open(rt, &rt->core, &ptoi_local_calls, ranks);
    return rt->dist ? PTO_OK : ptoi_refuse(PTO_ERR_NOMEM, "no memory for the homes and transfers of ranks");
}

static PTOStatus refuse_heap(const PTORuntime *rt)
{
    const struct mirror *mirror = rt->core.backend->mirror;
    const unsigned long long bytes = rt->core.heap_bytes;
    if (mirror)
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a heap of %llu bytes: %s", bytes,
                           mirror->failure(rt->core.backend));
    return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a heap of %llu bytes: a smaller %s needs less", bytes,
                       ptoi_limit_name(LIMIT_HEAP, rt->core.config.names));
}

/* Nearly all of it is for the buffers of the heap, which may be as small as a granule.  Only a system that counts
 * addresses refuses it, as `ulimit -v` does: few of them ever become memory. */
static PTOStatus refuse_rings(const PTORuntime *rt, const struct orchestrator_config *oc)
{
    const PTOConfig *c = &rt->core.config;
    const uint64_t bytes = rt->sched_bytes + ptoi_scopes_bytes(oc->max_scopes, rt->core.heap_bytes / PTO_GRANULE);
    return ptoi_refuse(PTO_ERR_NOMEM,
                       "no memory for the rings%s: %llu bytes of addresses for a heap of %llu bytes, %lld tasks and a "
                       "recursion of %d calls; a smaller %s, %s or %s needs less",
                       c->count_dependences ? " and the dependences of the run" : "", (unsigned long long)bytes,
                       (unsigned long long)rt->core.heap_bytes, (long long)c->task_window, c->recursion_limit,
                       ptoi_limit_name(LIMIT_HEAP, c->names), ptoi_limit_name(LIMIT_WINDOW, c->names),
                       ptoi_limit_name(LIMIT_RECURSION, c->names));
}

_Static_assert(PTOI_SCOPES_MAX(PTOI_RECURSION_MAX) <= 1 << PTO_SCOPE_INDEX_BITS, "a token names each scope");

static PTOStatus build(PTORuntime *rt, const struct dist_config *ranks)
{
    const PTOConfig *c = &rt->core.config;
    const struct window_sizes sizes = {.tasks = (uint64_t)c->task_window,
                                       .deps = (uint64_t)c->deplist_entries,
                                       .heap_bytes = (uint64_t)c->heap_bytes * (uint64_t)c->heap_rings,
                                       .first_id = (uint64_t)c->first_task_id,
                                       .first_byte = (uint64_t)c->first_byte};
    rt->core.run_status = ptoi_memory_map(sizeof *rt->core.run_status, rt->core.engine->is_split);
    if (!rt->core.run_status || !ptoi_accumulators_open(&rt->accumulators))
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a runtime");
    ptoi_run_status_reset(rt->core.run_status);
    ptoi_run_status_close(rt->core.run_status);
    rt->core.window_bytes = ptoi_window_bytes(&sizes);
    if (rt->core.window_bytes == 0) return ptoi_refuse(PTO_ERR_CONFIG, "the sizes of the rings overflow");
    rt->core.window = ptoi_pool_take(rt->core.window_bytes, rt->core.engine->is_split, true);
    if (!rt->core.window)
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a window of %llu bytes: a smaller %s needs less",
                           (unsigned long long)rt->core.window_bytes, ptoi_limit_name(LIMIT_WINDOW, c->names));
    ptoi_window_init(rt->core.window, &sizes);
    rt->core.heap_bytes = rt->core.window->heap_bytes;
    rt->core.heap = rt->core.backend->alloc(rt->core.backend, rt->core.heap_bytes, rt->core.engine->is_split);
    if (!rt->core.heap) return refuse_heap(rt);
    if (c->prealloc && !rt->core.backend->mirror && !ptoi_pool_touch(rt->core.heap, rt->core.heap_bytes))
        return ptoi_refuse(PTO_ERR_NOMEM, "the system cannot provide %llu bytes for the heap",
                           (unsigned long long)rt->core.heap_bytes);
    rt->open.site = &rt->now.site;
    rt->open.list = ptoi_memory_map((uint64_t)c->recursion_limit * sizeof *rt->open.list, false);
    rt->crash_stack = ptoi_memory_map(PTO_CRASH_STACK_BYTES, false);
    const struct orchestrator_config oc = {.tensormap_entries = c->tensormap_entries,
                                           .max_scopes = PTOI_SCOPES_MAX(c->recursion_limit),
                                           .ring_bytes = (uint64_t)c->heap_bytes,
                                           .heap_base = rt->core.heap,
                                           .scope_policy = c->scope_policy,
                                           .count_dependences = c->count_dependences,
                                           .record_tasks = c->record_tasks,
                                           .checked = c->checked,
                                           .workers = rt->core.config.workers,
                                           .names = c->names};
    rt->core.window->checked = c->checked;
    if (c->checked && (!ptoi_slots_init(&rt->slots, rt->core.heap_bytes) ||
                       !ptoi_outliving_init(&rt->outliving, ptoi_heap_buffers_max(rt->core.window))))
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a checked run");
    rt->sched_bytes = ptoi_sched_bytes(rt->core.window);
    rt->sched_memory = ptoi_memory_map(rt->sched_bytes, false);
    if (!rt->open.list || !rt->crash_stack || !rt->sched_memory ||
        !ptoi_orch_init(&rt->core.orch, rt->core.window, rt->core.run_status, &oc))
        return refuse_rings(rt, &oc);
    ptoi_sched_init(&rt->core.sched, rt->core.window, rt->core.run_status, rt->sched_memory);
    if (c->replay) {
        int32_t workers = 0;
        for (int t = 0; t < PTO_WORKER_TYPES; t++) workers += c->workers[t];
        rt->core.replay = calloc(1, sizeof *rt->core.replay);
        if (!rt->core.replay) return ptoi_refuse(PTO_ERR_NOMEM, "no memory for a schedule");
        struct replay_of of = {0};
        if (ranks && ranks->wire) of = (struct replay_of){.rank = ranks->wire->rank, .ranks = ranks->wire->ranks};
        PTOStatus loaded =
            ptoi_replay_load(rt->core.replay, c->replay, workers, &of, ptoi_thread_message, sizeof ptoi_thread_message);
        rt->core.replayed_run = of.run;
        if (loaded != PTO_OK) return loaded;
        rt->core.orch.replay = rt->core.replay;
    }
    rt->core.orch.site = &rt->now.site;
    ptoi_fast_init(&rt->core.orch.fast, &rt->now);
    rt->now.heap = (uintptr_t)rt->core.heap;
    rt->now.heap_bytes = rt->core.heap_bytes;
    rt->now.starts = rt->core.orch.scopes.starts;
    rt->now.lifetime = rt->core.orch.scopes.lifetime;
    rt->core.orch.buffers.outliving = c->checked ? &rt->outliving : NULL;
    rt->core.orch.buffers.slots = c->checked ? &rt->slots : NULL;
    const PTOStatus ranked = ranks ? open_ranks(rt, ranks) : PTO_OK;
    if (ranked != PTO_OK) return ranked;
    rt->core.orch.inlined.backend = rt->core.backend;
    rt->core.orch.inlined.refs = rt->core.sched.refs;
    rt->core.orch.may_take_strips = takes_strips(rt);
    rt->core.orch.writes_numbers = !ranks;
    rt->core.orch.inlined.is_allowed = runs_inline(rt);
    rt->core.orch.inlined.is_active = rt->core.orch.inlined.is_allowed && !rt->core.engine->ops.is_fine;
    rt->core.orch.flow.ops = rt->core.sched.ops = &rt->core.engine->ops;
    rt->core.orch.flow.context = rt->core.sched.context = &rt->core;
    ptoi_meter_init(&rt->core.orch.flow.meter, c->time_causes || c->record_tasks > 0, &rt->core.engine->ops, &rt->core);
    if (rt->core.engine->is_split) ptoi_exchange_open(rt);
    if (c->record_tasks > 0 && !start_recording(rt))
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory to record %lld tasks", (long long)c->record_tasks);
    PTOStatus status = rt->core.engine->open(&rt->core);
    if (status != PTO_OK) return ptoi_refuse(status, "the workers could not be started");
    if (rt->core.orch.flow.meter.is_on && !ptoi_worker_times_open(&rt->core.times, &rt->core))
        return ptoi_refuse(PTO_ERR_NOMEM, "no memory for the times of the workers");
    return !is_watched(rt) || start_watching(rt) ? PTO_OK
                                                 : ptoi_refuse(PTO_ERR_NOMEM, "the watchdog could not be started");
}

static void destroy(PTORuntime *rt, char *message, size_t size)
{
    ptoi_watchdog_close(rt->core.watchdog);
    ptoi_dist_stop(rt->dist);
    if (rt->core.state) rt->core.engine->close(&rt->core);
    ptoi_dist_close(rt->dist);
    ptoi_worker_times_close(&rt->core.times);
    if (rt->core.orch.window) ptoi_orch_free(&rt->core.orch);
    ptoi_memory_unmap(rt->sched_memory, rt->sched_bytes);
    ptoi_exchange_close(rt);
    if (rt->core.heap)
        rt->core.backend->free(rt->core.backend, rt->core.heap, rt->core.heap_bytes, rt->core.engine->is_split);
    if (rt->core.backend->close) rt->core.backend->close(rt->core.backend, message, size);
    ptoi_slots_free(&rt->slots);
    ptoi_outliving_free(&rt->outliving);
    ptoi_pool_give(rt->core.window, rt->core.window_bytes, rt->core.engine->is_split);
    ptoi_memory_unmap(rt->crash_stack, PTO_CRASH_STACK_BYTES);
    ptoi_accumulators_close(&rt->accumulators);
    ptoi_memory_unmap(rt->core.run_status, sizeof *rt->core.run_status);
    if (rt->core.recorder) ptoi_record_free(rt->core.recorder);
    free(rt->core.recorder);
    if (rt->core.replay) ptoi_replay_free(rt->core.replay);
    free(rt->core.replay);
    if (rt->open.list)
        ptoi_memory_unmap(rt->open.list, (uint64_t)rt->core.config.recursion_limit * sizeof *rt->open.list);
    ptoi_own_stack_close(&rt->own_stack);
    if (rt->named) rt->forget(rt->named);
    free(ptoi_lifetime_retire(rt));
}

static PTORuntime *create(const PTOConfig *config, const struct dist_config *ranks, PTOStatus *status)
{
    ptoi_thread_message[0] = '\0';
    PTOConfig c = {0};
    if (config) c = *config;
    const bool shares_workers = ptoi_config_shares_workers(&c);
    *status = ptoi_config_check(&c);
    if (*status != PTO_OK) return NULL;
    const struct engine *engine = ptoi_config_engine(&c);
    if (!engine)
        *status = ptoi_refuse(PTO_ERR_UNSUPPORTED,
                              "this build has no such engine (it has threads, serial, timing, process and graph)");
    else if (ranks)
        *status = check_ranks(&c, engine, ranks);
    const struct backend *backend = NULL;
    if (*status == PTO_OK) backend = ptoi_backend_open(&c, status, ptoi_thread_message, sizeof ptoi_thread_message);
    if (!backend) return NULL;
    PTORuntime *rt = calloc(1, sizeof *rt);
    if (!rt) {
        if (backend->close) backend->close(backend, ptoi_thread_message, sizeof ptoi_thread_message);
        *status = ptoi_refuse(PTO_ERR_NOMEM, "no memory for a runtime");
        return NULL;
    }
    rt->core.config = c;
    rt->core.shares_workers = shares_workers;
    rt->core.engine = engine;
    rt->core.backend = backend;
    ptoi_lifetime_begin(&rt->lifetime, ptoi_misuse_forked); /* before the engine forks */
    *status = build(rt, ranks);
    if (c.checked) {
        ptoi_registry_watch_exit();
        ptoi_rest_from_now_on();
    }
    if (*status == PTO_OK) return rt;
    ptoi_lifetime_end(&rt->lifetime);
    char also[sizeof ptoi_thread_message]; /* the first mistake is reported */
    destroy(rt, also, sizeof also);
    return NULL;
}

PTORuntime *ptoi_create_ranked(const PTOConfig *config, const struct dist_config *ranks, PTOStatus *status)
{
    PTOStatus unused;
    PTORuntime *rt = create(config, ranks, status ? status : &unused);
    ptoi_note_create(rt ? "" : ptoi_thread_message);
    return rt;
}

bool ptoi_destroy(PTORuntime *rt)
{
    ptoi_thread_message[0] = '\0';
    if (!rt || ptoi_take_for_destroy(rt) != PTO_OK) return false;
    const bool is_joined = rt->is_joined;
    destroy(rt, ptoi_thread_message, sizeof ptoi_thread_message);
    return is_joined;
}

PTORuntime *pto_runtime_create_threaded_custom(int32_t cubes, int32_t vectors, bool simulate, int64_t window,
                                               int64_t heap_bytes, int64_t deplist)
{
    PTOConfig c = {.engine = simulate ? PTO_ENGINE_TIMING : PTO_ENGINE_THREADS,
                   .workers = {[PTO_WORKER_CUBE] = cubes,
                               [PTO_WORKER_VECTOR] = vectors,
                               [PTO_WORKER_AI_CPU] = 1,
                               [PTO_WORKER_ACCELERATOR] = 1},
                   .task_window = window,
                   .heap_bytes = heap_bytes,
                   .deplist_entries = deplist,
                   .record_tasks = 65536};
    return ptoi_create_ranked(&c, NULL, NULL);
}

PTORuntime *pto_runtime_create_threaded(int32_t cubes, int32_t vectors, bool simulate)
{
    return pto_runtime_create_threaded_custom(cubes, vectors, simulate, 0, 0, 0);
}
