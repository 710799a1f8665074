/* orchestrator.h - the role that runs the program: opens scopes, submits tasks, finds what they depend on, allocates,
 * waits.
 *
 * Owner      the thread that called pto_runtime_run.  Notifies the scheduler through window.h only: task_head,
 *            event_head and what they publish.
 * Blocks     while a ring is full, in flow.c.
 * Tests      test/runtime/test_runtime.c, test_hazards.c, stress_graphs.c */
#ifndef PTOI_ORCHESTRATOR_H
#define PTOI_ORCHESTRATOR_H
#include "flow.h"
#include "memory/heap.h"
#include "record/history_log.h"
#include "memory/names.h"
#include "memory/outliving.h"
#include "depend/read_only.h"
#include "record/replay.h"
#include "backend/backend.h"
#include "shared/run_status.h"
#include "shared/stats.h"
#include "memory/scope_stack.h"
#include "fast_path.h"
#include "debug/slots.h"
#include <pto/pto_runtime.h>

struct orchestrator {
    struct window *window;
    struct run_status *run_status;
    bool names_options; /* limit.h */
    char *heap_base;    /* device address of heap offset 0 */
    struct heap heap;
    struct scope_stack scopes;
    struct outliving *outliving; /* of a checked run, or NULL */
    struct slots *slots;         /* the same */
    struct tensormap *map;
    struct map_buffer *near[PTO_MAX_PARAMS + 2]; /* by parameter: the outside buffer that it was in the last time */
    struct map_found found;
    struct read_only read_only; /* of this run */
    bool place_again;           /* less is only read than was thought when the parameters of a task were looked at */
    struct flow flow;
    const struct replay *replay;   /* NULL, or: the order of starts */
    const struct backend *backend; /* for the tasks that are executed inline */
    uint32_t *refs;                /* references.h: of the scheduler, which this thread is while `runs_inline` */
    bool may_run_inline;           /* tasks may be executed inline; else they go through the window */
    /* tasks are executed inline now: nothing is in the window, and this thread is the scheduler */
    bool runs_inline;
    uint64_t coarse;            /* the newest task in the window that was not known to be fine is older than this */
    const PTOSite *const *site; /* where the program is: the runtime's first member */
    /* Tasks that are executed inline have a number, now.open->number, but no id: ids lag behind. */
    struct fast_path now;
    uint64_t first_number, first_head; /* of the run */
    uint64_t head, tail;               /* task_head; task_tail as last seen */
    uint64_t arg_head, dep_head, event_head;
    uint64_t arg_tail, dep_tail; /* what was in use when `tail` was seen is not below */
    uint64_t map_retired;        /* entries of tasks below were given back */
    PTOScopePolicy scope_policy;
    int32_t accesses;        /* that the map remembers of the newest task */
    struct history *history; /* NULL: nothing asks for dependences on tasks that have retired */
    struct history_log log;  /* where there is a history: what it was not fed with yet */
    bool lacks_edges;        /* of this run: there was no memory for the history */
    bool may_move;           /* this run asks where a buffer lies before it looks at it: compaction.c */
    uint64_t moved;          /* living buffers that do not lie where the program's address of them says */
    int64_t compactions;     /* of the run: how often the heap was compacted, or was found to be compact */
    struct names names;      /* reserved by the first compaction */
    /* the engine found that there is no scheduler any more: the run has failed, nothing retires */
    bool is_lost;
    int64_t least_limit_ms;          /* of the tasks of this run that have one; 0: none has */
    struct orchestrator_stats stats; /* of this run */
};

struct orchestrator_config {
    bool names_options; /* limit.h */
    int64_t tensormap_entries;
    int32_t max_scopes;
    uint64_t ring_bytes;
    char *heap_base;
    PTOScopePolicy scope_policy;
    bool count_dependences;
    int64_t record_tasks;
    bool checked;
};

bool ptoi_orch_init(struct orchestrator *o, struct window *w, struct run_status *run_status,
                    const struct orchestrator_config *c);
void ptoi_orch_free(struct orchestrator *o);

void ptoi_orch_begin(struct orchestrator *o);           /* a run: opens the root scope */
void ptoi_orch_end(struct orchestrator *o);             /* closes every scope and waits until nothing is left */
PTOScope ptoi_orch_scope_begin(struct orchestrator *o); /* PTO_SCOPE_CURRENT: the run has failed */
PTOStatus ptoi_orch_scope_end(struct orchestrator *o);
void ptoi_orch_unwind(struct orchestrator *o, int32_t depth); /* closes scopes down to that depth */
int64_t ptoi_orch_submit(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);
/* Of fast_path.h.  A task that was run by its caller failed with that result. */
int64_t ptoi_orch_failed(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                         int32_t result);
/* A call of its kernel, begun at `since`, has ended. */
void ptoi_orch_measured(struct orchestrator *o, const PTOKernel *kernel, int64_t since);
/* A new output of such a task; NULL: there is no room, or something is wrong, and nothing has changed. */
void *ptoi_orch_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name);
PTOStatus ptoi_orch_alloc(struct orchestrator *o, PTOScope scope, int64_t bytes, void **buffer);
/* The same for the current scope, where NULL is an answer: the open scopes leave less than `will_need` bytes for it and
 * all that is made while it is held. */
PTOStatus ptoi_orch_frame(struct orchestrator *o, int64_t bytes, int64_t will_need, void **buffer);
PTOStatus ptoi_orch_release(struct orchestrator *o, const void *buffer);
/* the same; memory that is not from the heap stays */
PTOStatus ptoi_orch_drop(struct orchestrator *o, const void *buffer);
/* From now on `scope` owns the buffer; memory that is not from the heap has no owner. */
PTOStatus ptoi_orch_give(struct orchestrator *o, const void *buffer, PTOScope scope);
/* where these bytes lie; memory that is not from the heap: there */
void *ptoi_orch_where(const struct orchestrator *o, void *buffer);
/* These bytes, which are not the heap's, are only read from now on; nothing happens while tasks are in flight. */
void ptoi_orch_read_only(struct orchestrator *o, int64_t low, int64_t high);
/* Finds all edges that are not found yet, and records or counts them.  false: there was no memory for that, in this
 * run. */
bool ptoi_orch_find_edges(struct orchestrator *o);
/* fan-in entries */
static inline uint64_t ptoi_orch_deps_used(const struct orchestrator *o) { return o->dep_head - o->dep_tail; }
/* for_writing: for readers, too. */
PTOStatus ptoi_orch_await(struct orchestrator *o, const void *buffer, int64_t offset, int64_t bytes, bool for_writing);

#endif
