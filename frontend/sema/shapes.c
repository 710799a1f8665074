/* shapes.c - the same elements with other dimensions: `t.T`, `t.permute(2, 0, 1)`, `t as [M, K]`.
 * Idea       nothing is copied: dimensions change places, or those that lie one behind the other are merged and split.
 *            What stays as it is keeps its dimension of the base; a new one has none, and a slice of it is a part of
 *            the box that the whole has.
 * Invariant  the elements are those of the object, in row-major order of both.
 * Tests      test/lit/sema/shapes.pto, test/lit/run/shapes.pto
 */
#include "checker.h"
#include <string.h>

static const struct size *one(struct checker *c) { return size_const(c->sizes, 1); }

/* ---- another order ----------------------------------------------------------------------------------------------- */

static bool is_tensor(struct checker *c, struct ast *e, const struct ast *object, const char *form)
{
    if (object->bad) return false;
    if (object->type->kind == TYPE_TENSOR && region_of(object)) return true;
    diag_error(c->diag, DIAG_E03, e->at, "'%s' is %s: only a tensor has '%s'", place_str(c, object),
               type_str(c, object->type), form);
    return false;
}

static const struct type *permuted(struct checker *c, struct ast *e, struct ast *object, const int *order)
{
    const struct region *from = region_of(object);
    const struct type *t = object->type;
    struct region *r = arena_new(c->mem, struct region);
    *r = *from;
    for (int d = 0; d < t->array_rank; d++)
        if (order[d] != d) {
            diag_error(c->diag, DIAG_E15, e->at, "%s: the dimension of an array stays the first", type_str(c, t));
            return notes_fail(c, e);
        }
    for (int d = 0; d < r->rank; d++) {
        r->extent[d] = from->extent[order[d]];
        r->stride[d] = from->stride[order[d]];
        r->base_dim[d] = from->base_dim[order[d]];
    }
    region_settle(c, r);
    notes_of(c, e)->region = r;
    return e->type = derive_tensor(c, r, t->elem, t->array_rank);
}

const struct type *shapes_transpose(struct checker *c, struct ast *e)
{
    struct ast *object = e->member.object;
    int order[MAX_RANK];
    const int rank = object->type->rank;
    if (!is_tensor(c, e, object, ".T")) return notes_fail(c, e);
    if (rank < 2) {
        diag_error(c->diag, DIAG_E03, e->at, "'.T' exchanges the last two dimensions, and '%s' is %s",
                   place_str(c, object), type_str(c, object->type));
        return notes_fail(c, e);
    }
    for (int d = 0; d < rank - 2; d++) order[d] = d;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return permuted(c, e, object, order);
}

bool shapes_is_permutation(struct checker *c, const struct ast *e)
{
    const struct ast *callee = e->kind == AST_CALL ? e->call.callee : NULL;
    if (!callee || callee->kind != AST_MEMBER || strcmp(callee->name, "permute") != 0) return false;
    const struct ast *object = callee->member.object;
    const struct symbol *s = object->kind == AST_NAME ? declare_lookup(c, object->name) : NULL;
    return object->kind != AST_NAME || (s && s->kind != SYM_MODULE);
}

/* From here on the expression is a member, which names a piece of its object: the order is known. */
const struct type *shapes_permute(struct checker *c, struct ast *e)
{
    struct ast *const callee = e->call.callee, *const args = e->call.args, *const object = callee->member.object;
    int order[MAX_RANK], count = 0;
    uint32_t seen = 0;
    bool is_order = true;
    exprs_check(c, object, AS_PLACE);
    for (struct ast *a = args; a; a = a->next, count++) {
        int64_t d = -1;
        const struct size *at = exprs_size(c, a->arg.value, "a dimension");
        if (!at) return notes_fail(c, e);
        is_order &= size_is_const(size_expand(c->sizes, at), &d) && d >= 0 && d < MAX_RANK && count < MAX_RANK &&
                    !(seen >> d & 1) && a->arg.dir == DIR_NONE;
        if (!is_order) continue;
        seen |= 1u << d;
        order[count] = (int)d;
    }
    if (!is_tensor(c, e, object, "permute")) return notes_fail(c, e);
    if (!is_order || count != object->type->rank || seen != (1u << count) - 1) {
        diag_error(c->diag, DIAG_E15, e->at, "'permute' takes each dimension of %s once, as constants from 0 to %d",
                   type_str(c, object->type), object->type->rank - 1);
        return notes_fail(c, e);
    }
    e->kind = AST_MEMBER;
    e->name = callee->name;
    e->name_at = callee->name_at;
    e->member.object = object;
    return permuted(c, e, object, order);
}

/* ---- other extents ----------------------------------------------------------------------------------------------- */

struct reshape {
    struct checker *c;
    struct ast *e;
    const struct region *from;
    struct region *to;
    bool failed;
};

static bool is_same(struct checker *c, const struct size *a, const struct size *b)
{
    return size_expand(c->sizes, a) == size_expand(c->sizes, b) || facts_prove_equal(c->facts, a, b);
}

static bool is_one(struct checker *c, const struct size *a)
{
    int64_t value;
    return size_is_const(size_expand(c->sizes, a), &value) && value == 1;
}

static void say_copy(struct reshape *s, const struct size *stride, const struct size *want)
{
    struct checker *c = s->c;
    STRBUF(shape);
    for (int d = 0; d < s->to->rank; d++) strbuf_printf(&shape, "%s%s", d ? ", " : "", size_str(c, s->to->extent[d]));
    diag_error(c->diag, DIAG_E18, s->e->at,
               "'%s' needs a copy: dimensions that are merged are %s elements apart, not %s", place_str(c, s->e),
               size_str(c, stride), size_str(c, want));
    diag_help(c->diag, "copy it first: let t: %s; copy(%s, out t); and then t as [%s]",
              type_str(c, s->e->index.object->type), place_str(c, s->e->index.object), strbuf_text(&shape));
    s->failed = true;
}

/* Dimensions [i, i_end) of the object become [j, j_end): merged, if they lie one behind the other, and split. */
static void merge(struct reshape *s, int i, int i_end, int j, int j_end)
{
    struct checker *c = s->c;
    const struct region *from = s->from;
    struct region *group = arena_new(c->mem, struct region), *to = s->to;
    bool is_known = true;
    *group = *from;
    group->rank = 0;
    for (; i < i_end; i++) {
        if (is_one(c, from->extent[i])) continue;
        group->extent[group->rank] = from->extent[i];
        group->stride[group->rank++] = from->stride[i];
    }
    for (int d = 0; d + 1 < group->rank && !s->failed; d++) {
        const struct size *want = region_times(c, group->extent[d + 1], group->stride[d + 1]),
                          *two = size_const(c->sizes, 2);
        if (is_same(c, group->stride[d], want)) continue;
        is_known = false;
        if ((facts_prove_order(c->facts, want, group->stride[d], 1) ||
             facts_prove_order(c->facts, group->stride[d], want, 1)) &&
            facts_prove_order(c->facts, two, group->extent[d], 0) &&
            facts_prove_order(c->facts, two, group->extent[d + 1], 0))
            say_copy(s, group->stride[d], want);
    }
    struct check *k = is_known || s->failed ? NULL : region_check(c, CHECK_DENSE, s->e->at);
    if (k) k->view = group;
    const struct size *stride = group->rank > 0 ? group->stride[group->rank - 1] : one(c);
    for (int d = j_end - 1; d >= j; d--) {
        to->stride[d] = stride;
        to->base_dim[d] = -1;
        stride = region_times(c, stride, to->extent[d]);
    }
}

static void keep(struct reshape *s, int i, int j)
{
    s->to->stride[j] = s->from->stride[i];
    s->to->base_dim[j] = s->from->base_dim[i];
}

/* Groups of dimensions with the same product: as short as it is known that they are. */
static void reshape(struct reshape *s)
{
    struct checker *c = s->c;
    const struct size *const *old = s->from->extent, *const *new = s->to->extent;
    int i = 0, j = 0, i_end = s->from->rank, j_end = s->to->rank;
    for (; i < i_end && j < j_end && is_same(c, old[i_end - 1], new[j_end - 1]); i_end--, j_end--)
        keep(s, i_end - 1, j_end - 1);
    while ((i < i_end || j < j_end) && !s->failed) {
        const int i0 = i, j0 = j;
        const struct size *x = i < i_end ? old[i++] : one(c), *y = j < j_end ? new[j++] : one(c);
        while (!is_same(c, x, y) && (i < i_end || j < j_end)) {
            if (j < j_end && facts_prove_order(c->facts, y, x, 0))
                y = region_times(c, y, new[j++]);
            else if (i < i_end && facts_prove_order(c->facts, x, y, 0))
                x = region_times(c, x, old[i++]);
            else
                i = i_end, j = j_end;
        }
        if (i == i0 + 1 && j == j0 + 1 && is_same(c, x, y))
            keep(s, i0, j0);
        else
            merge(s, i0, i, j0, j);
    }
}

static const struct size *product(struct checker *c, const struct size *const *extent, int rank)
{
    const struct size *all = one(c);
    for (int d = 0; d < rank && all; d++) all = size_binary(c->sizes, SIZE_MUL, all, extent[d]);
    return all;
}

/* The same number of elements. */
static bool agree(struct reshape *s)
{
    struct checker *c = s->c;
    const struct size *x = product(c, s->from->extent, s->from->rank), *y = product(c, s->to->extent, s->to->rank);
    if (!x || !y) {
        diag_error(c->diag, DIAG_E15, s->e->at, "the product of the extents does not fit in 64 bits");
        return false;
    }
    if (is_same(c, x, y)) return true;
    if (facts_prove_order(c->facts, x, y, 1) || facts_prove_order(c->facts, y, x, 1)) {
        diag_error(c->diag, DIAG_E04, s->e->at, "'%s' has %s elements, and the new shape %s",
                   place_str(c, s->e->index.object), size_str(c, x), size_str(c, y));
        return false;
    }
    struct check *k = region_check(c, CHECK_PRODUCT, s->e->at);
    if (k) k->a = x, k->b = y;
    facts_add_equal(c->facts, x, y);
    return true;
}

const struct type *shapes_as(struct checker *c, struct ast *e)
{
    struct ast *object = e->index.object;
    struct region *r = arena_new(c->mem, struct region);
    int rank = 0;
    bool bad = false;
    int64_t value;
    exprs_check(c, object, AS_PLACE);
    const struct size *extent[MAX_RANK];
    for (struct ast *i = e->index.indices; i; i = i->next, rank++) {
        const struct size *a = exprs_size(c, i->range.low, "an extent");
        if (!a) bad = true;
        if (!a || rank >= MAX_RANK) continue;
        extent[rank] = a;
        region_check_size(c, a, i->at, "the extent", true);
        bad |= size_is_const(a, &value) && value < 0;
    }
    if (bad || !is_tensor(c, e, object, "as")) return notes_fail(c, e);
    if (rank > MAX_RANK || object->type->array_rank) {
        diag_error(c->diag, DIAG_E03, e->at,
                   rank > MAX_RANK ? "%s: a tensor has at most 8 dimensions"
                                   : "%s is an array: only a tensor gets another shape",
                   type_str(c, object->type));
        return notes_fail(c, e);
    }
    struct reshape s = {.c = c, .e = e, .from = region_of(object), .to = r};
    *r = *s.from;
    r->rank = rank;
    memcpy(r->extent, extent, sizeof *extent * (size_t)rank);
    if (!agree(&s)) return notes_fail(c, e);
    reshape(&s);
    if (s.failed) return notes_fail(c, e);
    region_settle(c, r);
    notes_of(c, e)->region = r;
    return e->type = derive_tensor(c, r, object->type->elem, 0);
}
