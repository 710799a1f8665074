/* threads.c - the caller orchestrates, every worker is a thread, and the scheduler role goes to whoever has nothing
 * better to do.
 *
 * Idea       each worker has a lane: tasks go in by `sent`, results come out by `done`, both only grow, each has one
 *            writer. `role` is a flag; whoever swaps it from 0 to 1 is the scheduler until it swaps it back.
 * Owner      the holder of the role: struct scheduler, and in every lane `sent`, `task`, `collected`.  The worker of a
 *            lane: `done`, `result`.
 * Blocks     workers and the waiting orchestrator, after a short spin, in park.h.
 *
 * [ROLE]     swap acq_rel: what one holder did is visible to the next.  No input is left lying and no sleeper is
 * forgotten:
 *            whoever makes input (a task published, a kernel ended) or announces that it sleeps, then swaps `role`.  If
 *            that finds the role taken, the holder's swap back comes later in the order of `role` and reads from it, so
 *            the holder sees the announcement in leave_role() and the input in has_input(), for which it looks after
 *            every swap back; a worker that has a short task of its own runs that first, and comes back.
 * [OUTSIDE]  what ended outside is complete before its slot is in the stack.
 * [HELPER]   who serves a lane, see Note [helping orchestrator]: what is sent comes after the helper, and the host's
 * service after all that it ran. [SENT]     a lane's task[] is complete below sent.      [ENDED] result[] and the
 * kernel's writes are complete below done.
 * Tests      test/runtime/test_lanes.c, test_runtime.c, stress_graphs.c; test/model */
#include "threads.h"
#include "busy.h"
#include "shared/check.h"
#include "debug/crash.h"
#include "grain.h"
#include "shared/map_memory.h"
#include "shared/caller.h"
#include "shared/processors.h"
#include "shared/system.h"
#include "backend/worker.h"
#include "shared/task.h"
#include <stdlib.h>
#include <string.h>

#if defined PTO_TINY || defined PTO_SCHEDULED
enum { SPINS = 2, YIELDS = 0 }; /* to sleep as often as can be: that is where wakes could be lost */
#else
enum { SPINS = 256, YIELDS = 16 };
#endif
enum {
    ROUNDS = 4 /* of scheduling, before other work is considered */,
    UNLOOKED = 7,
    HOST_SPINS = 32 /* the orchestrator asks again whether the host is done */
};

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
    _Alignas(PTO_CACHELINE) struct parker parker;
    struct core *core;
    PTOWorkerType type;
    struct running_line *line;
    struct busy busy;
    ptoi_thread thread;
};

struct threads {
    /* W whoever swaps it, R anyone: swap acq_rel [ROLE]. */
    _Alignas(PTO_CACHELINE) _Atomic int role;
    /* W holder of the role, R anyone, relaxed: how far the scheduler has taken, a hint. */
    _Atomic uint64_t seen_tasks, seen_events;
    int unlooked; /* the holder's: steps since it looked at what was published */
    /* By type of worker, how many sleep.  W workers, R orchestrator, relaxed: is somebody to be woken for a task? */
    _Alignas(PTO_CACHELINE) _Atomic int idle[PTO_WORKER_TYPES];
    /* W close, R workers, relaxed: the wake that follows publishes it [WOKEN] */
    _Alignas(PTO_CACHELINE) _Atomic int stop;
    struct parker orchestrator;
    /* W orchestrator, R holder of the role, relaxed: the swap of the role after its announcement publishes it.  It
     * sleeps until so many tasks have retired, 0: until anything changes. */
    _Atomic uint64_t wake_at;
    /* W any thread that ends a task outside: slot + 1 of the newest, compare-exchange release [OUTSIDE]; R holder of
     * the role: exchange acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t ended_outside;
    /* By slot; NULL: no external workers.  open: id + 1 of the task that was started and has not ended, else 0.  W
     * holder of the role, relaxed: start() is what tells others of the task; then who ends it, compare-exchange:
     * once. */
    struct {
        _Atomic uint64_t open;
        uint32_t next;
        int32_t result;
    } * outside;                  /* next: the stack's links */
    uint32_t taken_outside;       /* what is left of the stack that was taken; the holder's */
    struct parker idle_scheduler; /* dedicated scheduler: where it sleeps */
    bool has_scheduler;
    ptoi_thread scheduler;
    struct bell *told;         /* where an orchestrator in another process sleeps; NULL: it is in this one */
    struct running_line *line; /* one a lane */
    bool owns_lines;
    char *stacks; /* for handlers of crashes, one a lane */
    struct lane *lane;
    int lane_count, started;
    int first[PTO_WORKER_TYPES + 1]; /* lanes of a type are [first[t], first[t + 1]) */
    struct grain grain;
    struct lane *helper_lane; /* the lane that the orchestrator may serve; NULL: none */
    /* The orchestrator's. */
    bool holds; /* it has the role, and nothing is in the window: tasks run at their submits */
};

/* ---- the machine that the scheduler feeds: the lanes ------------------------------------------------------------- */

/* relaxed: both are ours */
static uint64_t load_of(struct lane *l) { return load_relaxed(&l->sent) - load_relaxed(&l->collected); }

static bool has_room(struct lane *l, int64_t expected_ns, bool takes_reserve)
{
    const uint64_t load = load_of(l);
    return load == 0 || (load == 1 && takes_reserve) || (load < LANE_DEPTH && l->load_ns + expected_ns <= LANE_NS);
}

/* Behind the last of a chain, see CHAIN_NS. */
static bool has_room_behind(struct lane *l, int64_t expected_ns)
{
    return load_of(l) < LANE_DEPTH && l->load_ns + expected_ns <= (expected_ns < LANE_NS ? LANE_NS : CHAIN_NS);
}

static int64_t expect(struct threads *e, const struct core *core, uint64_t id)
{
    const int64_t ns = ptoi_grain_ns(&e->grain, ptoi_task_kernel(core->window, id));
    return ns > 0 && !(window_task(core->window, id)->flags & TASK_TIMED) ? ns : UNKNOWN_NS;
}

/* See Note [helping orchestrator]. */
static bool is_shut(struct threads *e, struct lane *l, int64_t expected_ns)
{
    if (l != e->helper_lane) return false;
    if (load_relaxed(&l->has_helper)) return expected_ns >= LANE_NS; /* relaxed: ours */
    return expected_ns < LANE_NS && !ptoi_park_is_sleeping(&e->orchestrator);
}

static void send(struct lane *l, uint64_t id, int64_t expected_ns, bool follows)
{
    uint64_t n = load_relaxed(&l->sent); /* relaxed: ours */
    l->task[n % LANE_DEPTH] = (struct sent_task){.id = id, .expected_ns = expected_ns, .follows = follows};
    l->load_ns += expected_ns;
    PTO_LABEL(SENT);
    store_release(&l->sent, n + 1, SENT); /* [SENT] */
}

static bool start_outside(struct core *core, uint64_t id)
{
    struct threads *e = core->state;
    PTOArg args[PTO_MAX_PARAMS];
    int count = ptoi_task_args(core->window, core->heap, id, args);
    store_relaxed(&e->outside[id & core->window->task_mask].open, id + 1); /* relaxed: see there */
    const void *outer = ptoi_orchestrate(&ptoi_none);                      /* the caller may be the orchestrator */
    core->config.external_start(core->config.external_context, (int64_t)(id - (uint64_t)core->config.first_task_id),
                                ptoi_task_kernel(core->window, id), args, count);
    ptoi_orchestrate(outer);
    return true;
}

static bool start_as_recorded(struct core *core, PTOWorkerType type, uint64_t id)
{
    struct threads *e = core->state;
    if (!ptoi_replay_is_next(core->replay, id)) return false;
    struct lane *l = &e->lane[core->replay->worker[core->replay->next]];
    if (l->type != type || load_of(l) >= 2) return false;
    core->replay->next++;
    send(l, id, UNKNOWN_NS, false);
    return true;
}

static bool threads_start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct core *core = context;
    struct threads *e = core->state;
    if (core->config.external[type]) return start_outside(core, id);
    if (core->replay) return start_as_recorded(core, type, id);
    struct lane *best = NULL;
    const int64_t expected_ns = expect(e, core, id);
    const int32_t workers = core->config.workers[type];
    const bool takes_reserve = workers >= MANY && ptoi_ready_count(&core->sched.ready[type]) > (uint64_t)workers;
    for (int i = e->first[type]; i < e->first[type + 1]; i++) {
        struct lane *l = &e->lane[i];
        if (is_shut(e, l, expected_ns)) continue;
        if (has_room(l, expected_ns, takes_reserve) && (!best || l->load_ns < best->load_ns)) best = l;
        if (l->load_ns == 0) break;
    }
    if (!best) return false;
    if (load_of(best) == 0) *place = (int)(best - e->lane);
    send(best, id, expected_ns, false);
    return true;
}

static bool threads_follow(void *context, int place, uint64_t id)
{
    struct core *core = context;
    struct threads *e = core->state;
    struct lane *l = &e->lane[place];
    const int64_t expected_ns = expect(e, core, id);
    if (is_shut(e, l, expected_ns) || !has_room_behind(l, expected_ns)) return false;
    send(l, id, expected_ns, true);
    return true;
}

/* Tasks that ended outside: a stack that any thread pushes to and the holder of the role takes whole. */
static int collect_outside(struct core *core, struct completion *out, int max)
{
    struct threads *e = core->state;
    if (e->taken_outside == 0 && load_relaxed(&e->ended_outside) != 0)  /* relaxed: a hint */
        e->taken_outside = swap_acquire(&e->ended_outside, 0, OUTSIDE); /* [OUTSIDE] */
    int n = 0;
    for (; e->taken_outside && n < max; n++) {
        uint32_t slot = e->taken_outside - 1;
        out[n] = (struct completion){.id = window_task(core->window, slot)->id, .result = e->outside[slot].result};
        e->taken_outside = e->outside[slot].next;
    }
    return n;
}

static int threads_collect(void *context, struct completion *out, int max)
{
    struct threads *e = ((struct core *)context)->state;
    int n = 0;
    for (int i = 0; i < e->lane_count; i++) {
        struct lane *l = &e->lane[i];
        uint64_t from = load_relaxed(&l->collected), done = load_acquire(&l->done, ENDED); /* relaxed: ours; [ENDED] */
        for (; from != done && n < max; from++) {
            const struct sent_task *t = &l->task[from % LANE_DEPTH];
            out[n++] = (struct completion){.id = t->id, .result = l->result[from % LANE_DEPTH]};
            l->load_ns -= t->expected_ns;
        }
        store_relaxed(&l->collected, from); /* relaxed: others take it as a hint */
    }
    if (e->outside) n += collect_outside(context, out + n, max - n);
    return n;
}

/* ---- the role ---------------------------------------------------------------------------------------------------- */

static bool take_role(struct threads *e) /* model: TAKE_ROLE */
{
    PTO_LABEL(ROLE);
    return swap_acq_rel(&e->role, 1, ROLE) == 0; /* [ROLE] */
}

static bool has_input(struct core *core) /* model: HAS_INPUT */
{
    struct threads *e = core->state;
    if (load_acquire(&core->window->task_head, TASK) != load_relaxed(&e->seen_tasks)) return true;
    if (load_acquire(&core->window->event_head, EVENT) != load_relaxed(&e->seen_events)) return true;
    for (int i = 0; i < e->lane_count; i++)
        if (load_acquire(&e->lane[i].done, ENDED) != load_relaxed(&e->lane[i].collected)) return true;
    return load_relaxed(&e->ended_outside) != 0; /* relaxed: a hint, as seen_tasks */
}

/* A worker that wants to go on looks at what was published only now and then, while what ended makes enough ready. */
static bool step(struct core *core, bool is_hurried)
{
    struct threads *e = core->state;
    const int64_t since = core->recorder ? ptoi_record_now(core->recorder) : 0;
    bool any = false, started = false;
    if (is_hurried && e->unlooked++ < UNLOOKED) any = ptoi_sched_feed(&core->sched, &started);
    if (!started) {
        e->unlooked = 0;
        any |= ptoi_sched_step(&core->sched);
    }
    if (core->recorder && any) ptoi_record_step(core->recorder, since, ptoi_record_now(core->recorder));
    store_relaxed(&e->seen_tasks, core->sched.taken); /* relaxed: published by [ROLE] */
    store_relaxed(&e->seen_events, core->sched.events);
    if (any && e->told) {
        ptoi_sched_tell_quiet(&core->sched);
        ptoi_bell_ring(e->told); /* under the role: the bell has one ringer */
    }
    return any;
}

static bool has_task(struct lane *l) { return load_acquire(&l->sent, SENT) != load_acquire(&l->done, ENDED); }
/* For its worker. */
static bool has_own_task(struct lane *l) { return has_task(l) && !load_acquire(&l->has_helper, HELPER); }

/* The number of the next task that the caller has to run; false: none.  In this order: what was sent came after the
 * helper did, and before it left it had run all; so whoever finds fewer sent than done has looked at `sent` before
 * that. */
static bool find_own(struct lane *l, bool as_helper, uint64_t *n)
{
    const uint64_t sent = load_acquire(&l->sent, SENT); /* [SENT] */
    PTO_LABEL(SENT);
    if (load_acquire(&l->has_helper, HELPER) != as_helper) return false; /* [HELPER] */
    PTO_LABEL(HELPER);
    *n = load_relaxed(&l->done); /* relaxed: the caller's, or of who served the lane before, [HELPER] or [SENT] */
    return (int64_t)(sent - *n) > 0;
}

/* Gives the role back and wakes who has something to do now; has_input() comes after it, [ROLE].  A sleeping
 * orchestrator is woken without progress too: it may have found the role taken, and only it can prove that nothing will
 * change any more.  One that waits for a ring is let sleep until as much has retired as it wants: all in flight retires
 * without it, and whoever takes the last comes by here. */
static void leave_role(struct core *core, bool progress, bool by_sleeper) /* model: LEAVE_ROLE */
{
    struct threads *e = core->state;
    const uint64_t retired = core->sched.retired;
    PTO_LABEL(ROLE);
    swap_acq_rel(&e->role, 0, ROLE); /* [ROLE] */
    for (int i = 0; i < e->lane_count; i++)
        if (ptoi_park_is_sleeping(&e->lane[i].parker) && has_own_task(&e->lane[i])) ptoi_park_wake(&e->lane[i].parker);
    if (e->has_scheduler && ptoi_park_is_sleeping(&e->idle_scheduler) && has_input(core))
        ptoi_park_wake(&e->idle_scheduler);
    if (progress && e->told)
        ptoi_bell_wake(e->told);
    else if (!by_sleeper && ptoi_park_is_sleeping(&e->orchestrator) && retired >= load_relaxed(&e->wake_at))
        ptoi_park_wake(&e->orchestrator);
}

/* Takes the role only so that its holder looks again, see [ROLE].  true: there is input, and there was no holder. */
static bool pass_role(struct core *core)
{
    if (!take_role(core->state)) return false;
    leave_role(core, false, false);
    return has_input(core);
}

/* Whoever stops scheduling while there is input left wakes somebody for it. */
static void hand_over(struct threads *e) /* model: HAND_OVER */
{
    for (int i = 0; i < e->lane_count; i++)
        if (ptoi_park_is_sleeping(&e->lane[i].parker)) {
            ptoi_park_wake(&e->lane[i].parker);
            return;
        }
    if (ptoi_park_is_sleeping(&e->orchestrator)) ptoi_park_wake(&e->orchestrator);
}

static bool does_anybody_sleep(struct core *core)
{
    struct threads *e = core->state;
    int idle = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) idle += load_relaxed(&e->idle[t]); /* relaxed: a hint */
    /* relaxed: a hint */
    return idle > 0 || (ptoi_park_is_sleeping(&e->orchestrator) && load_relaxed(&e->wake_at) == 0);
}

/* true: the worker goes on without a look at the role, Note [deep lanes].  What has ended meanwhile is input that waits
 * for LANE_NS at most, or CHAIN_NS while nobody sleeps. */
static bool goes_on(struct lane *l, bool as_helper) /* model: GOES_ON */
{
    uint64_t n;
    if (!find_own(l, as_helper, &n)) return false;
    const struct sent_task *t = &l->task[n % LANE_DEPTH];
    return t->expected_ns < LANE_NS || (t->follows && !does_anybody_sleep(l->core));
}

/* Schedules until nothing is left to take; a worker with tasks of its own stops sooner, and leaves the rest to a
 * sleeper. true: something was taken. */
static bool schedule(struct core *core, struct lane *own, bool as_helper) /* model: SCHEDULE */
{
    struct threads *e = core->state;
    bool any = false;
    if (own && e->has_scheduler) { /* not our business: the swap makes the holder look again, see [ROLE] */
        pass_role(core);
        return false;
    }
    if (!own && !has_input(core)) return false; /* a worker comes with a task that ended: that is input */
    for (int round = 0;; round++) {
        if (!take_role(e)) return any;
        const bool progress = step(core, own && round == 0);
        any |= progress;
        leave_role(core, progress, false);
        if ((own && goes_on(own, as_helper)) || !has_input(core)) return any;
        if (own && round >= ROUNDS && has_task(own)) {
            hand_over(e);
            return any;
        }
    }
    return any;
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* as_helper: the caller is the orchestrator. */
static bool run_own(struct lane *l, bool as_helper) /* model: RUN_OWN */
{
    struct core *core = l->core;
    uint64_t n;
    if (!find_own(l, as_helper, &n)) return false;
    /* A failed run starts nothing more; what is cancelled here completes like any task.  What follows a task that
     * failed, or was cancelled, must not run, whatever the status says by now. */
    int result = 0;
    if (load_relaxed(&core->outcome->status) != PTO_OK) l->has_stopped = true; /* relaxed: a hint, later is fine */
    if (!l->has_stopped) {
        const uint64_t id = l->task[n % LANE_DEPTH].id;
        const PTOKernel *kernel = ptoi_task_kernel(core->window, id);
        int64_t since = 0, end;
        const bool is_timed = ptoi_busy_is_due(&l->busy, kernel, &end) || ptoi_task_limit_ns(core->window, id) > 0 ||
                              core->config.watchdog_seconds > 0;
        if (is_timed) since = ptoi_clock_ns();
        struct recorded_task *t = ptoi_record_task(core->recorder, id);
        if (t)
            t->row = (int32_t)(l - ((struct threads *)core->state)->lane), t->begin = ptoi_record_now(core->recorder);
        ptoi_running_begin(l->line, core->window, id, since);
        result = ptoi_worker_run(core->window, core->backend, core->heap, id);
        if (is_timed) {
            end = ptoi_clock_ns();
            ptoi_busy_measured(&l->busy, kernel, end - since);
            ptoi_grain_measured(&((struct threads *)core->state)->grain, kernel, end - since);
        }
        if (t) t->end = ptoi_record_now(core->recorder);
        ptoi_running_end_timed(l->line, core->window, core->outcome, id, since, end);
    }
    l->result[n % LANE_DEPTH] = result;
    if (result != 0) l->has_stopped = true;
    PTO_LABEL(ENDED);
    store_release(&l->done, n + 1, ENDED); /* [ENDED] */
    return true;
}

/* Sleeps unless there is something to do.  The announcement comes before the swap, the swap before the last look:
 * [ROLE]. */
static void sleep_until_task(struct threads *e, struct lane *l) /* model: SLEEP_WORKER */
{
    struct core *core = l->core;
    ptoi_park_announce(&l->parker);
    if (l != e->helper_lane) add_relaxed(&e->idle[l->type], 1);
    const bool again = pass_role(core) && !e->has_scheduler;
    PTO_LABEL(SLEEP);
    if (!again && !has_own_task(l) && !load_relaxed(&e->stop)) ptoi_park_wait(&l->parker, PTO_FOR_EVER);
    ptoi_park_cancel(&l->parker);
    if (l != e->helper_lane) add_relaxed(&e->idle[l->type], -1);
}

static void *worker_main(void *arg)
{
    struct lane *l = arg;
    struct core *core = l->core;
    struct threads *e = core->state;
    ptoi_crash_use_stack(e->stacks + (l - e->lane) * PTO_CRASH_STACK_BYTES);
    if (core->config.bind_workers) {
        const cpu_set_t own = ptoi_processor((int)(l - e->lane));
        ptoi_processor_keep(&own);
    }
    for (int spins = 0; !load_relaxed(&e->stop);) {
        if (run_own(l, false)) {
            if (!goes_on(l, false)) schedule(core, l, false);
            spins = 0;
        } else if (!e->has_scheduler && has_input(core) && load_relaxed(&e->role) == 0) { /* relaxed: a hint */
            schedule(core, l, false);
        } else if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else {
            sleep_until_task(e, l);
            spins = 0;
        }
    }
    ptoi_crash_use_stack(NULL);
    return NULL;
}

/* ---- a scheduler with a thread of its own ------------------------------------------------------------------------ */

static void *scheduler_main(void *arg)
{
    struct core *core = arg;
    struct threads *e = core->state;
    for (int spins = 0; !load_relaxed(&e->stop);) {
        if (schedule(core, NULL, false)) {
            spins = 0;
        } else if (++spins < SPINS) {
            pto_relax();
        } else {
            ptoi_park_announce(&e->idle_scheduler);
            const bool again = pass_role(core);
            PTO_LABEL(SLEEP);
            if (!again && !has_input(core) && !load_relaxed(&e->stop)) ptoi_park_wait(&e->idle_scheduler, PTO_FOR_EVER);
            ptoi_park_cancel(&e->idle_scheduler);
            spins = 0;
        }
    }
    return NULL;
}

/* ---- tasks that something outside carries out -------------------------------------------------------------------- */

static bool threads_completed(struct core *core, uint64_t id, int32_t result)
{
    struct threads *e = core->state;
    uint32_t slot = (uint32_t)(id & core->window->task_mask);
    uint64_t started = id + 1;
    if (!e->outside || started == 0 || !swap_if_relaxed(&e->outside[slot].open, &started, 0)) return false;
    uint32_t newest = load_relaxed(&e->ended_outside); /* relaxed: the exchange checks it */
    e->outside[slot].result = result;
    do {
        e->outside[slot].next = newest;
    } while (!swap_if_release(&e->ended_outside, &newest, slot + 1, OUTSIDE)); /* [OUTSIDE] */
    schedule(core, NULL, false);
    return true;
}

/* ---- the orchestrator's side ------------------------------------------------------------------------------------- */

/* The role stays with the workers, whose caches hold what it needs, as long as none sleeps that could run the task.
 * One that waits for others is started by whoever ends the last of them. */
static bool wants_scheduling(struct core *core)
{
    struct threads *e = core->state;
    const struct task_slot *t = window_task(core->window, core->orch.head - 1);
    if (e->has_scheduler) return ptoi_park_is_sleeping(&e->idle_scheduler);
    if (core->config.external[t->worker]) return true;
    if (t->dep_count > 0) return false;
    if (load_relaxed(&e->idle[t->worker]) > 0) return true; /* relaxed: a hint; later submits and waits look again */
    return e->helper_lane && e->helper_lane->type == t->worker && ptoi_park_is_sleeping(&e->helper_lane->parker) &&
           expect(e, core, t->id) >= LANE_NS;
}

static void threads_wake(void *context) /* model: PUBLISHED */
{
    struct core *core = context;
    struct threads *e = core->state;
    if (!wants_scheduling(core)) return;
    for (int round = 0; round < ROUNDS; round++) {
        if (!take_role(e)) return;
        leave_role(core, step(core, false), false);
        if (!has_input(core)) return;
    }
    hand_over(e);
}

/* ---- fine tasks: the orchestrator runs them itself, and is the scheduler while it does --------------------------- */

static bool threads_is_fine(void *context, const PTOKernel *kernel)
{
    struct threads *e = ((struct core *)context)->state;
    return ptoi_grain_is_fine(&e->grain, kernel);
}

static void threads_enter(void *context)
{
    ptoi_threads_take_role(context);
    ((struct threads *)((struct core *)context)->state)->holds = true;
}

static void threads_leave(void *context)
{
    ((struct threads *)((struct core *)context)->state)->holds = false;
    ptoi_threads_leave_role(context, false);
}

static void threads_measured(void *context, const PTOKernel *kernel, int64_t ns)
{
    struct threads *e = ((struct core *)context)->state;
    ptoi_grain_measured(&e->grain, kernel, ns);
}

/* ---- the waiting orchestrator works ------------------------------------------------------------------------------ */

/* Becomes the helper, if the host has nothing to run. */
static bool enter_lane(struct core *core, struct lane *l)
{
    struct threads *e = core->state;
    if (load_of(l) > 0 || !take_role(e)) return false; /* a hint first */
    const bool enters = load_of(l) == 0;
    if (enters) store_release(&l->has_helper, 1, HELPER); /* [HELPER] */
    const bool progress = step(core, false);
    leave_role(core, progress, false);
    return enters;
}

/* Runs what is left, and what others send meanwhile: at most what the window holds. */
static void leave_lane(struct core *core, struct lane *l)
{
    for (;;) {
        while (run_own(l, true)) {}
        ptoi_threads_take_role(core);
        const bool is_empty = !has_task(l);
        if (is_empty) store_release(&l->has_helper, 0, HELPER); /* [HELPER] */
        leave_role(core, false, false);
        if (is_empty) return;
    }
}

/* Works until the condition holds, *met, or there has been nothing to do for a while.  false: the lane is its host's
 * now. */
static bool serve_as_helper(struct core *core, bool (*is_met)(void *arg), void *arg, bool *met) /* model: HELPER */
{
    struct threads *e = core->state;
    struct lane *l = e->helper_lane;
    *met = false;
    if (!enter_lane(core, l)) return false;
    for (int spins = 0; spins < SPINS && !*met;) {
        const bool ran = run_own(l, true);
        if (ran && goes_on(l, true)) continue;
        if (ran || (has_input(core) && load_relaxed(&e->role) == 0)) { /* relaxed: a hint */
            schedule(core, l, true);
            *met = is_met(arg);
            spins = ran ? 0 : spins + 1;
        } else {
            spins++;
            pto_relax();
        }
    }
    leave_lane(core, l);
    return true;
}

/* Tasks are ready, nothing runs, and none of them is what the schedule wants next. */
static void fail_by_replay(struct core *core)
{
    ptoi_fail(core->outcome, PTO_ERR_ARGUMENT, NULL,
              "the schedule %s does not fit this run: its start number %lld never becomes ready", core->config.replay,
              (long long)core->replay->next);
}

/* So much has to retire before the wait is met that there is no use in watching, while the processors have other
 * work. */
static bool is_far(const struct core *core)
{
    enum { FAR = 16 };
    const struct threads *e = core->state;
    /* relaxed: a hint */
    return e->helper_lane && core->orch.flow.wake_at > load_relaxed(&core->window->task_tail) + FAR;
}

/* For the orchestrator that has announced it.  true: somebody will come who wakes it when there is reason to.  It does
 * what there is to do first: where workers are never idle there is always something, and coming back for that would
 * stop one of them each time. */
static bool may_sleep(struct core *core) /* model: SLEEP_ORCHESTRATOR */
{
    struct threads *e = core->state;
    for (int round = 0; round < ROUNDS; round++) {
        /* what was shut is open now, and has to be looked at: nobody else might come by */
        if (e->helper_lane && round == 0)
            ptoi_threads_take_role(core);
        else if (!take_role(e))
            return true; /* its holder will look at our announcement */
        const bool progress = step(core, false);
        const bool is_idle = core->sched.running == 0;
        leave_role(core, progress, true);
        if (is_idle) return false; /* nobody will come: look for the reason before sleeping */
        if (!has_input(core)) return true;
    }
    return false;
}

static bool threads_wait(void *context, bool (*is_met)(void *arg), void *arg) /* model: WAIT */
{
    struct core *core = context;
    struct threads *e = core->state;
    bool met, has_served = false;
    if (e->holds) return is_met(arg); /* nothing is in flight, so nothing will change */
    for (int spins = 0;;) {
        if (is_met(arg)) return true;
        if (e->helper_lane && spins % HOST_SPINS == 0 && spins < SPINS && serve_as_helper(core, is_met, arg, &met)) {
            if (met) return true;
            spins = 0;
            has_served = true; /* and was patient there */
        }
        if (spins % SPINS == 0 && take_role(e)) { /* seldom: workers that run have the role where it is warm */
            bool progress = step(core, false);
            bool quiet = ptoi_sched_is_quiet(&core->sched); /* under the role: nothing can start or end meanwhile */
            bool stuck = core->replay && !progress && core->sched.running == 0 && !ptoi_sched_has_input(&core->sched);
            met = is_met(arg);
            leave_role(core, progress, false);
            if (met) return true;
            if (quiet) return false;
            if (stuck) fail_by_replay(core);
            if (progress && core->orch.flow.wake_at == 0) spins = 0; /* what it waits for may be next */
        }
        if (has_served || (spins >= SPINS && is_far(core))) spins = SPINS + YIELDS;
        if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else {
            store_relaxed(&e->wake_at, core->orch.flow.wake_at); /* relaxed: the swap of the role publishes it */
            ptoi_park_announce(&e->orchestrator);
            const bool again = !may_sleep(core);
            PTO_LABEL(SLEEP);
            met = is_met(arg);
            if (!again && !met) ptoi_park_wait(&e->orchestrator, ptoi_overdue_sleep_ns(core->orch.least_limit_ms));
            ptoi_park_cancel(&e->orchestrator);
            if (met) return true;
            uint64_t late;
            if (core->orch.least_limit_ms > 0 && ptoi_running_overdue(core->window, e->line, e->lane_count, &late))
                ptoi_fail_timeout(core->window, core->outcome, late);
            spins = 0;
            has_served = false;
        }
    }
}

static const struct running_line *threads_lines(struct core *core, int *count)
{
    const struct threads *e = core->state;
    *count = e->lane_count;
    return e->line;
}

static void threads_poke(struct core *core) /* model: POKE */
{
    struct threads *e = core->state;
    ptoi_park_wake(&e->orchestrator); /* costs one futile round when it does not sleep */
}

void ptoi_threads_begin(struct core *core)
{
    struct threads *e = core->state;
    for (int i = 0; i < e->lane_count; i++) { /* its worker has nothing until a task is sent */
        store_relaxed(&e->line[i].busy_ns, 0);
        e->lane[i].has_stopped = false;
    }
}

static void threads_measure(struct core *core, PTORunStats *stats)
{
    struct threads *e = core->state;
    for (int i = 0; i < e->lane_count; i++) stats->worker_busy_ns[e->lane[i].type] += load_relaxed(&e->line[i].busy_ns);
}

void ptoi_threads_take_role(struct core *core)
{
    while (!take_role(core->state)) ptoi_yield(); /* a holder keeps it for a step */
}

void ptoi_threads_leave_role(struct core *core, bool changed)
{
    struct threads *e = core->state;
    if (changed && e->told) ptoi_bell_ring(e->told);
    leave_role(core, changed, false);
    if (has_input(core)) schedule(core, NULL, false);
}

bool ptoi_threads_schedule(struct core *core) { return schedule(core, NULL, false); }

/* The role's swaps are what makes the last holder's counts visible here. */
static void threads_settle(struct core *core, bool reset)
{
    ptoi_threads_take_role(core);
    if (reset) ptoi_sched_reset_marks(&core->sched);
    ptoi_threads_leave_role(core, false);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

void ptoi_threads_close(struct core *core)
{
    struct threads *e = core->state;
    if (!e) return;
    store_relaxed(&e->stop, 1); /* relaxed: [WOKEN] publishes it */ /* model: CLOSE */
    for (int i = 0; i < e->started; i++) ptoi_park_wake(&e->lane[i].parker);
    if (e->has_scheduler) {
        ptoi_park_wake(&e->idle_scheduler);
        ptoi_thread_join(e->scheduler);
    }
    for (int i = 0; i < e->started; i++) ptoi_thread_join(e->lane[i].thread);
    ptoi_memory_unmap(e->stacks, (uint64_t)e->lane_count * PTO_CRASH_STACK_BYTES);
    if (e->owns_lines) free(e->line);
    free(e->lane);
    free(e->outside);
    free(e);
    core->state = NULL;
}

static bool allocate_lanes(struct threads *e, struct running_line *line)
{
    const size_t count = (size_t)e->lane_count;
    e->owns_lines = !line;
    e->line = line ? line : aligned_alloc(PTO_CACHELINE, count * sizeof *line);
    e->lane = aligned_alloc(PTO_CACHELINE, count * sizeof *e->lane);
    e->stacks = ptoi_memory_map(count * PTO_CRASH_STACK_BYTES, false);
    return e->line && e->lane && e->stacks;
}

/* Not where the orchestrator has to watch the others. */
static void choose_helper_lane(struct core *core)
{
    struct threads *e = core->state;
    const PTOConfig *c = &core->config;
    const int processors = ptoi_processors();
    if (e->told || e->outside || core->backend->mirror || c->replay || c->dedicated_scheduler ||
        c->watchdog_seconds > 0 || processors < 2)
        return;
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        if (c->workers[t] >= processors) e->helper_lane = &e->lane[e->first[t + 1] - 1];
}

static PTOStatus open_lanes(struct core *core, struct running_line *line, struct bell *told)
{
    struct threads *e = aligned_alloc(PTO_CACHELINE, ptoi_whole_lines(sizeof *e));
    if (!e) return PTO_ERR_NOMEM;
    *e = (struct threads){.told = told};
    ptoi_grain_init(&e->grain, ptoi_processors());
    core->state = e;
    ptoi_park_init(&e->orchestrator);
    ptoi_park_init(&e->idle_scheduler);
    store_relaxed(&e->seen_tasks, core->sched.taken); /* relaxed: no thread runs yet */
    store_relaxed(&e->seen_events, core->sched.events);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) e->first[t + 1] = e->first[t] + core->config.workers[t];
    e->lane_count = e->first[PTO_WORKER_TYPES];
    bool outside = false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) outside |= core->config.external[t];
    if (outside) e->outside = calloc(core->window->task_mask + 1, sizeof *e->outside);
    if ((outside && !e->outside) || !allocate_lanes(e, line)) {
        ptoi_threads_close(core);
        return PTO_ERR_NOMEM;
    }
    for (int t = 0; t < PTO_WORKER_TYPES; t++)
        for (int i = e->first[t]; i < e->first[t + 1]; i++) {
            e->line[i] = (struct running_line){0};
            e->lane[i] = (struct lane){.core = core, .type = (PTOWorkerType)t, .line = &e->line[i]};
            ptoi_park_init(&e->lane[i].parker);
        }
    choose_helper_lane(core);
    core->sched.ops = &ptoi_engine_threads.ops;
    core->sched.context = core;                          /* of this process */
    e->has_scheduler = core->config.dedicated_scheduler; /* before any thread looks */
    if (e->has_scheduler && !ptoi_thread_start(&e->scheduler, scheduler_main, core)) {
        e->has_scheduler = false;
        ptoi_threads_close(core);
        return PTO_ERR_NOMEM;
    }
    for (; e->started < e->lane_count; e->started++)
        if (!ptoi_thread_start(&e->lane[e->started].thread, worker_main, &e->lane[e->started])) {
            ptoi_threads_close(core);
            return PTO_ERR_NOMEM;
        }
    return PTO_OK;
}

PTOStatus ptoi_threads_open_apart(struct core *core, struct running_line *line, struct bell *told)
{
    return open_lanes(core, line, told);
}

static PTOStatus threads_open(struct core *core) { return open_lanes(core, NULL, NULL); }

const struct engine ptoi_engine_threads = {.name = "threads",
                                           .elides = true,
                                           .ops = {.start = threads_start,
                                                   .collect = threads_collect,
                                                   .follow = threads_follow,
                                                   .failed = ptoi_core_failed,
                                                   .wake = threads_wake,
                                                   .wait = threads_wait,
                                                   .is_fine = threads_is_fine,
                                                   .enter = threads_enter,
                                                   .leave = threads_leave,
                                                   .measured = threads_measured},
                                           .open = threads_open,
                                           .close = ptoi_threads_close,
                                           .begin = ptoi_threads_begin,
                                           .poke = threads_poke,
                                           .settle = threads_settle,
                                           .completed = threads_completed,
                                           .lines = threads_lines,
                                           .measure = threads_measure};
