/* short_rows.c - tensors whose last dimension is short and constant, as the channels of a pixel.
 * Idea       the rows of such a tensor are mostly contiguous.  Then the stride from row to row is a constant of the
 *            type, and a C compiler makes vectors of the elements of several rows.  So a kernel with such formals has
 *            one more version, in which those strides are constants.
 * Invariant  the versions compute the same.
 * Tests      test/lit/codegen/index-short-rows.pto, test/lit/run/index-short-rows.pto
 */
#include "parts.h"

enum { SHORT_ROW = 8, FEW_ROWS = 16 };

/* Rows that are few are no vectors in either version. */
static int64_t short_row(const struct symbol *formal)
{
    const struct type *type = formal->type;
    int64_t elements, rows;
    if (type->kind != TYPE_TENSOR || type->rank < 2) return 0;
    if (!size_is_const(type->extent[type->rank - 1], &elements) || elements < 1 || elements > SHORT_ROW) return 0;
    return size_is_const(type->extent[type->rank - 2], &rows) && rows <= FEW_ROWS ? 0 : elements;
}

const char *equation_short_rows(struct eq_printer *p)
{
    const struct symbol *k = p->q->kernel;
    const char *text = NULL;
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *s = k->formals[i];
        const int64_t row = short_row(s);
        if (row == 0) continue;
        text = arena_printf(p->e->mem, "%s%s%s[%d] == %d", text ? text : "", text ? " && " : "", equation_strides(p, s),
                            s->type->rank - 2, (int)row);
    }
    return text;
}

const char *equation_row_strides(struct eq_printer *p, const struct symbol *formal)
{
    const char *strides = equation_strides(p, formal), *text = "(const int64_t[]){";
    const int64_t row = short_row(formal);
    if (row == 0) return strides;
    for (int d = 0; d < formal->type->rank - 2; d++) text = arena_printf(p->e->mem, "%s%s[%d], ", text, strides, d);
    return arena_printf(p->e->mem, "%s%d, 1}", text, (int)row);
}
