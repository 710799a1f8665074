/* sizes.c - integers that are sizes, and the addresses that are made of them.
 * Idea       an index of extents and loops is proved or tested to be inside of its tensor, so an address is plain
 *            arithmetic; a size that is a value, or that a scalar moves, may be any number and is computed modulo 2^64.
 * Tests      test/lit/run/index-notation.test
 */
#include "parts.h"
#include <inttypes.h>

const struct size *equation_canonical(const struct eq_printer *p, const struct size *s)
{
    const struct size *same = p->same_count ? size_substitute(p->sizes, s, p->from, p->to, p->same_count) : s;
    return same ? same : s;
}

/* Is it made of extents and loops, and of constants that leave room for them? */
static bool is_bounded(const struct size *s)
{
    if (s->kind == SIZE_CONST) return s->value > INT64_MIN / 2 && s->value < INT64_MAX / 2;
    if (s->kind == SIZE_SYMBOL) return s->symbol->kind == SYM_DIM || s->symbol->kind == SYM_LOOP;
    for (int i = 0; i < s->count; i++)
        if (!is_bounded(s->arg[i])) return false;
    return true;
}

static const char *calls[] = {
    [SIZE_DIV] = "pto_quotient",    [SIZE_MOD] = "pto_remainder",    [SIZE_MINIMUM] = "pto_min_i64",
    [SIZE_MAXIMUM] = "pto_max_i64", [SIZE_CEIL_DIV] = "pto_ceiling", [SIZE_LOG2] = "pto_whole_log2",
    [SIZE_ABS] = "pto_abs_i64"};

static void print(struct eq_printer *p, struct strbuf *b, const struct size *s, enum precedence prec, bool wraps);

static bool is_negative(const struct size *s)
{
    const struct size *first = s->kind == SIZE_MUL ? s->arg[0] : s;
    return first->kind == SIZE_CONST && first->value < 0 && first->value != INT64_MIN;
}

/* |s| of a negative term */
static void print_opposite(struct eq_printer *p, struct strbuf *b, const struct size *s, bool wraps)
{
    if (s->kind == SIZE_CONST) {
        print_int(b, -s->value, P_MUL);
        return;
    }
    const int64_t factor = -s->arg[0]->value;
    for (int i = 1; i < s->count; i++) {
        if (i > 1) strbuf_puts(b, " * ");
        print(p, b, s->arg[i], P_MUL, wraps);
    }
    if (factor != 1) {
        strbuf_puts(b, " * ");
        print_int(b, factor, P_UNARY);
    }
}

static void print_sum(struct eq_printer *p, struct strbuf *b, const struct size *s, bool wraps)
{
    bool any = false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->count; i++) {
            if (is_negative(s->arg[i]) != (pass == 1)) continue;
            if (pass == 1) {
                strbuf_puts(b, any ? " - " : wraps ? "0u - " : "-");
                print_opposite(p, b, s->arg[i], wraps);
            } else {
                if (any) strbuf_puts(b, " + ");
                print(p, b, s->arg[i], P_ADD, wraps);
            }
            any = true;
        }
}

static void print_product(struct eq_printer *p, struct strbuf *b, const struct size *s, bool wraps)
{
    const bool has_factor = s->arg[0]->kind == SIZE_CONST;
    for (int i = has_factor; i < s->count; i++) {
        if (i > has_factor) strbuf_puts(b, " * ");
        print(p, b, s->arg[i], P_UNARY, wraps);
    }
    if (has_factor) {
        strbuf_puts(b, " * ");
        if (wraps) strbuf_puts(b, "(uint64_t)");
        print_int(b, s->arg[0]->value, P_UNARY);
    }
}

static void print_bits(struct eq_printer *p, struct strbuf *b, const struct size *s)
{
    const char *op = s->kind == SIZE_OR    ? " | "
                     : s->kind == SIZE_XOR ? " ^ "
                     : s->kind == SIZE_AND ? " & "
                     : s->kind == SIZE_SHL ? " << "
                                           : " >> ";
    strbuf_puts(b, s->kind == SIZE_SHL ? "(int64_t)((uint64_t)" : "(");
    for (int i = 0; i < s->count; i++) {
        if (i) strbuf_puts(b, op);
        print(p, b, s->arg[i], P_UNARY, false);
    }
    strbuf_putc(b, ')');
}

static void print_call(struct eq_printer *p, struct strbuf *b, const struct size *s)
{
    for (int i = 1; i < s->count || i == 1; i++) strbuf_printf(b, "%s(", calls[s->kind]);
    for (int i = 0; i < s->count; i++) {
        if (i) strbuf_puts(b, ", ");
        print(p, b, s->arg[i], P_ANY, false);
        if (i || s->count == 1) strbuf_putc(b, ')');
    }
}

static void print_symbol(struct eq_printer *p, struct strbuf *b, const struct symbol *s)
{
    if (s->kind == SYM_CONST && s->has_value)
        print_int(b, s->int_value, P_UNARY);
    else
        strbuf_puts(b, emit_name(p->e, s));
}

static void print(struct eq_printer *p, struct strbuf *b, const struct size *s, enum precedence prec, bool wraps)
{
    const bool negative = is_negative(s) && s->kind == SIZE_MUL && !wraps;
    const bool parens =
        (s->kind == SIZE_ADD && prec > P_ADD) || (s->kind == SIZE_MUL && prec > P_MUL) || (negative && prec > P_ADD);
    if (!wraps && (s->kind == SIZE_ADD || s->kind == SIZE_MUL) && !is_bounded(s)) {
        strbuf_puts(b, "(int64_t)(");
        print(p, b, s, P_ANY, true);
        strbuf_putc(b, ')');
        return;
    }
    if (parens) strbuf_putc(b, '(');
    switch (s->kind) {
    case SIZE_CONST: print_int(b, s->value, wraps ? P_UNARY : prec); break;
    case SIZE_SYMBOL:
        if (wraps) strbuf_puts(b, "(uint64_t)");
        print_symbol(p, b, s->symbol);
        break;
    case SIZE_ADD: print_sum(p, b, s, wraps); break;
    case SIZE_MUL:
        if (negative) {
            strbuf_putc(b, '-');
            if (s->arg[0]->value == -1 && s->count == 2)
                print(p, b, s->arg[1], P_UNARY, false);
            else {
                strbuf_putc(b, '(');
                print_opposite(p, b, s, false);
                strbuf_putc(b, ')');
            }
        } else {
            print_product(p, b, s, wraps);
        }
        break;
    case SIZE_OR:
    case SIZE_XOR:
    case SIZE_AND:
    case SIZE_SHL:
    case SIZE_SHR:
        if (wraps) strbuf_puts(b, "(uint64_t)");
        print_bits(p, b, s);
        break;
    case SIZE_STRIDE:
    case SIZE_AT:
    case SIZE_EXTENT: break; /* of functions, not of kernels */
    default:
        if (wraps) strbuf_puts(b, "(uint64_t)");
        print_call(p, b, s);
        break;
    }
    if (parens) strbuf_putc(b, ')');
}

static const char *kept(struct eq_printer *p, struct strbuf *b)
{
    return arena_copy(p->e->mem, strbuf_text(b), b->length);
}

const char *equation_size(struct eq_printer *p, const struct size *s, enum precedence prec)
{
    STRBUF(b);
    print(p, &b, s, prec, false);
    return kept(p, &b);
}

const char *equation_size_value(struct eq_printer *p, const struct size *s)
{
    STRBUF(b);
    if (s->kind == SIZE_CONST || s->kind == SIZE_SYMBOL) {
        print(p, &b, s, P_UNARY, false);
    } else {
        strbuf_puts(&b, "(int64_t)(");
        print(p, &b, s, P_ANY, true);
        strbuf_putc(&b, ')');
    }
    return kept(p, &b);
}

bool equation_is_bounded(const struct eq_var *v) { return is_bounded(v->low) && is_bounded(v->high); }

const char *equation_length(struct eq_printer *p, const struct eq_var *v)
{
    if (equation_is_bounded(v)) return equation_size(p, size_sub(p->sizes, v->high, v->low), P_ANY);
    return arena_printf(p->e->mem, "pto_length(%s, %s)", equation_size(p, v->low, P_ANY),
                        equation_size(p, v->high, P_ANY));
}

const char *equation_left(struct eq_printer *p, const struct eq_var *v, const char *low, const char *high)
{
    if (equation_is_bounded(v)) return arena_printf(p->e->mem, "%s - %s", high, low);
    return arena_printf(p->e->mem, "pto_length(%s, %s)", low, high);
}

void equation_open_groups(struct eq_printer *p, const struct eq_var *v, const char *low, const char *high,
                          const char *step)
{
    if (equation_is_bounded(v))
        out_open(p->e->out, "for (; %s <= %s - %s; %s += %s) {", low, high, step, low, step);
    else
        out_open(p->e->out, "for (; %s >= %s; %s += %s) {", equation_left(p, v, low, high), step, low, step);
}

static int number_of(const struct eq_printer *p, const struct symbol *formal)
{
    int number = 0;
    while (p->q->kernel->formals[number] != formal) number++;
    return number;
}

const char *equation_strides(const struct eq_printer *p, const struct symbol *formal)
{
    return p->strides[number_of(p, formal)];
}

const char *equation_stride(const struct eq_printer *p, const struct symbol *formal, int dim)
{
    return p->stride[number_of(p, formal) * MAX_RANK + dim];
}

static const char *index_text(struct eq_printer *p, const struct eq_index *x, enum precedence prec)
{
    return x->size ? equation_size(p, x->size, prec) : equation_value(p, x->expr, prec);
}

static const char *formal_place(struct eq_printer *p, const struct eq_access *a)
{
    const char *sum = "";
    for (int d = 0; d < a->rank; d++) {
        int64_t index;
        if (a->index[d].size && size_is_const(a->index[d].size, &index) && index == 0) continue;
        sum = arena_printf(p->e->mem, "%s%s%s * %s", sum, *sum ? " + " : "", index_text(p, &a->index[d], P_UNARY),
                           equation_stride(p, a->formal, d));
    }
    return arena_printf(p->e->mem, "%s[%s]", emit_name(p->e, a->formal), *sum ? sum : "0");
}

struct eq_access equation_home(const struct eq_printer *p, const struct eq_access *a)
{
    struct eq_access home = *a;
    if (a->temp && p->storage[a->temp->id].output) home.formal = p->storage[a->temp->id].output, home.temp = NULL;
    return home;
}

static const char *temp_place(struct eq_printer *p, const struct eq_access *a)
{
    const struct eq_storage *s = &p->storage[a->temp->id];
    const char *at = "";
    if (s->dims == 0) return s->name;
    for (int d = 0; d < a->rank; d++) {
        if (s->is_dropped[d]) continue;
        if (*at)
            at = arena_printf(p->e->mem, "(%s) * %s + %s", at, equation_size(p, a->temp->extent[d], P_UNARY),
                              index_text(p, &a->index[d], P_MUL));
        else
            at = index_text(p, &a->index[d], P_ANY);
    }
    return arena_printf(p->e->mem, "%s[%s]", s->name, at);
}

const char *equation_place(struct eq_printer *p, const struct eq_access *a)
{
    const struct eq_access home = equation_home(p, a);
    return home.formal ? formal_place(p, &home) : temp_place(p, a);
}
