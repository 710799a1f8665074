/* builtin_calls.c - types and sizes of calls of builtins.
 * Idea       what is an integer gets its symbolic value, as in exprs.c.
 * Tests      test/lit/sema/builtins.pto select.pto e17-counts.pto
 */
#include "builtins.h"
#include <string.h>

/* i64(x) of what is known; NULL: it is not.  *failed: it is, and is no integer of 64 bits. */
static const struct size *cast_value(struct checker *c, const struct ast *v, bool *failed)
{
    struct constant known;
    if (v->type->kind == TYPE_INT) return v->value;
    if (!consteval(c, v, &known)) return NULL;
    if (v->type->kind == TYPE_BOOL) return size_const(c->sizes, known.i);
    *failed = !(known.f >= -0x1p63 && known.f < 0x1p63);
    return *failed ? NULL : size_const(c->sizes, (int64_t)known.f);
}

/* NULL: an argument has no value, or, with *failed, the result has none. */
static const struct size *value_of(struct checker *c, const struct builtin *b, const struct ast *e, bool *failed)
{
    const struct ast *args = e->call.args;
    const struct size *value = args->arg.value->value;
    struct constant known;
    if (b->gives == GIVES_CAST) return cast_value(c, args->arg.value, failed);
    if (b->gives == GIVES_SELECT) {
        if (!consteval(c, args->arg.value, &known)) return NULL;
        return known.i ? args->next->arg.value->value : args->next->next->arg.value->value;
    }
    if (!args->next && value) {
        value = size_unary(c->sizes, b->kind, value);
        *failed = !value;
    }
    for (const struct ast *a = args->next; a && value; a = a->next) {
        const struct size *other = a->arg.value->value;
        value = other ? size_binary(c->sizes, b->kind, value, other) : NULL;
        *failed = other && !value;
    }
    return value;
}

const struct size *builtin_calls_take(struct checker *c, struct ast *e)
{
    const struct builtin *b = builtins_find(e->call.callee->name);
    bool failed = false;
    if (b->gives == GIVES_SELECT || b->gives == GIVES_RANKS) return NULL; /* the other arm has no value */
    for (struct ast *a = e->call.args; a; a = a->next)
        if (a->arg.value->type->kind == TYPE_INT) exprs_take(c, a->arg.value);
    return value_of(c, b, e, &failed);
}

static const struct type *check_dim(struct checker *c, struct ast *e, struct ast *t, struct ast *i)
{
    struct check **outer = c->checks;
    if (outer) c->checks = &notes_of(c, e)->checks; /* evaluated where it stands, each time */
    const struct type *type = exprs_check(c, t, AS_PLACE);
    c->checks = outer;
    const struct size *at = exprs_size(c, i, "the dimension");
    int64_t d;
    if (t->bad || !at) return notes_fail(c, e);
    if (type->kind != TYPE_TENSOR && type->kind != TYPE_GRID && type->kind != TYPE_ARRAY) {
        diag_error(c->diag, DIAG_E02, t->at, "'dim' needs a tensor, an array or a tiled view, not %s",
                   type_str(c, type));
        return notes_fail(c, e);
    }
    if (!size_is_const(size_expand(c->sizes, at), &d)) {
        diag_error(c->diag, DIAG_E19, i->at, "the dimension must be a constant");
        return notes_fail(c, e);
    }
    if (d < 0 || d >= type->rank) {
        diag_error(c->diag, DIAG_E03, i->at, "%s has no dimension %lld", type_str(c, type), (long long)d);
        return notes_fail(c, e);
    }
    e->value = type->extent[d];
    return e->type = c->int_;
}

/* The condition is known to hold, or not to, in the arm that is evaluated. */
static const struct type *check_arm(struct checker *c, struct ast *condition, struct ast *arm, bool truth)
{
    size_t mark = facts_mark(c->facts);
    struct open_for *outer = c->open_for; /* no check leaves a loop from here */
    const bool was_left_out = exprs_enter(c, exprs_truth(c, condition), truth);
    facts_add_condition(c->facts, condition, truth);
    c->open_for = NULL;
    const struct type *t = exprs_check(c, arm, AS_VALUE);
    c->open_for = outer;
    c->is_left_out = was_left_out;
    facts_reset(c->facts, mark);
    return t;
}

static const struct type *check_select(struct checker *c, struct ast *e)
{
    struct ast *condition = e->call.args->arg.value, *yes = e->call.args->next->arg.value,
               *no = e->call.args->next->next->arg.value;
    const bool good = exprs_condition(c, condition);
    const struct type *a = check_arm(c, condition, yes, true), *b = check_arm(c, condition, no, false);
    if (!good || yes->bad || no->bad) return notes_fail(c, e);
    if (a->kind == TYPE_BOOL && b->kind == TYPE_BOOL) return a;
    if (exprs_is_number(a) && exprs_is_number(b)) return exprs_common(c, a, b);
    diag_error(c->diag, DIAG_E02, e->at, "'select' chooses between two numbers or two bools, not %s and %s",
               type_str(c, a), type_str(c, b));
    return notes_fail(c, e);
}

static const struct type *check_numbers(struct checker *c, const struct builtin *b, struct ast *e)
{
    const bool ints = b->kind == SIZE_CEIL_DIV && b->gives == GIVES_COMMON, bools = b->gives == GIVES_CAST;
    const struct type *type = NULL;
    bool bad = false;
    for (struct ast *a = e->call.args; a; a = a->next) {
        struct ast *v = a->arg.value;
        const struct type *t = exprs_check(c, v, AS_VALUE);
        type = v->bad || !exprs_is_number(t) ? type : type ? exprs_common(c, type, t) : t;
        bad |= v->bad;
        if (v->bad || (ints ? t->kind == TYPE_INT : exprs_is_number(t) || (bools && t->kind == TYPE_BOOL))) continue;
        diag_error(c->diag, DIAG_E02, v->at, "'%s' needs %s, not %s", b->name,
                   ints    ? "integers"
                   : bools ? "a number or a bool"
                           : "numbers",
                   type_str(c, t));
        bad = true;
    }
    if (bad) return notes_fail(c, e);
    if (b->gives == GIVES_REAL) return c->f64;
    if (b->gives == GIVES_COMMON) return type;
    return b->name[0] == 'i' ? c->int_ : b->name[0] == 'b' ? c->bool_ : b->name[1] == '6' ? c->f64 : c->f32;
}

static const struct type *check_ranks(struct checker *c, struct ast *e)
{
    if (c->may_name_ranks) return e->type = c->int_;
    diag_error(c->diag, DIAG_E19, e->at, "'ranks()' stands in '@dist', '@at' and '@priority' only");
    diag_help(c->diag, "a program gives the same results on every number of ranks");
    return notes_fail(c, e);
}

const struct type *builtin_calls_check(struct checker *c, struct ast *e)
{
    const struct builtin *b = builtins_find(e->call.callee->name);
    int count = 0;
    for (struct ast *a = e->call.args; a; a = a->next, count++) {
        if (a->arg.dir == DIR_NONE) continue;
        diag_error(c->diag, DIAG_E08, a->arg.dir_at, "'%s' takes no '%s'", b->name, direction_text(a->arg.dir));
        return notes_fail(c, e);
    }
    if (count < b->least || count > b->most) {
        diag_error(c->diag, DIAG_E17, e->at, "'%s' takes %s%d argument%s, not %d", b->name,
                   b->most == ANY_COUNT ? "at least " : "", b->least, b->least == 1 ? "" : "s", count);
        if (b->gives == GIVES_DIM && count == 1)
            diag_fix(c->diag, (struct span){e->at.file, e->at.end - 1, e->at.end - 1}, ", 0",
                     "the number of the dimension, from 0, is the second argument");
        return notes_fail(c, e);
    }
    if (b->gives == GIVES_RANKS) return check_ranks(c, e);
    struct ast *first = e->call.args->arg.value;
    if (b->gives == GIVES_DIM) return check_dim(c, e, first, e->call.args->next->arg.value);
    e->type = b->gives == GIVES_SELECT ? check_select(c, e) : check_numbers(c, b, e);
    if (e->bad || e->type->kind != TYPE_INT) return e->type;
    bool failed = false;
    e->value = value_of(c, b, e, &failed);
    if (!failed || c->is_left_out) return e->type;
    int64_t divisor = 1;
    if (count == 2) size_is_const(e->call.args->next->arg.value->value, &divisor);
    diag_error(c->diag, DIAG_E15, e->at, "%s",
               b->gives == GIVES_CAST ? "the value does not fit in an integer of 64 bits"
               : count == 1           ? "the result is not an integer of 64 bits"
               : divisor == 0         ? "division by zero"
                                      : "the result does not fit in 64 bits");
    return notes_fail(c, e);
}
