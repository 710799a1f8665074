/* hints.c - what the compiler decided, shown between the words of the program: types, releases, needs of memory.
 * Idea       each kind can be switched off (`hints` of the options that a client gives: types, released, memory).
 * Tests      test/lsp/hints.py
 */
#include "memory_facts.h"
#include "server.h"
#include "syntax/ast_walk.h"
#include <string.h>

enum { KIND_TYPE = 1 }; /* the protocol's; other hints have none */

struct hints {
    struct server *server;
    struct document *document;
    struct range range; /* what is asked for */
    struct strbuf *out;
};

/* A hint at an offset of the result's main file; none, where what it is of was edited away. */
static void add(struct hints *h, struct span of, size_t offset, const char *label, size_t length, int kind)
{
    struct document *d = h->document;
    const struct position at = lines_position(&d->lines, document_from_good(d, offset), h->server->encoding);
    if (document_has_lost(d, of) || position_is_before(at, h->range.begin) || position_is_before(h->range.end, at))
        return;
    strbuf_printf(h->out, "%s{\"position\":", h->out->length > 1 ? "," : "");
    position_json(h->out, at);
    strbuf_puts(h->out, ",\"label\":");
    strbuf_json(h->out, label, length);
    if (kind) strbuf_printf(h->out, ",\"kind\":%d", kind);
    strbuf_printf(h->out, ",\"paddingLeft\":%s}", kind == KIND_TYPE ? "false" : "true");
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static bool visit_let(void *cx, struct ast *n)
{
    struct hints *h = cx;
    const struct symbol *s = n->symbol;
    const bool is_let = (n->kind == AST_LET || n->kind == AST_VAR) && !n->decl.type && !n->decl.indices;
    if (is_let && s && !s->hidden && s->type && s->type->kind != TYPE_ERROR &&
        n->name_at.end < n->decl.value->at.begin) {
        STRBUF(label);
        strbuf_puts(&label, ": ");
        type_text(s->type, &label);
        add(h, n->name_at, n->name_at.end, strbuf_text(&label), label.length, KIND_TYPE);
    }
    return ast_is_statement(n) || n->kind == AST_ORCH;
}

/* ---- releases ---------------------------------------------------------------------------------------------------- */

/* Where the line ends that the place is in, in front of a comment's line end. */
static size_t line_end(const struct source *source, size_t offset)
{
    while (offset < source->length && source->text[offset] != '\n' && source->text[offset] != '\r') offset++;
    return offset;
}

/* Where a release is shown: behind the line of its statement, or of the brace that opens its block. */
static size_t release_offset(const struct result *r, const struct release *e)
{
    return line_end(source_get(r->front.sources, e->at.file), e->at.begin);
}

static int compare_releases(const void *a, const void *b)
{
    const struct release *x = a, *y = b;
    return x->at.begin < y->at.begin ? -1 : x->at.begin > y->at.begin;
}

/* Those of one line are one hint: "// released: P, Q". */
static void add_releases(struct hints *h, struct result *r)
{
    release_list list = {0};
    const uint32_t file = result_main(r)->ast->file;
    memory_releases(r, &list);
    if (list.count > 1) qsort(list.data, list.count, sizeof *list.data, compare_releases);
    for (size_t i = 0; i < list.count;) {
        STRBUF(label);
        const size_t offset = release_offset(r, &list.data[i]);
        const struct span of = list.data[i].at;
        strbuf_puts(&label, "// released: ");
        for (const char *comma = "";
             i < list.count && list.data[i].at.file == of.file && release_offset(r, &list.data[i]) == offset;
             i++, comma = ", ")
            strbuf_printf(&label, "%s%s", comma, list.data[i].tensor->name);
        if (of.file == file) add(h, of, offset, strbuf_text(&label), label.length, 0);
    }
    vec_free(&list);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void add_needs(struct hints *h, struct result *r)
{
    need_list list = {0};
    memory_needs(r, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct need *n = &list.data[i];
        STRBUF(label);
        if (n->at.file != result_main(r)->ast->file) continue;
        strbuf_printf(&label, "// %sneed: %s", n->is_function ? "" : "scope: ", n->need);
        if (n->peak) strbuf_printf(&label, ", peak: %s", n->peak);
        add(h, n->at, line_end(source_get(r->front.sources, n->at.file), n->is_function ? n->at.end : n->at.begin),
            strbuf_text(&label), label.length, 0);
    }
    memory_needs_free(&list);
}

void hints_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d = server_document(s, params);
    struct hints h = {.server = s, .document = d, .out = &reply->json};
    if (!d || !d->good || !result_main(d->good) || !in_range(params, "range", &h.range)) return;
    strbuf_putc(h.out, '[');
    for (struct ast *item = result_main(d->good)->ast->items; item && s->shows_types; item = item->next)
        if (item->kind == AST_ORCH) ast_walk(item, visit_let, &h);
    if (s->shows_releases) add_releases(&h, d->good);
    if (s->shows_memory) add_needs(&h, d->good);
    strbuf_putc(h.out, ']');
}
