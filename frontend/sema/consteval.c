/* consteval.c - values that are known now.
 * Idea       integers have their value in the tree already; this adds truth values and reals, in double.
 * Needs      a checked expression.
 * Tests      test/lit/sema/e15-constants.pto e20*.pto
 */
#include "checker.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_real(const struct type *t) { return t->kind == TYPE_F32 || t->kind == TYPE_F64; }

/* Rounded once: a double may lie between an integer and its float. */
double constant_as(const struct constant *v, const struct type *t)
{
    return is_real(v->type) ? v->f : t->kind == TYPE_F32 ? (double)(float)v->i : (double)v->i;
}

static bool compare(enum ast_op op, const struct constant *a, const struct constant *b)
{
    if (is_real(a->type) || is_real(b->type)) {
        const double x = constant_as(a, b->type), y = constant_as(b, a->type);
        return op == OP_EQ   ? x == y
               : op == OP_NE ? x != y
               : op == OP_LT ? x < y
               : op == OP_LE ? x <= y
               : op == OP_GT ? x > y
                             : x >= y;
    }
    int64_t x = a->i, y = b->i;
    return op == OP_EQ   ? x == y
           : op == OP_NE ? x != y
           : op == OP_LT ? x < y
           : op == OP_LE ? x <= y
           : op == OP_GT ? x > y
                         : x >= y;
}

static bool eval_binary(struct checker *c, const struct ast *e, struct constant *out)
{
    struct constant a, b;
    enum ast_op op = e->binary.op;
    bool left = consteval(c, e->binary.left, &a);
    if (op == OP_AND || op == OP_OR) { /* one side may decide alone */
        bool right = consteval(c, e->binary.right, &b);
        if ((left && a.i == (op == OP_OR)) || (right && b.i == (op == OP_OR)))
            out->i = op == OP_OR;
        else if (left && right)
            out->i = op == OP_AND;
        else
            return false;
        return true;
    }
    if (!left || !consteval(c, e->binary.right, &b)) return false;
    if (op >= OP_EQ && op <= OP_GE) {
        out->i = compare(op, &a, &b);
        return true;
    }
    const double x = constant_as(&a, e->type), y = constant_as(&b, e->type);
    out->f = op == OP_ADD ? x + y : op == OP_SUB ? x - y : op == OP_MUL ? x * y : x / y;
    return true;
}

bool consteval(struct checker *c, const struct ast *e, struct constant *out)
{
    struct constant a;
    if (e->bad || !e->type) return false;
    *out = (struct constant){.type = e->type};
    if (e->type->kind == TYPE_INT) return size_is_const(e->value, &out->i);
    switch (e->kind) {
    case AST_BOOL: out->i = e->boolean.value; return true;
    case AST_FLOAT: out->f = e->real.value; return true;
    case AST_NAME:
    case AST_MEMBER:
        if (!e->symbol || !e->symbol->has_value) return false;
        out->i = e->symbol->int_value;
        out->f = e->symbol->real_value;
        return true;
    case AST_UNARY:
        if (!consteval(c, e->binary.left, &a)) return false;
        if (e->binary.op == OP_NOT)
            out->i = !a.i;
        else
            out->f = -a.f;
        break;
    case AST_BINARY:
        if (!eval_binary(c, e, out)) return false;
        break;
    case AST_CALL:
        if (!builtins_consteval(c, e, out)) return false;
        break;
    default: return false;
    }
    if (e->type->kind == TYPE_F32) out->f = (double)(float)out->f;
    return true;
}

bool consteval_text(struct checker *c, const char *text, const struct type *type, struct constant *out)
{
    char *end;
    (void)c;
    *out = (struct constant){.type = type};
    errno = 0;
    if (type->kind == TYPE_BOOL) {
        out->i = strcmp(text, "true") == 0;
        return out->i || strcmp(text, "false") == 0;
    }
    if (*text == ' ' || *text == '\t' || *text == '\n' || !*text) return false;
    if (type->kind == TYPE_INT) {
        const char *digits = text + (*text == '-' || *text == '+');
        bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
        out->i = strtoll(text, &end, hex ? 16 : 10);
        return end != text && !*end && errno == 0;
    }
    out->f = strtod(text, &end);
    return end != text && !*end && isfinite(out->f);
}
