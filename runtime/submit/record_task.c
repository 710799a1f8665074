/* record_task.c - what is recorded of a task when it is submitted: what it needs of the rings, and how full they are.
 *
 * Owner      the orchestrator, where a run is recorded.
 * Tests      test/runtime/test_record.c */
#include "parts.h"
#include "record/record.h"
#include "shared/task.h"

/* What the task needs of the rings. */
static void record_needs(struct orchestrator *o, struct recorded_task *t, const struct task_slot *slot)
{
    t->priority = slot->priority;
    t->exclusive = slot->exclusive;
    t->accesses = (uint32_t)o->edges.accesses;
    t->use_count = 0;
    const struct arg_head *arg = window_args(o->window, slot->arg_begin);
    for (int i = 0; slot->flags & TASK_HOLDS && i < slot->param_count; i++)
        if (arg[i].buffer) ptoi_record_use(o->flow.recorder, t, ptoi_record(&o->scopes, arg[i].buffer)->recorded);
}

/* A scope is known by the line of its first submit: nothing says where it was opened.  What the open scopes hold now
 * is noted; of very deep ones the innermost. */
static void record_scopes(struct orchestrator *o, struct recorder *r, const struct recorded_task *t)
{
    enum { DEEPEST = 256 };
    struct scope *const scope = o->scopes.scope;
    const int32_t depth = o->scopes.depth;
    int32_t known = depth - 1;
    uint64_t held = 0;
    while (known > 0 && scope[known].node == 0) known--;
    while (++known < depth)
        scope[known].node = ptoi_scope_tree_open(&r->scopes, scope[known - 1].node, t->site, ptoi_record_now(r));
    for (int32_t d = depth - 1; d >= 0 && d >= depth - DEEPEST; d--) {
        struct recorded_scope *n = &r->scopes.node[scope[d].node];
        held += scope[d].held;
        if (held * PTO_GRANULE > n->held_max) n->held_max = held * PTO_GRANULE;
    }
}

/* Which part of which tensor the task uses. */
static void record_regions(const struct orchestrator *o, struct recorder *r, struct recorded_task *t, uint64_t id)
{
    PTOArg args[PTO_MAX_PARAMS];
    const int count = ptoi_task_args(o->window, NULL, id, args);
    const struct arg_head *head = window_args(o->window, window_task(o->window, id)->arg_begin);
    t->regions = ptoi_regions_begin(&r->regions, count);
    if (t->regions == 0) return;
    for (int i = 0; i < count; i++) {
        const struct buffer_record *b = head[i].buffer ? ptoi_record(&o->scopes, head[i].buffer) : NULL;
        ptoi_regions_add(&r->regions, &(struct recorded_region){.tensor = b ? b->name : NULL,
                                                                .at = head[i].value - (b ? (int64_t)b->place : 0),
                                                                .view = args[i],
                                                                .is_heap = b != NULL});
    }
    ptoi_regions_end(&r->regions);
}

void ptoi_orch_record(struct orchestrator *o, uint64_t id)
{
    struct recorder *const r = o->flow.recorder;
    struct recorded_task *t = ptoi_record_task(r, id);
    if (!t) {
        r->lost++;
        return;
    }
    ptoi_record_fetch(r, id);
    t->kernel = ptoi_task_kernel(o->window, id);
    t->site = ptoi_task_site(o->window, id);
    t->name = ptoi_image_pointer(window_task(o->window, id)->name);
    record_needs(o, t, window_task(o->window, id));
    record_scopes(o, r, t);
    record_regions(o, r, t, id);
    t->scope = o->scopes.scope[o->scopes.depth - 1].node;
    t->submitted = ptoi_record_now(r);
    r->tasks++;
    struct recorded_sample *s = ptoi_record_next_sample(r);
    if (!s) return;
    s->at = t->submitted;
    s->tasks = (uint32_t)(id + 1 - o->rings.tail);
    s->map = (uint32_t)ptoi_map_used(o->edges.map);
    s->deps = (uint32_t)ptoi_orch_deps_used(o);
    s->heap = o->buffers.heap.used_bytes;
}
