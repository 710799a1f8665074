/* forms.c - sizes as sums over index variables.
 * Idea       a size is a sum of products; the factor of a variable is the sum of what stands beside it in them.
 * Owner      nothing.
 * Invariant  a variable inside of a quotient, a minimum or a square has no factor: such a size is not affine.
 * Tests      test/lit/equations/refused.pto
 */
#include "parts.h"

enum { MAX_TERMS = 64 };

/* mono without one factor v: NULL where v stands in it otherwise. */
static const struct size *without(struct size_table *sizes, const struct size *mono, const struct symbol *v)
{
    if (mono->kind == SIZE_SYMBOL) return mono->symbol == v ? size_const(sizes, 1) : NULL;
    if (mono->kind != SIZE_MUL) return NULL;
    const struct size *rest = size_const(sizes, 1);
    int found = 0;
    for (int i = 0; i < mono->count && rest; i++) {
        const struct size *f = mono->arg[i];
        if (f->kind == SIZE_SYMBOL && f->symbol == v)
            found++;
        else if (size_names(f, v))
            return NULL;
        else
            rest = size_binary(sizes, SIZE_MUL, rest, f);
    }
    return found == 1 ? rest : NULL;
}

bool eq_split(struct size_table *sizes, const struct size *a, const struct eq_var *v, const struct size **factor,
              const struct size **rest)
{
    struct size_term terms[MAX_TERMS];
    if (a->kind == SIZE_ADD && a->count > MAX_TERMS) return false;
    const int count = size_terms(sizes, a, terms, MAX_TERMS);
    *factor = *rest = size_const(sizes, 0);
    for (int i = 0; i < count && *factor && *rest; i++) {
        const struct size *mono = terms[i].mono ? terms[i].mono : size_const(sizes, 1);
        if (!size_names(mono, v->symbol)) {
            const struct size *term = size_scale(sizes, mono, terms[i].factor);
            *rest = term ? size_binary(sizes, SIZE_ADD, *rest, term) : NULL;
            continue;
        }
        const struct size *beside = without(sizes, mono, v->symbol);
        const struct size *term = beside ? size_scale(sizes, beside, terms[i].factor) : NULL;
        *factor = term ? size_binary(sizes, SIZE_ADD, *factor, term) : NULL;
    }
    return *factor && *rest;
}

bool eq_names_vars(const struct size *a, const struct eq_var *const *vars, int count)
{
    for (int i = 0; i < count; i++)
        if (size_names(a, vars[i]->symbol)) return true;
    return false;
}

bool eq_is_affine(struct checker *c, const struct size *a, const struct eq_var *const *vars, int count)
{
    const struct size *factor, *rest = a;
    for (int i = 0; i < count; i++)
        if (!eq_split(c->sizes, rest, vars[i], &factor, &rest) || eq_names_vars(factor, vars, count)) return false;
    return true;
}

const struct size *eq_corner(struct checker *c, const struct size *a, const struct eq_var *const *vars, int count,
                             bool largest, const struct size **ends)
{
    const struct size *one = size_const(c->sizes, 1);
    for (int i = count - 1; i >= 0 && a; i--) {
        const struct size *factor, *rest;
        int64_t known;
        if (!size_names(a, vars[i]->symbol)) continue;
        if (!eq_split(c->sizes, a, vars[i], &factor, &rest) || eq_names_vars(factor, vars, count)) return NULL;
        const bool is_const = size_is_const(factor, &known);
        const bool grows = is_const ? known >= 0 : facts_prove(c->facts, factor);
        if (!is_const && !grows && !facts_prove_order(c->facts, factor, size_const(c->sizes, 0), 0)) return NULL;
        const struct size *end = grows == largest ? size_sub(c->sizes, vars[i]->high, one) : vars[i]->low;
        if (ends) ends[i] = end;
        const struct size *product = end ? size_binary(c->sizes, SIZE_MUL, factor, end) : NULL;
        a = product ? size_binary(c->sizes, SIZE_ADD, rest, product) : NULL;
    }
    return a;
}
