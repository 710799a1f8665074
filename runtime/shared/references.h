/* references.h - the references to a buffer: one of the scope that owns it, one of each task that has not completed.
 *
 * Owner      the scheduler; the orchestrator while tasks are executed inline, as it is the scheduler then.
 * Invariant  a buffer is counted as consumed once, when its last reference is dropped.
 * Tests      test/runtime/test_heap.c, test_inline.c */
#ifndef PTOI_REFERENCES_H
#define PTOI_REFERENCES_H
#include "check.h"
#include "window.h"

/* refs: by buffer - 1. */
static inline void ptoi_references_open(uint32_t *refs, uint32_t buffer)
{
    CHECK(refs[buffer - 1] == 0);
    refs[buffer - 1] = 1; /* of the owning scope */
}

static inline void ptoi_references_drop(const struct window *w, uint32_t *refs, uint32_t buffer) /* model: CONSUME */
{
    CHECK(refs[buffer - 1] > 0);
    if (--refs[buffer - 1] > 0) return;
    _Atomic uint32_t *consumed = window_consumed(w, *window_chunk(w, buffer));
    PTO_LABEL(CONSUMED);
    store_release(consumed, load_relaxed(consumed) + 1, CONSUMED); /* [CONSUMED]; relaxed: our own word */
}

#endif
