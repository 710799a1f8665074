/* lower_loop.c - loops and branches.
 * Idea       `match` is a chain of branches.  A condition that needs statements is evaluated before its branch, and for
 *            a loop inside of it, so that `continue` reaches it as the language promises.
 * Tests      test/lit/codegen/loops.pto, test/lit/run/statements.pto
 */
#include "lower_parts.h"

/* A condition that is evaluated where it stands, again and again: it marks its own site. */
static struct ir_condition inline_condition(struct ir_value *value, struct span at, const char *what)
{
    return (struct ir_condition){.value = value, .at = at, .site = ir_may_fail(value) ? what : NULL};
}

static bool visit_changing(void *cx, struct ast *n)
{
    bool variable = (n->kind == AST_NAME || n->kind == AST_MEMBER) && n->symbol &&
                    (n->symbol->kind == SYM_VAR || n->symbol->region);
    if (variable || n->kind == AST_AWAIT || n->kind == AST_INDEX || (n->kind == AST_CALL && call_of(n)))
        *(bool *)cx = true;
    return true;
}

/* ---- for ---- */

/* A bound that C may evaluate again in every iteration stays an expression: it is cheap, cannot fail and does not
 * change. */
static struct ir_value *lower_bound(struct lowering *l, struct ast *n, const struct symbol *loop, const char *what)
{
    bool changes = false;
    lower_prepare(l, n);
    struct ir_value *v = lower_value(l, n);
    if (v->kind == IR_UNKNOWN) return v;
    lower_site_of(l, v, n->at, "for");
    ast_walk(n, visit_changing, &changes);
    if (ptrmap_get(&l->hoisted, n) || (!changes && !ir_can_fail(v))) return v;
    return ir_of_temporary(l->mem, lower_let(l, arena_printf(l->mem, "%s_%s", loop->name, what), n->type, v, true));
}

/* Where the variable could leave 64 bits after the last iteration, that iteration sets it to the end instead. */
static enum ir_loop_form loop_form(struct lowering *l, const struct ast *n, bool is_known, int64_t step)
{
    if (is_known && (step == 1 || step == -1)) return IR_LOOP_UNIT;
    if (!is_known || step == 0 || step == INT64_MIN) return IR_LOOP_COUNTED;
    struct interval first = range_of_expr(l->ranges, n->loop.low), end = range_of_expr(l->ranges, n->loop.high);
    bool step_fits, distance_fits;
    range_apply(OP_ADD, end, (struct interval){step, step}, &step_fits);
    if (step > 0)
        range_apply(OP_SUB, (struct interval){end.hi, end.hi}, (struct interval){first.lo, first.lo}, &distance_fits);
    else
        range_apply(OP_SUB, (struct interval){first.hi, first.hi}, (struct interval){end.lo, end.lo}, &distance_fits);
    return step_fits ? IR_LOOP_STEP : distance_fits ? IR_LOOP_CLAMP : IR_LOOP_COUNTED;
}

void lower_for(struct lowering *l, struct ast *n)
{
    int64_t step = 1;
    const struct symbol *s = n->symbol;
    const bool is_known = !n->loop.step || (n->loop.step->value && size_is_const(n->loop.step->value, &step));
    struct ir_value *low = lower_bound(l, n->loop.low, s, "first");
    struct ir_value *high = lower_bound(l, n->loop.high, s, "end");
    struct ir_value *by = is_known ? ir_integer(l->mem, step) : lower_bound(l, n->loop.step, s, "step");
    lower_statement_checks(l, n, "for");
    l->at = n->at;
    struct ir_op *op = lower_op(l, IR_FOR);
    op->loop.source = n;
    op->loop.symbol = s;
    op->loop.low = low;
    op->loop.high = high;
    op->loop.step = by;
    op->loop.low_size = n->loop.low->value;
    op->loop.high_size = n->loop.high->value;
    op->loop.high_at = n->loop.high->at;
    op->loop.by = is_known ? step : 0;
    if (!l->f->is_broken) op->loop.form = loop_form(l, n, is_known, step);
    op->loop.body = lower_braced(l, n->loop.body, true);
}

/* ---- while ---- */

void lower_while(struct lowering *l, struct ast *n)
{
    const bool tests_first = n->kind == AST_WHILE;
    struct ir_block *outer, *test = NULL;
    struct ir_temporary *begin = NULL;
    struct ir_condition cond;
    if (!l->is_expression && needs_statements(n->while_.cond)) {
        if (!tests_first) {
            begin = arena_new(l->mem, struct ir_temporary);
            *begin = (struct ir_temporary){.wanted = "first", .type = n->while_.cond->type};
        }
        const struct span at = l->at;
        test = lower_block_begin(l, &outer);
        cond = (struct ir_condition){.value = lower_prepared(l, n->while_.cond, NULL, "condition"),
                                     .at = n->while_.cond->at};
        lower_block_end(l, outer);
        const struct span after = l->at;
        l->at = at;
        struct ir_op *op = lower_op(l, IR_WHILE);
        l->at = after;
        op->while_.source = n;
        op->while_.test = test;
        op->while_.cond = cond;
        op->while_.begin = begin;
        op->while_.tests_first = tests_first;
        op->while_.body = lower_braced(l, n->while_.body, true);
        return;
    }
    test = lower_block_begin(l, &outer);
    lower_only_uses(l, n->while_.cond);
    lower_block_end(l, outer);
    cond = inline_condition(lower_value(l, n->while_.cond), n->while_.cond->at, "condition");
    l->at = n->at;
    struct ir_op *op = lower_op(l, IR_WHILE);
    op->while_.source = n;
    op->while_.test = test;
    op->while_.cond = cond;
    op->while_.tests_first = tests_first;
    op->while_.body = lower_braced(l, n->while_.body, true);
    if (!tests_first) l->at = n->while_.cond->at;
}

/* ---- if ---- */

/* From the branch in `outer` to the last one, each in the else block of the one before. */
static void end_chain(struct lowering *l, struct ir_block *outer, const struct ir_op *last)
{
    for (const struct ir_block *block = outer; block->last != last; block = block->last->branch.other)
        block->last->branch.other->at_end = l->at;
    l->block = outer;
}

/* The operations before `end`, which `settle` takes away. */
static bool are_uses(const struct ir_op *op, const struct ir_op *end)
{
    while (op != end && (op->kind == IR_USE || (op->kind == IR_IF && !op->branch.cond.value))) op = op->next;
    return op == end;
}

/* Appends a branch; what its condition needs stands before it.  before: the one that it continues. */
static struct ir_op *lower_branch(struct lowering *l, const struct ir_condition *cond, const struct ir_op *before)
{
    struct ir_op *op = lower_op(l, IR_IF);
    op->branch.cond = *cond;
    op->branch.continues = before != NULL;
    op->branch.is_chained = before && are_uses(l->block->first, op);
    return op;
}

static struct ir_condition lower_if_condition(struct lowering *l, struct ast *n, bool is_first)
{
    struct ast *cond = n->if_.cond;
    l->at = n->at;
    if (!is_first && !needs_statements(cond) && !checks_of(n)) {
        lower_only_uses(l, cond);
        return inline_condition(lower_value(l, cond), cond->at, "condition");
    }
    lower_statement_checks(l, n, "if");
    return (struct ir_condition){.value = lower_prepared(l, cond, NULL, "if")};
}

/* A chain of `else if` is a loop, not a recursion: it has any length. */
void lower_if(struct lowering *l, struct ast *n)
{
    struct ir_block *outer = l->block, *around;
    struct ir_op *op = NULL;
    for (;; n = n->if_.other) {
        if (op) op->branch.other = lower_block_begin(l, &around);
        struct ir_condition cond = lower_if_condition(l, n, op == NULL);
        cond.source = n->if_.cond;
        cond.truth = truth_of(n->if_.cond);
        op = lower_branch(l, &cond, op);
        op->branch.whole = n->at;
        op->branch.then = lower_braced(l, n->if_.then, false);
        if (!n->if_.other || n->if_.other->kind != AST_IF) break;
    }
    if (n->if_.other) op->branch.other = lower_braced(l, n->if_.other, false);
    end_chain(l, outer, op);
}

/* ---- match ---- */

static bool arm_needs_statements(const struct ast *arm)
{
    for (struct ast *v = arm->arm.values; v; v = v->next)
        if (needs_statements(v)) return true;
    return false;
}

/* Values are compared one after the other, until one is equal. */
static struct ir_condition lower_arm_in_steps(struct lowering *l, const struct ast *arm, struct ir_temporary *value)
{
    struct ir_value *no = ir_boolean(l->mem, false);
    struct ir_temporary *equal = lower_let(l, "equal", no->type, no, false);
    for (struct ast *v = arm->arm.values; v; v = v->next) {
        struct ir_op *op = lower_op(l, v == arm->arm.values ? IR_BLOCK : IR_IF);
        struct ir_block *outer, *block = lower_block_begin(l, &outer);
        lower_prepare(l, v);
        struct ir_value *compared = ir_one_of(l->mem, ir_of_temporary(l->mem, value), 1);
        compared->arg[1] = lower_value(l, v);
        lower_site_of(l, compared, v->at, "match");
        struct ir_op *set = lower_op(l, IR_SET);
        set->set.key = set->set.temporary = equal;
        set->set.value = compared;
        lower_block_end(l, outer);
        if (op->kind == IR_BLOCK) {
            op->block = block;
        } else {
            op->branch.cond.value = ir_unary(l->mem, OP_NOT, ir_of_temporary(l->mem, equal));
            op->branch.then = block;
        }
    }
    return (struct ir_condition){.value = ir_of_temporary(l->mem, equal)};
}

static struct ir_condition lower_arm(struct lowering *l, const struct ast *arm, struct ir_temporary *value)
{
    int count = 0;
    if (!l->is_expression && arm_needs_statements(arm)) return lower_arm_in_steps(l, arm, value);
    for (struct ast *v = arm->arm.values; v; v = v->next, count++) lower_only_uses(l, v);
    struct ir_value *compared = ir_one_of(l->mem, ir_of_temporary(l->mem, value), count);
    count = 0;
    for (const struct ast *v = arm->arm.values; v; v = v->next) compared->arg[++count] = lower_value(l, v);
    return inline_condition(compared, arm->arm.values->at, "match");
}

/* Each arm but the first is in the else branch of the one before.  A loop, not a recursion: a match has any number of
 * arms. */
static void lower_arms(struct lowering *l, const struct ast *n, struct ir_temporary *value)
{
    struct ir_block *outer = l->block, *around;
    struct ir_op *op = NULL;
    for (const struct ast *arm = n->match.arms; arm; arm = arm->next) {
        if (op) op->branch.other = lower_block_begin(l, &around);
        const struct ir_condition cond = lower_arm(l, arm, value);
        l->at = arm->at;
        op = lower_branch(l, &cond, op);
        op->branch.matched = n->match.value;
        op->branch.values = arm->arm.values;
        op->branch.then = lower_braced(l, arm->arm.body, false);
    }
    op->branch.whole = n->at;
    op->branch.other = n->match.other ? lower_braced(l, n->match.other, false) : NULL;
    end_chain(l, outer, op);
}

void lower_match(struct lowering *l, struct ast *n)
{
    struct ir_value *v = lower_prepared(l, n->match.value, NULL, "match");
    struct ir_temporary *value = lower_let(l, "value", n->match.value->type, v, true);
    if (n->match.arms) {
        lower_arms(l, n, value);
        return;
    }
    l->block->last->let.unused = IR_UNUSED_SURELY;
    if (!n->match.other) return;
    struct ir_op *op = lower_op(l, IR_BLOCK);
    op->block = lower_braced(l, n->match.other, false);
}
