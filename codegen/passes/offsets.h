/* offsets.h - places in one piece of memory for tensors of which some are never alive together; made by offsets.c. */
#ifndef PTOC_OFFSETS_H
#define PTOC_OFFSETS_H
#include <stddef.h>
#include <stdint.h>

enum { OFFSETS_EXACT = 12 }; /* up to so many tensors no other places need fewer bytes */

struct offset {
    int first, last; /* alive from, to: both included */
    int64_t bytes;   /* at least 0 */
    int64_t at;      /* the answer */
};

/* Sets `at` of each; returns the bytes of the whole.  -1: side by side they are more than 64 bits say, or
 * there is no memory. */
int64_t offsets_place(struct offset *list, size_t count);
/* The first step alone: greedy by decreasing size. */
int64_t offsets_place_greedily(struct offset *list, size_t count);

#endif
