/* core.h - the core of a runtime: the two roles, the window between them, and what they work with.
 *
 * Idea       an engine sees this and nothing else of a runtime; roles do not see each other.
 * Owner      api/create.c, which fills it before the engine is opened; each role is its holder's. */
#ifndef PTOI_CORE_H
#define PTOI_CORE_H
#include "engine.h"
#include "worker_time.h"
#include "backend/backend.h"
#include "record/record.h"
#include "schedule/scheduler.h"
#include "shared/task.h"
#include "submit/orchestrator.h"

/* Tasks of the runtime's own that no worker executes: dist/transfer.h.  Any thread that has the scheduler's role starts
 * one, and engine->completed ends it.  is_mine NULL: there are none. */
struct outside {
    bool (*is_mine)(const PTOKernel *kernel);
    void (*start)(void *context, uint64_t id, const PTOKernel *kernel, const PTOArg *args); /* does not block */
    /* A worker begins a task of the program, and has had nothing to do since then; NULL: nobody asks.  Only where the
     * run is metered. */
    void (*began)(void *context, uint64_t id, int64_t idle_since);
    /* Any thread that has nothing else to do: moves what is under way.  Does not block; true: something has ended, and
     * `completed` of the engine knows it.  NULL: another thread does that. */
    bool (*progress)(void *context);
    const _Atomic int32_t *under_way; /* how many tasks were started and have not ended; relaxed, a hint */
    /* The orchestrator, where it has waited for a while: somebody wants to know what the program does; relaxed, a hint.
     * And the answer. */
    const _Atomic int32_t *is_asked;
    void (*say)(void *context);
    /* A thread that has asked in vain sleeps: for how long at most, before it has to ask again. */
    int64_t (*rest)(void *context, const void *thread);
    /* A thread that has asked does something else from now on, for long. */
    void (*leave)(void *context, const void *thread);
    void *context;
};

struct core {
    PTOConfig config;
    bool shares_workers; /* a worker runs tasks of every programmable type */
    struct run_status *run_status;
    const struct backend *backend;
    struct window *window;
    uint64_t window_bytes;
    char *heap;
    uint64_t heap_bytes;
    struct orchestrator orch;
    struct scheduler sched;
    struct recorder *recorder; /* NULL: nothing is recorded */
    struct replay *replay;     /* NULL: the schedule is free */
    uint64_t replayed_run;     /* on several ranks, the number of the run whose schedule that is */
    const struct engine *engine;
    struct outside outside;           /* set before the engine is opened */
    void *state;                      /* the engine's own; NULL: it is not open */
    struct worker_times times;        /* where the run is metered */
    struct watchdog_thread *watchdog; /* NULL: there is none, or the engine looks itself */
};

/* role_ops.failed of every engine. */
void ptoi_core_failed(void *core, uint64_t id, int32_t result);

/* Is this a task of the runtime's own, and none of the program? */
static inline bool ptoi_is_outside(const struct core *core, uint64_t id)
{
    return core->outside.is_mine && core->outside.is_mine(ptoi_task_kernel(core->window, id));
}

/* For the orchestrator that waits, under the scheduler's role: nothing runs, is ready or has ended, but what is under
 * way outside. */
static inline bool ptoi_is_still(const struct core *core)
{
    const struct scheduler *s = &core->sched;
    return s->running == (uint64_t)load_relaxed(core->outside.under_way) && s->ready_groups == 0 &&
           !ptoi_sched_has_input(s);
}
/* It waits, and answers if it is asked. */
static inline void ptoi_say_outside(const struct core *core)
{
    if (core->outside.is_asked && load_relaxed(core->outside.is_asked)) core->outside.say(core->outside.context);
}

/* Do the times of a run count simulated cycles, and not ns? */
static inline bool ptoi_has_cycles(const struct core *core) { return core->engine->ops.clock != NULL; }
static inline const char *ptoi_unit(const struct core *core) { return ptoi_has_cycles(core) ? "cycles" : "ns"; }

#endif
