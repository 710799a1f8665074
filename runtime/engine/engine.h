/* engine.h - an engine: which thread holds which role, from the opening of a runtime to its end.
 *
 * Owner      a constant; its state is core->state.  Caller: the thread that owns the runtime, where nothing else is
 *            said.
 * Tests      test/runtime/test_runtime.c and all that include engines.h: their programs run on every engine */
#ifndef PTOI_ENGINE_H
#define PTOI_ENGINE_H
#include "schedule/role_ops.h"
#include <pto/pto_runtime.h>
#include <pto/pto_stats.h>

struct core;
struct running_line;

struct engine {
    const char *name;
    bool is_split;    /* scheduler and workers are another process: what both use is shared memory */
    bool runs_inline; /* tasks may be executed inline, past the window, on the orchestrator's thread */
    struct role_ops ops;
    PTOStatus (*open)(struct core *core); /* threads are started; failure: ptoi_fail has the reason */
    void (*close)(struct core *core);
    /* Any thread, also in a handler of a signal: this process ends now, without a call of `close`, so what else the
     * engine started has to end.  NULL: there is no other process. */
    void (*abandon)(struct core *core);
    void (*begin)(struct core *core); /* a run begins; no task is in flight */
    void (*poke)(struct core *core);  /* any thread: something outside changed (cancel) */
    /* The scheduler's statistics become readable in `sched`; reset: its high-water marks start anew.  NULL: they always
     * are. */
    void (*settle)(struct core *core, bool reset);
    /* Any thread: an external task ended; false: it was not started, or had ended.  NULL: there are none. */
    bool (*completed)(struct core *core, uint64_t id, int32_t result);
    /* The orchestrator waits for something that is no task, and meanwhile executes submitted tasks; true: something
     * changed.  NULL: other threads do that. */
    bool (*go_on)(struct core *core);
    /* The orchestrator waits: ptoi_is_still(). */
    bool (*is_still)(struct core *core);
    const struct running_line *(*lines)(struct core *core, int *count); /* who runs what; NULL: one thread does */
    void (*measure)(struct core *core, PTORunStats *stats); /* fills what only the engine knows; no run is active */
};

#define PTO_ENGINE(id, name, note) extern const struct engine ptoi_engine_##name;
#include <pto/engines.def>
#undef PTO_ENGINE

#endif
