/* result.h - one check of a document: a compiler state of its own. */
#ifndef PTOC_LSP_RESULT_H
#define PTOC_LSP_RESULT_H
#include "lsp.h"
#include "positions.h"

struct name_list;
struct plan;

struct result {
    struct front front;
    struct checked *checked;
    bool is_stale; /* the check was given up: nothing of it is to be used */
    int error_count;
    VEC(struct diag_message) messages; /* their texts and parts are the arena's */
    VEC(struct lines *) lines;         /* by file; through result_lines() */
    struct name_list *names;           /* through result_names() */
    /* What codegen decides about memory, for hints: made when it is first asked for, of a program without errors. */
    struct plan *plan;
};

struct check_request {
    const struct lsp_options *options;
    const char *path;
    void (*overlay)(void *cx, struct source_map *sources); /* puts the open files over those on disk */
    void *overlay_cx;
    bool (*is_stale)(void *cx); /* NULL: it is always wanted */
    void *stale_cx;
};

struct result *result_check(const struct check_request *request);
/* Messages that are reported between the two join those of the check. */
void result_listen(struct result *r);
void result_end_messages(struct result *r);
void result_free(struct result *r); /* may be NULL */
const struct lines *result_lines(struct result *r, uint32_t file);
/* The module that a file of the source map is the text of; NULL: none. */
const struct module *result_module(const struct result *r, uint32_t file);
struct module *result_main(const struct result *r); /* the module of the document; NULL: it could not be read */
struct plan *result_plan(struct result *r);         /* NULL: the program has an error */

#endif
