/* ready_queue.h - tasks of one worker type that could start now: by priority, then first in first out.
 *
 * Idea       nearly all tasks have priority 0, so those are a plain ring; the others a heap beside it, of which each
 *            node has four children on one cache line (LaMarca and Ladner, The Influence of Caches on the Performance
 *            of Heaps, 1996).
 * Owner      the scheduler.
 * Invariant  capacity is the task window, so a push always has room.
 * Tests      test/runtime/test_ready_queue.c */
#ifndef PTOI_READY_QUEUE_H
#define PTOI_READY_QUEUE_H
#include "shared/check.h"
#include <stdbool.h>
#include <stdint.h>

struct ready_entry {
    uint64_t id;
    int32_t priority;
    uint32_t order; /* of arrival, among tasks with a priority; it may wrap around */
};

struct ready_queue {
    uint64_t *ring;
    uint64_t first, last, mask;
    struct ready_entry *heap;
    uint64_t heap_count, count_max;
    uint32_t order;
};

uint64_t ptoi_ready_bytes(uint64_t capacity); /* capacity: a power of two.  Whole cache lines */
/* memory: ptoi_ready_bytes() bytes, aligned to a cache line, which the queue owns while it is used. */
void ptoi_ready_init(struct ready_queue *q, uint64_t capacity, void *memory);
static inline uint64_t ptoi_ready_count(const struct ready_queue *q) { return q->last - q->first + q->heap_count; }

/* Of tasks with a priority, and of the others while there are some of those. */
void ptoi_ready_push_urgent(struct ready_queue *q, uint64_t id, int32_t priority);
bool ptoi_ready_peek_any(const struct ready_queue *q, uint64_t *id);
void ptoi_ready_pop_any(struct ready_queue *q);

static inline void ptoi_ready_push(struct ready_queue *q, uint64_t id, int32_t priority)
{
    CHECK(ptoi_ready_count(q) <= q->mask);
    if (priority == 0)
        q->ring[q->last++ & q->mask] = id;
    else
        ptoi_ready_push_urgent(q, id, priority);
    const uint64_t count = ptoi_ready_count(q);
    if (count > q->count_max) q->count_max = count;
}

static inline bool ptoi_ready_peek(const struct ready_queue *q, uint64_t *id)
{
    if (q->heap_count > 0) return ptoi_ready_peek_any(q, id);
    *id = q->ring[q->first & q->mask];
    return q->first != q->last;
}

/* Removes the task that peek showed. */
static inline void ptoi_ready_pop(struct ready_queue *q)
{
    CHECK(ptoi_ready_count(q) > 0);
    if (q->heap_count > 0)
        ptoi_ready_pop_any(q);
    else
        q->first++;
}

#endif
