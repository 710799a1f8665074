/* adjoint_simplify.c - conditions that always hold where they stand.
 * Idea       one walk over a value, which remembers the ranges of the variables and the conditions around: a comparison
 *            that follows from them goes away, and so does a select of which only one arm can be chosen.
 * Invariant  what is read stays under conditions from which the checker proves its bounds: it knows the same facts.
 * Tests      test/lit/grad/adjoint-text.pto
 */
#include "adjoint_parts.h"

enum { MOST_KNOWN = 64 };

struct simplifying {
    struct adj_work *w;
    const struct eq_expr *known[MOST_KNOWN]; /* conditions that hold here */
    int count;
};

static const struct eq_expr *simplify(struct simplifying *s, const struct eq_expr *e);

static const struct size *size_in(const struct adj_work *w, const struct eq_expr *e)
{
    if (e->kind == EQ_SIZE) return e->size;
    return e->kind == EQ_INT && e->type == ELEM_I64 ? size_const(w->sizes, e->integer) : NULL;
}

static void know_order(struct adj_work *w, const struct eq_expr *e)
{
    const bool compares = e->kind >= EQ_EQ && e->kind <= EQ_GE;
    const struct size *a = compares ? size_in(w, e->a) : NULL, *b = compares ? size_in(w, e->b) : NULL;
    if (!a || !b) return;
    switch (e->kind) {
    case EQ_EQ: facts_add_equal(w->facts, a, b); break;
    case EQ_LT: facts_add_order(w->facts, a, b, 1); break;
    case EQ_LE: facts_add_order(w->facts, a, b, 0); break;
    case EQ_GT: facts_add_order(w->facts, b, a, 1); break;
    case EQ_GE: facts_add_order(w->facts, b, a, 0); break;
    default: break;
    }
}

static void know(struct simplifying *s, const struct eq_expr *c)
{
    if (c->kind == EQ_AND) {
        know(s, c->a);
        know(s, c->b);
        return;
    }
    know_order(s->w, c);
    if (s->count < MOST_KNOWN) s->known[s->count++] = c;
}

/* The condition without what is known. */
static const struct eq_expr *open_condition(struct simplifying *s, const struct eq_expr *c)
{
    struct adj_work *w = s->w;
    if (c->kind == EQ_AND) {
        const int outer = s->count;
        const size_t mark = facts_mark(w->facts);
        const struct eq_expr *a = open_condition(s, c->a);
        know(s, a);
        const struct eq_expr *b = open_condition(s, c->b);
        s->count = outer;
        facts_reset(w->facts, mark);
        return adj_and(w, a, b);
    }
    for (int i = 0; i < s->count; i++) {
        if (adj_is_equal(s->known[i], c)) return adj_truth(w, true);
        if (adj_is_equal(s->known[i], adj_not(w, c))) return adj_truth(w, false);
    }
    return simplify(s, c);
}

static const struct eq_expr *arm(struct simplifying *s, const struct eq_expr *c, const struct eq_expr *e)
{
    const int outer = s->count;
    const size_t mark = facts_mark(s->w->facts);
    know(s, c);
    e = simplify(s, e);
    s->count = outer;
    facts_reset(s->w->facts, mark);
    return e;
}

static const struct eq_access *simplify_access(struct simplifying *s, const struct eq_access *a)
{
    struct eq_access *to = arena_new(s->w->front->mem, struct eq_access);
    *to = *a;
    for (int d = 0; d < a->rank; d++)
        if (a->index[d].expr) to->index[d].expr = simplify(s, a->index[d].expr);
    return to;
}

static const struct eq_expr *simplify_parts(struct simplifying *s, const struct eq_expr *e)
{
    struct eq_expr *to = arena_new(s->w->front->mem, struct eq_expr);
    const size_t mark = facts_mark(s->w->facts);
    *to = *e;
    for (int i = 0; e->kind == EQ_REDUCE && i < e->reduce.var_count; i++) adj_know_var(s->w, e->reduce.vars[i]);
    if (e->kind == EQ_LOAD) to->access = simplify_access(s, e->access);
    to->a = e->a ? simplify(s, e->a) : NULL;
    to->b = e->b ? simplify(s, e->b) : NULL;
    to->c = e->c ? simplify(s, e->c) : NULL;
    facts_reset(s->w->facts, mark);
    return to;
}

static const struct eq_expr *simplify(struct simplifying *s, const struct eq_expr *e)
{
    struct adj_work *w = s->w;
    if (e->kind < EQ_LOAD) return e;
    if (e->kind == EQ_SELECT) {
        const struct eq_expr *c = open_condition(s, e->a);
        return adj_select(w, c, arm(s, c, e->b), arm(s, adj_not(w, c), e->c));
    }
    if (e->kind == EQ_AND) return open_condition(s, e);
    const bool compares = e->kind >= EQ_EQ && e->kind <= EQ_GE;
    const struct size *a = compares ? size_in(w, e->a) : NULL, *b = compares ? size_in(w, e->b) : NULL;
    return a && b ? adj_compare(w, e->kind, a, b) : simplify_parts(s, e);
}

void adj_simplify(struct adj_work *w, struct adj_stmt *stmt)
{
    struct simplifying s = {.w = w};
    const size_t mark = facts_mark(w->facts);
    for (int i = 0; i < stmt->var_count; i++) adj_know_var(w, stmt->var[i]);
    stmt->value = simplify(&s, stmt->value);
    facts_reset(w->facts, mark);
}
