/* runtime.h - a runtime: the roles, the window between them, and the engine that says which thread holds which role.
 *
 * Roles do not see each other; only engines and runtime.c see this struct. */
#ifndef PTOI_RUNTIME_H
#define PTOI_RUNTIME_H
#include "backend/backend.h"
#include "life.h"
#include "submit/orchestrator.h"
#include "record/record.h"
#include "schedule/scheduler.h"
#include "debug/slots.h"
#include "stack.h"
#include <pto/pto_program.h>
#include <setjmp.h>

/* Which thread holds which role. */
struct engine {
    const char *name;
    /* scheduler and workers are another process: what both use is shared memory */
    bool is_split;
    PTOStatus (*open)(PTORuntime *rt); /* threads are started; failure: ptoi_fail told why */
    void (*close)(PTORuntime *rt);
    void (*begin)(PTORuntime *rt);                                /* a run begins; no task is in flight */
    int64_t (*now)(void *rt);                                     /* the engine's clock: ns, or cycles */
    const char *unit;                                             /* of that clock */
    bool has_cycles;                                              /* that clock counts simulated cycles, not ns */
    void (*published)(void *rt);                                  /* the orchestrator published a task */
    bool (*wait)(void *rt, bool (*is_met)(void *arg), void *arg); /* struct waiter */
    void (*poke)(PTORuntime *rt);                                 /* any thread: something outside changed (cancel) */
    /* The scheduler's statistics become readable in `sched`; reset: its high-water marks start anew.  NULL: they always
     * are. */
    void (*settle)(PTORuntime *rt, bool reset);
    /* Any thread: an external task ended; false: it was not started, or had ended.  NULL: there are none. */
    bool (*completed)(PTORuntime *rt, uint64_t id, int32_t result);
    /* tasks may run at their submits, past the window, on the orchestrator's thread */
    bool elides;
    bool (*is_fine)(void *rt, const PTOKernel *kernel); /* struct elision; NULL: of every kernel, at any time */
    void (*enter)(void *rt);
    void (*leave)(void *rt);
    void (*measured)(void *rt, const PTOKernel *kernel, int64_t ns); /* struct elision; may be NULL */
    const struct running_line *(*lines)(PTORuntime *rt, int *count); /* who runs what; NULL: one thread does */
    void (*measure)(PTORuntime *rt, PTORunStats *stats); /* fills what only the engine knows; no run is active */
};

extern const struct engine ptoi_engine_serial, ptoi_engine_threads, ptoi_engine_timing, ptoi_engine_process,
    ptoi_engine_graph;

struct frame {
    const char *function;
    const PTOSite *called_at; /* NULL: by the host */
};

struct PTORuntime {
    PTOShortWay now; /* first: the callers of pto_submit_task and pto_at look at it */
    struct life life;
    PTOConfig config;
    struct outcome *outcome;
    const struct backend *backend;
    struct window *window;
    uint64_t window_bytes;
    char *heap;
    uint64_t heap_bytes;
    /* Where pto_runtime_execute copies arrays that the workers do not share, and how much of it has memory; NULL: there
     * is none. */
    char *exchange;
    uint64_t exchange_ready;
    uint64_t shared_youngest; /* the blocks of pto_shared_alloc up to this one are shared with the workers */
    struct slots slots;       /* of a checked run, like pinned */
    struct pinned pinned;
    struct orchestrator orch;
    struct scheduler sched;
    void *sched_memory;
    uint64_t sched_bytes;
    struct elision elision;    /* the orchestrator uses it when nothing speaks against it */
    struct recorder *recorder; /* NULL: nothing is recorded */
    struct replay *replay;     /* NULL: the schedule is free */
    const struct engine *engine;
    void *engine_state;
    struct watchdog_thread *watchdog; /* NULL: there is none, or the engine looks itself */
    /* of the active run */
    bool is_entry;        /* it is one call of pto_run_entry */
    bool unwinds;         /* a failing submit comes back at pto_run_entry */
    jmp_buf *catcher;     /* where pto_raise goes; NULL: no run */
    struct frame *frames; /* recursion_limit many */
    int32_t frame_count;
    char *crash_stack;         /* for handlers of crashes in kernels that this thread runs */
    struct stack_bounds stack; /* of the thread that orchestrates */
    PTOFlowControlStats flow_stats;
    PTORunStats run_stats;
};

void ptoi_exchange_open(PTORuntime *rt); /* execute.c; before the engine is opened */
void ptoi_exchange_close(PTORuntime *rt);
void ptoi_exchange_trim(PTORuntime *rt);
/* operations.c: fails the run where no accelerator can carry out the work request. */
void ptoi_look_at_operation(PTORuntime *rt, const PTOKernel *kernel);

/* Before a report: all edges are in the record, and its times are of the engine's clock.  PTO_ERR_STATE: nothing is
 * recorded; PTO_ERR_NOMEM: no memory to find the edges. */
PTOStatus ptoi_settle_record(PTORuntime *rt);

PTOStatus ptoi_unwind_call(PTORuntime *rt, PTOStatus status); /* unwind.c */

/* relaxed: a hint */
static inline bool ptoi_is_running(const PTORuntime *rt) { return load_relaxed(&rt->life.use) == LIFE_RUNNING; }

/* Comes back only if all is well, or the caller wants the status. */
static inline PTOStatus ptoi_end_of_call(PTORuntime *rt, PTOStatus status)
{
    return status == PTO_OK ? PTO_OK : ptoi_unwind_call(rt, status);
}

#endif
