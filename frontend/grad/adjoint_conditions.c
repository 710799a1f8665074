/* adjoint_conditions.c - the `where` of a kernel, as its adjoint has it.
 * Idea       each condition is copied from the text of the kernel with its names replaced.
 * Invariant  one that names what the adjoint does not have is left out.
 * Tests      test/lit/grad/adjoint-where.test
 */
#include "adjoint_parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

bool adj_names_dim(const struct adjoint *a, const struct symbol *dim)
{
    for (int i = 0; i < a->formal_count; i++) {
        const struct type *t = a->body->symbols[i]->type;
        for (int d = 0; t->kind == TYPE_TENSOR && d < t->rank; d++)
            if (size_names(t->extent[d], dim)) return true;
    }
    return false;
}

struct condition { /* of the kernel, copied from its text with its names replaced */
    struct front *front;
    const struct adjoint *a;
    struct strbuf *out;
    const char *text;
    uint32_t done; /* up to here */
    bool is_known; /* all names so far mean something in the adjoint */
};

/* The text of the name in the adjoint; NULL: the adjoint has no such name. */
static const char *condition_name(const struct condition *c, const struct ast *n)
{
    const struct symbol *s = n->symbol, *k = c->a->kernel;
    if (!s) return n->kind == AST_NAME ? n->name : NULL; /* a builtin */
    if (s->kind == SYM_CONST && s->type->kind == TYPE_INT)
        return arena_printf(c->front->mem, s->int_value < 0 ? "(%lld)" : "%lld", (long long)s->int_value);
    for (int i = 0; s->kind == SYM_DIM && i < k->dim_count; i++)
        if (strcmp(k->dims[i]->name, s->name) == 0) return adj_names_dim(c->a, k->dims[i]) ? s->name : NULL;
    for (int i = 0; s->kind == SYM_FORMAL && i < c->a->formal_count; i++) {
        const struct symbol *of = k->formals[c->a->formals[i].of];
        if (of->type->kind != TYPE_TENSOR && strcmp(of->name, s->name) == 0) return c->a->formals[i].name;
    }
    return NULL;
}

static bool copy_name(void *cx, struct ast *n)
{
    struct condition *c = cx;
    if (n->kind != AST_NAME && n->kind != AST_FIELD) return true;
    const char *name = condition_name(c, n);
    c->is_known = c->is_known && name;
    if (!name) return false;
    strbuf_printf(c->out, "%.*s%s", (int)(n->at.begin - c->done), c->text + c->done, name);
    c->done = n->at.end;
    return false;
}

void adj_print_conditions(struct front *front, const struct adjoint *a, struct strbuf *out)
{
    for (struct ast *where = a->kernel->decl->kernel->where; where; where = where->next) {
        STRBUF(text);
        const struct source *file = source_get(front->sources, where->at.file);
        struct condition c = {
            .front = front, .a = a, .out = &text, .text = file->text, .done = where->at.begin, .is_known = true};
        ast_walk(where, copy_name, &c);
        if (c.is_known)
            strbuf_printf(out, " where %s%.*s", strbuf_text(&text), (int)(where->at.end - c.done), c.text + c.done);
    }
}
