/* equations.c - checks one kernel in index notation, and leaves its typed form.
 * Idea       the order of things: statements, then the left sides together, coverage, cost.
 * Owner      struct equations, in the front end's arena, found by its kernel.
 * Invariant  a kernel with an error has no form.
 * Tests      test/lit/equations/
 */
#include "parts.h"
#include <string.h>

/* ---- a kernel on `cube` ------------------------------------------------------------------------------------------ */

static bool is_load(const struct eq_expr *e)
{
    while (e->kind == EQ_CAST) e = e->a;
    return e->kind == EQ_LOAD;
}

/* The reductions in it; *contraction: how many are sums of a product of two loads. */
static int count_reductions(const struct eq_expr *e, int *contraction)
{
    if (!e) return 0;
    const bool is_one = e->kind == EQ_REDUCE && e->reduce.kind == EQ_SUM && e->a->kind == EQ_MUL && is_load(e->a->a) &&
                        is_load(e->a->b);
    *contraction += is_one;
    return (e->kind == EQ_REDUCE) + count_reductions(e->a, contraction) + count_reductions(e->b, contraction) +
           count_reductions(e->c, contraction);
}

static void check_cube(struct eq_work *w)
{
    const struct kernel_ast *k = w->kernel->decl->kernel;
    if (!k->worker || strcmp(k->worker, "cube") != 0) return;
    int contractions = 0, reductions = 0;
    for (size_t i = 0; i < w->stmts.count; i++) reductions += count_reductions(w->stmts.data[i]->value, &contractions);
    if (contractions == 1 && reductions == 1) return;
    diag_error(w->c->diag, DIAG_E12, k->worker_at,
               "'cube' computes one contraction, a sum of products of two elements, and '%s' has %d", w->kernel->name,
               contractions);
    if (reductions > contractions)
        diag_note(w->c->diag, w->kernel->decl->name_at, "other reductions are computed on 'vector'");
    diag_help(w->c->diag, "write 'on vector'");
    w->failed = true;
}

/* ---- vectors of sums --------------------------------------------------------------------------------------------- */

/* Is v, alone, the last index of some operand below? */
static bool is_dense(struct eq_work *w, const struct eq_expr *e, const struct eq_var *v)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD && e->access->rank > 0) {
        const struct eq_access *a = e->access;
        const struct size *last = a->index[a->rank - 1].size, *alone = size_symbol(w->c->sizes, v->symbol);
        if (a->temp && last) last = size_binary(w->c->sizes, SIZE_ADD, last, a->temp->low[a->rank - 1]);
        if (last == alone) return true;
    }
    return is_dense(w, e->a, v) || is_dense(w, e->b, v) || is_dense(w, e->c, v);
}

static void find_vectors(struct eq_work *w, const struct eq_expr *e)
{
    if (!e) return;
    find_vectors(w, e->a);
    find_vectors(w, e->b);
    find_vectors(w, e->c);
    if (e->kind != EQ_REDUCE) return;
    struct eq_expr *r = (struct eq_expr *)(uintptr_t)e;
    for (int i = r->reduce.var_count; i-- > 0 && !r->reduce.vector;)
        if (is_dense(w, r->a, r->reduce.vars[i])) r->reduce.vector = r->reduce.vars[i];
}

static void find_failures(struct eq_work *w, const struct eq_expr *e)
{
    if (!e) return;
    find_failures(w, e->a);
    find_failures(w, e->b);
    find_failures(w, e->c);
    if (e->kind == EQ_REDUCE && (e->reduce.kind == EQ_ARGMAX || e->reduce.kind == EQ_ARGMIN))
        ((struct eq_expr *)(uintptr_t)e)->may_fail =
            !facts_prove_order(w->c->facts, e->reduce.vars[0]->low, e->reduce.vars[0]->high, 1);
    w->out->may_fail |= e->may_fail;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

#define KEEP(w, list, count_of, type)                                                                                  \
    (w)->out->list = arena_array((w)->c->mem, type, (w)->list.count + 1);                                              \
    if ((w)->list.count) memcpy((w)->out->list, (w)->list.data, (w)->list.count * sizeof(type));                       \
    (w)->out->count_of = (int)(w)->list.count

static void keep(struct eq_work *w)
{
    KEEP(w, stmts, stmt_count, struct eq_stmt *);
    KEEP(w, temps, temp_count, struct eq_temp *);
    KEEP(w, vars, var_count, struct eq_var *);
    KEEP(w, accesses, access_count, const struct eq_access *);
    w->out->may_fail = false;
    for (size_t i = 0; i < w->accesses.count; i++)
        for (int d = 0; d < w->accesses.data[i]->rank; d++)
            w->out->may_fail |= w->accesses.data[i]->index[d].fate == EQ_CHECKED_HERE;
    for (size_t i = 0; i < w->stmts.count; i++) {
        find_vectors(w, w->stmts.data[i]->value);
        find_failures(w, w->stmts.data[i]->value);
    }
}

static void destroy(struct eq_work *w)
{
    vec_free(&w->names);
    vec_free(&w->vars);
    vec_free(&w->in_scope);
    vec_free(&w->loops);
    vec_free(&w->frees);
    vec_free(&w->accesses);
    vec_free(&w->stmts);
    vec_free(&w->temps);
    vec_free(&w->written);
    vec_free(&w->said);
}

void equations_check(struct checker *c, struct symbol *kernel)
{
    struct ast *block = kernel->decl->kernel->block;
    struct facts *facts = c->facts;
    struct eq_work w = {.c = c, .kernel = kernel, .out = arena_new(c->mem, struct equations)};
    if (!c->kernel_facts) c->kernel_facts = facts_create(c->mem, c->sizes);
    c->facts = c->kernel_facts; /* what is known in a function says nothing of a kernel */
    w.out->kernel = kernel;
    eq_know_kernel(&w);
    eq_find_written(&w, block);
    eq_check_block(&w, block);
    if (!w.failed) eq_check_writes(&w);
    if (!w.failed) eq_check_coverage(&w);
    if (!w.failed) check_cube(&w);
    if (!w.failed) {
        eq_find_cost(&w);
        keep(&w);
        kernel->equations = w.out;
    } else {
        notes_bad(kernel->decl);
    }
    facts_reset(c->facts, 0);
    c->facts = facts;
    destroy(&w);
}

enum eq_kind equations_opposite(enum eq_kind comparison)
{
    switch (comparison) {
    case EQ_EQ: return EQ_NE;
    case EQ_NE: return EQ_EQ;
    case EQ_LT: return EQ_GE;
    case EQ_GE: return EQ_LT;
    case EQ_GT: return EQ_LE;
    default: return EQ_GT;
    }
}
