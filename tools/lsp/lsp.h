/* lsp.h - the language server: `ptoc lsp`. */
#ifndef PTOC_LSP_H
#define PTOC_LSP_H
#include "sema/sema.h"

struct lsp_options {
    const char *const *import_dirs; /* as those of struct sema_options; the last is the folder of std/ */
    int import_dir_count;
    const struct define *defines;
    int define_count;
    const char *share;                /* the folder that has std/ and explain/; NULL: it was not found */
    const char *log;                  /* a file to which each message is written with its time; NULL: none */
    const char *const *explain_pages; /* of each message id, Markdown; NULL: there is no page */
    /* The messages of the C compiler about this C program, on `log`, a text to be added to.  false: it cannot be
     * asked. */
    bool (*compile)(void *cx, const struct strbuf *program, struct strbuf *log);
    void *compile_cx;
};

/* Serves one client on standard input and output, until it says `exit` or the input ends.  Returns the exit code: 0 if
 * the client asked for `shutdown` before, else 1; 4 if the log cannot be written. */
int lsp_serve(const struct lsp_options *options);

#endif
