/* locations.c - a place of the compiler as a client names it.
 * Invariant  a file that is open has the URI by which the client opened it, and places of its text in the editor, also
 *            where a check of another file has read an older one; a module of the library has that of its file on disk.
 * Tests      test/lsp/session.py
 */
#include "paths.h"
#include "server.h"
#include <stdlib.h>
#include <string.h>

static bool is_own(const struct document *d, const struct result *r, uint32_t file)
{
    const struct module *m = result_module(r, file);
    return !m || m->is_main || strcmp(m->real_path, d->real) == 0;
}

static const struct document *open_module(const struct server *s, const struct result *r, uint32_t file)
{
    const struct module *m = result_module(r, file);
    return m ? document_of_real_path(&s->documents, m->real_path) : NULL;
}

struct range location_range(struct server *s, struct document *d, struct result *r, struct span at)
{
    const struct document *open = is_own(d, r, at.file) ? NULL : open_module(s, r, at.file);
    if (open) {
        const struct source *read = source_get(r->front.sources, at.file);
        return lines_range(&open->lines, document_from_text(open, read->text, read->length, at.begin),
                           document_from_text(open, read->text, read->length, at.end), s->encoding);
    }
    if (r == d->good && is_own(d, r, at.file))
        return lines_range(&d->lines, document_from_good(d, at.begin), document_from_good(d, at.end), s->encoding);
    return lines_range(result_lines(r, at.file), at.begin, at.end, s->encoding);
}

struct location location_of(struct server *s, struct document *d, struct result *r, struct span at)
{
    const struct range range = location_range(s, d, r, at);
    if (is_own(d, r, at.file)) return (struct location){strdup(d->uri), range};
    const struct document *open = open_module(s, r, at.file);
    struct strbuf uri = {0};
    if (open)
        strbuf_puts(&uri, open->uri);
    else
        uri_of_path(&uri, result_module(r, at.file)->real_path);
    return (struct location){uri.data, range};
}

void location_free(struct location *l) { free(l->uri); }

void location_json(struct strbuf *out, const struct location *l)
{
    strbuf_puts(out, "{\"uri\":");
    strbuf_json(out, l->uri, strlen(l->uri));
    strbuf_puts(out, ",\"range\":");
    range_json(out, l->range);
    strbuf_putc(out, '}');
}

void text_edit_json(struct strbuf *out, struct range range, const char *text, size_t length)
{
    strbuf_puts(out, "{\"range\":");
    range_json(out, range);
    strbuf_puts(out, ",\"newText\":");
    strbuf_json(out, text, length);
    strbuf_putc(out, '}');
}
