/* span.h - small blocks: cut from spans of 256 KiB, each of one size class.
 *
 * Idea       a span is aligned to its size, so the head of a block's span is found by a mask; free blocks are linked
 *            through their first word.
 * Owner      the pool, under its lock.
 * Invariant  a span is listed while it has a free block.
 * Tests      test/runtime/test_pool.c */
#ifndef PTOI_SPAN_H
#define PTOI_SPAN_H
#include "size_class.h"
#include <stdbool.h>

enum { SPAN_BYTES = 256 * 1024, SPAN_MAX_BLOCK = 32 * 1024 };

struct span {
    struct span *next, **link; /* listed: the place that points here */
    void *free;                /* blocks that were given back */
    uint32_t block_bytes, carved, used, count;
};

struct spans {
    struct span *with_room[SIZE_CLASSES]; /* up to the class of SPAN_MAX_BLOCK */
};

struct span *ptoi_span_obtain(void);   /* from the system; outside the lock.  NULL: no memory */
void ptoi_span_return(struct span *s); /* to the system; outside the lock.  NULL is fine */
void ptoi_span_add(struct spans *all, struct span *s, uint64_t block_bytes);
void *ptoi_span_take(struct spans *all, uint64_t block_bytes); /* NULL: no span of this class has room */
/* The block's span if it is empty now and no longer listed, for the caller to return or to add again; else NULL. */
struct span *ptoi_span_give(struct spans *all, void *block, bool keeps_empty);
/* An empty span, no longer listed; NULL: there is none. */
struct span *ptoi_span_empty(struct spans *all);

#endif
