/* joining.c - loops that are done inside of the reduction behind them.
 * Idea       of a loop over j and a statement that reduces over the same range what the loop wrote at j, one loop
 *            is made: each element is still in a register when it is reduced.  Only what becomes vectors joins, so
 *            that the reduction still does.
 * Invariant  the order of a reduction stays.
 * Tests      test/lit/codegen/index-joined-loops.pto, test/lit/run/index-notation.test
 */
#include "parts.h"

static bool is_dense_or_alone(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *v)
{
    bool varies = false;
    for (int d = 0; d < a->rank; d++) {
        if (!a->index[d].size || a->index[d].needs_guard) return false;
        varies |= size_names(a->index[d].size, v->symbol);
    }
    return !varies || equation_is_dense_along(p, a, v);
}

/* Arithmetic of f32 or f64 on elements that lie side by side. */
static bool is_plain(const struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v)
{
    if (!x) return true;
    switch (x->kind) {
    case EQ_LOAD: return equation_is_float(x->type) && is_dense_or_alone(p, x->access, v);
    case EQ_INT:
    case EQ_REAL:
    case EQ_SIZE:
    case EQ_SCALAR: return true;
    case EQ_ADD:
    case EQ_SUB:
    case EQ_MUL:
    case EQ_DIV:
    case EQ_MIN:
    case EQ_MAX:
    case EQ_NEG:
    case EQ_ABS:
        if (!equation_is_float(x->type)) return false;
        break;
    case EQ_NOT:
    case EQ_AND:
    case EQ_OR:
    case EQ_EQ:
    case EQ_NE:
    case EQ_LT:
    case EQ_LE:
    case EQ_GT:
    case EQ_GE:
    case EQ_SELECT:
    case EQ_EXP:
    case EQ_SQRT:
    case EQ_RSQRT: break;
    default: return false;
    }
    return is_plain(p, x->a, v) && is_plain(p, x->b, v) && is_plain(p, x->c, v);
}

/* The statement's own variable for the loop. */
static const struct eq_var *variable_in(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *loop)
{
    const struct size *own = size_symbol(p->sizes, loop->symbol);
    for (int i = 0; i < s->free_count; i++)
        if (equation_canonical(p, size_symbol(p->sizes, s->frees[i]->symbol)) == own) return s->frees[i];
    for (int i = 0; i < s->loop_count; i++)
        if (equation_canonical(p, size_symbol(p->sizes, s->loops[i]->symbol)) == own) return s->loops[i];
    return NULL;
}

/* Both are the same element, for v and for the loop's variable w. */
static bool is_same_element(const struct eq_printer *p, const struct eq_access *written, const struct eq_access *read,
                            const struct eq_var *v, const struct eq_var *w)
{
    const struct size *own = size_symbol(p->sizes, w->symbol);
    bool varies = false;
    for (int d = 0; d < written->rank; d++) {
        if (!written->index[d].size || !read->index[d].size) return false;
        const struct size *a = equation_canonical(p, written->index[d].size);
        const struct size *b = equation_canonical(p, read->index[d].size);
        if (size_substitute(p->sizes, b, &v->symbol, &own, 1) != a) return false;
        varies |= equation_is_alone(p, &(struct eq_index){.size = a}, w);
    }
    return varies;
}

static bool reads_only_there(const struct eq_printer *p, const struct eq_stmt *reader, const struct eq_access *written,
                             const struct eq_var *v, const struct eq_var *w)
{
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->stmt != reader || a->is_target) continue;
        if (written->formal ? a->formal != written->formal : a->temp != written->temp) continue;
        if (!is_same_element(p, written, a, v, w)) return false;
    }
    return true;
}

static bool may_join(const struct eq_printer *p, const struct eq_node *loop, const struct eq_stmt *s,
                     const struct eq_expr **sum)
{
    struct eq_contraction contraction;
    int count = 0;
    const struct eq_expr *x = equation_only_reduction(s->value, &count);
    if (equation_is_contraction(p, s, &contraction) || count != 1 || equation_holds_reduction(x->a)) return false;
    if (x->reduce.var_count != 1 || x->reduce.kind > EQ_RED_MIN) return false;
    const struct eq_var *v = equation_vector(p, s, x);
    if (!v || !equation_has_same_range(p, v, loop->var)) return false;
    for (const struct eq_node *n = loop->child; n; n = n->next) {
        if (!n->stmt || n->first || n->stmt->carried || !n->stmt->is_injective) return false;
        const struct eq_var *own = variable_in(p, n->stmt, loop->var);
        const struct eq_access *target = n->stmt->target;
        const enum elem type = target->formal ? target->formal->type->elem : target->temp->elem;
        if (!own || type != x->type || !is_dense_or_alone(p, target, own)) return false;
        if (!is_plain(p, n->stmt->value, own) || !reads_only_there(p, s, target, v, loop->var)) return false;
    }
    *sum = x;
    return true;
}

void equation_join_loops(struct eq_printer *p, struct eq_node **list)
{
    while (*list) {
        struct eq_node *n = *list, *next = n->next;
        const struct eq_expr *sum;
        if (n->child) equation_join_loops(p, &n->child);
        if (!n->child || !next || !next->stmt || !may_join(p, n, next->stmt, &sum)) {
            list = &n->next;
            continue;
        }
        equation_merge(p, sum->reduce.vars[0], n->var);
        next->first = n;
        *list = next;
        n->next = NULL;
    }
}
