/* test_search.c - the search for the first word that differs, among ranks that have made different numbers of steps. */
#include "dist/asked.h"
#include "dist/search.h"
#include "unit.h"

enum { RANKS = 4, STEPS = 40, WORDS = 20 };

/* A step: items of a head and two words. */
struct program {
    uint64_t word[STEPS][WORDS], words[STEPS];
    uint64_t steps, agreed; /* the former: complete; the next one is there in part */
    uint64_t part;
};

static uint64_t random_of(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

static uint64_t hash_of(const struct program *p, uint64_t step)
{
    uint64_t hash = 0;
    for (uint64_t s = 0; s <= step; s++) {
        for (uint64_t k = 0; k < p->words[s]; k++) hash = ptoi_dist_mix(hash, p->word[s][k]);
        hash = ptoi_dist_mix(hash, p->words[s]);
    }
    return hash;
}

static struct search_answer answer_of(const struct program *p, struct search_question q)
{
    struct search_answer said = {.is_there = 1, .steps = p->steps, .agreed = p->agreed, .is_kept = 1};
    if (q.step > p->steps || q.step >= STEPS) return said;
    said.is_whole = q.step < p->steps;
    said.hash = said.is_whole ? hash_of(p, q.step) : 0;
    said.words = said.is_whole ? p->words[q.step] : p->part;
    for (uint64_t k = 0; k < SEARCH_WORDS && q.position + k < said.words; k++)
        said.word[k] = p->word[q.step][q.position + k];
    return said;
}

static enum search_verdict search(struct search *s, const struct program *p, uint64_t *seed)
{
    enum search_verdict verdict = SEARCH_ASKS;
    int rounds = 0;
    ptoi_search_begin(s);
    while (verdict == SEARCH_ASKS || verdict == SEARCH_LATER) {
        struct search_answer answer[RANKS];
        for (int k = 0; k < RANKS; k++) answer[k] = answer_of(&p[k], ptoi_search_question(s));
        const bool is_late = random_of(seed) % 4 == 0;
        if (is_late) answer[random_of(seed) % RANKS] = (struct search_answer){.is_there = 0};
        verdict = ptoi_search_go_on(s, answer, RANKS);
        EXPECT_EQ(verdict == SEARCH_LATER, is_late);
        EXPECT(rounds++ < 1000);
    }
    return verdict;
}

static void write_steps(struct program *p, uint64_t *seed)
{
    for (uint64_t s = 0; s < STEPS; s++) {
        p->words[s] = 3 * (1 + random_of(seed) % (WORDS / 3));
        for (uint64_t k = 0; k < WORDS; k++)
            p->word[s][k] = k % 3 == 0 ? asked_head(ASKED_HOMES, (int32_t)k, 2, 0, 0) : random_of(seed) % 1000;
    }
}

TEST(the_first_word_that_differs_is_found)
{
    static struct program p[RANKS];
    for (uint64_t seed = 1, run = 0; run < 2000; run++) {
        write_steps(p, &seed);
        for (int k = 1; k < RANKS; k++) p[k] = p[0];
        const uint64_t step = random_of(&seed) % STEPS, at = random_of(&seed) % p->words[step];
        const int other = 1 + (int)(random_of(&seed) % (RANKS - 1));
        const bool differs = random_of(&seed) % 4 > 0;
        for (int k = other; k < RANKS && differs; k++) p[k].word[step][at] += 1000;
        uint64_t least = STEPS, part = UINT64_MAX;
        for (int k = 0; k < RANKS; k++) {
            p[k].steps = random_of(&seed) % STEPS;
            p[k].part = random_of(&seed) % (p[k].words[p[k].steps] + 1);
            if (p[k].steps < least) least = p[k].steps;
        }
        for (int k = 0; k < RANKS; k++) {
            p[k].agreed = differs && step < least ? random_of(&seed) % (step + 1) : random_of(&seed) % (least + 1);
            if (p[k].steps == least && p[k].part < part) part = p[k].part;
        }
        struct search s;
        const enum search_verdict verdict = search(&s, p, &seed);
        const bool is_there = differs && (step < least || (step == least && at < part));
        EXPECT_EQ(verdict, is_there ? SEARCH_FOUND : SEARCH_SAME);
        if (!is_there) continue;
        EXPECT_EQ(s.step, step);
        EXPECT_EQ(s.position, at);
        EXPECT_EQ(s.rank, other);
        EXPECT_EQ(s.value[1], s.value[0] + 1000);
        EXPECT_EQ(ptoi_search_place(&s), at % 3 == 0 ? -1 : (int32_t)(at % 3) - 1);
    }
}

TEST(a_rank_that_has_fewer_words_is_found)
{
    static struct program p[RANKS];
    uint64_t seed = 7;
    write_steps(p, &seed);
    p[0].words[3] = 6;
    p[0].steps = 5;
    for (int k = 1; k < RANKS; k++) p[k] = p[0];
    p[2].words[3] = 3;
    struct search s;
    EXPECT_EQ(search(&s, p, &seed), SEARCH_FOUND);
    EXPECT_EQ(s.step, 3);
    EXPECT_EQ(s.rank, 2);
    EXPECT_EQ(ptoi_search_place(&s), -1);
    EXPECT_EQ(asked_item_of(s.value[1]), ASKED_NOTHING);
}

/* The hashes differ, and the words that are kept do not. */
TEST(a_step_without_another_word_is_found)
{
    static struct program p[RANKS];
    uint64_t seed = 9;
    write_steps(p, &seed);
    p[0].steps = 5;
    for (int k = 1; k < RANKS; k++) p[k] = p[0];
    struct search s;
    ptoi_search_begin(&s);
    enum search_verdict verdict = SEARCH_ASKS;
    while (verdict == SEARCH_ASKS) {
        struct search_answer answer[RANKS];
        for (int k = 0; k < RANKS; k++) answer[k] = answer_of(&p[k], ptoi_search_question(&s));
        if (ptoi_search_question(&s).step >= 2 && answer[3].hash) answer[3].hash++;
        verdict = ptoi_search_go_on(&s, answer, RANKS);
    }
    EXPECT_EQ(verdict, SEARCH_LOST);
    EXPECT_EQ(s.step, 2);
}
