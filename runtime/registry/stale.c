/* stale.c - see stale.h. */
#include "stale.h"
#include "shared/check.h"
#include "shared/thread_error.h"

/* A place that can be saved: foreign memory only while a runtime has opened its device. */
static struct place *find_source(const struct block *k)
{
    struct place *p = k->places;
    while (p && !ptoi_place_holder(p)) p = p->next_on_block;
    return p;
}

enum separation ptoi_stale_save(struct buffer *b)
{
    struct block *k = b->block;
    if (!k->is_stale) return SEPARATE_READY;
    if (k->is_saved) {
        ptoi_registry_wait();
        return SEPARATE_AGAIN;
    }
    CHECK(k->places != NULL);
    struct place *p = find_source(k);
    if (!p) return SEPARATE_CLOSED;
    struct holder *h = ptoi_place_holder(p);
    k->is_saved = true;
    k->readers++;                  /* no writer begins */
    ptoi_buffer_note(&b->pins, 1); /* b stays on k */
    p->savers++;
    h->savers++;
    ptoi_registry_unlock();
    const bool is_fine = h->save(h, p, k->address, k->bytes);
    ptoi_registry_lock();
    h->savers--;
    p->savers--;
    ptoi_buffer_note(&b->pins, -1);
    k->readers--;
    k->is_saved = false;
    k->is_stale = !is_fine && k->foreign;
    if (!is_fine) {
        k->is_undefined |= !k->foreign;
        ptoi_places_leave(k, NULL);
    }
    ptoi_registry_changed();
    return is_fine ? SEPARATE_AGAIN : SEPARATE_LOST;
}

enum separation ptoi_stale_ask(const struct buffer *b, const struct holder *h)
{
    const struct block *k = b->block;
    return !k->foreign || (h && h->device == k->device) ? SEPARATE_READY : SEPARATE_FOREIGN;
}

PTOStatus ptoi_stale_refuse(const struct buffer *b, enum separation found, const char *call)
{
    const int device = b->block->device - 1;
    if (found == SEPARATE_LOST)
        return ptoi_thread_fail(PTO_ERR_DEVICE, "%s: the device that had the elements has failed", call);
    if (found == SEPARATE_CLOSED)
        return ptoi_thread_fail(PTO_ERR_DEVICE,
                                "%s: the elements are on device %d, and no runtime of this process has opened it", call,
                                device);
    if (found == SEPARATE_FOREIGN)
        return ptoi_thread_fail(PTO_ERR_UNSUPPORTED,
                                "%s: the memory is not ours, it is on device %d, and only a run there may write it: "
                                "pto_tensor_copy makes a tensor that the host may write",
                                call, device);
    return PTO_OK;
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
    ptoi_holder_close(h);
    while (h->savers > 0) ptoi_registry_wait();
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
