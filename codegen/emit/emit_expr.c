/* emit_expr.c - scalar expressions as C expressions.
 * Idea       one C expression for one expression; a check inside it goes before it by a comma.  What was put into a variable before
 *            (emit_prepare.c) is that variable.
 * Invariant  integer arithmetic is plain C only where range.c proves that it fits.
 * Tests      test/lit/codegen/arithmetic.pto, test/lit/run/expressions.pto
 */
#include "emit.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const op_text[] = {
    [OP_OR] = "||", [OP_AND] = "&&", [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<", [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">=",
    [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_MOD] = "%", [OP_NEG] = "-", [OP_NOT] = "!",
};

static const char *const op_function[] = {[OP_ADD] = "add", [OP_SUB] = "sub", [OP_MUL] = "mul", [OP_DIV] = "div", [OP_MOD] = "mod"};

static enum precedence op_precedence(enum ast_op op)
{
    switch (op) {
    case OP_OR: return P_OR;
    case OP_AND: return P_AND;
    case OP_EQ: case OP_NE: return P_EQ;
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: return P_REL;
    case OP_ADD: case OP_SUB: return P_ADD;
    case OP_MUL: case OP_DIV: case OP_MOD: return P_MUL;
    default: return P_UNARY;
    }
}

const char *arithmetic_prefix(enum arithmetic mode)
{
    return mode == ARITH_COST ? "pto_cost_" : mode == ARITH_TRY ? "pto_try_" : "pto_";
}

const char *arithmetic_first(enum arithmetic mode)
{
    return mode == ARITH_COST ? "" : mode == ARITH_TRY ? "&ok, " : "rt, ";
}

void print_real(struct strbuf *b, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        strbuf_puts(b, isnan(value) ? "NAN" : value < 0 ? "(-INFINITY)" : "INFINITY");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    strbuf_printf(b, value < 0 || (value == 0 && signbit(value)) ? "(%s%s)" : "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void print_symbol(struct emitter *e, struct strbuf *b, const struct symbol *s, enum precedence prec)
{
    if (s->has_value) {
        if (s->type->kind == TYPE_F32 || s->type->kind == TYPE_F64) print_real(b, s->real_value);
        else if (s->type->kind == TYPE_BOOL) strbuf_puts(b, s->int_value ? "true" : "false");
        else print_int(b, s->int_value, prec);
        return;
    }
    const struct call *call = e->binding;
    if (call && (s->kind == SYM_DIM || s->kind == SYM_FORMAL)) {
        e->binding = e->plan->binding = NULL; /* what the names stand for is the caller's */
        for (int d = 0; d < call->callee->dim_count; d++)
            if (call->callee->dims[d] == s) print_size(e, b, call->dims[d], prec, ARITH_PLAIN);
        for (int f = 0; f < call->callee->formal_count; f++)
            if (call->callee->formals[f] == s) expr_print_as(e, b, call->values[f], s->type, prec);
        e->binding = e->plan->binding = call;
        return;
    }
    const struct symbol *kept = s->place ? s->place : s; /* a scalar of a struct that is returned is kept by the caller */
    if (kept->by_reference) strbuf_printf(b, prec > P_UNARY ? "(*%s)" : "*%s", emit_name(e, kept));
    else strbuf_puts(b, s->kind == SYM_PARAM ? param_c_name(e, s) : emit_name(e, s));
}

void print_apply(struct emitter *e, struct strbuf *b, struct interval *range, enum precedence *prec, enum ast_op op,
                 const struct strbuf *text, struct interval text_range, enum precedence text_prec, enum arithmetic mode)
{
    bool fits;
    *range = range_apply(op, *range, text_range, &fits);
    if (mode == ARITH_PLAIN) fits = true;
    struct strbuf whole = {0};
    enum precedence own = op_precedence(op);
    if (fits) {
        strbuf_printf(&whole, *prec < own ? "(%s)" : "%s", strbuf_text(b));
        strbuf_printf(&whole, text_prec <= own ? " %s (%s)" : " %s %s", op_text[op], strbuf_text(text));
        *prec = own;
    } else {
        strbuf_printf(&whole, "%s%s(%s%s, %s)", arithmetic_prefix(mode), op_function[op], arithmetic_first(mode), strbuf_text(b),
                      strbuf_text(text));
        *prec = P_POSTFIX;
        e->uses_rt |= mode == ARITH_CHECKED;
    }
    strbuf_free(b);
    *b = whole;
}

static bool is_integer(const struct ast *n) { return n->type->kind == TYPE_INT; }
static bool is_floating(const struct type *t) { return t->kind == TYPE_F32 || t->kind == TYPE_F64; }

void expr_print_as(struct emitter *e, struct strbuf *b, const struct ast *n, const struct type *t, enum precedence prec)
{
    if (n->type->kind == t->kind || !type_is_scalar(t)) {
        expr_print(e, b, n, prec);
        return;
    }
    strbuf_printf(b, prec > P_UNARY ? "((%s)" : "(%s)", c_scalar_type(t));
    expr_print(e, b, n, P_UNARY);
    if (prec > P_UNARY) strbuf_putc(b, ')');
}

static void print_integer_binary(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence outer)
{
    enum ast_op op = n->binary.op;
    enum precedence own = op_precedence(op), prec = own;
    struct strbuf left = {0}, right = {0};
    struct interval range = range_of_expr(e->plan, n->binary.left), other = range_of_expr(e->plan, n->binary.right);
    bool fits;
    range_apply(op, range, other, &fits);
    bool plain = fits || e->arithmetic == ARITH_PLAIN;
    expr_print(e, &left, n->binary.left, plain ? own : P_ANY);
    expr_print(e, &right, n->binary.right, plain ? own + 1 : P_ANY);
    print_apply(e, &left, &range, &prec, op, &right, other, P_POSTFIX, e->arithmetic);
    strbuf_printf(b, prec < outer ? "(%s)" : "%s", strbuf_text(&left));
    strbuf_free(&left);
    strbuf_free(&right);
}

/* C compilers ask for parentheses where && stands in ||, and where a `!` or a comparison is compared. */
static enum precedence operand_precedence(enum ast_op op, const struct ast *operand)
{
    bool compares = op >= OP_EQ && op <= OP_GE;
    if (op == OP_OR || op == OP_AND)
        return operand->kind == AST_BINARY && operand->binary.op != op && operand->binary.op <= OP_AND ? P_UNARY : op_precedence(op);
    if (compares)
        return operand->kind == AST_UNARY && operand->binary.op == OP_NOT ? P_POSTFIX : P_ADD;
    return op_precedence(op);
}

static void print_binary(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence outer)
{
    enum ast_op op = n->binary.op;
    const struct ast *left = n->binary.left, *right = n->binary.right;
    if (op >= OP_ADD && is_integer(n) && is_integer(left) && is_integer(right)) {
        print_integer_binary(e, b, n, outer);
        return;
    }
    enum precedence own = op_precedence(op);
    if (own < outer) strbuf_putc(b, '(');
    if (op >= OP_ADD) { /* floating point */
        expr_print_as(e, b, left, n->type, own);
        strbuf_printf(b, " %s ", op_text[op]);
        expr_print_as(e, b, right, n->type, own + 1);
    } else {
        bool mixed = is_floating(left->type) != is_floating(right->type) && op >= OP_EQ;
        expr_print_as(e, b, left, mixed && is_integer(left) ? right->type : left->type, operand_precedence(op, left));
        strbuf_printf(b, " %s ", op_text[op]);
        expr_print_as(e, b, right, mixed && is_integer(right) ? left->type : right->type, operand_precedence(op, right));
    }
    if (own < outer) strbuf_putc(b, ')');
}

static void print_unary(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence outer)
{
    const struct ast *operand = n->binary.left;
    if (n->binary.op == OP_NEG && is_integer(n)) {
        struct interval r = range_of_expr(e->plan, operand);
        if (r.lo == INT64_MIN && e->arithmetic != ARITH_PLAIN) {
            strbuf_printf(b, "%ssub(%s0, ", arithmetic_prefix(e->arithmetic), arithmetic_first(e->arithmetic));
            expr_print(e, b, operand, P_ANY);
            strbuf_putc(b, ')');
            e->uses_rt |= e->arithmetic == ARITH_CHECKED;
            return;
        }
    }
    if (outer > P_UNARY) strbuf_putc(b, '(');
    strbuf_puts(b, op_text[n->binary.op]);
    expr_print(e, b, operand, P_POSTFIX);
    if (outer > P_UNARY) strbuf_putc(b, ')');
}

/* ---- elements ---- */

void print_element_of(struct emitter *e, struct strbuf *b, const struct region *r)
{
    strbuf_printf(b, "((const %s *)", c_elem_type(r->base->type->elem));
    print_base(e, b, r);
    strbuf_puts(b, ")[");
    print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
    strbuf_putc(b, ']');
}

/* The value of an element; its checks are made. */
static void print_element_value(struct emitter *e, struct strbuf *b, const struct ast *n)
{
    bool wait = n->kind == AST_AWAIT;
    const struct region *r = region_of(wait ? n->await.operand : n);
    if (!r) {
        emit_unsupported(e, n->at, "reading this element");
        return;
    }
    enum elem elem = r->base->type->elem;
    const char *wanted = c_scalar_type(n->type), *stored = c_elem_type(elem);
    bool widened = n->type->kind == TYPE_INT && strcmp(wanted, stored) != 0;
    if (elem == ELEM_BF16) strbuf_puts(b, "pto_bf16_value(");
    else if (elem == ELEM_U64) strbuf_puts(b, "pto_integer_of_u64(rt, "), e->uses_rt = true;
    else if (widened) strbuf_puts(b, "pto_integer(");
    else if (strcmp(wanted, stored) != 0) strbuf_printf(b, "(%s)", wanted);
    if (wait) {
        strbuf_printf(b, "*(const %s *)pto_await_element(rt, ", stored);
        print_base(e, b, r);
        strbuf_puts(b, ", ");
        print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
        strbuf_printf(b, ", sizeof(%s))", stored);
        e->uses_rt = true;
    } else {
        print_element_of(e, b, r);
    }
    if (elem == ELEM_BF16 || widened) strbuf_putc(b, ')');
}

static void print_element(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence outer)
{
    bool checked = checks_of(n) || (n->kind == AST_AWAIT && checks_of(n->await.operand));
    if (checked || outer > P_UNARY) strbuf_putc(b, '(');
    check_print_commas(e, b, checks_of(n), NULL);
    if (n->kind == AST_AWAIT) check_print_commas(e, b, checks_of(n->await.operand), NULL);
    print_element_value(e, b, n);
    if (checked || outer > P_UNARY) strbuf_putc(b, ')');
}

void element_print_checked(struct emitter *e, struct strbuf *b, const struct ast *n)
{
    check_print_statements(e, checks_of(n), NULL);
    if (n->kind == AST_AWAIT) check_print_statements(e, checks_of(n->await.operand), NULL);
    print_element_value(e, b, n);
}

/* ---- builtins ---- */

static void print_arguments(struct emitter *e, struct strbuf *b, const char *function, const struct ast *args,
                            const struct type *t)
{
    bool integer = t->kind == TYPE_INT;
    strbuf_printf(b, "%s%s(%s", integer ? arithmetic_prefix(e->arithmetic) : "", function, integer ? arithmetic_first(e->arithmetic) : "");
    e->uses_rt |= integer && e->arithmetic != ARITH_COST;
    for (const struct ast *a = args; a; a = a->next) {
        if (a != args) strbuf_puts(b, ", ");
        expr_print_as(e, b, a->arg.value, t, P_ANY);
    }
    strbuf_putc(b, ')');
}

static void print_minmax(struct emitter *e, struct strbuf *b, const struct ast *n, const char *function)
{
    int open = 0;
    for (const struct ast *a = n->call.args; a; a = a->next) {
        if (a->next) {
            strbuf_printf(b, "%s(", function);
            open++;
        }
        expr_print_as(e, b, a->arg.value, n->type, P_ANY);
        if (a->next) strbuf_puts(b, ", ");
    }
    while (open-- > 0) strbuf_putc(b, ')');
}

static void print_builtin(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence outer)
{
    const char *name = n->call.callee->name;
    bool f32 = n->type->kind == TYPE_F32, integer = is_integer(n);
    if (strcmp(name, "min") == 0)
        print_minmax(e, b, n, integer ? "pto_min" : f32 ? "fminf" : "fmin");
    else if (strcmp(name, "max") == 0)
        print_minmax(e, b, n, integer ? "pto_max" : f32 ? "fmaxf" : "fmax");
    else if (strcmp(name, "abs") == 0)
        print_arguments(e, b, integer ? "abs" : f32 ? "fabsf" : "fabs", n->call.args, n->type);
    else if (strcmp(name, "ceil_div") == 0)
        print_arguments(e, b, "ceil_div", n->call.args, n->type);
    else if (strcmp(name, "log2") == 0)
        print_arguments(e, b, f32 ? "log2f" : "log2", n->call.args, n->type);
    else if (strcmp(name, "sqrt") == 0)
        print_arguments(e, b, f32 ? "sqrtf" : "sqrt", n->call.args, n->type);
    else if (strcmp(name, "dim") == 0 && n->value)
        print_size(e, b, n->value, outer, e->arithmetic == ARITH_COST ? ARITH_COST : ARITH_PLAIN);
    else
        emit_unsupported(e, n->at, "this use of a builtin function");
}

void expr_print(struct emitter *e, struct strbuf *b, const struct ast *n, enum precedence prec)
{
    int64_t value;
    const char *held = ptrmap_get(&e->hoisted, n);
    if (held) {
        strbuf_puts(b, held);
        return;
    }
    if (n->type && is_integer(n) && n->value && size_is_const(n->value, &value)) {
        print_int(b, value, prec);
        return;
    }
    switch (n->kind) {
    case AST_INT: print_int(b, (int64_t)n->integer.value, prec); break;
    case AST_FLOAT: print_real(b, n->real.value); break;
    case AST_BOOL: strbuf_puts(b, n->boolean.value ? "true" : "false"); break;
    case AST_NAME: case AST_MEMBER:
        if (region_of(n) && type_is_scalar(n->type)) print_element(e, b, n, false);
        else if (n->symbol && checks_of(n)) { /* was it written? */
            strbuf_putc(b, '(');
            check_print_commas(e, b, checks_of(n), NULL);
            print_symbol(e, b, n->symbol, P_ANY);
            strbuf_putc(b, ')');
        } else if (n->symbol) print_symbol(e, b, n->symbol, prec);
        else emit_unsupported(e, n->at, "this member");
        break;
    case AST_UNARY: print_unary(e, b, n, prec); break;
    case AST_BINARY: print_binary(e, b, n, prec); break;
    case AST_AWAIT: case AST_INDEX: print_element(e, b, n, prec); break;
    case AST_CALL:
        if (call_of(n)) call_print(e, b, (struct ast *)n);
        else print_builtin(e, b, n, prec);
        break;
    default: emit_unsupported(e, n->at, "this expression"); break;
    }
}
