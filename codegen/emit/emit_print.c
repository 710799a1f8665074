/* emit_print.c - `print` as one printf.
 * Idea       what is printed of each value goes to a format and to its arguments; the call comes last.  Floats go by helpers of the
 *            runtime that write the shortest text.
 * Invariant  everything that can fail stands before the call, in order: a line is printed whole or not at all.
 * Tests      test/lit/codegen/print.pto, test/lit/run/statements.pto, structs.pto
 */
#include "emit.h"
#include <string.h>

struct line {
    struct strbuf format, args;
};

static void add_integer(struct emitter *e, struct line *l, const struct size *value)
{
    strbuf_puts(&l->format, "%lld");
    strbuf_puts(&l->args, ", (long long)");
    print_size(e, &l->args, value, P_UNARY, ARITH_PLAIN);
}

static void add_tensor(struct emitter *e, struct line *l, const struct type *t)
{
    for (int d = 0; d < t->rank; d++) {
        if (d < t->array_rank) strbuf_puts(&l->format, "array[");
        else if (d == t->array_rank) strbuf_printf(&l->format, "%s[", elem_name(t->elem));
        else strbuf_puts(&l->format, ", ");
        add_integer(e, l, t->extent[d]);
        if (d < t->array_rank) strbuf_puts(&l->format, "] of ");
    }
    strbuf_puts(&l->format, t->array_rank < t->rank ? "]" : elem_name(t->elem));
}

/* value: binds like a cast's operand. */
static void add_scalar(struct line *l, const struct type *t, const char *value)
{
    static const char *const argument[] = {[TYPE_INT] = ", (long long)%s", [TYPE_F64] = ", PTO_F64_TEXT(%s)",
                                           [TYPE_F32] = ", PTO_F32_TEXT(%s)", [TYPE_BOOL] = ", %s ? \"true\" : \"false\""};
    strbuf_puts(&l->format, t->kind == TYPE_INT ? "%lld" : "%s");
    const char *form = argument[t->kind], *hole = strstr(form, "%s");
    strbuf_printf(&l->args, "%.*s%s%s", (int)(hole - form), form, value, hole + 2);
}

/* The type of a struct in its arrays: `array[3] of Cell`; of one struct, its fields. */
static void add_struct(struct emitter *e, struct line *l, const struct type *t, const struct symbol *s)
{
    const bool in_array = t->kind == TYPE_ARRAY;
    for (; t->kind == TYPE_ARRAY; t = t->element) {
        strbuf_puts(&l->format, "array[");
        add_integer(e, l, t->extent[0]);
        strbuf_puts(&l->format, "] of ");
    }
    strbuf_puts(&l->format, t->structure->name);
    if (in_array) return;
    for (int i = 0; i < s->field_count; i++) {
        const struct symbol *f = s->fields[i];
        struct strbuf value = {0};
        strbuf_printf(&l->format, "%s%s: ", i ? ", " : "{", t->structure->formals[i]->name);
        if (f->type->kind == TYPE_TENSOR) {
            add_tensor(e, l, f->type);
        } else if (type_is_struct(f->type)) {
            add_struct(e, l, f->type, f);
        } else {
            if (f->region) print_element_of(e, &value, f->region);
            else print_symbol(e, &value, f, P_UNARY);
            add_scalar(l, f->type, strbuf_text(&value));
        }
        strbuf_free(&value);
    }
    strbuf_puts(&l->format, s->field_count ? "}" : "{}");
}

/* printf ends at a NUL, so a string that has one is an argument of its own. */
static void add_string(struct line *l, const char *text, size_t length)
{
    if (strlen(text) == length) {
        print_format_text(&l->format, text);
        return;
    }
    for (size_t at = 0; at <= length; at += strlen(text + at) + 1) {
        print_format_text(&l->format, text + at);
        if (at + strlen(text + at) == length) return;
        strbuf_puts(&l->format, "%c");
        strbuf_puts(&l->args, ", 0");
    }
}

/* A value that can fail is taken before the line, at its own place in the text. */
static void add_value(struct emitter *e, struct line *l, struct ast *v)
{
    struct strbuf value = {0};
    e->uses_rt = false;
    expr_print(e, &value, v, v->type->kind == TYPE_F64 || v->type->kind == TYPE_F32 ? P_ANY : P_UNARY);
    if (e->uses_rt) {
        const char *name = names_take(&e->names, "value");
        emit_mark_site(e, v->at, "print");
        out_line(e->out, "const %s %s = %s;", c_scalar_type(v->type), name, strbuf_text(&value));
        add_scalar(l, v->type, name);
    } else {
        add_scalar(l, v->type, strbuf_text(&value));
    }
    strbuf_free(&value);
}

void emit_print(struct emitter *e, struct ast *n)
{
    const bool several = n->print.values && n->print.values->next;
    struct line l = {0};
    for (struct ast *v = n->print.values; v; v = v->next) {
        if (v->type->kind == TYPE_TENSOR || type_is_struct(v->type)) place_prepare(e, v);
        if (!type_is_scalar(v->type)) continue;
        expr_prepare(e, v);
        if (several) expr_keep(e, v);
    }
    emit_statement_checks(e, n, "print");
    for (struct ast *v = n->print.values; v; v = v->next) {
        if (v != n->print.values) strbuf_putc(&l.format, ' ');
        if (v->kind == AST_STRING) {
            add_string(&l, v->string.text, v->string.length);
        } else if (v->type->kind == TYPE_TENSOR) {
            add_tensor(e, &l, v->type);
        } else if (type_is_struct(v->type)) {
            add_struct(e, &l, v->type, v->symbol);
        } else {
            add_value(e, &l, v);
        }
    }
    strbuf_putc(&l.format, '\n');
    out_line(e->out, "printf(%s%s);", c_string(e, strbuf_text(&l.format)), strbuf_text(&l.args));
    strbuf_free(&l.format);
    strbuf_free(&l.args);
}
