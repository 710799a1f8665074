/* scopes.c - the names of a kernel in index notation.
 * Idea       one list, the innermost last; what is in none of its scopes is looked up as in any declaration.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"
#include "syntax/ast_walk.h"

struct eq_value eq_fail(struct eq_work *w)
{
    w->failed = true;
    return (struct eq_value){0};
}

struct eq_name *eq_find(struct eq_work *w, const char *name)
{
    for (size_t i = w->names.count; i-- > 0;)
        if (w->names.data[i].name == name) return &w->names.data[i];
    return NULL;
}

struct symbol *eq_outer(struct eq_work *w, const char *name)
{
    for (int i = 0; i < w->kernel->formal_count; i++)
        if (w->kernel->formals[i]->name == name) return w->kernel->formals[i];
    struct symbol *s = declare_lookup(w->c, name);
    const bool means_something = s && (s->kind == SYM_DIM || s->kind == SYM_CONST || s->kind == SYM_MODULE);
    return means_something ? s : NULL;
}

struct search {
    const char *name;
    uint32_t after;
    const struct ast *found;
};

static bool find_let(void *cx, struct ast *n)
{
    struct search *s = cx;
    if (n->kind == AST_LET && n->name == s->name && n->at.end > s->after && !s->found) s->found = n;
    return ast_is_statement(n) || n->kind == AST_BLOCK;
}

bool eq_is_read_early(struct eq_work *w, const char *name, struct span at)
{
    struct search s = {.name = name, .after = at.begin};
    ast_walk(w->kernel->decl->kernel->block, find_let, &s);
    if (!s.found) return false;
    diag_error(w->c->diag, DIAG_E19, at, "'%s' is read before its 'let' has ended", name);
    diag_note(w->c->diag, s.found->name_at, "it is written here");
    return true;
}

bool eq_is_new_name(struct eq_work *w, const char *name, struct span at)
{
    const struct eq_name *n = eq_find(w, name);
    const struct symbol *s = n ? NULL : eq_outer(w, name);
    if (!n && !s) return true;
    diag_error(w->c->diag, DIAG_E19, at, "'%s' is a name here already", name);
    diag_note(w->c->diag, n ? n->at : s->decl->at, "it is declared here");
    w->failed = true;
    return false;
}

struct eq_var *eq_declare_var(struct eq_work *w, enum eq_role role, const char *name, struct span at)
{
    struct symbol *s = names_new(w->c, SYM_LOOP, name, NULL);
    s->type = w->c->int_;
    struct eq_var *v = arena_new(w->c->mem, struct eq_var);
    *v = (struct eq_var){.role = role, .symbol = s, .id = (int)w->vars.count, .at = at};
    vec_push(&w->vars, v);
    vec_push(&w->in_scope, v);
    vec_push(&w->names, ((struct eq_name){.kind = EQ_NAME_VAR, .name = name, .var = v, .at = at}));
    return v;
}

void eq_declare_temp(struct eq_work *w, struct eq_temp *t)
{
    vec_push(&w->names, ((struct eq_name){.kind = EQ_NAME_TEMP, .name = t->name, .temp = t, .at = t->at}));
}

void eq_declare_alias(struct eq_work *w, const char *name, struct span at, struct eq_value v)
{
    vec_push(&w->names, ((struct eq_name){.kind = EQ_NAME_ALIAS, .name = name, .alias = v, .at = at}));
}

void eq_declare_bad(struct eq_work *w, const char *name, struct span at)
{
    vec_push(&w->names, ((struct eq_name){.kind = EQ_NAME_BAD, .name = name, .at = at}));
}

static bool find_target(void *cx, struct ast *n)
{
    struct eq_work *w = cx;
    if (n->kind != AST_ASSIGN) return ast_is_statement(n);
    const struct ast *object = n->assign.target;
    while (object->kind == AST_INDEX) object = object->index.object;
    for (int i = 0; i < w->kernel->formal_count && object->kind == AST_NAME; i++)
        if (w->kernel->formals[i]->name == object->name) vec_push(&w->written, w->kernel->formals[i]);
    return false;
}

void eq_find_written(struct eq_work *w, struct ast *block) { ast_walk(block, find_target, w); }

bool eq_is_written(const struct eq_work *w, const struct symbol *formal)
{
    for (size_t i = 0; i < w->written.count; i++)
        if (w->written.data[i] == formal) return true;
    return false;
}
