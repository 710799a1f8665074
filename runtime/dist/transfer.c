/* transfer.c - see transfer.h. */
#include "transfer.h"
#include "pages.h"
#include "shared/check.h"
#include "shared/task.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANCELLED = 1 }; /* the result of a transfer that was given up */
/* The rank stands behind the first line, which may end in a colon. */
#define ON_RANK "%.*s (on rank %d, %s)%s"
#define ON_RANK_OF(failure)                                                                                            \
    first_line(&(failure)), (failure).text, (failure).rank, (failure).host, (failure).text + first_line(&(failure))

static int first_line(const struct wire_failure *failure)
{
    const size_t length = strcspn(failure->text, "\n");
    return (int)(length > 0 && failure->text[length] && failure->text[length - 1] == ':' ? length - 1 : length);
}

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
    t->in_flight--;
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
    ptoi_fail(t->core->run_status, PTO_ERR_LOST, x->is_own ? NULL : ptoi_task_site(t->core->window, x->task),
              "a piece, %s[%s], was not %s rank %d%s%s (transfer %llu)", pto_type_name((PTOType)x->view->type), shape,
              x->is_send ? "sent to" : "received from", x->peer, why[0] ? ": " : "", why,
              (unsigned long long)x->number);
}

static bool post(struct transfers *t, struct transfer *x)
{
    const struct wire_ops *ops = t->wire->ops;
    x->is_posted = true;
    if (x->is_send) {
        t->peer[x->peer].posted++;
        t->posted_bytes += x->bytes;
    }
    if ((x->is_send ? ops->send : ops->receive)(t->wire, x->peer, x->number, x->view, x->count, x)) return true;
    fail_wire(t, x);
    return false;
}

/* See Note [urgent sends] and Note [the oldest send]. */
static void post_sends(struct transfers *t)
{
    for (struct transfer *x = t->sends; x; x = x->next) {
        if (x->is_posted) continue;
        const int64_t bytes = x->bytes;
        const bool is_oldest = t->extra > 0 && x->order == t->oldest, has_slot = t->peer[x->peer].posted < t->limit,
                   fits = t->posted_bytes == 0 || bytes <= POSTED_BYTES - t->posted_bytes;
        if (!is_oldest && (!has_slot || !(fits || t->extra > 0))) continue;
        if (!fits) t->extra -= t->extra > 0;
        if (!post(t, x)) return;
    }
}

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
        t->in_flight--;
        ptoi_pages_give_back(x->view);
        x->next = *ended;
        *ended = x;
    }
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void notify_others(struct transfers *t)
{
    struct wire_failure failure = {.rank = t->wire->rank,
                                   .status = ptoi_final_status(t->core->run_status),
                                   .signal = load_relaxed(&t->signal)}; /* relaxed: a number */
    if (t->has_notified) return;
    t->has_notified = t->has_reported = true;
    ptoi_host_name(failure.host, sizeof failure.host);
    snprintf(failure.text, sizeof failure.text, "%.*s", WIRE_TEXT - 1, ptoi_run_message(t->core->run_status));
    t->wire->ops->notify(t->wire, &failure);
}

static void hear_others(struct transfers *t)
{
    struct wire_failure failure;
    if (t->has_notified || !t->wire->ops->listen(t->wire, &failure)) return;
    if (failure.signal) store_relaxed(&t->signal, failure.signal); /* relaxed: a number */
    t->has_notified = ptoi_fail(t->core->run_status, (PTOStatus)failure.status, NULL, ON_RANK, ON_RANK_OF(failure));
    if (t->has_notified)
        t->heard = failure.rank;
    else
        t->kept = failure; /* this rank has failed meanwhile, and the wire reports it only once */
}

static void cancel(struct transfers *t, struct transfer **ended)
{
    if (!t->is_cancelled) t->wire->ops->cancel(t->wire);
    t->is_cancelled = true;
    while (t->receives) end_transfer(t, t->receives, CANCELLED, ended);
    while (t->sends) end_transfer(t, t->sends, CANCELLED, ended);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* true: something has ended.  Under the lock. */
static bool move(struct transfers *t, struct transfer **ended)
{
    enum { MANY = 32 };
    struct wire_ended end[MANY];
    const bool was_failing = ptoi_is_failing(t->core->run_status);
    give_back_all(t, ended);
    if (!was_failing) hear_others(t);
    if (!t->is_cancelled && !ptoi_is_failing(t->core->run_status)) {
        post_all(t);
        const int n = t->wire->ops->progress(t->wire, end, MANY);
        for (int i = 0; i < n; i++) {
            if (!end[i].is_good) fail_wire(t, end[i].ticket);
            end_transfer(t, end[i].ticket, end[i].is_good ? 0 : CANCELLED, ended);
        }
        post_all(t);
    }
    if (ptoi_is_failing(t->core->run_status)) {
        notify_others(t);
        cancel(t, ended);
    }
    return *ended != NULL;
}

/* Without the lock, because the scheduler may start other transfers meanwhile. */
static void report_ended(struct transfers *t, struct transfer *ended)
{
    bool serves = false;
    for (struct transfer *x = ended; x; x = x->next) {
        if (x->is_own) continue;
        struct noted *n = ptoi_noted_at(t->notes, t->core->recorder, x->task);
        if (n) n->end = ptoi_record_now(t->core->recorder);
        if (!x->is_send) ptoi_waits_arrived(&t->waits, x->task, x->started);
        t->core->engine->completed(t->core, x->task, x->result);
    }
    ptoi_lock_take(&t->lock);
    for (struct transfer *x = ended, *next; x; x = next) {
        next = x->next;
        x->has_ended = true;
        serves |= x->is_own;
        if (!x->is_own) give_transfer(t, x);
    }
    if (serves) add_relaxed(&t->served, 1);
    ptoi_lock_leave(&t->lock);
    if (serves) ptoi_wake_all_on(&t->served);
}

static void *carry_out(void *arg)
{
    enum { YIELDS = 50, STEP_NS = 5000, LONGEST_NS = 100000, LISTEN_NS = 2000000, BUSY_LOOKS = 64 };
    struct transfers *t = arg;
    bool was_failing = false;
    unsigned looks = 0;
    for (int idle = 0;;) {
        struct transfer *ended = NULL;
        ptoi_lock_take(&t->lock);
        t->extra = idle == 0 || !t->sends ? 0 : t->extra + (idle >= YIELDS);
        const bool stops = t->stops, is_running = t->is_running;
        const bool any = is_running && move(t, &ended);
        if (is_running && (!any || ++looks % BUSY_LOOKS == 0)) ptoi_standstill_look(t);
        const bool is_failing = is_running && ptoi_is_failing(t->core->run_status);
        const bool waits = t->in_flight > 0;
        const uint32_t seen = load_relaxed(&t->started); /* relaxed: under the lock */
        ptoi_lock_leave(&t->lock);
        if (stops) return NULL;
        if (any) report_ended(t, ended);
        if (is_failing && !was_failing) t->core->engine->poke(t->core);
        was_failing = is_failing;
        idle = any ? 0 : idle + 1;
        if (any || (waits && idle < YIELDS)) {
            ptoi_yield();
            continue;
        }
        const int64_t grown = (int64_t)STEP_NS * (idle - YIELDS + 1);
        ptoi_sleep_on(&t->started, seen,
                      waits        ? (grown < LONGEST_NS ? grown : LONGEST_NS)
                      : is_running ? LISTEN_NS
                                   : PTO_FOR_EVER,
                      false);
    }
}

static void ring(struct transfers *t)
{
    add_relaxed(&t->started, 1); /* relaxed: under the lock */
    ptoi_lock_leave(&t->lock);
    ptoi_wake_on(&t->started, false);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* With the lock. */
static struct transfer *add_transfer(struct transfers *t, bool is_send, const PTOArg *args)
{
    const int32_t count = (int32_t)args[TRANSFER_COUNT].value.i64;
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
    t->in_flight++;
    return x;
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
        t->in_flight++;
    } else {
        struct transfer *x = add_transfer(t, kernel == &ptoi_send_kernel, args);
        x->task = id;
        x->started = ptoi_waits_now(&t->waits);
    }
    ring(t);
}

/* The thread that executes the task waits for it. */
static int transfer_now(const PTOArg *args, bool is_send)
{
    enum { LOOK_NS = 1000000 };
    struct transfers *t = (struct transfers *)(uintptr_t)args[TRANSFER_OWNER].value.i64; /* NOLINT */
    const int64_t since = ptoi_waits_now(&t->waits);
    ptoi_lock_take(&t->lock);
    struct transfer *x = add_transfer(t, is_send, args);
    x->is_own = true;
    ring(t);
    for (;;) {
        ptoi_lock_take(&t->lock);
        const uint32_t seen = load_relaxed(&t->served); /* relaxed: under the lock */
        const bool has_ended = x->has_ended;
        const int32_t result = x->result;
        if (has_ended) give_transfer(t, x);
        ptoi_lock_leave(&t->lock);
        if (has_ended && since > 0) ptoi_waits_own(&t->waits, !is_send, t->serves, ptoi_clock_ns() - since);
        if (has_ended) return result;
        ptoi_sleep_on(&t->served, seen, LOOK_NS, false);
    }
}

static int send_now(const PTOArg *args) { return transfer_now(args, true); }
static int receive_now(const PTOArg *args) { return transfer_now(args, false); }
static int forget_now(const PTOArg *args)
{
    ptoi_pages_give_back(&args[0]);
    return 0;
}

const PTOKernel ptoi_send_kernel = {.name = "send", .worker = PTO_WORKER_ACCELERATOR, .fn = send_now};
const PTOKernel ptoi_receive_kernel = {.name = "recv", .worker = PTO_WORKER_ACCELERATOR, .fn = receive_now};

const PTOKernel ptoi_forget_kernel = {.name = "forget", .worker = PTO_WORKER_ACCELERATOR, .fn = forget_now};

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

/* ---- a run ------------------------------------------------------------------------------------------------------- */

void ptoi_transfers_begin(struct transfers *t)
{
    ptoi_lock_take(&t->lock);
    t->wire->ops->begin(t->wire);
    t->is_running = true;
    t->is_cancelled = t->has_notified = t->has_reported = false;
    t->heard = t->kept.rank = -1;
    t->meets = false;
    ptoi_standstill_begin(&t->standstill, t->wire->ranks);
    ptoi_waits_begin(&t->waits);
    t->serves = NULL;
    t->messages = t->bytes = 0;
    memset(t->ended, 0, t->ended_slots * sizeof *t->ended);
    CHECK(!t->sends && t->posted_bytes == 0);
    t->sent = t->oldest = 0;
    t->extra = 0;
    for (int32_t k = 0; k < t->wire->ranks; k++) t->peer[k].sent = t->peer[k].received = 0;
    ring(t);
}

bool ptoi_transfers_try_reduce(struct transfers *t, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    ptoi_lock_take(&t->lock);
    const enum wire_answer answer = t->wire->ops->reduce(t->wire, false, mine, least, most);
    ptoi_lock_leave(&t->lock);
    return answer == WIRE_DONE;
}

/* The end of a run needs all ranks, and one does not answer.  Of a built program each is watched from beside the run,
 * and ends then; a host program has nothing else. */
static bool will_not_come(const struct transfers *t)
{
    return t->standstill.silent >= 0 && !t->standstill.begins_together;
}

bool ptoi_transfers_reduce(struct transfers *t, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    enum { STEP_NS = 5000, LONGEST_NS = 100000 };
    for (int64_t ns = STEP_NS;; ns += ns < LONGEST_NS ? STEP_NS : 0) {
        _Atomic uint32_t idle = 0;
        ptoi_lock_take(&t->lock);
        const enum wire_answer answer = t->wire->ops->reduce(t->wire, is_last, mine, least, most);
        const bool gives_up =
            answer == WIRE_WAITS && (is_last ? will_not_come(t) : ptoi_is_failing(t->core->run_status));
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
        ptoi_sleep_on(&idle, 0, ns, false);
    }
}

void ptoi_transfers_all_fail(struct transfers *t)
{
    ptoi_lock_take(&t->lock);
    t->has_notified = true;
    ptoi_lock_leave(&t->lock);
}

bool ptoi_transfers_end(struct transfers *t)
{
    if (load_relaxed(&t->signal)) /* relaxed: a number; its thread may not have cancelled the run yet */
        ptoi_fail(t->core->run_status, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
    ptoi_lock_take(&t->lock);
    const bool is_failing = ptoi_is_failing(t->core->run_status);
    CHECK(t->in_flight == 0 || is_failing);
    if (is_failing) notify_others(t);
    ptoi_lock_leave(&t->lock);
    return is_failing;
}

/* Tasks that failed go before what is no task, and ranks are in their order. */
enum { RANK_BITS = 20 };

uint64_t ptoi_transfers_failure(const struct transfers *t)
{
    const struct window *w = t->core->window;
    const uint64_t task = load_relaxed(&w->failed_task), /* relaxed: see window.h */
        number = task ? ptoi_task_number(w, task - 1) : (UINT64_MAX >> RANK_BITS) - 1;
    return t->has_reported ? number << RANK_BITS | (uint64_t)t->wire->rank : NO_FAILURE;
}

/* Under the lock.  false: the failure of the rank was not heard yet; -1: any. */
static bool hear_rank(struct transfers *t, int32_t rank)
{
    if (!ptoi_is_failing(t->core->run_status)) hear_others(t);
    if (rank < 0 || rank == t->wire->rank || rank == t->heard) return ptoi_is_failing(t->core->run_status);
    struct wire_failure failure = t->kept;
    if (failure.rank != rank && (!t->wire->ops->listen(t->wire, &failure) || failure.rank != rank)) return false;
    ptoi_final_status(t->core->run_status);
    ptoi_run_status_replace(t->core->run_status, (PTOStatus)failure.status, ON_RANK, ON_RANK_OF(failure));
    t->heard = rank;
    return true;
}

PTOStatus ptoi_transfers_over(struct transfers *t, bool has_failed, uint64_t oldest)
{
    enum { LOOK_NS = 50000 };
    const int32_t rank = oldest == NO_FAILURE ? -1 : (int32_t)(oldest & ((1 << RANK_BITS) - 1));
    _Atomic uint32_t idle = 0;
    for (bool hears = has_failed; hears;) {
        ptoi_lock_take(&t->lock);
        hears = !hear_rank(t, rank);
        ptoi_lock_leave(&t->lock);
        if (hears) ptoi_sleep_on(&idle, 0, LOOK_NS, false);
    }
    ptoi_lock_take(&t->lock);
    t->is_running = false;
    ptoi_lock_leave(&t->lock);
    return has_failed ? ptoi_final_status(t->core->run_status) : PTO_OK;
}

bool ptoi_transfers_open(struct transfers *t, struct core *core, struct wire *wire, int32_t sends,
                         const struct task_notes *notes, bool begins_together, const _Atomic int64_t *passed)
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
    const bool has_memory =
        has_waits && ptoi_standstill_open(&t->standstill, wire->ranks, core->config.watchdog_seconds,
                                          core->config.replay != NULL, begins_together, passed);
    if (!has_memory || !t->peer || !t->ended || !t->block) return false;
    for (uint64_t k = 0; k < blocks; k++) give_transfer(t, &t->block[k]);
    core->outside =
        (struct outside){.is_mine = ptoi_is_transfer, .start = start, .began = is_timed ? began : NULL, .context = t};
    t->has_thread = ptoi_thread_start(&t->thread, carry_out, t);
    return t->has_thread;
}

void ptoi_transfers_close(struct transfers *t)
{
    if (t->has_thread) {
        ptoi_lock_take(&t->lock);
        t->stops = true;
        ring(t);
        ptoi_thread_join(t->thread);
    }
    free(t->peer);
    free(t->ended);
    free(t->block);
    ptoi_standstill_close(&t->standstill);
    ptoi_waits_close(&t->waits);
    *t = (struct transfers){0};
}
