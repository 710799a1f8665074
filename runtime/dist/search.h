/* search.h - what ranks were asked to do is compared, as far as all of them have come, and the first word that differs
 * is searched.
 *
 * Idea       rank 0 asks all ranks the same question, itself too, and when all have answered the next one: how far are
 *            they, what is the hash of some step, what are its words.  The steps below those of the slowest rank never
 *            change, so an answer stays right however late it is, and a rank may go on meanwhile.
 * Owner      rank 0's struct standstill, which carries questions and answers; it knows no tasks, and neither does this.
 * Blocks     never.
 * Tests      test/wire/test_search.c */
#ifndef PTOI_SEARCH_H
#define PTOI_SEARCH_H
#include "wire/wire.h"
#include <stddef.h>

enum { SEARCH_WORDS = 8 }; /* of a step, in an answer */

/* Of wire_status.word. */
struct search_question {
    uint64_t is_asked; /* else the question is about other things */
    uint64_t step, position;
};

struct search_answer {
    uint64_t is_there;           /* the program waits there, and has answered; else the rest is 0 */
    uint64_t is_still;           /* and nothing runs or is ready there, and nothing has to leave, */
    uint64_t meets;              /* or the program waits for all ranks */
    uint64_t events;             /* all that has happened there */
    uint64_t sent, received;     /* messages of this run that the wire was given, and that have come */
    uint64_t reductions;         /* of this run that were begun there */
    uint64_t steps, agreed;      /* that it was asked for; those that all ranks agree on, as it knows */
    uint64_t hash;               /* of all steps up to the one of the question; 0: it has not come to its end */
    uint64_t is_whole, is_kept;  /* that step; else its words may become more, or are forgotten */
    uint64_t words;              /* of it */
    uint64_t word[SEARCH_WORDS]; /* from the position on */
    uint64_t line, column;       /* of it; 0: unknown */
};
_Static_assert(sizeof(struct search_answer) <= sizeof(uint64_t[WIRE_WORDS]), "an answer fits into a status");

enum search_state { SEARCH_RANGE, SEARCH_NEWEST, SEARCH_STEP, SEARCH_WORD };
enum search_verdict {
    SEARCH_LATER, /* some rank could not answer; the same question again */
    SEARCH_ASKS,  /* another question */
    SEARCH_SAME,  /* all agree, as far as they have come */
    SEARCH_FOUND, /* they disagree at `step` */
    SEARCH_LOST   /* likewise, and no rank knows more */
};

struct search {
    enum search_state state;
    uint64_t low, high; /* the steps below low are the same, that of high is not */
    uint64_t step, position;
    uint64_t head, head_at, next_head; /* the item that the newest words were of, where it and the next one stand */
    /* of what was found: the first rank that differs from rank 0, and both values; `position` of the first word that
     * differs */
    int32_t rank;
    uint64_t value[2];
};

void ptoi_search_begin(struct search *s);
struct search_question ptoi_search_question(const struct search *s);
/* All ranks have answered that question. */
enum search_verdict ptoi_search_go_on(struct search *s, const struct search_answer *answer, int32_t ranks);
/* Among the words of the item `head`; -1: the heads differ. */
static inline int32_t ptoi_search_place(const struct search *s)
{
    return s->position == s->next_head ? -1 : (int32_t)(s->position - s->head_at) - 1;
}

#endif
