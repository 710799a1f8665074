/* ready_queue.c - see ready_queue.h. */
#include "ready_queue.h"
#include "shared/atomics.h"

/* The root has number 3, so that siblings are four numbers that begin at a multiple of four. */
enum { ROOT = 3, CHILDREN = 4 };
static uint64_t first_child(uint64_t i) { return CHILDREN * (i - ROOT + 1); }
static uint64_t parent(uint64_t i) { return i / CHILDREN + ROOT - 1; }

static uint64_t ring_bytes(uint64_t capacity) { return ptoi_whole_lines(capacity * sizeof(uint64_t)); }
uint64_t ptoi_ready_bytes(uint64_t capacity)
{
    return ring_bytes(capacity) + ptoi_whole_lines((capacity + ROOT) * sizeof(struct ready_entry));
}

void ptoi_ready_init(struct ready_queue *q, uint64_t capacity, void *memory)
{
    *q = (struct ready_queue){.mask = capacity - 1, .ring = memory};
    q->heap = (struct ready_entry *)((char *)memory + ring_bytes(capacity));
}

static bool is_before(const struct ready_entry *a, const struct ready_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : (int32_t)(a->order - b->order) < 0;
}

static void heap_push(struct ready_queue *q, struct ready_entry e)
{
    uint64_t i = ROOT + q->heap_count++;
    for (; i > ROOT && is_before(&e, &q->heap[parent(i)]); i = parent(i)) q->heap[i] = q->heap[parent(i)];
    q->heap[i] = e;
}

static void heap_pop(struct ready_queue *q)
{
    const uint64_t end = ROOT + --q->heap_count;
    const struct ready_entry e = q->heap[end];
    uint64_t i = ROOT;
    for (;;) {
        uint64_t child = first_child(i), best = child;
        if (child >= end) break;
        for (uint64_t c = child + 1; c < child + CHILDREN && c < end; c++)
            if (is_before(&q->heap[c], &q->heap[best])) best = c;
        if (!is_before(&q->heap[best], &e)) break;
        q->heap[i] = q->heap[best];
        i = best;
    }
    q->heap[i] = e;
}

void ptoi_ready_push_urgent(struct ready_queue *q, uint64_t id, int32_t priority)
{
    heap_push(q, (struct ready_entry){.id = id, .order = q->order++, .priority = priority});
}

static bool heap_is_next(const struct ready_queue *q)
{
    return q->heap_count > 0 && (q->heap[ROOT].priority > 0 || q->first == q->last);
}

bool ptoi_ready_peek_any(const struct ready_queue *q, uint64_t *id)
{
    if (ptoi_ready_count(q) == 0) return false;
    *id = heap_is_next(q) ? q->heap[ROOT].id : q->ring[q->first & q->mask];
    return true;
}

void ptoi_ready_pop_any(struct ready_queue *q)
{
    if (heap_is_next(q))
        heap_pop(q);
    else
        q->first++;
}
