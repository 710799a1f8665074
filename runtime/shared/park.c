/* park.c - see park.h. */
#include "park.h"
#include "system.h"

void ptoi_park_init(struct parker *p)
{
    store_relaxed(&p->woken, 0); /* relaxed: no other thread knows it yet */
    store_relaxed(&p->sleeping, 0);
}

void ptoi_park_wait(struct parker *p, int64_t ns)
{
    while (swap_acq_rel(&p->woken, 0, WOKEN) == 0)
        if (!ptoi_sleep_on(&p->woken, 0, ns, false)) break;
    ptoi_park_cancel(p);
}

void ptoi_park_wake(struct parker *p)
{
    if (swap_acq_rel(&p->woken, 1, WOKEN) == 0) ptoi_wake_on(&p->woken, false);
}

void ptoi_bell_wake(struct bell *b)
{
    if (load_seq(&b->sleeping, BELL)) ptoi_wake_on(&b->rung, true); /* [BELL] */
}

void ptoi_bell_wait(struct bell *b, uint32_t heard, int64_t ns)
{
    store_seq(&b->sleeping, 1, BELL); /* [BELL] */
    PTO_LABEL(BELL);
    if (load_seq(&b->rung, BELL) == heard) ptoi_sleep_on(&b->rung, heard, ns, true);
    store_relaxed(&b->sleeping, 0); /* relaxed: a redundant wake is harmless */
}
