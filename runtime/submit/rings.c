/* rings.c - the rings of the window as the orchestrator sees them: what is in use, and waiting for room.
 *
 * Idea       each resource has a condition, "it fits", which the engine asks until it holds.  What comes back in the
 *            order of tasks is waited for in one go, until half of what is in flight has retired.
 * Owner      the orchestrator.
 * Invariant  tail <= head for each ring; what was in use when `tail` was read is not below the other tails.
 * Blocks     all that is called wait.
 * Tests      test/runtime/test_runtime.c, test_arguments.c, stress_limits.c */
#include "parts.h"

static void give_entries_back(struct orchestrator *o)
{
    if (o->rings.tail == o->rings.map_retired) return;
    ptoi_map_retire(o->edges.map, o->rings.tail);
    o->rings.map_retired = o->rings.tail;
}

void ptoi_orch_note_use(struct orchestrator *o)
{
    const uint64_t used = o->rings.head - o->rings.tail, map = (uint64_t)ptoi_map_used(o->edges.map),
                   deps = ptoi_orch_deps_used(o);
    if (used > o->flow.task_max) o->flow.task_max = used;
    if (map > o->flow.map_max) o->flow.map_max = map;
    if (deps > o->flow.dep_max) o->flow.dep_max = deps;
}

static void see_retired(struct orchestrator *o)
{
    uint64_t tail = load_acquire(&o->window->task_tail, RETIRE); /* [RETIRE] */
    o->rings.tail = tail;
    /* holds the oldest arguments and fan-in entries */
    const struct task_slot *oldest = tail == o->rings.head ? NULL : window_task(o->window, tail);
    o->rings.arg_tail = oldest ? oldest->arg_begin : o->rings.arg_head;
    o->rings.dep_tail = oldest ? oldest->dep_begin : o->rings.dep_head;
    give_entries_back(o);
}

void ptoi_see_retired(struct orchestrator *o)
{
    ptoi_orch_note_use(o); /* use grows from one look to the next, and while the orchestrator waits it does not grow */
    see_retired(o);
}

bool ptoi_see_clear(struct orchestrator *o, uint64_t arg_bytes, uint64_t accesses)
{
    const uint64_t head = o->rings.head, ring = o->window->arg_mask + 1, at = o->rings.arg_head;
    ptoi_look_at_retired(o);
    const uint64_t slots = o->window->task_mask + 1 - (head - o->rings.tail),
                   entries = (uint64_t)(ptoi_map_capacity(o->edges.map) - ptoi_map_used(o->edges.map));
    uint64_t bytes = ring - (at - o->rings.arg_tail), tasks = TASKS_A_LOOK - head % TASKS_A_LOOK;
    if (bytes > ring - (at & o->window->arg_mask)) bytes = ring - (at & o->window->arg_mask); /* to the ring's end */
    if (tasks > slots) tasks = slots;
    if (tasks > bytes / arg_bytes) tasks = bytes / arg_bytes;
    if (tasks > entries / accesses) tasks = entries / accesses;
    o->rings.clear = head + tasks;
    return tasks > 0;
}

struct need {
    struct orchestrator *o;
    uint64_t amount;
    uint64_t mark; /* not before so many have retired */
};

/* true: so many have retired, and what they held was taken back. */
static bool is_marked(const struct need *n)
{
    if (load_acquire(&n->o->window->task_tail, RETIRE) < n->mark) return false; /* [RETIRE] */
    see_retired(n->o);
    return true;
}

static bool slot_is_free(void *arg)
{
    struct need *n = arg;
    return is_marked(n) && n->o->rings.head - n->o->rings.tail <= n->o->window->task_mask;
}

static bool args_fit(void *arg)
{
    struct need *n = arg;
    return is_marked(n) &&
           ptoi_arg_start(n->o, n->amount) + n->amount - n->o->rings.arg_tail <= n->o->window->arg_mask + 1;
}

static bool deps_fit(void *arg)
{
    struct need *n = arg;
    return is_marked(n) && n->o->rings.dep_head - n->o->rings.dep_tail + n->amount <= n->o->window->dep_limit;
}

static bool map_fits(void *arg)
{
    struct need *n = arg;
    return is_marked(n) && ptoi_map_reserve(n->o->edges.map, (int64_t)n->amount);
}

static bool all_retired(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    return n->o->rings.tail == n->o->rings.head;
}

static bool all_taken(void *arg)
{
    struct need *n = arg;
    return all_retired(arg) && load_acquire(&n->o->window->event_tail, TAKEN) == n->o->rings.event_head;
}

/* What is in flight retires without the orchestrator, in any program, so in the wait that follows nobody need wake it
 * before task_tail is so high.  Not so where a recorded schedule wants a task next that was not submitted yet.  What
 * was set; 0: nothing. */
static uint64_t let_sleep_until(struct orchestrator *o, uint64_t retired)
{
    return o->flow.wake_at = o->replay ? 0 : retired;
}

enum { FEW = 16 };

/* What comes back in the order of tasks.  The orchestrator sleeps until half of what is in flight has retired: a wake
 * costs as much as hundreds of submits.  Where it runs the tasks itself, it goes on after a FEW, so that it submits
 * while messages are under way. */
/* model: IS_MET */
static void wait_for_ring(struct orchestrator *o, PTOStallReason reason, bool (*is_met)(void *arg), uint64_t amount)
{
    struct need need = {.o = o, .amount = amount};
    ptoi_orch_note_use(o);
    if (is_met(&need)) return;
    uint64_t many = (o->rings.head - o->rings.tail + 1) / 2;
    if (o->flow.ops->runs_in_waits && many > FEW) many = FEW;
    need.mark = let_sleep_until(o, o->rings.tail + many);
    ptoi_flow_wait(&o->flow, reason, is_met, &need);
    o->flow.wake_at = 0;
}

void ptoi_wait_for_slot(struct orchestrator *o) { wait_for_ring(o, PTO_STALL_TASK_RING, slot_is_free, 1); }

void ptoi_wait_for_args(struct orchestrator *o, uint64_t bytes)
{
    wait_for_ring(o, PTO_STALL_TASK_RING, args_fit, bytes);
}

void ptoi_wait_for_map(struct orchestrator *o, uint64_t accesses)
{
    wait_for_ring(o, PTO_STALL_TENSORMAP_POOL, map_fits, accesses);
}

void ptoi_wait_drained(struct orchestrator *o, PTOStallReason reason)
{
    struct need need = {.o = o};
    ptoi_orch_note_use(o);
    let_sleep_until(o, o->rings.head);
    const bool met = all_retired(&need) || ptoi_flow_wait(&o->flow, reason, all_retired, &need);
    o->flow.wake_at = 0;
    CHECK(met || o->is_lost); /* tasks depend on older tasks only */
}

static void forget_completed(struct orchestrator *o)
{
    struct map_found *const found = &o->edges.found;
    int32_t kept = 0;
    for (int32_t k = 0; k < found->count; k++)
        if (!ptoi_is_completed(o, found->task_id[k])) found->task_id[kept++] = found->task_id[k];
    found->count = kept;
}

bool ptoi_wait_for_fan_in(struct orchestrator *o)
{
    forget_completed(o);
    const uint64_t count = (uint64_t)o->edges.found.count;
    if (count > o->window->dep_limit) {
        ptoi_wait_drained(o, PTO_STALL_DEPLIST_POOL);
        o->edges.found.count = 0; /* all have completed */
    } else {
        wait_for_ring(o, PTO_STALL_DEPLIST_POOL, deps_fit, count);
    }
    return !ptoi_orch_has_failed(o);
}

bool ptoi_wait_all_taken(struct orchestrator *o)
{
    struct need need = {.o = o};
    ptoi_orch_note_use(o);
    if (all_taken(&need)) return true;
    let_sleep_until(o, o->rings.head);
    const bool met = o->flow.ops->wait(o->flow.context, all_taken, &need);
    o->flow.wake_at = 0;
    return met;
}

bool ptoi_are_all_retired(struct orchestrator *o)
{
    ptoi_orch_note_use(o);
    return all_retired(&(struct need){.o = o});
}

/* ---- the ring of events ------------------------------------------------------------------------------------------ */

static bool event_fits(void *arg)
{
    const struct orchestrator *o = arg;
    return o->rings.event_head - load_acquire(&o->window->event_tail, TAKEN) <= o->window->event_mask; /* [TAKEN] */
}

void ptoi_publish_event(struct orchestrator *o, enum event_kind kind, uint32_t buffer) /* model: PUBLISH_EVENT */
{
    if (o->is_lost) return; /* to nobody */
    const bool met = event_fits(o) || ptoi_flow_wait(&o->flow, PTO_STALL_TASK_RING, event_fits, o);
    CHECK(met || o->is_lost); /* the scheduler takes events without waiting for anything */
    if (!met) return;
    struct lifetime_event *e = window_event(o->window, o->rings.event_head);
    *e = (struct lifetime_event){.stamp = o->rings.head, .buffer = buffer, .kind = kind};
    PTO_LABEL(EVENT);
    store_release(&o->window->event_head, ++o->rings.event_head, EVENT); /* [EVENT] */
}
