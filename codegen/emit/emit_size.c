/* emit_size.c - sizes, types and regions as C.
 * Idea       a size is printed as a person would write it: positive terms first, factors before constants.
 * Tests      test/lit/codegen/
 */
#include "emit.h"
#include <inttypes.h>
#include <string.h>

static const struct { const char *type, *constant; } elems[] = {
    [ELEM_NONE] = {"void", "PTO_BYTE"},    [ELEM_F16] = {"_Float16", "PTO_F16"}, [ELEM_BF16] = {"uint16_t", "PTO_BF16"},
    [ELEM_F32] = {"float", "PTO_F32"},     [ELEM_F64] = {"double", "PTO_F64"},   [ELEM_I8] = {"int8_t", "PTO_I8"},
    [ELEM_I16] = {"int16_t", "PTO_I16"},   [ELEM_I32] = {"int32_t", "PTO_I32"},  [ELEM_I64] = {"int64_t", "PTO_I64"},
    [ELEM_U8] = {"uint8_t", "PTO_U8"},     [ELEM_U16] = {"uint16_t", "PTO_U16"}, [ELEM_U32] = {"uint32_t", "PTO_U32"},
    [ELEM_U64] = {"uint64_t", "PTO_U64"},  [ELEM_BOOL] = {"bool", "PTO_BOOL"},
};

const char *c_elem_type(enum elem elem) { return elems[elem].type; }
const char *c_elem_constant(enum elem elem) { return elems[elem].constant; }

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
    struct strbuf b = {0};
    type_text(t, &b);
    const char *text = arena_copy(e->mem, strbuf_text(&b), b.length);
    strbuf_free(&b);
    return text;
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

/* ---- sizes ---- */

static bool is_negative_term(const struct size *s)
{
    return (s->kind == SIZE_CONST && s->value < 0 && s->value != INT64_MIN) ||
           (s->kind == SIZE_MUL && s->arg[0]->kind == SIZE_CONST && s->arg[0]->value < 0 && s->arg[0]->value != INT64_MIN);
}

/* A product; sign -1 prints its opposite.  Constants go last: `i * 64`. */
static struct interval print_product(struct emitter *e, struct strbuf *b, const struct size *s, int sign, enum precedence *prec,
                                     enum arithmetic mode)
{
    const struct size *const *arg = s->kind == SIZE_MUL ? s->arg : &s;
    int count = s->kind == SIZE_MUL ? s->count : 1;
    int64_t factor = sign;
    if (arg[0]->kind == SIZE_CONST) {
        factor = arg[0]->value * sign;
        arg++, count--;
    }
    if (count == 0) {
        print_int(b, factor, P_ANY);
        *prec = factor < 0 ? P_UNARY : P_POSTFIX;
        return (struct interval){factor, factor};
    }
    if (factor == -1) {
        struct strbuf zero = {0};
        strbuf_puts(b, "0");
        *prec = P_POSTFIX;
        struct interval range = {0, 0};
        enum precedence inner;
        struct interval r = print_product(e, &zero, s, -sign, &inner, mode);
        print_apply(e, b, &range, prec, OP_SUB, &zero, r, inner, mode);
        strbuf_free(&zero);
        return range;
    }
    /* As a person would write it: `i * 64 * A.s[1]`. */
    struct interval range = {0, 0};
    bool first = true;
    *prec = P_MUL;
    for (int turn = 0; turn < 3; turn++) /* indices, the constant, strides */
        for (int i = 0; i < count; i++) {
            struct strbuf text = {0};
            struct interval r = {factor, factor};
            bool is_stride = arg[i]->kind == SIZE_STRIDE;
            if (turn == 1 ? i > 0 || factor == 1 : is_stride != (turn == 2)) continue;
            if (turn == 1) print_int(&text, factor, P_MUL);
            else print_size(e, &text, arg[i], first ? P_MUL : P_UNARY, mode);
            if (turn != 1) r = range_of_size(e->plan, arg[i]);
            if (first) strbuf_puts(b, strbuf_text(&text)), range = r;
            else print_apply(e, b, &range, prec, OP_MUL, &text, r, P_POSTFIX, mode);
            first = false;
            strbuf_free(&text);
        }
    return range;
}

static void print_sum(struct emitter *e, struct strbuf *out, const struct size *s, enum precedence outer, enum arithmetic mode)
{
    struct strbuf b = {0};
    struct interval range = {0, 0};
    enum precedence prec = P_POSTFIX;
    bool first = true;
    for (int turn = 0; turn < 3; turn++) /* positive, negative, constant */
        for (int i = 0; i < s->count; i++) {
            const struct size *term = s->arg[i];
            bool negative = is_negative_term(term);
            int when = term->kind == SIZE_CONST ? 2 : negative;
            if (when != turn) continue;
            if (first && !negative) {
                range = print_product(e, &b, term, 1, &prec, mode);
                first = false;
                continue;
            }
            if (first) strbuf_puts(&b, "0"), first = false;
            struct strbuf text = {0};
            enum precedence p;
            struct interval r = print_product(e, &text, term, negative ? -1 : 1, &p, mode);
            print_apply(e, &b, &range, &prec, negative ? OP_SUB : OP_ADD, &text, r, p, mode);
            strbuf_free(&text);
        }
    strbuf_printf(out, prec < outer ? "(%s)" : "%s", strbuf_text(&b));
    strbuf_free(&b);
}

static void print_function(struct emitter *e, struct strbuf *b, const char *name, bool needs_rt, const struct size *s,
                           enum arithmetic mode)
{
    if (mode == ARITH_PLAIN) mode = ARITH_CHECKED;
    if (needs_rt) strbuf_printf(b, "%s%s(%s", arithmetic_prefix(mode), name, arithmetic_first(mode));
    else strbuf_printf(b, "pto_%s(", name);
    e->uses_rt |= needs_rt && mode == ARITH_CHECKED;
    for (int i = 0; i < s->count; i++) {
        if (i) strbuf_puts(b, ", ");
        print_size(e, b, s->arg[i], P_ANY, mode);
    }
    strbuf_putc(b, ')');
}

void print_size(struct emitter *e, struct strbuf *b, const struct size *s, enum precedence prec, enum arithmetic mode)
{
    switch (s->kind) {
    case SIZE_CONST: print_int(b, s->value, prec); break;
    case SIZE_SYMBOL: print_symbol(e, b, s->symbol, prec); break;
    case SIZE_STRIDE: case SIZE_AT: {
        const char *name = emit_name(e, s->symbol);
        if (s->kind == SIZE_AT) strbuf_printf(b, "%s.at", name);
        else strbuf_printf(b, "%s.s[%d]", name, s->dim);
        break;
    }
    case SIZE_EXTENT: {
        const char *name = ptrmap_get(&e->c_names, &s->symbol->captured[s->dim]);
        if (!name) emit_unsupported(e, s->symbol->decl->at, "a size that is used before it is stored");
        ptrmap_set(&e->used, &s->symbol->captured[s->dim], e);
        strbuf_puts(b, name ? name : "0");
        break;
    }
    case SIZE_ADD: print_sum(e, b, s, prec, mode); break;
    case SIZE_MUL: {
        struct strbuf text = {0};
        enum precedence p;
        print_product(e, &text, s, 1, &p, mode);
        strbuf_printf(b, p < prec ? "(%s)" : "%s", strbuf_text(&text));
        strbuf_free(&text);
        break;
    }
    case SIZE_DIV: case SIZE_MOD: {
        struct strbuf left = {0}, right = {0};
        struct interval range = range_of_size(e->plan, s->arg[0]);
        enum precedence p = P_MUL;
        print_size(e, &left, s->arg[0], P_MUL, mode);
        print_size(e, &right, s->arg[1], P_UNARY, mode);
        print_apply(e, &left, &range, &p, s->kind == SIZE_DIV ? OP_DIV : OP_MOD, &right, range_of_size(e->plan, s->arg[1]), P_POSTFIX,
                    mode == ARITH_PLAIN ? ARITH_CHECKED : mode);
        strbuf_printf(b, p < prec ? "(%s)" : "%s", strbuf_text(&left));
        strbuf_free(&left);
        strbuf_free(&right);
        break;
    }
    case SIZE_MINIMUM: print_function(e, b, "min", false, s, mode); break;
    case SIZE_MAXIMUM: print_function(e, b, "max", false, s, mode); break;
    case SIZE_CEIL_DIV: print_function(e, b, "ceil_div", true, s, mode); break;
    case SIZE_ABS: print_function(e, b, "abs", true, s, mode); break;
    case SIZE_LOG2: print_function(e, b, "log2", true, s, mode); break;
    }
}

/* ---- regions ---- */

const char *result_name(struct emitter *e, const struct symbol *base)
{
    return emit_name(e, base->place);
}

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

static void print_list(struct emitter *e, struct strbuf *b, const struct size *const *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (i) strbuf_puts(b, ", ");
        print_size(e, b, list[i], P_ANY, ARITH_PLAIN);
    }
}

void print_view(struct emitter *e, struct strbuf *b, const struct region *r)
{
    const char *elem = c_elem_constant(r->base->type->elem);
    if (r->contiguous) {
        strbuf_printf(b, "PTO_ARRAY(%s, ", elem);
        print_list(e, b, r->extent, r->rank);
        strbuf_putc(b, ')');
        return;
    }
    strbuf_printf(b, "PTO_STRIDED(%s, (", elem);
    print_list(e, b, r->extent, r->rank);
    strbuf_puts(b, "), (");
    print_list(e, b, r->stride, r->rank);
    strbuf_puts(b, "))");
}

void print_tensor(struct emitter *e, struct strbuf *b, const struct region *r)
{
    if (r->whole && r->base->kind == SYM_FORMAL && !r->base->place && r->rank == r->base->type->rank) {
        strbuf_puts(b, emit_name(e, r->base)); /* borrowed as it is */
        return;
    }
    strbuf_puts(b, "(PTOTensor){");
    print_base(e, b, r);
    strbuf_puts(b, ", ");
    print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
    strbuf_puts(b, ", {");
    print_list(e, b, r->stride, r->rank);
    strbuf_puts(b, "}}");
}

void print_bytes(struct emitter *e, struct strbuf *b, const struct type *t)
{
    struct interval range = {elem_bytes(t->elem), elem_bytes(t->elem)};
    enum precedence prec = P_POSTFIX;
    struct strbuf total = {0};
    /* A product of constants alone would be an int. */
    int64_t constant = range.lo, extent;
    for (int d = 0; d < t->rank && constant <= INT32_MAX; d++)
        if (size_is_const(t->extent[d], &extent) && extent > 0) constant = extent > INT32_MAX ? extent : constant * extent;
    if (constant > INT32_MAX) strbuf_puts(&total, "(int64_t)");
    print_int(&total, range.lo, P_ANY);
    for (int d = 0; d < t->rank; d++) {
        struct strbuf text = {0};
        print_size(e, &text, t->extent[d], P_UNARY, ARITH_CHECKED);
        print_apply(e, &total, &range, &prec, OP_MUL, &text, range_of_size(e->plan, t->extent[d]), P_POSTFIX, ARITH_CHECKED);
        strbuf_free(&text);
    }
    strbuf_puts(b, strbuf_text(&total));
    strbuf_free(&total);
}

const struct region *region_of_all(struct emitter *e, const struct symbol *s)
{
    struct region *r = arena_new(e->mem, struct region);
    struct size_table *sizes = e->checked->sizes;
    const struct symbol *place = s->kind == SYM_FORMAL ? s : s->place; /* then where it lies is the caller's to choose */
    r->base = (struct symbol *)s;
    r->offset = place ? size_leaf(sizes, SIZE_AT, place, 0) : size_const(sizes, 0);
    r->rank = s->type->rank;
    r->contiguous = !place;
    r->whole = true;
    const struct size *stride = size_const(sizes, 1);
    for (int d = r->rank; d-- > 0;) {
        r->extent[d] = s->type->extent[d];
        r->stride[d] = place ? size_leaf(sizes, SIZE_STRIDE, place, d) : stride;
        if (stride && d > 0) stride = size_binary(sizes, SIZE_MUL, stride, r->extent[d]);
        if (!stride) stride = size_const(sizes, 0); /* such a tensor cannot be allocated, which the run time says */
    }
    return r;
}
