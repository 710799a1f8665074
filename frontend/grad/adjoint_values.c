/* adjoint_values.c - values of the kernel that its adjoint needs.
 * Idea       an expression is copied with what it reads: an `in` stays, a temporary is made again, of what the kernel
 *            writes the value before or after the call is taken.  Functions, quotients and reductions are computed
 *            once, in temporaries of their own; where a result of the kernel is that value, it is read instead.
 * Invariant  a temporary is made under the conditions of its place, so nothing is read that the kernel did not read.
 * Tests      test/lit/grad/adjoint-values.pto
 */
#include "adjoint_parts.h"
#include <string.h>

/* ---- formals ----------------------------------------------------------------------------------------------------- */

static int number_of(const struct adj_work *w, const struct symbol *formal)
{
    for (int i = 0; i < w->kernel->formal_count; i++)
        if (w->kernel->formals[i] == formal) return i;
    return -1;
}

static const char *shown_name(struct adj_work *w, const struct symbol *s, enum adjoint_role role)
{
    switch (role) {
    case ADJOINT_VALUE: return s->name;
    case ADJOINT_RESULT: return s->dir == DIR_OUT ? s->name : arena_printf(w->front->mem, "%s_after", s->name);
    case ADJOINT_WORK: return arena_printf(w->front->mem, "%s_work", s->name);
    default: return arena_printf(w->front->mem, "%s_bar", s->name);
    }
}

struct symbol *adj_formal(struct adj_work *w, int of, enum adjoint_role role)
{
    for (size_t i = 0; i < w->formals.count; i++)
        if (w->formals.data[i].shown.of == of && w->formals.data[i].shown.role == role)
            return w->formals.data[i].symbol;
    struct symbol *from = w->kernel->formals[of], *to = from;
    if (from->type->kind == TYPE_TENSOR && (from->dir != DIR_IN || role != ADJOINT_VALUE)) {
        to = arena_new(w->front->mem, struct symbol);
        *to = *from;
        to->dir = role == ADJOINT_REPLACED                           ? DIR_INOUT
                  : role == ADJOINT_GRADIENT || role == ADJOINT_WORK ? DIR_OUT
                                                                     : DIR_IN;
    }
    struct adj_formal f = {.shown = {of, role, shown_name(w, from, role)}, .symbol = to};
    vec_push(&w->formals, f);
    return to;
}

/* ---- which value of a formal that the kernel writes -------------------------------------------------------------- */

static bool writes(const struct adj_stmt *s, const struct eq_access *a)
{
    return s->target->formal && s->target->formal == a->formal;
}

/* The one statement that gave the element its value at this point of the kernel, where it is an `=` over all of it. */
static const struct adj_stmt *last_writer(struct adj_work *w, const struct adj_stmt *now, const struct eq_access *a)
{
    const struct adj_stmt *last = NULL;
    for (int i = 0; i < now->id; i++) {
        const struct adj_stmt *s = w->forward.data[i];
        if (!writes(s, a)) continue;
        if (s->kind == EQ_ASSIGN)
            last = s;
        else if (last)
            return NULL;
    }
    return last && last->kind == EQ_ASSIGN && adj_is_whole(w, last->target) ? last : NULL;
}

static const struct eq_access *make_again(struct adj_work *w, const struct adj_stmt *s);

/* Copies the indices, whose values are asked for. */
static struct eq_access *at_indices(struct adj_work *w, const struct adj_scope *scope, const struct eq_access *a,
                                    const struct symbol *formal, const struct eq_temp *temp)
{
    struct eq_access *to = adj_access(w, formal, temp);
    to->at = a->at;
    for (int d = 0; d < a->rank; d++) {
        to->index[d].size = a->index[d].size;
        if (a->index[d].expr) to->index[d].expr = adj_value(w, scope, a->index[d].expr);
    }
    return to;
}

const struct eq_access *adj_at(struct adj_work *w, const struct adj_scope *scope, const struct eq_access *a)
{
    return at_indices(w, scope, a, a->formal, a->temp);
}

static const struct eq_expr *value_of_written(struct adj_work *w, const struct adj_scope *scope,
                                              const struct eq_access *a, int number)
{
    const bool is_once = adj_is_written_once(w, a->formal);
    bool is_before = !is_once, is_after = true;
    for (size_t i = 0; i < w->forward.count && !is_once; i++) {
        const struct adj_stmt *s = w->forward.data[i];
        if (!writes(s, a) || adj_is_apart(w, s->target, a)) continue;
        if (s->id < scope->stmt->id)
            is_before = false;
        else
            is_after = false;
    }
    if (is_before || is_after)
        return adj_load(
            w, at_indices(w, scope, a, adj_formal(w, number, is_before ? ADJOINT_VALUE : ADJOINT_RESULT), NULL));
    const struct adj_stmt *s = last_writer(w, scope->stmt, a);
    if (!s) {
        adj_refuse_whole(w, adj_span(w, a), "it needs a value that is overwritten within the kernel");
        return adj_number(w, adj_computed(a->formal->type->elem), 0);
    }
    const struct eq_access *made = make_again(w, s);
    return adj_load(w, at_indices(w, scope, a, NULL, made->temp));
}

/* ---- temporaries ------------------------------------------------------------------------------------------------- */

/* A condition around the value of a reduction may hold that reduction itself: its variables are there already. */
static void add_scope_var(struct adj_work *w, struct adj_scope *s, const struct eq_var *v)
{
    for (int i = 0; i < s->count; i++)
        if (s->var[i] == v) return;
    if (s->count == MAX_VARS)
        adj_refuse(w, v->at, "a statement has too many variables");
    else
        s->var[s->count++] = v;
}

struct adj_scope adj_scope_within(struct adj_work *w, const struct adj_scope *outer, const struct eq_expr *reduction)
{
    struct adj_scope s = *outer;
    for (int i = 0; i < reduction->reduce.var_count; i++) add_scope_var(w, &s, reduction->reduce.vars[i]);
    return s;
}

struct adj_scope adj_scope_of(const struct adj_stmt *s)
{
    struct adj_scope scope = {.count = s->var_count, .stmt = s};
    memcpy(scope.var, s->var, sizeof scope.var);
    return scope;
}

struct adj_scope adj_scope_where(struct adj_work *w, const struct adj_scope *outer, const struct eq_expr *cond,
                                 bool truth, bool is_of_text)
{
    struct adj_scope s = *outer;
    struct adj_guard *g = arena_new(w->front->mem, struct adj_guard);
    *g = (struct adj_guard){cond, truth, is_of_text, outer->guard};
    s.guard = g;
    return s;
}

/* The variables of the scope that the expression names, and those that their ranges name. */
static int find_dims(const struct adj_scope *scope, const struct eq_expr *e, const struct eq_var **dims)
{
    bool is_named[MAX_VARS];
    int count = 0;
    for (int i = scope->count; i-- > 0;) {
        is_named[i] = adj_names_var(e, scope->var[i]);
        for (int k = i + 1; k < scope->count; k++)
            is_named[i] |= is_named[k] && (size_names(scope->var[k]->low, scope->var[i]->symbol) ||
                                           size_names(scope->var[k]->high, scope->var[i]->symbol));
    }
    for (int i = 0; i < scope->count; i++)
        if (is_named[i]) dims[count++] = scope->var[i];
    return count;
}

/* A new temporary with these dimensions: its left side, whose value the caller gives. */
static struct adj_stmt *new_temp(struct adj_work *w, const char *name, enum elem elem, const struct eq_var *const *dims,
                                 int rank)
{
    struct eq_temp *t = adj_new_temp(w, name, elem);
    struct adj_stmt *s = arena_new(w->front->mem, struct adj_stmt);
    if (rank > MAX_RANK) {
        adj_refuse(w, w->kernel->decl->name_at, "a temporary of its adjoint has too many dimensions");
        rank = MAX_RANK;
    }
    t->rank = rank;
    struct eq_access *target = adj_access(w, NULL, t);
    for (int d = 0; d < rank; d++) {
        t->low[d] = dims[d]->low;
        t->high[d] = dims[d]->high;
        s->var[d] = dims[d];
        target->index[d].size = size_symbol(w->sizes, dims[d]->symbol);
    }
    s->kind = EQ_LET;
    s->var_count = rank;
    s->target = target;
    return s;
}

const struct eq_expr *adj_keep(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e,
                               const char *name)
{
    const struct eq_var *dims[MAX_VARS];
    struct adj_stmt *s = new_temp(w, name, e->type, dims, find_dims(scope, e, dims));
    s->value = e;
    vec_push(&w->out, s);
    return adj_load(w, s->target);
}

/* What a statement of the kernel wrote, in a temporary. */
static const struct eq_expr *value_inside(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e);

static const struct eq_access *make_again(struct adj_work *w, const struct adj_stmt *s)
{
    struct adj_stmt *to = ptrmap_get(&w->made, s);
    if (to) return to->target;
    const struct adj_scope scope = adj_scope_of(s);
    if (s->target->temp) {
        to = arena_new(w->front->mem, struct adj_stmt);
        *to = *s;
    } else {
        const struct eq_var *dims[MAX_VARS];
        for (int d = 0; d < s->target->rank; d++)
            for (int i = 0; i < s->var_count; i++)
                if (s->target->index[d].size == size_symbol(w->sizes, s->var[i]->symbol)) dims[d] = s->var[i];
        const enum elem elem = adj_computed(s->target->formal->type->elem);
        to = new_temp(w, s->target->formal->name, elem, dims, s->target->rank);
    }
    ptrmap_set(&w->made, s, to);
    to->value = value_inside(w, &scope, s->value);
    if (!s->target->temp) to->value = adj_cast(w, adj_computed(to->value->type), to->value);
    vec_push(&w->out, to);
    return to->target;
}

static const struct adj_stmt *let_of(const struct adj_work *w, const struct eq_temp *t)
{
    for (size_t i = 0; i < w->forward.count; i++)
        if (w->forward.data[i]->target->temp == t) return w->forward.data[i];
    return NULL;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static const struct eq_expr *value_of_load(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e)
{
    const struct eq_access *a = e->access;
    const int number = a->formal ? number_of(w, a->formal) : -1;
    if (a->formal && number < 0) return e;
    if (a->temp) {
        const struct adj_stmt *s = let_of(w, a->temp);
        if (!s) return e;
        make_again(w, s);
    }
    const struct eq_expr *v;
    if (a->formal && w->kernel->formals[number]->dir != DIR_IN) {
        v = value_of_written(w, scope, a, number);
    } else {
        if (a->formal) adj_formal(w, number, ADJOINT_VALUE);
        v = adj_load(w, at_indices(w, scope, a, a->formal, a->temp));
    }
    return v->kind == EQ_CAST && e->type == v->a->type ? v->a : v; /* the cast is the parent of e */
}

/* of_text: only what the kernel needs to read nothing outside. */
static const struct eq_expr *condition(struct adj_work *w, const struct adj_scope *scope, const struct adj_guard *guard,
                                       bool of_text)
{
    if (!guard) return NULL;
    struct adj_scope outer = *scope;
    outer.guard = guard->outer;
    const struct eq_expr *first = condition(w, scope, guard->outer, of_text);
    if (of_text && !guard->is_of_text) return first;
    const struct eq_expr *c = adj_value(w, &outer, guard->cond);
    return adj_and(w, first, guard->truth ? c : adj_not(w, c));
}

const struct eq_expr *adj_condition(struct adj_work *w, const struct adj_scope *scope)
{
    return condition(w, scope, scope->guard, false);
}

static const struct eq_expr *zero_of(struct adj_work *w, enum elem type)
{
    return type == ELEM_BOOL ? adj_truth(w, false) : adj_number(w, type, 0);
}

static const struct eq_expr *where(struct adj_work *w, const struct eq_expr *c, const struct eq_expr *e)
{
    return c ? adj_select(w, c, e, zero_of(w, e->type)) : e;
}

const struct eq_expr *adj_under(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e)
{
    return where(w, adj_condition(w, scope), e);
}

/* Of literals alone? */
static bool is_constant(const struct eq_expr *e)
{
    if (!e || e->kind == EQ_INT || e->kind == EQ_REAL) return true;
    return e->kind > EQ_LOAD && e->kind != EQ_REDUCE && is_constant(e->a) && is_constant(e->b) && is_constant(e->c);
}

/* Is it worth a temporary of its own? */
static bool is_work(const struct eq_expr *e)
{
    if (e->kind == EQ_REDUCE) return true;
    if (!adj_is_float(e->type) || is_constant(e)) return false;
    return e->kind == EQ_DIV || (e->kind >= EQ_EXP && e->kind <= EQ_POW);
}

/* The statement of the kernel whose value this is, where its result is at hand when the kernel has ended. */
static const struct adj_stmt *statement_of(struct adj_work *w, const struct eq_expr *e)
{
    for (size_t i = 0; i < w->forward.count; i++) {
        const struct adj_stmt *s = w->forward.data[i];
        if (s->value != e) continue;
        if (s->target->temp) return s;
        if (s->kind != EQ_ASSIGN || s->target->formal->type->elem != e->type) return NULL;
        for (size_t k = 0; k < w->forward.count; k++)
            if (k != i && writes(w->forward.data[k], s->target) && k > i &&
                !adj_is_apart(w, w->forward.data[k]->target, s->target))
                return NULL;
        return s;
    }
    return NULL;
}

static const struct eq_expr *copy_parts(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e)
{
    struct eq_expr *to = arena_new(w->front->mem, struct eq_expr);
    *to = *e;
    to->at = (struct span){0};
    struct adj_scope inner = *scope;
    if (e->kind == EQ_REDUCE) inner = adj_scope_within(w, scope, e);
    to->a = e->a ? adj_value(w, &inner, e->a) : NULL;
    if (e->kind == EQ_SELECT || e->kind == EQ_AND || e->kind == EQ_OR)
        inner = adj_scope_where(w, scope, e->a, e->kind != EQ_OR, true);
    to->b = e->b ? adj_value(w, &inner, e->b) : NULL;
    if (e->kind == EQ_SELECT) inner = adj_scope_where(w, scope, e->a, false, true);
    to->c = e->c ? adj_value(w, &inner, e->c) : NULL;
    return to;
}

static const struct eq_expr *value_inside(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e)
{
    if (e->kind == EQ_LOAD) return value_of_load(w, scope, e);
    return e->kind < EQ_LOAD ? e : copy_parts(w, scope, e);
}

const struct eq_expr *adj_value(struct adj_work *w, const struct adj_scope *scope, const struct eq_expr *e)
{
    if (!is_work(e) || w->why) return value_inside(w, scope, e);
    const struct adj_stmt *s = statement_of(w, e);
    if (s && s->target->temp) {
        const struct eq_expr *v = adj_load(w, make_again(w, s));
        return v;
    }
    if (s) {
        const struct symbol *y = adj_formal(w, number_of(w, s->target->formal), ADJOINT_RESULT);
        return adj_load(w, at_indices(w, scope, s->target, y, NULL));
    }
    const struct eq_expr *known = ptrmap_get(&w->hoisted, e);
    if (known) return known;
    /* one value for all that ask, so only under conditions that its place in the text has */
    const struct eq_expr *value = copy_parts(w, scope, e), *c = condition(w, scope, scope->guard, true);
    const struct eq_expr *v = adj_keep(w, scope, where(w, c, value), e->kind == EQ_REDUCE ? "r" : "v");
    ptrmap_set(&w->hoisted, e, (void *)(uintptr_t)v);
    return v;
}
