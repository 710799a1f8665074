/* scope.c - the names that can be used at a place.
 * Idea       of a function the declarations before the place, in the blocks around it; then its head, then the file.
 * Tests      test/lsp/requests.py
 */
#include "scope.h"
#include "syntax/ast_walk.h"
#include <string.h>

struct scope_search {
    size_t offset;
    scope_list *list;
};

static bool is_inside(const struct ast *n, size_t offset) { return offset > n->at.begin && offset < n->at.end; }

static void add(struct scope_search *s, const struct ast *n, enum name_kind kind)
{
    const struct symbol *symbol = n->symbol;
    const bool is_tensor = symbol && symbol->type && !type_is_scalar(symbol->type);
    if (n->name && !(symbol && symbol->hidden))
        vec_push(s->list,
                 ((struct in_scope){n->name, symbol, n, is_tensor && kind == NAME_SCALAR ? NAME_TENSOR : kind}));
}

static bool visit(void *cx, struct ast *n)
{
    struct scope_search *s = cx;
    const bool is_before = n->at.end <= s->offset;
    switch (n->kind) {
    case AST_LET:
    case AST_VAR:
        if (is_before) add(s, n, NAME_SCALAR);
        return false;
    case AST_VIEW:
        if (is_before) add(s, n, NAME_VIEW);
        return false;
    case AST_FOR:
        if (is_inside(n->loop.body, s->offset)) add(s, n, NAME_INDEX);
        return true;
    case AST_BLOCK: return is_inside(n, s->offset);
    default: return ast_is_statement(n);
    }
}

static void add_list(struct scope_search *s, const struct ast *n, enum name_kind kind)
{
    for (; n; n = n->next) add(s, n, kind);
}

static void reverse(scope_list *list)
{
    for (size_t i = 0, k = list->count; i + 1 < k; i++) {
        const struct in_scope one = list->data[i];
        list->data[i] = list->data[--k];
        list->data[k] = one;
    }
}

static void add_item(struct scope_search *s, struct ast *item)
{
    if (item->kind == AST_ORCH) {
        ast_walk(item->orch.body, visit, s);
        reverse(s->list);
        add_list(s, item->orch.formals, NAME_SCALAR);
        add_list(s, item->orch.generics, NAME_DIMENSION);
    } else if (item->kind == AST_KERNEL) {
        if (item->kernel->block) ast_walk(item->kernel->block, visit, s);
        reverse(s->list);
        add_list(s, item->kernel->formals, NAME_SCALAR);
        add_list(s, item->kernel->generics, NAME_DIMENSION);
    } else if (item->kind == AST_STRUCT) {
        add_list(s, item->structure.generics, NAME_DIMENSION);
    }
}

static enum name_kind kind_of(const struct symbol *s)
{
    return s->kind == SYM_MODULE   ? NAME_MODULE
           : s->kind == SYM_STRUCT ? NAME_STRUCT
           : s->kind == SYM_KERNEL ? NAME_KERNEL
           : s->kind == SYM_ORCH   ? NAME_FUNCTION
                                   : NAME_CONSTANT;
}

void scope_names(struct result *r, size_t offset, scope_list *list)
{
    const struct module *m = result_main(r);
    struct scope_search s = {offset, list};
    if (!m) return;
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (is_inside(item, offset)) add_item(&s, item);
    for (int i = 0; i < m->symbol_count; i++)
        vec_push(list,
                 ((struct in_scope){m->symbols[i]->name, m->symbols[i], m->symbols[i]->decl, kind_of(m->symbols[i])}));
}

const struct in_scope *scope_find(const scope_list *list, const char *name, size_t length)
{
    for (size_t i = 0; i < list->count; i++)
        if (strlen(list->data[i].name) == length && memcmp(list->data[i].name, name, length) == 0)
            return &list->data[i];
    return NULL;
}
