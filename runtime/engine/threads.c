/* threads.c - the caller orchestrates, every worker is a thread, and the scheduler role goes to whoever has nothing better to do.
 *
 * Idea       each worker has a lane: tasks go in by `sent`, results come out by `done`, both only grow, each has one writer.
 *            `role` is a flag; whoever swaps it from 0 to 1 is the scheduler until it swaps it back.
 * Owner      the holder of the role: struct scheduler, and in every lane `sent`, `task`, `collected`.  The worker of a lane: `done`,
 *            `result`.
 * Blocks     workers and the waiting orchestrator, after a short spin, in park.h.
 *
 * [ROLE]     swap acq_rel: what one holder did is visible to the next.  No input is left lying and no sleeper is forgotten:
 *            whoever makes input (a task published, a kernel ended) or announces that it sleeps, then swaps `role`.  If that
 *            finds the role taken, the holder's swap back comes later in the order of `role` and reads from it, so the holder
 *            sees the input or the announcement in leave_role(), which looks for both after every swap back.
 * [SENT]     a lane's task[] is complete below sent.      [ENDED] result[] and the kernel's writes are complete below done.
 * Tests      test/runtime/test_engines.c, stress_graphs.c */
#include "check.h"
#include "park.h"
#include "runtime.h"
#include "worker.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { LANE_DEPTH = 2, SPINS = 256, YIELDS = 2, ROUNDS_BEFORE_OWN_WORK = 4 };

struct lane {
    /* W holder of the role, R worker.  Tasks ever given: store release [SENT], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t sent;
    uint64_t task[LANE_DEPTH];
    /* W holder of the role; R anyone, relaxed: a hint that something ended. */
    _Atomic uint64_t collected;
    /* W worker, R holder of the role.  Tasks ever ended: store release [ENDED], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t done;
    int32_t result[LANE_DEPTH];
    int64_t busy_ns; /* the worker's; read when it has stopped or the run is drained */
    _Alignas(PTO_CACHELINE) struct parker parker;
    PTORuntime *rt;
    PTOWorkerType type;
    pthread_t thread;
};

struct threads {
    /* W whoever swaps it, R anyone: swap acq_rel [ROLE]. */
    _Alignas(PTO_CACHELINE) _Atomic int role;
    /* W holder of the role, R anyone, relaxed: how far the scheduler has taken, a hint. */
    _Atomic uint64_t seen_tasks, seen_events;
    /* W workers: add seq_cst; R orchestrator, relaxed: worth a look at the role after a publication? */
    _Alignas(PTO_CACHELINE) _Atomic int idle;
    _Alignas(PTO_CACHELINE) _Atomic int stop; /* W close: store release, R workers: load acquire */
    struct parker orchestrator;
    struct lane *lane;
    int lane_count, started;
    int first[PTO_WORKER_TYPES + 1]; /* lanes of a type are [first[t], first[t + 1]) */
    uint64_t published;              /* the orchestrator's */
};

/* ---- the machine that the scheduler feeds: the lanes ------------------------------------------------------------------- */

static bool lane_start(void *context, PTOWorkerType type, uint64_t id)
{
    struct threads *e = ((PTORuntime *)context)->engine_state;
    struct lane *best = NULL;
    uint64_t best_load = LANE_DEPTH;
    for (int i = e->first[type]; i < e->first[type + 1]; i++) {
        struct lane *l = &e->lane[i];
        uint64_t load = load_relaxed(&l->sent) - load_relaxed(&l->collected); /* relaxed: both are ours */
        if (load < best_load) best = l, best_load = load;
        if (load == 0) break;
    }
    if (!best) return false;
    uint64_t n = load_relaxed(&best->sent); /* relaxed: ours */
    best->task[n % LANE_DEPTH] = id;
    PTO_LABEL(SENT);
    store_release(&best->sent, n + 1); /* [SENT] */
    return true;
}

static int lane_collect(void *context, struct completion *out, int max)
{
    struct threads *e = ((PTORuntime *)context)->engine_state;
    int n = 0;
    for (int i = 0; i < e->lane_count; i++) {
        struct lane *l = &e->lane[i];
        uint64_t from = load_relaxed(&l->collected), done = load_acquire(&l->done); /* relaxed: ours; [ENDED] */
        for (; from != done && n < max; from++)
            out[n++] = (struct completion){.id = l->task[from % LANE_DEPTH], .result = l->result[from % LANE_DEPTH]};
        store_relaxed(&l->collected, from); /* relaxed: others take it as a hint */
    }
    return n;
}

/* ---- the role ----------------------------------------------------------------------------------------------------------------- */

static bool take_role(struct threads *e)
{
    PTO_LABEL(ROLE);
    return swap_acq_rel(&e->role, 1) == 0; /* [ROLE] */
}

static bool has_input(PTORuntime *rt)
{
    struct threads *e = rt->engine_state;
    if (load_acquire(&rt->window->task_head) != load_relaxed(&e->seen_tasks)) return true;
    if (load_acquire(&rt->window->event_head) != load_relaxed(&e->seen_events)) return true;
    for (int i = 0; i < e->lane_count; i++)
        if (load_acquire(&e->lane[i].done) != load_relaxed(&e->lane[i].collected)) return true;
    return false;
}

static bool step(PTORuntime *rt)
{
    struct threads *e = rt->engine_state;
    const int64_t since = rt->recorder ? ptoi_now_ns() : 0;
    bool any = ptoi_sched_step(&rt->sched);
    if (rt->recorder && any) ptoi_record_step(rt->recorder, since, ptoi_now_ns());
    store_relaxed(&e->seen_tasks, rt->sched.taken); /* relaxed: published by [ROLE] */
    store_relaxed(&e->seen_events, rt->sched.events);
    return any;
}

static bool has_task(struct lane *l) { return load_acquire(&l->sent) != load_acquire(&l->done); }

/* Gives the role back and wakes who has something to do now.  true: new input came, take the role again. */
static bool leave_role(PTORuntime *rt, bool progress)
{
    struct threads *e = rt->engine_state;
    PTO_LABEL(ROLE);
    swap_acq_rel(&e->role, 0); /* [ROLE] */
    for (int i = 0; i < e->lane_count; i++)
        if (ptoi_park_is_sleeping(&e->lane[i].parker) && has_task(&e->lane[i])) ptoi_park_wake(&e->lane[i].parker);
    if (progress && ptoi_park_is_sleeping(&e->orchestrator)) ptoi_park_wake(&e->orchestrator);
    return has_input(rt);
}

/* Whoever stops scheduling while there is input left wakes somebody for it. */
static void hand_over(struct threads *e)
{
    for (int i = 0; i < e->lane_count; i++)
        if (ptoi_park_is_sleeping(&e->lane[i].parker)) {
            ptoi_park_wake(&e->lane[i].parker);
            return;
        }
    if (ptoi_park_is_sleeping(&e->orchestrator)) ptoi_park_wake(&e->orchestrator);
}

/* Schedules until nothing is left to take; a worker with tasks of its own stops sooner, and leaves the rest to a sleeper. */
static void schedule(PTORuntime *rt, struct lane *own)
{
    struct threads *e = rt->engine_state;
    for (int round = 0; has_input(rt); round++) {
        if (!take_role(e)) return;
        bool progress = step(rt);
        if (!leave_role(rt, progress)) return;
        if (own && round >= ROUNDS_BEFORE_OWN_WORK && has_task(own)) {
            hand_over(e);
            return;
        }
    }
}

/* ---- workers ------------------------------------------------------------------------------------------------------------------- */

static bool run_own(struct lane *l)
{
    PTORuntime *rt = l->rt;
    uint64_t n = load_relaxed(&l->done); /* relaxed: ours */
    if (load_acquire(&l->sent) == n) return false; /* [SENT] */
    /* A failed run starts nothing more; what is cancelled here completes like any task. */
    int result = 0;
    if (load_relaxed(&rt->outcome->status) == PTO_OK) { /* relaxed: a hint, later is fine */
        const uint64_t id = l->task[n % LANE_DEPTH];
        const int64_t since = ptoi_now_ns();
        result = ptoi_worker_run(rt->window, rt->backend, rt->heap, id);
        const int64_t end = ptoi_now_ns();
        l->busy_ns += end - since;
        struct recorded_task *t = ptoi_record_task(rt->recorder, id);
        if (t) t->begin = since, t->end = end, t->row = (int32_t)(l - ((struct threads *)rt->engine_state)->lane);
    }
    l->result[n % LANE_DEPTH] = result;
    PTO_LABEL(ENDED);
    store_release(&l->done, n + 1); /* [ENDED] */
    return true;
}

/* Sleeps unless there is something to do.  The announcement comes before the swap, the swap before the last look: [ROLE]. */
static void sleep_until_task(struct threads *e, struct lane *l)
{
    PTORuntime *rt = l->rt;
    ptoi_park_announce(&l->parker);
    add_seq(&e->idle, 1);
    bool again = take_role(e) && leave_role(rt, false);
    PTO_LABEL(SLEEP);
    if (!again && !has_task(l) && !load_acquire(&e->stop)) ptoi_park_wait(&l->parker, PTO_FOR_EVER);
    ptoi_park_cancel(&l->parker);
    add_seq(&e->idle, -1);
}

static void *worker_main(void *arg)
{
    struct lane *l = arg;
    PTORuntime *rt = l->rt;
    struct threads *e = rt->engine_state;
    for (int spins = 0; !load_acquire(&e->stop);) {
        if (run_own(l)) {
            schedule(rt, l);
            spins = 0;
        } else if (has_input(rt) && load_relaxed(&e->role) == 0) { /* relaxed: a hint */
            schedule(rt, l);
        } else if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            sched_yield();
        } else {
            sleep_until_task(e, l);
            spins = 0;
        }
    }
    return NULL;
}

/* ---- the orchestrator's side ------------------------------------------------------------------------------------------------------ */

static void threads_published(void *context)
{
    enum { BATCH = 16, ROUNDS = 4 };
    PTORuntime *rt = context;
    struct threads *e = rt->engine_state;
    if (++e->published % BATCH != 0 && load_relaxed(&e->idle) == 0) return; /* relaxed: a hint; later submits and waits look again */
    for (int round = 0; round < ROUNDS; round++)
        if (!take_role(e) || !leave_role(rt, step(rt))) return;
    hand_over(e);
}

static bool threads_wait(void *context, bool (*is_met)(void *arg), void *arg)
{
    PTORuntime *rt = context;
    struct threads *e = rt->engine_state;
    for (int spins = 0;;) {
        if (is_met(arg)) return true;
        if (take_role(e)) {
            bool progress = step(rt);
            bool quiet = ptoi_sched_is_quiet(&rt->sched); /* under the role: nothing can start or end meanwhile */
            bool met = is_met(arg);
            leave_role(rt, progress);
            if (met) return true;
            if (quiet) return false;
            if (progress) {
                spins = 0;
                continue;
            }
        }
        if (++spins < SPINS) {
            pto_relax();
        } else if (spins < SPINS + YIELDS) {
            sched_yield();
        } else {
            ptoi_park_announce(&e->orchestrator);
            bool again = take_role(e) && leave_role(rt, false); /* taken: its holder will look at our announcement */
            PTO_LABEL(SLEEP);
            if (!again && !is_met(arg)) ptoi_park_wait(&e->orchestrator, PTO_FOR_EVER);
            ptoi_park_cancel(&e->orchestrator);
            spins = 0;
        }
    }
}

static void threads_poke(PTORuntime *rt)
{
    struct threads *e = rt->engine_state;
    ptoi_park_wake(&e->orchestrator); /* costs one futile round when it does not sleep */
}

static void threads_begin(PTORuntime *rt)
{
    struct threads *e = rt->engine_state;
    for (int i = 0; i < e->lane_count; i++) e->lane[i].busy_ns = 0; /* [ENDED] its worker has nothing until a task is sent */
}

static int64_t threads_now(void *context)
{
    (void)context;
    return ptoi_now_ns();
}

static void threads_measure(PTORuntime *rt, PTORunStats *stats)
{
    struct threads *e = rt->engine_state;
    for (int i = 0; i < e->lane_count; i++) stats->worker_busy_ns[e->lane[i].type] += e->lane[i].busy_ns;
}

/* ---- opening and closing ------------------------------------------------------------------------------------------------------------ */

static void threads_close(PTORuntime *rt)
{
    struct threads *e = rt->engine_state;
    if (!e) return;
    store_release(&e->stop, 1);
    for (int i = 0; i < e->started; i++) ptoi_park_wake(&e->lane[i].parker);
    for (int i = 0; i < e->started; i++) pthread_join(e->lane[i].thread, NULL);
    free(e->lane);
    free(e);
    rt->engine_state = NULL;
}

static PTOStatus threads_open(PTORuntime *rt)
{
    int count = 0;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) count += rt->config.workers[t];
    struct threads *e = aligned_alloc(PTO_CACHELINE, (sizeof *e + PTO_CACHELINE - 1) / PTO_CACHELINE * PTO_CACHELINE);
    if (!e) return PTO_ERR_NOMEM;
    *e = (struct threads){0};
    ptoi_park_init(&e->orchestrator);
    rt->engine_state = e;
    store_relaxed(&e->seen_tasks, rt->sched.taken); /* relaxed: no thread runs yet */
    store_relaxed(&e->seen_events, rt->sched.events);
    e->lane = aligned_alloc(PTO_CACHELINE, (size_t)count * sizeof *e->lane);
    if (!e->lane) {
        threads_close(rt);
        return PTO_ERR_NOMEM;
    }
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        e->first[t] = e->lane_count;
        for (int i = 0; i < rt->config.workers[t]; i++) {
            struct lane *l = &e->lane[e->lane_count];
            *l = (struct lane){.rt = rt, .type = (PTOWorkerType)t};
            ptoi_park_init(&l->parker);
            e->lane_count++;
        }
    }
    e->first[PTO_WORKER_TYPES] = e->lane_count;
    rt->sched.machine = (struct machine){.context = rt, .start = lane_start, .collect = lane_collect};
    for (; e->started < e->lane_count; e->started++)
        if (pthread_create(&e->lane[e->started].thread, NULL, worker_main, &e->lane[e->started])) {
            threads_close(rt);
            return PTO_ERR_NOMEM;
        }
    return PTO_OK;
}

const struct engine ptoi_engine_threads = {.name = "threads",
                                           .open = threads_open,
                                           .close = threads_close,
                                           .published = threads_published,
                                           .wait = threads_wait,
                                           .poke = threads_poke,
                                           .begin = threads_begin,
                                           .now = threads_now,
                                           .unit = "ns",
                                           .measure = threads_measure};
