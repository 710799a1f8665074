/* gather.c - gaps in the heap are no reason to fail: what lives is moved together.
 *
 * Idea       when a buffer finds no room and nothing is in flight, what the open scopes hold is moved to one side of the heap.  The
 *            program goes on with the addresses that it knows: from then on they are names.  A buffer keeps its name for its life; a
 *            new one, too, has its address as its name, unless that is another's: then it has one in a range without memory.
 *            Where a buffer lies is looked up when a task is submitted, and when the program looks at an element.
 * Owner      the orchestrator.
 * Invariant  names of living buffers do not overlap; moved counts those whose name is not where they lie; none: an address is an address.
 *            What the program reaches without asking (arrays of scalars) stays.
 * Blocks     never.
 * Tests      test/runtime/test_gather.c, test/lit/memory/need.test */
#include "orchestrator_parts.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Names are given lowest first.  First fit needs less than log2(buffers) times what is alive at once, wherever they come and go. */
enum { NAMES_PER_BYTE = 64 };

static bool reserve_names(struct orchestrator *o)
{
    if (o->names_bytes > 0) return true;
    uint64_t bytes;
    if (__builtin_mul_overflow(o->window->heap_bytes, NAMES_PER_BYTE, &bytes)) return false;
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return false;
    o->names_at = (uintptr_t)p - (uintptr_t)o->heap_base; /* modulo 2^64, as every name */
    o->names_bytes = bytes;
    return true;
}

void ptoi_gather_free(struct orchestrator *o)
{
    if (o->names_bytes > 0) munmap(o->heap_base + o->names_at, o->names_bytes);
}

/* The living buffer whose name meets [at, at + bytes), or NULL. */
static const struct buffer_record *find_name(const struct orchestrator *o, uint64_t at, uint64_t bytes)
{
    for (int32_t i = 0; i < o->scopes.depth; i++)
        for (uint32_t b = o->scopes.scope[i].first; b; b = ptoi_record(&o->scopes, b)->next) {
            const struct buffer_record *r = ptoi_record(&o->scopes, b);
            if (r->at - at < bytes || at - r->at < r->bytes) return r;
        }
    return NULL;
}

uint64_t ptoi_gather_choose(struct orchestrator *o, uint64_t place, uint64_t bytes)
{
    if (!find_name(o, place, bytes)) return place;
    uint64_t name = o->names_at;
    for (const struct buffer_record *r; (r = find_name(o, name, bytes));) name = r->at + (r->bytes + PTO_GRANULE - 1) / PTO_GRANULE * PTO_GRANULE;
    CHECK(name - o->names_at + bytes <= o->names_bytes);
    return name;
}

uint32_t ptoi_gather_find(const struct orchestrator *o, uint64_t offset)
{
    const struct buffer_record *r = find_name(o, offset, 1);
    return r ? (uint32_t)(r - o->scopes.record) + 1 : 0;
}

void *ptoi_orch_where(const struct orchestrator *o, void *name)
{
    if (o->moved == 0 || !ptoi_orch_is_in_heap(o, name)) return name;
    const uint32_t buffer = ptoi_gather_buffer(o, (uint64_t)((uintptr_t)name - (uintptr_t)o->heap_base));
    if (buffer == 0) return name;
    const struct buffer_record *r = ptoi_record(&o->scopes, buffer);
    return (char *)name + (r->place - r->at);
}

static int by_address(const void *a, const void *b)
{
    const struct heap_piece *p = a, *q = b;
    return p->from < q->from ? -1 : p->from > q->from;
}

/* All that lives: nothing is in flight, so the open scopes own it. */
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
            piece[(*count)++] = (struct heap_piece){.buffer = b, .stays = r->stays, .from = r->place, .bytes = r->bytes};
        }
    if (piece) qsort(piece, n, sizeof *piece, by_address);
    return piece;
}

bool ptoi_gather(struct orchestrator *o, int32_t depth, uint64_t bytes)
{
    if (!o->may_move || o->heap.checked_base || o->is_lost || ptoi_status(o->outcome) != PTO_OK) return false;
    uint32_t count;
    struct heap_piece *piece = pieces(o, &count);
    ptoi_short_close(&o->now); /* for good: from now on names are looked up */
    const bool fits = piece && reserve_names(o) && ptoi_heap_gather(&o->heap, piece, count, depth, bytes);
    for (uint32_t i = 0; fits && i < count; i++) {
        const struct heap_piece *p = &piece[i];
        struct buffer_record *r = ptoi_record(&o->scopes, p->buffer);
        if (p->to == p->from) continue;
        memmove(o->heap_base + p->to, o->heap_base + p->from, p->bytes);
        o->moved += (p->to != r->at) - (r->place != r->at);
        r->place = p->to;
        o->moved_bytes += (int64_t)p->bytes;
    }
    free(piece);
    return fits;
}
