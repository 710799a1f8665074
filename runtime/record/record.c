/* record.c - see record.h. */
#include "record.h"
#include "shared/map_memory.h"
#include <string.h>

enum { EDGES_PER_TASK = 8 }; /* before the array grows */

bool ptoi_record_init(struct recorder *r, int64_t tasks, bool shared)
{
    *r = (struct recorder){.capacity = (uint64_t)tasks, .unit = "ns"};
    r->edge_capacity = r->capacity * EDGES_PER_TASK;
    r->await_capacity = r->buffer_capacity = r->use_capacity = r->capacity;
    r->task = ptoi_memory_map(r->capacity * sizeof *r->task, shared);
    r->edge = ptoi_memory_map(r->edge_capacity * sizeof *r->edge, false);
    r->wait = ptoi_memory_map(r->capacity * sizeof *r->wait, false);
    r->awaited = ptoi_memory_map(r->await_capacity * sizeof *r->awaited, false);
    r->buffer = ptoi_memory_map(r->buffer_capacity * sizeof *r->buffer, false);
    r->use = ptoi_memory_map(r->use_capacity * sizeof *r->use, false);
    r->sample = ptoi_memory_map(r->capacity * sizeof *r->sample, shared);
    r->step = ptoi_memory_map(r->capacity * sizeof *r->step, shared);
    const bool has_scopes = ptoi_scope_tree_init(&r->scopes), has_regions = ptoi_regions_init(&r->regions);
    if (has_scopes && has_regions && r->task && r->edge && r->wait && r->awaited && r->buffer && r->use && r->sample &&
        r->step)
        return true;
    ptoi_record_free(r);
    return false;
}

void ptoi_record_free(struct recorder *r)
{
    ptoi_scope_tree_free(&r->scopes);
    ptoi_regions_free(&r->regions);
    ptoi_memory_unmap(r->task, r->capacity * sizeof *r->task);
    ptoi_memory_unmap(r->edge, r->edge_capacity * sizeof *r->edge);
    ptoi_memory_unmap(r->wait, r->capacity * sizeof *r->wait);
    ptoi_memory_unmap(r->awaited, r->await_capacity * sizeof *r->awaited);
    ptoi_memory_unmap(r->buffer, r->buffer_capacity * sizeof *r->buffer);
    ptoi_memory_unmap(r->use, r->use_capacity * sizeof *r->use);
    ptoi_memory_unmap(r->sample, r->capacity * sizeof *r->sample);
    ptoi_memory_unmap(r->step, r->capacity * sizeof *r->step);
    memset(r, 0, sizeof *r);
}

void ptoi_record_begin(struct recorder *r, uint64_t first_id)
{
    memset(r->task, 0, r->tasks * sizeof *r->task);
    r->first_id = first_id;
    r->rate = ptoi_tick_begin();
    r->origin = ptoi_record_now(r);
    r->is_in_ticks = !r->now;
    ptoi_scope_tree_begin(&r->scopes, r->origin);
    r->regions.count = 0;
    r->tasks = r->edges = r->waits = r->awaits = r->buffers = r->uses = r->samples = r->steps = r->lost =
        r->lost_edges = r->lost_other = 0;
}

static void to_ns(const struct tick_rate *rate, int64_t *ticks)
{
    if (*ticks != 0) *ticks = ptoi_tick_ns(rate, *ticks);
}

void ptoi_record_end(struct recorder *r)
{
    struct recorded_scope *run = &r->scopes.node[0];
    run->time = ptoi_record_now(r) - run->since;
    ptoi_tick_end(&r->rate);
}

void ptoi_record_settle(struct recorder *r)
{
    if (!r->is_in_ticks) return;
    r->is_in_ticks = false;
    for (struct recorded_scope *n = r->scopes.node; n < r->scopes.node + r->scopes.count; n++)
        n->time = ptoi_tick_ns(&r->rate, r->origin + n->time) - ptoi_tick_ns(&r->rate, r->origin);
    to_ns(&r->rate, &r->origin);
    for (struct recorded_task *t = r->task; t < r->task + r->tasks; t++)
        to_ns(&r->rate, &t->submitted), to_ns(&r->rate, &t->begin), to_ns(&r->rate, &t->end);
    for (struct recorded_wait *w = r->wait; w < r->wait + r->waits; w++)
        to_ns(&r->rate, &w->begin), to_ns(&r->rate, &w->end);
    for (struct recorded_sample *s = r->sample; s < r->sample + r->samples; s++) to_ns(&r->rate, &s->at);
    for (struct recorded_step *s = r->step; s < r->step + r->steps; s++)
        to_ns(&r->rate, &s->begin), to_ns(&r->rate, &s->end);
}

struct recorded_wait *ptoi_record_wait(struct recorder *r, PTOStallReason reason, int64_t begin, int64_t end)
{
    if (r->waits == r->capacity) {
        r->lost_other++;
        return NULL;
    }
    struct recorded_wait *w = &r->wait[r->waits++];
    *w = (struct recorded_wait){.begin = begin, .end = end, .reason = reason, .before = r->tasks + r->lost};
    return w;
}

void ptoi_record_step(struct recorder *r, int64_t begin, int64_t end)
{
    if (r->steps < r->capacity) r->step[r->steps++] = (struct recorded_step){.begin = begin, .end = end};
}

/* The array of so many elements, all in use, with twice the room; NULL: no memory, and nothing has changed. */
static void *doubled(void *array, uint64_t *capacity, size_t size)
{
    void *more = ptoi_memory_map(2 * *capacity * size, false);
    if (!more) return NULL;
    memcpy(more, array, *capacity * size);
    ptoi_memory_unmap(array, *capacity * size);
    *capacity *= 2;
    return more;
}

uint64_t ptoi_record_buffer(struct recorder *r, uint64_t bytes)
{
    if (r->buffers == r->buffer_capacity) {
        struct recorded_buffer *more = doubled(r->buffer, &r->buffer_capacity, sizeof *more);
        if (!more) {
            r->lost_other++;
            return 0;
        }
        r->buffer = more;
    }
    r->buffer[r->buffers] =
        (struct recorded_buffer){.bytes = bytes, .made = r->tasks + r->lost, .released = UINT64_MAX};
    return ++r->buffers;
}

void ptoi_record_use(struct recorder *r, struct recorded_task *t, uint64_t number)
{
    if (number == 0) return;
    if (r->uses == r->use_capacity) {
        uint64_t *more = doubled(r->use, &r->use_capacity, sizeof *more);
        if (!more) {
            r->lost_other++;
            return;
        }
        r->use = more;
    }
    if (t->use_count++ == 0) t->first_use = r->uses;
    r->use[r->uses++] = number - 1;
}

void ptoi_record_awaited(struct recorder *r, struct recorded_wait *w, uint64_t task_id)
{
    if (!ptoi_record_task(r, task_id)) return;
    if (r->awaits == r->await_capacity) {
        uint64_t *more = doubled(r->awaited, &r->await_capacity, sizeof *more);
        if (!more) {
            r->lost_other++;
            return;
        }
        r->awaited = more;
    }
    if (w->edge_count++ == 0) w->first_edge = r->awaits;
    r->awaited[r->awaits++] = task_id - r->first_id;
}

void ptoi_record_edge(struct recorder *r, uint64_t from, uint64_t to, uint8_t reasons)
{
    struct recorded_task *t = ptoi_record_task(r, to);
    if (!t) return;
    if (r->edges == r->edge_capacity) {
        struct recorded_edge *more = doubled(r->edge, &r->edge_capacity, sizeof *more);
        if (!more) {
            r->lost_edges++;
            return;
        }
        r->edge = more;
    }
    if (t->edge_count == 0) t->first_edge = r->edges;
    t->edge_count++;
    r->edge[r->edges++] = (struct recorded_edge){.from = from - r->first_id, .reasons = reasons};
}
