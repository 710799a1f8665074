/* value.c - expressions of an equation as C.
 * Idea       what C has is an operator, everything else is a function of pto_equations.h, pto_integers.h or
 *            pto_mathematics.h whose name ends with the type.
 *            An expression is text; what has to be done before it (a reduction) is printed as lines.  Of a select with
 *            a reduction in an arm the lines stand inside of an `if`.
 * Invariant  no contraction, no reordering: the bits are those of the text.  Integers are modulo 2^w, without undefined
 *            behaviour.
 * Tests      test/lit/run/index-notation.test
 */
#include "parts.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *text;
    enum precedence prec;
} operators[] = {
    [EQ_ADD] = {"+", P_ADD},    [EQ_SUB] = {"-", P_ADD},     [EQ_MUL] = {"*", P_MUL},     [EQ_DIV] = {"/", P_MUL},
    [EQ_BITOR] = {"|", P_BITS}, [EQ_BITXOR] = {"^", P_BITS}, [EQ_BITAND] = {"&", P_BITS}, [EQ_AND] = {"&&", P_AND},
    [EQ_OR] = {"||", P_OR},     [EQ_EQ] = {"==", P_EQ},      [EQ_NE] = {"!=", P_EQ},      [EQ_LT] = {"<", P_REL},
    [EQ_LE] = {"<=", P_REL},    [EQ_GT] = {">", P_REL},      [EQ_GE] = {">=", P_REL},
};

static const char *const functions[] = {
    [EQ_EXP] = "exp", [EQ_LOG] = "log", [EQ_TANH] = "tanh",   [EQ_SQRT] = "sqrt", [EQ_RSQRT] = "rsqrt",
    [EQ_SIN] = "sin", [EQ_COS] = "cos", [EQ_ERF] = "erf",     [EQ_POW] = "pow",   [EQ_ABS] = "abs",
    [EQ_MIN] = "min", [EQ_MAX] = "max", [EQ_FLOOR] = "floor", [EQ_CEIL] = "ceil", [EQ_ROUND] = "round",
    [EQ_DIV] = "div", [EQ_MOD] = "mod", [EQ_SHL] = "shl",     [EQ_SHR] = "shr",   [EQ_ADD] = "add",
    [EQ_SUB] = "sub", [EQ_MUL] = "mul", [EQ_NEG] = "neg"};

bool equation_is_float(enum elem elem)
{
    return elem == ELEM_F16 || elem == ELEM_BF16 || elem == ELEM_F32 || elem == ELEM_F64;
}

static const char *real_text(struct eq_printer *p, double value, enum elem type)
{
    if (isnan(value)) return type == ELEM_F32 ? "PTO_NAN" : "(double)PTO_NAN";
    if (isinf(value))
        return arena_printf(p->e->mem, value < 0 ? "(-%sPTO_INFINITY)" : "%sPTO_INFINITY",
                            type == ELEM_F32 ? "" : "(double)");
    STRBUF(b);
    print_finite(&b, value, type == ELEM_F32);
    return arena_copy(p->e->mem, strbuf_text(&b), b.length);
}

static const char *integer_text(struct eq_printer *p, const struct eq_expr *x)
{
    STRBUF(b);
    if (x->type == ELEM_BOOL) return x->integer ? "true" : "false";
    if (x->type == ELEM_U64 || x->type == ELEM_U32) {
        const uint64_t value = x->type == ELEM_U32 ? (uint32_t)x->integer : (uint64_t)x->integer;
        const bool is_short = x->type == ELEM_U64 && value <= UINT32_MAX; /* ~3u has 32 bits */
        return arena_printf(p->e->mem, "%s%" PRIu64 "u", is_short ? "(uint64_t)" : "", value);
    }
    print_int(&b, x->integer, P_UNARY);
    return x->type == ELEM_I64 && x->integer > INT32_MIN && x->integer <= INT32_MAX
               ? arena_printf(p->e->mem, "(int64_t)%s", strbuf_text(&b))
               : arena_copy(p->e->mem, strbuf_text(&b), b.length);
}

void equation_need_type(struct eq_printer *p, enum elem type)
{
    if (!equation_is_float(type) && type != ELEM_I64) p->e->needs_integers = true;
}

/* Every operand once: a macro would not do. */
static const char *call(struct eq_printer *p, enum eq_kind kind, enum elem type, const char *a, const char *b)
{
    equation_need_type(p, type);
    if (kind >= EQ_EXP && kind <= EQ_POW && kind != EQ_SQRT && kind != EQ_RSQRT) p->e->needs_mathematics = true;
    return arena_printf(p->e->mem, b ? "pto_%s_%s(%s, %s)" : "pto_%s_%s(%s)", functions[kind], elem_name(type), a, b);
}

static const char *load(struct eq_printer *p, const struct eq_expr *x)
{
    const char *place = equation_place(p, x->access);
    return x->type == ELEM_BF16 ? arena_printf(p->e->mem, "pto_bf16_value(%s)", place) : place;
}

/* To what fits; f16 and bf16 are values of f32 until they are stored. */
static const char *cast(struct eq_printer *p, const struct eq_expr *x, enum precedence prec)
{
    const enum elem from = x->a->type, to = x->type;
    if (from == to) return equation_value(p, x->a, prec);
    if (x->a->kind == EQ_INT && from == ELEM_I64 && to == ELEM_U64) /* a number above the largest i64 */
        return integer_text(p, &(struct eq_expr){.kind = EQ_INT, .type = to, .integer = x->a->integer});
    if (from == ELEM_BF16 && to == ELEM_F32 && x->a->kind == EQ_LOAD) return equation_value(p, x->a, prec);
    if (from == ELEM_BF16) return arena_printf(p->e->mem, "pto_bf16_value(%s)", equation_value(p, x->a, P_ANY));
    if (to == ELEM_BF16) return arena_printf(p->e->mem, "pto_bf16_bits(%s)", equation_value(p, x->a, P_ANY));
    if (to == ELEM_BOOL) return arena_printf(p->e->mem, "(%s != 0)", equation_value(p, x->a, P_EQ));
    if (equation_is_float(to) || from == ELEM_BOOL)
        return arena_printf(p->e->mem, "(%s)%s", c_elem_type(to), equation_value(p, x->a, P_UNARY));
    p->e->needs_integers = true;
    const char *source = equation_is_float(from) ? "f64" : from == ELEM_U64 ? "u64" : "i64";
    return arena_printf(p->e->mem, "pto_%s_of_%s(%s)", elem_name(to), source, equation_value(p, x->a, P_ANY));
}

bool equation_holds_reduction(const struct eq_expr *x)
{
    if (!x) return false;
    if (x->kind == EQ_REDUCE) return true;
    if (x->kind == EQ_LOAD) {
        for (int d = 0; d < x->access->rank; d++)
            if (equation_holds_reduction(x->access->index[d].expr)) return true;
        return false;
    }
    return equation_holds_reduction(x->a) || equation_holds_reduction(x->b) || equation_holds_reduction(x->c);
}

static const char *new_variable(struct eq_printer *p, enum elem type, const char *wanted)
{
    const char *name = names_take(&p->e->names, wanted);
    out_line(p->e->out, "%s %s;", equation_is_float(type) && type != ELEM_F64 ? "float" : c_elem_type(type), name);
    return name;
}

/* The chosen arm alone is evaluated, and with it what is printed before it. */
static const char *branches(struct eq_printer *p, const struct eq_expr *x, const struct eq_expr *yes,
                            const char *otherwise_text, const struct eq_expr *otherwise)
{
    const char *name = new_variable(p, x->type, "chosen");
    const char *condition = equation_value(p, x->a, P_ANY);
    out_open(p->e->out, x->kind == EQ_OR ? "if (!(%s)) {" : "if (%s) {", condition);
    out_line(p->e->out, "%s = %s;", name, equation_value(p, yes, P_ANY));
    p->e->out->depth--;
    out_open(p->e->out, "} else {");
    out_line(p->e->out, "%s = %s;", name, otherwise ? equation_value(p, otherwise, P_ANY) : otherwise_text);
    out_close(p->e->out, "}");
    return name;
}

static const char *wrap(struct eq_printer *p, const char *text, bool parens)
{
    return parens ? arena_printf(p->e->mem, "(%s)", text) : text;
}

static const char *with_operator(struct eq_printer *p, enum eq_kind kind, const char *a, const char *b,
                                 enum precedence prec)
{
    return wrap(p, arena_printf(p->e->mem, "%s %s %s", a, operators[kind].text, b), prec > operators[kind].prec);
}

static bool is_arithmetic(enum eq_kind kind) { return kind == EQ_ADD || kind == EQ_SUB || kind == EQ_MUL; }

const char *equation_binary(struct eq_printer *p, enum eq_kind kind, enum elem type, const char *a, const char *b)
{
    if (equation_is_float(type) && is_arithmetic(kind)) return with_operator(p, kind, a, b, P_ANY);
    return call(p, kind, type, a, b);
}

static const char *binary(struct eq_printer *p, const struct eq_expr *x, enum precedence prec)
{
    const enum elem type = x->a->type;
    const bool is_float = equation_is_float(type);
    if ((x->kind == EQ_DIV || x->kind == EQ_MOD) && !is_float) {
        const char *a = equation_value(p, x->a, P_ANY), *b = equation_value(p, x->b, P_ANY);
        equation_need_type(p, type);
        return arena_printf(p->e->mem, "pto_%s_%s(&%s, %s, %s)", functions[x->kind], elem_name(type),
                            x->may_fail ? p->failed : "(int){0}", a, b);
    }
    const bool by_function = x->kind == EQ_MIN || x->kind == EQ_MAX || x->kind == EQ_POW || x->kind == EQ_SHL ||
                             x->kind == EQ_SHR || (is_arithmetic(x->kind) && !is_float);
    if (by_function) {
        const char *a = equation_value(p, x->a, P_ANY), *b = equation_value(p, x->b, P_ANY);
        return call(p, x->kind, type, a, b);
    }
    const enum precedence inner = operators[x->kind].prec;
    /* bits and comparisons stand in parentheses inside of each other: gcc asks for them */
    const bool is_plain = is_arithmetic(x->kind) || x->kind == EQ_DIV;
    const char *a = equation_value(p, x->a, is_plain ? inner : P_ADD);
    const char *b = equation_value(p, x->b, is_plain ? inner + 1 : P_ADD);
    if (x->kind == EQ_BITOR || x->kind == EQ_BITXOR || x->kind == EQ_BITAND)
        return arena_printf(p->e->mem, "(%s)(%s %s %s)", c_elem_type(type), a, operators[x->kind].text, b);
    return with_operator(p, x->kind, a, b, prec);
}

const char *equation_value(struct eq_printer *p, const struct eq_expr *x, enum precedence prec)
{
    switch (x->kind) {
    case EQ_INT: return integer_text(p, x);
    case EQ_REAL: return real_text(p, x->real, x->type);
    case EQ_SIZE: return equation_size_value(p, x->size);
    case EQ_SCALAR: return emit_name(p->e, x->scalar);
    case EQ_LOAD: return load(p, x);
    case EQ_NEG:
        if (!equation_is_float(x->type)) return call(p, EQ_NEG, x->type, equation_value(p, x->a, P_ANY), NULL);
        return wrap(p, arena_printf(p->e->mem, "-%s", equation_value(p, x->a, P_POSTFIX)), prec >= P_UNARY);
    case EQ_NOT: return arena_printf(p->e->mem, "!%s", equation_value(p, x->a, P_POSTFIX));
    case EQ_BITNOT: return arena_printf(p->e->mem, "(%s)~%s", c_elem_type(x->type), equation_value(p, x->a, P_POSTFIX));
    case EQ_AND:
        if (equation_holds_reduction(x->b)) return branches(p, x, x->b, "false", NULL);
        return binary(p, x, prec);
    case EQ_OR:
        if (equation_holds_reduction(x->b)) return branches(p, x, x->b, "true", NULL);
        return binary(p, x, prec);
    case EQ_SELECT: {
        if (equation_holds_reduction(x->b) || equation_holds_reduction(x->c)) return branches(p, x, x->b, NULL, x->c);
        const char *a = equation_value(p, x->a, P_OR), *b = equation_value(p, x->b, P_OR),
                   *c = equation_value(p, x->c, P_OR);
        return wrap(p, arena_printf(p->e->mem, "%s ? %s : %s", a, b, c), prec > P_ANY);
    }
    case EQ_CAST: return cast(p, x, prec);
    case EQ_REDUCE: return equation_reduction(p, x);
    case EQ_SIN:
    case EQ_COS: return equation_angle(p, x);
    default:
        if (x->b) return binary(p, x, prec);
        return call(p, x->kind, x->type, equation_value(p, x->a, P_ANY), NULL);
    }
}
