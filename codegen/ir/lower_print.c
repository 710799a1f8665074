/* lower_print.c - `print` as one operation: a format and its values.
 * Invariant  everything that can fail is evaluated before it, in order: a line is printed whole or not at all.
 * Tests      test/lit/codegen/print.pto, test/lit/run/statements.pto, structs.pto
 */
#include "lower_parts.h"
#include "support/strbuf.h"
#include <string.h>

struct line {
    struct lowering *l;
    struct strbuf format;
    VEC(struct ir_print_value) values;
};

static void add(struct line *line, const char *conversion, enum ir_print_form form, struct ir_value *value)
{
    strbuf_puts(&line->format, conversion);
    vec_push(&line->values, ((struct ir_print_value){form, value}));
}

static void add_size(struct line *line, const struct size *s)
{
    add(line, "%lld", IR_PRINT_INTEGER, lower_size(line->l, s, ARITH_PLAIN));
}

static void add_tensor(struct line *line, const struct type *t)
{
    for (int d = 0; d < t->rank; d++) {
        if (d < t->array_rank)
            strbuf_puts(&line->format, "array[");
        else if (d == t->array_rank)
            strbuf_printf(&line->format, "%s[", elem_name(t->elem));
        else
            strbuf_puts(&line->format, ", ");
        add_size(line, t->extent[d]);
        if (d < t->array_rank) strbuf_puts(&line->format, "] of ");
    }
    strbuf_puts(&line->format, t->array_rank < t->rank ? "]" : elem_name(t->elem));
}

static void add_scalar(struct line *line, const struct type *t, struct ir_value *value)
{
    switch (t->kind) {
    case TYPE_F64: add(line, "%s", IR_PRINT_F64, value); break;
    case TYPE_F32: add(line, "%s", IR_PRINT_F32, value); break;
    case TYPE_BOOL: add(line, "%s", IR_PRINT_BOOLEAN, value); break;
    default: add(line, "%lld", IR_PRINT_INTEGER, value); break;
    }
}

/* The type of a struct in its arrays: `array[3] of Cell`; of one struct, its fields. */
static void add_struct(struct line *line, const struct type *t, const struct symbol *s)
{
    const bool in_array = t->kind == TYPE_ARRAY;
    for (; t->kind == TYPE_ARRAY; t = t->element) {
        strbuf_puts(&line->format, "array[");
        add_size(line, t->extent[0]);
        strbuf_puts(&line->format, "] of ");
    }
    strbuf_puts(&line->format, t->structure->name);
    if (in_array) return;
    for (int i = 0; i < s->field_count; i++) {
        const struct symbol *f = s->fields[i];
        strbuf_printf(&line->format, "%s%s: ", i ? ", " : "{", t->structure->formals[i]->name);
        if (f->type->kind == TYPE_TENSOR)
            add_tensor(line, f->type);
        else if (type_is_struct(f->type))
            add_struct(line, f->type, f);
        else
            add_scalar(line, f->type, f->region ? lower_stored_element(line->l, f->region) : lower_symbol(line->l, f));
    }
    strbuf_puts(&line->format, s->field_count ? "}" : "{}");
}

/* printf ends at a NUL, so each NUL of a string is a conversion of its own. */
static void add_string(struct line *line, const char *text, size_t length)
{
    if (strlen(text) == length) {
        format_text(&line->format, text);
        return;
    }
    for (size_t at = 0; at <= length; at += strlen(text + at) + 1) {
        format_text(&line->format, text + at);
        if (at + strlen(text + at) == length) return;
        add(line, "%c", IR_PRINT_NUL, NULL);
    }
}

/* A value that can fail is taken before the line, with its own site. */
static void add_value(struct line *line, struct ast *v)
{
    struct lowering *l = line->l;
    struct ir_value *value = lower_value(l, v);
    if (ir_may_fail(value)) {
        const bool can_fail = ir_can_fail(value);
        lower_site_of(l, value, v->at, "print");
        value = ir_of_temporary(l->mem, lower_let(l, "value", v->type, value, true));
        l->block->last->let.taken = can_fail ? NULL : value;
    }
    add_scalar(line, v->type, value);
}

static void prepare(struct lowering *l, const struct ast *n)
{
    const bool several = n->print.values && n->print.values->next;
    for (struct ast *v = n->print.values; v; v = v->next) {
        if (v->bad || v->kind == AST_STRING || type_is_scalar(v->type))
            lower_prepare(l, v);
        else
            lower_prepare_named(l, v);
        use_printed(l, v);
        if (several && !l->is_expression && type_is_scalar(v->type)) lower_keep(l, v);
    }
}

void lower_print(struct lowering *l, struct ast *n)
{
    struct line line = {.l = l};
    prepare(l, n);
    if (l->f->is_broken) return;
    lower_statement_checks(l, n, "print");
    lower_later_checks(l, n, checks_of(n) ? NULL : "print");
    for (struct ast *v = n->print.values; v; v = v->next) {
        if (v != n->print.values) strbuf_putc(&line.format, ' ');
        if (v->kind == AST_STRING)
            add_string(&line, v->string.text, v->string.length);
        else if (v->type->kind == TYPE_TENSOR)
            add_tensor(&line, v->type);
        else if (type_is_struct(v->type))
            add_struct(&line, v->type, v->symbol);
        else
            add_value(&line, v);
    }
    strbuf_putc(&line.format, '\n');
    struct ir_op *op = lower_op(l, IR_PRINT);
    op->print.format = arena_copy(l->mem, strbuf_text(&line.format), line.format.length);
    op->print.count = (int)line.values.count;
    op->print.values = arena_array(l->mem, struct ir_print_value, line.values.count);
    for (size_t i = 0; i < line.values.count; i++) op->print.values[i] = line.values.data[i];
    vec_free(&line.values);
    strbuf_free(&line.format);
}
