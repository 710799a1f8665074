/* lanes.c - the machine that the scheduler of the engine threads feeds: a lane for each worker, and what is carried out
 * outside.
 *
 * Owner      the holder of the scheduler's role, but for `done` and `result` of a lane.
 * Blocks     never.
 * Tests      test/runtime/test_lanes.c, test_chaining.c, test_runtime.c */
#include "threads_parts.h"
#include "record/replay.h"
#include "shared/caller.h"

static bool has_room(struct lane *l, int64_t expected_ns, bool takes_reserve)
{
    const uint64_t load = lane_load(l);
    return load == 0 || (load == 1 && takes_reserve) || (load < LANE_DEPTH && l->load_ns + expected_ns <= LANE_NS);
}

/* Behind the last of a chain, see CHAIN_NS. */
static bool has_room_behind(struct lane *l, int64_t expected_ns)
{
    return lane_load(l) < LANE_DEPTH && l->load_ns + expected_ns <= (expected_ns < LANE_NS ? LANE_NS : CHAIN_NS);
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

static bool start_as_recorded(struct core *core, PTOWorkerType type, uint64_t id)
{
    struct threads *e = core->state;
    if (!ptoi_replay_is_next(core->replay, id)) return false;
    const int lane = core->replay->worker[core->replay->next] - e->shift[type];
    if (lane < e->first[type] || lane >= e->first[type] + core->config.workers[type]) return false;
    struct lane *l = &e->lane[lane];
    if (lane_load(l) >= 2) return false;
    core->replay->next++;
    send(l, id, UNKNOWN_NS, false);
    return true;
}

/* How long the task will run.  During a step the time of the last kernel that was asked for does not change. */
static inline int64_t expect_ns(struct threads *e, const struct core *core, uint64_t id)
{
    const struct task_slot *const t = window_task(core->window, id);
    if (__builtin_expect(t->kernel != e->expected_kernel || t->flags & (TASK_STRIP | TASK_TIMED), 0)) {
        e->expected_ns = lane_expect_ns(e, core, id);
        e->expected_kernel = t->flags & (TASK_STRIP | TASK_TIMED) ? 0 : t->kernel;
    }
    return e->expected_ns;
}

/* Where threads with nothing to do ask outside, the one that has found something runs what it made ready: of lanes with
 * nothing to do those go first whose workers are awake. */
static __attribute__((noinline)) struct lane *choose_lane(struct core *core, PTOWorkerType type, int64_t expected_ns)
{
    struct threads *e = core->state;
    struct lane *best = NULL;
    const int32_t workers = core->config.workers[type];
    const uint64_t ready = ptoi_ready_count(&core->sched.ready[core->sched.group[type]]);
    const bool takes_reserve = workers >= MANY && ready > (uint64_t)workers;
    for (int i = e->first[type]; i < e->first[type] + workers; i++) {
        struct lane *l = &e->lane[i];
        if (is_shut(e, l, expected_ns)) continue;
        const bool is_awake = !core->outside.progress || !ptoi_park_is_sleeping(&l->parker);
        const bool is_better =
            !best || l->load_ns < best->load_ns || (l->load_ns == 0 && best->load_ns == 0 && is_awake);
        if (has_room(l, expected_ns, takes_reserve) && is_better) best = l;
        if (l->load_ns == 0 && is_awake) break;
    }
    return best;
}

static inline struct lane *only_lane(struct threads *e, PTOWorkerType type, int64_t expected_ns)
{
    struct lane *const l = &e->lane[e->first[type]];
    return !is_shut(e, l, expected_ns) && has_room(l, expected_ns, false) ? l : NULL;
}

static bool start_in_lane(struct core *core, PTOWorkerType type, uint64_t id, int *place)
{
    struct threads *e = core->state;
    if (core->replay) return start_as_recorded(core, type, id);
    const int64_t expected_ns = expect_ns(e, core, id);
    struct lane *const l =
        core->config.workers[type] == 1 ? only_lane(e, type, expected_ns) : choose_lane(core, type, expected_ns);
    if (!l) return false;
    if (lane_load(l) == 0) *place = (int)(l - e->lane);
    send(l, id, expected_ns, false);
    return true;
}

/* The runtime's own tasks lie among those of a type that the program may have workers for. */
static bool start_outside(struct core *core, PTOWorkerType type, uint64_t id, int *place)
{
    struct threads *e = core->state;
    PTOArg args[PTO_MAX_PARAMS];
    const PTOKernel *kernel = ptoi_task_kernel(core->window, id);
    const bool is_ours = ptoi_is_outside(core, id);
    if (!is_ours && core->outside.is_mine) {
        const bool starts = start_in_lane(core, type, id, place);
        *place = NO_PLACE; /* what follows may be ours */
        return starts;
    }
    int count = ptoi_task_args(core->window, core->heap, id, args);
    ptoi_outside_open(&e->outside, core->window, id);
    if (is_ours) {
        core->outside.start(core->outside.context, id, kernel, args);
        return true;
    }
    const void *outer = ptoi_orchestrate(&ptoi_kernel); /* the caller may be the orchestrator */
    core->config.external_start(core->config.external_context, (int64_t)(id - (uint64_t)core->config.first_task_id),
                                kernel, args, count);
    ptoi_orchestrate(outer);
    return true;
}

bool ptoi_lanes_start(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct core *core = context;
    return core->config.external[type] ? start_outside(core, type, id, place) : start_in_lane(core, type, id, place);
}

bool ptoi_lanes_follow(void *context, int place, uint64_t id)
{
    struct core *core = context;
    struct threads *e = core->state;
    struct lane *l = &e->lane[place];
    const int64_t expected_ns = expect_ns(e, core, id);
    if (is_shut(e, l, expected_ns) || !has_room_behind(l, expected_ns)) return false;
    send(l, id, expected_ns, true);
    return true;
}

int ptoi_lanes_collect(void *context, struct completion *out, int max)
{
    struct core *core = context;
    struct threads *e = core->state;
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
    return n + ptoi_outside_collect(&e->outside, core->window, out + n, max - n);
}
