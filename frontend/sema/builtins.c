/* builtins.c - the functions of scalars that the language has itself, and their values.
 * Idea       a table says how many arguments each takes and what it gives.  A name of the program goes before a builtin
 *            of the same name.
 * Tests      test/lit/sema/builtins.pto select.pto e17-counts.pto, test/lit/run/builtins.pto
 */
#include "builtins.h"
#include <math.h>
#include <string.h>

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
    {"ranks", GIVES_RANKS, 0, 0, 0, NULL},
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

bool builtins_consteval(struct checker *c, const struct ast *e, struct constant *out)
{
    struct constant v, other = {0};
    if (call_of(e)) return false;
    const struct builtin *b = builtins_find(e->call.callee->name);
    const struct ast *first = e->call.args;
    if (!first || !consteval(c, first->arg.value, &v)) return false;
    if (b->gives == GIVES_SELECT) {
        if (!consteval(c, v.i ? first->next->arg.value : first->next->next->arg.value, &v)) return false;
        out->i = v.i;
        out->f = constant_as(&v, e->type);
        return true;
    }
    out->f = constant_as(&v, e->type);
    if (b->gives == GIVES_CAST) {
        out->i = out->f != 0; /* the integers have their value in the tree */
        return true;
    }
    if (!b->real) return false;
    if (!first->next) out->f = b->real(out->f, 0);
    for (const struct ast *a = first->next; a; a = a->next) {
        if (!consteval(c, a->arg.value, &other)) return false;
        out->f = b->real(out->f, constant_as(&other, e->type));
    }
    return true;
}
