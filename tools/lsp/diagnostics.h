/* diagnostics.h - the messages of a check as the protocol has them. */
#ifndef PTOC_LSP_DIAGNOSTICS_H
#define PTOC_LSP_DIAGNOSTICS_H
#include "positions.h"
#include "result.h"

struct document;
struct server;

/* A piece of a file, as a client names it. */
struct location {
    char *uri;
    struct range range;
};

/* A change that takes a message away. */
struct fix {
    struct location at;
    char *title, *replacement;
};

struct finding {
    enum diag_id id;
    struct location at;
    char *json; /* the Diagnostic */
    VEC(struct fix) fixes;
};

typedef VEC(struct finding *) finding_list;

void findings_free(finding_list *list);
/* Takes over what a check of the document has said, and publishes it. */
void diagnostics_take(struct server *s, struct document *d, struct result *r);
/* The document is closed, and no longer among those of the server: only what other checks said about it is left. */
void diagnostics_close(struct server *s, struct document *d);

#endif
