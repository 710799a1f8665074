/* adjoint.c - the adjoint of a kernel in index notation with respect to one of its formals.
 * Idea       the order of things: the kernel's statements, what depends on x, the backward pass through them, the
 *            statements that write the gradient, and what of all that is needed.
 * Owner      struct adjoint, in the front end's arena.
 * Invariant  nothing is reported here: the caller knows the place.
 * Tests      test/lit/grad/
 */
#include "adjoint_parts.h"
#include "syntax/format/format.h"
#include <string.h>

/* ---- properties of the kernel ------------------------------------------------------------------------------------ */

static void know_kernel(struct adj_work *w)
{
    const struct symbol *k = w->kernel;
    for (int i = 0; i < k->dim_count; i++) facts_add(w->facts, size_symbol(w->sizes, k->dims[i]));
    for (int i = 0; i < k->formal_count; i++)
        for (int d = 0; k->formals[i]->type->kind == TYPE_TENSOR && d < k->formals[i]->type->rank; d++)
            facts_add(w->facts, k->formals[i]->type->extent[d]);
    for (const struct ast *c = k->decl->kernel->where; c; c = c->next) facts_add_condition(w->facts, c, true);
}

static bool has_odd_formal(const struct adj_work *w)
{
    for (int i = 0; i < w->kernel->formal_count; i++)
        if (w->kernel->formals[i]->by != BY_NONE) return true;
    return false;
}

/* ---- formals ----------------------------------------------------------------------------------------------------- */

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }

/* Is the dimension variable found from an extent of the formal? */
static bool gives(struct adj_work *w, const struct symbol *formal, const struct symbol *dim)
{
    const struct eq_var v = {.symbol = dim};
    for (int d = 0; is_tensor(formal) && d < formal->type->rank; d++) {
        const struct size *factor, *rest, *extent = formal->type->extent[d];
        int64_t c;
        if (size_names(extent, dim) && eq_split(w->sizes, extent, &v, &factor, &rest) && size_is_const(factor, &c) &&
            c > 0 && size_is_const(rest, NULL))
            return true;
    }
    return false;
}

static bool size_is_of(const struct size *s, const struct symbol *dim) { return s && size_names(s, dim); }

static bool expr_names(const struct eq_expr *e, const struct symbol *dim)
{
    if (!e) return false;
    if (e->kind == EQ_SIZE && size_names(e->size, dim)) return true;
    for (int d = 0; e->kind == EQ_LOAD && d < e->access->rank; d++)
        if (size_is_of(e->access->index[d].size, dim) || expr_names(e->access->index[d].expr, dim)) return true;
    for (int i = 0; e->kind == EQ_REDUCE && i < e->reduce.var_count; i++)
        if (size_names(e->reduce.vars[i]->low, dim) || size_names(e->reduce.vars[i]->high, dim)) return true;
    return expr_names(e->a, dim) || expr_names(e->b, dim) || expr_names(e->c, dim);
}

static bool statement_names(const struct adj_stmt *s, const struct symbol *dim)
{
    for (int i = 0; i < s->var_count; i++)
        if (size_names(s->var[i]->low, dim) || size_names(s->var[i]->high, dim)) return true;
    for (int d = 0; d < s->target->rank; d++)
        if (size_is_of(s->target->index[d].size, dim) || expr_names(s->target->index[d].expr, dim)) return true;
    return expr_names(s->value, dim);
}

static bool is_used(const struct adj_work *w, const struct symbol *dim)
{
    for (size_t i = 0; i < w->formals.count; i++) {
        const struct adj_formal *f = &w->formals.data[i];
        for (int d = 0; f->is_needed && is_tensor(f->symbol) && d < f->symbol->type->rank; d++)
            if (size_names(f->symbol->type->extent[d], dim)) return true;
    }
    for (size_t i = 0; i < w->out.count; i++)
        if (w->out.data[i]->is_needed && statement_names(w->out.data[i], dim)) return true;
    for (size_t i = 0; i < w->writes.count; i++)
        if (statement_names(w->writes.data[i], dim)) return true;
    return false;
}

static bool is_given(struct adj_work *w, const struct symbol *dim)
{
    for (size_t i = 0; i < w->formals.count; i++)
        if (w->formals.data[i].is_needed && gives(w, w->formals.data[i].symbol, dim)) return true;
    return false;
}

static void need(struct adj_work *w, int of, enum adjoint_role role)
{
    adj_formal(w, of, role);
    for (size_t i = 0; i < w->formals.count; i++)
        if (w->formals.data[i].shown.of == of && w->formals.data[i].shown.role == role)
            w->formals.data[i].is_needed = true;
}

/* A dimension variable that only a formal that was left out gives: it comes back. */
static void need_dims(struct adj_work *w)
{
    const struct symbol *k = w->kernel;
    bool changed = true;
    while (changed && !w->why) {
        changed = false;
        for (int n = 0; n < k->dim_count; n++) {
            int found = -1;
            if (!is_used(w, k->dims[n]) || is_given(w, k->dims[n])) continue;
            for (int i = k->formal_count; i-- > 0;)
                if (gives(w, k->formals[i], k->dims[n]) && (found < 0 || k->formals[i]->dir == DIR_IN)) found = i;
            if (found < 0) {
                adj_refuse(w, k->decl->name_at, "no formal alone gives one of its dimension variables");
                return;
            }
            const struct symbol *f = k->formals[found];
            need(w, found,
                 f->dir == DIR_IN              ? ADJOINT_VALUE
                 : adj_is_float(f->type->elem) ? ADJOINT_SEED
                                               : ADJOINT_RESULT);
            changed = true;
        }
    }
}

static bool name_is_taken(const struct adj_work *w, const char *name, const struct adj_formal *but)
{
    const struct symbol *k = w->kernel;
    for (int i = 0; i < k->formal_count; i++)
        if (k->formals[i]->name == name || strcmp(k->formals[i]->name, name) == 0) return true;
    for (int i = 0; i < k->dim_count; i++)
        if (strcmp(k->dims[i]->name, name) == 0) return true;
    for (size_t i = 0; i < w->formals.count; i++)
        if (&w->formals.data[i] != but && strcmp(w->formals.data[i].shown.name, name) == 0) return true;
    return false;
}

static bool is_of_kernel(const struct adj_formal *f)
{
    return f->shown.role == ADJOINT_VALUE || (f->shown.role == ADJOINT_RESULT && f->symbol->name == f->shown.name);
}

/* Values, then bars, the gradient last; each in the order of the kernel. */
static int before(const struct adjoint_formal *a, const struct adjoint_formal *b)
{
    static const int rank[] = {[ADJOINT_VALUE] = 0, [ADJOINT_RESULT] = 0,   [ADJOINT_SEED] = 1,
                               [ADJOINT_WORK] = 2,  [ADJOINT_REPLACED] = 3, [ADJOINT_GRADIENT] = 3};
    if (rank[a->role] != rank[b->role]) return rank[a->role] - rank[b->role];
    return a->of != b->of ? a->of - b->of : (int)a->role - (int)b->role;
}

static int before_formal(const void *a, const void *b)
{
    return before(&((const struct adj_formal *)a)->shown, &((const struct adj_formal *)b)->shown);
}

static void name_formals(struct adj_work *w)
{
    for (size_t i = 0; i < w->formals.count; i++) {
        struct adj_formal *f = &w->formals.data[i];
        const char *plain = f->shown.name;
        for (int n = 2; !is_of_kernel(f) && name_is_taken(w, f->shown.name, f); n++)
            f->shown.name = arena_printf(w->front->mem, "%s%d", plain, n);
    }
}

/* ---- the result -------------------------------------------------------------------------------------------------- */

static const struct adj_stmt *const *keep_list(struct adj_work *w, struct adj_stmt *const *list, size_t count,
                                               bool needed_only, int *kept)
{
    const struct adj_stmt **to = arena_array(w->front->mem, const struct adj_stmt *, count + 1);
    *kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!needed_only || list[i]->is_needed) to[(*kept)++] = list[i];
    return to;
}

static void keep(struct adj_work *w, struct adjoint *a)
{
    struct adjoint_body *b = arena_new(w->front->mem, struct adjoint_body);
    struct adjoint_formal *shown = arena_array(w->front->mem, struct adjoint_formal, w->formals.count + 1);
    struct symbol **symbols = arena_array(w->front->mem, struct symbol *, w->formals.count + 1);
    name_formals(w);
    qsort(w->formals.data, w->formals.count, sizeof *w->formals.data, before_formal);
    for (size_t i = 0; i < w->formals.count; i++) {
        if (!w->formals.data[i].is_needed) continue;
        shown[a->formal_count] = w->formals.data[i].shown;
        symbols[a->formal_count++] = w->formals.data[i].symbol;
    }
    b->symbols = symbols;
    b->out = keep_list(w, w->out.data, w->out.count, true, &b->out_count);
    b->writes = keep_list(w, w->writes.data, w->writes.count, false, &b->writes_count);
    b->writes_adds = keep_list(w, w->writes_adds.data, w->writes_adds.count, false, &b->writes_adds_count);
    b->equations = w->q;
    a->formals = shown;
    a->body = b;
    a->may_have_kinks = w->has_kinks;
}

static void find(struct adj_work *w, struct adjoint *a)
{
    const struct symbol *x = w->kernel->formals[w->x];
    if (has_odd_formal(w)) adj_refuse(w, w->kernel->decl->name_at, "it has an accumulator with 'by'");
    for (int i = 0; i < w->kernel->formal_count; i++) /* sizes name some */
        if (!is_tensor(w->kernel->formals[i])) adj_formal(w, i, ADJOINT_VALUE);
    adj_find_recurrences(w);
    if (!adj_forward(w)) return;
    const bool flows = adj_find_active(w);
    if (!flows && x->dir == DIR_IN) {
        a->kind = ADJOINT_ZERO;
        return;
    }
    adj_walk_back(w);
    if (!w->why) adj_emit_gradient(w);
    if (w->why) return;
    a->kind = w->writes.count > 0 ? ADJOINT_KERNEL : x->dir == DIR_IN ? ADJOINT_ZERO : ADJOINT_SAME;
    if (a->kind != ADJOINT_KERNEL) return;
    adj_tidy(w);
    need_dims(w);
    if (!w->why) keep(w, a);
}

static void destroy(struct adj_work *w)
{
    for (size_t i = 0; i < w->bars.count; i++) {
        vec_free(&w->bars.data[i]->flows);
        vec_free(&w->bars.data[i]->gone);
    }
    ptrmap_free(&w->temps);
    ptrmap_free(&w->made);
    ptrmap_free(&w->hoisted);
    vec_free(&w->forward);
    vec_free(&w->active);
    vec_free(&w->recurrences);
    vec_free(&w->out);
    vec_free(&w->writes);
    vec_free(&w->writes_adds);
    vec_free(&w->bars);
    vec_free(&w->formals);
    facts_reset(w->facts, 0); /* which frees them */
}

const struct adjoint *adjoint_of(struct front *front, const struct checked *checked, const struct symbol *kernel, int x)
{
    struct adjoint *a = arena_new(front->mem, struct adjoint);
    struct adj_work w = {.front = front, .checked = checked, .sizes = checked->sizes, .kernel = kernel, .x = x};
    a->kernel = kernel;
    a->x = x;
    a->kind = ADJOINT_ZERO;
    w.q = equations_of(kernel);
    if (!w.q) {
        a->kind = ADJOINT_NONE;
        a->at = kernel->decl->name_at;
        a->why = "it is no kernel in index notation";
        a->help = "write the kernel with an '@adjoint(f)'";
        return a;
    }
    if (kernel->formals[x]->dir == DIR_OUT) return a;
    w.facts = facts_create(front->mem, w.sizes);
    know_kernel(&w);
    find(&w, a);
    if (w.why) {
        a->kind = ADJOINT_NONE;
        a->at = w.at;
        a->why = w.why;
        a->help = w.help;
    }
    destroy(&w);
    return a;
}

const char *adjoint_name(struct front *front, const struct adjoint *a, enum adjoint_form form)
{
    char *name = arena_printf(front->mem, "%s_adj_%s%s", a->kernel->name, a->kernel->formals[a->x]->name,
                              form == ADJOINT_ADDS          ? "_add"
                              : form == ADJOINT_ACCUMULATES ? "_acc"
                                                            : "");
    for (char *c = name; *c; c++)
        if (*c == '>') memmove(c, c + 1, strlen(c));
    for (char *c = name; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c)) *c = '_';
    return name;
}

/* The formatter reads a file of the source map. */
void adjoint_print(struct front *front, const struct checked *checked, const struct adjoint *a, enum adjoint_form form,
                   const char *name, struct strbuf *out)
{
    STRBUF(text);
    STRBUF(laid_out);
    adj_print(front, checked, a, form, name, &text);
    const int file = source_map_add(front->sources, name, strbuf_text(&text), text.length);
    format_file(front, (uint32_t)file, &laid_out);
    strbuf_add(out, strbuf_text(&laid_out), laid_out.length);
}
