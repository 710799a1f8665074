/* accesses.c - elements of tensors and temporaries in a kernel in index notation.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"
#include <string.h>

static bool fail(struct eq_work *w)
{
    w->failed = true;
    return false;
}

/* The tensor or temporary that `name` is. */
static bool find_object(struct eq_work *w, const char *name, struct span at, struct eq_access *a)
{
    const struct eq_name *n = eq_find(w, name);
    struct symbol *s = n ? NULL : eq_outer(w, name);
    if (n && n->kind == EQ_NAME_TEMP) {
        a->temp = n->temp;
        a->rank = n->temp->rank;
        if (!n->has_ended) return true;
        diag_error(w->c->diag, DIAG_E19, at, "'%s' belongs to one iteration of a 'for' that has ended", name);
        diag_note(w->c->diag, n->at, "its indices do not name the variable of that 'for'");
        return fail(w);
    }
    if (n && n->kind == EQ_NAME_BAD) return fail(w);
    if (s && s->type->kind == TYPE_ERROR) return fail(w);
    if (s && s->kind == SYM_FORMAL && s->type->kind == TYPE_TENSOR) {
        s->is_named = true;
        a->formal = s;
        a->rank = s->type->rank;
        return true;
    }
    if (n || s)
        diag_error(w->c->diag, DIAG_E03, at, "'%s' is one number: it has no indices", name);
    else if (!eq_is_read_early(w, name, at))
        names_unknown(w->c, at, name, "tensor", NULL);
    return fail(w);
}

static bool one_index(struct eq_work *w, struct ast *point, struct eq_access *a, int dim)
{
    struct eq_index *index = &a->index[dim];
    index->at = point->at;
    if (point->kind != AST_INDEX_POINT || point->range.step) {
        diag_error(w->c->diag, DIAG_E19, point->at, "an index of an element is one number, not a range");
        diag_help(w->c->diag, "a statement runs over the whole range of an index variable: y[i] = x[i];");
        return fail(w);
    }
    struct eq_value v = eq_value_of(w, point->range.low);
    if (!v.expr) return false;
    if (!eq_is_integer(v.type) || (v.is_literal && eq_has_real_literal(v.expr))) {
        diag_error(w->c->diag, DIAG_E02, point->at, "an index must be an integer, not %s", eq_type_text(w, &v));
        return fail(w);
    }
    if (eq_refuse_large(w, &v, point->at)) return false;
    if (v.is_literal) v = (struct eq_value){eq_convert(w, v, ELEM_I64), ELEM_I64, false};
    index->size = eq_as_size(w, &v);
    if (!index->size) index->expr = eq_convert(w, v, ELEM_I64);
    return true;
}

static bool all_indices(struct eq_work *w, struct ast *n, const char *name, struct eq_access *a)
{
    int given = 0;
    bool good = true;
    for (const struct ast *i = n->index.indices; i; i = i->next) given++;
    if (given != a->rank) {
        diag_error(w->c->diag, DIAG_E03, n->at, "'%s' has %d dimension%s, and here %s %d %s", name, a->rank,
                   a->rank == 1 ? "" : "s", given == 1 ? "is" : "are", given, given == 1 ? "index" : "indices");
        return fail(w);
    }
    int d = 0;
    for (struct ast *i = n->index.indices; i; i = i->next) good &= one_index(w, i, a, d++);
    return good;
}

struct eq_access *eq_access_of(struct eq_work *w, struct ast *n, bool is_target)
{
    const struct ast *object = n->index.object; /* NULL: of a temporary that is one number, whose name `n` has */
    if (n->index.is_shape || (object && object->kind != AST_NAME)) {
        diag_error(w->c->diag, DIAG_E19, n->at,
                   "an element is a formal or a temporary with an index for each dimension");
        const struct ast *i = n->index.indices, *inner = object && object->kind == AST_INDEX ? object : NULL;
        if (!n->index.is_shape && i && !i->next && inner && !inner->index.is_shape && inner->index.indices &&
            !inner->index.indices->next && inner->index.object && inner->index.object->kind == AST_NAME)
            diag_fix(w->c->diag, (struct span){n->at.file, inner->at.end - 1, i->at.begin}, ", ", "write [i, j]");
        w->failed = true;
        return NULL;
    }
    const char *name = object ? object->name : n->name;
    struct eq_access *a = arena_new(w->c->mem, struct eq_access);
    a->at = n->at;
    a->is_target = is_target;
    if (!find_object(w, name, object ? object->at : n->at, a)) return NULL;
    if (object && !all_indices(w, n, name, a)) return NULL;
    a->stmt = w->stmt;
    a->guard = w->guard;
    if (!is_target) vec_push(&w->accesses, a);
    a->var_count = (int)w->in_scope.count;
    const struct eq_var **vars = arena_array(w->c->mem, const struct eq_var *, w->in_scope.count + 1);
    if (w->in_scope.count) memcpy(vars, w->in_scope.data, w->in_scope.count * sizeof *vars);
    a->vars = vars;
    return a;
}
