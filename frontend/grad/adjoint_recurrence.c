/* adjoint_recurrence.c - a `for` whose iterations read what earlier ones wrote.
 * Idea       h[t] = a[t] * h[t - 1] + b[t] lets the bar of h[t - 1] depend on that of h[t]: a recurrence that runs
 *            backwards.  The bars of such a formal are a tensor of their own, a WORK formal, which a `for` over the
 *            dimension of its loop fills from the end; all other statements read that.  Of the kernel's own values
 *            nothing is a recurrence any more: each element is written once, so the results have them.
 * Invariant  an iteration of that `for` reads bars of earlier iterations only.  Temporaries that depend on the bars are
 *            put in their place in it, and stand after it for all others.
 * Tests      test/lit/grad/adjoint-loops.pto
 */
#include "adjoint_parts.h"
#include <string.h>

/* ---- which formals ----------------------------------------------------------------------------------------------- */

static int shared_loops(const struct eq_stmt *a, const struct eq_stmt *b)
{
    int n = 0;
    while (n < a->loop_count && n < b->loop_count && a->loops[n] == b->loops[n]) n++;
    return n;
}

/* Does the variable have one value for all places that both name? */
static bool is_fixed_by(struct adj_work *w, const struct eq_var *v, const struct eq_access *a,
                        const struct eq_access *b)
{
    for (int d = 0; d < a->rank; d++) {
        const struct size *factor, *rest, *index = a->index[d].size;
        int64_t c;
        if (index && index == b->index[d].size && eq_split(w->sizes, index, v, &factor, &rest) &&
            size_is_const(factor, &c) && c != 0 &&
            !eq_names_vars(rest, (const struct eq_var *const *)w->q->vars, w->q->var_count))
            return true;
    }
    return false;
}

/* Can places that both name be met in different iterations of a `for` around both? */
static bool meets_another_iteration(struct adj_work *w, const struct eq_access *a, const struct eq_access *b)
{
    for (int i = 0, shared = shared_loops(a->stmt, b->stmt); i < shared; i++)
        if (!is_fixed_by(w, a->stmt->loops[i], a, b)) return true;
    return false;
}

/* Does an iteration of a `for` around both read what an earlier one wrote? */
static bool hands_on(struct adj_work *w, const struct eq_stmt *writer, const struct eq_access *read)
{
    if (read->formal != writer->target->formal || !meets_another_iteration(w, writer->target, read)) return false;
    return !writer->is_injective || !adj_is_same_place(writer->target, read);
}

/* The adjoint runs a statement for all iterations before the next: may an element that both write get another value? */
static bool depends_on_order(struct adj_work *w, const struct eq_stmt *a, const struct eq_stmt *b)
{
    if (a == b || a->target->formal != b->target->formal || (a->kind == EQ_PLUS && b->kind == EQ_PLUS)) return false;
    return meets_another_iteration(w, a->target, b->target) && !adj_is_apart(w, a->target, b->target);
}

const struct adj_recurrence *adj_recurrence_of(const struct adj_work *w, const void *object)
{
    for (size_t i = 0; i < w->recurrences.count; i++)
        if (w->recurrences.data[i].formal == object) return &w->recurrences.data[i];
    return NULL;
}

bool adj_is_written_once(struct adj_work *w, const struct symbol *formal)
{
    if (formal->dir != DIR_OUT) return false;
    for (int i = 0; i < w->q->stmt_count; i++) {
        const struct eq_stmt *s = w->q->stmts[i];
        if (s->target->formal != formal) continue;
        if (s->kind != EQ_ASSIGN || !s->is_injective) return false;
        for (int k = 0; k < i; k++)
            if (w->q->stmts[k]->target->formal == formal && !adj_is_apart(w, w->q->stmts[k]->target, s->target))
                return false;
    }
    return true;
}

/* The dimension that the outermost `for` runs along, where the index is its variable and a constant. */
static int dimension_of(struct adj_work *w, const struct eq_stmt *s)
{
    for (int d = 0; d < s->target->rank; d++) {
        const struct size *factor, *rest;
        int64_t c;
        if (s->target->index[d].size && eq_split(w->sizes, s->target->index[d].size, s->loops[0], &factor, &rest) &&
            size_is_const(factor, &c) && c == 1 && size_is_const(rest, NULL))
            return d;
    }
    return -1;
}

static void add(struct adj_work *w, const struct eq_stmt *s, const struct eq_access *read)
{
    const struct symbol *formal = s->target->formal;
    if (adj_recurrence_of(w, formal)) return;
    const int dim = dimension_of(w, s);
    if (dim < 0 && adj_is_written_once(w, formal))
        adj_refuse_with(w, read->at,
                        "an iteration of a 'for' reads what an earlier one wrote, and the index that is written is not "
                        "the variable of the outermost 'for' and a constant",
                        "let the 'for' run along the tensor, h[t] = .. h[t - 1] ..; a second kernel may reverse it, "
                        "y[i] = h[N - 1 - i]; or write an '@adjoint(f)', and a C body");
    else if (dim < 0 || !adj_is_written_once(w, formal))
        adj_refuse(w, read->at,
                   "an iteration of a 'for' reads what an earlier one wrote, of a tensor that is no 'out' "
                   "written once along that 'for'");
    struct adj_recurrence r = {.formal = formal, .loop = s->loops[0], .dim = dim};
    vec_push(&w->recurrences, r);
}

void adj_find_recurrences(struct adj_work *w)
{
    for (int i = 0; i < w->q->stmt_count; i++) {
        const struct eq_stmt *s = w->q->stmts[i];
        if (!s->target->formal) continue;
        if (s->kind == EQ_ASSIGN && !s->is_injective)
            adj_refuse(w, s->at, "an iteration of a 'for' overwrites what an earlier one wrote");
        for (int k = 0; k < i; k++)
            if (depends_on_order(w, w->q->stmts[k], s))
                adj_refuse(w, s->at,
                           "an iteration of a 'for' writes elements that another statement writes in another one");
        for (int k = 0; k < w->q->access_count && !w->why; k++)
            if (!w->q->accesses[k]->is_target && hands_on(w, s, w->q->accesses[k])) add(w, s, w->q->accesses[k]);
    }
}

/* ---- the reversed `for` ------------------------------------------------------------------------------------------ */

static bool reads_work(const struct adj_work *w, const struct eq_expr *e);

static bool access_reads_work(const struct adj_work *w, const struct eq_access *a)
{
    for (size_t i = 0; i < w->recurrences.count; i++)
        if (a->formal && a->formal == w->recurrences.data[i].work) return true;
    for (size_t i = 0; i < w->out.count; i++)
        if (a->temp && w->out.data[i]->target->temp == a->temp && w->out.data[i]->reads_work) return true;
    for (int d = 0; d < a->rank; d++)
        if (reads_work(w, a->index[d].expr)) return true;
    return false;
}

static bool reads_work(const struct adj_work *w, const struct eq_expr *e)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD && access_reads_work(w, e->access)) return true;
    return reads_work(w, e->a) || reads_work(w, e->b) || reads_work(w, e->c);
}

/* With the temporaries that depend on the bars put in: the newest first, which read only older ones. */
static const struct eq_expr *put_in_all(struct adj_work *w, const struct eq_expr *e)
{
    for (size_t i = w->out.count; i-- > 0;)
        if (w->out.data[i]->reads_work) e = adj_put_in(w, e, w->out.data[i]);
    return e;
}

/* The variable that counts the iterations of the reversed loop; one for all formals of it. */
static const struct eq_var *counter_of(struct adj_work *w, struct adj_recurrence *r)
{
    const struct size *extent = r->formal->type->extent[r->dim];
    for (size_t i = 0; i < w->recurrences.count; i++) {
        const struct adj_recurrence *o = &w->recurrences.data[i];
        if (o == r || o->loop != r->loop || !o->counter) continue;
        if (o->formal->type->extent[o->dim] != extent)
            adj_refuse(w, r->formal->decl->at, "it and another formal that is handed on have not the same extent");
        return o->counter;
    }
    return adj_new_var(w, r->loop->symbol->name, size_const(w->sizes, 0), extent);
}

static struct adj_stmt *define(struct adj_work *w, struct adj_recurrence *r)
{
    const struct adj_bar *b = adj_bar_of(w, r->formal);
    const struct eq_var *element[MAX_RANK];
    int number = 0;
    while (w->kernel->formals[number] != r->formal) number++;
    const struct symbol *seed = adj_formal(w, number, ADJOINT_SEED);
    const struct eq_access like = {.formal = r->formal, .rank = r->formal->type->rank};
    adj_element_vars(w, &like, b->flows.data, b->flows.count, element);
    struct eq_access *target = adj_access(w, r->work, NULL), *from = adj_access(w, seed, NULL);
    for (int d = 0; d < target->rank; d++)
        target->index[d].size = from->index[d].size = size_symbol(w->sizes, element[d]->symbol);
    const struct eq_expr *sum =
        adj_add(w, adj_load(w, from), adj_gather_all(w, b->flows.data, b->flows.count, element));
    if (w->why) return NULL;
    sum = adj_cast(w, r->work->type->elem, put_in_all(w, sum));
    r->counter = counter_of(w, r);
    const struct size *last = size_sub(w->sizes, element[r->dim]->high, size_const(w->sizes, 1)),
                      *at = last ? size_sub(w->sizes, last, size_symbol(w->sizes, r->counter->symbol)) : NULL;
    if (!at) return NULL;
    struct adj_substitution back = {.from = {element[r->dim]->symbol}, .to = {at}, .count = 1};
    struct adj_stmt *s = arena_new(w->front->mem, struct adj_stmt);
    target->index[r->dim].size = at;
    s->kind = EQ_ASSIGN;
    s->target = target;
    s->value = adj_substitute(w, sum, &back);
    s->is_in_order = true;
    s->var[s->var_count++] = r->counter;
    for (int d = 0; d < target->rank; d++)
        if (d != r->dim) s->var[s->var_count++] = element[d];
    return s;
}

void adj_close_recurrences(struct adj_work *w)
{
    VEC(struct adj_stmt *) all = {0};
    if (w->recurrences.count == 0) return;
    for (size_t i = 0; i < w->out.count; i++) w->out.data[i]->reads_work = reads_work(w, w->out.data[i]->value);
    const size_t temps = w->out.count;
    VEC(struct adj_stmt *) defined = {0};
    for (size_t i = w->recurrences.count; i-- > 0 && !w->why;) { /* what is written last has its bar first */
        struct adj_recurrence *r = &w->recurrences.data[i];
        if (!r->work) continue;
        struct adj_stmt *s = define(w, r);
        if (s) vec_push(&defined, s);
    }
    for (size_t i = 0; i < w->out.count; i++) /* gathering may have added some */
        if (i >= temps) w->out.data[i]->reads_work = reads_work(w, w->out.data[i]->value);
    for (size_t i = 0; i < w->out.count; i++)
        if (!w->out.data[i]->reads_work) vec_push(&all, w->out.data[i]);
    for (size_t i = 0; i < defined.count; i++) vec_push(&all, defined.data[i]);
    for (size_t i = 0; i < w->out.count; i++)
        if (w->out.data[i]->reads_work) vec_push(&all, w->out.data[i]);
    w->out.count = 0;
    for (size_t i = 0; i < all.count; i++) vec_push(&w->out, all.data[i]);
    vec_free(&all);
    vec_free(&defined);
}
