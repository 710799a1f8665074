/* describe.c - declarations and what was found out about them, as text.
 * Tests      test/lsp/requests.py
 */
#include "describe.h"
#include "source_text.h"
#include "support/arena.h"
#include <string.h>

enum { MOST_LINES = 24 }; /* of a struct */

static struct span head_of(const struct ast *n)
{
    struct span at = n->at;
    switch (n->kind) {
    case AST_KERNEL:
        if (n->kernel->has_body) at.end = n->kernel->body_at.begin - 1;
        if (n->kernel->block) at.end = n->kernel->block->at.begin;
        break;
    case AST_ORCH: at.end = n->orch.body->at.begin; break;
    case AST_FOR: at.end = n->loop.body->at.begin; break;
    default: break;
    }
    return at;
}

/* As it is in the file, with its lines. */
static void add_lines(const struct result *r, struct span at, struct strbuf *out)
{
    const char *text = source_get(r->front.sources, at.file)->text;
    int lines = 0;
    for (uint32_t i = at.begin; i < at.end; i++) {
        if (text[i] == '\n' && ++lines == MOST_LINES) {
            strbuf_puts(out, "\n  ...");
            return;
        }
        if (text[i] != '\r') strbuf_putc(out, text[i]);
    }
}

static void trim(struct strbuf *out)
{
    while (out->length > 0 && strchr(" =>;{", out->data[out->length - 1]) != NULL &&
           !(out->length > 1 && out->data[out->length - 1] == '>' && out->data[out->length - 2] != '='))
        out->data[--out->length] = '\0';
}

void describe_declaration(const struct result *r, const struct ast *decl, struct strbuf *out)
{
    if (decl->kind == AST_STRUCT) {
        add_lines(r, decl->at, out);
        return;
    }
    struct arena *mem = arena_create();
    struct front front = r->front;
    strbuf_puts(out, source_one_line(&front, mem, head_of(decl)));
    if (decl->kind == AST_KERNEL || decl->kind == AST_ORCH || decl->kind == AST_FOR) trim(out);
    arena_destroy(mem);
}

void describe_type(const struct symbol *s, struct strbuf *out)
{
    if (s && s->type && s->type->kind != TYPE_ERROR && s->type->kind != TYPE_VOID && s->kind != SYM_MODULE &&
        s->kind != SYM_STRUCT && s->kind != SYM_KERNEL && s->kind != SYM_ORCH && s->kind != SYM_ELEM)
        type_text(s->type, out);
}

const struct ast *describe_node(struct result *r, const struct name_use *use)
{
    const struct symbol *s = use->symbol;
    while (s && s->next_of) s = s->next_of;
    if (s && s->generic) s = s->generic;
    if (s && s->decl && use->kind != NAME_FIELD) return s->decl;
    const struct name_use *d = names_at(result_names(r), use->declared.file, use->declared.begin);
    return d && d->declares ? d->node : NULL;
}
