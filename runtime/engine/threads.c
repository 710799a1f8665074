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
 *            forgotten: whoever makes input (a task published, a kernel ended) or announces that it sleeps, then swaps
 *            `role`.  If that finds the role taken, the holder's swap back comes later in the order of `role` and reads
 *            from it, so the holder sees the announcement in leave_role() and the input in has_input(), for which it
 *            looks after every swap back; a worker that has a short task of its own runs that first, and comes back.
 * [OUTSIDE]  what ended outside is complete before its slot is in the stack.
 * [HELPER]   who serves a lane, see Note [helping orchestrator]: what is sent comes after the helper, and the host's
 *            service after all that it ran.
 * [ASLEEP]   the orchestrator, which may call nothing for long, publishes a task, then loads which workers sleep; a
 *            worker announces that it sleeps, makes all threads pass a barrier, then looks for tasks: barrier.h.  A nap
 *            needs none: its sleeper looks again.
 * [SENT]     a lane's task[] is complete below sent.
 * [ENDED]    result[] and the kernel's writes are complete below done.
 * Tests      test/runtime/test_lanes.c, test_runtime.c, test_deadlock.c, stress_graphs.c; test/model */
#include "threads_parts.h"
#include "backend/worker.h"
#include "debug/backtrace.h"
#include "debug/crash.h"
#include "shared/barrier.h"
#include "shared/processors.h"

/* What a thread does before it sleeps for ever.  ASKS: of a worker, outside.  A nap takes NAP_NS at most. */
#if defined PTO_TINY || defined PTO_SCHEDULED
enum { SPINS = 2, YIELDS = 0, ASKS = 2, NAPS = 0 }; /* to sleep as often as can be: that is where wakes could be lost */
#else
enum { SPINS = 256, YIELDS = 16, ASKS = 64, NAPS = 1 };
#endif
enum { NAP_NS = 1000000, LOOK_NS = 10000000 }; /* LOOK_NS: a sleep where the system has no barrier of all threads */
/* ROUNDS: of scheduling, before other work is considered; HOST_SPINS: then the orchestrator asks the host again. */
enum { ROUNDS = 4, UNLOOKED = 7, HOST_SPINS = 32 };

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
    return ptoi_outside_has_ended(&e->outside);
}

/* A worker that wants to go on looks at what was published only now and then, while what ended makes enough ready. */
static bool step(struct core *core, bool is_hurried)
{
    struct threads *e = core->state;
    const int64_t since = core->recorder ? ptoi_record_now(core->recorder) : 0;
    bool any = false, started = false;
    e->expected_kernel = 0;
    if (is_hurried && e->unlooked++ < UNLOOKED) any = ptoi_sched_feed(&core->sched, &started);
    if (!started) {
        e->unlooked = 0;
        any |= ptoi_sched_step(&core->sched);
    }
    if (core->recorder && any) ptoi_record_step(core->recorder, since, ptoi_record_now(core->recorder));
    store_relaxed(&e->seen_tasks, core->sched.taken); /* relaxed: published by [ROLE] */
    store_relaxed(&e->seen_events, core->sched.events);
    if (any && e->notify) {
        ptoi_sched_notify_quiet(&core->sched);
        ptoi_bell_ring(e->notify); /* under the role: the bell has one ringer */
    }
    return any;
}

static bool has_task(struct lane *l) { return load_acquire(&l->sent, SENT) != load_acquire(&l->done, ENDED); }
/* For its worker. */
static bool has_own_task(struct lane *l) { return has_task(l) && !load_acquire(&l->has_helper, HELPER); }

/* The number of the next task that the caller has to run, and how many were sent; false: none.  In this order: what was
 * sent came after the helper did, and before it left it had run all; a thread that finds fewer sent than done looked
 * at `sent` before that. */
static inline bool find_own(struct lane *l, bool as_helper, uint64_t *n, uint64_t *sent)
{
    *sent = load_acquire(&l->sent, SENT); /* [SENT] */
    PTO_LABEL(SENT);
    if (load_acquire(&l->has_helper, HELPER) != as_helper) return false; /* [HELPER] */
    PTO_LABEL(HELPER);
    *n = load_relaxed(&l->done); /* relaxed: the caller's, or of who served the lane before, [HELPER] or [SENT] */
    return (int64_t)(*sent - *n) > 0;
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
    if (progress && e->notify)
        ptoi_bell_wake(e->notify);
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

static bool does_helper_sleep(struct threads *e)
{
    return e->helper_lane && ptoi_park_is_sleeping(&e->helper_lane->parker);
}

static bool does_anybody_sleep(struct threads *e) /* but the helper's host */
{
    const int asleep = load_relaxed(&e->asleep); /* relaxed: a hint */
    return asleep > does_helper_sleep(e) || (ptoi_park_is_sleeping(&e->orchestrator) && load_relaxed(&e->wake_at) == 0);
}

/* Does task number n of the lane begin without a look at the role, Note [deep lanes]?  What has ended meanwhile is
 * input that waits for LANE_NS at most, or CHAIN_NS while nobody sleeps. */
static inline bool begins_at_once(struct lane *l, uint64_t n)
{
    const struct sent_task *t = &l->task[n % LANE_DEPTH];
    return t->expected_ns < LANE_NS || (t->follows && !does_anybody_sleep(l->core->state));
}

/* true: the worker goes on. */
static bool goes_on(struct lane *l, bool as_helper) /* model: GOES_ON */
{
    uint64_t n, sent;
    return find_own(l, as_helper, &n, &sent) && begins_at_once(l, n);
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

/* The kernel of a task that is neither watched nor timed. */
static inline __attribute__((always_inline)) int run_plain(const struct lane *l, const struct core *core,
                                                           const struct task_slot *t, const PTOKernel *kernel,
                                                           int64_t ns, int32_t thread)
{
    const struct threads *e = core->state;
    struct running_line *const line = l->line + e->shift[t->worker];
    const PTOSite *const site = ptoi_image_pointer(t->site);
    ptoi_running_begin_kernel(line, kernel, site, t->id, thread, 0, 0);
    const int result = ptoi_worker_run_here(core->window, core->backend, core->heap, t, kernel, site);
    ptoi_running_end_kernel(line, ns);
    return result;
}

static inline __attribute__((always_inline)) int run_task(struct lane *l, struct core *core, uint64_t id,
                                                          bool as_helper)
{
    const struct threads *e = core->state;
    const struct task_slot *const t = window_task(core->window, id);
    const PTOKernel *const kernel = ptoi_image_pointer_of(t->kernel);
    int64_t ns;
    if (__builtin_expect((t->flags & (TASK_STRIP | TASK_TIMED)) | e->is_watched, 0) ||
        ptoi_busy_is_due(&l->busy, kernel, &ns))
        return ptoi_threads_run_watched(l, t, as_helper);
    return run_plain(l, core, t, kernel, ns, as_helper ? e->helper_thread : l->thread_number);
}

/* Runs what the lane has, the first task at least, until it wants a look at the role, goes_on(), or nothing is left of
 * what was sent when it came: so long nobody changes whose lane it is.  It counts by itself, because behind the last of
 * these the counters may be another one's.  as_helper: the caller is the orchestrator. */
static bool run_own(struct lane *l, bool as_helper) /* model: RUN_OWN */
{
    struct core *const core = l->core;
    struct run_status *const run_status = core->run_status;
    uint64_t n, sent;
    if (!find_own(l, as_helper, &n, &sent)) return false;
    do {
        const uint64_t id = l->task[n % LANE_DEPTH].id;
        int result = 0;
        /* A failed run starts nothing more; what is cancelled here completes like any task.  What follows a task that
         * failed, or was cancelled, must not run, whatever the status says by now. */
        if (load_relaxed(&run_status->status) != PTO_OK) l->has_stopped = true; /* relaxed: a hint, later is fine */
        if (core->replay && !l->has_stopped) l->has_stopped = !ptoi_threads_await_place(l, id);
        if (!l->has_stopped) result = run_task(l, core, id, as_helper);
        l->result[n % LANE_DEPTH] = result;
        if (result != 0) l->has_stopped = true;
        PTO_LABEL(ENDED);
        store_release(&l->done, ++n, ENDED); /* [ENDED] */
    } while (n != sent && begins_at_once(l, n));
    return true;
}

/* For a sleeper that comes back soon: as pass_role, but it does not take the role, so no thread finds that taken and
 * need be woken.  It is a step in the order of `role`, so what [ROLE] says of a swap holds. */
static bool touch_role(struct core *core)
{
    struct threads *e = core->state;
    return add_acq_rel(&e->role, 0, ROLE) == 0 && has_input(core); /* [ROLE] */
}

/* After the announcement: how long a thread may sleep that wants to sleep so long. */
static int64_t sleep_ns(int64_t ns)
{
    return ns == PTO_FOR_EVER && !barrier_of_threads(ASLEEP) ? LOOK_NS : ns; /* [ASLEEP] */
}

/* The worker was woken: for a probe, Note [measured] in handover.h?  It is awake, so it goes on looking for tasks. */
static void write_for_probe(struct lane *l)
{
    enum { BEATS = 1000, APART = 4 };
    struct handover *h = &((struct threads *)l->core->state)->handover;
    if (!ptoi_handover_is_wanted(h)) return;
    for (int i = 0; i < BEATS && ptoi_handover_beat(h) && !has_own_task(l) && !has_input(l->core); i++)
        for (int k = 0; k < APART; k++) pto_relax();
}

/* Sleeps unless there is something to do, so long at most.  The announcement comes before the swap, the swap before the
 * last look: [ROLE]. */
static void sleep_until_task(struct lane *l, int64_t ns) /* model: SLEEP_WORKER */
{
    struct core *core = l->core;
    struct threads *e = core->state;
    ptoi_park_announce(&l->parker);
    add_relaxed(&e->asleep, 1);
    if (l != e->helper_lane) add_relaxed(&e->idle[l->group], 1);
    ns = sleep_ns(ns);
    const bool again = (ns == PTO_FOR_EVER ? pass_role(core) : touch_role(core)) && !e->has_scheduler;
    PTO_LABEL(SLEEP);
    if (!again && !has_own_task(l) && !load_relaxed(&e->stop)) {
        ptoi_worker_enter(&l->clock, WORKER_ASLEEP);
        store_relaxed(&l->slept_on, ptoi_processor_now()); /* relaxed: a hint */
        ptoi_park_wait(&l->parker, ns);
        ptoi_worker_enter(&l->clock, WORKER_IDLE);
    }
    ptoi_park_cancel(&l->parker);
    if (l != e->helper_lane) add_relaxed(&e->idle[l->group], -1);
    add_relaxed(&e->asleep, -1);
    write_for_probe(l);
}

static bool begins_long(struct lane *l)
{
    uint64_t n, sent;
    return find_own(l, false, &n, &sent) && l->task[n % LANE_DEPTH].expected_ns >= LANE_NS;
}

/* The worker has nothing to do.  It asks outside, and sleeps when that was in vain ASKS times; *asks counts. */
static void look_outside(struct lane *l, int *asks)
{
    const struct outside *o = &l->core->outside;
    ptoi_worker_enter(&l->clock, WORKER_IDLE);
    if (o->progress(o->context))
        *asks = 1;
    else if (*asks < ASKS)
        ++*asks, ptoi_yield();
    else
        sleep_until_task(l, o->rest(o->context, l));
}

/* The worker will not ask outside for long.  It does so now, because the thread of the transfers may not get a
 * processor meanwhile. */
static void look_before_long(struct lane *l, int *asks)
{
    const struct outside *o = &l->core->outside;
    o->progress(o->context);
    if (*asks > 0) o->leave(o->context, l);
    *asks = 0;
}

void *ptoi_threads_worker(void *arg)
{
    struct lane *l = arg;
    struct core *core = l->core;
    struct threads *e = core->state;
    l->thread_number = ptoi_backtrace_thread();
    ptoi_crash_use_stack(e->stacks + (l - e->lane) * PTO_CRASH_STACK_BYTES);
    if (core->config.bind_workers) {
        const cpu_set_t own = ptoi_processor((int)(l - e->lane));
        ptoi_processor_keep(&own);
    }
    for (int spins = 0, asks = 0; !load_relaxed(&e->stop);) {
        if (core->outside.progress && begins_long(l)) look_before_long(l, &asks);
        if (run_own(l, false)) {
            if (!goes_on(l, false)) schedule(core, l, false);
            spins = 0;
            asks = asks > 0;
        } else if (!e->has_scheduler && has_input(core) && load_relaxed(&e->role) == 0) { /* relaxed: a hint */
            ptoi_worker_enter(&l->clock, WORKER_DISPATCH);
            schedule(core, l, false);
        } else if (core->outside.progress) {
            look_outside(l, &asks);
        } else if (++spins < SPINS) {
            ptoi_worker_enter(&l->clock, WORKER_IDLE);
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else if (spins < SPINS + YIELDS + NAPS) {
            sleep_until_task(l, NAP_NS);
        } else {
            sleep_until_task(l, PTO_FOR_EVER);
            spins = 0;
        }
    }
    ptoi_crash_use_stack(NULL);
    return NULL;
}

/* ---- a scheduler with a thread of its own ------------------------------------------------------------------------ */

void *ptoi_threads_scheduler(void *arg)
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
            const int64_t ns = sleep_ns(spins < SPINS + NAPS ? NAP_NS : PTO_FOR_EVER);
            const bool again = pass_role(core);
            PTO_LABEL(SLEEP);
            if (!again && !has_input(core) && !load_relaxed(&e->stop)) ptoi_park_wait(&e->idle_scheduler, ns);
            ptoi_park_cancel(&e->idle_scheduler);
            if (ns != NAP_NS) spins = 0;
        }
    }
    return NULL;
}

/* ---- tasks that something outside carries out -------------------------------------------------------------------- */

bool ptoi_threads_completed(struct core *core, uint64_t id, int32_t result)
{
    struct threads *e = core->state;
    if (!ptoi_outside_end(&e->outside, core->window, id, result)) return false;
    schedule(core, NULL, false);
    return true;
}

/* ---- the orchestrator's side ------------------------------------------------------------------------------------- */

/* The role stays with the workers, whose caches hold what it needs, as long as none sleeps that could run the task.
 * One that waits for others is started by the thread that ends the last; if all sleep, they looked before it came. */
static bool wants_scheduling(struct core *core)
{
    struct threads *e = core->state;
    const struct task_slot *t = window_task(core->window, core->orch.rings.head - 1);
    if (e->has_scheduler) return ptoi_park_is_sleeping(&e->idle_scheduler);
    if (core->config.external[t->worker]) return true;
    if (t->dep_count > 0) return load_relaxed(&e->asleep) == e->lane_count; /* relaxed: a hint */
    const int group = core->sched.group[t->worker];
    if (load_relaxed(&e->idle[group]) > 0) return true; /* relaxed: likewise; later submits and waits look again */
    return does_helper_sleep(e) && e->helper_lane->group == group && lane_expect_ns(e, core, t->id) >= LANE_NS;
}

static __attribute__((noinline)) void wake_for_task(struct core *core)
{
    struct threads *e = core->state;
    if (!wants_scheduling(core)) return;
    ptoi_handover_unmark(&e->handover);
    for (int round = 0; round < ROUNDS; round++) {
        if (!take_role(e)) return;
        leave_role(core, step(core, false), false);
        if (!has_input(core)) return;
    }
    hand_over(e);
}

void ptoi_threads_wake(void *context) /* model: PUBLISHED */
{
    struct threads *e = ((struct core *)context)->state;
    barrier_at_compiler(); /* [ASLEEP] the task is published, all loads come later */
    if (e->looks_always || load_relaxed(&e->asleep) > 0) wake_for_task(context);
}

/* ---- the waiting orchestrator works ------------------------------------------------------------------------------ */

/* Becomes the helper, if the host has nothing to run. */
static bool enter_lane(struct core *core, struct lane *l)
{
    struct threads *e = core->state;
    if (lane_load(l) > 0 || !take_role(e)) return false; /* a hint first */
    const bool enters = lane_load(l) == 0;
    e->helper_thread = ptoi_backtrace_thread();
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

bool ptoi_threads_wait(void *context, bool (*is_met)(void *arg), void *arg) /* model: WAIT */
{
    struct core *core = context;
    struct threads *e = core->state;
    bool met, has_served = false;
    ptoi_handover_unmark(&e->handover);
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
            if (stuck) ptoi_threads_fail_replay(core);
            if (progress && core->orch.flow.wake_at == 0) spins = 0; /* what it waits for may be next */
        }
        if (has_served || (spins >= SPINS && is_far(core))) spins = SPINS + YIELDS;
        if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            ptoi_yield();
        } else {
            ptoi_say_outside(core);
            store_relaxed(&e->wake_at, core->orch.flow.wake_at); /* relaxed: the swap of the role publishes it */
            ptoi_park_announce(&e->orchestrator);
            const bool again = !may_sleep(core);
            PTO_LABEL(SLEEP);
            met = is_met(arg);
            if (!again && !met) ptoi_park_wait(&e->orchestrator, ptoi_overdue_sleep_ns(core->orch.run.least_limit_ms));
            ptoi_park_cancel(&e->orchestrator);
            if (met) return true;
            uint64_t late;
            if (core->orch.run.least_limit_ms > 0 && ptoi_running_overdue(core->window, e->line, e->row_count, &late))
                ptoi_fail_timeout(core->window, core->run_status, late);
            spins = 0;
            has_served = false;
        }
    }
}

void ptoi_threads_poke(struct core *core) /* model: POKE */
{
    struct threads *e = core->state;
    ptoi_park_wake(&e->orchestrator); /* costs one futile round when it does not sleep */
}

void ptoi_threads_take_role(struct core *core)
{
    while (!take_role(core->state)) ptoi_yield(); /* a holder keeps it for a step */
}

void ptoi_threads_leave_role(struct core *core, bool changed)
{
    struct threads *e = core->state;
    if (changed && e->notify) ptoi_bell_ring(e->notify);
    leave_role(core, changed, false);
    if (has_input(core)) schedule(core, NULL, false);
}

bool ptoi_threads_schedule(struct core *core) { return schedule(core, NULL, false); }

/* The role's swaps are what makes the last holder's counts visible here. */
void ptoi_threads_settle(struct core *core, bool reset)
{
    ptoi_threads_take_role(core);
    if (reset) ptoi_sched_reset_marks(&core->sched);
    ptoi_threads_leave_role(core, false);
}
