/* compaction.c - compaction of the heap: slides live buffers together when free space is fragmented.
 *
 * Idea       when a buffer finds no room and nothing is in flight, all that the open scopes hold is moved to one side
 *            of the heap.  The program goes on with the addresses that it knows: from then on they are names.  A buffer
 *            keeps its name for its lifetime; while any is away from its name, a new one has a name in a range without
 *            memory (names.h). Where a buffer lies is looked up when a task is submitted, and when the program looks at
 *            an element.
 * Owner      the orchestrator.
 * Invariant  names of living buffers do not overlap; moved counts those whose name is not where they lie; none: an
 *            address is an address.
 * Blocks     never.
 * Tests      test/runtime/test_compaction.c, test_depth.c, test/lit/memory/need.test, heaps.test */
#include "parts.h"
#include "shared/check.h"
#include <stdlib.h>
#include <string.h>

uint64_t ptoi_compact_choose(struct orchestrator *o, uint32_t buffer, uint64_t bytes)
{
    return ptoi_names_take(&o->buffers.names, buffer, bytes);
}

uint32_t ptoi_compact_find(const struct orchestrator *o, uint64_t offset)
{
    const uint32_t buffer = ptoi_names_hold(&o->buffers.names, offset) ? ptoi_names_find(&o->buffers.names, offset) : 0;
    if (buffer == 0) return 0;
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    return r->owner > 0 && offset - r->at < r->bytes ? buffer : 0;
}

uint32_t ptoi_orch_holder(const struct orchestrator *o, const void *address)
{
    return ptoi_orch_is_in_heap(o, address)
               ? ptoi_compact_buffer(o, (uint64_t)((uintptr_t)address - (uintptr_t)o->heap_base))
               : 0;
}

void *ptoi_orch_where(const struct orchestrator *o, void *name)
{
    if (o->buffers.moved == 0 || !ptoi_orch_is_in_heap(o, name)) return name;
    const uint32_t buffer = ptoi_compact_buffer(o, (uint64_t)((uintptr_t)name - (uintptr_t)o->heap_base));
    if (buffer == 0) return name;
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    return (char *)name + (r->place - r->at);
}

static int by_address(const void *a, const void *b)
{
    const struct heap_piece *p = a, *q = b;
    return p->from < q->from ? -1 : p->from > q->from;
}

/* All live buffers: nothing is in flight, so the open scopes own them. */
static struct heap_piece *pieces(const struct orchestrator *o, uint32_t *count)
{
    uint32_t n = 0;
    for (int32_t i = 0; i < o->scopes.depth; i++)
        for (uint32_t b = o->scopes.scope[i].first; b; b = ptoi_record(&o->scopes, b)->next) n++;
    struct heap_piece *piece = malloc((n + 1) * sizeof *piece);
    *count = 0;
    for (int32_t i = 0; piece && i < o->scopes.depth; i++)
        for (uint32_t b = o->scopes.scope[i].first; b; b = ptoi_record(&o->scopes, b)->next) {
            const struct buffer_record *r = ptoi_record(&o->scopes, b);
            piece[(*count)++] = (struct heap_piece){.buffer = b, .from = r->place, .bytes = r->bytes};
        }
    if (piece) qsort(piece, n, sizeof *piece, by_address);
    return piece;
}

bool ptoi_compact(struct orchestrator *o, int32_t depth, uint64_t bytes)
{
    if (!o->buffers.may_move || o->is_lost || ptoi_status(o->run_status) != PTO_OK) return false;
    uint32_t count;
    struct heap_piece *piece = pieces(o, &count);
    ptoi_fast_close(&o->fast); /* for good: from now on names are looked up */
    o->is_plain = o->fast.open->takes_strips = false;
    o->fast.open->has_moved = true;
    o->buffers.compactions++;
    const bool fits = piece && ptoi_names_reserve(&o->buffers.names, o->heap_base, o->window->heap_bytes) &&
                      ptoi_heap_compact(&o->buffers.heap, piece, count, depth, bytes);
    for (uint32_t i = 0; fits && i < count; i++) {
        const struct heap_piece *p = &piece[i];
        struct buffer_record *r = ptoi_record(&o->scopes, p->buffer);
        if (p->to == p->from) continue;
        ptoi_heap_move(&o->buffers.heap, o->heap_base, p);
        if (o->buffers.slots) ptoi_slots_move(o->buffers.slots, p->from, p->to, p->bytes);
        o->buffers.moved += (p->to != r->at) - (r->place != r->at);
        r->place = p->to;
        o->run.stats.moved_bytes += (int64_t)p->bytes;
    }
    free(piece);
    return fits;
}
