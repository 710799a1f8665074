/* record.c - see record.h. */
#include "record.h"
#include "memory.h"
#include <string.h>

enum { EDGES_PER_TASK = 8 };

bool ptoi_record_init(struct recorder *r, int64_t tasks, bool shared)
{
    *r = (struct recorder){.capacity = (uint64_t)tasks, .unit = "ns"};
    r->task = ptoi_memory_map(r->capacity * sizeof *r->task, shared);
    r->edge = ptoi_memory_map(r->capacity * EDGES_PER_TASK * sizeof *r->edge, shared);
    r->stall = ptoi_memory_map(r->capacity * sizeof *r->stall, shared);
    r->sample = ptoi_memory_map(r->capacity * sizeof *r->sample, shared);
    r->step = ptoi_memory_map(r->capacity * sizeof *r->step, shared);
    if (r->task && r->edge && r->stall && r->sample && r->step) return true;
    ptoi_record_free(r);
    return false;
}

void ptoi_record_free(struct recorder *r)
{
    ptoi_memory_unmap(r->task, r->capacity * sizeof *r->task);
    ptoi_memory_unmap(r->edge, r->capacity * EDGES_PER_TASK * sizeof *r->edge);
    ptoi_memory_unmap(r->stall, r->capacity * sizeof *r->stall);
    ptoi_memory_unmap(r->sample, r->capacity * sizeof *r->sample);
    ptoi_memory_unmap(r->step, r->capacity * sizeof *r->step);
    memset(r, 0, sizeof *r);
}

void ptoi_record_begin(struct recorder *r, uint64_t first_id, int64_t origin)
{
    memset(r->task, 0, r->tasks * sizeof *r->task);
    r->first_id = first_id;
    r->origin = origin;
    r->tasks = r->edges = r->stalls = r->samples = r->steps = r->lost = 0;
}

void ptoi_record_stall(struct recorder *r, PTOStallReason reason, int64_t begin, int64_t end)
{
    if (r->stalls < r->capacity) r->stall[r->stalls++] = (struct recorded_stall){.begin = begin, .end = end, .reason = reason};
}

void ptoi_record_sample(struct recorder *r, struct recorded_sample sample)
{
    if (r->samples < r->capacity) r->sample[r->samples++] = sample;
}

void ptoi_record_step(struct recorder *r, int64_t begin, int64_t end)
{
    if (r->steps < r->capacity) r->step[r->steps++] = (struct recorded_step){.begin = begin, .end = end};
}

void ptoi_record_edge(void *recorder, uint64_t from, uint64_t to, uint8_t reasons)
{
    struct recorder *r = recorder;
    struct recorded_task *t = ptoi_record_task(r, to);
    if (!t || from < r->first_id || r->edges >= r->capacity * EDGES_PER_TASK) return;
    if (t->edge_count == 0) t->first_edge = (uint32_t)r->edges;
    t->edge_count++;
    r->edge[r->edges++] = (struct recorded_edge){.from = from - r->first_id, .reasons = reasons};
}
