/* outliving.h - a checked run: buffers that outlive the scope they were made in, because an outer one owns them.
 *
 * Idea       when a scope ends, what was made while it was open and is still owned is held by nothing that will end
 *            soon: not by a task, which ends by itself, but by a scope further out.  A result is meant to be; one more
 *            in each iteration of a loop is a leak.  They are counted by the place that makes them.
 * Owner      the orchestrator.
 * Tests      test/lit/memory/outliving.c */
#ifndef PTOI_OUTLIVING_H
#define PTOI_OUTLIVING_H
#include "scope_stack.h"
#include <stdio.h>

enum { OUTLIVING_PLACES = 64 };

struct outliving_place {
    const char *name;
    const PTOSite *site, *scope, *owner;        /* where it is made; the scope that ended; the one that holds it */
    int64_t count, bytes, count_max, bytes_max; /* held now, and at most at once */
};

struct outliving {
    uint64_t *serial; /* by buffer - 1: of the youngest scope when it was made */
    uint32_t *place;  /* by buffer - 1: 1 + its place, 0: none */
    uint64_t buffers;
    struct outliving_place places[OUTLIVING_PLACES];
    int count;
};

bool ptoi_outliving_init(struct outliving *p, uint64_t buffers); /* false: no memory */
void ptoi_outliving_free(struct outliving *p);
void ptoi_outliving_born(struct outliving *p, uint32_t buffer, uint64_t serial);
void ptoi_outliving_gone(struct outliving *p, uint32_t buffer, uint64_t bytes);
void ptoi_outliving_scope_ends(struct outliving *p, const struct scope_stack *s); /* the innermost */
void ptoi_outliving_write(const struct outliving *p, FILE *out);

#endif
