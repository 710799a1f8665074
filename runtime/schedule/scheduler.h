/* scheduler.h - the role that owns all dynamic task state: which tasks wait for which, which are ready, and how many
 * tasks and scopes hold each buffer.
 *
 * Idea       takes tasks and lifetime events from the window in the order of publication, so a consumer is always
 *            counted before its producer's buffer can be let go.  Fan-out lists are threaded through the consumers'
 *            fan-in entries. A task that waits only for tasks of one place goes there before they have ended, see Note
 *            [task chaining].
 * Owner      whichever thread holds the role; everything here is private to it.  What it publishes to the orchestrator
 *            is in window.h: task_tail, event_tail, completed[], consumed[].
 * Blocks     never.
 * Portable   no library, no system, no pointer that another role sees: the same code serves where a device has its own
 *            processor.
 * Tests      test/runtime/test_runtime.c, stress_graphs.c; test/device, test/model */
#ifndef PTOI_SCHEDULER_H
#define PTOI_SCHEDULER_H
#include "shared/run_status.h"
#include "shared/stats.h"
#include "ready_queue.h"
#include "role_ops.h"
#include "shared/window.h"

enum task_state { TASK_FREE, TASK_PENDING, TASK_READY, TASK_RUNNING, TASK_COMPLETED };

/* What the scheduler knows of the task of a slot. */
struct slot_state {
    uint32_t missing; /* producers that have not completed */
    uint32_t fanout;  /* the first fan-in entry that waits for it + 1 */
    int16_t place;    /* where it runs */
    uint8_t state;    /* enum task_state */
};

/* A fan-in entry that waits. */
struct waiting {
    uint32_t next;   /* entry of the same producer + 1 */
    uint32_t waiter; /* the consumer's slot */
};

/* Ready tasks that wait for one accumulator, by priority, then by age: slots + 1; 0: none. */
struct blocked {
    uint32_t first, last;
};
enum { ACCUMULATORS = 32 }; /* as many as task_slot.exclusive has bits */

struct scheduler {
    struct window *window;
    struct run_status *run_status;
    const struct role_ops *ops;
    void *context;                   /* of ops */
    const struct task_slot *task;    /* constant: the slots of the window, */
    uint64_t task_mask;              /* and how many there are, less one */
    _Atomic uint64_t *completed;     /* constant: by slot, in the window */
    uint8_t group[PTO_WORKER_TYPES]; /* constant: types that share workers are a group, named by its first type */
    struct slot_state *slot;
    struct waiting *waiting;         /* by entry */
    uint32_t *refs;                  /* the references to each buffer, by its number - 1 */
    uint64_t taken, retired, events; /* task_head, task_tail, event_head as last seen */
    uint64_t running;
    uint32_t held; /* accumulators that running tasks update: see task_slot.exclusive */
    struct blocked blocked[ACCUMULATORS];
    uint32_t *blocked_next;                     /* by slot: the next task of its list + 1 */
    uint64_t blocked_count;                     /* of all lists */
    struct ready_queue ready[PTO_WORKER_TYPES]; /* by group */
    uint32_t ready_groups;                      /* bit g: ready[g] is not empty */
    uint32_t refused;                           /* bit g: asking to start one of group g is in vain, see role_ops */
    struct scheduler_stats stats;               /* of this run */
};

uint64_t ptoi_sched_bytes(const struct window *w);
/* memory: ptoi_sched_bytes() bytes of zeros, aligned to a cache line.  The scheduler owns them while it is used, and
 * touches only the pages that it needs. */
void ptoi_sched_init(struct scheduler *s, struct window *w, struct run_status *run_status, void *memory);
/* A scheduler that has taken nothing begins behind all that was published. */
void ptoi_sched_resume(struct scheduler *s);

/* The window is there, for this role. */
static inline void ptoi_sched_see(struct scheduler *s, struct window *w)
{
    s->window = w;
    s->task = window_task(w, 0);
    s->task_mask = w->task_mask;
    s->completed = window_completed(w, 0);
}

/* One round: takes published tasks and events, takes completions, and starts ready tasks.  true: something changed. */
bool ptoi_sched_step(struct scheduler *s);
/* Part of a round: takes completions and starts tasks that they made ready.  It does not read the counters of published
 * tasks, which lie on a cache line that the orchestrator keeps writing.  true: something changed; if *started is false,
 * a whole round must follow under the same role. */
bool ptoi_sched_feed(struct scheduler *s, bool *started);
/* Part of a round: takes published tasks and events.  That is all a round does where no start can succeed, nothing has
 * ended, and the run has not failed. */
void ptoi_sched_take(struct scheduler *s);
/* Is there a published task or event to take?  Called by any thread that will take the role if there is. */
bool ptoi_sched_has_input(const struct scheduler *s);
/* All that was published was taken, and no task is ready or running: without new input nothing will ever change. */
bool ptoi_sched_is_quiet(const struct scheduler *s);
/* If the scheduler is quiet, publishes that in the window, for an orchestrator that cannot ask. */
void ptoi_sched_notify_quiet(struct scheduler *s);
void ptoi_sched_begin_run(struct scheduler *s);   /* statistics and marks are of the run that begins */
void ptoi_sched_reset_marks(struct scheduler *s); /* high-water marks of the ready queues */
bool ptoi_sched_is_valid(const struct scheduler *s);

#endif
