/* strips_steps.c - of the pass `strips`: how values change from one iteration of a loop to the next.
 * Method     the step of a value that is affine in the loop's variable is its derivative times the step of the loop.
 *            It is made of the values that the value itself has, and is the difference of two of them, so it stays
 *            within 64 bits where the loop has a second iteration.  What the body computes by a `let` is followed.
 * Tests      test/lit/codegen/strips.pto
 */
#include "strips.h"
#include "support/arena.h"
#include <string.h>

bool value_is_plain(const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_CHECKED || v->kind == IR_UNKNOWN) return false;
    for (int i = 0; i < v->count; i++)
        if (!value_is_plain(v->arg[i])) return false;
    return !ir_can_fail(v);
}

/* ---- what the body computes ---- */

static bool is_named_by(const struct ir_op *let, const struct ir_value *v)
{
    const struct ir_temporary *const t = let->let.temporary;
    if (v->kind == IR_NAME) return let->let.key == v->symbol || (t && t->stands_for && t->stands_for == v->symbol);
    return v->kind == IR_TEMPORARY ? let->let.key == v->temporary
                                   : v->kind == IR_EXTENT && let->let.key == &v->symbol->captured[v->dim];
}

/* NULL: the body does not compute it. */
static const struct strip_let *let_of(const struct strips *s, const struct ir_value *v)
{
    for (int i = s->lets; i > 0; i--)
        if (is_named_by(s->let[i - 1].op, v)) return &s->let[i - 1];
    return NULL;
}

bool let_add(struct strips *s, const struct ir_op *op)
{
    const struct ir_value *const v = op->let.value;
    const enum type_kind kind = op->let.type->kind;
    if (s->lets == LETS || op->let.taken || kind == TYPE_BOOL || !value_is_plain(v)) return false;
    const bool is_same = value_is_invariant(s, v);
    struct ir_value *const step = is_same || kind == TYPE_INT ? step_of(s, v) : NULL;
    s->let[s->lets++] = (struct strip_let){.op = op, .step = step, .depends = !is_same};
    return true;
}

/* ---- invariants ---- */

static bool is_same(const struct ir_value *a, const struct ir_value *b)
{
    if (a->kind != b->kind || a->op != b->op || a->integer != b->integer || a->symbol != b->symbol ||
        a->temporary != b->temporary || a->dim != b->dim || a->count != b->count || a->kind == IR_FUNCTION)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!is_same(a->arg[i], b->arg[i])) return false;
    return true;
}

static bool add_room(struct strips *s, const struct ir_value *room, const struct ir_value *wanted)
{
    for (int i = 0; i < s->rooms; i++)
        if (is_same(s->room[i].room, room) && is_same(s->room[i].wanted, wanted)) return true;
    if (s->rooms == ROOMS) return false;
    s->room[s->rooms++] = (struct ir_strip_room){room, wanted};
    return true;
}

static bool depends(struct strips *s, const struct ir_value *v, bool is_evaluated);

static bool has_function(const struct ir_value *v)
{
    bool has = v->kind == IR_FUNCTION;
    for (int i = 0; i < v->count && !has; i++) has = has_function(v->arg[i]);
    return has;
}

/* Is it `min(T, N - i)`, which is T as long as the offer goes on? */
static bool is_full_extent(struct strips *s, const struct ir_value *v)
{
    if (v->kind != IR_FUNCTION || v->count != 2 || s->by < 0 || strcmp(v->function, "pto_min") != 0) return false;
    const bool is_left = v->arg[0]->count > 0 || depends(s, v->arg[0], true);
    const struct ir_value *const room = v->arg[!is_left], *const wanted = v->arg[is_left];
    if (wanted->count > 0 || depends(s, wanted, true) || has_function(room) || !value_is_plain(v)) return false;
    const struct ir_value *const step = step_of(s, room);
    return step && step->kind == IR_INTEGER && step->integer == -s->by && add_room(s, room, wanted);
}

/* is_evaluated: in each iteration, so that the offer may evaluate it, too. */
static bool depends(struct strips *s, const struct ir_value *v, bool is_evaluated)
{
    if (v->kind == IR_NAME && v->symbol == s->variable) return true;
    const struct strip_let *const let = let_of(s, v);
    if (let) return let->depends;
    bool does = false;
    for (int i = 0; i < v->count && !does; i++) does = depends(s, v->arg[i], is_evaluated && !ir_is_optional(v, i));
    return does && !(is_evaluated && is_full_extent(s, v));
}

bool value_is_invariant(struct strips *s, const struct ir_value *v)
{
    return value_is_plain(v) && !depends(s, v, true);
}

/* ---- steps ---- */

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
        if (is_integer(a, -1)) return ir_unary(s->plan->mem, OP_NEG, b);
    } else {
        if (is_integer(b, 0)) return a;
        if (is_integer(a, 0)) return op == OP_ADD ? b : ir_unary(s->plan->mem, OP_NEG, b);
    }
    return ir_binary(s->plan->mem, op, ARITH_PLAIN, a, b);
}

struct ir_value *step_of(struct strips *s, const struct ir_value *v)
{
    if (!depends(s, v, true)) return ir_integer(s->plan->mem, 0);
    const struct strip_let *const let = let_of(s, v);
    if (let) return let->step;
    if (v->kind == IR_NAME) return ir_integer(s->plan->mem, s->by);
    struct ir_value *const a = v->count > 0 ? v->arg[0] : NULL, *const b = v->count > 1 ? v->arg[1] : NULL;
    if (v->kind == IR_UNARY && v->op == OP_NEG) return apply(s, OP_SUB, ir_integer(s->plan->mem, 0), step_of(s, a));
    if (v->kind != IR_BINARY) return NULL;
    if (v->op == OP_ADD || v->op == OP_SUB) return apply(s, v->op, step_of(s, a), step_of(s, b));
    if (v->op != OP_MUL || (depends(s, a, true) && depends(s, b, true))) return NULL;
    return depends(s, a, true) ? apply(s, OP_MUL, step_of(s, a), b) : apply(s, OP_MUL, a, step_of(s, b));
}

/* Integers of the program may be of any size, unlike offsets: the difference of two is known to fit as a literal, and
 * as a value that stands in the program. */
struct ir_value *step_of_integer(struct strips *s, const struct ir_value *v)
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

static bool comparison_of(struct strips *s, const struct ir_value *v, struct ir_strip_test *test)
{
    const bool is_left = depends(s, v->arg[0], true);
    *test = (struct ir_strip_test){
        .number = v->arg[!is_left], .limit = v->arg[is_left], .op = is_left ? v->op : exchanged(v->op)};
    test->step = value_is_invariant(s, test->limit) ? step_of_integer(s, test->number) : NULL;
    return test->step != NULL;
}

bool test_of(struct strips *s, const struct ir_value *v, struct ir_strip_test *test)
{
    if (!value_is_plain(v)) return false;
    if (is_comparison(v)) return comparison_of(s, v, test);
    if (v->kind == IR_UNARY && v->op == OP_NOT) {
        if (!test_of(s, v->arg[0], test) || test->when) return false;
        test->op = negated(test->op);
        return true;
    }
    if (v->kind != IR_BINARY || v->op != OP_AND) return false;
    const bool is_left = depends(s, v->arg[0], true);
    if (depends(s, v->arg[is_left], true) || !test_of(s, v->arg[!is_left], test) || test->when) return false;
    test->when = v->arg[is_left];
    /* the left operand may prove that the right one cannot fail, and here both are evaluated */
    return test->when->count + test->number->count + test->limit->count == 0;
}
