/* back_call.c - one call in the backward pass: the calls that carry the gradients of what it wrote to what it read.
 * Idea       of a kernel by index an adjoint for each formal that has a gradient, in the form that overwrites where the
 *            bar is met first; of another kernel the one of its `@adjoint`; of a function its gradient.  What the call
 *            wrote had no value before: its bar ends here, or begins again with zeros where something before has to do
 *            with it.  Each adjoint reads the bars as the call left them: one that replaces a bar comes after those
 *            that read it, and where each reads what another one replaces, the bar is copied first.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include <string.h>

static bool is_active(const struct step *s, int i) { return tensor_is_active(s->places[i].base); }
static bool is_read(const struct step *s, int i) { return active_reads(active_direction(s, i)); }
static bool is_written(const struct step *s, int i) { return active_writes(active_direction(s, i)); }

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void begin_argument(struct strbuf *call)
{
    if (call->length && call->data[call->length - 1] != '(') strbuf_puts(call, ", ");
}

/* A tensor like the argument that nothing else names; NULL: reported. */
static const char *new_tensor(struct gradient *g, struct step *s, int i, const char *base)
{
    const struct grad_place *p = &s->places[i];
    const char *name = text_fresh(g, base), *type = text_region_type(g, p, true);
    if (!type) {
        grad_refuse(g, DIAG_E99, s->call_ast->at, "let its extents be made of formals and constants",
                    "the argument '%s' has extents that are not seen in the backward pass", p->base->symbol->name);
        return NULL;
    }
    strbuf_printf(&g->out, "let %s: %s;\n", name, type);
    return name;
}

static bool add_zeros(struct gradient *g, struct step *s, int i, const char *mark, struct strbuf *call)
{
    const char *name = new_tensor(g, s, i, "zeros");
    if (!name) return false;
    strbuf_printf(&g->out, "%s(out %s);\n", kernels_zero(g->all, s->places[i].region->rank), name);
    strbuf_printf(call, "%s%s", mark, name);
    return true;
}

static bool add_seed(struct gradient *g, struct step *s, int i, struct strbuf *call)
{
    if (!is_active(s, i)) return add_zeros(g, s, i, "", call);
    if (s->places[i].seed) {
        strbuf_puts(call, s->places[i].seed);
        return true;
    }
    return bars_ready(g, s, s->places[i].base) && bars_text(g, s, &s->places[i], call);
}

static bool add_scalar(struct gradient *g, struct step *s, int i, struct strbuf *call)
{
    return s->call->values[i] && keep_expr(g, s, s->call->values[i], call);
}

/* Does this call give all of the bar, and is it the first to give any of it? */
static bool begins(const struct step *s, int i)
{
    const struct grad_place *p = &s->places[i];
    return !p->base->bar_is_ready && p->region->whole && s->in == p->base->block;
}

static bool is_plain(const struct grad_place *p)
{
    return !p->expr || (p->expr->kind == AST_NAME && p->expr->symbol == p->base->symbol) || p->expr->kind == AST_CALL;
}

/* The gradient of argument i as the argument `mark bar`; *let: the call is the value of a new bar. */
static bool add_gradient(struct gradient *g, struct step *s, int i, enum adjoint_form form, const char **let,
                         struct strbuf *call)
{
    const bool overwrites = form == ADJOINT_OVERWRITES, accumulates = form == ADJOINT_ACCUMULATES;
    struct grad_place *p = &s->places[i];
    struct tensor *t = p->base;
    if (overwrites) {
        t->bar_is_ready = true;
        if (!t->is_x && let && is_plain(p)) {
            *let = t->bar;
            return true;
        }
        if (!t->is_x && !bars_declare(g, s->call_ast->at, t)) return false;
    } else {
        if (!bars_ready(g, s, t)) return false;
        bars_write(g, t);
    }
    begin_argument(call);
    strbuf_puts(call, overwrites ? "out " : accumulates ? "acc " : "inout ");
    return bars_text(g, s, p, call);
}

/* Is every extent of the formal one of what the adjoint reads?  Else a call of it cannot give its result a type. */
static bool shows_extents(const struct symbol *kernel, const struct adjoint *a)
{
    const struct type *x = kernel->formals[a->x]->type;
    for (int i = 0; i < x->rank; i++) {
        int64_t value;
        bool is_seen = size_is_const(x->extent[i], &value);
        for (int f = 0; f < a->formal_count && !is_seen; f++) {
            const struct adjoint_formal *formal = &a->formals[f];
            if (formal->role != ADJOINT_VALUE && formal->role != ADJOINT_RESULT && formal->role != ADJOINT_SEED)
                continue;
            const struct type *t = kernel->formals[formal->of]->type;
            for (int k = 0; t->kind == TYPE_TENSOR && k < t->rank; k++)
                is_seen |= x->extent[i]->kind == SIZE_SYMBOL && t->extent[k] == x->extent[i];
        }
        if (!is_seen) return false;
    }
    return true;
}

static void end_call(struct gradient *g, const char *let, const char *callee, const struct strbuf *call)
{
    if (let) strbuf_printf(&g->out, "let %s = ", let);
    strbuf_printf(&g->out, "%s(%s);\n", callee, strbuf_text(call));
}

/* Has another argument of the call, which only reads, a gradient of the same tensor? */
static bool is_shared(const struct step *s, int i)
{
    if (active_direction(s, i) != DIR_IN || !is_active(s, i)) return false;
    for (int k = 0; k < s->place_count; k++)
        if (k != i && active_direction(s, k) == DIR_IN && s->places[k].base == s->places[i].base) return true;
    return false;
}

/* A bar of its own for such an argument, whose name it returns; NULL: reported. */
static const char *own_bar(struct gradient *g, struct step *s, int i, struct strbuf *after)
{
    if (!bars_ready(g, s, s->places[i].base)) return NULL;
    bars_write(g, s->places[i].base);
    const char *name = new_tensor(g, s, i, arena_printf(g->mem, "%s_part", s->places[i].base->bar));
    if (!name) return NULL;
    strbuf_printf(after, "%s(%s, inout ", kernels_add(g->all, s->places[i].region->rank), name);
    if (!bars_text(g, s, &s->places[i], after)) return NULL;
    strbuf_puts(after, ");\n");
    return name;
}

/* ---- a kernel by index ------------------------------------------------------------------------------------------- */

static bool refuse_none(struct gradient *g, const struct step *s, const struct adjoint *a)
{
    const struct symbol *k = s->call->callee;
    grad_refuse(g, DIAG_E22, a->at.end ? a->at : s->call_ast->at, a->help,
                "'%s' has no adjoint with respect to '%s': %s", k->name, k->formals[a->x]->name, a->why);
    diag_note(g->c->diag, s->call_ast->at, "the gradient comes through this call");
    return false;
}

static bool adjoint_argument(struct gradient *g, struct step *s, const struct adjoint_formal *f, struct strbuf *call)
{
    const char *work;
    if (f->role == ADJOINT_GRADIENT || f->role == ADJOINT_REPLACED) return true;
    begin_argument(call);
    switch (f->role) {
    case ADJOINT_VALUE:
        return s->places[f->of].base ? keep_value(g, s, f->of, false, call) : add_scalar(g, s, f->of, call);
    case ADJOINT_RESULT: return keep_value(g, s, f->of, true, call);
    case ADJOINT_SEED: return add_seed(g, s, f->of, call);
    default:
        work = new_tensor(g, s, f->of, "work");
        if (work) strbuf_printf(call, "out %s", work);
        return work;
    }
}

/* The adjoint of the kernel with respect to formal i. */
static bool back_by_index(struct gradient *g, struct step *s, int i)
{
    const struct symbol *k = s->call->callee;
    const struct adjoint *a = kernels_adjoint(g->all, k, i);
    const bool is_replaced = active_writes(active_direction(s, i)), overwrites = !is_replaced && begins(s, i);
    const char *let = NULL;
    bool is_seeded = is_replaced, has_work = false;
    STRBUF(call);
    if (a->kind == ADJOINT_NONE) return refuse_none(g, s, a);
    if (a->kind != ADJOINT_KERNEL) return true;
    for (int f = 0; f < a->formal_count; f++) {
        is_seeded |= a->formals[f].role == ADJOINT_SEED && is_active(s, a->formals[f].of);
        has_work |= a->formals[f].role == ADJOINT_WORK;
    }
    if (!is_seeded || (is_replaced && !bars_is_met_before(g, s, &s->places[i]))) return true;
    for (int f = 0; f < a->formal_count; f++)
        if (!adjoint_argument(g, s, &a->formals[f], &call)) return false;
    const bool has_let = !has_work && (shows_extents(k, a) || !text_type(g, s->places[i].base->symbol->type, true));
    const enum adjoint_form mark = overwrites                        ? ADJOINT_OVERWRITES
                                   : is_replaced || !g->is_any_order ? ADJOINT_ADDS
                                                                     : ADJOINT_ACCUMULATES;
    if (!add_gradient(g, s, i, mark, has_let ? &let : NULL, &call)) return false;
    end_call(g, let, kernels_name(g->all, k, i, is_replaced ? ADJOINT_OVERWRITES : mark), &call);
    return true;
}

/* ---- a kernel with @adjoint -------------------------------------------------------------------------------------- */

static bool attribute_argument(struct gradient *g, struct step *s, const struct symbol *f, struct strbuf *call,
                               struct strbuf *after)
{
    bool is_bar;
    const int i = kernels_original(s->call->callee, f, &is_bar);
    const enum direction d = active_direction(s, i);
    begin_argument(call);
    if (!s->places[i].base) return add_scalar(g, s, i, call);
    if (!is_bar) return keep_value(g, s, i, d == DIR_OUT, call);
    if (f->dir == DIR_IN) return add_seed(g, s, i, call);
    if (!is_active(s, i)) return add_zeros(g, s, i, "inout ", call);
    if (is_shared(s, i)) {
        const char *own = own_bar(g, s, i, after);
        if (!own) return false;
        strbuf_printf(&g->out, "%s(out %s);\n", kernels_zero(g->all, s->places[i].region->rank), own);
        strbuf_printf(call, "inout %s", own);
        return true;
    }
    if (!bars_ready(g, s, s->places[i].base)) return false;
    bars_write(g, s->places[i].base);
    strbuf_puts(call, "inout ");
    return bars_text(g, s, &s->places[i], call);
}

/* "alias.f" where the kernel is called as "alias.k" */
static const char *name_beside(struct gradient *g, const struct step *s, const struct symbol *f)
{
    const struct ast *callee = s->call_ast->call.callee;
    if (g->orch->module != g->all->m && f->module != g->all->m)
        return arena_printf(g->mem, "%s.%s", text_module(g, f->module), f->name);
    if (callee->kind != AST_MEMBER) return f->name;
    return arena_printf(g->mem, "%s.%s", callee->member.object->name, f->name);
}

/* Does the adjoint give a gradient that is wanted? */
static bool is_wanted(const struct step *s, const struct symbol *f)
{
    for (int i = 0; i < f->formal_count; i++) {
        bool is_bar;
        const int of = kernels_original(s->call->callee, f->formals[i], &is_bar);
        if (is_bar && f->formals[i]->dir == DIR_INOUT && is_active(s, of)) return true;
    }
    return false;
}

static bool back_by_attribute(struct gradient *g, struct step *s, const struct symbol *f)
{
    STRBUF(call);
    STRBUF(after);
    for (int i = 0; i < f->formal_count; i++)
        if (!attribute_argument(g, s, f->formals[i], &call, &after)) return false;
    end_call(g, NULL, name_beside(g, s, f), &call);
    strbuf_add(&g->out, strbuf_text(&after), after.length);
    return true;
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static bool function_argument(struct gradient *g, struct step *s, int i, struct strbuf *call)
{
    const struct symbol *f = s->call->callee->formals[i];
    const char *again;
    begin_argument(call);
    if (!s->places[i].base || active_direction(s, i) == DIR_HOST) {
        if (f->by_reference)
            return grad_refuse(g, DIAG_E99, s->call_ast->at, "return the scalar instead",
                               "a gradient through '%s', which changes a scalar of its caller, is not built yet",
                               s->call->callee->name);
        return add_scalar(g, s, i, call);
    }
    switch (active_direction(s, i)) {
    case DIR_IN: return keep_value(g, s, i, false, call);
    case DIR_OUT:
        again = new_tensor(g, s, i, arena_printf(g->mem, "%s_again", f->name));
        if (again) strbuf_printf(call, "out %s", again);
        return again;
    case DIR_INOUT: {
        STRBUF(value);
        again = new_tensor(g, s, i, arena_printf(g->mem, "%s_again", f->name));
        if (!again || !keep_value(g, s, i, false, &value)) return false;
        strbuf_printf(&g->out, "%s(%s, out %s);\n", kernels_copy(g->all, s->places[i].region->rank),
                      strbuf_text(&value), again);
        strbuf_printf(call, "inout %s", again);
        return true;
    }
    default:
        return grad_refuse(g, DIAG_E99, s->call_ast->at, "make it 'inout'",
                           "a gradient through the '%s' argument of a function is not built yet",
                           direction_text(active_direction(s, i)));
    }
}

static bool is_gradient_of(const struct step *s, int i)
{
    return i < s->call->callee->formal_count && is_read(s, i) && is_active(s, i);
}

static bool back_function(struct gradient *g, struct step *s)
{
    struct symbol *f = s->call->callee, *x[MAX_FORMALS];
    enum adds adds[MAX_FORMALS];
    int count = 0;
    STRBUF(call);
    STRBUF(after);
    for (int i = 0; i < f->formal_count; i++)
        if (is_gradient_of(s, i)) {
            x[count] = f->formals[i];
            adds[count++] = is_shared(s, i) || (active_direction(s, i) == DIR_IN && begins(s, i)) ? OVERWRITES : ADDS;
        }
    if (count == 0) return true;
    const char *name = function_inner(g, f, x, adds, count, s->call_ast->at);
    if (!name) return false;
    for (int i = 0; i < f->formal_count; i++)
        if (!function_argument(g, s, i, &call)) return false;
    for (int i = 0; i < s->place_count; i++) {
        if (!s->places[i].base || !is_written(s, i) || !active_is_float(s->places[i].base->symbol->type)) continue;
        if (is_gradient_of(s, i)) continue;
        begin_argument(&call);
        if (!add_seed(g, s, i, &call)) return false;
    }
    for (int i = 0, k = 0; i < f->formal_count; i++) {
        if (!is_gradient_of(s, i)) continue;
        const enum adjoint_form form = adds[k++] == OVERWRITES ? ADJOINT_OVERWRITES : ADJOINT_ADDS;
        if (!is_shared(s, i)) {
            if (!add_gradient(g, s, i, form, NULL, &call)) return false;
            continue;
        }
        const char *own = own_bar(g, s, i, &after);
        if (!own) return false;
        begin_argument(&call);
        strbuf_printf(&call, "out %s", own);
    }
    end_call(g, NULL, name, &call);
    strbuf_add(&g->out, strbuf_text(&after), after.length);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* ---- adjoints of one call that replace bars ---------------------------------------------------------------------- */

/* A kernel by index has one for each formal, another kernel those of its list: item is the formal, or the place in the
 * list. */
struct replacing {
    const struct symbol *kernel, *named;
    int count;
    bool is_open[MAX_FORMALS]; /* of each item: not printed yet */
};

static bool bar_of(const struct replacing *r, int item, int i, enum direction d)
{
    const struct symbol *f = r->named->adjoints[item];
    for (int k = 0; k < f->formal_count; k++) {
        bool is_bar;
        if (kernels_original(r->kernel, f->formals[k], &is_bar) == i && is_bar && f->formals[k]->dir == d) return true;
    }
    return false;
}

static bool replaces(const struct replacing *r, const struct step *s, int item, int i)
{
    if (active_direction(s, i) != DIR_INOUT || !is_active(s, i)) return false;
    return r->kernel->equations ? item == i : bar_of(r, item, i, DIR_INOUT);
}

static bool reads_bar(struct gradient *g, const struct replacing *r, int item, int i)
{
    if (!r->kernel->equations) return bar_of(r, item, i, DIR_IN);
    const struct adjoint *a = kernels_adjoint(g->all, r->kernel, item);
    return a->kind == ADJOINT_KERNEL && adjoint_reads(a, i, ADJOINT_SEED);
}

/* Does another one that comes later read the bar of i as the call left it? */
static bool is_read_later(struct gradient *g, const struct replacing *r, int item, int i)
{
    for (int other = 0; other < r->count; other++)
        if (other != item && r->is_open[other] && reads_bar(g, r, other, i)) return true;
    return false;
}

/* One that replaces no bar that another one still reads, or else the first; -1: none is left. */
static int next_item(struct gradient *g, const struct replacing *r, const struct step *s)
{
    int first = -1;
    for (int item = 0; item < r->count; item++) {
        bool is_needed = false;
        if (!r->is_open[item]) continue;
        if (first < 0) first = item;
        for (int i = 0; i < s->place_count && !is_needed; i++)
            is_needed = replaces(r, s, item, i) && is_read_later(g, r, item, i);
        if (!is_needed) return item;
    }
    return first;
}

/* The bar of i as the call left it, for the adjoints that come after the one that replaces it. */
static bool copy_seed(struct gradient *g, struct step *s, int i)
{
    struct grad_place *p = &s->places[i];
    STRBUF(bar);
    if (!bars_ready(g, s, p->base) || !bars_text(g, s, p, &bar)) return false;
    const char *name = text_fresh(g, arena_printf(g->mem, "%s_after", p->base->bar));
    strbuf_printf(&g->out, "let %s = %s(%s);\n", name, kernels_copy(g->all, p->region->rank), strbuf_text(&bar));
    p->seed = name;
    return true;
}

static bool back_replacing(struct gradient *g, struct step *s, struct replacing *r)
{
    for (int item; (item = next_item(g, r, s)) >= 0; r->is_open[item] = false) {
        for (int i = 0; i < s->place_count; i++)
            if (replaces(r, s, item, i) && is_read_later(g, r, item, i) && !copy_seed(g, s, i)) return false;
        if (r->kernel->equations ? !back_by_index(g, s, item) : !back_by_attribute(g, s, r->named->adjoints[item]))
            return false;
    }
    return true;
}

static bool back_kernel(struct gradient *g, struct step *s)
{
    const struct symbol *k = s->call->callee, *named = k->generic ? k->generic : k;
    struct replacing r = {k, named, k->equations ? s->place_count : named->adjoint_count, {false}};
    if (k->equations) {
        for (int i = 0; i < s->place_count; i++)
            if (is_active(s, i) && is_read(s, i) && !is_written(s, i) && !back_by_index(g, s, i)) return false;
        for (int i = 0; i < s->place_count; i++) r.is_open[i] = is_active(s, i) && active_direction(s, i) == DIR_INOUT;
        return back_replacing(g, s, &r);
    }
    for (int i = 0; i < r.count; i++) r.is_open[i] = is_wanted(s, named->adjoints[i]);
    if (r.count) return back_replacing(g, s, &r);
    for (int i = 0; i < s->place_count; i++)
        if (is_active(s, i) && is_read(s, i)) {
            grad_refuse(g, DIAG_E22, s->call_ast->at,
                        "write the kernel in index notation, or name the kernel of its gradients: @adjoint(f)",
                        "a gradient comes through kernel '%s', which has no adjoint", k->name);
            diag_note(g->c->diag, k->decl->name_at, "'%s' is declared here", k->name);
            return false;
        }
    return true;
}

/* `h = f(h)`: what the call writes is another tensor than what it reads, and both have the bar of h. */
static bool begin_anew(struct gradient *g, struct step *s, int i)
{
    struct tensor *t = s->places[i].base;
    bool is_both = false;
    for (int k = 0; k < s->place_count; k++) is_both |= k != i && s->places[k].base == t && is_read(s, k);
    if (!t->symbol->is_var || !is_both) return true;
    if (!bars_ready(g, s, t)) return false;
    const int rank = t->symbol->type->rank;
    s->places[i].seed = text_fresh(g, arena_printf(g->mem, "%s_after", t->bar));
    strbuf_printf(&g->out, "let %s = %s(%s);\n%s(out %s);\n", s->places[i].seed, kernels_copy(g->all, rank), t->bar,
                  kernels_zero(g->all, rank), t->bar);
    bars_write(g, t);
    return true;
}

bool back_call(struct gradient *g, struct step *s)
{
    bool has_seed = false;
    for (int i = 0; i < s->place_count; i++) has_seed |= is_active(s, i) && is_written(s, i);
    if (!has_seed) return true;
    for (int i = 0; i < s->place_count; i++)
        if (is_active(s, i) && active_direction(s, i) == DIR_OUT && !begin_anew(g, s, i)) return false;
    if (s->call->callee->kind == SYM_ORCH ? !back_function(g, s) : !back_kernel(g, s)) return false;
    for (int i = 0; i < s->place_count; i++)
        if (is_active(s, i) && active_direction(s, i) == DIR_OUT && s->places[i].base != s->made &&
            !s->places[i].seed && !bars_clear(g, s, &s->places[i]))
            return false;
    return !g->failed;
}
