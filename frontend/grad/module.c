/* module.c - what `@grad` asks for in one module.
 * Idea       the kernels come first, then the functions, each below those that it calls; the whole in the layout of
 *            ptoc fmt.
 * Tests      test/lit/grad/layers.pto
 */
#include "check.h"
#include "grad.h"
#include "parts.h"
#include "syntax/ast_walk.h"
#include "syntax/format/format.h"
#include <string.h>

static bool is_grad(const struct ast *attr, bool *adds)
{
    *adds = strcmp(attr->name, "grad_add") == 0;
    return *adds || strcmp(attr->name, "grad") == 0;
}

/* Is it the function of --check-grad? */
static bool is_compared(const struct checker *c, const struct ast *item)
{
    const char *name = c->options->check_grad;
    return name && item->symbol->module->is_main && (!*name || strcmp(name, item->name) == 0);
}

static void add_function(struct grads *all, struct ast *item, struct ast *attr, bool adds)
{
    struct checker *c = all->c;
    struct symbol *x[MAX_FORMALS];
    enum adds how[MAX_FORMALS];
    int count = 0;
    const char *name = intern_str(c->front->names, arena_printf(c->mem, adds ? "%s_grad_add" : "%s_grad", item->name));
    const struct symbol *taken = names_in_module(all->m, name);
    for (const struct ast *a = attr->attr.args; a; a = a->next) {
        how[count] = adds ? ADDS : OVERWRITES;
        x[count++] = a->symbol;
    }
    if (taken) {
        diag_error(c->diag, DIAG_E16, attr->at, "'@%s' declares '%s', and the name is taken", attr->name, name);
        diag_note(c->diag, taken->kind == SYM_MODULE ? taken->decl->at : taken->decl->name_at, "'%s' is declared here",
                  name);
        return;
    }
    ptrmap_set(&all->names, name, all);
    if (function_print(all, item->symbol, name, x, how, count, attr->at) && !adds && is_compared(c, item))
        check_print(all, item, attr);
}

/* --check-grad of a function without a gradient. */
static void refuse_unasked(struct checker *c, const struct module *m)
{
    const char *name = c->options->check_grad;
    for (const struct ast *item = m->ast->items; item; item = item->next) {
        bool adds, is_asked = false;
        if (item->kind != AST_ORCH || strcmp(item->name, name) != 0) continue;
        for (const struct ast *a = item->attrs; a; a = a->next) is_asked |= is_grad(a, &adds) && !adds;
        if (is_asked) return;
        diag_error(c->diag, DIAG_E22, item->name_at, "'%s' has no '@grad' to compare", name);
        diag_help(c->diag, "write '@grad(x)' before it, with its formals that have a gradient");
    }
}

static bool take_word(void *cx, struct ast *n)
{
    struct grads *all = cx;
    if (n->name) ptrmap_set(&all->words, n->name, all);
    return true;
}

static void take_words(struct grads *all, const struct module *m)
{
    for (struct ast *item = m->ast->items; item; item = item->next)
        if (item->kind == AST_ORCH) ast_walk(item, take_word, all);
}

void grad_module(struct checker *c, struct module *m, struct strbuf *out)
{
    struct grads all = {.c = c, .m = m};
    bool adds;
    all.names.mem = all.words.mem = c->mem;
    c->module = m;
    if (m->is_main && c->options->check_grad && *c->options->check_grad) refuse_unasked(c, m);
    take_words(&all, m);
    for (int i = 0; i < m->symbol_count; i++)
        if (m->symbols[i]->kind == SYM_MODULE && m->symbols[i]->target) take_words(&all, m->symbols[i]->target);
    for (struct ast *item = m->ast->items; item; item = item->next) {
        if (item->kind != AST_ORCH || item->bad) continue;
        for (struct ast *a = item->attrs; a; a = a->next)
            if (is_grad(a, &adds)) add_function(&all, item, a, adds);
    }
    STRBUF(text);
    strbuf_add(&text, strbuf_text(&all.kernels), all.kernels.length);
    strbuf_add(&text, strbuf_text(&all.functions), all.functions.length);
    if (text.length > 0 && diag_error_count(c->diag) == 0) {
        const int file = source_map_add_generated(c->front->sources, "@gradients", strbuf_text(&text), text.length);
        format_file(c->front, (uint32_t)file, out);
    }
    strbuf_free(&all.kernels);
    strbuf_free(&all.functions);
    vec_free(&all.adjoints);
    vec_free(&all.inner);
}

/* The text without the attributes, and what they asked for behind it. */
void grad_print_module(struct front *front, const struct module *m, struct strbuf *out)
{
    const struct source *source = source_get(front->sources, m->ast->file);
    STRBUF(text);
    uint32_t at = 0;
    bool adds;
    for (const struct ast *item = m->ast->items; item; item = item->next) {
        if (item->kind != AST_ORCH || item->at.file != m->ast->file) continue;
        for (const struct ast *a = item->attrs; a; a = a->next) {
            if (!is_grad(a, &adds) && strcmp(a->name, "keep") != 0 && strcmp(a->name, "order") != 0) continue;
            strbuf_add(&text, source->text + at, a->at.begin - at);
            for (at = a->at.end; source->text[at] == ' ' || source->text[at] == '\n';) at++;
        }
    }
    strbuf_add(&text, source->text + at, source->length - at);
    if (m->gradients) strbuf_printf(&text, "\n%s", m->gradients);
    const int file = source_map_add_generated(front->sources, "@gradients", strbuf_text(&text), text.length);
    format_file(front, (uint32_t)file, out);
}
