/* bodies.c - what the C compiler says about the C bodies of kernels.
 * Idea       when a file is saved and has no error, its bodies are compiled for messages alone, as `ptoc check` does;
 *            the messages join those of the check.  The same with the bodies of a renamed program.
 * Blocks     in the C compiler.
 * Tests      test/lsp/session.py, test/lsp/rename.py
 */
#include "bodies.h"
#include "codegen.h"
#include "methods.h"

/* Its messages join those of a result without an error; how many there are. */
static size_t add_messages(struct server *s, const char *path, struct result *r)
{
    STRBUF(program);
    STRBUF(said);
    const size_t before = r->messages.count;
    if (!s->options->compile || r->error_count > 0 || !bodies_any(r->checked)) return 0;
    codegen_bodies(&r->front, r->checked, &(struct codegen_options){.input = path, .no_main = true}, &program);
    if (!s->options->compile(s->options->compile_cx, &program, &said)) return 0;
    result_listen(r);
    bodies_report(&r->front, r->checked, strbuf_text(&said));
    result_end_messages(r);
    return r->messages.count - before;
}

void bodies_check(struct server *s, struct document *d)
{
    if (!d->good || d->edits.count > 0) return;
    if (add_messages(s, d->path, d->good) > 0) diagnostics_take(s, d, d->good);
}

const char *bodies_new_message(struct server *s, const char *path, const struct check_request *before,
                               struct result *after)
{
    const size_t had = after->messages.count, now = add_messages(s, path, after);
    if (now == 0) return NULL;
    struct result *old = result_check(before);
    const bool is_new = now > add_messages(s, path, old);
    result_free(old);
    return is_new ? after->messages.data[had].text : NULL;
}
