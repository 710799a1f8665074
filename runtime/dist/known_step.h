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
#include "asked.h"
#include "known_box.h"

enum { NOT_KNOWN = -1, TENSOR_KIND = UINT8_MAX };
/* For how many words after it a form is used; then it is written again, so it is kept as long as the steps are. */
enum { FORM_WORDS = ASKED_WORDS / 8 };

/* Forgets the form. */
static inline void ptoi_known_step_forget(struct known_step *k) { k->count = NOT_KNOWN; }
/* Is it that of a task with so many parameters? */
static inline bool ptoi_known_step_is_there(const struct known_step *k, const struct asked *a, int32_t count)
{
    return k->count == count && a->begin - k->first_word <= FORM_WORDS;
}
/* Of the rank that executes the task. */
static inline uint64_t ptoi_known_step_rank_key(void)
{
    return asked_key(asked_row(asked_head(ASKED_RANK, 0, 1, 0, 0)), 1);
}
/* The kernel's tasks are like this one from now on, which is no step yet.  false: it has no form. */
bool ptoi_known_step_learn(struct known_kernel *kernel, struct asked *a, const PTOTaskParam *params, int32_t count);

#endif
