/* learn.c - what conditions and loops say about the integers of a function, as facts.
 * Invariant  nothing that names a `var` is learnt: its value may be another one when it is asked.
 * Tests      test/lit/sema/e06-parts.pto, w04.pto
 */
#include "learn.h"

void learn_iterations(struct checker *c, const struct iterations *t)
{
    if (!t->i || t->direction == 0) return;
    const struct size *at = size_symbol(c->sizes, t->i);
    const bool up = t->direction > 0;
    if (t->low) facts_add_order(c->facts, up ? t->low : at, up ? at : t->low, 0);
    if (t->high) facts_add_order(c->facts, up ? at : t->high, up ? t->high : at, 1);
}

static bool is_fixed(const struct ast *cond)
{
    if (cond->kind == AST_UNARY) return is_fixed(cond->binary.left);
    if (cond->kind != AST_BINARY) return true;
    if (cond->binary.op == OP_AND || cond->binary.op == OP_OR)
        return is_fixed(cond->binary.left) && is_fixed(cond->binary.right);
    const struct size *a = cond->binary.left->value, *b = cond->binary.right->value;
    return (!a || !size_names_var(a)) && (!b || !size_names_var(b));
}

void learn_condition(struct checker *c, const struct ast *cond, bool truth)
{
    if (cond && !cond->bad && is_fixed(cond)) facts_add_condition(c->facts, cond, truth);
}

void learn_arm(struct checker *c, const struct ast *matched, const struct ast *values, bool truth)
{
    const bool is_one = !values->next;
    if (is_one && values->kind == AST_BOOL) {
        learn_condition(c, matched, truth == values->boolean.value);
        return;
    }
    const struct size *a = matched->bad ? NULL : matched->value;
    if (!a || size_names_var(a) || (truth && !is_one)) return;
    for (const struct ast *v = values; v; v = v->next) {
        if (v->bad || !v->value || size_names_var(v->value)) continue;
        if (truth)
            facts_add_equal(c->facts, a, v->value);
        else
            facts_add_unequal(c->facts, a, v->value);
    }
}
