/* resting.h - freed blocks of a process that has had a checked runtime: filled with a pattern, and not used again at
 * once, so that an address which was kept too long is seen.
 *
 * Idea       a queue of freed blocks; the one that has rested longest is freed when 64 blocks or 64 MiB rest.
 * Owner      the pool, under its lock.
 * Invariant  a block that rests is in use, as far as the pool knows.
 * Tests      test/runtime/test_pool.c */
#ifndef PTOI_RESTING_H
#define PTOI_RESTING_H
#include <pto/pto_pool.h>
#include <stdbool.h>
#include <stdint.h>

struct rested {
    PTOPool *pool;
    void *memory;
    uint64_t bytes;
};

void ptoi_rest_from_now_on(void);
bool ptoi_rests(void); /* without the lock */

/* Fills the block and adds it.  true: *oldest has to be freed for it. */
bool ptoi_rest_add(const struct rested *freed, struct rested *oldest);
/* The block that has rested longest, if all are wanted or too many bytes rest. */
bool ptoi_rest_take(struct rested *oldest, bool all);

#endif
