/* demands.c - the requirements of a callee on all its arguments together: `where`, contiguity, no overlap.
 * Idea       each is proved, is an error, or is a check when the program runs.
 * Tests      test/lit/sema/e09*.pto e18*.pto e20*.pto
 */
#include "equations/equations.h"
#include "matching.h"
#include "support/integers.h"

/* ---- where ------------------------------------------------------------------------------------------------------- */

void demands_where(struct checker *c, struct matching *m, struct ast *e)
{
    if (m->callee->kind != SYM_KERNEL) return;
    struct facts_values values = {m->from, m->to, m->count};
    for (struct ast *w = m->callee->decl->kernel->where; w; w = w->next) {
        if (w->bad) continue;
        int truth = facts_decide(c->facts, w, &values);
        if (truth == 1 || c->is_left_out) continue;
        if (truth == 0) {
            diag_error(c->diag, DIAG_E20, e->at, "'%s' needs '%s', which is false here", m->callee->name,
                       place_str(c, w));
            diag_note(c->diag, w->at, "the condition is here");
            m->failed = true;
            continue;
        }
        struct check *k = region_check(c, CHECK_WHERE, w->at);
        if (k) k->cond = w;
        facts_add_condition_of(c->facts, w, true, &values); /* behind the check */
    }
}

/* ---- indices of a kernel in index notation ----------------------------------------------------------------------- */

static const struct size *at_call(struct checker *c, const struct matching *m, const struct size *a)
{
    return size_substitute(c->sizes, a, m->from, m->to, m->count);
}

/* The ranges that must have a value, with those left out that surely have one.  false: one has none. */
static bool ranges_at_call(struct checker *c, const struct matching *m, const struct guard *from,
                           const struct guard **to)
{
    *to = NULL;
    for (; from; from = from->next) {
        const struct size *least = at_call(c, m, from->least), *most = at_call(c, m, from->most);
        if (!least || !most || facts_prove_order(c->facts, least, most, 1)) continue;
        if (facts_prove_order(c->facts, most, least, 0)) return false;
        struct guard *g = arena_new(c->mem, struct guard);
        *g = (struct guard){least, most, *to};
        *to = g;
    }
    return true;
}

static void say_outside(struct checker *c, struct matching *m, const struct ast *e, const struct eq_demand *d,
                        const struct size *index, const struct size *extent)
{
    const struct ast *arg = NULL;
    for (int f = 0; f < m->callee->formal_count; f++)
        if (m->callee->formals[f] == d->access->formal && m->args[f]) arg = m->args[f];
    diag_error(c->diag, DIAG_E05, arg ? arg->at : e->at, "index %d of '%s' reaches %s in '%s', the extent is %s",
               d->dim, d->access->formal ? d->access->formal->name : d->access->temp->name, size_str(c, index),
               m->callee->name, size_str(c, extent));
    diag_note(c->diag, d->access->index[d->dim].at, "the index is here");
    m->failed = true;
}

void demands_indices(struct checker *c, struct matching *m, const struct ast *e)
{
    const struct equations *q = m->callee->kind == SYM_KERNEL ? m->callee->equations : NULL;
    for (const struct eq_demand *d = q ? q->demands : NULL; d; d = d->next) {
        const struct guard *guard;
        const struct size *index = at_call(c, m, d->index), *extent = at_call(c, m, d->extent);
        if (!index || !extent) {
            diag_error(c->diag, DIAG_E05, e->at, "an index of '%s' does not fit in 64 bits here", m->callee->name);
            diag_note(c->diag, d->access->index[d->dim].at, "the index is here");
            m->failed = true;
            continue;
        }
        if (!ranges_at_call(c, m, d->guard, &guard)) continue;
        const size_t mark = facts_mark(c->facts);
        for (const struct guard *g = guard; g; g = g->next) facts_add_order(c->facts, g->least, g->most, 1);
        const bool good = d->is_low ? facts_prove(c->facts, index) : facts_prove_order(c->facts, index, extent, 1);
        const bool wrong = d->is_low ? facts_prove_order(c->facts, index, size_const(c->sizes, -1), 0)
                                     : facts_prove_order(c->facts, extent, index, 0);
        facts_reset(c->facts, mark);
        if (good) continue;
        if (wrong && !guard && !c->is_left_out) {
            say_outside(c, m, e, d, index, extent);
            continue;
        }
        const enum check_kind kind = !d->is_alone ? CHECK_INDEX : d->is_low ? CHECK_FROM_ZERO : CHECK_BELOW;
        struct check *k = region_check(c, kind, e->at);
        if (k) k->a = index, k->b = extent, k->guard = guard;
    }
}

/* ---- contiguity -------------------------------------------------------------------------------------------------- */

/* At least so far apart are two elements that follow each other in dimension d of the piece.  A formal, or the place of
 * a result, is a contiguous piece of a tensor whose dimensions are in order: all that it has inside of one index lies
 * between two. */
static const struct size *least_stride(struct checker *c, const struct region *r, int d)
{
    const struct size *least = size_const(c->sizes, 1), *stride = r->stride[d];
    const bool is_given =
        stride->kind == SIZE_STRIDE && (stride->symbol == r->base || stride->symbol == r->base->place);
    if (!is_given || r->base->type->rank != r->base_rank || r->base_dim[d] < 0) return stride;
    for (int k = r->base_dim[d] + 1; k < r->base_rank && least; k++)
        least = size_binary(c->sizes, SIZE_MUL, least, r->base->type->extent[k]);
    return least;
}

/* A constant that divides the distance, whatever the strides of the formals are: 2 of x[: step 2]; 1: none is known. */
static int64_t divisor_of(struct checker *c, const struct size *distance)
{
    enum { MOST = 8 };
    struct size_term term[MOST];
    const int count = size_terms(c->sizes, size_expand(c->sizes, distance), term, MOST);
    int64_t divisor = count < MOST ? 0 : 1; /* there may be more terms */
    for (int i = 0; i < count && divisor != 1; i++)
        divisor = term[i].factor == INT64_MIN ? 1 : gcd(divisor, term[i].factor);
    return divisor;
}

/* How far the rows of dimension d are apart, where that is never `want` elements; NULL: it may be. */
static const char *wrong_distance(struct checker *c, const struct region *r, int d, const struct size *want)
{
    const struct size *least = least_stride(c, r, d);
    const bool is_exact = least == r->stride[d];
    if (least &&
        (facts_prove_order(c->facts, want, least, 1) || (is_exact && facts_prove_order(c->facts, least, want, 1))))
        return arena_printf(c->mem, "%s%s", is_exact ? "" : "at least ", size_str(c, least));
    int64_t wanted;
    const int64_t divisor = divisor_of(c, r->stride[d]);
    if (divisor < 2 || !size_is_const(size_expand(c->sizes, want), &wanted) || wanted % divisor == 0) return NULL;
    return arena_printf(c->mem, "a multiple of %lld", (long long)divisor);
}

void demands_contiguous(struct checker *c, struct matching *m, const struct symbol *formal, const struct region *r,
                        struct span at)
{
    if (formal->contiguous_dims == 0 || formal->by /* its part is contiguous */ || !r || r->contiguous) return;
    const int from = formal->type->rank - formal->contiguous_dims;
    if (region_is_contiguous(c, r, from)) return;
    const struct size *want = size_const(c->sizes, 1);
    for (int d = r->rank - 1; d >= from && want; d--) {
        const bool steps = facts_prove_order(c->facts, size_const(c->sizes, 2), r->extent[d], 0);
        const char *distance = steps ? wrong_distance(c, r, d, want) : NULL;
        if (distance) {
            diag_error(c->diag, DIAG_E18, at,
                       "argument '%s' of '%s' must be contiguous%s: its rows are %s elements apart, not %s",
                       formal->name, m->callee->name, from ? " in its last dimensions" : "", distance,
                       size_str(c, want));
            diag_note(c->diag, formal->decl->at, "the body of '%s' never names '%s_stride%s'", m->callee->name,
                      formal->name, from ? arena_printf(c->mem, "[%d]", from) : "");
            m->failed = true;
            return;
        }
        want = size_binary(c->sizes, SIZE_MUL, want, r->extent[d]);
    }
    struct check *k = region_check(c, CHECK_CONTIGUOUS, at);
    if (k) k->view = r, k->from = from, k->elem = formal->type->elem;
}

/* ---- overlap ----------------------------------------------------------------------------------------------------- */

/* A tensor that a call is given, or where its result goes; or a scalar that it may change. */
struct used {
    const struct region *region, *written; /* written: a part of it; NULL: all, where it is written */
    const struct symbol *scalar;
    const struct ast *at;
    int formal; /* -1: where the result of a function goes */
    bool writes;
};
typedef VEC(struct used) used_list;

static void use_leaves(used_list *list, const struct leaves *leaves, const struct ast *at, int formal, bool written)
{
    for (int i = 0; i < leaves->count; i++) {
        const struct leaf *l = &leaves->leaf[i];
        bool changes =
            type_is_scalar(l->formal->type) ? l->formal->by_reference : written && direction_writes(l->formal->dir);
        if (l->region || changes) vec_push(list, ((struct used){l->region, NULL, l->scalar, at, formal, changes}));
    }
}

static const char *argument_str(struct checker *c, const struct ast *e)
{
    return place_str(c, e->kind == AST_ARG ? e->arg.value : e);
}

/* Names of which the lowering knows whether they can ever mean one buffer. */
static bool may_be_one(const struct symbol *a, const struct symbol *b)
{
    return a != b && a->exchange && b->exchange && !a->next_of && !b->next_of && a->type->elem == b->type->elem;
}

/* Is one of them a second name of the other, a `var` that was not assigned to since, or are both of one? */
static bool are_one(const struct symbol *a, const struct symbol *b)
{
    return a != b && a->value_number == b->value_number &&
           (a->keeps == b || b->keeps == a || (a->keeps && a->keeps == b->keeps));
}

/* As region_overlap(), also of two names of one buffer. */
static int overlap_of(struct checker *c, const struct region *a, const struct region *b)
{
    struct region same = *b;
    if (!are_one(a->base, b->base)) return may_be_one(a->base, b->base) ? -1 : region_overlap(c, a, b);
    same.base = a->base;
    return region_overlap(c, a, &same);
}

/* What it is to the call, for a message of the run. */
static const char *name_of(struct checker *c, const struct matching *m, const struct used *u)
{
    if (u->formal < 0 || u->formal == m->call->result_formal) return "the result";
    return arena_printf(c->mem, "argument '%s'", m->callee->formals[u->formal]->name);
}

/* Does what `a` writes share an element with b?  As region_overlap(); -1 has a check. */
static int meets(struct checker *c, const struct matching *m, const struct used *a, const struct used *b,
                 struct span at)
{
    const struct region *written = a->written ? a->written : a->region;
    if (!a->writes) return 0;
    int overlap = written && b->region ? overlap_of(c, written, b->region) : a->scalar && a->scalar == b->scalar;
    struct check *k = overlap < 0 ? region_check(c, CHECK_DISJOINT, at) : NULL;
    if (k) k->view = written, k->other = b->region, k->elem = written->base->type->elem;
    if (k) k->one = name_of(c, m, a), k->another = name_of(c, m, b);
    return overlap;
}

static bool check_pair(struct checker *c, struct matching *m, const struct used *a, const struct used *b)
{
    const struct span at_check = b->formal < 0 ? a->at->at : b->at->at;
    int overlap;
    if (!a->written && !b->written) { /* the same, whoever writes */
        const struct used all = {a->region, NULL, a->scalar, a->at, a->formal, true};
        overlap = meets(c, m, &all, b, at_check);
    } else {
        overlap = meets(c, m, a, b, at_check);
        if (overlap <= 0) overlap = meets(c, m, b, a, at_check);
    }
    if (overlap <= 0) return true;
    m->failed = true;
    if (b->formal < 0) {
        diag_error(c->diag, DIAG_E09, a->at->at, "'%s' overlaps the destination of the result of '%s'",
                   argument_str(c, a->at), m->callee->name);
        if (b->at) diag_note(c->diag, b->at->at, "the result goes here");
        if (b->at) vars_show_form(c, b->at);
        return false;
    }
    const struct ast *at = b->writes ? b->at : a->at, *other = at == b->at ? a->at : b->at;
    diag_error(c->diag, DIAG_E09, at->at, "'%s' is written by '%s' and overlaps another argument", argument_str(c, at),
               m->callee->name);
    diag_note(c->diag, other->at, "the other argument is here");
    const int formal = at == b->at ? b->formal : a->formal;
    if (formal >= 0 && m->callee->formals[formal]->written)
        diag_note(c->diag, m->callee->formals[formal]->decl->formal.writes->at, "of '%s' this is written",
                  m->callee->formals[formal]->name);
    if (at->kind != AST_ARG) vars_show_form(c, at);
    return false;
}

/* A function's destination is written while its arguments are read. */
void demands_apart(struct checker *c, struct matching *m, const struct target *target)
{
    used_list list = {0};
    const struct ast *place = target ? target->place : NULL;
    const struct call *call = m->call;
    for (int f = 0; f < m->callee->formal_count; f++) {
        const struct ast *at = m->args[f] ? m->args[f] : place;
        bool written = direction_writes(m->callee->formals[f]->dir);
        if (call->regions[f] && at)
            vec_push(&list,
                     ((struct used){call->regions[f], call->written ? call->written[f] : NULL, NULL, at, f, written}));
        use_leaves(&list, &call->leaves[f], at, f, written);
    }
    size_t arguments = list.count;
    if (call->destination && m->callee->kind == SYM_ORCH)
        vec_push(&list, ((struct used){call->destination, NULL, NULL, place, -1, true}));
    if (target && target->into) use_leaves(&list, &call->result_leaves, place, -1, true);
    bool good = true;
    for (size_t b = 1; b < list.count && good; b++)
        for (size_t a = 0; a < b && a < arguments && good; a++)
            if (list.data[a].formal != list.data[b].formal && (list.data[a].writes || list.data[b].writes))
                good = check_pair(c, m, &list.data[a], &list.data[b]);
    vec_free(&list);
}
