/* sarif.h - messages as a SARIF file, which code hosts and editors show.
 *
 * Idea       a receiver of diag.h.  The head is printed before the first message and the end behind the last, so the
 *            whole is one object however many there were; each message is a result, a note with a place a related
 *            location.
 * Tests      test/lit/diag/sarif.test */
#ifndef PTOC_SARIF_H
#define PTOC_SARIF_H
#include "diag.h"

struct sarif {
    const struct source_map *sources;
    FILE *out;
    int count; /* results that were printed */
};

void sarif_receive(void *sarif, const struct diag_message *m);
void sarif_end(struct sarif *s);

#endif
