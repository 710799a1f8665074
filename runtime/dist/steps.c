/* steps.c - what a rank says about the steps of its program.  See dist.h, search.h.
 *
 * Owner      the orchestrator, which waits for something else meanwhile.
 * Blocks     never.
 * Tests      test/wire/test_ranks_failing.c, check_disagree.py */
#include "dist.h"
#include "search.h"
#include <stdio.h>

/* The words of a step. */
struct words {
    uint64_t first, count;
    uint64_t own, first_own; /* as struct step has them */
    const char *name;
};

static uint64_t kept(const struct asked *a, uint64_t number) { return a->word[number % ASKED_WORDS]; }

/* Those that the step has for itself lie side by side, in the order of their positions (known_step.h). */
static uint64_t word_of(const struct asked *a, const struct words *w, uint64_t position)
{
    const uint64_t bit = position < 64 ? UINT64_C(1) << position : 0;
    return w->own & bit ? a->word[w->first_own % ASKED_WORDS + (uint64_t)__builtin_popcountll(w->own & (bit - 1))]
                        : kept(a, w->first + position);
}

static struct words words_of(const struct asked *a, const struct step *s)
{
    if (s->form + ASKED_WORDS < a->end) return (struct words){.first = s->form}; /* not kept */
    const uint64_t count = kept(a, s->form);
    return (struct words){.first = s->form - count,
                          .count = count,
                          .own = kept(a, s->form + 1),
                          .first_own = s->first_own,
                          .name = (const char *)(uintptr_t)kept(a, s->form + 2)};
}

/* Of a step that is not complete, as far as they are there. */
static struct words words_now(const struct asked *a)
{
    return (struct words){.first = a->begin, .count = a->end - a->begin};
}

/* The program cannot go on, and waits until the other ranks have come to the same. */
static void say_failure(struct search_answer *said)
{
    said->words = 1;
    said->word[0] = asked_head(ASKED_FAILURE, 0, 0, 0, 0);
    said->is_kept = 1;
}

static void say_words(const struct asked *a, const struct words *w, uint64_t position, struct search_answer *said)
{
    said->words = w->count;
    said->is_kept = w->first + ASKED_WORDS >= a->end;
    for (uint64_t k = 0; k < SEARCH_WORDS && position + k < w->count; k++) said->word[k] = word_of(a, w, position + k);
}

const PTOSite *ptoi_dist_say_steps(void *dist, const struct search_question *question, struct search_answer *said,
                                   struct wire_status *status)
{
    const struct dist *d = dist;
    const PTOSite *site = *d->core->orch.site;
    struct words w = words_now(&d->asked);
    said->steps = d->steps;
    said->agreed = d->agreed;
    said->is_whole = question->step < d->steps;
    if (said->is_whole) {
        const struct step *const s = ptoi_dist_step_at(d, question->step);
        site = s->site;
        w = words_of(&d->asked, s);
        said->hash = s->hash;
    } else if (question->step > d->steps) {
        return NULL;
    }
    if (!said->is_whole && d->is_failing)
        say_failure(said);
    else
        say_words(&d->asked, &w, question->position, said);
    if (w.name) snprintf(status->name, sizeof status->name, "%s", w.name);
    if (site) {
        snprintf(status->file, sizeof status->file, "%s", site->file);
        said->line = (uint64_t)site->line;
        said->column = (uint64_t)pto_site_column(site);
    }
    return site;
}
