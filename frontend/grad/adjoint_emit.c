/* adjoint_emit.c - the statements that write the gradient.
 * Idea       one equation for all elements, which gathers what flows in; what cannot be gathered is added where it
 *            flows to, in the order of the variables.  The bar of an `inout` is replaced in place.
 * Invariant  a statement that writes a bar reads it only where it writes it: what reads more is kept before.
 * Tests      test/lit/grad/adjoint-rows.pto, adjoint-indices.pto
 */
#include "adjoint_parts.h"
#include <string.h>

static struct adj_stmt *new_write(struct adj_work *w, enum eq_stmt_kind kind, const struct eq_access *target,
                                  const struct eq_var *const *vars, int count, const struct eq_expr *value)
{
    struct adj_stmt *s = arena_new(w->front->mem, struct adj_stmt);
    s->kind = kind;
    s->target = target;
    memcpy(s->var, vars, (size_t)count * sizeof *vars);
    s->var_count = count;
    s->value = adj_cast(w, target->formal->type->elem, value);
    return s;
}

static struct eq_access *at_element(struct adj_work *w, const struct symbol *formal,
                                    const struct eq_var *const *element)
{
    struct eq_access *a = adj_access(w, formal, NULL);
    for (int d = 0; d < a->rank; d++) a->index[d].size = size_symbol(w->sizes, element[d]->symbol);
    return a;
}

/* ---- x that is only read ----------------------------------------------------------------------------------------- */

/* Added where it flows to, for each value of the variables that the index names; over the others it is summed. */
static void scatter(struct adj_work *w, const struct symbol *bar, const struct adj_flow *f)
{
    const struct eq_var *named[MAX_VARS], *others[MAX_VARS];
    bool is_named[MAX_VARS] = {false};
    int count = 0, other_count = 0;
    struct eq_access *target = adj_access(w, bar, NULL);
    for (int d = 0; d < target->rank; d++) target->index[d] = f->access->index[d];
    for (int v = f->scope.count; v-- > 0;) {
        for (int d = 0; d < target->rank; d++) {
            const struct eq_index *i = &target->index[d];
            is_named[v] |=
                i->size ? size_names(i->size, f->scope.var[v]->symbol) : adj_names_var(i->expr, f->scope.var[v]);
        }
        for (int k = v + 1; k < f->scope.count; k++) /* a range of one that is named */
            is_named[v] |= is_named[k] && (size_names(f->scope.var[k]->low, f->scope.var[v]->symbol) ||
                                           size_names(f->scope.var[k]->high, f->scope.var[v]->symbol));
    }
    for (int v = 0; v < f->scope.count; v++)
        if (is_named[v])
            named[count++] = f->scope.var[v];
        else
            others[other_count++] = f->scope.var[v];
    const struct eq_expr *value = f->value;
    if (other_count > 0) value = adj_reduce(w, EQ_SUM, value->type, others, other_count, value);
    struct adj_stmt *s = new_write(w, EQ_PLUS, target, named, count, value);
    vec_push(&w->writes, s);
    vec_push(&w->writes_adds, s);
}

static void write_gradient(struct adj_work *w, struct adj_bar *b)
{
    const struct symbol *bar = adj_formal(w, w->x, ADJOINT_GRADIENT);
    const struct eq_var *element[MAX_RANK];
    const int rank = bar->type->rank;
    VEC(struct adj_flow) gathered = {0};
    VEC(struct adj_flow) scattered = {0};
    for (size_t i = 0; i < b->flows.count; i++) {
        const struct adj_flow *f = &b->flows.data[i];
        if (f->scope.guard || adj_is_invertible(w, f))
            vec_push(&gathered, *f);
        else
            vec_push(&scattered, *f);
    }
    const struct eq_access like = {.formal = w->kernel->formals[w->x], .rank = rank};
    adj_element_vars(w, &like, b->flows.data, b->flows.count, element);
    const struct eq_expr *sum = adj_gather_all(w, gathered.data, gathered.count, element);
    const struct eq_access *target = at_element(w, bar, element);
    struct adj_stmt *s =
        new_write(w, EQ_ASSIGN, target, element, rank, sum ? sum : adj_number(w, adj_computed(bar->type->elem), 0));
    vec_push(&w->writes, s);
    if (sum) {
        s = new_write(w, EQ_PLUS, target, element, rank, sum);
        vec_push(&w->writes_adds, s);
    }
    for (size_t i = 0; i < scattered.count; i++) scatter(w, bar, &scattered.data[i]);
    vec_free(&gathered);
    vec_free(&scattered);
}

/* ---- an inout x -------------------------------------------------------------------------------------------------- */

static bool reads_elsewhere(const struct eq_expr *e, const struct eq_access *at)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD) {
        if (e->access->formal == at->formal && !adj_is_same_place(e->access, at)) return true;
        for (int d = 0; d < e->access->rank; d++)
            if (reads_elsewhere(e->access->index[d].expr, at)) return true;
    }
    return reads_elsewhere(e->a, at) || reads_elsewhere(e->b, at) || reads_elsewhere(e->c, at);
}

static void replace(struct adj_work *w, enum eq_stmt_kind kind, const struct eq_access *target,
                    const struct adj_scope *scope, const struct eq_expr *value)
{
    if (reads_elsewhere(value, target)) value = adj_keep(w, scope, value, "new");
    struct adj_stmt *s = new_write(w, kind, target, scope->var, scope->count, value);
    vec_push(&w->writes, s);
}

static struct eq_access *on_bar(struct adj_work *w, const struct symbol *bar, const struct eq_access *at)
{
    struct eq_access *a = adj_access(w, bar, NULL);
    for (int d = 0; d < a->rank; d++) a->index[d] = at->index[d];
    return a;
}

static bool is_in_place(const struct adj_flow *f, const struct adj_stmt *s)
{
    return f->scope.count == s->var_count && memcmp(f->scope.var, s->var, sizeof *s->var * (size_t)s->var_count) == 0 &&
           adj_is_same_place(f->access, s->target);
}

/* One `=` over a part, and what flows in does so where it writes. */
static bool replace_in_place(struct adj_work *w, const struct adj_bar *b, const struct symbol *bar)
{
    if (b->gone.count != 1) return false;
    const struct adj_stmt *s = b->gone.data[0];
    const struct eq_expr *sum = NULL;
    for (size_t i = 0; i < b->flows.count; i++)
        if (!is_in_place(&b->flows.data[i], s)) return false;
    for (size_t i = 0; i < b->flows.count; i++)
        sum = adj_add(w, sum, adj_under(w, &b->flows.data[i].scope, b->flows.data[i].value));
    const struct adj_scope scope = adj_scope_of(s);
    replace(w, EQ_ASSIGN, on_bar(w, bar, s->target), &scope,
            sum ? sum : adj_number(w, adj_computed(bar->type->elem), 0));
    return true;
}

static void replace_bar(struct adj_work *w, struct adj_bar *b)
{
    const struct symbol *bar = adj_formal(w, w->x, ADJOINT_REPLACED);
    const struct eq_var *element[MAX_RANK];
    struct adj_scope scope = {.count = bar->type->rank};
    if (!b->is_ended && replace_in_place(w, b, bar)) return;
    const struct eq_access like = {.formal = w->kernel->formals[w->x], .rank = bar->type->rank};
    adj_element_vars(w, &like, b->flows.data, b->flows.count, element);
    memcpy(scope.var, element, sizeof *element * (size_t)scope.count);
    const struct eq_access *target = at_element(w, bar, element);
    const struct eq_expr *sum = adj_gather_all(w, b->flows.data, b->flows.count, element);
    if (b->base && b->base->temp) { /* the bar of a moment within the kernel */
        struct eq_access *base = adj_access(w, NULL, b->base->temp);
        for (int d = 0; d < base->rank; d++) base->index[d] = target->index[d];
        sum = adj_add(w, adj_load(w, base), sum);
        replace(w, EQ_ASSIGN, target, &scope, sum);
    } else if (b->is_ended) {
        replace(w, EQ_ASSIGN, target, &scope, sum ? sum : adj_number(w, adj_computed(bar->type->elem), 0));
    } else {
        const struct eq_expr *kept = sum && b->gone.count > 0 ? adj_keep(w, &scope, sum, "new") : sum;
        for (size_t i = 0; i < b->gone.count; i++) {
            const struct adj_scope part = adj_scope_of(b->gone.data[i]);
            replace(w, EQ_ASSIGN, on_bar(w, bar, b->gone.data[i]->target), &part,
                    adj_number(w, adj_computed(bar->type->elem), 0));
        }
        if (kept) replace(w, EQ_PLUS, target, &scope, kept);
    }
}

void adj_emit_gradient(struct adj_work *w)
{
    struct adj_bar *b = adj_bar_of(w, w->kernel->formals[w->x]);
    const bool is_written = b->base || b->is_ended || b->gone.count > 0;
    if (!is_written) {
        if (b->flows.count > 0) write_gradient(w, b);
    } else if (b->flows.count > 0 || b->gone.count > 0 || b->is_ended || b->base->temp) {
        replace_bar(w, b);
    }
}
