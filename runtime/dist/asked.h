/* asked.h - what a rank was asked to do, in words that are the same on all ranks.
 *
 * Idea       a step of the program is a row of items: a head, and the numbers of it.  The hash of a step is made of its
 *            words, and the newest words are kept, so that ranks that disagree name the item and its two values.
 * Owner      the orchestrator; struct dist has it.
 * Invariant  never an address, a time or the size of a ring.
 * Blocks     never.
 * Tests      test/wire/test_ranks_failing.c */
#ifndef PTOI_ASKED_H
#define PTOI_ASKED_H
#include <stddef.h>
#include <stdint.h>

enum asked_item {
    ASKED_NOTHING, /* a rank has fewer steps */
    ASKED_TASK,    /* the hash of the kernel's name */
    ASKED_SCALAR,  /* its bits */
    ASKED_PARAM,   /* that names no bytes: its kind is `detail` */
    ASKED_VIEW,    /* whose form its box does not show: its extents, then its strides */
    ASKED_BOX,     /* of a buffer: the extents, and the first element; detail: the kind of the parameter */
    ASKED_OUTPUT,  /* the extents of a new buffer */
    ASKED_RANK,    /* that executes the task */
    ASKED_AWAIT,   /* of a buffer: the first byte, and how many */
    ASKED_HOMES,   /* of a buffer: cell and grid of each dimension */
    ASKED_FAILURE, /* it ends here with an error, which is that of all ranks; no step has it */
    ASKED_END      /* of the program */
};

/* The head of an item: parameter `index` of a task, `buffer` the number of a buffer, `count` words follow. */
static inline uint64_t asked_head(enum asked_item item, int32_t index, int32_t count, int32_t detail, uint32_t buffer)
{
    return (uint64_t)item | (uint64_t)(uint8_t)index << 8 | (uint64_t)(uint8_t)count << 16 |
           (uint64_t)(uint8_t)detail << 24 | (uint64_t)buffer << 32;
}
static inline enum asked_item asked_item_of(uint64_t head) { return (enum asked_item)(head & 0xff); }
static inline int32_t asked_index_of(uint64_t head) { return (int32_t)(head >> 8 & 0xff); }
static inline int32_t asked_count_of(uint64_t head) { return (int32_t)(head >> 16 & 0xff); }
static inline int32_t asked_detail_of(uint64_t head) { return (int32_t)(head >> 24 & 0xff); }
static inline uint32_t asked_buffer_of(uint64_t head) { return (uint32_t)(head >> 32); }

/* The words that are kept, a power of two: those of 30,000 steps and more. */
enum { ASKED_WORDS = 1 << 20, ASKED_MOST = 64 };

struct asked {
    uint64_t *word; /* by number % ASKED_WORDS; ASKED_MOST more, see ptoi_ask_next */
    uint64_t begin; /* of the step that is being read */
    uint64_t end;
    uint64_t sum;           /* of its words, each times its key */
    uint64_t row, position; /* of the item that is being read, and of its next word */
};

static inline uint64_t ptoi_dist_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* The key of a word depends on its item and on its place in it alone, so the words that many steps share are summed
 * once.  (Multilinear hashing: D. Lemire, O. Kaser, "Strongly universal string hashing is fast", The Computer Journal
 * 57, 2014.) */
static inline uint64_t asked_row(uint64_t head) { return head & 0xffff; }
static inline uint64_t asked_key(uint64_t row, uint64_t position) { return ptoi_dist_mix(1, row << 8 | position) | 1; }

static inline void ptoi_ask(struct asked *a, uint64_t word)
{
    a->sum += word * asked_key(a->row, a->position++);
    a->word[a->end++ % ASKED_WORDS] = word;
}
/* Words of which the sum is known. */
static inline void ptoi_ask_known(struct asked *a, const uint64_t *word, uint64_t count, uint64_t sum)
{
    for (uint64_t i = 0; i < count; i++) a->word[(a->end + i) % ASKED_WORDS] = word[i];
    a->end += count;
    a->sum += sum;
}
static inline void ptoi_ask_item(struct asked *a, uint64_t head)
{
    a->row = asked_row(head);
    a->position = 0;
    ptoi_ask(a, head);
}
/* Where the first word of the next step is written, if its words shall lie side by side: there is room for ASKED_MOST
 * of them, also behind the last word of all.  The caller changes begin and end. */
static inline uint64_t *ptoi_ask_next(const struct asked *a) { return a->word + a->begin % ASKED_WORDS; }

#endif
