/* facts_conditions.c - the facts that follow from a condition of the program, and the value of a condition under the
 * known facts.
 * Idea       a condition that holds is facts; one that does not is the facts of its opposite.
 * Owner      nothing.
 * Tests      test/lit/sema/e05*.pto e20*.pto
 */
#include "facts.h"
#include "symbol.h"

static enum ast_op opposite(enum ast_op op)
{
    switch (op) {
    case OP_EQ: return OP_NE;
    case OP_NE: return OP_EQ;
    case OP_LT: return OP_GE;
    case OP_GE: return OP_LT;
    case OP_GT: return OP_LE;
    default: return OP_GT;
    }
}

/* Is it a comparison of two integers that have a value?  *a, *b: with `values` in place of its names; may be NULL. */
static bool is_comparison(const struct facts *f, const struct ast *e, const struct facts_values *values,
                          const struct size **a, const struct size **b)
{
    if (e->kind != AST_BINARY || e->binary.op < OP_EQ || e->binary.op > OP_GE) return false;
    *a = e->binary.left->value;
    *b = e->binary.right->value;
    if (!*a || !*b) return false;
    if (!values) return true;
    *a = size_substitute(facts_sizes(f), *a, values->from, values->to, values->count);
    *b = size_substitute(facts_sizes(f), *b, values->from, values->to, values->count);
    return *a && *b;
}

/* a < b.  Of a product above 0 no factor is 0. */
static void add_less(struct facts *f, const struct size *a, const struct size *b)
{
    const struct size *const one = size_const(facts_sizes(f), 1);
    int64_t least;
    facts_add_order(f, a, b, 1);
    if (b->kind != SIZE_MUL || !size_is_const(a, &least) || least < 0) return;
    for (int i = 0; i < b->count; i++)
        if (!size_is_const(b->arg[i], NULL) && facts_prove(f, b->arg[i])) facts_add_order(f, one, b->arg[i], 0);
}

/* Says more where the order is known. */
void facts_add_unequal(struct facts *f, const struct size *a, const struct size *b)
{
    if (facts_prove_order(f, a, b, 0))
        add_less(f, a, b);
    else if (facts_prove_order(f, b, a, 0))
        add_less(f, b, a);
    else
        facts_add_apart(f, a, b);
}

void facts_add_condition(struct facts *f, const struct ast *cond, bool truth)
{
    facts_add_condition_of(f, cond, truth, NULL);
}

void facts_add_condition_of(struct facts *f, const struct ast *cond, bool truth, const struct facts_values *values)
{
    const struct size *a, *b;
    if (cond->bad) return;
    if (cond->kind == AST_UNARY && cond->binary.op == OP_NOT) {
        facts_add_condition_of(f, cond->binary.left, !truth, values);
    } else if (cond->kind == AST_BINARY && cond->binary.op == (truth ? OP_AND : OP_OR)) {
        facts_add_condition_of(f, cond->binary.left, truth, values);
        facts_add_condition_of(f, cond->binary.right, truth, values);
    } else if (is_comparison(f, cond, values, &a, &b)) {
        switch (truth ? cond->binary.op : opposite(cond->binary.op)) {
        case OP_EQ: facts_add_equal(f, a, b); break;
        case OP_LT: add_less(f, a, b); break;
        case OP_LE: facts_add_order(f, a, b, 0); break;
        case OP_GT: add_less(f, b, a); break;
        case OP_GE: facts_add_order(f, b, a, 0); break;
        default: facts_add_unequal(f, a, b);
        }
    }
}

static bool holds(struct facts *f, enum ast_op op, const struct size *a, const struct size *b)
{
    switch (op) {
    case OP_EQ: return facts_prove_equal(f, a, b);
    case OP_NE: return facts_prove_apart(f, a, b);
    case OP_LT: return facts_prove_order(f, a, b, 1);
    case OP_LE: return facts_prove_order(f, a, b, 0);
    case OP_GT: return facts_prove_order(f, b, a, 1);
    default: return facts_prove_order(f, b, a, 0);
    }
}

int facts_decide(struct facts *f, const struct ast *cond, const struct facts_values *values)
{
    if (cond->bad) return -1;
    if (cond->kind == AST_BOOL) return cond->boolean.value;
    if (cond->kind == AST_NAME && cond->symbol && cond->symbol->has_value && cond->type->kind == TYPE_BOOL)
        return cond->symbol->int_value != 0;
    if (cond->kind == AST_UNARY && cond->binary.op == OP_NOT) {
        int v = facts_decide(f, cond->binary.left, values);
        return v < 0 ? v : !v;
    }
    if (cond->kind == AST_BINARY && (cond->binary.op == OP_AND || cond->binary.op == OP_OR)) {
        int stop = cond->binary.op == OP_OR;
        int l = facts_decide(f, cond->binary.left, values), r = facts_decide(f, cond->binary.right, values);
        return l == stop || r == stop ? stop : l < 0 || r < 0 ? -1 : !stop;
    }
    const struct size *a, *b;
    if (!is_comparison(f, cond, values, &a, &b)) return -1;
    if (holds(f, cond->binary.op, a, b)) return 1;
    return holds(f, opposite(cond->binary.op), a, b) ? 0 : -1;
}
