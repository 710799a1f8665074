/* place.c - see place.h. */
#include "place.h"
#include "block.h"
#include "memory/slab.h"
#include "shared/check.h"

static struct holder *open_holders; /* the latest first */

static bool is_of(const struct place *p, const struct holder *h)
{
    return p->holder ? p->holder == h : p->block->device == h->device;
}

struct place *ptoi_place_find(const struct block *k, const struct holder *h)
{
    struct place *p = k->places;
    while (p && !is_of(p, h)) p = p->next_on_block;
    return p;
}

static void unlink_place(struct place *p)
{
    if (p->newer)
        p->newer->older = p->older;
    else if (p->holder->places == p)
        p->holder->places = p->older;
    if (p->older) p->older->newer = p->newer;
    p->newer = p->older = NULL;
}

void ptoi_place_touch(struct place *p)
{
    struct holder *const h = p->holder;
    unlink_place(p);
    p->older = h->places;
    if (p->older) p->older->newer = p;
    h->places = p;
}

void ptoi_place_forget(struct place *p)
{
    CHECK(!p->block && p->savers == 0);
    unlink_place(p);
}

void ptoi_place_put(struct place *p, struct block *k)
{
    CHECK(!p->block && !ptoi_place_find(k, p->holder));
    p->block = k;
    p->next_on_block = k->places;
    k->places = p;
}

void ptoi_places_leave(struct block *k, const struct place *but)
{
    for (struct place **at = &k->places; *at;) {
        struct place *p = *at;
        if (p == but || p == k->foreign) {
            at = &p->next_on_block;
            continue;
        }
        *at = p->next_on_block;
        p->next_on_block = NULL;
        p->block = NULL;
    }
    if (!k->places) k->is_stale = false; /* nobody has anything newer */
}

/* ---- foreign memory ---------------------------------------------------------------------------------------------- */

static struct slab foreign_places = SLAB_OF(struct place);

void ptoi_holder_open(struct holder *h)
{
    h->next_open = open_holders;
    open_holders = h;
}

void ptoi_holder_close(struct holder *h)
{
    struct holder **at = &open_holders;
    while (*at && *at != h) at = &(*at)->next_open;
    if (*at) *at = h->next_open;
}

struct holder *ptoi_place_holder(const struct place *p)
{
    struct holder *h = p->holder ? p->holder : open_holders;
    while (h && !is_of(p, h)) h = h->next_open;
    return h;
}

bool ptoi_place_attach(struct block *k, void *memory)
{
    struct place *p = ptoi_slab_take(&foreign_places);
    if (!p) return false;
    *p = (struct place){.memory = memory, .capacity = k->bytes};
    p->block = k;
    k->places = k->foreign = p;
    k->is_stale = true;
    return true;
}

void ptoi_place_end(struct place *p) { ptoi_slab_give(&foreign_places, p); }
