/* calls.c - functions, casts and `select` in a kernel in index notation.
 * Tests      test/lit/equations/refused-types.pto
 */
#include "parts.h"
#include "support/nearest.h"
#include <string.h>

struct function {
    const char *name;
    enum eq_kind kind;
    int count;
    bool is_real; /* of floats alone */
};

static const struct function functions[] = {
    {"exp", EQ_EXP, 1, true},        {"log", EQ_LOG, 1, true},     {"tanh", EQ_TANH, 1, true},
    {"sqrt", EQ_SQRT, 1, true},      {"rsqrt", EQ_RSQRT, 1, true}, {"sin", EQ_SIN, 1, true},
    {"cos", EQ_COS, 1, true},        {"pow", EQ_POW, 2, true},     {"erf", EQ_ERF, 1, true},
    {"abs", EQ_ABS, 1, false},       {"floor", EQ_FLOOR, 1, true}, {"ceil", EQ_CEIL, 1, true},
    {"round", EQ_ROUND, 1, true},    {"min", EQ_MIN, 2, false},    {"max", EQ_MAX, 2, false},
    {"select", EQ_SELECT, 3, false},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* The element type that the name is, also of a generic kernel's instance; ELEM_NONE: it is none. */
static enum elem cast_of(struct eq_work *w, const char *name)
{
    const struct symbol *g = w->kernel->generic;
    for (int i = 0; g && i < g->elem_count; i++)
        if (g->elems[i]->name == name) return w->kernel->bound[i];
    return elem_named(name);
}

static struct eq_value unknown(struct eq_work *w, const struct ast *callee)
{
    const char *names[FUNCTIONS + ELEM_BOOL + 8];
    int count = 0;
    static const char *const reductions[] = {"sum", "prod", "argmax", "argmin", "any", "all"};
    for (int i = 0; i < FUNCTIONS; i++) names[count++] = functions[i].name;
    for (int e = ELEM_F16; e <= ELEM_BOOL; e++) names[count++] = elem_name((enum elem)e);
    for (int i = 0; i < 6; i++)
        if (strcmp(callee->name, reductions[i]) == 0) {
            diag_error(w->c->diag, DIAG_E19, callee->at, "'%s' is a reduction: it names what it runs over",
                       callee->name);
            diag_help(w->c->diag, "%s(j: x[i, j])", callee->name);
            return eq_fail(w);
        }
    diag_error(w->c->diag, DIAG_E01, callee->at, "unknown function '%s' in a kernel in index notation", callee->name);
    const char *near = nearest_word(callee->name, names, count);
    if (near) diag_fix(w->c->diag, callee->at, near, "did you mean '%s'?", near);
    return eq_fail(w);
}

static struct eq_value cast(struct eq_work *w, struct ast *n, enum elem to)
{
    struct eq_value v = eq_value_of(w, n->call.args->arg.value);
    if (!v.expr) return eq_fail(w);
    if (v.is_literal && !eq_is_float(to)) { /* computed first, then truncated or brought to the nearest that fits */
        const enum elem type = eq_has_real_literal(v.expr) ? ELEM_F64 : ELEM_I64;
        v = (struct eq_value){eq_convert(w, v, type), type, false};
    }
    if (eq_as_size(w, &v) && to == ELEM_I64) return v;
    struct eq_expr *e = eq_convert(w, v, to);
    if (to != eq_computed(to)) e = eq_convert(w, (struct eq_value){e, to, false}, eq_computed(to));
    return (struct eq_value){e, to, false};
}

static struct eq_value choose(struct eq_work *w, struct ast *n)
{
    struct ast *first = n->call.args, *second = first->next, *third = second->next;
    struct eq_value cond = eq_value_of(w, first->arg.value), v;
    if (!cond.expr) return eq_fail(w);
    if (cond.type != ELEM_BOOL) {
        diag_error(w->c->diag, DIAG_E02, first->at, "a condition must be a bool, not %s", eq_type_text(w, &cond));
        return eq_fail(w);
    }
    struct eq_value a = eq_value_under(w, cond.expr, true, second->arg.value);
    struct eq_value b = eq_value_under(w, cond.expr, false, third->arg.value);
    if (a.type == ELEM_BOOL && b.type == ELEM_BOOL && a.expr && b.expr)
        v = (struct eq_value){NULL, ELEM_BOOL, false};
    else if (!eq_join(w, &a, &b, n->at, "'select'", &v))
        return eq_fail(w);
    const int truth = eq_decided(cond.expr);
    if (truth >= 0) return (struct eq_value){truth ? a.expr : b.expr, v.type, v.is_literal};
    struct eq_expr *e = eq_new(w, EQ_SELECT, eq_computed(v.type), n->at);
    e->a = cond.expr;
    e->b = a.expr;
    e->c = b.expr;
    return (struct eq_value){e, v.type, v.is_literal};
}

/* f of one value or of two. */
static struct eq_value apply(struct eq_work *w, struct ast *n, const struct function *f, struct eq_value a,
                             struct eq_value b)
{
    struct eq_value v;
    const bool is_pair = b.expr != NULL;
    const char *text = arena_printf(w->c->mem, "'%s'", f->name);
    const struct size *x = eq_as_size(w, &a), *y = is_pair ? eq_as_size(w, &b) : NULL;
    const bool is_literal = a.is_literal && (!is_pair || b.is_literal);
    if (x && y && !is_literal) {
        struct eq_expr *e = eq_new(w, EQ_SIZE, ELEM_I64, n->at);
        e->size = size_binary(w->c->sizes, f->kind == EQ_MIN ? SIZE_MINIMUM : SIZE_MAXIMUM, x, y);
        if (e->size && !f->is_real) return (struct eq_value){e, ELEM_I64, false};
    }
    if (is_pair && !eq_join(w, &a, &b, n->at, text, &v)) return eq_fail(w);
    if (!is_pair) v = a;
    const bool fits = f->is_real ? eq_is_float(v.type) || v.is_literal : v.type != ELEM_BOOL;
    if (!fits) {
        diag_error(w->c->diag, DIAG_E02, n->at, "%s cannot be used with %s", text, eq_type_text(w, &v));
        if (v.type != ELEM_BOOL) diag_help(w->c->diag, "a cast makes a number with a fraction of it: f32(...)");
        return eq_fail(w);
    }
    struct eq_expr *e = eq_new(w, f->kind, a.expr->type, n->at);
    e->a = a.expr;
    e->b = b.expr;
    return (struct eq_value){e, v.type, v.is_literal};
}

/* min and max of more than two take them from the left. */
static struct eq_value apply_to_all(struct eq_work *w, struct ast *n, const struct function *f)
{
    const struct ast *arg = n->call.args;
    struct eq_value v = eq_value_of(w, arg->arg.value);
    if (f->count == 1) return v.expr ? apply(w, n, f, v, (struct eq_value){0}) : eq_fail(w);
    while ((arg = arg->next)) {
        const struct eq_value next = eq_value_of(w, arg->arg.value);
        v = v.expr && next.expr ? apply(w, n, f, v, next) : eq_fail(w);
    }
    return v;
}

struct eq_value eq_call(struct eq_work *w, struct ast *n)
{
    struct ast *callee = n->call.callee;
    int given = 0;
    for (struct ast *a = n->call.args; a; a = a->next, given++)
        if (a->arg.dir != DIR_NONE) {
            diag_error(w->c->diag, DIAG_E08, a->arg.dir_at, "'%s' marks an argument of a task, and this is a number",
                       direction_text(a->arg.dir));
            return eq_fail(w);
        }
    if (callee->kind != AST_NAME) {
        diag_error(w->c->diag, DIAG_E19, callee->at, "a kernel in index notation calls no other kernel");
        return eq_fail(w);
    }
    const enum elem to = cast_of(w, callee->name);
    const struct function *f = functions;
    while (f < functions + FUNCTIONS && strcmp(f->name, callee->name) != 0) f++;
    if (to == ELEM_NONE && f == functions + FUNCTIONS) return unknown(w, callee);
    const int want = to != ELEM_NONE ? 1 : f->count;
    const bool may_have_more = to == ELEM_NONE && (f->kind == EQ_MIN || f->kind == EQ_MAX);
    if (given < want || (given > want && !may_have_more)) {
        diag_error(w->c->diag, DIAG_E17, n->at, "'%s' takes %d argument%s%s, not %d", callee->name, want,
                   want == 1 ? "" : "s", may_have_more ? " or more" : "", given);
        return eq_fail(w);
    }
    return to != ELEM_NONE ? cast(w, n, to) : f->kind == EQ_SELECT ? choose(w, n) : apply_to_all(w, n, f);
}
