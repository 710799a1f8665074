/* integers.h - arithmetic of integers that C lacks. */
#ifndef PTOC_INTEGERS_H
#define PTOC_INTEGERS_H
#include <stdint.h>

/* The greatest common divisor, at least 0.  Neither is INT64_MIN. */
static inline int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

#endif
