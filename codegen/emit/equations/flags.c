/* flags.c - a formal that alone decides a condition, for all elements of a call.
 * Idea       in `select(causal && j > i, ..)` no element is compared where `causal` is false, but a C compiler has
 *            joined the two conditions before it could see that.  So such a kernel has one more version, in which the
 *            flag is that constant; the version for any strides is not made twice.
 * Invariant  the versions compute the same.
 * Tests      test/lit/codegen/index-flag.pto, test/lit/run/index-flag.pto
 */
#include "parts.h"

static bool varies(const struct eq_expr *x)
{
    if (!x) return false;
    if (x->kind == EQ_LOAD || x->kind == EQ_REDUCE) return true;
    if (x->kind == EQ_SIZE) return equation_names_loop(x->size);
    return varies(x->a) || varies(x->b) || varies(x->c);
}

/* A flag, or its negation, among the operands of `&&` or of `||`. */
static struct eq_flag flag_among(const struct eq_expr *x, enum eq_kind operation)
{
    if (x->kind == operation) {
        const struct eq_flag first = flag_among(x->a, operation);
        return first.formal ? first : flag_among(x->b, operation);
    }
    bool decides = operation == EQ_OR;
    for (; x->kind == EQ_NOT; x = x->a) decides = !decides;
    return (struct eq_flag){.formal = x->kind == EQ_SCALAR && x->type == ELEM_BOOL ? x->scalar : NULL,
                            .value = decides};
}

static struct eq_flag flag_in(const struct eq_expr *x)
{
    struct eq_flag flag = {0};
    if (!x) return flag;
    const enum eq_kind operation = x->kind == EQ_SELECT ? x->a->kind : x->kind;
    if (x->kind == EQ_SELECT && (operation == EQ_AND || operation == EQ_OR) && varies(x->a))
        flag = flag_among(x->a, operation);
    if (!flag.formal) flag = flag_in(x->a);
    if (!flag.formal) flag = flag_in(x->b);
    return flag.formal ? flag : flag_in(x->c);
}

struct eq_flag equation_flag(const struct equations *q)
{
    struct eq_flag flag = {0};
    for (int i = 0; i < q->stmt_count && !flag.formal; i++) flag = flag_in(q->stmts[i]->value);
    return flag;
}
