/* size.c - integers the compiler knows symbolically.
 * Idea       every size is a polynomial over atoms (names, quotients, minima ...), kept in one normal form, so that
 *            equal polynomials are equal pointers.
 * Owner      the table of one compilation; nodes live in its arena.
 * Invariant  a sum has no two terms with the same product and no zero term; products are sorted by order of creation.
 * Tests      test/lit/sema/e04-shapes.pto, through messages
 */
#include "size.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include "symbol.h"
#include <stdlib.h>
#include <string.h>

/* A product of sums with more terms than this stays a product. */
#define MAX_TERMS  128
#define TEXT_DEPTH 24
/* An array that only the function needs: on the stack, unless it is long. */
#define FEW        16
#define SCRATCH(type, name, count)                                                                                     \
    type name##_few[FEW];                                                                                              \
    type *name = (count) <= FEW ? name##_few : arena_array(t->mem, type, count)

struct node {
    struct size size; /* first: a struct size * is a struct node * */
    struct node *next;
    uint32_t id : 31;
    bool names_var : 1;
    uint32_t epoch;            /* of the last walk that saw this node */
    const struct size *result; /* of that walk */
    const struct size *expanded;
    const struct size *mono; /* MUL with a constant factor: the product of the others, once it was asked for */
};

struct size_table {
    struct arena *mem;
    struct node **bucket;
    uint32_t bucket_count, count, epoch;
};

static struct node *node_of(const struct size *a) { return (struct node *)(uintptr_t)a; }

uint32_t size_id(const struct size *a) { return node_of(a)->id; }

bool size_names_var(const struct size *a) { return node_of(a)->names_var; }

int size_node_count(const struct size *a, int limit)
{
    int count = 1;
    for (int i = 0; i < a->count && count < limit; i++) count += size_node_count(a->arg[i], limit - count);
    return count < limit ? count : limit;
}

struct size_table *size_table_create(struct arena *mem)
{
    struct size_table *t = arena_new(mem, struct size_table);
    t->mem = mem;
    t->bucket_count = 1024;
    t->bucket = arena_array(mem, struct node *, t->bucket_count);
    return t;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_of(const struct size *key)
{
    uint64_t h = mix(mix((uint64_t)key->kind, (uint64_t)key->value), (uint64_t)key->dim);
    h = mix(h, (uint64_t)(uintptr_t)key->symbol);
    for (int i = 0; i < key->count; i++) h = mix(h, size_id(key->arg[i]));
    return h;
}

static void grow(struct size_table *t)
{
    uint32_t old_count = t->bucket_count;
    struct node **old = t->bucket;
    t->bucket_count *= 4;
    t->bucket = arena_array(t->mem, struct node *, t->bucket_count);
    for (uint32_t i = 0; i < old_count; i++)
        for (struct node *n = old[i], *next; n; n = next) {
            struct node **bucket = &t->bucket[hash_of(&n->size) % t->bucket_count];
            next = n->next;
            n->next = *bucket;
            *bucket = n;
        }
}

static const struct size *make(struct size_table *t, struct size key)
{
    const uint64_t h = hash_of(&key);
    for (struct node *n = t->bucket[h % t->bucket_count]; n; n = n->next) {
        const struct size *s = &n->size;
        if (s->kind == key.kind && s->value == key.value && s->symbol == key.symbol && s->dim == key.dim &&
            s->count == key.count &&
            (key.count == 0 || memcmp(s->arg, key.arg, sizeof *key.arg * (size_t)key.count) == 0))
            return s;
    }
    if (t->count > 2 * t->bucket_count) grow(t);
    struct node *n = arena_new(t->mem, struct node);
    n->size = key;
    n->id = ++t->count;
    n->names_var = key.kind == SIZE_SYMBOL && key.symbol->kind == SYM_VAR;
    if (key.count) {
        const struct size **arg = arena_array(t->mem, const struct size *, key.count);
        memcpy(arg, key.arg, sizeof *arg * (size_t)key.count);
        n->size.arg = arg;
        for (int i = 0; i < key.count; i++) n->names_var |= size_names_var(arg[i]);
    }
    n->next = t->bucket[h % t->bucket_count];
    t->bucket[h % t->bucket_count] = n;
    return &n->size;
}

const struct size *size_const(struct size_table *t, int64_t value)
{
    return make(t, (struct size){.kind = SIZE_CONST, .value = value});
}

const struct size *size_symbol(struct size_table *t, const struct symbol *s)
{
    return make(t, (struct size){.kind = SIZE_SYMBOL, .symbol = s});
}

const struct size *size_leaf(struct size_table *t, enum size_kind kind, const struct symbol *s, int dim)
{
    return make(t, (struct size){.kind = kind, .symbol = s, .dim = dim});
}

bool size_is_const(const struct size *a, int64_t *value)
{
    if (!a || a->kind != SIZE_CONST) return false;
    if (value) *value = a->value;
    return true;
}

/* ---- sums of products -------------------------------------------------------------------------------------------- */

static const struct size *product(struct size_table *t, const struct size *const *factors, int count)
{
    return count == 1 ? factors[0] : make(t, (struct size){.kind = SIZE_MUL, .count = count, .arg = factors});
}

static struct size_term term_of(struct size_table *t, const struct size *a)
{
    if (a->kind == SIZE_CONST) return (struct size_term){a->value, NULL};
    if (a->kind != SIZE_MUL || a->arg[0]->kind != SIZE_CONST) return (struct size_term){1, a};
    struct node *n = node_of(a);
    if (!n->mono) n->mono = product(t, a->arg + 1, a->count - 1);
    return (struct size_term){a->arg[0]->value, n->mono};
}

int size_terms(struct size_table *t, const struct size *a, struct size_term *terms, int max)
{
    if (a->kind != SIZE_ADD) {
        if (max > 0) terms[0] = term_of(t, a);
        return max > 0 ? 1 : 0;
    }
    int count = a->count < max ? a->count : max;
    for (int i = 0; i < count; i++) terms[i] = term_of(t, a->arg[i]);
    return count;
}

static int count_terms(const struct size *a) { return a->kind == SIZE_ADD ? a->count : 1; }

static int by_id(const void *pa, const void *pb)
{
    const struct size *a = *(const struct size *const *)pa, *b = *(const struct size *const *)pb;
    return (size_id(a) > size_id(b)) - (size_id(a) < size_id(b));
}

static int by_mono(const void *pa, const void *pb)
{
    const struct size_term *a = pa, *b = pb;
    if (!a->mono || !b->mono) return (a->mono == NULL) - (b->mono == NULL); /* the constant comes last */
    return (size_id(a->mono) > size_id(b->mono)) - (size_id(a->mono) < size_id(b->mono));
}

/* Most sums have two or three terms, and are two sorted ones behind each other. */
static void sort_terms(struct size_term *terms, int count)
{
    if (count > FEW) {
        qsort(terms, (size_t)count, sizeof *terms, by_mono);
        return;
    }
    for (int i = 1; i < count; i++) {
        struct size_term term = terms[i];
        int k = i;
        for (; k > 0 && by_mono(&terms[k - 1], &term) > 0; k--) terms[k] = terms[k - 1];
        terms[k] = term;
    }
}

static const struct size *build_term(struct size_table *t, struct size_term term)
{
    if (!term.mono) return size_const(t, term.factor);
    if (term.factor == 1) return term.mono;
    const struct size *mono = term.mono;
    bool flat = mono->kind == SIZE_MUL;
    int count = (flat ? mono->count : 1) + 1;
    SCRATCH(const struct size *, arg, count);
    arg[0] = size_const(t, term.factor);
    if (flat)
        memcpy(arg + 1, mono->arg, sizeof *arg * (size_t)mono->count);
    else
        arg[1] = mono;
    return make(t, (struct size){.kind = SIZE_MUL, .count = count, .arg = arg});
}

static const struct size *build_sum(struct size_table *t, struct size_term *terms, int count)
{
    sort_terms(terms, count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (kept && terms[kept - 1].mono == terms[i].mono) {
            if (__builtin_add_overflow(terms[kept - 1].factor, terms[i].factor, &terms[kept - 1].factor)) return NULL;
        } else {
            terms[kept++] = terms[i];
        }
        if (terms[kept - 1].factor == 0 && (i + 1 == count || terms[i + 1].mono != terms[kept - 1].mono)) kept--;
    }
    if (kept == 0) return size_const(t, 0);
    if (kept == 1) return build_term(t, terms[0]);
    SCRATCH(const struct size *, arg, kept);
    for (int i = 0; i < kept; i++) arg[i] = build_term(t, terms[i]);
    return make(t, (struct size){.kind = SIZE_ADD, .count = kept, .arg = arg});
}

static const struct size *add(struct size_table *t, const struct size *a, const struct size *b, int64_t factor)
{
    int na = count_terms(a), nb = count_terms(b);
    SCRATCH(struct size_term, terms, na + nb);
    size_terms(t, a, terms, na);
    size_terms(t, b, terms + na, nb);
    for (int i = na; i < na + nb; i++)
        if (__builtin_mul_overflow(terms[i].factor, factor, &terms[i].factor)) return NULL;
    return build_sum(t, terms, na + nb);
}

const struct size *size_sub(struct size_table *t, const struct size *a, const struct size *b)
{
    int64_t x, y;
    if (!size_is_const(a, &x) || !size_is_const(b, &y)) return add(t, a, b, -1);
    return __builtin_sub_overflow(x, y, &x) ? NULL : size_const(t, x); /* -y alone need not fit */
}

const struct size *size_scale(struct size_table *t, const struct size *a, int64_t factor)
{
    return add(t, size_const(t, 0), a, factor);
}

static const struct size *mul_mono(struct size_table *t, const struct size *a, const struct size *b)
{
    if (!a) return b;
    if (!b) return a;
    int na = a->kind == SIZE_MUL ? a->count : 1, nb = b->kind == SIZE_MUL ? b->count : 1;
    SCRATCH(const struct size *, f, na + nb);
    if (a->kind == SIZE_MUL)
        memcpy(f, a->arg, sizeof *f * (size_t)na);
    else
        f[0] = a;
    if (b->kind == SIZE_MUL)
        memcpy(f + na, b->arg, sizeof *f * (size_t)nb);
    else
        f[na] = b;
    qsort(f, (size_t)(na + nb), sizeof *f, by_id);
    return product(t, f, na + nb);
}

static const struct size *mul(struct size_table *t, const struct size *a, const struct size *b)
{
    int na = count_terms(a), nb = count_terms(b);
    if (na * nb > MAX_TERMS && na > 1 && nb > 1) return mul_mono(t, a, b);
    SCRATCH(struct size_term, ta, na);
    SCRATCH(struct size_term, tb, nb);
    SCRATCH(struct size_term, terms, na * nb);
    size_terms(t, a, ta, na);
    size_terms(t, b, tb, nb);
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            struct size_term *r = &terms[i * nb + j];
            if (__builtin_mul_overflow(ta[i].factor, tb[j].factor, &r->factor)) return NULL;
            r->mono = mul_mono(t, ta[i].mono, tb[j].mono);
        }
    return build_sum(t, terms, na * nb);
}

const struct size *size_complement(struct size_table *t, const struct size *a)
{
    int64_t value;
    return size_is_const(a, &value) ? size_const(t, ~value) : add(t, size_const(t, -1), a, -1);
}

/* ---- the other operators ----------------------------------------------------------------------------------------- */

/* a / d without remainder in every term, or NULL. */
static const struct size *divide_exactly(struct size_table *t, const struct size *a, int64_t d)
{
    int count = count_terms(a);
    SCRATCH(struct size_term, terms, count);
    size_terms(t, a, terms, count);
    for (int i = 0; i < count; i++) {
        if (terms[i].factor % d) return NULL;
        terms[i].factor /= d;
    }
    return build_sum(t, terms, count);
}

static const struct size *two(struct size_table *t, enum size_kind kind, const struct size *a, const struct size *b)
{
    const struct size *arg[2] = {a, b};
    return make(t, (struct size){.kind = kind, .count = 2, .arg = arg});
}

/* a * 2^by, as long as it fits. */
static const struct size *fold_shift_left(struct size_table *t, int64_t a, int64_t by)
{
    const int64_t shifted = (int64_t)((uint64_t)a << by);
    return shifted >> by == a ? size_const(t, shifted) : NULL;
}

static const struct size *fold(struct size_table *t, enum size_kind kind, int64_t a, int64_t b)
{
    switch (kind) {
    case SIZE_OR: return size_const(t, a | b);
    case SIZE_XOR: return size_const(t, a ^ b);
    case SIZE_AND: return size_const(t, a & b);
    case SIZE_SHL: return b < 0 || b > 63 ? NULL : fold_shift_left(t, a, b);
    case SIZE_SHR: return b < 0 || b > 63 ? NULL : size_const(t, a >> b);
    case SIZE_DIV: return b == 0 || (b == -1 && a == INT64_MIN) ? NULL : size_const(t, a / b);
    case SIZE_MOD: return b == 0 ? NULL : size_const(t, b == -1 ? 0 : a % b);
    case SIZE_CEIL_DIV:
        if (b == 0 || (b == -1 && a == INT64_MIN)) return NULL;
        return size_const(t, a / b + (a % b != 0 && (a < 0) == (b < 0)));
    case SIZE_MINIMUM: return size_const(t, a < b ? a : b);
    default: return size_const(t, a > b ? a : b);
    }
}

/* The order of the operands does not matter: a constant comes last. */
static const struct size *two_of_bits(struct size_table *t, enum size_kind kind, const struct size *a,
                                      const struct size *b)
{
    const bool swap = a->kind == SIZE_CONST || (b->kind != SIZE_CONST && size_id(a) > size_id(b));
    return swap ? two(t, kind, b, a) : two(t, kind, a, b);
}

const struct size *size_binary(struct size_table *t, enum size_kind kind, const struct size *a, const struct size *b)
{
    int64_t x, y;
    const struct size *exact;
    if (kind == SIZE_ADD) return add(t, a, b, 1);
    if (kind == SIZE_MUL) return mul(t, a, b);
    if (size_is_const(a, &x) && size_is_const(b, &y)) return fold(t, kind, x, y);
    bool known = size_is_const(b, &y);
    switch (kind) {
    case SIZE_DIV:
    case SIZE_CEIL_DIV:
        if (known && y == 0) return NULL;
        if (known && y != -1 && (exact = divide_exactly(t, a, y))) return exact;
        break;
    case SIZE_MOD:
        if (known && y == 0) return NULL;
        if (known && (y == 1 || y == -1 || divide_exactly(t, a, y))) return size_const(t, 0);
        break;
    case SIZE_MINIMUM:
    case SIZE_MAXIMUM:
        if (a == b) return a;
        if (size_is_const(exact = add(t, a, b, -1), &x)) return (x < 0) == (kind == SIZE_MINIMUM) ? a : b;
        /* Two spellings, one size. */
        if (size_id(a) > size_id(b)) return two(t, kind, b, a);
        break;
    case SIZE_OR:
    case SIZE_AND:
        if (a == b) return a;
        return two_of_bits(t, kind, a, b);
    case SIZE_XOR: return a == b ? size_const(t, 0) : two_of_bits(t, kind, a, b);
    case SIZE_SHL: /* a product with a power of two, where that is a number */
        if (known && (y < 0 || y > 63)) return NULL;
        if (known && y < 63) return add(t, size_const(t, 0), a, INT64_C(1) << y);
        break;
    case SIZE_SHR:
        if (known && (y < 0 || y > 63)) return NULL;
        if (known && y < 63 && (exact = divide_exactly(t, a, INT64_C(1) << y))) return exact;
        break;
    default: break;
    }
    return two(t, kind, a, b);
}

const struct size *size_unary(struct size_table *t, enum size_kind kind, const struct size *a)
{
    int64_t x;
    if (size_is_const(a, &x)) {
        if (kind == SIZE_ABS) return x == INT64_MIN ? NULL : size_const(t, x < 0 ? -x : x);
        return x < 1 ? NULL : size_const(t, 63 - __builtin_clzll((unsigned long long)x));
    }
    return make(t, (struct size){.kind = kind, .count = 1, .arg = &a});
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

static const struct size *rebuild(struct size_table *t, const struct size *a, const struct size *const *arg)
{
    if (a->kind == SIZE_ADD || a->kind == SIZE_MUL) {
        const struct size *r = arg[0];
        for (int i = 1; i < a->count && r; i++) r = size_binary(t, a->kind, r, arg[i]);
        return r;
    }
    return a->count == 2 ? size_binary(t, a->kind, arg[0], arg[1]) : size_unary(t, a->kind, arg[0]);
}

const struct size *size_expand(struct size_table *t, const struct size *a)
{
    struct node *n = node_of(a);
    if (n->expanded) return n->expanded;
    const struct size *r = a;
    if (a->kind == SIZE_SYMBOL) {
        if (a->symbol->definition)
            r = size_expand(t, a->symbol->definition);
        else
            return a; /* its definition may still come: not remembered */
    } else if (a->count) {
        SCRATCH(const struct size *, arg, a->count);
        for (int i = 0; i < a->count; i++) arg[i] = size_expand(t, a->arg[i]);
        r = rebuild(t, a, arg);
        if (!r) r = a; /* overflows: the check at run time reports that */
    }
    n->expanded = r;
    return r;
}

static const struct size *substitute(struct size_table *t, const struct size *a, const struct symbol *const *from,
                                     const struct size *const *to, int count)
{
    struct node *n = node_of(a);
    if (n->epoch == t->epoch) return n->result;
    const struct size *r = a;
    if (a->kind == SIZE_SYMBOL) {
        for (int i = 0; i < count; i++)
            if (from[i] == a->symbol) r = to[i];
    } else if (a->count) {
        SCRATCH(const struct size *, arg, a->count);
        for (int i = 0; i < a->count && r; i++) r = arg[i] = substitute(t, a->arg[i], from, to, count);
        if (r) r = rebuild(t, a, arg);
    }
    n->epoch = t->epoch;
    n->result = r;
    return r;
}

const struct size *size_substitute(struct size_table *t, const struct size *a, const struct symbol *const *from,
                                   const struct size *const *to, int count)
{
    t->epoch++;
    return substitute(t, a, from, to, count);
}

bool size_names(const struct size *a, const struct symbol *s)
{
    if (a->symbol == s) return true;
    for (int i = 0; i < a->count; i++)
        if (size_names(a->arg[i], s)) return true;
    return false;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void text(const struct size *a, struct strbuf *out, int outer, int depth);

static void text_sum(const struct size *a, struct strbuf *out, int depth)
{
    /* `n - i`, not `-i + n`: a term that is added comes first. */
    int first = 0;
    for (int i = a->count - 1; i >= 0; i--)
        if (!(a->arg[i]->kind == SIZE_MUL && a->arg[i]->arg[0]->kind == SIZE_CONST && a->arg[i]->arg[0]->value < 0))
            first = i;
    text(a->arg[first], out, 1, depth);
    for (int i = 0; i < a->count; i++) {
        const struct size *term = a->arg[i];
        if (i == first) continue;
        bool negative = term->kind == SIZE_CONST
                            ? term->value < 0
                            : term->kind == SIZE_MUL && term->arg[0]->kind == SIZE_CONST && term->arg[0]->value < 0;
        strbuf_puts(out, negative ? " - " : " + ");
        if (!negative)
            text(term, out, 1, depth);
        else if (term->kind == SIZE_CONST)
            strbuf_printf(out, "%llu", 0ull - (unsigned long long)term->value);
        else {
            if (term->arg[0]->value != -1)
                strbuf_printf(out, "%llu * ", 0ull - (unsigned long long)term->arg[0]->value);
            for (int k = 1; k < term->count; k++) {
                if (k > 1) strbuf_puts(out, " * ");
                text(term->arg[k], out, k > 1 ? 3 : 2, depth);
            }
        }
    }
}

static void text(const struct size *a, struct strbuf *out, int outer, int depth)
{
    static const char *const name[] = {[SIZE_MINIMUM] = "min", [SIZE_MAXIMUM] = "max", [SIZE_CEIL_DIV] = "ceil_div",
                                       [SIZE_ABS] = "abs",     [SIZE_LOG2] = "log2",   [SIZE_OR] = "|",
                                       [SIZE_XOR] = "^",       [SIZE_AND] = "&",       [SIZE_SHL] = "<<",
                                       [SIZE_SHR] = ">>"};
    if (depth > TEXT_DEPTH || out->length > 2000) {
        strbuf_puts(out, "...");
        return;
    }
    const bool of_bits = a->kind >= SIZE_OR && a->kind <= SIZE_SHR;
    int level = of_bits                                                             ? 0
                : a->kind == SIZE_ADD                                               ? 1
                : a->kind == SIZE_MUL || a->kind == SIZE_DIV || a->kind == SIZE_MOD ? 2
                                                                                    : 3;
    bool parens = level < outer || (level == 2 && outer == 3);
    if (parens) strbuf_putc(out, '(');
    switch (a->kind) {
    case SIZE_CONST: strbuf_printf(out, "%lld", (long long)a->value); break;
    case SIZE_SYMBOL: strbuf_puts(out, a->symbol->name); break;
    case SIZE_STRIDE: strbuf_printf(out, "stride(%s, %d)", a->symbol->name, a->dim); break;
    case SIZE_AT: strbuf_printf(out, "offset(%s)", a->symbol->name); break;
    case SIZE_EXTENT: text(a->symbol->captured[a->dim], out, outer, depth + 1); break;
    case SIZE_ADD: text_sum(a, out, depth + 1); break;
    case SIZE_MUL:
        for (int i = 0; i < a->count; i++) {
            if (i) strbuf_puts(out, " * ");
            text(a->arg[i], out, i ? 3 : 2, depth + 1);
        }
        break;
    case SIZE_DIV:
    case SIZE_MOD:
        text(a->arg[0], out, 2, depth + 1);
        strbuf_puts(out, a->kind == SIZE_DIV ? " / " : " % ");
        text(a->arg[1], out, 3, depth + 1);
        break;
    case SIZE_OR:
    case SIZE_XOR:
    case SIZE_AND:
    case SIZE_SHL:
    case SIZE_SHR: /* no reader has to know which of them binds tighter */
        text(a->arg[0], out, 2, depth + 1);
        strbuf_printf(out, " %s ", name[a->kind]);
        text(a->arg[1], out, 2, depth + 1);
        break;
    default:
        strbuf_printf(out, "%s(", name[a->kind]);
        for (int i = 0; i < a->count; i++) {
            if (i) strbuf_puts(out, ", ");
            text(a->arg[i], out, 0, depth + 1);
        }
        strbuf_putc(out, ')');
    }
    if (parens) strbuf_putc(out, ')');
}

void size_text(const struct size *a, struct strbuf *out) { text(a, out, 0, 0); }
