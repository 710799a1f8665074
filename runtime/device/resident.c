/* resident.c - see resident.h. */
#include "resident.h"

#define OFFSET(type, member) offsetof(struct type, member)

uint64_t ptoi_resident_fingerprint(void)
{
    static const uint64_t layout[] = {
        PTO_WINDOW_VERSION,
        PTO_WORKER_TYPES,
        PTO_GRANULE,
        PTO_MAILBOX_DEPTH,
        sizeof(struct window),
        OFFSET(window, task_mask),
        OFFSET(window, tasks_at),
        OFFSET(window, task_head),
        OFFSET(window, event_head),
        OFFSET(window, task_tail),
        OFFSET(window, event_tail),
        OFFSET(window, quiet_tasks),
        OFFSET(window, quiet_events),
        sizeof(struct task_slot),
        OFFSET(task_slot, arg_begin),
        OFFSET(task_slot, dep_begin),
        OFFSET(task_slot, dep_count),
        OFFSET(task_slot, priority),
        OFFSET(task_slot, param_count),
        OFFSET(task_slot, worker),
        OFFSET(task_slot, exclusive),
        sizeof(struct arg_head),
        OFFSET(arg_head, buffer),
        OFFSET(arg_head, fresh),
        sizeof(struct lifetime_event),
        OFFSET(lifetime_event, stamp),
        OFFSET(lifetime_event, buffer),
        OFFSET(lifetime_event, kind),
        sizeof(struct run_status),
        OFFSET(run_status, claimed),
        OFFSET(run_status, status),
        sizeof(struct mailbox),
        OFFSET(mailbox, task),
        OFFSET(mailbox, done),
        sizeof(struct resident_block),
        OFFSET(resident_block, workers),
        OFFSET(resident_block, asked),
        OFFSET(resident_block, request),
        OFFSET(resident_block, answered),
        OFFSET(resident_block, state),
        OFFSET(resident_block, stats),
        OFFSET(resident_block, beats),
    };
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, a word at a time */
    for (unsigned i = 0; i < sizeof layout / sizeof *layout; i++) h = (h ^ layout[i]) * 0x100000001b3u;
    return h;
}

static void *part(const struct resident_block *b, uint64_t at) { return (char *)(uintptr_t)b + at; }

static bool is_ours(const struct resident_block *b)
{
    uint32_t workers = 0;
    if (b->magic != PTO_RESIDENT_MAGIC || b->fingerprint != ptoi_resident_fingerprint()) return false;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) workers += b->workers[t];
    return workers <= PTO_RESIDENT_WORKERS && ptoi_window_is_valid(part(b, b->window_at));
}

/* ---- the machine that the scheduler feeds: the mailboxes ---- */

static bool give(void *context, PTOWorkerType type, uint64_t id, int *place)
{
    struct resident *r = context;
    uint64_t least = PTO_MAILBOX_DEPTH;
    struct mailbox *best = NULL;
    (void)place;
    for (uint32_t i = r->first[type]; i < r->first[type + 1] && least > 0; i++) {
        struct mailbox *m = resident_mailbox(r->block, (int)i);
        const uint64_t load = load_relaxed(&m->sent) - r->collected[i]; /* relaxed: our own word */
        if (load < least) best = m, least = load;
    }
    if (!best) return false;
    const uint64_t n = load_relaxed(&best->sent);
    best->task[n % PTO_MAILBOX_DEPTH] = id;
    store_release(&best->sent, n + 1, DEVICE_SENT); /* [DEVICE_SENT] */
    return true;
}

static int collect(void *context, struct completion *out, int max)
{
    struct resident *r = context;
    int count = 0;
    for (uint32_t i = 0; i < r->first[PTO_WORKER_TYPES] && count < max; i++) {
        struct mailbox *m = resident_mailbox(r->block, (int)i);
        const uint64_t done = load_acquire(&m->done, DEVICE_ENDED);       /* [DEVICE_ENDED] */
        for (; r->collected[i] != done && count < max; r->collected[i]++) /* a failure is in the run status */
            out[count++] = (struct completion){.id = m->task[r->collected[i] % PTO_MAILBOX_DEPTH]};
    }
    return count;
}

static const struct role_ops mailboxes = {.start = give, .collect = collect};

/* ---- the host ---- */

static void answer(struct resident *r, uint32_t asked)
{
    r->answered = asked;
    store_release(&r->block->answered, asked, DEVICE_ANSWER); /* [DEVICE_ANSWER] */
}

static void serve(struct resident *r, uint32_t asked)
{
    struct resident_block *b = r->block;
    if (b->request == RESIDENT_LEAVE) r->is_over = true;
    if (b->request == RESIDENT_SETTLE_AND_RESET) ptoi_sched_reset_marks(&r->sched);
    if (b->request == RESIDENT_BEGIN) ptoi_sched_begin_run(&r->sched);
    b->stats = r->sched.stats;
    for (int t = 0; t < PTO_WORKER_TYPES; t++) b->ready_max[t] = r->sched.ready[t].count_max;
    answer(r, asked);
}

uint64_t ptoi_resident_bytes(const struct resident_block *b)
{
    return is_ours(b) ? ptoi_sched_bytes(part(b, b->window_at)) : 0;
}

bool ptoi_resident_open(struct resident *r, struct resident_block *b, void *memory)
{
    const uint32_t asked = load_acquire(&b->asked, DEVICE_ASK); /* [DEVICE_ASK] */
    r->block = b;
    b->state = is_ours(b) ? RESIDENT_SERVES : RESIDENT_REFUSES;
    if (b->state == RESIDENT_SERVES) {
        r->is_over = false;
        r->first[0] = 0;
        for (int t = 0; t < PTO_WORKER_TYPES; t++) r->first[t + 1] = r->first[t] + b->workers[t];
        for (int i = 0; i < PTO_RESIDENT_WORKERS; i++) r->collected[i] = 0;
        ptoi_sched_init(&r->sched, part(b, b->window_at), part(b, b->run_status_at), memory);
        r->sched.ops = &mailboxes;
        r->sched.context = r;
    }
    answer(r, asked);
    return b->state == RESIDENT_SERVES;
}

bool ptoi_resident_step(struct resident *r)
{
    const uint32_t asked = load_acquire(&r->block->asked, DEVICE_ASK);   /* [DEVICE_ASK] */
    store_relaxed(&r->block->beats, load_relaxed(&r->block->beats) + 1); /* relaxed: a heartbeat */
    const bool any = ptoi_sched_step(&r->sched);
    ptoi_sched_notify_quiet(&r->sched);
    if (asked != r->answered) serve(r, asked);
    return any || asked != r->answered;
}
