/* events.h - what will happen at a time, the earliest first: a binary heap for simulations.
 *
 * Idea       an event stands behind all that are as early and were added before it, so a simulation is the same on
 *            every run.
 * Owner      one thread, that of the simulation.
 * Invariant  no event is earlier than the first.
 * Blocks     never; ptoi_events_add returns false where there is no memory.
 * Source     binary heap: Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, ch. 6.
 * Tests      test/runtime/test_events.c */
#ifndef PTOI_EVENTS_H
#define PTOI_EVENTS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct event {
    int64_t at;
    uint64_t order, id; /* order: ptoi_events_add gives it; id: of that which it is about */
    int32_t kind, result;
};

struct events {
    struct event *heap;
    uint32_t count, room;
    uint64_t added;
};

/* Is the first event at this time, or earlier? */
static inline bool ptoi_events_due(const struct events *s, int64_t to) { return s->count > 0 && s->heap[0].at <= to; }

static inline bool ptoi_event_is_earlier(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

/* Room for so many events, at least as many as there are. */
static inline bool ptoi_events_reserve(struct events *s, uint32_t room)
{
    struct event *heap = realloc(s->heap, room * sizeof *heap);
    if (!heap) return false;
    s->heap = heap;
    s->room = room;
    return true;
}

static inline bool ptoi_events_add(struct events *s, struct event e)
{
    if (s->count == s->room && (s->room >= UINT32_MAX / 2 || !ptoi_events_reserve(s, 2 * s->room + 1))) return false;
    e.order = s->added++;
    uint32_t i = s->count++;
    for (; i > 0 && ptoi_event_is_earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
    return true;
}

/* The first; there is one. */
static inline struct event ptoi_events_take(struct events *s)
{
    const struct event top = s->heap[0];
    if (--s->count == 0) return top;
    const struct event e = s->heap[s->count];
    uint32_t i = 0;
    for (uint32_t child = 1; child < s->count; child = 2 * i + 1) {
        if (child + 1 < s->count && ptoi_event_is_earlier(&s->heap[child + 1], &s->heap[child])) child++;
        if (!ptoi_event_is_earlier(&s->heap[child], &e)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = e;
    return top;
}

#endif
