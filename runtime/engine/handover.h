/* handover.h - how long a line of memory takes from a worker's processor to the orchestrator's, measured while the
 * program runs: what handing a task over costs depends on it (grain.h, Note [latency]).
 *
 * Idea       Note [measured].
 * Owner      the orchestrator, but for `beat`.
 * Blocks     never.
 * Tests      test/runtime/test_handover.c */
#ifndef PTOI_HANDOVER_H
#define PTOI_HANDOVER_H
#include "record/ticks.h"
#include "shared/atomics.h"
#include <stdbool.h>

/* Note [measured]: on one machine a line takes 25 ns from one processor to another, on another 150, and a virtual
 * machine may change from the one to the other at any time, as its processors are moved.  So the orchestrator measures
 * now and then how long it takes to load a word that a worker has just written.  The median of a few looks counts.
 * While tasks are deferred, the word is the counter of a worker's lane.  A look counts if the word has changed since
 * the last look, and the orchestrator has not read it between: then the line comes from the worker's processor.
 * While all tasks are executed inline no worker writes anything.  Only where this might be wrong, because a kernel
 * takes a time for which another latency would decide otherwise, a worker is woken now and then, and writes a word for
 * as long as a few timed calls take: a probe.  A program without such kernels pays nothing. */
enum { HANDOVER_LOOKS = 7 };

struct handover {
    bool is_on;      /* constant: it is worth it, and there is a counter to measure with */
    bool is_marked;  /* the orchestrator saw the word with the value `marked`, and has not read it since */
    bool is_probing; /* a worker was asked to write `beat` */
    int32_t rest;    /* submits until the next look */
    int32_t vain;    /* looks at a word that had not changed, one after the other */
    int32_t count;   /* looks that counted */
    uint32_t worker; /* which one to look at or to wake: another after each attempt without a result */
    uint64_t marked;
    int64_t probed_at; /* ticks, when the last probe began */
    int64_t gap_ns;    /* from then to the next one */
    int64_t took[HANDOVER_LOOKS];
    struct tick_rate rate;
    /* 0: no probe is on; else the orchestrator's processor, + 2.  W orchestrator, R workers, relaxed. */
    _Alignas(PTO_CACHELINE) _Atomic int wanted;
    /* W the worker that was woken, R orchestrator, relaxed: that it changes is all. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t beat;
};

/* *h is zero. */
void ptoi_handover_init(struct handover *h, bool is_on);

/* ---- called by the orchestrator; *ns is the latency where it is known anew, else 0 ---- */

/* While tasks are deferred, before every submit: is it time to look? */
static inline bool ptoi_handover_is_due(struct handover *h) { return h->is_on && --h->rest <= 0; }
/* Looks at that word. */
void ptoi_handover_look(struct handover *h, const _Atomic uint64_t *word, int64_t *ns);
/* It may read the word now. */
static inline void ptoi_handover_unmark(struct handover *h) { h->is_marked = false; }
/* A task was executed inline that might better be handed over.  true: a probe begins, so a worker has to be woken. */
bool ptoi_handover_doubts(struct handover *h, int64_t *ns);

/* ---- called by a worker that was woken ---- */

/* Is there a probe, on another processor than this one? */
bool ptoi_handover_is_wanted(const struct handover *h);
/* false: the probe is over. */
static inline bool ptoi_handover_beat(struct handover *h)
{
    store_relaxed(&h->beat, load_relaxed(&h->beat) + 1); /* relaxed: see there */
    return load_relaxed(&h->wanted) != 0;                /* likewise */
}

#endif
