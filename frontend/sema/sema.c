/* sema.c - checks a program: the order of things.
 * Idea       load and parse everything, declare the names of every file, look at every declaration, then at every body.
 * Owner      struct checked and all it points at live in the front end's arena.
 * Invariant  no body is checked before every signature is known; after a syntax error only what broken.c
 *            leaves is checked.
 * Tests      test/lit/sema/
 */
#include "checker.h"
#include <string.h>

static const struct type *simple(struct checker *c, enum type_kind kind)
{
    struct type *t = arena_new(c->mem, struct type);
    t->kind = kind;
    return t;
}

static void check_static_assert(struct checker *c, struct ast *item)
{
    struct constant v;
    struct ast *cond = item->check.cond;
    if (!exprs_condition(c, cond)) return;
    if (!consteval(c, cond, &v))
        diag_error(c->diag, DIAG_E20, cond->at, "'%s' is not known at compile time", place_str(c, cond));
    else if (!v.i) {
        diag_error(c->diag, DIAG_E20, cond->at, "'%s' is false", place_str(c, cond));
        if (item->check.message) diag_note(c->diag, item->check.message->at, "%s", item->check.message->string.text);
    }
}

static void check_module(struct checker *c, struct module *m)
{
    c->module = m;
    c->scope = NULL;
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (item->symbol && item->kind != AST_IMPORT) declare_resolve(c, item->symbol);
    for (int i = 0; i < m->symbol_count; i++)
        if (m->symbols[i]->next_overload) declare_check_overloads(c, m->symbols[i]);
    for (struct ast *item = m->ast->items; item; item = item->next) {
        c->module = m;
        if (item->kind == AST_STATIC_ASSERT) check_static_assert(c, item);
        if (item->kind != AST_ORCH || item->bad || broken_is_body(c, item)) continue;
        if (c->options->is_stale && c->options->is_stale(c->options->stale_cx)) return;
        stmts_function(c, item->symbol);
        if (c->options->passes) c->options->passes(c, item->symbol);
    }
}

static void warn_unused_imports(struct checker *c, const struct module *m)
{
    for (int i = 0; i < m->symbol_count; i++)
        if (m->is_main && m->symbols[i]->kind == SYM_MODULE && !m->symbols[i]->is_named && m->symbols[i]->target)
            diag_warning(c->diag, DIAG_W02, m->symbols[i]->decl->at, "module '%s' is never used", m->symbols[i]->name);
}

/* Of a program in error nobody knows what is used. */
static void warn_unused(struct checker *c)
{
    for (size_t i = 0; i < c->modules.count; i++) warn_unused_imports(c, c->modules.data[i]);
    for (size_t i = 0; i < c->unused.count; i++) {
        const struct symbol *s = c->unused.data[i];
        /* W01 */
        const bool is_reported = s->kind == SYM_LET && s->type->kind == TYPE_TENSOR && !s->region &&
                                 tensor_note_of(c->checked, s)->is_written;
        if (!is_reported) diag_warning(c->diag, DIAG_W02, s->decl->name_at, "'%s' is never used", s->name);
    }
}

struct checked *sema_check(struct front *front, const char *path, const struct sema_options *options)
{
    struct checker c = {.front = front, .mem = front->mem, .diag = front->diag, .options = options};
    struct checked *result = arena_new(c.mem, struct checked);
    c.checked = result;
    c.module_of.mem = c.module_names.mem = result->tensors.mem = result->functions.mem = c.mem;
    c.sizes = result->sizes = size_table_create(c.mem);
    c.facts = facts_create(c.mem, c.sizes);
    c.error = simple(&c, TYPE_ERROR);
    c.void_ = simple(&c, TYPE_VOID);
    c.int_ = simple(&c, TYPE_INT);
    c.f64 = simple(&c, TYPE_F64);
    c.f32 = simple(&c, TYPE_F32);
    c.bool_ = simple(&c, TYPE_BOOL);
    c.string = simple(&c, TYPE_STRING);
    c.define_used = arena_array(c.mem, bool, options->define_count + 1);
    if (modules_load(&c, path) && (!c.has_syntax_error || broken_only_bodies(&c))) {
        for (size_t i = 0; i < c.modules.count; i++) modules_declare(&c, c.modules.data[i]);
        /* What a module needs comes first, so that its own errors do. */
        for (size_t i = c.modules.count; i-- > 0;) check_module(&c, c.modules.data[i]);
        constants_check_defines(&c);
        if (diag_error_count(c.diag) == 0) warn_unused(&c);
    }
    result->has_syntax_error = c.has_syntax_error;
    result->module_count = (int)c.modules.count;
    result->modules = arena_array(c.mem, struct module *, c.modules.count);
    if (c.modules.count > 0) memcpy(result->modules, c.modules.data, c.modules.count * sizeof *result->modules);
    facts_reset(c.facts, 0);
    vec_free(&c.modules);
    vec_free(&c.closed);
    vec_free(&c.unknown);
    vec_free(&c.unused);
    vec_free(&c.elements);
    for (size_t i = 0; i < sizeof c.text / sizeof *c.text; i++) strbuf_free(&c.text[i]);
    return result;
}
