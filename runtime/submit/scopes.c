/* scopes.c - scopes of the program are opened and closed.
 *
 * Owner      the orchestrator.
 * Invariant  a scope that is closed owns nothing.
 * Blocks     while the ring of events is full.
 * Tests      test/runtime/test_runtime.c, test_refused.c, test_hazards.c */
#include "parts.h"
#include "record/record.h"
#include "shared/references.h"

PTOScope ptoi_orch_scope_begin(struct orchestrator *o)
{
    if (ptoi_orch_has_failed(o)) return PTO_SCOPE_CURRENT;
    if (!ptoi_scope_push(&o->scopes, *o->site)) {
        ptoi_orch_fail(o, PTO_ERR_RECURSION, "scopes are nested deeper than %d", o->scopes.capacity - 1);
        return PTO_SCOPE_CURRENT;
    }
    o->run.stats.scopes++;
    return ptoi_scope_token(&o->scopes, o->scopes.depth - 1);
}

/* The newest buffer of the innermost scope, which ends with all that it holds.  false: nothing has changed; it is not
 * hidden, or is not the newest of its chunk. */
static inline bool try_end_hidden(struct orchestrator *o, struct scope *s, uint32_t buffer)
{
    struct buffer_record *const r = ptoi_record(&o->scopes, buffer);
    if (!r->is_hidden || o->buffers.moved > 0 || !ptoi_heap_take_back(&o->buffers.heap, buffer, r->bytes)) return false;
    r->is_hidden = false;
    s->first = ptoi_scope_forget(&o->scopes, buffer);
    if (s->first) ptoi_record(&o->scopes, s->first)->previous = 0;
    return true;
}

static void close_scope(struct orchestrator *o) /* model: CLOSE_SCOPE */
{
    struct scope *s = &o->scopes.scope[o->scopes.depth - 1];
    /* no other role is notified, and the list need not be right in between */
    if (o->inlined.is_active && o->buffers.moved == 0 && !o->buffers.outliving) {
        for (uint32_t b = s->first; b;) {
            const uint32_t gone = b;
            b = ptoi_scope_forget(&o->scopes, b);
            ptoi_references_drop(o->window, o->inlined.refs, gone);
        }
        s->first = 0;
    } else {
        while (s->first)
            if (!o->buffers.has_hidden || !try_end_hidden(o, s, s->first)) ptoi_orch_let_go(o, s->first);
    }
    if (o->flow.recorder && s->node != 0)
        ptoi_scope_tree_close(&o->flow.recorder->scopes, s->node, s[-1].node, ptoi_record_now(o->flow.recorder));
    o->scopes.held -= s->held;
    o->scopes.depth--;
}

PTOStatus ptoi_orch_scope_end(struct orchestrator *o)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status); /* the end of the run closes what is open */
    if (o->scopes.depth <= 1)
        return ptoi_orch_fail(o, PTO_ERR_STATE, "pto_scope_end without a scope that pto_scope_begin opened");
    if (o->buffers.outliving) ptoi_outliving_scope_ends(o->buffers.outliving, &o->scopes);
    close_scope(o);
    return PTO_OK;
}

void ptoi_orch_unwind(struct orchestrator *o, int32_t depth)
{
    while (o->scopes.depth > depth) close_scope(o);
}
