/* emit_params.c - the params of a program: the record that each call has of them, their defaults, and their table.
 * Idea       `struct params` has a member for each param.  A call of an entry brings its own record, which functions
 *            reach through the runtime: calls with different params do not meet.  In a library for a C host each param
 *            is also a global variable, MODULE_PARAM, and a call begins with a record of their values.
 * Invariant  a record is constant during its call.
 * Tests      test/lit/codegen/params.pto; test/lit/run/param-defaults.test
 */
#include "emit.h"
#include <string.h>

typedef VEC(const struct symbol *) param_list;

static bool visit_named(void *cx, struct ast *n)
{
    if (n->symbol && n->symbol->kind == SYM_PARAM) *(bool *)cx = true;
    return true;
}

/* Of `0 * (1 / q)` the value is known only if it has one. */
static bool names_param(const struct ast *n)
{
    bool named = false;
    ast_walk((struct ast *)(uintptr_t)n, visit_named, &named);
    return named;
}

/* May C have it as an initializer of a global variable? */
static bool is_constant(const struct ast *n)
{
    if (n->value && size_is_const(n->value, NULL) && !names_param(n)) return true;
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

/* Every param, in the order of the table. */
static param_list all_params(const struct emitter *e)
{
    param_list list = {0};
    for (int m = 0; m < e->checked->module_count; m++)
        for (int i = 0; i < e->checked->modules[m]->symbol_count; i++)
            if (e->checked->modules[m]->symbols[i]->kind == SYM_PARAM)
                vec_push(&list, e->checked->modules[m]->symbols[i]);
    return list;
}

bool params_exist(const struct emitter *e)
{
    param_list list = all_params(e);
    const bool any = list.count > 0;
    vec_free(&list);
    return any;
}

void params_assign_names(struct emitter *e)
{
    struct names members = {.mem = e->mem};
    param_list list = all_params(e);
    for (size_t i = 0; i < list.count; i++) {
        const struct symbol *s = list.data[i];
        const char *const full = arena_printf(e->mem, "%s_%s", s->module->name, s->name);
        ptrmap_set(&e->param_members, s,
                   (void *)(uintptr_t)names_take(&members, mangle_plain(e->mem, s->module->is_main ? s->name : full)));
        emit_declare(e, s, emit_public(e, full)); /* the global variable */
    }
    names_free(&members);
    vec_free(&list);
}

void param_print(struct emitter *e, struct strbuf *b, const struct symbol *param)
{
    const char *member = ptrmap_get(&e->param_members, param);
    e->names_params = true;
    if (e->has_global_params)
        strbuf_puts(b, emit_name(e, param));
    else
        strbuf_printf(b, "params->%s", member);
}

void params_declare(struct emitter *e, const char *from)
{
    if (e->names_params) out_line(e->out, "const struct params *const params = %s;", from);
    e->names_params = false;
}

static const char *default_text(struct emitter *e, const struct symbol *param)
{
    const struct ast *value = param->decl->decl.value;
    STRBUF(b);
    if (value && !is_derived(param))
        expression_print(e, &b, value, param->type, P_ANY, ARITH_CHECKED);
    else
        strbuf_puts(&b, "0");
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

void params_emit(struct emitter *e)
{
    param_list list = all_params(e);
    if (list.count > 0) {
        out_line(e->out, "%s", "");
        out_open(e->out, "struct params {");
        for (size_t i = 0; i < list.count; i++) {
            const struct symbol *s = list.data[i];
            const char *const derived =
                is_derived(s) ? arena_printf(e->mem, " /* = %s */", emit_source_text(e, s->decl->decl.value->at)) : "";
            out_line(e->out, "%s %s;%s", c_scalar_type(s->type), (const char *)ptrmap_get(&e->param_members, s),
                     derived);
        }
        out_close(e->out, "};");
        for (size_t i = 0; i < list.count && e->options->no_main; i++)
            out_line(e->out, "%s %s = %s;", c_scalar_type(list.data[i]->type), emit_name(e, list.data[i]),
                     default_text(e, list.data[i]));
        if (!e->options->no_main) {
            STRBUF(b);
            for (size_t i = 0; i < list.count; i++)
                strbuf_printf(&b, "%s.%s = %s", i ? ", " : "",
                              (const char *)ptrmap_get(&e->param_members, list.data[i]), default_text(e, list.data[i]));
            out_line(e->out, "static const struct params defaults = {%s};", strbuf_text(&b));
        }
    }
    vec_free(&list);
}

void params_emit_snapshot(struct emitter *e)
{
    STRBUF(b);
    param_list list = all_params(e);
    for (size_t i = 0; i < list.count; i++) strbuf_printf(&b, "%s%s", i ? ", " : "", emit_name(e, list.data[i]));
    out_line(e->out, "const struct params params = {%s};", strbuf_text(&b));
    vec_free(&list);
}

/* ---- defaults that follow ---- */

/* Note [params that follow]: a default may name params before it and params of imported modules, so those come first.
 * In a program those that were given are kept; in a library all are computed when it is loaded, and again when the
 * host asks. */
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
    STRBUF(target);
    param_print(e, &target, s);
    expression_print(e, &b, s->decl->decl.value, s->type, P_ANY, ARITH_TRY);
    if (e->options->no_main) {
        out_line(e->out, "%s = %s;", strbuf_text(&target), strbuf_text(&b));
    } else {
        const int number = (int)(intptr_t)ptrmap_get(&f->numbers, s) - 1;
        out_line(e->out, "if (!given[%d]) %s = %s;", number, strbuf_text(&target), strbuf_text(&b));
        if (strstr(strbuf_text(&b), "&ok") == NULL) return;
        f->can_fail = true;
        out_line(e->out, "if (!ok) return %d;", number);
    }
}

static bool visit_param(void *cx, struct ast *n)
{
    if ((n->kind == AST_NAME || n->kind == AST_MEMBER) && n->symbol) emit_following(cx, n->symbol);
    return true;
}

const char *params_derive_name(struct emitter *e)
{
    param_list list = all_params(e);
    const char *name = NULL;
    for (size_t i = 0; i < list.count && !name; i++)
        if (is_derived(list.data[i])) name = emit_public(e, arena_printf(e->mem, "%s_derive_params", emit_stem(e)));
    vec_free(&list);
    return name;
}

void params_derive_emit(struct emitter *e)
{
    const char *name = params_derive_name(e);
    struct following f = {.e = e};
    if (!name) return;
    param_list list = all_params(e);
    for (size_t i = 0; i < list.count; i++) ptrmap_set(&f.numbers, list.data[i], (void *)(intptr_t)(i + 1));
    out_line(e->out, "%s", "");
    if (e->options->no_main) {
        out_line(e->out, "bool %s(void);", name);
        out_line(e->out, "__attribute__((constructor)) bool %s(void)", name);
    } else {
        out_line(e->out, "static int32_t %s(void *record, const bool *given)", name);
    }
    out_open(e->out, "{");
    struct out body = {.depth = e->out->depth}, *outer = e->out;
    e->out = &body;
    e->has_global_params = e->options->no_main;
    for (size_t i = 0; i < list.count; i++) emit_following(&f, list.data[i]);
    e->has_global_params = e->names_params = false;
    e->out = outer;
    if (!e->options->no_main) out_line(e->out, "struct params *const params = record;");
    if (f.can_fail || e->options->no_main) out_line(e->out, "bool ok = true;");
    e->out->depth--;
    out_append(e->out, &body);
    e->out->depth++;
    out_line(e->out, e->options->no_main ? "return ok;" : "return -1;");
    out_close(e->out, "}");
    ptrmap_free(&f.done);
    ptrmap_free(&f.numbers);
    vec_free(&list);
}

/* ---- the table ---- */

int params_emit_table(struct emitter *e)
{
    param_list list = all_params(e);
    const int count = (int)list.count;
    if (count > 0) out_line(e->out, "static const PTOProgramParam settings[] = {");
    for (size_t i = 0; i < list.count; i++) {
        const struct symbol *s = list.data[i];
        const char *name = symbol_option_name(e->mem, s);
        const char *derived = is_derived(s) ? arena_printf(e->mem, ", .derived = %s",
                                                           c_string(e, emit_source_text(e, s->decl->decl.value->at)))
                                            : "";
        out_line(e->out, "    {.name = %s, .type = %s, .at = offsetof(struct params, %s), .has_default = %s%s},",
                 c_string(e, name), scalar_constant(s->type), (const char *)ptrmap_get(&e->param_members, s),
                 s->decl->decl.value ? "true" : "false", derived);
    }
    if (count > 0) out_line(e->out, "};");
    vec_free(&list);
    return count;
}
