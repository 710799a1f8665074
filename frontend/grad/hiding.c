/* hiding.c - names of the function that hide others, and those that the backward pass cannot have.
 * Idea       the backward pass says expressions again, in another order than the function: a name that hides another
 *            one would take its place there.  So a local that hides another name where a gradient flows has a name of
 *            its own in the gradient; and no name is that of a formal which the gradient declares.
 * Tests      test/lit/grad/refused.test, names.pto
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

static const char help_name[] = "give it another name";

/* ---- formals of the gradient ------------------------------------------------------------------------------------- */

bool hiding_declares(const struct ast *n)
{
    return n->kind == AST_LET || n->kind == AST_VAR || n->kind == AST_VIEW || n->kind == AST_FOR;
}

struct naming {
    const char *name;
    const struct ast *found;
};

static bool find_naming(void *cx, struct ast *n)
{
    struct naming *u = cx;
    if (!u->found && n->name == u->name && (hiding_declares(n) || n->kind == AST_NAME)) u->found = n;
    return !u->found;
}

static bool check_bar(struct gradient *g, const char *name)
{
    const struct symbol *o = g->orch;
    const struct ast *taken = NULL;
    struct naming naming = {name, NULL};
    for (int i = 0; i < o->formal_count; i++)
        if (strcmp(o->formals[i]->name, name) == 0) taken = o->formals[i]->decl;
    for (int i = 0; i < o->dim_count; i++)
        if (strcmp(o->dims[i]->name, name) == 0) taken = o->dims[i]->decl;
    if (taken) {
        grad_refuse(g, DIAG_E16, g->at, NULL, "'%s', a formal of the gradient of '%s', is a name of '%s' already", name,
                    o->name, o->name);
        diag_note(g->c->diag, taken->at, "'%s' is declared here", name);
        return false;
    }
    ast_walk(o->decl->orch.body, find_naming, &naming);
    if (!naming.found) return true;
    return grad_refuse(g, DIAG_E16, hiding_declares(naming.found) ? naming.found->name_at : naming.found->at, help_name,
                       "'%s' is the name of a formal of '%s'", name, g->name);
}

/* ---- names of the function --------------------------------------------------------------------------------------- */

static bool declares(const struct step *s, const char *name)
{
    return s->ast->kind != AST_FOR && hiding_declares(s->ast) && s->ast->symbol && s->ast->name == name;
}

/* What the declaration of s hides; NULL: nothing. */
static const struct ast *hidden_by(const struct gradient *g, const struct step *s)
{
    const struct symbol *o = g->orch, *outside = names_in_module(o->module, s->ast->name);
    const char *name = s->ast->name;
    int before = s->order;
    for (const struct block *b = s->in; b; b = b->outer) {
        for (const struct step *q = b->first; q && q->order < before; q = q->next)
            if (q->ast != s->ast && declares(q, name)) return q->ast;
        if (!b->owner) break;
        if (b->owner->kind == STEP_FOR && b->owner->ast->name == name) return b->owner->ast;
        before = b->owner->order;
    }
    for (int i = 0; i < o->formal_count; i++)
        if (o->formals[i]->name == name) return o->formals[i]->decl;
    for (int i = 0; i < o->dim_count; i++)
        if (o->dims[i]->name == name) return o->dims[i]->decl;
    return outside && (outside->kind == SYM_CONST || outside->kind == SYM_PARAM) ? outside->decl : NULL;
}

static bool is_on_way_back(const struct step *s)
{
    if (s->kind == STEP_FOR) return s->is_touching;
    return hiding_declares(s->ast) && s->ast->kind != AST_FOR && (!s->in->owner || s->in->owner->is_touching);
}

static bool rename_step(struct gradient *g, const struct step *s)
{
    const struct ast *hidden = is_on_way_back(s) ? hidden_by(g, s) : NULL;
    struct symbol *symbol = s->ast->symbol;
    if (!hidden) return true;
    if (type_is_struct(symbol->type)) {
        grad_refuse(g, DIAG_E99, s->ast->name_at, help_name,
                    "a gradient through the scope of the struct '%s', which hides another '%s', is not built yet",
                    s->ast->name, s->ast->name);
        diag_note(g->c->diag, hidden->name_at.end ? hidden->name_at : hidden->at, "the other '%s' is declared here",
                  s->ast->name);
        return false;
    }
    struct tensor *t = ptrmap_get(&g->tensor_of, symbol);
    ptrmap_set(&g->renamed, symbol, (void *)(uintptr_t)symbol->name);
    vec_push(&g->hiding, symbol);
    symbol->name = text_fresh(g, arena_printf(g->mem, "%s_2", symbol->name));
    if (t) t->name = symbol->name;
    return true;
}

/* The text of sizes has the names of symbols, so they have the other names themselves while the gradient is printed. */
bool hiding_rename(struct gradient *g)
{
    for (size_t i = 0; i < g->steps.count; i++)
        if (!rename_step(g, g->steps.data[i])) return false;
    return true;
}

void hiding_restore(struct gradient *g)
{
    for (size_t i = 0; i < g->hiding.count; i++) g->hiding.data[i]->name = ptrmap_get(&g->renamed, g->hiding.data[i]);
}

bool hiding_check(struct gradient *g)
{
    for (size_t i = 0; i < g->tensors.count; i++) {
        const struct tensor *t = g->tensors.data[i];
        if (t->bar_formal && !g->is_inner && !check_bar(g, t->bar_formal)) return false;
    }
    return true;
}
