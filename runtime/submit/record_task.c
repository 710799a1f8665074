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
    t->submitted = ptoi_record_now(r);
    r->tasks++;
    struct recorded_sample *s = ptoi_record_next_sample(r);
    if (!s) return;
    s->at = t->submitted;
    s->tasks = (uint32_t)(o->rings.head - o->rings.tail);
    s->map = (uint32_t)ptoi_map_used(o->edges.map);
    s->deps = (uint32_t)ptoi_orch_deps_used(o);
    s->heap = o->buffers.heap.used_bytes;
}
