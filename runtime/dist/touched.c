/* touched.c - the memory that reserved arrays take on this rank, beside what it owns of them.  See dist.h.
 *
 * Idea       copies lie where they belong in the addresses of an array, and memory is given in pages.  The system knows
 *            which pages have memory, so nothing is counted while the program runs, and counting touches no page.
 * Owner      the orchestrator.
 * Limits     an array that every rank has as a whole before the run, such as made data or one of a host program, has
 *            memory for all of it, whatever its cells are: it is not counted.
 * Blocks     ptoi_dist_choose_counted, where such an array is about to be collected: until the tasks of this rank have
 *            ended, which may still touch pages.  Collecting touches all of them on rank 0, and those of cells that no
 *            task has written on the others.  Else they are counted when the run has ended, and nothing waits.
 * Tests      test/wire/check_pages.py */
#include "dist.h"
#include "pages.h"

enum { LARGEST_PAGE = 64 << 10 }; /* ranks whose pages differ choose the same arrays */

bool ptoi_dist_may_share_pages(const struct dist *d, const struct tensor *t)
{
    return ptoi_home_row(&t->home, d->ranks) < LARGEST_PAGE;
}

/* As nobody has written it, all ranks have what is everywhere. */
static bool is_to_count(const struct dist *d, const struct tensor *t)
{
    return t->is_settled && !t->is_everywhere && t->source.is_reserved &&
           (d->counts_pages || ptoi_dist_may_share_pages(d, t));
}

void ptoi_dist_choose_counted(struct dist *d)
{
    bool is_collected = false;
    for (int32_t i = 0; i < d->outside_count; i++) {
        struct tensor *t = d->outside[i];
        t->is_counted = is_to_count(d, t);
        t->touched = -1;
        is_collected |= t->is_counted && ptoi_dist_is_result(t) && !t->source.stays;
    }
    if (is_collected && ptoi_orch_wait_all(&d->core->orch)) ptoi_dist_count_pages(d);
}

void ptoi_dist_count_pages(struct dist *d)
{
    for (int32_t i = 0; i < d->outside_count; i++) {
        struct tensor *t = d->outside[i];
        if (!t->is_counted || t->touched >= 0) continue;
        t->owned = ptoi_home_owned(&t->home, d->ranks, d->me);
        t->touched = ptoi_pages_in_memory(t->base, t->bytes);
    }
}
