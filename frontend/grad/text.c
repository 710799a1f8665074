/* text.c - pieces of the program as text, and names that are free.
 * Idea       an expression is the text that the user wrote, with other text in the place of some of its nodes; a size
 *            is written out where every name in it is seen.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool take_name(void *cx, struct ast *n)
{
    struct gradient *g = cx;
    if (n->name) ptrmap_set(&g->names, n->name, g);
    return true;
}

void text_take_names(struct gradient *g)
{
    ast_walk(g->orch->decl, take_name, g);
    ptrmap_set(&g->names, intern_str(g->front->names, "result"), g);
}

const char *text_fresh(struct gradient *g, const char *base)
{
    const char *name = intern_str(g->front->names, base);
    for (int number = 2;; number++) {
        if (!ptrmap_get(&g->names, name) && !names_in_module(g->orch->module, name) &&
            !names_in_module(g->all->m, name) && !ptrmap_get(&g->all->names, name))
            break;
        name = intern_str(g->front->names, arena_printf(g->mem, "%s_%d", base, number));
    }
    ptrmap_set(&g->names, name, g);
    return name;
}

/* ---- the user's text --------------------------------------------------------------------------------------------- */

struct splicing {
    struct gradient *g;
    bool (*replace)(void *cx, struct ast *n, struct strbuf *out);
    void *cx;
    const char *text;
    uint32_t at; /* printed so far */
    struct strbuf *out;
};

/* ---- functions of another file ----------------------------------------------------------------------------------- */

static bool find_local(void *cx, struct ast *n)
{
    const char **name = cx;
    if (*name == n->name && (hiding_declares(n) || n->kind == AST_FORMAL || n->kind == AST_GENERIC)) *name = NULL;
    return *name != NULL;
}

const char *text_module(struct gradient *g, const struct module *m)
{
    for (int i = 0; i < g->all->m->symbol_count; i++) {
        const struct symbol *s = g->all->m->symbols[i];
        const char *name = s->name;
        if (s->kind != SYM_MODULE || s->target != m) continue;
        ast_walk(g->orch->decl, find_local, (void *)&name);
        if (name) return name;
    }
    grad_refuse(g, DIAG_E99, g->at, "import its file here, under a name that no local of the function has",
                "a gradient through '%s', which uses a file that has no name here, is not built yet", g->orch->name);
    return "";
}

static bool is_local(const struct symbol *s)
{
    return s->kind != SYM_KERNEL && s->kind != SYM_ORCH && s->kind != SYM_CONST && s->kind != SYM_PARAM &&
           s->kind != SYM_MODULE;
}

/* A name of the function's own file, as it is written in the file of the gradient. */
static bool qualify(struct gradient *g, struct ast *n, struct strbuf *out)
{
    if (g->orch->module == g->all->m || !n->name) return false;
    const struct symbol *s = names_in_module(g->orch->module, n->name);
    if (s && s->kind == SYM_STRUCT)
        return !grad_refuse(g, DIAG_E99, n->at, "copy the function into this file",
                            "a gradient through '%s', a function of another file with a struct, is not built yet",
                            g->orch->name);
    if (!s || n->kind != AST_NAME || (n->symbol && is_local(n->symbol))) return false;
    if (s->kind == SYM_MODULE)
        strbuf_puts(out, text_module(g, s->target));
    else
        strbuf_printf(out, "%s.%s", text_module(g, s->module), n->name);
    return true;
}

/* The name of a local that has another one in the gradient: hiding.c. */
static void splice_name(struct splicing *s, const struct symbol *symbol, struct span at)
{
    strbuf_add(s->out, s->text + s->at, at.begin - s->at);
    strbuf_puts(s->out, symbol->name);
    s->at = at.end;
}

static bool splice(void *cx, struct ast *n)
{
    struct splicing *s = cx;
    STRBUF(text);
    if (!s->replace(s->cx, n, &text) && !qualify(s->g, n, &text)) {
        const bool is_renamed = n->symbol && ptrmap_get(&s->g->renamed, n->symbol);
        if (is_renamed && n->kind == AST_NAME) splice_name(s, n->symbol, n->at);
        if (is_renamed && hiding_declares(n)) splice_name(s, n->symbol, n->name_at);
        return true;
    }
    strbuf_add(s->out, s->text + s->at, n->at.begin - s->at);
    strbuf_add(s->out, strbuf_text(&text), text.length);
    s->at = n->at.end;
    return false;
}

void text_splice(struct gradient *g, struct ast *n, bool (*replace)(void *cx, struct ast *n, struct strbuf *out),
                 void *cx, struct strbuf *out)
{
    struct splicing s = {g, replace, cx, source_get(g->front->sources, n->at.file)->text, n->at.begin, out};
    ast_walk(n, splice, &s);
    strbuf_add(out, s.text + s.at, n->at.end - s.at);
}

static bool replace_call(void *cx, struct ast *n, struct strbuf *out)
{
    struct gradient *g = cx;
    const struct call *call = n->kind == AST_CALL && n != g->own ? call_of(n) : NULL;
    const struct tensor *t = call && call->result_symbol ? ptrmap_get(&g->tensor_of, call->result_symbol) : NULL;
    if (!t) return false;
    strbuf_puts(out, t->name);
    return true;
}

void text_forth(struct gradient *g, struct ast *n, struct strbuf *out) { text_splice(g, n, replace_call, g, out); }

struct ast *text_root(struct ast *place)
{
    for (;;)
        if (place->kind == AST_INDEX)
            place = place->index.object;
        else if (place->kind == AST_MEMBER && !place->symbol)
            place = place->member.object;
        else if (place->kind == AST_CALL && !call_of(place) && place->call.callee->kind == AST_MEMBER)
            place = place->call.callee->member.object; /* x.permute(1, 0) */
        else
            return place;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The extent of a result that the run decides is `dim(y, 0)` of the tensor of the body that has it. */
static bool is_seen_number(struct gradient *g, const struct symbol *number)
{
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        for (int k = 0; k < t->symbol->decided_count; k++) {
            if (t->symbol->decided[k] != number) continue;
            const bool is_named = t->block == g->body && !t->is_result && !t->symbol->is_var && !t->symbol->hidden &&
                                  t->name == t->symbol->name && !ptrmap_get(&g->renamed, t->symbol);
            if (is_named) t->is_found = true;
            return is_named;
        }
    }
    return false;
}

/* Is every name of it seen in the body of the function, or, with_loops, in the loops that declare it? */
static bool is_seen(struct gradient *g, const struct size *a, bool with_loops)
{
    if (a->kind == SIZE_EXTENT || a->kind == SIZE_STRIDE || a->kind == SIZE_AT) return false;
    if (a->kind == SIZE_SYMBOL) {
        const struct symbol *s = a->symbol;
        if (s->kind == SYM_LOOP) return with_loops;
        if (s->kind == SYM_LET && s->hidden && s->decided_name) return is_seen_number(g, s);
        if (s->kind == SYM_VAR || s->hidden) return false;
        if (s->kind == SYM_LET) return ptrmap_get(&g->block_of, s) == g->body;
        return (s->kind != SYM_PARAM && s->kind != SYM_CONST) || s->module == g->all->m;
    }
    for (int i = 0; i < a->count; i++)
        if (!is_seen(g, a->arg[i], with_loops)) return false;
    return true;
}

const char *text_size(struct gradient *g, const struct size *s, bool with_loops)
{
    if (!s) return NULL;
    STRBUF(text);
    if (!is_seen(g, s, with_loops)) s = size_expand(g->c->sizes, s);
    if (!is_seen(g, s, with_loops)) return NULL;
    size_text(s, &text);
    return strstr(strbuf_text(&text), "...") ? NULL : arena_copy(g->mem, strbuf_text(&text), text.length);
}

static const struct size *bound(struct gradient *g, const struct size *s, bool upper);

static const struct size *bound_of_loop(struct gradient *g, const struct symbol *v, bool upper)
{
    const struct ast *loop = v->decl;
    int64_t step = 1;
    if (!loop || loop->kind != AST_FOR || !loop->loop.low->value || !loop->loop.high->value) return NULL;
    if (loop->loop.step && (!loop->loop.step->value || !size_is_const(loop->loop.step->value, &step))) return NULL;
    if ((step > 0) != upper) return bound(g, size_expand(g->c->sizes, loop->loop.low->value), upper);
    const struct size *end = bound(g, size_expand(g->c->sizes, loop->loop.high->value), upper);
    return end ? size_binary(g->c->sizes, SIZE_ADD, end, size_const(g->c->sizes, upper ? -1 : 1)) : NULL;
}

static const struct size *bound_product(struct gradient *g, const struct size *s, bool upper)
{
    int64_t factor;
    if (s->count < 2 || !size_is_const(s->arg[0], &factor)) return NULL;
    const struct size *rest = s->arg[1];
    for (int i = 2; i < s->count && rest; i++) rest = size_binary(g->c->sizes, SIZE_MUL, rest, s->arg[i]);
    rest = rest ? bound(g, rest, factor > 0 ? upper : !upper) : NULL;
    return rest ? size_scale(g->c->sizes, rest, factor) : NULL;
}

static const struct size *bound_args(struct gradient *g, const struct size *s, bool upper)
{
    const bool may_leave_out = (s->kind == SIZE_MINIMUM && upper) || (s->kind == SIZE_MAXIMUM && !upper);
    const struct size *r = NULL;
    for (int i = 0; i < s->count; i++) {
        const struct size *b = bound(g, s->arg[i], upper);
        if (!b && !may_leave_out) return NULL;
        if (b) r = r ? size_binary(g->c->sizes, s->kind, r, b) : b;
        if (b && !r) return NULL;
    }
    return r;
}

static const struct size *bound(struct gradient *g, const struct size *s, bool upper)
{
    int64_t divisor;
    if (is_seen(g, s, false)) return s;
    switch (s->kind) {
    case SIZE_SYMBOL: return s->symbol->kind == SYM_LOOP ? bound_of_loop(g, s->symbol, upper) : NULL;
    case SIZE_MUL: return bound_product(g, s, upper);
    case SIZE_ADD:
    case SIZE_MINIMUM:
    case SIZE_MAXIMUM: return bound_args(g, s, upper);
    case SIZE_DIV:
    case SIZE_CEIL_DIV:
        if (!size_is_const(s->arg[1], &divisor) || divisor <= 0) return NULL;
        s = (void *)bound(g, s->arg[0], upper)
                ? size_binary(g->c->sizes, s->kind, bound(g, s->arg[0], upper), s->arg[1])
                : NULL;
        return s;
    default: return NULL;
    }
}

const struct size *text_most(struct gradient *g, const struct size *s)
{
    return bound(g, size_expand(g->c->sizes, s), true);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const char *type_of_extents(struct gradient *g, enum elem elem, int rank, const struct size *const *extent,
                                   bool with_loops)
{
    STRBUF(text);
    strbuf_printf(&text, "%s[", elem_name(elem));
    for (int i = 0; i < rank; i++) {
        const char *e = text_size(g, extent[i], with_loops);
        if (!e) return NULL;
        strbuf_printf(&text, "%s%s", i ? ", " : "", e);
    }
    strbuf_puts(&text, "]");
    return arena_copy(g->mem, strbuf_text(&text), text.length);
}

const char *text_type(struct gradient *g, const struct type *t, bool with_loops)
{
    const char *inner = type_of_extents(g, t->elem, t->rank - t->array_rank, t->extent + t->array_rank, with_loops);
    for (int i = t->array_rank - 1; i >= 0 && inner; i--) {
        const char *length = text_size(g, t->extent[i], with_loops);
        inner = length ? arena_printf(g->mem, "array[%s] of %s", length, inner) : NULL;
    }
    return inner;
}

const char *text_region_type(struct gradient *g, const struct grad_place *p, bool with_loops)
{
    return type_of_extents(g, p->base->symbol->type->elem, p->region->rank, p->region->extent, with_loops);
}

const char *text_most_type(struct gradient *g, enum elem elem, int rank, const struct size *const *extent,
                           bool *is_exact)
{
    const struct size *most[MAX_RANK];
    *is_exact = true;
    for (int i = 0; i < rank; i++) {
        if (!(most[i] = text_most(g, extent[i]))) return NULL;
        *is_exact &= most[i] == size_expand(g->c->sizes, extent[i]) || is_seen(g, extent[i], false);
    }
    return type_of_extents(g, elem, rank, most, false);
}
