/* lower_size.c - symbolic sizes as values, and regions as views.
 * Idea       a size becomes what a person would write: positive terms first, factors before constants.
 * Invariant  arithmetic is plain only where range.c proves that every partial sum and product fits, or the mode says
 *            so.
 * Tests      test/lit/codegen/
 */
#include "lower_parts.h"

/* A value with the range it can have. */
struct ranged {
    struct ir_value *value;
    struct interval range;
};

static struct ranged apply(struct lowering *l, enum ast_op op, struct ranged a, struct ranged b, enum arithmetic mode)
{
    struct interval range;
    struct ir_value *v = lower_integers(l, op, a.value, a.range, b.value, b.range, mode, &range);
    v->of_size = true;
    return (struct ranged){v, range};
}

static struct ranged constant(struct lowering *l, int64_t value)
{
    return (struct ranged){ir_integer(l->mem, value), {value, value}};
}

static bool is_negative_term(const struct size *s)
{
    return (s->kind == SIZE_CONST && s->value < 0 && s->value != INT64_MIN) ||
           (s->kind == SIZE_MUL && s->arg[0]->kind == SIZE_CONST && s->arg[0]->value < 0 &&
            s->arg[0]->value != INT64_MIN);
}

/* A product, or with sign -1 its opposite, as a person would write it: indices, the constant, strides, `i * 64 *
 * A.s[1]`. */
static struct ranged lower_product(struct lowering *l, const struct size *s, int sign, enum arithmetic mode)
{
    const struct size *const *arg = s->kind == SIZE_MUL ? s->arg : &s;
    int count = s->kind == SIZE_MUL ? s->count : 1;
    int64_t factor = sign;
    if (arg[0]->kind == SIZE_CONST) {
        factor = arg[0]->value * sign;
        arg++, count--;
    }
    if (count == 0) return constant(l, factor);
    if (factor == -1) return apply(l, OP_SUB, constant(l, 0), lower_product(l, s, -sign, mode), mode);
    struct ranged product = {0};
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < count; i++) {
            const bool is_stride = arg[i]->kind == SIZE_STRIDE;
            if (pass == 1 ? i > 0 || factor == 1 : is_stride != (pass == 2)) continue;
            const struct ranged next =
                pass == 1 ? constant(l, factor)
                          : (struct ranged){lower_size(l, arg[i], mode), range_of_size(l->ranges, arg[i])};
            product = product.value ? apply(l, OP_MUL, product, next, mode) : next;
        }
    return product;
}

static struct ir_value *lower_sum(struct lowering *l, const struct size *s, enum arithmetic mode)
{
    struct ranged sum = {0};
    for (int pass = 0; pass < 3; pass++) /* positive, negative, constant */
        for (int i = 0; i < s->count; i++) {
            const struct size *term = s->arg[i];
            const bool negative = is_negative_term(term);
            if ((term->kind == SIZE_CONST ? 2 : (int)negative) != pass) continue;
            if (!sum.value && !negative) {
                sum = lower_product(l, term, 1, mode);
                continue;
            }
            if (!sum.value) sum = constant(l, 0);
            sum = apply(l, negative ? OP_SUB : OP_ADD, sum, lower_product(l, term, negative ? -1 : 1, mode), mode);
        }
    return sum.value;
}

/* own: how the function itself does its arithmetic. */
static struct ir_value *lower_function_of_size(struct lowering *l, const char *name, const struct size *s,
                                               enum arithmetic own, enum arithmetic mode)
{
    struct ir_value *v = ir_function(l->mem, name, own, NULL, s->count);
    for (int i = 0; i < s->count; i++) v->arg[i] = lower_size(l, s->arg[i], mode);
    return v;
}

static enum ast_op op_of(enum size_kind kind)
{
    switch (kind) {
    case SIZE_DIV: return OP_DIV;
    case SIZE_MOD: return OP_MOD;
    case SIZE_OR: return OP_BITOR;
    case SIZE_XOR: return OP_BITXOR;
    case SIZE_AND: return OP_BITAND;
    case SIZE_SHL: return OP_SHL;
    default: return OP_SHR;
    }
}

static struct ir_value *leaf(struct lowering *l, enum ir_value_kind kind, const struct size *s)
{
    struct ir_value *v = ir_value_new(l->mem, kind, NULL);
    v->symbol = s->symbol;
    v->dim = s->dim;
    return v;
}

struct ir_value *lower_size(struct lowering *l, const struct size *s, enum arithmetic mode)
{
    /* a division is not proved by what was checked before */
    const enum arithmetic checked = mode == ARITH_PLAIN ? ARITH_CHECKED : mode;
    if (l->f && l->f->is_broken) return ir_value_new(l->mem, IR_UNKNOWN, NULL);
    switch (s->kind) {
    case SIZE_CONST: return ir_integer(l->mem, s->value);
    case SIZE_SYMBOL: return lower_symbol(l, s->symbol);
    case SIZE_STRIDE: return leaf(l, IR_STRIDE, s);
    case SIZE_AT: return leaf(l, IR_AT, s);
    case SIZE_EXTENT: return leaf(l, IR_EXTENT, s);
    case SIZE_ADD: return lower_sum(l, s, mode);
    case SIZE_MUL: return lower_product(l, s, 1, mode).value;
    case SIZE_DIV:
    case SIZE_MOD:
    case SIZE_OR:
    case SIZE_XOR:
    case SIZE_AND:
    case SIZE_SHL:
    case SIZE_SHR: {
        const struct ranged a = {lower_size(l, s->arg[0], mode), range_of_size(l->ranges, s->arg[0])};
        const struct ranged b = {lower_size(l, s->arg[1], mode), range_of_size(l->ranges, s->arg[1])};
        return apply(l, op_of(s->kind), a, b, checked).value;
    }
    case SIZE_MINIMUM: return lower_function_of_size(l, "pto_min", s, ARITH_PLAIN, checked);
    case SIZE_MAXIMUM: return lower_function_of_size(l, "pto_max", s, ARITH_PLAIN, checked);
    case SIZE_CEIL_DIV: return lower_function_of_size(l, "ceil_div", s, checked, checked);
    case SIZE_ABS: return lower_function_of_size(l, "abs", s, checked, checked);
    case SIZE_LOG2: return lower_function_of_size(l, "log2", s, checked, checked);
    }
    return NULL;
}

struct ir_value *lower_bytes(struct lowering *l, const struct type *t, enum arithmetic mode)
{
    if (l->f && l->f->is_broken) return ir_value_new(l->mem, IR_UNKNOWN, NULL);
    struct ranged total = constant(l, elem_bytes(t->elem));
    /* A product of constants alone would be an int. */
    int64_t known = total.range.lo, extent;
    for (int d = 0; d < t->rank && known <= INT32_MAX; d++)
        if (size_is_const(t->extent[d], &extent) && extent > 0) known = extent > INT32_MAX ? extent : known * extent;
    if (known > INT32_MAX) {
        total.value = ir_unary(l->mem, OP_NOT, total.value);
        total.value->kind = IR_CAST;
    }
    for (int d = 0; d < t->rank; d++)
        total = apply(l, OP_MUL, total,
                      (struct ranged){lower_size(l, t->extent[d], mode), range_of_size(l->ranges, t->extent[d])}, mode);
    return total.value;
}

struct ir_value *lower_stride(struct lowering *l, const struct type *t, int dim)
{
    struct ranged stride = {0};
    for (int d = dim + 1; d < t->rank; d++) {
        const struct ranged extent = {lower_size(l, t->extent[d], ARITH_CHECKED),
                                      range_of_size(l->ranges, t->extent[d])};
        stride = stride.value ? apply(l, OP_MUL, stride, extent, ARITH_CHECKED) : extent;
    }
    return stride.value ? stride.value : ir_integer(l->mem, 1);
}

/* ---- views ---- */

struct ir_view *lower_view(struct lowering *l, const struct region *r, enum view_parts parts)
{
    struct ir_view *v = arena_new(l->mem, struct ir_view);
    const enum arithmetic mode = r->is_loose ? ARITH_CHECKED : ARITH_PLAIN;
    v->region = r;
    v->offset = lower_size(l, r->offset, mode);
    for (int d = 0; d < r->rank && parts != VIEW_ELEMENT; d++) {
        if (parts == VIEW_OF_TASK || parts == VIEW_OF_PART) v->extent[d] = lower_size(l, r->extent[d], ARITH_PLAIN);
        if (parts != VIEW_OF_TASK || !r->contiguous) v->stride[d] = lower_size(l, r->stride[d], mode);
    }
    return v;
}

const struct region *lower_whole(struct lowering *l, const struct symbol *s)
{
    struct region *r = arena_new(l->mem, struct region);
    struct size_table *sizes = l->checked->sizes;
    const struct symbol *place = s->kind == SYM_FORMAL ? s : s->place; /* then its position is the caller's to choose */
    r->base = (struct symbol *)s;
    r->offset = place ? size_leaf(sizes, SIZE_AT, place, 0) : size_const(sizes, 0);
    r->rank = s->type->rank;
    r->contiguous = !place;
    r->whole = true;
    const struct size *stride = size_const(sizes, 1);
    for (int d = r->rank; d-- > 0;) {
        r->extent[d] = s->type->extent[d];
        r->stride[d] = place ? size_leaf(sizes, SIZE_STRIDE, place, d) : stride;
        if (stride && d > 0) stride = size_binary(sizes, SIZE_MUL, stride, r->extent[d]);
        if (!stride) stride = size_const(sizes, 0); /* such a tensor cannot be allocated, which the run time reports */
    }
    return r;
}
