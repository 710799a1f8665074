/* threads_parts.h - what the files of the engine threads share; nobody else includes it. */
#ifndef PTOI_THREADS_PARTS_H
#define PTOI_THREADS_PARTS_H
#include "busy.h"
#include "grain.h"
#include "handover.h"
#include "outside_ended.h"
#include "threads.h"
#include "worker_time.h"
#include "shared/park.h"
#include "shared/system.h"
#include "shared/strip.h"
#include "shared/task.h"

/* Note [deep lanes]: whoever takes the role fetches what the last holder wrote, some twenty lines, which is dearer than
 * a small task. So a lane holds up to LANE_NS of work that is known to be short, and its worker takes the role when
 * that is done, not after each task. Behind other work nothing waits: who comes for its next task when it has ended the
 * last gets the most urgent, and that is often the one whose data it has just written.  Only where workers are MANY,
 * and one may find the role taken, has it one task in reserve, and only while enough are ready for every other worker:
 * so nobody is idle for its sake. */
enum { LANE_DEPTH = 32, LANE_NS = 8000, MANY = 5, UNKNOWN_NS = 1 << 30 };

/* Of a chain, Note [task chaining] in scheduler.c, a lane holds up to CHAIN_NS: nothing of it could run elsewhere.
 * While its worker goes through it, what its tasks have made ready waits, unless somebody has nothing to do: those who
 * spin look themselves, and while anybody sleeps the worker looks after each task. */
enum { CHAIN_NS = 64000 };

/* Note [helping orchestrator]: where a type has as many workers as there are processors, the orchestrator is one thread
 * too many, and whenever it wakes it stops a worker, perhaps one that has the role.  So while it waits it serves the
 * last lane of that type itself, as a helper, and runs what is known to be short; while it does not wait, short tasks
 * do not go to that lane, and its host goes to sleep.  What is long goes to the host as ever, and so does everything
 * while the orchestrator sleeps.  When nothing is in the lane, the holder of the role changes whose it is. */
/* Note [shared workers]: processors, not types, decide how many threads run.  Where the program does not say how many
 * workers it wants, each programmable type has as many as there are processors, and they are the same: lane i is
 * worker i of all these types, which are one group with one queue of ready tasks.  A row is a worker of one type, as in
 * `--record`, in a trace and in the statistics: the rows of a lane never run at the same time. */
struct sent_task {
    uint64_t id;
    int64_t expected_ns; /* UNKNOWN_NS: nobody knows */
    bool follows;        /* the one before it, and runs only if that succeeded */
};

struct lane {
    /* W holder of the role, R worker.  Tasks ever given: store release [SENT], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t sent;
    struct sent_task task[LANE_DEPTH];
    /* W holder of the role; R anyone, relaxed: a hint that something ended. */
    _Atomic uint64_t collected;
    _Atomic int has_helper; /* W holder of the role while the lane is empty: store release [HELPER], load acquire */
    int64_t load_ns;        /* the holder's: what is expected of the tasks that were sent and not collected */
    /* W worker, R holder of the role.  Tasks ever ended: store release [ENDED], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t done;
    int32_t result[LANE_DEPTH];
    bool has_stopped; /* of who serves the lane: nothing more of this run begins here */
    int64_t ended_ns; /* likewise, of a metered run: when the newest kernel ended */
    _Alignas(PTO_CACHELINE) struct parker parker;
    struct core *core;
    int group;                 /* of types: their tasks it runs */
    struct running_line *line; /* the row of a task is shift[type] behind it */
    struct busy busy;
    struct worker_clock clock; /* of its worker */
    int32_t thread_number;     /* of its worker, see debug/backtrace.h */
    _Atomic int slept_on;      /* W its worker, R orchestrator, relaxed: its processor, when it last went to sleep */
    ptoi_thread thread;
};

struct threads {
    /* W whoever swaps it, R anyone: swap acq_rel [ROLE]. */
    _Alignas(PTO_CACHELINE) _Atomic int role;
    /* W holder of the role, R anyone, relaxed: how far the scheduler has taken, a hint. */
    _Atomic uint64_t seen_tasks, seen_events;
    int unlooked; /* the holder's: steps since it looked at what was published */
    /* likewise, of this step: the kernel of the task that was sent last, as in task_slot, and how long that runs; 0:
     * none */
    int64_t expected_kernel, expected_ns;
    /* How many workers sleep, the host of helper_lane too; and by group, without it.  W workers, R orchestrator and
     * whoever serves a lane, relaxed: is somebody to be woken for a task? */
    _Alignas(PTO_CACHELINE) _Atomic int asleep;
    _Atomic int idle[PTO_WORKER_TYPES];
    /* W close, R workers, relaxed: the wake that follows publishes it [WOKEN] */
    _Alignas(PTO_CACHELINE) _Atomic int stop;
    struct parker orchestrator;
    /* W orchestrator, R holder of the role, relaxed: the swap of the role after its announcement publishes it.  It
     * sleeps until so many tasks have retired, 0: until anything changes. */
    _Atomic uint64_t wake_at;
    _Alignas(PTO_CACHELINE) struct outside_ended outside; /* the taker is the holder of the role */
    struct parker idle_scheduler;                         /* dedicated scheduler: where it sleeps */
    bool has_scheduler;
    bool looks_always; /* constant: whether a task that was published wants scheduling is no question of `asleep` */
    bool is_watched;   /* constant: each task is recorded, metered, timed or checked, or begins where a schedule says */
    ptoi_thread scheduler;
    struct bell *notify;       /* where an orchestrator in another process sleeps; NULL: it is in this one */
    struct running_line *line; /* one a row */
    bool owns_lines;
    char *stacks; /* for handlers of crashes, one a lane */
    struct lane *lane;
    int lane_count, row_count, started;
    int first[PTO_WORKER_TYPES]; /* the first of the lanes of a type, which are as many as its workers */
    int shift[PTO_WORKER_TYPES]; /* from the lane that runs a task of the type to its row, Note [shared workers] */
    struct grain grain;
    struct handover handover;
    struct lane *helper_lane; /* the lane that the orchestrator may serve; NULL: none */
    /* The orchestrator's. */
    bool holds;            /* it has the role, and nothing is in the window: tasks are executed inline */
    int32_t helper_thread; /* its number while it serves helper_lane, see debug/backtrace.h */
};

/* relaxed: both are ours */
static inline uint64_t lane_load(struct lane *l) { return load_relaxed(&l->sent) - load_relaxed(&l->collected); }

/* The number of the worker, of all types together, as which the lane runs a task of that type. */
static inline int lane_row(const struct threads *e, const struct lane *l, int type)
{
    return (int)(l - e->lane) + e->shift[type];
}

/* How long the task will run, as far as anybody knows. */
static inline int64_t lane_expect_ns(struct threads *e, const struct core *core, uint64_t id)
{
    if (window_task(core->window, id)->flags & TASK_STRIP) return ptoi_task_strip(core->window, id)->expected_ns;
    const int64_t ns = ptoi_grain_ns(&e->grain, ptoi_task_kernel(core->window, id));
    return ns > 0 && !(window_task(core->window, id)->flags & TASK_TIMED) ? ns : UNKNOWN_NS;
}

/* ---- lanes.c: the machine that the scheduler feeds ---- */

bool ptoi_lanes_start(void *core, PTOWorkerType type, uint64_t id, int *place);
bool ptoi_lanes_follow(void *core, int place, uint64_t id);
int ptoi_lanes_collect(void *core, struct completion *out, int max);

/* ---- threads_measured.c ---- */

/* Runs the kernel of a task that is timed or watched; what it returned. */
int ptoi_threads_run_watched(struct lane *l, const struct task_slot *slot, bool as_helper);

/* ---- threads_replay.c ---- */

/* Until everything before the task in the schedule has begun.  false: the run has failed. */
bool ptoi_threads_await_place(struct lane *l, uint64_t id);
/* A worker begins the task that it waited for; *t is its record, or NULL. */
void ptoi_threads_begun(struct core *core, struct recorded_task *t);
/* Tasks are ready, nothing runs, and none of them is what the schedule wants next. */
void ptoi_threads_fail_replay(struct core *core);

/* ---- threads.c, threads_inline.c: the bodies of the threads, and what the table of the engine has ---- */

void *ptoi_threads_worker(void *lane);
void *ptoi_threads_scheduler(void *core);
void ptoi_threads_wake(void *core);
bool ptoi_threads_wait(void *core, bool (*is_met)(void *arg), void *arg);
bool ptoi_threads_is_fine(void *core, const PTOKernel *kernel);
bool ptoi_threads_shares_workers(void *core, PTOWorkerType a, PTOWorkerType b);
int64_t ptoi_threads_known_ns(void *core, const PTOKernel *kernel);
void ptoi_threads_enter(void *core);
void ptoi_threads_leave(void *core);
void ptoi_threads_measured(void *core, const PTOKernel *kernel, int64_t ns);
void ptoi_threads_poke(struct core *core);
void ptoi_threads_settle(struct core *core, bool reset);
bool ptoi_threads_completed(struct core *core, uint64_t id, int32_t result);
const struct running_line *ptoi_threads_lines(struct core *core, int *count);
void ptoi_threads_measure(struct core *core, PTORunStats *stats);

#endif
