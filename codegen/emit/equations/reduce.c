/* reduce.c - reductions as loops that leave their result in a variable.
 * Idea       a reduction of floats along which vectors run has PTO_PARTS partial results, folded by halves; any other
 *            runs in the order of its variables.  Which of them it is follows from the text alone.
 * Invariant  k goes to partial result k mod PTO_PARTS, k counted from its lower bound.
 * Tests      test/lit/run/index-notation.test
 */
#include "parts.h"
#include <string.h>

static const struct {
    const char *operation; /* pto_OPERATION_f32 */
    const char *empty;
} kinds[] = {
    [EQ_SUM] = {"add", "0"},
    [EQ_PROD] = {"mul", "1"},
    [EQ_RED_MAX] = {"max", "-PTO_INFINITY"},
    [EQ_RED_MIN] = {"min", "PTO_INFINITY"},
};

/* What a reduction over nothing is. */
const char *equation_empty_value(struct eq_printer *p, const struct eq_expr *x)
{
    static const char *const limits[] = {
        [ELEM_I8] = "INT8",  [ELEM_I16] = "INT16",  [ELEM_I32] = "INT32",  [ELEM_I64] = "INT64",
        [ELEM_U8] = "UINT8", [ELEM_U16] = "UINT16", [ELEM_U32] = "UINT32", [ELEM_U64] = "UINT64"};
    const enum eq_reduction kind = x->reduce.kind;
    if (kind == EQ_ANY) return "false";
    if (kind == EQ_ALL) return "true";
    if (kind == EQ_SUM || kind == EQ_PROD || equation_is_float(x->type)) return kinds[kind].empty;
    if (x->type == ELEM_BOOL) return kind == EQ_RED_MAX ? "false" : "true";
    if (kind == EQ_RED_MAX && x->type >= ELEM_U8) return "0";
    return arena_printf(p->e->mem, "%s_%s", limits[x->type], kind == EQ_RED_MAX ? "MIN" : "MAX");
}

static bool is_place(const struct eq_expr *x) { return x->reduce.kind == EQ_ARGMAX || x->reduce.kind == EQ_ARGMIN; }

/* ---- the order, which the text decides ---- */

bool equation_is_dense_along(const struct eq_printer *p, const struct eq_access *a, const struct eq_var *v)
{
    if (a->rank == 0 || !a->index[a->rank - 1].size) return false;
    const struct size *own = size_symbol(p->sizes, v->symbol);
    const struct size *rest = size_sub(p->sizes, a->index[a->rank - 1].size, own);
    return rest && !size_names(rest, v->symbol);
}

static bool access_varies(const struct eq_access *a, const struct eq_expr *reduction)
{
    for (int d = 0; d < a->rank; d++)
        for (int i = 0; i < reduction->reduce.var_count; i++)
            if (a->index[d].size && size_names(a->index[d].size, reduction->reduce.vars[i]->symbol)) return true;
    return false;
}

/* A load that varies in the reduction, and that a vector along v would read in one piece. */
static bool has_dense_load(const struct eq_printer *p, const struct eq_expr *reduction, const struct eq_expr *x,
                           const struct eq_var *v)
{
    if (!x) return false;
    if (x->kind == EQ_LOAD && equation_is_dense_along(p, x->access, v) && access_varies(x->access, reduction))
        return true;
    return has_dense_load(p, reduction, x->a, v) || has_dense_load(p, reduction, x->b, v) ||
           has_dense_load(p, reduction, x->c, v);
}

const struct eq_var *equation_vector(const struct eq_printer *p, const struct eq_stmt *s, const struct eq_expr *x)
{
    const struct eq_var *v = x->reduce.vector;
    if (!v || !equation_is_float(x->type) || x->reduce.kind > EQ_RED_MIN) return NULL;
    if (s->free_count > 0 && has_dense_load(p, x, x->a, s->frees[s->free_count - 1])) return NULL;
    for (int i = 0; i < x->reduce.var_count; i++)
        if (size_names(x->reduce.vars[i]->low, v->symbol) || size_names(x->reduce.vars[i]->high, v->symbol))
            return NULL;
    return v;
}

/* ---- one step ---- */

void equation_step(struct eq_printer *p, const struct eq_expr *x, const char *into)
{
    const struct eq_expr *term = x->a;
    struct out *out = p->e->out;
    switch (x->reduce.kind) {
    case EQ_ANY: out_line(out, "%s |= %s;", into, equation_value(p, term, P_BITS)); return;
    case EQ_ALL: out_line(out, "%s &= %s;", into, equation_value(p, term, P_BITS)); return;
    case EQ_SUM:
        if (equation_is_float(x->type) && term->kind == EQ_MUL) {
            const char *a = equation_value(p, term->a, P_ANY), *b = equation_value(p, term->b, P_ANY);
            out_line(out, "%s = pto_fma_%s(%s, %s, %s, %s);", into, elem_name(x->type), p->fused, a, b, into);
            return;
        }
        break;
    default: break;
    }
    const char *value = equation_value(p, term, P_ADD);
    if (equation_is_float(x->type) && x->reduce.kind <= EQ_PROD)
        out_line(out, "%s %s= %s;", into, x->reduce.kind == EQ_SUM ? "+" : "*", value);
    else {
        equation_need_type(p, x->type);
        out_line(out, "%s = pto_%s_%s(%s, %s);", into, kinds[x->reduce.kind].operation, elem_name(x->type), into,
                 value);
    }
}

static void close_loops(struct eq_printer *p, int count)
{
    for (int i = 0; i < count; i++) out_close(p->e->out, "}");
}

/* ---- the forms ---- */

static void in_order(struct eq_printer *p, const struct eq_expr *x, const char *result)
{
    const size_t mark = names_mark(&p->e->names);
    for (int i = 0; i < x->reduce.var_count; i++) equation_open_loop(p, x->reduce.vars[i]);
    equation_step(p, x, result);
    close_loops(p, x->reduce.var_count);
    names_close(&p->e->names, mark);
}

/* The statements of the loop before, for the element at `own`. */
static void do_first(struct eq_printer *p, const char *own)
{
    const struct eq_stmt *last = p->stmt;
    const struct eq_node *loop = p->first;
    ptrmap_set(&p->e->c_names, loop->var->symbol, (void *)(uintptr_t)own);
    equation_begin_iteration(p, loop);
    p->first = NULL;
    for (const struct eq_node *n = loop->child; n; n = n->next) equation_statement(p, n->stmt);
    p->first = loop;
    emit_at(p->e, last->at);
    equation_begin(p, last);
}

bool equation_has_part(const struct eq_var *v, bool is_rest)
{
    int64_t low = 0, high = 0, count = 0;
    if (!size_is_const(v->low, &low) || !size_is_const(v->high, &high)) return true;
    if (__builtin_sub_overflow(high, low, &count)) return true;
    return is_rest ? count % PTO_PARTS != 0 || count <= 0 : count >= PTO_PARTS;
}

/* The statement's own names for the partial results and for where the last whole group ends. */
static void by_parts(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, const char *result)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    const size_t mark = names_mark(&p->e->names);
    const char *type = c_elem_type(x->type);
    const char *part = names_take(&p->e->names, arena_printf(mem, "%s_part", result));
    const char *lane = names_take(&p->e->names, "lane");
    out_line(out, "%s %s[PTO_PARTS];", type, part);
    out_line(out, "for (int64_t %s = 0; %s < PTO_PARTS; %s++) %s[%s] = %s;", lane, lane, lane, part, lane,
             equation_empty_value(p, x));
    int others = 0;
    for (int i = 0; i < x->reduce.var_count; i++)
        if (x->reduce.vars[i] != v) equation_open_loop(p, x->reduce.vars[i]), others++;
    const char *group = names_take(&p->e->names, arena_printf(mem, "%s_group", v->symbol->name));
    const char *high = names_take(&p->e->names, arena_printf(mem, "%s_end", v->symbol->name));
    const char *own = emit_declare(p->e, v->symbol, v->symbol->name);
    const char *into = arena_printf(mem, "%s[%s]", part, lane);
    out_line(out, "int64_t %s = %s;", group, equation_size(p, v->low, P_ANY));
    out_line(out, "const int64_t %s = %s;", high, equation_size(p, v->high, P_ANY));
    for (int tail = 0; tail < 2; tail++) {
        if (!equation_has_part(v, tail)) continue;
        if (tail)
            out_open(out, "for (int64_t %s = 0; %s < %s; %s++) {", lane, lane, equation_left(p, v, group, high), lane);
        else {
            equation_open_groups(p, v, group, high, "PTO_PARTS");
            if (p->first)
                equation_prefetch(p, p->first, group);
            else
                equation_prefetch_row(p, x, v, group, high);
            out_open(out, "for (int64_t %s = 0; %s < PTO_PARTS; %s++) {", lane, lane, lane);
        }
        const size_t inner = names_mark(&p->e->names);
        out_line(out, "const int64_t %s = %s + %s;", own, group, lane);
        if (p->first) do_first(p, own);
        equation_step(p, x, into);
        names_close(&p->e->names, inner);
        out_close(out, "}");
        if (!tail) out_close(out, "}");
    }
    close_loops(p, others);
    out_line(out, "%s = pto_fold_%s_%s(%s);", result, kinds[x->reduce.kind].operation, elem_name(x->type), part);
    names_close(&p->e->names, mark);
}

/* The first place of the extreme value; the first not-a-number, where there is one. */
static void place_of_extreme(struct eq_printer *p, const struct eq_expr *x, const char *result)
{
    struct out *out = p->e->out;
    const struct eq_var *v = x->reduce.vars[0];
    const size_t mark = names_mark(&p->e->names);
    const enum elem type = x->a->type;
    const char *best = names_take(&p->e->names, "best"), *low = equation_size(p, v->low, P_REL);
    out_line(out, "%s %s = 0;", c_elem_type(type), best);
    out_line(out, "%s = %s;", result, low);
    if (x->may_fail)
        out_line(out, "if (%s >= %s) %s = PTO_FAILED_EMPTY;", low, equation_size(p, v->high, P_REL), p->failed);
    equation_open_loop(p, v);
    const char *own = emit_name(p->e, v->symbol);
    const char *value = names_take(&p->e->names, "value");
    out_line(out, "const %s %s = %s;", c_elem_type(type), value, equation_value(p, x->a, P_ANY));
    const char *unordered =
        equation_is_float(type) ? arena_printf(p->e->mem, " || (%s != %s && %s == %s)", value, value, best, best) : "";
    out_open(out, "if (%s == %s || %s %s %s%s) {", own, low, value, x->reduce.kind == EQ_ARGMAX ? ">" : "<", best,
             unordered);
    out_line(out, "%s = %s;", best, value);
    out_line(out, "%s = %s;", result, own);
    out_close(out, "}");
    out_close(out, "}");
    names_close(&p->e->names, mark);
}

const char *equation_result_type(const struct eq_expr *x)
{
    return x->type == ELEM_F16 || x->type == ELEM_BF16 ? "float" : c_elem_type(x->type);
}

static void print_form(struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v, const char *result)
{
    out_open(p->e->out, "{");
    if (is_place(x))
        place_of_extreme(p, x, result);
    else if (v)
        by_parts(p, x, v, result);
    else
        in_order(p, x, result);
    out_close(p->e->out, "}");
}

const char *equation_reduction(struct eq_printer *p, const struct eq_expr *x)
{
    static const char *const wanted[] = {
        [EQ_SUM] = "sum",      [EQ_PROD] = "product", [EQ_RED_MAX] = "most", [EQ_RED_MIN] = "least",
        [EQ_ARGMAX] = "place", [EQ_ARGMIN] = "place", [EQ_ANY] = "any",      [EQ_ALL] = "all"};
    if (x == p->replaced) return p->replacement;
    const char *result = names_take(&p->e->names, wanted[x->reduce.kind]);
    const char *type = equation_result_type(x);
    const struct eq_var *v = is_place(x) ? NULL : equation_vector(p, p->stmt, x);
    if (is_place(x) || v)
        out_line(p->e->out, "%s %s;", type, result);
    else
        out_line(p->e->out, "%s %s = %s;", type, result, equation_empty_value(p, x));
    if (p->angles != ANGLES_ALONE || p->first || !equation_holds_angle(x->a)) {
        print_form(p, x, v, result);
        return result;
    }
    equation_begin_near(p, x->a);
    print_form(p, x, v, result);
    equation_begin_any(p);
    if (!is_place(x) && !v) out_line(p->e->out, "%s = %s;", result, equation_empty_value(p, x));
    print_form(p, x, v, result);
    equation_end_any(p);
    return result;
}
