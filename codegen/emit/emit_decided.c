/* emit_decided.c - results of an entry whose extents the run decides.
 * Idea       the entry has a variable for each such extent, and a scope that owns the tensors; when the function has
 *            returned, each of them is copied into the PTOResult of the caller.
 * Tests      test/lit/run/decided-exports.test
 */
#include "emit.h"
#include "sema/decided.h"

uint32_t decided_dims(const struct type *t)
{
    uint32_t bits = 0;
    for (int d = 0; t->kind == TYPE_TENSOR && d < t->rank; d++)
        if (decided_names_number(t->extent[d])) bits |= UINT32_C(1) << d;
    return bits;
}

void decided_begin(struct emitter *e, const struct symbol *orch, struct decided *decided)
{
    const struct symbol *place = orch->result_place;
    decided->count = 0;
    for (int i = 0; place && i < place->decided_count; i++) {
        const struct symbol *number = place->decided[i];
        struct symbol *variable = arena_new(e->mem, struct symbol);
        *variable = *number; /* which is a reference in the function, and here a variable */
        variable->kind = SYM_LET;
        variable->by_reference = false;
        variable->place = NULL;
        decided->from[i] = number;
        decided->to[i] = size_symbol(e->checked->sizes, variable);
        decided->count++;
        out_line(e->out, "int64_t %s = 0;",
                 emit_declare(e, variable, arena_printf(e->mem, "result_%s", number->decided_name)));
    }
    if (decided->count > 0) out_line(e->out, "const PTOScope scope = pto_result_scope(rt);");
}

void decided_emit(struct emitter *e, const struct symbol *result, struct strbuf *call)
{
    const char *name = emit_name(e, result);
    out_line(e->out, "void *%s = NULL; /* %s */", name, type_string(e, result->type));
    strbuf_printf(call, ", (PTOPlace){.ref = &%s, .scope = scope}", name);
}

void decided_print(struct emitter *e, const struct decided *decided, struct strbuf *call)
{
    for (int i = 0; i < decided->count; i++) strbuf_printf(call, ", &%s", emit_name(e, decided->to[i]->symbol));
}

void decided_copy(struct emitter *e, const struct decided *decided, const struct symbol *result)
{
    const struct type *t = result->type;
    const char *name = emit_name(e, result);
    STRBUF(shape);
    if (!decided_dims(t)) return;
    for (int d = 0; d < t->rank; d++) {
        const struct size *extent =
            size_substitute(e->checked->sizes, t->extent[d], decided->from, decided->to, decided->count);
        if (d) strbuf_puts(&shape, ", ");
        size_print(e, &shape, extent ? extent : t->extent[d], P_ANY, ARITH_CHECKED);
    }
    out_line(e->out, "pto_copy_result(rt, a->%s, %s, %s, %s, %d, (const int64_t[]){%s});", name,
             c_string(e, result->name), name, c_elem_constant(t->elem), t->rank, strbuf_text(&shape));
}
