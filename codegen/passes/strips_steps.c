/* strips_steps.c - of the pass `strips`: how values change from one iteration of a loop to the next.
 * Method     the step of a value that is affine in the loop's variable is its derivative.  It is made of the values
 *            that the value itself has, and is the difference of two of them, so it stays within 64 bits where the loop
 *            has a second iteration.
 * Tests      test/lit/codegen/strips.pto
 */
#include "strips.h"
#include "support/arena.h"

bool value_is_plain(const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_CHECKED || v->kind == IR_UNKNOWN) return false;
    for (int i = 0; i < v->count; i++)
        if (!value_is_plain(v->arg[i])) return false;
    return !ir_can_fail(v);
}

static bool depends(const struct strips *s, const struct ir_value *v)
{
    if (v->kind == IR_NAME && v->symbol == s->variable) return true;
    for (int i = 0; i < v->count; i++)
        if (depends(s, v->arg[i])) return true;
    return false;
}

bool value_is_invariant(const struct strips *s, const struct ir_value *v)
{
    return value_is_plain(v) && !depends(s, v);
}

static bool is_integer(const struct ir_value *v, int64_t value) { return v->kind == IR_INTEGER && v->integer == value; }

/* NULL: one of them is, or literals leave 64 bits. */
static struct ir_value *apply(const struct strips *s, enum ast_op op, struct ir_value *a, struct ir_value *b)
{
    int64_t value;
    if (!a || !b) return NULL;
    if (a->kind == IR_INTEGER && b->kind == IR_INTEGER) {
        const bool leaves = op == OP_ADD   ? __builtin_add_overflow(a->integer, b->integer, &value)
                            : op == OP_SUB ? __builtin_sub_overflow(a->integer, b->integer, &value)
                                           : __builtin_mul_overflow(a->integer, b->integer, &value);
        return leaves ? NULL : ir_integer(s->plan->mem, value);
    }
    if (op == OP_MUL) {
        if (is_integer(a, 0) || is_integer(b, 1)) return a;
        if (is_integer(b, 0) || is_integer(a, 1)) return b;
    } else {
        if (is_integer(b, 0)) return a;
        if (is_integer(a, 0)) return op == OP_ADD ? b : ir_unary(s->plan->mem, OP_NEG, b);
    }
    return ir_binary(s->plan->mem, op, ARITH_PLAIN, a, b);
}

struct ir_value *step_of(const struct strips *s, const struct ir_value *v)
{
    if (!depends(s, v)) return ir_integer(s->plan->mem, 0);
    if (v->kind == IR_NAME) return ir_integer(s->plan->mem, 1);
    struct ir_value *const a = v->count > 0 ? v->arg[0] : NULL, *const b = v->count > 1 ? v->arg[1] : NULL;
    if (v->kind == IR_UNARY && v->op == OP_NEG) return apply(s, OP_SUB, ir_integer(s->plan->mem, 0), step_of(s, a));
    if (v->kind != IR_BINARY) return NULL;
    if (v->op == OP_ADD || v->op == OP_SUB) return apply(s, v->op, step_of(s, a), step_of(s, b));
    if (v->op != OP_MUL || (depends(s, a) && depends(s, b))) return NULL;
    return depends(s, a) ? apply(s, OP_MUL, step_of(s, a), b) : apply(s, OP_MUL, a, step_of(s, b));
}

/* Integers of the program may be of any size, unlike offsets: the difference of two is known to fit as a literal, and
 * as a value that stands in the program. */
struct ir_value *step_of_integer(const struct strips *s, const struct ir_value *v)
{
    struct ir_value *const step = value_is_plain(v) ? step_of(s, v) : NULL;
    return step && step->count == 0 ? step : NULL;
}

/* ---- comparisons ---- */

static bool is_comparison(const struct ir_value *v)
{
    return v->kind == IR_BINARY && v->op >= OP_EQ && v->op <= OP_GE && v->arg[0]->type && v->arg[1]->type &&
           v->arg[0]->type->kind == TYPE_INT && v->arg[1]->type->kind == TYPE_INT;
}

/* What holds with the operands exchanged; where the comparison does not. */
static enum ast_op exchanged(enum ast_op op)
{
    return op == OP_LT ? OP_GT : op == OP_LE ? OP_GE : op == OP_GT ? OP_LT : op == OP_GE ? OP_LE : op;
}
static enum ast_op negated(enum ast_op op)
{
    static const enum ast_op to[] = {
        [OP_EQ] = OP_NE, [OP_NE] = OP_EQ, [OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_GT] = OP_LE, [OP_GE] = OP_LT};
    return to[op];
}

static bool comparison_of(const struct strips *s, const struct ir_value *v, struct ir_strip_test *test)
{
    const bool is_left = depends(s, v->arg[0]);
    *test = (struct ir_strip_test){
        .number = v->arg[!is_left], .limit = v->arg[is_left], .op = is_left ? v->op : exchanged(v->op)};
    test->step = value_is_invariant(s, test->limit) ? step_of_integer(s, test->number) : NULL;
    return test->step != NULL;
}

bool test_of(const struct strips *s, const struct ir_value *v, struct ir_strip_test *test)
{
    if (!value_is_plain(v)) return false;
    if (is_comparison(v)) return comparison_of(s, v, test);
    if (v->kind == IR_UNARY && v->op == OP_NOT) {
        if (!test_of(s, v->arg[0], test) || test->when) return false;
        test->op = negated(test->op);
        return true;
    }
    if (v->kind != IR_BINARY || v->op != OP_AND) return false;
    const bool is_left = depends(s, v->arg[0]);
    if (depends(s, v->arg[is_left]) || !test_of(s, v->arg[!is_left], test) || test->when) return false;
    test->when = v->arg[is_left];
    /* what is evaluated only where the left one holds may be proved by it, and here all of it is evaluated */
    return test->when->count + test->number->count + test->limit->count == 0;
}
