/* bodies.c - what the C compiler says about the C bodies of kernels.
 * Idea       when a file is saved and has no error, its bodies are compiled for messages alone, as `ptoc check` does;
 *            the messages join those of the check.
 * Blocks     in the C compiler.
 * Tests      test/lsp/session.py
 */
#include "bodies.h"
#include "codegen.h"
#include "methods.h"

void bodies_check(struct server *s, struct document *d)
{
    struct result *r = d->good;
    STRBUF(program);
    STRBUF(said);
    if (!s->options->compile || !r || r->error_count > 0 || d->edits.count > 0 || !bodies_any(r->checked)) return;
    codegen_bodies(&r->front, r->checked, &(struct codegen_options){.input = d->path, .no_main = true}, &program);
    if (!s->options->compile(s->options->compile_cx, &program, &said)) return;
    result_listen(r);
    bodies_report(&r->front, r->checked, strbuf_text(&said));
    result_end_messages(r);
    diagnostics_take(s, d, r);
}
