/* leave.c - a rank ends its runtime or its process, and the others hear of it: see wire.h.
 *
 * Idea       host programs are alike on all ranks, but one may make a run that another one does not, and would wait for
 *            it for ever.  So a rank that leaves notifies all others of the number of runs that it has begun, and one
 *            in a later run knows that this rank will not come.  The notice at the end of a process also says whether
 *            its rank waits for the others, and whether its wire is idle: with the notices of all, each rank knows
 *            whether all can end it.
 * Invariant  of two ranks that are alike, one has left at most once more often than the other: runtimes are created
 *            together.
 * Owner      a rank, as of all of the wire.
 * Tests      test/wire/check_leaving.py, check_wire.c */
#include "shared/system.h"
#include "wire.h"

/* The words of a notice. */
enum { LEAVES, IS_END, IS_ALONE, IS_BUSY, CODE };

static void note_fewest(struct wire_left *noted, const struct wire_status *notice)
{
    if (!noted->is_known || notice->run < noted->runs) *noted = (struct wire_left){true, notice->rank, notice->run};
}

static void note(struct wire_others *o, const struct wire_status *notice)
{
    if (notice->word[LEAVES] > o->leaves) note_fewest(&o->left, notice);
    if (!notice->word[IS_END]) return;
    note_fewest(&o->ended, notice);
    o->ended_count++;
    if (o->code == 0) o->code = (int32_t)notice->word[CODE];
    o->is_any_alone |= notice->word[IS_ALONE] != 0;
    o->is_any_busy |= notice->word[IS_BUSY] != 0;
}

bool ptoi_wire_hear(struct wire *w, struct wire_status *status)
{
    while (w->ops->hear_status(w, status)) {
        if (status->kind != WIRE_LEAVES) return true;
        note(&w->others, status);
    }
    return false;
}

const struct wire_left *ptoi_wire_left_before(const struct wire *w)
{
    const struct wire_left *const either[] = {&w->others.left, &w->others.ended};
    for (int k = 0; k < 2; k++)
        if (either[k]->is_known && either[k]->runs < w->runs) return either[k];
    return NULL;
}

static struct wire_status notice_of(const struct wire *w)
{
    return (struct wire_status){.rank = w->rank, .kind = WIRE_LEAVES, .run = w->runs, .word[LEAVES] = w->others.leaves};
}

/* A status that has not left yet is of a run, and its rank looks for it there: then it may miss this one, and hears of
 * the end of the process. */
void ptoi_wire_leave(struct wire *w)
{
    if (w->ops->is_over(w)) return;
    w->others.leaves++;
    w->others.left.is_known = false;
    const struct wire_status notice = notice_of(w);
    for (int32_t k = 0; k < w->ranks; k++)
        if (k != w->rank) w->ops->give_status(w, k, &notice);
}

/* Waits until the notices of all have come, and all have heard this one: the others look for it when they end, too. */
void ptoi_wire_end(struct wire *w, int code, bool waits)
{
    enum { GRACE_NS = 2000000000, STEP_NS = 100000, LONGEST_NS = 2000000 };
    const struct wire_others *o = &w->others;
    struct wire_status notice = notice_of(w), unheard;
    int32_t next = 0;
    notice.word[LEAVES]++;
    notice.word[IS_END] = 1;
    notice.word[IS_ALONE] = !waits;
    notice.word[CODE] = (uint64_t)code;
    notice.word[IS_BUSY] = !w->ops->is_idle(w);
    for (int64_t ns = STEP_NS, waited = 0; waited < GRACE_NS; ns += ns < LONGEST_NS ? STEP_NS : 0) {
        while (next < w->ranks && (next == w->rank || w->ops->give_status(w, next, &notice))) next++;
        while (ptoi_wire_hear(w, &unheard)) {}
        if (next == w->ranks && o->ended_count == w->ranks - 1 && w->ops->have_statuses_left(w)) break;
        ptoi_sleep_ns(ns);
        waited = waits && !o->is_any_alone ? 0 : waited + ns;
    }
    w->others.is_any_busy |= notice.word[IS_BUSY] || next < w->ranks || o->ended_count < w->ranks - 1;
}

/* A launcher may end all ranks when the first has ended with an error, and that of MPICH does so without a word.  So a
 * rank waits until all are here, because rank 0 has printed by then what has failed. */
void ptoi_wire_close(struct wire *w, int code, bool waits)
{
    if (!w->ops->is_over(w)) ptoi_wire_end(w, code, waits);
    w->ops->close(w, code != 0 ? code : w->others.code, !w->others.is_any_busy);
}
