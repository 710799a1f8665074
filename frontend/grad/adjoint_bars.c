/* adjoint_bars.c - the statements of the kernel backwards, and the bars between them.
 * Idea       the bar of an object is what it had at the end of the kernel, the seed, and what later statements let flow
 *            into it.  When the statement that wrote it is met, the sum is asked for, and flows on through the
 *            statement's value.  `=` ends it, `+=` leaves it.
 * Invariant  a bar is asked for only at elements that no statement met so far has overwritten.
 * Tests      test/lit/grad/adjoint-values.pto
 */
#include "adjoint_parts.h"
#include <string.h>

static int number_of(const struct adj_work *w, const void *object)
{
    for (int i = 0; i < w->kernel->formal_count; i++)
        if (w->kernel->formals[i] == object) return i;
    return -1;
}

struct adj_bar *adj_bar_of(struct adj_work *w, const void *object)
{
    for (size_t i = 0; i < w->bars.count; i++)
        if (w->bars.data[i]->object == object) return w->bars.data[i];
    struct adj_bar *b = arena_new(w->front->mem, struct adj_bar);
    const int number = number_of(w, object);
    b->object = object;
    struct adj_recurrence *r = (struct adj_recurrence *)(uintptr_t)adj_recurrence_of(w, object);
    if (r) {
        r->work = adj_formal(w, number, ADJOINT_WORK);
        b->base = adj_access(w, r->work, NULL);
    } else if (number >= 0 && w->kernel->formals[number]->dir != DIR_IN) /* also an `inout` that is only read */
        b->base = adj_access(w, adj_formal(w, number, number == w->x ? ADJOINT_REPLACED : ADJOINT_SEED), NULL);
    vec_push(&w->bars, b);
    return b;
}

static const struct eq_expr *load_base(struct adj_work *w, const struct adj_bar *b, const struct eq_access *at)
{
    struct eq_access *a = adj_access(w, b->base->formal, b->base->temp);
    for (int d = 0; d < a->rank; d++) a->index[d] = at->index[d];
    return adj_load(w, a);
}

/* The indices as an access of nothing but a place. */
static struct eq_access *place_of(struct adj_work *w, const struct eq_access *like, const struct eq_var *const *element)
{
    struct eq_access *a = adj_access(w, like->formal, like->temp);
    for (int d = 0; d < a->rank; d++) a->index[d].size = size_symbol(w->sizes, element[d]->symbol);
    return a;
}

static const char *name_of(struct adj_work *w, const struct eq_access *a)
{
    return arena_printf(w->front->mem, "%s_bar", a->formal ? a->formal->name : a->temp->name);
}

/* The bar as one temporary, or the base alone. */
static void settle(struct adj_work *w, struct adj_bar *b, const struct eq_access *like)
{
    const struct eq_var *element[MAX_RANK];
    struct adj_scope scope = {.count = like->rank};
    if (b->flows.count == 0) return;
    if (b->gone.count > 0 && number_of(w, b->object) == w->x) {
        adj_refuse_whole(w, adj_span(w, like), "it is read between two statements that write parts of it");
        return;
    }
    adj_element_vars(w, like, b->flows.data, b->flows.count, element);
    if (w->why) return;
    memcpy(scope.var, element, sizeof *element * (size_t)like->rank);
    const struct eq_expr *sum = adj_gather_all(w, b->flows.data, b->flows.count, element);
    if (b->base && !w->why) sum = adj_add(w, load_base(w, b, place_of(w, like, element)), sum);
    b->flows.count = 0;
    if (!sum || w->why) return;
    struct eq_temp *t = adj_new_temp(w, name_of(w, like), sum->type);
    struct adj_stmt *s = arena_new(w->front->mem, struct adj_stmt);
    t->rank = like->rank;
    struct eq_access *target = place_of(w, &(struct eq_access){.temp = t}, element);
    s->kind = EQ_LET;
    for (int d = 0; d < like->rank; d++) {
        t->low[d] = element[d]->low;
        t->high[d] = element[d]->high;
        s->var[s->var_count++] = element[d];
    }
    s->target = target;
    s->value = sum;
    vec_push(&w->out, s);
    b->base = target;
}

static bool is_overwritten(struct adj_work *w, const struct adj_bar *b, const struct adj_stmt *s)
{
    for (size_t i = 0; i < b->gone.count; i++)
        if (!adj_is_apart(w, b->gone.data[i]->target, s->target)) return true;
    return false;
}

static void pass(struct adj_work *w, const struct adj_stmt *s)
{
    const struct adj_scope scope = adj_scope_of(s);
    if (!adj_is_active_object(w, adj_object(s->target))) return;
    struct adj_bar *b = adj_bar_of(w, adj_object(s->target));
    if (is_overwritten(w, b, s)) {
        adj_refuse_whole(w, adj_span(w, s->target), "a later statement overwrites elements that this one writes");
        return;
    }
    const bool is_recurrence = adj_recurrence_of(w, b->object) != NULL;
    if (!is_recurrence) settle(w, b, s->target);
    if (w->why) return;
    const struct eq_expr *bar = b->base ? load_base(w, b, adj_at(w, &scope, s->target)) : NULL;
    if (is_recurrence) {
        /* its bars are of all moments */
    } else if (s->kind == EQ_ASSIGN && adj_is_whole(w, s->target)) {
        b->base = NULL;
        b->gone.count = 0;
        b->is_ended = true;
    } else if (s->kind == EQ_ASSIGN) {
        vec_push(&b->gone, s);
    }
    if (bar) adj_chain(w, &scope, s->value, bar);
}

void adj_walk_back(struct adj_work *w)
{
    for (size_t i = w->forward.count; i-- > 0 && !w->why;) pass(w, w->forward.data[i]);
    if (!w->why) adj_close_recurrences(w);
}
