/* by_columns.c - matrices that lie by columns, as transposed views do.
 * Idea       where all tensors are matrices of one shape and each equation names their elements [i, j] alone, rows and
 *            columns may change places: the kernel gets the columns for rows.  So it has one more version, for matrices
 *            whose columns are contiguous, which is as fast as that for contiguous rows.
 * Invariant  the versions compute the same: no element depends on another one, nor on its place.
 * Tests      test/lit/codegen/index-by-columns.pto, test/lit/run/index-by-columns.pto
 */
#include "parts.h"

static bool is_dimension(struct eq_printer *p, const struct size *extent)
{
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->dim_count; i++)
        if (extent == size_symbol(p->sizes, k->dims[i])) return true;
    return false;
}

/* Are all tensors square matrices, or is their shape that of the kernel's two dimensions? */
static bool are_matrices_alike(struct eq_printer *p)
{
    const struct symbol *k = p->q->kernel;
    const struct type *first = NULL;
    for (int i = 0; i < k->formal_count; i++) {
        const struct type *t = k->formals[i]->type;
        if (t->kind != TYPE_TENSOR) continue;
        if (!first) first = t;
        if (t->rank != 2 || t->extent[0] != first->extent[0] || t->extent[1] != first->extent[1]) return false;
    }
    if (!first || first->extent[0] == first->extent[1]) return first;
    return k->dim_count == 2 && is_dimension(p, first->extent[0]) && is_dimension(p, first->extent[1]);
}

/* [i, j] of the statement's own variables, which are in that order. */
static bool is_own_element(struct eq_printer *p, const struct eq_access *a)
{
    const struct eq_stmt *s = a->stmt;
    if (a->rank != 2 || s->free_count != 2) return false;
    for (int d = 0; d < 2; d++)
        if (a->index[d].size != size_symbol(p->sizes, s->frees[d]->symbol)) return false;
    return true;
}

/* Is a place, an extent or a reduction in the value? */
static bool names_sizes(const struct eq_expr *x)
{
    return x &&
           (x->kind == EQ_SIZE || x->kind == EQ_REDUCE || names_sizes(x->a) || names_sizes(x->b) || names_sizes(x->c));
}

bool equation_may_go_by_columns(struct eq_printer *p)
{
    const struct equations *q = p->q;
    if (q->may_fail || q->part_count > 0 || !are_matrices_alike(p)) return false;
    for (int i = 0; i < q->stmt_count; i++)
        if (q->stmts[i]->loop_count > 0 || q->stmts[i]->carried || names_sizes(q->stmts[i]->value)) return false;
    for (int i = 0; i < q->access_count; i++)
        if (!is_own_element(p, q->accesses[i])) return false;
    return true;
}
