/* region.c - pieces of tensors: which elements of which tensor.
 * Idea       a region is offset, extents and strides in elements, and the same as a box in the base's own coordinates;
 *            the box decides overlap, the strides decide contiguity.
 * Invariant  a size of a region that a symbol keeps names no `var`: it is captured.
 * Tests      test/lit/sema/e09*.pto e18*.pto region*.pto
 */
#include "checker.h"

static const struct size *zero(struct checker *c) { return size_const(c->sizes, 0); }

const struct size *region_plus(struct checker *c, const struct size *a, const struct size *b)
{
    const struct size *r = a && b ? size_binary(c->sizes, SIZE_ADD, a, b) : NULL;
    /* overflow of constants: reported where the extents are declared, or the index is out of bounds */
    return r ? r : a;
}

const struct size *region_times(struct checker *c, const struct size *a, const struct size *b)
{
    const struct size *r = a && b ? size_binary(c->sizes, SIZE_MUL, a, b) : NULL;
    return r ? r : a;
}

/* What follows from offset, extents and strides. */
void region_settle(struct checker *c, struct region *r)
{
    r->is_left_out = c->is_left_out;
    bool whole = r->base->type->kind == TYPE_TENSOR && r->rank == r->base_rank && !r->steps;
    for (int d = 0; d < r->rank && whole; d++)
        whole = r->base_dim[d] == d &&
                size_expand(c->sizes, r->extent[d]) == size_expand(c->sizes, r->base->type->extent[d]);
    r->whole = whole;
    r->contiguous = region_is_contiguous(c, r, 0);
}

const struct region *region_whole(struct checker *c, struct symbol *base)
{
    struct region *r = arena_new(c->mem, struct region);
    const struct type *t = base->type;
    /* A returned let lies where the caller wants it. */
    const struct symbol *placed = base->kind == SYM_FORMAL ? base : base->place;
    r->base = base;
    r->offset = placed ? size_leaf(c->sizes, SIZE_AT, placed, 0) : zero(c);
    r->rank = r->base_rank = t->rank;
    const struct size *stride = size_const(c->sizes, 1);
    for (int d = t->rank - 1; d >= 0; d--) {
        r->extent[d] = r->span[d] = t->extent[d];
        r->low[d] = zero(c);
        r->base_dim[d] = d;
        r->stride[d] = placed ? size_leaf(c->sizes, SIZE_STRIDE, placed, d) : stride;
        stride = region_times(c, stride, t->extent[d]);
    }
    r->whole = true;
    r->contiguous = region_is_contiguous(c, r, 0);
    return r;
}

const struct region *region_narrow(struct checker *c, const struct region *all, int count,
                                   const struct index_range *index)
{
    struct region *r = arena_new(c->mem, struct region);
    *r = *all;
    r->rank = 0;
    for (int d = 0; d < all->rank; d++) {
        const struct index_range whole = {.low = zero(c), .width = all->extent[d]}, *i = d < count ? &index[d] : &whole;
        r->offset = region_plus(c, r->offset, region_times(c, i->low, all->stride[d]));
        r->is_loose |= i->is_loose;
        if (d < count) steps_narrow(c, r, all->base_dim[d], i);
        if (!i->width) continue;
        r->extent[r->rank] = i->width;
        r->stride[r->rank] = i->step ? region_times(c, all->stride[d], i->step) : all->stride[d];
        r->base_dim[r->rank++] = all->base_dim[d];
    }
    region_settle(c, r);
    return r;
}

/* ---- run-time checks --------------------------------------------------------------------------------------------- */

struct check *region_check(struct checker *c, enum check_kind kind, struct span at)
{
    if (!c->checks) return NULL;
    struct check **end = c->checks;
    while (*end) end = &(*end)->next;
    *end = arena_new(c->mem, struct check);
    (*end)->kind = kind;
    (*end)->at = at;
    return *end;
}

void region_check_size(struct checker *c, const struct size *a, struct span at, const char *what, bool or_zero)
{
    int64_t value;
    if (size_is_const(a, &value) && value < (or_zero ? 0 : 1)) {
        diag_error(c->diag, DIAG_E15, at, "%s %lld %s", what, (long long)value,
                   value < 0 ? "is negative" : "must be at least 1");
        return;
    }
    if (!facts_prove(c->facts, a)) {
        struct check *k = region_check(c, CHECK_EXTENT, at);
        if (k) k->a = a;
        facts_add(c->facts, a);
    }
    if (or_zero || facts_prove_order(c->facts, zero(c), a, 1)) return;
    struct check *k = region_check(c, CHECK_TILE, at);
    if (k) k->a = a;
    facts_add_order(c->facts, zero(c), a, 1);
}

void region_check_extents(struct checker *c, const struct type *t, const struct ast *node)
{
    if (t->kind == TYPE_TENSOR || t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY)
        for (int d = 0; d < t->rank; d++) region_check_size(c, t->extent[d], node->at, "the extent", true);
    if (t->kind == TYPE_ARRAY) region_check_extents(c, t->element, node);
    for (int i = 0; t->kind == TYPE_STRUCT && i < t->structure->formal_count; i++)
        region_check_extents(c,
                             derive_type(c, t->structure->formals[i]->type,
                                         (const struct symbol *const *)t->structure->dims, t->extent,
                                         t->structure->dim_count),
                             node);
}

/* ---- sizes that name a var are stored ---------------------------------------------------------------------------- */

static const struct size *capture(struct checker *c, struct symbol *s, const struct size *a)
{
    if (!a || !size_names_var(a)) return a;
    for (int i = 0; i < s->decided_count; i++)
        if (a == size_symbol(c->sizes, s->decided[i])) return a; /* changes with it */
    for (int i = 0; i < MAX_CAPTURED; i++) {
        if (!s->captured[i]) {
            if (i == 0) s->captured = arena_array(c->mem, const struct size *, MAX_CAPTURED + 1);
            ((const struct size **)(uintptr_t)s->captured)[i] = a; /* its own, made above */
            const struct size *leaf = size_leaf(c->sizes, SIZE_EXTENT, s, i);
            facts_add_equal(c->facts, leaf, a);                      /* until the var changes ... */
            if (facts_prove(c->facts, a)) facts_add(c->facts, leaf); /* ... but this stays */
            return leaf;
        }
        if (s->captured[i] == a) return size_leaf(c->sizes, SIZE_EXTENT, s, i);
    }
    diag_error(c->diag, DIAG_E99, s->decl->at, "too many sizes of '%s' name a 'var': bind them with 'let' first",
               s->name);
    return a;
}

const struct type *region_capture_type(struct checker *c, struct symbol *s, const struct type *t)
{
    struct type *r = arena_new(c->mem, struct type);
    *r = *t;
    for (int d = 0; d < t->rank; d++) {
        r->extent[d] = capture(c, s, t->extent[d]);
        r->tile[d] = capture(c, s, t->tile[d]);
        r->whole[d] = capture(c, s, t->whole[d]);
    }
    if (t->element) r->element = region_capture_type(c, s, t->element);
    return r;
}

const struct region *region_capture_region(struct checker *c, struct symbol *s, const struct region *from)
{
    struct region *r = arena_new(c->mem, struct region);
    *r = *from;
    r->offset = capture(c, s, from->offset);
    for (int d = 0; d < from->rank; d++) {
        r->extent[d] = capture(c, s, from->extent[d]);
        r->stride[d] = capture(c, s, from->stride[d]);
    }
    for (int d = 0; d < from->base_rank; d++) {
        r->low[d] = capture(c, s, from->low[d]);
        r->span[d] = capture(c, s, from->span[d]);
    }
    if (!from->steps) return r;
    struct steps *steps = arena_new(c->mem, struct steps);
    for (int d = 0; d < from->base_rank; d++) {
        steps->first[d] = capture(c, s, from->steps->first[d]);
        steps->step[d] = capture(c, s, from->steps->step[d]);
    }
    r->steps = steps;
    return r;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

bool region_is_contiguous(struct checker *c, const struct region *r, int from)
{
    const struct size *want = size_const(c->sizes, 1);
    int64_t one;
    for (int d = r->rank - 1; d >= from; d--) {
        const struct size *extent = size_expand(c->sizes, r->extent[d]);
        if (size_is_const(extent, &one) && one <= 1) continue; /* no step is ever taken */
        if (size_expand(c->sizes, r->stride[d]) != size_expand(c->sizes, want)) return false;
        want = region_times(c, want, extent);
    }
    return true;
}

bool region_is_host(const struct region *r) { return r->base->dir == DIR_HOST || type_is_scalar_array(r->base->type); }

bool region_is_empty(struct checker *c, const struct region *r)
{
    for (int d = 0; d < r->rank; d++)
        if (facts_prove_order(c->facts, r->extent[d], zero(c), 0)) return true;
    return false;
}

static bool are_apart(struct checker *c, const struct region *a, const struct region *b)
{
    for (int d = 0; d < a->base_rank; d++)
        if (steps_apart(c, a, b, d)) return true;
    return false;
}

/* Where two numbers are known to differ, each may be the larger one: apart in both cases? */
static bool are_apart_by_cases(struct checker *c, const struct region *a, const struct region *b)
{
    enum { MAX_CASES = 3 };
    const struct size *x;
    for (int n = 0; n < MAX_CASES && (x = facts_not_zero(c->facts, n)) != NULL; n++) {
        bool apart = true;
        for (int side = -1; side <= 1 && apart; side += 2) {
            size_t mark = facts_mark(c->facts);
            facts_add_order(c->facts, zero(c), size_scale(c->sizes, x, side), 1);
            apart = are_apart(c, a, b);
            facts_reset(c->facts, mark);
        }
        if (apart) return true;
    }
    return false;
}

static bool is_same(struct checker *c, const struct size *a, const struct size *b)
{
    return size_expand(c->sizes, a) == size_expand(c->sizes, b);
}

/* Behind the last element; NULL: a stride may be negative. */
static const struct size *linear_end(struct checker *c, const struct region *r)
{
    const struct size *end = region_plus(c, r->offset, size_const(c->sizes, 1));
    for (int d = 0; d < r->rank; d++) {
        if (!facts_prove(c->facts, r->stride[d])) return NULL;
        end =
            region_plus(c, end, region_times(c, region_plus(c, r->extent[d], size_const(c->sizes, -1)), r->stride[d]));
    }
    return end;
}

/* Is all of one behind all of the other?  Of a tensor with other dimensions no box says so. */
static bool are_in_order(struct checker *c, const struct region *a, const struct region *b)
{
    const struct size *end = linear_end(c, a), *other = linear_end(c, b);
    return (end && other) &&
           (facts_prove_order(c->facts, end, b->offset, 0) || facts_prove_order(c->facts, other, a->offset, 0));
}

/* Nothing has to be proved where both are one and the same. */
static bool is_same_place(struct checker *c, const struct region *a, const struct region *b)
{
    if (a->is_part || b->is_part) {
        bool same = a->rank == b->rank && is_same(c, a->offset, b->offset);
        for (int d = 0; d < a->rank && same; d++)
            same = is_same(c, a->extent[d], b->extent[d]) && is_same(c, a->stride[d], b->stride[d]);
        return same;
    }
    for (int d = 0; d < a->base_rank; d++)
        if (!steps_equal(c, a, b, d)) return false;
    return true;
}

int region_overlap(struct checker *c, const struct region *a, const struct region *b)
{
    if (a->base != b->base) return 0;
    if (region_is_empty(c, a) || region_is_empty(c, b)) return 0;
    if (is_same_place(c, a, b)) return 1;
    if (are_apart(c, a, b) || are_apart_by_cases(c, a, b)) return 0;
    if (a->is_part || b->is_part) return are_in_order(c, a, b) ? 0 : -1;
    size_t mark = facts_mark(c->facts);
    for (int d = 0; d < a->base_rank; d++) {
        facts_add_order(c->facts, zero(c), a->span[d], 1);
        facts_add_order(c->facts, zero(c), b->span[d], 1);
    }
    bool meet = true;
    for (int d = 0; d < a->base_rank && meet; d++) meet = steps_meet(c, a, b, d);
    facts_reset(c->facts, mark);
    return meet ? 1 : -1;
}
