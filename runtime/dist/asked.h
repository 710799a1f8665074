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
#include <stdint.h>

enum asked_item {
    ASKED_NOTHING, /* a rank has fewer steps */
    ASKED_TASK,    /* the hash of the kernel's name */
    ASKED_SCALAR,  /* its bits */
    ASKED_PARAM,   /* of another kind, which is `detail` */
    ASKED_BOX,     /* of a buffer: where it begins and ends in each dimension; detail: it is read, written */
    ASKED_OUTPUT,  /* the extents of a new buffer */
    ASKED_RANK,    /* that executes the task */
    ASKED_AWAIT,   /* of a buffer: the first byte, and how many */
    ASKED_HOMES,   /* of a buffer: cell and grid of each dimension */
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
static inline uint32_t asked_buffer_of(uint64_t head) { return (uint32_t)(head >> 32); }

/* The words that are kept, a power of two: those of 30,000 steps and more. */
enum { ASKED_WORDS = 1 << 20 };

struct asked {
    uint64_t *word; /* by number % ASKED_WORDS */
    uint64_t begin; /* of the step that is being read */
    uint64_t end;
};

static inline void ptoi_ask(struct asked *a, uint64_t word) { a->word[a->end++ % ASKED_WORDS] = word; }

#endif
