/* adjoint_chain.c - the chain rule.
 * Idea       the bar of an expression is known; each operand's is that times the derivative, down to the loads, where
 *            it flows into the bar of the tensor.  Derivatives are in terms of values that are at hand: of exp, tanh,
 *            sqrt and quotients in terms of the result.
 * Invariant  a bar holds under the conditions of its scope only: they are put around it where it flows.
 * Tests      test/lit/grad/adjoint-rows.pto
 */
#include "adjoint_parts.h"
#include <string.h>

/* ---- what depends on x ------------------------------------------------------------------------------------------- */

bool adj_is_active_object(const struct adj_work *w, const void *object)
{
    for (size_t i = 0; i < w->active.count; i++)
        if (w->active.data[i] == object) return true;
    return false;
}

/* Does a derivative of e flow to an active object? */
static bool is_active(const struct adj_work *w, const struct eq_expr *e)
{
    if (!e || !adj_is_float(e->type)) return false;
    switch (e->kind) {
    case EQ_LOAD: return adj_is_active_object(w, adj_object(e->access));
    case EQ_FLOOR:
    case EQ_CEIL:
    case EQ_ROUND: return false;
    case EQ_SELECT: return is_active(w, e->b) || is_active(w, e->c);
    default: return is_active(w, e->a) || is_active(w, e->b);
    }
}

bool adj_find_active(struct adj_work *w)
{
    bool changed = true, any = false;
    vec_push(&w->active, (const void *)w->kernel->formals[w->x]);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < w->forward.count; i++) {
            const struct adj_stmt *s = w->forward.data[i];
            if (!is_active(w, s->value) || adj_is_invariant_of(w, s)) continue;
            any |= s->target->formal != NULL;
            if (adj_is_active_object(w, adj_object(s->target))) continue;
            vec_push(&w->active, adj_object(s->target));
            changed = true;
        }
    }
    return any;
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The product of all other terms: no term may be divided by, it could be 0. */
static const struct eq_expr *product_of_others(struct adj_work *w, const struct adj_scope *inner,
                                               const struct eq_expr *e)
{
    struct adj_substitution s = {0};
    const struct eq_var *vars[MAX_VARS];
    const struct eq_expr *same = NULL, *term = adj_value(w, inner, e->a);
    for (int i = 0; i < e->reduce.var_count; i++) {
        const struct eq_var *v = e->reduce.vars[i];
        vars[i] =
            adj_new_var(w, v->symbol->name, adj_substitute_size(w, v->low, &s), adj_substitute_size(w, v->high, &s));
        s.from[s.count] = v->symbol;
        s.to[s.count++] = size_symbol(w->sizes, vars[i]->symbol);
        struct eq_expr *equal = adj_new(w, EQ_EQ, ELEM_BOOL);
        equal->a = adj_size(w, s.to[i]);
        equal->b = adj_size(w, size_symbol(w->sizes, v->symbol));
        same = adj_and(w, same, equal);
    }
    term = adj_select(w, same, adj_number(w, e->type, 1), adj_substitute(w, term, &s));
    const struct eq_expr *product = adj_reduce(w, EQ_PROD, e->type, vars, e->reduce.var_count, term);
    return adj_keep(w, inner, adj_under(w, inner, product), "others");
}

/* For max and min over several variables: where the first greatest element is, counted in the order of the
 * variables. */
static const struct eq_expr *find_first(struct adj_work *w, const struct adj_scope *scope,
                                        const struct adj_scope *inner, const struct eq_expr *e,
                                        const struct size **number)
{
    *number = size_const(w->sizes, 0);
    for (int i = 0; i < e->reduce.var_count && *number; i++) {
        const struct eq_var *v = e->reduce.vars[i];
        const struct size *extent = size_sub(w->sizes, v->high, v->low),
                          *digit = size_sub(w->sizes, size_symbol(w->sizes, v->symbol), v->low);
        *number = extent ? size_binary(w->sizes, SIZE_MUL, *number, extent) : NULL;
        *number = *number && digit ? size_binary(w->sizes, SIZE_ADD, *number, digit) : NULL;
        for (int k = 0; k < i; k++)
            if (size_names(v->low, e->reduce.vars[k]->symbol) || size_names(v->high, e->reduce.vars[k]->symbol))
                *number = NULL;
    }
    if (!*number) {
        adj_refuse(w, e->at, "the ranges of its variables depend on each other");
        return adj_number(w, ELEM_I64, 0);
    }
    struct eq_expr *equal = adj_new(w, EQ_EQ, ELEM_BOOL), *none = adj_new(w, EQ_INT, ELEM_I64);
    equal->a = adj_value(w, inner, e->a);
    equal->b = adj_value(w, scope, e);
    none->integer = INT64_MAX;
    const struct eq_expr *place = adj_select(w, equal, adj_size(w, *number), none);
    return adj_reduce(w, EQ_RED_MIN, ELEM_I64, (const struct eq_var *const *)e->reduce.vars, e->reduce.var_count,
                      place);
}

static const struct eq_expr *find_place(struct adj_work *w, const struct adj_scope *scope,
                                        const struct adj_scope *inner, const struct eq_expr *e,
                                        const struct size **number)
{
    if (e->reduce.var_count > 1) return find_first(w, scope, inner, e, number);
    const struct eq_var *v = e->reduce.vars[0];
    *number = size_symbol(w->sizes, v->symbol);
    const struct eq_expr *place =
        adj_reduce(w, e->reduce.kind == EQ_RED_MAX ? EQ_ARGMAX : EQ_ARGMIN, ELEM_I64,
                   (const struct eq_var *const *)e->reduce.vars, 1, adj_value(w, inner, e->a));
    /* over nothing there is no place, and argmax would fail */
    return adj_select(w, adj_compare(w, EQ_LT, v->low, v->high), place, adj_size(w, v->low));
}

static void chain_reduction(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                            const struct eq_expr *bar)
{
    struct adj_scope inner = adj_scope_within(w, scope, e);
    if (!adj_is_cheap(bar)) bar = adj_keep(w, scope, adj_under(w, scope, bar), "r_bar");
    switch (e->reduce.kind) {
    case EQ_SUM: break;
    case EQ_PROD: bar = adj_mul(w, bar, product_of_others(w, &inner, e)); break;
    case EQ_RED_MAX:
    case EQ_RED_MIN: {
        const struct size *number;
        const struct eq_expr *place = adj_under(w, scope, find_place(w, scope, &inner, e, &number));
        struct eq_expr *equal = adj_new(w, EQ_EQ, ELEM_BOOL);
        equal->a = number ? adj_size(w, number) : place;
        equal->b = adj_keep(w, scope, place, "at");
        inner = adj_scope_where(w, &inner, equal, true, false);
        w->has_kinks = true;
        break;
    }
    default: return;
    }
    adj_chain(w, &inner, e->a, bar);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static const struct eq_expr *square(struct adj_work *w, const struct eq_expr *e) { return adj_mul(w, e, e); }

/* a: bar * b * pow(a, b - 1) */
static void chain_power(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                        const struct eq_expr *bar)
{
    const struct eq_expr *zero = adj_number(w, e->type, 0), *one = adj_number(w, e->type, 1);
    const struct eq_expr *a = adj_value(w, scope, e->a), *b = adj_value(w, scope, e->b);
    if (is_active(w, e->a)) {
        const struct eq_expr *less = b->kind == EQ_REAL ? adj_number(w, e->type, b->real - 1) : adj_sub(w, b, one);
        const struct eq_expr *power = adj_is_number(less, 1)   ? a
                                      : adj_is_number(less, 0) ? one
                                                               : adj_call(w, EQ_POW, a, less);
        const struct eq_expr *d = adj_mul(w, adj_mul(w, bar, b), power);
        if (b->kind != EQ_REAL) { /* of pow(0, 0) it is 0, not 0 * inf */
            struct eq_expr *is_zero = adj_new(w, EQ_EQ, ELEM_BOOL);
            is_zero->a = b;
            is_zero->b = zero;
            d = adj_select(w, is_zero, zero, d);
        }
        adj_chain(w, scope, e->a, d);
    }
    if (!is_active(w, e->b)) return;
    struct eq_expr *is_positive = adj_new(w, EQ_GT, ELEM_BOOL);
    is_positive->a = a;
    is_positive->b = zero;
    const struct eq_expr *d = adj_mul(w, adj_mul(w, bar, adj_value(w, scope, e)), adj_call(w, EQ_LOG, a, NULL));
    adj_chain(w, scope, e->b, adj_select(w, is_positive, d, zero));
}

static const struct eq_expr *absolute(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                                      const struct eq_expr *bar)
{
    const struct eq_expr *zero = adj_number(w, e->type, 0), *a = adj_value(w, scope, e->a);
    struct eq_expr *is_positive = adj_new(w, EQ_GT, ELEM_BOOL), *is_negative = adj_new(w, EQ_LT, ELEM_BOOL);
    is_positive->a = is_negative->a = a;
    is_positive->b = is_negative->b = zero;
    w->has_kinks = true;
    return adj_select(w, is_positive, bar, adj_select(w, is_negative, adj_neg(w, bar), zero));
}

/* Of a function of one value: its bar times the derivative. */
static const struct eq_expr *through(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                                     const struct eq_expr *bar)
{
    const struct eq_expr *one = adj_number(w, e->type, 1), *y;
    switch (e->kind) {
    case EQ_EXP: return adj_mul(w, bar, adj_value(w, scope, e));
    case EQ_LOG: return adj_div(w, bar, adj_value(w, scope, e->a));
    case EQ_TANH: return adj_mul(w, bar, adj_sub(w, one, square(w, adj_value(w, scope, e))));
    case EQ_SQRT: return adj_div(w, bar, adj_mul(w, adj_number(w, e->type, 2), adj_value(w, scope, e)));
    case EQ_RSQRT:
        y = adj_value(w, scope, e);
        return adj_mul(w, adj_mul(w, bar, adj_number(w, e->type, -0.5)), adj_mul(w, square(w, y), y));
    case EQ_SIN: return adj_mul(w, bar, adj_call(w, EQ_COS, adj_value(w, scope, e->a), NULL));
    case EQ_COS: return adj_neg(w, adj_mul(w, bar, adj_call(w, EQ_SIN, adj_value(w, scope, e->a), NULL)));
    case EQ_ERF: { /* 2 / sqrt(pi) */
        const struct eq_expr *a = adj_value(w, scope, e->a);
        return adj_mul(w, adj_mul(w, bar, adj_number(w, e->type, 1.1283791670955126)),
                       adj_call(w, EQ_EXP, adj_neg(w, square(w, a)), NULL));
    }
    default: return absolute(w, scope, e, bar);
    }
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

static void chain_product(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                          const struct eq_expr *bar)
{
    if (is_active(w, e->a) && adj_is_equal(e->a, e->b)) {
        const struct eq_expr *two = adj_number(w, e->type, 2);
        adj_chain(w, scope, e->a, adj_mul(w, adj_mul(w, bar, two), adj_value(w, scope, e->a)));
        return;
    }
    if (is_active(w, e->a)) adj_chain(w, scope, e->a, adj_mul(w, bar, adj_value(w, scope, e->b)));
    if (is_active(w, e->b)) adj_chain(w, scope, e->b, adj_mul(w, bar, adj_value(w, scope, e->a)));
}

static void chain_quotient(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                           const struct eq_expr *bar)
{
    const struct eq_expr *part = adj_div(w, bar, adj_value(w, scope, e->b));
    if (is_active(w, e->a) && is_active(w, e->b)) part = adj_keep(w, scope, adj_under(w, scope, part), "v_bar");
    if (is_active(w, e->a)) adj_chain(w, scope, e->a, part);
    if (is_active(w, e->b)) adj_chain(w, scope, e->b, adj_neg(w, adj_mul(w, part, adj_value(w, scope, e))));
}

/* max and min of two: to the first where both are equal. */
static void chain_choice(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                         const struct eq_expr *bar)
{
    struct eq_expr *is_first = adj_new(w, e->kind == EQ_MAX ? EQ_GE : EQ_LE, ELEM_BOOL);
    is_first->a = e->a;
    is_first->b = e->b;
    w->has_kinks = true;
    for (int second = 0; second < 2; second++) {
        const struct adj_scope s = adj_scope_where(w, scope, is_first, !second, false);
        adj_chain(w, &s, second ? e->b : e->a, bar);
    }
}

static void chain_select(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                         const struct eq_expr *bar)
{
    w->has_kinks = true;
    for (int second = 0; second < 2; second++) {
        const struct adj_scope s = adj_scope_where(w, scope, e->a, !second, true);
        adj_chain(w, &s, second ? e->c : e->b, bar);
    }
}

static void flow(struct adj_work *w, const struct adj_scope *scope, const struct eq_access *a,
                 const struct eq_expr *bar)
{
    struct adj_bar *to = adj_bar_of(w, adj_object(a));
    const struct eq_access *at = adj_at(w, scope, a);
    for (size_t i = 0; i < to->flows.count; i++) { /* the same place of the same statement: one sum */
        struct adj_flow *f = &to->flows.data[i];
        bool is_same = f->scope.guard == scope->guard && f->scope.count == scope->count &&
                       memcmp(f->scope.var, scope->var, sizeof *scope->var * (size_t)scope->count) == 0 &&
                       adj_is_same_place(f->access, at);
        if (!is_same) continue;
        f->value = adj_add(w, f->value, bar);
        return;
    }
    struct adj_flow f = {*scope, at, bar};
    vec_push(&to->flows, f);
}

/* Does the bar go on to two operands?  Then it is computed once. */
static bool forks(const struct adj_work *w, const struct eq_expr *e)
{
    if (e->kind == EQ_SELECT) return is_active(w, e->b) && is_active(w, e->c);
    return e->b && is_active(w, e->a) && is_active(w, e->b);
}

void adj_chain(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e, const struct eq_expr *bar)
{
    if (w->why || !is_active(w, e) || adj_is_number(bar, 0)) return;
    if (forks(w, e) && !adj_is_cheap(bar)) bar = adj_keep(w, scope, adj_under(w, scope, bar), "v_bar");
    switch (e->kind) {
    case EQ_LOAD: flow(w, scope, e->access, bar); break;
    case EQ_NEG: adj_chain(w, scope, e->a, adj_neg(w, bar)); break;
    case EQ_ADD:
    case EQ_SUB:
        adj_chain(w, scope, e->a, bar);
        adj_chain(w, scope, e->b, e->kind == EQ_ADD ? bar : adj_neg(w, bar));
        break;
    case EQ_MUL: chain_product(w, scope, e, bar); break;
    case EQ_DIV: chain_quotient(w, scope, e, bar); break;
    case EQ_MIN:
    case EQ_MAX: chain_choice(w, scope, e, bar); break;
    case EQ_SELECT: chain_select(w, scope, e, bar); break;
    case EQ_CAST: adj_chain(w, scope, e->a, adj_cast(w, adj_computed(e->a->type), bar)); break;
    case EQ_POW: chain_power(w, scope, e, bar); break;
    case EQ_REDUCE: chain_reduction(w, scope, e, bar); break;
    default: adj_chain(w, scope, e->a, through(w, scope, e, bar)); break;
    }
}
