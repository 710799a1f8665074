/* lanes.c - reductions in order, for a group of elements at a time.
 * Idea       a statement whose operands lie side by side along its last free variable, and whose reduction runs in the
 *            order of its own variables, is done for PTO_PARTS values of the free variable at once: the reduction's
 *            loops stand outside, a vector's lanes inside.  Short reductions of constant length stay as they are: a C
 *            compiler unrolls those.
 *            The place of an extreme is a step from the lower bound while the reduction runs, of as many bytes as a
 *            value has, so that value and step are vectors of one length; several steps are made with the same lanes in
 *            registers.  There a not-a-number counts as the infinity that no value is better than.  A group that found
 *            this infinity, or has more steps than can be counted, is reduced once more, each element alone.
 * Invariant  each element is reduced in the order that it has alone.
 * Tests      test/lit/codegen/index-lanes.pto, test/lit/run/index-notation.test
 */
#include "parts.h"

enum {
    UNROLLED = 16, /* so many steps a C compiler writes out */
    JAMMED = 4     /* steps of a place that are made with the same lanes in registers */
};

struct lanes {
    const struct eq_stmt *stmt;
    const struct eq_var *var;
    const struct eq_expr *x;
    const char *result, *group, *end, *lane;
    const char *best, *step, *beyond, *count, *first; /* of a place */
};

static bool is_place(const struct eq_expr *x) { return x->reduce.kind == EQ_ARGMAX || x->reduce.kind == EQ_ARGMIN; }

static bool has_dense_load(const struct eq_printer *p, const struct eq_expr *x, const struct eq_var *v)
{
    if (!x) return false;
    if (x->kind == EQ_LOAD && equation_is_dense_along(p, x->access, v)) return true;
    return has_dense_load(p, x->a, v) || has_dense_load(p, x->b, v) || has_dense_load(p, x->c, v);
}

static bool is_short(const struct eq_printer *p, const struct eq_expr *x, int most)
{
    int64_t steps = 1;
    for (int i = 0; i < x->reduce.var_count; i++) {
        const struct size *length = size_sub(p->sizes, x->reduce.vars[i]->high, x->reduce.vars[i]->low);
        int64_t count;
        if (!length || !size_is_const(length, &count) || count > most) return false;
        steps *= count;
    }
    return steps <= most;
}

/* The reductions inside of the term are short: the lanes of the term still become a vector. */
static bool is_inner_short(const struct eq_printer *p, const struct eq_expr *x, int most)
{
    if (!x) return true;
    if (x->kind == EQ_REDUCE && (is_place(x) || !is_short(p, x, most))) return false;
    return is_inner_short(p, x->a, most) && is_inner_short(p, x->b, most) && is_inner_short(p, x->c, most);
}

const struct eq_expr *equation_in_lanes(const struct eq_printer *p, const struct eq_stmt *s)
{
    if (s->carried || s->free_count == 0) return NULL;
    if (s->target->temp && p->storage[s->target->temp->id].dims == 0) return NULL; /* nothing reads it */
    const struct eq_var *v = s->frees[s->free_count - 1];
    struct eq_contraction contraction;
    int count = 0;
    const struct eq_expr *x = equation_only_reduction(s->value, &count);
    if (count != 1 || equation_is_contraction(p, s, &contraction)) return NULL;
    if (!has_dense_load(p, x->a, v) || is_short(p, x, UNROLLED) || !is_inner_short(p, x->a, UNROLLED)) return NULL;
    if (!is_place(x) && equation_vector(p, s, x)) return NULL;
    for (int i = 0; i < x->reduce.var_count; i++)
        if (size_names(x->reduce.vars[i]->low, v->symbol) || size_names(x->reduce.vars[i]->high, v->symbol))
            return NULL;
    return x;
}

/* A loop over the lanes of a group: a whole one, or what is left of the range. */
static void open_lanes(struct eq_printer *p, const struct lanes *l, bool is_whole)
{
    struct out *out = p->e->out;
    if (is_whole)
        out_open(out, "for (int64_t %s = 0; %s < PTO_PARTS; %s++) {", l->lane, l->lane, l->lane);
    else
        out_open(out, "for (int64_t %s = 0; %s < %s; %s++) {", l->lane, l->lane,
                 equation_left(p, l->var, l->group, l->end), l->lane);
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
static void print_lanes(struct eq_printer *p, const struct lanes *l, bool is_whole)
{
    open_lanes(p, l, is_whole);
    begin_lane(p, l);
    equation_step(p, l->x, arena_printf(p->e->mem, "%s[%s]", l->result, l->lane));
    for (int i = 0; i <= l->x->reduce.var_count; i++) out_close(p->e->out, "}");
}

/* The statement itself, for each lane whose loop is open. */
static void print_statement(struct eq_printer *p, const struct lanes *l)
{
    begin_lane(p, l);
    p->replaced = l->x;
    p->replacement = arena_printf(p->e->mem, "%s[%s]", l->result, l->lane);
    equation_statement(p, l->stmt);
    p->replaced = NULL;
    out_close(p->e->out, "}");
}

static void print_group(struct eq_printer *p, const struct lanes *l, bool is_whole)
{
    struct out *out = p->e->out;
    const struct eq_expr *x = l->x;
    const size_t mark = names_mark(&p->e->names);
    out_line(out, "%s %s[PTO_PARTS];", equation_result_type(x), l->result);
    open_lanes(p, l, is_whole);
    out_line(out, "%s[%s] = %s;", l->result, l->lane, equation_empty_value(p, x));
    out_close(out, "}");
    for (int i = 0; i < x->reduce.var_count; i++) equation_open_loop(p, x->reduce.vars[i]);
    print_lanes(p, l, is_whole);
    names_close(&p->e->names, mark);
    open_lanes(p, l, is_whole);
    print_statement(p, l);
    names_close(&p->e->names, mark);
}

/* ---- places ---- */

static bool is_counted_in_32_bits(const struct eq_expr *x) { return elem_bytes(x->a->type) == sizeof(int32_t); }

static const char *step_type(const struct eq_expr *x) { return is_counted_in_32_bits(x) ? "int32_t" : "int64_t"; }

static bool is_from_zero(const struct eq_var *v)
{
    int64_t low;
    return size_is_const(v->low, &low) && low == 0;
}

/* `best` and `step` of a lane are replaced by the value and its own step, where the value is better. */
static void place_step(struct eq_printer *p, const struct lanes *l, const char *best, const char *step)
{
    struct out *out = p->e->out;
    const struct eq_expr *x = l->x;
    const size_t mark = names_mark(&p->e->names);
    const char *type = c_elem_type(x->a->type), *sign = x->reduce.kind == EQ_ARGMAX ? ">" : "<";
    const char *value = names_take(&p->e->names, "value"), *is_better = names_take(&p->e->names, "is_better");
    if (equation_is_float(x->a->type)) {
        const char *term = names_take(&p->e->names, "term");
        out_line(out, "const %s %s = %s;", type, term, equation_value(p, x->a, P_ANY));
        out_line(out, "const %s %s = %s %s %s ? %s : %s;", type, value, l->beyond, sign, term, term, l->beyond);
    } else {
        out_line(out, "const %s %s = %s;", type, value, equation_value(p, x->a, P_ANY));
    }
    const struct eq_var *v = x->reduce.vars[0];
    const char *own = emit_name(p->e, v->symbol);
    if (!is_from_zero(v)) own = arena_printf(p->e->mem, "(%s - %s)", own, equation_size(p, v->low, P_MUL));
    out_line(out, "const bool %s = %s %s %s;", is_better, value, sign, best);
    out_line(out, "%s = %s %s %s ? %s : %s;", best, value, sign, best, value, best);
    out_line(out, is_counted_in_32_bits(x) ? "%s = %s ? (int32_t)%s : %s;" : "%s = %s ? %s : %s;", step, is_better, own,
             step);
    names_close(&p->e->names, mark);
}

/* JAMMED steps for each lane of a whole group, as long as there are so many. */
static void print_jammed(struct eq_printer *p, const struct lanes *l)
{
    struct out *out = p->e->out;
    const struct eq_var *v = l->x->reduce.vars[0];
    const size_t mark = names_mark(&p->e->names);
    const char *first = l->first;
    equation_open_groups(p, v, first, equation_size(p, v->high, P_ADD), arena_printf(p->e->mem, "%d", JAMMED));
    out_line(out, "PTO_STAYS_LOOP");
    open_lanes(p, l, true);
    begin_lane(p, l);
    const char *best = names_take(&p->e->names, "lane_best"), *step = names_take(&p->e->names, "lane_step");
    out_line(out, "%s %s = %s[%s];", c_elem_type(l->x->a->type), best, l->best, l->lane);
    out_line(out, "%s %s = %s[%s];", step_type(l->x), step, l->step, l->lane);
    const char *own = emit_declare(p->e, v->symbol, v->symbol->name);
    out_open(out, "for (int64_t %s = %s; %s < %s + %d; %s++) {", own, first, own, first, JAMMED, own);
    place_step(p, l, best, step);
    out_close(out, "}");
    out_line(out, "%s[%s] = %s;", l->best, l->lane, best);
    out_line(out, "%s[%s] = %s;", l->step, l->lane, step);
    out_close(out, "}");
    out_close(out, "}");
    names_close(&p->e->names, mark);
}

/* The steps from `first` on, one at a time. */
static void print_steps(struct eq_printer *p, const struct lanes *l, bool is_whole, const char *first)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    const struct eq_var *v = l->x->reduce.vars[0];
    const size_t mark = names_mark(&p->e->names);
    const char *own = emit_declare(p->e, v->symbol, v->symbol->name);
    out_open(out, "for (int64_t %s = %s; %s < %s; %s++) {", own, first, own, equation_size(p, v->high, P_ADD), own);
    open_lanes(p, l, is_whole);
    begin_lane(p, l);
    place_step(p, l, arena_printf(mem, "%s[%s]", l->best, l->lane), arena_printf(mem, "%s[%s]", l->step, l->lane));
    out_close(out, "}");
    out_close(out, "}");
    names_close(&p->e->names, mark);
}

static void begin_places(struct eq_printer *p, const struct lanes *l)
{
    struct out *out = p->e->out;
    const enum elem type = l->x->a->type;
    out_line(out, "%s %s[PTO_PARTS];", c_elem_type(type), l->best);
    out_line(out, "%s %s[PTO_PARTS];", step_type(l->x), l->step);
    if (equation_is_float(type))
        out_line(out, "const %s %s = pto_hidden_%s(%sPTO_INFINITY);", c_elem_type(type), l->beyond, elem_name(type),
                 l->x->reduce.kind == EQ_ARGMAX ? "" : "-");
    open_lanes(p, l, true);
    out_line(out, "%s[%s] = %s;", l->best, l->lane, extreme(p, l->x));
    out_line(out, "%s[%s] = 0;", l->step, l->lane);
    out_close(out, "}");
}

/* From the steps; or of each element alone. */
static void end_places(struct eq_printer *p, const struct lanes *l)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    const struct eq_var *v = l->x->reduce.vars[0];
    const bool is_float = equation_is_float(l->x->a->type);
    const char *low = equation_size(p, v->low, P_ADD), *range = equation_size(p, v->high, P_ADD);
    const char *is_alone = names_take(&p->e->names, "is_alone");
    const bool may_be_alone = is_float || is_counted_in_32_bits(l->x), is_zero = is_from_zero(v);
    if (!is_zero) range = arena_printf(mem, "pto_sub_i64(%s, %s)", equation_size(p, v->high, P_ANY), low);
    out_line(out, "int64_t %s[PTO_PARTS];", l->result);
    open_lanes(p, l, true);
    out_line(out, "%s[%s] = %s%s%s[%s];", l->result, l->lane, is_zero ? "" : low, is_zero ? "" : " + ", l->step,
             l->lane);
    out_close(out, "}");
    if (may_be_alone) /* as wide as a value, so that it is a vector, too */
        out_line(out, "%s %s = %s;", step_type(l->x), is_alone,
                 is_counted_in_32_bits(l->x) ? arena_printf(mem, "%s > PTO_STEPS", range) : "0");
    if (is_float) {
        open_lanes(p, l, true);
        out_line(out, "%s |= %s[%s] == %s;", is_alone, l->best, l->lane, l->beyond);
        out_close(out, "}");
    }
    if (!may_be_alone) return;
    out_open(out, "for (int64_t %s = 0; %s && %s < %s; %s++) {", l->lane, is_alone, l->lane, l->count, l->lane);
    const size_t mark = names_mark(&p->e->names);
    begin_lane(p, l);
    const char *place = equation_reduction(p, l->x);
    out_line(out, "%s[%s] = %s;", l->result, l->lane, place);
    names_close(&p->e->names, mark);
    out_close(out, "}");
}

static void print_places(struct eq_printer *p, const struct lanes *l)
{
    struct out *out = p->e->out;
    const struct eq_var *v = l->x->reduce.vars[0];
    const char *low = equation_size(p, v->low, P_ANY);
    const bool has_whole = equation_has_part(l->var, false), has_rest = equation_has_part(l->var, true);
    out_open(out, "for (; %s < %s; %s += PTO_PARTS) {", l->group, l->end, l->group);
    out_line(out, "const int64_t %s = pto_min_i64(PTO_PARTS, %s);", l->count,
             equation_left(p, l->var, l->group, l->end));
    begin_places(p, l);
    if (has_whole) {
        if (has_rest) out_open(out, "if (%s == PTO_PARTS) {", l->count);
        const bool is_jammed = is_inner_short(p, l->x->a, JAMMED);
        if (is_jammed) {
            out_line(out, "int64_t %s = %s;", l->first, low);
            print_jammed(p, l);
        }
        print_steps(p, l, true, is_jammed ? l->first : low);
        if (has_rest) out_close(out, "}");
    }
    if (has_rest) {
        if (has_whole) out_open(out, "if (%s < PTO_PARTS) {", l->count);
        print_steps(p, l, false, low);
        if (has_whole) out_close(out, "}");
    }
    end_places(p, l);
    out_open(out, "for (int64_t %s = 0; %s < %s; %s++) {", l->lane, l->lane, l->count, l->lane);
    print_statement(p, l);
    out_close(out, "}");
}

void equation_lanes(struct eq_printer *p, const struct eq_stmt *s, const struct eq_expr *x)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    struct lanes l = {.stmt = s, .var = s->frees[s->free_count - 1], .x = x};
    equation_begin(p, s);
    l.result = names_take(&p->e->names, is_place(x) ? "place" : "result");
    l.group = names_take(&p->e->names, arena_printf(mem, "%s_group", l.var->symbol->name));
    l.end = names_take(&p->e->names, arena_printf(mem, "%s_end", l.var->symbol->name));
    l.lane = names_take(&p->e->names, "lane");
    if (is_place(x)) {
        l.best = names_take(&p->e->names, "best");
        l.step = names_take(&p->e->names, "step");
        l.beyond = names_take(&p->e->names, "beyond");
        l.count = names_take(&p->e->names, "count");
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
    if (is_place(x)) {
        print_places(p, &l);
        out_close(out, "}");
        return;
    }
    if (equation_has_part(l.var, false)) {
        equation_open_groups(p, l.var, l.group, l.end, "PTO_PARTS");
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
