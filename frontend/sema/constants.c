/* constants.c - declarations of values of a file: `const`, which -D may replace, and `param`.
 * Gives      type and value of SYM_CONST, type of SYM_PARAM.
 * Tests      test/lit/sema/e15-constants.pto e16*.pto
 */
#include "checker.h"
#include "support/nearest.h"
#include "syntax/ast_walk.h"
#include <string.h>

const char *symbol_option_name(struct arena *mem, const struct symbol *s)
{
    return s->module->is_main ? s->name : arena_printf(mem, "%s.%s", s->module->option_name, s->name);
}

/* The main file may import a module by several names, and each of them is good. */
static bool names_const(struct checker *c, const char *option, const struct symbol *s)
{
    if (strcmp(option, symbol_option_name(c->mem, s)) == 0) return true;
    for (const struct ast *item = c->modules.data[0]->ast->items; item; item = item->next)
        if (item->kind == AST_IMPORT && item->symbol && item->symbol->target == s->module &&
            strcmp(option, arena_printf(c->mem, "%s.%s", item->symbol->name, s->name)) == 0)
            return true;
    return false;
}

static const struct define *find_define(struct checker *c, const struct symbol *s)
{
    const struct define *found = NULL;
    for (int i = 0; i < c->options->define_count; i++) {
        const struct define *define = &c->options->defines[i];
        if (!names_const(c, define->name, s)) continue;
        c->define_used[i] = true;
        if (found)
            diag_error_plain(c->diag, DIAG_E16, "-D %s=%s: the same const is given as %s=%s", define->name,
                             define->value, found->name, found->value);
        else
            found = define;
    }
    return found;
}

static void set_constant(struct symbol *s, const struct constant *v)
{
    s->has_value = true;
    s->int_value = v->i;
    s->real_value = v->f;
}

/* A constant as it is kept in a symbol of type t. */
static void convert(struct constant *v, const struct type *t)
{
    v->f = constant_as(v, t);
    if (t->kind == TYPE_F32) v->f = (double)(float)v->f;
    v->type = t;
}

void constants_const(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl, *value = d->decl.value;
    const struct type *want = d->decl.type ? type_nodes_check(c, d->decl.type) : NULL,
                      *got = exprs_check(c, value, AS_VALUE);
    struct constant v;
    if (value->bad || (want && want->kind == TYPE_ERROR)) {
        notes_bad(d);
        return;
    }
    if (!want) want = got;
    if (!type_is_scalar(want)) {
        diag_error(c->diag, DIAG_E02, value->at, "a const is a number or a bool, not %s", type_str(c, want));
        notes_bad(d);
    } else if (!exprs_fits(c, value, want, arena_printf(c->mem, "'%s'", s->name))) {
        notes_bad(d);
    } else if (!consteval(c, value, &v)) {
        diag_error(c->diag, DIAG_E19, value->at, "the value of '%s' is not constant", s->name);
        notes_bad(d);
    } else {
        convert(&v, want);
        set_constant(s, &v);
        s->type = want;
    }
    const struct define *define = find_define(c, s);
    if (!define || d->bad) return;
    if (!consteval_text(c, define->value, want, &v)) {
        diag_error_plain(c->diag, DIAG_E16, "-D %s=%s: '%s' is %s", define->name, define->value, s->name,
                         type_str(c, want));
        return;
    }
    convert(&v, want);
    set_constant(s, &v);
}

/* The name with a module before it? */
static bool ends_in(const char *name, const char *define)
{
    size_t all = strlen(name), own = strlen(define);
    return all > own && name[all - own - 1] == '.' && strcmp(name + all - own, define) == 0;
}

static void refuse_define(struct checker *c, const char *define)
{
    VEC(const char *) names = {0};
    STRBUF(longer);
    int longer_count = 0;
    bool is_param = false;
    for (size_t i = 0; i < c->modules.count; i++)
        for (int k = 0; k < c->modules.data[i]->symbol_count; k++) {
            const struct symbol *s = c->modules.data[i]->symbols[k];
            const char *name = symbol_option_name(c->mem, s);
            if (s->kind == SYM_CONST) vec_push(&names, name);
            if (s->kind == SYM_CONST && ends_in(name, define))
                strbuf_printf(&longer, "%s'%s'", longer_count++ ? " or " : "", name);
            if (s->kind == SYM_PARAM && strcmp(name, define) == 0) is_param = true;
        }
    const char *near = nearest_word(define, names.data, (int)names.count);
    diag_error_plain(c->diag, DIAG_E16, "-D %s: there is no const of that name", define);
    if (is_param)
        diag_help(c->diag, "'%s' is a param: it is set when the program runs, --set %s=...", define, define);
    else if (longer_count > 0)
        diag_help(c->diag, "did you mean %s?", strbuf_text(&longer));
    else if (near)
        diag_help(c->diag, "did you mean '%s'?", near);
    vec_free(&names);
}

void constants_check_defines(struct checker *c)
{
    for (int i = 0; i < c->options->define_count; i++)
        if (!c->define_used[i]) refuse_define(c, c->options->defines[i].name);
}

/* Defaults are evaluated in the order of the declarations. */
struct order {
    struct checker *c;
    const struct symbol *param;
};

static bool check_order(void *cx, struct ast *e)
{
    const struct order *o = cx;
    const struct symbol *s = e->kind == AST_NAME && !e->bad ? e->symbol : NULL;
    if (s && s->kind == SYM_PARAM && s->decl->at.begin >= o->param->decl->at.begin) {
        diag_error(o->c->diag, DIAG_E16, e->at, "'%s' has its value only after '%s': declare it before", e->name,
                   o->param->name);
        notes_bad(o->param->decl);
    }
    return !e->bad;
}

void constants_param(struct checker *c, struct symbol *s)
{
    struct ast *d = s->decl;
    const struct type *t = type_nodes_check(c, d->decl.type);
    if (t->kind == TYPE_ERROR) {
        notes_bad(d);
        return;
    }
    if (!type_is_scalar(t)) {
        diag_error(c->diag, DIAG_E02, d->decl.type->at, "a param is i64, f64, f32 or bool, not %s", type_str(c, t));
        notes_bad(d);
        return;
    }
    if (d->decl.value) {
        exprs_check(c, d->decl.value, AS_VALUE);
        if (!exprs_fits(c, d->decl.value, t, arena_printf(c->mem, "'%s'", s->name))) notes_bad(d);
        ast_walk(d->decl.value, check_order, &(struct order){c, s});
    }
    s->type = t;
}
