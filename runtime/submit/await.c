/* await.c - the program waits for the tasks that touch some memory.
 *
 * Owner      the orchestrator.
 * Blocks     until they have completed.
 * Tests      test/runtime/test_runtime.c, test_hazards.c, test/model */
#include "submission.h"
#include "record/record.h"
#include <pto/pto_program.h>

/* Producers of what is awaited, of which the last `left` were not seen to have completed. */
struct awaited {
    struct orchestrator *o;
    int32_t left;
};

static bool producers_done(void *arg)
{
    struct awaited *a = arg;
    ptoi_see_retired(a->o);
    for (; a->left > 0; a->left--)
        if (!ptoi_is_completed(a->o, a->o->edges.found.task_id[a->left - 1])) return false;
    return true;
}

/* Of the tensor, or NULL. */
static const char *awaited_name(const struct orchestrator *o, const struct submission *s)
{
    const uint32_t buffer = s->head[0].buffer;
    return buffer ? ptoi_record(&o->scopes, buffer)->name : NULL;
}

/* Also one that had not to wait: with other rings it might.  false: no memory. */
static bool record_await(struct orchestrator *o, struct submission *s, int64_t begin, int64_t end)
{
    struct recorder *r = o->flow.recorder;
    struct recorded_wait *w = ptoi_record_wait(r, PTO_STALL_NONE, begin, end);
    if (!w) return true;
    w->site = *o->site;
    w->tensor = awaited_name(o, s);
    return ptoi_recorded_touch(o, HISTORY_AWAIT, (uint64_t)(w - r->wait), s, NULL);
}

/* model: AWAIT */
PTOStatus ptoi_orch_await(struct orchestrator *o, const void *buffer, int64_t offset, int64_t bytes, bool for_writing)
{
    if (ptoi_orch_has_failed(o)) return ptoi_status(o->run_status);
    PTOTaskParam param = {.kind = for_writing ? PTO_PARAM_INOUT : PTO_PARAM_INPUT,
                          .buffer = (char *)(uintptr_t)buffer + offset,
                          .bytes = bytes};
    if (bytes < 0 || offset < 0)
        return ptoi_orch_fail(o, PTO_ERR_ARGUMENT, "await of %lld bytes at %lld", (long long)bytes, (long long)offset);
    if (o->buffers.notes_writes && ptoi_note_written(o, NULL, &param, 1) != PTO_OK) return ptoi_status(o->run_status);
    struct submission s; /* only what find_producers looks at is set */
    const PTOStatus status = ptoi_place_params(o, NULL, &param, 1, &s);
    if (status != PTO_OK) return status;
    ptoi_find_producers(o, &s);
    struct awaited awaited = {.o = o, .left = o->edges.found.count};
    const int64_t begin = o->flow.recorder ? ptoi_record_now(o->flow.recorder) : 0;
    int64_t end = begin;
    o->flow.awaits++;
    if (!producers_done(&awaited)) {
        const int64_t since = ptoi_flow_now(&o->flow);
        const enum orchestrator_cause cause = ptoi_meter_enter(&o->flow.meter, CAUSE_AWAIT);
        store_relaxed(&o->flow.awaits_now, true);
        bool met = o->flow.ops->wait(o->flow.context, producers_done, &awaited);
        store_relaxed(&o->flow.awaits_now, false);
        CHECK(met || o->is_lost);
        ptoi_meter_enter(&o->flow.meter, cause);
        const int64_t waited = ptoi_flow_now(&o->flow) - since;
        o->flow.awaits_blocked++;
        o->flow.await_ns += waited;
        ptoi_meter_waited(&o->flow.meter, CAUSE_AWAIT, *o->site, awaited_name(o, &s), waited);
        if (o->flow.recorder) end = ptoi_record_now(o->flow.recorder);
    }
    if (o->flow.recorder && !record_await(o, &s, begin, end)) return ptoi_recorded_fail(o);
    return ptoi_final_status(o->run_status);
}
