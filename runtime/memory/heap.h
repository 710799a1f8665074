/* heap.h - memory for output buffers: equal segments of one block, in which every depth bumps through a chain of its
 * own.
 *
 * Idea       a chunk is a run of segments in which buffers of one depth are laid one after the other.  A chunk whose
 *            buffers are all consumed is empty again: the one being filled restarts at its beginning, a full one goes
 *            back to the pool. So a long-lived buffer holds back only its neighbours of the same depth, never what is
 *            deeper or shallower, at any depth, and the addresses in use stay few and warm.
 *            A depth that begins lays its buffers behind those of the depth above while they fit into its chunk: so
 *            scopes that hold little share segments, and what is taken is at most twice what lives, and a constant,
 *            however deep they nest. Buffers are numbered from 1, lowest free number first, so what is kept about them
 *            stays dense. Where nothing is in flight, live buffers can be compacted: ptoi_heap_compact.
 * Owner      the orchestrator; the scheduler only counts consumed buffers, in window->consumed [CONSUMED].
 * Invariant  made[chunk] - consumed[chunk] buffers of a chunk are alive; no buffer crosses the end of its chunk;
 *            segments of different chunks are disjoint.  Counters are modulo 2^32, compared for equality only.
 * Blocks     never: try_alloc says no room.  Waiting and counting stalls is flow.c.
 * Tests      test/runtime/test_heap.c */
#ifndef PTOI_HEAP_H
#define PTOI_HEAP_H
#include "shared/window.h"

struct heap_chunk {        /* indexed by its first segment */
    uint32_t first_buffer; /* its buffers since it was last empty, newest first */
    uint32_t segments;     /* 0: this segment starts no chunk */
    uint32_t made;         /* buffers ever laid in chunks that started here */
    uint64_t used_bytes;   /* laid since it was last empty */
};

struct heap {
    struct window *window;
    uint64_t ring_bytes; /* no single buffer may be larger */
    struct heap_chunk *chunk;
    uint64_t *taken; /* bit per segment */
    uint32_t *full;  /* queue of chunks that are no longer filled, oldest first */
    uint32_t full_first, full_count;
    int64_t *open;                /* by depth: the chunk being filled, -1: none */
    int32_t *lender;              /* by depth: the depth in whose chunk it laid its last buffer; its own: in its own */
    int32_t depths, depths_ready; /* `open` and `lender` are set for those below depths_ready */
    int32_t depths_used;          /* no deeper one has had a chunk */
    uint32_t *next_buffer;        /* by buffer - 1: the next of its chunk, or the next free number */
    uint32_t free_buffer, fresh_buffer; /* newest number given back, 0: none; first number never used */
    /* A checked run: where the heap is, else NULL; by buffer - 1, where the guard behind it stands; the function that
     * reports a broken guard. */
    unsigned char *checked_base;
    uint64_t *guard_at;
    uint64_t rest_from; /* the segment behind the youngest chunk */
    void (*on_broken)(void *context, uint32_t buffer);
    void *broken_context;
    uint64_t used_bytes, used_bytes_max; /* laid and not yet known to be consumed */
    uint64_t made_since_sweep;           /* buffers */
};

bool ptoi_heap_init(struct heap *h, struct window *w, uint64_t ring_bytes, int32_t depths); /* false: no memory */
void ptoi_heap_free(struct heap *h);
/* From now on buffers have guards, and what is consumed is filled.  Before the first buffer.  false: no memory. */
bool ptoi_heap_check(struct heap *h, void *base, void (*on_broken)(void *context, uint32_t buffer), void *context);
/* A new buffer of bytes > 0: its number, and its byte offset in *at (64-byte aligned); 0 when there is no room now. */
uint32_t ptoi_heap_try_alloc(struct heap *h, int32_t depth, uint64_t bytes, uint64_t *at);
/* Lays a buffer into the chunk that a depth is filling, which has room. */
static inline uint32_t ptoi_heap_lay(struct heap *h, int32_t depth, uint64_t size, uint64_t *at)
{
    const uint32_t first = (uint32_t)h->open[depth], given = h->free_buffer, buffer = given ? given : ++h->fresh_buffer;
    struct heap_chunk *const c = &h->chunk[first];
    if (given) h->free_buffer = h->next_buffer[given - 1];
    *at = first * h->window->segment_bytes + c->used_bytes;
    c->used_bytes += size;
    c->made++;
    *window_chunk(h->window, buffer) = first; /* published by [TASK] or [EVENT] */
    h->next_buffer[buffer - 1] = c->first_buffer;
    c->first_buffer = buffer;
    h->used_bytes += size;
    h->made_since_sweep++;
    return buffer;
}
/* ptoi_heap_try_alloc where the run is not checked and the chunk being filled has room; 0: it has to be called. */
static inline uint32_t ptoi_heap_try_near(struct heap *h, int32_t depth, uint64_t bytes, uint64_t *at)
{
    const uint64_t size = (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    if (depth >= h->depths_ready || h->open[depth] < 0) return 0;
    const struct heap_chunk *const c = &h->chunk[h->open[depth]];
    if (c->segments > 1 || c->used_bytes + size > h->window->segment_bytes || h->used_bytes + size > h->used_bytes_max)
        return 0;
    return ptoi_heap_lay(h, depth, size, at);
}
/* The buffer, which no other role knows, was never made.  false: it is not the newest of its chunk, or the run is
 * checked, and nothing has changed. */
static inline bool ptoi_heap_take_back(struct heap *h, uint32_t buffer, uint64_t bytes)
{
    struct heap_chunk *const c = &h->chunk[*window_chunk(h->window, buffer)];
    const uint64_t size = (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    if (c->first_buffer != buffer || h->checked_base) return false;
    c->first_buffer = h->next_buffer[buffer - 1];
    h->next_buffer[buffer - 1] = h->free_buffer;
    h->free_buffer = buffer;
    c->made--;
    c->used_bytes -= size;
    h->used_bytes -= size;
    return true;
}

/* A live buffer: its present address and its new one. */
struct heap_piece {
    uint32_t buffer, chunk; /* chunk: the new one */
    uint64_t from, bytes, to;
};
/* Moves the bytes of one, in a checked run with its guard; where they were they are filled then. */
void ptoi_heap_move(struct heap *h, char *base, const struct heap_piece *piece);
/* Nothing is in flight, and `piece` is the list of all live buffers, by address.  Compacts them so that a buffer of
 * `fresh` bytes has room in one piece for that depth.  The caller moves the bytes, in the order of `piece`: no `to` is
 * behind its `from`.  false: there is no room even so, and nothing has changed. */
bool ptoi_heap_compact(struct heap *h, struct heap_piece *piece, uint32_t count, int32_t depth, uint64_t fresh);

uint64_t ptoi_heap_buffers_max(const struct window *w); /* no more can be alive at once */
uint64_t ptoi_heap_largest_free(const struct heap *h);  /* bytes of the longest run of free segments */
bool ptoi_heap_is_too_large(const struct heap *h, uint64_t bytes);
/* Finds out what was consumed meanwhile. */
void ptoi_heap_sweep(struct heap *h);
/* Every buffer counts as consumed.  No scheduler is there. */
void ptoi_heap_abandon(struct heap *h);
bool ptoi_heap_is_valid(const struct heap *h);

#endif
