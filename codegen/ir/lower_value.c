/* lower_value.c - scalar expressions as values.
 * Idea       one value for one expression, with the checks inside it; what lower_order.c put into a temporary is that
 *            temporary.
 * Invariant  integer arithmetic is plain only where range.c proves that it fits.
 * Tests      test/lit/codegen/arithmetic.pto, test/lit/run/expressions.pto
 */
#include "lower_parts.h"
#include <string.h>

static bool is_integer(const struct ast *n) { return n->type->kind == TYPE_INT; }
static bool is_floating(const struct type *t) { return t->kind == TYPE_F32 || t->kind == TYPE_F64; }

static struct ir_value *bound_symbol(struct lowering *l, const struct symbol *s)
{
    const struct call *call = l->binding;
    struct ir_value *v = NULL;
    l->binding = l->ranges->binding = NULL; /* the names in an argument are the caller's */
    for (int d = 0; d < call->callee->dim_count; d++)
        if (call->callee->dims[d] == s) v = lower_size(l, call->dims[d], ARITH_PLAIN);
    for (int f = 0; f < call->callee->formal_count; f++)
        if (call->callee->formals[f] == s) v = lower_value_as(l, call->values[f], s->type);
    l->binding = l->ranges->binding = call;
    return v;
}

static struct ir_value *unknown(struct lowering *l) { return ir_value_new(l->mem, IR_UNKNOWN, NULL); }

struct ir_value *lower_symbol(struct lowering *l, const struct symbol *s)
{
    if (l->f && l->f->is_broken) return unknown(l);
    if (s->has_value && is_floating(s->type)) {
        struct ir_value *v = ir_value_new(l->mem, IR_REAL, s->type);
        v->real = s->real_value;
        return v;
    }
    if (s->has_value)
        return s->type->kind == TYPE_BOOL ? ir_boolean(l->mem, s->int_value) : ir_integer(l->mem, s->int_value);
    struct ir_value *v = NULL;
    if (l->binding && (s->kind == SYM_DIM || s->kind == SYM_FORMAL)) v = bound_symbol(l, s);
    if (v) return v;
    v = ir_value_new(l->mem, IR_NAME, s->type);
    v->symbol = s;
    return v;
}

struct ir_value *lower_value_as(struct lowering *l, const struct ast *n, const struct type *t)
{
    struct ir_value *v = lower_value(l, n);
    if (v->kind == IR_UNKNOWN) return v;
    if (n->type->kind == t->kind || !type_is_scalar(t)) return v;
    struct ir_value *cast = ir_unary(l->mem, OP_NOT, v);
    cast->kind = IR_CAST;
    cast->type = t;
    return cast;
}

struct ir_value *lower_integers(struct lowering *l, enum ast_op op, struct ir_value *a, struct interval range_a,
                                struct ir_value *b, struct interval range_b, enum arithmetic mode,
                                struct interval *range)
{
    bool fits;
    *range = range_apply(op, range_a, range_b, &fits);
    const bool is_int = range->lo == range->hi && range->lo >= INT32_MIN && range->lo <= INT32_MAX;
    if (fits && range->lo == range->hi && !is_int && ir_is_of_literals(a) && ir_is_of_literals(b))
        return ir_integer(l->mem, range->lo);
    return ir_binary(l->mem, op, fits ? ARITH_PLAIN : mode, a, b);
}

static struct ir_value *lower_binary(struct lowering *l, const struct ast *n)
{
    const enum ast_op op = n->binary.op;
    const struct ast *left = n->binary.left, *right = n->binary.right;
    const struct type *left_type = left->type, *right_type = right->type;
    if (op >= OP_ADD && is_integer(n) && is_integer(left) && is_integer(right)) {
        struct interval range;
        struct ir_value *a = lower_value(l, left), *b = lower_value(l, right);
        return lower_integers(l, op, a, range_of_expr(l->ranges, left), b, range_of_expr(l->ranges, right),
                              l->arithmetic, &range);
    } else if (op >= OP_ADD) {
        left_type = right_type = n->type;
    } else if (op >= OP_EQ && is_floating(left->type) != is_floating(right->type)) {
        if (is_integer(left)) left_type = right->type;
        if (is_integer(right)) right_type = left->type;
    }
    struct ir_value *a = lower_value_as(l, left, left_type), *b = lower_value_as(l, right, right_type);
    struct ir_value *v = ir_binary(l->mem, op, ARITH_PLAIN, a, b);
    v->type = n->type;
    return v;
}

static struct ir_value *lower_unary(struct lowering *l, const struct ast *n)
{
    struct ir_value *a = lower_value(l, n->binary.left);
    if (n->binary.op == OP_NEG && is_integer(n) && l->arithmetic != ARITH_PLAIN &&
        range_of_expr(l->ranges, n->binary.left).lo == INT64_MIN)
        return ir_binary(l->mem, OP_SUB, l->arithmetic, ir_integer(l->mem, 0), a);
    return ir_unary(l->mem, n->binary.op, a);
}

/* ---- elements ---- */

struct ir_value *lower_stored_element(struct lowering *l, const struct region *r)
{
    struct ir_value *v = ir_value_new(l->mem, IR_ELEMENT, NULL);
    v->view = lower_view(l, r, VIEW_ELEMENT);
    v->is_stored = true;
    return v;
}

struct ir_value *lower_element(struct lowering *l, const struct ast *n)
{
    const bool waits = n->kind == AST_AWAIT;
    const struct region *r = region_of(waits ? n->await.operand : n);
    if (!r) {
        lower_unsupported(l, n->at, "reading this element");
        return ir_integer(l->mem, 0);
    }
    struct ir_value *v = ir_value_new(l->mem, IR_ELEMENT, n->type);
    struct ir_view *view = lower_view(l, r, VIEW_ELEMENT);
    view->at = n->at;
    v->view = view;
    v->is_await = waits;
    v->is_field = n->kind == AST_NAME || n->kind == AST_MEMBER;
    return v;
}

static struct ir_value *lower_checked_element(struct lowering *l, const struct ast *n)
{
    struct ir_value *v = lower_element(l, n);
    if (v->view && use_may_be_unwritten(l, v->view->region->base)) v->holder = n;
    const struct ir_check *own = lower_checks(l, checks_of(n), NULL);
    const struct ir_check *inner = n->kind == AST_AWAIT ? lower_checks(l, checks_of(n->await.operand), NULL) : NULL;
    v->checks = own ? own : inner;
    if (!own || !inner) return v;
    struct ir_check *last = (struct ir_check *)own;
    while (last->next) last = (struct ir_check *)last->next;
    last->next = inner;
    return v;
}

/* ---- builtin functions ---- */

static struct ir_value *lower_minmax(struct lowering *l, const struct ast *a, const struct type *t,
                                     const char *function)
{
    struct ir_value *first = lower_value_as(l, a->arg.value, t);
    if (!a->next) return first;
    struct ir_value *v = ir_function(l->mem, function, ARITH_PLAIN, t, 2);
    v->arg[0] = first;
    v->arg[1] = lower_minmax(l, a->next, t, function);
    return v;
}

static struct ir_value *lower_arguments(struct lowering *l, const struct ast *n, const char *function)
{
    int count = 0;
    for (const struct ast *a = n->call.args; a; a = a->next) count++;
    struct ir_value *v = ir_function(l->mem, function, is_integer(n) ? l->arithmetic : ARITH_PLAIN, n->type, count);
    count = 0;
    for (const struct ast *a = n->call.args; a; a = a->next) v->arg[count++] = lower_value_as(l, a->arg.value, n->type);
    return v;
}

/* 64 bits where C would have an int of literals, or a bool of which its compilers remark that it is never 2. */
static struct ir_value *as_integer(struct lowering *l, struct ir_value *v)
{
    if (v->type->kind == TYPE_INT && !ir_is_of_literals(v)) return v;
    struct ir_value *integer = ir_function(l->mem, "pto_integer", ARITH_PLAIN, NULL, 1);
    integer->arg[0] = v;
    return integer;
}

static struct ir_value *lower_select(struct lowering *l, const struct ast *n)
{
    const struct ast *a = n->call.args;
    struct ir_value *v = ir_function(l->mem, NULL, ARITH_PLAIN, n->type, 3);
    v->kind = IR_SELECT;
    v->arg[0] = lower_value(l, a->arg.value);
    v->arg[1] = lower_value_as(l, a->next->arg.value, n->type);
    v->arg[2] = lower_value_as(l, a->next->next->arg.value, n->type);
    if (is_integer(n) && ir_is_of_literals(v->arg[2])) v->arg[1] = as_integer(l, v->arg[1]);
    return v;
}

/* A cast of C is without a result where a real is no integer of 64 bits. */
static struct ir_value *lower_cast(struct lowering *l, const struct ast *n)
{
    const struct ast *from = n->call.args->arg.value;
    struct ir_value *a = lower_value(l, from);
    if (is_integer(n) && is_floating(from->type)) {
        const enum arithmetic mode = l->arithmetic == ARITH_PLAIN ? ARITH_CHECKED : l->arithmetic;
        struct ir_value *v = ir_function(l->mem, "truncate", mode, n->type, 1);
        v->arg[0] = a;
        return v;
    }
    if (n->type->kind == TYPE_BOOL && from->type->kind != TYPE_BOOL) {
        struct ir_value *zero = ir_value_new(l->mem, is_integer(from) ? IR_INTEGER : IR_REAL, from->type);
        struct ir_value *v = ir_binary(l->mem, OP_NE, ARITH_PLAIN, a, zero);
        v->type = n->type;
        return v;
    }
    return is_integer(n) ? as_integer(l, a) : lower_value_as(l, from, n->type);
}

static struct ir_value *lower_builtin(struct lowering *l, const struct ast *n)
{
    const char *name = n->call.callee->name;
    const bool f32 = n->type->kind == TYPE_F32, integer = is_integer(n);
    if (strcmp(name, "min") == 0)
        return lower_minmax(l, n->call.args, n->type, integer ? "pto_min" : f32 ? "fminf" : "fmin");
    if (strcmp(name, "max") == 0)
        return lower_minmax(l, n->call.args, n->type, integer ? "pto_max" : f32 ? "fmaxf" : "fmax");
    if (strcmp(name, "abs") == 0) return lower_arguments(l, n, integer ? "abs" : f32 ? "fabsf" : "fabs");
    if (strcmp(name, "ceil_div") == 0) return lower_arguments(l, n, "ceil_div");
    if (strcmp(name, "log2") == 0) return lower_arguments(l, n, f32 ? "log2f" : "log2");
    if (strcmp(name, "sqrt") == 0) return lower_arguments(l, n, f32 ? "sqrtf" : "sqrt");
    static const struct {
        const char *name, *function;
    } reals[] = {{"exp", "exp"},   {"log", "log"},     {"pow", "pow"},   {"sin", "sin"},        {"cos", "cos"},
                 {"tanh", "tanh"}, {"floor", "floor"}, {"ceil", "ceil"}, {"round", "nearbyint"}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (strcmp(name, reals[i].name) == 0) return lower_arguments(l, n, reals[i].function);
    if (strcmp(name, "select") == 0) return lower_select(l, n);
    if (strcmp(name, "i64") == 0 || strcmp(name, "f64") == 0 || strcmp(name, "f32") == 0 || strcmp(name, "bool") == 0)
        return lower_cast(l, n);
    if (strcmp(name, "ranks") == 0) return ir_function(l->mem, "pto_ranks", ARITH_PLAIN, n->type, 0);
    if (strcmp(name, "dim") == 0 && n->value)
        return lower_size(l, n->value, l->arithmetic == ARITH_COST ? ARITH_COST : ARITH_PLAIN);
    lower_unsupported(l, n->at, "this use of a builtin function");
    return ir_integer(l->mem, 0);
}

/* ---- expressions ---- */

static struct ir_value *lower_name(struct lowering *l, const struct ast *n)
{
    if (region_of(n) && type_is_scalar(n->type)) return lower_checked_element(l, n);
    if (!n->symbol) {
        lower_unsupported(l, n->at, "this member");
        return ir_integer(l->mem, 0);
    }
    struct ir_value *v = lower_symbol(l, n->symbol);
    if (v->kind == IR_NAME && v->symbol == n->symbol && use_may_be_unwritten(l, n->symbol)) v->holder = n;
    return v;
}

static struct ir_value *lower_result(struct lowering *l, const struct ast *n)
{
    struct ir_value *v = ir_value_new(l->mem, IR_RESULT, n->type);
    v->call = lower_call_of_function(l, n);
    return v;
}

static struct ir_value *lower_by_kind(struct lowering *l, const struct ast *n)
{
    struct ir_value *v;
    switch (n->kind) {
    case AST_INT: return ir_integer(l->mem, (int64_t)n->integer.value);
    case AST_BOOL: return ir_boolean(l->mem, n->boolean.value);
    case AST_FLOAT:
        v = ir_value_new(l->mem, IR_REAL, n->type);
        v->real = n->real.value;
        return v;
    case AST_NAME:
    case AST_MEMBER: return lower_name(l, n);
    case AST_UNARY: return lower_unary(l, n);
    case AST_BINARY: return lower_binary(l, n);
    case AST_AWAIT:
    case AST_INDEX: return lower_checked_element(l, n);
    case AST_CALL: return call_of(n) ? lower_result(l, n) : lower_builtin(l, n);
    default: lower_unsupported(l, n->at, "this expression"); return ir_integer(l->mem, 0);
    }
}

static bool is_known(const struct ast *n, int64_t *value)
{
    return n->type && is_integer(n) && n->value && size_is_const(n->value, value);
}

/* Was the value of n computed from numbers alone?  Then only a part of n can fail. */
static bool is_of_numbers(const struct ast *n)
{
    if (n->kind == AST_BINARY) return is_known(n->binary.left, NULL) && is_known(n->binary.right, NULL);
    for (const struct ast *a = n->kind == AST_CALL ? n->call.args : NULL; a && !select_of(n); a = a->next)
        if (is_integer(a->arg.value) && !is_known(a->arg.value, NULL)) return false;
    return true;
}

/* The argument that a select of known value leaves out; 0: none is known to be. */
static int left_out(const struct ast *n)
{
    const struct ast *args = select_of(n);
    if (!args || args->next->arg.value->value == args->next->next->arg.value->value) return 0;
    return args->next->arg.value->value == n->value ? 2 : 1;
}

/* The number alone, unless a part of n may end the run, as the quotient in `0 * (1 / q)`. */
static struct ir_value *lower_known(struct lowering *l, const struct ast *n, int64_t value)
{
    if (n->kind != AST_UNARY && n->kind != AST_BINARY && n->kind != AST_CALL) return ir_integer(l->mem, value);
    struct ir_value *v = lower_by_kind(l, n);
    bool fails = !is_of_numbers(n) && ir_may_fail(v);
    for (int i = 0; i < v->count && !fails; i++) fails = (i == 0 || i != left_out(n)) && ir_may_fail(v->arg[i]);
    return fails ? v : ir_integer(l->mem, value);
}

struct ir_value *lower_value(struct lowering *l, const struct ast *n)
{
    int64_t value;
    struct ir_temporary *held = ptrmap_get(&l->hoisted, n);
    if (l->f && l->f->is_broken)
        return n->kind == AST_BOOL && !n->bad ? ir_boolean(l->mem, n->boolean.value) : unknown(l);
    if (held) return ir_of_temporary(l->mem, held);
    /* Of `select(true, 1, f())` the call is printed, because f is. */
    return is_known(n, &value) && !lower_has_call(n) ? lower_known(l, n, value) : lower_by_kind(l, n);
}

struct ir_value *lower_expression(struct lowering *l, const struct ast *n, const struct type *type,
                                  enum arithmetic mode)
{
    l->arithmetic = mode;
    struct ir_value *v = type ? lower_value_as(l, n, type) : lower_value(l, n);
    l->arithmetic = ARITH_CHECKED;
    return v;
}
