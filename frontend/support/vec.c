/* vec.c - the one function behind VEC.
 * Idea       capacity doubles, so pushing n items copies fewer than 2n.
 * Owner      the struct the VEC stands in.
 * Invariant  count <= capacity, and capacity * element_bytes never wraps.
 * Blocks     never; out of memory ends the program with exit code 3.
 * Tests      every lit test
 */
#include "vec.h"
#include <stdint.h>
#include <stdio.h>

void *vec_grow(void *data, size_t *capacity, size_t element_bytes)
{
    size_t wanted = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = wanted > SIZE_MAX / 2 / element_bytes ? NULL : realloc(data, wanted * element_bytes);
    if (grown == NULL) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    *capacity = wanted;
    return grown;
}
