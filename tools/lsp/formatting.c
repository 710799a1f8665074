/* formatting.c - the usual layout, as `ptoc fmt` makes it.
 * Idea       the lines that differ are replaced, those before and behind them stay; so the editor keeps its places.
 * Tests      test/lsp/diagnostics.py, session.py
 */
#include "server.h"
#include "support/arena.h"
#include "support/intern.h"
#include "syntax/format/format.h"
#include <string.h>

static void ignore(void *cx, const struct diag_message *m) { (void)cx, (void)m; }

/* false: the text has a syntax error, or has the layout already. */
static bool format(const struct document *d, struct strbuf *out)
{
    struct source_map *sources = source_map_create();
    struct front front = {
        .mem = arena_create(), .names = interner_create(), .sources = sources, .diag = diag_create(sources, stderr)};
    diag_set_receiver(front.diag, ignore, NULL);
    const uint32_t file = (uint32_t)source_map_add(sources, d->path, d->text, d->length);
    parse_file(&front, file);
    diag_flush(front.diag);
    const bool is_good = diag_error_count(front.diag) == 0;
    if (is_good) format_file(&front, file, out);
    diag_destroy(front.diag);
    source_map_destroy(sources);
    interner_destroy(front.names);
    arena_destroy(front.mem);
    return is_good && (out->length != d->length || (d->length > 0 && memcmp(out->data, d->text, d->length) != 0));
}

bool formatting_edit(struct server *s, const struct document *d, struct strbuf *edit)
{
    STRBUF(text);
    if (!format(d, &text)) return false;
    const size_t most = d->length < text.length ? d->length : text.length;
    size_t same = 0, tail = 0;
    while (same < most && d->text[same] == text.data[same]) same++;
    while (same > 0 && d->text[same - 1] != '\n') same--;
    while (tail < most - same && d->text[d->length - 1 - tail] == text.data[text.length - 1 - tail]) tail++;
    while (tail > 0 && d->text[d->length - tail] != '\n') tail--;
    /* Between "\r" and "\n" a client has no position: where that "\r" changes, the next line is the end. */
    const bool splits = tail > 0 && tail < d->length - same && d->text[d->length - tail - 1] == '\r';
    if (splits) tail--;
    const struct range range = lines_range(&d->lines, same, d->length - tail, s->encoding);
    text_edit_json(edit, range, text.data ? text.data + same : "", text.length - tail - same);
    return true;
}

void formatting_request(struct server *s, const json_t *params, struct reply *reply)
{
    const struct document *d = server_document(s, params);
    if (!d) return;
    strbuf_puts(&reply->json, "[");
    formatting_edit(s, d, &reply->json);
    strbuf_puts(&reply->json, "]");
}
