/* ascendc_value.c - values of a kernel in index notation as instructions on a piece of a row.
 * Idea       a value is a float of the scalar unit, or a local tensor: a load, or a temporary that is free again after
 *            its use.  Instructions, loads and numbers of the row are printed apart, as a pass has them apart.
 * Invariant  one instruction for each operation, in the order of the text.
 * Tests      test/lit/ascend/index.test, test/lit/codegen/ascendc-index.pto
 */
#include "ascendc_parts.h"
#include <math.h>
#include <string.h>

struct value ascendc_refuse(struct ascendc *a, struct span at, const char *why)
{
    if (!a->why) a->why = why, a->at = at;
    return (struct value){true, "0.0f", -1};
}

static const struct eq_stmt *writer_of(const struct ascendc *a, const struct eq_temp *t)
{
    for (int i = 0; i < a->q->stmt_count; i++)
        if (a->q->stmts[i]->target->temp == t) return a->q->stmts[i];
    return NULL;
}

static bool is_row_temp(const struct ascendc *a, const struct eq_temp *t) { return t->rank <= a->rows; }

/* ---- temporaries and numbers ---- */

struct value ascendc_new_temp(struct ascendc *a)
{
    for (int i = 0; i < MOST; i++) {
        if (a->is_used[i]) continue;
        a->is_used[i] = true;
        if (i >= a->most_temps) a->most_temps = i + 1;
        return (struct value){false, arena_printf(a->mem, "t%d", i), i};
    }
    return ascendc_refuse(a, a->p.stmt->at, "it has too many values at the same time");
}

static void release(struct ascendc *a, struct value v)
{
    if (v.temp >= 0) a->is_used[v.temp] = false;
}

static const char *count_text(const struct ascendc *a) { return a->column ? "count" : "1"; }

const char *ascendc_let_name(struct ascendc *a, const struct eq_temp *t)
{
    return arena_printf(a->mem, "let%d_%s", t->id, t->name);
}

const char *ascendc_number_name(struct ascendc *a) { return arena_printf(a->mem, "number%d", a->numbers++); }

/* A tensor that x may overwrite: the result of the statement for its root. */
static struct value result_of(struct ascendc *a, const struct eq_expr *x, struct value v)
{
    if (x == a->root) {
        release(a, v);
        return (struct value){false, "y", -1};
    }
    return v.temp >= 0 ? v : ascendc_new_temp(a);
}

struct value ascendc_as_tensor(struct ascendc *a, struct value v)
{
    if (!v.is_scalar) return v;
    const struct value t = ascendc_new_temp(a);
    out_line(&a->work, "pto::set(%s, %s, %s);", t.text, v.text, count_text(a));
    return t;
}

/* ---- elements ---- */

bool ascendc_is_plain(const struct size *s)
{
    if (s->kind == SIZE_CONST || s->kind == SIZE_SYMBOL) return true;
    if (s->kind != SIZE_ADD && s->kind != SIZE_MUL) return false;
    for (int i = 0; i < s->count; i++)
        if (!ascendc_is_plain(s->arg[i])) return false;
    return true;
}

bool ascendc_locate(struct ascendc *a, const struct eq_access *x, const char **offset, const char **stride)
{
    const char *sum = "", *step = "", *name = emit_name(a->p.e, x->formal);
    for (int d = 0; d < x->rank; d++) {
        const struct size *index = x->index[d].size;
        if (!index || !ascendc_is_plain(index))
            return ascendc_refuse(a, x->at, "an index comes from an element"), false;
        if (x->index[d].needs_guard) return ascendc_refuse(a, x->at, "an element is read under a condition"), false;
        if (x->index[d].fate == EQ_CHECKED_HERE) return ascendc_refuse(a, x->at, "an index is tested"), false;
        int64_t value;
        if (!size_is_const(index, &value) || value != 0)
            sum = arena_printf(a->mem, "%s%s%s * k.%s_stride[%d]", sum, *sum ? " + " : "",
                               equation_size(&a->p, index, P_UNARY), name, d);
        if (!a->column || !size_names(index, a->column)) continue;
        const struct size *own = size_symbol(a->p.sizes, a->column);
        const struct size *next = size_binary(a->p.sizes, SIZE_ADD, own, size_const(a->p.sizes, 1));
        const struct size *moved = size_substitute(a->p.sizes, index, &a->column, &next, 1);
        const struct size *by = moved ? size_sub(a->p.sizes, moved, index) : NULL;
        if (!by || equation_names_loop(by)) return ascendc_refuse(a, x->at, "an index is not affine"), false;
        const char *unit = arena_printf(a->mem, "k.%s_stride[%d]", name, d);
        if (!size_is_const(by, &value) || value != 1)
            unit = arena_printf(a->mem, "%s * %s", equation_size(&a->p, by, P_UNARY), unit);
        step = arena_printf(a->mem, "%s%s%s", step, *step ? " + " : "", unit);
    }
    *offset = *sum ? sum : "0";
    *stride = step;
    return true;
}

/* Other rows, and pieces of other cores, may be written before or after this one, so what a statement of the kernel
 * writes is read in its own row only, and in its own piece where cores share a row. */
static bool is_of_this_core(struct ascendc *a, const struct eq_access *x, const struct eq_stmt *writer)
{
    const struct eq_var *vars[MAX_RANK];
    const int count = ascendc_target_vars(a, writer, vars);
    const bool has_column = count > a->rows;
    if (!ascendc_name_rows(a, writer, vars, has_column ? a->rows : count)) return false;
    if (has_column) ptrmap_set(&a->p.e->c_names, vars[a->rows]->symbol, (void *)(uintptr_t) "at");
    for (int d = 0; d < x->rank; d++) {
        const struct size *own = writer->target->index[d].size, *read = x->index[d].size;
        if (has_column && !a->is_shared && size_names(own, vars[a->rows]->symbol)) continue;
        if (!read || strcmp(equation_size(&a->p, own, P_ANY), equation_size(&a->p, read, P_ANY)) != 0) return false;
    }
    return true;
}

static bool is_of_another_core(struct ascendc *a, const struct eq_access *x)
{
    for (int k = 0; k < a->q->stmt_count; k++)
        if (a->q->stmts[k]->target->formal == x->formal && !is_of_this_core(a, x, a->q->stmts[k])) return true;
    return false;
}

struct value ascendc_element(struct ascendc *a, const struct eq_access *x)
{
    const char *offset, *stride;
    if (is_of_another_core(a, x)) return ascendc_refuse(a, x->at, "it reads another row of what the kernel writes");
    if (x->formal->type->elem != ELEM_F32) return ascendc_refuse(a, x->at, "its elements are no f32");
    if (!ascendc_locate(a, x, &offset, &stride)) return (struct value){true, "0.0f", -1};
    const char *name = emit_name(a->p.e, x->formal);
    if (!*stride) {
        const char *number = ascendc_number_name(a);
        out_line(&a->before, "const float %s = pto::number_at(k.%s, %s, lines);", number, name, offset);
        return (struct value){true, number, -1};
    }
    for (int i = 0; i < a->load_count; i++)
        if (strcmp(a->load[i].formal, name) == 0 && strcmp(a->load[i].offset, offset) == 0 &&
            strcmp(a->load[i].stride, stride) == 0)
            return (struct value){false, arena_printf(a->mem, "x%d", i), -1};
    if (a->load_count == MOST) return ascendc_refuse(a, x->at, "it reads too many rows");
    const int n = a->load_count++;
    if (a->load_count > a->most_loads) a->most_loads = a->load_count;
    a->load[n] = (struct piece_load){name, offset, stride};
    out_line(&a->loads, "pto::Floats x%d = in%d.AllocTensor<float>();", n, n);
    out_line(&a->loads, "pto::load(x%d, k.%s, %s, %s, count, lines);", n, name, offset, stride);
    out_line(&a->loads, "in%d.EnQue(x%d);", n, n);
    out_line(&a->loads, "x%d = in%d.DeQue<float>();", n, n);
    return (struct value){false, arena_printf(a->mem, "x%d", n), -1};
}

bool ascendc_reads_written(const struct ascendc *a, const struct eq_stmt *s)
{
    for (int i = 0; i < a->q->access_count; i++) {
        const struct eq_access *x = a->q->accesses[i];
        if (x->stmt != s || x->is_target) continue;
        if (x->temp && !is_row_temp(a, x->temp) && ascendc_reads_written(a, writer_of(a, x->temp))) return true;
        for (int k = 0; x->formal && k < a->q->stmt_count; k++)
            if (a->q->stmts[k]->target->formal == x->formal) return true;
    }
    return false;
}

/* The value of a temporary's element, computed again. */
static struct value temp_element(struct ascendc *a, const struct eq_access *x)
{
    if (is_row_temp(a, x->temp)) {
        for (int d = 0; d < x->rank; d++)
            if (x->index[d].expr ||
                strcmp(equation_size(&a->p, x->index[d].size, P_ANY), arena_printf(a->mem, "i%d", d)))
                return ascendc_refuse(a, x->at, "a temporary is read at another row");
        return (struct value){true, ascendc_let_name(a, x->temp), -1};
    }
    const struct eq_stmt *s = writer_of(a, x->temp);
    if (!s || x->rank != a->rows + 1 || !a->column) return ascendc_refuse(a, x->at, "a temporary is of another shape");
    if (ascendc_reads_written(a, s)) return ascendc_refuse(a, x->at, "a temporary reads what the kernel writes");
    const struct eq_var *vars[MAX_RANK];
    ascendc_target_vars(a, s, vars);
    if (!ascendc_name_rows(a, s, vars, a->rows)) return (struct value){true, "0.0f", -1};
    for (int d = 0; d < x->rank; d++) {
        const char *wanted = d < a->rows ? arena_printf(a->mem, "i%d", d) : "at";
        if (x->index[d].expr || strcmp(equation_size(&a->p, x->index[d].size, P_ANY), wanted) != 0)
            return ascendc_refuse(a, x->at, "a temporary is read at another index than its own");
    }
    const struct symbol *outer = a->column;
    const struct eq_expr *root = a->root;
    if (root && root->kind == EQ_LOAD && root->access == x) root = s->value;
    a->column = vars[a->rows]->symbol;
    a->root = root;
    ptrmap_set(&a->p.e->c_names, a->column, (void *)(uintptr_t) "at");
    const struct value v = ascendc_value(a, s->value);
    a->column = outer;
    return v;
}

/* ---- operations ---- */

static struct value unary(struct ascendc *a, const struct eq_expr *x, const char *function)
{
    const struct value v = ascendc_as_tensor(a, ascendc_value(a, x->a)), to = result_of(a, x, v);
    out_line(&a->work, "pto::%s(%s, %s, %s);", function, to.text, v.text, count_text(a));
    return to;
}

static const char *minus(struct ascendc *a, const char *number) { return arena_printf(a->mem, "-%s", number); }

static struct value of_two(struct ascendc *a, const struct eq_expr *x, const char *function)
{
    const struct value v = ascendc_as_tensor(a, ascendc_value(a, x->a)),
                       w = ascendc_as_tensor(a, ascendc_value(a, x->b));
    const struct value to = result_of(a, x, v.temp >= 0 ? v : w);
    out_line(&a->work, "pto::%s(%s, %s, %s, %s);", function, to.text, v.text, w.text, count_text(a));
    if (v.temp >= 0) release(a, w);
    return to;
}

/* Sums, differences and products, of which one operand may be a number. */
static struct value with_number(struct ascendc *a, const struct eq_expr *x)
{
    struct value v = ascendc_value(a, x->a), w = ascendc_value(a, x->b);
    const char *n = count_text(a), *both = x->kind == EQ_MUL ? "muls" : "adds";
    if (v.is_scalar && w.is_scalar) v = ascendc_as_tensor(a, v);
    const struct value to = result_of(a, x, v.temp >= 0 ? v : w);
    if (w.is_scalar)
        out_line(&a->work, "pto::%s(%s, %s, %s, %s);", both, to.text, v.text,
                 x->kind == EQ_SUB ? minus(a, w.text) : w.text, n);
    else if (v.is_scalar) {
        if (x->kind == EQ_SUB) out_line(&a->work, "pto::muls(%s, %s, -1.0f, %s);", to.text, w.text, n);
        out_line(&a->work, "pto::%s(%s, %s, %s, %s);", both, to.text, x->kind == EQ_SUB ? to.text : w.text, v.text, n);
    } else {
        const char *function = x->kind == EQ_ADD ? "add" : x->kind == EQ_SUB ? "sub" : "mul";
        out_line(&a->work, "pto::%s(%s, %s, %s, %s);", function, to.text, v.text, w.text, n);
        if (v.temp >= 0) release(a, w);
    }
    return to;
}

static const char *const modes[] = {
    [EQ_EQ] = "EQ", [EQ_NE] = "NE", [EQ_LT] = "LT", [EQ_LE] = "LE", [EQ_GT] = "GT", [EQ_GE] = "GE"};

static struct value compare(struct ascendc *a, const struct eq_expr *x, struct value v, struct value w)
{
    v = ascendc_as_tensor(a, v);
    w = ascendc_as_tensor(a, w);
    const struct value to = ascendc_new_temp(a); /* which holds 1 while v and w are read no more */
    a->has_mask = true;
    out_line(&a->work, "pto::compare(%s, %s, %s, AscendC::CMPMODE::%s, mask, %s);", to.text, v.text, w.text,
             modes[x->kind], count_text(a));
    release(a, v);
    release(a, w);
    return to;
}

/* Of two sizes: their difference with 0.  Along the columns that is where the piece begins, and a count. */
static struct value compare_sizes(struct ascendc *a, const struct eq_expr *x, const struct size *v,
                                  const struct size *w)
{
    static const char *const texts[] = {
        [EQ_EQ] = "==", [EQ_NE] = "!=", [EQ_LT] = "<", [EQ_LE] = "<=", [EQ_GT] = ">", [EQ_GE] = ">="};
    const struct size *by = size_sub(a->p.sizes, v, w);
    if (!by || !ascendc_is_plain(by)) return ascendc_refuse(a, x->at, "its condition is not affine");
    const char *text = equation_size(&a->p, by, P_REL);
    if (!a->column || !size_names(by, a->column))
        return (struct value){true, arena_printf(a->mem, "(%s %s 0 ? 1.0f : 0.0f)", text, texts[x->kind]), -1};
    const struct size *own = size_symbol(a->p.sizes, a->column);
    const struct size *next = size_binary(a->p.sizes, SIZE_ADD, own, size_const(a->p.sizes, 1));
    const struct size *moved = size_substitute(a->p.sizes, by, &a->column, &next, 1);
    const struct size *slope = moved ? size_sub(a->p.sizes, moved, by) : NULL;
    int64_t step;
    if (!slope || !size_is_const(slope, &step) || (step != 1 && step != -1))
        return ascendc_refuse(a, x->at, "its condition is not affine");
    const struct value t = ascendc_new_temp(a);
    out_line(&a->work, "pto::count_up(%s, count);", t.text);
    if (step < 0) out_line(&a->work, "pto::muls(%s, %s, -1.0f, count);", t.text, t.text);
    out_line(&a->work, "pto::adds(%s, %s, pto::distance(%s), count);", t.text, t.text, text);
    return compare(a, x, t, (struct value){true, "0.0f", -1});
}

static const struct size *size_of(struct ascendc *a, const struct eq_expr *x)
{
    return x->kind == EQ_SIZE ? x->size : x->kind == EQ_INT ? size_const(a->p.sizes, x->integer) : NULL;
}

static struct value comparison(struct ascendc *a, const struct eq_expr *x)
{
    const struct size *v = size_of(a, x->a), *w = size_of(a, x->b);
    if (v && w) return compare_sizes(a, x, v, w);
    if (x->a->type != ELEM_F32) return ascendc_refuse(a, x->at, "it compares what is no f32");
    const struct value left = ascendc_value(a, x->a), right = ascendc_value(a, x->b);
    return compare(a, x, left, right);
}

static struct value choice(struct ascendc *a, const struct eq_expr *x)
{
    const struct value c = ascendc_as_tensor(a, ascendc_value(a, x->a)),
                       v = ascendc_as_tensor(a, ascendc_value(a, x->b)),
                       w = ascendc_as_tensor(a, ascendc_value(a, x->c));
    const struct value to = x == a->root ? (struct value){false, "y", -1} : ascendc_new_temp(a);
    a->has_mask = true;
    out_line(&a->work, "pto::select(%s, %s, %s, %s, mask, %s);", to.text, c.text, v.text, w.text, count_text(a));
    release(a, c);
    release(a, v);
    release(a, w);
    return to;
}

static struct value number_of(struct ascendc *a, const struct eq_expr *x)
{
    switch (x->kind) {
    case EQ_REAL:
        if (isinf(x->real) || isnan(x->real))
            return ascendc_refuse(a, x->at, "a number of it is infinite in f32, or none, and has no literal");
        return (struct value){true, equation_value(&a->p, x, P_POSTFIX), -1};
    case EQ_INT: return (struct value){true, arena_printf(a->mem, "%lld.0f", (long long)x->integer), -1};
    case EQ_SIZE:
        if (!ascendc_is_plain(x->size) || (a->column && size_names(x->size, a->column)))
            return ascendc_refuse(a, x->at, "an index is no f32 there");
        return (struct value){true, arena_printf(a->mem, "(float)(%s)", equation_size(&a->p, x->size, P_ANY)), -1};
    default: {
        const char *name = emit_name(a->p.e, x->scalar);
        const bool is_bool = x->scalar->type->kind == TYPE_BOOL;
        return (struct value){true, arena_printf(a->mem, is_bool ? "(k.%s ? 1.0f : 0.0f)" : "k.%s", name), -1};
    }
    }
}

static struct value cast(struct ascendc *a, const struct eq_expr *x)
{
    const enum eq_kind kind = x->a->kind;
    if (x->type != ELEM_F32 && (x->type != ELEM_BOOL || x->a->type != ELEM_BOOL))
        return ascendc_refuse(a, x->at, "there is arithmetic on f32 alone");
    if (kind == EQ_SIZE || kind == EQ_INT || kind == EQ_SCALAR || x->a->type == ELEM_F32 || x->a->type == ELEM_BOOL)
        return ascendc_value(a, x->a);
    return ascendc_refuse(a, x->at, "there is arithmetic on f32 alone");
}

static struct value reduction_done(struct ascendc *a, const struct eq_expr *x)
{
    for (int i = 0; i < a->known_count; i++)
        if (a->known[i] == x) return (struct value){true, a->known_name[i], -1};
    return ascendc_refuse(a, x->at, "a reduction stands in a row's elements");
}

static struct value inverse_root(struct ascendc *a, const struct eq_expr *x)
{
    const struct value v = ascendc_as_tensor(a, ascendc_value(a, x->a)), root = v.temp >= 0 ? v : ascendc_new_temp(a),
                       one = ascendc_new_temp(a);
    const char *n = count_text(a);
    out_line(&a->work, "pto::sqrt(%s, %s, %s);", root.text, v.text, n);
    out_line(&a->work, "pto::set(%s, 1.0f, %s);", one.text, n);
    const struct value to = result_of(a, x, one);
    out_line(&a->work, "pto::div(%s, %s, %s, %s);", to.text, one.text, root.text, n);
    release(a, root);
    return to;
}

static struct value negation(struct ascendc *a, const struct eq_expr *x)
{
    const struct value v = ascendc_as_tensor(a, ascendc_value(a, x->a)), to = result_of(a, x, v);
    out_line(&a->work, "pto::muls(%s, %s, -1.0f, %s);", to.text, v.text, count_text(a));
    if (x->kind == EQ_NOT) out_line(&a->work, "pto::adds(%s, %s, 1.0f, %s);", to.text, to.text, count_text(a));
    return to;
}

struct value ascendc_value(struct ascendc *a, const struct eq_expr *x)
{
    if (x->type != ELEM_F32 && x->type != ELEM_BOOL && x->kind != EQ_SIZE && x->kind != EQ_INT && x->kind != EQ_SCALAR)
        return ascendc_refuse(a, x->at, "there is arithmetic on f32 alone");
    switch (x->kind) {
    case EQ_REAL:
    case EQ_INT:
    case EQ_SIZE:
    case EQ_SCALAR: return number_of(a, x);
    case EQ_LOAD: return x->access->formal ? ascendc_element(a, x->access) : temp_element(a, x->access);
    case EQ_NEG:
    case EQ_NOT: return negation(a, x);
    case EQ_ADD:
    case EQ_SUB:
    case EQ_MUL: return with_number(a, x);
    case EQ_DIV: return of_two(a, x, "div");
    case EQ_MIN: return of_two(a, x, "min");
    case EQ_MAX: return of_two(a, x, "max");
    case EQ_AND: return of_two(a, x, "mul"); /* of 1 and 0 */
    case EQ_OR: return of_two(a, x, "max");
    case EQ_EQ:
    case EQ_NE:
    case EQ_LT:
    case EQ_LE:
    case EQ_GT:
    case EQ_GE: return comparison(a, x);
    case EQ_SELECT: return choice(a, x);
    case EQ_CAST: return cast(a, x);
    case EQ_EXP: return unary(a, x, "exp");
    case EQ_LOG: return unary(a, x, "log");
    case EQ_SQRT: return unary(a, x, "sqrt");
    case EQ_ABS: return unary(a, x, "abs");
    case EQ_RSQRT: return inverse_root(a, x);
    case EQ_REDUCE: return reduction_done(a, x);
    default: return ascendc_refuse(a, x->at, "there is no instruction for a function of it");
    }
}
