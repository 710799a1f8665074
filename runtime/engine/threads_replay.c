/* threads_replay.c - a replay: workers begin their tasks in the order of the schedule.
 *
 * Idea       the scheduler sends tasks in that order, but each to the worker that the schedule names, and a worker may
 *            be late.  So a worker begins a task when as many tasks have begun as the schedule has before it.  All of
 *            those have been sent, and of the lanes the one with the first of them waits for nothing but its own
 *            kernels, so the wait ends.  In a run that has failed nothing more begins, and no worker waits.
 * Owner      workers, under the lock of the schedule.  A worker announces its sleep before it looks under the lock for
 *            the last time: if the task before its own begins later, the worker of that one sees the sleeper.
 * Blocks     the worker, until its task may begin.
 * Tests      test/runtime/test_replay.c */
#include "threads_parts.h"
#include "record/replay.h"

/* NAP_NS: after so long a worker looks whether the run has failed. */
enum { SPINS = 256, YIELDS = 16, NAP_NS = 1000000 };

void ptoi_threads_fail_replay(struct core *core)
{
    ptoi_fail(core->run_status, PTO_ERR_ARGUMENT, NULL,
              "the schedule %s does not fit this run (program, data, workers, --window): "
              "its start %lld never becomes ready",
              core->config.replay, (long long)core->replay->next);
}

static bool is_next(struct replay *r, int64_t place)
{
    ptoi_lock_take(&r->lock);
    const bool is = r->begun == place;
    ptoi_lock_leave(&r->lock);
    return is;
}

static void nap(struct lane *l, int64_t place)
{
    ptoi_park_announce(&l->parker);
    if (!is_next(l->core->replay, place)) ptoi_park_wait(&l->parker, NAP_NS);
    ptoi_park_cancel(&l->parker);
}

bool ptoi_threads_await_place(struct lane *l, uint64_t id)
{
    struct core *core = l->core;
    struct replay *r = core->replay;
    const int64_t place = r->place[id - r->first_id];
    for (int spins = 0; !is_next(r, place); spins++) {
        if (load_relaxed(&core->run_status->status) != PTO_OK) return false; /* relaxed: a hint, later is fine */
        if (spins < SPINS)
            pto_relax();
        else if (spins < SPINS + YIELDS)
            ptoi_yield();
        else
            nap(l, place);
    }
    return true;
}

void ptoi_threads_begun(struct core *core, struct recorded_task *t)
{
    /* More than a nanosecond, so that the order is that of the starts also where a processor's counter is late. */
    enum { TICKS = 8 };
    struct threads *e = core->state;
    struct replay *r = core->replay;
    ptoi_lock_take(&r->lock);
    if (t && t->begin < r->begun_at + TICKS) t->begin = r->begun_at + TICKS;
    if (t) r->begun_at = t->begin;
    r->begun++;
    ptoi_lock_leave(&r->lock);
    for (int i = 0; i < e->lane_count; i++)
        if (ptoi_park_is_sleeping(&e->lane[i].parker)) ptoi_park_wake(&e->lane[i].parker);
}
