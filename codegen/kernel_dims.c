/* kernel_dims.c - how a kernel learns its dimension variables.
 * Tests      test/lit/codegen/kernel-bodies.pto
 */
#include "kernel_dims.h"

/* Is the dimension variable determined by this extent, as factor * variable + rest? */
static bool is_determined_by(const struct checked *checked, const struct symbol *dim, const struct size *extent,
                             int64_t *factor, int64_t *rest)
{
    struct size_term terms[8];
    int count = size_terms(checked->sizes, extent, terms, 8);
    *factor = *rest = 0;
    if (count < 1 || count > 2) return false;
    for (int i = 0; i < count; i++) {
        if (!terms[i].mono)
            *rest = terms[i].factor;
        else if (terms[i].mono->kind == SIZE_SYMBOL && terms[i].mono->symbol == dim && *factor == 0)
            *factor = terms[i].factor;
        else
            return false;
    }
    return *factor != 0;
}

bool kernel_dim_source(const struct checked *checked, const struct symbol *kernel, const struct symbol *dim,
                       int *formal, int *place, int64_t *factor, int64_t *rest)
{
    for (int exact = 1; exact >= 0; exact--)
        for (int f = 0; f < kernel->formal_count; f++) {
            const struct type *t = kernel->formals[f]->type;
            if (t->kind != TYPE_TENSOR) continue;
            for (int d = 0; d < t->rank; d++)
                if (is_determined_by(checked, dim, t->extent[d], factor, rest) &&
                    (!exact || (*factor == 1 && *rest == 0))) {
                    *formal = f;
                    *place = d;
                    return true;
                }
        }
    return false;
}

int kernel_extra_dims(const struct checked *checked, const struct symbol *kernel, int extra[MAX_FORMALS])
{
    int count = 0, formal, place;
    int64_t factor, rest;
    for (int v = 0; v < kernel->dim_count; v++)
        if (!kernel_dim_source(checked, kernel, kernel->dims[v], &formal, &place, &factor, &rest)) extra[count++] = v;
    return count;
}
