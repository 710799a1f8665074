/* heap.c - see heap.h. */
#include "heap.h"
#include "shared/check.h"
#include "shared/map_memory.h"
#include "debug/checked.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool is_consumed(const struct heap *h, uint32_t chunk)
{
    /* [CONSUMED] the last reader of every buffer counted here is done. */
    return load_acquire(window_consumed(h->window, chunk), CONSUMED) == h->chunk[chunk].made;
}

static bool is_taken(const struct heap *h, uint64_t segment) { return h->taken[segment / 64] >> (segment % 64) & 1; }

static void mark_segments(struct heap *h, uint64_t first, uint64_t count, bool taken)
{
    for (uint64_t s = first; s < first + count; s++) {
        uint64_t bit = (uint64_t)1 << (s % 64);
        CHECK(is_taken(h, s) != taken);
        h->taken[s / 64] ^= bit;
    }
}

static void check_guard(struct heap *h, uint32_t buffer)
{
    if (!ptoi_guard_is_whole(h->checked_base + h->guard_at[buffer - 1], buffer))
        h->on_broken(h->broken_context, buffer);
}

static void check_consumed(struct heap *h, uint32_t chunk)
{
    const struct heap_chunk *c = &h->chunk[chunk];
    for (uint32_t b = c->first_buffer; b; b = h->next_buffer[b - 1]) check_guard(h, b);
    memset(h->checked_base + chunk * h->window->segment_bytes, PTOI_POISON, c->used_bytes);
}

static inline void forget_buffers(struct heap *h, struct heap_chunk *c)
{
    h->used_bytes -= c->used_bytes;
    c->used_bytes = 0;
    while (c->first_buffer) { /* once for each buffer */
        uint32_t b = c->first_buffer;
        c->first_buffer = h->next_buffer[b - 1];
        h->next_buffer[b - 1] = h->free_buffer;
        h->free_buffer = b;
    }
}

static void empty_chunk(struct heap *h, uint32_t chunk)
{
    if (h->checked_base) check_consumed(h, chunk);
    forget_buffers(h, &h->chunk[chunk]);
}

static void give_back(struct heap *h, uint32_t chunk)
{
    empty_chunk(h, chunk);
    mark_segments(h, chunk, h->chunk[chunk].segments, false);
    h->chunk[chunk].segments = 0;
}

uint64_t ptoi_heap_buffers_max(const struct window *w) { return w->heap_bytes / PTO_GRANULE; }

/* Most of it is never touched. */
static uint64_t cut_arrays(struct heap *h, char *memory)
{
    struct ptoi_cut c = {.memory = memory};
    h->open = ptoi_cut(&c, (uint64_t)h->depths, sizeof *h->open);
    h->lender = ptoi_cut(&c, (uint64_t)h->depths, sizeof *h->lender);
    h->next_buffer = ptoi_cut(&c, ptoi_heap_buffers_max(h->window), sizeof *h->next_buffer);
    return c.bytes;
}

bool ptoi_heap_init(struct heap *h, struct window *w, uint64_t ring_bytes, int32_t depths)
{
    *h = (struct heap){.window = w, .ring_bytes = ring_bytes, .depths = depths};
    h->chunk = calloc(w->segment_count, sizeof *h->chunk);
    h->taken = calloc(w->segment_count / 64 + 1, sizeof *h->taken);
    h->full = calloc(w->segment_count, sizeof *h->full);
    cut_arrays(h, ptoi_memory_map(cut_arrays(h, NULL), false));
    if (!h->chunk || !h->taken || !h->full || !h->open) {
        ptoi_heap_free(h);
        return false;
    }
    return true;
}

/* The deepest depth that there is, at most this one.  Memory of depths that no scope reaches is never touched. */
static int32_t make_depth_ready(struct heap *h, int32_t depth)
{
    const int32_t deepest = depth < h->depths ? depth : h->depths - 1;
    for (; h->depths_ready <= deepest; h->depths_ready++) {
        h->open[h->depths_ready] = -1;
        h->lender[h->depths_ready] = h->depths_ready;
    }
    return deepest;
}

bool ptoi_heap_check(struct heap *h, void *base, void (*on_broken)(void *context, uint32_t buffer), void *context)
{
    const size_t bytes = ptoi_heap_buffers_max(h->window) * sizeof *h->guard_at;
    void *guards = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (guards == MAP_FAILED) return false;
    h->guard_at = guards;
    h->checked_base = base;
    h->on_broken = on_broken;
    h->broken_context = context;
    return true;
}

void ptoi_heap_free(struct heap *h)
{
    if (h->guard_at) munmap(h->guard_at, ptoi_heap_buffers_max(h->window) * sizeof *h->guard_at);
    free(h->chunk);
    free(h->taken);
    free(h->full);
    void *memory = h->open;
    if (memory) ptoi_memory_unmap(memory, cut_arrays(h, NULL));
    *h = (struct heap){0};
}

static uint64_t round_to(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

/* What a buffer takes. */
static uint64_t size_of(const struct heap *h, uint64_t bytes)
{
    return round_to(bytes + (h->checked_base ? PTOI_GUARD_BYTES : 0), PTO_GRANULE);
}

bool ptoi_heap_is_too_large(const struct heap *h, uint64_t bytes)
{
    uint64_t capacity = h->window->segment_count * h->window->segment_bytes;
    return bytes > h->ring_bytes || size_of(h, bytes) > capacity;
}

static int64_t lowest_run(const struct heap *h, uint64_t from, uint64_t segments)
{
    uint64_t run = 0;
    for (uint64_t s = from; s < h->window->segment_count; s++) {
        if (s % 64 == 0 && h->taken[s / 64] == UINT64_MAX) {
            run = 0;
            s += 63;
            continue;
        }
        run = is_taken(h, s) ? 0 : run + 1;
        if (run == segments) return (int64_t)(s + 1 - segments);
    }
    return -1;
}

/* The first segment from this one on that is taken, or that is not; or how many there are. */
static uint64_t next_segment(const struct heap *h, bool taken, uint64_t from)
{
    const uint64_t count = h->window->segment_count;
    for (uint64_t s = from; s < count; s = (s / 64 + 1) * 64) {
        const uint64_t bits = (taken ? h->taken[s / 64] : ~h->taken[s / 64]) >> s % 64;
        if (bits == 0) continue;
        s += (uint64_t)__builtin_ctzll(bits);
        return s < count ? s : count;
    }
    return count;
}

/* By words: where a segment is a granule, each buffer looks for one. */
static int64_t tightest_run(const struct heap *h, uint64_t segments)
{
    uint64_t least = UINT64_MAX;
    int64_t best = -1;
    for (uint64_t end, s = next_segment(h, false, 0); s < h->window->segment_count && least > segments;
         s = next_segment(h, false, end)) {
        end = next_segment(h, true, s);
        if (end - s < segments || end - s >= least) continue;
        best = (int64_t)s;
        least = end - s;
    }
    return best;
}

/* In a small heap best fit, so that large runs stay whole; else first fit, which is found soon and reuses warm
 * addresses. In a checked run next fit: freed memory is reused as late as possible, so that a use after the end of a
 * lifetime does not meet the data of another buffer. */
static int64_t find_run(const struct heap *h, uint64_t segments)
{
    enum { SMALL = 1024 };
    const int64_t rested = h->checked_base && h->rest_from > 0 ? lowest_run(h, h->rest_from, segments) : -1;
    if (rested >= 0) return rested;
    return h->window->segment_count <= SMALL ? tightest_run(h, segments) : lowest_run(h, 0, segments);
}

/* Looks at the `limit` oldest full chunks: the consumed ones go back to the pool, the others to the end of the
 * queue. */
static void recycle(struct heap *h, uint32_t limit)
{
    uint32_t capacity = (uint32_t)h->window->segment_count;
    if (limit > h->full_count) limit = h->full_count;
    for (; limit > 0; limit--) {
        uint32_t chunk = h->full[h->full_first];
        h->full_first = (h->full_first + 1) % capacity;
        if (is_consumed(h, chunk)) {
            h->full_count--;
            give_back(h, chunk);
        } else {
            h->full[(h->full_first + h->full_count - 1) % capacity] = chunk;
        }
    }
}

static void give_back_open(struct heap *h, int32_t depth)
{
    give_back(h, (uint32_t)h->open[depth]);
    h->open[depth] = -1;
}

void ptoi_heap_sweep(struct heap *h)
{
    h->made_since_sweep = 0;
    recycle(h, h->full_count);
    for (int32_t d = 0; d < h->depths_used; d++)
        if (h->open[d] >= 0 && is_consumed(h, (uint32_t)h->open[d])) give_back_open(h, d);
}

void ptoi_heap_abandon(struct heap *h)
{
    for (uint64_t s = 0; s < h->window->segment_count; s++) /* relaxed: its writer is dead */
        if (h->chunk[s].segments > 0) store_relaxed(window_consumed(h->window, s), h->chunk[s].made);
    ptoi_heap_sweep(h);
}

static void close_chunk(struct heap *h, int32_t depth)
{
    if (h->open[depth] < 0) return;
    uint32_t chunk = (uint32_t)h->open[depth];
    h->open[depth] = -1;
    h->full[(h->full_first + h->full_count++) % (uint32_t)h->window->segment_count] = chunk;
}

static void fill_chunk(struct heap *h, int32_t depth, uint64_t chunk)
{
    h->open[depth] = (int64_t)chunk;
    if (depth >= h->depths_used) h->depths_used = depth + 1;
}

static void open_chunk(struct heap *h, int32_t depth, uint64_t first, uint64_t segments)
{
    mark_segments(h, first, segments, true);
    h->rest_from = first + segments;
    h->chunk[first].segments = (uint32_t)segments;
    h->chunk[first].made = load_acquire(window_consumed(h->window, first), CONSUMED);
    fill_chunk(h, depth, first);
}

/* Only a new maximum is worth finding out what is consumed by now.  While a program makes more and more, each buffer is
 * one: so a look at all chunks is paid for by buffers made since the last, and the maximum is too high by no more than
 * these. */
static void note_maximum(struct heap *h, int32_t depth)
{
    enum { LOOKS_A_BUFFER = 8 };
    const int64_t mine = h->open[depth];
    if (h->made_since_sweep * LOOKS_A_BUFFER >= (uint64_t)h->full_count + (uint64_t)h->depths_used) ptoi_heap_sweep(h);
    CHECK(h->open[depth] == mine); /* the new buffer is alive */
    (void)mine;
    if (h->used_bytes > h->used_bytes_max) h->used_bytes_max = h->used_bytes;
}

static bool has_room(const struct heap *h, int32_t depth, uint64_t size)
{
    const struct heap_chunk *c = h->open[depth] >= 0 ? &h->chunk[h->open[depth]] : NULL;
    return c && c->used_bytes + size <= c->segments * h->window->segment_bytes;
}

/* Note [shared chunks]: a depth without a chunk lays its buffer into that of a shallower one, if there is room behind
 * what lies there.  What comes and goes in the deeper one is held back then by what lives in the other, but no more
 * than a segment of it: when that is full the deeper depth has a chunk of its own. */
static int32_t find_lender(struct heap *h, int32_t depth, uint64_t size, bool any)
{
    enum { LEVELS = 8 }; /* of scopes that laid nothing */
    for (int32_t d = depth - 1; d >= 0 && d >= depth - LEVELS; d--) {
        const int32_t lender = h->open[d] >= 0 ? d : h->lender[d];
        if (h->open[lender] < 0) continue;
        struct heap_chunk *c = &h->chunk[h->open[lender]];
        if (c->segments > 1 && !any) return -1; /* it may be needed in one piece again */
        if (!h->checked_base && c->segments == 1 && is_consumed(h, (uint32_t)h->open[lender])) forget_buffers(h, c);
        return has_room(h, lender, size) ? lender : -1;
    }
    return -1;
}

/* The depth in whose chunk there is room; -1: there is none now. */
static int32_t find_room(struct heap *h, int32_t depth, uint64_t size)
{
    /* more than one a chunk filled, so that the queue of full chunks shrinks while they are consumed */
    enum { LOOK_AT = 4 };
    const uint64_t unit = h->window->segment_bytes;
    if (h->open[depth] >= 0 && is_consumed(h, (uint32_t)h->open[depth]) && !h->checked_base) {
        /* What was large enough for a large buffer, and is more than this one needs, would be held back by it, or be
         * cut in two. */
        if (h->chunk[h->open[depth]].segments == 1 || (h->chunk[h->open[depth]].segments - 1) * unit < size)
            empty_chunk(h, (uint32_t)h->open[depth]);
        else
            give_back_open(h, depth);
    }
    if (has_room(h, depth, size)) return depth;
    if (h->open[depth] < 0) {
        const int32_t lender = find_lender(h, depth, size, false);
        if (lender >= 0) return lender;
    }
    uint64_t segments = (size + unit - 1) / unit;
    recycle(h, LOOK_AT);
    int64_t first = find_run(h, segments);
    if (first < 0) {
        ptoi_heap_sweep(h);
        first = find_run(h, segments);
    }
    if (first < 0) return find_lender(h, depth, size, true);
    close_chunk(h, depth);
    open_chunk(h, depth, (uint64_t)first, segments);
    return depth;
}

static __attribute__((noinline)) uint32_t try_all(struct heap *h, int32_t depth, uint64_t bytes, uint64_t *at)
{
    const uint64_t size = size_of(h, bytes);
    depth = make_depth_ready(h, depth);
    const int32_t room = find_room(h, depth, size);
    if (room < 0) return 0;
    h->lender[depth] = room;
    const uint32_t buffer = ptoi_heap_lay(h, room, size, at);
    if (h->checked_base) {
        h->guard_at[buffer - 1] = *at + bytes;
        ptoi_guard_write(h->checked_base + *at + bytes, buffer);
    }
    if (h->used_bytes > h->used_bytes_max) note_maximum(h, room);
    return buffer;
}

/* What most allocations find is done here: a chunk of one segment that has room, or is empty again, and no new
 * maximum. */
uint32_t ptoi_heap_try_alloc(struct heap *h, int32_t depth, uint64_t bytes, uint64_t *at)
{
    const uint64_t size = (bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    if (depth >= h->depths_ready || h->checked_base || h->open[depth] < 0) return try_all(h, depth, bytes, at);
    struct heap_chunk *c = &h->chunk[h->open[depth]];
    if (c->segments > 1) return try_all(h, depth, bytes, at);
    if (is_consumed(h, (uint32_t)h->open[depth])) forget_buffers(h, c);
    if (c->used_bytes + size > h->window->segment_bytes || h->used_bytes + size > h->used_bytes_max)
        return try_all(h, depth, bytes, at);
    return ptoi_heap_lay(h, depth, size, at);
}

/* ---- compaction -------------------------------------------------------------------------------------------------- */

static uint32_t chunk_of(const struct heap *h, const struct heap_piece *p)
{
    return *window_chunk(h->window, p->buffer);
}

/* Says where everything goes: a chunk keeps its buffers; or, together, all share one, which wastes nothing where a
 * segment is more than a granule, but is free again only as a whole.  The first byte behind all, where the next chunk,
 * or together the next buffer, begins. */
static uint64_t lay(const struct heap *h, struct heap_piece *piece, uint32_t count, bool together)
{
    const uint64_t unit = h->window->segment_bytes;
    uint64_t at = 0;
    uint32_t chunk = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct heap_piece *p = &piece[i];
        if (i > 0 && !together && chunk_of(h, p - 1) != chunk_of(h, p)) {
            at = round_to(at, unit);
            chunk = (uint32_t)(at / unit);
        }
        p->chunk = chunk;
        p->to = at;
        at += size_of(h, p->bytes);
    }
    return together ? at : round_to(at, unit);
}

/* A checked run: the memory between live buffers is checked and filled. */
static void check_dead(struct heap *h, const struct heap_piece *piece, uint32_t count)
{
    for (uint64_t s = 0, i = 0; s < h->window->segment_count; s++) {
        const struct heap_chunk *c = &h->chunk[s];
        if (c->segments == 0) continue;
        for (uint32_t b = c->first_buffer; b; b = h->next_buffer[b - 1]) check_guard(h, b);
        uint64_t at = s * h->window->segment_bytes;
        const uint64_t end = at + c->used_bytes;
        for (; i < count && piece[i].from < end; i++) {
            memset(h->checked_base + at, PTOI_POISON, piece[i].from - at);
            at = piece[i].from + size_of(h, piece[i].bytes);
        }
        memset(h->checked_base + at, PTOI_POISON, end - at);
    }
}

void ptoi_heap_move(struct heap *h, char *base, const struct heap_piece *p)
{
    const uint64_t size = h->checked_base ? size_of(h, p->bytes) : p->bytes;
    memmove(base + p->to, base + p->from, size);
    if (!h->checked_base) return;
    const uint64_t left = p->to + size > p->from ? p->to + size : p->from;
    memset(base + left, PTOI_POISON, p->from + size - left);
    h->guard_at[p->buffer - 1] = p->to + p->bytes;
}

/* No chunk is left; the numbers of what has died are free. */
static void forget_chunks(struct heap *h, const struct heap_piece *piece, uint32_t count)
{
    const uint32_t alive = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) *window_chunk(h->window, piece[i].buffer) = alive;
    for (uint64_t s = 0; s < h->window->segment_count; s++) {
        struct heap_chunk *c = &h->chunk[s];
        if (c->segments == 0) continue;
        for (uint32_t b = c->first_buffer, next; b; b = next) {
            next = h->next_buffer[b - 1];
            if (*window_chunk(h->window, b) == alive) continue;
            h->next_buffer[b - 1] = h->free_buffer;
            h->free_buffer = b;
        }
        *c = (struct heap_chunk){.made = c->made};
    }
    memset(h->taken, 0, (h->window->segment_count / 64 + 1) * sizeof *h->taken);
    for (int32_t d = 0; d < h->depths_used; d++) h->open[d] = -1;
    h->full_count = 0;
    h->used_bytes = 0;
}

/* Note [together]: chunks that are kept are free one by one, but their ends are waste, and each compaction costs a look
 * at all that lives.  So they are kept where at least half of the room remains that all together would leave: then the
 * next compaction is as far away as it can be, but for a factor of two. */
static bool lay_all(const struct heap *h, struct heap_piece *piece, uint32_t count, uint64_t fresh, bool *together)
{
    const uint64_t unit = h->window->segment_bytes, capacity = h->window->segment_count * unit;
    const uint64_t least = lay(h, piece, count, true), kept = lay(h, piece, count, false);
    *together = kept + round_to(fresh, unit) > capacity || 2 * (capacity - kept) < capacity - least;
    if (*together) lay(h, piece, count, true);
    return least + fresh <= capacity;
}

bool ptoi_heap_compact(struct heap *h, struct heap_piece *piece, uint32_t count, int32_t depth, uint64_t bytes)
{
    const uint64_t unit = h->window->segment_bytes, fresh = size_of(h, bytes),
                   capacity = h->window->segment_count * unit;
    uint32_t alive = 0;
    bool together;
    for (uint64_t s = 0; s < h->window->segment_count; s++) /* [CONSUMED] */
        if (h->chunk[s].segments > 0) alive += h->chunk[s].made - load_acquire(window_consumed(h->window, s), CONSUMED);
    if (alive != count) return false; /* something is still in flight */
    depth = make_depth_ready(h, depth);
    if (!lay_all(h, piece, count, fresh, &together)) return false;
    if (h->checked_base) check_dead(h, piece, count);
    forget_chunks(h, piece, count);
    for (uint32_t i = 0; i < count;) {
        const uint32_t first = piece[i].chunk;
        struct heap_chunk *c = &h->chunk[first];
        c->made = load_acquire(window_consumed(h->window, first), CONSUMED);
        for (; i < count && piece[i].chunk == first; i++) {
            c->made++;
            c->used_bytes = piece[i].to + size_of(h, piece[i].bytes) - first * unit;
            *window_chunk(h->window, piece[i].buffer) = first;
            h->next_buffer[piece[i].buffer - 1] = c->first_buffer;
            c->first_buffer = piece[i].buffer;
        }
        h->used_bytes += c->used_bytes;
        const uint64_t end = first * unit + c->used_bytes + (together ? fresh : 0); /* the new buffer goes there */
        CHECK(end <= capacity);
        c->segments = (uint32_t)(round_to(end, unit) / unit - first);
        mark_segments(h, first, c->segments, true);
        if (together)
            fill_chunk(h, depth, first);
        else
            h->full[(h->full_first + h->full_count++) % (uint32_t)h->window->segment_count] = first;
    }
    return true;
}

uint64_t ptoi_heap_largest_free(const struct heap *h)
{
    uint64_t run = 0, longest = 0;
    for (uint64_t s = 0; s < h->window->segment_count; s++) {
        run = is_taken(h, s) ? 0 : run + 1;
        if (run > longest) longest = run;
    }
    return longest * h->window->segment_bytes;
}

bool ptoi_heap_is_valid(const struct heap *h)
{
    uint64_t used = 0, segments = 0, taken = 0;
    for (uint64_t s = 0; s < h->window->segment_count; s++) {
        taken += is_taken(h, s);
        const struct heap_chunk *c = &h->chunk[s];
        if (c->segments == 0) continue;
        if (c->used_bytes > c->segments * h->window->segment_bytes) return false;
        used += c->used_bytes;
        segments += c->segments;
    }
    return used == h->used_bytes && segments == taken;
}
