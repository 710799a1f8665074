/* place.c - see place.h. */
#include "place.h"
#include "block.h"
#include "shared/check.h"

struct place *ptoi_place_find(const struct block *k, const struct holder *h)
{
    struct place *p = k->places;
    while (p && p->holder != h) p = p->next_on_block;
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
        if (p == but) {
            at = &p->next_on_block;
            continue;
        }
        *at = p->next_on_block;
        p->next_on_block = NULL;
        p->block = NULL;
    }
    if (!k->places) k->is_stale = false; /* nobody has anything newer */
}
