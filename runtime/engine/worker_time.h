/* worker_time.h - where a worker's time goes: a word for each cause of causes.def.
 *
 * Idea       a worker is in one cause at a time.  The word of that cause holds its time less the time at which it
 *            began, which is below 0; every other word is a time.  So a reader needs no second word, and the worker
 *            no lock.  The words only grow: a run is the difference of two readings.
 * Owner      the words: their worker, all relaxed, for they are statistics; readings: the orchestrator.
 * Tests      test/runtime/test_causes.c */
#ifndef PTOI_WORKER_TIME_H
#define PTOI_WORKER_TIME_H
#include "record/ticks.h"
#include "shared/atomics.h"
#include <stdbool.h>
#include <stddef.h>

enum worker_cause {
#define WORKER_CAUSE(id, text) WORKER_##id,
#include "shared/causes.def"
    WORKER_CAUSES
};

struct worker_time {
    _Atomic int64_t word[WORKER_CAUSES];
};

/* The worker's own. */
struct worker_clock {
    struct worker_time *time; /* NULL: the runtime is not metered */
    bool in_ticks;
    enum worker_cause now;
};

static inline int64_t ptoi_worker_now(bool in_ticks) { return in_ticks ? ptoi_ticks() : ptoi_clock_ns(); }

/* The worker's time belongs to that cause from now on. */
void ptoi_worker_change(struct worker_clock *c, enum worker_cause to);
static inline void ptoi_worker_enter(struct worker_clock *c, enum worker_cause to)
{
    if (__builtin_expect(c->time != NULL, 0) && c->now != to) ptoi_worker_change(c, to);
}
void ptoi_worker_clock_begin(struct worker_clock *c, struct worker_time *time);

struct core;
/* By worker and cause. */
struct worker_times {
    int workers;
    int64_t (*base)[WORKER_CAUSES], (*spent)[WORKER_CAUSES];
    bool in_ticks;
    int64_t begin, end; /* of the run, of that clock */
};

/* false: no memory.  Nothing where the engine has no workers of its own. */
bool ptoi_worker_times_open(struct worker_times *t, struct core *core);
void ptoi_worker_times_close(struct worker_times *t);
void ptoi_worker_times_begin(struct worker_times *t, struct core *core);
/* spent: of the run; the causes of each worker sum up to the time of the run. */
void ptoi_worker_times_end(struct worker_times *t, struct core *core);

#endif
