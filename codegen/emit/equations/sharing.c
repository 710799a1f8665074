/* sharing.c - which statements share a loop, and what is left of a temporary then.
 * Idea       consecutive statements with the same range of a variable share its loop if whatever one of them writes and
 *            another one touches has that variable, and nothing else that varies, in the same dimension: then no two
 *            iterations meet.  The same is asked again inside of the loop.  A dimension of a temporary that runs with a
 *            loop around all its uses is not kept; of the others, a temporary that is consumed in place lies in the
 *            output.  The `for`s of the text stand as written where an iteration reads what an earlier one wrote;
 *            other `for`s run in the order of the dimensions of the left side.
 * Invariant  no result depends on what is shared.
 * Tests      test/lit/codegen/index-sharing.pto
 */
#include "parts.h"

struct ordered {
    const struct eq_stmt *stmt;
    const struct eq_var **vars; /* outermost first */
    int count;
};

/* ---- the order of a statement's loops ---- */

bool equation_names_loop(const struct size *s)
{
    if (s->kind == SIZE_SYMBOL) return s->symbol->kind == SYM_LOOP;
    for (int i = 0; i < s->count; i++)
        if (equation_names_loop(s->arg[i])) return true;
    return false;
}

bool equation_is_alone(const struct eq_printer *p, const struct eq_index *index, const struct eq_var *v)
{
    if (!index->size) return false;
    const struct size *rest = size_sub(p->sizes, index->size, size_symbol(p->sizes, v->symbol));
    return rest && !equation_names_loop(rest);
}

static bool is_in(const struct eq_stmt *s, const struct eq_var *v)
{
    for (int i = 0; i < s->loop_count; i++)
        if (s->loops[i] == v) return true;
    return false;
}

static bool is_free_of(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *v)
{
    if (s->carried || !s->is_injective || s->kind == EQ_LET) return false;
    for (int d = 0; d < s->target->rank; d++)
        if (equation_is_alone(p, &s->target->index[d], v))
            return equation_names_loop(v->low) == false && equation_names_loop(v->high) == false;
    return false;
}

/* Every statement in the outermost `for` may run all of its iterations at once. */
static bool may_reorder(const struct eq_printer *p, const struct eq_stmt *s)
{
    for (int k = 0; k < p->q->stmt_count; k++) {
        const struct eq_stmt *other = p->q->stmts[k];
        if (!is_in(other, s->loops[0])) continue;
        for (int i = 0; i < other->loop_count; i++)
            if (!is_free_of(p, other, other->loops[i])) return false;
        for (int i = 0; i < other->free_count; i++)
            if (!is_free_of(p, other, other->frees[i])) return false;
    }
    return true;
}

static struct ordered order_of(const struct eq_printer *p, const struct eq_stmt *s)
{
    struct ordered o = {.stmt = s, .count = s->loop_count + s->free_count};
    o.vars = arena_array(p->e->mem, const struct eq_var *, o.count + 1);
    for (int i = 0; i < o.count; i++) o.vars[i] = i < s->loop_count ? s->loops[i] : s->frees[i - s->loop_count];
    struct eq_contraction contraction;
    if (equation_is_contraction(p, s, &contraction)) { /* the library runs over these two */
        o.count = 0;
        for (int i = 0; i < s->free_count; i++)
            if (s->frees[i] != contraction.i && s->frees[i] != contraction.j) o.vars[o.count++] = s->frees[i];
    }
    if (s->loop_count == 0 || !may_reorder(p, s)) return o;
    const struct eq_var **sorted = arena_array(p->e->mem, const struct eq_var *, o.count + 1);
    int n = 0;
    for (int d = 0; d < s->target->rank; d++)
        for (int i = 0; i < o.count; i++)
            if (equation_is_alone(p, &s->target->index[d], o.vars[i])) sorted[n++] = o.vars[i];
    if (n == o.count) o.vars = sorted;
    return o;
}

/* ---- may they share? ---- */

static bool is_same_object(const struct eq_access *a, const struct eq_access *b)
{
    return a->formal ? a->formal == b->formal : a->temp == b->temp;
}

/* No two iterations meet: some dimension has the loop's variable in both. */
static bool is_apart(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *va,
                     const struct eq_access *b, const struct eq_var *vb)
{
    for (int d = 0; d < a->rank && d < b->rank; d++)
        if (equation_is_alone(p, &a->index[d], va) && equation_is_alone(p, &b->index[d], vb) &&
            size_sub(p->sizes, a->index[d].size, size_symbol(p->sizes, va->symbol)) ==
                size_sub(p->sizes, b->index[d].size, size_symbol(p->sizes, vb->symbol)))
            return true;
    return false;
}

static bool may_share(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_var *vs,
                      const struct eq_stmt *t, const struct eq_var *vt)
{
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->stmt != s) continue;
        for (int k = 0; k < p->q->access_count; k++) {
            const struct eq_access *b = p->q->accesses[k];
            if (b->stmt != t || !is_same_object(a, b) || (!a->is_target && !b->is_target)) continue;
            if (!is_apart(p, a, vs, b, vt)) return false;
        }
    }
    return true;
}

bool equation_has_same_range(const struct eq_printer *p, const struct eq_var *a, const struct eq_var *b)
{
    return equation_canonical(p, a->low) == equation_canonical(p, b->low) &&
           equation_canonical(p, a->high) == equation_canonical(p, b->high);
}

/* ---- the tree ---- */

void equation_merge(struct eq_printer *p, const struct eq_var *v, const struct eq_var *into)
{
    if (v == into) return;
    p->from[p->same_count] = v->symbol;
    p->to[p->same_count++] = equation_canonical(p, size_symbol(p->sizes, into->symbol));
}

/* The loop that is done for a group of elements at a time is the statement's own. */
static bool is_own(const struct eq_printer *p, const struct ordered *o, int depth)
{
    return depth == o->count - 1 && o->stmt->free_count > 0 &&
           o->vars[depth] == o->stmt->frees[o->stmt->free_count - 1] && equation_in_lanes(p, o->stmt);
}

static bool joins(const struct eq_printer *p, const struct ordered *group, int count, int depth)
{
    const struct ordered *next = &group[count];
    if (next->count <= depth) return false;
    const struct eq_var *v = next->vars[depth], *first = group[0].vars[depth];
    if (v == first) return true;
    if (is_own(p, next, depth) || is_own(p, group, depth)) return false;
    if (v->role == EQ_FOR && is_in(next->stmt, v) && !may_reorder(p, next->stmt)) return false;
    if (first->role == EQ_FOR && !may_reorder(p, group[0].stmt)) return false;
    if (!equation_has_same_range(p, v, first)) return false;
    for (int i = 0; i < count; i++)
        if (!may_share(p, group[i].stmt, group[i].vars[depth], next->stmt, v)) return false;
    return true;
}

static struct eq_node *build(struct eq_printer *p, struct eq_node *parent, const struct ordered *list, int count,
                             int depth)
{
    struct eq_node *first = NULL, **end = &first;
    for (int i = 0; i < count;) {
        struct eq_node *node = arena_new(p->e->mem, struct eq_node);
        node->parent = parent;
        *end = node;
        end = &node->next;
        if (list[i].count <= depth) {
            node->stmt = list[i++].stmt;
            continue;
        }
        int n = 1;
        while (i + n < count && joins(p, &list[i], n, depth)) n++;
        node->var = list[i].vars[depth];
        for (int k = 1; k < n; k++) equation_merge(p, list[i + k].vars[depth], node->var);
        node->child = build(p, node, &list[i], n, depth + 1);
        i += n;
    }
    return first;
}

/* ---- temporaries ---- */

static const struct eq_node *leaf_of(const struct eq_node *first, const struct eq_stmt *s)
{
    for (const struct eq_node *n = first; n; n = n->next) {
        const struct eq_node *found = n->stmt == s ? n : n->child ? leaf_of(n->child, s) : leaf_of(n->first, s);
        if (found) return found;
    }
    return NULL;
}

static bool encloses(const struct eq_node *outer, const struct eq_node *n)
{
    for (; n; n = n->parent)
        if (n == outer) return true;
    return false;
}

static const struct eq_access *target_of(const struct eq_printer *p, const struct eq_temp *t)
{
    for (int i = 0; i < p->q->access_count; i++)
        if (p->q->accesses[i]->temp == t && p->q->accesses[i]->is_target) return p->q->accesses[i];
    return NULL;
}

/* The innermost loop around all uses; NULL: the kernel. */
static const struct eq_node *common_loop(struct eq_printer *p, const struct eq_temp *t)
{
    const struct eq_access *target = target_of(p, t);
    const struct eq_node *common = target ? leaf_of(p->tree, target->stmt) : NULL;
    common = common ? common->parent : NULL;
    for (int i = 0; i < p->q->access_count && common; i++) {
        if (p->q->accesses[i]->temp != t) continue;
        const struct eq_node *use = leaf_of(p->tree, p->q->accesses[i]->stmt);
        if (!use) return NULL; /* it was done before: with the tests */
        while (common && !encloses(common, use)) common = common->parent;
    }
    return common;
}

static bool is_dropped(struct eq_printer *p, const struct eq_temp *t, int d, const struct eq_node *loop)
{
    const struct eq_access *target = target_of(p, t);
    const struct size *index = target->index[d].size ? equation_canonical(p, target->index[d].size) : NULL;
    bool varies = false;
    for (; index && loop; loop = loop->parent)
        varies |=
            size_names(index, loop->var->symbol) && equation_is_alone(p, &(struct eq_index){.size = index}, loop->var);
    for (int i = 0; varies && i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->temp == t && (!a->index[d].size || equation_canonical(p, a->index[d].size) != index)) return false;
    }
    return varies;
}

static bool is_same_index(const struct eq_printer *p, const struct eq_index *a, const struct eq_index *b)
{
    return a->size && b->size && equation_canonical(p, a->size) == equation_canonical(p, b->size);
}

static bool is_whole(const struct eq_temp *t, const struct type *output)
{
    int64_t low;
    if (output->elem != t->elem || output->rank != t->rank) return false;
    for (int d = 0; d < t->rank; d++)
        if (output->extent[d] != t->extent[d] || !size_is_const(t->low[d], &low) || low != 0) return false;
    return true;
}

/* No two iterations of a loop around both statements meet in an element, if temporary and output are one. */
static bool is_apart_from(const struct eq_printer *p, const struct eq_access *a, const struct eq_access *target)
{
    const struct eq_node *use = leaf_of(p->tree, a->stmt), *last = leaf_of(p->tree, target->stmt);
    for (const struct eq_node *loop = use->parent; loop; loop = loop->parent) {
        if (!encloses(loop, last)) continue;
        bool is_apart = false;
        for (int d = 0; d < a->rank; d++)
            is_apart |=
                is_same_index(p, &a->index[d], &target->index[d]) &&
                equation_is_alone(p, &(struct eq_index){.size = equation_canonical(p, a->index[d].size)}, loop->var);
        if (!is_apart) return false;
    }
    return true;
}

static bool is_same_place(const struct eq_printer *p, const struct eq_access *a, const struct eq_access *b)
{
    for (int d = 0; d < a->rank; d++)
        if (!is_same_index(p, &a->index[d], &b->index[d])) return false;
    return true;
}

/* A sum that the library computes is in the output before the rest of the value is. */
static bool is_written_before_read(const struct eq_printer *p, const struct eq_stmt *s)
{
    struct eq_contraction contraction;
    return equation_is_contraction(p, s, &contraction);
}

/* Is the output written from the temporary in place: nothing else touches it, and whoever reads an element of the
 * temporary does so before that element is written? */
static bool is_consumed_by(const struct eq_printer *p, const struct eq_temp *t, const struct eq_access *target)
{
    if (!target->formal || target->formal->dir != DIR_OUT || target->stmt->kind != EQ_ASSIGN) return false;
    if (!is_whole(t, target->formal->type) || is_written_before_read(p, target->stmt)) return false;
    for (int i = 0; i < p->q->temp_count; i++)
        if (p->storage[p->q->temps[i]->id].output == target->formal) return false;
    bool is_read = false;
    for (int i = 0; i < p->q->access_count; i++) {
        const struct eq_access *a = p->q->accesses[i];
        if (a->formal == target->formal && a != target) return false;
        if (a->temp != t) continue;
        if (!leaf_of(p->tree, a->stmt)) return false; /* it was done before: with the tests */
        const bool is_last = a->stmt == target->stmt;
        if (a->stmt->id > target->stmt->id || (is_last && a->is_target)) return false;
        if (!(is_last ? is_same_place(p, a, target) : is_apart_from(p, a, target))) return false;
        is_read |= !a->is_target && is_same_place(p, a, target);
    }
    return is_read;
}

/* The output where a temporary of a whole tensor can lie. */
static const struct symbol *output_of(const struct eq_printer *p, const struct eq_temp *t)
{
    for (int i = 0; i < p->q->access_count; i++)
        if (p->q->accesses[i]->is_target && is_consumed_by(p, t, p->q->accesses[i])) return p->q->accesses[i]->formal;
    return NULL;
}

struct eq_node *equation_loops(struct eq_printer *p, const struct eq_stmt *s)
{
    const struct ordered o = order_of(p, s);
    return build(p, NULL, &o, 1, 0);
}

void equation_share(struct eq_printer *p, const struct eq_stmt *const *stmts, int count)
{
    struct ordered *list = arena_array(p->e->mem, struct ordered, count + 1);
    for (int i = 0; i < count; i++) list[i] = order_of(p, stmts[i]);
    p->tree = build(p, NULL, list, count, 0);
    equation_join_loops(p, &p->tree);
    for (int i = 0; i < p->q->temp_count; i++) {
        const struct eq_temp *t = p->q->temps[i];
        struct eq_storage *s = &p->storage[t->id];
        const struct eq_node *loop = common_loop(p, t);
        s->dims = 0;
        for (int d = 0; d < t->rank; d++) {
            s->is_dropped[d] = loop && is_dropped(p, t, d, loop);
            s->dims += !s->is_dropped[d];
        }
        s->in = s->dims == 0 ? loop : NULL;
        s->output = s->dims > 0 ? output_of(p, t) : NULL;
    }
}
