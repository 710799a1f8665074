/* config.c - see config.h. */
#include "config.h"
#include "misuse.h"
#include "shared/processors.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

PTOStatus ptoi_refuse(PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ptoi_thread_message, sizeof ptoi_thread_message, format, args);
    va_end(args);
    return status;
}

static int64_t or_default(int64_t value, int64_t standard) { return value ? value : standard; }

static bool has_external(const PTOConfig *c)
{
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (c->external[t]) return true;
    return false;
}

static bool names_workers(const PTOConfig *c)
{
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (c->workers[t] != 0) return true;
    return false;
}

bool ptoi_config_shares_workers(const PTOConfig *c)
{
    return (c->engine == PTO_ENGINE_THREADS || c->engine == PTO_ENGINE_PROCESS) && !names_workers(c) &&
           (!c->backend || strcmp(c->backend, "sim") == 0) && !has_external(c);
}

/* A device has some workers of each type.  On the host the processors decide, whatever the types are called. */
static void default_workers(PTOConfig *c)
{
    if (names_workers(c)) return;
    const bool are_shared = ptoi_config_shares_workers(c);
    const int32_t most = PTOI_WORKERS_MAX / PTO_WORKER_TYPES, usable = ptoi_processors();
    const long cores = are_shared && usable > 0 ? usable : sysconf(_SC_NPROCESSORS_ONLN);
    const int32_t all = cores > most ? most : cores > 1 ? (int32_t)cores : 1;
    const int32_t half = cores > 2 * most ? most : cores > 2 ? (int32_t)(cores / 2) : 1;
    c->workers[PTO_WORKER_CUBE] = c->workers[PTO_WORKER_VECTOR] = are_shared ? all : half;
    c->workers[PTO_WORKER_AI_CPU] = are_shared ? all : 1;
    c->workers[PTO_WORKER_ACCELERATOR] = 1;
}

PTOStatus ptoi_config_check(PTOConfig *c)
{
    c->backend = c->backend ? c->backend : "sim";
    c->task_window = or_default(c->task_window, 1024);
    c->heap_bytes = or_default(c->heap_bytes, 64 << 20);
    c->heap_rings = (int32_t)or_default(c->heap_rings, PTO_DEFAULT_RINGS);
    c->deplist_entries = or_default(c->deplist_entries, 8192);
    c->tensormap_entries = or_default(c->tensormap_entries, 4096);
    c->recursion_limit = (int32_t)or_default(c->recursion_limit, 128 << 10);
    if (c->task_window < 2 || c->task_window > PTOI_WINDOW_MAX || (c->task_window & (c->task_window - 1)))
        return ptoi_refuse(PTO_ERR_CONFIG, "task window %lld: must be a power of two from 2 to %d",
                           (long long)c->task_window, PTOI_WINDOW_MAX);
    if (c->heap_bytes < PTO_GRANULE || c->heap_bytes > PTOI_HEAP_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "heap of %lld bytes: must be from %d to %lld", (long long)c->heap_bytes,
                           PTO_GRANULE, (long long)PTOI_HEAP_MAX);
    if (c->heap_rings < 1 || c->heap_rings > PTO_MAX_RINGS)
        return ptoi_refuse(PTO_ERR_CONFIG, "%d heap rings: must be from 1 to %d", c->heap_rings, PTO_MAX_RINGS);
    if (c->heap_bytes > ((int64_t)UINT32_MAX - 1) * PTO_GRANULE / c->heap_rings)
        return ptoi_refuse(PTO_ERR_CONFIG, "heap of %d x %lld bytes is too large", c->heap_rings,
                           (long long)c->heap_bytes);
    if (c->deplist_entries < 2 || c->deplist_entries > PTOI_DEPLIST_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "%lld dependency entries: must be from 2 to %d",
                           (long long)c->deplist_entries, PTOI_DEPLIST_MAX);
    if (c->tensormap_entries < 2 || c->tensormap_entries > PTOI_TENSORMAP_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "%lld tensormap entries: must be from 2 to %d",
                           (long long)c->tensormap_entries, PTOI_TENSORMAP_MAX);
    if (c->recursion_limit < 1 || c->recursion_limit > PTOI_RECURSION_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "recursion limit %d: must be from 1 to %d", c->recursion_limit,
                           PTOI_RECURSION_MAX);
    if (c->first_task_id < 0 || c->first_byte < 0) return ptoi_refuse(PTO_ERR_CONFIG, "counters that start below zero");
    if ((unsigned)c->scope_policy > PTO_SCOPE_OUTERMOST)
        return ptoi_refuse(PTO_ERR_CONFIG, "unknown scope policy %d", (int)c->scope_policy);
    if (c->names > PTO_NAMES_PYTHON) return ptoi_refuse(PTO_ERR_CONFIG, "unknown names %d", c->names);
    if (c->record_tasks < 0 || c->record_tasks > (1 << 24))
        return ptoi_refuse(PTO_ERR_CONFIG, "a record of %lld tasks: must be from 0 to 16777216",
                           (long long)c->record_tasks);
    if (c->submit_cycles < 0 || c->dispatch_cycles < 0 || c->submit_cycles > PTOI_CYCLES_MAX ||
        c->dispatch_cycles > PTOI_CYCLES_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "submit and dispatch cycles must be from 0 to %lld",
                           (long long)PTOI_CYCLES_MAX);
    if (!(c->watchdog_seconds >= 0 && c->watchdog_seconds <= 1e9))
        return ptoi_refuse(PTO_ERR_CONFIG, "a watchdog of %g seconds: must be from 0 to 1e9", c->watchdog_seconds);
    const bool external = has_external(c);
    if (external && !c->external_start) return ptoi_refuse(PTO_ERR_CONFIG, "external workers without external_start");
    if ((external || c->replay || c->dedicated_scheduler) && c->engine != PTO_ENGINE_THREADS)
        return ptoi_refuse(PTO_ERR_CONFIG, "%s the engine threads",
                           external ? "external workers need"
                           : c->replay
                               ? "the replay of a schedule, also of one that the engine process has recorded, needs"
                               : "a dedicated scheduler needs");
    if (external && c->replay) return ptoi_refuse(PTO_ERR_CONFIG, "external workers cannot be replayed");
    if (c->skip_kernels && c->engine != PTO_ENGINE_TIMING)
        return ptoi_refuse(PTO_ERR_CONFIG, "kernels can be skipped on the timing engine only");
    if (strcmp(c->backend, "sim") != 0 && (c->engine == PTO_ENGINE_PROCESS || c->checked || external))
        return ptoi_refuse(PTO_ERR_CONFIG, "%s the backend sim",
                           external     ? "external workers need"
                           : c->checked ? "checked runs need"
                                        : "the engine process needs");
    if (c->device < 0 || c->device > 65535)
        return ptoi_refuse(PTO_ERR_CONFIG, "device %d: must be from 0 to 65535", c->device);
    if (!(c->stream_timeout_seconds >= 0 && c->stream_timeout_seconds <= 1e6))
        return ptoi_refuse(PTO_ERR_CONFIG, "a stream time-out of %g seconds: must be from 0 to 1e6",
                           c->stream_timeout_seconds);
    if (c->record_tasks > 0 || c->engine == PTO_ENGINE_TIMING || c->engine == PTO_ENGINE_GRAPH)
        c->count_dependences = true;
    int64_t total = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        if (c->workers[t] < 0 || c->workers[t] > PTOI_WORKERS_MAX)
            return ptoi_refuse(PTO_ERR_CONFIG, "%d %s workers: must be from 0 to %d", c->workers[t],
                               pto_worker_type_name((PTOWorkerType)t), PTOI_WORKERS_MAX);
        total += c->workers[t];
    }
    if (total > PTOI_WORKERS_MAX)
        return ptoi_refuse(PTO_ERR_CONFIG, "%lld workers: at most %d", (long long)total, PTOI_WORKERS_MAX);
    default_workers(c);
    return PTO_OK;
}

/* One processor: workers would only alternate with the orchestrator, so it runs the tasks itself.  Not where the
 * program asked for something that threads do. */
static bool wants_one_thread(const PTOConfig *c)
{
    return c->engine == PTO_ENGINE_THREADS && strcmp(c->backend, "sim") == 0 && !has_external(c) && !c->replay &&
           !c->dedicated_scheduler && c->watchdog_seconds == 0 && !c->count_dependences && !c->always_defer &&
           !c->checked && ptoi_processors() == 1;
}

static const struct engine *find_engine(PTOEngine engine)
{
    static const struct engine *const engines[PTO_ENGINES] = {
#define PTO_ENGINE(id, name, note) &ptoi_engine_##name,
#include <pto/engines.def>
#undef PTO_ENGINE
    };
    return (unsigned)engine < PTO_ENGINES ? engines[engine] : NULL;
}

const struct engine *ptoi_config_engine(const PTOConfig *c)
{
    return wants_one_thread(c) ? &ptoi_engine_serial : find_engine(c->engine);
}
