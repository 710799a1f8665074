/* adjoint_gather.c - the inverse of an index: a bar as a sum over the places that read its element.
 * Idea       u[i + p, j + q] is read where i = a - p and j = b - q, of the element [a, b]: each index is solved for a
 *            variable, whose range becomes a condition; the variables that are left are summed over.  An index that
 *            cannot be solved becomes a condition itself: [at[r] == a].
 * Invariant  each value of the variables at which the element is read is counted once, and no other.  A range names
 *            only variables before it.
 * Tests      test/lit/grad/adjoint-indices.pto
 */
#include "adjoint_parts.h"
#include <string.h>

struct solving {
    struct adj_work *w;
    const struct adj_flow *f;
    const struct size *element[MAX_RANK];  /* the element's indices */
    struct adj_substitution found;         /* of the variables that are solved */
    bool is_solved[MAX_VARS];              /* by the variables of the scope */
    bool is_done[MAX_RANK];                /* the index is solved */
    int64_t divisor[MAX_VARS];             /* of a variable that is solved: it is that part of the index, where whole */
    const struct size *dividend[MAX_VARS]; /* where the divisor is not 1 */
};

static void substitute_found(struct solving *s, const struct eq_var *v, const struct size *to)
{
    struct adj_substitution one = {.from = {v->symbol}, .to = {to}, .count = 1};
    for (int i = 0; i < s->found.count; i++) s->found.to[i] = adj_substitute_size(s->w, s->found.to[i], &one);
    for (int i = 0; i < MAX_VARS; i++)
        if (s->dividend[i]) s->dividend[i] = adj_substitute_size(s->w, s->dividend[i], &one);
    s->found.from[s->found.count] = v->symbol;
    s->found.to[s->found.count++] = to;
}

/* How dear it is to sum over the variable: what runs over a whole extent is solved for first. */
static int rank_of(const struct solving *s, int v, int64_t factor, bool is_alone)
{
    const struct eq_var *var = s->f->scope.var[v];
    const struct size *extent = size_sub(s->w->sizes, var->high, var->low);
    int64_t constant;
    const bool is_short = extent && size_is_const(extent, &constant);
    return (is_short ? 0 : 4) + (is_alone ? 2 : 0) + (factor == 1 || factor == -1 ? 8 : 0);
}

/* Does the range of an unsolved variable name v, so that v must not be found from it? */
static bool bounds_another(const struct solving *s, int v, const struct size *rest)
{
    const struct adj_scope *scope = &s->f->scope;
    for (int k = 0; k < scope->count; k++) {
        if (k == v || s->is_solved[k] || !size_names(rest, scope->var[k]->symbol)) continue;
        if (size_names(scope->var[k]->low, scope->var[v]->symbol) ||
            size_names(scope->var[k]->high, scope->var[v]->symbol))
            return true;
    }
    return false;
}

static bool solve_index(struct solving *s, int d, bool needs_unit)
{
    const struct adj_scope *scope = &s->f->scope;
    int best = -1, best_rank = -1;
    int64_t best_factor = 0;
    const struct size *best_rest = NULL;
    if (!s->f->access->index[d].size) return false;
    const struct size *index = adj_substitute_size(s->w, s->f->access->index[d].size, &s->found);
    for (int v = 0; v < scope->count; v++) {
        const struct size *factor, *rest;
        int64_t c;
        if (s->is_solved[v] || !size_names(index, scope->var[v]->symbol)) continue;
        if (!eq_split(s->w->sizes, index, scope->var[v], &factor, &rest) || !size_is_const(factor, &c) || c == 0 ||
            c == INT64_MIN || (needs_unit && c != 1 && c != -1) || bounds_another(s, v, rest))
            continue;
        const int r = rank_of(s, v, c, size_is_const(rest, NULL));
        if (r > best_rank) best = v, best_rank = r, best_factor = c, best_rest = rest;
    }
    if (best < 0) return false;
    const struct eq_var *v = scope->var[best];
    const struct size *to = size_sub(s->w->sizes, s->element[d], best_rest);
    if (to && best_factor < 0) to = size_scale(s->w->sizes, to, -1);
    s->divisor[best] = best_factor < 0 ? -best_factor : best_factor;
    if (to && s->divisor[best] != 1) {
        s->dividend[best] = to;
        to = size_binary(s->w->sizes, SIZE_DIV, to, size_const(s->w->sizes, s->divisor[best]));
    }
    if (!to) return false;
    s->is_solved[best] = s->is_done[d] = true;
    substitute_found(s, v, to);
    return true;
}

static void solve(struct solving *s)
{
    for (int needs_unit = 1; needs_unit >= 0; needs_unit--)
        for (int d = 0; d < s->f->access->rank; d++)
            if (!s->is_done[d]) solve_index(s, d, needs_unit);
}

bool adj_is_invertible(struct adj_work *w, const struct adj_flow *f)
{
    struct solving s = {.w = w, .f = f};
    for (int d = 0; d < f->access->rank; d++)
        s.element[d] = size_symbol(w->sizes, adj_new_var(w, "e", NULL, NULL)->symbol);
    for (int d = 0; d < f->access->rank; d++) {
        const struct size *index = f->access->index[d].size;
        bool names = false;
        for (int v = 0; v < f->scope.count && index; v++) names |= size_names(index, f->scope.var[v]->symbol);
        if (!index || (names && !solve_index(&s, d, true))) return false;
    }
    return true;
}

/* ---- conditions -------------------------------------------------------------------------------------------------- */

/* What must hold for the element to be read here; the facts know the element and the variables that are left. */
static const struct eq_expr *conditions(struct solving *s)
{
    struct adj_work *w = s->w;
    const struct adj_scope *scope = &s->f->scope;
    const struct eq_expr *c = NULL;
    for (int v = 0; v < scope->count; v++) {
        if (!s->is_solved[v]) continue;
        const struct size *at = adj_substitute_size(w, size_symbol(w->sizes, scope->var[v]->symbol), &s->found);
        if (s->dividend[v]) {
            const struct size *rest =
                size_binary(w->sizes, SIZE_MOD, s->dividend[v], size_const(w->sizes, s->divisor[v]));
            if (rest) c = adj_and(w, c, adj_compare(w, EQ_EQ, rest, size_const(w->sizes, 0)));
        }
        c = adj_and(w, c, adj_compare(w, EQ_GE, at, adj_substitute_size(w, scope->var[v]->low, &s->found)));
        c = adj_and(w, c, adj_compare(w, EQ_LT, at, adj_substitute_size(w, scope->var[v]->high, &s->found)));
    }
    for (int d = 0; d < s->f->access->rank; d++) {
        const struct eq_index *i = &s->f->access->index[d];
        if (s->is_done[d]) continue;
        if (i->size) {
            c = adj_and(w, c, adj_compare(w, EQ_EQ, s->element[d], adj_substitute_size(w, i->size, &s->found)));
            continue;
        }
        struct eq_expr *equal = adj_new(w, EQ_EQ, ELEM_BOOL);
        equal->a = adj_substitute(w, i->expr, &s->found);
        equal->b = adj_size(w, s->element[d]);
        c = adj_and(w, c, equal);
    }
    return c;
}

/* The variables that are left, with ranges that name the element; false: a range would name a variable after it. */
static int find_rest(struct solving *s, const struct eq_var **rest)
{
    struct adj_work *w = s->w;
    const struct adj_scope *scope = &s->f->scope;
    int count = 0;
    for (int v = 0; v < scope->count; v++) {
        if (s->is_solved[v]) continue;
        const struct eq_var *from = scope->var[v];
        const struct size *low = adj_substitute_size(w, from->low, &s->found),
                          *high = adj_substitute_size(w, from->high, &s->found);
        for (int k = v; k < scope->count; k++)
            if (!s->is_solved[k] && (size_names(low, scope->var[k]->symbol) || size_names(high, scope->var[k]->symbol)))
                adj_refuse(w, adj_span(w, s->f->access),
                           "the ranges of its variables depend on each other in a manner that has no inverse");
        struct eq_var *to = adj_new_var(w, from->symbol->name, low, high);
        substitute_found(s, from, size_symbol(w->sizes, to->symbol));
        rest[count++] = to;
    }
    return count;
}

const struct eq_expr *adj_gather(struct adj_work *w, const struct adj_flow *f, const struct eq_var *const *element)
{
    struct solving s = {.w = w, .f = f};
    const struct eq_var *rest[MAX_VARS];
    const size_t mark = facts_mark(w->facts);
    for (int d = 0; d < f->access->rank; d++) {
        s.element[d] = size_symbol(w->sizes, element[d]->symbol);
        adj_know_var(w, element[d]);
    }
    solve(&s);
    const int count = find_rest(&s, rest);
    for (int i = 0; i < count; i++) adj_know_var(w, rest[i]);
    const struct eq_expr *c = conditions(&s);
    const struct eq_expr *e = adj_substitute(w, f->value, &s.found);
    if (f->scope.guard) c = adj_and(w, c, adj_substitute(w, adj_condition(w, &f->scope), &s.found));
    if (c) e = adj_select(w, c, e, adj_number(w, e->type, 0));
    if (count > 0 && !adj_is_number(e, 0)) e = adj_reduce(w, EQ_SUM, e->type, rest, count, e);
    facts_reset(w->facts, mark);
    return e;
}

/* The sum of two that are chosen by one condition, or by a condition and its opposite; NULL: they are not. */
static const struct eq_expr *join(struct adj_work *w, const struct eq_expr *a, const struct eq_expr *b)
{
    if (a->kind != EQ_SELECT || b->kind != EQ_SELECT) return NULL;
    if (adj_is_equal(a->a, b->a)) return adj_select(w, a->a, adj_add(w, a->b, b->b), adj_add(w, a->c, b->c));
    if (adj_is_equal(a->a, adj_not(w, b->a)))
        return adj_select(w, a->a, adj_add(w, a->b, b->c), adj_add(w, a->c, b->b));
    return NULL;
}

const struct eq_expr *adj_gather_all(struct adj_work *w, const struct adj_flow *flows, size_t count,
                                     const struct eq_var *const *element)
{
    const struct eq_expr *sum = NULL;
    VEC(const struct eq_expr *) parts = {0};
    for (size_t i = 0; i < count && !w->why; i++) {
        const struct eq_expr *e = adj_gather(w, &flows[i], element), *joined = NULL;
        for (size_t k = 0; k < parts.count && !joined; k++)
            if ((joined = join(w, parts.data[k], e))) parts.data[k] = joined;
        if (!joined) vec_push(&parts, e);
    }
    for (size_t i = 0; i < parts.count; i++) sum = adj_add(w, sum, parts.data[i]);
    vec_free(&parts);
    return w->why ? NULL : sum;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static const char *alone_name(const struct adj_work *w, const struct adj_flow *f, int d)
{
    for (int v = 0; v < f->scope.count; v++)
        if (f->access->index[d].size == size_symbol(w->sizes, f->scope.var[v]->symbol))
            return f->scope.var[v]->symbol->name;
    return NULL;
}

void adj_element_vars(struct adj_work *w, const struct eq_access *a, const struct adj_flow *flows, size_t count,
                      const struct eq_var **element)
{
    static const char *const plain[] = {"i", "j", "k", "l", "m", "n", "p", "q"};
    for (int d = 0; d < a->rank; d++) {
        const struct size *low = a->formal ? size_const(w->sizes, 0) : a->temp->low[d],
                          *high = a->formal ? a->formal->type->extent[d] : a->temp->high[d];
        const char *name = NULL;
        for (size_t i = 0; i < count && !name; i++) name = alone_name(w, &flows[i], d);
        for (int e = 0; e < d && name; e++)
            if (element[e]->symbol->name == name) name = NULL;
        element[d] = adj_new_var(w, name ? name : plain[d % 8], low, high);
    }
}
