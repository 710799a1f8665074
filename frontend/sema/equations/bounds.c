/* bounds.c - the fate of each index: proved, wrong, tested by the caller, or tested in the kernel.
 * Idea       an index that is a size is proved from the ranges of its variables, `where`, and the conditions of the
 *            selects around it.  What is affine and not proved is tested at its corners, which name nothing but
 *            dimension variables and scalars, so that the caller can do it.  A place that argmax or argmin gives is
 *            in their range.
 *            A condition that holds at the corner makes the test exact; where that is not known, the kernel tests each
 *            element under the condition.
 * Invariant  PROVED is never wrong; a demand is no weaker than the index that it is of, and refuses no call that reads
 *            nothing outside, but under a condition that depends on what the kernel writes.
 * Tests      test/lit/equations/refused.pto, chosen.pto, test/lit/run/index-chosen.pto
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

/* Sizes are computed modulo 2^64, and proofs are about numbers without a limit.  May the two differ?  Where there is a
 * scalar, or a huge constant: extents and variables alone make no such large numbers. */
static bool may_overflow(const struct size *a)
{
    if (a->kind == SIZE_CONST) return a->value > INT32_MAX || a->value < INT32_MIN;
    if (a->kind == SIZE_SYMBOL) return a->symbol->kind != SYM_DIM && a->symbol->kind != SYM_LOOP;
    for (int i = 0; i < a->count; i++)
        if (may_overflow(a->arg[i])) return true;
    return false;
}

static bool is_plain(const struct size *a) { return a->kind == SIZE_SYMBOL || a->kind == SIZE_CONST; }

/* The size where it is least and where it is largest; false: that is not known. */
static bool find_reach(struct eq_work *w, const struct eq_access *a, const struct size *size,
                       const struct size *reach[2])
{
    const size_t mark = facts_mark(w->c->facts);
    eq_know_vars(w, a->vars, a->var_count);
    for (int i = 0; i < 2; i++) reach[i] = eq_corner(w->c, size, a->vars, a->var_count, i == 1, NULL);
    facts_reset(w->c->facts, mark);
    return reach[0] && reach[1];
}

/* Is a side of a comparison no more than it seems to be, or can the caller test that? */
static bool is_believed(struct eq_work *w, const struct eq_access *a, const struct size *side)
{
    const struct size *reach[2];
    if (is_plain(side) || find_reach(w, a, side, reach)) return true;
    for (int i = 0; i < a->var_count; i++)
        if (size_names(side, a->vars[i]->symbol) && (may_overflow(a->vars[i]->low) || may_overflow(a->vars[i]->high)))
            return false;
    return !may_overflow(side);
}

/* The sides of a comparison of two sizes in a condition. */
static bool find_sides(const struct eq_work *w, const struct eq_expr *e, const struct size **a, const struct size **b)
{
    return e->kind >= EQ_EQ && e->kind <= EQ_GE && (*a = size_in(w, e->a)) && (*b = size_in(w, e->b));
}

static void know_condition(struct eq_work *w, const struct eq_access *at, const struct eq_expr *e, bool truth)
{
    struct facts *f = w->c->facts;
    const struct size *a, *b;
    if (e->kind == EQ_NOT) {
        know_condition(w, at, e->a, !truth);
    } else if (e->kind == (truth ? EQ_AND : EQ_OR)) {
        know_condition(w, at, e->a, truth);
        know_condition(w, at, e->b, truth);
    } else if (find_sides(w, e, &a, &b) && is_believed(w, at, a) && is_believed(w, at, b)) {
        switch (truth ? e->kind : equations_opposite(e->kind)) {
        case EQ_EQ: facts_add_equal(f, a, b); break;
        case EQ_LT: facts_add_order(f, a, b, 1); break;
        case EQ_LE: facts_add_order(f, a, b, 0); break;
        case EQ_GT: facts_add_order(f, b, a, 1); break;
        case EQ_GE: facts_add_order(f, b, a, 0); break;
        default: facts_add_apart(f, a, b);
        }
    }
}

/* The outer ones first: they say on which side of a value the variables of an inner one lie. */
static void know_guard(struct eq_work *w, const struct eq_access *a, const struct eq_guard *g)
{
    if (g->outer) know_guard(w, a, g->outer);
    know_condition(w, a, g->cond, g->truth);
}

void eq_know_guards(struct eq_work *w, const struct eq_access *a)
{
    if (a->guard) know_guard(w, a, a->guard);
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
                          const struct size *extent, bool is_guarded)
{
    struct facts *f = w->c->facts;
    const size_t mark = facts_mark(f);
    eq_know_vars(w, a->vars, a->var_count);
    if (is_guarded) eq_know_guards(w, a);
    const struct sides s = {facts_prove(f, index), facts_prove_order(f, index, extent, 1)};
    facts_reset(f, mark);
    return s;
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

/* The values of the variables with which an index is least, or largest. */
struct corner {
    const struct size *index;          /* that value of it, without variables; NULL: not known */
    const struct symbol *const *names; /* of all variables, outermost first */
    const struct size *const *values;
};

static struct corner find_corner(struct eq_work *w, const struct eq_access *a, const struct size *index, bool largest)
{
    const int count = a->var_count;
    const struct symbol **names = arena_array(w->c->mem, const struct symbol *, count + 1);
    const struct size **values = arena_array(w->c->mem, const struct size *, count + 1);
    struct corner x = {.names = names, .values = values};
    const size_t mark = facts_mark(w->c->facts);
    eq_know_vars(w, a->vars, count);
    x.index = eq_corner(w->c, index, a->vars, count, largest, values);
    facts_reset(w->c->facts, mark);
    for (int i = 0; i < count && x.index; i++) { /* one that the index does not name has any value */
        names[i] = a->vars[i]->symbol;
        values[i] = size_substitute(w->c->sizes, values[i] ? values[i] : a->vars[i]->low, names, values, i);
        if (!values[i]) x.index = NULL;
    }
    return x;
}

static const struct size *at_corner(struct eq_work *w, const struct corner *x, const struct size *s, int count)
{
    return size_substitute(w->c->sizes, s, x->names, x->values, count);
}

/* Is the condition surely `truth` there? */
static bool holds_at(struct eq_work *w, const struct eq_access *at, const struct corner *x, const struct eq_expr *e,
                     bool truth)
{
    struct facts *f = w->c->facts;
    const struct size *a, *b;
    if (e->kind == EQ_NOT) return holds_at(w, at, x, e->a, !truth);
    if (e->kind == EQ_AND || e->kind == EQ_OR) {
        const bool first = holds_at(w, at, x, e->a, truth), needs_both = truth == (e->kind == EQ_AND);
        return first != needs_both ? first : holds_at(w, at, x, e->b, truth);
    }
    if (!find_sides(w, e, &a, &b)) return false;
    a = at_corner(w, x, a, at->var_count);
    b = at_corner(w, x, b, at->var_count);
    if (!a || !b) return false;
    switch (truth ? e->kind : equations_opposite(e->kind)) {
    case EQ_EQ: return facts_prove_equal(f, a, b);
    case EQ_LT: return facts_prove_order(f, a, b, 1);
    case EQ_LE: return facts_prove_order(f, a, b, 0);
    case EQ_GT: return facts_prove_order(f, b, a, 1);
    case EQ_GE: return facts_prove_order(f, b, a, 0);
    default: return facts_prove_order(f, a, b, 1) || facts_prove_order(f, b, a, 1);
    }
}

/* Is the access surely made at the corner: in all ranges, and chosen by the selects around it? */
static bool is_reached(struct eq_work *w, const struct eq_access *a, const struct corner *x)
{
    for (int i = 0; i < a->var_count; i++) {
        const struct size *low = at_corner(w, x, a->vars[i]->low, i), *high = at_corner(w, x, a->vars[i]->high, i);
        if (!low || !high || !facts_prove_order(w->c->facts, low, x->values[i], 0) ||
            !facts_prove_order(w->c->facts, x->values[i], high, 1))
            return false;
    }
    for (const struct eq_guard *g = a->guard; g; g = g->outer)
        if (!holds_at(w, a, x, g->cond, g->truth)) return false;
    return true;
}

/* ---- wrong ------------------------------------------------------------------------------------------------------- */

/* Adds that all extents are at least 2; false: `where` says that they are smaller. */
static bool know_extents(struct eq_work *w)
{
    const struct symbol *k = w->kernel;
    const struct size *two = size_const(w->c->sizes, 2);
    for (int i = 0; i < k->dim_count; i++) facts_add_order(w->c->facts, two, size_symbol(w->c->sizes, k->dims[i]), 0);
    return !facts_contradict(w->c->facts);
}

/* What the index reaches that is outside, for all extents of at least 2 and all scalars; NULL: nothing.  The sides that
 * are proved are not asked for. */
static const struct size *find_outside(struct eq_work *w, const struct eq_access *a, const struct size *index,
                                       const struct size *extent, const struct sides *proved)
{
    struct facts *f = w->c->facts;
    const struct size *outside = NULL;
    int64_t at, end;
    if (size_is_const(index, &at) && size_is_const(extent, &end) && (at < 0 || at >= end)) return index;
    const size_t mark = facts_mark(f);
    for (int largest = know_extents(w) ? 1 : -1; largest >= 0 && !outside; largest--) {
        const struct corner x = find_corner(w, a, index, largest);
        if (x.index &&
            ((!proved->high && facts_prove_order(f, extent, x.index, 0)) ||
             (!proved->low && facts_prove_order(f, x.index, size_const(w->c->sizes, -1), 0))) &&
            is_reached(w, a, &x))
            outside = x.index;
    }
    facts_reset(f, mark);
    return outside;
}

/* E05 where the index is outside, whatever the call is. */
static bool is_wrong(struct eq_work *w, const struct eq_access *a, int d, const struct size *index,
                     const struct size *extent, const struct sides *proved)
{
    const struct size *reach = find_outside(w, a, index, extent, proved);
    if (!reach) return false;
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

/* Does a condition around the access depend on what the kernel writes? */
static bool is_chosen_late(const struct eq_work *w, const struct eq_access *a, const struct eq_access **by)
{
    for (const struct eq_guard *g = a->guard; g; g = g->outer)
        if (is_tainted(w, g->cond, by)) return true;
    return false;
}

static void check_here(struct eq_work *w, const struct eq_access *a, struct eq_index *index)
{
    const struct eq_access *by = NULL;
    const bool depends = is_tainted(w, index->expr, &by);
    index->fate = EQ_CHECKED_HERE;
    index->needs_guard = a->guard != NULL;
    w->out->may_fail = true;
    if (!depends && !is_chosen_late(w, a, &by)) return;
    diag_error(w->c->diag, DIAG_E19, index->at,
               "%s depends on '%s', but it is checked before the kernel writes anything",
               depends ? "this index" : "the condition of this index", name_of(by));
    if (by->temp)
        diag_note(w->c->diag, by->temp->at, "its value is known only while the kernel writes");
    else
        diag_note(w->c->diag, by->formal->decl->at, "the kernel writes '%s'", by->formal->name);
    w->failed = true;
}

static bool has_fixed_range(const struct eq_access *a, const struct eq_var *v)
{
    return !eq_names_vars(v->low, a->vars, a->var_count) && !eq_names_vars(v->high, a->vars, a->var_count);
}

/* Is the access made for all values in ranges that do not depend on each other? */
static bool is_made_in_box(const struct eq_access *a)
{
    for (int i = 0; i < a->var_count; i++)
        if (!has_fixed_range(a, a->vars[i])) return false;
    return !a->guard;
}

/* The ranges that must have a value for the access to be made, those that say so by themselves. */
static const struct guard *needs_ranges(struct eq_work *w, const struct eq_access *a)
{
    const struct guard *list = NULL;
    for (int i = a->var_count - 1; i >= 0; i--) {
        const struct eq_var *v = a->vars[i];
        if (!has_fixed_range(a, v)) continue;
        struct guard *g = arena_new(w->c->mem, struct guard);
        *g = (struct guard){v->low, v->high, list};
        list = g;
    }
    return list;
}

static bool is_demanded(const struct eq_work *w, const struct eq_demand *d)
{
    for (const struct eq_demand *o = w->out->demands; o; o = o->next)
        if (o->index == d->index && o->extent == d->extent && o->is_low == d->is_low && o->is_alone == d->is_alone) {
            const struct guard *x = o->guard, *y = d->guard;
            while (x && y && x->least == y->least && x->most == y->most) x = x->next, y = y->next;
            if (!x && !y) return true;
        }
    return false;
}

static void add_demand(struct eq_work *w, struct eq_demand *n)
{
    if (!n || is_demanded(w, n)) return;
    const struct eq_demand **end = &w->out->demands;
    while (*end) end = (const struct eq_demand **)(uintptr_t) & (*end)->next;
    *end = n;
}

/* Is the element at the corner accessed in each call in which the index is outside there, and there is an element in
 * each of the ranges?  Then no call is refused that would read nothing outside. */
static bool is_exact(struct eq_work *w, const struct eq_demand *d, const struct corner *x)
{
    if (is_made_in_box(d->access)) return true;
    struct facts *f = w->c->facts;
    const size_t mark = facts_mark(f);
    for (const struct guard *g = d->guard; g; g = g->next) facts_add_order(f, g->least, g->most, 1);
    if (d->is_low)
        facts_add_order(f, d->index, size_const(w->c->sizes, -1), 0);
    else
        facts_add_order(f, d->extent, d->index, 0);
    const bool exact = is_reached(w, d->access, x);
    facts_reset(f, mark);
    return exact;
}

/* A test of one side for the caller; NULL: it would have to know more than the corner. */
static struct eq_demand *demand(struct eq_work *w, const struct eq_access *a, int d, bool is_low, bool must_be_exact)
{
    const struct corner x = find_corner(w, a, a->index[d].size, !is_low);
    if (!x.index) return NULL;
    struct eq_demand *n = arena_new(w->c->mem, struct eq_demand);
    *n = (struct eq_demand){x.index, extent_of(a, d), is_low, !is_made_in_box(a), needs_ranges(w, a), a, d, NULL};
    return !must_be_exact || is_exact(w, n, &x) ? n : NULL;
}

/* The caller tests that the size fits in 64 bits wherever the access may be made. */
static void demand_fit(struct eq_work *w, const struct eq_access *a, int d, const struct size *size)
{
    const struct size *reach[2];
    if (is_plain(size) || !find_reach(w, a, size, reach)) return;
    for (int i = 0; i < 2; i++) {
        if (is_plain(reach[i]) || !may_overflow(reach[i])) continue;
        struct eq_demand *n = arena_new(w->c->mem, struct eq_demand);
        *n = (struct eq_demand){reach[i], size_const(w->c->sizes, INT64_MAX), false, true, needs_ranges(w, a), a, d,
                                NULL};
        add_demand(w, n);
    }
}

static void demand_fits(struct eq_work *w, const struct eq_access *a, int d, const struct eq_expr *e)
{
    const struct size *sides[2];
    if (e->kind == EQ_NOT || e->kind == EQ_AND || e->kind == EQ_OR) {
        demand_fits(w, a, d, e->a);
        if (e->b) demand_fits(w, a, d, e->b);
    } else if (find_sides(w, e, &sides[0], &sides[1])) {
        for (int i = 0; i < 2; i++) demand_fit(w, a, d, sides[i]);
    }
}

/* Of an affine index, each side that is not proved is tested by the caller, where that refuses no call that is right;
 * else the kernel tests each element, if one of the corners is outside. */
static void test(struct eq_work *w, struct eq_access *a, int d, const struct sides *proved)
{
    const struct eq_access *by;
    struct eq_index *index = &a->index[d];
    const bool is_late = is_chosen_late(w, a, &by); /* then the kernel cannot, and the condition does not count */
    if (!index->is_affine) {
        check_here(w, a, index);
        return;
    }
    struct eq_demand *low = proved->low ? NULL : demand(w, a, d, true, !is_late),
                     *high = proved->high ? NULL : demand(w, a, d, false, !is_late);
    if ((proved->low || low) && (proved->high || high)) {
        index->fate = EQ_CHECKED_AT_CALL;
        add_demand(w, low);
        add_demand(w, high);
        return;
    }
    check_here(w, a, index);
    const struct size *reach[2];
    if (is_made_in_box(a) || !find_reach(w, a, index->size, reach)) return;
    if (!proved->low) index->least = reach[0];
    if (!proved->high) index->largest = reach[1];
    demand_fit(w, a, d, index->size);
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

/* Does a condition of constants leave the access out of each call? */
static bool is_left_out(const struct eq_access *a)
{
    for (const struct eq_guard *g = a->guard; g; g = g->outer)
        if (eq_decided(g->cond) == !g->truth) return true;
    return false;
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
    if (is_left_out(a)) {
        index->needs_guard = true;
        return;
    }
    const struct sides s = prove(w, a, index->size, extent, true),
                       bare = a->guard ? prove(w, a, index->size, extent, false) : s;
    if (!(s.low && s.high) && is_wrong(w, a, d, index->size, extent, &s)) return;
    index->needs_guard = s.low != bare.low || s.high != bare.high;
    if (!s.low || !s.high) test(w, a, d, &s);
    for (const struct eq_guard *g = index->needs_guard ? a->guard : NULL; g; g = g->outer)
        demand_fits(w, a, d, g->cond);
}

void eq_check_bounds(struct eq_work *w, struct eq_access *a)
{
    for (int d = 0; d < a->rank; d++) decide(w, a, d);
}
