/* rows.h - a system of linear inequalities, for the proofs of facts.c. */
#ifndef PTOC_ROWS_H
#define PTOC_ROWS_H
#include <stdbool.h>
#include <stdint.h>

enum { MAX_ATOMS = 48, MAX_ROWS = 320 };

struct row {
    int64_t c[MAX_ATOMS], k; /* sum of c * atom, + k, is >= 0 */
};

struct rows {
    struct row *row; /* MAX_ROWS, the caller's */
    int count, atoms;
    long *work; /* left: each row costs some, and without it nothing is found */
};

/* r is changed.  True: r alone is false.  What finds no room is left out, which proves less. */
bool rows_add(struct rows *s, struct row *r);
/* True: no integers fulfil all rows, which are gone then. */
bool rows_contradict(struct rows *s);

#endif
