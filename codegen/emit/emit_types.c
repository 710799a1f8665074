/* emit_types.c - --emit=types: every declaration with the type that was found for it.
 * Idea       modules in the order of their import, std/ left out; under a function what it declares, in source order.
 *            Known values and extents are shown, in the program's own names.
 * Tests      test/lit/codegen/emit-types.pto
 */
#include "codegen.h"
#include "emit.h"
#include <inttypes.h>
#include <string.h>

static int line_of(struct emitter *e, struct span at)
{
    return source_place(e->front->sources, at.file, at.begin).line;
}

static const char *value_text(struct emitter *e, const struct symbol *s)
{
    STRBUF(b);
    const enum type_kind kind = s->type->kind;
    if (s->has_value && kind == TYPE_BOOL)
        strbuf_puts(&b, s->int_value ? " = true" : " = false");
    else if (s->has_value && kind == TYPE_INT)
        strbuf_printf(&b, " = %" PRId64, s->int_value);
    else if (s->has_value && (kind == TYPE_F32 || kind == TYPE_F64))
        strbuf_printf(&b, " = %.17g", s->real_value);
    else if (s->kind == SYM_PARAM && s->decl->decl.value)
        strbuf_printf(&b, " = %s, unless set", emit_source_text(e, s->decl->decl.value->at));
    else if (s->kind == SYM_LET && s->definition && kind == TYPE_INT) {
        strbuf_puts(&b, " = ");
        size_text(s->definition, &b);
    } else if (s->region && s->region->base != s) {
        strbuf_printf(&b, "  of %s", s->region->base->name);
        for (int i = 0; kind == TYPE_GRID && i < s->type->rank; i++) {
            strbuf_puts(&b, i ? ", " : ", tiles [");
            size_text(s->type->tile[i], &b);
        }
        if (kind == TYPE_GRID) strbuf_putc(&b, ']');
    } else if (s->alias_of) {
        strbuf_printf(&b, "  of %s", s->alias_of->name);
    }
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

static void print_name(struct emitter *e, struct span at, const char *indent, const char *what, const struct symbol *s)
{
    out_line(e->out, "%5d  %s%s%s: %s%s", line_of(e, at), indent, what, s->name, type_string(e, s->type),
             value_text(e, s));
}

static bool print_local(void *cx, struct ast *n)
{
    struct emitter *e = cx;
    switch (n->kind) {
    case AST_LET: print_name(e, n->name_at, "  ", "let ", n->symbol); break;
    case AST_VAR: print_name(e, n->name_at, "  ", "var ", n->symbol); break;
    case AST_VIEW: print_name(e, n->name_at, "  ", "view ", n->symbol); break;
    case AST_FOR: print_name(e, n->name_at, "  ", "for ", n->symbol); break;
    default: break;
    }
    return true;
}

static void print_formals(struct emitter *e, const struct symbol *s)
{
    for (int i = 0; i < s->dim_count; i++)
        print_name(e, s->dims[i]->decl ? s->dims[i]->decl->at : s->decl->at, "  ", "dim ", s->dims[i]);
    for (int i = 0; i < s->formal_count; i++) {
        const struct symbol *f = s->formals[i];
        const char *dir = direction_text(f->dir);
        print_name(e, f->decl->name_at, "  ", *dir ? arena_printf(e->mem, "%s ", dir) : "", f);
    }
}

static void print_item(struct emitter *e, const struct symbol *s)
{
    const int line = line_of(e, s->decl->name_at);
    switch (s->kind) {
    case SYM_CONST: print_name(e, s->decl->name_at, "", "const ", s); break;
    case SYM_PARAM: print_name(e, s->decl->name_at, "", "param ", s); break;
    case SYM_STRUCT:
    case SYM_KERNEL: {
        const bool is_kernel = s->kind == SYM_KERNEL;
        const char *on =
            is_kernel && s->decl->kernel->worker ? arena_printf(e->mem, " on %s", s->decl->kernel->worker) : "";
        out_line(e->out, "%5d  %s %s%s", line, is_kernel ? "kernel" : "struct", s->name, on);
        for (int i = 0; i < s->elem_count; i++)
            out_line(e->out, "%5d    elements %s: %s", line_of(e, s->elems[i]->decl->at), s->elems[i]->name,
                     s->elems[i]->decl->generic.elements);
        print_formals(e, s);
        for (const struct symbol *k = s->instances; k; k = k->next_instance)
            out_line(e->out, "%5d    instance %s", line, k->name);
        break;
    }
    case SYM_ORCH: {
        const char *result =
            s->result && s->result->kind != TYPE_VOID ? arena_printf(e->mem, " -> %s", type_string(e, s->result)) : "";
        out_line(e->out, "%5d  %sorch %s%s", line, s->decl->orch.exported ? "export " : "", s->name, result);
        print_formals(e, s);
        ast_walk(s->decl->orch.body, print_local, e);
        break;
    }
    default: break;
    }
}

void codegen_types(struct front *front, const struct checked *checked, const struct codegen_options *options,
                   struct strbuf *to)
{
    (void)options;
    struct out out = {0};
    struct emitter e = {.front = front, .checked = checked, .mem = front->mem, .out = &out};
    for (int m = 0; m < checked->module_count; m++) {
        const struct module *module = checked->modules[m];
        if (module_is_std(module)) continue;
        out_line(e.out, "%s", module->path);
        for (int i = 0; i < module->symbol_count; i++)
            for (const struct symbol *s = module->symbols[i]; s; s = s->next_overload) print_item(&e, s);
    }
    out_render(&out, "", false, to);
    out_clear(&out);
}
