/* coverage.c - is each `out` written as a whole?
 * Idea       the image of a left side is a box of ranges, each with a step; boxes cover a tensor where, along the first
 *            dimension, ranges that follow each other, or all residues of a step, lead from 0 to the extent, and those
 *            of each piece cover the other dimensions.  The bounds of a range may name the variable of an earlier
 *            dimension, as in a triangle: then the other dimensions are covered for each of its values.
 * Invariant  in doubt the answer is no.  All boxes that depend on a variable have it in the same index: one value of it
 *            is one place of that dimension.
 * Tests      test/lit/equations/refused.pto, edges.pto, edges-refused.pto
 */
#include "parts.h"

enum {
    MAX_BOXES = 64,
    MAX_STEPS = 5000 /* pieces looked at: many boxes may be put together in many ways */
};

/* low, low + step, ... below high. */
struct run {
    const struct size *low, *high;
    int64_t step;
};

struct box {
    struct run run[MAX_RANK];
    const struct eq_var *outer; /* named by the bounds of a later dimension; NULL: none */
    const struct size *outer_index;
    int outer_dim;
};

struct boxes {
    struct eq_work *w;
    const struct symbol *formal;
    struct box box[MAX_BOXES];
    int count;
    int *steps; /* left */
};

static bool at_most(const struct boxes *b, const struct size *x, const struct size *y)
{
    return facts_prove_order(b->w->c->facts, x, y, 0);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

static const struct size *plus(struct eq_work *w, const struct size *a, const struct size *b)
{
    return a && b ? size_binary(w->c->sizes, SIZE_ADD, a, b) : NULL;
}

/* All that digits write: v0 + c1 * v1 + ..., each digit running over all that the next one leaves. */
static bool digits_image(struct eq_work *w, const struct size *a, const struct eq_var *const *vars, int count,
                         struct run *r)
{
    const struct size *reach = size_const(w->c->sizes, 1), *low = size_const(w->c->sizes, 0), *rest = a;
    bool done[MAX_RANK] = {false};
    for (int n = 0; n < count; n++) {
        int found = -1;
        for (int i = 0; i < count && found < 0; i++) {
            const struct size *factor, *other;
            if (done[i] || !eq_split(w->c->sizes, a, vars[i], &factor, &other) || eq_names_vars(factor, vars, count))
                continue;
            if (!facts_prove_equal(w->c->facts, factor, reach)) continue;
            const struct size *span = size_sub(w->c->sizes, vars[i]->high, vars[i]->low),
                              *begin = size_binary(w->c->sizes, SIZE_MUL, factor, vars[i]->low);
            if (!eq_split(w->c->sizes, rest, vars[i], &factor, &rest)) return false;
            reach = span ? size_binary(w->c->sizes, SIZE_MUL, reach, span) : NULL;
            low = plus(w, low, begin);
            found = i;
        }
        if (found < 0 || !reach || !low) return false;
        done[found] = true;
    }
    *r = (struct run){plus(w, low, rest), plus(w, plus(w, low, rest), reach), 1};
    return r->low && r->high;
}

static bool image(struct eq_work *w, const struct size *a, const struct eq_var *const *vars, int count, struct run *r)
{
    const struct size *factor, *rest, *one = size_const(w->c->sizes, 1);
    int64_t c;
    if (count == 0) {
        *r = (struct run){a, plus(w, a, one), 1};
        return r->high != NULL;
    }
    if (count > 1) return count <= MAX_RANK && digits_image(w, a, vars, count, r);
    if (!eq_split(w->c->sizes, a, vars[0], &factor, &rest) || !size_is_const(factor, &c) || c == 0 || c == INT64_MIN)
        return false;
    const struct size *low = size_scale(w->c->sizes, vars[0]->low, c),
                      *high = size_scale(w->c->sizes, vars[0]->high, c);
    if (c < 0) { /* the last value of the variable writes the first element */
        const struct size *step = size_const(w->c->sizes, -c), *first = plus(w, high, step);
        high = plus(w, low, step);
        low = first;
    }
    *r = (struct run){plus(w, low, rest), plus(w, high, rest), c < 0 ? -c : c};
    return r->low && r->high;
}

/* The only variable that the bounds of v name, where it is alone in an earlier index; false: they name others. */
static bool find_outer(struct boxes *b, const struct eq_access *t, int dim, const struct eq_var *v, struct box *box)
{
    for (int i = 0; i < t->var_count; i++) {
        const struct eq_var *o = t->vars[i];
        const struct size *factor, *rest;
        if (!size_names(v->low, o->symbol) && !size_names(v->high, o->symbol)) continue;
        if (box->outer && box->outer != o) return false;
        if (eq_names_vars(o->low, t->vars, t->var_count) || eq_names_vars(o->high, t->vars, t->var_count)) return false;
        for (int d = 0; d < dim; d++)
            if (eq_split(b->w->c->sizes, t->index[d].size, o, &factor, &rest) &&
                factor == size_const(b->w->c->sizes, 1) && !eq_names_vars(rest, t->vars, t->var_count)) {
                box->outer = o;
                box->outer_index = t->index[d].size;
                box->outer_dim = d;
            }
        if (box->outer != o) return false;
    }
    for (int i = 0; box->outer && i < b->count; i++)
        if (b->box[i].outer && (b->box[i].outer != box->outer || b->box[i].outer_index != box->outer_index))
            return false;
    return true;
}

/* The box that the statement writes; false: it is none. */
static bool add_image(struct boxes *b, const struct eq_stmt *s)
{
    const struct eq_access *t = s->target;
    bool used[64] = {false};
    if (b->count == MAX_BOXES || t->var_count > 64) return false;
    struct box *box = &b->box[b->count];
    *box = (struct box){.outer = NULL};
    for (int d = 0; d < t->rank; d++) {
        const struct eq_var *vars[64];
        int count = 0;
        if (!t->index[d].size) return false;
        for (int i = 0; i < t->var_count; i++) {
            if (!size_names(t->index[d].size, t->vars[i]->symbol)) continue;
            if (used[i]) return false;
            used[i] = true;
            vars[count++] = t->vars[i];
            if (!find_outer(b, t, d, t->vars[i], box)) return false;
        }
        if (!image(b->w, t->index[d].size, vars, count, &box->run[d])) return false;
    }
    /* a `for` that the left side does not name must have an iteration */
    for (int i = 0; i < t->var_count; i++)
        if (!used[i] && !facts_prove_order(b->w->c->facts, t->vars[i]->low, t->vars[i]->high, 1)) return false;
    b->count++;
    return true;
}

/* ---- cover ------------------------------------------------------------------------------------------------------- */

typedef uint64_t set; /* of boxes, by their numbers */

static bool covers(const struct boxes *b, set of, int d);

/* All residues of one step, each from the beginning to the end. */
static bool covers_residues(const struct boxes *b, set of, int d)
{
    struct size_table *t = b->w->c->sizes;
    for (int i = 0; i < b->count; i++) {
        const int64_t step = b->box[i].run[d].step;
        if (!(of >> i & 1) || step < 2 || step > MAX_BOXES) continue;
        int64_t residue = 0;
        for (bool good = true; good && residue < step; residue += good) {
            set found = 0;
            for (int k = 0; k < b->count; k++) {
                const struct run *r = &b->box[k].run[d];
                const struct size *end = size_binary(t, SIZE_ADD, b->formal->type->extent[d], size_const(t, residue));
                if (of >> k & 1 && r->step == step && r->low == size_const(t, residue) && end &&
                    at_most(b, end, r->high))
                    found |= (set)1 << k;
            }
            good = found && covers(b, found, d + 1);
            if (!good) break;
        }
        if (residue == step) return true;
    }
    return false;
}

/* The later dimensions of a piece that all of these boxes have: there, variables of dimension d are in their ranges. */
static bool covers_piece(const struct boxes *b, set with, int d)
{
    struct facts *facts = b->w->c->facts;
    const size_t mark = facts_mark(facts);
    for (int i = 0; i < b->count; i++)
        if (with >> i & 1 && b->box[i].outer && b->box[i].outer_dim == d) eq_know_vars(b->w, &b->box[i].outer, 1);
    const bool is_covered = covers(b, with, d + 1);
    facts_reset(facts, mark);
    return is_covered;
}

/* From `from` on: a piece that some boxes cover, then the rest. */
static bool covers_from(const struct boxes *b, set of, int d, const struct size *from, set tried)
{
    if (at_most(b, b->formal->type->extent[d], from)) return true;
    if (--*b->steps < 0) return false;
    set here = 0;
    for (int i = 0; i < b->count; i++)
        if (of >> i & 1 && b->box[i].run[d].step == 1 && at_most(b, b->box[i].run[d].low, from)) here |= (set)1 << i;
    for (int i = 0; i < b->count; i++) {
        const struct size *end = b->box[i].run[d].high;
        set with = 0;
        if (!(here >> i & 1) || tried >> i & 1 || end == from) continue;
        for (int k = 0; k < b->count; k++)
            if (here >> k & 1 && at_most(b, end, b->box[k].run[d].high)) with |= (set)1 << k;
        if (covers_piece(b, with, d) && covers_from(b, of, d, end, tried | (set)1 << i)) return true;
    }
    return false;
}

static bool covers(const struct boxes *b, set of, int d)
{
    if (d == b->formal->type->rank) return of != 0;
    return covers_from(b, of, d, size_const(b->w->c->sizes, 0), 0) || covers_residues(b, of, d);
}

static void check_out(struct eq_work *w, const struct symbol *formal)
{
    int steps = MAX_STEPS;
    struct boxes b = {.w = w, .formal = formal, .steps = &steps};
    const struct eq_stmt *adds = NULL, *writes = NULL;
    for (size_t i = 0; i < w->stmts.count; i++) {
        const struct eq_stmt *s = w->stmts.data[i];
        if (s->target->formal != formal) continue;
        if (s->kind == EQ_PLUS) {
            adds = s;
            continue;
        }
        writes = s;
        add_image(&b, s);
    }
    if (b.count > 0 && covers(&b, b.count == MAX_BOXES ? ~(set)0 : ((set)1 << b.count) - 1, 0)) return;
    w->failed = true;
    if (writes) {
        diag_error(w->c->diag, DIAG_E07, writes->target->at,
                   "'%s' is 'out', and its statements are not seen to write all of it", formal->name);
        diag_note(w->c->diag, formal->decl->at, "it is %s", type_str(w->c, formal->type));
    } else {
        diag_error(w->c->diag, DIAG_E07, formal->decl->at, "no statement writes '%s', which is 'out'", formal->name);
    }
    if (adds) {
        diag_note(w->c->diag, adds->at, "'+=' needs the elements that it adds to");
        diag_help(w->c->diag, "declare it 'inout'");
    }
}

void eq_check_coverage(struct eq_work *w)
{
    for (int i = 0; i < w->kernel->formal_count; i++)
        if (w->kernel->formals[i]->dir == DIR_OUT && w->kernel->formals[i]->type->kind == TYPE_TENSOR)
            check_out(w, w->kernel->formals[i]);
}
