/* skipped.h - what a task leaves of which this rank neither executes, sends nor keeps anything: its step, and its
 * number.
 *
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/wire/test_skipped.c */
#ifndef PTOI_SKIPPED_H
#define PTOI_SKIPPED_H
#include "known_step.h"
#include "submit/failing.h"

/* hold.c: the task makes buffers, and its other tensors are like those of the kernel's last task and lie elsewhere: it
 * is held back (held.h); its number, which is d->number.  Else it has to be looked at, or the run has failed, and
 * `other` submits it. */
int64_t ptoi_dist_hold(struct dist *d, struct known_kernel *known, const PTOTaskParam *params, int32_t count,
                       submit_fn *other);

/* skipped.c: may a rank have copies of what the task writes there? */
bool ptoi_dist_has_copies(const struct dist *d, const struct known_box *known, uint64_t begin);
/* A buffer that a task has made. */
struct skipped_made {
    uint64_t word; /* the head of its item; 0: the buffer concerns this rank, or has to be looked at */
    int32_t home;  /* NO_HOME: it is made by a task that was held back, `reads` */
    uint32_t reads;
};
/* Of a parameter that is like the last one. */
struct skipped_made ptoi_dist_look_at_made(const struct dist *d, const PTOTaskParam *p, const struct known_made *known);

/* false: something has to be done before the next task, be it that tasks are held back or not.  Ranks that are planned
 * know no step, so they skip nothing; and folds, which `packs` is about, are submitted by submit.c. */
static inline bool ptoi_dist_may_skip(const struct dist *d)
{
    return !ptoi_dist_is_time_to_compare(d) && !ptoi_orch_has_failed(&d->core->orch);
}

/* The rank executes the next so many tasks: the number of the last one. */
static inline int64_t ptoi_dist_skip_tasks(struct dist *d, int32_t rank, int64_t count)
{
    const int64_t end = load_relaxed(&d->tasks) + count; /* relaxed: see dist.h */
    store_relaxed(&d->tasks, end);                       /* likewise */
    d->tasks_of[rank] += count;
    return end - 1;
}

/* A pass over the parameters of a task: it is as it should be; it concerns this rank, or has to be looked at; it is
 * not like the last one of its kernel. */
enum passed { PASSED, CONCERNS_US, HAS_OTHER_FORM };

/* Is the home of a tensor another rank?  usual: that of the kernel's last task, which is one; *has_others becomes true
 * where the home is not that. */
static inline bool ptoi_dist_is_foreign(const struct dist *d, int32_t home, int32_t usual, bool *has_others)
{
    if (home == usual) return true;
    *has_others = true;
    return home >= 0 && home != d->me;
}

/* A word that a step has for itself. */
struct own_words {
    uint64_t *next, sum;
};
static inline void ptoi_dist_add_own(struct own_words *w, uint64_t word, uint64_t key)
{
    *w->next++ = word;
    w->sum += word * key;
}

/* The step of a task of the kernel; its own words are those of asked from `begin` on. */
static inline void ptoi_dist_skip_step(struct dist *d, const struct known_kernel *known, const PTOSite *site,
                                       uint64_t sum, uint64_t own)
{
    const struct known_step *const k = &known->step;
    struct asked *const a = &d->asked;
    d->hash = ptoi_dist_mix(d->hash, sum);
    *ptoi_dist_step_at(d, d->steps++) =
        (struct step){.hash = d->hash, .site = site, .form = k->form, .first_own = a->begin};
    a->begin += own;
    a->end = a->begin;
}

#endif
