/* failures.c - a run that fails on one rank fails on all: ranks report their failures, hear those of others, and agree
 * at the end of the run on the oldest.
 *
 * Owner      the transfers of the rank, whose lock is held for what they share.
 * Blocks     at the end of a run, until the failure that all have agreed on was heard.
 * Tests      test/wire/test_ranks_failing.c, check_programs.py, check_options.py */
#include "shared/check.h"
#include "shared/task.h"
#include "transfer.h"
#include <stdio.h>
#include <string.h>

/* The rank stands behind the first line, which may end in a colon. */
#define ON_RANK "%.*s (on rank %d, %s)%s"
#define ON_RANK_OF(failure)                                                                                            \
    first_line(&(failure)), (failure).text, (failure).rank, (failure).host, (failure).text + first_line(&(failure))

static int first_line(const struct wire_failure *failure)
{
    const size_t length = strcspn(failure->text, "\n");
    return (int)(length > 0 && failure->text[length] && failure->text[length - 1] == ':' ? length - 1 : length);
}

/* model: RANK_NOTIFY */
void ptoi_transfers_notify(struct transfers *t)
{
    struct wire_failure failure = {.rank = t->wire->rank,
                                   .status = ptoi_final_status(t->core->run_status),
                                   .signal = load_relaxed(&t->signal)}; /* relaxed: a number */
    if (t->has_notified) return;
    t->has_notified = t->has_reported = true;
    ptoi_host_name(failure.host, sizeof failure.host);
    snprintf(failure.text, sizeof failure.text, "%.*s", WIRE_TEXT - 1, ptoi_run_message(t->core->run_status));
    t->wire->ops->notify(t->wire, &failure);
}

/* model: RANK_HEAR */
void ptoi_transfers_hear(struct transfers *t)
{
    struct wire_failure failure;
    if (t->has_notified || !t->wire->ops->listen(t->wire, &failure)) return;
    if (failure.signal) store_relaxed(&t->signal, failure.signal); /* relaxed: a number */
    t->has_notified = ptoi_fail(t->core->run_status, (PTOStatus)failure.status, NULL, ON_RANK, ON_RANK_OF(failure));
    if (t->has_notified)
        t->heard = failure.rank;
    else
        t->kept = failure; /* this rank has failed meanwhile, and the wire reports it only once */
}

void ptoi_transfers_all_fail(struct transfers *t)
{
    ptoi_lock_take(&t->lock);
    t->has_notified = true;
    ptoi_lock_leave(&t->lock);
}

bool ptoi_transfers_end(struct transfers *t)
{
    if (load_relaxed(&t->signal)) /* relaxed: a number; its thread may not have cancelled the run yet */
        ptoi_fail(t->core->run_status, PTO_ERR_CANCELLED, NULL, "the run was cancelled");
    ptoi_lock_take(&t->lock);
    const bool is_failing = ptoi_is_failing(t->core->run_status);
    CHECK(load_relaxed(&t->in_flight) == 0 || is_failing); /* relaxed: under the lock */
    if (is_failing) ptoi_transfers_notify(t);
    ptoi_lock_leave(&t->lock);
    return is_failing;
}

/* Tasks that failed go before what is no task, and ranks are in their order. */
enum { RANK_BITS = 20 };

uint64_t ptoi_transfers_failure(const struct transfers *t)
{
    const struct window *w = t->core->window;
    const uint64_t task = load_relaxed(&w->failed_task), /* relaxed: see window.h */
        number = task ? ptoi_task_number(w, task - 1) : (UINT64_MAX >> RANK_BITS) - 1;
    return t->has_reported ? number << RANK_BITS | (uint64_t)t->wire->rank : NO_FAILURE;
}

/* Under the lock.  false: the failure of the rank was not heard yet; -1: any. */
static bool hear_rank(struct transfers *t, int32_t rank)
{
    if (!ptoi_is_failing(t->core->run_status)) ptoi_transfers_hear(t);
    if (rank < 0 || rank == t->wire->rank || rank == t->heard) return ptoi_is_failing(t->core->run_status);
    struct wire_failure failure = t->kept;
    if (failure.rank != rank && (!t->wire->ops->listen(t->wire, &failure) || failure.rank != rank)) return false;
    ptoi_final_status(t->core->run_status);
    ptoi_run_status_replace(t->core->run_status, (PTOStatus)failure.status, ON_RANK, ON_RANK_OF(failure));
    t->heard = rank;
    return true;
}

/* model: RANK_OVER */
PTOStatus ptoi_transfers_over(struct transfers *t, bool has_failed, uint64_t oldest)
{
    enum { LOOK_NS = 50000 };
    const int32_t rank = oldest == NO_FAILURE ? -1 : (int32_t)(oldest & ((1 << RANK_BITS) - 1));
    _Atomic uint32_t idle = 0;
    for (bool hears = has_failed; hears;) {
        ptoi_lock_take(&t->lock);
        hears = !hear_rank(t, rank);
        ptoi_lock_leave(&t->lock);
        if (hears) ptoi_sleep_on(&idle, 0, LOOK_NS, false);
    }
    ptoi_lock_take(&t->lock);
    t->is_running = false;
    ptoi_lock_leave(&t->lock);
    return has_failed ? ptoi_final_status(t->core->run_status) : PTO_OK;
}

void ptoi_transfers_renew(struct transfers *t)
{
    ptoi_lock_take(&t->lock);
    t->wire->ops->renew(t->wire);
    ptoi_lock_leave(&t->lock);
}
