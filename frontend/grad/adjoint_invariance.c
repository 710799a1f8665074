/* adjoint_invariance.c - temporaries on which no result depends.
 * Idea       softmax subtracts the greatest element before exp and divides by the sum: the result is the same whatever
 *            was subtracted, so no derivative flows through the maximum.  That is seen as in dimensional analysis.  Let
 *            the temporary change to m + d, or to m * exp(d): each value then stays, becomes v + a * d, or
 *            v * exp(a * d), by rules for each operation.  Where every result stays, no derivative flows.
 * Invariant  two values that change are joined only where they belong to the same element of the temporary: `row` has
 *            its indices.  In doubt a value is UNKNOWN, and the derivative flows.
 * Tests      test/lit/grad/adjoint-text.pto, adjoint-rows.pto
 */
#include "adjoint_parts.h"

enum manner { STAYS, ADDS, SCALES, UNKNOWN };

struct change {
    enum manner manner;
    double degree;
    const struct size *row[MAX_RANK]; /* of what changes: the element of the temporary, in the variables at hand */
};

struct analysis {
    struct adj_work *w;
    const struct adj_stmt *base;
    int rank;              /* of the temporary */
    struct change *change; /* of each statement's target, with the variables of that statement */
};

static const struct change stays = {.manner = STAYS}, unknown = {.manner = UNKNOWN};

static struct change change_of(struct analysis *a, const struct eq_expr *e);

static bool same_row(const struct analysis *a, const struct change *x, const struct change *y)
{
    for (int d = 0; d < a->rank; d++)
        if (x->row[d] != y->row[d]) return false;
    return true;
}

/* What a statement wrote, at these indices: its variables are found from the left side. */
static struct change of_load(struct analysis *a, const struct eq_access *at)
{
    struct adj_work *w = a->w;
    const struct adj_stmt *s = NULL;
    for (int d = 0; d < at->rank; d++) {
        if (at->index[d].expr && change_of(a, at->index[d].expr).manner != STAYS) return unknown;
    }
    for (size_t i = 0; i < w->forward.count; i++) {
        const struct adj_stmt *o = w->forward.data[i];
        if (adj_object(o->target) != adj_object(at) || a->change[i].manner == STAYS) continue;
        if (s || a->change[i].manner == UNKNOWN || at->formal) return unknown;
        s = o;
    }
    if (!s) return stays;
    struct change c = a->change[s->id];
    for (int r = 0; r < a->rank; r++) {
        const struct size *to = NULL;
        for (int d = 0; d < at->rank; d++)
            if (s->target->index[d].size == c.row[r]) to = at->index[d].size;
        if (!to) return unknown;
        c.row[r] = to;
    }
    return c;
}

static bool is_zero(const struct eq_expr *e) { return adj_is_number(e, 0); }

/* Of one of two that is chosen, or of their sum. */
static struct change alike(struct analysis *a, const struct eq_expr *x, const struct eq_expr *y, double sign)
{
    struct change p = change_of(a, x), q = change_of(a, y);
    if (p.manner == UNKNOWN || q.manner == UNKNOWN) return unknown;
    if (is_zero(x) && q.manner == SCALES) return q;
    if (is_zero(y) && p.manner == SCALES) return p;
    if (p.manner == SCALES && q.manner == SCALES) return p.degree == q.degree && same_row(a, &p, &q) ? p : unknown;
    if (p.manner == SCALES || q.manner == SCALES) return unknown;
    if (p.manner == STAYS && q.manner == STAYS) return stays;
    if (sign == 0) return p.manner == q.manner && p.degree == q.degree && same_row(a, &p, &q) ? p : unknown;
    if (p.manner == ADDS && q.manner == ADDS && !same_row(a, &p, &q)) return unknown;
    struct change r = p.manner == ADDS ? p : q;
    r.degree = (p.manner == ADDS ? p.degree : 0) + sign * (q.manner == ADDS ? q.degree : 0);
    return r.degree == 0 ? stays : r;
}

static struct change of_product(struct analysis *a, const struct eq_expr *e, double sign)
{
    struct change p = change_of(a, e->a), q = change_of(a, e->b);
    if (p.manner == UNKNOWN || q.manner == UNKNOWN || p.manner == ADDS || q.manner == ADDS) return unknown;
    if (p.manner == SCALES && q.manner == SCALES && !same_row(a, &p, &q)) return unknown;
    if (p.manner == STAYS && q.manner == STAYS) return stays;
    struct change r = p.manner == SCALES ? p : q;
    r.degree = (p.manner == SCALES ? p.degree : 0) + sign * (q.manner == SCALES ? q.degree : 0);
    return r.degree == 0 ? stays : r;
}

static struct change of_reduction(struct analysis *a, const struct eq_expr *e)
{
    struct change c = change_of(a, e->a);
    if (c.manner == STAYS) return c;
    if (c.manner != SCALES || e->reduce.kind != EQ_SUM) return unknown;
    for (int r = 0; r < a->rank; r++)
        for (int i = 0; i < e->reduce.var_count; i++)
            if (size_names(c.row[r], e->reduce.vars[i]->symbol)) return unknown;
    return c;
}

static struct change of_function(struct analysis *a, const struct eq_expr *e)
{
    struct change c = change_of(a, e->a);
    if (c.manner == STAYS || c.manner == UNKNOWN) return c;
    switch (e->kind) {
    case EQ_CAST: return adj_is_float(e->type) ? c : unknown;
    case EQ_NEG: c.degree *= c.manner == ADDS ? -1 : 1; return c;
    case EQ_EXP:
        if (c.manner != ADDS) return unknown;
        c.manner = SCALES;
        return c;
    case EQ_LOG:
        if (c.manner != SCALES) return unknown;
        c.manner = ADDS;
        return c;
    case EQ_SQRT:
    case EQ_RSQRT:
        if (c.manner != SCALES) return unknown;
        c.degree *= e->kind == EQ_SQRT ? 0.5 : -0.5;
        return c;
    case EQ_ABS: return c.manner == SCALES ? c : unknown;
    default: return unknown;
    }
}

static struct change change_of(struct analysis *a, const struct eq_expr *e)
{
    if (!e || e->kind < EQ_LOAD) return stays;
    switch (e->kind) {
    case EQ_LOAD: return of_load(a, e->access);
    case EQ_ADD: return alike(a, e->a, e->b, 1);
    case EQ_SUB: return alike(a, e->a, e->b, -1);
    case EQ_MUL: return of_product(a, e, 1);
    case EQ_DIV: return of_product(a, e, -1);
    case EQ_SELECT: return change_of(a, e->a).manner == STAYS ? alike(a, e->b, e->c, 0) : unknown;
    case EQ_REDUCE: return of_reduction(a, e);
    default: break;
    }
    if (!e->b) return of_function(a, e);
    return change_of(a, e->a).manner == STAYS && change_of(a, e->b).manner == STAYS ? stays : unknown;
}

/* Is the row an element of the left side, so that readers find it? */
static bool is_on_left(const struct analysis *a, const struct adj_stmt *s, const struct change *c)
{
    for (int r = 0; r < a->rank; r++) {
        bool found = false;
        for (int d = 0; d < s->target->rank; d++) found |= s->target->index[d].size == c->row[r];
        if (!found) return false;
    }
    return true;
}

/* Do all results stay where the temporary that `base` writes changes in this manner? */
static bool all_stay(struct adj_work *w, const struct adj_stmt *base, enum manner manner)
{
    struct analysis a = {.w = w, .base = base, .rank = base->target->rank};
    a.change = arena_array(w->front->mem, struct change, w->forward.count + 1);
    for (size_t i = (size_t)base->id; i < w->forward.count; i++) {
        const struct adj_stmt *s = w->forward.data[i];
        struct change c = {.manner = manner, .degree = 1};
        for (int d = 0; s == base && d < a.rank; d++) c.row[d] = base->target->index[d].size;
        if (s != base) c = change_of(&a, s->value);
        if (c.manner == UNKNOWN || (c.manner != STAYS && (s->target->formal || !is_on_left(&a, s, &c)))) return false;
        a.change[i] = c;
    }
    return true;
}

static bool holds_extreme(const struct eq_expr *e)
{
    if (!e) return false;
    if (e->kind == EQ_REDUCE && (e->reduce.kind == EQ_RED_MAX || e->reduce.kind == EQ_RED_MIN)) return true;
    return holds_extreme(e->a) || holds_extreme(e->b) || holds_extreme(e->c);
}

bool adj_is_invariant_of(struct adj_work *w, const struct adj_stmt *s)
{
    if (!s->target->temp || w->recurrences.count > 0 || !adj_is_float(s->target->temp->elem)) return false;
    if (!holds_extreme(s->value)) return false;
    return all_stay(w, s, ADDS) || all_stay(w, s, SCALES);
}
