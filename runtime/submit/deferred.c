/* deferred.c - a task that goes through the window: its outputs, its room in the rings, its publication.
 *
 * Owner      the orchestrator.
 * Invariant  a submit that fails leaves no buffer behind, and no trace in the window.
 * Blocks     while a ring is full.
 * Tests      test/runtime/test_runtime.c, test_hazards.c, stress_graphs.c, stress_limits.c */
#include "submission.h"
#include "shared/check.h"
#include <string.h>

static PTOStatus take_outputs(struct orchestrator *o, struct submission *s)
{
    uint8_t output = 0;
    PTOStatus status = PTO_OK;
    for (int i = 0; &s->place[i] < s->place_end && status == PTO_OK; i++) {
        const struct place *pl = &s->place[i];
        struct arg_head *head = pl->head;
        if (!head->fresh) continue;
        status = ptoi_make_output(o, &s->terms, pl->param, (uint64_t)pl->region.high, o->rings.head, output++,
                                  &head->buffer);
        if (status == PTO_OK) head->value = (int64_t)ptoi_record(&o->scopes, head->buffer)->at;
    }
    return status;
}

static void write_back(const struct orchestrator *o, const struct submission *s)
{
    for (const struct place *pl = s->place; pl < s->place_end; pl++) {
        if (!pl->head->fresh) continue;
        const char *made = o->heap_base + ptoi_record(&o->scopes, pl->head->buffer)->at;
        memcpy(pl->param->ref, &made, sizeof made);
    }
}

/* When a task fails to get all it needs, no task will ever make what it already took. */
static void give_outputs_back(struct orchestrator *o, struct submission *s) /* model: GIVE_BACK */
{
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        const struct arg_head *head = s->place[i].head;
        if (!head->fresh || !head->buffer) continue;
        ptoi_publish_event(o, EVENT_OPEN, head->buffer);
        ptoi_orch_let_go(o, head->buffer);
    }
}

/* Where the buffers lie, and not what the program calls them. */
static void add_moves(const struct orchestrator *o, struct submission *s)
{
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        struct arg_head *head = s->place[i].head;
        if (!head->buffer) continue;
        const struct buffer_record *r = ptoi_record(&o->scopes, head->buffer);
        head->value += (int64_t)(r->place - r->at);
    }
}

/* What stands behind the arguments: the time limit, and the parts that a checked run looks at (task.h). */
static void write_extras(const struct submission *s, int64_t *to)
{
    if (s->extras & TASK_TIMED) *to++ = s->terms.limit_ms;
    if (!(s->extras & TASK_PARTS)) return;
    for (const struct place *pl = s->place; pl < s->place_end; pl++) {
        if (!ptoi_has_part(pl->param)) continue;
        const PTOPart *part = pl->param->ref;
        *to++ = pl->head - s->head;
        *to++ = part->at - pl->param->at;
        for (int d = 0; d < part->rank; d++) *to++ = part->shape[d];
        for (int d = 0; d < part->rank; d++) *to++ = part->stride[d];
    }
    *to = -1;
}

/* model: WRITE_TASK */
static void write_task(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    struct window *w = o->window;
    struct task_slot *t = window_task(w, o->rings.head);
    const uint64_t begin = ptoi_arg_start(o, s->arg_bytes);
    *t = (struct task_slot){.id = o->rings.head,
                            .kernel = ptoi_image_offset(kernel),
                            .site = ptoi_image_offset(*o->site),
                            .arg_begin = begin,
                            .dep_begin = o->rings.dep_head,
                            .dep_count = (uint32_t)o->edges.found.count,
                            .priority = o->replay ? ptoi_replay_priority(o->replay, o->rings.head) : s->terms.priority,
                            .param_count = (uint16_t)s->terms.arguments,
                            .worker = (uint8_t)kernel->worker,
                            .flags = (uint8_t)(s->extras | (s->holds || s->terms.makes ? TASK_HOLDS : 0)),
                            .exclusive = s->exclusive,
                            .name = ptoi_image_offset(s->terms.name)};
    if (o->buffers.moved > 0) add_moves(o, s);
    struct arg_head *head = window_args(w, begin);
    for (const struct arg_head *from = s->head; from < s->head_end;) *head++ = *from++;
    int64_t *extent = (int64_t *)head;
    for (const int64_t *from = s->extent; from < s->extent_end; from += 2, extent += 2) {
        extent[0] = from[0];
        extent[1] = from[1];
    }
    if (s->extras) write_extras(s, extent);
    for (int32_t k = 0; k < o->edges.found.count; k++)
        *window_dep(w, o->rings.dep_head + (uint64_t)k) = o->edges.found.task_id[k];
    o->rings.arg_head = begin + s->arg_bytes;
    o->rings.dep_head += (uint64_t)o->edges.found.count;
}

static void note_use(struct orchestrator *o)
{
    const uint64_t used = o->rings.head - o->rings.tail, map = (uint64_t)ptoi_map_used(o->edges.map),
                   deps = ptoi_orch_deps_used(o);
    if (used > o->flow.task_max) o->flow.task_max = used;
    if (map > o->flow.map_max) o->flow.map_max = map;
    if (deps > o->flow.dep_max) o->flow.dep_max = deps;
}

/* One look at what has retired answers for a slot, the arguments and the map; mostly there is room for all. */
static bool has_room(struct orchestrator *o, const struct submission *s)
{
    enum { LOOK = 16 };
    if (o->rings.head % LOOK == 0 || o->rings.head - o->rings.tail > o->window->task_mask) ptoi_see_retired(o);
    return o->rings.head - o->rings.tail <= o->window->task_mask &&
           ptoi_arg_start(o, s->arg_bytes) + s->arg_bytes - o->rings.arg_tail <= o->window->arg_mask + 1 &&
           ptoi_map_reserve(o->edges.map, s->accesses);
}

/* Note [too large for a pool]: a task that needs more entries than the whole dependency pool or TensorMap has is
 * submitted when everything before it has completed, so it needs no fan-in entry, and is waited for, so nobody needs to
 * find its accesses. */
static int64_t submit_placed(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    bool alone = false;
    if (!has_room(o, s)) {
        alone = s->accesses > ptoi_map_capacity(o->edges.map);
        ptoi_wait_for_slot(o);
        ptoi_wait_for_args(o, s->arg_bytes);
        if (alone)
            ptoi_wait_drained(o, PTO_STALL_TENSORMAP_POOL);
        else
            ptoi_wait_for_map(o, (uint64_t)s->accesses);
        if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    }

    if (!ptoi_find_edges(o, s, kernel, alone)) return ptoi_recorded_fail(o);
    if (o->rings.dep_head - o->rings.dep_tail + (uint64_t)o->edges.found.count > o->window->dep_limit) {
        if ((uint64_t)o->edges.found.count > o->window->dep_limit) {
            ptoi_wait_drained(o, PTO_STALL_DEPLIST_POOL);
            ptoi_forget_completed(o);
        } else {
            ptoi_wait_for_deps(o, (uint64_t)o->edges.found.count);
        }
        if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    }

    if (o->recorded.history && !ptoi_recorded_touch(o, HISTORY_TASK, o->rings.head - o->run.first_head, s, kernel))
        return ptoi_recorded_fail(o);
    o->run.stats.edges += o->edges.found.count;
    write_task(o, s, kernel);
    if (s->terms.makes) write_back(o, s);
    PTO_LABEL(TASK);
    o->edges.accesses = s->accesses;
    const uint64_t id = o->rings.head++;
    store_release(&o->window->task_head, o->rings.head, TASK); /* [TASK] */ /* model: PUBLISH_TASK */
    const uint64_t number = o->fast.open->number++;
    note_use(o);
    if (o->flow.recorder) ptoi_orch_record(o, id);
    o->flow.ops->wake(o->flow.context);
    if (alone) ptoi_wait_drained(o, PTO_STALL_TENSORMAP_POOL);
    return (int64_t)number;
}

int64_t ptoi_submit_deferred(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    struct submission s;
    PTOStatus status = ptoi_place_params(o, params, count, &s);
    if (status != PTO_OK) return status;
    const int64_t accepted = ptoi_decoded(o, &s.terms, kernel);
    if (accepted != PTO_OK) return accepted;
    if (s.terms.makes) status = take_outputs(o, &s);
    int64_t id = status == PTO_OK ? submit_placed(o, &s, kernel) : status;
    if (id >= 0) return id;
    ptoi_map_forget_task(o->edges.map, o->rings.head);
    ptoi_map_retire(o->edges.map, o->rings.map_retired); /* its entries too, though no task retires */
    if (s.terms.makes) give_outputs_back(o, &s);
    return id;
}
