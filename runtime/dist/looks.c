/* looks.c - see looks.h. */
#include "looks.h"
#include "shared/system.h"

enum {
    YIELDS = 50,
    LATE_NS = 1000000,
    LATEST_NS = 4 * LATE_NS,
    FAR_NS = 2000000,
    FARTHEST_NS = 8 * FAR_NS,
    PART = 4 /* of the time that a message has taken, by which it is found late */
};

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

void ptoi_looks_begin(struct looks *l, int64_t asks, bool is_watched, bool has_news)
{
    l->relies = asks > 0 || is_watched;
    l->is_often = asks * LATE_NS >= l->ns;
    if (has_news || l->relies || l->next >= LOOK_FAR)
        l->waited = 0;
    else
        l->waited += l->ns; /* also a late one, after which none asks */
    if (has_news)
        l->idle = 0;
    else
        l->idle = l->relies && l->idle < YIELDS ? YIELDS : l->idle + 1;
}

bool ptoi_looks_are_vain(const struct looks *l) { return l->idle >= YIELDS; }

static int64_t nap(const struct looks *l)
{
    const int64_t grown = ptoi_nap_ns(l->idle - YIELDS + 1), part = smaller(l->waited / PART, FAR_NS);
    return grown > part ? grown : part;
}

int64_t ptoi_looks_end(struct looks *l, bool any, bool is_in_flight, bool is_running)
{
    const enum look last = l->next;
    if (l->relies) {
        l->next = LOOK_LATE;
        l->ns = last == LOOK_LATE && l->is_often ? smaller(2 * l->ns, LATEST_NS) : LATE_NS;
    } else if (any || is_in_flight) {
        l->next = LOOK_SOON;
        l->ns = any || !ptoi_looks_are_vain(l) ? 0 : nap(l);
    } else if (is_running) {
        l->ns = last >= LOOK_FAR && l->ns > 0 ? smaller(2 * l->ns, FARTHEST_NS) : FAR_NS;
        l->next = l->ns > FAR_NS ? LOOK_FARTHEST : LOOK_FAR;
    } else {
        l->next = LOOK_FAR;
        l->ns = 0; /* nothing is in vain meanwhile */
        return PTO_FOR_EVER;
    }
    return l->ns;
}
