/* size_linear.c - sizes as polynomials: factor * s + rest, and quotients without remainder.
 * Idea       what is no sum and no product is an atom, as the normal form of size.c has it.
 * Invariant  a quotient times the divisor is the dividend for all values of the atoms, also where the divisor is 0.
 * Tests      test/frontend/test_size_linear.c
 */
#include "size.h"
#include <stddef.h>

enum { MAX_STEPS = 64 }; /* of a division: as many as the quotient has terms */

/* term / s; NULL where s does not stand in it exactly once, as a factor. */
static const struct size *cofactor(struct size_table *t, const struct size *term, const struct symbol *s)
{
    const struct size *rest = size_const(t, 1);
    if (term->kind == SIZE_SYMBOL) return rest;
    if (term->kind != SIZE_MUL) return NULL;
    bool is_found = false;
    for (int i = 0; i < term->count && rest; i++) {
        const struct size *const factor = term->arg[i];
        if (!size_names(factor, s))
            rest = size_binary(t, SIZE_MUL, rest, factor);
        else if (is_found || factor->kind != SIZE_SYMBOL)
            return NULL;
        else
            is_found = true;
    }
    return rest;
}

bool size_is_linear(struct size_table *t, const struct size *a, const struct symbol *s, const struct size **factor,
                    const struct size **rest)
{
    const int count = a->kind == SIZE_ADD ? a->count : 1;
    *factor = size_const(t, 0);
    *rest = a;
    for (int i = 0; i < count; i++) {
        const struct size *const term = a->kind == SIZE_ADD ? a->arg[i] : a;
        if (!size_names(term, s)) continue;
        const struct size *const times = cofactor(t, term, s);
        if (!times || !(*factor = size_binary(t, SIZE_ADD, *factor, times)) || !(*rest = size_sub(t, *rest, term)))
            return false;
    }
    return *factor != size_const(t, 0);
}

/* ---- monomials ---- */

static int degree(const struct size *mono) { return !mono ? 0 : mono->kind == SIZE_MUL ? mono->count : 1; }

static const struct size *atom(const struct size *mono, int i) { return mono->kind == SIZE_MUL ? mono->arg[i] : mono; }

/* By degree, then atom by atom, which stand in one order in every product: a common factor changes no comparison. */
static bool is_above(const struct size *a, const struct size *b)
{
    if (degree(a) != degree(b)) return degree(a) > degree(b);
    for (int i = 0; i < degree(a); i++)
        if (atom(a, i) != atom(b, i)) return size_id(atom(a, i)) < size_id(atom(b, i));
    return false;
}

static struct size_term leading(struct size_table *t, const struct size *a)
{
    struct size_term first = {0, NULL}, term;
    for (int i = 0; i < (a->kind == SIZE_ADD ? a->count : 1); i++) {
        size_terms(t, a->kind == SIZE_ADD ? a->arg[i] : a, &term, 1);
        if (i == 0 || is_above(term.mono, first.mono)) first = term;
    }
    return first;
}

/* a / b, or NULL. */
static const struct size *term_quotient(struct size_table *t, struct size_term a, struct size_term b)
{
    if (b.factor == -1 ? a.factor == INT64_MIN : a.factor % b.factor != 0) return NULL;
    const struct size *q = size_const(t, a.factor / b.factor);
    int in_b = 0;
    for (int i = 0; i < degree(a.mono) && q; i++)
        if (in_b < degree(b.mono) && atom(a.mono, i) == atom(b.mono, in_b))
            in_b++;
        else
            q = size_binary(t, SIZE_MUL, q, atom(a.mono, i));
    return in_b == degree(b.mono) ? q : NULL;
}

const struct size *size_quotient(struct size_table *t, const struct size *a, const struct size *b)
{
    const struct size *const zero = size_const(t, 0), *whole = zero;
    if (b == zero) return NULL;
    const struct size_term first = leading(t, b);
    for (int step = 0; a && a != zero; step++) {
        const struct size *const q = step < MAX_STEPS ? term_quotient(t, leading(t, a), first) : NULL;
        const struct size *const part = q ? size_binary(t, SIZE_MUL, q, b) : NULL;
        if (!part || !(whole = size_binary(t, SIZE_ADD, whole, q))) return NULL;
        a = size_sub(t, a, part);
    }
    return a ? whole : NULL;
}
