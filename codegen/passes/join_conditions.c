/* join_conditions.c - may two calls that follow each other become one, and is it worth it?
 * Idea       the statements of both run one after another in one task, so the results are those of two tasks wherever
 *            formals of the joined kernel do not overlap: a tensor that both name and one of them writes has to be the
 *            same region in both.  It pays where a tensor goes away, or where both write one region.
 * Invariant  what is joined needs no more heap at any point than the two calls do.
 * Tests      test/lit/codegen/join.pto, join-apart.pto
 *
 * Note [no more heap]: what only the first call uses is held until the joined task ends, where the outputs of the
 * second are there, too.  Either these take no more than the tensors that went away, or nothing ends with the first
 * call.
 */
#include "join_parts.h"
#include <string.h>

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }

enum { MAX_PARTS = 16 }; /* of one task: nobody could read the C of more */

static int part_count(const struct symbol *kernel)
{
    const int count = equations_of(kernel)->part_count;
    return count > 0 ? count : 1;
}

/* ---- one call ---- */

static void find_impure(void *cx, const struct ir_value *v)
{
    if (v->kind == IR_ELEMENT || v->kind == IR_RESULT || v->kind == IR_CHECKED || v->kind == IR_UNKNOWN)
        *(bool *)cx = false;
}

/* It reads no element, calls nothing and tests nothing. */
static bool is_pure(const struct ir_value *v)
{
    bool is_pure = true;
    struct ir_op op = {.kind = IR_LET};
    op.let.value = (struct ir_value *)v;
    ir_each_operand(&op, &(struct ir_operands){.cx = &is_pure, .value = find_impure});
    return is_pure;
}

static bool has_cost(const struct symbol *kernel)
{
    const struct ast *cost = kernel->decl->kernel->cost;
    return cost ? cost->value != NULL && cost->type->kind == TYPE_INT : equations_of(kernel)->cost != NULL;
}

bool join_is_possible(const struct ir_call *call)
{
    const struct symbol *k = call->callee;
    if (!equations_of(k) || k->opcode || call->attribute_count > 0 || call->binding->written) return false;
    if (k->declared_count != k->formal_count || !has_cost(k)) return false;
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *f = k->formals[i];
        const bool is_plain = f->dir == DIR_NONE || f->dir == DIR_IN || f->dir == DIR_OUT || f->dir == DIR_INOUT ||
                              (f->dir == DIR_ACC && !f->by);
        if (!is_plain || f->written) return false;
        if (is_tensor(f) != (call->arguments[i].kind == IR_ARG_TENSOR)) return false;
    }
    return true;
}

/* ---- regions ---- */

static bool is_same_size(struct size_table *t, const struct size *a, const struct size *b)
{
    return a == b || size_expand(t, a) == size_expand(t, b);
}

static bool is_same_region(struct size_table *t, const struct region *a, const struct region *b)
{
    if (a->base != b->base || a->rank != b->rank || !is_same_size(t, a->offset, b->offset)) return false;
    for (int d = 0; d < a->rank; d++)
        if (!is_same_size(t, a->extent[d], b->extent[d]) || !is_same_size(t, a->stride[d], b->stride[d])) return false;
    return true;
}

static const struct region *region_of_argument(const struct ir_call *call, int i)
{
    return is_tensor(call->callee->formals[i]) ? call->arguments[i].view->region : NULL;
}

static bool writes(const struct ir_call *call, int i) { return direction_writes(call->callee->formals[i]->dir); }

enum direction join_direction(enum direction first, enum direction second)
{
    if (first == second || first == DIR_OUT) return first;
    return direction_writes(first) || direction_writes(second) ? DIR_INOUT : first;
}

/* How many arguments of the call are pieces of the tensor? */
static int count_of(const struct ir_call *call, const struct symbol *base)
{
    int count = 0;
    for (int i = 0; i < call->callee->formal_count; i++) {
        const struct region *r = region_of_argument(call, i);
        count += r && r->base == base;
    }
    return count;
}

/* Finds the formals with one region; false: what one call writes, another formal could share with it. */
static bool merge_formals(const struct neighbours *n, struct joined_kernel *j)
{
    const struct ir_call *a = n->call[0], *b = n->call[1];
    for (int k = 0; k < b->callee->formal_count; k++) {
        const struct region *y = region_of_argument(b, k);
        j->merged[k] = -1;
        for (int i = 0; y && i < a->callee->formal_count; i++) {
            const struct region *x = region_of_argument(a, i);
            if (!x) continue;
            if (x->base != y->base) {
                if (x->base->exchange && x->base->exchange == y->base->exchange) return false;
                continue;
            }
            if (is_same_region(n->plan->checked->sizes, x, y)) {
                if (j->merged[k] < 0) j->merged[k] = i;
                if (writes(b, k) && count_of(a, x->base) > 1) return false;
            } else if (writes(a, i) || writes(b, k)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- indices ---- */

/* Each index is one variable of the statement, another one each, that runs over the whole dimension. */
static bool is_in_place(const struct eq_access *a)
{
    for (int d = 0; d < a->rank; d++) {
        const struct size *index = a->index[d].size;
        const struct eq_var *v = NULL;
        int64_t low;
        for (int i = 0; index && i < a->var_count; i++)
            if (index->kind == SIZE_SYMBOL && index->symbol == a->vars[i]->symbol) v = a->vars[i];
        if (!v || v->role == EQ_BOUND || !size_is_const(v->low, &low) || low != 0) return false;
        if (v->high != a->formal->type->extent[d]) return false;
        for (int e = 0; e < d; e++)
            if (a->index[e].size == index) return false;
    }
    return true;
}

/* What the first writes is read by the second at the index where it was written. */
static bool is_read_in_place(const struct neighbours *n, int first, int second)
{
    const struct equations *q[] = {equations_of(n->call[0]->callee), equations_of(n->call[1]->callee)};
    const struct symbol *formal[] = {n->call[0]->callee->formals[first], n->call[1]->callee->formals[second]};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < q[part]->access_count; i++) {
            const struct eq_access *a = q[part]->accesses[i];
            if (a->formal == formal[part] && a->is_target == (part == 0) && !is_in_place(a)) return false;
        }
    return true;
}

/* ---- indices that the kernel tests before it writes anything ---- */

struct dependence {
    const struct neighbours *n;
    const struct joined_kernel *j;
    const struct equations *q; /* of the second */
};

static bool is_written_by_first(const struct dependence *d, const struct symbol *formal)
{
    for (int k = 0; k < d->n->call[1]->callee->formal_count; k++)
        if (d->n->call[1]->callee->formals[k] == formal)
            return d->j->merged[k] >= 0 && writes(d->n->call[0], d->j->merged[k]);
    return false;
}

static bool depends(const struct dependence *d, const struct eq_expr *x)
{
    if (!x) return false;
    if (x->kind == EQ_LOAD) {
        const struct eq_access *a = x->access;
        if (a->formal && is_written_by_first(d, a->formal)) return true;
        for (int i = 0; i < a->rank; i++)
            if (depends(d, a->index[i].expr)) return true;
        for (int i = 0; a->temp && i < d->q->stmt_count; i++)
            if (d->q->stmts[i]->target->temp == a->temp && depends(d, d->q->stmts[i]->value)) return true;
    }
    return depends(d, x->a) || depends(d, x->b) || depends(d, x->c);
}

/* Such a test, and the conditions that it is made under, must not need what the first computes. */
static bool may_test_first(const struct neighbours *n, const struct joined_kernel *j)
{
    const struct dependence d = {n, j, equations_of(n->call[1]->callee)};
    for (int i = 0; i < d.q->access_count; i++) {
        const struct eq_access *a = d.q->accesses[i];
        for (int k = 0; k < a->rank; k++) {
            if (a->index[k].fate != EQ_CHECKED_HERE) continue;
            if (depends(&d, a->index[k].expr)) return false;
            for (const struct eq_guard *g = a->guard; g; g = g->outer)
                if (depends(&d, g->cond)) return false;
        }
    }
    return true;
}

/* ---- tensors that go away ---- */

static bool holds_reduction(const struct eq_expr *x)
{
    return x && (x->kind == EQ_REDUCE || holds_reduction(x->a) || holds_reduction(x->b) || holds_reduction(x->c));
}

/* f16 and bf16 as the f32 of a temporary: sums are rounded at every addition, where they are stored; and the order of a
 * reduction may depend on the type that it is stored as. */
static bool adds_to_small(const struct symbol *kernel, const struct symbol *formal)
{
    const struct equations *q = equations_of(kernel);
    if (formal->type->elem != ELEM_F16 && formal->type->elem != ELEM_BF16) return false;
    for (int i = 0; i < q->stmt_count; i++)
        if (q->stmts[i]->target->formal == formal &&
            (q->stmts[i]->kind == EQ_PLUS || holds_reduction(q->stmts[i]->value)))
            return true;
    return false;
}

static int operations_naming(const struct neighbours *n, const struct symbol *t)
{
    const struct named *named = n->find(n->cx, t);
    return named && named->tensor ? named->operations : 0;
}

/* Only the two calls name it, and its first value is the one that the first call writes. */
static bool goes_away(const struct neighbours *n, const struct joined_kernel *j, int first)
{
    const struct symbol *t = n->call[0]->arguments[first].view->region->base;
    const struct tensor_note *note = tensor_note_of(n->plan->checked, t);
    int merged = 0;
    if (n->call[0]->callee->formals[first]->dir != DIR_OUT || !tensor_is_new(t) || t->place || t->exchange)
        return false;
    if (t->decided_count > 0 || note->needs_flag || note->escapes || operations_naming(n, t) != 2) return false;
    if (adds_to_small(n->call[0]->callee, n->call[0]->callee->formals[first])) return false;
    for (int k = 0; k < n->call[1]->callee->formal_count; k++) {
        merged += j->merged[k] == first;
        if (j->merged[k] == first && adds_to_small(n->call[1]->callee, n->call[1]->callee->formals[k])) return false;
    }
    return merged == count_of(n->call[1], t) && count_of(n->call[0], t) == 1;
}

/* ---- what it needs ---- */

static bool is_at_most(struct size_table *t, const struct type *a, const struct type *b)
{
    if (a->rank != b->rank || elem_bytes(a->elem) > elem_bytes(b->elem)) return false;
    for (int d = 0; d < a->rank; d++)
        if (!is_same_size(t, a->extent[d], b->extent[d])) return false;
    return true;
}

/* Takes one of the tensors that go away that is as large as the new one; false: there is none. */
static bool is_made_up_for(const struct neighbours *n, const struct joined_kernel *j, const struct symbol *made,
                           bool taken[MAX_FORMALS])
{
    for (int i = 0; i < n->call[0]->callee->formal_count; i++) {
        if (!j->is_dropped[i] || taken[i]) continue;
        if (!is_at_most(n->plan->checked->sizes, made->type, n->call[0]->arguments[i].view->region->base->type))
            continue;
        taken[i] = true;
        return true;
    }
    return false;
}

static bool is_made(const struct symbol *t) { return t->place || tensor_is_new(t); }

/* May a lifetime end with the first call? */
static bool ends_a_lifetime(const struct neighbours *n)
{
    for (int i = 0; i < n->call[0]->callee->formal_count; i++) {
        const struct region *r = region_of_argument(n->call[0], i);
        if (!r || count_of(n->call[1], r->base) > 0) continue;
        if (tensor_is_new(r->base) || r->base->dir == DIR_OWN) return true;
    }
    return false;
}

/* See Note [no more heap]. */
static bool needs_no_more(const struct neighbours *n, const struct joined_kernel *j)
{
    bool taken[MAX_FORMALS] = {false}, is_covered = true;
    for (size_t i = 0; i < n->allocated_count; i++) is_covered &= is_made_up_for(n, j, n->allocated[i], taken);
    for (int k = 0; k < n->call[1]->callee->formal_count; k++) {
        const struct region *r = region_of_argument(n->call[1], k);
        if (!r || n->call[1]->callee->formals[k]->dir != DIR_OUT || j->merged[k] >= 0 || !is_made(r->base)) continue;
        is_covered &= is_made_up_for(n, j, r->base, taken);
    }
    return is_covered || !ends_a_lifetime(n);
}

/* ---- the whole ---- */

static bool have_one_worker(const struct symbol *a, const struct symbol *b)
{
    const char *x = a->decl->kernel->worker, *y = b->decl->kernel->worker;
    return !x || !y || strcmp(x, y) == 0;
}

static bool is_on_cube(const struct symbol *k)
{
    return k->decl->kernel->worker && strcmp(k->decl->kernel->worker, "cube") == 0;
}

/* A task on a cube core is one contraction, with elementwise work on its result. */
static bool fits_worker(const struct symbol *a, const struct symbol *b)
{
    const struct equations *q = equations_of(b);
    if (!is_on_cube(a) && !is_on_cube(b)) return true;
    for (int i = 0; i < q->stmt_count; i++)
        if (holds_reduction(q->stmts[i]->value)) return false;
    return true;
}

bool join_conditions(const struct neighbours *n, struct joined_kernel *j)
{
    const struct ir_call *a = n->call[0], *b = n->call[1];
    bool is_worth_it = false;
    *j = (struct joined_kernel){.parts = {a->callee, b->callee}};
    if (!have_one_worker(a->callee, b->callee) || !fits_worker(a->callee, b->callee)) return false;
    if (part_count(a->callee) + part_count(b->callee) > MAX_PARTS) return false;
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < n->call[c]->count; i++)
            if (n->call[c]->arguments[i].value && !is_pure(n->call[c]->arguments[i].value)) return false;
    if (!merge_formals(n, j)) return false;
    for (int k = 0; k < b->callee->formal_count; k++) {
        const int m = j->merged[k];
        if (m < 0 || !writes(a, m)) continue;
        if (!is_read_in_place(n, m, k)) return false;
        is_worth_it |= writes(b, k);
        j->is_dropped[m] = goes_away(n, j, m);
        is_worth_it |= j->is_dropped[m];
    }
    const int result = a->binding->result_formal;
    const struct symbol *made = a->binding->result_symbol;
    if (made && made->hidden && result >= 0 && !j->is_dropped[result]) return false;
    return is_worth_it && may_test_first(n, j) && needs_no_more(n, j);
}
