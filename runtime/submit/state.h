/* state.h - the orchestrator's state: one struct for each of its parts.
 *
 * Owner      the orchestrator; who else reads a member is said there.
 * Invariant  a part changes its own struct, and asks the functions of parts.h for the rest. */
#ifndef PTOI_STATE_H
#define PTOI_STATE_H
#include "fast_path.h"
#include "flow.h"
#include "known.h"
#include "backend/backend.h"
#include "debug/slots.h"
#include "depend/read_only.h"
#include "memory/heap.h"
#include "memory/names.h"
#include "memory/outliving.h"
#include "memory/scope_stack.h"
#include "record/history_log.h"
#include "record/replay.h"
#include "shared/run_status.h"
#include "shared/stats.h"
#include "shared/timed.h"
#include <pto/pto_strip.h>

/* rings.c: what of the window is in use.  Each tail is what was free when `tail` was read, or less. */
struct rings {
    uint64_t head, tail; /* task_head, which engines read; task_tail as last seen */
    uint64_t arg_head, arg_tail, dep_head, dep_tail;
    uint64_t event_head;
    uint64_t map_retired; /* entries of the map of tasks below were given back */
    uint64_t clear;       /* tasks below have room for all that a plain task needs; plain.c */
    /* constant: where these parts of the window lie */
    struct task_slot *slot;
    uint64_t *dep;
    _Atomic uint64_t *completed;
};

/* buffers.c, compaction.c: the heap. */
struct buffers {
    struct heap heap;
    PTOScopePolicy scope_policy;
    struct outliving *outliving; /* of a checked run, or NULL */
    struct slots *slots;         /* the same */
    bool parts_wait;             /* parts of accumulators are held that a fold would free: api/accumulate.c */
    bool ranks_agree;            /* of folds, so none depends on the room that is found here */
    bool notes_writes;           /* of a checked run of one process: all tasks are a program's of the language */
    bool may_move;               /* this run asks where a buffer lies before it looks at it: compaction.c */
    bool may_hide;               /* of this run: nothing looks at each buffer that is made or ends, */
    bool has_hidden;             /* and some were hidden */
    uint64_t moved;              /* living buffers that do not lie where the program's address of them says */
    int64_t compactions;         /* of the run: how often the heap was compacted, or was found to be compact */
    struct names names;          /* reserved by the first compaction */
};

/* placing.c, edges.c: what tasks in the window have touched. */
struct edges {
    struct tensormap *map;
    struct map_buffer *near[PTO_TASK_PARAMS]; /* by tensor of a task: the outside buffer that it was in the last time */
    struct map_found found;
    struct read_only read_only; /* of this run */
    bool place_again; /* fewer bytes are read-only than was assumed when the parameters of a task were placed */
    int32_t accesses; /* that the map remembers of the newest task */
    /* Of the submit that is under way, for which they are too large for the stack: its accesses, and what is written
     * of each argument of which only a part is. */
    struct map_access access[2 * PTO_MAX_PARAMS];
    struct map_steps steps[PTO_STRIP_PARAMS]; /* the accesses of a strip, and the regions of its first iteration */
    struct region iteration[PTO_STRIP_PARAMS];
    struct region part[PTO_MAX_PARAMS];
};

/* recorded_edges.c: what all tasks of the run have touched. */
struct recorded_edges {
    struct history *history; /* NULL: nothing asks for dependences on tasks that have retired */
    struct history_log log;  /* where there is a history: what it was not fed with yet */
    bool are_lost;           /* of this run: there was no memory for the history */
};

/* submit.c, inline.c: tasks that are executed inline.  They have a number, fast.open->number, and no id. */
struct inlined {
    bool is_allowed; /* else every task goes through the window */
    bool is_active;  /* tasks are executed inline now: nothing is in the window, and this thread is the scheduler */
    uint64_t coarse; /* the newest task in the window that was not known to be fine is older than this */
    const struct backend *backend;
    uint32_t *refs; /* references.h: of the scheduler, which this thread is while `is_active` */
    struct timed_kernel timed;
};

#define PTO_NEED_UNSTATED (-1)
#define PTO_NEED_UNKNOWN  INT64_MAX

/* orchestrator.c: the run that is on. */
struct run {
    int64_t need; /* bytes of the heap that are held at most, as its entry stated */
    uint64_t first_number, first_head;
    int64_t least_limit_ms; /* of its tasks that have one; 0: none has.  Engines read it */
    int processors;         /* that may share the iterations of a loop, where strips are taken */
    bool has_strips;        /* the loop that made the last offer */
    struct orchestrator_stats stats;
};

struct orchestrator;
/* Submits a task: its number, or a status. */
typedef int64_t submit_fn(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count);

struct orchestrator {
    struct window *window;
    struct run_status *run_status;
    const PTOSite *const *site; /* where the program is: the runtime's first member */
    char *heap_base;            /* device address of heap offset 0 */
    PTONames names;             /* limit.h */
    /* the engine found that there is no scheduler any more: the run has failed, nothing retires */
    bool is_lost;
    /* not NULL: what fails now fails on all ranks, which meet here before it does, with all that stands before it */
    void (*meet)(void *arg);
    void *meet_arg;
    const struct replay *replay; /* NULL, or: the order of starts */
    bool is_plain;               /* the run: it defers tasks, nobody watches, and no buffer was ever moved; plain.c */
    bool may_take_strips;        /* nothing is set for all runs that wants every task by itself */
    bool writes_numbers;         /* into the window; on several ranks dist/messages.c does */
    struct flow flow;
    struct rings rings;
    struct scope_stack scopes;
    struct buffers buffers;
    struct edges edges;
    struct known known;
    struct recorded_edges recorded;
    struct inlined inlined;
    struct fast_path fast;
    struct run run;
};

#endif
