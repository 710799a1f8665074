/* ascendc.c - a kernel in index notation as AscendC for a vector core, complete.
 * Idea       rows are shared out among the cores, and a row goes through local memory in pieces.  A statement that a
 *            reduction stands in, or that writes one number a row, is of the row; any other writes a row.  Each
 *            reduction and each row that is written is one pass over the pieces; a temporary of a row's elements is
 *            computed again in each pass that reads it, so a row may have any length, and one of fewer dimensions than
 *            there are rows is computed again in each row.
 * Invariant  every operation is one instruction on the piece, in the order of the text; sums have the device's order.
 * Tests      test/lit/ascend/index.test, test/lit/codegen/ascendc-index.pto
 */
#include "ascendc.h"
#include "ascendc_parts.h"
#include <string.h>

/* GRAIN: bytes of 256 elements of f32, whose mask is a line of local memory. */
enum { LOCAL_BYTES = 160 * 1024, MOST_PIECE_BYTES = 16384, GRAIN = 1024 };

#define NOT_PLAIN "a range is no sum of products"

/* ---- which statement is what ---- */

int ascendc_target_vars(struct ascendc *a, const struct eq_stmt *s, const struct eq_var **vars)
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

bool ascendc_name_rows(struct ascendc *a, const struct eq_stmt *s, const struct eq_var *const *vars, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t low;
        if (!size_is_const(vars[i]->low, &low) || low != 0 || vars[i]->high != a->main_vars[i]->high) {
            ascendc_refuse(a, s->at, "it runs over other rows than the first");
            return false;
        }
        ptrmap_set(&a->p.e->c_names, vars[i]->symbol, (void *)(uintptr_t)arena_printf(a->mem, "i%d", i));
    }
    return true;
}

static void choose_rows(struct ascendc *a)
{
    int most = 0, most_reduced = 0;
    for (int i = 0; i < a->q->stmt_count; i++) {
        const struct eq_stmt *s = a->q->stmts[i];
        const struct eq_var **vars = arena_array(a->mem, const struct eq_var *, s->loop_count + s->free_count + 1);
        const int count = ascendc_target_vars(a, s, vars);
        if (s->carried || count < 0) {
            ascendc_refuse(a, s->at,
                           s->carried ? "its iterations run in order" : "its left side is not one index a dimension");
            return;
        }
        if (count > most || !a->main) most = count, a->main = s, a->main_vars = vars;
        if (count > most_reduced && equation_holds_reduction(s->value)) most_reduced = count;
    }
    a->rows = most_reduced < most ? most - 1 : most;
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
    if (!ascendc_is_plain(column->low) || !ascendc_is_plain(column->high)) ascendc_refuse(a, a->p.stmt->at, NOT_PLAIN);
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
        ascendc_refuse(a, x->at, "there is no instruction for this reduction");
        return;
    }
    const char *name = ascendc_number_name(a);
    out_line(out, "float %s = %s;", name, kinds[kind].empty);
    begin_pass(a, x->reduce.vars[0]);
    const struct value v = ascendc_as_tensor(a, ascendc_value(a, x->a));
    const struct value to = ascendc_new_temp(a), work = ascendc_new_temp(a);
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
    struct value v = ascendc_value(a, s->value);
    if (s->kind == EQ_PLUS && s->target->formal) {
        const struct value old = ascendc_element(a, s->target);
        v = ascendc_as_tensor(a, v);
        out_line(&a->work, "pto::adds(%s, %s, %s, 1);", v.text, v.text, old.text);
    }
    out_append(out, &a->before);
    out_append(out, &a->work);
    const char *number = v.is_scalar ? v.text : arena_printf(a->mem, "pto::first_of(%s)", v.text);
    if (s->target->temp)
        out_line(out, "const float %s = %s;", ascendc_let_name(a, s->target->temp), number);
    else if (s->target->formal->type->elem != ELEM_F32)
        ascendc_refuse(a, s->target->at, "its elements are no f32");
    else if (ascendc_locate(a, s->target, &offset, &stride))
        out_line(out, "pto::put_number(k.%s, %s, %s, lines);", emit_name(a->p.e, s->target->formal), offset, number);
}

/* A row. */
static void emit_elements(struct ascendc *a, const struct eq_stmt *s, const struct eq_var *column)
{
    struct out *out = a->p.e->out;
    const char *offset, *stride, *name = emit_name(a->p.e, s->target->formal);
    begin_pass(a, column);
    a->root = s->kind == EQ_PLUS ? NULL : s->value;
    while (a->root && a->root->kind == EQ_CAST) a->root = a->root->a;
    struct value v = ascendc_value(a, s->value);
    if (s->kind == EQ_PLUS) {
        const struct value old = ascendc_element(a, s->target);
        out_line(&a->work, v.is_scalar ? "pto::adds(y, %s, %s, count);" : "pto::add(y, %s, %s, count);", old.text,
                 v.text);
    } else if (v.is_scalar)
        out_line(&a->work, "pto::set(y, %s, count);", v.text);
    else if (strcmp(v.text, "y") != 0)
        out_line(&a->work, "pto::muls(y, %s, 1.0f, count);", v.text);
    if (s->target->formal->type->elem != ELEM_F32) ascendc_refuse(a, s->target->at, "its elements are no f32");
    if (!ascendc_locate(a, s->target, &offset, &stride)) return;
    open_pieces(a, column, a->is_shared);
    out_line(out, "pto::Floats y = out.AllocTensor<float>();");
    out_append(out, &a->work);
    free_loads(a);
    out_line(out, "out.EnQue(y);");
    out_line(out, "y = out.DeQue<float>();");
    out_line(out, "pto::store(k.%s, %s, %s, y, count, lines);", name, offset, stride);
    out_line(out, "out.FreeTensor(y);");
    out_close(out, "}");
}

static void emit_statement(struct ascendc *a, const struct eq_stmt *s)
{
    const struct eq_var *vars[MAX_RANK];
    const int count = ascendc_target_vars(a, s, vars);
    a->p.stmt = s;
    if (count < a->rows && (s->target->formal || ascendc_reads_written(a, s))) {
        ascendc_refuse(a, s->at, "it has fewer rows than another, and each core would compute it");
        return;
    }
    if (!ascendc_name_rows(a, s, vars, count < a->rows ? count : a->rows)) return;
    if (count > a->rows && s->target->temp) return; /* where it is read */
    const char *text = emit_source_text(a->p.e, s->at);
    out_line(a->p.e->out, "/* %s */", emit_comment_text(a->p.e, text));
    if (count > a->rows)
        emit_elements(a, s, vars[a->rows]);
    else
        emit_number(a, s);
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
        if (!ascendc_is_plain(high)) ascendc_refuse(a, a->main->at, NOT_PLAIN);
        product = arena_printf(a->mem, "%s%s%s", product, *product ? " * " : "", equation_size(&a->p, high, P_UNARY));
    }
    a->is_shared = a->rows == 0 && !reduces && a->main->loop_count + a->main->free_count == 1;
    if (!a->is_shared) {
        out_line(out, "const int64_t rows = %s;", *product ? product : "1");
        out_open(out, "for (int64_t row = AscendC::GetBlockIdx(); row < rows; row += AscendC::GetBlockNum()) {");
        const char *before = "row";
        for (int i = a->rows - 1; i >= 0; i--) {
            const char *high = equation_size(&a->p, a->main_vars[i]->high, P_UNARY);
            out_line(out, i ? "const int64_t i%d = %s %% %s;" : "const int64_t i%d = %s;", i, before, high);
            before = arena_printf(a->mem, "%s / %s", before, high);
        }
    }
    for (int i = 0; i < a->q->stmt_count && !a->why; i++) emit_statement(a, a->q->stmts[i]);
    if (!a->is_shared) out_close(out, "}");
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

/* NULL, or why there is none: at *at, with nothing printed. */
static const char *emit_vector(struct emitter *e, const struct symbol *kernel, struct span *at)
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

bool equations_emit_ascendc(struct emitter *e, const struct symbol *kernel, const char *const *formal,
                            const char *const *dim)
{
    struct span at;
    for (int i = 0; i < kernel->formal_count; i++) {
        const bool is_size = kernel->formals[i]->type->kind == TYPE_INT; /* a member wherever a size names it */
        const char *name = arena_printf(e->mem, is_size ? "k.%s" : "%s", formal[i]);
        ptrmap_set(&e->c_names, kernel->formals[i], (void *)(uintptr_t)name);
    }
    for (int i = 0; i < kernel->dim_count; i++)
        ptrmap_set(&e->c_names, kernel->dims[i], (void *)(uintptr_t)arena_printf(e->mem, "k.%s", dim[i]));
    const char *worker = kernel->decl->kernel->worker;
    const char *why =
        worker && strcmp(worker, "cube") == 0 ? ascendc_emit_cube(e, kernel, &at) : emit_vector(e, kernel, &at);
    if (!why) return true;
    diag_error(e->front->diag, DIAG_E12, at, "no AscendC is made of kernel '%s': %s", kernel->name, why);
    diag_help(e->front->diag, "its skeleton is printed: write what it computes there");
    return false;
}
