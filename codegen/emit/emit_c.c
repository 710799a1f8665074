/* emit_c.c - the order of a generated file, and its functions.
 * Idea       functions are printed first, into a section of their own; then it is known which sites they mark, and the
 *            sections are joined in the order that C wants.
 * Invariant  the same program gives the same bytes; no path that the user did not write.
 * Tests      test/lit/codegen/
 */
#include "emit.h"
#include "source_text.h"
#include <ctype.h>
#include <string.h>

/* ---- functions ---- */

/* The tensor that a function returns is `ret`; of a struct each leaf is, by its name. */
static const char *declare_result(struct emitter *e, const struct symbol *place)
{
    const char *dot = strchr(place->name, '.');
    if (place->decided_name) return emit_declare(e, place, arena_printf(e->mem, "ret_%s", place->decided_name));
    if (dot) return emit_declare(e, place, arena_printf(e->mem, "ret%s", dot));
    ptrmap_set(&e->c_names, place, (void *)(uintptr_t) "ret");
    return "ret";
}

static void print_signature(struct emitter *e, const struct symbol *orch, bool declare, struct strbuf *b)
{
    symbol_list formals = {0};
    bool scalar = orch->result && type_is_scalar(orch->result);
    strbuf_printf(b, "static %s %s(PTORuntime *rt", scalar ? c_scalar_type(orch->result) : "void", emit_name(e, orch));
    flat_results(orch, &formals);
    const size_t results = formals.count;
    flat_formals(orch, &formals);
    for (size_t i = 0; i < formals.count; i++) {
        const struct symbol *s = formals.data[i];
        const bool tensor = s->type->kind == TYPE_TENSOR;
        const char *type = !tensor       ? c_scalar_type(s->type)
                           : i < results ? "PTOPlace"
                                         : "PTOView",
                   *star = s->by_reference ? "*" : "";
        if (declare)
            strbuf_printf(b, ", %s %s%s", type, star, i < results ? declare_result(e, s) : emit_declare(e, s, s->name));
        else
            strbuf_printf(b, ", %s%s%s", type, *star ? " " : "", star);
    }
    for (int i = 0; i < orch->dim_count; i++)
        strbuf_printf(b, ", int64_t%s%s", declare ? " " : "",
                      declare ? emit_declare(e, orch->dims[i], orch->dims[i]->name) : "");
    strbuf_putc(b, ')');
    vec_free(&formals);
}

static void emit_unused(struct emitter *e, const struct symbol *orch)
{
    STRBUF(b);
    symbol_list formals = {0};
    flat_results(orch, &formals);
    flat_formals(orch, &formals);
    for (int i = 0; i < orch->dim_count; i++) vec_push(&formals, orch->dims[i]);
    for (size_t i = 0; i < formals.count; i++)
        if (!ptrmap_get(&e->used, formals.data[i]))
            strbuf_printf(&b, "(void)%s; ", (const char *)ptrmap_get(&e->c_names, formals.data[i]));
    if (b.length) out_line(e->out, "%s", strbuf_text(&b));
    vec_free(&formals);
}

static bool is_used(const void *e, const void *key)
{
    return ptrmap_get(&((const struct emitter *)e)->used, key) != NULL;
}

/* The body comes first, into a section of its own: it says which arguments nothing names. */
static void emit_function(struct emitter *e, const struct ir_function *f)
{
    const struct symbol *orch = f->orch;
    struct span head = orch->decl->at;
    STRBUF(signature);
    struct out body = {.depth = e->out->depth + 1}, *outer = e->out;
    const size_t mark = names_mark(&e->names);
    e->plan->ranges.function = orch;
    print_signature(e, orch, true, &signature);
    const int loops = loops_with_sites(f->body);
    e->indices = loops > 0 ? names_take(&e->names, "indices") : NULL;
    e->out = &body;
    function_emit_body(e, f);
    out_settle(&body, is_used, e);
    e->out = outer;
    head.end = orch->decl->orch.body->at.begin;
    struct place place = source_place(e->front->sources, head.file, head.begin);
    out_at(e->out, NULL, 0);
    out_line(e->out, "%s", "");
    out_line(e->out, "/* %s:%d  %s */", emit_comment_text(e, source_get(e->front->sources, head.file)->path),
             place.line, emit_source_text(e, head));
    emit_at(e, orch->decl->name_at.end ? orch->decl->name_at : orch->decl->at);
    out_line(e->out, "%s", strbuf_text(&signature));
    out_open(e->out, "{");
    emit_unused(e, orch);
    params_declare(e, "pto_params(rt)");
    if (loops > 0) {
        out_line(e->out, "int64_t %s[%d]; /* of the loops, for messages */", e->indices, loops);
        out_line(e->out, "pto_enter_loops(rt, %s, %s);", c_string(e, orch->name), e->indices);
    } else {
        out_line(e->out, "pto_enter(rt, %s);", c_string(e, orch->name));
    }
    e->out->depth--;
    e->out->file = body.file;
    e->out->line = body.line;
    out_append(e->out, &body);
    out_line(e->out, "}");
    out_at(e->out, NULL, 0);
    e->plan->ranges.function = NULL;
    names_close(&e->names, mark);
}

/* ---- the file ---- */

static void assign_file_names(struct emitter *e)
{
    /* The first are names in functions that call what a program declares: entries and adapters. */
    enum { OF_CALLERS = 4 };
    static const char *const own[] = {"a", "ok", "arg", "result", "params", "defaults", "settings", "entries"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) names_force(&e->names, own[i]);
    for (size_t i = 0; i < e->plan->exports.count; i++) {
        static const char *const forms[] = {"run_%s",    "enter_%s",   "args_%s", "start_%s",
                                            "extent_%s", "formals_%s", "dims_%s"};
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            STRBUF(b);
            strbuf_puts(&b, forms[f]);
            b.length -= 2;
            b.data[b.length] = '\0';
            strbuf_puts(&b, e->plan->exports.data[i]->name);
            const char *const name = arena_copy(e->mem, b.data, b.length);
            names_force(&e->names, f == 0 ? emit_public(e, name) : name);
        }
    }
    if (params_derive_name(e)) names_force(&e->names, params_derive_name(e));
    params_assign_names(e);
    kernel_assign_names(e);
    for (size_t i = 0; i < e->plan->orchs.count; i++) {
        struct symbol *o = e->plan->orchs.data[i];
        emit_declare(e, o, o->module->is_main ? o->name : arena_printf(e->mem, "%s_%s", o->module->name, o->name));
    }
    names_free_first(&e->names, OF_CALLERS); /* no function has these names, but a function's own names may be these */
}

/* Any kernel in index notation, which is not compiled apart? */
static bool has_equations(const struct emitter *e)
{
    if (e->options->parts) return false;
    for (size_t i = 0; i < e->plan->kernels.count; i++)
        if (e->plan->kernels.data[i]->decl->kernel->block) return true;
    return false;
}

static bool has_bodies(const struct emitter *e)
{
    for (size_t i = 0; i < e->plan->kernels.count; i++)
        if (e->plan->kernels.data[i]->decl->kernel->has_body) return true;
    return false;
}

static bool defines_kernels(const struct emitter *e)
{
    for (size_t i = 0; i < e->plan->kernels.count; i++)
        if (kernel_is_external(e->plan->kernels.data[i])) return false;
    return true;
}

static bool has_scratch(const struct emitter *e)
{
    for (size_t i = 0; i < e->plan->kernels.count; i++)
        if (scratch_is_used(e->plan->kernels.data[i])) return true;
    return false;
}

void emit_equations_headers(struct emitter *e)
{
    if (e->options->no_fma) out_line(e->out, "#define PTO_NO_FMA 1");
    out_line(e->out, "#include <pto/pto_equations.h>");
    if (e->needs_integers) out_line(e->out, "#include <pto/pto_integers.h>");
    if (e->needs_mathematics) out_line(e->out, "#include <pto/pto_mathematics.h>");
}

/* Of the runtime, and of C. */
static void emit_headers(struct emitter *e, bool has_equations, bool has_scratch)
{
    if (has_equations) emit_equations_headers(e);
    out_line(e->out, "#include <pto/pto_program.h>");
    if (has_scratch) out_line(e->out, "#include <pto/pto_scratch.h>");
    out_line(e->out, "#include <stdbool.h>");
    out_line(e->out, "#include <stddef.h>");
    out_line(e->out, "#include <stdint.h>");
}

static void emit_head(struct emitter *e)
{
    const char *input = emit_comment_text(e, e->options->input);
    out_line(e->out, "/* Generated by ptoc from %s.  Do not edit: run `ptoc build --emit=c %s` again. */", input,
             input);
    out_line(e->out, "#ifndef _DEFAULT_SOURCE");
    out_line(e->out, "#define _DEFAULT_SOURCE 1 /* C bodies may want M_PI */");
    out_line(e->out, "#endif");
    out_line(e->out, "#include <math.h>");
    /* Each takes a C compiler about 20 ms to inline. */
    if (e->submits > 64)
        out_line(e->out, "#define PTO_CALL_SUBMITS 1 /* inlining all %d would take long */", e->submits);
    emit_headers(e, has_equations(e), has_scratch(e));
    out_line(e->out, "#include <stdio.h>");
    out_line(e->out, "#include <string.h>");
    emit_no_tautologies(e->out);
    /* So is a function that always calls itself, which a limit stops. */
    out_line(e->out, "#if defined __clang__ || __GNUC__ >= 12");
    out_line(e->out, "#pragma GCC diagnostic ignored \"-Winfinite-recursion\"");
    out_line(e->out, "#endif");
}

bool emit_has_f16(const struct symbol *s)
{
    for (int i = 0; i < s->formal_count; i++) {
        if (s->formals[i]->type->kind == TYPE_TENSOR && s->formals[i]->type->elem == ELEM_F16) return true;
        for (int f = 0; f < s->formals[i]->field_count; f++)
            if (s->formals[i]->fields[f]->type->elem == ELEM_F16) return true;
    }
    return false;
}

/* `assert N == N` is a program, if not a useful one; so is `select(i < i, ...)`. */
void emit_no_tautologies(struct out *out)
{
    out_line(out, "#pragma GCC diagnostic ignored \"-Wtautological-compare\"");
}

void emit_f16_error(struct out *out)
{
    out_line(out, "#if !defined __FLT16_MANT_DIG__ && !defined __clang__");
    out_line(out, "#error \"f16 needs a C compiler that has _Float16: gcc 12, clang, or newer\"");
    out_line(out, "#endif");
}

/* One message, where a compiler would have one for each place that names the type. */
static void emit_f16_test(struct emitter *e)
{
    bool any = false;
    for (size_t i = 0; i < e->plan->kernels.count; i++) any |= emit_has_f16(e->plan->kernels.data[i]);
    for (size_t i = 0; i < e->plan->orchs.count; i++) any |= emit_has_f16(e->plan->orchs.data[i]);
    if (!any) return;
    emit_f16_error(e->out);
    out_line(e->out, "#pragma GCC diagnostic ignored \"-Wpedantic\" /* _Float16 is no type of ISO C */");
}

static void emit_sites(struct emitter *e)
{
    if (e->sites.count == 0) return;
    out_line(e->out, "%s", "");
    out_line(e->out, "static const PTOSiteLine sites[] = {");
    for (size_t i = 0; i < e->sites.count; i++) {
        const struct site *s = &e->sites.data[i];
        out_line(e->out, "    PTO_SITE_LINE(%s, %d, %d, %s, 0x%08xu, %d, \"%s\"),", c_string(e, s->file), s->line,
                 s->column, c_string(e, s->text), s->digest, s->width, s->indices);
    }
    out_line(e->out, "};");
}

static void emit_prototypes(struct emitter *e)
{
    out_line(e->out, "%s", "");
    for (size_t i = 0; i < e->plan->orchs.count; i++) {
        STRBUF(b);
        print_signature(e, e->plan->orchs.data[i], false, &b);
        out_line(e->out, "%s;", strbuf_text(&b));
    }
}

/* Apart, as their text says which headers stand before it. */
static struct out emit_before_head(struct emitter *e, void (*emit)(struct emitter *e))
{
    struct out text = {0}, *const file = e->out;
    e->out = &text;
    emit(e);
    e->out = file;
    return text;
}

static void emit_kernels(struct emitter *e)
{
    for (size_t i = 0; i < e->plan->kernels.count; i++) kernel_emit(e, e->plan->kernels.data[i]);
}

static void emit_functions(struct emitter *e)
{
    for (size_t i = 0; i < e->plan->orchs.count; i++) {
        frame_report(e, e->plan->orchs.data[i]);
        emit_function(e, e->plan->functions.data[i]);
    }
}

static void emit_entries(struct emitter *e)
{
    for (size_t i = 0; i < e->plan->exports.count; i++) entry_emit(e, e->plan->exports.data[i]);
}

static void emit_file(struct emitter *e)
{
    struct out functions = emit_before_head(e, emit_functions), kernels = emit_before_head(e, emit_kernels);
    struct out entries = emit_before_head(e, emit_entries);
    emit_head(e);
    emit_f16_test(e);
    emit_sites(e);
    params_emit(e);
    out_append(e->out, &kernels);
    emit_prototypes(e);
    out_append(e->out, &functions);
    out_append(e->out, &entries);
    if (e->options->no_main)
        params_derive_emit(e);
    else
        table_emit(e);
    if (!e->options->parts) return;
    e->options->parts->are_all = !has_bodies(e);
    e->options->parts->defines_all = defines_kernels(e);
}

static void emit_kernels_file(struct emitter *e)
{
    struct out kernels = emit_before_head(e, device_emit);
    emit_head(e);
    emit_f16_test(e);
    fates_emit(e);
    out_append(e->out, &kernels);
}

static void emit_bodies_file(struct emitter *e)
{
    struct out kernels = emit_before_head(e, emit_kernels);
    emit_head(e);
    emit_f16_test(e);
    params_emit(e);
    out_append(e->out, &kernels);
}

static void generate(struct front *front, const struct checked *checked, const struct codegen_options *options,
                     void (*emit)(struct emitter *e), struct strbuf *to)
{
    struct out out = {0};
    struct emitter e = {
        .front = front,
        .checked = checked,
        .options = options,
        .mem = front->mem,
        .out = &out,
        .names.mem = front->mem,
        .plan = plan_create(front, checked, &options->memory, options->checked, emit == emit_file ? NULL : "reach"),
    };
    if (emit == emit_bodies_file) reach_bodies(e.plan);
    e.lowering = e.plan->lowering;
    assign_file_names(&e);
    emit(&e);
    out_render(&out, arena_printf(e.mem, "%s.c", emit_stem(&e)), emit != header_emit && !options->no_line, to);
    out_clear(&out);
    plan_destroy(e.plan);
    ptrmap_free(&e.c_names);
    ptrmap_free(&e.kernels);
    ptrmap_free(&e.used);
    ptrmap_free(&e.param_members);
    names_free(&e.names);
    vec_free(&e.sites);
    vec_free(&e.loops);
}

void codegen_c(struct front *front, const struct checked *checked, const struct codegen_options *options,
               struct strbuf *out)
{
    generate(front, checked, options, emit_file, out);
}

void codegen_bodies(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out)
{
    generate(front, checked, options, emit_bodies_file, out);
}

void codegen_header(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *out)
{
    generate(front, checked, options, header_emit, out);
}

void codegen_kernels(struct front *front, const struct checked *checked, const struct codegen_options *options,
                     struct strbuf *out)
{
    generate(front, checked, options, emit_kernels_file, out);
}

void codegen_ascendc(struct front *front, const struct checked *checked, const struct codegen_options *options,
                     struct strbuf *out)
{
    generate(front, checked, options, ascendc_emit, out);
}

void codegen_parts_free(struct codegen_parts *parts)
{
    for (size_t i = 0; i < parts->list.count; i++) {
        strbuf_free(&parts->list.data[i].name);
        strbuf_free(&parts->list.data[i].text);
    }
    vec_free(&parts->list);
}

bool codegen_has_entry(const struct checked *checked)
{
    const struct module *main = checked->modules[0];
    for (int i = 0; i < main->symbol_count; i++)
        if (main->symbols[i]->kind == SYM_ORCH && main->symbols[i]->decl->orch.exported) return true;
    return false;
}
