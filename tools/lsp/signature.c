/* signature.c - the formals of the call that the cursor is in, with the one that comes next marked.
 * Idea       kernels of one name are listed in their order; the first that the call was checked for, or that has the
 *            argument, is the one that is shown.
 * Tests      test/lsp/requests.py
 */
#include "completion.h"
#include "describe.h"
#include "server.h"
#include "syntax/ast_walk.h"
#include <string.h>

/* The callee that the checker has chosen for the call whose bracket opens at an offset; NULL: there is none. */
struct chosen {
    size_t open;
    const struct ast *decl;
};

static bool visit(void *cx, struct ast *n)
{
    struct chosen *c = cx;
    if (n->at.end && (c->open < n->at.begin || c->open > n->at.end) && ast_is_statement(n)) return false;
    const struct call *call = n->kind == AST_CALL && n->call.callee->at.end == c->open ? call_of(n) : NULL;
    if (call && call->callee) c->decl = call->callee->decl;
    return true;
}

/* Adds the label, and the formals as pieces of it. */
static void add_signature(struct result *r, const struct symbol *s, struct strbuf *out)
{
    STRBUF(label);
    describe_declaration(r, s->decl, &label);
    const char *text = strbuf_text(&label), *at = strchr(text, '(');
    strbuf_puts(out, "{\"label\":");
    strbuf_json(out, text, label.length);
    strbuf_puts(out, ",\"parameters\":[");
    for (int i = 0, depth = 0; at && *at && i < s->formal_count; i++) {
        const char *begin = ++at;
        while (*begin == ' ') begin++;
        for (; *at && !(depth == 0 && (*at == ',' || *at == ')')); at++)
            depth += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
        strbuf_printf(out, "%s{\"label\":", i > 0 ? "," : "");
        strbuf_json(out, begin, (size_t)(at - begin));
        strbuf_putc(out, '}');
    }
    strbuf_puts(out, "]}");
}

static void answer(struct document *d, const struct symbol *callee, const struct open_call *call, struct strbuf *out)
{
    int count = 0, active = -1;
    struct chosen chosen = {document_to_good(d, call->open), NULL};
    for (struct ast *item = result_main(d->good)->ast->items; item; item = item->next)
        if (item->kind == AST_ORCH && chosen.open > item->at.begin && chosen.open < item->at.end)
            ast_walk(item, visit, &chosen);
    strbuf_puts(out, "{\"signatures\":[");
    for (const struct symbol *s = callee; s; s = s->kind == SYM_KERNEL ? s->next_overload : NULL, count++) {
        if (count > 0) strbuf_putc(out, ',');
        add_signature(d->good, s, out);
        if (s->decl == chosen.decl) active = count;
    }
    strbuf_printf(out, "],\"activeSignature\":%d,\"activeParameter\":%d}", active < 0 ? 0 : active, call->argument);
}

void signature_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct cursor cursor;
    struct position p;
    scope_list scope = {0};
    struct document *d = server_document(s, params);
    if (!d || !d->good || !in_position(params, "position", &p)) return;
    const size_t here = lines_offset(&d->lines, p, s->encoding);
    cursor_find(&cursor, d->text, here);
    scope_names(d->good, document_to_good(d, here), &scope);
    const struct symbol *callee = cursor.is_in_text ? NULL : completion_callee(d, &scope, &cursor.call);
    if (callee) answer(d, callee, &cursor.call, &reply->json);
    vec_free(&scope);
    cursor_free(&cursor);
}
