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

/* The arguments of a C caller, in order: the formals, then the results, each leaf of a struct by itself.  Returns how
 * many are formals. */
static size_t all_places(const struct symbol *orch, symbol_list *list)
{
    flat_formals(orch, list);
    const size_t formals = list->count;
    flat_results(orch, list);
    return formals;
}

/* The caller's variable. */
static void print_variable(struct emitter *e, struct strbuf *b, const struct symbol *s)
{
    if (is_tensor(s))
        strbuf_printf(b, "%s%s *%s", is_const(s) ? "const " : "", c_elem_type(s->type->elem), emit_name(e, s));
    else
        strbuf_printf(b, "%s %s%s", c_scalar_type(s->type), s->by_reference ? "*" : "", emit_name(e, s));
}

/* ---- params ---- */

/* May C have it as an initializer of a global variable? */
static bool is_constant(const struct ast *n)
{
    int64_t number;
    if (n->value && size_is_const(n->value, &number)) return true;
    switch (n->kind) {
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL: return true;
    case AST_NAME:
    case AST_MEMBER: return n->symbol && n->symbol->kind == SYM_CONST;
    case AST_UNARY: return is_constant(n->binary.left);
    case AST_BINARY: return is_constant(n->binary.left) && is_constant(n->binary.right);
    default: return false;
    }
}

/* A default that is computed when the program runs, because it names another param or calls a builtin function. */
static bool is_derived(const struct symbol *param)
{
    const struct ast *value = param->decl->decl.value;
    return value && !is_constant(value);
}

void params_emit(struct emitter *e)
{
    bool any = false;
    for (int m = 0; m < e->checked->module_count; m++)
        for (int i = 0; i < e->checked->modules[m]->symbol_count; i++) {
            const struct symbol *s = e->checked->modules[m]->symbols[i];
            if (s->kind != SYM_PARAM) continue;
            const struct ast *value = s->decl->decl.value;
            STRBUF(b);
            if (value && !is_derived(s))
                expression_print(e, &b, value, s->type, P_ANY, ARITH_CHECKED);
            else
                strbuf_puts(&b, "0");
            if (!any) out_line(e->out, "%s", "");
            any = true;
            out_line(e->out, "%s%s %s = %s; /* param %s%s%s */", e->options->no_main ? "" : "static ",
                     c_scalar_type(s->type), param_c_name(e, s), strbuf_text(&b), s->name, is_derived(s) ? " = " : "",
                     is_derived(s) ? emit_source_text(e, value->at) : "");
        }
}

/* Note [params that follow]: a default may name params before it and params of imported modules, so those come first.
 * In a program --set decides which are computed; in a library all are when it is loaded, and again when the host
 * asks. */
struct following {
    struct emitter *e;
    struct ptrmap done, numbers; /* param -> its place in the table, plus 1 */
    bool can_fail;
};

static bool visit_param(void *cx, struct ast *n);

static void emit_following(struct following *f, const struct symbol *s)
{
    struct emitter *e = f->e;
    if (s->kind != SYM_PARAM || ptrmap_get(&f->done, s)) return;
    ptrmap_set(&f->done, s, f);
    if (!is_derived(s)) return;
    ast_walk(s->decl->decl.value, visit_param, f);
    STRBUF(b);
    expression_print(e, &b, s->decl->decl.value, s->type, P_ANY, ARITH_TRY);
    if (e->options->no_main) {
        out_line(e->out, "%s = %s;", param_c_name(e, s), strbuf_text(&b));
    } else {
        const int number = (int)(intptr_t)ptrmap_get(&f->numbers, s) - 1;
        out_line(e->out, "if (!params[%d].is_given) %s = %s;", number, param_c_name(e, s), strbuf_text(&b));
        if (strstr(strbuf_text(&b), "&ok") == NULL) { return; }
        f->can_fail = true;
        out_line(e->out, "if (!ok) {");
        out_line(e->out,
                 "    snprintf(message, size, \"the default of param '%s', %%s, has no value: give --set %s=VALUE\", "
                 "params[%d].derived);",
                 s->name, s->module->is_main ? s->name : arena_printf(e->mem, "%s.%s", s->module->name, s->name),
                 number);
        out_line(e->out, "    return false;");
        out_line(e->out, "}");
    }
}

static bool visit_param(void *cx, struct ast *n)
{
    if ((n->kind == AST_NAME || n->kind == AST_MEMBER) && n->symbol) emit_following(cx, n->symbol);
    return true;
}

const char *params_derive_name(struct emitter *e)
{
    for (int m = 0; m < e->checked->module_count; m++)
        for (int i = 0; i < e->checked->modules[m]->symbol_count; i++) {
            const struct symbol *s = e->checked->modules[m]->symbols[i];
            if (s->kind == SYM_PARAM && is_derived(s)) return arena_printf(e->mem, "%s_derive_params", emit_stem(e));
        }
    return NULL;
}

void params_derive_emit(struct emitter *e)
{
    const char *name = params_derive_name(e);
    struct following f = {.e = e};
    int number = 0;
    if (!name) return;
    for (int m = 0; m < e->checked->module_count; m++)
        for (int i = 0; i < e->checked->modules[m]->symbol_count; i++)
            if (e->checked->modules[m]->symbols[i]->kind == SYM_PARAM)
                ptrmap_set(&f.numbers, e->checked->modules[m]->symbols[i], (void *)(intptr_t)++number);
    out_line(e->out, "%s", "");
    if (e->options->no_main) {
        out_line(e->out, "bool %s(void);", name);
        out_line(e->out, "__attribute__((constructor)) bool %s(void)", name);
    } else {
        out_line(e->out, "static bool %s(char *message, size_t size)", name);
    }
    out_open(e->out, "{");
    struct out body = {.depth = e->out->depth}, *outer = e->out;
    e->out = &body;
    for (int m = 0; m < e->checked->module_count; m++)
        for (int i = 0; i < e->checked->modules[m]->symbol_count; i++)
            emit_following(&f, e->checked->modules[m]->symbols[i]);
    e->out = outer;
    out_line(e->out, "bool ok = true;");
    if (!f.can_fail && !e->options->no_main) out_line(e->out, "(void)message, (void)size;");
    e->out->depth--;
    out_append(e->out, &body);
    e->out->depth++;
    out_line(e->out, "return ok;");
    out_close(e->out, "}");
    ptrmap_free(&f.done);
    ptrmap_free(&f.numbers);
}

static int emit_param_table(struct emitter *e)
{
    int count = 0;
    for (int m = 0; m < e->checked->module_count; m++) {
        const struct module *module = e->checked->modules[m];
        for (int i = 0; i < module->symbol_count; i++) {
            const struct symbol *s = module->symbols[i];
            if (s->kind != SYM_PARAM) continue;
            if (count++ == 0) out_line(e->out, "static PTOProgramParam params[] = {");
            const char *name = module->is_main ? s->name : arena_printf(e->mem, "%s.%s", module->name, s->name);
            const char *type = s->type->kind == TYPE_F64    ? "PTO_F64"
                               : s->type->kind == TYPE_F32  ? "PTO_F32"
                               : s->type->kind == TYPE_BOOL ? "PTO_BOOL"
                                                            : "PTO_I64";
            const char *derived =
                is_derived(s)
                    ? arena_printf(e->mem, ", .derived = %s", c_string(e, emit_source_text(e, s->decl->decl.value->at)))
                    : "";
            out_line(e->out, "    {.name = %s, .type = %s, .value = &%s, .has_default = %s%s},", c_string(e, name),
                     type, param_c_name(e, s), s->decl->decl.value ? "true" : "false", derived);
        }
    }
    if (count > 0) out_line(e->out, "};");
    return count;
}

/* ---- the C function ---- */

void entry_print_prototype(struct emitter *e, const struct symbol *orch, struct strbuf *b)
{
    symbol_list places = {0};
    all_places(orch, &places);
    strbuf_printf(b, "PTOStatus run_%s(PTORuntime *rt", orch->name);
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

static void emit_array(struct emitter *e, const char *name, const char *what, const struct type *t, bool is_read_only)
{
    for (int d = 0; d < t->rank; d++) {
        const struct symbol *function = e->plan->function;
        e->plan->function = NULL; /* what is known of a param because it is an extent is only now being made true */
        bool known = range_of_size(e->plan, t->extent[d]).lo >= 0;
        e->plan->function = function;
        if (known) continue;
        STRBUF(extent);
        size_print(e, &extent, t->extent[d], P_UNARY, ARITH_CHECKED);
        out_line(e->out, "if (%s < 0) pto_raise(rt, PTO_ERR_ARGUMENT, \"extent %d of '%s' is %%lld\", (long long)%s);",
                 strbuf_text(&extent), d, what, strbuf_text(&extent));
    }
    STRBUF(bytes);
    value_print(e, &bytes, lower_bytes(e->lowering, t), P_ANY);
    out_line(e->out, "const int64_t %s_bytes = %s;", name, strbuf_text(&bytes));
    out_line(e->out, "if (%s == NULL && %s_bytes > 0) pto_raise(rt, PTO_ERR_ARGUMENT, \"no array for '%s'\");", name,
             name, what);
    out_line(e->out, "%s(rt, %s, %s_bytes);", is_read_only ? "pto_input" : "pto_buffer", name, name);
}

/* Makes one thing that the caller gave an argument of the function. */
static void emit_given(struct emitter *e, const struct symbol *s, bool result, struct strbuf *call)
{
    const char *name = emit_name(e, s);
    if (!is_tensor(s)) {
        if (s->by_reference)
            out_line(e->out, "if (a->%s == NULL) pto_raise(rt, PTO_ERR_ARGUMENT, \"no variable for '%s'\");", name,
                     s->name);
        strbuf_printf(call, ", a->%s", name);
        return;
    }
    STRBUF(strides);
    print_strides(e, &strides, s->type);
    if (result)
        out_line(e->out, "void *%s = a->%s;", name, name);
    else
        out_line(e->out, "void *const %s = (void *)a->%s;", name, name);
    emit_array(e, name, s->name, s->type, !result && s->dir == DIR_IN);
    if (result)
        strbuf_printf(call, ", (PTOPlace){.ref = &%s, .s = {%s}}", name, strbuf_text(&strides));
    else
        strbuf_printf(call, ", (PTOView){%s, 0, {%s}}", name, strbuf_text(&strides));
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
    if (need) value_print(e, &bytes, lower_size(e->lowering, need, ARITH_COST), P_ANY);
    out_line(e->out, "static void enter_%s(PTORuntime *rt, void *arg)", orch->name);
    out_open(e->out, "{");
    out_line(e->out, "const struct args_%s *a = arg;", orch->name);
    if (places->count == 0 && orch->dim_count == 0 && !returns_scalar(orch)) out_line(e->out, "(void)a;");
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
    for (size_t i = formals; i < places->count; i++) emit_given(e, places->data[i], true, &call);
    for (size_t i = 0; i < formals; i++) emit_given(e, places->data[i], false, &call);
    for (int i = 0; i < orch->dim_count; i++) strbuf_printf(&call, ", %s", emit_name(e, orch->dims[i]));
    if (returns_scalar(orch)) {
        out_line(e->out, "const %s result = %s);", c_scalar_type(orch->result), strbuf_text(&call));
        out_line(e->out, "if (a->result) *a->result = result;");
    } else {
        out_line(e->out, "%s);", strbuf_text(&call));
    }
    out_close(e->out, "}");
}

static void emit_run(struct emitter *e, const struct symbol *orch, const symbol_list *places, size_t formals)
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
    if (!*comma) out_line(e->out, "char nothing;");
    out_close(e->out, "};");
    emit_enter(e, orch, places, formals);
    STRBUF(prototype);
    entry_print_prototype(e, orch, &prototype);
    out_line(e->out, "%s", strbuf_text(&prototype));
    out_line(e->out, "{");
    out_line(e->out, "    struct args_%s a = {%s};", orch->name, *comma ? strbuf_text(&b) : "0");
    out_line(e->out, "    return pto_run_entry(rt, enter_%s, &a);", orch->name);
    out_line(e->out, "}");
}

/* ---- what the command line needs to know ---- */

/* The command line gives and takes tensors, and gives scalars; what a scalar becomes is for C callers. */
static bool in_table(const struct symbol *s) { return is_tensor(s) || !s->by_reference || s->dir == DIR_INOUT; }

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
        if (t->kind != TYPE_TENSOR) continue;
        for (int d = 0; d < t->rank; d++) {
            STRBUF(b);
            size_print(e, &b, t->extent[d], P_ANY, ARITH_TRY);
            out_line(e->out, "case %zu * PTO_MAX_RANK + %d: *value = %s; break;", f, d, strbuf_text(&b));
            any = true;
        }
    }
    e->out = outer;
    out_line(e->out,
             "static bool extent_%s(int32_t formal, int32_t dim, const int64_t *dims, const PTOScalar *scalars, "
             "int64_t *value)",
             orch->name);
    out_open(e->out, "{");
    bool dims = false;
    for (int i = 0; i < orch->dim_count; i++)
        if (ptrmap_get(&e->used, orch->dims[i])) {
            out_line(e->out, "const int64_t %s = dims[%d];", emit_name(e, orch->dims[i]), i);
            dims = true;
        }
    if (!dims) out_line(e->out, "(void)dims;");
    bool scalars = false;
    for (size_t f = 0; f < table->count; f++)
        if (names_an_extent(table->data[f], table)) {
            out_line(e->out, "const int64_t %s = scalars[%zu].i64;", emit_name(e, table->data[f]), f);
            scalars = true;
        }
    if (!scalars) out_line(e->out, "(void)scalars;");
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
    const char *type = t->kind == TYPE_TENSOR ? c_elem_constant(t->elem)
                       : t->kind == TYPE_F64  ? "PTO_F64"
                       : t->kind == TYPE_F32  ? "PTO_F32"
                       : t->kind == TYPE_BOOL ? "PTO_BOOL"
                                              : "PTO_I64";
    if (t->kind != TYPE_TENSOR) {
        out_line(e->out, "{.name = %s, .direction = PTO_IN, .type = %s, .text = %s},", c_string(e, name), type,
                 c_string(e, type_string(e, t)));
        return;
    }
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent = t->extent[d];
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

static void emit_start(struct emitter *e, const struct symbol *orch, const symbol_list *places)
{
    STRBUF(b);
    struct out variables = {.depth = e->out->depth + 1}, *outer = e->out;
    bool data = false, scalars = false;
    size_t at = 0; /* in the table */
    e->out = &variables;
    for (size_t i = 0; i < places->count; i++) {
        const struct symbol *s = places->data[i];
        const struct type *t = s->type;
        const char *value = in_table(s) && !is_tensor(s) ? arena_printf(e->mem, "scalars[%zu].%s", at,
                                                                        t->kind == TYPE_F64    ? "f64"
                                                                        : t->kind == TYPE_F32  ? "f32"
                                                                        : t->kind == TYPE_BOOL ? "b"
                                                                                               : "i64")
                                                         : "0";
        if (is_tensor(s))
            strbuf_printf(&b, ", data[%zu]", at), data = true;
        else if (s->by_reference)
            strbuf_printf(&b, ", &%s", emit_name(e, s));
        else
            strbuf_printf(&b, ", %s", value);
        if (s->by_reference) out_line(e->out, "%s %s = %s;", c_scalar_type(t), emit_name(e, s), value);
        scalars |= *value == 's';
        at += in_table(s);
    }
    e->out = outer;
    if (returns_scalar(orch)) strbuf_puts(&b, ", NULL");
    for (int i = 0; i < orch->dim_count; i++) strbuf_printf(&b, ", dims[%d]", i);
    out_line(
        e->out,
        "static PTOStatus start_%s(PTORuntime *rt, void *const *data, const PTOScalar *scalars, const int64_t *dims)",
        orch->name);
    out_open(e->out, "{");
    if (!data) out_line(e->out, "(void)data;");
    if (!scalars) out_line(e->out, "(void)scalars;");
    if (orch->dim_count == 0) out_line(e->out, "(void)dims;");
    e->out->depth--;
    out_append(e->out, &variables);
    e->out->depth++;
    out_line(e->out, "return run_%s(rt%s);", orch->name, strbuf_text(&b));
    out_close(e->out, "}");
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
            emit_declare(e, places.data[i], places.data[i]->name);
    for (int i = 0; i < orch->dim_count; i++) emit_declare(e, orch->dims[i], orch->dims[i]->name);
    vec_free(&places);
}

void entry_emit(struct emitter *e, const struct symbol *orch)
{
    static const char *const own[] = {"a", "arg", "result", "data", "scalars", "dims", "formal", "dim", "value", "ok"};
    symbol_list places = {0}, table = {0};
    size_t mark = names_mark(&e->names), formals = all_places(orch, &places);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) names_force(&e->names, own[i]);
    entry_declare_names(e, orch);
    for (size_t i = 0; i < places.count; i++)
        if (in_table(places.data[i])) vec_push(&table, places.data[i]);
    e->plan->function = orch;
    out_line(e->out, "%s", "");
    emit_run(e, orch, &places, formals);
    if (!e->options->no_main) {
        emit_extents(e, orch, &table);
        emit_start(e, orch, &places);
        emit_formals(e, orch, &table);
    }
    e->plan->function = NULL;
    names_close(&e->names, mark);
    vec_free(&places);
    vec_free(&table);
}

void table_emit(struct emitter *e)
{
    out_line(e->out, "%s", "");
    int params = emit_param_table(e);
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
            out_line(e->out,
                     "    {.name = %s, .dims = %s, .dim_count = %d, .formals = %s, .formal_count = %zu, .extent = "
                     "extent_%s, .run = start_%s},",
                     c_string(e, o->name), o->dim_count ? arena_printf(e->mem, "dims_%s", o->name) : "NULL",
                     o->dim_count, count ? arena_printf(e->mem, "formals_%s", o->name) : "NULL", count, o->name,
                     o->name);
        }
        out_line(e->out, "};");
    }
    out_line(e->out, "static const PTOProgram program = {");
    out_line(e->out, "    .file = %s,", c_string(e, e->checked->modules[0]->path));
    if (params > 0) out_line(e->out, "    .params = params, .param_count = %d,", params);
    if (params_derive_name(e)) out_line(e->out, "    .derive_params = %s,", params_derive_name(e));
    if (e->options->checked) out_line(e->out, "    .checked = true,");
    if (e->plan->exports.count > 0)
        out_line(e->out, "    .entries = entries, .entry_count = %zu,", e->plan->exports.count);
    out_line(e->out, "};");
    out_line(e->out, "%s", "");
    out_line(e->out, "int main(int argc, char **argv)");
    out_line(e->out, "{");
    out_line(e->out, "    return pto_program_main(&program, argc, argv);");
    out_line(e->out, "}");
}
