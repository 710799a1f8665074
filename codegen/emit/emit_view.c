/* emit_view.c - types, tensors and views as C.
 * Tests      test/lit/codegen/
 */
#include "emit.h"
#include <inttypes.h>
#include <string.h>

static const struct {
    const char *type, *constant;
} elems[] = {
    [ELEM_NONE] = {"void", "PTO_BYTE"},   [ELEM_F16] = {"_Float16", "PTO_F16"}, [ELEM_BF16] = {"uint16_t", "PTO_BF16"},
    [ELEM_F32] = {"float", "PTO_F32"},    [ELEM_F64] = {"double", "PTO_F64"},   [ELEM_I8] = {"int8_t", "PTO_I8"},
    [ELEM_I16] = {"int16_t", "PTO_I16"},  [ELEM_I32] = {"int32_t", "PTO_I32"},  [ELEM_I64] = {"int64_t", "PTO_I64"},
    [ELEM_U8] = {"uint8_t", "PTO_U8"},    [ELEM_U16] = {"uint16_t", "PTO_U16"}, [ELEM_U32] = {"uint32_t", "PTO_U32"},
    [ELEM_U64] = {"uint64_t", "PTO_U64"}, [ELEM_BOOL] = {"bool", "PTO_BOOL"},
};

const char *c_elem_type(enum elem elem) { return elems[elem].type; }
const char *c_elem_constant(enum elem elem) { return elems[elem].constant; }

const char *scalar_member(const struct type *t)
{
    switch (t->kind) {
    case TYPE_F64: return "f64";
    case TYPE_F32: return "f32";
    case TYPE_BOOL: return "b";
    default: return "i64";
    }
}

const char *scalar_constant(const struct type *t)
{
    switch (t->kind) {
    case TYPE_F64: return "PTO_F64";
    case TYPE_F32: return "PTO_F32";
    case TYPE_BOOL: return "PTO_BOOL";
    default: return "PTO_I64";
    }
}

const char *c_scalar_type(const struct type *t)
{
    switch (t->kind) {
    case TYPE_F64: return "double";
    case TYPE_F32: return "float";
    case TYPE_BOOL: return "bool";
    default: return "int64_t";
    }
}

const char *type_string(struct emitter *e, const struct type *t)
{
    STRBUF(b);
    type_text(t, &b);
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

void print_int(struct strbuf *b, int64_t value, enum precedence prec)
{
    if (value == INT64_MIN)
        strbuf_puts(b, "INT64_MIN");
    else if (value < 0 && prec >= P_ADD)
        strbuf_printf(b, "(%" PRId64 ")", value);
    else
        strbuf_printf(b, "%" PRId64, value);
}

/* ---- views ---- */

const char *result_name(struct emitter *e, const struct symbol *base) { return emit_name(e, base->place); }

void print_base(struct emitter *e, struct strbuf *b, const struct region *r)
{
    if (r->base->place)
        strbuf_printf(b, "*(void **)%s.ref", result_name(e, r->base));
    else if (r->base->kind == SYM_FORMAL)
        strbuf_printf(b, "%s.base", emit_name(e, r->base));
    else
        strbuf_puts(b, emit_name(e, r->base));
}

void print_ref(struct emitter *e, struct strbuf *b, const struct symbol *base)
{
    if (base->place)
        strbuf_printf(b, "%s.ref", result_name(e, base));
    else if (base->kind == SYM_FORMAL)
        strbuf_printf(b, "&%s.base", emit_name(e, base));
    else
        strbuf_printf(b, "&%s", emit_name(e, base));
}

void print_values(struct emitter *e, struct strbuf *b, struct ir_value *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (i) strbuf_puts(b, ", ");
        value_print(e, b, list[i], P_ANY);
    }
}

void print_view(struct emitter *e, struct strbuf *b, const struct ir_view *v)
{
    const char *elem = c_elem_constant(v->region->base->type->elem);
    if (v->region->rank == 0) { /* one element */
        strbuf_printf(b, "PTO_ARRAY(%s, 1)", elem);
        return;
    }
    if (v->region->contiguous) {
        strbuf_printf(b, "PTO_ARRAY(%s, ", elem);
        print_values(e, b, v->extent, v->region->rank);
        strbuf_putc(b, ')');
        return;
    }
    strbuf_printf(b, "PTO_STRIDED(%s, (", elem);
    print_values(e, b, v->extent, v->region->rank);
    strbuf_puts(b, "), (");
    print_values(e, b, v->stride, v->region->rank);
    strbuf_puts(b, "))");
}

void print_param(struct emitter *e, struct strbuf *b, const struct ir_view *v)
{
    strbuf_puts(b, "&(PTOTaskParam)PTO_INPUT(");
    print_base(e, b, v->region);
    strbuf_puts(b, ", ");
    value_print(e, b, v->offset, P_ANY);
    strbuf_puts(b, ", ");
    print_view(e, b, v);
    strbuf_putc(b, ')');
}

void print_tensor(struct emitter *e, struct strbuf *b, const struct ir_view *v, bool is_moved)
{
    const struct region *r = v->region;
    if (r->whole && r->base->kind == SYM_FORMAL && !r->base->place && r->rank == r->base->type->rank) {
        strbuf_puts(b, emit_name(e, r->base)); /* borrowed as it is */
        return;
    }
    strbuf_puts(b, "(PTOView){");
    if (is_moved && r->base->exchange) /* the name gets another buffer some time */
        strbuf_printf(b, "pto_take(&%s)", emit_name(e, r->base));
    else
        print_base(e, b, r);
    strbuf_puts(b, ", ");
    value_print(e, b, v->offset, P_ANY);
    strbuf_puts(b, ", {");
    print_values(e, b, v->stride, r->rank);
    strbuf_puts(b, "}}");
}
