/* contraction.c - sums of products of two matrices, which the library computes in blocks (pto_contract_f32).
 * Idea       a statement whose value holds one sum over k of a[.., i, .., k] * b[.., k, .., j], in the order of k,
 *            has its loops over i and j and the sum taken away: the library writes the sums to the left side, and
 *            what the value does with them is a loop over the elements behind it.
 * Invariant  the sum runs in the order of k, also where both matrices are dense along k: which one it is follows from
 *            the text alone.
 * Tests      test/lit/run/index-notation.test, test/lit/codegen/index-contraction.pto
 */
#include "parts.h"

const struct eq_expr *equation_only_reduction(const struct eq_expr *x, int *count)
{
    if (!x) return NULL;
    if (x->kind == EQ_REDUCE) return ++*count, x;
    if ((x->kind == EQ_SELECT || x->kind == EQ_AND || x->kind == EQ_OR) && equation_holds_reduction(x)) {
        *count += 2;
        return NULL;
    }
    const struct eq_expr *a = equation_only_reduction(x->a, count), *b = equation_only_reduction(x->b, count),
                         *c = equation_only_reduction(x->c, count);
    return a ? a : b ? b : c;
}

/* The value names the left side outside of the sum, whose elements then would not be the old ones. */
static bool reads_target(const struct eq_expr *x, const struct eq_access *target)
{
    if (!x || x->kind == EQ_REDUCE) return false;
    if (x->kind == EQ_LOAD && (target->formal ? x->access->formal == target->formal : x->access->temp == target->temp))
        return true;
    return reads_target(x->a, target) || reads_target(x->b, target) || reads_target(x->c, target);
}

static bool access_names(const struct eq_access *a, const struct eq_var *v)
{
    for (int d = 0; d < a->rank; d++)
        if (size_names(a->index[d].size, v->symbol)) return true;
    return false;
}

/* By how much the index grows with v: it has to be the same everywhere; NULL: it is not. */
static const struct size *slope(const struct eq_printer *p, const struct size *index, const struct eq_var *v)
{
    const struct size *own = size_symbol(p->sizes, v->symbol);
    const struct size *next = size_binary(p->sizes, SIZE_ADD, own, size_const(p->sizes, 1));
    const struct size *moved = size_substitute(p->sizes, index, &v->symbol, &next, 1);
    const struct size *by = moved ? size_sub(p->sizes, moved, index) : NULL;
    return by && !equation_names_loop(by) ? by : NULL;
}

static bool is_affine(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *const *vars)
{
    for (int d = 0; d < a->rank; d++) {
        if (!a->index[d].size || a->index[d].needs_guard) return false;
        for (int i = 0; i < 3; i++)
            if (!slope(p, a->index[d].size, vars[i])) return false;
    }
    return true;
}

static bool has_type(const struct eq_access *a, enum elem type)
{
    return (a->formal ? a->formal->type->elem : a->temp->elem) == type;
}

static bool names_any(const struct size *s, const struct eq_contraction *c)
{
    return size_names(s, c->i->symbol) || size_names(s, c->j->symbol) || size_names(s, c->k->symbol);
}

bool equation_is_contraction(const struct eq_printer *p, const struct eq_stmt *s, struct eq_contraction *c)
{
    int count = 0;
    const struct eq_expr *x = equation_only_reduction(s->value, &count);
    *c = (struct eq_contraction){.sum = x};
    if (count != 1 || s->loop_count > 0 || s->free_count < 2 || x->reduce.kind != EQ_SUM || x->reduce.var_count != 1)
        return false;
    if (x->type != ELEM_F32 && x->type != ELEM_F64) return false;
    if (x->a->kind != EQ_MUL || x->a->a->kind != EQ_LOAD || x->a->b->kind != EQ_LOAD) return false;
    if (!s->is_injective || !has_type(s->target, x->type)) return false;
    if (s->value != x && (s->kind == EQ_PLUS || reads_target(s->value, s->target))) return false;
    const struct eq_access *a = x->a->a->access, *b = x->a->b->access;
    for (int d = 0; d < a->rank; d++)
        if (!a->index[d].size) return false;
    for (int d = 0; d < b->rank; d++)
        if (!b->index[d].size) return false;
    c->j = s->frees[s->free_count - 1];
    c->k = x->reduce.vars[0];
    c->a = access_names(a, c->j) ? b : a;
    c->b = access_names(a, c->j) ? a : b;
    for (int i = 0; i + 1 < s->free_count; i++)
        if (access_names(c->a, s->frees[i]) && !access_names(c->b, s->frees[i])) c->i = s->frees[i];
    if (!c->i || access_names(c->a, c->j) || !access_names(c->b, c->j)) return false;
    if (!has_type(c->a, x->type) || !has_type(c->b, x->type)) return false;
    const struct eq_var *vars[] = {c->i, c->j, c->k};
    for (int i = 0; i < 3; i++)
        if (names_any(vars[i]->low, c) || names_any(vars[i]->high, c)) return false;
    if (equation_names_loop(c->k->low) || equation_names_loop(c->k->high)) return false;
    for (int d = 0; d < s->target->rank; d++)
        if (!s->target->index[d].size) return false;
    return is_affine(p, c->a, vars) && is_affine(p, c->b, vars) && is_affine(p, s->target, vars);
}

/* ---- printing ---- */

/* The elements between two values of v. */
static const char *stride_along(struct eq_printer *p, const struct eq_access *access, const struct eq_var *v)
{
    struct arena *mem = p->e->mem;
    const struct eq_access home = equation_home(p, access), *a = &home;
    const char *sum = "";
    for (int d = 0; d < a->rank; d++) {
        const struct size *by = slope(p, a->index[d].size, v);
        int64_t value;
        if (a->temp && p->storage[a->temp->id].is_dropped[d]) continue;
        if (size_is_const(by, &value) && value == 0) continue;
        const char *unit = a->formal ? equation_stride(p, a->formal, d) : "1";
        for (int n = d + 1; a->temp && n < a->rank; n++)
            if (!p->storage[a->temp->id].is_dropped[n])
                unit = arena_printf(mem, "%s * %s", unit, equation_size(p, a->temp->extent[n], P_UNARY));
        if (!size_is_const(by, &value) || value != 1)
            unit = arena_printf(mem, "%s * %s", equation_size(p, by, P_UNARY), unit);
        sum = arena_printf(mem, "%s%s%s", sum, *sum ? " + " : "", unit);
    }
    return *sum ? sum : "0";
}

/* Where k begins.  A range that is empty may begin anywhere, also where no address can be made of it. */
static const struct size *declare_first(struct eq_printer *p, const struct eq_var *k)
{
    struct arena *mem = p->e->mem;
    if (equation_is_bounded(k)) return k->low;
    struct symbol *const first = arena_new(mem, struct symbol);
    *first = *k->symbol;
    const char *name = emit_declare(p->e, first, arena_printf(mem, "%s_first", k->symbol->name));
    const char *low = equation_size(p, k->low, P_REL);
    out_line(p->e->out, "const int64_t %s = %s < %s ? %s : 0;", name, low, equation_size(p, k->high, P_REL), low);
    return size_symbol(p->sizes, first);
}

/* The element where i and j have their lowest values, and k that one. */
static const char *first_element(struct eq_printer *p, const struct eq_access *a, const struct eq_contraction *c,
                                 const struct size *k)
{
    const struct symbol *from[] = {c->i->symbol, c->j->symbol, c->k->symbol};
    const struct size *to[] = {c->i->low, c->j->low, k};
    struct eq_access at = *a;
    for (int d = 0; d < a->rank; d++) at.index[d].size = size_substitute(p->sizes, a->index[d].size, from, to, 3);
    return equation_place(p, &at);
}

void equation_contract(struct eq_printer *p, const struct eq_stmt *s, const struct eq_contraction *c)
{
    struct out *out = p->e->out;
    const struct size *const first = declare_first(p, c->k);
    out_line(out, "pto_contract_%s(&(PTOContraction){", elem_name(c->sum->type));
    out_more(out, ".rows = %s, .columns = %s, .depth = %s,", equation_length(p, c->i), equation_length(p, c->j),
             equation_length(p, c->k));
    out_more(out, ".a = &%s, .a_row = %s, .a_depth = %s,", first_element(p, c->a, c, first),
             stride_along(p, c->a, c->i), stride_along(p, c->a, c->k));
    out_more(out, ".b = &%s, .b_depth = %s, .b_column = %s,", first_element(p, c->b, c, first),
             stride_along(p, c->b, c->k), stride_along(p, c->b, c->j));
    out_more(out, ".c = &%s, .c_row = %s, .c_column = %s,", first_element(p, s->target, c, first),
             stride_along(p, s->target, c->i), stride_along(p, s->target, c->j));
    out_more(out, ".add = %s, .fused = %s, .panel = %s});", s->kind == EQ_PLUS ? "true" : "false", p->fused, p->panel);
    if (s->value == c->sum) return;
    const size_t mark = names_mark(&p->e->names);
    equation_open_loop(p, c->i);
    equation_open_loop(p, c->j);
    p->replaced = c->sum;
    p->replacement = equation_place(p, s->target);
    const char *value = equation_value(p, s->value, P_ANY);
    out_line(out, "%s = %s;", equation_place(p, s->target), value);
    p->replaced = NULL;
    out_close(out, "}");
    out_close(out, "}");
    names_close(&p->e->names, mark);
}
