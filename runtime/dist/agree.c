/* agree.c - the ranks agree: each keeps a hash of all that it was asked to do, and they are compared.  See dist.h.
 *
 * Idea       a step is a task, an await or the end of the program.  Its hash has the kernel, the numbers of buffers,
 *            the boxes and the bits of scalars, never an address or a time.  If the hashes differ, rank 0 searches for
 *            the first step at which they did, Note [comparing] in standstill.h, and all wait for its message.
 *            After every COMPARED_STEPS steps a comparison begins, and no rank waits for it: its answer is read when
 *            the next one begins, so all ranks that disagree search after the same comparison.
 * Invariant  a comparison has ended before anything else is reduced.
 * Blocks     ptoi_dist_agree and ptoi_dist_end: until all ranks have come.  ptoi_dist_compare: until they have come to
 *            the comparison before.
 * Tests      test/wire */
#include "held.h"
#include "debug/crash.h"
#include "shared/map_memory.h"
#include "submit/failing.h"
#include <stdlib.h>
#include <string.h>

uint64_t ptoi_dist_mix_text(uint64_t hash, const char *text)
{
    for (const char *c = text; c && *c; c++) hash = ptoi_dist_mix(hash, (unsigned char)*c);
    return hash;
}

enum { FAILS = 2 }; /* of what is reduced, beside hash and number of steps: is this rank about to fail? */

static struct comparison comparison_now(struct dist *d)
{
    d->compared = d->steps;
    return (struct comparison){.mine = {d->hash, d->steps}};
}

/* Waits for all ranks.  false: they disagree, or the run has failed. */
static bool agree_on(struct dist *d, struct comparison *c)
{
    if (ptoi_orch_has_failed(&d->core->orch)) return false;
    if (!c->is_answered && !ptoi_transfers_reduce(&d->transfers, false, c->mine, c->least, c->most)) return false;
    if (c->most[FAILS]) return !ptoi_orch_has_failed(&d->core->orch);
    if (c->least[0] == c->most[0] && c->least[1] == c->most[1])
        d->agreed = c->mine[1];
    else
        ptoi_transfers_differ(&d->transfers);
    return !ptoi_orch_has_failed(&d->core->orch);
}

/* The comparison that has begun, if there is one. */
static bool end_comparison(struct dist *d)
{
    const bool is_comparing = d->comparison.is_begun;
    d->comparison.is_begun = false;
    return !is_comparing || agree_on(d, &d->comparison);
}

bool ptoi_dist_agree(struct dist *d)
{
    struct comparison now = comparison_now(d);
    if (d->plan) return !ptoi_orch_has_failed(&d->core->orch);
    return end_comparison(d) && agree_on(d, &now);
}

/* A rank that has not met the failure goes on; it will hear of it. */
void ptoi_dist_meet(void *dist)
{
    struct dist *d = dist;
    struct comparison now = comparison_now(d);
    if (d->plan || ptoi_orch_has_failed(&d->core->orch) || !end_comparison(d)) return;
    now.mine[FAILS] = 1;
    d->is_failing = true;
    const bool met = ptoi_transfers_reduce(&d->transfers, false, now.mine, now.least, now.most);
    d->is_failing = false;
    if (met && now.least[FAILS]) ptoi_transfers_all_fail(&d->transfers);
}

void ptoi_dist_meets(struct dist *d, bool all_fail)
{
    d->core->orch.meet = all_fail ? ptoi_dist_meet : NULL;
    d->core->orch.meet_arg = d;
}

bool ptoi_dist_compare(struct dist *d)
{
    if (d->plan || !ptoi_dist_is_time_to_compare(d)) return true;
    if (!end_comparison(d)) return false;
    struct comparison *c = &d->comparison;
    *c = comparison_now(d);
    c->is_begun = true;
    c->is_answered = ptoi_transfers_try_reduce(&d->transfers, c->mine, c->least, c->most);
    return true;
}

void ptoi_dist_begin(struct dist *d)
{
    store_relaxed(&d->tasks, 0); /* relaxed: see dist.h */
    d->folds = 0;
    memset(d->tasks_of, 0, (size_t)d->ranks * sizeof *d->tasks_of);
    d->steps = d->hash = d->agreed = d->compared = d->asked.begin = d->asked.end = 0;
    d->held_count = d->ends_count = d->ends_next = d->packed_count = 0;
    ptoi_known_boxes_begin(&d->known);
    d->packs = d->looks = false;
    if (d->notes.task) memset(d->notes.task, 0, d->notes.used * sizeof *d->notes.task);
    d->notes.used = 0;
    d->sends = d->collected = (struct dist_sends){0};
    d->copies.used_again = d->copies.forgotten_bytes = 0;
    d->is_collecting = d->has_met = d->is_failing = d->comparison.is_begun = false;
    d->core->orch.meet = NULL;
    if (d->plan)
        ptoi_plan_begin(d->plan);
    else
        ptoi_transfers_begin(&d->transfers);
}

/* All ranks meet, and the run has the same status on all, that of the oldest failure: a rank that is cancelled when it
 * has reported that it ended well has ended well.  model: RANK_MEET */
static PTOStatus meet(struct dist *d)
{
    const bool is_failing = ptoi_transfers_end(&d->transfers);
    const uint64_t mine[WIRE_REDUCED] = {is_failing, ptoi_transfers_failure(&d->transfers)};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    d->has_met = ptoi_transfers_reduce(&d->transfers, true, mine, least, most);
    const bool all_fail = d->has_met && most[0] > 0;
    const PTOStatus status =
        ptoi_transfers_over(&d->transfers, !d->has_met || all_fail, d->has_met ? least[1] : NO_FAILURE);
    if (all_fail) ptoi_transfers_renew(&d->transfers);
    return status;
}

PTOStatus ptoi_dist_end(struct dist *d)
{
    const PTOStatus status = d->plan ? ptoi_final_status(d->core->run_status) : meet(d);
    if (status == PTO_OK) ptoi_dist_count_pages(d);
    if (status == PTO_OK && d->collects != COLLECTS_EVERYWHERE)
        ptoi_dist_forget_heap(d);
    else
        ptoi_dist_forget_all(d); /* all ranks have everything, and the program may write it; or nobody knows it */
    return status;
}

static bool open_plan(struct dist *d)
{
    d->plan = calloc(1, sizeof *d->plan);
    return d->plan && ptoi_plan_open(d->plan, d->ranks);
}

/* Of the tensor of each buffer that the heap may have at once. */
static uint64_t heap_bytes(const struct dist *d)
{
    return (ptoi_heap_buffers_max(d->core->window) + 1) * sizeof *d->heap;
}

struct dist *ptoi_dist_open(PTORuntime *rt, struct core *core, const struct local_calls *local,
                            const struct dist_config *config)
{
    struct dist *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    *d = (struct dist){.rt = rt,
                       .core = core,
                       .local = *local,
                       .me = config->wire ? config->wire->rank : ALL_RANKS,
                       .ranks = config->wire ? config->wire->ranks : config->ranks,
                       .collects = config->collects,
                       .counts_pages = config->counts_pages};
    /* Most runs use a little of these three. */
    d->heap = ptoi_memory_map(heap_bytes(d), false);
    d->step = ptoi_memory_map(STEPS * sizeof *d->step, false);
    d->asked.word = ptoi_memory_map((ASKED_WORDS + ASKED_MOST) * sizeof *d->asked.word, false);
    d->held = calloc(HELD_TASKS, sizeof *d->held);
    d->tasks_of = calloc((size_t)d->ranks, sizeof *d->tasks_of);
    d->notes.room = (uint64_t)core->config.record_tasks;
    if (d->notes.room > 0) d->notes.task = ptoi_memory_map(d->notes.room * sizeof *d->notes.task, false);
    if ((d->notes.task || d->notes.room == 0) && d->tasks_of && d->heap && d->step && d->asked.word && d->held &&
        ptoi_copies_init(&d->copies, d->me, d->ranks, config->copy_bytes) &&
        (config->wire ? ptoi_transfers_open(&d->transfers, core, config->wire, config->sends, &d->notes,
                                            config->collects != COLLECTS_EVERYWHERE,
                                            &(struct ranked_program){&d->tasks, ptoi_dist_say_steps, d})
                      : open_plan(d))) {
        if (config->wire) ptoi_crash_on_rank(d->me);
        return d;
    }
    ptoi_dist_close(d);
    return NULL;
}

void ptoi_dist_stop(struct dist *d)
{
    if (d && !d->plan) ptoi_transfers_stop(&d->transfers);
}

void ptoi_dist_close(struct dist *d)
{
    if (!d) return;
    if (d->plan) {
        ptoi_plan_close(d->plan);
    } else {
        ptoi_crash_on_rank(PTOI_NO_RANK);
        ptoi_transfers_close(&d->transfers);
    }
    free(d->plan);
    ptoi_dist_close_tensors(d);
    ptoi_copies_free(&d->copies);
    ptoi_memory_unmap(d->heap, heap_bytes(d));
    ptoi_memory_unmap(d->step, STEPS * sizeof *d->step);
    free(d->held);
    ptoi_memory_unmap(d->asked.word, (ASKED_WORDS + ASKED_MOST) * sizeof *d->asked.word);
    free(d->tasks_of);
    ptoi_memory_unmap(d->notes.task, d->notes.room * sizeof *d->notes.task);
    free(d);
}
