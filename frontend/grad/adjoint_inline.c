/* adjoint_inline.c - temporaries that are read once, or never.
 * Idea       temporaries are made freely and taken away here: what nothing needs, and what is read once, as often as it
 *            would be written, and is no sum.  What is left is what a person would name.
 * Invariant  no value is computed more often than its temporary would be.
 * Tests      test/lit/grad/adjoint-rows.pto
 */
#include "adjoint_parts.h"
#include <string.h>

/* ---- counting ---------------------------------------------------------------------------------------------------- */

struct uses {
    struct adj_work *w;
    const struct eq_temp *temp;
    int count;
    bool is_dear; /* at a place that is evaluated more often than the temporary is written */
    bool is_root; /* it is all of a value */
    int depth;    /* of expressions around */
    const struct eq_var *var[4 * MAX_VARS];
    int var_count;
};

static bool is_named_alone(struct adj_work *w, const struct eq_access *a, const struct eq_var *v)
{
    for (int d = 0; d < a->rank; d++)
        if (a->index[d].size == size_symbol(w->sizes, v->symbol)) return true;
    return false;
}

static void count_in(struct uses *u, const struct eq_expr *e)
{
    if (!e) return;
    const int outer = u->var_count;
    if (e->kind == EQ_LOAD) {
        for (int d = 0; d < e->access->rank; d++) count_in(u, e->access->index[d].expr);
        if (e->access->temp == u->temp) {
            u->count++;
            for (int i = 0; i < u->var_count; i++) u->is_dear |= !is_named_alone(u->w, e->access, u->var[i]);
            u->is_root = u->depth == 0;
        }
    }
    if (e->kind == EQ_REDUCE)
        for (int i = 0; i < e->reduce.var_count && u->var_count < 4 * MAX_VARS; i++)
            u->var[u->var_count++] = e->reduce.vars[i];
    u->depth++;
    count_in(u, e->a);
    count_in(u, e->b);
    count_in(u, e->c);
    u->depth--;
    u->var_count = outer;
}

static void count_in_statement(struct uses *u, const struct adj_stmt *s)
{
    memcpy(u->var, s->var, sizeof *s->var * (size_t)s->var_count);
    u->var_count = s->var_count;
    count_in(u, s->value);
    u->depth++;
    for (int d = 0; d < s->target->rank; d++) count_in(u, s->target->index[d].expr);
    u->depth--;
}

static void count_all(struct uses *u)
{
    struct adj_work *w = u->w;
    for (size_t i = 0; i < w->out.count; i++)
        if (w->out.data[i]->is_needed) count_in_statement(u, w->out.data[i]);
    for (size_t i = 0; i < w->writes.count; i++) count_in_statement(u, w->writes.data[i]);
}

/* ---- what is needed ---------------------------------------------------------------------------------------------- */

static void need_in(struct adj_work *w, const struct eq_expr *e);

static void need_size(struct adj_work *w, const struct size *s)
{
    for (size_t i = 0; i < w->formals.count; i++)
        if (size_names(s, w->formals.data[i].symbol)) w->formals.data[i].is_needed = true;
}

static void need_access(struct adj_work *w, const struct eq_access *a)
{
    for (size_t i = 0; i < w->formals.count; i++)
        if (a->formal && w->formals.data[i].symbol == a->formal) w->formals.data[i].is_needed = true;
    for (size_t i = 0; i < w->out.count; i++)
        if (adj_object(w->out.data[i]->target) == adj_object(a)) w->out.data[i]->is_needed = true;
    for (int d = 0; d < a->rank; d++) {
        if (a->index[d].size) need_size(w, a->index[d].size);
        need_in(w, a->index[d].expr);
    }
}

static void need_in(struct adj_work *w, const struct eq_expr *e)
{
    if (!e) return;
    if (e->kind == EQ_LOAD) need_access(w, e->access);
    if (e->kind == EQ_SIZE) need_size(w, e->size);
    for (size_t i = 0; i < w->formals.count && e->kind == EQ_SCALAR; i++)
        if (w->formals.data[i].symbol == e->scalar) w->formals.data[i].is_needed = true;
    for (int i = 0; e->kind == EQ_REDUCE && i < e->reduce.var_count; i++) {
        need_size(w, e->reduce.vars[i]->low);
        need_size(w, e->reduce.vars[i]->high);
    }
    need_in(w, e->a);
    need_in(w, e->b);
    need_in(w, e->c);
}

static void need_statement(struct adj_work *w, const struct adj_stmt *s)
{
    need_access(w, s->target);
    need_in(w, s->value);
    for (int i = 0; i < s->var_count; i++) {
        need_size(w, s->var[i]->low);
        need_size(w, s->var[i]->high);
    }
}

static void find_needed(struct adj_work *w)
{
    for (size_t i = 0; i < w->out.count; i++) w->out.data[i]->is_needed = false;
    for (size_t i = 0; i < w->formals.count; i++) w->formals.data[i].is_needed = false;
    for (size_t i = 0; i < w->writes.count; i++) need_statement(w, w->writes.data[i]);
    for (int round = 0; round < 3; round++) /* a reversed loop reads what stands later in it, too */
        for (size_t i = w->out.count; i-- > 0;)
            if (w->out.data[i]->is_needed) need_statement(w, w->out.data[i]);
}

/* ---- replacing --------------------------------------------------------------------------------------------------- */

static bool has_reduction(const struct eq_expr *e)
{
    return e && (e->kind == EQ_REDUCE || has_reduction(e->a) || has_reduction(e->b) || has_reduction(e->c));
}

const struct eq_expr *adj_put_in(struct adj_work *w, const struct eq_expr *e, const struct adj_stmt *let)
{
    if (!e) return NULL;
    if (e->kind == EQ_LOAD && e->access->temp == let->target->temp) {
        struct adj_substitution s = {.count = let->var_count};
        for (int i = 0; i < let->var_count; i++) {
            s.from[i] = let->var[i]->symbol;
            for (int d = 0; d < let->target->rank; d++)
                if (let->target->index[d].size == size_symbol(w->sizes, let->var[i]->symbol))
                    s.to[i] = e->access->index[d].size;
        }
        return adj_substitute(w, let->value, &s);
    }
    struct eq_expr *to = adj_new(w, e->kind, e->type);
    *to = *e;
    if (e->kind == EQ_LOAD) {
        struct eq_access *a = arena_new(w->front->mem, struct eq_access);
        *a = *e->access;
        for (int d = 0; d < a->rank; d++) a->index[d].expr = adj_put_in(w, a->index[d].expr, let);
        to->access = a;
    }
    to->a = adj_put_in(w, e->a, let);
    to->b = adj_put_in(w, e->b, let);
    to->c = adj_put_in(w, e->c, let);
    return to;
}

static void put_in_statement(struct adj_work *w, struct adj_stmt *s, const struct adj_stmt *let)
{
    s->value = adj_put_in(w, s->value, let);
    struct eq_access *a = arena_new(w->front->mem, struct eq_access);
    *a = *s->target;
    for (int d = 0; d < a->rank; d++) a->index[d].expr = adj_put_in(w, a->index[d].expr, let);
    s->target = a;
}

static bool is_read_by_size(const struct adj_stmt *let, const struct eq_expr *e)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD) {
        for (int d = 0; d < e->access->rank; d++)
            if ((e->access->temp == let->target->temp && !e->access->index[d].size) ||
                is_read_by_size(let, e->access->index[d].expr))
                return true;
    }
    return is_read_by_size(let, e->a) || is_read_by_size(let, e->b) || is_read_by_size(let, e->c);
}

/* Does it read what a statement that stands after it, and before its reader, writes?  Only the bar of an `inout`. */
static bool reads_replaced(const struct adj_work *w, const struct eq_expr *e)
{
    if (!e) return false;
    if (e->kind == EQ_LOAD && e->access->formal && e->access->formal->dir == DIR_INOUT) return true;
    return reads_replaced(w, e->a) || reads_replaced(w, e->b) || reads_replaced(w, e->c);
}

static bool may_put(struct adj_work *w, const struct adj_stmt *let)
{
    struct uses u = {.w = w, .temp = let->target->temp};
    const bool is_cheap = adj_is_cheap(let->value);
    count_all(&u);
    for (size_t i = 0; i < w->out.count; i++)
        if (is_read_by_size(let, w->out.data[i]->value)) return false;
    for (size_t i = 0; i < w->writes.count; i++)
        if (is_read_by_size(let, w->writes.data[i]->value)) return false;
    if (reads_replaced(w, let->value)) return false;
    if (is_cheap && let->value->kind != EQ_CAST) return true;
    if (u.count != 1 || u.is_dear) return false;
    return !has_reduction(let->value) || u.is_root;
}

void adj_tidy(struct adj_work *w)
{
    find_needed(w);
    for (size_t i = 0; i < w->out.count; i++) {
        struct adj_stmt *let = w->out.data[i];
        if (let->kind != EQ_LET || !let->is_needed || !may_put(w, let)) continue;
        for (size_t k = i + 1; k < w->out.count; k++) put_in_statement(w, w->out.data[k], let);
        for (size_t k = 0; k < w->writes.count; k++) put_in_statement(w, w->writes.data[k], let);
        for (size_t k = 0; k < w->writes_adds.count; k++) put_in_statement(w, w->writes_adds.data[k], let);
        let->is_needed = false;
        find_needed(w);
    }
    for (size_t i = 0; i < w->out.count; i++) adj_simplify(w, w->out.data[i]);
    for (size_t i = 0; i < w->writes.count; i++) adj_simplify(w, w->writes.data[i]);
    for (size_t i = 0; i < w->writes_adds.count; i++) adj_simplify(w, w->writes_adds.data[i]);
    find_needed(w);
}
