/* types.c - the types of expressions: their names and texts.
 * Idea       a type is a plain struct; its extents are hash-consed sizes, so shapes compare by pointers.
 * Tests      test/lit/sema/
 */
#include "types.h"
#include "support/strbuf.h"
#include "symbol.h"
#include <string.h>

static const struct {
    const char *name;
    int bytes;
} elems[] = {
    [ELEM_NONE] = {"?", 0},  [ELEM_F16] = {"f16", 2},   [ELEM_BF16] = {"bf16", 2}, [ELEM_F32] = {"f32", 4},
    [ELEM_F64] = {"f64", 8}, [ELEM_I8] = {"i8", 1},     [ELEM_I16] = {"i16", 2},   [ELEM_I32] = {"i32", 4},
    [ELEM_I64] = {"i64", 8}, [ELEM_U8] = {"u8", 1},     [ELEM_U16] = {"u16", 2},   [ELEM_U32] = {"u32", 4},
    [ELEM_U64] = {"u64", 8}, [ELEM_BOOL] = {"bool", 1},
};

const char *elem_name(enum elem e) { return elems[e].name; }

const char *type_elem_name(const struct type *t) { return t->variable ? t->variable->name : elem_name(t->elem); }

enum elem elem_named(const char *name)
{
    for (enum elem e = ELEM_F16; e <= ELEM_BOOL; e++)
        if (strcmp(elems[e].name, name) == 0) return e;
    return ELEM_NONE;
}

int elem_bytes(enum elem e) { return elems[e].bytes; }

bool type_is_scalar(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_F64 || t->kind == TYPE_F32 || t->kind == TYPE_BOOL;
}

bool type_is_struct(const struct type *t) { return t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY; }

bool type_is_scalar_array(const struct type *t)
{
    return t->kind == TYPE_TENSOR && t->rank > 0 && t->array_rank == t->rank;
}

static void extents_text(const struct type *t, struct strbuf *out)
{
    strbuf_putc(out, '[');
    for (int i = t->array_rank; i < t->rank; i++) {
        if (i > t->array_rank) strbuf_puts(out, ", ");
        size_text(t->extent[i], out);
    }
    strbuf_putc(out, ']');
}

static void array_text(const struct size *length, struct strbuf *out)
{
    strbuf_puts(out, "array[");
    size_text(length, out);
    strbuf_puts(out, "] of ");
}

void type_text(const struct type *t, struct strbuf *out)
{
    switch (t->kind) {
    case TYPE_ERROR: strbuf_puts(out, "?"); break;
    case TYPE_VOID: strbuf_puts(out, "nothing"); break;
    case TYPE_INT: strbuf_puts(out, "i64"); break;
    case TYPE_F64: strbuf_puts(out, "f64"); break;
    case TYPE_F32: strbuf_puts(out, "f32"); break;
    case TYPE_BOOL: strbuf_puts(out, "bool"); break;
    case TYPE_STRING: strbuf_puts(out, "a string"); break;
    case TYPE_GRID:
        strbuf_puts(out, "a grid ");
        extents_text(t, out);
        strbuf_puts(out, " of ");
        strbuf_puts(out, type_elem_name(t));
        break;
    case TYPE_TENSOR:
        for (int i = 0; i < t->array_rank; i++) array_text(t->extent[i], out);
        strbuf_puts(out, type_elem_name(t));
        if (t->array_rank < t->rank) extents_text(t, out);
        break;
    case TYPE_STRUCT:
        strbuf_puts(out, t->structure->name);
        if (t->rank) extents_text(t, out);
        break;
    case TYPE_ARRAY:
        array_text(t->extent[0], out);
        type_text(t->element, out);
        break;
    }
}
