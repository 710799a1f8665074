/* edges.c - the tasks that a task depends on: found in the map, without those that have completed.
 *
 * Owner      the orchestrator.
 * Invariant  every task in the window that touches the same bytes, where one of the two writes, is found, once.
 * Blocks     never.
 * Tests      test/runtime/test_hazards.c, stress_graphs.c */
#include "submission.h"

static void note_producer(struct orchestrator *o, uint64_t id, uint32_t reason)
{
    for (int32_t k = 0; k < o->edges.found.count; k++)
        if (o->edges.found.task_id[k] == id) {
            o->edges.found.reason[k] |= (uint8_t)reason;
            return;
        }
    o->edges.found.task_id[o->edges.found.count] = id;
    o->edges.found.reason[o->edges.found.count++] = (uint8_t)reason;
}

static inline void find_producers(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    ptoi_map_begin(o->edges.map, &o->edges.found);
    ptoi_map_find_all(o->edges.map, o->edges.access, s->accesses, kernel, &o->edges.found);
    for (int i = 0; s->holds && i < s->terms.arguments; i++) { /* after the map, which keeps its own marks */
        struct place *pl = &s->place[i];
        if (pl->birth != PTO_NO_BIRTH && pl->birth >= o->rings.map_retired && pl->birth != o->rings.head)
            note_producer(o, pl->birth,
                          pl->access == ACCESS_READ    ? EDGE_RAW
                          : pl->access == ACCESS_WRITE ? EDGE_WAW
                                                       : EDGE_RAW | EDGE_WAW);
    }
}

void ptoi_find_producers(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    find_producers(o, s, kernel);
}

static inline void forget_completed(struct orchestrator *o) /* model: PRUNE */
{
    int32_t kept = 0;
    for (int32_t k = 0; k < o->edges.found.count; k++)
        if (!ptoi_is_completed(o, o->edges.found.task_id[k])) {
            o->edges.found.task_id[kept] = o->edges.found.task_id[k];
            o->edges.found.reason[kept++] = o->edges.found.reason[k];
        }
    o->edges.found.count = kept;
}

void ptoi_forget_completed(struct orchestrator *o) { forget_completed(o); }

/* Equal accumulators begin at the same byte.  Different ones that meet in the hash only lose a little overlap.  Which
 * do must not depend on addresses where what is found is recorded or simulated: there they are numbered.  false: no
 * memory for that. */
static bool note_accumulators(struct orchestrator *o, struct submission *s)
{
    for (int i = 0; i < s->terms.arguments; i++) {
        if (s->place[i].arg.kind != PTO_PARAM_ACC || s->place[i].region.run == 0) continue;
        const int64_t low = s->place[i].region.low,
                      number = o->recorded.history ? ptoi_history_accumulator(o->recorded.history, low) : 0;
        if (number < 0) return false;
        s->exclusive |=
            (uint32_t)1 << (o->recorded.history ? (uint64_t)number % 32 : (uint64_t)low * 0x9e3779b97f4a7c15u >> 59);
    }
    return true;
}

bool ptoi_find_edges(struct orchestrator *o, struct submission *s, const PTOKernel *kernel)
{
    find_producers(o, s, kernel);
    s->exclusive = 0;
    if (s->accumulates && !note_accumulators(o, s)) return false;
    if (!o->recorded.history) o->run.stats.dependences += o->edges.found.count;
    forget_completed(o);
    return true;
}
