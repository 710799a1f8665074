/* runtime.c - creating, running and destroying a runtime: the one file that sees every role. */
#include "runtime.h"
#include "shared/check.h"
#include "debug/checked.h"
#include "debug/crash.h"
#include "debug/guard.h"
#include "shared/limit.h"
#include "shared/map_memory.h"
#include "misuse.h"
#include "memory/pool.h"
#include "shared/processors.h"
#include "engine/watchdog.h"
#include "backend/failure.h"
#include "shared/system.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *pto_last_error(PTORuntime *rt)
{
    const enum lifetime_answer answer = rt ? ptoi_lifetime_look(&rt->lifetime) : LIFETIME_UNKNOWN;
    return answer == LIFETIME_FREE || answer == LIFETIME_IN_USE ? rt->core.outcome->message : ptoi_thread_message;
}

/* ---- configuration ----------------------------------------------------------------------------------------------- */

static PTOStatus refuse(PTOStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static PTOStatus refuse(PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ptoi_thread_message, sizeof ptoi_thread_message, format, args);
    va_end(args);
    return status;
}

static int64_t or_default(int64_t value, int64_t standard) { return value ? value : standard; }

static void default_workers(int32_t *workers)
{
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (workers[t] != 0) return;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t half = cores > 512 ? 256 : cores > 2 ? (int32_t)(cores / 2) : 1;
    workers[PTO_WORKER_CUBE] = workers[PTO_WORKER_VECTOR] = half;
    workers[PTO_WORKER_AI_CPU] = workers[PTO_WORKER_ACCELERATOR] = 1;
}

static PTOStatus check_config(PTOConfig *c)
{
    enum { MAX_WORKERS = 1024 };
    const int64_t limit = (int64_t)1 << 40;
    c->backend = c->backend ? c->backend : "sim";
    c->task_window = or_default(c->task_window, 1024);
    c->heap_bytes = or_default(c->heap_bytes, 64 << 20);
    c->heap_rings = (int32_t)or_default(c->heap_rings, PTO_DEFAULT_RINGS);
    c->deplist_entries = or_default(c->deplist_entries, 8192);
    c->tensormap_entries = or_default(c->tensormap_entries, 4096);
    c->recursion_limit = (int32_t)or_default(c->recursion_limit, 256);
    if (c->task_window < 2 || c->task_window > (1 << 24) || (c->task_window & (c->task_window - 1)))
        return refuse(PTO_ERR_CONFIG, "task window %lld: must be a power of two from 2 to 16777216",
                      (long long)c->task_window);
    if (c->heap_bytes < PTO_GRANULE || c->heap_bytes > limit)
        return refuse(PTO_ERR_CONFIG, "heap of %lld bytes: must be from %d to %lld", (long long)c->heap_bytes,
                      PTO_GRANULE, (long long)limit);
    if (c->heap_rings < 1 || c->heap_rings > PTO_MAX_RINGS)
        return refuse(PTO_ERR_CONFIG, "%d heap rings: must be from 1 to %d", c->heap_rings, PTO_MAX_RINGS);
    if (c->heap_bytes > ((int64_t)UINT32_MAX - 1) * PTO_GRANULE / c->heap_rings)
        return refuse(PTO_ERR_CONFIG, "heap of %d x %lld bytes is too large", c->heap_rings, (long long)c->heap_bytes);
    if (c->deplist_entries < 2 || c->deplist_entries > (1 << 28))
        return refuse(PTO_ERR_CONFIG, "%lld dependency entries: must be from 2 to 268435456",
                      (long long)c->deplist_entries);
    if (c->tensormap_entries < 2 || c->tensormap_entries > (1 << 24))
        return refuse(PTO_ERR_CONFIG, "%lld tensormap entries: must be from 2 to 16777216",
                      (long long)c->tensormap_entries);
    if (c->recursion_limit < 1 || c->recursion_limit > (1 << 20))
        return refuse(PTO_ERR_CONFIG, "recursion limit %d: must be from 1 to 1048576", c->recursion_limit);
    if (c->first_task_id < 0 || c->first_byte < 0) return refuse(PTO_ERR_CONFIG, "counters that start below zero");
    if ((unsigned)c->scope_policy > PTO_SCOPE_OUTERMOST)
        return refuse(PTO_ERR_CONFIG, "unknown scope policy %d", (int)c->scope_policy);
    if (c->record_tasks < 0 || c->record_tasks > (1 << 24))
        return refuse(PTO_ERR_CONFIG, "a record of %lld tasks: must be from 0 to 16777216", (long long)c->record_tasks);
    if (c->submit_cycles < 0 || c->dispatch_cycles < 0 || c->submit_cycles > limit || c->dispatch_cycles > limit)
        return refuse(PTO_ERR_CONFIG, "submit and dispatch cycles must be from 0 to %lld", (long long)limit);
    if (!(c->watchdog_seconds >= 0 && c->watchdog_seconds <= 1e9))
        return refuse(PTO_ERR_CONFIG, "a watchdog of %g seconds: must be from 0 to 1e9", c->watchdog_seconds);
    bool external = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) external |= c->external[t];
    if (external && !c->external_start) return refuse(PTO_ERR_CONFIG, "external workers without external_start");
    if ((external || c->replay || c->dedicated_scheduler) && c->engine != PTO_ENGINE_THREADS)
        return refuse(PTO_ERR_CONFIG, "external workers, replay and a dedicated scheduler need the engine threads");
    if (external && c->replay) return refuse(PTO_ERR_CONFIG, "external workers cannot be replayed");
    if (c->skip_kernels && c->engine != PTO_ENGINE_TIMING)
        return refuse(PTO_ERR_CONFIG, "kernels can be skipped on the timing engine only");
    if (strcmp(c->backend, "sim") != 0 && (c->engine == PTO_ENGINE_PROCESS || c->checked || external))
        return refuse(PTO_ERR_CONFIG, "%s the backend sim",
                      external     ? "external workers need"
                      : c->checked ? "checked runs need"
                                   : "the engine process needs");
    if (c->device < 0 || c->device > 65535)
        return refuse(PTO_ERR_CONFIG, "device %d: must be from 0 to 65535", c->device);
    if (!(c->stream_timeout_seconds >= 0 && c->stream_timeout_seconds <= 1e6))
        return refuse(PTO_ERR_CONFIG, "a stream time-out of %g seconds: must be from 0 to 1e6",
                      c->stream_timeout_seconds);
    if (c->record_tasks > 0 || c->engine == PTO_ENGINE_TIMING || c->engine == PTO_ENGINE_GRAPH)
        c->count_dependences = true;
    int64_t total = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        if (c->workers[t] < 0 || c->workers[t] > MAX_WORKERS)
            return refuse(PTO_ERR_CONFIG, "%d %s workers: must be from 0 to %d", c->workers[t],
                          pto_worker_type_name((PTOWorkerType)t), MAX_WORKERS);
        total += c->workers[t];
    }
    if (total > MAX_WORKERS) return refuse(PTO_ERR_CONFIG, "%lld workers: at most %d", (long long)total, MAX_WORKERS);
    default_workers(c->workers);
    return PTO_OK;
}

static const struct engine *find_engine(PTOEngine engine)
{
    static const struct engine *const engines[PTO_ENGINES] = {[PTO_ENGINE_THREADS] = &ptoi_engine_threads,
                                                              [PTO_ENGINE_SERIAL] = &ptoi_engine_serial,
                                                              [PTO_ENGINE_TIMING] = &ptoi_engine_timing,
                                                              [PTO_ENGINE_PROCESS] = &ptoi_engine_process,
                                                              [PTO_ENGINE_GRAPH] = &ptoi_engine_graph};
    return (unsigned)engine < PTO_ENGINES ? engines[engine] : NULL;
}

/* ---- create, destroy --------------------------------------------------------------------------------------------- */

/* What watches the graph wants it to be found. */
static bool elides(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    bool external = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) external |= c->external[t];
    return rt->core.engine->elides && !rt->core.backend->mirror && c->engine != PTO_ENGINE_GRAPH &&
           !c->count_dependences && !c->always_defer && !c->checked && !external && !c->replay &&
           !c->dedicated_scheduler && (c->watchdog_seconds == 0);
}

/* One processor: workers would only alternate with the orchestrator, so it runs the tasks itself.  Not where the
 * program asked for something that threads do. */
static bool wants_one_thread(const PTOConfig *c)
{
    bool external = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) external |= c->external[t];
    return c->engine == PTO_ENGINE_THREADS && strcmp(c->backend, "sim") == 0 && !external && !c->replay &&
           !c->dedicated_scheduler && c->watchdog_seconds == 0 && !c->count_dependences && !c->always_defer &&
           !c->checked && ptoi_processors() == 1;
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
    if (!rt->core.recorder) return PTO_ERR_STATE;
    ptoi_record_settle(rt->core.recorder);
    return ptoi_orch_find_edges(&rt->core.orch) ? PTO_OK : PTO_ERR_NOMEM;
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

static PTOStatus build(PTORuntime *rt)
{
    const PTOConfig *c = &rt->core.config;
    const struct window_sizes sizes = {.tasks = (uint64_t)c->task_window,
                                       .deps = (uint64_t)c->deplist_entries,
                                       .heap_bytes = (uint64_t)c->heap_bytes * (uint64_t)c->heap_rings,
                                       .first_id = (uint64_t)c->first_task_id,
                                       .first_byte = (uint64_t)c->first_byte};
    rt->core.outcome = ptoi_memory_map(sizeof *rt->core.outcome, rt->core.engine->is_split);
    if (!rt->core.outcome) return refuse(PTO_ERR_NOMEM, "no memory for a runtime");
    ptoi_outcome_reset(rt->core.outcome);
    rt->core.window_bytes = ptoi_window_bytes(&sizes);
    if (rt->core.window_bytes == 0) return refuse(PTO_ERR_CONFIG, "the sizes of the rings overflow");
    rt->core.window = ptoi_pool_take(rt->core.window_bytes, rt->core.engine->is_split, true);
    if (!rt->core.window)
        return refuse(PTO_ERR_NOMEM, "no memory for a window of %llu bytes", (unsigned long long)rt->core.window_bytes);
    ptoi_window_init(rt->core.window, &sizes);
    rt->core.heap_bytes = rt->core.window->heap_bytes;
    rt->core.heap = rt->core.backend->alloc(rt->core.backend, rt->core.heap_bytes, rt->core.engine->is_split);
    if (!rt->core.heap)
        return refuse(PTO_ERR_NOMEM, "no memory for a heap of %llu bytes%s%s", (unsigned long long)rt->core.heap_bytes,
                      rt->core.backend->mirror ? ": " : "",
                      rt->core.backend->mirror ? rt->core.backend->mirror->failure(rt->core.backend) : "");
    if (c->prealloc && !rt->core.backend->mirror && !ptoi_pool_touch(rt->core.heap, rt->core.heap_bytes))
        return refuse(PTO_ERR_NOMEM, "the system cannot provide %llu bytes for the heap",
                      (unsigned long long)rt->core.heap_bytes);
    rt->frames = calloc((size_t)c->recursion_limit, sizeof *rt->frames);
    rt->crash_stack = ptoi_memory_map(PTO_CRASH_STACK_BYTES, false);
    const struct orchestrator_config oc = {.tensormap_entries = c->tensormap_entries,
                                           .max_scopes = c->recursion_limit * 16 + 64,
                                           .ring_bytes = (uint64_t)c->heap_bytes,
                                           .heap_base = rt->core.heap,
                                           .scope_policy = c->scope_policy,
                                           .count_dependences = c->count_dependences,
                                           .record_tasks = c->record_tasks,
                                           .checked = c->checked,
                                           .names_options = c->names_options};
    rt->core.window->checked = c->checked;
    if (c->checked && (!ptoi_slots_init(&rt->slots, rt->core.heap_bytes) ||
                       !ptoi_outliving_init(&rt->outliving, ptoi_heap_buffers_max(rt->core.window))))
        return refuse(PTO_ERR_NOMEM, "no memory for a checked run");
    rt->sched_bytes = ptoi_sched_bytes(rt->core.window);
    rt->sched_memory = ptoi_memory_map(rt->sched_bytes, false);
    if (!rt->frames || !rt->crash_stack || !rt->sched_memory ||
        !ptoi_orch_init(&rt->core.orch, rt->core.window, rt->core.outcome, &oc))
        return refuse(PTO_ERR_NOMEM, c->count_dependences ? "no memory for the rings and the dependences of the run"
                                                          : "no memory for the rings");
    ptoi_sched_init(&rt->core.sched, rt->core.window, rt->core.outcome, rt->sched_memory);
    if (c->replay) {
        int32_t workers = 0;
        for (int t = 0; t < PTO_WORKER_TYPES; t++) workers += c->workers[t];
        rt->core.replay = calloc(1, sizeof *rt->core.replay);
        if (!rt->core.replay) return refuse(PTO_ERR_NOMEM, "no memory for a schedule");
        PTOStatus loaded =
            ptoi_replay_load(rt->core.replay, c->replay, workers, ptoi_thread_message, sizeof ptoi_thread_message);
        if (loaded != PTO_OK) return loaded;
        rt->core.orch.replay = rt->core.replay;
    }
    rt->core.orch.site = &rt->now.site;
    ptoi_short_init(&rt->core.orch.now, &rt->now);
    rt->now.heap = (uintptr_t)rt->core.heap;
    rt->now.heap_bytes = rt->core.heap_bytes;
    rt->now.starts = rt->core.orch.scopes.starts;
    rt->now.lifetime = rt->core.orch.scopes.lifetime;
    rt->core.orch.outliving = c->checked ? &rt->outliving : NULL;
    rt->core.orch.slots = c->checked ? &rt->slots : NULL;
    rt->core.orch.backend = rt->core.backend;
    rt->core.orch.refs = rt->core.sched.refs;
    rt->core.orch.may_elide = elides(rt);
    rt->core.orch.elides = rt->core.orch.may_elide && !rt->core.engine->ops.is_fine;
    rt->core.orch.flow.ops = rt->core.sched.ops = &rt->core.engine->ops;
    rt->core.orch.flow.context = rt->core.sched.context = &rt->core;
    if (rt->core.engine->is_split) ptoi_exchange_open(rt);
    if (c->record_tasks > 0 && !start_recording(rt))
        return refuse(PTO_ERR_NOMEM, "no memory to record %lld tasks", (long long)c->record_tasks);
    PTOStatus status = rt->core.engine->open(&rt->core);
    if (status != PTO_OK) return refuse(status, "the workers could not be started");
    return !is_watched(rt) || start_watching(rt) ? PTO_OK : refuse(PTO_ERR_NOMEM, "the watchdog could not be started");
}

static void destroy(PTORuntime *rt, char *message, size_t size)
{
    ptoi_watchdog_close(rt->core.watchdog);
    if (rt->core.state) rt->core.engine->close(&rt->core);
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
    ptoi_memory_unmap(rt->core.outcome, sizeof *rt->core.outcome);
    if (rt->core.recorder) ptoi_record_free(rt->core.recorder);
    free(rt->core.recorder);
    if (rt->core.replay) ptoi_replay_free(rt->core.replay);
    free(rt->core.replay);
    free(rt->frames);
    free(ptoi_lifetime_retire(rt));
}

static PTORuntime *create(const PTOConfig *config, PTOStatus *status)
{
    ptoi_thread_message[0] = '\0';
    PTOConfig c = {0};
    if (config) c = *config;
    *status = check_config(&c);
    if (*status != PTO_OK) return NULL;
    const struct engine *engine = wants_one_thread(&c) ? &ptoi_engine_serial : find_engine(c.engine);
    if (!engine)
        *status = refuse(PTO_ERR_UNSUPPORTED,
                         "this build has no such engine (it has threads, serial, timing, process and graph)");
    const struct backend *backend = NULL;
    if (*status == PTO_OK) backend = ptoi_backend_open(&c, status, ptoi_thread_message, sizeof ptoi_thread_message);
    if (!backend) return NULL;
    PTORuntime *rt = calloc(1, sizeof *rt);
    if (!rt) {
        if (backend->close) backend->close(backend, ptoi_thread_message, sizeof ptoi_thread_message);
        *status = refuse(PTO_ERR_NOMEM, "no memory for a runtime");
        return NULL;
    }
    rt->core.config = c;
    rt->core.engine = engine;
    rt->core.backend = backend;
    ptoi_lifetime_begin(&rt->lifetime); /* before the engine forks */
    *status = build(rt);
    if (*status == PTO_OK) return rt;
    ptoi_lifetime_end(&rt->lifetime);
    char also[sizeof ptoi_thread_message]; /* the first mistake is told */
    destroy(rt, also, sizeof also);
    return NULL;
}

PTORuntime *pto_runtime_create(const PTOConfig *config, PTOStatus *status)
{
    PTOStatus unused;
    PTORuntime *rt = create(config, status ? status : &unused);
    ptoi_note_create(rt ? "" : ptoi_thread_message);
    return rt;
}

void pto_runtime_destroy(PTORuntime *rt)
{
    ptoi_thread_message[0] = '\0';
    if (rt && ptoi_take_for_destroy(rt) == PTO_OK) destroy(rt, ptoi_thread_message, sizeof ptoi_thread_message);
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
    return pto_runtime_create(&c, NULL);
}

PTORuntime *pto_runtime_create_threaded(int32_t cubes, int32_t vectors, bool simulate)
{
    return pto_runtime_create_threaded_custom(cubes, vectors, simulate, 0, 0, 0);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* What the functions of `mirror` say. */
static bool is_mirror_fine(PTORuntime *rt, PTOStatus status)
{
    if (status == PTO_OK) return true;
    ptoi_fail(rt->core.outcome, status, rt->now.site, "%s", rt->core.backend->mirror->failure(rt->core.backend));
    return false;
}

struct orchestration {
    void (*fn)(PTORuntime *rt, void *arg);
    void *arg;
};

static int orchestrate(void *rt, void *orchestration)
{
    const struct orchestration *o = orchestration;
    o->fn(rt, o->arg);
    return 0;
}

/* An exception, or the end of the thread, that came through the orchestration: of a kernel that it called itself, or
 * its own. */
static void fail_unwound(PTORuntime *rt, int how)
{
    const PTOKernel *kernel = rt->now.running;
    if (kernel)
        ptoi_fail_unwound(rt->core.outcome, kernel, rt->now.site, rt->now.number - 1, how);
    else
        ptoi_fail(rt->core.outcome, PTO_ERR_MISUSE, rt->now.site, "%s",
                  how == PTOI_THREW ? "an exception left the orchestration" : "the orchestration ended its thread");
}

/* The runtime is taken. */
static PTOStatus run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg, bool unwinds)
{
    struct orchestration orchestration = {fn, arg};
    jmp_buf catcher;
    const int64_t since = ptoi_clock_ns();
    ptoi_outcome_reset(rt->core.outcome);
    store_relaxed(&rt->core.window->fault_task, 0); /* relaxed: [TASK] publishes it */
    rt->outliving.count = 0;
    rt->unwinds = rt->is_entry = unwinds;
    rt->core.orch.may_move = unwinds && !rt->core.backend->mirror;
    rt->catcher = &catcher;
    rt->frame_count = 0;
    rt->stack = ptoi_stack_bounds();
    rt->now.site = NULL;
    memset(rt->core.sched.worker_tasks, 0,
           sizeof rt->core.sched.worker_tasks); /* no task is in flight: nobody holds the role */
    rt->core.engine->begin(&rt->core);
    if (rt->core.orch.is_lost) {
        ptoi_lifetime_give(&rt->lifetime);
        return ptoi_status(rt->core.outcome);
    }
    const struct mirror *mirror = rt->core.backend->mirror;
    if (mirror) is_mirror_fine(rt, mirror->begin(rt->core.backend));
    ptoi_crash_watch();
    ptoi_crash_use_stack(rt->crash_stack);
    const PTOShortWay *const outer = ptoi_crash_orchestrates(&rt->now);
    if (rt->core.replay) rt->core.replay->next = 0, rt->core.replay->first_id = rt->core.orch.head;
    if (rt->core.recorder) ptoi_record_begin(rt->core.recorder, rt->core.orch.head);
    ptoi_orch_begin(&rt->core.orch);
    if (rt->core.watchdog) ptoi_watchdog_begin(rt->core.watchdog);
    const void *const outer_run = ptoi_orchestrate(rt);
    if (setjmp(catcher) == 0) {
        const int how = ptoi_guarded_call((ptoi_function)orchestrate, rt, &orchestration);
        if (how != 0) fail_unwound(rt, how);
        if (rt->core.orch.scopes.depth > 1 && ptoi_status(rt->core.outcome) == PTO_OK)
            ptoi_fail(rt->core.outcome, PTO_ERR_STATE, NULL, "the orchestration ended with %d scopes open",
                      rt->core.orch.scopes.depth - 1);
    }
    rt->catcher = NULL;
    rt->now.site = NULL;
    rt->now.running = NULL;
    ptoi_orchestrate(outer_run);
    ptoi_orch_end(&rt->core.orch);
    if (rt->core.watchdog) ptoi_watchdog_end(rt->core.watchdog);
    if (mirror) is_mirror_fine(rt, mirror->end(rt->core.backend, ptoi_final_status(rt->core.outcome) == PTO_OK));
    if (rt->core.engine->settle) rt->core.engine->settle(&rt->core, false);
    if (rt->core.recorder) ptoi_record_end(rt->core.recorder);
    ptoi_crash_orchestrates(outer);
    ptoi_crash_use_stack(NULL);
    ptoi_crash_unwatch();
    rt->run_stats.ns = ptoi_clock_ns() - since;
    const PTOStatus status = ptoi_final_status(rt->core.outcome);
    ptoi_lifetime_give(&rt->lifetime);
    return status;
}

void pto_write_pinned(PTORuntime *rt, FILE *out)
{
    if (!ptoi_is_null(rt, "pto_write_pinned")) ptoi_outliving_write(&rt->outliving, out);
}

PTOStatus pto_runtime_trim(PTORuntime *rt)
{
    const PTOStatus status = rt ? ptoi_take_for_trim(rt) : PTO_OK;
    if (status != PTO_OK) return status;
    ptoi_pool_trim();
    if (!rt) return PTO_OK;
    ptoi_exchange_trim(rt);
    if (!rt->core.backend->mirror)
        madvise(rt->core.heap, rt->core.heap_bytes, rt->core.engine->is_split ? MADV_REMOVE : MADV_DONTNEED);
    ptoi_lifetime_give(&rt->lifetime);
    return PTO_OK;
}

PTOStatus pto_runtime_run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg)
{
    if (rt && !fn) return PTO_ERR_ARGUMENT;
    const PTOStatus status = ptoi_take_for_run(rt, "pto_runtime_run");
    return status == PTO_OK ? run(rt, fn, arg, false) : status;
}

PTOStatus pto_run_entry(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg)
{
    if (rt && !fn) return PTO_ERR_ARGUMENT;
    if (!ptoi_may_call(rt)) {
        const PTOStatus status = ptoi_take_for_run(rt, "pto_run_entry");
        return status == PTO_OK ? run(rt, fn, arg, true) : status;
    }
    jmp_buf catcher, *const outer = rt->catcher;
    const bool unwinds = rt->unwinds;
    const int32_t frames = rt->frame_count, scopes = rt->core.orch.scopes.depth;
    const PTOSite *const site = rt->now.site;
    rt->catcher = &catcher;
    rt->unwinds = true;
    if (setjmp(catcher) == 0) fn(rt, arg);
    rt->catcher = outer;
    rt->unwinds = unwinds;
    rt->frame_count = frames;
    rt->now.site = site;
    ptoi_orch_unwind(&rt->core.orch, scopes);
    return ptoi_final_status(rt->core.outcome);
}

PTOStatus pto_runtime_status(PTORuntime *rt)
{
    const PTOStatus refused = ptoi_refuse_unless_alive(rt, "pto_runtime_status");
    return refused != PTO_OK ? refused : ptoi_status(rt->core.outcome);
}

void pto_task_complete_with(PTORuntime *rt, int64_t task_id, int32_t result)
{
    if (ptoi_is_null(rt, "pto_task_complete")) return;
    const uint64_t id = (uint64_t)task_id + (uint64_t)rt->core.config.first_task_id;
    if (!rt->core.engine->completed || !rt->core.engine->completed(&rt->core, id, result))
        ptoi_misuse(rt, NULL, "pto_task_complete of task %lld, which was not started outside, or has ended",
                    (long long)task_id);
}

void pto_task_complete(PTORuntime *rt, int64_t task_id) { pto_task_complete_with(rt, task_id, 0); }

void pto_cancel(PTORuntime *rt)
{
    if (ptoi_refuse_unless_alive(rt, "pto_cancel") != PTO_OK) return;
    ptoi_fail(rt->core.outcome, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
    rt->core.engine->poke(&rt->core);
}

/* ---- the calls of an orchestration ------------------------------------------------------------------------------- */

void pto_buffer(PTORuntime *rt, const void *base, int64_t bytes)
{
    int64_t low = (int64_t)(intptr_t)base, high;
    if (!rt) ptoi_refuse_call(rt, "pto_buffer");
    if (!rt || !base || bytes <= 0 || __builtin_add_overflow(low, bytes, &high)) return;
    ptoi_map_tell_outside(rt->core.orch.map, low, high);
    if (rt->core.backend->mirror) is_mirror_fine(rt, rt->core.backend->mirror->buffer(rt->core.backend, base, bytes));
}

void pto_input(PTORuntime *rt, const void *base, int64_t bytes)
{
    const int64_t low = (int64_t)(intptr_t)base;
    pto_buffer(rt, base, bytes);
    if (rt && base && bytes > 0 && ptoi_is_running(rt) && rt->is_entry)
        ptoi_orch_read_only(&rt->core.orch, low, low + bytes);
}

PTOScope pto_scope_begin(PTORuntime *rt)
{
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_scope_begin");
        return PTO_SCOPE_CURRENT;
    }
    const PTOScope scope = ptoi_orch_scope_begin(&rt->core.orch);
    if (scope == PTO_SCOPE_CURRENT) ptoi_end_of_call(rt, ptoi_status(rt->core.outcome));
    return scope;
}

void pto_scope_end(PTORuntime *rt)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_scope_end");
    else
        ptoi_end_of_call(rt, ptoi_orch_scope_end(&rt->core.orch));
}

/* false: there is no run to ask, which is an answer, or the call is misuse. */
static bool may_ask(PTORuntime *rt, const char *call)
{
    if (ptoi_may_call(rt)) return true;
    if (!rt || ptoi_lifetime_look(&rt->lifetime) != LIFETIME_FREE) ptoi_refuse_call(rt, call);
    return false;
}

PTOScope pto_scope_current(PTORuntime *rt)
{
    return may_ask(rt, "pto_scope_current") ? ptoi_scope_token(&rt->core.orch.scopes, rt->core.orch.scopes.depth - 1)
                                            : PTO_SCOPE_CURRENT;
}

int32_t pto_scope_depth(PTORuntime *rt) { return may_ask(rt, "pto_scope_depth") ? rt->core.orch.scopes.depth - 1 : 0; }

void *pto_task_get_output(PTORuntime *rt, int64_t task, int32_t index)
{
    if (!may_ask(rt, "pto_task_get_output") || task < 0 || index < 0) return NULL;
    const uint32_t buffer = ptoi_buffer_of_task(&rt->core.orch.scopes, (uint64_t)task, index);
    return buffer ? rt->core.orch.heap_base + ptoi_record(&rt->core.orch.scopes, buffer)->at : NULL;
}

int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return pto_submit_long_(rt, kernel, params, count, 0);
}

void *pto_room_(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name)
{
    return ptoi_orch_room(&rt->core.orch, scope, (uint64_t)bytes, name);
}

int32_t pto_call_(const PTOKernel *kernel, const PTOArg *args)
{
    return ptoi_guarded_call((ptoi_function)kernel->fn, (void *)(uintptr_t)args, NULL);
}

int64_t pto_measure_(PTORuntime *rt) { return ptoi_may_call(rt) ? ptoi_clock_ns() : -1; }

void pto_measured_(PTORuntime *rt, const PTOKernel *kernel, int64_t since)
{
    ptoi_orch_measured(&rt->core.orch, kernel, since);
}

int64_t pto_submit_long_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_submit_task");
    if (result != 0) return ptoi_orch_failed(&rt->core.orch, kernel, params, count, result);
    if (kernel && (unsigned)kernel->worker < PTO_WORKER_TYPES && rt->core.config.workers[kernel->worker] == 0)
        ptoi_fail(rt->core.outcome, PTO_ERR_CONFIG, rt->now.site,
                  "kernel '%s' runs on %s workers, but there are none: %s", kernel->name,
                  pto_worker_type_name(kernel->worker),
                  ptoi_limit_worker(kernel->worker, rt->core.config.names_options, (char[LIMIT_TEXT]){0}));
    if (kernel && !kernel->fn && kernel->opcode != PTO_OP_NONE) ptoi_look_at_operation(rt, kernel);
    const struct mirror *mirror = params && count > 0 ? rt->core.backend->mirror : NULL;
    if (mirror && ptoi_status(rt->core.outcome) == PTO_OK)
        is_mirror_fine(rt, mirror->submitting(rt->core.backend, params, count));
    int64_t id = ptoi_orch_submit(&rt->core.orch, kernel, params, count);
    if (mirror && id >= 0) mirror->submitted(rt->core.backend, params, count);
    if (id < 0) ptoi_end_of_call(rt, (PTOStatus)id);
    return id;
}

void *pto_alloc(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_alloc");
    else
        ptoi_end_of_call(rt, ptoi_orch_alloc(&rt->core.orch, scope, bytes, &buffer));
    return buffer;
}

void *pto_where(PTORuntime *rt, const void *buffer)
{
    return rt ? ptoi_orch_where(&rt->core.orch, (void *)(uintptr_t)buffer) : NULL;
}

void *pto_alloc_zeroed(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *base = pto_alloc(rt, scope, bytes);
    if (!base) return NULL;
    if (rt->core.backend->mirror) is_mirror_fine(rt, rt->core.backend->mirror->own(rt->core.backend, base, bytes));
    memset(pto_where(rt, base), 0, (size_t)bytes);
    return base;
}

void *pto_frame(PTORuntime *rt, int64_t bytes, int64_t need)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_frame");
    else
        ptoi_end_of_call(rt, ptoi_orch_frame(&rt->core.orch, bytes, need, &buffer));
    return buffer;
}

/* Where the slot lies in the heap; false: this run is not checked, or there is no frame. */
static bool find_slot(PTORuntime *rt, const void *slot, uint64_t *offset)
{
    if (!ptoi_may_call(rt) || !slot || !rt->slots.tensor) return false;
    *offset =
        (uint64_t)((uintptr_t)ptoi_orch_where(&rt->core.orch, (void *)(uintptr_t)slot) - (uintptr_t)rt->core.heap);
    return *offset < rt->core.heap_bytes;
}

void pto_slot_write(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor)
{
    uint64_t offset;
    if (bytes > 0 && find_slot(rt, slot, &offset)) ptoi_slots_write(&rt->slots, offset, (uint64_t)bytes, tensor);
}

void pto_slot_read(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor)
{
    uint64_t offset;
    const char *other = bytes > 0 && find_slot(rt, slot, &offset)
                            ? ptoi_slots_other(&rt->slots, offset, (uint64_t)bytes, tensor)
                            : NULL;
    if (!other) return;
    ptoi_fail(rt->core.outcome, PTO_ERR_HANDLE, rt->now.site,
              "'%s' is used, but '%s' was written into its place in the frame", tensor, other);
    ptoi_end_of_call(rt, PTO_ERR_HANDLE);
}

void pto_release(PTORuntime *rt, const void *buffer)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_release");
    else
        ptoi_end_of_call(rt, ptoi_orch_release(&rt->core.orch, buffer));
}

static PTOStatus await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    const PTOStatus status = ptoi_orch_await(&rt->core.orch, buffer, offset, bytes, for_writing);
    const struct mirror *mirror = rt->core.backend->mirror;
    if (status != PTO_OK || !mirror || bytes == 0) return status;
    const void *address = (const char *)buffer + offset;
    const int64_t since = ptoi_flow_now(&rt->core.orch.flow);
    if (is_mirror_fine(rt, mirror->fetch(rt->core.backend, address, bytes)) && for_writing)
        is_mirror_fine(rt, mirror->own(rt->core.backend, address, bytes));
    rt->core.orch.flow.await_ns +=
        ptoi_flow_now(&rt->core.orch.flow) - since; /* the value is not there before it was copied */
    return ptoi_status(rt->core.outcome);
}

PTOStatus pto_await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await");
    if (rt->core.config.engine == PTO_ENGINE_GRAPH || rt->core.config.skip_kernels) {
        ptoi_fail(rt->core.outcome, PTO_ERR_UNSUPPORTED, rt->now.site,
                  "await, but no kernel runs here, so there is no value to wait for");
        return ptoi_end_of_call(rt, PTO_ERR_UNSUPPORTED);
    }
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, false));
}

PTOStatus pto_await_users(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await_users");
    /* nothing runs that could see the bytes */
    if (rt->core.config.engine == PTO_ENGINE_GRAPH || rt->core.config.skip_kernels) return PTO_OK;
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, true));
}
