/* type_nodes.c - the meaning of a type in the text.
 * Gives      node->type of TYPE_NAME and TYPE_ARRAY.
 * Invariant  extents that are known are not negative, and the bytes of a tensor fit in 64 bits where they are known.
 * Tests      test/lit/sema/e12*.pto e15-constants.pto
 */
#include "decided.h"
#include <string.h>

/* An extent 0 leaves no bytes, and the strides are products of the others: so these have to fit in any order. */
static bool check_bytes(struct checker *c, const struct type *t, struct span at)
{
    const struct size *bytes = size_const(c->sizes, elem_bytes(t->variable ? ELEM_F64 : t->elem)); /* the largest */
    bool is_empty = false;
    for (int d = 0; d < t->rank; d++) {
        const struct size *inner = bytes;
        int64_t extent;
        if (size_is_const(t->extent[d], &extent) && extent == 0) {
            is_empty = true;
            continue;
        }
        if ((bytes = size_binary(c->sizes, SIZE_MUL, inner, t->extent[d]))) continue;
        if (!size_is_const(inner, NULL) || !size_is_const(t->extent[d], NULL)) return true; /* the run computes it */
        for (; d < t->rank; d++) is_empty |= size_is_const(t->extent[d], &extent) && extent == 0;
        diag_error(c->diag, DIAG_E15, at, "the number of bytes%s does not fit in 64 bits",
                   is_empty ? ", without the extents 0," : "");
        return false;
    }
    return true;
}

static bool read_extents(struct checker *c, struct ast *dims, struct type *t)
{
    bool good = true;
    for (struct ast *d = dims; d; d = d->next) {
        int64_t value;
        const struct size *extent = d->kind == AST_DECIDED ? decided_extent(c, d) : exprs_size(c, d, "an extent");
        if (!extent)
            good = false;
        else if (size_is_const(extent, &value) && value < 0) {
            diag_error(c->diag, DIAG_E15, d->at, "the extent %lld is negative", (long long)value);
            good = false;
        }
        if (t->rank == MAX_RANK) {
            diag_error(c->diag, DIAG_E03, d->at, "more than %d dimensions", MAX_RANK);
            return false;
        }
        t->extent[t->rank++] = extent;
    }
    return good && (t->kind != TYPE_TENSOR || check_bytes(c, t, dims->at));
}

static const struct type *scalar_type(struct checker *c, struct ast *node, enum elem e)
{
    switch (e) {
    case ELEM_I64: return node->type = c->int_;
    case ELEM_F64: return node->type = c->f64;
    case ELEM_F32: return node->type = c->f32;
    case ELEM_BOOL: return node->type = c->bool_;
    default:
        diag_error(c->diag, DIAG_E02, node->at, "a scalar is i64, f64, f32 or bool, not %s", elem_name(e));
        return notes_fail(c, node);
    }
}

static struct symbol *find_struct(struct checker *c, struct ast *node)
{
    const char *module = node->type_name.module;
    struct symbol *m = module ? declare_lookup(c, module) : NULL, *s = NULL;
    if (module && (!m || m->kind != SYM_MODULE)) {
        names_unknown(c, node->type_name.module_at, module, "module", NULL);
        return NULL;
    }
    if (m) {
        m->is_named = true;
        if (!m->target) return NULL;
        if ((s = names_in_module(m->target, node->name))) declare_resolve(c, s);
    } else {
        s = declare_lookup(c, node->name);
    }
    if (s && s->kind == SYM_STRUCT) return s;
    if (s) {
        diag_error(c->diag, DIAG_E19, node->name_at, "'%s' is not a type", node->name);
        return NULL;
    }
    names_unknown(c, node->name_at, node->name, "type", m ? m->target : NULL);
    return NULL;
}

/* The most dimensions that a tensor has which is somewhere in t. */
static int deepest(const struct type *t)
{
    int most = t->kind == TYPE_TENSOR ? t->rank : 0;
    if (t->kind == TYPE_ARRAY) return 1 + deepest(t->element);
    for (int i = 0; t->kind == TYPE_STRUCT && i < t->structure->formal_count; i++) {
        int depth = deepest(t->structure->formals[i]->type);
        if (depth > most) most = depth;
    }
    return most;
}

static const struct type *array_type(struct checker *c, struct ast *node)
{
    const struct size *length = exprs_size(c, node->type_array.length, "the length of an array");
    const struct type *element = type_nodes_check(c, node->type_array.element), *t;
    int64_t value;
    if (!length || element->kind == TYPE_ERROR) return notes_fail(c, node);
    if (size_is_const(length, &value) && value < 0) {
        diag_error(c->diag, DIAG_E15, node->type_array.length->at, "the length %lld of an array is negative",
                   (long long)value);
        return notes_fail(c, node);
    }
    if (deepest(element) >= MAX_RANK) {
        diag_error(c->diag, DIAG_E03, node->at, "more than %d dimensions: those of arrays count, too", MAX_RANK);
        return notes_fail(c, node);
    }
    t = derive_array(c, length, element);
    if (t->kind == TYPE_TENSOR && !check_bytes(c, t, node->at)) return notes_fail(c, node);
    return node->type = t;
}

const struct type *type_nodes_check(struct checker *c, struct ast *node)
{
    if (node->kind == AST_TYPE_ARRAY) return array_type(c, node);
    struct type *t = arena_new(c->mem, struct type);
    enum elem elem = node->type_name.module ? ELEM_NONE : elem_named(node->name);
    if (elem && !node->type_name.dims) return scalar_type(c, node, elem);
    if (elem) {
        t->kind = TYPE_TENSOR;
        t->elem = elem;
        return read_extents(c, node->type_name.dims, t) ? (node->type = t) : notes_fail(c, node);
    }
    struct symbol *variable = node->type_name.module ? NULL : names_in_scope(c, node->name);
    if (variable && variable->kind == SYM_ELEM) {
        variable->is_named = true;
        t->kind = TYPE_TENSOR;
        t->variable = variable;
        if (node->type_name.dims)
            return read_extents(c, node->type_name.dims, t) ? (node->type = t) : notes_fail(c, node);
        diag_error(c->diag, DIAG_E02, node->at, "a scalar is i64, f64, f32 or bool, not the element type '%s'",
                   node->name);
        return notes_fail(c, node);
    }
    struct symbol *s = find_struct(c, node);
    if (!s) {
        for (struct ast *d = node->type_name.dims; d; d = d->next)
            if (d->kind != AST_DECIDED) exprs_check(c, d, AS_VALUE);
        return notes_fail(c, node);
    }
    s->is_named = true;
    node->symbol = s;
    t->kind = TYPE_STRUCT;
    t->structure = s;
    if (!read_extents(c, node->type_name.dims, t) || s->type->kind == TYPE_ERROR) return notes_fail(c, node);
    if (t->rank != s->dim_count) {
        diag_error(c->diag, DIAG_E03, node->at, "struct '%s' has %d dimension variable%s, not %d", s->name,
                   s->dim_count, s->dim_count == 1 ? "" : "s", t->rank);
        return notes_fail(c, node);
    }
    return node->type = t;
}
