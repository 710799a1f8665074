/* builtins.c - the functions of scalars that the language has itself.
 * Idea       a table says how many arguments each takes and what it gives.  A name of the program goes before a builtin
 *            of the same name.  What is an integer gets its symbolic value, as in exprs.c.
 * Tests      test/lit/sema/builtins.pto select.pto e17-counts.pto, test/lit/run/builtins.pto
 */
#include "checker.h"
#include <math.h>
#include <string.h>

enum gives {
    GIVES_DIM,
    GIVES_COMMON, /* the type that the numbers have in common; of integers a size of `kind` */
    GIVES_REAL,   /* f64 */
    GIVES_SELECT,
    GIVES_CAST
};

struct builtin {
    const char *name;
    enum gives gives;
    int least, most;
    enum size_kind kind; /* COMMON */
    double (*real)(double, double);
};

static double real_min(double x, double y) { return fmin(x, y); }
static double real_max(double x, double y) { return fmax(x, y); }
static double real_abs(double x, double y) { return (void)y, fabs(x); }
static double real_sqrt(double x, double y) { return (void)y, sqrt(x); }
static double real_exp(double x, double y) { return (void)y, exp(x); }
static double real_log(double x, double y) { return (void)y, log(x); }
static double real_log2(double x, double y) { return (void)y, log2(x); }
static double real_sin(double x, double y) { return (void)y, sin(x); }
static double real_cos(double x, double y) { return (void)y, cos(x); }
static double real_tanh(double x, double y) { return (void)y, tanh(x); }
static double real_floor(double x, double y) { return (void)y, floor(x); }
static double real_ceil(double x, double y) { return (void)y, ceil(x); }
static double real_round(double x, double y) { return (void)y, nearbyint(x); }

enum { ANY_COUNT = 1000000 };

static const struct builtin builtins[] = {
    {"min", GIVES_COMMON, 2, ANY_COUNT, SIZE_MINIMUM, real_min},
    {"max", GIVES_COMMON, 2, ANY_COUNT, SIZE_MAXIMUM, real_max},
    {"abs", GIVES_COMMON, 1, 1, SIZE_ABS, real_abs},
    {"ceil_div", GIVES_COMMON, 2, 2, SIZE_CEIL_DIV, NULL},
    {"log2", GIVES_COMMON, 1, 1, SIZE_LOG2, real_log2},
    {"sqrt", GIVES_REAL, 1, 1, 0, real_sqrt},
    {"exp", GIVES_REAL, 1, 1, 0, real_exp},
    {"log", GIVES_REAL, 1, 1, 0, real_log},
    {"pow", GIVES_REAL, 2, 2, 0, pow},
    {"sin", GIVES_REAL, 1, 1, 0, real_sin},
    {"cos", GIVES_REAL, 1, 1, 0, real_cos},
    {"tanh", GIVES_REAL, 1, 1, 0, real_tanh},
    {"floor", GIVES_REAL, 1, 1, 0, real_floor},
    {"ceil", GIVES_REAL, 1, 1, 0, real_ceil},
    {"round", GIVES_REAL, 1, 1, 0, real_round},
    {"select", GIVES_SELECT, 3, 3, 0, NULL},
    {"i64", GIVES_CAST, 1, 1, 0, NULL},
    {"f64", GIVES_CAST, 1, 1, 0, NULL},
    {"f32", GIVES_CAST, 1, 1, 0, NULL},
    {"bool", GIVES_CAST, 1, 1, 0, NULL},
    {"dim", GIVES_DIM, 2, 2, 0, NULL},
};

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

const struct builtin *builtins_find(const char *name)
{
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
    return NULL;
}

const char *builtins_name(int i) { return i < BUILTIN_COUNT ? builtins[i].name : NULL; }

struct ast *select_of(const struct ast *n)
{
    if (n->kind != AST_CALL || call_of(n) || n->call.callee->kind != AST_NAME) return NULL;
    return strcmp(n->call.callee->name, "select") == 0 ? n->call.args : NULL;
}

/* ---- the values -------------------------------------------------------------------------------------------------- */

static double as_real(const struct constant *v)
{
    return v->type->kind == TYPE_F32 || v->type->kind == TYPE_F64 ? v->f : (double)v->i;
}

/* Rounded once: a double may lie between an integer and its float. */
static double as_type(const struct constant *v, const struct type *t)
{
    return t->kind == TYPE_F32 && v->type->kind == TYPE_INT ? (double)(float)v->i : as_real(v);
}

bool builtins_consteval(struct checker *c, const struct ast *e, struct constant *out)
{
    struct constant v, other = {0};
    if (call_of(e)) return false;
    const struct builtin *b = builtins_find(e->call.callee->name);
    const struct ast *first = e->call.args;
    if (!consteval(c, first->arg.value, &v)) return false;
    if (b->gives == GIVES_SELECT) {
        if (!consteval(c, v.i ? first->next->arg.value : first->next->next->arg.value, &v)) return false;
        out->i = v.i;
        out->f = as_type(&v, e->type);
        return true;
    }
    out->f = b->gives == GIVES_CAST ? as_type(&v, e->type) : as_real(&v);
    if (b->gives == GIVES_CAST) {
        out->i = out->f != 0; /* the integers have their value in the tree */
        return true;
    }
    if (!b->real) return false;
    if (!first->next) out->f = b->real(out->f, 0);
    for (const struct ast *a = first->next; a; a = a->next) {
        if (!consteval(c, a->arg.value, &other)) return false;
        out->f = b->real(out->f, as_real(&other));
    }
    return true;
}

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

const struct size *builtins_take(struct checker *c, struct ast *e)
{
    const struct builtin *b = builtins_find(e->call.callee->name);
    bool failed = false;
    if (b->gives == GIVES_SELECT) return NULL; /* the other arm has no value */
    for (struct ast *a = e->call.args; a; a = a->next)
        if (a->arg.value->type->kind == TYPE_INT) exprs_take(c, a->arg.value);
    return value_of(c, b, e, &failed);
}

/* ---- the types --------------------------------------------------------------------------------------------------- */

static const struct type *check_dim(struct checker *c, struct ast *e, struct ast *t, struct ast *i)
{
    struct check **outer = c->checks;
    if (outer) c->checks = &notes_of(c, e)->checks; /* evaluated where it stands, each time */
    const struct type *type = exprs_check(c, t, AS_PLACE);
    c->checks = outer;
    const struct size *at = exprs_int(c, i, "the dimension");
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
    facts_add_condition(c->facts, condition, truth);
    c->open_for = NULL;
    const struct type *t = exprs_check(c, arm, AS_VALUE);
    c->open_for = outer;
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

const struct type *builtins_check(struct checker *c, struct ast *e)
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
        return notes_fail(c, e);
    }
    struct ast *first = e->call.args->arg.value;
    if (b->gives == GIVES_DIM) return check_dim(c, e, first, e->call.args->next->arg.value);
    e->type = b->gives == GIVES_SELECT ? check_select(c, e) : check_numbers(c, b, e);
    if (e->bad || e->type->kind != TYPE_INT) return e->type;
    bool failed = false;
    e->value = value_of(c, b, e, &failed);
    if (!failed) return e->type;
    diag_error(c->diag, DIAG_E15, e->at, "%s",
               b->gives == GIVES_CAST ? "the value does not fit in an integer of 64 bits"
               : count == 1           ? "the result is not an integer of 64 bits"
                                      : "division by zero or overflow");
    return notes_fail(c, e);
}
