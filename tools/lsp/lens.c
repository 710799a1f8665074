/* lens.c - above each exported function: run it, run it with --check, its graph, its report.
 * Idea       the commands are the client's: it is given the file and the name of the entry.
 * Tests      test/lsp/hints.py
 */
#include "server.h"
#include <string.h>

static const struct {
    const char *title, *command;
} lenses[] = {{"run", "pto.run"}, {"run with --check", "pto.check"}, {"graph", "pto.graph"}, {"report", "pto.report"}};

static void add(struct server *s, struct document *d, const struct ast *orch, struct strbuf *out)
{
    const struct range range = location_range(s, d, d->good, orch->name_at);
    for (size_t i = 0; i < sizeof lenses / sizeof *lenses; i++) {
        strbuf_printf(out, "%s{\"range\":", out->length > 1 ? "," : "");
        range_json(out, range);
        strbuf_printf(out, ",\"command\":{\"title\":\"%s\",\"command\":\"%s\",\"arguments\":[", lenses[i].title,
                      lenses[i].command);
        strbuf_json(out, d->uri, strlen(d->uri));
        strbuf_putc(out, ',');
        strbuf_json(out, orch->name, strlen(orch->name));
        strbuf_puts(out, "]}}");
    }
}

void lens_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d = server_document(s, params);
    if (!d || !d->good || !result_main(d->good)) return;
    strbuf_putc(&reply->json, '[');
    for (const struct ast *n = result_main(d->good)->ast->items; n; n = n->next)
        if (n->kind == AST_ORCH && n->orch.exported && !document_has_lost(d, n->name_at)) add(s, d, n, &reply->json);
    strbuf_putc(&reply->json, ']');
}
