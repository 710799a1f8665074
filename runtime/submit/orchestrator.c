/* orchestrator.c - see orchestrator.h: the role and a run of it begin and end. */
#include "parts.h"
#include <stdlib.h>

enum { OUTSIDE_BUFFERS = 1024 };

static void report_broken(void *context, uint32_t buffer)
{
    struct orchestrator *o = context;
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    ptoi_fail_earlier(o->run_status, PTO_ERR_BOUNDS, r->site, "a task that has '%.60s' wrote past its %llu bytes",
                      r->name ? r->name : "this buffer", (unsigned long long)r->bytes);
}

/* The log of a recorded run has room for all that is recorded if a task has no more words than this on average: then
 * edges are found after the run.  Where they are only counted, they are found a batch at a time. */
static bool keep_history(struct orchestrator *o, int64_t record_tasks)
{
    enum { WORDS_OF_TASK = 32, BATCH = 1 << 15 };
    o->recorded.history = ptoi_history_create();
    return o->recorded.history &&
           ptoi_history_log_init(&o->recorded.log, BATCH + WORDS_OF_TASK * (uint64_t)record_tasks);
}

bool ptoi_orch_init(struct orchestrator *o, struct window *w, struct run_status *run_status,
                    const struct orchestrator_config *c)
{
    *o = (struct orchestrator){.window = w, .run_status = run_status, .heap_base = c->heap_base};
    o->buffers.scope_policy = c->scope_policy;
    o->names = c->names;
    o->known.workers = c->workers;
    o->rings.head = o->rings.tail = o->rings.map_retired =
        load_relaxed(&w->task_head); /* relaxed: nobody else runs yet */
    o->rings.event_head = load_relaxed(&w->event_head);
    /* byte and entry counters start where the tests want them */
    o->rings.arg_head = o->rings.arg_tail = o->rings.dep_head = o->rings.dep_tail = o->rings.event_head;
    o->rings.slot = window_task(w, 0);
    o->rings.dep = window_dep(w, 0);
    o->rings.completed = window_completed(w, 0);
    const int64_t slots = (int64_t)w->task_mask + 1;
    /* one a slot from the map, and births that have retired unseen */
    const size_t producers = (size_t)slots + PTO_MAX_PARAMS;
    o->edges.found.task_id = calloc(producers, sizeof *o->edges.found.task_id);
    o->edges.map = ptoi_map_create(c->tensormap_entries, slots, OUTSIDE_BUFFERS);
    bool ok = o->edges.found.task_id && o->edges.map && (!c->count_dependences || keep_history(o, c->record_tasks));
    ok = ok && ptoi_heap_init(&o->buffers.heap, w, c->ring_bytes, c->max_scopes);
    ok = ok && ptoi_scopes_init(&o->scopes, c->max_scopes, w->heap_bytes / PTO_GRANULE);
    o->scopes.guard = c->checked;
    ok = ok && (!c->checked || ptoi_heap_check(&o->buffers.heap, c->heap_base, report_broken, o));
    if (!ok) ptoi_orch_free(o);
    return ok;
}

void ptoi_orch_free(struct orchestrator *o)
{
    free(o->edges.found.task_id);
    ptoi_map_destroy(o->edges.map);
    ptoi_history_destroy(o->recorded.history);
    ptoi_history_log_free(&o->recorded.log);
    ptoi_names_free(&o->buffers.names, o->heap_base);
    ptoi_heap_free(&o->buffers.heap);
    ptoi_scopes_free(&o->scopes);
    *o = (struct orchestrator){0};
}

void ptoi_orch_reset_flow(struct orchestrator *o)
{
    ptoi_flow_reset(&o->flow);
    o->buffers.heap.used_bytes_max = o->buffers.heap.used_bytes;
    ptoi_fast_close(&o->fast); /* the next task that is executed inline counts as one in flight */
}

void ptoi_orch_begin(struct orchestrator *o)
{
    ptoi_orch_reset_flow(o);
    o->run.least_limit_ms = 0;
    o->run.need = PTO_NEED_UNSTATED;
    o->edges.read_only.count = 0;
    o->buffers.compactions = 0;
    o->buffers.has_hidden = false;
    o->buffers.may_hide = !o->inlined.is_allowed && !o->buffers.outliving && !o->flow.recorder && !o->recorded.history;
    ptoi_fast_begin(&o->fast);
    ptoi_plain_begin(o);
    o->run.first_number = o->fast.open->number;
    o->run.first_head = o->rings.head;
    if (o->recorded.history) ptoi_recorded_begin(o);
    o->run.stats = (struct orchestrator_stats){0};
    CHECK(o->scopes.depth == 0);
    bool pushed = ptoi_scope_push(&o->scopes, NULL);
    CHECK(pushed);
}

void ptoi_orch_register(struct orchestrator *o, int64_t low, int64_t high)
{
    ptoi_map_register_outside(o->edges.map, low, high);
    if (o->is_plain) ptoi_known_begin(&o->known); /* of which the buffers are remembered */
}

void ptoi_orch_state_need(struct orchestrator *o, int64_t bytes)
{
    o->run.need = o->run.need == PTO_NEED_UNSTATED && bytes >= 0 ? bytes : PTO_NEED_UNKNOWN;
}

bool ptoi_orch_wait_all(struct orchestrator *o) { return ptoi_wait_all_taken(o); }

/* The scheduler is dead.  Nobody took the last tasks and events, and some were not even published. */
static void abandon(struct orchestrator *o)
{
    ptoi_window_abandon(o->window);
    ptoi_are_all_retired(o);
    ptoi_heap_abandon(&o->buffers.heap);
}

void ptoi_orch_end(struct orchestrator *o) /* model: FINISH */
{
    ptoi_fast_close(&o->fast);
    ptoi_stop_inline(o);
    ptoi_orch_unwind(o, 0);
    ptoi_map_end_run(o->edges.map);
    const bool met = ptoi_wait_all_taken(o);
    CHECK(met || o->is_lost);
    ptoi_fast_end(&o->fast);
    if (o->is_lost)
        abandon(o);
    else
        ptoi_heap_sweep(&o->buffers.heap);
    CHECK(o->buffers.heap.used_bytes == 0 && o->scopes.held == 0); /* nothing is lost */
}
