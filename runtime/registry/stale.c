/* stale.c - see stale.h. */
#include "stale.h"
#include "shared/check.h"

enum separation ptoi_stale_save(struct buffer *b)
{
    struct block *k = b->block;
    if (!k->is_stale) return SEPARATE_READY;
    if (k->is_saved) {
        ptoi_registry_wait();
        return SEPARATE_AGAIN;
    }
    struct place *p = k->places;
    CHECK(p != NULL);
    k->is_saved = true;
    k->readers++;                  /* no writer begins */
    ptoi_buffer_note(&b->pins, 1); /* b stays on k */
    p->savers++;
    ptoi_registry_unlock();
    const bool is_fine = p->holder->save(p->holder, p, k->address, k->bytes);
    ptoi_registry_lock();
    p->savers--;
    ptoi_buffer_note(&b->pins, -1);
    k->readers--;
    k->is_saved = k->is_stale = false;
    if (!is_fine) {
        k->is_undefined = true;
        ptoi_places_leave(k, NULL);
    }
    ptoi_registry_changed();
    return is_fine ? SEPARATE_AGAIN : SEPARATE_LOST;
}

/* p leaves its block; false: the lock was left before that, look again. */
static bool leave(struct place *p)
{
    struct block *k = p->block;
    if (p->savers > 0) {
        ptoi_registry_wait();
        return false;
    }
    if (k && k->is_stale && !k->places->next_on_block) { /* nobody else has these elements */
        struct buffer *b = k->buffers;                   /* on a list: it has a reference */
        ptoi_buffer_retain(b);
        ptoi_stale_save(b);
        ptoi_registry_unlock();
        ptoi_buffer_release(b);
        ptoi_registry_lock();
        return false;
    }
    for (struct place **at = k ? &k->places : NULL; at && *at; at = &(*at)->next_on_block) {
        if (*at != p) continue;
        *at = p->next_on_block;
        p->next_on_block = NULL;
        p->block = NULL;
        break;
    }
    return true;
}

void ptoi_places_end(struct holder *h)
{
    ptoi_registry_lock();
    for (struct place *p = h->places; p;) {
        const bool is_over = !p->block && p->savers == 0;
        if (!is_over) leave(p);
        p = is_over ? p->older : h->places;
    }
    ptoi_registry_unlock();
}

struct place *ptoi_place_evict(struct holder *h)
{
    for (;;) {
        struct place *oldest = NULL;
        for (struct place *p = h->places; p; p = p->older)
            if (!p->is_used && p->savers == 0 && (!oldest || oldest->block || !p->block)) oldest = p;
        if (!oldest || leave(oldest)) return oldest;
    }
}
