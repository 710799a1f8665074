/* overlap.c - see overlap.h. */
#include "overlap.h"

static struct block *listed; /* guarded */

struct buffer *ptoi_overlap_detached(const struct block *k)
{
    struct buffer *b = k->buffers;
    while (b && (!b->is_detached || ptoi_buffer_is_known(b))) b = b->next_on_block;
    return b;
}

static bool matters(const struct block *k)
{
    if (!k->is_foreign) return false; /* a block of memory on a device is none: its address is ours */
    return k->readers > 0 || k->writers > 0 || k->map_count > 0 || ptoi_overlap_detached(k);
}

void ptoi_overlap_note(struct block *k)
{
    const bool is_listed = matters(k);
    if (is_listed == k->is_listed) return;
    k->is_listed = is_listed;
    if (is_listed) {
        k->next_listed = listed;
        listed = k;
        return;
    }
    struct block **at = &listed;
    while (*at != k) at = &(*at)->next_listed;
    *at = k->next_listed;
}

static bool overlap(const struct block *a, const struct block *b)
{
    const char *const x = a->address, *const y = b->address;
    return x < y + b->bytes && y < x + a->bytes;
}

struct block *ptoi_overlap_next(const struct block *k, const struct block *at)
{
    if (!k->is_foreign) return NULL;
    struct block *next = at == k ? listed : at->next_listed;
    while (next && (next == k || !overlap(next, k))) next = next->next_listed;
    return next;
}
