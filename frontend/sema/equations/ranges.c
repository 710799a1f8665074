/* ranges.c - over which values a variable runs, where the text does not state it.
 * Idea       the extent of each dimension that it indexes alone, which must be one; else, where it stands in c * v + r
 *            only, the extent divided by c.
 * Invariant  nothing is shortened: what is not equal is E04, what is not whole is asked for.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"

struct dimension {
    const struct size *low, *high;
    const struct eq_access *access;
    int dim;
};

static struct dimension dimension_of(struct eq_work *w, const struct eq_access *a, int d)
{
    struct dimension r = {size_const(w->c->sizes, 0), NULL, a, d};
    if (a->formal) {
        r.high = a->formal->type->extent[d];
    } else {
        r.low = a->temp->low[d];
        r.high = a->temp->high[d];
    }
    return r;
}

static const char *name_of(const struct eq_access *a) { return a->formal ? a->formal->name : a->temp->name; }

static const char *range_text(struct eq_work *w, const struct dimension *d)
{
    int64_t low;
    if (size_is_const(d->low, &low) && low == 0) return size_str(w->c, d->high);
    return arena_printf(w->c->mem, "%s .. %s", size_str(w->c, d->low), size_str(w->c, d->high));
}

static bool say_disagree(struct eq_work *w, const struct eq_var *v, const struct dimension *a,
                         const struct dimension *b)
{
    diag_error(w->c->diag, DIAG_E04, b->access->index[b->dim].at, "'%s' runs over %s of '%s' here, and over %s of '%s'",
               v->symbol->name, range_text(w, b), name_of(b->access), range_text(w, a), name_of(a->access));
    diag_note(w->c->diag, a->access->index[a->dim].at, "dimension %d of '%s' is here", a->dim, name_of(a->access));
    const struct size *written = (b->access->is_target ? b : a)->high;
    if (v->role == EQ_BOUND)
        diag_help(w->c->diag, "state the range: %s in 0 .. %s", v->symbol->name, size_str(w->c, a->high));
    else
        diag_help(w->c->diag, "state the range: for %s in 0 .. %s { ... }", v->symbol->name, size_str(w->c, written));
    w->failed = true;
    return false;
}

/* Its dimensions that v indexes alone; false: they differ. */
static bool find_alone(struct eq_work *w, struct eq_var *v, size_t first)
{
    const struct size *alone = size_symbol(w->c->sizes, v->symbol);
    struct dimension found = {0};
    for (size_t i = first; i < w->accesses.count; i++) {
        const struct eq_access *a = w->accesses.data[i];
        for (int d = 0; d < a->rank; d++) {
            if (a->index[d].size != alone || (a->temp && a->is_target)) continue;
            const struct dimension r = dimension_of(w, a, d);
            if (!r.low || !r.high) continue;
            if (found.access && (!facts_prove_equal(w->c->facts, found.low, r.low) ||
                                 !facts_prove_equal(w->c->facts, found.high, r.high)))
                return say_disagree(w, v, &found, &r);
            if (!found.access) found = r;
        }
    }
    v->low = found.low;
    v->high = found.high;
    return true;
}

/* high / c, where that is whole. */
static const struct size *divided(struct eq_work *w, const struct size *high, int64_t c)
{
    const struct size *by = size_const(w->c->sizes, c), *quotient = size_binary(w->c->sizes, SIZE_DIV, high, by);
    const struct size *back = quotient ? size_binary(w->c->sizes, SIZE_MUL, quotient, by) : NULL;
    return back == high ? quotient : NULL;
}

static bool find_scaled(struct eq_work *w, struct eq_var *v, size_t first)
{
    struct dimension found = {0};
    for (size_t i = first; i < w->accesses.count; i++) {
        const struct eq_access *a = w->accesses.data[i];
        for (int d = 0; d < a->rank; d++) {
            const struct size *factor, *rest, *s = a->index[d].size;
            int64_t c;
            if (!s || !size_names(s, v->symbol) || (a->temp && a->is_target)) continue;
            if (!eq_split(w->c->sizes, s, v, &factor, &rest) || !size_is_const(factor, &c) || c < 1) return true;
            if (eq_names_vars(rest, a->vars, a->var_count)) return true;
            struct dimension r = dimension_of(w, a, d);
            int64_t low;
            if (!r.low || !r.high || !size_is_const(r.low, &low) || low != 0) return true;
            if (!(r.high = divided(w, r.high, c))) return true;
            if (found.access && !facts_prove_equal(w->c->facts, found.high, r.high))
                return say_disagree(w, v, &found, &r);
            found = r;
        }
    }
    v->low = found.low;
    v->high = found.high;
    return true;
}

bool eq_find_ranges(struct eq_work *w, size_t first_access, size_t first_var)
{
    bool good = true;
    for (size_t i = first_var; i < w->vars.count; i++) {
        struct eq_var *v = w->vars.data[i];
        if (v->low) continue;
        if (!find_alone(w, v, first_access) || (!v->low && !find_scaled(w, v, first_access))) {
            good = false;
        } else if (!v->low) {
            diag_error(w->c->diag, DIAG_E19, v->at, "no extent says over what '%s' runs", v->symbol->name);
            if (v->role == EQ_BOUND)
                diag_help(w->c->diag, "state it: %s in 0 .. n", v->symbol->name);
            else
                diag_help(w->c->diag, "state it: for %s in 0 .. n { ... }", v->symbol->name);
            good = false;
        }
    }
    if (!good) w->failed = true;
    return good;
}
