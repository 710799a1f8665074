/* known_step.h - the words of a task that are the same each time its kernel is called.
 *
 * Idea       two tasks of one kernel mostly differ in where their tensors begin, in scalars and in the rank that
 *            executes them.  These are the numbers of a step (struct step); its other words stand once among those that
 *            are kept, and each step says where.
 * Owner      the orchestrator, for one run; a part of struct known_kernel.
 * Invariant  the parameters whose kinds are here, and whose tensors have the forms in known_kernel.box, are words of
 *            that form.
 * Tests      test/wire/test_skipped.c, test_ranks_failing.c */
#ifndef PTOI_KNOWN_STEP_H
#define PTOI_KNOWN_STEP_H
#include "dist.h"

enum {
    TENSOR_KIND = UINT8_MAX, /* of a parameter: as known_kernel.box says */
    MADE_KIND = 254,         /* all of a buffer that a task has made, known_box.made */
    NEW_KIND = 253           /* one that it makes, likewise */
};
/* For how many words after it a form is used; then it is written again, so it is kept as long as the steps are. */
enum { FORM_WORDS = ASKED_WORDS / 8 };

/* Is it the form of a task with so many parameters, which names so many ranks? */
static inline bool ptoi_known_step_is_there(const struct known_step *k, const struct asked *a, int32_t count,
                                            int32_t ranks)
{
    return k->count == count && k->ranks == ranks && a->begin <= k->last_use;
}
/* Of a rank that a step names, which is its last word or stands before those of others. */
static inline uint64_t ptoi_known_step_rank_key(void)
{
    return asked_key(asked_row(asked_head(ASKED_RANK, 0, 1, 0, 0)), 1);
}
/* The kernel's tasks are like this one from now on, which is no step yet.  false: it has no form. */
bool ptoi_known_step_learn(struct dist *d, struct known_kernel *kernel, const PTOTaskParam *params, int32_t count,
                           int32_t ranks);

/* Is the parameter, which has the form that is known, such a buffer as a whole? */
static inline bool ptoi_known_made_is_like(const struct known_made *m, const PTOTaskParam *p)
{
    if (PTO_RARE_(p->at != 0 || !p->shape || p->shape[0] != m->view[0])) return false;
    if (m->rank == 2 && p->shape[1] != m->view[1]) return false;
    return !p->stride || ptoi_has_extents(m->view, p);
}
/* Have the two the same bytes, dimensions and elements? */
bool ptoi_known_made_is_same(const struct known_made *a, const struct known_made *b);
/* The tensor is such a buffer. */
bool ptoi_known_made_is_any(const struct known_made *m, const struct tensor *t);
static inline bool ptoi_known_made_is(const struct known_made *m, const struct tensor *t)
{
    if (PTO_RARE_(!t->is_whole)) return ptoi_known_made_is_any(m, t);
    return t->home.rank == m->rank && t->home.unit == m->unit && t->home.shape[0] == m->view[0] &&
           (m->rank == 1 || t->home.shape[1] == m->view[1]);
}

#endif
