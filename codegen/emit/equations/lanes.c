/* lanes.c - reductions in order, for a group of elements at a time.
 * Idea       a statement whose operands lie side by side along its last free variable, and whose reduction runs in the
 *            order of its own variables, is done for PTO_PARTS values of the free variable at once: the reduction's
 *            loops stand outside, a vector's lanes inside.  Short reductions of constant length stay as they are: a C
 *            compiler unrolls those.
 *            Places are i64; while the reduction runs, that of an element of four bytes is a step of four bytes, so
 *            that value and step are vectors of one length.
 * Invariant  each element is reduced in the order that it has alone.
 * Tests      test/lit/codegen/index-lanes.pto, test/lit/run/index-notation.test
 */
#include "parts.h"

enum { UNROLLED = 16 }; /* so many steps a C compiler writes out */

struct lanes {
    const struct eq_stmt *stmt;
    const struct eq_var *var;
    const struct eq_expr *x;
    const char *result, *best, *group, *end, *lane;
    const char *step, *first; /* the place is first + step; NULL: it is counted in 64 bits */
};

static bool is_place(const struct eq_expr *x) { return x->reduce.kind == EQ_ARGMAX || x->reduce.kind == EQ_ARGMIN; }

static bool has_dense_load(const struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v)
{
    if (!x) return false;
    if (x->kind == EQ_LOAD && equation_is_dense_along(p, x->access, v)) return true;
    return has_dense_load(p, x->a, v) || has_dense_load(p, x->b, v) || has_dense_load(p, x->c, v);
}

static bool is_short(const struct eq_printer *p, const struct eq_expr *x)
{
    int64_t steps = 1;
    for (int i = 0; i < x->reduce.var_count; i++) {
        const struct size *length = size_sub(p->sizes, x->reduce.vars[i]->high, x->reduce.vars[i]->low);
        int64_t count;
        if (!length || !size_is_const(length, &count) || count > UNROLLED) return false;
        steps *= count;
    }
    return steps <= UNROLLED;
}

/* The reduction inside of the term is short: the lanes of the term still become a vector. */
static bool is_inner_short(const struct eq_printer *p, const struct eq_expr *x)
{
    if (!x) return true;
    if (x->kind == EQ_REDUCE && (is_place(x) || !is_short(p, x))) return false;
    return is_inner_short(p, x->a) && is_inner_short(p, x->b) && is_inner_short(p, x->c);
}

const struct eq_expr *equation_in_lanes(const struct eq_printer *p, const struct eq_stmt *s)
{
    if (s->carried || s->free_count == 0) return NULL;
    const struct eq_var *v = s->frees[s->free_count - 1];
    struct eq_contraction contraction;
    int count = 0;
    const struct eq_expr *x = equation_only_reduction(s->value, &count);
    if (count != 1 || equation_is_contraction(p, s, &contraction)) return NULL;
    if (!has_dense_load(p, x->a, v) || is_short(p, x) || !is_inner_short(p, x->a)) return NULL;
    if (!is_place(x) && equation_vector(p, s, x)) return NULL;
    for (int i = 0; i < x->reduce.var_count; i++)
        if (size_names(x->reduce.vars[i]->low, v->symbol) || size_names(x->reduce.vars[i]->high, v->symbol))
            return NULL;
    return x;
}

/* `best` and the place are replaced by the value and its own, where the value is better or the first not-a-number. */
static void place_step(struct eq_printer *p, const struct lanes *l)
{
    struct out *out = p->e->out;
    const enum elem type = l->x->a->type;
    const char *best = arena_printf(p->e->mem, "%s[%s]", l->best, l->lane);
    const char *value = names_take(&p->e->names, "value"), *is_better = names_take(&p->e->names, "is_better");
    out_line(out, "const %s %s = %s;", c_elem_type(type), value, equation_value(p, l->x->a, P_ANY));
    const bool is_most = l->x->reduce.kind == EQ_ARGMAX;
    if (equation_is_float(type))
        out_line(out, "const bool %s = !(%s %s %s) && %s == %s;", is_better, value, is_most ? "<=" : ">=", best, best,
                 best);
    else
        out_line(out, "const bool %s = %s %s %s;", is_better, value, is_most ? ">" : "<", best);
    out_line(out, "%s = %s ? %s : %s;", best, is_better, value, best);
    const char *place = arena_printf(p->e->mem, "%s[%s]", l->step ? l->step : l->result, l->lane);
    const char *own = emit_name(p->e, l->x->reduce.vars[0]->symbol);
    if (l->step) own = arena_printf(p->e->mem, "(int32_t)(%s - %s)", own, l->first);
    out_line(out, "%s = %s ? %s : %s;", place, is_better, own, place);
}

/* A loop over the lanes of a group: a whole one, or what is left of the range. */
static void open_lanes(struct eq_printer *p, const struct lanes *l, bool is_whole)
{
    struct out *out = p->e->out;
    if (is_whole)
        out_open(out, "for (int64_t %s = 0; %s < PTO_PARTS; %s++) {", l->lane, l->lane, l->lane);
    else
        out_open(out, "for (int64_t %s = 0; %s < %s - %s; %s++) {", l->lane, l->lane, l->end, l->group, l->lane);
}

static void begin_lane(struct eq_printer *p, const struct lanes *l)
{
    const char *own = emit_declare(p->e, l->var->symbol, l->var->symbol->name);
    out_line(p->e->out, "const int64_t %s = %s + %s;", own, l->group, l->lane);
}

static const char *extreme(struct eq_printer *p, const struct eq_expr *x)
{
    struct eq_expr whole = *x;
    whole.reduce.kind = x->reduce.kind == EQ_ARGMAX ? EQ_RED_MAX : EQ_RED_MIN;
    whole.type = x->a->type;
    return equation_empty_value(p, &whole);
}

/* One value of the reduction's variables, for each lane; closes that many loops. */
static void print_lanes(struct eq_printer *p, const struct lanes *l, bool is_whole, const char *result)
{
    open_lanes(p, l, is_whole);
    begin_lane(p, l);
    if (is_place(l->x))
        place_step(p, l);
    else
        equation_step(p, l->x, result);
    for (int i = 0; i <= l->x->reduce.var_count; i++) out_close(p->e->out, "}");
}

/* The places of the extremes, by steps of 32 bits: so many values of the variable at a time. */
static void print_steps(struct eq_printer *p, const struct lanes *l, bool is_whole, const char *result)
{
    struct out *out = p->e->out;
    const struct eq_var *v = l->x->reduce.vars[0];
    const char *high = equation_size(p, v->high, P_REL);
    const char *step = arena_printf(p->e->mem, "%s[%s]", l->step, l->lane);
    out_open(out, "for (int64_t %s = %s; %s < %s; %s += PTO_STEPS) {", l->first, equation_size(p, v->low, P_ANY),
             l->first, high, l->first);
    out_line(out, "int32_t %s[PTO_PARTS];", l->step);
    open_lanes(p, l, is_whole);
    out_line(out, "%s = -1;", step);
    out_close(out, "}");
    const size_t mark = names_mark(&p->e->names);
    const char *own = emit_declare(p->e, v->symbol, v->symbol->name);
    out_open(out, "for (int64_t %s = %s; %s < pto_min_i64(%s, %s + PTO_STEPS); %s++) {", own, l->first, own,
             equation_size(p, v->high, P_ANY), l->first, own);
    print_lanes(p, l, is_whole, result);
    names_close(&p->e->names, mark);
    open_lanes(p, l, is_whole);
    out_line(out, "%s = %s < 0 ? %s : %s + %s;", result, step, result, l->first, step);
    out_close(out, "}");
    out_close(out, "}");
}

static void print_group(struct eq_printer *p, const struct lanes *l, bool is_whole)
{
    struct out *out = p->e->out;
    const struct eq_expr *x = l->x;
    const char *result = arena_printf(p->e->mem, "%s[%s]", l->result, l->lane);
    const size_t mark = names_mark(&p->e->names);
    out_line(out, "%s %s[PTO_PARTS];", equation_result_type(x), l->result);
    if (is_place(x)) out_line(out, "%s %s[PTO_PARTS];", c_elem_type(x->a->type), l->best);
    open_lanes(p, l, is_whole);
    if (is_place(x)) out_line(out, "%s[%s] = %s;", l->best, l->lane, extreme(p, x));
    out_line(out, "%s = %s;", result,
             is_place(x) ? equation_size(p, x->reduce.vars[0]->low, P_ANY) : equation_empty_value(p, x));
    out_close(out, "}");
    if (l->step) {
        print_steps(p, l, is_whole, result);
    } else {
        for (int i = 0; i < x->reduce.var_count; i++) equation_open_loop(p, x->reduce.vars[i]);
        print_lanes(p, l, is_whole, result);
    }
    names_close(&p->e->names, mark);
    open_lanes(p, l, is_whole);
    begin_lane(p, l);
    p->replaced = x;
    p->replacement = result;
    equation_statement(p, l->stmt);
    p->replaced = NULL;
    out_close(out, "}");
    names_close(&p->e->names, mark);
}

void equation_lanes(struct eq_printer *p, const struct eq_stmt *s, const struct eq_expr *x)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    struct lanes l = {.stmt = s, .var = s->frees[s->free_count - 1], .x = x};
    equation_begin(p, s);
    l.result = names_take(&p->e->names, is_place(x) ? "place" : "result");
    l.best = names_take(&p->e->names, "best");
    l.group = names_take(&p->e->names, arena_printf(mem, "%s_group", l.var->symbol->name));
    l.end = names_take(&p->e->names, arena_printf(mem, "%s_end", l.var->symbol->name));
    l.lane = names_take(&p->e->names, "lane");
    if (is_place(x) && elem_bytes(x->a->type) == sizeof(int32_t)) {
        l.step = names_take(&p->e->names, "step");
        l.first = names_take(&p->e->names, arena_printf(mem, "%s_first", x->reduce.vars[0]->symbol->name));
    }
    out_open(out, "{");
    out_line(out, "int64_t %s = %s;", l.group, equation_size(p, l.var->low, P_ANY));
    out_line(out, "const int64_t %s = %s;", l.end, equation_size(p, l.var->high, P_ANY));
    if (is_place(x) && x->may_fail) {
        const char *low = equation_size(p, x->reduce.vars[0]->low, P_REL);
        out_line(out, "if (%s < %s && %s >= %s) %s = PTO_FAILED_EMPTY;", l.group, l.end, low,
                 equation_size(p, x->reduce.vars[0]->high, P_REL), p->failed);
    }
    if (equation_has_part(l.var, false)) {
        out_open(out, "for (; %s <= %s - PTO_PARTS; %s += PTO_PARTS) {", l.group, l.end, l.group);
        print_group(p, &l, true);
        out_close(out, "}");
    }
    if (equation_has_part(l.var, true)) {
        out_open(out, "if (%s < %s) {", l.group, l.end);
        print_group(p, &l, false);
        out_close(out, "}");
    }
    out_close(out, "}");
}
