/* recorded_edges.c - all dependences of a run, at any distance, where they are recorded or counted.
 *
 * Idea       a submit writes what the task touches to a log (record/history_log.h); the history (depend/history.h)
 *            reads the log when edges are asked for, or when the log is full.
 * Owner      the orchestrator.
 * Invariant  waiting never depends on what is found here.
 * Blocks     never.
 * Tests      test/runtime/test_record.c, test_history.c */
#include "submission.h"
#include "record/record.h"

static void found_edges(void *context, enum history_entry entry, uint64_t number, const struct history_edge *edge,
                        int64_t count)
{
    struct orchestrator *o = context;
    if (entry == HISTORY_AWAIT) {
        struct recorder *const r = o->flow.recorder;
        for (int64_t k = 0; k < count; k++) ptoi_record_awaited(r, &r->wait[number], o->run.first_head + edge[k].from);
        return;
    }
    o->run.stats.dependences += count;
    const struct role_ops *ops = o->flow.ops;
    for (int64_t k = 0; o->flow.recorder && k < count; k++)
        ptoi_record_edge(o->flow.recorder, o->run.first_head + edge[k].from, o->run.first_head + number,
                         edge[k].reasons);
    for (int64_t k = 0; ops->edge && k < count; k++) ops->edge(o->flow.context, o->run.first_head + edge[k].from);
}

bool ptoi_orch_find_edges(struct orchestrator *o)
{
    const struct history_reader reader = {.context = o, .found = found_edges};
    if (o->recorded.are_lost)
        o->recorded.log.used = 0;
    else if (o->recorded.history)
        o->recorded.are_lost = !ptoi_history_replay(&o->recorded.log, o->recorded.history, &reader);
    return !o->recorded.are_lost;
}

void ptoi_recorded_begin(struct orchestrator *o)
{
    ptoi_history_reset(o->recorded.history);
    o->recorded.log.used = 0;
    o->recorded.are_lost = false;
}

/* For any entry.  false: there was no memory to empty the log, which is empty now. */
static inline bool log_has_room(struct orchestrator *o)
{
    return ptoi_history_log_has_room(&o->recorded.log) || ptoi_orch_find_edges(o);
}

PTOStatus ptoi_recorded_fail(struct orchestrator *o)
{
    return ptoi_orch_fail(o, PTO_ERR_NOMEM, "no memory to keep the dependences of the run, which is recorded");
}

void ptoi_recorded_buffer_gone(struct orchestrator *o, uint32_t buffer)
{
    if (!log_has_room(o)) ptoi_recorded_fail(o);
    ptoi_history_log_close(&o->recorded.log, buffer);
    if (o->flow.recorder) ptoi_record_release(o->flow.recorder, ptoi_record(&o->scopes, buffer)->recorded);
}

static bool touches_memory(const struct place *pl) { return pl->region.run != 0; }

/* What is written of argument i where that is a part of it; NULL: its access says all, or nothing is. */
static const struct region *part_of(const struct orchestrator *o, const struct submission *s, int i)
{
    return ptoi_has_part(s->place[i].param) && o->edges.part[i].run != 0 ? &o->edges.part[i] : NULL;
}

bool ptoi_recorded_touch(struct orchestrator *o, enum history_entry entry, uint64_t number, const struct submission *s,
                         const PTOKernel *kernel)
{
    if (!log_has_room(o)) return false;
    int touches = 0;
    for (int i = 0; &s->place[i] < s->place_end; i++)
        if (touches_memory(&s->place[i])) touches += 1 + (part_of(o, s, i) != NULL);
    ptoi_history_log_begin(&o->recorded.log, entry, number, touches, kernel);
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        const struct place *pl = &s->place[i];
        if (!touches_memory(pl)) continue;
        const bool in_part = ptoi_has_part(pl->param); /* Note [parts] */
        struct history_access a = {
            .space = pl->head->buffer, .region = &pl->region, .access = in_part ? ACCESS_READ : place_access(pl)};
        int64_t origin = 0; /* of a new output, too: its region has no address yet */
        if (a.space && !pl->head->fresh)
            origin = (int64_t)(intptr_t)o->heap_base + (int64_t)ptoi_record(&o->scopes, a.space)->at;
        ptoi_history_log_access(&o->recorded.log, &a, origin);
        if (!(a.region = part_of(o, s, i))) continue;
        a.access = ACCESS_UPDATE;
        ptoi_history_log_access(&o->recorded.log, &a, origin);
    }
    return !o->flow.ops->edge || ptoi_orch_find_edges(o);
}
