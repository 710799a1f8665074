/* steps.c - what a rank says about the steps of its program.  See dist.h, search.h.
 *
 * Owner      the orchestrator, which waits for something else meanwhile.
 * Blocks     never.
 * Tests      test/wire/test_ranks_failing.c, check_disagree.py */
#include "dist.h"
#include "search.h"
#include <stdio.h>

/* The words of a step that it has for itself lie side by side, in the order of their positions (known_step.h). */
static uint64_t word_of(const struct dist *d, const struct step *s, uint64_t position)
{
    const uint64_t bit = position < 64 ? UINT64_C(1) << position : 0;
    return s->own & bit ? d->asked.word[s->first_own % ASKED_WORDS + (uint64_t)__builtin_popcountll(s->own & (bit - 1))]
                        : d->asked.word[(s->first_word + position) % ASKED_WORDS];
}

/* The words of a step that is not complete, as far as they are there. */
static struct step step_now(const struct dist *d)
{
    return (struct step){
        .site = *d->core->orch.site, .first_word = d->asked.begin, .words = d->asked.end - d->asked.begin};
}

/* The program cannot go on, and waits until the other ranks have come to the same. */
static void say_failure(struct search_answer *said)
{
    said->words = 1;
    said->word[0] = asked_head(ASKED_FAILURE, 0, 0, 0, 0);
    said->is_kept = 1;
}

static void say_words(const struct dist *d, const struct step *s, uint64_t position, struct search_answer *said)
{
    said->words = s->words;
    said->is_kept = s->first_word + ASKED_WORDS >= d->asked.end;
    for (uint64_t k = 0; k < SEARCH_WORDS && position + k < s->words; k++) said->word[k] = word_of(d, s, position + k);
}

const PTOSite *ptoi_dist_say_steps(void *dist, const struct search_question *question, struct search_answer *said,
                                   struct wire_status *status)
{
    const struct dist *d = dist;
    struct step s = step_now(d);
    said->steps = d->steps;
    said->agreed = d->agreed;
    said->is_whole = question->step < d->steps;
    if (said->is_whole) {
        s = *ptoi_dist_step_at(d, question->step);
        said->hash = s.hash;
    } else if (question->step > d->steps) {
        return NULL;
    }
    if (!said->is_whole && d->is_failing)
        say_failure(said);
    else
        say_words(d, &s, question->position, said);
    if (s.name) snprintf(status->name, sizeof status->name, "%s", s.name);
    if (s.site) {
        snprintf(status->file, sizeof status->file, "%s", s.site->file);
        said->line = (uint64_t)s.site->line;
        said->column = (uint64_t)pto_site_column(s.site);
    }
    return s.site;
}
