/* ascendc.c - a kernel in index notation as AscendC for a vector core, complete.
 * Idea       rows are shared out among the cores, and a row goes through local memory in pieces.  A statement that a
 *            reduction stands in, or that writes one number a row, is of the row; any other writes a row.  Each
 *            reduction and each row that is written is one pass over the pieces; a temporary of a row's elements is
 *            computed again in each pass that reads it, so a row may have any length.
 * Invariant  every operation is one instruction on the piece, in the order of the text; sums have the device's order.
 * Tests      test/lit/ascend/index.test, test/lit/codegen/ascendc-index.pto
 */
#include "ascendc.h"
#include "parts.h"
#include <math.h>
#include <string.h>

enum { LOCAL_BYTES = 160 * 1024, MOST_PIECE_BYTES = 16384, GRAIN = 256, MOST = 32 };

/* A value: a float of C++, or the name of a local tensor. */
struct value {
    bool is_scalar;
    const char *text;
    int temp; /* the temporary that it is, free after its use; -1: none */
};

struct piece_load {
    const char *formal, *offset, *stride;
};

struct ascendc {
    struct eq_printer p;
    const struct equations *q;
    struct arena *mem;
    int rows;                   /* variables of a row */
    const struct eq_stmt *main; /* the statement that says over what they run */
    const struct eq_var **main_vars;
    const struct symbol *column;    /* of the statement or reduction that is printed; NULL: it is of the row */
    struct out before, loads, work; /* of a pass: numbers of the row, loads, instructions */
    struct piece_load load[MOST];   /* of the pass */
    int load_count, most_loads;
    bool is_used[MOST];
    int most_temps;
    int numbers; /* names given to numbers of a row */
    bool has_mask;
    const struct eq_expr *root;        /* its result is `y` */
    const struct eq_expr *known[MOST]; /* reductions that were done, and their names */
    const char *known_name[MOST];
    int known_count;
    const char *why; /* it cannot be printed; at `at` */
    struct span at;
};

static struct value refuse(struct ascendc *a, struct span at, const char *why)
{
    if (!a->why) a->why = why, a->at = at;
    return (struct value){true, "0.0f", -1};
}

/* ---- which statement is what ---- */

/* The variables of a statement in the order of the dimensions that it writes; -1: some dimension has another index. */
static int target_vars(struct ascendc *a, const struct eq_stmt *s, const struct eq_var **vars)
{
    int count = 0;
    for (int d = 0; d < s->target->rank; d++) {
        const struct size *index = s->target->index[d].size;
        const struct eq_var *found = NULL;
        for (int i = 0; index && i < s->loop_count + s->free_count; i++) {
            const struct eq_var *v = i < s->loop_count ? s->loops[i] : s->frees[i - s->loop_count];
            if (!size_names(index, v->symbol)) continue;
            const struct size *rest = size_sub(a->p.sizes, index, size_symbol(a->p.sizes, v->symbol));
            if (found || !rest || equation_names_loop(rest)) return -1;
            found = v;
        }
        if (!index) return -1;
        if (found) vars[count++] = found;
    }
    return count == s->loop_count + s->free_count ? count : -1;
}

/* Every variable of a row has the name of its place in the row. */
static bool name_rows(struct ascendc *a, const struct eq_stmt *s, const struct eq_var *const *vars)
{
    for (int i = 0; i < a->rows; i++) {
        int64_t low;
        if (!size_is_const(vars[i]->low, &low) || low != 0 || vars[i]->high != a->main_vars[i]->high) {
            refuse(a, s->at, "it runs over other rows than the first");
            return false;
        }
        ptrmap_set(&a->p.e->c_names, vars[i]->symbol, (void *)(uintptr_t)arena_printf(a->mem, "i%d", i));
    }
    return true;
}

static void choose_rows(struct ascendc *a)
{
    int most = 0;
    a->rows = -1;
    for (int i = 0; i < a->q->stmt_count; i++) {
        const struct eq_stmt *s = a->q->stmts[i];
        const struct eq_var **vars = arena_array(a->mem, const struct eq_var *, s->loop_count + s->free_count + 1);
        const int count = target_vars(a, s, vars);
        if (s->carried || count < 0) {
            refuse(a, s->at, s->carried ? "its iterations run in order" : "its left side is not one index a dimension");
            return;
        }
        const bool reduces = equation_holds_reduction(s->value);
        if (count > most || !a->main) most = count, a->main = s, a->main_vars = vars;
        if (reduces && a->rows >= 0 && a->rows != count) {
            refuse(a, s->at, "its reductions run over other rows than the first");
            return;
        }
        if (reduces) a->rows = count;
    }
    if (a->rows < 0) a->rows = most > 0 ? most - 1 : 0;
    if (most > a->rows + 1) refuse(a, a->main->at, "a reduction of it runs over more than the last dimension");
}

static const struct eq_stmt *writer_of(const struct ascendc *a, const struct eq_temp *t)
{
    for (int i = 0; i < a->q->stmt_count; i++)
        if (a->q->stmts[i]->target->temp == t) return a->q->stmts[i];
    return NULL;
}

static bool is_row_temp(const struct ascendc *a, const struct eq_temp *t) { return t->rank == a->rows; }

/* ---- temporaries and numbers ---- */

static struct value new_temp(struct ascendc *a)
{
    for (int i = 0; i < MOST; i++) {
        if (a->is_used[i]) continue;
        a->is_used[i] = true;
        if (i >= a->most_temps) a->most_temps = i + 1;
        return (struct value){false, arena_printf(a->mem, "t%d", i), i};
    }
    return refuse(a, a->p.stmt->at, "it has too many values at the same time");
}

static void release(struct ascendc *a, struct value v)
{
    if (v.temp >= 0) a->is_used[v.temp] = false;
}

static const char *count_text(const struct ascendc *a) { return a->column ? "count" : "1"; }

static const char *let_name(struct ascendc *a, const struct eq_temp *t)
{
    return arena_printf(a->mem, "let%d_%s", t->id, t->name);
}

static const char *number_name(struct ascendc *a) { return arena_printf(a->mem, "number%d", a->numbers++); }

/* A tensor that x may overwrite: the result of the statement for its root. */
static struct value result_of(struct ascendc *a, const struct eq_expr *x, struct value v)
{
    if (x == a->root) {
        release(a, v);
        return (struct value){false, "y", -1};
    }
    return v.temp >= 0 ? v : new_temp(a);
}

static struct value as_tensor(struct ascendc *a, struct value v)
{
    if (!v.is_scalar) return v;
    const struct value t = new_temp(a);
    out_line(&a->work, "pto::set(%s, %s, %s);", t.text, v.text, count_text(a));
    return t;
}

/* ---- elements ---- */

/* Only sums and products of names have a meaning in both languages. */
static bool is_plain(const struct size *s)
{
    if (s->kind == SIZE_CONST || s->kind == SIZE_SYMBOL) return true;
    if (s->kind != SIZE_ADD && s->kind != SIZE_MUL) return false;
    for (int i = 0; i < s->count; i++)
        if (!is_plain(s->arg[i])) return false;
    return true;
}

/* Offset where the piece begins, and the distance between its elements ("": it is one number of the row). */
static bool locate(struct ascendc *a, const struct eq_access *x, const char **offset, const char **stride)
{
    const char *sum = "", *step = "", *name = emit_name(a->p.e, x->formal);
    for (int d = 0; d < x->rank; d++) {
        const struct size *index = x->index[d].size;
        if (!index || !is_plain(index)) return refuse(a, x->at, "an index comes from an element"), false;
        if (x->index[d].needs_guard) return refuse(a, x->at, "an element is read under a condition"), false;
        int64_t value;
        if (!size_is_const(index, &value) || value != 0)
            sum = arena_printf(a->mem, "%s%s%s * k.%s_stride[%d]", sum, *sum ? " + " : "",
                               equation_size(&a->p, index, P_UNARY), name, d);
        if (!a->column || !size_names(index, a->column)) continue;
        const struct size *own = size_symbol(a->p.sizes, a->column);
        const struct size *next = size_binary(a->p.sizes, SIZE_ADD, own, size_const(a->p.sizes, 1));
        const struct size *moved = size_substitute(a->p.sizes, index, &a->column, &next, 1);
        const struct size *by = moved ? size_sub(a->p.sizes, moved, index) : NULL;
        if (!by || equation_names_loop(by)) return refuse(a, x->at, "an index is not affine"), false;
        const char *unit = arena_printf(a->mem, "k.%s_stride[%d]", name, d);
        if (!size_is_const(by, &value) || value != 1)
            unit = arena_printf(a->mem, "%s * %s", equation_size(&a->p, by, P_UNARY), unit);
        step = arena_printf(a->mem, "%s%s%s", step, *step ? " + " : "", unit);
    }
    *offset = *sum ? sum : "0";
    *stride = step;
    return true;
}

static struct value eval(struct ascendc *a, const struct eq_expr *x);

static struct value formal_element(struct ascendc *a, const struct eq_access *x)
{
    const char *offset, *stride;
    if (x->formal->type->elem != ELEM_F32) return refuse(a, x->at, "its elements are no f32");
    if (!locate(a, x, &offset, &stride)) return (struct value){true, "0.0f", -1};
    const char *name = emit_name(a->p.e, x->formal);
    if (!*stride) {
        const char *number = number_name(a);
        out_line(&a->before, "const float %s = pto::number_at(k.%s, %s, lines);", number, name, offset);
        return (struct value){true, number, -1};
    }
    for (int i = 0; i < a->load_count; i++)
        if (strcmp(a->load[i].formal, name) == 0 && strcmp(a->load[i].offset, offset) == 0 &&
            strcmp(a->load[i].stride, stride) == 0)
            return (struct value){false, arena_printf(a->mem, "x%d", i), -1};
    if (a->load_count == MOST) return refuse(a, x->at, "it reads too many rows");
    const int n = a->load_count++;
    if (a->load_count > a->most_loads) a->most_loads = a->load_count;
    a->load[n] = (struct piece_load){name, offset, stride};
    out_line(&a->loads, "pto::Floats x%d = in%d.AllocTensor<float>();", n, n);
    out_line(&a->loads, "pto::load(x%d, k.%s, %s, %s, count, lines);", n, name, offset, stride);
    out_line(&a->loads, "in%d.EnQue(x%d);", n, n);
    out_line(&a->loads, "x%d = in%d.DeQue<float>();", n, n);
    return (struct value){false, arena_printf(a->mem, "x%d", n), -1};
}

static bool reads_written(const struct ascendc *a, const struct eq_stmt *s)
{
    for (int i = 0; i < a->q->access_count; i++) {
        const struct eq_access *x = a->q->accesses[i];
        if (x->stmt != s || x->is_target) continue;
        if (x->temp && !is_row_temp(a, x->temp) && reads_written(a, writer_of(a, x->temp))) return true;
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
                return refuse(a, x->at, "a temporary is read at another row");
        return (struct value){true, let_name(a, x->temp), -1};
    }
    const struct eq_stmt *s = writer_of(a, x->temp);
    if (!s || x->rank != a->rows + 1 || !a->column) return refuse(a, x->at, "a temporary is of another shape");
    if (reads_written(a, s)) return refuse(a, x->at, "a temporary reads what the kernel writes");
    const struct eq_var *vars[MAX_RANK];
    target_vars(a, s, vars);
    if (!name_rows(a, s, vars)) return (struct value){true, "0.0f", -1};
    for (int d = 0; d < x->rank; d++) {
        const char *wanted = d < a->rows ? arena_printf(a->mem, "i%d", d) : "at";
        if (x->index[d].expr || strcmp(equation_size(&a->p, x->index[d].size, P_ANY), wanted) != 0)
            return refuse(a, x->at, "a temporary is read at another index than its own");
    }
    const struct symbol *outer = a->column;
    const struct eq_expr *root = a->root;
    if (root && root->kind == EQ_LOAD && root->access == x) root = s->value;
    a->column = vars[a->rows]->symbol;
    a->root = root;
    ptrmap_set(&a->p.e->c_names, a->column, (void *)(uintptr_t) "at");
    const struct value v = eval(a, s->value);
    a->column = outer;
    return v;
}

/* ---- operations ---- */

static struct value unary(struct ascendc *a, const struct eq_expr *x, const char *function)
{
    const struct value v = as_tensor(a, eval(a, x->a)), to = result_of(a, x, v);
    out_line(&a->work, "pto::%s(%s, %s, %s);", function, to.text, v.text, count_text(a));
    return to;
}

static const char *minus(struct ascendc *a, const char *number) { return arena_printf(a->mem, "-%s", number); }

static struct value of_two(struct ascendc *a, const struct eq_expr *x, const char *function)
{
    const struct value v = as_tensor(a, eval(a, x->a)), w = as_tensor(a, eval(a, x->b));
    const struct value to = result_of(a, x, v.temp >= 0 ? v : w);
    out_line(&a->work, "pto::%s(%s, %s, %s, %s);", function, to.text, v.text, w.text, count_text(a));
    if (v.temp >= 0) release(a, w);
    return to;
}

/* Sums, differences and products, of which one operand may be a number. */
static struct value with_number(struct ascendc *a, const struct eq_expr *x)
{
    struct value v = eval(a, x->a), w = eval(a, x->b);
    const char *n = count_text(a), *both = x->kind == EQ_MUL ? "muls" : "adds";
    if (v.is_scalar && w.is_scalar) v = as_tensor(a, v);
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
    v = as_tensor(a, v);
    w = as_tensor(a, w);
    const struct value to = new_temp(a); /* which holds 1 while v and w are read no more */
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
    if (!by || !is_plain(by)) return refuse(a, x->at, "its condition is not affine");
    const char *text = equation_size(&a->p, by, P_REL);
    if (!a->column || !size_names(by, a->column))
        return (struct value){true, arena_printf(a->mem, "(%s %s 0 ? 1.0f : 0.0f)", text, texts[x->kind]), -1};
    const struct size *own = size_symbol(a->p.sizes, a->column);
    const struct size *next = size_binary(a->p.sizes, SIZE_ADD, own, size_const(a->p.sizes, 1));
    const struct size *moved = size_substitute(a->p.sizes, by, &a->column, &next, 1);
    const struct size *slope = moved ? size_sub(a->p.sizes, moved, by) : NULL;
    int64_t step;
    if (!slope || !size_is_const(slope, &step) || (step != 1 && step != -1))
        return refuse(a, x->at, "its condition is not affine");
    const struct value t = new_temp(a);
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
    if (x->a->type != ELEM_F32) return refuse(a, x->at, "it compares what is no f32");
    const struct value left = eval(a, x->a), right = eval(a, x->b);
    return compare(a, x, left, right);
}

static struct value choice(struct ascendc *a, const struct eq_expr *x)
{
    const struct value c = as_tensor(a, eval(a, x->a)), v = as_tensor(a, eval(a, x->b)),
                       w = as_tensor(a, eval(a, x->c));
    const struct value to = x == a->root ? (struct value){false, "y", -1} : new_temp(a);
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
        if (isinf(x->real) || isnan(x->real)) return refuse(a, x->at, "it has no literal");
        return (struct value){true, equation_value(&a->p, x, P_POSTFIX), -1};
    case EQ_INT: return (struct value){true, arena_printf(a->mem, "%lld.0f", (long long)x->integer), -1};
    case EQ_SIZE:
        if (!is_plain(x->size) || (a->column && size_names(x->size, a->column)))
            return refuse(a, x->at, "an index is no f32 there");
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
        return refuse(a, x->at, "there is arithmetic on f32 alone");
    if (kind == EQ_SIZE || kind == EQ_INT || kind == EQ_SCALAR || x->a->type == ELEM_F32 || x->a->type == ELEM_BOOL)
        return eval(a, x->a);
    return refuse(a, x->at, "there is arithmetic on f32 alone");
}

static struct value reduction_done(struct ascendc *a, const struct eq_expr *x)
{
    for (int i = 0; i < a->known_count; i++)
        if (a->known[i] == x) return (struct value){true, a->known_name[i], -1};
    return refuse(a, x->at, "a reduction stands in a row's elements");
}

static struct value inverse_root(struct ascendc *a, const struct eq_expr *x)
{
    const struct value v = as_tensor(a, eval(a, x->a)), root = v.temp >= 0 ? v : new_temp(a), one = new_temp(a);
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
    const struct value v = as_tensor(a, eval(a, x->a)), to = result_of(a, x, v);
    out_line(&a->work, "pto::muls(%s, %s, -1.0f, %s);", to.text, v.text, count_text(a));
    if (x->kind == EQ_NOT) out_line(&a->work, "pto::adds(%s, %s, 1.0f, %s);", to.text, to.text, count_text(a));
    return to;
}

static struct value eval(struct ascendc *a, const struct eq_expr *x)
{
    if (x->type != ELEM_F32 && x->type != ELEM_BOOL && x->kind != EQ_SIZE && x->kind != EQ_INT && x->kind != EQ_SCALAR)
        return refuse(a, x->at, "there is arithmetic on f32 alone");
    switch (x->kind) {
    case EQ_REAL:
    case EQ_INT:
    case EQ_SIZE:
    case EQ_SCALAR: return number_of(a, x);
    case EQ_LOAD: return x->access->formal ? formal_element(a, x->access) : temp_element(a, x->access);
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
    default: return refuse(a, x->at, "there is no instruction for a function of it");
    }
}

/* ---- passes ---- */

static void begin_pass(struct ascendc *a, const struct eq_var *column)
{
    const int depth = a->p.e->out->depth;
    a->before = (struct out){.depth = depth};
    a->loads = (struct out){.depth = depth + (column != NULL)};
    a->work = (struct out){.depth = depth + (column != NULL)};
    a->load_count = 0;
    memset(a->is_used, 0, sizeof a->is_used);
    a->column = column ? column->symbol : NULL;
    a->root = NULL;
    if (column) ptrmap_set(&a->p.e->c_names, a->column, (void *)(uintptr_t) "at");
}

/* Over the pieces of `column`; the cores share the pieces where there is but one row and nothing is reduced. */
static void open_pieces(struct ascendc *a, const struct eq_var *column, bool is_shared)
{
    struct out *out = a->p.e->out;
    const char *low = equation_size(&a->p, column->low, P_ADD), *high = equation_size(&a->p, column->high, P_ADD);
    out_append(out, &a->before);
    if (is_shared)
        out_open(
            out,
            "for (int64_t at = %s + AscendC::GetBlockIdx() * PIECE; at < %s; at += AscendC::GetBlockNum() * PIECE) {",
            low, high);
    else
        out_open(out, "for (int64_t at = %s; at < %s; at += PIECE) {", low, high);
    out_line(out, "const int32_t count = (int32_t)pto::least(PIECE, %s - at);", high);
    out_append(out, &a->loads);
}

static void free_loads(struct ascendc *a)
{
    for (int i = 0; i < a->load_count; i++) out_line(a->p.e->out, "in%d.FreeTensor(x%d);", i, i);
}

static void emit_reduction(struct ascendc *a, const struct eq_expr *x)
{
    static const struct {
        const char *of, *empty;
    } kinds[] = {[EQ_SUM] = {"sum", "0.0f"},
                 [EQ_RED_MAX] = {"max", "pto::f32_of(0xff800000u)"},
                 [EQ_RED_MIN] = {"min", "pto::f32_of(0x7f800000u)"}};
    struct out *out = a->p.e->out;
    const enum eq_reduction kind = x->reduce.kind;
    if (x->reduce.var_count != 1 || (kind != EQ_SUM && kind != EQ_RED_MAX && kind != EQ_RED_MIN) ||
        x->type != ELEM_F32 || a->known_count == MOST) {
        refuse(a, x->at, "there is no instruction for this reduction");
        return;
    }
    const char *name = number_name(a);
    out_line(out, "float %s = %s;", name, kinds[kind].empty);
    begin_pass(a, x->reduce.vars[0]);
    const struct value v = as_tensor(a, eval(a, x->a));
    const struct value to = new_temp(a), work = new_temp(a);
    open_pieces(a, x->reduce.vars[0], false);
    out_append(out, &a->work);
    const char *part =
        arena_printf(a->mem, "pto::%s_of(%s, %s, %s, count)", kinds[kind].of, v.text, to.text, work.text);
    if (kind == EQ_SUM)
        out_line(out, "%s += %s;", name, part);
    else
        out_line(out, "%s = pto::%s(%s, %s);", name, kind == EQ_RED_MAX ? "greater" : "lesser", name, part);
    free_loads(a);
    out_close(out, "}");
    a->known[a->known_count] = x;
    a->known_name[a->known_count++] = name;
}

static void emit_reductions(struct ascendc *a, const struct eq_expr *x)
{
    if (!x) return;
    if (x->kind == EQ_REDUCE) {
        emit_reduction(a, x);
        return;
    }
    emit_reductions(a, x->a);
    emit_reductions(a, x->b);
    emit_reductions(a, x->c);
}

/* One number a row. */
static void emit_number(struct ascendc *a, const struct eq_stmt *s)
{
    struct out *out = a->p.e->out;
    const char *offset, *stride;
    emit_reductions(a, s->value);
    begin_pass(a, NULL);
    struct value v = eval(a, s->value);
    if (s->kind == EQ_PLUS && s->target->formal) {
        const struct value old = formal_element(a, s->target);
        v = as_tensor(a, v);
        out_line(&a->work, "pto::adds(%s, %s, %s, 1);", v.text, v.text, old.text);
    }
    out_append(out, &a->before);
    out_append(out, &a->work);
    const char *number = v.is_scalar ? v.text : arena_printf(a->mem, "pto::first_of(%s)", v.text);
    if (s->target->temp)
        out_line(out, "const float %s = %s;", let_name(a, s->target->temp), number);
    else if (s->target->formal->type->elem != ELEM_F32)
        refuse(a, s->target->at, "its elements are no f32");
    else if (locate(a, s->target, &offset, &stride))
        out_line(out, "pto::put_number(k.%s, %s, %s, lines);", emit_name(a->p.e, s->target->formal), offset, number);
}

/* A row. */
static void emit_elements(struct ascendc *a, const struct eq_stmt *s, const struct eq_var *column, bool is_shared)
{
    struct out *out = a->p.e->out;
    const char *offset, *stride, *name = emit_name(a->p.e, s->target->formal);
    begin_pass(a, column);
    a->root = s->kind == EQ_PLUS ? NULL : s->value;
    while (a->root && a->root->kind == EQ_CAST) a->root = a->root->a;
    struct value v = eval(a, s->value);
    if (s->kind == EQ_PLUS) {
        const struct value old = formal_element(a, s->target);
        out_line(&a->work, v.is_scalar ? "pto::adds(y, %s, %s, count);" : "pto::add(y, %s, %s, count);", old.text,
                 v.text);
    } else if (v.is_scalar)
        out_line(&a->work, "pto::set(y, %s, count);", v.text);
    else if (strcmp(v.text, "y") != 0)
        out_line(&a->work, "pto::muls(y, %s, 1.0f, count);", v.text);
    if (s->target->formal->type->elem != ELEM_F32) refuse(a, s->target->at, "its elements are no f32");
    if (!locate(a, s->target, &offset, &stride)) return;
    open_pieces(a, column, is_shared);
    out_line(out, "pto::Floats y = out.AllocTensor<float>();");
    out_append(out, &a->work);
    free_loads(a);
    out_line(out, "out.EnQue(y);");
    out_line(out, "y = out.DeQue<float>();");
    out_line(out, "pto::store(k.%s, %s, %s, y, count, lines);", name, offset, stride);
    out_line(out, "out.FreeTensor(y);");
    out_close(out, "}");
}

static void emit_statement(struct ascendc *a, const struct eq_stmt *s, bool is_shared)
{
    const struct eq_var *vars[MAX_RANK];
    const int count = target_vars(a, s, vars);
    a->p.stmt = s;
    if (!name_rows(a, s, vars)) return;
    if (count > a->rows && s->target->temp) return; /* where it is read */
    const char *text = emit_source_text(a->p.e, s->at);
    out_line(a->p.e->out, "/* %s */", emit_comment_text(a->p.e, text));
    if (count > a->rows)
        emit_elements(a, s, vars[a->rows], is_shared);
    else if (count == a->rows)
        emit_number(a, s);
    else
        refuse(a, s->at, "it has fewer rows than another");
    if (s->target->formal) out_line(a->p.e->out, "pto::wait_for_all();");
}

/* ---- the kernel ---- */

static void emit_rows(struct ascendc *a)
{
    struct out *out = a->p.e->out;
    bool reduces = false;
    const char *product = "";
    for (int i = 0; i < a->q->stmt_count; i++) reduces |= equation_holds_reduction(a->q->stmts[i]->value);
    for (int i = 0; i < a->rows; i++) {
        const struct size *high = a->main_vars[i]->high;
        if (!is_plain(high)) refuse(a, a->main->at, "a range is no sum of products");
        product = arena_printf(a->mem, "%s%s%s", product, *product ? " * " : "", equation_size(&a->p, high, P_UNARY));
    }
    const bool is_shared = a->rows == 0 && !reduces && a->main->loop_count + a->main->free_count == 1;
    if (!is_shared) {
        out_line(out, "const int64_t rows = %s;", *product ? product : "1");
        out_open(out, "for (int64_t row = AscendC::GetBlockIdx(); row < rows; row += AscendC::GetBlockNum()) {");
        const char *before = "row";
        for (int i = a->rows - 1; i >= 0; i--) {
            const char *high = equation_size(&a->p, a->main_vars[i]->high, P_UNARY);
            out_line(out, i ? "const int64_t i%d = %s %% %s;" : "const int64_t i%d = %s;", i, before, high);
            before = arena_printf(a->mem, "%s / %s", before, high);
        }
    }
    for (int i = 0; i < a->q->stmt_count && !a->why; i++) emit_statement(a, a->q->stmts[i], is_shared);
    if (!is_shared) out_close(out, "}");
}

static void emit_head(struct ascendc *a)
{
    struct out *out = a->p.e->out;
    const int parts = 2 * a->most_loads + 2 + a->most_temps + a->has_mask;
    int bytes = LOCAL_BYTES / parts / GRAIN * GRAIN;
    if (bytes > MOST_PIECE_BYTES) bytes = MOST_PIECE_BYTES;
    out_line(out, "constexpr int64_t PIECE = %d; /* of f32 */", bytes / 4);
    out_line(out, "AscendC::TPipe pipe;");
    out_line(out, "pto::Lines lines;");
    out_line(out, "lines.init(pipe);");
    for (int i = 0; i < a->most_loads; i++) {
        out_line(out, "pto::InQueue in%d;", i);
        out_line(out, "pipe.InitBuffer(in%d, 2, PIECE * sizeof(float));", i);
    }
    out_line(out, "pto::OutQueue out;");
    out_line(out, "pipe.InitBuffer(out, 2, PIECE * sizeof(float));");
    for (int i = 0; i < a->most_temps; i++) {
        out_line(out, "pto::Work work%d;", i);
        out_line(out, "pipe.InitBuffer(work%d, PIECE * sizeof(float));", i);
        out_line(out, "const pto::Floats t%d = work%d.Get<float>();", i, i);
    }
    if (!a->has_mask) return;
    out_line(out, "pto::Work bits;");
    out_line(out, "pipe.InitBuffer(bits, PIECE / 8);");
    out_line(out, "const pto::Mask mask = bits.Get<uint8_t>();");
}

const char *equations_ascendc(struct emitter *e, const struct symbol *kernel, struct span *at)
{
    const struct equations *q = equations_of(kernel);
    struct ascendc a = {.p = {.e = e, .q = q, .sizes = e->checked->sizes}, .q = q, .mem = e->mem};
    a.p.storage = arena_array(e->mem, struct eq_storage, q->temp_count + 1);
    struct out body = {.depth = 1}, *outer = e->out;
    choose_rows(&a);
    e->out = &body;
    if (!a.why) emit_rows(&a);
    e->out = outer;
    *at = a.at;
    if (a.why) {
        out_clear(&body);
        return a.why;
    }
    out_line(e->out,
             "/* Equations on rows in pieces, shared out among the cores; sums have the order of the device. */");
    out_line(e->out, "__aicore__ inline void run(const Arguments &k)");
    out_open(e->out, "{");
    emit_head(&a);
    out_append(e->out, &body);
    out_close(e->out, "}");
    return NULL;
}
