/* indexing.c - index expressions and tiled views: which piece they name, and whether it is inside.
 * Idea       each index has a low end and a width; a view is indexed in tiles.
 * Gives      type and region of an INDEX, the symbol of a VIEW.
 * Invariant  every index is proved inside, is an error, or has a run-time check before its statement; after the check
 *            it is a fact, so the same question is asked once.
 * Tests      test/lit/sema/e05*.pto region*.pto
 */
#include "hoist.h"

static const struct size *zero(struct checker *c) { return size_const(c->sizes, 0); }

/* ---- is it inside? ----------------------------------------------------------------------------------------------- */

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
    if (c->is_left_out) return true;
    bool low = facts_prove(c->facts, a), high = facts_prove_order(c->facts, a, extent, 1);
    if (low && high) return true;
    if ((!low && facts_prove_order(c->facts, a, zero(c), 1)) || (!high && facts_prove_order(c->facts, extent, a, 0))) {
        diag_error(c->diag, DIAG_E05, e->at, "index %s is out of bounds: the extent is %s", size_str(c, a),
                   size_str(c, extent));
        help_from_end(c, a, extent);
        return notes_bad(e);
    }
    const enum hoisted hoisted = hoist_check(c, CHECK_INDEX, e->at, a, extent, NULL);
    if (hoisted == HOIST_OUTSIDE) return notes_bad(e);
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
    if (c->is_left_out) return true;
    if (size_is_const(low, &x) && size_is_const(high, &y) && y < x && x >= 0) {
        diag_error(c->diag, DIAG_E15, e->at, "the slice %lld .. %lld has a negative extent", (long long)x,
                   (long long)y);
        if (y < 0) diag_help(c->diag, "an end counts from 0, too: 'dim(x, 0) - 1' leaves out the last element");
        return notes_bad(e);
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
        return notes_bad(e);
    }
    if (proved) return true;
    const enum hoisted hoisted = hoist_check(c, CHECK_SLICE, e->at, low, high, extent);
    if (hoisted == HOIST_OUTSIDE) return notes_bad(e);
    struct check *k = hoisted == HOIST_MADE ? NULL : region_check(c, CHECK_SLICE, e->at);
    if (k) k->a = low, k->b = high, k->c = extent;
    for (int i = 0; i < 3; i++) facts_add_order(c->facts, part[i], part[i + 1], 0);
    return true;
}

/* ---- an index expression ----------------------------------------------------------------------------------------- */

/* The step of a slice; *sign is 0 where it is not known.  NULL: reported, or none is written. */
static const struct size *step_of(struct checker *c, struct ast *i, int *sign)
{
    const struct size *step = exprs_size(c, i->range.step, "a step");
    int64_t value;
    if (!step) return NULL;
    if (size_is_const(size_expand(c->sizes, step), &value) && value == 0) {
        diag_error(c->diag, DIAG_E15, i->range.step->at, "the step of a slice must not be 0");
        return NULL;
    }
    *sign = steps_sign(c, step);
    if (*sign != 0) return step;
    struct check *k = region_check(c, CHECK_SLICE_STEP, i->range.step->at);
    if (k) k->a = step;
    facts_add_apart(c->facts, step, zero(c));
    return step;
}

/* distance / step, rounded up; the divisor is positive where the sign is known.  NULL: it does not fit. */
static const struct size *count_steps(struct checker *c, const struct size *distance, const struct size *step, int sign)
{
    if (distance && sign < 0) {
        distance = size_scale(c->sizes, distance, -1);
        step = size_scale(c->sizes, step, -1);
    }
    return distance && step ? size_binary(c->sizes, SIZE_CEIL_DIV, distance, step) : NULL;
}

/* All of the dimension, in steps: from its other end where they go down. */
static bool all_in_steps(struct checker *c, struct ast *i, const struct size *extent, struct index_range *r)
{
    int sign = 0;
    struct size_table *t = c->sizes;
    r->step = step_of(c, i, &sign);
    if (!r->step) return notes_bad(i);
    const struct size *last = size_sub(t, extent, size_const(t, 1));
    const struct size *length = sign > 0   ? r->step
                                : sign < 0 ? size_scale(t, r->step, -1)
                                           : size_unary(t, SIZE_ABS, r->step);
    r->is_loose = true;
    if (sign < 0) r->low = last;
    if (sign == 0) { /* last where the step is negative: its sign bit says so */
        const struct size *bit = size_binary(t, SIZE_SHR, r->step, size_const(t, 63));
        r->low = last && bit ? size_binary(t, SIZE_MUL, last, size_scale(t, bit, -1)) : NULL;
    }
    r->width = length ? count_steps(c, extent, length, 1) : NULL;
    if (r->low && r->width) return true;
    diag_error(c->diag, DIAG_E15, i->at, "the bounds of the slice do not fit in 64 bits");
    return notes_bad(i);
}

/* Are all elements inside?  Where there is none, it may begin anywhere. */
static bool inside_steps(struct checker *c, struct ast *e, struct index_range *r, int sign, const struct size *extent)
{
    const struct size *one = size_const(c->sizes, 1), *low = r->low, *high = r->low;
    const struct size *reach = region_times(c, region_plus(c, r->width, size_const(c->sizes, -1)), r->step);
    const bool is_extent = facts_prove(c->facts, r->width);
    if (!is_extent && facts_prove_order(c->facts, r->width, zero(c), 1)) {
        diag_error(c->diag, DIAG_E15, e->at, "the slice has a negative extent: %s", size_str(c, r->width));
        return notes_bad(e);
    }
    if (sign > 0) high = region_plus(c, low, reach);
    if (sign < 0) low = region_plus(c, high, reach);
    high = region_plus(c, high, one);
    if (sign != 0 && facts_prove_order(c->facts, one, r->width, 0)) return inside_slice(c, e, low, high, extent);
    r->is_loose = true;
    bool proved = sign != 0 && is_extent;
    if (proved) {
        const size_t mark = facts_mark(c->facts);
        facts_add_order(c->facts, one, r->width, 0);
        proved = facts_prove(c->facts, low) && facts_prove_order(c->facts, high, extent, 0);
        facts_reset(c->facts, mark);
    }
    if (proved) return true;
    struct check *k = region_check(c, CHECK_STEPPED, e->at);
    if (k) k->a = r->low, k->b = r->width, k->c = extent, k->d = r->step;
    facts_add(c->facts, r->width);
    return true;
}

bool indexing_bounds(struct checker *c, struct ast *i, const struct size *extent, struct index_range *r)
{
    const struct size *a = NULL, *b = NULL, **low = &r->low, **width = &r->width;
    int sign = 0;
    *r = (struct index_range){.low = zero(c), .width = extent};
    if (i->kind == AST_INDEX_ALL) return !i->range.step || all_in_steps(c, i, extent, r);
    a = exprs_size(c, i->range.low, "an index");
    if (i->kind != AST_INDEX_POINT)
        b = exprs_size(c, i->range.high, i->kind == AST_INDEX_WIDTH ? "a width" : "an index");
    if (i->range.step && !(r->step = step_of(c, i, &sign))) return notes_bad(i);
    if (!a || (i->kind != AST_INDEX_POINT && !b)) return notes_bad(i);
    *low = a;
    *width = NULL;
    if (i->kind == AST_INDEX_POINT) return inside_index(c, i, a, extent);
    int64_t w;
    if (i->kind == AST_INDEX_WIDTH && size_is_const(b, &w) && w < 0) {
        diag_error(c->diag, DIAG_E15, i->range.high->at, "the width %lld is negative", (long long)w);
        return notes_bad(i);
    }
    const struct size *high = i->kind == AST_INDEX_WIDTH ? size_binary(c->sizes, SIZE_ADD, a, b) : b;
    *width = i->kind == AST_INDEX_WIDTH ? b : size_sub(c->sizes, b, a);
    if (r->step && i->kind == AST_INDEX_RANGE) *width = count_steps(c, *width, r->step, sign);
    if (!high || !*width) {
        diag_error(c->diag, DIAG_E15, i->at, "the bounds of the slice do not fit in 64 bits");
        return notes_bad(i);
    }
    return r->step ? inside_steps(c, i, r, sign, extent) : inside_slice(c, i, a, high, extent);
}

bool indexing_again(struct checker *c, struct ast *e, const struct check *k)
{
    struct index_range r = {.low = k->a, .width = k->b, .step = k->d};
    struct check *again;
    switch (k->kind) {
    case CHECK_INDEX: return inside_index(c, e, k->a, k->b);
    case CHECK_SLICE: return inside_slice(c, e, k->a, k->b, k->c);
    case CHECK_STEPPED: return inside_steps(c, e, &r, steps_sign(c, k->d), k->c);
    default: /* SLICE_STEP */
        if (steps_sign(c, k->a) != 0) return true;
        if (size_expand(c->sizes, k->a) == zero(c)) {
            diag_error(c->diag, DIAG_E15, e->at, "the step of a slice must not be 0");
            return notes_bad(e);
        }
        if ((again = region_check(c, CHECK_SLICE_STEP, e->at))) again->a = k->a;
        facts_add_apart(c->facts, k->a, zero(c));
        return true;
    }
}

static bool without_step(struct checker *c, struct ast *i, const char *what)
{
    if (!i->range.step) return true;
    diag_error(c->diag, DIAG_E19, i->range.step->at, "%s has no step: only a tensor is sliced in steps", what);
    return notes_bad(i);
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
    struct index_range index[MAX_RANK];
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
        return notes_fail(c, e);
    }
    for (int d = 0; i; d++, i = i->next)
        if (!indexing_bounds(c, i, from->extent[d], &index[d])) bad = true;
    if (bad) return notes_fail(c, e);
    const struct region *r = notes_of(c, e)->region = region_narrow(c, from, given, index);
    /* a point is an element, a range an array */
    const int array_rank = t->array_rank - (t->array_rank && r->rank < t->rank);
    return e->type = r->rank || !t->rank ? derive_tensor(c, r, t->elem, array_rank) : derive_element(c, t->elem);
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
        struct index_range tiles; /* counted in tiles */
        if (!without_step(c, i, "a range of tiles") || !indexing_bounds(c, i, t->extent[d], &tiles)) {
            bad = true;
            break;
        }
        const struct size *low = tiles.low, *count = tiles.width;
        const struct size *begin = region_times(c, low, t->tile[d]),
                          *full = count ? region_times(c, count, t->tile[d]) : t->tile[d];
        int base_dim = from->base_dim[d];
        r->offset = region_plus(c, r->offset, region_times(c, begin, from->stride[d]));
        bool all = count && low == zero(c) && size_expand(c->sizes, count) == size_expand(c->sizes, t->extent[d]);
        r->extent[d] = all ? t->whole[d] : tile_extent(c, begin, full, t->whole[d], count != NULL);
        steps_narrow(c, r, base_dim, &(struct index_range){.low = begin, .width = r->extent[d]});
    }
    if (bad) return notes_fail(c, e);
    region_settle(c, r);
    notes_of(c, e)->region = r;
    return e->type = derive_tensor(c, r, t->elem, 0);
}

static const struct type *array_of_structs(struct checker *c, struct ast *e, const struct type *t)
{
    struct ast *i = e->index.indices;
    struct index_range index;
    if (i->next) {
        diag_error(c->diag, DIAG_E03, e->at, "%d indices for %s: an array has one, its elements have others",
                   count_list(i), type_str(c, t));
        return notes_fail(c, e);
    }
    if (!without_step(c, i, "a range of structs") || !indexing_bounds(c, i, t->extent[0], &index))
        return notes_fail(c, e);
    structs_index(c, e, structs_place(e->index.object), index.low, index.width);
    return e->type;
}

const struct type *indexing_check(struct checker *c, struct ast *e)
{
    struct ast *object = e->index.object;
    const struct type *t = object->type;
    if (object->bad || t->kind == TYPE_ERROR) {
        for (struct ast *i = e->index.indices; i; i = i->next) {
            if (i->range.low) exprs_check(c, i->range.low, AS_VALUE);
            if (i->range.high) exprs_check(c, i->range.high, AS_VALUE);
            if (i->range.step) exprs_check(c, i->range.step, AS_VALUE);
        }
        return notes_fail(c, e);
    }
    const struct region *from = region_of(object);
    if (t->kind == TYPE_ARRAY && structs_place(object)) return array_of_structs(c, e, t);
    if (!from || (t->kind != TYPE_TENSOR && t->kind != TYPE_GRID)) {
        diag_error(c->diag, DIAG_E03, object->at, "'%s' is %s and cannot be indexed", place_str(c, object),
                   type_str(c, t));
        return notes_fail(c, e);
    }
    return t->kind == TYPE_GRID ? tile(c, e, from, t) : slice(c, e, from, t);
}

/* ---- a view ------------------------------------------------------------------------------------------------------ */

void indexing_view(struct checker *c, struct ast *stmt)
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
        const struct size *width = exprs_size(c, i, "the extent of a tile");
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
        if (a != b) region_check_size(c, width, i->at, "the extent of a tile", false);
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
        notes_bad(stmt);
        if (!tensor->bad && t->kind == TYPE_TENSOR && region_of(tensor)) region_of(tensor)->base->is_doubtful = true;
    } else {
        grid->elem = t->elem;
        grid->rank = t->rank;
        s->type = region_capture_type(c, s, grid);
        s->region = region_capture_region(c, s, region_of(tensor));
        notes_of(c, stmt)->region = s->region;
    }
    names_declare(c, s, stmt->name_at);
}
