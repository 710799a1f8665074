/* spin.h - kernels of a certain length. */
#ifndef PTO_TEST_SPIN_H
#define PTO_TEST_SPIN_H
#include <stdint.h>
#include <time.h>

static inline void spin(int64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const int64_t until = t.tv_sec * 1000000000 + t.tv_nsec + ns;
    do clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec * 1000000000 + t.tv_nsec < until);
}

#endif
