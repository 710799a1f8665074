/* cost.c - the work of a kernel in index notation: weights of its operations, times the ranges they run over.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"
#include <string.h>

enum { DEAR = 8, VECTOR_LANES = 64, CUBE_LANES = 2048 };

static const struct size *plus(struct eq_work *w, const struct size *a, const struct size *b)
{
    const struct size *sum = size_binary(w->c->sizes, SIZE_ADD, a, b);
    return sum ? sum : a;
}

/* How many values v has; where its range depends on others, in the middle of those. */
static const struct size *count_of(struct eq_work *w, const struct eq_var *v, const struct eq_var *const *outer,
                                   int outers)
{
    struct size_table *t = w->c->sizes;
    const struct size *count = size_sub(t, v->high, v->low);
    for (int i = outers - 1; i >= 0 && count; i--) {
        if (!size_names(count, outer[i]->symbol)) continue;
        const struct size *both = size_binary(t, SIZE_ADD, outer[i]->low, outer[i]->high),
                          *middle = both ? size_binary(t, SIZE_DIV, both, size_const(t, 2)) : NULL;
        count = middle ? size_substitute(t, count, &outer[i]->symbol, &middle, 1) : NULL;
    }
    if (!count) return size_const(t, 1);
    return facts_prove(w->c->facts, count) ? count : size_binary(t, SIZE_MAXIMUM, count, size_const(t, 0));
}

static const struct size *times(struct eq_work *w, const struct size *a, const struct size *b)
{
    const struct size *product = size_binary(w->c->sizes, SIZE_MUL, a, b);
    return product ? product : a;
}

static int weight(const struct eq_expr *e)
{
    switch (e->kind) {
    case EQ_INT:
    case EQ_REAL:
    case EQ_SIZE:
    case EQ_SCALAR:
    case EQ_LOAD:
    case EQ_CAST:
    case EQ_REDUCE: return 0;
    case EQ_ADD:
    case EQ_SUB: /* a product and an addition are one */ return !(e->a->kind == EQ_MUL || e->b->kind == EQ_MUL);
    case EQ_DIV:
    case EQ_MOD:
    case EQ_EXP:
    case EQ_LOG:
    case EQ_TANH:
    case EQ_SQRT:
    case EQ_RSQRT:
    case EQ_SIN:
    case EQ_COS:
    case EQ_ERF:
    case EQ_POW: return DEAR;
    default: return 1;
    }
}

static const struct size *work_of(struct eq_work *w, const struct eq_expr *e, const struct eq_var *const *outer,
                                  int outers)
{
    const struct eq_var *vars[64];
    struct size_table *t = w->c->sizes;
    const struct eq_expr *const parts[] = {e->a, e->b, e->c};
    const struct size *sum = size_const(t, weight(e));
    if (e->kind != EQ_REDUCE || outers + e->reduce.var_count > 64) {
        for (int i = 0; i < 3; i++)
            if (parts[i]) sum = plus(w, sum, work_of(w, parts[i], outer, outers));
        return sum;
    }
    if (outers) memcpy(vars, outer, (size_t)outers * sizeof *vars);
    for (int i = 0; i < e->reduce.var_count; i++) vars[outers + i] = e->reduce.vars[i];
    const bool is_one = e->reduce.kind == EQ_SUM && e->a->kind == EQ_MUL;
    sum = plus(w, work_of(w, e->a, vars, outers + e->reduce.var_count), size_const(t, !is_one));
    for (int i = e->reduce.var_count - 1; i >= 0; i--)
        sum = times(w, sum, count_of(w, e->reduce.vars[i], vars, outers + i));
    return sum;
}

void eq_find_cost(struct eq_work *w)
{
    struct size_table *t = w->c->sizes;
    const struct size *all = size_const(t, 0);
    for (size_t i = 0; i < w->stmts.count; i++) {
        const struct eq_stmt *s = w->stmts.data[i];
        const struct eq_access *target = s->target;
        const struct size *work = work_of(w, s->value, target->vars, target->var_count);
        /* the sum of a contraction begins with what is there */
        if (s->kind == EQ_PLUS && s->value->kind != EQ_REDUCE) work = plus(w, work, size_const(t, 1));
        for (int k = target->var_count - 1; k >= 0; k--)
            work = times(w, work, count_of(w, target->vars[k], target->vars, k));
        all = plus(w, all, work);
    }
    const char *worker = w->kernel->decl->kernel->worker;
    const int64_t lanes = !worker || strcmp(worker, "vector") == 0 ? VECTOR_LANES
                          : strcmp(worker, "cube") == 0            ? CUBE_LANES
                                                                   : 1;
    const struct size *steps = size_binary(t, SIZE_CEIL_DIV, all, size_const(t, lanes));
    w->out->work = all;
    w->out->cost = plus(w, steps ? steps : all, size_const(t, 1));
}
