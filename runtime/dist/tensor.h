/* tensor.h - a buffer of the program or of the heap, as all ranks know it.
 *
 * Idea       a tensor has a number, which is the same on all ranks, a distribution, and copies of its pieces.
 * Owner      the orchestrator; struct dist has them.  Made and ended by tensors.c.
 * Tests      test/wire/test_homes.c */
#ifndef PTOI_DIST_TENSOR_H
#define PTOI_DIST_TENSOR_H
#include "copies.h"

#define NO_TENSOR UINT32_MAX

/* Where the first bytes of an array come from: `read` reads bytes [at, at + bytes) of it, or returns false.
 * is_result: at the end of the run rank 0 has all of them, whether a task has written them or not; unless they stay at
 * their homes.  is_reserved: only addresses of the array were reserved, by pto_shared_alloc, so this rank has memory
 * where it touches it. */
struct dist_source {
    bool is_result, stays, is_reserved;
    bool (*read)(void *cx, int64_t at, int64_t bytes, void *to);
    void *cx;
    const bool *lacks; /* by rank: it cannot read, and rank 0 sends it what it has; NULL: all can */
};

/* A buffer of the program or of the heap. */
struct tensor {
    uint32_t number;    /* the same on all ranks; NO_TENSOR: its lifetime has ended */
    bool is_everywhere; /* all ranks have all of it, as no task has written it yet */
    bool is_settled;    /* its distribution no longer changes */
    bool is_written;    /* by a task */
    bool is_lent;       /* rank 0 has yet to send what the others cannot read */
    bool is_awaited;    /* the program may look at copies of it */
    bool is_whole;      /* it is one cell, by ptoi_dist_add_whole */
    bool is_counted;    /* touched.c: in this run; then, when it has ended, owned and touched: */
    char *base;
    int64_t bytes;
    struct distribution home;
    struct tensor_copies copies;
    uint16_t *home_of_cell;    /* of whole cells, in row-major order; NULL: not made.  Of the tensor, settled */
    uint32_t buffer;           /* of the heap; 0: memory of the program */
    struct dist_source source; /* of its first bytes, at the homes; read NULL: they are there */
    int64_t owned, touched;    /* bytes that this rank is the home of, and of the pages it has; negative: not yet */
    struct tensor *next;       /* of those that are not used */
};

/* Makes home_of_cell, if the tensor is settled and the table is small. */
void ptoi_dist_make_homes(struct tensor *t, int32_t ranks);

/* Rank 0 gets what others have of it at the end of the run, unless it stays. */
static inline bool ptoi_dist_is_result(const struct tensor *t) { return t->is_written || t->source.is_result; }

#endif
