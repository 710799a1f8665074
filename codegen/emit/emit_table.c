/* emit_table.c - entries: the C function of each export, and the tables from which a built program's command line
 * works.
 * Idea       run_NAME takes plain pointers; enter_NAME runs as the orchestration, registers the buffers and makes
 *            tensors of them.
 * Invariant  the caller's arguments are checked before anything is submitted: negative extents and missing arrays fail
 *            the run.
 * Tests      test/lit/codegen/header.pto; test/lit/run/host-program.test
 */
#include "emit.h"
#include "passes/bounds.h"
#include <string.h>

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }
static bool is_const(const struct symbol *s) { return s->dir == DIR_IN || s->dir == DIR_NONE || s->dir == DIR_HOST; }
static bool returns_scalar(const struct symbol *o) { return o->result && type_is_scalar(o->result); }

/* The command line gives and takes tensors, and gives scalars; what a scalar becomes is for C callers. */
static bool in_table(const struct symbol *s) { return is_tensor(s) || !s->by_reference || s->dir == DIR_INOUT; }

/* The arguments of a C caller, in order: the formals, then the results, each leaf of a struct by itself.  Returns how
 * many are formals. */
static size_t all_places(const struct symbol *orch, symbol_list *list)
{
    flat_formals(orch, list);
    const size_t formals = list->count;
    flat_results(orch, list);
    if (orch->result_place) list->count -= (size_t)orch->result_place->decided_count; /* a PTOResult has them */
    return formals;
}

/* The caller's variable. */
static void print_variable(struct emitter *e, struct strbuf *b, const struct symbol *s)
{
    if (decided_dims(s->type))
        strbuf_printf(b, "PTOResult *%s", emit_name(e, s));
    else if (is_tensor(s))
        strbuf_printf(b, "%s%s *%s", is_const(s) ? "const " : "", c_elem_type(s->type->elem), emit_name(e, s));
    else
        strbuf_printf(b, "%s %s%s", c_scalar_type(s->type), s->by_reference ? "*" : "", emit_name(e, s));
}

/* ---- the C function ---- */

void entry_print_prototype(struct emitter *e, const struct symbol *orch, struct strbuf *b)
{
    symbol_list places = {0};
    all_places(orch, &places);
    strbuf_printf(b, "PTOStatus %s(PTORuntime *rt", emit_public(e, arena_printf(e->mem, "run_%s", orch->name)));
    for (size_t i = 0; i < places.count; i++) {
        strbuf_puts(b, ", ");
        print_variable(e, b, places.data[i]);
    }
    if (returns_scalar(orch)) strbuf_printf(b, ", %s *result", c_scalar_type(orch->result));
    for (int i = 0; i < orch->dim_count; i++) strbuf_printf(b, ", int64_t %s", emit_name(e, orch->dims[i]));
    strbuf_putc(b, ')');
    vec_free(&places);
}

/* Row-major strides of an array, checked. */
static void print_strides(struct emitter *e, struct strbuf *b, const struct type *t)
{
    for (int d = 0; d < t->rank; d++) {
        if (d) strbuf_puts(b, ", ");
        value_print(e, b, lower_stride(e->lowering, t, d), P_MUL);
    }
}

/* A number has the range of an extent only when the checks that are being printed have passed: begins to forget these
 * ranges, until the result is put back as ranges.function. */
static const struct symbol *forget_arguments(struct emitter *e)
{
    const struct symbol *function = e->plan->ranges.function;
    e->plan->ranges.function = NULL;
    return function;
}

/* The bytes of an argument.  Those of a table were found to fit before the run; a C caller gives any numbers, so that
 * they may overflow, which the variable `ok` of enter_NAME says. */
static struct ir_value *given_bytes(struct emitter *e, const struct type *t)
{
    if (!e->options->no_main) return lower_bytes(e->lowering, t, ARITH_CHECKED);
    const struct symbol *const function = forget_arguments(e);
    struct ir_value *const bytes = lower_bytes(e->lowering, t, ARITH_TRY);
    e->plan->ranges.function = function;
    return bytes;
}

/* at: its number in the table.  *has_ok: the variable `ok` is declared; it is before the first size that may fail. */
static void emit_array(struct emitter *e, const char *name, const char *what, const struct type *t, bool is_read_only,
                       int at, bool *has_ok)
{
    for (int d = 0; d < t->rank; d++) {
        const struct symbol *const function = forget_arguments(e);
        const bool known = range_of_size(&e->plan->ranges, t->extent[d]).lo >= 0;
        if (!e->options->no_main) e->plan->ranges.function = function;
        STRBUF(extent);
        if (!known) size_print(e, &extent, t->extent[d], P_UNARY, ARITH_CHECKED);
        e->plan->ranges.function = function;
        if (known) continue;
        out_line(e->out, "if (%s < 0) pto_raise(rt, PTO_ERR_ARGUMENT, \"extent %d of '%s' is %%lld\", (long long)%s);",
                 strbuf_text(&extent), d, what, strbuf_text(&extent));
    }
    STRBUF(bytes);
    if (!e->options->no_main) strbuf_printf(&bytes, "pto_given_bytes(a->views, %d, ", at);
    const struct ir_value *const value = given_bytes(e, t);
    value_print(e, &bytes, value, P_ANY);
    const char *const variable = names_take(&e->names, arena_printf(e->mem, "%s_bytes", name));
    const bool may_fail = e->options->no_main && ir_may_fail(value);
    if (may_fail && !*has_ok) out_line(e->out, "bool ok = true;");
    *has_ok |= may_fail;
    out_line(e->out, "const int64_t %s = %s%s;", variable, strbuf_text(&bytes), e->options->no_main ? "" : ")");
    if (may_fail)
        out_line(e->out,
                 "if (!ok || %s > INT64_MAX / 2) pto_raise(rt, PTO_ERR_OVERFLOW, \"the size of '%s' overflows\");",
                 variable, what);
    out_line(e->out, "if (%s == NULL && %s > 0) pto_raise(rt, PTO_ERR_ARGUMENT, \"no array for '%s'\");", name,
             variable, what);
    out_line(e->out, "%s(rt, %s, %s);", is_read_only ? "pto_input" : "pto_buffer", name, variable);
}

/* Makes one thing that the caller gave an argument of the function. */
static void emit_given(struct emitter *e, const struct symbol *s, bool result, int at, bool *has_ok,
                       struct strbuf *call)
{
    const char *name = emit_name(e, s);
    if (!is_tensor(s)) {
        if (s->by_reference)
            out_line(e->out, "if (a->%s == NULL) pto_raise(rt, PTO_ERR_ARGUMENT, \"no variable for '%s'\");", name,
                     s->name);
        strbuf_printf(call, ", a->%s", name);
        return;
    }
    if (decided_dims(s->type)) {
        decided_emit(e, s, call);
        return;
    }
    STRBUF(strides);
    print_strides(e, &strides, s->type);
    if (result)
        out_line(e->out, "void *%s = a->%s;", name, name);
    else
        out_line(e->out, "void *const %s = (void *)a->%s;", name, name);
    emit_array(e, name, s->name, s->type, !result && s->dir == DIR_IN, at, has_ok);
    strbuf_puts(call, ", ");
    if (!e->options->no_main) strbuf_printf(call, "pto_given_%s(a->views, %d, ", result ? "place" : "view", at);
    if (result)
        strbuf_printf(call, "(PTOPlace){.ref = &%s, .s = {%s}}", name, strbuf_text(&strides));
    else
        strbuf_printf(call, "(PTOView){%s, 0, {%s}}", name, strbuf_text(&strides));
    if (!e->options->no_main) strbuf_putc(call, ')');
}

/* The arguments that lie in bands on several ranks; one rank is asked once for all of them. */
static void emit_bands(struct emitter *e, const struct symbol *orch, const symbol_list *places, size_t formals)
{
    bool is_open = false;
    for (size_t i = 0; i < formals; i++) {
        const struct symbol *const s = places->data[i];
        if (!is_tensor(s) || !lower_lies_in_bands(orch, s)) continue;
        if (!is_open) out_open(e->out, "if (pto_ranks(rt) > 1) {");
        is_open = true;
        STRBUF(shape);
        for (int d = 0; d < s->type->rank; d++) {
            if (d) strbuf_puts(&shape, ", ");
            size_print(e, &shape, s->type->extent[d], P_ANY, ARITH_CHECKED);
        }
        out_line(e->out, "pto_at(rt, &sites[%d]);", emit_site(e, s->decl->name_at, s->name));
        out_line(e->out, "pto_bands(rt, %s, %s, %d, (int64_t[]){%s});", emit_name(e, s), c_elem_constant(s->type->elem),
                 s->type->rank, strbuf_text(&shape));
    }
    if (is_open) out_close(e->out, "}");
}

/* A scalar that the caller gives and an extent of the entry names. */
static bool names_an_extent(const struct symbol *s, const symbol_list *places)
{
    if (is_tensor(s) || s->by_reference || s->type->kind != TYPE_INT) return false;
    for (size_t i = 0; i < places->count; i++) {
        const struct type *t = places->data[i]->type;
        for (int d = 0; t->kind == TYPE_TENSOR && d < t->rank; d++)
            if (size_names(t->extent[d], s)) return true;
    }
    return false;
}

static void emit_enter(struct emitter *e, const struct symbol *orch, const symbol_list *places, size_t formals)
{
    STRBUF(call);
    STRBUF(bytes);
    int64_t number;
    const struct size *need = bounds_need(e->plan, orch, true);
    if (need && size_is_const(need, &number) && number == 0) need = NULL;
    if (need) {
        const struct symbol *const function = e->plan->ranges.function;
        if (e->options->no_main) forget_arguments(e);
        value_print(e, &bytes, lower_size(e->lowering, need, ARITH_COST), P_ANY);
        e->plan->ranges.function = function;
    }
    const bool has_params = params_exist(e);
    struct out body = {.depth = e->out->depth + 1}, *outer = e->out;
    e->out = &body;
    for (int i = 0; i < orch->dim_count; i++) {
        const char *name = emit_name(e, orch->dims[i]);
        out_line(e->out, "const int64_t %s = a->%s;", name, name);
        out_line(e->out,
                 "if (%s < 0) pto_raise(rt, PTO_ERR_ARGUMENT, \"dimension variable '%s' is %%lld\", (long long)%s);",
                 name, orch->dims[i]->name, name);
    }
    for (size_t i = 0; i < formals; i++) {
        const char *name = emit_name(e, places->data[i]);
        if (names_an_extent(places->data[i], places) || (need && size_names(need, places->data[i])))
            out_line(e->out, "const int64_t %s = a->%s;", name, name);
    }
    if (need) out_line(e->out, "pto_state_need(rt, %s);", strbuf_text(&bytes));
    strbuf_printf(&call, "%s(rt", emit_name(e, orch));
    struct decided decided;
    decided_begin(e, orch, &decided);
    bool has_ok = false;
    int at[2] = {0, 0}; /* in the table, which has the formals first */
    for (size_t i = 0; i < formals; i++) at[1] += in_table(places->data[i]);
    for (size_t i = formals; i < places->count; at[1] += in_table(places->data[i++]))
        emit_given(e, places->data[i], true, at[1], &has_ok, &call);
    decided_print(e, &decided, &call);
    for (size_t i = 0; i < formals; at[0] += in_table(places->data[i++]))
        emit_given(e, places->data[i], false, at[0], &has_ok, &call);
    emit_bands(e, orch, places, formals);
    for (int i = 0; i < orch->dim_count; i++) strbuf_printf(&call, ", %s", emit_name(e, orch->dims[i]));
    if (returns_scalar(orch)) {
        out_line(e->out, "const %s result = %s);", c_scalar_type(orch->result), strbuf_text(&call));
        out_line(e->out, "if (a->result) *a->result = result;");
    } else {
        out_line(e->out, "%s);", strbuf_text(&call));
    }
    for (size_t i = formals; i < places->count; i++) decided_copy(e, &decided, places->data[i]);
    if (decided.count > 0) out_line(e->out, "pto_scope_end(rt);");
    e->out = outer;
    out_line(e->out, "static void enter_%s(PTORuntime *rt, void *arg)", orch->name);
    out_open(e->out, "{");
    out_line(e->out, "const struct args_%s *a = arg;", orch->name);
    if (has_params)
        out_line(e->out, "pto_set_params(rt, a->params);");
    else if (places->count == 0 && orch->dim_count == 0 && !returns_scalar(orch))
        out_line(e->out, "(void)a;");
    params_declare(e, "a->params");
    e->out->depth--;
    out_append(e->out, &body);
    e->out->depth++;
    out_close(e->out, "}");
}

/* What enter_NAME is given.  Returns the values of the members in the C function of a library. */
static const char *emit_args(struct emitter *e, const struct symbol *orch, const symbol_list *places)
{
    STRBUF(b);
    const char *comma = "";
    out_open(e->out, "struct args_%s {", orch->name);
    for (size_t i = 0; i < places->count; i++) {
        STRBUF(variable);
        print_variable(e, &variable, places->data[i]);
        out_line(e->out, "%s;", strbuf_text(&variable));
        strbuf_printf(&b, "%s%s", comma, emit_name(e, places->data[i])), comma = ", ";
    }
    if (returns_scalar(orch)) {
        out_line(e->out, "%s *result;", c_scalar_type(orch->result));
        strbuf_printf(&b, "%sresult", comma), comma = ", ";
    }
    for (int i = 0; i < orch->dim_count; i++) {
        out_line(e->out, "int64_t %s;", emit_name(e, orch->dims[i]));
        strbuf_printf(&b, "%s%s", comma, emit_name(e, orch->dims[i])), comma = ", ";
    }
    if (!e->options->no_main) out_line(e->out, "const PTOGivenView *views;");
    if (params_exist(e)) {
        out_line(e->out, "const struct params *params;");
        strbuf_printf(&b, "%s&params", comma), comma = ", ";
    }
    if (!*comma && e->options->no_main) out_line(e->out, "char nothing;");
    out_close(e->out, "};");
    return *comma ? arena_copy(e->mem, strbuf_text(&b), b.length) : "0";
}

/* The function that begins a run of the entry. */
static const char *run_function(struct emitter *e, const struct symbol *orch)
{
    return bounds_of(e->plan, orch, true)->recursive.name ? "pto_run_recursive" : "pto_run_entry";
}

/* The C function that a host program calls. */
static void emit_run(struct emitter *e, const struct symbol *orch, const char *members)
{
    STRBUF(prototype);
    entry_print_prototype(e, orch, &prototype);
    out_line(e->out, "%s", strbuf_text(&prototype));
    out_open(e->out, "{");
    out_line(e->out, "if (pto_check_library(PTO_INLINED_FINGERPRINT) != PTO_OK) return PTO_ERR_VERSION;");
    if (params_exist(e)) params_emit_snapshot(e);
    out_line(e->out, "struct args_%s a = {%s};", orch->name, members);
    out_line(e->out, "return %s(rt, enter_%s, &a);", run_function(e, orch), orch->name);
    out_close(e->out, "}");
}

/* ---- what the command line needs to know ---- */

static void emit_extents(struct emitter *e, const struct symbol *orch, const symbol_list *table)
{
    struct out body = {.depth = e->out->depth + 1};
    struct out *outer = e->out;
    struct ptrmap before = e->used;
    e->used = (struct ptrmap){0};
    e->out = &body;
    bool any = false;
    for (size_t f = 0; f < table->count; f++) {
        const struct type *t = table->data[f]->type;
        for (int d = 0; d < t->rank; d++) { /* a scalar has no dimensions */
            STRBUF(b);
            if (decided_dims(t) >> d & 1) continue;
            size_print(e, &b, t->extent[d], P_ANY, ARITH_TRY);
            out_line(e->out, "case %zu * PTO_MAX_RANK + %d: *value = %s; break;", f, d, strbuf_text(&b));
            any = true;
        }
    }
    e->out = outer;
    out_line(e->out, "static bool extent_%s(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)",
             orch->name);
    out_open(e->out, "{");
    bool named = e->names_params;
    params_declare(e, "call->params");
    for (int i = 0; i < orch->dim_count; i++)
        if (ptrmap_get(&e->used, orch->dims[i])) {
            out_line(e->out, "const int64_t %s = call->dims[%d];", emit_name(e, orch->dims[i]), i);
            named = true;
        }
    for (size_t f = 0; f < table->count; f++)
        if (names_an_extent(table->data[f], table)) {
            out_line(e->out, "const int64_t %s = call->scalars[%zu].i64;", emit_name(e, table->data[f]), f);
            named = true;
        }
    if (!named) out_line(e->out, "(void)call;");
    if (!any) out_line(e->out, "(void)value;");
    out_line(e->out, "bool ok = true;");
    out_line(e->out, "switch (formal * PTO_MAX_RANK + dim) {");
    e->out->depth--;
    out_append(e->out, &body);
    e->out->depth++;
    out_line(e->out, "default: ok = false; break;");
    out_line(e->out, "}");
    out_line(e->out, "return ok;");
    out_close(e->out, "}");
    ptrmap_free(&e->used);
    e->used = before;
}

static int dim_index(const struct symbol *orch, const struct symbol *s)
{
    for (int i = 0; i < orch->dim_count; i++)
        if (orch->dims[i] == s) return i;
    return -1;
}

static uint64_t dims_named(const struct symbol *orch, const struct size *s)
{
    uint64_t bits = 0;
    for (int i = 0; i < orch->dim_count; i++)
        if (size_names(s, orch->dims[i])) bits |= UINT64_C(1) << i;
    return bits;
}

static const char *direction_constant(const struct symbol *s)
{
    switch (s->dir) {
    case DIR_OUT: return "PTO_OUT";
    case DIR_INOUT: return "PTO_INOUT_";
    case DIR_ACC: return "PTO_ACC_";
    case DIR_OWN: return "PTO_OWN";
    case DIR_HOST: return "PTO_HOST";
    default: return "PTO_IN";
    }
}

static void emit_formal(struct emitter *e, const struct symbol *orch, const char *name, const char *direction,
                        const struct type *t)
{
    STRBUF(exact);
    STRBUF(uses);
    const char *type = t->kind == TYPE_TENSOR ? c_elem_constant(t->elem) : scalar_constant(t);
    if (t->kind != TYPE_TENSOR) {
        out_line(e->out, "{.name = %s, .direction = PTO_IN, .type = %s, .text = %s},", c_string(e, name), type,
                 c_string(e, type_string(e, t)));
        return;
    }
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = t->extent[d];
        if (decided_dims(t) >> d & 1)
            strbuf_printf(&exact, "%sPTO_DECIDED", d ? ", " : "");
        else
            strbuf_printf(&exact, "%s%d", d ? ", " : "",
                          extent->kind == SIZE_SYMBOL ? dim_index(orch, extent->symbol) : -1);
        strbuf_printf(&uses, "%s%llu", d ? ", " : "", (unsigned long long)dims_named(orch, extent));
    }
    out_line(e->out, "{.name = %s, .direction = %s, .type = %s, .rank = %d, .text = %s,", c_string(e, name), direction,
             type, t->rank, c_string(e, type_string(e, t)));
    out_line(e->out, " .exact = (const int32_t[]){%s}, .uses = (const uint64_t[]){%s}},", strbuf_text(&exact),
             strbuf_text(&uses));
}

static void emit_formals(struct emitter *e, const struct symbol *orch, const symbol_list *table)
{
    if (orch->dim_count > 64) emit_unsupported(e, orch->decl->at, "more than 64 dimension variables");
    if (orch->dim_count > 0) {
        STRBUF(b);
        for (int i = 0; i < orch->dim_count; i++) strbuf_printf(&b, "%s\"%s\"", i ? ", " : "", orch->dims[i]->name);
        out_line(e->out, "static const char *const dims_%s[] = {%s};", orch->name, strbuf_text(&b));
    }
    if (table->count == 0) return;
    out_open(e->out, "static const PTOFormal formals_%s[] = {", orch->name);
    for (size_t i = 0; i < table->count; i++)
        emit_formal(e, orch, table->data[i]->name, direction_constant(table->data[i]), table->data[i]->type);
    out_close(e->out, "};");
}

/* The variables of the caller, from the lists of the table. */
static void emit_start(struct emitter *e, const struct symbol *orch, const symbol_list *places)
{
    STRBUF(b);
    const char *comma = "";
    size_t at = 0; /* in the table */
    out_line(e->out, "static PTOStatus start_%s(PTORuntime *rt, const PTOCall *call)", orch->name);
    out_open(e->out, "{");
    for (size_t i = 0; i < places->count; i++, comma = ", ") {
        const struct symbol *s = places->data[i];
        const char *value =
            in_table(s) ? arena_printf(e->mem, "call->scalars[%zu].%s", at, scalar_member(s->type)) : "0";
        if (is_tensor(s))
            strbuf_printf(&b, "%scall->data[%zu]", comma, at);
        else if (s->by_reference)
            strbuf_printf(&b, "%s&%s", comma, emit_name(e, s));
        else
            strbuf_printf(&b, "%s%s", comma, value);
        if (s->by_reference) out_line(e->out, "%s %s = %s;", c_scalar_type(s->type), emit_name(e, s), value);
        at += in_table(s);
    }
    if (returns_scalar(orch)) {
        out_line(e->out, "%s result = 0;", c_scalar_type(orch->result));
        strbuf_printf(&b, "%s&result", comma), comma = ", ";
    }
    for (int i = 0; i < orch->dim_count; i++, comma = ", ") strbuf_printf(&b, "%scall->dims[%d]", comma, i);
    strbuf_printf(&b, "%scall->views%s", comma, params_exist(e) ? ", call->params" : "");
    out_line(e->out, "struct args_%s a = {%s};", orch->name, strbuf_text(&b));
    if (returns_scalar(orch)) {
        out_line(e->out, "const PTOStatus status = %s(rt, enter_%s, &a);", run_function(e, orch), orch->name);
        out_line(e->out, "if (call->result) call->result->%s = result;", scalar_member(orch->result));
        out_line(e->out, "return status;");
    } else {
        out_line(e->out, "return %s(rt, enter_%s, &a);", run_function(e, orch), orch->name);
    }
    out_close(e->out, "}");
}

/* The name is printed in the header, which a C++ compiler may read. */
static void declare_in_header(struct emitter *e, const struct symbol *s)
{
    emit_declare(e, s, cpp_is_keyword(s->name) ? arena_printf(e->mem, "%s_", s->name) : s->name);
}

/* The C names of what an entry is given; they live until the caller forgets them. */
void entry_declare_names(struct emitter *e, const struct symbol *orch)
{
    symbol_list places = {0};
    all_places(orch, &places);
    for (size_t i = 0; i < places.count; i++)
        if (places.data[i] == orch->result_place)
            ptrmap_set(&e->c_names, places.data[i], (void *)(uintptr_t) "result");
        else
            declare_in_header(e, places.data[i]);
    for (int i = 0; i < orch->dim_count; i++) declare_in_header(e, orch->dims[i]);
    vec_free(&places);
}

void entry_emit(struct emitter *e, const struct symbol *orch)
{
    static const char *const own[] = {"a", "arg", "result", "call", "views", "formal", "dim", "value", "ok", "status"};
    symbol_list places = {0}, table = {0};
    size_t mark = names_mark(&e->names), formals = all_places(orch, &places);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) names_force(&e->names, own[i]);
    entry_declare_names(e, orch);
    for (size_t i = 0; i < places.count; i++)
        if (in_table(places.data[i])) vec_push(&table, places.data[i]);
    e->plan->ranges.function = orch;
    out_line(e->out, "%s", "");
    const char *const members = emit_args(e, orch, &places);
    emit_enter(e, orch, &places, formals);
    if (e->options->no_main) {
        emit_run(e, orch, members);
    } else {
        emit_extents(e, orch, &table);
        emit_start(e, orch, &places);
        emit_formals(e, orch, &table);
    }
    e->plan->ranges.function = NULL;
    names_close(&e->names, mark);
    vec_free(&places);
    vec_free(&table);
}

/* The lines of `//` directly above a declaration, without the slashes; NULL: there are none. */
static const char *comment_above(struct emitter *e, const struct ast *decl)
{
    const struct source *source = source_get(e->front->sources, decl->at.file);
    const char *const text = source->text, *begin = text + decl->at.begin;
    while (begin > text && begin[-1] != '\n') begin--;
    STRBUF(b);
    const char *first = begin;
    while (first > text) {
        const char *line = first - 1, *word;
        while (line > text && line[-1] != '\n') line--;
        for (word = line; *word == ' '; word++) {}
        if (strncmp(word, "//", 2) != 0) break;
        first = line;
    }
    for (const char *p = first; p < begin; p = strchr(p, '\n') + 1) {
        const char *line = strstr(p, "//") + 2, *const end = strchr(p, '\n');
        if (*line == ' ') line++;
        strbuf_printf(&b, "%s%.*s", p > first ? "\n" : "", (int)(end - line), line);
    }
    return b.length ? arena_copy(e->mem, strbuf_text(&b), b.length) : NULL;
}

void table_emit(struct emitter *e)
{
    out_line(e->out, "%s", "");
    const int params = params_emit_table(e);
    params_derive_emit(e);
    if (e->plan->exports.count > 0) {
        out_line(e->out, "static const PTOEntry entries[] = {");
        for (size_t i = 0; i < e->plan->exports.count; i++) {
            const struct symbol *o = e->plan->exports.data[i];
            symbol_list places = {0};
            size_t count = 0;
            all_places(o, &places);
            for (size_t k = 0; k < places.count; k++) count += in_table(places.data[k]);
            vec_free(&places);
            struct span head = o->decl->at;
            head.end = o->decl->orch.body->at.begin;
            out_line(e->out, "    {.name = %s, .dims = %s, .dim_count = %d, .formals = %s, .formal_count = %zu,",
                     c_string(e, o->name), o->dim_count ? arena_printf(e->mem, "dims_%s", o->name) : "NULL",
                     o->dim_count, count ? arena_printf(e->mem, "formals_%s", o->name) : "NULL", count);
            out_line(e->out, "     .head = %s,", c_string(e, emit_source_text(e, head)));
            const char *const comment = e->options->is_shared ? comment_above(e, o->decl) : NULL;
            if (comment) out_line(e->out, "     .comment = %s,", c_string(e, comment));
            if (returns_scalar(o)) out_line(e->out, "     .result = %s,", scalar_constant(o->result));
            out_line(e->out, "     .extent = extent_%s, .run = start_%s},", o->name, o->name);
        }
        out_line(e->out, "};");
    }
    out_line(e->out, e->options->is_shared ? "PTO_API const PTOProgram pto_program = {"
                                           : "static const PTOProgram program = {");
    out_line(e->out,
             "    .layout = PTO_TABLE_LAYOUT, .fingerprint = PTO_INLINED_FINGERPRINT, .library = &pto_library_,");
    out_line(e->out, "    .file = %s,", c_string(e, e->checked->modules[0]->path));
    if (params > 0) {
        out_line(e->out, "    .params = settings, .param_count = %d,", params);
        out_line(e->out, "    .param_bytes = sizeof(struct params), .defaults = &defaults,");
    }
    if (params_derive_name(e)) out_line(e->out, "    .derive_params = %s,", params_derive_name(e));
    if (e->options->checked) out_line(e->out, "    .checked = true,");
    if (e->options->cpu) out_line(e->out, "    .cpu = \"%s\",", e->options->cpu);
    if (e->plan->exports.count > 0)
        out_line(e->out, "    .entries = entries, .entry_count = %zu,", e->plan->exports.count);
    out_line(e->out, "};");
    if (e->options->is_shared) return;
    out_line(e->out, "%s", "");
    out_line(e->out, "int main(int argc, char **argv)");
    out_line(e->out, "{");
    out_line(e->out, "    return pto_program_main(&program, argc, argv);");
    out_line(e->out, "}");
}
