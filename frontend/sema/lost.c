/* lost.c - parts of an integer expression that its size no longer has.
 * Idea       the size of `(p + 1) * 0 + 3` is 3: its normal form has lost `p + 1`, which may have no value.  Where the
 *            run computes the size, and not the expression, such an expression is evaluated beside it.
 * Limits     the terms of a sum that are all in the size are not lost, though the size may add them in another order.
 * Tests      test/lit/run/lost-in-sizes.test
 */
#include "checker.h"

enum { MAX_TERMS = 16, MAX_NODES = 256 };

static bool is_number(const struct ast *e) { return e->value && size_is_const(e->value, NULL); }

static bool has_same_sign(int64_t a, int64_t b) { return (a < 0) == (b < 0); }

/* Of the same sign, and no closer to 0. */
static bool is_as_large(int64_t a, int64_t least)
{
    return has_same_sign(a, least) && (least < 0 ? a <= least : a >= least);
}

/* Has the sum `whole` each term of the sum `part`? */
static bool has_terms(struct checker *c, const struct size *whole, const struct size *part)
{
    struct size_term all[MAX_TERMS], some[MAX_TERMS];
    if ((whole->kind == SIZE_ADD && whole->count > MAX_TERMS) || (part->kind == SIZE_ADD && part->count > MAX_TERMS))
        return false;
    const int all_count = size_terms(c->sizes, whole, all, MAX_TERMS);
    const int some_count = size_terms(c->sizes, part, some, MAX_TERMS);
    for (int s = 0; s < some_count; s++) {
        int a = 0;
        while (a < all_count && (all[a].mono != some[s].mono || !is_as_large(all[a].factor, some[s].factor))) a++;
        if (a == all_count) return false;
    }
    return true;
}

/* What is divided or masked is computed without a test where the result is known to be inside: see lower_size.c. */
static bool has_part(struct checker *c, const struct size *whole, const struct size *part)
{
    if (whole == part || has_terms(c, whole, part)) return true;
    if (whole->kind == SIZE_DIV || whole->kind == SIZE_MOD || (whole->kind >= SIZE_OR && whole->kind <= SIZE_SHR))
        return false;
    for (int i = 0; i < whole->count; i++)
        if (has_part(c, whole->arg[i], part)) return true;
    return false;
}

/* The operation of e has no value for some values of its operands. */
static bool is_partial(const struct ast *e)
{
    if (e->type->kind != TYPE_INT) return false;
    if (e->kind == AST_UNARY) return e->binary.op == OP_NEG && !is_number(e->binary.left);
    if (e->kind == AST_CALL) {
        const enum size_kind kind = e->value ? e->value->kind : SIZE_CONST;
        return kind == SIZE_LOG2 || kind == SIZE_ABS ||
               (kind == SIZE_CEIL_DIV && !size_is_const(e->value->arg[1], NULL));
    }
    if (e->kind != AST_BINARY || (is_number(e->binary.left) && is_number(e->binary.right))) return false;
    switch (e->binary.op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_SHL: return true;
    case OP_DIV:
    case OP_MOD:
    case OP_SHR: return !is_number(e->binary.right);
    default: return false;
    }
}

/* `p - p` and `0 * p` are numbers, and never fail themselves; `0 / q` may. */
static bool is_kept(struct checker *c, const struct ast *e, const struct size *whole, bool is_small)
{
    const struct size *const v = e->value;
    if (!v) return false;
    if (size_is_const(v, NULL)) return e->kind == AST_UNARY || (e->kind == AST_BINARY && e->binary.op <= OP_MUL);
    return v == whole || (is_small && has_part(c, whole, v));
}

/* What is taken where it stands is evaluated, and a real number always has a value. */
static bool loses(struct checker *c, const struct ast *e, const struct size *whole, bool is_small)
{
    if (taken_of(e) || (e->type->kind != TYPE_INT && e->type->kind != TYPE_BOOL)) return false;
    if (is_partial(e) && !is_kept(c, e, whole, is_small)) return true;
    if (e->kind == AST_UNARY) return loses(c, e->binary.left, whole, is_small);
    if (e->kind == AST_BINARY)
        return loses(c, e->binary.left, whole, is_small) || loses(c, e->binary.right, whole, is_small);
    if (e->kind != AST_CALL || call_of(e)) return false;
    for (const struct ast *a = e->call.args; a; a = a->next)
        if (loses(c, a->arg.value, whole, is_small)) return true;
    return false;
}

void lost_check(struct checker *c, struct ast *e)
{
    if (!c->function || !e->value || e->bad) return;
    const bool is_small = size_node_count(e->value, MAX_NODES) < MAX_NODES;
    if (!loses(c, e, e->value, is_small)) return;
    struct check *k = region_check(c, CHECK_VALUE, e->at);
    if (k) k->cond = e;
}

void lost_check_type(struct checker *c, struct ast *type)
{
    for (; type && type->kind == AST_TYPE_ARRAY; type = type->type_array.element)
        lost_check(c, type->type_array.length);
    if (!type || type->kind != AST_TYPE_NAME) return;
    for (struct ast *d = type->type_name.dims; d; d = d->next)
        if (d->kind != AST_DECIDED) lost_check(c, d);
}
