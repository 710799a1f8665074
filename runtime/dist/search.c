/* search.c - see search.h. */
#include "search.h"
#include "asked.h"

#define NO_STEP UINT64_MAX

void ptoi_search_begin(struct search *s) { *s = (struct search){.state = SEARCH_RANGE, .step = NO_STEP}; }

struct search_question ptoi_search_question(const struct search *s)
{
    return (struct search_question){.is_asked = 1, .step = s->step, .position = s->position};
}

static enum search_verdict ask_words(struct search *s, uint64_t step, uint64_t position)
{
    s->state = SEARCH_WORD;
    s->step = step;
    s->position = position;
    if (position == 0) s->head = s->head_at = s->next_head = 0;
    return SEARCH_ASKS;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

/* What one rank knows to be agreed on is so on all. */
static enum search_verdict take_range(struct search *s, const struct search_answer *answer, int32_t ranks)
{
    s->low = answer->agreed;
    s->high = answer->steps;
    for (int32_t k = 1; k < ranks; k++) {
        if (answer[k].agreed > s->low) s->low = answer[k].agreed;
        if (answer[k].steps < s->high) s->high = answer[k].steps;
    }
    if (s->low >= s->high) return ask_words(s, s->high, 0);
    s->state = SEARCH_NEWEST;
    s->step = s->high - 1;
    return SEARCH_ASKS;
}

static bool is_same(const struct search_answer *answer, int32_t ranks)
{
    for (int32_t k = 1; k < ranks; k++)
        if (answer[k].hash != answer->hash) return false;
    return true;
}

static enum search_verdict halve(struct search *s)
{
    if (s->low == s->high) return ask_words(s, s->low, 0);
    s->state = SEARCH_STEP;
    s->step = s->low + (s->high - s->low) / 2;
    return SEARCH_ASKS;
}

static enum search_verdict take_newest(struct search *s, const struct search_answer *answer, int32_t ranks)
{
    if (is_same(answer, ranks)) return ask_words(s, s->step + 1, 0);
    s->high = s->step;
    return halve(s);
}

static enum search_verdict take_step(struct search *s, const struct search_answer *answer, int32_t ranks)
{
    if (is_same(answer, ranks))
        s->low = s->step + 1;
    else
        s->high = s->step;
    return halve(s);
}

/* ---- its words --------------------------------------------------------------------------------------------------- */

/* After the last word of a step comes one that says that it is the last. */
static uint64_t word_at(const struct search *s, const struct search_answer *answer, uint64_t position)
{
    return position < answer->words ? answer->word[position - s->position] : asked_head(ASKED_NOTHING, 0, 0, 0, 0);
}

/* Words that no rank takes back: of ranks that are at the step yet those that are there, of others all. */
static uint64_t words_to_compare(const struct search_answer *answer, int32_t ranks)
{
    uint64_t most = 0, least = UINT64_MAX;
    for (int32_t k = 0; k < ranks; k++) {
        if (answer[k].words > most) most = answer[k].words;
        if (!answer[k].is_whole && answer[k].words < least) least = answer[k].words;
    }
    return least < most ? least : most;
}

static bool is_whole(const struct search_answer *answer, int32_t ranks)
{
    for (int32_t k = 0; k < ranks; k++)
        if (!answer[k].is_whole) return false;
    return true;
}

static bool is_kept(const struct search_answer *answer, int32_t ranks)
{
    for (int32_t k = 0; k < ranks; k++)
        if (!answer[k].is_kept) return false;
    return true;
}

static void read_head(struct search *s, uint64_t position, uint64_t word)
{
    if (position != s->next_head) return;
    s->head = word;
    s->head_at = position;
    s->next_head = position + 1 + (uint64_t)asked_count_of(word);
}

/* 0: no rank differs from the first. */
static int32_t first_other(const struct search *s, const struct search_answer *answer, int32_t ranks, uint64_t position)
{
    for (int32_t k = 1; k < ranks; k++)
        if (word_at(s, &answer[k], position) != word_at(s, answer, position)) return k;
    return 0;
}

static enum search_verdict take_words(struct search *s, const struct search_answer *answer, int32_t ranks)
{
    const uint64_t end = words_to_compare(answer, ranks);
    if (!is_kept(answer, ranks)) return SEARCH_LOST;
    for (uint64_t at = s->position; at < end && at < s->position + SEARCH_WORDS; at++) {
        const int32_t other = first_other(s, answer, ranks, at);
        if (other == 0) {
            read_head(s, at, word_at(s, answer, at));
            continue;
        }
        s->rank = other;
        s->value[0] = word_at(s, answer, at);
        s->value[1] = word_at(s, &answer[other], at);
        s->position = at;
        return SEARCH_FOUND;
    }
    if (s->position + SEARCH_WORDS < end) return ask_words(s, s->step, s->position + SEARCH_WORDS);
    return is_whole(answer, ranks) && !is_same(answer, ranks) ? SEARCH_LOST : SEARCH_SAME;
}

enum search_verdict ptoi_search_go_on(struct search *s, const struct search_answer *answer, int32_t ranks)
{
    for (int32_t k = 0; k < ranks; k++)
        if (!answer[k].is_there) return SEARCH_LATER;
    switch (s->state) {
    case SEARCH_RANGE: return take_range(s, answer, ranks);
    case SEARCH_NEWEST: return take_newest(s, answer, ranks);
    case SEARCH_STEP: return take_step(s, answer, ranks);
    case SEARCH_WORD: return take_words(s, answer, ranks);
    }
    return SEARCH_SAME;
}
