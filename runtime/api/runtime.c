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
#include "engine/worker.h"
#include "shared/system.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *pto_last_error(PTORuntime *rt)
{
    const enum life_answer answer = rt ? ptoi_life_look(&rt->life) : LIFE_UNKNOWN;
    return answer == LIFE_FREE || answer == LIFE_IN_USE ? rt->outcome->message : ptoi_thread_message;
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

/* What a checked run found out. */
static void tell_fault(PTORuntime *rt, const PTOKernel *kernel, const PTOArg *args, const PTOSite *site,
                       uint64_t number, int result, const char *params)
{
    const bool is_outside = result >= PTOI_WROTE_OUTSIDE;
    const int i = result - (is_outside ? PTOI_WROTE_OUTSIDE : PTOI_INPUT_CHANGED);
    char element[200] = "";
    const bool is_placed = load_relaxed(&rt->window->fault_task) == number + rt->window->first_id + 1;
    if (is_placed) ptoi_checked_element(&args[i], rt->window->fault_at, element, sizeof element);
    ptoi_fail(rt->outcome, PTO_ERR_KERNEL, site,
              is_outside
                  ? "kernel '%s' writes outside of its argument %d%s%s (task %lld)\n  of (%s)"
                  : "kernel '%s' only reads its argument %d, which changed while it ran%s%s (task %lld)\n  of (%s)",
              kernel->name, i + 1, is_placed ? ": first at element " : "", element, (long long)number, params);
}

static const char *request_problem(const PTOKernel *kernel, int result)
{
    if (kernel->fn || kernel->opcode >= PTO_OP_OWN) return "";
    return result == PTO_REQUEST_INDEX ? ", an index is out of range" : ", the buffers are not those of the operation";
}

/* The call of the kernel did not return: guard.h. */
static void tell_unwound(PTORuntime *rt, const PTOKernel *kernel, const PTOSite *site, uint64_t number, int how)
{
    ptoi_fail(rt->outcome, PTO_ERR_MISUSE, site,
              how == PTOI_THREW ? "kernel '%s' threw an exception (task %lld): a kernel has to catch what it throws"
                                : "kernel '%s' ended its thread (task %lld): a kernel has to return",
              kernel->name, (long long)number);
}

static void tell_failure(void *context, const PTOKernel *kernel, const PTOArg *args, int count, const PTOSite *site,
                         uint64_t number, int result)
{
    char params[1500];
    size_t n = 0;
    params[0] = '\0';
    for (int i = 0; i < count && n + 200 < sizeof params; i++) {
        if (args[i].kind == PTO_PARAM_SCALAR) {
            n += (size_t)snprintf(params + n, sizeof params - n, "%s%lld", i ? ", " : "", (long long)args[i].value.i64);
        } else {
            n += (size_t)snprintf(params + n, sizeof params - n, "%s%s[", i ? ", " : "",
                                  pto_type_name((PTOType)args[i].type));
            for (int d = 0; d < args[i].rank; d++)
                n += (size_t)snprintf(params + n, sizeof params - n, "%s%lld", d ? ", " : "",
                                      (long long)args[i].shape[d]);
            n += (size_t)snprintf(params + n, sizeof params - n, "]");
        }
    }
    if (result == PTOI_MACHINE_FAILED) {
        const struct backend *b = ((PTORuntime *)context)->backend;
        ptoi_fail(((PTORuntime *)context)->outcome, PTO_ERR_DEVICE, site, "%s\n  in kernel '%s' (task %lld) of (%s)",
                  b->mirror->failure(b), kernel->name, (long long)number, params);
        return;
    }
    if (result == PTOI_THREW || result == PTOI_ENDED_THREAD) {
        tell_unwound(context, kernel, site, number, result);
        return;
    }
    if (result < PTOI_WROTE_OUTSIDE + PTO_MAX_PARAMS) {
        tell_fault(context, kernel, args, site, number, result, params);
        return;
    }
    ptoi_fail(((PTORuntime *)context)->outcome, PTO_ERR_KERNEL, site,
              "kernel '%s' failed: it returned %d%s (task %lld)\n  of (%s)", kernel->name, result,
              request_problem(kernel, result), (long long)number, params);
}

static void report_failure(void *context, uint64_t id, int32_t result)
{
    PTORuntime *rt = context;
    PTOArg args[PTO_MAX_PARAMS];
    const int count = ptoi_task_args(rt->window, NULL, id, args);
    tell_failure(rt, ptoi_task_kernel(rt->window, id), args, count, ptoi_task_site(rt->window, id),
                 id - rt->window->first_id, result);
}

/* ---- tasks that run at their submits ----------------------------------------------------------------------------- */

static int run_now(void *context, const PTOKernel *kernel, const PTOArg *args, int count, const PTOSite *site,
                   uint64_t number)
{
    return ptoi_worker_call(((PTORuntime *)context)->backend, kernel, args, count, site, number);
}

/* What watches the graph wants it to be found. */
static bool elides(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->config;
    bool external = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) external |= c->external[t];
    return rt->engine->elides && !rt->backend->mirror && c->engine != PTO_ENGINE_GRAPH && !c->count_dependences &&
           !c->always_defer && !c->checked && !external && !c->replay && !c->dedicated_scheduler &&
           (c->watchdog_seconds == 0);
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

/* What the task needs of the rings. */
static void record_needs(PTORuntime *rt, struct recorded_task *t, const struct task_slot *slot)
{
    t->priority = slot->priority;
    t->exclusive = slot->exclusive;
    t->accesses = (uint32_t)rt->orch.accesses;
    t->use_count = 0;
    const struct arg_head *arg = window_args(rt->window, slot->arg_begin);
    for (int i = 0; slot->flags & TASK_HOLDS && i < slot->param_count; i++)
        if (arg[i].buffer) ptoi_record_use(rt->recorder, t, ptoi_record(&rt->orch.scopes, arg[i].buffer)->recorded);
}

static void record_task(void *context, uint64_t id)
{
    PTORuntime *rt = context;
    struct recorded_task *t = ptoi_record_task(rt->recorder, id);
    if (!t) {
        rt->recorder->lost++;
        return;
    }
    ptoi_record_fetch(rt->recorder, id);
    t->kernel = ptoi_task_kernel(rt->window, id);
    t->site = ptoi_task_site(rt->window, id);
    t->name = ptoi_image_pointer(window_task(rt->window, id)->name);
    record_needs(rt, t, window_task(rt->window, id));
    t->submitted = ptoi_record_now(rt->recorder);
    rt->recorder->tasks++;
    struct recorded_sample *s = ptoi_record_next_sample(rt->recorder);
    if (!s) return;
    s->at = t->submitted;
    s->tasks = (uint32_t)(rt->orch.head - rt->orch.tail);
    s->map = (uint32_t)ptoi_map_used(rt->orch.map);
    s->deps = (uint32_t)ptoi_orch_deps_used(&rt->orch);
    s->heap = rt->orch.heap.used_bytes;
}

static void record_edge(void *context, uint64_t from, uint64_t to, uint8_t reasons)
{
    ptoi_record_edge(((PTORuntime *)context)->recorder, from, to, reasons);
}

static bool start_recording(PTORuntime *rt)
{
    rt->recorder = aligned_alloc(_Alignof(struct recorder), sizeof *rt->recorder);
    if (rt->recorder) *rt->recorder = (struct recorder){0};
    if (!rt->recorder || !ptoi_record_init(rt->recorder, rt->config.record_tasks, rt->engine->is_split)) return false;
    rt->recorder->unit = rt->engine->unit;
    if (rt->engine->has_cycles || !ptoi_ticks_are_steady())
        rt->recorder->now = rt->engine->now, rt->recorder->now_context = rt;
    rt->orch.flow.recorder = rt->recorder;
    rt->orch.observer[rt->orch.observers++] =
        (struct observer){.context = rt, .edge = record_edge, .task = record_task};
    return true;
}

PTOStatus ptoi_settle_record(PTORuntime *rt)
{
    if (!rt->recorder) return PTO_ERR_STATE;
    ptoi_record_settle(rt->recorder);
    return ptoi_orch_find_edges(&rt->orch) ? PTO_OK : PTO_ERR_NOMEM;
}

static bool is_watched(const PTORuntime *rt)
{
    const PTOConfig *c = &rt->config;
    return c->watchdog_seconds > 0 && !rt->engine->is_split && c->engine != PTO_ENGINE_GRAPH && !c->skip_kernels;
}

static bool start_watching(PTORuntime *rt)
{
    int count = 0;
    const struct running_line *lines = rt->engine->lines ? rt->engine->lines(rt, &count) : NULL;
    rt->watchdog = ptoi_watchdog_open(rt, lines, count);
    return rt->watchdog != NULL;
}

static PTOStatus build(PTORuntime *rt)
{
    const PTOConfig *c = &rt->config;
    const struct window_sizes sizes = {.tasks = (uint64_t)c->task_window,
                                       .deps = (uint64_t)c->deplist_entries,
                                       .heap_bytes = (uint64_t)c->heap_bytes * (uint64_t)c->heap_rings,
                                       .first_id = (uint64_t)c->first_task_id,
                                       .first_byte = (uint64_t)c->first_byte};
    rt->outcome = ptoi_memory_map(sizeof *rt->outcome, rt->engine->is_split);
    if (!rt->outcome) return refuse(PTO_ERR_NOMEM, "no memory for a runtime");
    ptoi_outcome_reset(rt->outcome);
    rt->window_bytes = ptoi_window_bytes(&sizes);
    if (rt->window_bytes == 0) return refuse(PTO_ERR_CONFIG, "the sizes of the rings overflow");
    rt->window = ptoi_pool_take(rt->window_bytes, rt->engine->is_split, true);
    if (!rt->window)
        return refuse(PTO_ERR_NOMEM, "no memory for a window of %llu bytes", (unsigned long long)rt->window_bytes);
    ptoi_window_init(rt->window, &sizes);
    rt->heap_bytes = rt->window->heap_bytes;
    rt->heap = rt->backend->alloc(rt->backend, rt->heap_bytes, rt->engine->is_split);
    if (!rt->heap)
        return refuse(PTO_ERR_NOMEM, "no memory for a heap of %llu bytes%s%s", (unsigned long long)rt->heap_bytes,
                      rt->backend->mirror ? ": " : "",
                      rt->backend->mirror ? rt->backend->mirror->failure(rt->backend) : "");
    if (c->prealloc && !rt->backend->mirror && !ptoi_pool_touch(rt->heap, rt->heap_bytes))
        return refuse(PTO_ERR_NOMEM, "the system cannot provide %llu bytes for the heap",
                      (unsigned long long)rt->heap_bytes);
    rt->frames = calloc((size_t)c->recursion_limit, sizeof *rt->frames);
    rt->crash_stack = ptoi_memory_map(PTO_CRASH_STACK_BYTES, false);
    const struct orchestrator_config oc = {.tensormap_entries = c->tensormap_entries,
                                           .max_scopes = c->recursion_limit * 16 + 64,
                                           .ring_bytes = (uint64_t)c->heap_bytes,
                                           .heap_base = rt->heap,
                                           .scope_policy = c->scope_policy,
                                           .count_dependences = c->count_dependences,
                                           .record_tasks = c->record_tasks,
                                           .checked = c->checked,
                                           .names_options = c->names_options};
    rt->window->checked = c->checked;
    if (c->checked && (!ptoi_slots_init(&rt->slots, rt->heap_bytes) ||
                       !ptoi_pinned_init(&rt->pinned, ptoi_heap_buffers_max(rt->window))))
        return refuse(PTO_ERR_NOMEM, "no memory for a checked run");
    rt->sched_bytes = ptoi_sched_bytes(rt->window);
    rt->sched_memory = ptoi_memory_map(rt->sched_bytes, false);
    if (!rt->frames || !rt->crash_stack || !rt->sched_memory ||
        !ptoi_orch_init(&rt->orch, rt->window, rt->outcome, &oc))
        return refuse(PTO_ERR_NOMEM, c->count_dependences ? "no memory for the rings and the dependences of the run"
                                                          : "no memory for the rings");
    ptoi_sched_init(&rt->sched, rt->window, rt->outcome, rt->sched_memory);
    rt->sched.on_failure = report_failure;
    rt->sched.failure_context = rt;
    if (c->replay) {
        int32_t workers = 0;
        for (int t = 0; t < PTO_WORKER_TYPES; t++) workers += c->workers[t];
        rt->replay = calloc(1, sizeof *rt->replay);
        if (!rt->replay) return refuse(PTO_ERR_NOMEM, "no memory for a schedule");
        PTOStatus loaded =
            ptoi_replay_load(rt->replay, c->replay, workers, ptoi_thread_message, sizeof ptoi_thread_message);
        if (loaded != PTO_OK) return loaded;
        rt->orch.replay = rt->replay;
    }
    rt->orch.site = &rt->now.site;
    ptoi_short_init(&rt->orch.now, &rt->now);
    rt->now.heap = (uintptr_t)rt->heap;
    rt->now.heap_bytes = rt->heap_bytes;
    rt->now.starts = rt->orch.scopes.starts;
    rt->now.life = rt->orch.scopes.life;
    rt->orch.pinned = c->checked ? &rt->pinned : NULL;
    rt->orch.slots = c->checked ? &rt->slots : NULL;
    rt->elision = (struct elision){.context = rt, .run = run_now, .failed = tell_failure, .refs = rt->sched.refs};
    rt->elision.is_fine = rt->engine->is_fine;
    rt->elision.enter = rt->engine->enter;
    rt->elision.leave = rt->engine->leave;
    rt->elision.measured = rt->engine->measured;
    if (elides(rt)) rt->orch.elision = &rt->elision;
    rt->orch.elides = rt->orch.elision && !rt->elision.is_fine;
    rt->orch.published = rt->engine->published;
    rt->orch.published_context = rt;
    rt->orch.flow.waiter = (struct waiter){.context = rt, .wait = rt->engine->wait};
    if (rt->engine->is_split) ptoi_exchange_open(rt);
    if (rt->engine->has_cycles) rt->orch.flow.now = rt->engine->now;
    if (c->record_tasks > 0 && !start_recording(rt))
        return refuse(PTO_ERR_NOMEM, "no memory to record %lld tasks", (long long)c->record_tasks);
    PTOStatus status = rt->engine->open(rt);
    if (status != PTO_OK) return refuse(status, "the workers could not be started");
    return !is_watched(rt) || start_watching(rt) ? PTO_OK : refuse(PTO_ERR_NOMEM, "the watchdog could not be started");
}

static void destroy(PTORuntime *rt, char *message, size_t size)
{
    ptoi_watchdog_close(rt->watchdog);
    if (rt->engine_state) rt->engine->close(rt);
    if (rt->orch.window) ptoi_orch_free(&rt->orch);
    ptoi_memory_unmap(rt->sched_memory, rt->sched_bytes);
    ptoi_exchange_close(rt);
    if (rt->heap) rt->backend->free(rt->backend, rt->heap, rt->heap_bytes, rt->engine->is_split);
    if (rt->backend->close) rt->backend->close(rt->backend, message, size);
    ptoi_slots_free(&rt->slots);
    ptoi_pinned_free(&rt->pinned);
    ptoi_pool_give(rt->window, rt->window_bytes, rt->engine->is_split);
    ptoi_memory_unmap(rt->crash_stack, PTO_CRASH_STACK_BYTES);
    ptoi_memory_unmap(rt->outcome, sizeof *rt->outcome);
    if (rt->recorder) ptoi_record_free(rt->recorder);
    free(rt->recorder);
    if (rt->replay) ptoi_replay_free(rt->replay);
    free(rt->replay);
    free(rt->frames);
    free(ptoi_life_retire(rt));
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
    rt->config = c;
    rt->engine = engine;
    rt->backend = backend;
    ptoi_life_begin(&rt->life); /* before the engine forks */
    *status = build(rt);
    if (*status == PTO_OK) return rt;
    ptoi_life_end(&rt->life);
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
    ptoi_fail(rt->outcome, status, rt->now.site, "%s", rt->backend->mirror->failure(rt->backend));
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
        tell_unwound(rt, kernel, rt->now.site, rt->now.number - 1, how);
    else
        ptoi_fail(rt->outcome, PTO_ERR_MISUSE, rt->now.site, "%s",
                  how == PTOI_THREW ? "an exception left the orchestration" : "the orchestration ended its thread");
}

/* The runtime is taken. */
static PTOStatus run(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg, bool unwinds)
{
    struct orchestration orchestration = {fn, arg};
    jmp_buf catcher;
    const int64_t since = ptoi_clock_ns();
    ptoi_outcome_reset(rt->outcome);
    store_relaxed(&rt->window->fault_task, 0); /* relaxed: [TASK] publishes it */
    rt->pinned.count = 0;
    rt->unwinds = rt->is_entry = unwinds;
    rt->orch.may_move = unwinds && !rt->backend->mirror;
    rt->catcher = &catcher;
    rt->frame_count = 0;
    rt->stack = ptoi_stack_bounds();
    rt->now.site = NULL;
    memset(rt->sched.worker_tasks, 0, sizeof rt->sched.worker_tasks); /* no task is in flight: nobody holds the role */
    rt->engine->begin(rt);
    if (rt->orch.is_lost) {
        ptoi_life_give(&rt->life);
        return ptoi_status(rt->outcome);
    }
    const struct mirror *mirror = rt->backend->mirror;
    if (mirror) is_mirror_fine(rt, mirror->begin(rt->backend));
    ptoi_crash_watch();
    ptoi_crash_use_stack(rt->crash_stack);
    const PTOShortWay *const outer = ptoi_crash_orchestrates(&rt->now);
    if (rt->replay) rt->replay->next = 0, rt->replay->first_id = rt->orch.head;
    if (rt->recorder) ptoi_record_begin(rt->recorder, rt->orch.head);
    ptoi_orch_begin(&rt->orch);
    if (rt->watchdog) ptoi_watchdog_begin(rt->watchdog);
    const void *const outer_run = ptoi_orchestrate(rt);
    if (setjmp(catcher) == 0) {
        const int how = ptoi_guarded_call((ptoi_function)orchestrate, rt, &orchestration);
        if (how != 0) fail_unwound(rt, how);
        if (rt->orch.scopes.depth > 1 && ptoi_status(rt->outcome) == PTO_OK)
            ptoi_fail(rt->outcome, PTO_ERR_STATE, NULL, "the orchestration ended with %d scopes open",
                      rt->orch.scopes.depth - 1);
    }
    rt->catcher = NULL;
    rt->now.site = NULL;
    rt->now.running = NULL;
    ptoi_orchestrate(outer_run);
    ptoi_orch_end(&rt->orch);
    if (rt->watchdog) ptoi_watchdog_end(rt->watchdog);
    if (mirror) is_mirror_fine(rt, mirror->end(rt->backend, ptoi_final_status(rt->outcome) == PTO_OK));
    if (rt->engine->settle) rt->engine->settle(rt, false);
    if (rt->recorder) ptoi_record_end(rt->recorder);
    ptoi_crash_orchestrates(outer);
    ptoi_crash_use_stack(NULL);
    ptoi_crash_unwatch();
    rt->run_stats.ns = ptoi_clock_ns() - since;
    const PTOStatus status = ptoi_final_status(rt->outcome);
    ptoi_life_give(&rt->life);
    return status;
}

void pto_write_pinned(PTORuntime *rt, FILE *out)
{
    if (!ptoi_is_null(rt, "pto_write_pinned")) ptoi_pinned_write(&rt->pinned, out);
}

PTOStatus pto_runtime_trim(PTORuntime *rt)
{
    const PTOStatus status = rt ? ptoi_take_for_trim(rt) : PTO_OK;
    if (status != PTO_OK) return status;
    ptoi_pool_trim();
    if (!rt) return PTO_OK;
    ptoi_exchange_trim(rt);
    if (!rt->backend->mirror) madvise(rt->heap, rt->heap_bytes, rt->engine->is_split ? MADV_REMOVE : MADV_DONTNEED);
    ptoi_life_give(&rt->life);
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
    const int32_t frames = rt->frame_count, scopes = rt->orch.scopes.depth;
    const PTOSite *const site = rt->now.site;
    rt->catcher = &catcher;
    rt->unwinds = true;
    if (setjmp(catcher) == 0) fn(rt, arg);
    rt->catcher = outer;
    rt->unwinds = unwinds;
    rt->frame_count = frames;
    rt->now.site = site;
    ptoi_orch_unwind(&rt->orch, scopes);
    return ptoi_final_status(rt->outcome);
}

PTOStatus pto_runtime_status(PTORuntime *rt)
{
    const PTOStatus refused = ptoi_refuse_unless_alive(rt, "pto_runtime_status");
    return refused != PTO_OK ? refused : ptoi_status(rt->outcome);
}

void pto_task_complete_with(PTORuntime *rt, int64_t task_id, int32_t result)
{
    if (ptoi_is_null(rt, "pto_task_complete")) return;
    const uint64_t id = (uint64_t)task_id + (uint64_t)rt->config.first_task_id;
    if (!rt->engine->completed || !rt->engine->completed(rt, id, result))
        ptoi_misuse(rt, NULL, "pto_task_complete of task %lld, which was not started outside, or has ended",
                    (long long)task_id);
}

void pto_task_complete(PTORuntime *rt, int64_t task_id) { pto_task_complete_with(rt, task_id, 0); }

void pto_cancel(PTORuntime *rt)
{
    if (ptoi_refuse_unless_alive(rt, "pto_cancel") != PTO_OK) return;
    ptoi_fail(rt->outcome, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
    rt->engine->poke(rt);
}

/* ---- the calls of an orchestration ------------------------------------------------------------------------------- */

void pto_buffer(PTORuntime *rt, const void *base, int64_t bytes)
{
    int64_t low = (int64_t)(intptr_t)base, high;
    if (!rt) ptoi_refuse_call(rt, "pto_buffer");
    if (!rt || !base || bytes <= 0 || __builtin_add_overflow(low, bytes, &high)) return;
    ptoi_map_tell_outside(rt->orch.map, low, high);
    if (rt->backend->mirror) is_mirror_fine(rt, rt->backend->mirror->buffer(rt->backend, base, bytes));
}

void pto_input(PTORuntime *rt, const void *base, int64_t bytes)
{
    const int64_t low = (int64_t)(intptr_t)base;
    pto_buffer(rt, base, bytes);
    if (rt && base && bytes > 0 && ptoi_is_running(rt) && rt->is_entry)
        ptoi_orch_only_reads(&rt->orch, low, low + bytes);
}

PTOScope pto_scope_begin(PTORuntime *rt)
{
    if (!ptoi_may_call(rt)) {
        ptoi_refuse_call(rt, "pto_scope_begin");
        return PTO_SCOPE_CURRENT;
    }
    const PTOScope scope = ptoi_orch_scope_begin(&rt->orch);
    if (scope == PTO_SCOPE_CURRENT) ptoi_end_of_call(rt, ptoi_status(rt->outcome));
    return scope;
}

void pto_scope_end(PTORuntime *rt)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_scope_end");
    else
        ptoi_end_of_call(rt, ptoi_orch_scope_end(&rt->orch));
}

/* false: there is no run to ask, which is an answer, or the call is misuse. */
static bool may_ask(PTORuntime *rt, const char *call)
{
    if (ptoi_may_call(rt)) return true;
    if (!rt || ptoi_life_look(&rt->life) != LIFE_FREE) ptoi_refuse_call(rt, call);
    return false;
}

PTOScope pto_scope_current(PTORuntime *rt)
{
    return may_ask(rt, "pto_scope_current") ? ptoi_scope_token(&rt->orch.scopes, rt->orch.scopes.depth - 1)
                                            : PTO_SCOPE_CURRENT;
}

int32_t pto_scope_depth(PTORuntime *rt) { return may_ask(rt, "pto_scope_depth") ? rt->orch.scopes.depth - 1 : 0; }

void *pto_task_get_output(PTORuntime *rt, int64_t task, int32_t index)
{
    if (!may_ask(rt, "pto_task_get_output") || task < 0 || index < 0) return NULL;
    const uint32_t buffer = ptoi_buffer_of_task(&rt->orch.scopes, (uint64_t)task, index);
    return buffer ? rt->orch.heap_base + ptoi_record(&rt->orch.scopes, buffer)->at : NULL;
}

int64_t(pto_submit_task)(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return pto_submit_long_(rt, kernel, params, count, 0);
}

void *pto_room_(PTORuntime *rt, PTOScope scope, int64_t bytes, const char *name)
{
    return ptoi_orch_room(&rt->orch, scope, (uint64_t)bytes, name);
}

int32_t pto_call_(const PTOKernel *kernel, const PTOArg *args)
{
    return ptoi_guarded_call((ptoi_function)kernel->fn, (void *)(uintptr_t)args, NULL);
}

int64_t pto_measure_(PTORuntime *rt) { return ptoi_may_call(rt) ? ptoi_clock_ns() : -1; }

void pto_measured_(PTORuntime *rt, const PTOKernel *kernel, int64_t since)
{
    ptoi_orch_measured(&rt->orch, kernel, since);
}

int64_t pto_submit_long_(PTORuntime *rt, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_submit_task");
    if (result != 0) return ptoi_orch_failed(&rt->orch, kernel, params, count, result);
    if (kernel && (unsigned)kernel->worker < PTO_WORKER_TYPES && rt->config.workers[kernel->worker] == 0)
        ptoi_fail(rt->outcome, PTO_ERR_CONFIG, rt->now.site, "kernel '%s' runs on %s workers, but there are none: %s",
                  kernel->name, pto_worker_type_name(kernel->worker),
                  ptoi_limit_worker(kernel->worker, rt->config.names_options, (char[LIMIT_TEXT]){0}));
    if (kernel && !kernel->fn && kernel->opcode != PTO_OP_NONE) ptoi_look_at_operation(rt, kernel);
    const struct mirror *mirror = params && count > 0 ? rt->backend->mirror : NULL;
    if (mirror && ptoi_status(rt->outcome) == PTO_OK)
        is_mirror_fine(rt, mirror->submitting(rt->backend, params, count));
    int64_t id = ptoi_orch_submit(&rt->orch, kernel, params, count);
    if (mirror && id >= 0) mirror->submitted(rt->backend, params, count);
    if (id < 0) ptoi_end_of_call(rt, (PTOStatus)id);
    return id;
}

void *pto_alloc(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_alloc");
    else
        ptoi_end_of_call(rt, ptoi_orch_alloc(&rt->orch, scope, bytes, &buffer));
    return buffer;
}

void *pto_where(PTORuntime *rt, const void *buffer)
{
    return rt ? ptoi_orch_where(&rt->orch, (void *)(uintptr_t)buffer) : NULL;
}

void *pto_alloc_zeroed(PTORuntime *rt, PTOScope scope, int64_t bytes)
{
    void *base = pto_alloc(rt, scope, bytes);
    if (!base) return NULL;
    if (rt->backend->mirror) is_mirror_fine(rt, rt->backend->mirror->own(rt->backend, base, bytes));
    memset(pto_where(rt, base), 0, (size_t)bytes);
    return base;
}

void *pto_frame(PTORuntime *rt, int64_t bytes, int64_t need)
{
    void *buffer = NULL;
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_frame");
    else
        ptoi_end_of_call(rt, ptoi_orch_frame(&rt->orch, bytes, need, &buffer));
    return buffer;
}

/* Where the slot lies in the heap; false: this run is not checked, or there is no frame. */
static bool find_slot(PTORuntime *rt, const void *slot, uint64_t *offset)
{
    if (!ptoi_may_call(rt) || !slot || !rt->slots.tensor) return false;
    *offset = (uint64_t)((uintptr_t)ptoi_orch_where(&rt->orch, (void *)(uintptr_t)slot) - (uintptr_t)rt->heap);
    return *offset < rt->heap_bytes;
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
    ptoi_fail(rt->outcome, PTO_ERR_HANDLE, rt->now.site,
              "'%s' is used, but '%s' was written into its place in the frame", tensor, other);
    ptoi_end_of_call(rt, PTO_ERR_HANDLE);
}

void pto_release(PTORuntime *rt, const void *buffer)
{
    if (!ptoi_may_call(rt))
        ptoi_refuse_call(rt, "pto_release");
    else
        ptoi_end_of_call(rt, ptoi_orch_release(&rt->orch, buffer));
}

static PTOStatus await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    const PTOStatus status = ptoi_orch_await(&rt->orch, buffer, offset, bytes, for_writing);
    const struct mirror *mirror = rt->backend->mirror;
    if (status != PTO_OK || !mirror || bytes == 0) return status;
    const void *address = (const char *)buffer + offset;
    const int64_t since = ptoi_flow_now(&rt->orch.flow);
    if (is_mirror_fine(rt, mirror->fetch(rt->backend, address, bytes)) && for_writing)
        is_mirror_fine(rt, mirror->own(rt->backend, address, bytes));
    rt->orch.flow.await_ns += ptoi_flow_now(&rt->orch.flow) - since; /* the value is not there before it was copied */
    return ptoi_status(rt->outcome);
}

PTOStatus pto_await(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await");
    if (rt->config.engine == PTO_ENGINE_GRAPH || rt->config.skip_kernels) {
        ptoi_fail(rt->outcome, PTO_ERR_UNSUPPORTED, rt->now.site,
                  "await, but no kernel runs here, so there is no value to wait for");
        return ptoi_end_of_call(rt, PTO_ERR_UNSUPPORTED);
    }
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, false));
}

PTOStatus pto_await_users(PTORuntime *rt, const void *buffer, int64_t offset, int64_t bytes)
{
    if (!ptoi_may_call(rt)) return ptoi_refuse_call(rt, "pto_await_users");
    /* nothing runs that could see the bytes */
    if (rt->config.engine == PTO_ENGINE_GRAPH || rt->config.skip_kernels) return PTO_OK;
    return ptoi_end_of_call(rt, await(rt, buffer, offset, bytes, true));
}
