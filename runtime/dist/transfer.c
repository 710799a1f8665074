/* transfer.c - see transfer.h. */
#include "transfer.h"
#include "pages.h"
#include "shared/check.h"
#include "shared/task.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCELLED = 1 }; /* the result of a transfer that was given up */
/* ---- lists, under the lock --------------------------------------------------------------------------------------- */

static struct transfer *take_transfer(struct transfers *t)
{
    struct transfer *x = t->unused;
    CHECK(x != NULL);
    t->unused = x->next;
    return x;
}

static void give_transfer(struct transfers *t, struct transfer *x)
{
    if (x->view != &x->first) free(x->view);
    x->next = t->unused;
    t->unused = x;
}

static bool is_before(const struct transfer *a, const struct transfer *b)
{
    return a->urgency != b->urgency ? a->urgency < b->urgency : a->order < b->order;
}

static void insert_by_urgency(struct transfer **list, struct transfer *x)
{
    while (*list && is_before(*list, x)) list = &(*list)->next;
    x->next = *list;
    *list = x;
}

static void take_out(struct transfer **list, const struct transfer *x)
{
    while (*list != x) list = &(*list)->next;
    *list = x->next;
}

static struct transfer **list_of(struct transfers *t, const struct transfer *x)
{
    return x->is_send ? &t->sends : &t->receives;
}

/* relaxed: the lock orders it; others take it as a hint */
static void count_in_flight(struct transfers *t, int32_t more)
{
    store_relaxed(&t->in_flight, load_relaxed(&t->in_flight) + more);
}

static int64_t bytes_of(const PTOArg *view)
{
    int64_t bytes = pto_type_bytes((PTOType)view->type);
    for (int d = 0; d < view->rank; d++) bytes *= view->shape[d];
    return bytes;
}

/* It leaves the lists of what is in flight, for the list of what has ended. */
static void end_transfer(struct transfers *t, struct transfer *x, int32_t result, struct transfer **ended)
{
    struct peer *p = &t->peer[x->peer];
    take_out(list_of(t, x), x);
    x->result = result;
    count_in_flight(t, -1);
    t->standstill.ended++;
    if (x->is_send) {
        p->posted -= x->is_posted;
        t->posted_bytes -= x->is_posted ? x->bytes : 0;
        t->ended[x->order % t->ended_slots] = x->order + 1;
        while (t->ended[t->oldest % t->ended_slots] == t->oldest + 1) t->oldest++;
        t->messages += result == 0;
        t->bytes += result == 0 ? x->bytes : 0;
    }
    x->next = *ended;
    *ended = x;
}

static void fail_wire(struct transfers *t, const struct transfer *x)
{
    char shape[PTO_MAX_RANK * 24] = "";
    const char *why = t->wire->why;
    for (int d = 0, n = 0; d < x->view->rank; d++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%lld", d ? ", " : "", (long long)x->view->shape[d]);
    ptoi_fail_earlier(t->core->run_status, PTO_ERR_LOST, ptoi_task_site(t->core->window, x->task),
                      "a piece, %s[%s], was not %s rank %d%s%s (transfer %llu)", pto_type_name((PTOType)x->view->type),
                      shape, x->is_send ? "sent to" : "received from", x->peer, why[0] ? ": " : "", why,
                      (unsigned long long)x->number);
}

/* A message of another size shows that the ranks disagree.  They find at which step, when they compare or when all of
 * them wait, and nothing that depends on its bytes may run before.  model: RANK_MESSAGE */
static void end_on_wire(struct transfers *t, const struct wire_ended *e, struct transfer **ended)
{
    struct transfer *x = e->ticket;
    t->taken += !x->is_send && e->how != WIRE_BROKEN;
    if (e->how == WIRE_OTHER_SIZE) {
        x->is_odd = true;
        return;
    }
    if (e->how == WIRE_BROKEN) fail_wire(t, x);
    end_transfer(t, x, e->how == WIRE_GOOD ? 0 : CANCELLED, ended);
}

static bool post(struct transfers *t, struct transfer *x)
{
    const struct wire_ops *ops = t->wire->ops;
    x->is_posted = true;
    if (x->is_send) {
        t->peer[x->peer].posted++;
        t->posted_bytes += x->bytes;
        t->given++;
    }
    if ((x->is_send ? ops->send : ops->receive)(t->wire, x->peer, x->number, x->view, x->count, x)) return true;
    fail_wire(t, x);
    return false;
}

/* See Note [urgent sends] and Note [the oldest send].  model: RANK_POST */
static void post_sends(struct transfers *t)
{
    for (struct transfer *x = t->sends; x; x = x->next) {
        if (x->is_posted) continue;
        const int64_t bytes = x->bytes;
        const bool is_oldest = t->extra > 0 && x->order == t->oldest, has_slot = t->peer[x->peer].posted < t->limit,
                   fits = t->posted_bytes == 0 || bytes <= POSTED_BYTES - t->posted_bytes;
        const bool is_late = t->extra > 0 && (has_slot || t->core->replay);
        if (!is_oldest && !is_late && !(has_slot && fits)) continue;
        if (!fits || !has_slot) t->extra -= t->extra > 0;
        if (!post(t, x)) return;
    }
}

static bool may_move(const struct transfers *t) { return !t->is_cancelled && !ptoi_is_failing(t->core->run_status); }

static void post_all(struct transfers *t)
{
    for (struct transfer *x = t->receives; x; x = x->next)
        if (!x->is_posted && !post(t, x)) return;
    post_sends(t);
}

/* Pages go back: no task uses the bytes. */
static void give_back_all(struct transfers *t, struct transfer **ended)
{
    while (t->forgotten) {
        struct transfer *x = t->forgotten;
        t->forgotten = x->next;
        count_in_flight(t, -1);
        ptoi_pages_give_back(x->view);
        x->next = *ended;
        *ended = x;
    }
}

/* model: RANK_CANCEL */
static void cancel(struct transfers *t, struct transfer **ended)
{
    if (!t->is_cancelled) t->wire->ops->cancel(t->wire);
    t->is_cancelled = true;
    while (t->receives) end_transfer(t, t->receives, CANCELLED, ended);
    while (t->sends) end_transfer(t, t->sends, CANCELLED, ended);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

/* true: something has ended.  Under the lock. */
static bool move(struct transfers *t, bool listens, struct transfer **ended)
{
    enum { MANY = 32 };
    struct wire_ended end[MANY];
    const bool was_failing = ptoi_is_failing(t->core->run_status);
    give_back_all(t, ended);
    if (listens && !was_failing) ptoi_transfers_hear(t);
    if (may_move(t)) {
        post_all(t);
        const int n = t->wire->ops->progress(t->wire, end, MANY);
        for (int i = 0; i < n; i++) end_on_wire(t, &end[i], ended);
        if (n > 0) post_all(t);
    }
    if (ptoi_is_failing(t->core->run_status)) {
        ptoi_transfers_notify(t);
        cancel(t, ended);
    }
    return *ended != NULL;
}

/* Without the lock, because the scheduler may start other transfers meanwhile. */
static void report_ended(struct transfers *t, struct transfer *ended)
{
    for (struct transfer *x = ended; x; x = x->next) {
        struct noted *n = ptoi_noted_at(t->notes, t->core->recorder, x->task);
        if (n) n->end = ptoi_record_now(t->core->recorder);
        if (!x->is_send) ptoi_waits_arrived(&t->waits, x->task, x->started);
        t->core->engine->completed(t->core, x->task, x->result);
    }
    ptoi_lock_take(&t->lock);
    for (struct transfer *x = ended, *next; x; x = next) {
        next = x->next;
        give_transfer(t, x);
    }
    t->is_moving = false;
    ptoi_lock_leave(&t->lock);
}

/* With the lock, which is free afterwards.  The thread of the transfers looks at once. */
static void ring(struct transfers *t)
{
    add_relaxed(&t->started, 1); /* relaxed: under the lock */
    ptoi_lock_leave(&t->lock);
    ptoi_wake_on(&t->started, false);
}

/* Likewise; unless it looks again soon enough. */
static void ring_if(struct transfers *t, bool is_needed)
{
    if (is_needed)
        ring(t);
    else
        ptoi_lock_leave(&t->lock);
}

/* Likewise.  Something has ended. */
static void end_move(struct transfers *t, struct transfer *ended)
{
    t->is_moving = true;
    ptoi_lock_leave(&t->lock);
    report_ended(t, ended);
}

/* ---- threads with nothing else to do, Note [idle workers ask] ---------------------------------------------------- */

/* Of struct outside. */
static bool progress(void *context)
{
    struct transfers *t = context;
    struct transfer *ended = NULL;
    if (load_relaxed(&t->is_wanted)) ptoi_yield();                                  /* relaxed: a hint */
    if (load_relaxed(&t->in_flight) == 0 || !ptoi_lock_try(&t->lock)) return false; /* relaxed: a hint */
    const bool any = t->is_running && !t->is_moving && move(t, false, &ended);
    t->asks++;
    if (any)
        end_move(t, ended);
    else
        ptoi_lock_leave(&t->lock);
    return any;
}

/* With the lock, which is free afterwards: the thread asks no more.  Where nothing is in flight, the start of the
 * next transfer wakes the thread of the transfers. */
static void stop_asking(struct transfers *t, const void *thread)
{
    if (t->watcher == thread) t->watcher = NULL;
    t->asks = 0;
    const bool is_late = !t->watcher && t->looks.next >= LOOK_LATE, is_due = load_relaxed(&t->in_flight) > 0;
    if (t->looks.next == LOOK_LATE && is_late) t->looks.next = LOOK_FAR;
    ring_if(t, is_late && is_due);
}

/* Of struct outside. */
static void leave(void *context, const void *thread)
{
    struct transfers *t = context;
    ptoi_lock_take(&t->lock);
    stop_asking(t, thread);
}

/* Of struct outside.  One thread at a time has short naps; they grow until something ends. */
static int64_t rest(void *context, const void *thread)
{
    struct transfers *t = context;
    ptoi_lock_take(&t->lock);
    if (load_relaxed(&t->in_flight) == 0 || (t->watcher && t->watcher != thread)) { /* relaxed: under the lock */
        stop_asking(t, thread);
        return PTO_FOR_EVER;
    }
    t->naps = t->watcher && t->napped == t->standstill.ended ? t->naps + 1 : 1;
    t->watcher = thread;
    t->napped = t->standstill.ended;
    const int64_t ns = ptoi_nap_ns(t->naps);
    ptoi_lock_leave(&t->lock);
    return ns;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void *carry_out(void *arg)
{
    enum { BUSY_LOOKS = 64 };
    struct transfers *t = arg;
    bool was_failing = false;
    unsigned looks = 0;
    uint64_t count = 0;
    for (;;) {
        struct transfer *ended = NULL;
        store_relaxed(&t->is_wanted, 1); /* relaxed: a hint */
        ptoi_lock_take(&t->lock);
        store_relaxed(&t->is_wanted, 0);
        const bool has_news =
            t->standstill.ended != count || load_relaxed(&t->in_flight) == 0; /* relaxed: under the lock */
        ptoi_looks_begin(&t->looks, t->asks, t->watcher, has_news);
        t->asks = 0;
        t->extra = has_news || !t->sends ? 0 : t->extra + ptoi_looks_are_vain(&t->looks);
        const bool stops = t->stops, is_running = t->is_running;
        const bool any = is_running && !t->is_moving && move(t, true, &ended);
        count = t->standstill.ended;
        if (is_running && (!any || ++looks % BUSY_LOOKS == 0)) ptoi_standstill_look(t);
        const bool is_failing = is_running && ptoi_is_failing(t->core->run_status);
        const uint32_t seen = load_relaxed(&t->started); /* relaxed: under the lock */
        const int64_t ns = ptoi_looks_end(&t->looks, any, load_relaxed(&t->in_flight) > 0, is_running); /* likewise */
        if (any)
            end_move(t, ended);
        else
            ptoi_lock_leave(&t->lock);
        if (stops) return NULL;
        if (is_failing && !was_failing) t->core->engine->poke(t->core);
        was_failing = is_failing;
        if (ns == 0)
            ptoi_yield();
        else
            ptoi_sleep_on(&t->started, seen, ns, false);
    }
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* With the lock. */
static struct transfer *add_transfer(struct transfers *t, bool is_send, const PTOArg *args)
{
    const int32_t count = (int32_t)(args[TRANSFER_PEER].value.i64 >> TRANSFER_SHIFT);
    PTOArg *views = count > 1 ? malloc((size_t)count * sizeof *views) : NULL;
    if (count > 1 && !views) /* it is cancelled before it is posted */
        ptoi_fail(t->core->run_status, PTO_ERR_NOMEM, NULL, "no memory for a message of %d pieces", count);
    struct transfer *x = take_transfer(t);
    *x = (struct transfer){.count = views ? count : 1,
                           .first = args[TRANSFER_VIEWS],
                           .peer = (int32_t)args[TRANSFER_PEER].value.i64,
                           .is_send = is_send,
                           .number = (uint64_t)args[TRANSFER_NUMBER].value.i64,
                           .order = (uint64_t)args[TRANSFER_ORDER].value.i64,
                           .urgency = args[TRANSFER_URGENCY].value.i64};
    x->view = views ? memcpy(views, &args[TRANSFER_VIEWS], (size_t)count * sizeof *views) : &x->first;
    for (int32_t k = 0; k < x->count; k++) x->bytes += bytes_of(&x->view[k]);
    insert_by_urgency(list_of(t, x), x);
    count_in_flight(t, 1);
    return x;
}

/* Under the lock.  A transfer was added, and leaves at once where it may. */
static void go(struct transfers *t)
{
    if (t->is_running && may_move(t)) post_all(t);
}

/* Of struct outside: the scheduler starts a task. */
static void start(void *context, uint64_t id, const PTOKernel *kernel, const PTOArg *args)
{
    struct transfers *t = context;
    struct noted *n = ptoi_noted_at(t->notes, t->core->recorder, id);
    if (n) n->begin = ptoi_record_now(t->core->recorder);
    ptoi_lock_take(&t->lock);
    if (kernel == &ptoi_forget_kernel) {
        struct transfer *x = take_transfer(t);
        *x = (struct transfer){.first = args[0], .view = &x->first, .count = 1, .task = id, .next = t->forgotten};
        t->forgotten = x;
        count_in_flight(t, 1);
    } else {
        struct transfer *x = add_transfer(t, kernel == &ptoi_send_kernel, args);
        x->task = id;
        x->started = ptoi_waits_now(&t->waits);
    }
    go(t);
    const enum look next = t->looks.next;
    ring_if(t, next == LOOK_FARTHEST || (next == LOOK_FAR && !t->core->engine->go_on));
}

/* The scheduler starts them outside. */
static int run_inside(const PTOArg *args)
{
    (void)args;
    CHECK(false);
    return CANCELLED;
}

const PTOKernel ptoi_send_kernel = {.name = "send", .worker = PTO_WORKER_ACCELERATOR, .fn = run_inside};
const PTOKernel ptoi_receive_kernel = {.name = "recv", .worker = PTO_WORKER_ACCELERATOR, .fn = run_inside};
const PTOKernel ptoi_forget_kernel = {.name = "forget", .worker = PTO_WORKER_ACCELERATOR, .fn = run_inside};

bool ptoi_is_transfer(const PTOKernel *kernel)
{
    return kernel == &ptoi_send_kernel || kernel == &ptoi_receive_kernel || kernel == &ptoi_forget_kernel;
}

/* Of struct outside. */
static void began(void *context, uint64_t id, int64_t idle_since)
{
    struct transfers *t = context;
    ptoi_waits_began(&t->waits, id, idle_since);
}

/* Of struct outside. */
static void say(void *context) { ptoi_standstill_say(context); }

/* ---- a run ------------------------------------------------------------------------------------------------------- */

void ptoi_transfers_begin(struct transfers *t)
{
    ptoi_lock_take(&t->lock);
    t->wire->runs++;
    t->wire->ops->begin(t->wire);
    t->is_running = true;
    t->is_cancelled = t->has_notified = t->has_reported = false;
    t->heard = t->kept.rank = -1;
    t->meets = false;
    ptoi_standstill_begin(&t->standstill, t->wire);
    ptoi_waits_begin(&t->waits);
    t->messages = t->bytes = 0;
    t->given = t->taken = t->reductions = 0;
    t->is_reducing = false;
    memset(t->ended, 0, t->ended_slots * sizeof *t->ended);
    CHECK(!t->sends && t->posted_bytes == 0);
    t->sent = t->oldest = 0;
    t->extra = 0;
    for (int32_t k = 0; k < t->wire->ranks; k++) t->peer[k].sent = t->peer[k].received = 0;
    ring(t);
}

/* With the lock. */
static enum wire_answer reduce(struct transfers *t, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    const enum wire_answer answer = t->wire->ops->reduce(t->wire, is_last, mine, least, most);
    t->reductions += !t->is_reducing;
    t->is_reducing = answer == WIRE_WAITS;
    return answer;
}

bool ptoi_transfers_try_reduce(struct transfers *t, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    ptoi_lock_take(&t->lock);
    const enum wire_answer answer = reduce(t, false, mine, least, most);
    ptoi_lock_leave(&t->lock);
    return answer == WIRE_DONE;
}

/* The end of a run needs all ranks, and one does not answer, or the run has failed, since *failed here, and a kernel of
 * another rank may never return.  Of a built program each is watched from beside the run, and ends then; a host program
 * has nothing else. */
static bool will_not_come(const struct transfers *t, int64_t *failed)
{
    const int64_t grace_ns = 5000000000;
    if (t->standstill.begins_together) return false;
    if (ptoi_wire_left_before(t->wire)) return true;
    if (*failed == 0 && ptoi_is_failing(t->core->run_status)) *failed = ptoi_clock_ns();
    return t->standstill.silent >= 0 || (*failed > 0 && ptoi_clock_ns() - *failed > grace_ns);
}

bool ptoi_transfers_reduce(struct transfers *t, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    int64_t failed = 0;
    for (int64_t naps = 1;; naps++) {
        _Atomic uint32_t idle = 0;
        while (t->core->engine->go_on && t->core->engine->go_on(t->core)) naps = 1; /* others may wait for these */
        ptoi_lock_take(&t->lock);
        const enum wire_answer answer = reduce(t, is_last, mine, least, most);
        const bool gives_up =
            answer == WIRE_WAITS && (is_last ? will_not_come(t, &failed) : ptoi_is_failing(t->core->run_status));
        t->meets = answer == WIRE_WAITS && !gives_up;
        t->meets_at = *t->core->orch.site;
        t->standstill.ended += answer == WIRE_DONE;
        ptoi_lock_leave(&t->lock);
        if (answer == WIRE_DONE) return true;
        if (gives_up) return false;
        if (answer == WIRE_FAILED) {
            ptoi_fail(t->core->run_status, PTO_ERR_LOST, NULL, "the ranks cannot agree: the wire failed");
            return false;
        }
        ptoi_standstill_say(t);
        ptoi_sleep_on(&idle, 0, ptoi_nap_ns(naps), false);
    }
}

void ptoi_transfers_differ(struct transfers *t)
{
    enum { STEP_NS = 100000 };
    _Atomic uint32_t idle = 0;
    ptoi_lock_take(&t->lock);
    t->standstill.differs = true;
    ring(t);
    while (!ptoi_is_failing(t->core->run_status)) {
        ptoi_standstill_say(t);
        ptoi_sleep_on(&idle, 0, STEP_NS, false);
    }
    ptoi_final_status(t->core->run_status);
}

bool ptoi_transfers_open(struct transfers *t, struct core *core, struct wire *wire, int32_t sends,
                         const struct task_notes *notes, bool begins_together, const struct ranked_program *program)
{
    const uint64_t tasks = core->window->task_mask + 1, ranks = (uint64_t)wire->ranks,
                   blocks = 2 * tasks + 1; /* the tasks of the window, and those that have just left it */
    *t = (struct transfers){
        .core = core, .wire = wire, .notes = notes, .limit = sends, .lock = PTOI_LOCK_OPEN, .ended_slots = 2 * tasks};
    t->peer = calloc(ranks, sizeof *t->peer);
    t->ended = calloc(t->ended_slots, sizeof *t->ended);
    t->block = calloc(blocks, sizeof *t->block);
    const bool is_timed = core->config.time_causes;
    const bool has_waits = !is_timed || ptoi_waits_open(&t->waits, core->window);
    const bool has_memory = has_waits && ptoi_standstill_open(&t->standstill, wire, core->config.watchdog_seconds,
                                                              core->config.replay != NULL, begins_together, program);
    if (!has_memory || !t->peer || !t->ended || !t->block) return false;
    for (uint64_t k = 0; k < blocks; k++) give_transfer(t, &t->block[k]);
    core->outside = (struct outside){.is_mine = ptoi_is_transfer,
                                     .start = start,
                                     .began = is_timed ? began : NULL,
                                     .progress = progress,
                                     .under_way = &t->in_flight,
                                     .is_asked = &t->standstill.is_asked,
                                     .say = say,
                                     .rest = rest,
                                     .leave = leave,
                                     .context = t};
    t->has_thread = ptoi_thread_start(&t->thread, carry_out, t);
    return t->has_thread;
}

void ptoi_transfers_stop(struct transfers *t)
{
    if (!t->has_thread) return;
    ptoi_lock_take(&t->lock);
    t->stops = true;
    ring(t);
    ptoi_thread_join(t->thread);
    t->has_thread = false;
}

void ptoi_transfers_close(struct transfers *t)
{
    ptoi_transfers_stop(t);
    free(t->peer);
    free(t->ended);
    free(t->block);
    ptoi_standstill_close(&t->standstill);
    ptoi_waits_close(&t->waits);
    *t = (struct transfers){0};
}
