/* orchestrator.c - see orchestrator.h. */
#include "decode.h"
#include "shared/check.h"
#include "debug/checked.h"
#include "shared/limit.h"
#include "shared/references.h"
#include "record/record.h"
#include <pto/pto_program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lifetime of the role ---------------------------------------------------------------------------------------- */

enum { OUTSIDE_BUFFERS = 1024 };

static void report_broken(void *context, uint32_t buffer)
{
    struct orchestrator *o = context;
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    ptoi_fail(o->run_status, PTO_ERR_BOUNDS, r->site, "a task that has '%.60s' wrote past its %llu bytes",
              r->name ? r->name : "this buffer", (unsigned long long)r->bytes);
}

/* The log of a recorded run has room for all that is recorded if a task has no more words than this on average: then
 * edges are found after the run.  Where they are only counted, they are found a batch at a time. */
static bool keep_history(struct orchestrator *o, int64_t record_tasks)
{
    enum { WORDS_OF_TASK = 32, BATCH = 1 << 15 };
    o->history = ptoi_history_create();
    return o->history && ptoi_history_log_init(&o->log, BATCH + WORDS_OF_TASK * (uint64_t)record_tasks);
}

bool ptoi_orch_init(struct orchestrator *o, struct window *w, struct run_status *run_status,
                    const struct orchestrator_config *c)
{
    *o = (struct orchestrator){.window = w, .run_status = run_status, .heap_base = c->heap_base};
    o->scope_policy = c->scope_policy;
    o->names_options = c->names_options;
    o->head = o->tail = o->map_retired = load_relaxed(&w->task_head); /* relaxed: nobody else runs yet */
    o->event_head = load_relaxed(&w->event_head);
    /* byte and entry counters start where the tests want them */
    o->arg_head = o->arg_tail = o->dep_head = o->dep_tail = o->event_head;
    const int64_t slots = (int64_t)w->task_mask + 1;
    /* one a slot from the map, and births that have retired unseen */
    const size_t producers = (size_t)slots + PTO_MAX_PARAMS;
    o->found.task_id = calloc(producers, sizeof *o->found.task_id);
    o->found.reason = calloc(producers, sizeof *o->found.reason);
    o->map = ptoi_map_create(c->tensormap_entries, slots, OUTSIDE_BUFFERS);
    bool ok =
        o->found.task_id && o->found.reason && o->map && (!c->count_dependences || keep_history(o, c->record_tasks));
    ok = ok && ptoi_heap_init(&o->heap, w, c->ring_bytes, c->max_scopes);
    ok = ok && ptoi_scopes_init(&o->scopes, c->max_scopes, w->heap_bytes / PTO_GRANULE);
    o->scopes.guard = c->checked;
    ok = ok && (!c->checked || ptoi_heap_check(&o->heap, c->heap_base, report_broken, o));
    if (!ok) ptoi_orch_free(o);
    return ok;
}

void ptoi_orch_free(struct orchestrator *o)
{
    free(o->found.task_id);
    free(o->found.reason);
    ptoi_map_destroy(o->map);
    ptoi_history_destroy(o->history);
    ptoi_history_log_free(&o->log);
    ptoi_names_free(&o->names, o->heap_base);
    ptoi_heap_free(&o->heap);
    ptoi_scopes_free(&o->scopes);
    *o = (struct orchestrator){0};
}

PTOStatus ptoi_orch_fail(struct orchestrator *o, PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ptoi_vfail(o->run_status, status, *o->site, format, args);
    va_end(args);
    return ptoi_status(o->run_status) != PTO_OK ? ptoi_status(o->run_status) : status; /* an earlier failure sticks */
}

static bool has_failed(const struct orchestrator *o) { return ptoi_status(o->run_status) != PTO_OK; }

/* ---- what the scheduler has published ---------------------------------------------------------------------------- */

static void give_entries_back(struct orchestrator *o)
{
    if (o->tail == o->map_retired) return;
    ptoi_map_retire(o->map, o->tail);
    o->map_retired = o->tail;
}

static void see_retired(struct orchestrator *o)
{
    uint64_t tail = load_acquire(&o->window->task_tail, RETIRE); /* [RETIRE] */
    o->tail = tail;
    /* holds the oldest arguments and fan-in entries */
    const struct task_slot *oldest = tail == o->head ? NULL : window_task(o->window, tail);
    o->arg_tail = oldest ? oldest->arg_begin : o->arg_head;
    o->dep_tail = oldest ? oldest->dep_begin : o->dep_head;
    give_entries_back(o);
}

static bool is_completed(const struct orchestrator *o, uint64_t id)
{
    return id < o->tail || load_acquire(window_completed(o->window, id), DONE) == id + 1; /* [DONE] */
}

/* ---- waiting: each resource says what it waits for --------------------------------------------------------------- */

struct need {
    struct orchestrator *o;
    uint64_t mark; /* rings that come back in task order: not before so many have retired */
    uint64_t amount;
    int32_t depth;
    uint32_t buffer; /* what try_alloc found, */
    uint64_t at;     /* and where */
};

static bool slot_is_free(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    return n->o->tail >= n->mark && n->o->head - n->o->tail <= n->o->window->task_mask;
}

/* A record does not cross the end of the ring. */
static uint64_t arg_place(const struct orchestrator *o, uint64_t bytes)
{
    uint64_t ring = o->window->arg_mask + 1, left = ring - (o->arg_head & o->window->arg_mask);
    return bytes <= left ? o->arg_head : o->arg_head + left;
}

static bool args_fit(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    return n->o->tail >= n->mark &&
           arg_place(n->o, n->amount) + n->amount - n->o->arg_tail <= n->o->window->arg_mask + 1;
}

static bool deps_fit(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    return n->o->tail >= n->mark && n->o->dep_head - n->o->dep_tail + n->amount <= n->o->window->dep_limit;
}

static bool map_fits(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    if (n->o->tail < n->mark) return false;
    return ptoi_map_reserve(n->o->map, (int64_t)n->amount);
}

static bool heap_fits(void *arg)
{
    struct need *n = arg;
    n->buffer = ptoi_heap_try_alloc(&n->o->heap, n->depth, n->amount, &n->at);
    return n->buffer != 0;
}

static bool event_fits(void *arg)
{
    struct need *n = arg;
    return n->o->event_head - load_acquire(&n->o->window->event_tail, TAKEN) <= n->o->window->event_mask; /* [TAKEN] */
}

static bool all_retired(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    return n->o->tail == n->o->head;
}

static bool all_taken(void *arg)
{
    struct need *n = arg;
    return all_retired(arg) && load_acquire(&n->o->window->event_tail, TAKEN) == n->o->event_head;
}

/* false: it can never be met. A failed run still meets these: its tasks are cancelled, which retires them. */
/* model: IS_MET */
static bool wait_for(struct orchestrator *o, PTOStallReason reason, bool (*is_met)(void *arg), struct need *need)
{
    need->o = o;
    return is_met(need) || ptoi_flow_wait(&o->flow, reason, is_met, need);
}

/* What is in flight retires without the orchestrator, in any program, so in the wait that follows nobody need wake it
 * before task_tail is so high.  Not so where a recorded schedule wants a task next that was not submitted yet.  What
 * was set; 0: nothing. */
static uint64_t let_sleep_until(struct orchestrator *o, uint64_t retired)
{
    return o->flow.wake_at = o->replay ? 0 : retired;
}

/* As wait_for, for what comes back in task order.  The orchestrator sleeps until half of what is in flight has retired:
 * a wake costs as much as hundreds of submits. */
static bool wait_for_ring(struct orchestrator *o, PTOStallReason reason, bool (*is_met)(void *arg), struct need *need)
{
    need->o = o;
    need->mark = 0;
    if (is_met(need)) return true;
    need->mark = let_sleep_until(o, o->tail + (o->head - o->tail + 1) / 2);
    const bool met = ptoi_flow_wait(&o->flow, reason, is_met, need);
    o->flow.wake_at = 0;
    return met;
}

static void wait_drained(struct orchestrator *o, PTOStallReason reason)
{
    struct need need = {0};
    let_sleep_until(o, o->head);
    bool met = wait_for(o, reason, all_retired, &need);
    o->flow.wake_at = 0;
    CHECK(met || o->is_lost); /* tasks depend on older tasks only */
}

/* The same for all events too, and not a stall: the program has nothing more to submit. */
static bool wait_all_taken(struct orchestrator *o)
{
    struct need need = {.o = o};
    if (all_taken(&need)) return true;
    let_sleep_until(o, o->head);
    const bool met = o->flow.ops->wait(o->flow.context, all_taken, &need);
    o->flow.wake_at = 0;
    return met;
}

/* ---- lifetime of buffers ----------------------------------------------------------------------------------------- */

static void publish_event(struct orchestrator *o, enum event_kind kind, uint32_t buffer) /* model: PUBLISH_EVENT */
{
    struct need need = {0};
    if (o->is_lost) return; /* to nobody */
    bool met = wait_for(o, PTO_STALL_TASK_RING, event_fits, &need);
    CHECK(met || o->is_lost); /* the scheduler takes events without waiting for anything */
    if (!met) return;
    struct lifetime_event *e = window_event(o->window, o->event_head);
    *e = (struct lifetime_event){.stamp = o->head, .buffer = buffer, .kind = kind};
    PTO_LABEL(EVENT);
    store_release(&o->window->event_head, ++o->event_head, EVENT); /* [EVENT] */
}

/* Where this thread is the scheduler, nobody needs an event. */
static inline void publish_open(struct orchestrator *o, uint32_t buffer)
{
    if (o->runs_inline)
        ptoi_references_open(o->refs, buffer);
    else
        publish_event(o, EVENT_OPEN, buffer);
}

static inline void publish_release(struct orchestrator *o, uint32_t buffer)
{
    if (o->runs_inline)
        ptoi_references_drop(o->window, o->refs, buffer);
    else
        publish_event(o, EVENT_RELEASE, buffer);
}

static PTOStatus deadlock(struct orchestrator *o, uint64_t bytes);
static const char *advised_heap(const struct orchestrator *o, uint64_t bytes, char *text);

/* The scope that owns a new output; below 0: it is closed. */
static inline int32_t owner_of(const struct orchestrator *o, PTOScope scope)
{
    const int32_t owner = ptoi_scope_index(&o->scopes, scope);
    return owner >= 0 && o->scope_policy == PTO_SCOPE_OUTERMOST ? o->scopes.depth > 1 : owner;
}

static inline void describe_buffer(struct orchestrator *o, struct buffer_record *r, uint64_t at, uint64_t bytes,
                                   uint64_t birth, const char *name)
{
    r->at = r->place = at;
    r->bytes = bytes;
    r->birth = birth;
    r->maker = o->now.open->number; /* of the task that is being submitted */
    r->output = 0;
    r->site = *o->site;
    r->name = name;
    o->stats.allocations++;
    o->stats.allocated_bytes += (int64_t)bytes;
}

/* What the heap gave becomes a buffer that scope need->depth owns. */
static void open_buffer(struct orchestrator *o, const struct need *need, uint64_t birth, const char *name)
{
    struct buffer_record *r = ptoi_record(&o->scopes, need->buffer);
    describe_buffer(o, r, need->at, need->amount, birth, name);
    r->at = ptoi_compact_name(o, need->buffer, need->at, need->amount);
    o->moved += r->at != r->place;
    if (o->flow.recorder) r->recorded = ptoi_record_buffer(o->flow.recorder, need->amount);
    if (o->slots) ptoi_slots_forget(o->slots, need->at, need->amount);
    if (!o->runs_inline) {
        int64_t low = (int64_t)(intptr_t)o->heap_base + (int64_t)r->at;
        ptoi_map_open(o->map, &r->map, low, low + (int64_t)need->amount);
    }
    ptoi_scope_own(&o->scopes, need->depth, need->buffer);
    if (o->outliving) ptoi_outliving_born(o->outliving, need->buffer, o->scopes.serial);
}

/* false: there is no room, wherever what is held would lie. */
static bool wait_for_heap(struct orchestrator *o, struct need *need)
{
    return wait_for(o, PTO_STALL_HEAP_RING, heap_fits, need) ||
           (ptoi_compact(o, need->depth, need->amount) && heap_fits(need));
}

PTOStatus ptoi_orch_take_buffer(struct orchestrator *o, int32_t owner, uint64_t bytes, uint64_t birth, const char *name,
                                uint32_t *buffer)
{
    if (name && name[0] == '&') name++; /* PTO_OUTPUT(&P, ...): the program calls it P */
    if (ptoi_heap_is_too_large(&o->heap, bytes))
        return ptoi_orch_fail(o, PTO_ERR_TOO_LARGE, "%s needs %llu bytes, but a heap ring has %llu: %s or more",
                              name ? name : "a buffer", (unsigned long long)bytes,
                              (unsigned long long)o->heap.ring_bytes, advised_heap(o, bytes, (char[LIMIT_TEXT]){0}));
    struct need need = {.amount = bytes, .depth = owner};
    if (!wait_for_heap(o, &need)) return o->is_lost ? ptoi_status(o->run_status) : deadlock(o, bytes);
    open_buffer(o, &need, birth, name);
    *buffer = need.buffer;
    return PTO_OK;
}

PTOStatus ptoi_make_output(struct orchestrator *o, const struct terms *t, const PTOTaskParam *p, uint64_t bytes,
                           uint64_t birth, uint8_t output, uint32_t *buffer)
{
    const int32_t owner = owner_of(o, p->scope);
    *buffer = 0;
    if (owner < 0)
        return ptoi_refuse_submit(o, REFUSED_SCOPE, &(struct refused){.param = p, .index = ptoi_param_index(t, p)});
    const PTOStatus status = ptoi_orch_take_buffer(o, owner, bytes, birth, p->name, buffer);
    if (status == PTO_OK) ptoi_record(&o->scopes, *buffer)->output = output;
    return status;
}

void *ptoi_orch_room(struct orchestrator *o, PTOScope scope, uint64_t bytes, const char *name)
{
    uint64_t at;
    const int32_t owner = owner_of(o, scope);
    const uint32_t buffer =
        owner < 0 || bytes > o->heap.ring_bytes ? 0 : ptoi_heap_try_alloc(&o->heap, owner, bytes, &at);
    if (buffer == 0) return NULL;
    CHECK(o->runs_inline && o->moved == 0 && !o->outliving); /* else the fast path is disabled */
    describe_buffer(o, ptoi_record(&o->scopes, buffer), at, bytes, PTO_NO_BIRTH,
                    name && name[0] == '&' ? name + 1 : name);
    ptoi_scope_own(&o->scopes, owner, buffer);
    ptoi_references_open(o->refs, buffer);
    return o->heap_base + at;
}

/* ---- edges, where they are recorded or counted ------------------------------------------------------------------- */

static void found_edges(void *context, enum history_entry entry, uint64_t number, const struct history_edge *edge,
                        int64_t count)
{
    struct orchestrator *o = context;
    if (entry == HISTORY_AWAIT) {
        struct recorder *const r = o->flow.recorder;
        for (int64_t k = 0; k < count; k++) ptoi_record_awaited(r, &r->wait[number], o->first_head + edge[k].from);
        return;
    }
    o->stats.dependences += count;
    const struct role_ops *ops = o->flow.ops;
    for (int64_t k = 0; o->flow.recorder && k < count; k++)
        ptoi_record_edge(o->flow.recorder, o->first_head + edge[k].from, o->first_head + number, edge[k].reasons);
    for (int64_t k = 0; ops->edge && k < count; k++) ops->edge(o->flow.context, o->first_head + edge[k].from);
}

bool ptoi_orch_find_edges(struct orchestrator *o)
{
    const struct history_reader reader = {.context = o, .found = found_edges};
    if (o->lacks_edges)
        o->log.used = 0;
    else if (o->history)
        o->lacks_edges = !ptoi_history_replay(&o->log, o->history, &reader);
    return !o->lacks_edges;
}

static void forget_edges(struct orchestrator *o)
{
    ptoi_history_reset(o->history);
    o->log.used = 0;
    o->lacks_edges = false;
}

/* For any entry.  false: there was no memory to empty the log, which is empty now. */
static inline bool log_has_room(struct orchestrator *o)
{
    return ptoi_history_log_has_room(&o->log) || ptoi_orch_find_edges(o);
}

static PTOStatus fail_history(struct orchestrator *o)
{
    return ptoi_orch_fail(o, PTO_ERR_NOMEM, "no memory to keep the dependences of the run, which is recorded");
}

static void forget_buffer(struct orchestrator *o, uint32_t buffer)
{
    if (!log_has_room(o)) fail_history(o);
    ptoi_history_log_close(&o->log, buffer);
    if (o->flow.recorder) ptoi_record_release(o->flow.recorder, ptoi_record(&o->scopes, buffer)->recorded);
}

static inline void let_go(struct orchestrator *o, uint32_t buffer) /* model: LET_GO */
{
    struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    ptoi_scope_disown(&o->scopes, buffer);
    o->moved -= r->at != r->place;
    if (ptoi_names_hold(&o->names, r->at)) ptoi_names_give_back(&o->names, r->at);
    if (o->outliving) ptoi_outliving_gone(o->outliving, buffer, r->bytes);
    if (o->history) forget_buffer(o, buffer);
    publish_release(o, buffer);
}

void ptoi_orch_let_go(struct orchestrator *o, uint32_t buffer) { let_go(o, buffer); }

/* ---- inline execution: when ----------------------------------------------------------------------- */

/* Note [fine tasks]: where other threads are workers, a task is executed inline if its kernel is shorter than handing
 * it over would take, and nothing coarse is in the window: then the window is empty at once, and stays so until a
 * coarse task comes.  So no parallelism is lost that is worth its price, and a fine task needs no look at the map. */
static void stop_inline(struct orchestrator *o)
{
    if (!o->runs_inline || !o->flow.ops->is_fine) return;
    ptoi_fast_close(&o->now);
    o->window->first_id = o->head - o->now.open->number; /* so that the numbers go on */
    o->flow.ops->leave(o->flow.context);
    o->runs_inline = false;
}

static bool start_inline(struct orchestrator *o)
{
    if (!wait_all_taken(o)) return false;
    o->flow.ops->enter(o->flow.context);
    ptoi_fast_ask(&o->now, o->flow.ops->is_fine, o->flow.context);
    o->runs_inline = true;
    return true;
}

static bool runs_now(struct orchestrator *o, const PTOKernel *kernel)
{
    const struct role_ops *ops = o->flow.ops;
    if (!o->may_run_inline || !ops->is_fine) return o->may_run_inline;
    if (!ops->is_fine(o->flow.context, kernel)) {
        stop_inline(o);
        o->coarse = o->head + 1;
        return false;
    }
    return o->runs_inline || (o->coarse <= o->tail && start_inline(o));
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

PTOScope ptoi_orch_scope_begin(struct orchestrator *o)
{
    if (has_failed(o)) return PTO_SCOPE_CURRENT;
    if (!ptoi_scope_push(&o->scopes, *o->site)) {
        ptoi_orch_fail(o, PTO_ERR_RECURSION, "scopes are nested deeper than %d", o->scopes.capacity);
        return PTO_SCOPE_CURRENT;
    }
    o->stats.scopes++;
    return ptoi_scope_token(&o->scopes, o->scopes.depth - 1);
}

static void close_scope(struct orchestrator *o) /* model: CLOSE_SCOPE */
{
    struct scope *s = &o->scopes.scope[o->scopes.depth - 1];
    /* no other role is notified, and the list need not be right in between */
    if (o->runs_inline && o->moved == 0 && !o->outliving) {
        for (uint32_t b = s->first; b;) {
            const uint32_t gone = b;
            b = ptoi_scope_forget(&o->scopes, b);
            ptoi_references_drop(o->window, o->refs, gone);
        }
        s->first = 0;
    } else {
        while (s->first) let_go(o, s->first);
    }
    o->scopes.held -= s->held;
    o->scopes.depth--;
}

PTOStatus ptoi_orch_scope_end(struct orchestrator *o)
{
    if (has_failed(o)) return ptoi_status(o->run_status); /* the end of the run closes what is open */
    if (o->scopes.depth <= 1)
        return ptoi_orch_fail(o, PTO_ERR_STATE, "pto_scope_end without a scope that pto_scope_begin opened");
    if (o->outliving) ptoi_outliving_scope_ends(o->outliving, &o->scopes);
    close_scope(o);
    return PTO_OK;
}

void ptoi_orch_unwind(struct orchestrator *o, int32_t depth)
{
    while (o->scopes.depth > depth) close_scope(o);
}

void ptoi_orch_begin(struct orchestrator *o)
{
    o->least_limit_ms = 0;
    o->read_only.count = 0;
    o->compactions = 0;
    ptoi_fast_begin(&o->now);
    o->first_number = o->now.open->number;
    o->first_head = o->head;
    if (o->history) forget_edges(o);
    o->stats = (struct orchestrator_stats){0};
    CHECK(o->scopes.depth == 0);
    bool pushed = ptoi_scope_push(&o->scopes, NULL);
    CHECK(pushed);
}

void ptoi_orch_end(struct orchestrator *o) /* model: FINISH */
{
    ptoi_fast_close(&o->now);
    stop_inline(o);
    ptoi_orch_unwind(o, 0);
    const bool met = wait_all_taken(o);
    CHECK(met || o->is_lost);
    if (!met || o->is_lost) return; /* nobody took the last events, though it looks as if none were left */
    ptoi_heap_sweep(&o->heap);
    CHECK(o->heap.used_bytes == 0 && o->scopes.held == 0); /* nothing is lost */
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

_Static_assert(ACCESS_READ == PTO_PARAM_INPUT - 1 && ACCESS_WRITE == PTO_PARAM_OUTPUT - 1 &&
                   ACCESS_UPDATE == PTO_PARAM_INOUT - 1 && ACCESS_ACC == PTO_PARAM_ACC - 1,
               "the access of a parameter is its kind");

/* One argument made ready: what the kernel will see, and what the map is asked. */
struct place {
    PTOArg arg;
    int64_t lay[PTO_MAX_RANK];
    const PTOTaskParam *param;
    uint32_t buffer; /* of the heap; 0: memory of the program, a scalar, or empty */
    bool is_new;     /* an output that this submit allocates */
    enum access access;
    struct map_buffer *map; /* NULL: the map need not know the access */
    struct region region;   /* of a new output from 0; not of a scalar */
    uint64_t birth;
};

void ptoi_orch_read_only(struct orchestrator *o, int64_t low, int64_t high)
{
    struct need need = {.o = o};
    if (all_retired(&need)) ptoi_read_only_add(&o->read_only, low, high);
}

/* true: nobody writes where this parameter reads.  A write there waits for all readers, as nobody knows them. */
static bool is_read_only(struct orchestrator *o, const struct place *pl)
{
    const int64_t low = pl->region.low, high = pl->region.high;
    if (o->read_only.count == 0) return false;
    if (pl->arg.kind == PTO_PARAM_INPUT) return ptoi_read_only_holds(&o->read_only, low, high);
    if (ptoi_read_only_meets(&o->read_only, low, high)) {
        wait_drained(o, PTO_STALL_TASK_RING);
        ptoi_read_only_forget(&o->read_only, low, high);
        o->place_again = true; /* this task may have been a reader that needs no entry */
    }
    return false;
}

/* The accesses that the map remembers of the memory, if it has to know this one. */
static struct map_buffer *map_of(struct orchestrator *o, int index, struct place *pl)
{
    if (pl->buffer == 0) return is_read_only(o, pl) ? NULL : ptoi_map_find_near(o->map, &pl->region, &o->near[index]);
    struct buffer_record *r = ptoi_record(&o->scopes, pl->buffer);
    const int64_t start = (int64_t)(intptr_t)o->heap_base + (int64_t)r->at;
    pl->birth = r->birth;
    if (r->map.low != start || r->map.high != start + (int64_t)r->bytes) /* made while tasks executed inline */
        ptoi_map_open(o->map, &r->map, start, start + (int64_t)r->bytes);
    /* Note [single writer]: the producer is the birth, and no later write will look for this reader. */
    const bool bypass =
        pl->arg.kind == PTO_PARAM_INPUT && (pl->param->flags & PTO_SINGLE_WRITER) && r->birth != PTO_NO_BIRTH;
    return bypass ? NULL : &r->map;
}

/* Cannot fail: the decoder has seen that the access is one. */
static inline void make_region(struct region *r, const PTOAccess_ *a, const PTOArg *arg)
{
    if (a->is_contiguous) {
        r->low = (int64_t)a->low;
        r->high = (int64_t)a->high;
        r->run = (int64_t)(a->high - a->low);
        r->rank = 0;
        return;
    }
    const int64_t unit = pto_bytes_of_(arg->type), *shape = arg->shape, *stride = arg->stride;
    if (arg->rank == 2 && stride[1] == 1 && stride[0] > shape[1]) { /* of several rows: one is contiguous */
        r->low = (int64_t)a->low;
        r->high = (int64_t)a->high;
        r->run = shape[1] * unit;
        r->rank = 1;
        r->dim[0] = (struct region_dim){shape[0], stride[0] * unit};
        return;
    }
    const bool fits = ptoi_region_make(r, (int64_t)a->low, unit, arg->rank, shape, stride);
    CHECK(fits);
}

struct submission {
    struct terms terms;
    struct place place[ARGUMENT_ROOM];
    uint64_t arg_bytes;
    int accesses;                             /* that the map has to remember, */
    struct map_access access[PTO_MAX_PARAMS]; /* in the order of the places */
    bool holds;                               /* some tensor lies in the heap */
    bool accumulates;
    uint32_t exclusive; /* its accumulators, as a set; see accumulators() */
};

static void note_access(struct submission *s, const struct place *pl)
{
    struct map_access *a = &s->access[s->accesses++];
    a->buffer = pl->map;
    a->region = &pl->region;
    a->access = pl->access;
}

static PTOStatus place_once(struct orchestrator *o, const PTOTaskParam *params, int32_t count, struct submission *s)
{
    PTOStatus status = PTO_OK;
    struct terms t = {.params = params, .count = count};
    struct place *pl = s->place;
    uint64_t arg_bytes = 0;
    uint32_t holds = 0, accumulates = 0;
    s->accesses = 0;
    for (int i = 0; i < count; i++) {
        const PTOTaskParam *const p = &params[i];
        const uint8_t kind = p->kind;
        struct operand x;
        if (!ptoi_decode(o, &t, p, &pl->arg, pl->lay, &x, &status)) {
            if (status != PTO_OK) return status;
            continue;
        }
        pl->buffer = x.buffer;
        pl->is_new = ptoi_is_new(&x.access);
        pl->birth = PTO_NO_BIRTH;
        if (kind != PTO_PARAM_SCALAR) {
            pl->param = p;
            pl->access = (enum access)(kind - PTO_PARAM_INPUT);
            make_region(&pl->region, &x.access, &pl->arg);
            if (x.access.base && (pl->map = map_of(o, i, pl)) != NULL) note_access(s, pl);
            holds |= x.buffer;
            accumulates |= kind == PTO_PARAM_ACC;
        }
        arg_bytes += sizeof(struct arg_head) + 2 * sizeof(int64_t) * pl->arg.rank;
        pl++;
    }
    s->arg_bytes = arg_bytes + (t.limit_ms > 0 ? sizeof t.limit_ms : 0);
    s->holds = holds != 0;
    s->accumulates = accumulates != 0;
    s->terms = t;
    return PTO_OK;
}

static PTOStatus place_params(struct orchestrator *o, const PTOTaskParam *params, int32_t count, struct submission *s)
{
    PTOStatus status;
    do {
        o->place_again = false;
        status = place_once(o, params, count, s);
    } while (o->place_again && status == PTO_OK);
    return status;
}

/* ---- submission -------------------------------------------------------------------------------------------------- */

static PTOStatus take_outputs(struct orchestrator *o, struct submission *s)
{
    uint8_t output = 0;
    PTOStatus status = PTO_OK;
    for (int i = 0; i < s->terms.arguments && status == PTO_OK; i++) {
        struct place *pl = &s->place[i];
        if (!pl->is_new) continue;
        status = ptoi_make_output(o, &s->terms, pl->param, (uint64_t)pl->region.high, o->head, output++, &pl->buffer);
        if (status == PTO_OK) pl->arg.ptr = o->heap_base + ptoi_record(&o->scopes, pl->buffer)->at;
    }
    return status;
}

static void write_back(const struct submission *s)
{
    for (int i = 0; i < s->terms.arguments; i++)
        if (s->place[i].is_new) memcpy(s->place[i].param->ref, &s->place[i].arg.ptr, sizeof s->place[i].arg.ptr);
}

/* When a task fails to get all it needs, no task will ever make what it already took. */
static void give_outputs_back(struct orchestrator *o, struct submission *s) /* model: GIVE_BACK */
{
    for (int i = 0; i < s->terms.arguments; i++)
        if (s->place[i].is_new && s->place[i].buffer) {
            publish_event(o, EVENT_OPEN, s->place[i].buffer);
            ptoi_orch_let_go(o, s->place[i].buffer);
        }
}

static void note_producer(struct orchestrator *o, uint64_t id, uint32_t reason)
{
    for (int32_t k = 0; k < o->found.count; k++)
        if (o->found.task_id[k] == id) {
            o->found.reason[k] |= (uint8_t)reason;
            return;
        }
    o->found.task_id[o->found.count] = id;
    o->found.reason[o->found.count++] = (uint8_t)reason;
}

/* Everything in the window that this task must follow goes to o->found, completed or not. */
static void find_producers(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    ptoi_map_begin(o->map, &o->found);
    ptoi_map_find_all(o->map, s->access, s->accesses, kernel, &o->found);
    for (int i = 0; s->holds && i < s->terms.arguments; i++) { /* after the map, which keeps its own marks */
        struct place *pl = &s->place[i];
        if (pl->birth != PTO_NO_BIRTH && pl->birth >= o->map_retired && pl->birth != o->head)
            note_producer(o, pl->birth,
                          pl->access == ACCESS_READ    ? EDGE_RAW
                          : pl->access == ACCESS_WRITE ? EDGE_WAW
                                                       : EDGE_RAW | EDGE_WAW);
    }
}

/* Leaves in o->found only what has not completed; counts. */
static void prune_producers(struct orchestrator *o, bool count) /* model: PRUNE */
{
    int32_t kept = 0;
    if (count && !o->history) o->stats.dependences += o->found.count;
    for (int32_t k = 0; k < o->found.count; k++)
        if (!is_completed(o, o->found.task_id[k])) {
            o->found.task_id[kept] = o->found.task_id[k];
            o->found.reason[kept++] = o->found.reason[k];
        }
    o->found.count = kept;
}

/* Equal accumulators begin at the same byte.  Different ones that meet in the hash only lose a little overlap.  Which
 * do must not depend on addresses where what is found is recorded or simulated: there they are numbered.  false: no
 * memory for that. */
static bool accumulators(struct orchestrator *o, struct submission *s)
{
    s->exclusive = 0;
    for (int i = 0; s->accumulates && i < s->terms.arguments; i++) {
        if (s->place[i].arg.kind != PTO_PARAM_ACC || s->place[i].region.run == 0) continue;
        const int64_t low = s->place[i].region.low, number = o->history ? ptoi_history_accumulator(o->history, low) : 0;
        if (number < 0) return false;
        s->exclusive |= (uint32_t)1 << (o->history ? (uint64_t)number % 32 : (uint64_t)low * 0x9e3779b97f4a7c15u >> 59);
    }
    return true;
}

/* ---- what is recorded of a task ---------------------------------------------------------------------------------- */

static bool touches_memory(const struct place *pl) { return pl->arg.kind != PTO_PARAM_SCALAR && pl->region.run != 0; }

/* All that the task touches: also what the map need not know.  false: no memory. */
static bool log_touched(struct orchestrator *o, enum history_entry entry, uint64_t number, const struct submission *s,
                        const PTOKernel *kernel)
{
    if (!log_has_room(o)) return false;
    int touches = 0;
    for (int i = 0; i < s->terms.arguments; i++) touches += touches_memory(&s->place[i]);
    ptoi_history_log_begin(&o->log, entry, number, touches, kernel);
    for (int i = 0; i < s->terms.arguments; i++) {
        const struct place *pl = &s->place[i];
        if (!touches_memory(pl)) continue;
        const struct history_access a = {.space = pl->buffer, .region = &pl->region, .access = pl->access};
        int64_t origin = 0; /* of a new output, too: its region has no address yet */
        if (a.space && !pl->is_new)
            origin = (int64_t)(intptr_t)o->heap_base + (int64_t)ptoi_record(&o->scopes, a.space)->at;
        ptoi_history_log_access(&o->log, &a, origin);
    }
    return !o->flow.ops->edge || ptoi_orch_find_edges(o);
}

static int64_t place_less_name(const struct orchestrator *o, uint32_t buffer)
{
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    return (int64_t)(r->place - r->at);
}

/* model: WRITE_TASK */
static void write_task(struct orchestrator *o, const struct submission *s, const PTOKernel *kernel)
{
    struct window *w = o->window;
    struct task_slot *t = window_task(w, o->head);
    const uint64_t begin = arg_place(o, s->arg_bytes);
    *t = (struct task_slot){
        .id = o->head,
        .kernel = ptoi_image_offset(kernel),
        .site = ptoi_image_offset(*o->site),
        .arg_begin = begin,
        .dep_begin = o->dep_head,
        .dep_count = (uint32_t)o->found.count,
        .priority = o->replay ? ptoi_replay_priority(o->replay, o->head) : s->terms.priority,
        .param_count = (uint16_t)s->terms.arguments,
        .worker = (uint8_t)kernel->worker,
        .flags = (uint8_t)((s->terms.limit_ms > 0 ? TASK_TIMED : 0) | (s->holds || s->terms.makes ? TASK_HOLDS : 0)),
        .exclusive = s->exclusive,
        .name = ptoi_image_offset(s->terms.name)};
    struct arg_head *head = window_args(w, begin);
    int64_t *extent = (int64_t *)(head + s->terms.arguments);
    for (int i = 0; i < s->terms.arguments; i++) {
        const struct place *pl = &s->place[i];
        const int rank = pl->arg.rank;
        head[i].value = pl->arg.kind == PTO_PARAM_SCALAR ? pl->arg.value.i64
                        : pl->buffer != 0                ? (int64_t)((uintptr_t)pl->arg.ptr - (uintptr_t)o->heap_base)
                                                         : (int64_t)(intptr_t)pl->arg.ptr;
        head[i].buffer = pl->buffer;
        head[i].kind = pl->arg.kind;
        head[i].type = pl->arg.type;
        head[i].rank = pl->arg.rank;
        head[i].fresh = pl->is_new;
        if (o->moved > 0 && pl->buffer != 0) head[i].value += place_less_name(o, pl->buffer);
        for (int d = 0; d < rank; d++) {
            extent[d] = pl->arg.shape[d];
            extent[rank + d] = pl->arg.stride[d];
        }
        extent += 2 * rank;
    }
    if (s->terms.limit_ms > 0) *extent = s->terms.limit_ms;
    for (int32_t k = 0; k < o->found.count; k++) *window_dep(w, o->dep_head + (uint64_t)k) = o->found.task_id[k];
    o->arg_head = begin + s->arg_bytes;
    o->dep_head += (uint64_t)o->found.count;
}

static void note_use(struct orchestrator *o)
{
    const uint64_t used = o->head - o->tail, map = (uint64_t)ptoi_map_used(o->map), deps = ptoi_orch_deps_used(o);
    if (used > o->flow.task_max) o->flow.task_max = used;
    if (map > o->flow.map_max) o->flow.map_max = map;
    if (deps > o->flow.dep_max) o->flow.dep_max = deps;
}

/* One look at what has retired answers for a slot, the arguments and the map; mostly there is room for all. */
static bool has_room(struct orchestrator *o, const struct submission *s)
{
    enum { LOOK = 16 };
    if (o->head % LOOK == 0 || o->head - o->tail > o->window->task_mask) see_retired(o);
    return o->head - o->tail <= o->window->task_mask &&
           arg_place(o, s->arg_bytes) + s->arg_bytes - o->arg_tail <= o->window->arg_mask + 1 &&
           ptoi_map_reserve(o->map, s->accesses);
}

/* Note [too large for a pool]: a task that needs more entries than the whole dependency pool or TensorMap has is
 * submitted when everything before it has completed, so it needs no fan-in entry, and is waited for, so nobody needs to
 * find its accesses. */
static int64_t submit_placed(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    struct need need = {0};
    const bool alone = s->accesses > ptoi_map_capacity(o->map);
    if (alone || !has_room(o, s)) {
        wait_for_ring(o, PTO_STALL_TASK_RING, slot_is_free, &need);
        need.amount = s->arg_bytes;
        wait_for_ring(o, PTO_STALL_TASK_RING, args_fit, &need);
        need.amount = (uint64_t)s->accesses;
        if (alone)
            wait_drained(o, PTO_STALL_TENSORMAP_POOL);
        else
            wait_for_ring(o, PTO_STALL_TENSORMAP_POOL, map_fits, &need);
    }

    find_producers(o, s, kernel);
    if (!accumulators(o, s)) return fail_history(o);
    prune_producers(o, true);
    if ((uint64_t)o->found.count > o->window->dep_limit) {
        wait_drained(o, PTO_STALL_DEPLIST_POOL);
        prune_producers(o, false);
    } else if (o->dep_head - o->dep_tail + (uint64_t)o->found.count > o->window->dep_limit) {
        need.amount = (uint64_t)o->found.count;
        wait_for_ring(o, PTO_STALL_DEPLIST_POOL, deps_fit, &need);
    }
    if (has_failed(o)) return ptoi_status(o->run_status);

    if (o->history && !log_touched(o, HISTORY_TASK, o->head - o->first_head, s, kernel)) return fail_history(o);
    o->stats.edges += o->found.count;
    write_task(o, s, kernel);
    if (!alone) ptoi_map_add_all(o->map, s->access, s->accesses, kernel, o->head);
    if (s->terms.makes) write_back(s);
    PTO_LABEL(TASK);
    o->accesses = s->accesses;
    const uint64_t id = o->head++;
    store_release(&o->window->task_head, o->head, TASK); /* [TASK] */ /* model: PUBLISH_TASK */
    const uint64_t number = o->now.open->number++;
    note_use(o);
    if (o->flow.recorder) ptoi_orch_record(o, id);
    o->flow.ops->wake(o->flow.context);
    if (alone) wait_drained(o, PTO_STALL_TENSORMAP_POOL);
    return (int64_t)number;
}

int64_t ptoi_orch_submit(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    if (has_failed(o)) return ptoi_status(o->run_status);
    if (!kernel || (unsigned)kernel->worker >= PTO_WORKER_TYPES ||
        (!kernel->fn && (kernel->worker != PTO_WORKER_ACCELERATOR || kernel->opcode == PTO_OP_NONE)))
        return ptoi_refuse_submit(o, REFUSED_KERNEL, NULL);
    if (count < 0 || count > PTO_MAX_PARAMS + 2 || (count > 0 && !params))
        return ptoi_refuse_submit(o, REFUSED_COUNT, &(struct refused){.kernel = kernel, .number = count});
    if (runs_now(o, kernel)) {
        int64_t number;
        if (ptoi_orch_submit_now(o, kernel, params, count, &number)) return number;
        stop_inline(o);
    }
    struct submission s;
    PTOStatus status = place_params(o, params, count, &s);
    if (status != PTO_OK) return status;
    const int64_t decoded = ptoi_decoded(o, &s.terms, kernel);
    if (decoded != PTO_OK) return decoded;
    if (s.terms.makes) status = take_outputs(o, &s);
    int64_t id = status == PTO_OK ? submit_placed(o, &s, kernel) : status;
    if (id < 0 && s.terms.makes) give_outputs_back(o, &s);
    return id;
}

/* ---- buffers without a task, release, await ---------------------------------------------------------------------- */

PTOStatus ptoi_orch_alloc(struct orchestrator *o, PTOScope scope, int64_t bytes, void **buffer)
{
    *buffer = NULL;
    if (has_failed(o)) return ptoi_status(o->run_status);
    if (bytes < 0) return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "a buffer of %lld bytes", (long long)bytes);
    if (bytes == 0) return PTO_OK;
    const int32_t owner = owner_of(o, scope);
    if (owner < 0) return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "a buffer in a scope that is closed");
    uint32_t at;
    PTOStatus status =
        ptoi_orch_take_buffer(o, owner, (uint64_t)bytes, PTO_NO_BIRTH, *o->site ? (*o->site)->text : NULL, &at);
    if (status != PTO_OK) return status;
    publish_open(o, at);
    struct buffer_record *r = ptoi_record(&o->scopes, at);
    r->maker = PTO_NO_MAKER;
    *buffer = o->heap_base + r->at;
    return PTO_OK;
}

/* Note [optional frames]: whether a frame is taken depends on what the program holds, never on what runs or where
 * buffers lie, and it is taken only where the program surely completes with it.  So a larger heap has the frames of a
 * smaller one, and more, and completes where that does. Guards count: no buffer takes more than twice its room with
 * one. */
static bool may_have_frame(const struct orchestrator *o, uint64_t will_need)
{
    const uint64_t held = o->scopes.held * PTO_GRANULE,
                   free = o->window->heap_bytes > held ? o->window->heap_bytes - held : 0;
    return will_need <= (o->heap.checked_base ? free / 2 : free);
}

PTOStatus ptoi_orch_frame(struct orchestrator *o, int64_t bytes, int64_t will_need, void **buffer)
{
    *buffer = NULL;
    if (has_failed(o)) return ptoi_status(o->run_status);
    if (will_need < 0 || !may_have_frame(o, (uint64_t)will_need)) return PTO_OK;
    struct need need = {.amount = (uint64_t)bytes, .depth = owner_of(o, PTO_SCOPE_CURRENT)};
    if (bytes <= 0 || ptoi_heap_is_too_large(&o->heap, need.amount)) return PTO_OK;
    if (!wait_for_heap(o, &need)) return o->is_lost ? ptoi_status(o->run_status) : PTO_OK;
    open_buffer(o, &need, PTO_NO_BIRTH, *o->site ? (*o->site)->text : NULL);
    publish_open(o, need.buffer);
    ptoi_record(&o->scopes, need.buffer)->maker = PTO_NO_MAKER;
    *buffer = o->heap_base + ptoi_record(&o->scopes, need.buffer)->at;
    return PTO_OK;
}

PTOStatus ptoi_orch_release(struct orchestrator *o, const void *buffer)
{
    if (has_failed(o)) return ptoi_status(o->run_status);
    if (!buffer) return PTO_OK;
    if (!ptoi_orch_is_in_heap(o, buffer))
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "pto_release of memory that is not from the heap");
    uint64_t offset = (uint64_t)((uintptr_t)buffer - (uintptr_t)o->heap_base);
    uint32_t at = ptoi_compact_buffer(o, offset);
    if (at == 0 || ptoi_record(&o->scopes, at)->at != offset)
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "pto_release of a buffer whose lifetime has ended");
    ptoi_orch_let_go(o, at);
    return PTO_OK;
}

PTOStatus ptoi_orch_drop(struct orchestrator *o, const void *buffer)
{
    return ptoi_orch_is_in_heap(o, buffer) ? ptoi_orch_release(o, buffer) : PTO_OK;
}

PTOStatus ptoi_orch_give(struct orchestrator *o, const void *buffer, PTOScope scope)
{
    if (has_failed(o)) return ptoi_status(o->run_status);
    if (!ptoi_orch_is_in_heap(o, buffer)) return PTO_OK;
    const uint64_t offset = (uint64_t)((uintptr_t)buffer - (uintptr_t)o->heap_base);
    const uint32_t at = ptoi_compact_buffer(o, offset);
    const int32_t owner = ptoi_scope_index(&o->scopes, scope);
    if (at == 0 || ptoi_record(&o->scopes, at)->at != offset || owner < 0)
        return ptoi_orch_fail(o, PTO_ERR_HANDLE, "a buffer whose lifetime has ended, or a scope that is closed");
    if (o->scope_policy == PTO_SCOPE_OUTERMOST) return PTO_OK; /* it is there already */
    ptoi_scope_disown(&o->scopes, at);
    ptoi_scope_own(&o->scopes, owner, at);
    return PTO_OK;
}

static bool producers_done(void *arg)
{
    struct need *n = arg;
    see_retired(n->o);
    for (; n->amount > 0; n->amount--)
        if (!is_completed(n->o, n->o->found.task_id[n->amount - 1])) return false;
    return true;
}

/* Also one that had not to wait: with other rings it might.  false: no memory. */
static bool record_await(struct orchestrator *o, struct submission *s, int64_t begin, int64_t end)
{
    struct recorder *r = o->flow.recorder;
    struct recorded_wait *w = ptoi_record_wait(r, PTO_STALL_NONE, begin, end);
    if (!w) return true;
    w->site = *o->site;
    if (s->place[0].buffer) w->tensor = ptoi_record(&o->scopes, s->place[0].buffer)->name;
    return log_touched(o, HISTORY_AWAIT, (uint64_t)(w - r->wait), s, NULL);
}

/* model: AWAIT */
PTOStatus ptoi_orch_await(struct orchestrator *o, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    if (has_failed(o)) return ptoi_status(o->run_status);
    PTOTaskParam param = {.kind = for_writing ? PTO_PARAM_INOUT : PTO_PARAM_INPUT,
                          .buffer = (char *)(uintptr_t)buffer + offset,
                          .bytes = bytes};
    if (bytes < 0 || offset < 0)
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "await of %lld bytes at %lld", (long long)bytes, (long long)offset);
    struct submission s; /* only what find_producers looks at is set */
    const PTOStatus status = place_params(o, &param, 1, &s);
    if (status != PTO_OK) return status;
    find_producers(o, &s, NULL);
    struct need need = {.o = o, .amount = (uint64_t)o->found.count};
    const int64_t begin = o->flow.recorder ? ptoi_record_now(o->flow.recorder) : 0;
    int64_t end = begin;
    o->flow.awaits++;
    if (!producers_done(&need)) {
        const int64_t since = ptoi_flow_now(&o->flow);
        bool met = o->flow.ops->wait(o->flow.context, producers_done, &need);
        CHECK(met || o->is_lost);
        o->flow.awaits_blocked++;
        o->flow.await_ns += ptoi_flow_now(&o->flow) - since;
        if (o->flow.recorder) end = ptoi_record_now(o->flow.recorder);
    }
    if (o->flow.recorder && !record_await(o, &s, begin, end)) return fail_history(o);
    return ptoi_final_status(o->run_status);
}

/* ---- the proof in the user's terms ------------------------------------------------------------------------------- */

static int describe_scope(char *text, size_t size, const struct scope *s)
{
    if (!s->site) return snprintf(text, size, "the run itself");
    return snprintf(text, size, "%s (%s:%d)", s->site->text ? s->site->text : "a scope", s->site->file, s->site->line);
}

static uint64_t rings_of(const struct orchestrator *o) { return o->window->heap_bytes / o->heap.ring_bytes; }

/* Which heap to ask for when a buffer finds no room.  What the program holds later is not known, so it is twice what
 * there is, or more where what is held now and the buffer need more. */
static const char *advised_heap(const struct orchestrator *o, uint64_t bytes, char *text)
{
    const uint64_t guard = o->heap.checked_base ? PTOI_GUARD_BYTES : 0, rings = rings_of(o);
    uint64_t all = (bytes + guard + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    uint64_t ring = 2 * o->heap.ring_bytes > all ? 2 * o->heap.ring_bytes : all;
    for (int32_t i = 0; i < o->scopes.depth; i++)
        for (uint32_t b = o->scopes.scope[i].first; b; b = ptoi_record(&o->scopes, b)->next)
            all += (ptoi_record(&o->scopes, b)->bytes + guard + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    if ((all + rings - 1) / rings > ring) ring = (all + rings - 1) / rings;
    return ptoi_limit_set(LIMIT_HEAP, o->names_options, ring, text);
}

/* [heap] Everything published was taken, nothing is ready or running, and there is still no room: what is held is held
 * by open scopes, which only the orchestrator could close. */
static PTOStatus deadlock(struct orchestrator *o, uint64_t bytes) /* model: DEADLOCK */
{
    char report[3000];
    size_t n = 0;
    uint64_t held = 0;
    report[0] = '\0';
    for (int32_t i = o->scopes.depth - 1; i >= 0; i--) {
        const struct scope *s = &o->scopes.scope[i];
        uint64_t scope_bytes = 0, scope_count = 0;
        const struct buffer_record *largest = NULL;
        for (uint32_t b = s->first; b; b = ptoi_record(&o->scopes, b)->next) {
            const struct buffer_record *r = ptoi_record(&o->scopes, b);
            scope_bytes += r->bytes;
            scope_count++;
            if (!largest || r->bytes > largest->bytes) largest = r;
        }
        held += scope_bytes;
        if (!largest || n > sizeof report - 600) continue;
        n += (size_t)snprintf(report + n, sizeof report - n, "\n  held by ");
        n += (size_t)describe_scope(report + n, sizeof report - n > 200 ? 200 : 0, s);
        n += (size_t)snprintf(report + n, sizeof report - n,
                              ": %llu bytes in %llu buffers, the largest '%.60s' with %llu bytes",
                              (unsigned long long)scope_bytes, (unsigned long long)scope_count,
                              largest->name ? largest->name : "(no name)", (unsigned long long)largest->bytes);
        if (largest->site)
            n += (size_t)snprintf(report + n, sizeof report - n, " made at %.80s:%d", largest->site->file,
                                  largest->site->line);
    }
    return ptoi_orch_fail(
        o, PTO_ERR_DEADLOCK,
        "deadlock: the heap ring is full and nothing that runs can free it\n"
        "  %llu bytes are needed in one piece; of %llu bytes (%llu rings of %llu), %llu are held by open scopes, and "
        "the "
        "largest free piece has %llu%s\n"
        "  help: %s or more, or end a lifetime earlier (%s)",
        (unsigned long long)bytes, (unsigned long long)o->window->heap_bytes, (unsigned long long)rings_of(o),
        (unsigned long long)o->heap.ring_bytes, (unsigned long long)held,
        (unsigned long long)ptoi_heap_largest_free(&o->heap), report, advised_heap(o, bytes, (char[LIMIT_TEXT]){0}),
        o->names_options ? "`drop`, or a narrower block"
                         : "pto_release, or a narrower scope; in a .pto file `drop`, or a narrower block");
}
