/* server.h - what the files of the server share. */
#ifndef PTOC_LSP_SERVER_H
#define PTOC_LSP_SERVER_H
#include "documents.h"
#include "lsp.h"
#include "transport.h"

/* Error codes of the protocol. */
enum {
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_METHOD_NOT_FOUND = -32601,
    LSP_INVALID_PARAMS = -32602,
    LSP_NOT_INITIALIZED = -32002,
    LSP_REQUEST_FAILED = -32803,
    LSP_CANCELLED = -32800
};

struct server {
    const struct lsp_options *options;
    struct transport transport;
    document_list documents;
    enum encoding encoding;
    bool is_initialized, is_shut_down, has_exited;
    bool shows_types, shows_releases, shows_memory; /* kinds of inlay hints */
    bool refreshes_hints;                           /* the client asks again, when it is asked to */
    int request_count;                              /* those of the server */
    struct result *library; /* a program that imports all of std/, for workspace_symbols_request(); or NULL */
};

/* The answer to a request. */
struct reply {
    struct strbuf json; /* empty: null */
    int error;          /* 0: none */
    const char *why;    /* of an error, a sentence; NULL: it is in json */
};

/* Answers of requests.  A function finds what it needs in params, and leaves the reply empty where there is nothing to
 * say. */
typedef void request_function(struct server *s, const json_t *params, struct reply *reply);

/* ---- server.c ---- */
void server_notify(struct server *s, const char *method, const struct strbuf *params);
/* The document that params name, checked; NULL: it is not open. */
struct document *server_document(struct server *s, const json_t *params);
/* The same where it has a good result, with the offset in that of params.position; NULL: there is none. */
struct document *server_place(struct server *s, const json_t *params, size_t *offset);

void server_check_all(struct server *s);                   /* every document that is dirty */
void server_overlay(void *cx, struct source_map *sources); /* for struct check_request; cx: the server */

/* ---- locations.c ---- */
/* A piece of a result of the document, in the text that the client has now.  To be freed with location_free(). */
struct location location_of(struct server *s, struct document *d, struct result *r, struct span at);
struct range location_range(struct server *s, struct document *d, struct result *r, struct span at);
void location_free(struct location *l);
void location_json(struct strbuf *out, const struct location *l); /* {"uri":..,"range":..} */
void text_edit_json(struct strbuf *out, struct range range, const char *text, size_t length);

/* ---- formatting.c ---- */
/* A TextEdit that gives the document its usual layout; false: it has it, or has a syntax error. */
bool formatting_edit(struct server *s, const struct document *d, struct strbuf *edit);

request_function actions_request, formatting_request, definition_request, references_request, prepare_rename_request,
    rename_request, hover_request, completion_request, signature_request, document_symbols_request,
    workspace_symbols_request, hints_request, tokens_request, lens_request;

#endif
