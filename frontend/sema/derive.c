/* derive.c - types that are made of others: with sizes put in, as an array, as one element.
 * Owner      the arena.
 * Tests      test/lit/sema/
 */
#include "checker.h"

const struct type *derive_element(struct checker *c, enum elem e)
{
    switch (e) {
    case ELEM_F16:
    case ELEM_BF16:
    case ELEM_F32: return c->f32;
    case ELEM_F64: return c->f64;
    case ELEM_BOOL: return c->bool_;
    default: return c->int_;
    }
}

const struct type *derive_array(struct checker *c, const struct size *length, const struct type *element)
{
    struct type *t = arena_new(c->mem, struct type);
    if (element->kind == TYPE_STRUCT || element->kind == TYPE_ARRAY) {
        t->kind = TYPE_ARRAY;
        t->rank = 1;
        t->element = element;
    } else {
        static const enum elem elems[] = {
            [TYPE_INT] = ELEM_I64, [TYPE_F64] = ELEM_F64, [TYPE_F32] = ELEM_F32, [TYPE_BOOL] = ELEM_BOOL};
        t->kind = TYPE_TENSOR;
        t->elem = element->kind == TYPE_TENSOR ? element->elem : elems[element->kind];
        t->variable = element->variable;
        t->rank = element->rank + 1;
        t->array_rank = element->array_rank + 1;
        for (int d = 0; d < element->rank; d++) t->extent[d + 1] = element->extent[d];
    }
    t->extent[0] = length;
    return t;
}

void derive_extents(struct checker *c, struct type *t, const struct symbol *const *from, const struct size *const *to,
                    int count)
{
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = size_substitute(c->sizes, t->extent[d], from, to, count);
        if (extent) t->extent[d] = extent;
    }
}

const struct type *derive_type(struct checker *c, const struct type *t, const struct symbol *const *from,
                               const struct size *const *to, int count)
{
    if (t->kind != TYPE_TENSOR && t->kind != TYPE_STRUCT && t->kind != TYPE_ARRAY) return t;
    struct type *r = arena_new(c->mem, struct type);
    *r = *t;
    derive_extents(c, r, from, to, count);
    if (t->element) r->element = derive_type(c, t->element, from, to, count);
    return r;
}

const struct type *derive_tensor(struct checker *c, const struct region *r, enum elem elem, int array_rank)
{
    struct type *t = arena_new(c->mem, struct type);
    t->kind = TYPE_TENSOR;
    t->elem = elem;
    t->rank = r->rank;
    t->array_rank = array_rank;
    for (int d = 0; d < r->rank; d++) t->extent[d] = r->extent[d];
    return t;
}

const struct type *derive_with_array_rank(struct checker *c, const struct type *t, int array_rank)
{
    struct type *r = arena_new(c->mem, struct type);
    *r = *t;
    r->array_rank = array_rank;
    return r;
}

bool derive_same_structure(const struct type *a, const struct type *b)
{
    for (; a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY; a = a->element) b = b->element;
    return a->kind == b->kind && a->structure == b->structure;
}
