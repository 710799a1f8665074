/* names.c - scopes, lookup, and the names that were probably meant.
 * Idea       a scope is a short list; file-level names are a module's list.  Interned names compare by pointer.
 * Tests      test/lit/sema/e01*.pto e16-duplicate.pto w03.pto
 */
#include "checker.h"
#include <string.h>

struct symbol *names_new(struct checker *c, enum symbol_kind kind, const char *name, struct ast *decl)
{
    struct symbol *s = arena_new(c->mem, struct symbol);
    s->kind = kind;
    s->name = name;
    s->decl = decl;
    s->module = c->module;
    s->type = c->error;
    s->loop_depth = c->loop_depth;
    s->block = c->scope ? c->scope->block : NULL;
    return s;
}

void names_push(struct checker *c, struct ast *block)
{
    struct scope *s = arena_new(c->mem, struct scope);
    s->parent = c->scope;
    s->block = block;
    c->scope = s;
}

void names_pop(struct checker *c)
{
    for (size_t i = 0; i < c->scope->names.count; i++) {
        struct symbol *s = c->scope->names.data[i];
        if (!c->function || c->function->module != s->module) continue;
        vec_push(&c->closed, s);
        bool local = s->kind == SYM_LET || s->kind == SYM_VAR || s->kind == SYM_VIEW;
        if (local && !s->is_named && s->type->kind != TYPE_ERROR && s->name[0] != '_')
            diag_warning(c->diag, DIAG_W02, s->decl->name_at, "'%s' is never used", s->name);
    }
    vec_free(&c->scope->names);
    c->scope = c->scope->parent;
}

static struct symbol *find(const struct scope *s, const char *name)
{
    for (size_t i = 0; i < s->names.count; i++)
        if (s->names.data[i]->name == name) return s->names.data[i];
    return NULL;
}

static const char *kind_text(const struct symbol *s)
{
    static const char *const text[] = {[SYM_MODULE] = "module", [SYM_CONST] = "const", [SYM_PARAM] = "param",
                                       [SYM_STRUCT] = "struct", [SYM_KERNEL] = "kernel", [SYM_ORCH] = "function",
                                       [SYM_DIM] = "dimension variable", [SYM_FORMAL] = "formal", [SYM_LET] = "let",
                                       [SYM_VAR] = "var", [SYM_VIEW] = "view", [SYM_LOOP] = "loop variable"};
    return text[s->kind];
}

void names_declare(struct checker *c, struct symbol *s, struct span at)
{
    struct symbol *old = find(c->scope, s->name);
    if (old) {
        diag_error(c->diag, DIAG_E16, at, "'%s' is already the name of a %s in this block", s->name, kind_text(old));
        if (old->decl) diag_note(c->diag, old->decl->name_at, "the first '%s' is here", s->name);
    }
    for (const struct scope *o = c->scope->parent; o && !old; o = o->parent)
        if ((old = find(o, s->name))) {
            diag_warning(c->diag, DIAG_W03, at, "'%s' hides a %s of the same name", s->name, kind_text(old));
            if (old->decl) diag_note(c->diag, old->decl->name_at, "the outer '%s' is here", s->name);
        }
    vec_push(&c->scope->names, s);
}

struct symbol *names_in_module(const struct module *m, const char *name)
{
    for (int i = 0; i < m->symbol_count; i++)
        if (m->symbols[i]->name == name) return m->symbols[i];
    return NULL;
}

struct symbol *names_lookup(struct checker *c, const char *name)
{
    for (const struct scope *s = c->scope; s; s = s->parent) {
        struct symbol *found = find(s, name);
        if (found) return found;
    }
    struct symbol *found = names_in_module(c->module, name);
    if (found) declare_resolve(c, found);
    return found;
}

static const char *const builtins[] = {"min", "max", "abs", "ceil_div", "log2", "sqrt", "dim"};

bool names_is_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i], name) == 0) return true;
    return false;
}

/* ---- the nearest names --------------------------------------------------------------------------------------------------- */

#define MAX_NAME 48 /* longer names are not compared */

/* Insertions, deletions, replacements and swaps of neighbours. */
static int distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    int row[3][MAX_NAME + 1];
    if (la > MAX_NAME || lb > MAX_NAME) return MAX_NAME;
    for (size_t k = 0; k <= lb; k++) row[0][k] = (int)k;
    for (size_t i = 1; i <= la; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *before2 = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t k = 1; k <= lb; k++) {
            int best = before[k - 1] + (a[i - 1] != b[k - 1]);
            if (before[k] + 1 < best) best = before[k] + 1;
            if (now[k - 1] + 1 < best) best = now[k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before2[k - 2] + 1 < best) best = before2[k - 2] + 1;
            now[k] = best;
        }
    }
    return row[la % 3][lb];
}

static bool is_near(const char *name, int d)
{
    size_t length = strlen(name);
    return d <= (length <= 2 ? 1 : length <= 5 ? 2 : 3) && (size_t)d < length;
}

const char *names_nearest(const char *name, const char *const *candidates, int count)
{
    const char *best = NULL;
    int best_distance = MAX_NAME;
    for (int i = 0; i < count; i++) {
        int d = distance(name, candidates[i]);
        if (d < best_distance && is_near(name, d)) best = candidates[i], best_distance = d;
    }
    return best;
}

static bool was_unknown(struct checker *c, const char *name, const struct module *inside)
{
    struct unknown now = {name, c->module, inside, c->function};
    for (size_t i = 0; i < c->unknown.count; i++) {
        const struct unknown *u = &c->unknown.data[i];
        if (u->name == name && u->file == now.file && u->inside == inside && u->function == now.function) return true;
    }
    vec_push(&c->unknown, now);
    return false;
}

void names_unknown(struct checker *c, struct span at, const char *name, const char *what, const struct module *module)
{
    VEC(const char *) all = {0};
    if (was_unknown(c, name, module)) return;
    for (size_t i = c->closed.count; !module && c->function && i-- > 0;)
        if (c->closed.data[i]->name == name && c->closed.data[i]->kind != SYM_DIM) {
            diag_error(c->diag, DIAG_E11, at, "'%s' is not there any more: its block has ended", name);
            diag_note(c->diag, c->closed.data[i]->decl->name_at, "'%s' is declared in that block", name);
            return;
        }
    if (!module)
        for (const struct scope *s = c->scope; s; s = s->parent)
            for (size_t i = 0; i < s->names.count; i++) vec_push(&all, s->names.data[i]->name);
    const struct module *m = module ? module : c->module;
    for (int i = 0; i < m->symbol_count; i++)
        if (!module || m->symbols[i]->kind != SYM_MODULE) vec_push(&all, m->symbols[i]->name);
    if (!module)
        for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) vec_push(&all, builtins[i]);
    diag_error(c->diag, DIAG_E01, at, "unknown %s '%s'", what, name);
    const char *first = names_nearest(name, all.data, (int)all.count);
    if (first) {
        struct strbuf text = {0};
        int shown = 0, d = distance(name, first);
        for (size_t i = 0; i < all.count && shown < 3; i++) {
            bool seen = false;
            for (size_t k = 0; k < i; k++) seen |= strcmp(all.data[k], all.data[i]) == 0;
            if (!seen && distance(name, all.data[i]) == d) strbuf_printf(&text, "%s'%s'", shown++ ? " or " : "", all.data[i]);
        }
        diag_help(c->diag, "did you mean %s?", strbuf_text(&text));
        strbuf_free(&text);
    }
    vec_free(&all);
}
