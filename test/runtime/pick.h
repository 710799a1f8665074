/* pick.h - numbers that look random and are the same in every run of a test.
 * Owner      the test: it sets rng_state, which is not 0, before its first pick. */
#ifndef PTO_TEST_PICK_H
#define PTO_TEST_PICK_H
#include <stdint.h>

static uint64_t rng_state;

static inline uint64_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

/* A number of low .. high. */
static inline int64_t pick(int64_t low, int64_t high) { return low + (int64_t)(rng() % (uint64_t)(high - low + 1)); }

#endif
