/* bounds.c - the fate of each index: proved, wrong, tested by the caller, or tested in the kernel.
 * Idea       an index that is a size is proved from the ranges of its variables, `where`, and the conditions of the
 *            selects around it.  What is affine and not proved is tested at its corners, which name nothing but
 *            dimension variables and scalars, so that the caller can do it.  A place that argmax or argmin gives is
 *            in their range.
 * Invariant  PROVED is never wrong; a demand is no weaker than the index it stands for.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"

/* ---- what is known ----------------------------------------------------------------------------------------------- */

void eq_know_kernel(struct eq_work *w)
{
    const struct symbol *k = w->kernel;
    for (int i = 0; i < k->dim_count; i++) facts_add(w->c->facts, size_symbol(w->c->sizes, k->dims[i]));
    for (int i = 0; i < k->formal_count; i++)
        for (int d = 0; k->formals[i]->type->kind == TYPE_TENSOR && d < k->formals[i]->type->rank; d++)
            facts_add(w->c->facts, k->formals[i]->type->extent[d]);
    for (const struct ast *c = k->decl->kernel->where; c; c = c->next) facts_add_condition(w->c->facts, c, true);
}

void eq_know_vars(struct eq_work *w, const struct eq_var *const *vars, int count)
{
    for (int i = 0; i < count; i++) {
        const struct size *v = size_symbol(w->c->sizes, vars[i]->symbol);
        if (vars[i]->low) facts_add_order(w->c->facts, vars[i]->low, v, 0);
        if (vars[i]->high) facts_add_order(w->c->facts, v, vars[i]->high, 1);
    }
}

static const struct size *size_in(const struct eq_work *w, const struct eq_expr *e)
{
    if (e->kind == EQ_SIZE) return e->size;
    return e->kind == EQ_INT && e->type == ELEM_I64 ? size_const(w->c->sizes, e->integer) : NULL;
}

static enum eq_kind opposite(enum eq_kind op)
{
    switch (op) {
    case EQ_EQ: return EQ_NE;
    case EQ_NE: return EQ_EQ;
    case EQ_LT: return EQ_GE;
    case EQ_GE: return EQ_LT;
    case EQ_GT: return EQ_LE;
    default: return EQ_GT;
    }
}

static void know_condition(struct eq_work *w, const struct eq_expr *e, bool truth)
{
    struct facts *f = w->c->facts;
    if (e->kind == EQ_NOT) {
        know_condition(w, e->a, !truth);
    } else if (e->kind == (truth ? EQ_AND : EQ_OR)) {
        know_condition(w, e->a, truth);
        know_condition(w, e->b, truth);
    } else if (e->kind >= EQ_EQ && e->kind <= EQ_GE) {
        const struct size *a = size_in(w, e->a), *b = size_in(w, e->b);
        if (!a || !b) return;
        switch (truth ? e->kind : opposite(e->kind)) {
        case EQ_EQ: facts_add_equal(f, a, b); break;
        case EQ_LT: facts_add_order(f, a, b, 1); break;
        case EQ_LE: facts_add_order(f, a, b, 0); break;
        case EQ_GT: facts_add_order(f, b, a, 1); break;
        case EQ_GE: facts_add_order(f, b, a, 0); break;
        default: facts_add_apart(f, a, b);
        }
    }
}

void eq_know_guards(struct eq_work *w, const struct eq_guard *g)
{
    for (; g; g = g->outer) know_condition(w, g->cond, g->truth);
}

/* ---- proofs ------------------------------------------------------------------------------------------------------ */

static const char *name_of(const struct eq_access *a) { return a->formal ? a->formal->name : a->temp->name; }

static const struct size *extent_of(const struct eq_access *a, int d)
{
    return a->formal ? a->formal->type->extent[d] : a->temp->extent[d];
}

struct sides {
    bool low, high;
};

static struct sides prove(struct eq_work *w, const struct eq_access *a, const struct size *index,
                          const struct size *extent, const struct eq_guard *guard)
{
    struct facts *f = w->c->facts;
    const size_t mark = facts_mark(f);
    eq_know_vars(w, a->vars, a->var_count);
    eq_know_guards(w, guard);
    const struct sides s = {facts_prove(f, index), facts_prove_order(f, index, extent, 1)};
    facts_reset(f, mark);
    return s;
}

/* Do all variables have a value, for all extents of at least 2 and whatever values those before them have?  Then a
 * corner is reached.  Adds what that is. */
static bool runs(struct eq_work *w, const struct eq_access *a)
{
    const struct symbol *k = w->kernel;
    const struct size *two = size_const(w->c->sizes, 2);
    for (int i = 0; i < k->dim_count; i++) facts_add_order(w->c->facts, two, size_symbol(w->c->sizes, k->dims[i]), 0);
    if (facts_contradict(w->c->facts)) return false; /* `where` says that they are smaller */
    for (int i = 0; i < a->var_count; i++) {
        if (!facts_prove_order(w->c->facts, a->vars[i]->low, a->vars[i]->high, 1)) return false;
        eq_know_vars(w, &a->vars[i], 1);
    }
    return true;
}

/* E05 where the index is outside for all extents of at least 2; the sides that are proved are not asked for.  What a
 * condition does not prove, every call would refuse: it is no excuse. */
static bool is_wrong(struct eq_work *w, const struct eq_access *a, int d, const struct size *index,
                     const struct size *extent, const struct sides *proved)
{
    struct facts *f = w->c->facts;
    const size_t mark = facts_mark(f);
    int64_t at, end;
    const bool is_const = size_is_const(index, &at) && size_is_const(extent, &end) && (at < 0 || at >= end);
    bool wrong = is_const;
    const struct size *reach = index;
    if (!wrong && runs(w, a)) {
        const struct size *least = eq_corner(w->c, index, a->vars, a->var_count, false),
                          *most = eq_corner(w->c, index, a->vars, a->var_count, true);
        if (most && !proved->high && facts_prove_order(f, extent, most, 0))
            wrong = true, reach = most;
        else if (least && !proved->low && facts_prove_order(f, least, size_const(w->c->sizes, -1), 0))
            wrong = true, reach = least;
    }
    facts_reset(f, mark);
    if (!wrong) return false;
    diag_error(w->c->diag, DIAG_E05, a->index[d].at, "index %d of '%s' reaches %s, the extent is %s", d, name_of(a),
               size_str(w->c, reach), size_str(w->c, extent));
    if (a->formal) diag_note(w->c->diag, a->formal->decl->at, "'%s' is declared here", a->formal->name);
    w->failed = true;
    return true;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* An index that the kernel tests is known before the kernel writes anything. */
static bool is_tainted(const struct eq_work *w, const struct eq_expr *e, const struct eq_access **by)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD) {
        const struct eq_access *a = *by = e->access;
        if (a->temp ? a->temp->is_tainted : eq_is_written(w, a->formal)) return true;
        for (int d = 0; d < a->rank; d++)
            if (is_tainted(w, a->index[d].expr, by)) return true;
    }
    return is_tainted(w, e->a, by) || is_tainted(w, e->b, by) || is_tainted(w, e->c, by);
}

static void check_here(struct eq_work *w, const struct eq_access *a, struct eq_index *index)
{
    const struct eq_access *by = NULL;
    const bool depends = is_tainted(w, index->expr, &by);
    bool is_chosen_late = false;
    for (const struct eq_guard *g = a->guard; g && !depends && !is_chosen_late; g = g->outer)
        is_chosen_late = is_tainted(w, g->cond, &by);
    index->fate = EQ_CHECKED_HERE;
    w->out->may_fail = true;
    if (!depends && !is_chosen_late) return;
    diag_error(w->c->diag, DIAG_E19, index->at,
               "%s depends on '%s', but it is checked before the kernel writes anything",
               depends ? "this index" : "the condition of this index", name_of(by));
    if (by->temp)
        diag_note(w->c->diag, by->temp->at, "its value is known only while the kernel writes");
    else
        diag_note(w->c->diag, by->formal->decl->at, "the kernel writes '%s'", by->formal->name);
    w->failed = true;
}

/* The ranges that must have a value for the access to be made, those that say so by themselves. */
static const struct guard *needs_ranges(struct eq_work *w, const struct eq_access *a)
{
    const struct guard *list = NULL;
    for (int i = a->var_count - 1; i >= 0; i--) {
        const struct eq_var *v = a->vars[i];
        if (eq_names_vars(v->low, a->vars, a->var_count) || eq_names_vars(v->high, a->vars, a->var_count)) continue;
        struct guard *g = arena_new(w->c->mem, struct guard);
        *g = (struct guard){v->low, v->high, list};
        list = g;
    }
    return list;
}

static bool is_demanded(const struct eq_work *w, const struct eq_demand *d)
{
    for (const struct eq_demand *o = w->out->demands; o; o = o->next)
        if (o->index == d->index && o->extent == d->extent && o->is_low == d->is_low) {
            const struct guard *x = o->guard, *y = d->guard;
            while (x && y && x->least == y->least && x->most == y->most) x = x->next, y = y->next;
            if (!x && !y) return true;
        }
    return false;
}

static bool demand(struct eq_work *w, const struct eq_access *a, int d, const struct size *index,
                   const struct size *extent, bool is_low)
{
    const size_t mark = facts_mark(w->c->facts);
    eq_know_vars(w, a->vars, a->var_count);
    const struct size *corner = eq_corner(w->c, index, a->vars, a->var_count, !is_low);
    facts_reset(w->c->facts, mark);
    if (!corner) return false;
    struct eq_demand *n = arena_new(w->c->mem, struct eq_demand);
    *n = (struct eq_demand){corner, extent, is_low, needs_ranges(w, a), a, d, NULL};
    if (is_demanded(w, n)) return true;
    const struct eq_demand **end = &w->out->demands;
    while (*end) end = (const struct eq_demand **)(uintptr_t) & (*end)->next;
    *end = n;
    return true;
}

/* The range that an index is a place in, by argmax or argmin; NULL: it is no such place. */
static const struct eq_var *range_of_place(const struct eq_work *w, const struct eq_expr *e)
{
    if (e->kind == EQ_REDUCE && (e->reduce.kind == EQ_ARGMAX || e->reduce.kind == EQ_ARGMIN)) return e->reduce.vars[0];
    if (e->kind != EQ_LOAD || !e->access->temp) return NULL;
    for (size_t i = 0; i < w->stmts.count; i++) {
        const struct eq_stmt *s = w->stmts.data[i];
        if (s->kind == EQ_LET && s->target->temp == e->access->temp) return range_of_place(w, s->value);
    }
    return NULL;
}

/* Over nothing there is no place: then the task fails only in the end. */
static bool is_place_within(struct eq_work *w, const struct eq_expr *e, const struct size *extent)
{
    struct facts *facts = w->c->facts;
    const struct eq_var *v = range_of_place(w, e);
    return v && facts_prove(facts, v->low) && facts_prove_order(facts, v->high, extent, 0) &&
           facts_prove_order(facts, v->low, v->high, 1);
}

static void decide(struct eq_work *w, struct eq_access *a, int d)
{
    struct eq_index *index = &a->index[d];
    const struct size *extent = extent_of(a, d);
    if (!index->size) {
        if (!is_place_within(w, index->expr, extent)) check_here(w, a, index);
        return;
    }
    if (a->temp && !(index->size = size_sub(w->c->sizes, index->size, a->temp->low[d]))) {
        w->failed = true;
        return;
    }
    index->is_affine = eq_is_affine(w->c, index->size, a->vars, a->var_count);
    const struct sides s = prove(w, a, index->size, extent, a->guard);
    if (s.low && s.high) {
        const struct sides bare = a->guard ? prove(w, a, index->size, extent, NULL) : s;
        index->needs_guard = !bare.low || !bare.high;
        return;
    }
    if (is_wrong(w, a, d, index->size, extent, &s)) return;
    index->fate = EQ_CHECKED_AT_CALL;
    const bool good = index->is_affine && (s.low || demand(w, a, d, index->size, extent, true)) &&
                      (s.high || demand(w, a, d, index->size, extent, false));
    if (!good) check_here(w, a, index);
}

void eq_check_bounds(struct eq_work *w, struct eq_access *a)
{
    for (int d = 0; d < a->rank; d++) decide(w, a, d);
}
