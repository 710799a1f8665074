/* deferred.c - a task that goes through the window: its outputs, its room in the rings, its publication.
 *
 * Owner      the orchestrator.
 * Invariant  a submit that fails leaves no buffer behind, and no trace in the window.
 * Blocks     while a ring is full.
 * Tests      test/runtime/test_runtime.c, test_hazards.c, stress_graphs.c, stress_limits.c */
#include "publish.h"
#include "submission.h"
#include "shared/check.h"
#include "shared/strip.h"
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

static void give_outputs_back(struct orchestrator *o, struct submission *s)
{
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        const struct arg_head *head = s->place[i].head;
        if (head->fresh && head->buffer) ptoi_give_output_back(o, head->buffer);
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

/* What stands behind the arguments: the iterations of a strip; or the time limit, and the parts that a checked run
 * looks at (task.h). */
static void write_extras(const struct submission *s, int64_t *to)
{
    if (s->extras & TASK_STRIP) {
        ptoi_strip_write(s->strip, to);
        return;
    }
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
    const uint64_t begin = ptoi_arg_start(o, s->arg_bytes), dep_begin = o->rings.dep_head;
    *t = (struct task_slot){.id = o->rings.head,
                            .kernel = ptoi_image_offset(kernel),
                            .site = ptoi_image_offset(*o->site),
                            .arg_begin = begin,
                            .dep_begin = dep_begin,
                            .dep_count = ptoi_write_fan_in(o),
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
    o->rings.arg_head = begin + s->arg_bytes;
    o->rings.clear = 0;
}

/* Note [too large for a pool]: a task that needs more entries than the whole dependency pool or TensorMap has is
 * submitted when everything before it has completed, so it needs no fan-in entry, and is waited for, so nobody needs to
 * find its accesses. */
static int64_t submit_placed(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    bool alone = false;
    uint64_t arg_start;
    if (!ptoi_has_room(o, s->arg_bytes, s->entries, &arg_start)) {
        alone = s->entries > ptoi_map_capacity(o->edges.map);
        ptoi_wait_for_slot(o);
        ptoi_wait_for_args(o, s->arg_bytes);
        if (alone)
            ptoi_wait_drained(o, PTO_STALL_TENSORMAP_POOL);
        else
            ptoi_wait_for_map(o, (uint64_t)s->entries);
        if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    }

    const int64_t used = ptoi_map_used(o->edges.map);
    if (!ptoi_find_edges(o, s, kernel, alone)) return ptoi_recorded_fail(o);
    o->edges.accesses = (int32_t)(ptoi_map_used(o->edges.map) - used); /* those that became entries */
    if (!ptoi_have_fan_in(o)) return ptoi_status(o->run_status);

    if (o->recorded.history && !ptoi_recorded_touch(o, HISTORY_TASK, o->rings.head - o->run.first_head, s, kernel))
        return ptoi_recorded_fail(o);
    write_task(o, s, kernel);
    if (s->terms.makes) write_back(o, s);
    if (o->flow.recorder) ptoi_orch_record(o, o->rings.head); /* before a worker can begin it */
    const uint64_t number = ptoi_publish_task(o);
    o->flow.ops->wake(o->flow.context);
    if (alone) ptoi_wait_drained(o, PTO_STALL_TENSORMAP_POOL);
    return (int64_t)number;
}

/* strip: NULL, or what the task is that has these parameters; it has no time limit and no parts. */
static int64_t submit(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                      const struct strip_text *strip)
{
    struct submission s;
    PTOStatus status = ptoi_place_params(o, kernel, params, count, &s);
    if (status != PTO_OK) return status;
    const int64_t accepted = ptoi_decoded(o, &s.terms, kernel);
    if (accepted != PTO_OK) return accepted;
    s.steps = 0;
    s.entries = s.accesses;
    if (strip) {
        s.strip = strip;
        s.extras = TASK_STRIP;
        s.arg_bytes += ptoi_strip_bytes(strip);
        ptoi_find_strip_accesses(o, &s);
    }
    if (s.terms.makes) status = take_outputs(o, &s);
    int64_t id = status == PTO_OK ? submit_placed(o, &s, kernel) : status;
    if (id >= 0) return id;
    ptoi_map_forget_task(o->edges.map, o->rings.head);
    if (s.terms.makes) give_outputs_back(o, &s);
    return id;
}

int64_t ptoi_submit_deferred(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    return submit(o, kernel, params, count, NULL);
}

int64_t ptoi_submit_strip(struct orchestrator *o, const PTOKernel *kernel, const PTOTaskParam *params, int32_t count,
                          const struct strip_text *strip)
{
    return submit(o, kernel, params, count, strip);
}
