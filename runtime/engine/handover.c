/* handover.c - see handover.h. */
#include "handover.h"
#include "shared/processors.h"

/* APART: submits between two looks.  VAIN: looks at a word that does not change.  REST: submits without a look, after a
 * result or VAIN looks.  A probe begins GAP_NS after the last one at the earliest, or an eighth of it where that was in
 * vain, and takes PROBE_NS at most. */
#ifdef PTO_TINY
enum { APART = 1, VAIN = 2, REST = 4, GAP_NS = 0, PROBE_NS = 100000 }; /* as often as can be */
#else
enum { APART = 4, VAIN = 16, REST = 1024, GAP_NS = 8000000, PROBE_NS = 250000 };
#endif

void ptoi_handover_init(struct handover *h, bool is_on)
{
#ifdef PTO_SCHEDULED
    is_on = false; /* a search has no clock */
#endif
    h->is_on = is_on && ptoi_ticks_are_steady();
    h->rate = ptoi_tick_begin();
    h->rest = APART;
}

/* The counter when all before is done, and nothing after has begun. */
static inline int64_t ticks_in_order(void)
{
#if defined __x86_64__
    __builtin_ia32_lfence();
    const int64_t ticks = ptoi_ticks();
    __builtin_ia32_lfence();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
    const int64_t ticks = ptoi_ticks();
    __asm__ volatile("isb" ::: "memory");
#else
    const int64_t ticks = ptoi_ticks();
#endif
    return ticks;
}

static int64_t ticks_of_load(const _Atomic uint64_t *word, uint64_t *value)
{
    const int64_t since = ticks_in_order();
    *value = load_relaxed(word); /* relaxed: how long it takes matters */
    return ticks_in_order() - since;
}

/* The median in ns, when there are enough; else 0. */
static int64_t note(struct handover *h, int64_t ticks)
{
    int at = h->count++;
    for (; at > 0 && h->took[at - 1] > ticks; at--) h->took[at] = h->took[at - 1];
    h->took[at] = ticks;
    if (h->count < HANDOVER_LOOKS) return 0;
    h->count = 0;
    ptoi_tick_end(&h->rate);
    const int64_t ns = (int64_t)((double)h->took[HANDOVER_LOOKS / 2] * h->rate.ns_per_tick);
    return ns > 0 ? ns : 1;
}

/* false: the word has not changed. */
static bool look_again(struct handover *h, const _Atomic uint64_t *word, int64_t *ns)
{
    uint64_t value, same;
    const int64_t ticks = ticks_of_load(word, &value);
    if (value == h->marked) return false;
    *ns = note(h, ticks - ticks_of_load(word, &same)); /* the second look is only what a look costs */
    h->marked = same;
    return true;
}

static void rest(struct handover *h)
{
    h->rest = REST;
    h->vain = 0;
    h->is_marked = false;
}

void ptoi_handover_look(struct handover *h, const _Atomic uint64_t *word, int64_t *ns)
{
    *ns = 0;
    h->rest = APART;
    if (!h->is_marked) {
        h->marked = load_relaxed(word); /* relaxed: that it changes matters */
        h->is_marked = true;
    } else if (look_again(h, word, ns)) {
        h->vain = 0;
        if (*ns > 0) rest(h);
    } else if (++h->vain == VAIN) {
        h->worker++;
        rest(h);
    }
}

static void end_probe(struct handover *h, bool in_vain)
{
    h->is_probing = false;
    if (in_vain)
        h->worker++, h->gap_ns = GAP_NS / 8;
    else
        h->gap_ns = GAP_NS;
    store_relaxed(&h->wanted, 0); /* relaxed: later is fine */
}

bool ptoi_handover_doubts(struct handover *h, int64_t *ns)
{
    *ns = 0;
    if (!h->is_on) return false;
    const int64_t now = ptoi_ticks();
    const double passed = (double)(now - h->probed_at) * h->rate.ns_per_tick;
    if (h->is_probing) {
        look_again(h, &h->beat, ns);
        if (*ns > 0 || passed > PROBE_NS) end_probe(h, *ns == 0);
        return false;
    }
    if (passed < (double)h->gap_ns) return false;
    h->is_probing = true;
    h->is_marked = false;
    h->probed_at = now;
    h->count = 0;
    h->marked = load_relaxed(&h->beat);                  /* relaxed: that it changes matters */
    store_relaxed(&h->wanted, ptoi_processor_now() + 2); /* relaxed: nothing is read for it */
    return true;
}

bool ptoi_handover_is_wanted(const struct handover *h)
{
    const int wanted = load_relaxed(&h->wanted); /* relaxed: a hint; 0 where h is off */
    return wanted > 1 && wanted - 2 != ptoi_processor_now();
}
