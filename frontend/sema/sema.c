/* sema.c - checks a program: the order of things.
 * Idea       load and parse everything, declare the names of every file, look at every declaration, then at every body.
 * Owner      struct checked and all it points at live in the front end's arena.
 * Invariant  no body is checked before every signature is known; after a syntax error only what broken.c
 *            leaves is checked.
 * Tests      test/lit/sema/
 */
#include "checker.h"
#include "syntax/ast_walk.h"
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

static void check_function(struct checker *c, struct module *m, struct ast *item)
{
    if (item->kind != AST_ORCH || item->bad || item->symbol->is_checked || broken_is_body(c, item)) return;
    c->module = m;
    item->symbol->is_checked = true;
    stmts_function(c, item->symbol);
    if (c->options->passes) c->options->passes(c, item->symbol);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

/* The functions of the module that are called in a body. */
static bool check_called(void *cx, struct ast *n)
{
    struct checker *c = cx;
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    if (!call || call->callee->kind != SYM_ORCH || call->callee->is_checked) return true;
    struct symbol *callee = call->callee;
    check_function(c, callee->module, callee->decl);
    ast_walk(callee->decl->orch.body, check_called, c);
    return true;
}

static bool has_attribute(const struct ast *item) { return item->kind == AST_ORCH && item->attrs && !item->bad; }

/* What `@grad` asks for needs the checked body, and the rest of the module may call it. */
static void add_gradients(struct checker *c, struct module *m)
{
    bool is_asked = false;
    for (struct ast *item = m->ast->items; item; item = item->next) {
        if (item->kind == AST_ORCH && item->attrs && item->bad) m->lacks_gradients = true;
        if (!has_attribute(item)) continue;
        is_asked = true;
        check_function(c, m, item);
        ast_walk(item->orch.body, check_called, c);
    }
    if (!is_asked || !c->options->gradients) return;
    const int errors = diag_error_count(c->diag);
    STRBUF(text);
    if (errors == 0) c->options->gradients(c, m, &text);
    m->lacks_gradients |= errors > 0 || diag_error_count(c->diag) != errors;
    if (m->lacks_gradients || text.length == 0) return;
    m->gradients = arena_copy(c->mem, strbuf_text(&text), text.length);
    const char *path = arena_printf(c->mem, "%s@grad", m->path);
    const int file = source_map_add_generated(c->front->sources, path, strbuf_text(&text), text.length);
    struct ast *items = parse_file(c->front, (uint32_t)file)->items;
    if (diag_error_count(c->diag) != errors) return;
    modules_extend(c, m, items);
    for (struct ast *item = items; item; item = item->next)
        if (item->symbol) declare_resolve(c, item->symbol);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void check_module(struct checker *c, struct module *m)
{
    c->module = m;
    c->scope = NULL;
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (item->symbol && item->kind != AST_IMPORT) declare_resolve(c, item->symbol);
    for (int i = 0; i < m->symbol_count; i++)
        if (m->symbols[i]->next_overload) declare_check_overloads(c, m->symbols[i]);
    add_gradients(c, m);
    for (struct ast *item = m->ast->items; item; item = item->next) {
        c->module = m;
        if (item->kind == AST_STATIC_ASSERT) check_static_assert(c, item);
        if (item->kind != AST_ORCH || item->bad) continue;
        if (c->options->is_stale && c->options->is_stale(c->options->stale_cx)) return;
        check_function(c, m, item);
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
