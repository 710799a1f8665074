/* emit_scratch.c - scratch tensors: their memory in the adapter of a kernel, and their bytes in --emit=bounds.
 * Idea       the adapter asks for the memory before it calls the C function, which is given a scratch tensor as it is
 *            given an argument.
 * Tests      test/lit/run/scratch.pto
 */
#include "emit.h"

static const char tensors[] = "tensors"; /* in the adapter */

bool scratch_is_used(const struct symbol *kernel) { return kernel->declared_count > kernel->formal_count; }

static bool is_scratch(const struct symbol *s) { return s->dir == DIR_SCRATCH; }

/* ---- the adapter ---- */

/* PTO_SCRATCH("t", float, 2, N, 3) */
static const char *tensor_text(struct emitter *e, const struct symbol *t)
{
    STRBUF(b);
    strbuf_printf(&b, "PTO_SCRATCH(%s, %s, %d", c_string(e, t->name), c_elem_type(t->type->elem), t->type->rank);
    for (const struct ast *d = t->decl->formal.type->type_name.dims; d; d = d->next) {
        strbuf_puts(&b, ", ");
        expression_print(e, &b, d, NULL, P_ANY, ARITH_COST);
    }
    strbuf_putc(&b, ')');
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

void scratch_print_argument(struct strbuf *b, int index)
{
    strbuf_printf(b, "%s[%d].memory, %s[%d].stride", tensors, index, tensors, index);
}

void scratch_emit(struct emitter *e, const struct symbol *kernel)
{
    const int count = kernel->declared_count - kernel->formal_count;
    const char *list = "";
    const size_t mark = names_mark(&e->names);
    names_force(&e->names, "a");
    names_force(&e->names, tensors);
    kernel_declare_values(e, kernel);
    for (int i = 0; i < kernel->declared_count; i++)
        if (is_scratch(kernel->declared[i]))
            list = arena_printf(e->mem, "%s%s%s", list, *list ? ", " : "", tensor_text(e, kernel->declared[i]));
    kernel_emit_values(e, kernel);
    out_line(e->out, "PTOScratch %s[] = {%s};", tensors, list);
    out_line(e->out, "if (!pto_scratch_tensors(%s, %d)) return 1;", tensors, count);
    names_close(&e->names, mark);
}

/* ---- bounds ---- */

/* The bytes of all scratch tensors of a task; NULL: they do not fit in 64 bits. */
static const struct size *bytes_of(struct emitter *e, const struct ir_call *call)
{
    struct size_table *sizes = e->checked->sizes;
    const struct symbol *kernel = call->callee, *from[2 * MAX_FORMALS];
    const struct size *to[2 * MAX_FORMALS], *sum = size_const(sizes, 0);
    int count = 0;
    for (int i = 0; i < kernel->dim_count; i++) from[count] = kernel->dims[i], to[count++] = call->binding->dims[i];
    for (int i = 0; i < kernel->formal_count; i++) {
        const struct ast *value = call->binding->values[i];
        if (kernel->formals[i]->type->kind != TYPE_INT || !value || !value->value) continue;
        from[count] = kernel->formals[i];
        to[count++] = value->value;
    }
    for (int i = 0; i < kernel->declared_count && sum; i++) {
        const struct type *t = kernel->declared[i]->type;
        if (!is_scratch(kernel->declared[i])) continue;
        const struct size *bytes = size_const(sizes, elem_bytes(t->elem));
        for (int d = 0; d < t->rank && bytes; d++) {
            const struct size *extent = size_substitute(sizes, t->extent[d], from, to, count);
            bytes = extent ? size_binary(sizes, SIZE_MUL, bytes, extent) : NULL;
        }
        sum = bytes ? size_binary(sizes, SIZE_ADD, sum, bytes) : NULL;
    }
    return sum;
}

void scratch_print_bounds(void *emitter, struct ir_op *op)
{
    struct emitter *e = emitter;
    if (op->kind != IR_SUBMIT || !scratch_is_used(op->call->callee)) return;
    const struct size *bytes = bytes_of(e, op->call);
    const struct span at = op->call->at;
    out_line(e->out, "  scratch of a worker  %s: line %d  %s", bytes ? emit_bytes_text(e, bytes) : "too many bytes",
             source_place(e->front->sources, at.file, at.begin).line, emit_source_text(e, at));
}
