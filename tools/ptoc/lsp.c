/* lsp.c - ptoc lsp: the language server, given what it needs of the command line and of the C compiler.
 * Idea       the server is a library of its own, for which libjansson has to be there when ptoc is built.
 * Blocks     until the client ends the session.
 * Tests      test/lsp/session.py, test/lit/diag/command-line.test
 */
#include "explain.h"
#include "options.h"
#include <stdlib.h>
#include <string.h>

#ifdef PTO_HAS_LSP
#include "c_bodies.h"
#include "lsp/lsp.h"
#include "support/strbuf.h"

static bool compile(void *cx, const struct strbuf *program, struct strbuf *text)
{
    int code;
    return c_bodies_ask(cx, program, text, &code) == EXIT_OK;
}

int lsp_main(const struct options *o)
{
    char *prefix = prefix_find(o->program), *share = NULL;
    if (prefix && asprintf(&share, "%s/share/pto", prefix) < 0) share = NULL;
    const char **dirs = calloc((size_t)o->import_dir_count + 1, sizeof *dirs);
    if (!dirs) return EXIT_INTERNAL;
    for (int i = 0; i < o->import_dir_count; i++) dirs[i] = o->import_dirs[i];
    if (share) dirs[o->import_dir_count] = share;
    const struct lsp_options options = {
        .import_dirs = dirs,
        .import_dir_count = o->import_dir_count + (share != NULL),
        .defines = o->defines,
        .define_count = o->define_count,
        .share = share,
        .log = o->log,
        .explain_pages = explain_pages,
        .compile = compile,
        .compile_cx = (void *)(uintptr_t)o,
    };
    const int result = lsp_serve(&options);
    free(dirs);
    free(share);
    free(prefix);
    return result;
}
#else
int lsp_main(const struct options *o)
{
    (void)o;
    fputs("ptoc: error: 'ptoc lsp' needs libjansson, and this ptoc was built without it: install the package "
          "libjansson-dev (or run ./dev setup) and build again\n",
          stderr);
    return EXIT_INTERNAL;
}
#endif
