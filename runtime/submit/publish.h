/* publish.h - the last steps of a deferred submit, which its two ways share: room in the rings, fan-in entries, and the
 * publication of the task.
 *
 * Owner      the orchestrator.
 * Tests      test/runtime/test_runtime.c, test_plain.c, stress_limits.c */
#ifndef PTOI_PUBLISH_H
#define PTOI_PUBLISH_H
#include "parts.h"

/* There is room for a task: a slot, its arguments and its accesses in the map. */
static inline bool ptoi_fits(const struct orchestrator *o, uint64_t arg_bytes, int64_t accesses, uint64_t *arg_start)
{
    *arg_start = ptoi_arg_start(o, arg_bytes);
    return o->rings.head - o->rings.tail <= o->window->task_mask &&
           *arg_start + arg_bytes - o->rings.arg_tail <= o->window->arg_mask + 1 &&
           ptoi_map_reserve(o->edges.map, accesses);
}

/* One look at what has retired answers for all three; mostly there is room. */
static inline bool ptoi_has_room(struct orchestrator *o, uint64_t arg_bytes, int64_t accesses, uint64_t *arg_start)
{
    ptoi_look_at_retired(o);
    return ptoi_fits(o, arg_bytes, accesses, arg_start);
}

/* The set of one accumulator: equal ones begin at the same byte. */
static inline uint32_t ptoi_accumulator_set(int64_t low)
{
    return (uint32_t)1 << ((uint64_t)low * 0x9e3779b97f4a7c15u >> 59);
}

/* There is room for fan-in entries of all tasks in o->edges.found.  false: the run has failed while there was none. */
static inline bool ptoi_have_fan_in(struct orchestrator *o)
{
    const uint64_t count = (uint64_t)o->edges.found.count;
    return o->rings.dep_head - o->rings.dep_tail + count <= o->window->dep_limit || ptoi_wait_for_fan_in(o);
}

/* Writes an entry for each of them that has not completed: how many.  None was older than the window when it was found,
 * so its slot is still its own. */
static inline uint32_t ptoi_write_fan_in(struct orchestrator *o) /* model: PRUNE */
{
    const struct map_found *const found = &o->edges.found;
    uint64_t *const entry = o->rings.dep;
    _Atomic uint64_t *const completed = o->rings.completed;
    const uint64_t mask = o->window->dep_mask, first = o->rings.dep_head, tasks = o->window->task_mask;
    uint64_t at = first;
    for (const uint64_t *id = found->task_id, *end = id + found->count; id < end; id++) {
        const uint64_t producer = *id;
        entry[at & mask] = producer;
        at += load_acquire(&completed[producer & tasks], DONE) != producer + 1; /* [DONE] */
    }
    o->rings.dep_head = at;
    o->run.stats.edges += (int64_t)(at - first);
    return (uint32_t)(at - first);
}

/* The task of the next slot is written: the number that the program knows. */
static inline uint64_t ptoi_publish_task(struct orchestrator *o)
{
    const uint64_t number = o->fast.open->number++;
    if (o->writes_numbers) *window_number(o->window, o->rings.head) = number;
    PTO_LABEL(TASK);
    o->rings.head++;
    store_release(&o->window->task_head, o->rings.head, TASK); /* [TASK] */ /* model: PUBLISH_TASK */
    return number;
}

#endif
