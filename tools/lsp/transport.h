/* transport.h - messages of the protocol on two file descriptors. */
#ifndef PTOC_LSP_TRANSPORT_H
#define PTOC_LSP_TRANSPORT_H
#include "support/strbuf.h"
#include "support/vec.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct transport {
    int in, out;
    FILE *log;             /* or NULL */
    struct strbuf input;   /* read, but not yet a whole message */
    size_t done;           /* of it, the bytes that are worked off */
    VEC(json_t *) waiting; /* messages that were read, the oldest at `first` */
    size_t first;
    bool is_at_end; /* of the input */
};

void transport_free(struct transport *t);
/* Reads all input that is there; `waits`: until there is a message or the input ends. */
void transport_read(struct transport *t, bool waits);
json_t *transport_next(struct transport *t); /* the oldest message, which is the caller's; NULL: none waits */
/* The body of one message. */
void transport_send(struct transport *t, const struct strbuf *body);
void transport_note(struct transport *t, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* in the log */
/* A line of the log: what happened to a text, cut short. */
void transport_log(struct transport *t, const char *what, const char *text, size_t length);

#endif
