/* check.c - the end of a process whose invariants broke; and the coin that the `tiny` build tosses at every label. */
#include "check.h"
#include "atomics.h"
#include "system.h"
#include <stdio.h>
#include <stdlib.h>

void ptoi_check_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "internal error: %s:%d: %s\n", file, line, condition);
    abort();
}

#ifdef PTO_TINY
void ptoi_yield_maybe(void)
{
    static _Thread_local uint32_t state;
    if (state == 0) state = (uint32_t)(uintptr_t)&state | 1;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    if (state % 4 == 0) ptoi_yield();
}
#endif
