/* region.c - views and slices: which elements of which tensor, and whether they are inside.
 * Idea       a region is offset, extents and strides in elements, and the same as a box in the base's own coordinates;
 *            the box decides overlap, the strides decide contiguity.
 * Invariant  every index is proved inside, is an error, or has a run-time check before its statement; after the check
 *            it is a fact, so the same question is asked once.
 * Tests      test/lit/sema/e05*.pto e09*.pto e18*.pto region*.pto
 */
#include "hoist.h"

static const struct size *zero(struct checker *c) { return size_const(c->sizes, 0); }

static const struct size *plus(struct checker *c, const struct size *a, const struct size *b)
{
    const struct size *r = a && b ? size_binary(c->sizes, SIZE_ADD, a, b) : NULL;
    /* overflow of constants: reported where the extents are declared, or the index is out of bounds */
    return r ? r : a;
}

static const struct size *times(struct checker *c, const struct size *a, const struct size *b)
{
    const struct size *r = a && b ? size_binary(c->sizes, SIZE_MUL, a, b) : NULL;
    return r ? r : a;
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
        stride = times(c, stride, t->extent[d]);
    }
    r->whole = true;
    r->contiguous = region_is_contiguous(c, r);
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

/* A negative index does not count from the end. */
static void help_from_end(struct checker *c, const struct size *a, const struct size *extent)
{
    int64_t value;
    const struct size *meant =
        size_is_const(a, &value) && value < 0 ? size_binary(c->sizes, SIZE_ADD, extent, a) : NULL;
    if (meant) diag_help(c->diag, "indices count from 0; counted from the end it is %s", size_str(c, meant));
}

static bool inside_index(struct checker *c, struct ast *e, const struct size *a, const struct size *extent)
{
    bool low = facts_prove(c->facts, a), high = facts_prove_order(c->facts, a, extent, 1);
    if (low && high) return true;
    if ((!low && facts_prove_order(c->facts, a, zero(c), 1)) || (!high && facts_prove_order(c->facts, extent, a, 0))) {
        diag_error(c->diag, DIAG_E05, e->at, "index %s is out of bounds: the extent is %s", size_str(c, a),
                   size_str(c, extent));
        help_from_end(c, a, extent);
        return exprs_bad(e);
    }
    const enum hoisted hoisted = hoist_check(c, CHECK_INDEX, e->at, a, extent, NULL);
    if (hoisted == HOIST_OUTSIDE) return exprs_bad(e);
    struct check *k = hoisted == HOIST_MADE ? NULL : region_check(c, CHECK_INDEX, e->at);
    if (k) k->a = a, k->b = extent;
    facts_add(c->facts, a);
    facts_add_order(c->facts, a, extent, 1);
    return true;
}

static bool inside_slice(struct checker *c, struct ast *e, const struct size *low, const struct size *high,
                         const struct size *extent)
{
    const struct size *part[] = {zero(c), low, high, extent};
    bool proved = true;
    int64_t x, y;
    if (size_is_const(low, &x) && size_is_const(high, &y) && y < x && x >= 0) {
        diag_error(c->diag, DIAG_E15, e->at, "the slice %lld .. %lld has a negative extent", (long long)x,
                   (long long)y);
        return exprs_bad(e);
    }
    for (int i = 0; i < 3; i++) {
        if (facts_prove_order(c->facts, part[i], part[i + 1], 0)) continue;
        proved = false;
        if (!facts_prove_order(c->facts, part[i + 1], part[i], 1)) continue;
        if (i == 1)
            diag_error(c->diag, DIAG_E15, e->at, "the slice from %s to %s has a negative extent", size_str(c, low),
                       size_str(c, high));
        else
            diag_error(c->diag, DIAG_E05, e->at, "the slice from %s to %s is out of bounds: the extent is %s",
                       size_str(c, low), size_str(c, high), size_str(c, extent));
        if (i == 0) help_from_end(c, low, extent);
        return exprs_bad(e);
    }
    if (proved) return true;
    const enum hoisted hoisted = hoist_check(c, CHECK_SLICE, e->at, low, high, extent);
    if (hoisted == HOIST_OUTSIDE) return exprs_bad(e);
    struct check *k = hoisted == HOIST_MADE ? NULL : region_check(c, CHECK_SLICE, e->at);
    if (k) k->a = low, k->b = high, k->c = extent;
    for (int i = 0; i < 3; i++) facts_add_order(c->facts, part[i], part[i + 1], 0);
    return true;
}

static void check_not_negative(struct checker *c, const struct size *a, struct span at, const char *what, bool or_zero)
{
    int64_t value;
    if (size_is_const(a, &value) && value < (or_zero ? 0 : 1)) {
        diag_error(c->diag, DIAG_E15, at, "%s %lld: %s", what, (long long)value,
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
        for (int d = 0; d < t->rank; d++) check_not_negative(c, t->extent[d], node->at, "the extent", true);
    if (t->kind == TYPE_ARRAY) region_check_extents(c, t->element, node);
    for (int i = 0; t->kind == TYPE_STRUCT && i < t->structure->formal_count; i++)
        region_check_extents(c,
                             declare_type_substituted(c, t->structure->formals[i]->type,
                                                      (const struct symbol *const *)t->structure->dims, t->extent,
                                                      t->structure->dim_count),
                             node);
}

/* ---- sizes that name a var are stored ---------------------------------------------------------------------------- */

const struct size *region_capture(struct checker *c, struct symbol *s, const struct size *a)
{
    if (!a || !size_names_var(a)) return a;
    for (int i = 0; i < MAX_CAPTURED; i++) {
        if (!s->captured[i]) {
            if (i == 0) s->captured = arena_array(c->mem, const struct size *, MAX_CAPTURED + 1);
            s->captured[i] = a;
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
        r->extent[d] = region_capture(c, s, t->extent[d]);
        r->tile[d] = region_capture(c, s, t->tile[d]);
        r->whole[d] = region_capture(c, s, t->whole[d]);
    }
    if (t->element) r->element = region_capture_type(c, s, t->element);
    return r;
}

const struct region *region_capture_region(struct checker *c, struct symbol *s, const struct region *from)
{
    struct region *r = arena_new(c->mem, struct region);
    *r = *from;
    r->offset = region_capture(c, s, from->offset);
    for (int d = 0; d < from->rank; d++) {
        r->extent[d] = region_capture(c, s, from->extent[d]);
        r->stride[d] = region_capture(c, s, from->stride[d]);
    }
    for (int d = 0; d < from->base_rank; d++) {
        r->low[d] = region_capture(c, s, from->low[d]);
        r->span[d] = region_capture(c, s, from->span[d]);
    }
    return r;
}

/* ---- indexing ---------------------------------------------------------------------------------------------------- */

static const struct type *fail(struct checker *c, struct ast *e)
{
    e->bad = true;
    return e->type = c->error;
}

/* One index of a tensor: sets its low end and its extent (NULL: a point). */
static bool index_bounds(struct checker *c, struct ast *i, const struct size *extent, const struct size **low,
                         const struct size **width)
{
    const struct size *a = NULL, *b = NULL;
    *low = zero(c);
    *width = extent;
    if (i->kind == AST_INDEX_ALL) return true;
    a = exprs_int(c, i->range.low, "an index");
    if (i->kind != AST_INDEX_POINT)
        b = exprs_int(c, i->range.high, i->kind == AST_INDEX_WIDTH ? "a width" : "an index");
    if (!a || (i->kind != AST_INDEX_POINT && !b)) return exprs_bad(i);
    *low = a;
    *width = NULL;
    if (i->kind == AST_INDEX_POINT) return inside_index(c, i, a, extent);
    int64_t w;
    if (i->kind == AST_INDEX_WIDTH && size_is_const(b, &w) && w < 0) {
        diag_error(c->diag, DIAG_E15, i->range.high->at, "the width %lld is negative", (long long)w);
        return exprs_bad(i);
    }
    const struct size *high = i->kind == AST_INDEX_WIDTH ? size_binary(c->sizes, SIZE_ADD, a, b) : b;
    *width = i->kind == AST_INDEX_WIDTH ? b : size_sub(c->sizes, b, a);
    if (!high || !*width) {
        diag_error(c->diag, DIAG_E15, i->at, "the bounds of the slice do not fit in 64 bits");
        return exprs_bad(i);
    }
    return inside_slice(c, i, a, high, extent);
}

const struct type *region_type(struct checker *c, const struct region *r, enum elem elem, int array_rank)
{
    struct type *t = arena_new(c->mem, struct type);
    t->kind = TYPE_TENSOR;
    t->elem = elem;
    t->rank = r->rank;
    t->array_rank = array_rank;
    for (int d = 0; d < r->rank; d++) t->extent[d] = r->extent[d];
    return t;
}

/* What follows from offset, extents and strides. */
static void settle(struct checker *c, struct region *r)
{
    bool whole = r->base->type->kind == TYPE_TENSOR && r->rank == r->base_rank;
    for (int d = 0; d < r->rank && whole; d++)
        whole = size_expand(c->sizes, r->extent[d]) == size_expand(c->sizes, r->base->type->extent[d]);
    r->whole = whole;
    r->contiguous = region_is_contiguous(c, r);
}

const struct region *region_narrow(struct checker *c, const struct region *all, int count,
                                   const struct size *const *low, const struct size *const *width)
{
    struct region *r = arena_new(c->mem, struct region);
    *r = *all;
    r->rank = 0;
    for (int d = 0; d < all->rank; d++) {
        const struct size *first = d < count ? low[d] : zero(c), *extent = d < count ? width[d] : all->extent[d];
        int base_dim = all->base_dim[d];
        r->offset = plus(c, r->offset, times(c, first, all->stride[d]));
        r->low[base_dim] = plus(c, all->low[base_dim], first);
        r->span[base_dim] = extent ? extent : size_const(c->sizes, 1);
        if (!extent) continue;
        r->extent[r->rank] = extent;
        r->stride[r->rank] = all->stride[d];
        r->base_dim[r->rank++] = base_dim;
    }
    settle(c, r);
    return r;
}

static int count_list(const struct ast *list)
{
    int n = 0;
    for (; list; list = list->next) n++;
    return n;
}

static const struct type *slice(struct checker *c, struct ast *e, const struct region *from, const struct type *t)
{
    struct ast *i = e->index.indices;
    const struct size *low[MAX_RANK], *width[MAX_RANK];
    int given = count_list(i);
    bool bad = false;
    if (given > t->rank || (t->array_rank && given > 1)) {
        if (t->array_rank)
            diag_error(c->diag, DIAG_E03, e->at, "%d indices for %s: an array has one, its elements have others", given,
                       type_str(c, t));
        else
            diag_error(c->diag, DIAG_E03, e->at, "%d indices for %s, which has rank %d", given, type_str(c, t),
                       t->rank);
        if (t->array_rank && i->next) diag_help(c->diag, "index the array first, then its element: [i][j]");
        for (; i; i = i->next)
            if (i->range.low) exprs_check(c, i->range.low, AS_VALUE);
        return fail(c, e);
    }
    for (int d = 0; i; d++, i = i->next)
        if (!index_bounds(c, i, from->extent[d], &low[d], &width[d])) bad = true;
    if (bad) return fail(c, e);
    const struct region *r = exprs_note(c, e)->region = region_narrow(c, from, given, low, width);
    /* a point is an element, a range an array */
    const int array_rank = t->array_rank - (t->array_rank && r->rank < t->rank);
    return e->type = r->rank || !t->rank ? region_type(c, r, t->elem, array_rank) : exprs_element_type(c, t->elem);
}

/* The extent of the tiles from `begin` on, together `full` wide when all are full: the last tile ends where the tensor
 * ends.  No tile at all may begin behind that end. */
static const struct size *tile_extent(struct checker *c, const struct size *begin, const struct size *full,
                                      const struct size *whole, bool range)
{
    const struct size *rest = size_sub(c->sizes, whole, begin), *least;
    if (!rest || full == whole) return full;
    if (range && !facts_prove(c->facts, rest)) {
        least = size_binary(c->sizes, SIZE_MAXIMUM, rest, zero(c));
        if (least) rest = least;
    }
    if (facts_prove_order(c->facts, full, rest, 0)) return full;
    if (facts_prove_order(c->facts, rest, full, 0)) return rest;
    least = size_binary(c->sizes, SIZE_MINIMUM, full, rest);
    return least ? least : full;
}

static const struct type *tile(struct checker *c, struct ast *e, const struct region *from, const struct type *t)
{
    struct region *r = arena_new(c->mem, struct region);
    struct ast *i = e->index.indices;
    int given = count_list(i);
    bool bad = false;
    if (given != t->rank) {
        diag_error(c->diag, DIAG_E03, e->at, "%d %s for %s, which has rank %d", given, given == 1 ? "index" : "indices",
                   type_str(c, t), t->rank);
        bad = true;
    }
    *r = *from;
    for (int d = 0; d < t->rank && i && !bad; d++, i = i->next) {
        const struct size *low, *count; /* in tiles */
        if (!index_bounds(c, i, t->extent[d], &low, &count)) {
            bad = true;
            break;
        }
        const struct size *begin = times(c, low, t->tile[d]), *full = count ? times(c, count, t->tile[d]) : t->tile[d];
        int base_dim = from->base_dim[d];
        r->offset = plus(c, r->offset, times(c, begin, from->stride[d]));
        bool all = count && low == zero(c) && size_expand(c->sizes, count) == size_expand(c->sizes, t->extent[d]);
        r->extent[d] = all ? t->whole[d] : tile_extent(c, begin, full, t->whole[d], count != NULL);
        r->low[base_dim] = plus(c, from->low[base_dim], begin);
        r->span[base_dim] = r->extent[d];
    }
    if (bad) return fail(c, e);
    settle(c, r);
    exprs_note(c, e)->region = r;
    return e->type = region_type(c, r, t->elem, 0);
}

static const struct type *array_of_structs(struct checker *c, struct ast *e, const struct type *t)
{
    struct ast *i = e->index.indices;
    const struct size *low, *width;
    if (i->next) {
        diag_error(c->diag, DIAG_E03, e->at, "%d indices for %s: an array has one, its elements have others",
                   count_list(i), type_str(c, t));
        return fail(c, e);
    }
    if (!index_bounds(c, i, t->extent[0], &low, &width)) return fail(c, e);
    structs_index(c, e, structs_place(e->index.object), low, width);
    return e->type;
}

const struct type *region_index(struct checker *c, struct ast *e, enum use use)
{
    struct ast *object = e->index.object;
    const struct type *t = object->type;
    (void)use;
    if (object->bad || t->kind == TYPE_ERROR) {
        for (struct ast *i = e->index.indices; i; i = i->next) {
            if (i->range.low) exprs_check(c, i->range.low, AS_VALUE);
            if (i->range.high) exprs_check(c, i->range.high, AS_VALUE);
        }
        return fail(c, e);
    }
    const struct region *from = region_of(object);
    if (t->kind == TYPE_ARRAY && structs_place(object)) return array_of_structs(c, e, t);
    if (!from || (t->kind != TYPE_TENSOR && t->kind != TYPE_GRID)) {
        diag_error(c->diag, DIAG_E03, object->at, "'%s' is %s and cannot be indexed", place_str(c, object),
                   type_str(c, t));
        return fail(c, e);
    }
    return t->kind == TYPE_GRID ? tile(c, e, from, t) : slice(c, e, from, t);
}

void region_view(struct checker *c, struct ast *stmt)
{
    struct ast *tensor = stmt->view.tensor;
    const struct type *t = exprs_check(c, tensor, AS_PLACE);
    struct symbol *s = names_new(c, SYM_VIEW, stmt->name, stmt);
    struct type *grid = arena_new(c->mem, struct type);
    bool bad = tensor->bad;
    stmt->symbol = s;
    if (!bad && (t->kind != TYPE_TENSOR || !region_of(tensor))) {
        diag_error(c->diag, DIAG_E03, tensor->at, "'%s' is %s: only a tensor can be tiled", place_str(c, tensor),
                   type_str(c, t));
        bad = true;
    }
    int given = count_list(stmt->view.tiles);
    if (!bad && given != t->rank) {
        diag_error(c->diag, DIAG_E03, stmt->at, "%d tile extent%s for %s, which has rank %d", given,
                   given == 1 ? "" : "s", type_str(c, t), t->rank);
        bad = true;
    }
    grid->kind = TYPE_GRID;
    int d = 0;
    for (struct ast *i = stmt->view.tiles; i; i = i->next, d++) {
        const struct size *width = exprs_int(c, i, "the extent of a tile");
        int64_t value;
        if (!width) bad = true;
        if (bad || d >= MAX_RANK) continue;
        const struct size *a = size_expand(c->sizes, width), *b = size_expand(c->sizes, t->extent[d]);
        grid->tile[d] = a == b ? t->extent[d] : width;
        grid->whole[d] = t->extent[d];
        if (size_is_const(a, &value) && value < 1) {
            diag_error(c->diag, DIAG_E15, i->at, "the extent %lld of a tile must be at least 1", (long long)value);
            bad = true;
            continue;
        }
        /* One tile that is all there is: also where that is nothing. */
        if (a != b) check_not_negative(c, width, i->at, "the extent of a tile", false);
        grid->extent[d] = a == b ? size_const(c->sizes, 1) : size_binary(c->sizes, SIZE_CEIL_DIV, t->extent[d], width);
        if (!grid->extent[d]) grid->extent[d] = t->extent[d];
        if (a != b && !size_is_const(grid->extent[d], NULL)) {
            const struct size *q = size_binary(c->sizes, SIZE_DIV, t->extent[d], width);
            const struct size *r = size_binary(c->sizes, SIZE_MOD, t->extent[d], width);
            if (q && r && facts_prove_equal(c->facts, r, zero(c))) grid->extent[d] = q;
        }
    }
    s->type = c->error;
    if (bad) {
        exprs_bad(stmt);
        if (!tensor->bad && t->kind == TYPE_TENSOR && region_of(tensor)) region_of(tensor)->base->is_doubtful = true;
    } else {
        grid->elem = t->elem;
        grid->rank = t->rank;
        s->type = region_capture_type(c, s, grid);
        s->region = region_capture_region(c, s, region_of(tensor));
        exprs_note(c, stmt)->region = s->region;
    }
    names_declare(c, s, stmt->name_at);
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

bool region_is_contiguous(struct checker *c, const struct region *r)
{
    const struct size *want = size_const(c->sizes, 1);
    int64_t one;
    for (int d = r->rank - 1; d >= 0; d--) {
        const struct size *extent = size_expand(c->sizes, r->extent[d]);
        if (size_is_const(extent, &one) && one <= 1) continue; /* no step is ever taken */
        if (size_expand(c->sizes, r->stride[d]) != size_expand(c->sizes, want)) return false;
        want = times(c, want, extent);
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

static const struct size *end_of(struct checker *c, const struct region *r, int d)
{
    return plus(c, r->low[d], r->span[d]);
}

static bool are_apart(struct checker *c, const struct region *a, const struct region *b)
{
    for (int d = 0; d < a->base_rank; d++)
        if (facts_prove_order(c->facts, end_of(c, a, d), b->low[d], 0) ||
            facts_prove_order(c->facts, end_of(c, b, d), a->low[d], 0))
            return true;
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

/* Nothing has to be proved where both are one and the same. */
static bool is_same_place(struct checker *c, const struct region *a, const struct region *b)
{
    for (int d = 0; d < a->base_rank; d++)
        if (size_expand(c->sizes, a->low[d]) != size_expand(c->sizes, b->low[d]) ||
            size_expand(c->sizes, a->span[d]) != size_expand(c->sizes, b->span[d]))
            return false;
    return true;
}

int region_overlap(struct checker *c, const struct region *a, const struct region *b)
{
    if (a->base != b->base) return 0;
    if (region_is_empty(c, a) || region_is_empty(c, b)) return 0;
    if (is_same_place(c, a, b)) return 1;
    if (are_apart(c, a, b) || are_apart_by_cases(c, a, b)) return 0;
    size_t mark = facts_mark(c->facts);
    for (int d = 0; d < a->base_rank; d++) {
        facts_add_order(c->facts, zero(c), a->span[d], 1);
        facts_add_order(c->facts, zero(c), b->span[d], 1);
    }
    bool meet = true;
    for (int d = 0; d < a->base_rank && meet; d++)
        meet = facts_prove_order(c->facts, a->low[d], end_of(c, b, d), 1) &&
               facts_prove_order(c->facts, b->low[d], end_of(c, a, d), 1);
    facts_reset(c->facts, mark);
    return meet ? 1 : -1;
}
