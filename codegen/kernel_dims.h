/* kernel_dims.h - how a kernel learns its dimension variables: from the shape of an argument, or from a scalar that
 * travels with it. */
#ifndef PTOC_KERNEL_DIMS_H
#define PTOC_KERNEL_DIMS_H
#include "sema/sema.h"

/* Which extent of which formal determines a dimension variable, as factor * variable + rest; false: none does. */
bool kernel_dim_source(const struct checked *checked, const struct symbol *kernel, const struct symbol *dim,
                       int *formal, int *place, int64_t *factor, int64_t *rest);

/* The dimension variables that no shape determines, by their number; they follow the formals as scalars.  Returns how
 * many. */
int kernel_extra_dims(const struct checked *checked, const struct symbol *kernel, int extra[MAX_FORMALS]);

#endif
