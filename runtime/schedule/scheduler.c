/* scheduler.c - see scheduler.h. */
#include "scheduler.h"
#include "shared/check.h"
#include "shared/references.h"

/* A step that finds nothing to do takes the most of all: what it does otherwise stays out of line. */
#define NEVER_INLINE __attribute__((noinline))

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Lays out the arrays one after the other; memory NULL: only counts the bytes.  Numbers of buffers are dense,
 * so little of `refs` is touched. */
static uint64_t lay_out(struct scheduler *s, const struct window *w, char *memory)
{
    const uint64_t slots = w->task_mask + 1, entries = w->dep_mask + 1;
    uint64_t at = 0;
#define PART(name, size) (memory ? (void)(s->name = (void *)(memory + at)) : (void)0, at += ptoi_whole_lines(size))
    PART(slot, slots * sizeof *s->slot);
    PART(waiting, entries * sizeof *s->waiting);
    PART(blocked_next, slots * sizeof *s->blocked_next);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) {
        if (memory) ptoi_ready_init(&s->ready[t], slots, memory + at);
        at += ptoi_ready_bytes(slots);
    }
    PART(refs, w->heap_bytes / PTO_GRANULE * sizeof *s->refs);
#undef PART
    return at;
}

uint64_t ptoi_sched_bytes(const struct window *w)
{
    struct scheduler none;
    return lay_out(&none, w, NULL);
}

void ptoi_sched_init(struct scheduler *s, struct window *w, struct run_status *run_status, void *memory)
{
    *s = (struct scheduler){.run_status = run_status};
    ptoi_sched_see(s, w);
    lay_out(s, w, memory);
    for (int t = 0; t < PTO_WORKER_TYPES; t++) s->group[t] = (uint8_t)t;
    ptoi_sched_resume(s);
}

void ptoi_sched_resume(struct scheduler *s)
{
    s->taken = s->retired = load_relaxed(&s->window->task_head); /* relaxed: no other role runs yet */
    s->events = load_relaxed(&s->window->event_head);
}

/* ---- states and references --------------------------------------------------------------------------------------- */

static inline uint32_t slot_of(const struct scheduler *s, uint64_t id) { return (uint32_t)(id & s->task_mask); }
static inline const struct task_slot *task_of(const struct scheduler *s, uint64_t id)
{
    return &s->task[slot_of(s, id)];
}
static inline struct slot_state *state_of(const struct scheduler *s, uint64_t id) { return &s->slot[slot_of(s, id)]; }
/* The producer has completed, and has walked its list. */
static inline bool is_over(const struct scheduler *s, uint64_t producer)
{
    return producer < s->retired || state_of(s, producer)->state == TASK_COMPLETED;
}

/* The one door through which a task changes its state. */
static inline void set_state(struct slot_state *a, enum task_state from, enum task_state to)
{
    CHECK(a->state == from);
    a->state = (uint8_t)to;
}

static inline void drop_reference(struct scheduler *s, uint32_t buffer)
{
    ptoi_references_drop(s->window, s->refs, buffer);
}

static inline void enqueue(struct scheduler *s, uint64_t id, const struct task_slot *t)
{
    const int g = s->group[t->worker];
    ptoi_ready_push(&s->ready[g], id, t->priority);
    s->ready_groups |= 1u << g;
}

static inline void make_ready(struct scheduler *s, const struct task_slot *t, struct slot_state *a)
{
    set_state(a, TASK_PENDING, TASK_READY);
    enqueue(s, t->id, t);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Until the task completes. */
static void hold_buffers(struct scheduler *s, const struct task_slot *t)
{
    const struct arg_head *arg = window_args(s->window, t->arg_begin), *const end = arg + t->param_count;
    uint32_t *const refs = s->refs;
    for (; arg < end; arg++) {
        const uint32_t buffer = arg->buffer;
        if (buffer == 0) continue;
        if (arg->fresh) ptoi_references_open(refs, buffer);
        refs[buffer - 1]++;
    }
}

static inline void take_task(struct scheduler *s, uint64_t id) /* model: TAKE_TASK */
{
    const uint32_t slot = slot_of(s, id);
    const struct task_slot *t = &s->task[slot];
    CHECK(t->id == id);
    /* the orchestrator has just written these cache lines: they are fetched together */
    __builtin_prefetch(window_args(s->window, t->arg_begin));
    if (t->dep_count > 0) __builtin_prefetch(window_dep(s->window, t->dep_begin));
    struct slot_state *const a = &s->slot[slot];
    struct waiting *const waiting = s->waiting;
    uint32_t missing = 0;
    set_state(a, TASK_FREE, TASK_PENDING);
    a->fanout = 0;
    const uint64_t *const dep = window_dep(s->window, 0), mask = s->window->dep_mask;
    for (uint64_t n = t->dep_begin, end = n + t->dep_count; n < end; n++) {
        const uint32_t entry = (uint32_t)(n & mask);
        const uint64_t producer = dep[entry];
        CHECK(producer < id);
        if (is_over(s, producer)) continue; /* it would not report to this task */
        struct slot_state *const from = state_of(s, producer);
        waiting[entry] = (struct waiting){.next = from->fanout, .waiter = slot};
        from->fanout = entry + 1;
        missing++;
    }
    a->missing = missing;
    if (t->flags & TASK_HOLDS) hold_buffers(s, t);
    if (missing == 0) make_ready(s, t, a);
}

static void take_event(struct scheduler *s, const struct lifetime_event *e) /* model: TAKE_EVENT */
{
    if (e->kind == EVENT_OPEN)
        ptoi_references_open(s->refs, e->buffer);
    else
        drop_reference(s, e->buffer);
}

static NEVER_INLINE void take_up_to(struct scheduler *s, uint64_t head, uint64_t event_head) /* model: TAKE_PUBLISHED */
{
    const uint64_t events = s->events;
    uint64_t id = s->taken;
    PTO_LABEL(TASK);
    for (;;) {
        while (s->events != event_head && window_event(s->window, s->events)->stamp <= id)
            take_event(s, window_event(s->window, s->events++));
        if (id == head) break;
        if (id + 1 != head) __builtin_prefetch(task_of(s, id + 1));
        take_task(s, id++);
    }
    s->taken = head;
    if (s->events != events) store_release(&s->window->event_tail, s->events, TAKEN); /* [TAKEN] */
}

static inline bool take_published(struct scheduler *s) /* model: LOAD_HEADS */
{
    /* [TASK] is loaded before [EVENT], so every event that precedes a visible task is visible too. */
    const uint64_t head = load_acquire(&s->window->task_head, TASK);
    const uint64_t event_head = load_acquire(&s->window->event_head, EVENT);
    if (head == s->taken && event_head == s->events) return false;
    take_up_to(s, head, event_head);
    return true;
}

/* ---- accumulators: tasks that commute, but not at the same moment ------------------------------------------------ */

/* Note [accumulators]: a ready task of which an accumulator is held waits in a list of that.  When the accumulator is
 * free again, the first of the list becomes ready; it holds nothing before it starts, so a task that comes meanwhile
 * may be sooner, and a recorded schedule can be repeated.  While a list is not empty, its accumulator is held, or a
 * task that needs it stands among those that are ready: so each end costs one look, however many tasks wait. */

static inline bool is_before(const struct task_slot *a, const struct task_slot *b)
{
    return a->priority > b->priority || (a->priority == b->priority && a->id < b->id);
}

static void block(struct scheduler *s, const struct task_slot *t)
{
    struct blocked *const list = &s->blocked[__builtin_ctz(t->exclusive & s->held)];
    uint32_t *const next = s->blocked_next, number = slot_of(s, t->id) + 1;
    uint32_t *at = &list->first;
    if (list->last && is_before(&s->task[list->last - 1], t))
        at = &next[list->last - 1];
    else
        while (*at && is_before(&s->task[*at - 1], t)) at = &next[*at - 1];
    next[number - 1] = *at;
    if (!*at) list->last = number;
    *at = number;
    s->blocked_count++;
}

static const struct task_slot *unblock(struct scheduler *s, struct blocked *list)
{
    const uint32_t slot = list->first - 1;
    list->first = s->blocked_next[slot];
    if (!list->first) list->last = 0;
    s->blocked_count--;
    return &s->task[slot];
}

/* Some of these accumulators are free, and no ready task needs them that was waiting for them. */
static NEVER_INLINE void pass_on(struct scheduler *s, uint32_t set)
{
    for (set &= ~s->held; set; set &= set - 1) {
        struct blocked *const list = &s->blocked[__builtin_ctz(set)];
        while (list->first) {
            const struct task_slot *t = unblock(s, list);
            if (!(t->exclusive & s->held)) {
                enqueue(s, t->id, t);
                break;
            }
            block(s, t);
        }
    }
}

static void free_accumulators(struct scheduler *s, uint32_t set)
{
    CHECK((s->held & set) == set);
    s->held &= ~set;
    if (s->blocked_count > 0) pass_on(s, set);
}

/* ---- completing -------------------------------------------------------------------------------------------------- */

static inline void retire(struct scheduler *s) /* model: RETIRE */
{
    const uint64_t taken = s->taken;
    uint64_t id = s->retired;
    for (; id != taken && state_of(s, id)->state == TASK_COMPLETED; id++)
        set_state(state_of(s, id), TASK_COMPLETED, TASK_FREE);
    if (id == s->retired) return;
    s->retired = id;
    PTO_LABEL(RETIRE);
    store_release(&s->window->task_tail, id, RETIRE); /* [RETIRE] */
}

static void let_buffers_go(struct scheduler *s, const struct task_slot *t)
{
    const struct arg_head *arg = window_args(s->window, t->arg_begin), *const end = arg + t->param_count;
    struct window *const w = s->window;
    uint32_t *const refs = s->refs;
    for (; arg < end; arg++)
        if (arg->buffer) ptoi_references_drop(w, refs, arg->buffer);
}

static inline __attribute__((always_inline)) void complete_task(struct scheduler *s, uint64_t id,
                                                                enum task_state from) /* model: COMPLETE */
{
    const uint32_t slot = slot_of(s, id);
    const struct task_slot *t = &s->task[slot];
    struct slot_state *const all = s->slot;
    set_state(&all[slot], from, TASK_COMPLETED);
    store_release(&s->completed[slot], id + 1, DONE); /* [DONE] */
    for (uint32_t link = all[slot].fanout; link;) {
        const struct waiting w = s->waiting[link - 1];
        struct slot_state *const a = &all[w.waiter];
        CHECK(a->missing > 0);
        /* a task that runs was chained behind this one, and is not made ready again */
        if (--a->missing == 0 && a->state == TASK_PENDING) make_ready(s, &s->task[w.waiter], a);
        link = w.next;
    }
    if (t->flags & TASK_HOLDS) let_buffers_go(s, t);
}

/* Those that have ended since the last time. */
static inline __attribute__((always_inline)) bool take_ended(struct scheduler *s) /* model: TAKE_ENDED */
{
    struct completion done[64];
    const int n = s->ops->collect(s->context, done, 64);
    if (n == 0) return false;
    CHECK(s->running >= (uint64_t)n);
    s->refused = 0;
    s->running -= (uint64_t)n;
    for (const struct completion *d = done; d < done + n; d++) {
        if (d->result != 0 && s->ops->failed) s->ops->failed(s->context, d->id, d->result);
        const uint32_t exclusive = task_of(s, d->id)->exclusive;
        if (exclusive) free_accumulators(s, exclusive);
        complete_task(s, d->id, TASK_RUNNING);
    }
    return true;
}

/* ---- task chaining ---- */

/* Note [task chaining]: a worker executes the tasks of its lane in the order in which they were sent, so that order
 * satisfies a dependence.  When a task starts, a task that waits only for it and for earlier tasks of the lane is sent
 * to the lane at once, and so on along the chain.  The worker executes a chain without asking the scheduler, with the
 * data in its cache.  Of several tasks that could follow, one is sent; the others are left for other workers.  (As in
 * taskiter.) */

/* Has each producer of the task completed, or was it sent to this lane?  One was; missing: how many have not
 * completed. */
static bool waits_for_place(const struct scheduler *s, const struct task_slot *t, uint32_t missing, int place)
{
    if (missing == 1) return true;
    for (uint64_t n = t->dep_begin; n < t->dep_begin + t->dep_count; n++) {
        const uint64_t producer = *window_dep(s->window, n);
        const struct slot_state *const from = state_of(s, producer);
        if (!is_over(s, producer) && (from->state != TASK_RUNNING || from->place != place)) return false;
    }
    return true;
}

/* The slot of the oldest task of the group that could be chained behind the one of this slot, + 1; 0: there is none.
 * Where more than MOST tasks wait for it, or one of them waits for more than MOST, the tasks form no chain. */
static inline uint32_t find_chained(const struct scheduler *s, uint32_t slot, int place, uint8_t group)
{
    enum { MOST = 4 };
    uint32_t found = 0;
    int seen = 0;
    for (uint32_t link = s->slot[slot].fanout; link;) {
        const struct waiting w = s->waiting[link - 1];
        const struct slot_state *const a = &s->slot[w.waiter];
        const struct task_slot *t = &s->task[w.waiter];
        if (++seen > MOST || a->missing > MOST) return 0;
        if (a->state == TASK_PENDING && s->group[t->worker] == group && !t->exclusive &&
            waits_for_place(s, t, a->missing, place))
            found = w.waiter + 1;
        link = w.next;
    }
    return found;
}

static inline void note_started(struct scheduler *s, const struct task_slot *t, struct slot_state *a, int place)
{
    a->place = (int16_t)place;
    s->running++;
    s->stats.worker_tasks[t->worker]++;
}

/* The priority of the task that is ready and should start first; of any task there is no lower one. */
static inline int32_t most_urgent(const struct scheduler *s, uint8_t group)
{
    uint64_t first;
    const bool any = s->ready_groups >> group & 1 && ptoi_ready_peek(&s->ready[group], &first);
    return any ? task_of(s, first)->priority : INT32_MIN;
}

static NEVER_INLINE void send_chained(struct scheduler *s, uint64_t id, int place) /* model: FOLLOW */
{
    uint32_t slot = slot_of(s, id);
    const uint8_t group = s->group[s->task[slot].worker];
    const int32_t ready = most_urgent(s, group); /* nothing becomes ready here */
    for (;;) {
        const uint32_t found = find_chained(s, slot, place, group);
        if (!found) return;
        slot = found - 1;
        const struct task_slot *const t = &s->task[slot];
        if (t->priority < ready || !s->ops->follow(s->context, place, t->id)) return;
        set_state(&s->slot[slot], TASK_PENDING, TASK_RUNNING);
        note_started(s, t, &s->slot[slot], place);
    }
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

static NEVER_INLINE void cancel(struct scheduler *s, uint64_t id) { complete_task(s, id, TASK_READY); }

/* A failed run starts no more tasks: each ready task completes without running, and so does each task that becomes
 * ready by that. */
static NEVER_INLINE bool cancel_ready(struct scheduler *s) /* model: CANCEL_READY */
{
    bool any = s->blocked_count > 0;
    for (int b = 0; b < ACCUMULATORS; b++)
        while (s->blocked[b].first) cancel(s, unblock(s, &s->blocked[b])->id);
    for (int g = 0; g < PTO_WORKER_TYPES; g++)
        for (uint64_t id; ptoi_ready_peek(&s->ready[g], &id); any = true) {
            ptoi_ready_pop(&s->ready[g]);
            cancel(s, id);
        }
    s->ready_groups = 0;
    for (int g = 0; g < PTO_WORKER_TYPES; g++)
        if (ptoi_ready_count(&s->ready[g]) > 0) s->ready_groups |= 1u << g; /* what the completions above made ready */
    return any;
}

static NEVER_INLINE bool start_some(struct scheduler *s) /* model: START_READY */
{
    bool any = false;
    for (uint32_t groups = s->ready_groups & ~s->refused; groups; groups &= groups - 1) {
        const int g = __builtin_ctz(groups);
        struct ready_queue *const ready = &s->ready[g];
        for (uint64_t id;; any = true) {
            if (!ptoi_ready_peek(ready, &id)) {
                s->ready_groups &= ~(1u << g);
                break;
            }
            const struct task_slot *t = task_of(s, id);
            struct slot_state *const a = state_of(s, id);
            const uint32_t exclusive = t->exclusive;
            if (exclusive & s->held) {
                ptoi_ready_pop(ready);
                block(s, t);
                if (s->blocked_count > 1) pass_on(s, exclusive);
                continue;
            }
            /* The state is set first, because a machine may run the task inside start(). */
            set_state(a, TASK_READY, TASK_RUNNING);
            int place = NO_PLACE;
            if (!s->ops->start(s->context, (PTOWorkerType)t->worker, id, &place)) {
                set_state(a, TASK_RUNNING, TASK_READY);
                if (s->ops->refuses_until_end) s->refused |= 1u << g;
                break;
            }
            ptoi_ready_pop(ready);
            s->held |= exclusive;
            note_started(s, t, a, place);
            if (place != NO_PLACE) send_chained(s, id, place);
        }
    }
    return any;
}

static inline bool start_ready(struct scheduler *s) { return (s->ready_groups & ~s->refused) != 0 && start_some(s); }

void ptoi_sched_take(struct scheduler *s)
{
    take_published(s);
    CHECK_DEEP(ptoi_sched_is_valid(s));
}

bool ptoi_sched_feed(struct scheduler *s, bool *started) /* model: FEED */
{
    const bool any = take_ended(s);
    *started = any && !ptoi_is_failing(s->run_status) && start_ready(s);
    if (*started) retire(s);
    CHECK_DEEP(ptoi_sched_is_valid(s));
    return any;
}

bool ptoi_sched_step(struct scheduler *s) /* model: STEP */
{
    bool any = take_published(s);
    any |= take_ended(s);
    if (ptoi_is_failing(s->run_status))
        while (cancel_ready(s)) any = true;
    else
        any |= start_ready(s);
    retire(s);
    CHECK_DEEP(ptoi_sched_is_valid(s));
    return any;
}

bool ptoi_sched_has_input(const struct scheduler *s)
{
    return load_acquire(&s->window->task_head, TASK) != s->taken ||
           load_acquire(&s->window->event_head, EVENT) != s->events;
}

bool ptoi_sched_is_quiet(const struct scheduler *s) /* model: QUIET */
{
    if (ptoi_sched_has_input(s) || s->running > 0) return false;
    CHECK(s->blocked_count == 0); /* a task is blocked only while another one runs */
    return s->ready_groups == 0;
}

void ptoi_sched_notify_quiet(struct scheduler *s)
{
    if (!ptoi_sched_is_quiet(s)) return;
    PTO_LABEL(QUIET);
    store_release(&s->window->quiet_tasks, s->taken, QUIET);   /* [QUIET] stored after all other words */
    store_release(&s->window->quiet_events, s->events, QUIET); /* [QUIET] */
}

void ptoi_sched_begin_run(struct scheduler *s)
{
    s->stats = (struct scheduler_stats){0};
    ptoi_sched_reset_marks(s);
}

void ptoi_sched_reset_marks(struct scheduler *s)
{
    for (int g = 0; g < PTO_WORKER_TYPES; g++) s->ready[g].count_max = ptoi_ready_count(&s->ready[g]);
}

bool ptoi_sched_is_valid(const struct scheduler *s)
{
    uint64_t running = 0, ready = 0, queued = 0;
    for (uint64_t id = s->retired; id != s->taken; id++) {
        enum task_state state = (enum task_state)state_of(s, id)->state;
        /* a task that runs may wait for an earlier task of its lane */
        const bool waits = state_of(s, id)->missing > 0;
        if (state == TASK_FREE || (waits ? state != TASK_PENDING && state != TASK_RUNNING : state == TASK_PENDING))
            return false;
        running += state == TASK_RUNNING;
        ready += state == TASK_READY;
    }
    for (int g = 0; g < PTO_WORKER_TYPES; g++) {
        queued += ptoi_ready_count(&s->ready[g]);
        if ((ptoi_ready_count(&s->ready[g]) > 0) != (s->ready_groups >> g & 1)) return false;
    }
    return running == s->running && ready == queued + s->blocked_count;
}
