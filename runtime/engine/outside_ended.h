/* outside_ended.h - tasks that end outside of the engine, such as messages of ranks: a stack that any thread pushes to,
 * and that one takes as a whole.
 *
 * Owner      the holder of the scheduler's role owns the tasks that it has taken from the stack.
 * Invariant  a task is pushed once, between its start and its completion, so its slot is its own.
 * Blocks     never.
 * Tests      test/check (run_outside), test/runtime/test_runtime.c, test/wire */
#ifndef PTOI_OUTSIDE_ENDED_H
#define PTOI_OUTSIDE_ENDED_H
#include "schedule/role_ops.h"
#include "shared/window.h"

struct outside_slot {
    _Atomic uint64_t open; /* id + 1 of the task that was started and has not ended, else 0 */
    uint32_t next;         /* of the stack: slot + 1; 0: none */
    int32_t result;
};

struct outside_ended {
    /* W any thread that ends a task, compare-exchange release [OUTSIDE]; R the holder of the role, exchange acquire:
     * slot + 1 of the newest. */
    _Atomic uint32_t newest;
    uint32_t taken;            /* of the stack that the holder has taken: the rest */
    struct outside_slot *slot; /* by id, of the window; NULL: nothing ends outside */
};

/* relaxed: start() publishes the task */
static inline void ptoi_outside_open(struct outside_ended *e, const struct window *w, uint64_t id)
{
    store_relaxed(&e->slot[id & w->task_mask].open, id + 1);
}

/* Any thread.  false: the task was not started, or had ended. */
static inline bool ptoi_outside_end(struct outside_ended *e, const struct window *w, uint64_t id, int32_t result)
{
    const uint32_t slot = (uint32_t)(id & w->task_mask);
    uint64_t started = id + 1;
    if (!e->slot || started == 0 || !swap_if_relaxed(&e->slot[slot].open, &started, 0)) return false;
    uint32_t newest = load_relaxed(&e->newest); /* relaxed: the exchange checks it */
    e->slot[slot].result = result;
    do {
        e->slot[slot].next = newest;
    } while (!swap_if_release(&e->newest, &newest, slot + 1, OUTSIDE)); /* [OUTSIDE] */
    return true;
}

/* relaxed: a hint */
static inline bool ptoi_outside_has_ended(struct outside_ended *e) { return load_relaxed(&e->newest) != 0; }

static inline int ptoi_outside_collect(struct outside_ended *e, const struct window *w, struct completion *out, int max)
{
    int n = 0;
    if (e->taken == 0 && ptoi_outside_has_ended(e)) e->taken = swap_acquire(&e->newest, 0, OUTSIDE); /* [OUTSIDE] */
    for (; e->taken && n < max; n++) {
        const uint32_t slot = e->taken - 1;
        out[n] = (struct completion){.id = window_task(w, slot)->id, .result = e->slot[slot].result};
        e->taken = e->slot[slot].next;
    }
    return n;
}

#endif
