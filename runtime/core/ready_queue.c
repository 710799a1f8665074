/* ready_queue.c - see ready_queue.h. */
#include "ready_queue.h"
#include "check.h"

uint64_t ptoi_ready_bytes(uint64_t capacity) { return capacity * (sizeof(uint64_t) + sizeof(struct ready_entry)); }

void ptoi_ready_init(struct ready_queue *q, uint64_t capacity, void *memory)
{
    *q = (struct ready_queue){.mask = capacity - 1, .ring = memory};
    q->heap = (struct ready_entry *)(q->ring + capacity);
}

static bool is_before(const struct ready_entry *a, const struct ready_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->order < b->order;
}

static void heap_push(struct ready_queue *q, struct ready_entry e)
{
    uint64_t i = q->heap_count++;
    for (; i > 0 && is_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2) q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

static void heap_pop(struct ready_queue *q)
{
    struct ready_entry e = q->heap[--q->heap_count];
    uint64_t i = 0;
    for (;;) {
        uint64_t child = 2 * i + 1;
        if (child >= q->heap_count) break;
        if (child + 1 < q->heap_count && is_before(&q->heap[child + 1], &q->heap[child])) child++;
        if (!is_before(&q->heap[child], &e)) break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = e;
}

void ptoi_ready_push(struct ready_queue *q, uint64_t id, int32_t priority)
{
    CHECK(ptoi_ready_count(q) <= q->mask);
    if (priority == 0)
        q->ring[q->last++ & q->mask] = id;
    else
        heap_push(q, (struct ready_entry){.id = id, .order = q->order++, .priority = priority});
    uint64_t count = ptoi_ready_count(q);
    if (count > q->count_max) q->count_max = count;
}

static bool heap_is_next(const struct ready_queue *q)
{
    return q->heap_count > 0 && (q->heap[0].priority > 0 || q->first == q->last);
}

bool ptoi_ready_peek(const struct ready_queue *q, uint64_t *id)
{
    if (ptoi_ready_count(q) == 0) return false;
    *id = heap_is_next(q) ? q->heap[0].id : q->ring[q->first & q->mask];
    return true;
}

void ptoi_ready_pop(struct ready_queue *q)
{
    CHECK(ptoi_ready_count(q) > 0);
    if (heap_is_next(q))
        heap_pop(q);
    else
        q->first++;
}
