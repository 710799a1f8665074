/* tokens.c - the meaning of each name, by which an editor colours it.
 * Idea       what only the compiler knows: tensors, views, dimension variables, kernels; `inout` at a call.  Words and
 *            numbers are coloured by the editor's own syntax.
 * Invariant  tokens are in the order of the text and do not overlap.
 * Tests      test/lsp/hints.py
 */
#include "tokens.h"
#include "names.h"
#include "server.h"
#include "syntax/ast_walk.h"

static enum token_type type_of(enum name_kind kind)
{
    switch (kind) {
    case NAME_MODULE: return TYPE_NAMESPACE;
    case NAME_STRUCT: return TYPE_OF_STRUCT;
    case NAME_FIELD: return TYPE_PROPERTY;
    case NAME_KERNEL: return TYPE_KERNEL;
    case NAME_FUNCTION: return TYPE_FUNCTION;
    case NAME_CONSTANT: return TYPE_CONSTANT;
    case NAME_DIMENSION:
    case NAME_ELEMENTS: return TYPE_DIMENSION;
    case NAME_TENSOR: return TYPE_OF_TENSOR;
    case NAME_VIEW: return TYPE_OF_VIEW;
    case NAME_INDEX: return TYPE_INDEX;
    default: return TYPE_SCALAR;
    }
}

struct token_at {
    struct span at;
    enum token_type type;
    int modifiers;
};
typedef VEC(struct token_at) token_list;

static bool visit_argument(void *cx, struct ast *n)
{
    token_list *list = cx;
    if (n->kind == AST_ARG && n->arg.dir != DIR_NONE && n->arg.dir_at.end > n->arg.dir_at.begin)
        vec_push(list, ((struct token_at){n->arg.dir_at, TYPE_MARKER, 0}));
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct token_at *x = a, *y = b;
    return x->at.begin < y->at.begin ? -1 : x->at.begin > y->at.begin;
}

static void collect(struct result *r, token_list *list)
{
    const struct module *m = result_main(r);
    const struct name_list *names = result_names(r);
    for (size_t i = 0; i < names->count; i++) {
        const struct name_use *use = &names->data[i];
        if (use->at.file == m->ast->file && !use->is_path)
            vec_push(list, ((struct token_at){use->at, type_of(use->kind), use->declares ? IS_DECLARATION : 0}));
    }
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (item->kind == AST_ORCH) ast_walk(item, visit_argument, list);
    if (list->count > 1) qsort(list->data, list->count, sizeof *list->data, compare);
}

void tokens_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d = server_document(s, params);
    token_list list = {0};
    struct position before = {0};
    if (!d || !d->good || !result_main(d->good)) return;
    collect(d->good, &list);
    strbuf_puts(&reply->json, "{\"data\":[");
    for (size_t i = 0, count = 0; i < list.count; i++) {
        const struct range r = location_range(s, d, d->good, list.data[i].at);
        if (r.begin.line != r.end.line || r.begin.character >= r.end.character) continue; /* edited away */
        if (count > 0 && position_is_before(r.begin, before)) continue;
        const uint32_t lines = r.begin.line - (count ? before.line : 0);
        const uint32_t characters = r.begin.character - (count && lines == 0 ? before.character : 0);
        if (count > 0 && lines == 0 && characters == 0) continue;
        strbuf_printf(&reply->json, "%s%u,%u,%u,%d,%d", count ? "," : "", lines, characters,
                      r.end.character - r.begin.character, list.data[i].type, list.data[i].modifiers);
        before = r.begin;
        count++;
    }
    strbuf_puts(&reply->json, "]}");
    vec_free(&list);
}
