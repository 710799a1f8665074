/* adjoint_forward.c - the statements of the kernel itself, in the form that its adjoint is made from.
 * Idea       every variable of a statement is in one list; a temporary that belongs to one iteration of a `for` gets
 *            the variables of that `for` as its first dimensions.  Then no statement depends on how often another ran,
 *            and the kernel is a list of equations that hold all at once.
 * Invariant  where iterations hand values on, these are elements of an `out` that are written once, and hold at the end
 *            of the kernel, too (adjoint_recurrence.c).
 * Tests      test/lit/grad/adjoint-refused.pto
 */
#include "adjoint_parts.h"
#include <string.h>

const void *adj_object(const struct eq_access *a) { return a->formal ? (const void *)a->formal : a->temp; }

/* A place in the text for messages: of the statement, where the access was made. */
struct span adj_span(const struct adj_work *w, const struct eq_access *a)
{
    return a->at.end ? a->at : w->kernel->decl->name_at;
}

/* The index without its variables, each at one end of its range; NULL: not known.  The variables are found in the
 * kernel. */
static const struct size *corner(struct adj_work *w, const struct size *a, bool largest)
{
    for (int i = w->q->var_count; i-- > 0 && a;) {
        const struct eq_var *v = w->q->vars[i];
        const struct size *factor, *rest;
        int64_t c;
        if (!size_names(a, v->symbol)) continue;
        if (!eq_split(w->sizes, a, v, &factor, &rest) || !size_is_const(factor, &c)) return NULL;
        const struct size *end = (c > 0) == largest ? size_sub(w->sizes, v->high, size_const(w->sizes, 1)) : v->low;
        const struct size *part = end ? size_scale(w->sizes, end, c) : NULL;
        a = part ? size_binary(w->sizes, SIZE_ADD, rest, part) : NULL;
    }
    return a;
}

static const struct eq_temp *copy_temp(struct adj_work *w, const struct eq_temp *t)
{
    struct eq_temp *to = ptrmap_get(&w->temps, t);
    if (to) return to;
    to = arena_new(w->front->mem, struct eq_temp);
    *to = *t;
    ptrmap_set(&w->temps, t, to);
    if (t->rank + t->private_count > MAX_RANK) {
        adj_refuse(w, t->at, "a temporary has too many dimensions with the 'for's around it");
        return to;
    }
    for (int i = 0; i < t->private_count; i++) {
        const struct eq_var *v = t->private_to[i]; /* its range may name variables further out: room for all of them */
        const struct size *last = size_sub(w->sizes, v->high, size_const(w->sizes, 1)),
                          *most = last ? corner(w, last, true) : NULL;
        to->low[i] = corner(w, v->low, false);
        to->high[i] = most ? size_binary(w->sizes, SIZE_ADD, most, size_const(w->sizes, 1)) : NULL;
    }
    for (int d = 0; d < t->rank; d++) {
        to->low[d + t->private_count] = t->low[d];
        to->high[d + t->private_count] = t->high[d];
    }
    to->rank = t->rank + t->private_count;
    to->private_count = 0;
    for (int d = 0; d < to->rank; d++)
        if (!to->low[d] || !to->high[d])
            adj_refuse(w, t->at, "the range of a 'for' around a temporary gives it no extent");
    return to;
}

static const struct eq_expr *copy_expr(struct adj_work *w, const struct eq_expr *e);

static const struct eq_access *copy_access(struct adj_work *w, const struct eq_access *a)
{
    struct eq_access *to = adj_access(w, a->formal, a->temp ? copy_temp(w, a->temp) : NULL);
    const int first = a->temp ? a->temp->private_count : 0;
    to->at = a->at;
    for (int i = 0; i < first && !w->why; i++)
        to->index[i].size = size_symbol(w->sizes, a->temp->private_to[i]->symbol);
    for (int d = 0; d < a->rank && !w->why; d++) {
        struct eq_index *i = &to->index[first + d];
        i->at = a->index[d].at;
        i->size = a->index[d].size;
        if (i->size && a->temp) i->size = size_binary(w->sizes, SIZE_ADD, i->size, a->temp->low[d]);
        if (a->index[d].size && !i->size) adj_refuse(w, a->at, "a constant of its adjoint does not fit in 64 bits");
        i->expr = copy_expr(w, a->index[d].expr);
    }
    return to;
}

static const struct eq_expr *copy_expr(struct adj_work *w, const struct eq_expr *e)
{
    if (!e || w->why) return e;
    struct eq_expr *to = arena_new(w->front->mem, struct eq_expr);
    *to = *e;
    if (e->kind == EQ_LOAD) to->access = copy_access(w, e->access);
    to->a = copy_expr(w, e->a);
    to->b = copy_expr(w, e->b);
    to->c = copy_expr(w, e->c);
    return to;
}

static void copy_statement(struct adj_work *w, const struct eq_stmt *s)
{
    struct adj_stmt *to = arena_new(w->front->mem, struct adj_stmt);
    if (s->loop_count + s->free_count > MAX_VARS) {
        adj_refuse(w, s->at, "a statement has too many variables");
        return;
    }
    to->kind = s->kind;
    to->id = (int)w->forward.count;
    for (int i = 0; i < s->loop_count; i++) to->var[to->var_count++] = s->loops[i];
    for (int i = 0; i < s->free_count; i++) to->var[to->var_count++] = s->frees[i];
    to->target = copy_access(w, s->target);
    to->value = copy_expr(w, s->value);
    vec_push(&w->forward, to);
}

bool adj_forward(struct adj_work *w)
{
    for (int i = 0; i < w->q->stmt_count && !w->why; i++) copy_statement(w, w->q->stmts[i]);
    return !w->why;
}

/* ---- left sides -------------------------------------------------------------------------------------------------- */

bool adj_is_same_place(const struct eq_access *a, const struct eq_access *b)
{
    if (adj_object(a) != adj_object(b)) return false;
    for (int d = 0; d < a->rank; d++)
        if (!a->index[d].size || a->index[d].size != b->index[d].size) return false;
    return true;
}

/* c * v + r of one variable; false: it is something else. */
static bool find_residue(struct adj_work *w, const struct size *a, int64_t *factor, int64_t *rest)
{
    for (int i = 0; i < w->q->var_count; i++) {
        const struct size *f, *r;
        if (!size_names(a, w->q->vars[i]->symbol)) continue;
        return eq_split(w->sizes, a, w->q->vars[i], &f, &r) && size_is_const(f, factor) && size_is_const(r, rest);
    }
    return false;
}

bool adj_is_apart(struct adj_work *w, const struct eq_access *a, const struct eq_access *b)
{
    for (int d = 0; d < a->rank; d++) {
        const struct size *x = a->index[d].size, *y = b->index[d].size;
        int64_t c, e, r, s;
        if (!x || !y) continue;
        const struct size *x0 = corner(w, x, false), *x1 = corner(w, x, true), *y0 = corner(w, y, false),
                          *y1 = corner(w, y, true);
        if ((x1 && y0 && facts_prove_order(w->facts, x1, y0, 1)) ||
            (y1 && x0 && facts_prove_order(w->facts, y1, x0, 1)))
            return true;
        if (find_residue(w, x, &c, &r) && find_residue(w, y, &e, &s) && c == e && c > 1 && (r - s) % c != 0)
            return true;
    }
    return false;
}

bool adj_is_whole(struct adj_work *w, const struct eq_access *a)
{
    for (int d = 0; d < a->rank; d++) {
        const struct eq_var *v = NULL;
        for (int i = 0; i < w->q->var_count && !v; i++)
            if (a->index[d].size == size_symbol(w->sizes, w->q->vars[i]->symbol)) v = w->q->vars[i];
        for (int e = 0; e < d && v; e++)
            if (a->index[e].size == a->index[d].size) return false;
        const struct size *low = a->formal ? size_const(w->sizes, 0) : a->temp->low[d],
                          *high = a->formal ? a->formal->type->extent[d] : a->temp->high[d];
        if (!v || v->low != low || !facts_prove_equal(w->facts, v->high, high)) return false;
    }
    return true;
}
