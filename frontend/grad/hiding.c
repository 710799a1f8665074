/* hiding.c - names of the function that the way back cannot have.
 * Idea       the way back says expressions again, in another order than the function: a name that hides another one
 *            would take its place there.  So no name hides another one where a gradient flows, and none is that of a
 *            formal which the gradient declares.
 * Tests      test/lit/grad/refused.test, names.pto
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

static const char help_name[] = "give it another name";

/* ---- formals of the gradient ------------------------------------------------------------------------------------- */

static bool is_declaration(const struct ast *n)
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
    if (!u->found && n->name == u->name && (is_declaration(n) || n->kind == AST_NAME)) u->found = n;
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
    return grad_refuse(g, DIAG_E16, is_declaration(naming.found) ? naming.found->name_at : naming.found->at, help_name,
                       "'%s' is the name of a formal of '%s'", name, g->name);
}

/* ---- names of the function --------------------------------------------------------------------------------------- */

static bool declares(const struct step *s, const char *name)
{
    return s->ast->kind != AST_FOR && is_declaration(s->ast) && s->ast->symbol && s->ast->name == name;
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
    return is_declaration(s->ast) && s->ast->kind != AST_FOR && (!s->in->owner || s->in->owner->is_touching);
}

static bool check_step(struct gradient *g, const struct step *s)
{
    const struct ast *hidden = is_on_way_back(s) ? hidden_by(g, s) : NULL;
    if (!hidden) return true;
    grad_refuse(g, DIAG_E99, s->ast->name_at, help_name,
                "a gradient through the scope of '%s', which hides another '%s', is not built yet", s->ast->name,
                s->ast->name);
    diag_note(g->c->diag, hidden->name_at.end ? hidden->name_at : hidden->at, "the other '%s' is declared here",
              s->ast->name);
    return false;
}

bool hiding_check(struct gradient *g)
{
    for (size_t i = 0; i < g->tensors.count; i++) {
        const struct tensor *t = g->tensors.data[i];
        if (t->bar_formal && !g->is_inner && !check_bar(g, t->bar_formal)) return false;
    }
    for (size_t i = 0; i < g->steps.count; i++)
        if (!check_step(g, g->steps.data[i])) return false;
    return true;
}
