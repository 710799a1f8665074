/* edges.c - the tasks that a task depends on: found in the map, without those that have completed.
 *
 * Owner      the orchestrator.
 * Invariant  every task in the window that touches the same bytes, where one of the two writes, is found, once.
 * Blocks     never.
 * Tests      test/runtime/test_hazards.c, stress_graphs.c */
#include "publish.h"
#include "submission.h"

/* The tasks that made the buffers; after the map, which keeps its own marks. */
static void find_births(struct orchestrator *o, const struct submission *s)
{
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        const uint64_t birth = s->place[i].birth;
        if (birth != PTO_NO_BIRTH && birth >= o->rings.map_retired && birth != o->rings.head)
            ptoi_note_producer(&o->edges.found, birth);
    }
}

void ptoi_find_producers(struct orchestrator *o, struct submission *s)
{
    ptoi_map_begin(o->edges.map, &o->edges.found);
    ptoi_map_find_all(o->edges.map, o->edges.access, s->accesses, NULL, &o->edges.found);
    if (s->holds) find_births(o, s);
}

/* Equal accumulators begin at the same byte.  Different ones that meet in the hash only lose a little overlap.  Which
 * do must not depend on addresses where what is found is recorded or simulated: there they are numbered.  false: no
 * memory for that. */
static bool note_accumulators(struct orchestrator *o, struct submission *s)
{
    for (int i = 0; &s->place[i] < s->place_end; i++) {
        if (s->place[i].head->kind != PTO_PARAM_ACC || s->place[i].region.run == 0) continue;
        const int64_t low = s->place[i].region.low,
                      number = o->recorded.history ? ptoi_history_accumulator(o->recorded.history, low) : 0;
        if (number < 0) return false;
        s->exclusive |= o->recorded.history ? (uint32_t)1 << (uint64_t)number % 32 : ptoi_accumulator_set(low);
    }
    return true;
}

bool ptoi_find_edges(struct orchestrator *o, struct submission *s, const PTOKernel *kernel, bool alone)
{
    ptoi_map_begin(o->edges.map, &o->edges.found);
    if (s->steps > 0 && !alone)
        ptoi_map_find_and_add_steps(o->edges.map, o->edges.steps, s->steps, kernel, o->rings.head, &o->edges.found);
    else
        ptoi_map_find_and_add(o->edges.map, o->edges.access, alone ? 0 : s->accesses, kernel, o->rings.head,
                              &o->edges.found);
    if (s->holds) find_births(o, s);
    s->exclusive = 0;
    if (s->accumulates && !note_accumulators(o, s)) return false;
    if (!o->recorded.history) o->run.stats.dependences += o->edges.found.count;
    return true;
}
