/* emit_value.c - values of the IR as C expressions.
 * Idea       one C expression for one value, with as few parentheses as a reader needs; a check inside it goes before
 *            it by a comma.
 * Tests      test/lit/codegen/arithmetic.pto, test/lit/run/expressions.pto
 */
#include "emit.h"
#include <math.h>
#include <string.h>

static const char *const op_text[] = {
    [OP_OR] = "||",  [OP_AND] = "&&", [OP_EQ] = "==",    [OP_NE] = "!=",   [OP_LT] = "<",     [OP_LE] = "<=",
    [OP_GT] = ">",   [OP_GE] = ">=",  [OP_ADD] = "+",    [OP_SUB] = "-",   [OP_MUL] = "*",    [OP_DIV] = "/",
    [OP_MOD] = "%",  [OP_NEG] = "-",  [OP_NOT] = "!",    [OP_BITOR] = "|", [OP_BITXOR] = "^", [OP_BITAND] = "&",
    [OP_SHL] = "<<", [OP_SHR] = ">>", [OP_BITNOT] = "~",
};

static const char *const op_function[] = {[OP_ADD] = "add", [OP_SUB] = "sub", [OP_MUL] = "mul", [OP_DIV] = "div",
                                          [OP_MOD] = "mod", [OP_SHL] = "shl", [OP_SHR] = "shr"};

static enum precedence op_precedence(enum ast_op op)
{
    switch (op) {
    case OP_OR: return P_OR;
    case OP_AND: return P_AND;
    case OP_EQ:
    case OP_NE: return P_EQ;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE: return P_REL;
    case OP_BITOR:
    case OP_BITXOR:
    case OP_BITAND:
    case OP_SHL:
    case OP_SHR: return P_BITS;
    case OP_ADD:
    case OP_SUB: return P_ADD;
    case OP_MUL:
    case OP_DIV:
    case OP_MOD: return P_MUL;
    default: return P_UNARY;
    }
}

/* "pto_cost_add(", "pto_try_add(&ok, ", "pto_add(rt, " */
static void print_checked_name(struct strbuf *b, enum arithmetic mode, const char *name)
{
    strbuf_printf(b, "%s%s(%s",
                  mode == ARITH_COST  ? "pto_cost_"
                  : mode == ARITH_TRY ? "pto_try_"
                                      : "pto_",
                  name,
                  mode == ARITH_COST  ? ""
                  : mode == ARITH_TRY ? "&ok, "
                                      : "rt, ");
}

void print_finite(struct strbuf *b, double value, bool is_f32)
{
    char text[40];
    for (int digits = 6; digits <= 17; digits++) { /* as few as give the number back */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (is_f32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) break;
    }
    strbuf_printf(b, signbit(value) ? "(%s%s%s)" : "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", is_f32 ? "f" : "");
}

/* NAN and INFINITY of C are floats, which every arithmetic of f64 widens unchanged. */
static void print_real(struct strbuf *b, const struct ir_value *v)
{
    const double value = v->real;
    if (isnan(value) || isinf(value))
        strbuf_puts(b, isnan(value) ? "NAN" : value < 0 ? "(-INFINITY)" : "INFINITY");
    else
        print_finite(b, value, v->type->kind == TYPE_F32);
}

static void print_name(struct emitter *e, struct strbuf *b, const struct symbol *s, enum precedence prec)
{
    /* a scalar of a struct that is returned is kept by the caller */
    const struct symbol *kept = s->place ? s->place : s;
    if (kept->by_reference)
        strbuf_printf(b, prec > P_UNARY ? "(*(%s *)pto_here(rt, %s))" : "*(%s *)pto_here(rt, %s)",
                      c_scalar_type(kept->type), emit_name(e, kept));
    else if (s->kind == SYM_PARAM)
        param_print(e, b, s);
    else
        strbuf_puts(b, emit_name(e, s));
}

static void print_extent(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    const void *key = &v->symbol->captured[v->dim];
    const char *name = ptrmap_get(&e->c_names, key);
    if (!name) emit_unsupported(e, v->symbol->decl->at, "a size that is used before it is stored");
    ptrmap_set(&e->used, key, e);
    strbuf_puts(b, name ? name : "0");
}

/* ---- operators ---- */

/* C compilers ask for parentheses where && is an operand of ||, and where a `!` or a comparison is compared. */
static enum precedence operand_precedence(enum ast_op op, const struct ir_value *operand)
{
    if (op == OP_OR || op == OP_AND)
        return operand->kind == IR_BINARY && operand->op != op && operand->op <= OP_AND ? P_UNARY : op_precedence(op);
    return operand->kind == IR_UNARY && operand->op == OP_NOT ? P_POSTFIX : P_ADD;
}

/* Operands of a size's product keep the parentheses that they need in the plain form. */
static void print_checked_binary(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    const bool product = v->of_size && op_precedence(v->op) == P_MUL;
    print_checked_name(b, v->arithmetic, op_function[v->op]);
    value_print(e, b, v->arg[0], product ? P_MUL : P_ANY);
    strbuf_puts(b, ", ");
    value_print(e, b, v->arg[1], product ? P_UNARY : P_ANY);
    strbuf_putc(b, ')');
}

/* The operators on bits have other precedences in C, whose compilers ask for parentheses around an operand that is
 * itself an operation.  What is shifted has 64 bits. */
static void print_bits(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence outer)
{
    const bool is_shift = v->op == OP_SHL || v->op == OP_SHR;
    if (outer > P_AND) strbuf_putc(b, '(');
    if (is_shift && ir_is_of_literals(v->arg[0])) strbuf_puts(b, "(int64_t)");
    value_print(e, b, v->arg[0], P_UNARY);
    strbuf_printf(b, " %s ", op_text[v->op]);
    value_print(e, b, v->arg[1], P_UNARY);
    if (outer > P_AND) strbuf_putc(b, ')');
}

static void print_binary(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence outer)
{
    const enum precedence own = op_precedence(v->op);
    const bool arithmetic = v->op >= OP_ADD;
    if (v->arithmetic != ARITH_PLAIN) {
        print_checked_binary(e, b, v);
        return;
    }
    if (own == P_BITS) {
        print_bits(e, b, v, outer);
        return;
    }
    if (own < outer) strbuf_putc(b, '(');
    value_print(e, b, v->arg[0], arithmetic ? own : operand_precedence(v->op, v->arg[0]));
    strbuf_printf(b, " %s ", op_text[v->op]);
    value_print(e, b, v->arg[1], arithmetic ? own + 1 : operand_precedence(v->op, v->arg[1]));
    if (own < outer) strbuf_putc(b, ')');
}

static void print_prefixed(struct emitter *e, struct strbuf *b, const struct ir_value *v, const char *prefix,
                           enum precedence inner, enum precedence outer)
{
    if (outer > P_UNARY) strbuf_putc(b, '(');
    strbuf_puts(b, prefix);
    value_print(e, b, v->arg[0], inner);
    if (outer > P_UNARY) strbuf_putc(b, ')');
}

static void print_function(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    if (v->arithmetic == ARITH_PLAIN)
        strbuf_printf(b, "%s(", v->function);
    else
        print_checked_name(b, v->arithmetic, v->function);
    if (v->count == 0) strbuf_puts(b, "rt"); /* pto_ranks */
    for (int i = 0; i < v->count; i++) {
        if (i) strbuf_puts(b, ", ");
        value_print(e, b, v->arg[i], P_ANY);
    }
    strbuf_putc(b, ')');
}

static void print_select(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence outer)
{
    if (outer > P_ANY) strbuf_putc(b, '(');
    value_print(e, b, v->arg[0], P_OR);
    strbuf_puts(b, " ? ");
    value_print(e, b, v->arg[1], P_OR);
    strbuf_puts(b, " : ");
    value_print(e, b, v->arg[2], P_OR);
    if (outer > P_ANY) strbuf_putc(b, ')');
}

static void print_one_of(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    for (int i = 1; i < v->count; i++) {
        if (i > 1) strbuf_puts(b, " || ");
        value_print(e, b, v->arg[0], P_EQ);
        strbuf_puts(b, " == ");
        value_print(e, b, v->arg[i], P_EQ + 1);
    }
}

/* ---- elements ---- */

static void print_stored_element(struct emitter *e, struct strbuf *b, const struct ir_view *view)
{
    strbuf_printf(b, "((const %s *)pto_here(rt, ", c_elem_type(view->region->base->type->elem));
    print_base(e, b, view->region);
    strbuf_puts(b, "))[");
    value_print(e, b, view->offset, P_ANY);
    strbuf_putc(b, ']');
}

static void print_awaited_element(struct emitter *e, struct strbuf *b, const struct ir_view *view)
{
    const char *stored = c_elem_type(view->region->base->type->elem);
    strbuf_printf(b, "*(const %s *)pto_await_element(rt, ", stored);
    print_base(e, b, view->region);
    strbuf_puts(b, ", ");
    value_print(e, b, view->offset, P_ANY);
    strbuf_printf(b, ", sizeof(%s))", stored);
}

static void print_converted_element(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    const enum elem elem = v->view->region->base->type->elem;
    const char *wanted = c_scalar_type(v->type), *stored = c_elem_type(elem);
    const bool same = strcmp(wanted, stored) == 0, widened = v->type->kind == TYPE_INT && !same;
    if (elem == ELEM_BF16)
        strbuf_puts(b, "pto_bf16_value(");
    else if (elem == ELEM_U64)
        strbuf_puts(b, "pto_integer_of_u64(rt, ");
    else if (widened)
        strbuf_puts(b, "pto_integer(");
    else if (!same)
        strbuf_printf(b, "(%s)", wanted);
    if (v->is_await)
        print_awaited_element(e, b, v->view);
    else
        print_stored_element(e, b, v->view);
    if (elem == ELEM_BF16 || widened) strbuf_putc(b, ')');
}

static void print_element(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence outer)
{
    const bool enclosed = v->checks || (outer > P_UNARY && !v->is_field);
    if (v->is_stored) {
        print_stored_element(e, b, v->view);
        return;
    }
    if (enclosed) strbuf_putc(b, '(');
    check_print_commas(e, b, v->checks);
    print_converted_element(e, b, v);
    if (enclosed) strbuf_putc(b, ')');
}

static void print_after_checks(struct emitter *e, struct strbuf *b, const struct ir_value *v)
{
    strbuf_putc(b, '(');
    check_print_commas(e, b, v->checks);
    value_print(e, b, v->arg[0], P_ANY);
    strbuf_putc(b, ')');
}

/* ---- all ---- */

void value_print(struct emitter *e, struct strbuf *b, const struct ir_value *v, enum precedence prec)
{
    switch (v->kind) {
    case IR_INTEGER: print_int(b, v->integer, prec); break;
    case IR_REAL: print_real(b, v); break;
    case IR_BOOLEAN: strbuf_puts(b, v->integer ? "true" : "false"); break;
    case IR_NAME: print_name(e, b, v->symbol, prec); break;
    case IR_TEMPORARY:
        ptrmap_set(&e->used, v->temporary, v->temporary);
        strbuf_puts(b, ptrmap_get(&e->c_names, v->temporary));
        break;
    case IR_STRIDE: strbuf_printf(b, "%s.s[%d]", emit_name(e, v->symbol), v->dim); break;
    case IR_AT: strbuf_printf(b, "%s.at", emit_name(e, v->symbol)); break;
    case IR_EXTENT: print_extent(e, b, v); break;
    case IR_UNARY: print_prefixed(e, b, v, op_text[v->op], P_POSTFIX, prec); break;
    case IR_CAST: print_prefixed(e, b, v, arena_printf(e->mem, "(%s)", c_scalar_type(v->type)), P_UNARY, prec); break;
    case IR_BINARY: print_binary(e, b, v, prec); break;
    case IR_FUNCTION: print_function(e, b, v); break;
    case IR_SELECT: print_select(e, b, v, prec); break;
    case IR_ONE_OF: print_one_of(e, b, v); break;
    case IR_ELEMENT: print_element(e, b, v, prec); break;
    case IR_RESULT: call_print(e, b, v->call); break;
    case IR_CHECKED: print_after_checks(e, b, v); break;
    case IR_UNKNOWN: break; /* of a program with an error, which is not printed */
    }
}

void expression_print(struct emitter *e, struct strbuf *b, const struct ast *n, const struct type *type,
                      enum precedence prec, enum arithmetic mode)
{
    value_print(e, b, lower_expression(e->lowering, n, type, mode), prec);
}

void size_print(struct emitter *e, struct strbuf *b, const struct size *s, enum precedence prec, enum arithmetic mode)
{
    value_print(e, b, lower_size(e->lowering, s, mode), prec);
}

/* ---- variables ---- */

void let_emit(struct emitter *e, const struct ir_op *op)
{
    STRBUF(value);
    const struct ir_temporary *t = op->let.temporary;
    const void *const key = t && t->stands_for ? t->stands_for : op->let.key;
    value_print(e, &value, op->let.value, P_ANY);
    /* after its value: a name of before may be meant there */
    const char *name = names_take(&e->names, mangle_plain(e->mem, op->let.wanted));
    ptrmap_set(&e->c_names, op->let.key, (void *)name);
    ptrmap_set(&e->c_names, key, (void *)name);
    out_line(e->out, "%s%s %s = %s;", op->let.is_const ? "const " : "", c_scalar_type(op->let.type), name,
             strbuf_text(&value));
    if (op->let.unused == IR_UNUSED_SURELY) out_line(e->out, "(void)%s;", name);
    if (op->let.unused == IR_UNUSED_MAYBE) out_line_unless(e->out, key, "(void)%s;", name);
}
