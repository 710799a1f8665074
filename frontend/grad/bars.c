/* bars.c - where the gradient of a tensor lies, and since when it has a value.
 * Idea       the bar of a tensor is a tensor of its type; the bar of a piece is the same piece of the bar.  It is
 *            declared where the backward pass first meets it: by the call that gives its first part, where that gives
 *            all of it, else filled with zeros.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include <string.h>

static bool is_given(const struct gradient *g, const struct tensor *t)
{
    (void)g;
    return t->is_result || (t->is_formal && active_writes(t->symbol->dir));
}

/* The formals of a gradient that only a caller's gradient calls have names of our choice. */
const char *bars_formal(struct gradient *g, const char *of)
{
    const char *name = intern_str(g->front->names, arena_printf(g->mem, "%s_bar", of));
    if (g->is_inner) return text_fresh(g, name);
    ptrmap_set(&g->names, name, g);
    return name;
}

static bool has_formal(const struct gradient *g, const struct tensor *t)
{
    return active_is_float(t->symbol->type) && (t->is_x || is_given(g, t));
}

void bars_name(struct gradient *g)
{
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        if (!has_formal(g, t)) continue;
        t->bar = t->bar_formal = bars_formal(g, t->is_result ? "result" : t->name);
        t->bar_is_given = is_given(g, t) && !t->is_x;
        t->bar_is_ready = is_given(g, t);
    }
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        if (!t->bar && tensor_is_active(t)) t->bar = text_fresh(g, arena_printf(g->mem, "%s_bar", t->name));
    }
    for (int i = 0; i < g->x_count; i++) {
        struct tensor *t = steps_tensor(g, g->x[i]);
        if (g->adds[i] == ADDS) t->bar_is_ready = true;
    }
}

void bars_write(struct gradient *g, struct tensor *t)
{
    (void)g;
    t->bar_is_written = true;
}

bool bars_declare(struct gradient *g, struct span at, const struct tensor *t)
{
    const char *type = text_type(g, t->symbol->type, true);
    if (!type)
        return grad_refuse(g, DIAG_E99, at, "let its extents be made of formals and constants",
                           "the gradient of '%s' has extents that are not seen here", t->symbol->name);
    strbuf_printf(&g->out, "let %s: %s;\n", t->bar, type);
    return true;
}

bool bars_ready(struct gradient *g, struct step *at, struct tensor *t)
{
    if (t->bar_is_ready) return true;
    t->bar_is_ready = true;
    if (!t->is_x && !bars_declare(g, at->ast->at, t)) return false;
    strbuf_printf(&g->out, "%s(out %s);\n", kernels_zero(g->all, t->symbol->type->rank), t->bar);
    return true;
}

/* The bar of a second name, or of a tiled view. */
static const char *bar_of_alias(struct gradient *g, struct symbol *alias)
{
    struct step *s = ptrmap_get(&g->step_of, alias);
    const char *known = keep_again(g, s), *name;
    if (known) return known;
    STRBUF(line);
    struct ast *v = s->ast->kind == AST_VIEW ? s->ast->view.tensor : s->ast->decl.value;
    const struct grad_place p = {steps_tensor(g, region_of(v)->base), region_of(v), v, NULL};
    name = text_fresh(g, arena_printf(g->mem, "%s_bar", alias->name));
    strbuf_printf(&line, "%s %s = ", s->ast->kind == AST_VIEW ? "view" : "let", name);
    bars_text(g, s, &p, &line);
    for (struct ast *e = s->ast->kind == AST_VIEW ? s->ast->view.tiles : NULL; e; e = e->next) {
        strbuf_puts(&line, e == s->ast->view.tiles ? " tiled [" : ", ");
        keep_expr(g, s, e, &line);
    }
    strbuf_puts(&line, s->ast->kind == AST_VIEW ? "];\n" : ";\n");
    strbuf_add(&g->out, strbuf_text(&line), line.length);
    keep_note(g, s, name);
    return name;
}

bool bars_text(struct gradient *g, struct step *s, const struct grad_place *p, struct strbuf *out)
{
    if (!p->expr) {
        strbuf_puts(out, p->base->bar);
        return !g->failed;
    }
    struct ast *root = text_root(p->expr);
    const struct step *at = root->kind == AST_NAME && root->symbol ? ptrmap_get(&g->step_of, root->symbol) : NULL;
    const char *text = at && at->kind == STEP_ALIAS ? bar_of_alias(g, root->symbol) : p->base->bar;
    return keep_place(g, s, p->expr, root, text, out);
}

bool bars_is_met_before(struct gradient *g, struct step *s, const struct grad_place *p)
{
    if (p->base->is_x) return true;
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *q = g->calls.data[i];
        for (int k = 0; k < q->place_count; k++)
            if (q->places[k].base == p->base && order_may_follow(g, q, &q->places[k], s, p)) return true;
    }
    return false;
}

bool bars_clear(struct gradient *g, struct step *s, const struct grad_place *p)
{
    if (!p->base->bar_is_ready || !bars_is_met_before(g, s, p)) return true;
    STRBUF(text);
    bars_text(g, s, p, &text);
    bars_write(g, p->base);
    strbuf_printf(&g->out, "%s(out %s);\n", kernels_zero(g->all, p->region->rank), strbuf_text(&text));
    return !g->failed;
}
