/* reductions.c - sum(j: ...) and the others.
 * Idea       a scope with the variables it binds; their ranges are what the binder says, or are found later.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"
#include "support/nearest.h"
#include <string.h>

static const char *const names[] = {
    [EQ_SUM] = "sum",       [EQ_PROD] = "prod",     [EQ_RED_MAX] = "max", [EQ_RED_MIN] = "min",
    [EQ_ARGMAX] = "argmax", [EQ_ARGMIN] = "argmin", [EQ_ANY] = "any",     [EQ_ALL] = "all",
};
enum { REDUCTIONS = sizeof names / sizeof *names };

static int kind_of(struct eq_work *w, const struct ast *callee)
{
    for (int i = 0; i < REDUCTIONS; i++)
        if (callee->kind == AST_NAME && strcmp(callee->name, names[i]) == 0) return i;
    w->failed = true;
    if (callee->kind != AST_NAME) {
        diag_error(w->c->diag, DIAG_E19, callee->at, "a reduction has a name: sum, prod, max, min, ...");
        return -1;
    }
    diag_error(w->c->diag, DIAG_E01, callee->at, "unknown reduction '%s'", callee->name);
    const char *near = nearest_word(callee->name, names, REDUCTIONS);
    if (strcmp(callee->name, "mean") == 0 || strcmp(callee->name, "avg") == 0 || strcmp(callee->name, "average") == 0)
        diag_help(w->c->diag, "it is a sum divided by its number of terms: sum(i: x[i]) / N");
    else if (near)
        diag_fix(w->c->diag, callee->at, near, "did you mean '%s'?", near);
    else
        diag_help(w->c->diag, "reductions are sum, prod, max, min, argmax, argmin, any, all");
    return -1;
}

static bool bind(struct eq_work *w, struct ast *b, struct eq_var **var)
{
    const struct size *low = NULL, *high = NULL;
    int64_t first, last;
    const bool is_given = b->binder.low != NULL;
    if (is_given && (!(low = eq_size_of(w, b->binder.low, "the begin of a range")) ||
                     !(high = eq_size_of(w, b->binder.high, "the end of a range"))))
        return false;
    if (is_given && size_is_const(low, &first) && size_is_const(high, &last) && last < first) {
        diag_error(w->c->diag, DIAG_E15, b->at, "the range %lld .. %lld ends before it begins", (long long)first,
                   (long long)last);
        w->failed = true;
        return false;
    }
    if (!eq_is_new_name(w, b->name, b->name_at)) return false;
    *var = eq_declare_var(w, EQ_BOUND, b->name, b->name_at);
    (*var)->low = low;
    (*var)->high = high;
    return true;
}

/* The type of the result, or ELEM_NONE, reported. */
static enum elem result_type(struct eq_work *w, const struct ast *n, enum eq_reduction kind, const struct eq_value *v)
{
    const bool is_bool = v->type == ELEM_BOOL && !v->is_literal, wants_bool = kind == EQ_ANY || kind == EQ_ALL;
    if (is_bool != wants_bool) {
        diag_error(w->c->diag, DIAG_E02, n->reduction.value->at, "'%s' is over %s, not over %s", names[kind],
                   wants_bool ? "bools" : "numbers", eq_type_text(w, v));
        if (is_bool)
            diag_help(w->c->diag, "a cast makes a number of a bool: %s(%s: i64(...))", names[kind],
                      n->reduction.binders->name);
        w->failed = true;
        return ELEM_NONE;
    }
    if (kind == EQ_ARGMAX || kind == EQ_ARGMIN) return ELEM_I64;
    return kind == EQ_SUM && !v->is_literal ? eq_computed(v->type) : v->type;
}

struct eq_value eq_reduction(struct eq_work *w, struct ast *n)
{
    const int kind = kind_of(w, n->reduction.callee);
    if (kind < 0) return eq_fail(w);
    const size_t names_mark = w->names.count, scope_mark = w->in_scope.count;
    int count = 0;
    for (const struct ast *b = n->reduction.binders; b; b = b->next) count++;
    const bool finds_place = kind == EQ_ARGMAX || kind == EQ_ARGMIN;
    if (finds_place && count > 1) {
        diag_error(w->c->diag, DIAG_E19, n->reduction.binders->next->at, "'%s' finds one place: it binds one variable",
                   names[kind]);
        return eq_fail(w);
    }
    struct eq_var **vars = arena_array(w->c->mem, struct eq_var *, count);
    bool good = true;
    const bool was_left = w->on_left;
    w->on_left = false;
    int i = 0;
    for (struct ast *b = n->reduction.binders; b && good; b = b->next) good = bind(w, b, &vars[i++]);
    struct eq_value v = good ? eq_value_of(w, n->reduction.value) : eq_fail(w);
    w->on_left = was_left;
    w->names.count = names_mark;
    w->in_scope.count = scope_mark;
    const enum elem type = v.expr ? result_type(w, n, (enum eq_reduction)kind, &v) : ELEM_NONE;
    if (type == ELEM_NONE) return eq_fail(w);
    if (finds_place && v.is_literal) v = (struct eq_value){eq_convert(w, v, v.type), v.type, false};
    struct eq_expr *e = eq_new(w, EQ_REDUCE, finds_place ? ELEM_I64 : eq_computed(type), n->at);
    e->a = v.expr;
    e->reduce.kind = (enum eq_reduction)kind;
    e->reduce.vars = vars;
    e->reduce.var_count = count;
    return (struct eq_value){e, type, v.is_literal};
}
