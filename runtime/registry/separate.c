/* separate.c - see separate.h. */
#include "separate.h"
#include "overlap.h"
#include "stale.h"
#include "shared/check.h"
#include <string.h>

static bool is_movable(const struct buffer *b) { return !ptoi_buffer_is_known(b) && load_relaxed(&b->pins) == 0; }

/* The owner of the memory knows its address, also when the tensor of it is released. */
static bool is_on_array(const struct buffer *b)
{
    return b->is_detached && b->block->is_foreign && !b->block->may_move && !ptoi_buffer_is_known(b);
}

/* The buffer that must leave the block; NULL: none. */
static struct buffer *leaver_of(struct buffer *b, bool for_writing)
{
    const struct block *k = b->block;
    if (is_on_array(b)) return b;
    if (!ptoi_block_is_shared(k)) return for_writing && k->is_read_only ? b : NULL;
    struct buffer *known = NULL, *other = NULL;
    for (struct buffer *at = k->buffers; at; at = at->next_on_block) {
        if (at == b) continue;
        other = at;
        if (ptoi_buffer_is_known(at)) known = at;
    }
    if (!for_writing && !known) return NULL;
    if (ptoi_buffer_is_known(b) && !k->is_read_only) return other;
    return b;
}

static void move(struct buffer *b, struct block *to)
{
    to->is_undefined = b->block->is_undefined;
    ptoi_block_remove(b);
    ptoi_block_put(to, b);
    b->is_detached = false;
}

/* The leaver gets a block of its own, with its elements. */
static enum separation move_out(struct buffer *leaver)
{
    struct block *from = leaver->block;
    if (!is_movable(leaver) || from->writers > 0 || from->writing_maps > 0) return SEPARATE_WAIT;
    const enum separation saved = ptoi_stale_save(leaver);
    if (saved != SEPARATE_READY) return saved;
    from->readers++; /* no writer begins, and from stays: leaver lies on it */
    ptoi_overlap_note(from);
    ptoi_buffer_note(&leaver->pins, 1);
    ptoi_buffer_retain(leaver);
    ptoi_registry_unlock();
    struct block *to = ptoi_block_new(from->pool, from->bytes);
    if (to) memcpy(to->address, from->address, (size_t)from->bytes);
    ptoi_registry_lock();
    from->readers--;
    ptoi_buffer_note(&leaver->pins, -1);
    const bool is_moved = to && leaver->block == from && is_movable(leaver);
    if (is_moved) move(leaver, to);
    ptoi_overlap_note(from);
    const bool is_empty = !from->buffers;
    if (is_empty) ptoi_places_leave(from, NULL);
    ptoi_registry_changed();
    ptoi_registry_unlock();
    if (is_empty) ptoi_block_free(from);
    if (to && !is_moved) ptoi_block_free(to);
    ptoi_buffer_release(leaver);
    ptoi_registry_lock();
    return to ? SEPARATE_AGAIN : SEPARATE_NOMEM;
}

enum separation ptoi_separate(struct buffer *b, bool for_writing)
{
    struct buffer *leaver = leaver_of(b, for_writing);
    if (!leaver) return SEPARATE_READY;
    return leaver == b && ptoi_buffer_is_known(b) ? SEPARATE_STUCK : move_out(leaver);
}

enum separation ptoi_separate_overlapping(const struct block *k)
{
    for (struct block *other = ptoi_overlap_next(k, k); other; other = ptoi_overlap_next(k, other)) {
        struct buffer *b = ptoi_overlap_detached(other);
        if (b) return move_out(b);
    }
    return SEPARATE_READY;
}
