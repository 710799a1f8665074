/* checks.c - indices out of tensors, tested before the kernel writes anything.
 * Idea       a loop over the variables that an index depends on tests it wherever the statement will use it: under the
 *            conditions of the selects around it, and not at all where a range is empty.  A temporary that an index
 *            comes from is made before, in full, and so are those that it is made of; they only read what no statement
 *            writes, and none belongs to one iteration of a `for`.
 * Tests      test/lit/run/index-checks.pto
 */
#include "parts.h"

struct checker {
    struct eq_printer *p;
    bool *is_done; /* by the statement's id */
};

static void check_statement(struct checker *c, const struct eq_stmt *s);
static void make_temporaries(struct checker *c, const struct eq_expr *x);

/* ---- what an index depends on ---- */

static bool expression_names(const struct eq_expr *x, const struct symbol *v);

static bool access_names(const struct eq_access *a, const struct symbol *v)
{
    for (int d = 0; d < a->rank; d++)
        if (a->index[d].size ? size_names(a->index[d].size, v) : expression_names(a->index[d].expr, v)) return true;
    return false;
}

static bool expression_names(const struct eq_expr *x, const struct symbol *v)
{
    if (!x) return false;
    if (x->kind == EQ_SIZE && size_names(x->size, v)) return true;
    if (x->kind == EQ_LOAD && access_names(x->access, v)) return true;
    for (int i = 0; x->kind == EQ_REDUCE && i < x->reduce.var_count; i++)
        if (size_names(x->reduce.vars[i]->low, v) || size_names(x->reduce.vars[i]->high, v)) return true;
    return expression_names(x->a, v) || expression_names(x->b, v) || expression_names(x->c, v);
}

static bool is_named(const struct eq_access *a, int dim, int which)
{
    const struct symbol *v = a->vars[which]->symbol;
    const struct eq_index *x = &a->index[dim];
    if (x->size ? size_names(x->size, v) : expression_names(x->expr, v)) return true;
    for (const struct eq_guard *g = a->guard; g; g = g->outer)
        if (expression_names(g->cond, v)) return true;
    for (int i = which + 1; i < a->var_count; i++)
        if (size_names(a->vars[i]->low, v) || size_names(a->vars[i]->high, v)) return true;
    return false;
}

/* ---- temporaries that come first ---- */

static void make_temporary(struct checker *c, const struct eq_temp *t)
{
    for (int i = 0; i < c->p->q->stmt_count; i++) {
        const struct eq_stmt *s = c->p->q->stmts[i];
        if (s->kind != EQ_LET || s->target->temp != t || c->is_done[s->id]) continue;
        make_temporaries(c, s->value);
        check_statement(c, s);
        c->is_done[s->id] = true;
        equation_nodes(c->p, equation_loops(c->p, s));
    }
}

static void make_temporaries(struct checker *c, const struct eq_expr *x)
{
    if (!x) return;
    if (x->kind == EQ_LOAD) {
        if (x->access->temp) make_temporary(c, x->access->temp);
        for (int d = 0; d < x->access->rank; d++) make_temporaries(c, x->access->index[d].expr);
    }
    make_temporaries(c, x->a);
    make_temporaries(c, x->b);
    make_temporaries(c, x->c);
}

/* ---- the tests ---- */

/* As in the text: a formal of a joined kernel may have another name. */
static const char *object_name(const struct eq_access *a) { return a->formal ? a->formal->decl->name : a->temp->name; }

/* "at[%lld] is", and the arguments. */
static const char *describe_index(struct eq_printer *p, const struct eq_expr *x, const char **values)
{
    struct arena *mem = p->e->mem;
    while (x->kind == EQ_CAST) x = x->a;
    *values = "";
    if (x->kind != EQ_LOAD) return "an index is";
    const char *text = arena_printf(mem, "%s[", object_name(x->access));
    for (int d = 0; d < x->access->rank; d++) {
        const struct eq_index *index = &x->access->index[d];
        text = arena_printf(mem, "%s%s%%lld", text, d ? ", " : "");
        *values =
            arena_printf(mem, "%s(long long)(%s), ", *values,
                         index->size ? equation_size(p, index->size, P_ANY) : equation_value(p, index->expr, P_ANY));
    }
    return arena_printf(mem, "%s] is", text);
}

static const char *unit(int rank, int dim)
{
    return rank == 1 ? "elements" : dim == 0 ? "rows" : dim == rank - 1 ? "columns" : "layers";
}

/* The outermost first: an inner one may read under the others only. */
static void open_conditions(struct eq_printer *p, const struct eq_guard *g)
{
    if (!g) return;
    open_conditions(p, g->outer);
    out_open(p->e->out, g->truth ? "if (%s) {" : "if (!(%s)) {", equation_value(p, g->cond, P_ANY));
}

/* The condition that the index may be outside at all. */
static const char *outside(struct eq_printer *p, const struct eq_access *a, int dim)
{
    const struct eq_index *x = &a->index[dim];
    if (!x->least && !x->largest) return "";
    const struct size *extent = a->formal ? a->formal->type->extent[dim] : a->temp->extent[dim];
    const char *low = x->least ? equation_size(p, x->least, P_REL + 1) : "",
               *high = x->largest ? equation_size(p, x->largest, P_REL + 1) : "";
    return arena_printf(p->e->mem, "if (%s%s%s%s%s%s) ", low, x->least ? " < 0" : "",
                        x->least && x->largest ? " || " : "", high, x->largest ? " >= " : "",
                        x->largest ? equation_size(p, extent, P_REL + 1) : "");
}

static void check_index(struct checker *c, const struct eq_access *a, int dim)
{
    struct eq_printer *p = c->p;
    struct out *out = p->e->out;
    const struct eq_index *x = &a->index[dim];
    make_temporaries(c, x->expr);
    for (const struct eq_guard *g = a->guard; g; g = g->outer) make_temporaries(c, g->cond);
    emit_at(p->e, x->at);
    equation_begin(p, a->stmt);
    const size_t mark = names_mark(&p->e->names);
    const int depth = out->depth;
    out_open(out, "%s{", outside(p, a, dim));
    for (int i = 0; i < a->var_count; i++) {
        if (is_named(a, dim, i))
            equation_open_loop(p, a->vars[i]);
        else
            out_open(out, "if (%s < %s) {", equation_size(p, a->vars[i]->low, P_ADD),
                     equation_size(p, a->vars[i]->high, P_ADD));
    }
    open_conditions(p, a->guard);
    const struct size *extent = a->formal ? a->formal->type->extent[dim] : a->temp->extent[dim];
    const char *index = names_take(&p->e->names, "index"), *given = index, *values;
    const bool is_u64 = x->expr && x->expr->kind == EQ_CAST && x->expr->a->type == ELEM_U64;
    if (is_u64) { /* the message shows the number itself, not the nearest i64 */
        given = names_take(&p->e->names, "given");
        out_line(out, "const uint64_t %s = %s;", given, equation_value(p, x->expr->a, P_ANY));
        equation_need_type(p, ELEM_U64);
        out_line(out, "const int64_t %s = pto_i64_of_u64(%s);", index, given);
    } else {
        out_line(out, "const int64_t %s = %s;", index,
                 x->size ? equation_size(p, x->size, P_ANY) : equation_value(p, x->expr, P_ANY));
    }
    const char *limit = equation_size(p, extent, P_ADD);
    const char *text = x->expr ? describe_index(p, x->expr, &values) : "an index is";
    if (!x->expr) values = "";
    out_line(out, "if (%s < 0 || %s >= %s)", index, index, limit);
    const char *sign = is_u64 ? "unsigned " : "";
    out_more(out, "return pto_kernel_failed(\"%s%s %%%s, '%s' has %%lld %s\", %s(%slong long)%s, (long long)(%s));",
             equation_part_text(p, a->stmt), text, is_u64 ? "llu" : "lld", object_name(a), unit(a->rank, dim), values,
             sign, given, limit);
    while (out->depth > depth) out_close(out, "}");
    names_close(&p->e->names, mark);
}

static void check_statement(struct checker *c, const struct eq_stmt *s)
{
    const struct equations *q = c->p->q;
    for (int i = 0; i < q->access_count; i++)
        for (int d = 0; q->accesses[i]->stmt == s && d < q->accesses[i]->rank; d++)
            if (q->accesses[i]->index[d].fate == EQ_CHECKED_HERE) check_index(c, q->accesses[i], d);
}

void equation_checks(struct eq_printer *p, const struct eq_stmt **rest, int *rest_count)
{
    struct checker c = {p, arena_array(p->e->mem, bool, p->q->stmt_count + 1)};
    for (int i = 0; i < p->q->stmt_count; i++)
        if (!c.is_done[p->q->stmts[i]->id]) check_statement(&c, p->q->stmts[i]);
    *rest_count = 0;
    for (int i = 0; i < p->q->stmt_count; i++)
        if (!c.is_done[p->q->stmts[i]->id]) rest[(*rest_count)++] = p->q->stmts[i];
}
