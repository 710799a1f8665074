/* allocate.h - memory of the server itself, which outlives a check. */
#ifndef PTOC_LSP_ALLOCATE_H
#define PTOC_LSP_ALLOCATE_H
#include <stdio.h>
#include <stdlib.h>

/* Zeroed; out of memory ends the program with exit code 3, as in the compiler. */
static inline void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

#endif
